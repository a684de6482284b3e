"""Starting threads, sending, submitting tool results, retrying and cancelling (spec 2.2 to 2.4)."""

import hashlib
from collections.abc import Sequence, Set
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
from core.prepared import PreparedRow
from core.prepared_writes import PreparedInsert, PreparedUpdate
from core.rows import new
from threads import client_tools, goals, hooks, profiles, reading, titles, transcript
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
    with_answerer,
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
UNTOLD_SECONDS = 600
"""All ten attempts of the SDK: thirty seconds each, and the pauses between them."""


@dataclass(frozen=True, slots=True)
class Request:
    """Identifies a repeated POST by the digest of its raw body (spec 1.5)."""

    digest: str = ""

    @classmethod
    def of(cls, kind: str, raw: bytes) -> "Request":
        return cls(hashlib.sha256(kind.encode() + b"\n" + raw).hexdigest())


NO_REQUEST = Request()


def start(actor: Actor, org_id: int, body: StartIn, *, api_version: str = "", **columns: Any) -> ThreadOut:
    """Start a thread and its first turn (T1); if it fails, nothing is stored.

    The returned record ends with the request: everything generated comes through deltas (spec 4.6 item 3). `columns`
    are additional columns of the thread row, for launches.
    """
    declared = _checked_goals(body.goals)
    invoked = _skill_texts(actor, org_id, body.invoke_skills, "invoke_skills")
    available = _skill_texts(actor, org_id, body.available_skills, "available_skills")
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
        _begin(thread, actor, declared, at, NO_REQUEST)
        return reading.record(thread, api_version=api_version)


def send(actor: Actor, thread: Thread, body: SendIn, *, request: Request = NO_REQUEST, echo: bool = True) -> StatusOut:
    """Add a request to an idle thread and start its turn (T4). The status changes in the same transaction (B50).

    `echo`: the sender's client already shows the text, so their next delta leaves it out (B51).
    """
    require(actor, thread, Right.SEND)
    try:  # outside of the lock, because checking schemas may take a second
        declared = _checked_goals(body.goals)
        invoked = _skill_texts(actor, thread.org_id, body.invoke_skills, "invoke_skills")
        tools = client_tools.checked(body.client_tools, thread)
    except InvalidRequest:
        if _is_replay(thread, actor, request):  # a skill may have been deleted since
            return reading.status(thread)
        raise
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


def again(
    actor: Actor,
    thread: Thread,
    *,
    invoked: Sequence[SkillText] = (),
    replays_calls: bool = False,
    request: Request = NO_REQUEST,
) -> StatusOut:
    """Answer the last request of a thread if it has no answer, or retry it if its turn failed.

    A retry sends the request again with its text, context and goals. The failed answer stays, because people may have
    read and rated it; forking before it would leave a thread behind with every try. Skills that the request invoked are
    already in the transcript, unless `invoked` gives them. A turn that replayed recorded calls replays them again:
    otherwise retrying a failed rerun would repeat all side effects (decision 015).
    """
    require(actor, thread, Right.SEND)
    with transcript.writing(thread.pk) as writer:
        _require_sendable(writer.thread)
        said = last_request(thread.pk)
        is_open = said is not None and reading.is_unanswered(writer.thread)
        if said is None or not (is_open or writer.thread.ended_badly):
            raise InvalidRequest(f"message: nothing to retry: {_why_no_retry(writer.thread, said)}")
        declared = list(Goal.objects.filter(thread=thread, message_sequence_num=said).order_by("id"))
        dangling = left_open(thread.pk)
        at = said
        if is_open:
            _remove_copied_goals(writer, declared)
        else:
            repeated = _LATEST.first(thread.pk)
            replays_calls = replays_calls or (repeated is not None and repeated.replays_calls)
            (message,) = reading.snapshots(thread.pk, between=(said, said))
            at = writer.add("user", message.blocks, author_id=actor.user_id).idx
        _close_unanswered(writer, dangling)
        if declared:
            writer.goals_changed(declared=len(declared))
        writer.turn_to(ThreadStatus.ROBOTO_TURN)
        for skill in invoked:
            _add_skill(writer, skill)
        asked = [goal.goal_data for goal in declared]
        _begin(writer.thread, actor, asked, at, request, replays_calls=replays_calls)
        return reading.status(writer.thread)


def _remove_copied_goals(writer: Transcript, copies: list[Goal]) -> None:
    """Remove goals that a fork copied with its request; the turn that answers it declares them again.

    Otherwise a rerun of a rerun would declare each goal twice, and the next one four times.
    """
    if copies:
        achieved = sum(goal.status == GoalStatus.ACHIEVED for goal in copies)
        Goal.objects.filter(pk__in=[goal.pk for goal in copies]).delete()
        writer.goals_changed(declared=-len(copies), achieved=-achieved)


def told(thread_pk: int, request: Request) -> None:
    """Record that the response to a POST was sent: the same body sent again is a new request from now on.

    If the database is unavailable, only this record is lost: the POST counts as a repeat for a minute then.
    """
    with suppress(DatabaseError):
        Turn.objects.filter(thread=thread_pk, request_hash=request.digest, is_told=False).update(is_told=True)


def submit_tool_results(
    actor: Actor, thread: Thread, body: ToolResultsIn, *, request: Request = NO_REQUEST
) -> StatusOut:
    """Store results of client tool uses (T5), all of them or none; the last missing result resumes the turn."""
    require(actor, thread, Right.SEND)
    tools = client_tools.checked(body.client_tools, thread)
    with transcript.writing(thread.pk) as writer:
        if _is_replay(writer.thread, actor, request):
            return reading.status(writer.thread)
        if writer.thread.status != ThreadStatus.CLIENT_TOOL_TURN:
            raise InvalidRequest(f"tool_results: the thread is not waiting for any (status {writer.thread.status})")
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
    """Stop the running turn (H3); does nothing if none runs. The worker notices at its next fragment."""
    require(actor, thread, Right.CANCEL)
    with transcript.writing(thread.pk) as writer:
        if writer.thread.status in RUNNING:
            stop(writer, Message.Status.CANCELLED, error("The turn was cancelled.", "cancelled"))
            for turn in Turn.objects.filter(thread=thread, state__in=OPEN_TURN):  # one
                turn.cost = None  # the usage of an interrupted request is not known
                conclude(writer, turn, TurnState.CANCELLED, "cancelled")
                turn.save(update_fields=[*ENDING, "cost"])
        return reading.status(writer.thread)


ENDING = ("state", "error_code", "finished_at", "answer_idx", "lease_until")
"""The columns of a turn that `conclude` sets."""


def conclude(writer: Transcript, turn: Turn, state: TurnState, code: str = "", *, has_goals: bool = True) -> None:
    """End a turn and set the status of its thread; the caller stores the turn's columns in `ENDING`.

    No goal stays pending after it (spec 4.3). `has_goals`: False if it is known that there is none.
    """
    has_unmet = has_goals and _fail_goals(writer) and state != TurnState.CANCELLED
    leave(writer, ThreadStatus.GOALS_FAILED if has_unmet else ThreadStatus.USER_TURN)
    turn.state, turn.error_code, turn.finished_at, turn.lease_until = state, code, timezone.now(), None
    turn.answer_idx = writer.thread.message_count - 1


def leave(writer: Transcript, status: ThreadStatus) -> None:
    """Set the status of a thread whose turn ends or waits. A fork may be a check's run, which is judged then."""
    writer.turn_to(status)
    if writer.thread.forked_from_id is not None:
        hooks.feedback.fork_left(writer.thread.pk)


def stop(writer: Transcript, status: str, reason: BlockDict) -> None:
    """End the message being written in a turn that ends early, with an error block that states the reason.

    Open tool uses get error results, so that the history stays well-formed (B162).
    """
    thread = writer.thread
    last = last_message(thread.pk)
    said = f"{reason['error_message']} This call was not answered."
    if results := _unanswered_results(writer, open_uses(thread), said):
        writer.close(_store_results(writer, results), Message.Status.COMPLETED)
    if last is not None and last.role == "assistant" and last.status == Message.Status.GENERATING:
        writer.extend(last, [reason])
        writer.close(last, status)
    elif thread.status in RUNNING:
        writer.add("assistant", [reason], status=status)


def _fail_goals(writer: Transcript) -> bool:
    """Mark pending goals as failed: none stays pending after its turn (spec 4.3). Returns whether there was one."""
    pending = Goal.objects.filter(thread=writer.thread.pk, status=GoalStatus.PENDING)
    failed = pending.update(status=GoalStatus.FAILED, concluded_at=timezone.now())
    if failed:
        writer.goals_changed()
    return failed > 0


def _checked_goals(values: list[Any] | None) -> list[dict[str, Any]]:
    return [goals.declared(value, f"goals.{place}") for place, value in enumerate(values or [])]


def _skill_texts(actor: Actor, org_id: int, wanted: Sequence[InvokedSkillIn] | None, field: str) -> list[SkillText]:
    """The texts of the chosen versions; raises before anything is stored if the caller cannot use one there (B153)."""
    texts = skills.texts(actor, org_id, [(skill.skill_id, skill.version) for skill in wanted or []], field)
    if sum(len(each.body) for each in texts) > MAX_SKILL_CHARACTERS:
        raise InvalidRequest(f"{field}: the skill bodies together have more than {MAX_SKILL_CHARACTERS} characters")
    return texts


def _scope(body: StartIn | SendIn) -> dict[str, Any] | None:
    """The scope of a request; a scope without bounds counts as none (spec 3.9)."""
    if body.analysis_scope is None:
        return None
    bounds = body.analysis_scope.model_dump()
    return bounds if any(value is not None for value in bounds.values()) else None


def _keep_settings(thread: Thread, body: SendIn) -> None:
    """Store the scope and context of a request for later turns; null keeps the old value (B45, B46)."""
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
    """Store the messages of a request, or a generated one if there are only goals or skills (B4, B44).

    Unanswered calls from a fork, an import or a seed get error results here (spec 4.7, 9). The results come after the
    request, because its sender's client already has the request under its index (B51).

    Returns the index of the last user message, which the turn's goals refer to (B100).
    """
    dangling = [] if writer.thread._state.adding else left_open(writer.thread.pk)
    clients = {tool.name for tool in body.client_tools or ()}
    context = [] if body.client_context is None else [ClientContextBlock(context=body.client_context)]
    shown: list[BlockDict] = [block.model_dump(mode="json") for block in context]
    at = last_user = max((place for place, each in enumerate(messages) if each.role == "user"), default=-1)
    for place, message in enumerate(messages):
        blocks = [with_answerer(block.model_dump(mode="json"), clients) for block in message.content]
        dangling = unanswered([*dangling, *blocks])
        if place == last_user:
            blocks += shown
        author = actor.user_id if message.role == "user" else None
        stored = writer.add(message.role, blocks, author_id=author, echo_to_id=actor.user_id if echo else None)
        at = stored.idx if place == last_user else at
    if last_user < 0 and (declared or invoked):
        at = writer.add("user", [text(_own_words(declared)), *shown], author_id=actor.user_id).idx
    _close_unanswered(writer, dangling, clients)
    for skill in invoked:
        _add_skill(writer, skill)
    if declared:
        writer.goals_changed(declared=len(declared))
    writer.turn_to(ThreadStatus.ROBOTO_TURN)
    return at


def _add_skill(writer: Transcript, skill: SkillText) -> None:
    """Add a `load_skill` use and its result, as if the agent had called it (spec 4.2 item 3); frozen here (B155)."""
    use_id = ids.tool_use_id()
    wish = {"name": skill.name, "version": skill.version}
    writer.add("assistant", [tool_use(LOAD_SKILL, use_id, wish)])
    writer.add("roboto", [{**tool_result(LOAD_SKILL, use_id, "success", skill.as_data()), "answered_by": "skill"}])


def _close_unanswered(writer: Transcript, uses: Sequence[BlockDict], declared: Set[str] = frozenset()) -> None:
    """Add error results for unanswered calls from a fork, an import or a seed (spec 4.7, 9).

    `declared`: the client tools that the request declares.
    """
    if results := _unanswered_results(writer, uses, UNANSWERED, declared):
        writer.add("roboto", results)


def _unanswered_results(
    writer: Transcript, uses: Sequence[BlockDict], said: str, declared: Set[str] = frozenset()
) -> list[BlockDict]:
    """An error result for each call; that of a client tool or a skill says why in the client's event, too (3.3)."""
    is_new = writer.thread._state.adding
    clients = declared | (client_tools.names_of(writer.thread) if uses and not is_new else frozenset())
    return [
        {
            **tool_result(use["tool_name"], use["tool_use_id"], "error", {"error": said}),
            "answered_by": "refusal" if use["tool_name"] in {*clients, LOAD_SKILL} else "nobody",
        }
        for use in uses
    ]


def _own_words(declared: list[dict[str, Any]]) -> str:
    if not declared:
        return "Please apply the invoked skills."
    return "Please achieve the declared goal." if len(declared) == 1 else "Please achieve the declared goals."


_TURNS = PreparedInsert(Turn)
_LATEST = PreparedRow(lambda thread: Turn.objects.filter(thread=thread).order_by("-id")[:1], Turn, int)
_RESUMED = PreparedUpdate(Turn, "state", "request_hash", "is_told", "requested_at", "queued_at", "lease_until", "waits")


def _begin(
    thread: Thread,
    actor: Actor,
    declared: list[dict[str, Any]],
    at: int,
    request: Request,
    *,
    replays_calls: bool = False,
) -> None:
    """Store the turn and its goals, and queue a message for it after the commit."""
    turn = new(
        Turn,
        thread_id=thread.pk,
        requested_by_id=actor.user_id,
        request_hash=request.digest,
        is_told=not request.digest,
        replays_calls=replays_calls,
    )
    _TURNS.insert(turn)
    if declared:
        Goal.objects.bulk_create(
            Goal(thread=thread, turn=turn, goal_type=data["goal_type"], goal_data=data, message_sequence_num=at)
            for data in declared
        )
    jobs.enqueue_on_commit(ADVANCE, turn.pk)


def _is_replay(thread: Thread, actor: Actor, request: Request) -> bool:
    """Whether the same request was just accepted: the SDK repeats a POST if the response was lost.

    Within a minute it is a repeat while its turn runs (spec 1.5). If the response was never sent, because the server
    died or hangs, it is one for as long as the SDK tries, and after the turn, too.
    """
    turn = _LATEST.first(thread.pk) if request.digest else None
    if turn is None or (turn.request_hash, turn.requested_by_id) != (request.digest, actor.user_id):
        return False
    age = timezone.now() - turn.requested_at
    seconds = UNTOLD_SECONDS if not turn.is_told else REPLAY_SECONDS if turn.state in OPEN_TURN else 0
    return age < timedelta(seconds=seconds)


def _why_no_retry(thread: Thread, said: int | None) -> str:
    """Why an idle thread has nothing to retry; an imported one may end anywhere."""
    if said is None:
        return "the thread has no request"
    last = last_message(thread.pk)
    if open_uses(thread) or (last is not None and last.role == Message.Role.ROBOTO):
        return "the last answer ends with a tool call; send a message to continue it"
    return "the last request was answered"


def _require_sendable(thread: Thread) -> None:
    if thread.status not in SENDABLE:
        waiting = thread.status == ThreadStatus.CLIENT_TOOL_TURN
        reason = "the thread is waiting for a client tool" if waiting else "the agent is still answering"
        told = [{"field": "message", "reason": reason}]  # people know the status by another word
        raise InvalidRequest(f"message: {reason} (status {thread.status})", details=told)


def _result_block(place: int, result: Any, pending: dict[str, BlockDict]) -> BlockDict:
    use = pending.get(result.tool_use_id)
    if use is None:
        raise InvalidRequest(
            f"tool_results.{place}.tool_use_id: there is no pending tool use {result.tool_use_id[:80]}"
        )
    if use["tool_name"] != result.tool_name:
        raise InvalidRequest(f"tool_results.{place}.tool_name: the tool use belongs to tool {use['tool_name']}")
    block = tool_result(
        result.tool_name, result.tool_use_id, result.status, result.output, runtime_ms=result.runtime_ms
    )
    return {**block, "answered_by": "client"}


def _store_results(writer: Transcript, blocks: list[BlockDict]) -> Message:
    """Add results to the one roboto message right after the tool uses (spec 4.5)."""
    message = answered_message(writer.thread)
    if message is None:
        return writer.add("roboto", blocks, status=Message.Status.GENERATING)
    writer.extend(message, blocks)
    return message


def _resume(writer: Transcript, results: Message, request: Request) -> None:
    """Complete the roboto message and continue the turn in a worker, after the last result."""
    writer.close(results, Message.Status.COMPLETED)
    writer.turn_to(ThreadStatus.ROBOTO_TURN)
    turn = Turn.objects.get(thread=writer.thread, state=TurnState.WAITING)
    turn.state, turn.request_hash, turn.requested_at = TurnState.QUEUED, request.digest, timezone.now()
    turn.queued_at, turn.lease_until, turn.is_told = turn.requested_at, None, not request.digest
    turn.go_on(turn.requested_at)
    _RESUMED.update(turn)
    jobs.enqueue_on_commit(ADVANCE, turn.pk)
