"""Forking: a private copy of a thread up to a message, which its owner continues (spec 4.7)."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from accounts.models import User
from accounts.rights import Right
from catalogue.models import World
from catalogue.worlds import in_threads as playing
from core.actor import Actor
from core.errors import InvalidRequest
from core.prepared import Prepared, together
from core.statements import Row
from threads import forked_skills, reading, transcript, weaving
from threads.access import LAST, may, require, staying
from threads.content import TERMINAL, MessageSnapshot
from threads.forked_skills import Skills
from threads.models import Block, ClientTool, Goal, Message, Thread
from threads.pending import last_request
from threads.status import GoalStatus, ThreadStatus, Visibility
from threads.wire import ThreadOut

_MOST_RESULTS = 50
"""Most messages of results that are looked for behind one: a client may send each result by itself."""
SAME_WORLD: Final = ""
"""The fork stays in the world of its source, so that it does not run real tools unasked."""


def fork(
    actor: Actor,
    source: Thread,
    upto: int,
    *,
    world_id: str | None = SAME_WORLD,
    api_version: str = "",
    changes: Mapping[str, Any] = MappingProxyType({}),
) -> ThreadOut:
    """Copy messages 0 to `upto`, both included, into a new private thread of the caller (T6).

    Raw tool payloads are copied if the caller may see them in the source (B164), frozen skills as far as the caller
    may read them (spec 4.7). `world_id` is another world, or None to leave the world of the source. `changes` are
    columns that differ from the source. Raises `InvalidRequest` for a bound out of range or on a message still being
    written (B139, B140).
    """
    require(actor, source, Right.FORK)
    with staying(source.pk), transaction.atomic():
        kept, has_goals, has_tools = _standing(source, upto)
        messages = reading.snapshots(source.pk, between=(0, upto))
        if kept["available_skills"] and source.created_by_id != actor.user_id and "available_skills" not in changes:
            kept["available_skills"] = _lent(actor, kept["available_skills"], messages)
        thread = _fork_of(actor, source, messages, {**kept, **changes})
        thread.world = _world_of(source, world_id)
        goals = _goals_upto(source, messages) if has_goals else []
        thread.goal_count = len(goals)
        thread.achieved_goal_count = sum(goal.status == GoalStatus.ACHIEVED for goal in goals)
        transcript.copy(source.pk, thread, upto, with_raw=may(actor, source, Right.RAW))
        _copy_goals(goals, thread)
        if has_tools:
            _copy_tools(source, thread)
        return reading.record_of_fork(thread, source, messages, api_version=api_version)


def with_results(source: Thread, index: int) -> int:
    """The message that ends with the results of message `index`'s tool uses, which a page shows together with them;
    `index` itself without any. One query.

    A fork in between would have calls without results, and its next turn would close them as unanswered.
    """
    results = Block.objects.filter(thread=OuterRef("thread"), idx=OuterRef("idx"), kind="tool_result")
    if not 0 <= index <= LAST:
        return index  # the fork refuses it
    behind = Message.objects.filter(thread=source, idx__gt=index).order_by("idx")
    end = index
    for idx, role, status, has_results in behind.values_list("idx", "role", "status", Exists(results))[:_MOST_RESULTS]:
        if role != "roboto" or status not in TERMINAL or not has_results:
            break
        end = idx
    return end


def request_of(source: Thread, index: int) -> int:
    """The index of the request that message `index` answers: the last user message up to and including it.

    Raises `InvalidRequest` if there is no message `index`, or no user message before it.
    """
    if not 0 <= index < source.message_count:
        raise _out_of_range(source)
    found = last_request(source.pk, index)
    if found is None:
        raise InvalidRequest(f"message_sequence_num: message {index} has no request before it")
    return found


def _world_of(source: Thread, world_id: str | None) -> World | None:
    if world_id == SAME_WORLD:
        return source.world if source.world_id else None
    return None if world_id is None else playing.world_for(source.org_id, world_id)


def _standing(source: Thread, upto: int) -> tuple[dict[str, Any], bool, bool]:
    """Lock the source; returns the columns that a fork keeps, and whether it has goals and tools; checks the bound.

    The messages to copy are queried in the same round trip, unless the bound is already out of range.
    """
    rows: list[Row] = []
    bound: list[Row] = []
    if 0 <= upto <= LAST:
        ahead = reading.questions(source.pk, between=(0, upto)) if upto < source.message_count else ()
        rows, bound = together((_KEPT_ROW, (source.pk,)), (_BOUND, (source.pk, upto)), ahead=ahead)
        if not rows:
            raise transcript.gone()
    if not bound:
        raise _out_of_range(source)
    status, has_goals, has_tools = bound[0]
    if status not in TERMINAL:
        raise InvalidRequest(f"message_sequence_num: message {upto} is still being written")
    return dict(zip(_KEPT, rows[0], strict=True)), has_goals, has_tools


def _out_of_range(source: Thread) -> InvalidRequest:
    return InvalidRequest(f"message_sequence_num: must be from 0 to {source.message_count - 1}")


def _lent(actor: Actor, frozen: list[dict[str, Any]], messages: list[MessageSnapshot]) -> list[dict[str, Any]]:
    """The frozen skills of a thread as far as somebody else may have them. One query."""
    shown = forked_skills.shown(block for message in messages for block in message.blocks)
    lent = forked_skills.lent(actor, Skills(forked_skills.kept(frozen)), shown)
    return [skill.as_data() for skill in lent.offered.values()]


def _fork_of(actor: Actor, source: Thread, messages: list[MessageSnapshot], kept: dict[str, Any]) -> Thread:
    """The new thread row. It keeps no agent, trigger, origin or pin (B137)."""
    weave, has_error = weaving.of_messages(messages)
    return Thread(
        **kept,
        org=source.org,
        created_by=User(pk=actor.user_id, email=actor.email),
        status=ThreadStatus.USER_TURN,
        visibility=Visibility.PRIVATE,
        forked_from=source,
        forked_from_message_sequence_num=messages[-1].index,
        revision=1,
        title_revision=1,
        goals_revision=1,
        message_count=len(messages),
        weave=weave,
        has_error=has_error,
        last_outcome=next((each.status for each in reversed(messages) if each.role == "assistant"), ""),
    )


def _goals_upto(source: Thread, messages: list[MessageSnapshot]) -> list[Goal]:
    """The goals whose declaring message is copied, as they were at the last of the messages (B103).

    Pending ones become failed, as no turn works on them here.
    """
    answered = {
        block["tool_use_id"]
        for message in messages
        for block in message.blocks
        if block["content_type"] == "tool_result"
    }
    goals = list(Goal.objects.filter(thread=source, message_sequence_num__lte=messages[-1].index).order_by("id"))
    for goal in goals:
        if goal.achieve_tool_use_id not in answered:
            goal.achieve_tool_use_id = goal.result = None
        if goal.status == GoalStatus.PENDING or (goal.status, goal.achieve_tool_use_id) == (GoalStatus.ACHIEVED, None):
            goal.status, goal.concluded_at = GoalStatus.FAILED, timezone.now()
    return goals


def _copy_goals(goals: list[Goal], thread: Thread) -> None:
    for goal in goals:
        goal.pk, goal.thread, goal.turn = None, thread, None
    Goal.objects.bulk_create(goals)


def _copy_tools(source: Thread, thread: Thread) -> None:
    ClientTool.objects.bulk_create(
        ClientTool(thread=thread, name=tool.name, description=tool.description, input_schema=tool.input_schema)
        for tool in ClientTool.objects.filter(thread=source)
    )


_KEPT = ("title", "model_profile", "system_prompt", "client_context", "analysis_scope", "available_skills")
# Locked, because the messages are read twice: a worker that rewinds the source has to wait.
_KEPT_ROW = Prepared(lambda pk: Thread.objects.select_for_update(no_key=True).filter(pk=pk).values_list(*_KEPT), int)
# Not part of the locking query, which would return values from before the wait for the lock.
_BOUND = Prepared(
    lambda pk, idx: Message.objects.filter(thread=pk, idx=idx).values_list(
        "status",
        Exists(Goal.objects.filter(thread=OuterRef("thread"))),
        Exists(ClientTool.objects.filter(thread=OuterRef("thread"))),
    ),
    int,
    int,
)
