"""Agents: templates of start requests, and launching threads from them (G1 to G7)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from core import bodies, ids, paging
from core.actor import Actor
from core.errors import Conflict, InvalidRequest, NotFound
from threads import client_tools, goals, turns
from threads.models import Agent
from threads.wire import AgentIn, AgentOut, AgentPageOut, AgentPatch, LaunchIn, StartIn, ThreadOut

PLACEHOLDER = re.compile(r"\{\{\s*([a-zA-Z_][a-zA-Z0-9_.]*)\s*\}\}")
_PLACES = paging.Places("agents")


def agent_for(actor: Actor, agent_id: str) -> Agent:
    """An agent of one of the actor's orgs; another one is not found."""
    key = ids.key_of(agent_id, ids.AGENT) or ""
    agent = _visible(actor).filter(key=key).first()
    if agent is None:
        raise NotFound.of("agent", agent_id[:80], "that you can see")
    return agent


def agent_named(actor: Actor, org_id: int, name: str) -> Agent:
    """An agent of an org by its name (G3)."""
    agent = _visible(actor).filter(org=org_id, name=name).first()
    if agent is None:
        raise NotFound.of("agent", name[:200], "that you can see")
    return agent


def create(actor: Actor, org_id: int, body: AgentIn) -> Agent:
    """A new template (G1); a name that is taken in the org is a conflict."""
    values = _parsed(body.model_dump(mode="json"))
    _require_fitting(values)
    with _name_kept(body.name):
        return Agent.objects.create(org_id=org_id, created_by_id=actor.user_id, modified_by_id=actor.user_id, **values)


def update(actor: Actor, agent: Agent, body: AgentPatch, *, seen: str | None = None) -> Agent:
    """Change a template (G5): absent leaves, a null description clears; the merged result is checked.

    A conflict where `seen`, the last change as the editor read it, is no more.
    """
    given = body.model_dump(mode="json")
    changes = {name: given[name] for name in body.model_fields_set}
    if nulls := [name for name, value in changes.items() if value is None and name != "description"]:
        raise InvalidRequest(f"{nulls[0]}: must not be null")
    changes = _parsed(changes)
    columns = ("name", "request_template", "variables", "description")
    with _name_kept(changes.get("name", agent.name)):
        agent = _locked(agent)
        if seen is not None and seen != agent.modified.isoformat():
            raise Conflict("Somebody has changed this agent since you opened it.")
        merged = {name: changes.get(name, getattr(agent, name)) for name in columns}
        _require_fitting(merged)
        for name, value in merged.items():
            setattr(agent, name, value)
        agent.modified, agent.modified_by_id = timezone.now(), actor.user_id
        agent.save(update_fields=[*columns, "modified", "modified_by"])
    return agent


def delete(agent: Agent) -> None:
    """Delete a template (G6); threads launched from it stay and keep its id."""
    agent.delete()


def launch(actor: Actor, agent: Agent, body: LaunchIn, *, api_version: str = "") -> ThreadOut:
    """Start a thread from a template (G7): it belongs to the agent's org and to the caller, and names the agent.

    The launch's visibility always wins; of the scope, each end that the launch sets (B158 to B160).
    """
    values = _values(agent, body.values)
    _require_small(values, _placeholders(agent.request_template))
    request = _filled(agent.request_template, values)
    request["visibility"] = body.visibility
    if body.analysis_scope is not None:
        ends = {end: value for end, value in body.analysis_scope.model_dump().items() if value is not None}
        request["analysis_scope"] = {**(request.get("analysis_scope") or {}), **ends}
    return turns.start(
        actor,
        agent.org_id,
        bodies.parse(StartIn, request, "request_template"),
        api_version=api_version,
        created_from_agent_id=agent.agent_id,
    )


def listed(
    actor: Actor, org_id: int, *, limit: int, page_token: str | None, words: str = "", for_sdk: bool = False
) -> AgentPageOut:
    """A page of an org's agents, newest first (G4); with `words`, of those that are named or described by them.

    `for_sdk`: without the agents that the SDK's reader refuses, since one of them would cost it the whole page. They
    are found by id and by name all the same.
    """
    rows = _visible(actor).filter(org=org_id)
    for word in words.split():
        rows = rows.filter(Q(name__icontains=word) | Q(description__icontains=word))
    found, next_token = _PLACES.page(rows, limit=limit, page_token=page_token)
    shown = [agent for agent in found if not for_sdk or _suits_sdk(agent.request_template)]
    return AgentPageOut(items=[agent_out(agent) for agent in shown], next_token=next_token)


def _suits_sdk(template: Mapping[str, Any]) -> bool:
    """Whether the SDK knows every goal type of a template, and finds its client tools named by its own rule."""
    declared, tools = template.get("goals") or [], template.get("client_tools") or []
    return all(goal.get("goal_type") in goals.SDK_GOALS for goal in declared) and all(
        str(tool.get("name", "")).startswith("client_") for tool in tools
    )


def agent_out(agent: Agent) -> AgentOut:
    """The record."""
    return AgentOut(
        agent_id=agent.agent_id,
        org_id=agent.org.org_id,
        name=agent.name,
        description=agent.description,
        request_template=agent.request_template,
        variables=agent.variables,
        created=agent.created,
        created_by=agent.created_by.email,
        modified=agent.modified,
        modified_by=agent.modified_by.email,
    )


def _visible(actor: Actor) -> QuerySet[Agent]:
    rows: QuerySet[Agent] = Agent.objects.visible_to(actor)
    return rows.select_related("org", "created_by", "modified_by")


def _locked(agent: Agent) -> Agent:
    """The agent as it is now, held until the commit, so that of two changes the second is checked against the first."""
    rows = Agent.objects.select_for_update(of=("self",)).select_related("org", "created_by", "modified_by")
    found: Agent | None = rows.filter(pk=agent.pk).first()
    if found is None:
        raise NotFound.of("agent", agent.agent_id, "that you can see")
    return found


def _parsed(values: Mapping[str, Any]) -> dict[str, Any]:
    """The columns as they are stored. What is long in it is done before the agent is locked."""
    if "request_template" not in values:
        return dict(values)
    return {**values, "request_template": _template(values["request_template"])}


def _require_fitting(values: Mapping[str, Any]) -> None:
    """Raise `InvalidRequest` unless the template's placeholders are the declared names, each once.

    A stored violation would make the record unreadable: the SDK checks the same on every agent it reads (spec 3.11).
    """
    found = set(_placeholders(values["request_template"]))
    names = [variable["name"] for variable in values["variables"]]
    if len(names) != len(set(names)):
        raise InvalidRequest("variables: a name must not stand there twice")
    if missing := sorted(found - set(names)):
        raise InvalidRequest(f"variables: the name {missing[0]} stands in the template and is not declared")
    if unused := sorted(set(names) - found):
        raise InvalidRequest(f"variables: the name {unused[0]} does not stand in the template")


def _template(given: Any) -> dict[str, Any]:
    """A start request with its placeholders in place, and nothing else.

    Fields that a start request does not have are left out: the SDK leaves them out too, and would miss a placeholder
    in one of them.
    """
    field = "request_template"
    body = bodies.parse(StartIn, given, field)
    try:
        client_tools.checked(body.client_tools)
    except InvalidRequest as problem:
        raise InvalidRequest(f"{field}.{problem.message}") from None
    template: dict[str, Any] = body.model_dump(mode="json", exclude_unset=True)
    if body.goals:
        template["goals"] = [goals.declared(goal, f"{field}.goals.{at}") for at, goal in enumerate(body.goals)]
    return template


def _placeholders(value: Any, path: str = "request_template") -> Iterator[str]:
    """The names in every string value; one in a key is refused."""
    if isinstance(value, str):
        yield from PLACEHOLDER.findall(value)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _placeholders(item, f"{path}.{place}")
    elif isinstance(value, dict):
        for key, item in value.items():
            if PLACEHOLDER.search(key):
                raise InvalidRequest(f"{path}: a placeholder must not stand in a key")
            yield from _placeholders(item, f"{path}.{key}")


def _values(agent: Agent, given: Mapping[str, str]) -> dict[str, str]:
    """A value for every variable: the given one, else its default; unknown and missing ones are refused (B160)."""
    declared = {variable["name"]: variable for variable in agent.variables}
    if unknown := sorted(given.keys() - declared.keys()):
        raise InvalidRequest(f"values.{unknown[0]}: is no variable of this agent")
    values = {}
    for name, variable in declared.items():
        value = given.get(name, variable.get("default"))
        if value is None:
            raise InvalidRequest(f"values.{name}: is needed")
        values[name] = value
    return values


def _require_small(values: Mapping[str, str], places: Iterable[str]) -> None:
    """A value may stand in many places: a small template and a small launch must not make a huge request."""
    if sum(len(values[name]) for name in places) > settings.BODY_BYTES:
        raise InvalidRequest(f"values: make the request larger than {settings.BODY_BYTES // 1024 // 1024} MiB")


def _filled(template: Any, values: Mapping[str, str]) -> Any:
    """The template with every placeholder replaced, in values and never in keys."""
    if isinstance(template, str):
        return PLACEHOLDER.sub(lambda match: values[match[1]], template)
    if isinstance(template, list):
        return [_filled(item, values) for item in template]
    if isinstance(template, dict):
        return {key: _filled(item, values) for key, item in template.items()}
    return template


@contextmanager
def _name_kept(name: str) -> Iterator[None]:
    """A transaction in which a taken name is a conflict."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError:
        raise Conflict(f"name: {name} is taken") from None
