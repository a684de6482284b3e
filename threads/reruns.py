"""Running an answer again: whether a complaint can be reproduced, and whether a fix holds.

The rerun is a fork before the answer, in which the same request is answered once more. Nothing is done twice in the
world: what tools answered then they answer now, from the transcript (`threads.runner.recorded`).
"""

from typing import Any

from django.db import transaction

from accounts.authentication import actor_of_user
from accounts.models import User
from accounts.rights import Right
from catalogue import skills
from core.actor import Actor
from threads import forks, lending, profiles, reading, turns
from threads.access import staying, thread_for
from threads.lending import Skills
from threads.models import Thread, Turn
from threads.pending import calls_behind
from threads.wire import RerunIn, ThreadOut


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
    with staying(source.pk), transaction.atomic():
        made = forks.fork(actor, source, upto, changes=changes)
        fork = thread_for(actor, made.thread_id, Right.SEND)
        turns.again(actor, fork, invoked=list(had.invoked.values()), replays_calls=body.tools == "recorded")
    return reading.record(thread_for(actor, made.thread_id), api_version=api_version)


def _skills(actor: Actor, source: Thread, upto: int, *, is_latest: bool) -> Skills:
    """The skills of an answer, as far as the actor is lent them: in the words that it read, or in their latest ones.

    Those that were offered and not read are told in what they say now.
    """
    asker = actor_of_user(_asker(source, upto))
    frozen = source.available_skills
    pinned = {} if frozen is not None else {skill.skill_id: skill for skill in skills.subscribed_texts(asker)}
    read = lending.shown(calls_behind(source.pk, upto))
    had = Skills({**pinned, **lending.kept(frozen or ()), **read.offered}, read.invoked)
    if is_latest:
        had = had.told_by(skills.latest_texts(asker, had.ids))
    return lending.lent(actor, had, read)


def _asker(source: Thread, upto: int) -> User:
    """Who had the request answered: their agent is run again."""
    answering = Turn.objects.filter(thread=source, answer_idx__gt=upto).select_related("requested_by")
    turn = answering.order_by("answer_idx").first()
    return turn.requested_by if turn else source.created_by
