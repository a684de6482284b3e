"""Running an answer again: whether a complaint can be reproduced, and whether a fix holds.

The rerun is a fork before the answer, in which the same request is answered once more. Nothing is done twice in the
world: what tools answered then they answer now, from the transcript (`threads.runner.recorded`).
"""

from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from accounts.authentication import actor_of_user
from accounts.models import User
from accounts.rights import Right
from catalogue import skills
from catalogue.skills import SkillText
from core.actor import Actor
from threads import forks, profiles, reading, turns
from threads.access import thread_for
from threads.content import LOAD_SKILL
from threads.models import Thread, Turn
from threads.pending import calls_behind
from threads.wire import RerunIn, ThreadOut

Texts = dict[str, SkillText]
"""By skill id."""


def rerun(actor: Actor, source: Thread, body: RerunIn, *, api_version: str = "") -> ThreadOut:
    """Fork a thread at the request that a message answers, and have it answered once more, by what `body` says.

    The agent has the skills of whoever asked then. Raises `InvalidRequest` for a message that answers nobody and for
    an unknown profile.
    """
    upto = forks.request_of(source, body.message_sequence_num)
    had = _skills(actor, source, upto, is_latest=body.skills == "latest")
    changes: dict[str, Any] = {"available_skills": [skill.as_data() for skill in had.offered.values()]}
    if body.model_profile is not None:
        changes["model_profile"] = profiles.named(body.model_profile).id
    with transaction.atomic():
        made = forks.fork(actor, source, upto, changes=changes)
        fork = thread_for(actor, made.thread_id, Right.SEND)
        turns.again(actor, fork, invoked=list(had.invoked.values()), replays_calls=body.tools == "recorded")
    return reading.record(thread_for(actor, made.thread_id), api_version=api_version)


@dataclass(frozen=True, slots=True)
class _Skills:
    """What the agent could load by itself, and what the request took up for it."""

    offered: Texts = field(default_factory=dict)
    invoked: Texts = field(default_factory=dict)


def _skills(actor: Actor, source: Thread, upto: int, *, is_latest: bool) -> _Skills:
    """The skills of an answer: in the words that it read, or in their latest versions.

    Those that were offered and not read are told in what they say now. Private skills of others go into a rerun as far
    as the transcript has them; only a platform admin has them whole.
    """
    asker = actor_of_user(_asker(source, upto))
    frozen = source.available_skills
    offered = skills.subscribed_texts(asker) if frozen is None else [SkillText(**skill) for skill in frozen]
    read = _read(source, upto)
    found = _Skills({skill.skill_id: skill for skill in offered} | read.offered, read.invoked)
    ids = [*found.offered, *found.invoked]
    seen = set(ids) if actor.is_admin else {skill.skill_id for skill in skills.known(actor, ids)}
    latest = {skill.skill_id: skill for skill in skills.latest_texts(asker, ids)} if is_latest else {}

    def chosen(texts: Texts) -> Texts:
        return {
            skill_id: latest.get(skill_id, skill) if skill_id in seen else skill
            for skill_id, skill in texts.items()
            if skill_id in seen or skill_id in read.offered or skill_id in read.invoked
        }

    return _Skills(chosen(found.offered), chosen(found.invoked))


def _asker(source: Thread, upto: int) -> User:
    """Who had the request answered: their agent is run again."""
    answering = Turn.objects.filter(thread=source, answer_idx__gt=upto).select_related("requested_by")
    turn = answering.order_by("answer_idx").first()
    return turn.requested_by if turn else source.created_by


def _read(source: Thread, upto: int) -> _Skills:
    """The skills whose words stand in an answer. Who takes one up for the agent names its version."""
    read = _Skills()
    wishes: dict[str, Any] = {}
    for block in calls_behind(source.pk, upto):
        if block["tool_name"] != LOAD_SKILL:
            continue
        if block["content_type"] == "tool_use":
            wishes[block["tool_use_id"]] = block["input"] or {}
        elif block["status"] == "success" and isinstance(block["payload"], dict):
            texts = read.invoked if "version" in wishes.get(block["tool_use_id"], {}) else read.offered
            texts[block["payload"]["skill_id"]] = SkillText(**block["payload"])
    return read
