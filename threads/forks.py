"""Forking: a private copy of a thread up to a message, from which its owner goes on (spec 4.7)."""

from typing import Final

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from catalogue.models import World
from catalogue.worlds import in_threads as playing
from core.actor import Actor
from core.errors import InvalidRequest
from core.prepared import Prepared
from threads import reading, transcript, weaving
from threads.content import TERMINAL
from threads.models import ClientTool, Goal, Message, Thread
from threads.status import GoalStatus, ThreadStatus, Visibility
from threads.wire import ThreadOut

SAME_WORLD: Final = ""
"""A fork goes on where its source is: what began in a world does not reach real tools unasked."""


def fork(
    actor: Actor, source: Thread, upto: int, *, world_id: str | None = SAME_WORLD, api_version: str = ""
) -> ThreadOut:
    """Copy messages 0 to `upto`, both included, into a new private thread of the caller (T6).

    A bound out of range, or on a message still being written, is an invalid request (B139, B140). A fork of a
    thread that is played in a world stays there, unless it is given another one or none.
    """
    with transaction.atomic():
        _require_bound(source, upto)
        thread = _copied_row(actor, source, upto, _world_of(actor, source, world_id))
        transcript.copy(source.pk, thread, upto)
        _copy_goals(source, thread, upto)
        ClientTool.objects.bulk_create(
            ClientTool(thread=thread, name=tool.name, description=tool.description, input_schema=tool.input_schema)
            for tool in ClientTool.objects.filter(thread=source)
        )
        _describe(thread)
        return reading.record(thread, api_version=api_version)


def _world_of(actor: Actor, source: Thread, world_id: str | None) -> World | None:
    if world_id == SAME_WORLD:
        return source.world if source.world_id else None
    return None if world_id is None else playing.world_for(source.org_id, world_id)


def _require_bound(source: Thread, upto: int) -> None:
    found = _STATUS.first(source.pk, upto) if 0 <= upto < _NO_INDEX else None
    if found is None:
        last = Message.objects.filter(thread=source).count() - 1
        raise InvalidRequest(f"message_sequence_num: must be from 0 to {last}")
    if found[0] not in TERMINAL:
        raise InvalidRequest(f"message_sequence_num: message {upto} is still being written")


def _copied_row(actor: Actor, source: Thread, upto: int, world: World | None) -> Thread:
    """What a fork keeps and what it does not: no agent, trigger, origin or pin (B137)."""
    kept = dict(zip(_KEPT, _KEPT_ROW.rows(source.pk)[0], strict=True))
    return Thread.objects.create(
        **kept,
        org=source.org,
        created_by=User(pk=actor.user_id, email=actor.email),
        status=ThreadStatus.USER_TURN,
        visibility=Visibility.PRIVATE,
        forked_from=source,
        forked_from_message_sequence_num=upto,
        world=world,
        revision=1,
        title_revision=1,
        goals_revision=1,
        message_count=upto + 1,
    )


def _copy_goals(source: Thread, thread: Thread, upto: int) -> None:
    """Goals whose declaring message is copied come along; pending ones as failed, for no turn runs for them here."""
    if _GOAL.first(source.pk, upto) is None:
        return
    copies = list(Goal.objects.filter(thread=source, message_sequence_num__lte=upto).order_by("id"))
    for goal in copies:
        if goal.status == GoalStatus.PENDING:
            goal.status, goal.concluded_at = GoalStatus.FAILED, timezone.now()
        goal.pk, goal.thread, goal.turn = None, thread, None
    Goal.objects.bulk_create(copies)
    thread.goal_count = len(copies)
    thread.achieved_goal_count = sum(goal.status == GoalStatus.ACHIEVED for goal in copies)


def _describe(thread: Thread) -> None:
    """The columns that lists show of the copy."""
    thread.weave, thread.has_error = weaving.of_thread(thread.pk)
    answer = _LAST_ANSWER.first(thread.pk)
    thread.last_outcome = answer[0] if answer else ""
    thread.save(update_fields=["weave", "has_error", "last_outcome", "goal_count", "achieved_goal_count"])


_NO_INDEX = 2**31  # beyond what the column holds, where SQLite would not even compare
_KEPT = ("title", "model_profile", "system_prompt", "client_context", "analysis_scope", "available_skills")
_KEPT_ROW = Prepared(lambda pk: Thread.objects.filter(pk=pk).values_list(*_KEPT), int)
_STATUS = Prepared(lambda pk, idx: Message.objects.filter(thread=pk, idx=idx).values_list("status"), int, int)
_GOAL = Prepared(
    lambda pk, upto: Goal.objects.filter(thread=pk, message_sequence_num__lte=upto).values_list("id")[:1], int, int
)
_LAST_ANSWER = Prepared(
    lambda pk: Message.objects.filter(thread=pk, role="assistant").order_by("-idx").values_list("status")[:1], int
)
