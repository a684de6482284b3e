"""Reruns: running an answer again, to see whether a report can be reproduced or a fix works.

A rerun is a fork before the answer in which the same request is answered again. Side effects are not repeated: tool
calls return their recorded results (`threads.runner.recorded`).
"""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.authentication import actor_of_user
from accounts.models import User
from accounts.orgs import take_turns_with
from accounts.rights import Right
from catalogue import skills
from core import ids
from core.actor import Actor
from core.errors import InvalidRequest
from threads import agents, forked_skills, forks, profiles, reading, turns
from threads.access import staying, thread_for
from threads.forked_skills import Skills
from threads.models import Message, Thread, Turn
from threads.pending import calls_behind
from threads.status import ThreadStatus
from threads.wire import RerunIn, ThreadOut


def rerun(actor: Actor, source: Thread, body: RerunIn, *, is_once: bool = False, api_version: str = "") -> ThreadOut:
    """Fork a thread at the request that a message answers, and have it answered again with the options of `body`.

    The agent has the skills of the user who made the request. With `is_once`, the actor's fork for the same `body` that
    was made within a minute and is still being answered is returned instead of another one: each is paid for.
    Raises `InvalidRequest` for a message without a request before it, for an unknown profile, and for a latest prompt
    with a variable whose value is not known; `NotFound` for one of an agent that is gone.
    """
    upto = forks.request_of(source, body.message_sequence_num)
    had = skills_of(actor, source, upto, is_latest=body.skills == "latest")
    changes: dict[str, Any] = {"available_skills": [skill.as_data() for skill in had.offered.values()]}
    if body.model_profile is not None:
        changes["model_profile"] = profiles.named(body.model_profile).id
    prompt = _latest_prompt(source) if body.prompt == "latest" else body.system_prompt
    if prompt is not None:
        changes["system_prompt"] = prompt or None
    request = turns.Request.of("rerun", body.model_dump_json().encode())
    with staying(source.pk), transaction.atomic():
        if is_once:
            take_turns_with(actor.user_id)
            if begun := _under_way(actor, source, request):
                return reading.record(begun, api_version=api_version)
        made = forks.fork(actor, source, upto, changes=changes)
        fork = thread_for(actor, made.thread_id, Right.SEND)
        turns.again(
            actor, fork, invoked=list(had.invoked.values()), replays_calls=body.tools == "recorded", request=request
        )
    return reading.record(thread_for(actor, made.thread_id), api_version=api_version)


def _under_way(actor: Actor, source: Thread, request: turns.Request) -> Thread | None:
    recent = timezone.now() - timedelta(seconds=turns.REPLAY_SECONDS)
    made = Thread.objects.filter(
        forked_from=source,
        created_by=actor.user_id,
        status=ThreadStatus.ROBOTO_TURN,
        turns__requested_by=actor.user_id,
        turns__request_hash=request.digest,
        turns__requested_at__gte=recent,
    )
    key = made.order_by("-pk").values_list("key", flat=True).first()
    return thread_for(actor, ids.THREAD + key) if key else None


def _latest_prompt(source: Thread) -> str | None:
    """None for a thread that was not launched from an agent."""
    now = agents.prompt_now(source)
    if now is not None and now.unknown:
        reason = f"the value of {now.unknown[0]} in the system prompt of {now.agent.name} is not known for this thread"
        raise InvalidRequest.of("prompt", reason)
    return now.text if now is not None else None


def skills_of(actor: Actor, source: Thread, upto: int, *, is_latest: bool = False) -> Skills:
    """Those skills of the answer to a request that the actor may have, in the versions that were read; or the latest
    versions, and with them of the skills that the user who asked has subscribed to since.

    Subscribed skills that were offered but not read are used as they are now.
    """
    user, asked_at = _asked(source, upto)
    asker, frozen = actor_of_user(user), source.available_skills
    until = None if is_latest else asked_at
    offered = [] if frozen is not None else skills.subscribed_texts(asker, source.org_id, until=until)
    pinned = {skill.skill_id: skill for skill in offered}
    read = forked_skills.shown(calls_behind(source.pk, upto))
    had = Skills({**pinned, **forked_skills.kept(frozen or ()), **read.offered}, read.invoked)
    if is_latest:
        had = had.told_by(skills.latest_texts(asker, source.org_id, had.ids))
    return forked_skills.lent(actor, had, read)


def _asked(source: Thread, upto: int) -> tuple[User, datetime]:
    """The user who made the request, whose skills the rerun uses, and when. A turn that waited for a client was offered
    what there was when it went on.
    """
    answering = Turn.objects.filter(thread=source, answer_idx__gt=upto).select_related("requested_by")
    if turn := answering.order_by("answer_idx").first():
        return turn.requested_by, turn.requested_at
    said = Message.objects.filter(thread=source, idx=upto).values_list("created", flat=True).first()
    return source.created_by, said or source.created
