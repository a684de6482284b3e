"""Agents: saved templates of start requests, and launching threads from them (G1 to G7)."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.text import get_text_list

from accounts.rights import require_member
from core import bodies, ids, paging
from core.actor import Actor
from core.db import dump, held
from core.errors import InvalidRequest, NotFound
from core.names import name_kept
from core.versions import require_seen
from core.wording import limit_text
from threads import client_tools, goals, profiles, turns
from threads.models import Agent, AgentVersion, Thread
from threads.wire import MAX_PROMPT, StartIn, ThreadOut
from threads.wire_agents import AgentIn, AgentOut, AgentPageOut, AgentPatch, LaunchIn

PLACEHOLDER = re.compile(r"\{\{\s*([a-zA-Z_][a-zA-Z0-9_.]*)\s*\}\}")
_SDK_TOOL_NAME = re.compile("client_[a-z][a-z0-9_]*")
_FIELD = "request_template"
_PLACES = paging.Places("agents")
_NAMED = 5
"""How many names an error tells."""
CHANGED = ("name", "description", "request_template", "variables")
"""The columns that a change can set, and that a version keeps."""


def agent_for(actor: Actor, agent_id: str) -> Agent:
    """The agent with that id, if the actor can see it; raises `NotFound` otherwise."""
    key = ids.key_of(agent_id, ids.AGENT) or ""
    agent = _visible(actor).filter(key=key).first()
    if agent is None:
        raise NotFound.of("agent", agent_id[:80], "that you can see")
    return agent


def agent_named(actor: Actor, org_id: int, name: str) -> Agent:
    """The agent of an org with that name (G3); raises `NotFound`."""
    agent = _visible(actor).filter(org=org_id, name=name).first()
    if agent is None:
        raise NotFound.of("agent", name[:200], "that you can see")
    return agent


@dataclass(frozen=True, slots=True)
class PromptNow:
    """An agent's system prompt as it is now, with the values of a launch.

    The placeholders of `unknown` variables stay: of new ones without a default, and of launches before values were
    kept.
    """

    agent: Agent
    text: str
    unknown: tuple[str, ...]


def prompt_now(thread: Thread) -> PromptNow | None:
    """The prompt of the agent that a thread was launched from; None if it was not launched.

    For whoever may rerun the thread; a platform admin may, without being able to open the agent. Raises `NotFound` if
    the agent is gone, `InvalidRequest` if the prompt is longer than one may be: values and template may have been made
    for each other.
    """
    if not thread.created_from_agent_id:
        return None
    agent = Agent.objects.filter(key=thread.agent_key, org=thread.org_id).first()
    if agent is None:
        raise NotFound("The agent that this thread was launched from is gone.")
    defaults = {each["name"]: each["default"] for each in agent.variables if each.get("default") is not None}
    values = defaults | (thread.launch_values or {})
    prompt = agent.request_template.get("system_prompt") or ""
    names = PLACEHOLDER.findall(prompt)
    if len(prompt) + sum(len(values.get(name, "")) for name in names) > MAX_PROMPT:
        raise InvalidRequest.of("prompt", f"makes the system prompt longer than {MAX_PROMPT:,} characters")
    unknown = tuple(name for name in names if name not in values)
    return PromptNow(agent, PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), prompt), unknown)


def create(actor: Actor, org_id: int, body: AgentIn) -> Agent:
    """Create an agent (G1); raises `Conflict` if its name is taken in the org."""
    values = _parsed(body.model_dump(mode="json"))
    _require_profile(values["request_template"])
    _require_fitting(values)
    with name_kept(Agent, body.name):
        agent = Agent(org_id=org_id, created_by_id=actor.user_id, **values)
        agent.modified, agent.modified_by_id = agent.created, actor.user_id
        agent.save(force_insert=True)
        _keep_version(agent)
    return agent


def update(actor: Actor, agent: Agent, body: AgentPatch, *, seen: str | None = None) -> Agent:
    """Change an agent (G5): absent fields stay, a null description is cleared, and the merged result is checked.

    Each change makes a version; what changes nothing makes none. A model profile that was removed from the
    configuration since may stay, so that the rest can still be changed.

    Every member of its org may. `seen` is the version that the editor knows, or an If-Match; raises `Stale` if there is
    a later one.
    """
    require_member(actor, agent.org_id)
    changes = _parsed(body.model_dump(mode="json", include=body.model_fields_set))
    with name_kept(Agent, changes.get("name", agent.name)):
        agent = _locked(agent)
        require_seen(agent, seen, "agent")
        before = {name: getattr(agent, name) for name in CHANGED}
        merged = before | changes
        _require_profile(merged["request_template"], agent.request_template)
        _require_fitting(merged)
        if dump(merged) != dump(before):  # also in the order of keys, and 1 is not true
            for name, value in merged.items():
                setattr(agent, name, value)
            agent.version += 1
            agent.modified, agent.modified_by_id = timezone.now(), actor.user_id
            agent.save(update_fields=[*CHANGED, "version", "modified", "modified_by"])
            _keep_version(agent)
    return agent


def _keep_version(agent: Agent) -> None:
    """Keep what an agent was made or changed to, in the same transaction."""
    kept = {name: getattr(agent, name) for name in CHANGED}
    AgentVersion.objects.create(
        agent=agent, version=agent.version, created=agent.modified, created_by_id=agent.modified_by_id, **kept
    )


def delete(actor: Actor, agent: Agent) -> None:
    """Delete an agent with its versions (G6), as every member of its org may. Its threads are kept, with its id."""
    require_member(actor, agent.org_id)
    agent.delete()


def launch(actor: Actor, agent: Agent, body: LaunchIn, *, api_version: str = "") -> ThreadOut:
    """Start a thread from an agent (G7), in the agent's org and owned by the caller; it records the agent and version.

    The launch's visibility always wins; so does each end of the scope that it sets (B158 to B160).
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
        created_from_agent_version=agent.version,
        launch_values=values,
    )


def listed(
    actor: Actor, org_id: int, *, limit: int, page_token: str | None, words: str = "", for_sdk: bool = False
) -> AgentPageOut:
    """A page of an org's agents, newest first (G4); `words` limits it to matching names and descriptions.

    `for_sdk`: leaves out agents that the SDK cannot read, because a single one makes it reject the whole page. They
    can still be read by id and by name.
    """
    rows = _visible(actor).filter(org=org_id)
    for word in words.split():
        rows = rows.filter(Q(name__icontains=word) | Q(description__icontains=word))
    found, next_token = _PLACES.of_query(words).page(rows, limit=limit, page_token=page_token)
    shown = [agent for agent in found if not for_sdk or _suits_sdk(agent)]
    return AgentPageOut(items=[agent_out(agent) for agent in shown], next_token=next_token)


def _suits_sdk(agent: Agent) -> bool:
    """Whether the SDK knows every goal type of a template, accepts the names of its client tools, and finds every
    declared variable: it drops `world_id`, which is an extension of Heddle.
    """
    template = {key: value for key, value in agent.request_template.items() if key != "world_id"}
    declared, tools = template.get("goals") or [], template.get("client_tools") or []
    return (
        all(goal.get("goal_type") in goals.SDK_GOALS for goal in declared)
        and all(_SDK_TOOL_NAME.fullmatch(str(tool.get("name", ""))) for tool in tools)
        and set(_placeholders(template)) == {variable["name"] for variable in agent.variables}
    )


def agent_out(agent: Agent) -> AgentOut:
    """The wire record of an agent."""
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
    """Reload the agent and lock it until the commit, so that concurrent changes are checked one after the other."""
    rows = Agent.objects.select_for_update(of=("self",)).select_related("org", "created_by", "modified_by")
    return held(rows, agent.pk, NotFound.of("agent", agent.agent_id, "that you can see"))


def _parsed(values: Mapping[str, Any]) -> dict[str, Any]:
    """The columns as they are stored. The slow part is done here, before the agent is locked."""
    if "request_template" not in values:
        return dict(values)
    return {**values, "request_template": _template(values["request_template"])}


class Undeclared(InvalidRequest):
    """A template uses these names, which its variables lack."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(f"variables: {_variables(names)} used in the template but not declared")
        self.names = tuple(names)


def _require_fitting(values: Mapping[str, Any]) -> None:
    """Raise `InvalidRequest` unless the template's placeholders are the declared names, each once.

    The SDK checks the same on every agent that it reads, so it could not read a record that violates this (spec 3.11).
    """
    found = set(_placeholders(values["request_template"]))
    names = [variable["name"] for variable in values["variables"]]
    if len(names) != len(set(names)):
        raise InvalidRequest("variables: a name must not be listed twice")
    if missing := sorted(found - set(names)):
        raise Undeclared(missing)
    if unused := sorted(set(names) - found):
        raise InvalidRequest(f"variables: {_variables(unused)} declared but not used in the template")


def _require_profile(template: Mapping[str, Any], before: Mapping[str, Any] = MappingProxyType({})) -> None:
    """Raise `InvalidRequest` if a template names a model profile that there is not, unless it did so before. What one
    with a placeholder names is only known at a launch.
    """
    profile = template.get("model_profile")
    if profile == before.get("model_profile") or PLACEHOLDER.search(profile or ""):
        return
    with _within_template():
        profiles.named(profile)


def _variables(names: Sequence[str]) -> str:
    shown = get_text_list([*names[:_NAMED], *(["others"] if names[_NAMED:] else [])], "and")
    return f"the variable {shown} is" if len(names) == 1 else f"the variables {shown} are"


def _template(given: Any) -> dict[str, Any]:
    """Check a template and return it as a start request that still has its placeholders.

    Fields that a start request does not have are left out: the SDK also drops them, and would then miss a placeholder
    in one of them.
    """
    body = bodies.parse(StartIn, given, _FIELD)
    with _within_template():
        client_tools.checked(body.client_tools)
    template: dict[str, Any] = body.model_dump(mode="json", exclude_unset=True)
    if body.goals:
        template["goals"] = [goals.declared(goal, f"{_FIELD}.goals.{at}") for at, goal in enumerate(body.goals)]
    return template


@contextmanager
def _within_template() -> Iterator[None]:
    """Let errors name the field of the template, not of a start request."""
    try:
        yield
    except InvalidRequest as problem:
        raise InvalidRequest(f"{_FIELD}.{problem.message}") from None


def _placeholders(value: Any, path: str = _FIELD) -> Iterator[str]:
    """The placeholder names in all string values; raises `InvalidRequest` for one in a key."""
    if isinstance(value, str):
        yield from PLACEHOLDER.findall(value)
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _placeholders(item, f"{path}.{place}")
    elif isinstance(value, dict):
        for key, item in value.items():
            if PLACEHOLDER.search(key):
                raise InvalidRequest(f"{path}: placeholders are not allowed in keys")
            yield from _placeholders(item, f"{path}.{key}")


def _values(agent: Agent, given: Mapping[str, str]) -> dict[str, str]:
    """A value for every variable: the given one, else its default; unknown and missing values are refused (B160)."""
    declared = {variable["name"]: variable for variable in agent.variables}
    if unknown := sorted(given.keys() - declared.keys()):
        raise InvalidRequest(f"values.{unknown[0]}: is not a variable of this agent")
    values = {}
    for name, variable in declared.items():
        value = given.get(name, variable.get("default"))
        if value is None:
            raise InvalidRequest(f"values.{name}: is required")
        values[name] = value
    return values


def _require_small(values: Mapping[str, str], places: Iterable[str]) -> None:
    """A value may be used in many places: a small template and a small launch must not make a huge request."""
    if sum(len(values[name]) for name in places) > settings.BODY_BYTES:
        raise InvalidRequest(f"values: make the request larger than {limit_text(settings.BODY_BYTES)}")


def _filled(template: Any, values: Mapping[str, str]) -> Any:
    """The template with every placeholder replaced, only in values."""
    if isinstance(template, str):
        return PLACEHOLDER.sub(lambda match: values[match[1]], template)
    if isinstance(template, list):
        return [_filled(item, values) for item in template]
    if isinstance(template, dict):
        return {key: _filled(item, values) for key, item in template.items()}
    return template
