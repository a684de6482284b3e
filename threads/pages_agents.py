"""The agent pages; they call the same functions as the REST routes (G1 to G7)."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages as notes
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.authentication import page_actor
from accounts.naming import names_of
from accounts.pages import current_org, required_org, signed_in
from catalogue import skills
from catalogue.naming import version_number
from core import bodies, forms, paging, zones
from core.errors import Conflict, DomainError, InvalidRequest, NoOrgProvided, Stale
from core.versions import seen_by, version_of
from threads import (
    agent_changes,
    agent_versions,
    agents,
    describing,
    draft_rows,
    drafting,
    hooks,
    instants,
    profiles,
    screens,
)
from threads.models import Agent
from threads.wire_agents import AgentIn, AgentPatch, LaunchIn

PAGE = 50
SHOWN = 20
"""Maximum number of versions listed beside an agent."""
OFFERED = 60
"""Maximum number of skills shown as checkboxes; others are typed."""


@signed_in
@require_GET
def agent_list(request: HttpRequest) -> HttpResponse:
    """The agents of the org, newest first (G4); the URL holds the whole state."""
    actor, org = page_actor(request), current_org(request)
    line, after = request.GET.get("q", ""), request.GET.get("after", "")
    found = None
    if org is not None:
        bodies.check_storable({"q": line})
        found = agents.listed(actor, org.pk, limit=PAGE, page_token=after or None, words=line[:500])
    items = found.items if found else []
    context = {
        "items": items,
        "names": names_of(item.modified_by for item in items),
        "next_url": paging.next_url(request.GET, found.next_token if found else None),
        "q": line,
        "first_run": not (line or after),
    }
    return render(request, "threads/agents.html", context)


@signed_in
@require_http_methods(["GET", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Create an agent (G1)."""
    if request.method == "GET":
        return _form(request, drafting.blank())
    actor, typed = page_actor(request), drafting.typed(request.POST)
    if "add" in request.POST:
        return _form(request, typed)
    try:
        org = required_org(request)
        agent = agents.create(actor, org.pk, bodies.parse(AgentIn, drafting.body_of(actor, org.pk, typed)))
    except (InvalidRequest, Conflict, NoOrgProvided) as problem:
        return _form(request, typed, problem)
    notes.success(request, "Agent created. Launch it to start a thread.")
    return redirect("threads:agent", agent.agent_id)


@signed_in
@require_GET
def detail(request: HttpRequest, agent_id: str) -> HttpResponse:
    """One agent in one version, by default the latest (G2)."""
    actor = page_actor(request)
    agent = agents.agent_for(actor, agent_id)
    number = version_number(request.GET["version"]) if request.GET.get("version") else agent.version
    version = agent_versions.version_of(agent, number)
    context = {
        "agent": agents.agent_out(agent),
        "latest": agent.version,
        "version": version,
        "author": agent.created_by.display_name,
        "editor": version.created_by.display_name if version.created_by_id != agent.created_by_id else "",
        "template": describing.described(actor, version, tz=zones.of(request)),
        "versions": agent_versions.latest(actor, agent, SHOWN),
        "seen": version_of(agent),
        "reports_href": hooks.feedback.reports_of_agent(actor, agent.agent_id),
    }
    return render(request, "threads/agent.html", context)


@signed_in
@require_GET
def compare(request: HttpRequest, agent_id: str) -> HttpResponse:
    """What changed between two versions, by default in the latest."""
    actor = page_actor(request)
    agent = agents.agent_for(actor, agent_id)
    to, before = (version_number(given) if (given := request.GET.get(key)) else None for key in ("to", "from"))
    new = agent_versions.version_of(agent, agent.version if to is None else to)
    old = agent_versions.version_of(agent, max(1, new.version - 1) if before is None else before)
    context = {
        "agent": agent,
        "old": old,
        "new": new,
        "editor": new.created_by.display_name,
        "changes": agent_changes.changes(actor, old, new),
        "versions": agent_versions.numbers_around(agent, old.version, new.version),
    }
    return render(request, "threads/agent_compare.html", context)


@signed_in
@require_POST
def restore(request: HttpRequest, agent_id: str) -> HttpResponse:
    """Go back to a version, as the next one; what somebody else saved meanwhile is not overruled unseen."""
    actor = page_actor(request)
    agent = agents.agent_for(actor, agent_id)
    number = version_number(request.POST.get("version", ""))
    try:
        restored = agent_versions.restore(actor, agent, number, seen=request.POST.get("seen") or None)
    except (InvalidRequest, Conflict) as problem:
        notes.warning(request, problem.message)
        return redirect(f"{reverse('threads:agent', args=[agent.agent_id])}?version={number}")
    if restored.version == agent.version:
        notes.info(request, f"Version {number} is what the agent is now.")
    else:
        notes.success(request, f"Version {number} is back, as version {restored.version}.")
    return redirect("threads:agent", agent.agent_id)


@signed_in
@require_http_methods(["GET", "POST"])
def edit(request: HttpRequest, agent_id: str) -> HttpResponse:
    """Change an agent (G5); changes that somebody else saved meanwhile are not overwritten unseen."""
    actor = page_actor(request)
    agent = agents.agent_for(actor, agent_id)
    if request.method == "GET":
        return _form(request, drafting.typed_of(actor, agent), agent=agent)
    typed = drafting.typed(request.POST)
    if "add" in request.POST:
        return _form(request, typed, agent=agent)
    try:
        body = bodies.parse(AgentPatch, drafting.body_of(actor, agent.org_id, typed))
        agents.update(actor, agent, body, seen=request.POST.get("seen") or None)
    except (InvalidRequest, Conflict) as problem:
        return _form(request, typed, problem, agent=agent)
    notes.success(request, "Saved.")
    return redirect("threads:agent", agent.agent_id)


@signed_in
@require_POST
def delete(request: HttpRequest, agent_id: str) -> HttpResponse:
    """Delete an agent (G6)."""
    actor = page_actor(request)
    agent = agents.agent_for(actor, agent_id)
    agents.delete(actor, agent)
    notes.success(request, f"Deleted {agent.name}. Threads launched from it are kept.")
    return redirect("threads:agents")


@signed_in
@require_http_methods(["GET", "POST"])
def launch(request: HttpRequest, agent_id: str) -> HttpResponse:
    """Start a thread from an agent and open it (G7)."""
    actor = page_actor(request)
    agent = agents.agent_for(actor, agent_id)
    if request.method == "GET":
        return _launch_form(request, agent)
    try:
        body = bodies.parse(LaunchIn, drafting.launch_body(agent, request.POST.dict()))
        started = agents.launch(actor, agent, body)
    except InvalidRequest as problem:
        return _launch_form(request, agent, problem)
    return redirect(screens.to_write_in(started.thread_id))


def _form(
    request: HttpRequest, draft: drafting.Draft, problem: DomainError | None = None, *, agent: Agent | None = None
) -> HttpResponse:
    """The form with the typed content, an added row if requested, and each error next to its field.

    Variables that the template uses but does not declare get rows; the user is asked to save again.
    """
    typed, added = draft.fields, request.POST.get("add", "")
    missing = problem.names if isinstance(problem, agents.Undeclared) else ()
    rows = draft.rows.with_variables(missing).with_blanks(added)
    places = rows.places()
    names = drafting.TYPED_AS | places | ({} if typed["messages"].strip() else {"messages": "text"})
    told = None if missing else problem
    errors = forms.reasons(told, (*drafting.FIELDS, *places), otherwise="form", names=names) if told else {}
    known = {profile.id for profile in profiles.all_profiles()}
    org = agent.org if agent else current_org(request)
    offered = skills.names(page_actor(request), org.pk, OFFERED) if org else []
    context: dict[str, Any] = {
        "typed": typed,
        "rows": rows.shown(errors),
        "variables_json": rows.variables_json,
        "added": added,
        "undeclared": [f"{{{{{name}}}}}" for name in missing],
        "first_added": rows.id_of(missing[0]) if missing else "",
        "kinds": draft_rows.kinds_of(rows),
        "seen": seen_by(request.POST.get("seen"), agent, problem) if agent else "",
        "errors": errors,
        "picks": {name: drafting.picks(typed[name], offered) for name in drafting.SKILLS},
        "local": _local(typed),
        "has_rare": any(typed[name].strip() or name in errors for name in drafting.RARE),
        "other_profile": typed["model_profile"] if typed["model_profile"] not in known else "",
        "is_behind": isinstance(problem, Stale),
        "agent": agent,
        "samples": {field: forms.json_typed(sample) for field, sample in drafting.SAMPLES.items()},
        "profiles": profiles.all_profiles(),
    }
    return render(request, "threads/agent_form.html", context, status=problem.status if problem else 200)


def _local(typed: Mapping[str, str]) -> dict[str, str | None]:
    return {end: instants.local(typed.get(end, "")) for end in ("start_time", "end_time")}


def _launch_form(request: HttpRequest, agent: Agent, problem: DomainError | None = None) -> HttpResponse:
    typed = request.POST.dict() if problem else None
    fields = (*drafting.SCOPE, "visibility", *(f"values.{variable['name']}" for variable in agent.variables))
    errors = forms.reasons(problem, fields, otherwise="form", names=drafting.TYPED_AS) if problem else {}
    template = describing.described(page_actor(request), agent)
    context = {
        "agent": agents.agent_out(agent),
        "template": template,
        "blanks": drafting.blanks(agent, typed, errors),
        "typed": typed or {"visibility": template.visibility or "org"},
        "local": _local(typed or {}),
        "errors": errors,
        "kept_by": screens.kept_by(agent.org),
    }
    return render(request, "threads/launch.html", context, status=problem.status if problem else 200)
