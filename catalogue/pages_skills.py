"""The skill pages. They call the same functions as the REST routes (K1 to K16)."""

from typing import Any

from django.contrib import messages as notes
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.authentication import page_actor
from accounts.naming import names_of
from accounts.pages import current_org, required_org, signed_in
from catalogue import naming, skills
from catalogue.models import Skill, SkillVersion
from catalogue.wire_skills import PinVersionIn, SkillIn, SkillPatch, VersionIn, VersionPatch
from core import bodies, differences, forms, paging
from core.actor import Actor
from core.errors import Conflict, DomainError, InvalidRequest, NoOrgProvided, Stale, Unauthorized
from core.markdown import markdown_html
from core.versions import seen_by, version_of

PAGE = 50
SCOPES = {"": "All", "personal": "Mine and subscribed", "org": "Shared by others"}
FIELDS = ("name", "accessibility", "description", "body", "tags", "relevant_topics", "put_tags", "remove_tags")


@signed_in
@require_GET
def skill_list(request: HttpRequest) -> HttpResponse:
    """List visible skills, newest first (K6); the URL holds the filters."""
    actor, org = page_actor(request), current_org(request)
    line, scope, after = (request.GET.get(name, "") for name in ("q", "scope", "after"))
    found = None
    if org is not None:
        bodies.check_storable({"q": line})
        found = skills.listed(actor, org.pk, scope or None, limit=PAGE, page_token=after or None, words=line[:500])
    items = found.items if found else []
    context = {
        "items": items,
        "names": names_of(item.skill.created_by for item in items),
        "next_url": paging.next_url(request.GET, found.next_token if found else None),
        "scopes": [(urlencode({"scope": key, "q": line}), word, key == scope) for key, word in SCOPES.items()],
        "scope": scope,
        "q": line,
        "first_run": not (line or scope or after),
    }
    return render(request, "catalogue/skills.html", context)


@signed_in
@require_http_methods(["GET", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """Create a skill (K1)."""
    typed = {name: forms.lines(request.POST.get(name, "")) for name in FIELDS} | {
        "accessibility": request.POST.get("accessibility", "private")
    }
    if request.method == "GET":
        return _form(request, "catalogue/new.html", typed)
    try:
        skill = skills.create(
            page_actor(request), required_org(request).pk, bodies.parse(SkillIn, _version(typed) | _kept(typed))
        )
    except (InvalidRequest, Conflict, NoOrgProvided) as problem:
        return _form(request, "catalogue/new.html", typed, problem)
    notes.success(request, "Created version 1. Agents may load it in your threads.")
    return redirect("catalogue:skill", skill.skill_id)


@signed_in
@require_GET
def detail(request: HttpRequest, skill_id: str) -> HttpResponse:
    """One skill in one version, by default the latest (K2, K3, K9, K10)."""
    actor = page_actor(request)
    skill = skills.skill_for(actor, skill_id)
    summary = skills.summary(actor, skill)
    versions = list(skill.versions.order_by("-version").defer("body"))
    number = request.GET.get("version")
    version = skills.version_of(skill, naming.version_number(number)) if number else summary.latest_version
    context = {
        "skill": summary.skill,
        "author": skill.created_by.display_name,
        "version": version,
        "latest": summary.latest_version.version,
        "html": markdown_html(version.body),
        "versions": versions,
        "subscription": summary.subscription,
        **_rights(actor, skill),
    }
    return render(request, "catalogue/skill.html", context)


def _rights(actor: Actor, skill: Skill) -> dict[str, Any]:
    try:
        skills.require_editor(actor, skill)
    except Unauthorized:
        return {"may_edit": False, "is_author": False}
    return {"may_edit": True, "is_author": skill.created_by_id == actor.user_id}


@signed_in
@require_GET
def compare(request: HttpRequest, skill_id: str) -> HttpResponse:
    """Compare two versions, by default the latest one with the one before."""
    skill = skills.skill_for(page_actor(request), skill_id)
    numbers = list(skill.versions.order_by("version").values_list("version", flat=True))
    to, before = (naming.version_number(given) if (given := request.GET.get(key)) else None for key in ("to", "from"))
    new = skills.version_of(skill, numbers[-1] if to is None else to)
    earlier = max((number for number in numbers if number < new.version), default=new.version)
    old = skills.version_of(skill, earlier if before is None else before)
    context = {
        "skill": skill,
        "old": old,
        "new": new,
        "body": differences.compared(old.body, new.body),
        "description": differences.compared(old.description, new.description),
        "versions": numbers,
    }
    return render(request, "catalogue/compare.html", context)


@signed_in
@require_http_methods(["GET", "POST"])
def write(request: HttpRequest, skill_id: str) -> HttpResponse:
    """Create the next version (K11), starting with the text of the latest; one that was created meanwhile is not
    overruled unseen.
    """
    actor = page_actor(request)
    skill = _editable(actor, skill_id)
    if request.method == "GET":
        latest = skills.summary(actor, skill).latest_version
        return _version_form(request, skill, _typed(latest), seen=str(latest.version))
    typed = {name: forms.lines(request.POST.get(name, "")) for name in FIELDS}
    seen = request.POST.get("seen", "")
    try:
        added = skills.add_version(actor, skill, bodies.parse(VersionIn, _version(typed)), after=bodies.number(seen))
    except (InvalidRequest, Stale) as problem:
        seen = str(skills.latest(skill)) if isinstance(problem, Stale) else seen
        return _version_form(request, skill, typed, problem, seen=seen)
    notes.success(request, f"Created version {added.version}. Versions that users chose do not change.")
    return redirect("catalogue:skill", skill.skill_id)


@signed_in
@require_http_methods(["GET", "POST"])
def edit(request: HttpRequest, skill_id: str, version: str) -> HttpResponse:
    """Edit a version in place (K12); a concurrent change by somebody else is not overwritten unseen."""
    actor = page_actor(request)
    skill = _editable(actor, skill_id)
    held = skills.version_of(skill, naming.version_number(version))
    if request.method == "GET":
        return _version_form(request, skill, _typed(held), held=held, seen=version_of(held))
    typed = {name: forms.lines(request.POST.get(name, "")) for name in FIELDS}
    seen = request.POST.get("seen") or None
    try:
        skills.edit_version(actor, skill, held.version, bodies.parse(VersionPatch, _version(typed)), seen=seen)
    except (InvalidRequest, Conflict) as problem:
        return _version_form(request, skill, typed, problem, held=held, seen=seen_by(seen, held, problem))
    notes.success(request, f"Version {held.version} saved.")
    return redirect(f"{reverse('catalogue:skill', args=[skill.skill_id])}?version={held.version}")


@signed_in
@require_http_methods(["GET", "POST"])
def change(request: HttpRequest, skill_id: str) -> HttpResponse:
    """Change name, visibility and tags (K7)."""
    actor = page_actor(request)
    skill = _editable(actor, skill_id)
    is_author = skill.created_by_id == actor.user_id
    if request.method == "GET":
        shown = {"name": skill.name, "accessibility": skill.accessibility, "tags": forms.listing(skill.tags)}
        typed = shown | {f"{name}_was": value for name, value in shown.items()}
        return _form(request, "catalogue/change.html", typed, skill=skill, is_author=is_author)
    names = ("name", "accessibility", "tags")
    typed = {name: request.POST.get(name, "") for name in (*names, *(f"{name}_was" for name in names))}
    try:
        skills.update(actor, skill, bodies.parse(SkillPatch, _changed(typed)))
    except (InvalidRequest, Conflict) as problem:
        return _form(request, "catalogue/change.html", typed, problem, skill=skill, is_author=is_author)
    notes.success(request, "Saved.")
    return redirect("catalogue:skill", skill.skill_id)


@signed_in
@require_POST
def subscribe(request: HttpRequest, skill_id: str) -> HttpResponse:
    """Subscribe or unsubscribe (K14, K15)."""
    actor = page_actor(request)
    skill = skills.skill_for(actor, skill_id)
    if request.POST.get("subscribed") == "true":
        skills.subscribe(actor, skill)
    else:
        skills.unsubscribe(actor, skill)
    return redirect("catalogue:skill", skill.skill_id)


@signed_in
@require_POST
def pin(request: HttpRequest, skill_id: str) -> HttpResponse:
    """Choose the version that agents may load in one's own threads, or none (K16)."""
    actor = page_actor(request)
    skill = skills.skill_for(actor, skill_id)
    number = request.POST.get("ai_version", "")
    body = bodies.parse(PinVersionIn, {"ai_version": naming.version_number(number) if number else None})
    skills.pin_version(actor, skill, body.ai_version)
    return redirect("catalogue:skill", skill.skill_id)


@signed_in
@require_POST
def delete(request: HttpRequest, skill_id: str) -> HttpResponse:
    """Delete a skill with its versions (K8)."""
    actor = page_actor(request)
    skill = skills.skill_for(actor, skill_id)
    skills.delete(actor, skill)
    notes.success(request, f"Deleted {skill.name}. Threads keep the text they loaded.")
    return redirect("catalogue:skills")


@signed_in
@require_POST
def delete_version(request: HttpRequest, skill_id: str, version: str) -> HttpResponse:
    """Delete a version (K13); deleting the last one deletes the skill."""
    actor = page_actor(request)
    skill = skills.skill_for(actor, skill_id)
    number = naming.version_number(version)
    skills.delete_version(actor, skill, number)
    notes.success(request, f"Deleted version {number} of {skill.name}.")
    is_left = Skill.objects.filter(pk=skill.pk).exists()
    return redirect("catalogue:skill", skill.skill_id) if is_left else redirect("catalogue:skills")


def _editable(actor: Actor, skill_id: str) -> Skill:
    """A skill that the actor may edit; checked before the form is read, as in the API."""
    skill = skills.skill_for(actor, skill_id)
    skills.require_editor(actor, skill)
    return skill


def _typed(version: Any) -> dict[str, str]:
    topics = forms.listing(version.relevant_topics)
    return {"description": version.description, "body": version.body, "relevant_topics": topics}


def _version(typed: dict[str, str]) -> dict[str, Any]:
    given = {
        "description": typed["description"].strip(),
        "body": typed["body"],
        "relevant_topics": forms.listed("relevant_topics", typed["relevant_topics"]),
    }
    bodies.check_storable(given)
    return given


def _kept(typed: dict[str, str]) -> dict[str, Any]:
    given = {
        "name": typed["name"].strip(),
        "accessibility": typed["accessibility"],
        "tags": forms.listed("tags", typed["tags"]),
    }
    bodies.check_storable(given)
    return given


def _changed(typed: dict[str, str]) -> dict[str, Any]:
    """The change as API input: only what differs from what the form showed, since others may have changed the rest."""
    tags, shown = (forms.listed("tags", typed[name]) for name in ("tags", "tags_was"))
    given: dict[str, Any] = {"put_tags": tags, "remove_tags": [tag for tag in shown if tag not in tags]}
    if (name := typed["name"].strip()) != typed["name_was"]:
        given["name"] = name
    if typed["accessibility"] not in ("", typed["accessibility_was"]):
        given["accessibility"] = typed["accessibility"]
    bodies.check_storable(given)
    return given


def _version_form(
    request: HttpRequest,
    skill: Skill,
    typed: dict[str, str],
    problem: DomainError | None = None,
    *,
    held: SkillVersion | None = None,
    seen: str,
) -> HttpResponse:
    more = {"skill": skill, "held": held, "seen": seen, "is_behind": isinstance(problem, Stale)}
    return _form(request, "catalogue/write.html", typed, problem, **more)


def _form(
    request: HttpRequest, template: str, typed: dict[str, str], problem: DomainError | None = None, **more: Any
) -> HttpResponse:
    """Render a form with the typed values and the errors by field."""
    names = {"put_tags": "tags", "remove_tags": "tags"}
    errors = forms.reasons(problem, FIELDS, otherwise="form", names=names) if problem else {}
    context = {"typed": typed, "errors": errors, **more}
    return render(request, template, context, status=problem.status if problem else 200)
