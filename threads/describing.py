"""The view model of an agent's template for its page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import Any

from django.utils.safestring import SafeString

from catalogue import skills
from core.actor import Actor
from core.markdown import markdown_html, written_html
from core.payloads import json_html
from threads import goals, instants
from threads.models import Agent, AgentVersion
from threads.presenting.words import goal_title


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the template: its role and its content as HTML."""

    role: str
    html: SafeString


@dataclass(frozen=True, slots=True)
class SkillLink:
    """A skill in the template; `name` is empty if the reader cannot see it."""

    skill_id: str
    name: str
    version: int | None


@dataclass(frozen=True, slots=True)
class Piece:
    """A client tool: name, description, schema."""

    title: str
    words: str
    html: SafeString


@dataclass(frozen=True, slots=True)
class GoalPiece:
    """A goal as a thread shows it before any attempt; `html` is what its points leave out, None if nothing."""

    title: str
    target: str
    words: str
    points: tuple[goals.Point, ...]
    html: SafeString | None


@dataclass(frozen=True, slots=True)
class Bound:
    """The start or end of a scope: in the reader's time zone, exact, and `told` for `datetime=` (empty if finer)."""

    words: str
    exact: str
    told: str


@dataclass(frozen=True, slots=True)
class Described:
    """A template in parts. `available` is None if the subscriptions of the launching user apply."""

    messages: tuple[Said, ...]
    system_prompt: SafeString | None
    model_profile: str
    visibility: str
    scope: tuple[Bound | None, Bound | None] | None
    invoked: tuple[SkillLink, ...]
    available: tuple[SkillLink, ...] | None
    goals: tuple[GoalPiece, ...]
    client_tools: tuple[Piece, ...]
    client_context: SafeString | None


def described(actor: Actor, agent: Agent | AgentVersion, *, tz: tzinfo = UTC) -> Described:
    """The template of an agent, or of a version of one, with times in `tz`."""
    template = agent.request_template
    invoked, available = template.get("invoke_skills") or [], template.get("available_skills")
    names = {
        skill.skill_id: skill.name
        for skill in skills.known(actor, [each["skill_id"] for each in [*invoked, *(available or [])]])
    }
    prompt, context = template.get("system_prompt"), template.get("client_context")
    return Described(
        messages=tuple(_said(message) for message in template.get("messages") or []),
        system_prompt=markdown_html(prompt) if prompt else None,
        model_profile=template.get("model_profile") or "",
        visibility=template.get("visibility") or "",
        scope=_scope(template.get("analysis_scope") or {}, tz),
        invoked=_links(invoked, names),
        available=None if available is None else _links(available, names),
        goals=tuple(_goal(goal) for goal in template.get("goals") or []),
        client_tools=tuple(
            Piece(tool["name"], tool["description"], json_html(tool["input_schema"]))
            for tool in template.get("client_tools") or []
        ),
        client_context=json_html(context) if context else None,
    )


def _said(message: Mapping[str, Any]) -> Said:
    blocks = message["content"]
    if all(block.get("content_type", "text") == "text" for block in blocks):
        shown = written_html if message["role"] == "user" else markdown_html
        return Said(message["role"], shown("\n\n".join(block["text"] for block in blocks)))
    return Said(message["role"], json_html(blocks))


def _links(wanted: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> tuple[SkillLink, ...]:
    return tuple(SkillLink(each["skill_id"], names.get(each["skill_id"], ""), each.get("version")) for each in wanted)


_WORDS = ("instruction", "summary_format_spec_prompt", "event_focus_prompt")


def _goal(goal: Mapping[str, Any]) -> GoalPiece:
    kind = goal["goal_type"]
    said = next((name for name in _WORDS if goal.get(name)), "")
    # Points shorten long texts, and show only the names of a schema.
    shown = {"goal_type", "dataset_id", said}
    if kind == goals.checklist.GOAL.name and all(len(words) <= 300 for words in goal["items"].values()):
        shown.add("items")
    rest = {name: value for name, value in goal.items() if name not in shown and value not in (None, {})}
    return GoalPiece(
        title=goal_title(kind),
        target=str(goal.get("dataset_id") or ""),
        words=goal.get(said, ""),
        points=goals.points(goal, None, achieved=False),
        html=json_html(rest) if rest else None,
    )


def _scope(scope: Mapping[str, int | None], tz: tzinfo) -> tuple[Bound | None, Bound | None] | None:
    start, end = (_bound(scope.get(bound), tz) for bound in ("start_time", "end_time"))
    return (start, end) if start or end else None


def _bound(number: int | None, tz: tzinfo) -> Bound | None:
    if number is None:
        return None
    exact = instants.instant(number)
    return Bound(instants.words(number, tz) or exact, exact, exact if number % 1_000_000 == 0 else "")
