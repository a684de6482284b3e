"""Starting, sending, answering tools, cancelling: what people and programs do to a thread's turn (spec 2.2 to 2.4)."""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import DatabaseError, transaction
from django.utils import timezone

from accounts.rights import Right
from catalogue import skills
from catalogue.skills import SkillText
from catalogue.worlds import in_threads as playing
from core import ids, jobs
from core.actor import Actor
from core.errors import InvalidRequest
from core.prepared import PreparedInsert, PreparedRow, PreparedUpdate
from threads import client_tools, goals, profiles, reading, titles, transcript
from threads.access import require
from threads.content import (
    LOAD_SKILL,
    UNANSWERED,
    BlockDict,
    ClientContextBlock,
    error,
    text,
    tool_result,
    tool_use,
)
from threads.models import Goal, Message, Thread, Turn
from threads.pending import (
    answered_message,
    last_message,
    last_request,
    left_open,
    open_uses,
    pending_client_uses,
    unanswered,
)
from threads.status import OPEN_TURN, RUNNING, SENDABLE, GoalStatus, ThreadStatus, TurnState
from threads.transcript import Transcript
from threads.wire import (
    MAX_SKILL_CHARACTERS,
    InvokedSkillIn,
    MessageIn,
    SendIn,
    StartIn,
    StatusOut,
    ThreadOut,
    ToolResultsIn,
)

ADVANCE = "threads.advance"
REPLAY_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Request:
    """What recognises a POST that is sent again: the digest of its body, byte for byte (spec 1.5)."""

    digest: str = ""

    @classmethod
    def of(cls, kind: str, raw: bytes) -> "Request":
        return cls(hashlib.sha256(kind.encode() + b"\n" + raw).hexdigest())


NO_REQUEST = Request()


def start(
    actor: Actor, org_id: int, body: StartIn, *, api_version: str = "", request: Request = NO_REQUEST, **columns: Any
) -> ThreadOut:
    """Start a thread and its first turn (T1); a refused start stores nothing.

    The record ends with what was asked: everything generated comes through deltas (spec 4.6 item 3). `columns` are
    further columns of the thread row, for launches.
    """
    declared = _checked_goals(body.goals)
    invoked = _skill_texts(actor, body.invoke_skills, "invoke_skills")
    available = _skill_texts(actor, body.available_skills, "available_skills")
    thread = Thread(
        org_id=org_id,
        created_by_id=actor.user_id,
        title=titles.of_request(body.messages, declared),
        status=ThreadStatus.ROBOTO_TURN,
        visibility=body.visibility,
        model_profile=profiles.named(body.model_profile).id,
        system_prompt=body.system_prompt,
        client_context=body.client_context.model_dump(mode="json") if body.client_context else None,
        analysis_scope=_scope(body),
        available_skills=None if body.available_skills is None else [skill.as_data() for skill in available],
        world=None if body.world_id is None else playing.world_for(org_id, body.world_id),
        **columns,
    )
    tools = client_tools.checked(body.client_tools, thread)
    with transaction.atomic():
        with transcript.creating(thread) as writer:
            at = _add_request(writer, actor, body, body.messages, declared, invoked, echo=False)
        client_tools.declare(thread, tools)
        _begin(thread, actor, declared, at, request)
        return reading.record(thread, api_version=api_version)


def send(actor: Actor, thread: Thread, body: SendIn, *, request: Request = NO_REQUEST, echo: bool = True) -> StatusOut:
    """Add a request to an idle thread and start its turn (T4). The status flips in the same transaction (B50).

    `echo`: the sender appends a copy of their own, so their next delta leaves the text out (B51).
    """
    require(actor, thread, Right.SEND)
    declared = _checked_goals(body.goals)
    invoked = _skill_texts(actor, body.invoke_skills, "invoke_skills")
    tools = client_tools.checked(body.client_tools, thread)
    with transcript.writing(thread.pk) as writer:
        if _is_replay(writer.thread, actor, request):
            return reading.status(writer.thread)
        _require_sendable(writer.thread)
        _keep_settings(thread, body)
        client_tools.declare(thread, tools)
        messages = [body.message] if body.message else []
        at = _add_request(writer, actor, body, messages, declared, invoked, echo=echo)
        _begin(writer.thread, actor, declared, at, request)
        return reading.status(writer.thread)


def again(actor: Actor, thread: Thread, *, invoked: Sequence[SkillText] = (), replays_calls: bool = False) -> StatusOut:
    """Have the last request of a thread answered, where nobody has, or once more, where its turn came to nothing.

    Once more is to send it again: its words, context and goals. What failed stays where it is, rated perhaps, and read
    by others: nothing is taken back. A fork before it would leave a thread behind with every try. Skills that it
    invoked stand in the transcript already, unless they are given here. What was answered from a record is so again:
    else a rerun that failed would do everything a second time (decision 015).
    """
    require(actor, thread, Right.SEND)
    with transcript.writing(thread.pk) as writer:
        _require_sendable(writer.thread)
        said = last_request(thread.pk)
        is_open = said is not None and reading.is_unanswered(writer.thread)
        if said is None or not (is_open or writer.thread.ended_badly):
            raise InvalidRequest("message: there is no request without an answer, and no turn that failed")
        declared = list(Goal.objects.filter(thread=thread, message_sequence_num=said).order_by("id"))
        dangling = left_open(thread.pk)
        at = said
        if is_open:
            _take_back(writer, declared)
        else:
            repeated = _LATEST.first(thread.pk)
            replays_calls = replays_calls or (repeated is not None and repeated.replays_calls)
            (request,) = reading.snapshots(thread.pk, between=(said, said))
            at = writer.add("user", request.blocks, author_id=actor.user_id).idx
        _answer_for_nobody(writer, dangling)
        if declared:
            writer.goals_changed(declared=len(declared))
        writer.turn_to(ThreadStatus.ROBOTO_TURN)
        for skill in invoked:
            _add_skill(writer, skill)
        asked = [goal.goal_data for goal in declared]
        _begin(writer.thread, actor, asked, at, NO_REQUEST, replays_calls=replays_calls)
        return reading.status(writer.thread)


def _take_back(writer: Transcript, copies: list[Goal]) -> None:
    """The goals that a fork brought along with a request make way for those of the turn that answers it.

    Beside them a rerun of a rerun would declare each goal twice, and the next one four times.
    """
    if copies:
        achieved = sum(goal.status == GoalStatus.ACHIEVED for goal in copies)
        Goal.objects.filter(pk__in=[goal.pk for goal in copies]).delete()
        writer.goals_changed(declared=-len(copies), achieved=-achieved)


def told(thread_pk: int, request: Request) -> None:
    """Note that the answer to a POST has gone out: the same one again is another one from now on.

    A database that is away costs the note, not the request: the POST is a repeat for a minute then.
    """
    with suppress(DatabaseError):
        Turn.objects.filter(thread=thread_pk, request_hash=request.digest, is_told=False).update(is_told=True)


def submit_tool_results(
    actor: Actor, thread: Thread, body: ToolResultsIn, *, request: Request = NO_REQUEST
) -> StatusOut:
    """Answer client tool uses (T5). All of a submission is stored or none of it; the last answer resumes the turn."""
    require(actor, thread, Right.SEND)
    tools = client_tools.checked(body.client_tools, thread)
    with transcript.writing(thread.pk) as writer:
        if _is_replay(writer.thread, actor, request):
            return reading.status(writer.thread)
        if writer.thread.status != ThreadStatus.CLIENT_TOOL_TURN:
            raise InvalidRequest(f"tool_results: the thread waits for none (its status is {writer.thread.status})")
        pending = {use["tool_use_id"]: use for use in pending_client_uses(writer.thread)}
        blocks = [_result_block(place, result, pending) for place, result in enumerate(body.tool_results)]
        client_tools.declare(thread, tools)
        if not blocks:
            return reading.status(writer.thread)
        results = _store_results(writer, blocks)
        if len(blocks) == len(pending):
            _resume(writer, results, request)
        return reading.status(writer.thread)


def cancel(actor: Actor, thread: Thread) -> StatusOut:
    """Stop the running turn (H3); a no-op when nothing runs. The worker notices at its next word."""
    require(actor, thread, Right.CANCEL)
    with transcript.writing(thread.pk) as writer:
        if writer.thread.status in RUNNING:
            stop(writer, Message.Status.CANCELLED, error("The turn was cancelled.", "cancelled"))
            fail_goals(writer)
            Turn.objects.filter(thread=thread, state__in=OPEN_TURN).update(
                state=TurnState.CANCELLED,
                finished_at=timezone.now(),
                error_code="cancelled",
                # What a request used that was cut short is not known.
                cost=None,
                answer_idx=writer.thread.message_count - 1,
            )
            writer.turn_to(ThreadStatus.USER_TURN)
        return reading.status(writer.thread)


def stop(writer: Transcript, status: str, reason: BlockDict) -> None:
    """End what is being written in a turn that goes no further, with an error block that says why.

    Open uses are answered, so that the history stays well-formed (B162).
    """
    thread = writer.thread
    last = last_message(thread.pk)
    unanswered = f"{reason['error_message']} This call was not answered."
    results = [tool_result(use["tool_name"], use["tool_use_id"], "error", unanswered) for use in open_uses(thread)]
    if results:
        writer.close(_store_results(writer, results), Message.Status.COMPLETED)
    if last is not None and last.role == "assistant" and last.status == Message.Status.GENERATING:
        writer.extend(last, [reason])
        writer.close(last, status)
    elif thread.status == ThreadStatus.ROBOTO_TURN:
        writer.add("assistant", [reason], status=status)
        thread.last_outcome = status


def fail_goals(writer: Transcript) -> bool:
    """No goal stays pending after its turn (spec 4.3). Tells whether there was one."""
    pending = Goal.objects.filter(thread=writer.thread.pk, status=GoalStatus.PENDING)
    failed = pending.update(status=GoalStatus.FAILED, concluded_at=timezone.now())
    if failed:
        writer.goals_changed()
    return failed > 0


def _checked_goals(values: list[Any] | None) -> list[dict[str, Any]]:
    return [goals.declared(value, f"goals.{place}") for place, value in enumerate(values or [])]


def _skill_texts(actor: Actor, wanted: Sequence[InvokedSkillIn] | None, field: str) -> list[SkillText]:
    """The chosen versions, each visible to the caller, or a refusal before anything is stored (B153)."""
    texts = skills.texts(actor, [(skill.skill_id, skill.version) for skill in wanted or []], field)
    if sum(len(each.body) for each in texts) > MAX_SKILL_CHARACTERS:
        raise InvalidRequest(f"{field}: their bodies have together more than {MAX_SKILL_CHARACTERS} characters")
    return texts


def _scope(body: StartIn | SendIn) -> dict[str, Any] | None:
    """The scope of a request; one without any bound equals none (spec 3.9)."""
    if body.analysis_scope is None:
        return None
    bounds = body.analysis_scope.model_dump()
    return bounds if any(value is not None for value in bounds.values()) else None


def _keep_settings(thread: Thread, body: SendIn) -> None:
    """A scope given replaces the old one for all later turns; null keeps it (B45, B46)."""
    columns: dict[str, Any] = {}
    if (scope := _scope(body)) is not None:
        columns["analysis_scope"] = scope
    if body.client_context is not None:
        columns["client_context"] = body.client_context.model_dump(mode="json")
    if columns:
        Thread.objects.filter(pk=thread.pk).update(**columns)


def _add_request(
    writer: Transcript,
    actor: Actor,
    body: StartIn | SendIn,
    messages: Sequence[MessageIn],
    declared: list[dict[str, Any]],
    invoked: list[SkillText],
    *,
    echo: bool,
) -> int:
    """Store the messages of a request, and one of Heddle's own where goals or skills come without any (B4, B44).

    Calls that nobody answered, in a fork, an import or a seed, are answered here (spec 4.7, 9). Their results stand
    behind the request: its sender holds a copy of it under its index already (B51).

    Returns the index of the last user message, which the turn's goals point at (B100).
    """
    dangling = [] if writer.thread._state.adding else left_open(writer.thread.pk)
    at = last_user = max((place for place, each in enumerate(messages) if each.role == "user"), default=-1)
    for place, message in enumerate(messages):
        blocks: list[BlockDict] = [block.model_dump(mode="json") for block in message.content]
        dangling = unanswered([*dangling, *blocks])
        if place == last_user and body.client_context is not None:
            blocks.append(ClientContextBlock(context=body.client_context).model_dump(mode="json"))
        author = actor.user_id if message.role == "user" else None
        stored = writer.add(message.role, blocks, author_id=author, echo_to_id=actor.user_id if echo else None)
        at = stored.idx if place == last_user else at
    if last_user < 0 and (declared or invoked):
        at = writer.add("user", [text(_own_words(declared))], author_id=actor.user_id).idx
    _answer_for_nobody(writer, dangling)
    for skill in invoked:
        _add_skill(writer, skill)
    if declared:
        writer.goals_changed(declared=len(declared))
    writer.turn_to(ThreadStatus.ROBOTO_TURN)
    return at


def _add_skill(writer: Transcript, skill: SkillText) -> None:
    """A `load_skill` use and its result, as if the agent had asked for it (spec 4.2 item 3); frozen here (B155)."""
    use_id = ids.tool_use_id()
    wish = {"name": skill.name, "version": skill.version}
    writer.add("assistant", [tool_use(LOAD_SKILL, use_id, wish)])
    writer.add("roboto", [{**tool_result(LOAD_SKILL, use_id, "success", skill.as_data()), "answered_by": "skill"}])


def _answer_for_nobody(writer: Transcript, uses: Sequence[BlockDict]) -> None:
    """Results for calls that a fork, an import or a seed brought along without any (spec 4.7, 9)."""
    refused = {"error": UNANSWERED}
    results = [tool_result(use["tool_name"], use["tool_use_id"], "error", refused) for use in uses]
    if results:
        writer.add("roboto", [{**result, "answered_by": "nobody"} for result in results])


def _own_words(declared: list[dict[str, Any]]) -> str:
    if not declared:
        return "Please apply the invoked skills."
    return "Please achieve the declared goal." if len(declared) == 1 else "Please achieve the declared goals."


_TURNS = PreparedInsert(Turn)
_LATEST = PreparedRow(lambda thread: Turn.objects.filter(thread=thread).order_by("-id")[:1], Turn, int)
_RESUMED = PreparedUpdate(Turn, "state", "request_hash", "is_told", "requested_at", "queued_at", "lease_until")


def _begin(
    thread: Thread,
    actor: Actor,
    declared: list[dict[str, Any]],
    at: int,
    request: Request,
    *,
    replays_calls: bool = False,
) -> None:
    """The turn's row, its goals, and the nudge after the commit."""
    turn = Turn(thread=thread, requested_by_id=actor.user_id, request_hash=request.digest, replays_calls=replays_calls)
    turn.is_told = not request.digest
    _TURNS.insert(turn)
    if declared:
        Goal.objects.bulk_create(
            Goal(thread=thread, turn=turn, goal_type=data["goal_type"], goal_data=data, message_sequence_num=at)
            for data in declared
        )
    jobs.enqueue_on_commit(ADVANCE, turn.pk)


def _is_replay(thread: Thread, actor: Actor, request: Request) -> bool:
    """Whether this very request was accepted a moment ago: the SDK sends a POST again when its answer got lost.

    While its turn runs it is a repeat in any case (spec 1.5). A turn can also be over before the sender tries again,
    where the server died in between; then the answer to the POST never went out.
    """
    turn = _LATEST.first(thread.pk) if request.digest else None
    return (
        turn is not None
        and (turn.request_hash, turn.requested_by_id) == (request.digest, actor.user_id)
        and turn.requested_at >= timezone.now() - timedelta(seconds=REPLAY_SECONDS)
        and (turn.state in OPEN_TURN or not turn.is_told)
    )


def _require_sendable(thread: Thread) -> None:
    if thread.status not in SENDABLE:
        waiting = "a client tool" if thread.status == ThreadStatus.CLIENT_TOOL_TURN else "the agent"
        raise InvalidRequest(f"message: it is the turn of {waiting} (the thread's status is {thread.status})")


def _result_block(place: int, result: Any, pending: dict[str, BlockDict]) -> BlockDict:
    use = pending.get(result.tool_use_id)
    if use is None:
        raise InvalidRequest(f"tool_results.{place}.tool_use_id: {result.tool_use_id[:80]} waits for no answer here")
    if use["tool_name"] != result.tool_name:
        raise InvalidRequest(f"tool_results.{place}.tool_name: that use is of {use['tool_name']}")
    block = tool_result(
        result.tool_name, result.tool_use_id, result.status, result.output, runtime_ms=result.runtime_ms
    )
    return {**block, "answered_by": "client"}


def _store_results(writer: Transcript, blocks: list[BlockDict]) -> Message:
    """Results go into the one roboto message right behind the uses (spec 4.5)."""
    message = answered_message(writer.thread)
    if message is None:
        return writer.add("roboto", blocks, status=Message.Status.GENERATING)
    writer.extend(message, blocks)
    return message


def _resume(writer: Transcript, results: Message, request: Request) -> None:
    """Everything is answered: the roboto message is whole, and the turn goes on in a worker."""
    writer.close(results, Message.Status.COMPLETED)
    writer.turn_to(ThreadStatus.ROBOTO_TURN)
    turn = Turn.objects.get(thread=writer.thread, state=TurnState.WAITING)
    turn.state, turn.request_hash, turn.requested_at = TurnState.QUEUED, request.digest, timezone.now()
    turn.queued_at, turn.lease_until, turn.is_told = turn.requested_at, None, not request.digest
    _RESUMED.update(turn)
    jobs.enqueue_on_commit(ADVANCE, turn.pk)
