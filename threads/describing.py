"""An agent's template as its page shows it, for reading."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from catalogue import skills
from core.actor import Actor
from core.rendering import json_html, markdown_html
from threads import instants
from threads.models import Agent
from threads.presenting import GOAL_TITLES


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the template: who says it, its words, and what it holds besides."""

    role: str
    html: SafeString


@dataclass(frozen=True, slots=True)
class SkillLink:
    """A skill that the template names; without a name where the reader cannot see it."""

    skill_id: str
    name: str
    version: int | None


@dataclass(frozen=True, slots=True)
class Piece:
    """A goal or a client tool: its title, its words, its JSON."""

    title: str
    words: str
    html: SafeString


@dataclass(frozen=True, slots=True)
class Described:
    """A template in parts. `available` is None where a launch takes the subscriptions of whoever launches."""

    messages: tuple[Said, ...]
    system_prompt: SafeString | None
    model_profile: str
    visibility: str
    scope: str
    invoked: tuple[SkillLink, ...]
    available: tuple[SkillLink, ...] | None
    goals: tuple[Piece, ...]
    client_tools: tuple[Piece, ...]
    client_context: SafeString | None


def described(actor: Actor, agent: Agent) -> Described:
    """The template of an agent, for a reader."""
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
        scope=_scope(template.get("analysis_scope") or {}),
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
        return Said(message["role"], markdown_html("\n\n".join(block["text"] for block in blocks)))
    return Said(message["role"], json_html(blocks))


def _links(wanted: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> tuple[SkillLink, ...]:
    return tuple(SkillLink(each["skill_id"], names.get(each["skill_id"], ""), each.get("version")) for each in wanted)


def _goal(goal: Mapping[str, Any]) -> Piece:
    kind = goal["goal_type"]
    title = GOAL_TITLES.get(kind, kind.replace("_", " ").capitalize())
    return Piece(
        title, "", json_html({name: value for name, value in goal.items() if name != "goal_type" and value is not None})
    )


def _scope(scope: Mapping[str, int | None]) -> str:
    start, end = (instants.instant(scope.get(bound)) for bound in ("start_time", "end_time"))
    return f"{start or 'the beginning'} to {end or 'the end'}" if start or end else ""
