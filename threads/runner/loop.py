"""Advancing a turn: claim it, ask the model, run its tool calls, and repeat until the turn ends or waits.

A worker may die at any point. The stored state is enough to continue: the last message shows the phase of the turn, a
partly written answer is removed and written again, and calls that must not be repeated get an interrupted result.
"""

import gc
import logging
import threading
from collections.abc import Sequence
from dataclasses import replace
from time import monotonic

from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone

from core import heap, ids
from core.db import give_connection_back, log_refused, replace_dead_connections
from core.errors import InvalidRequest
from core.prepared import PreparedRow
from core.prepared_writes import PreparedUpdate
from core.storable import storable
from threads import reading, transcript
from threads.content import BlockDict, MessageSnapshot, error, text
from threads.models import Message, Thread, Turn
from threads.pending import last_message, open_uses
from threads.profiles import Profile, named
from threads.runner import asking, prompts
from threads.runner.claims import claim, heart, is_free
from threads.runner.providers.events import Broken, Finished, TextFragment, ToolCall, Usage
from threads.runner.toolbox import Toolbox
from threads.status import ThreadStatus, TurnState
from threads.transcript import Fence, LeaseLost, Transcript
from threads.turns import ENDING, conclude, leave, stop

logger = logging.getLogger("heddle.turns")
MAX_REPROMPTS = 3
MAX_REQUESTS = 40
BLOCK_CHARACTERS = 80
BRIEF_SECONDS = 0.5
_ACCIDENT = error("An internal error occurred. The details are in Heddle's log.", "internal_error")
_GIVEN_UP = error("The workers that wrote this answer were stopped again and again.", "too_many_attempts")
MAX_LOSSES = 10
"""How many workers a turn may lose before it is given up: it may be what kills them."""
_warming = threading.Lock()
_KEPT = (
    "reprompts",
    "requests",
    "retries",
    "profile",
    "model",
    "input_tokens",
    "output_tokens",
    "cost",
    "answer_idx",
    "first_text_at",
    "error_code",
    "finished_at",
)
_FIGURES, _LEFT = PreparedUpdate(Turn, *_KEPT), PreparedUpdate(Turn, *_KEPT, "state", "lease_until", "waits")
_TURN = PreparedRow(lambda pk: Turn.objects.filter(pk=pk), Turn, int)
_THREAD = PreparedRow(lambda pk: Thread.objects.filter(pk=pk), Thread, int)


def advance(turn_id: int) -> None:
    """Advance a turn as far as possible; does nothing if it is already claimed or over."""
    try:
        turn = _TURN.first(turn_id)
        if turn is not None:
            _carry(turn)
    except LeaseLost:
        logger.info("turn.lost", extra={"turn": turn_id})
    except DatabaseError as problem:
        # The turn is still queued or its lease expires: a worker will claim it again.
        log_refused(logger, "turn.interrupted", problem, turn=turn_id)
        replace_dead_connections()


def _carry(turn: Turn) -> None:
    run = None
    try:
        run = _Run.claimed(turn)
        if run is not None:
            run.to_its_end()
    except (LeaseLost, DatabaseError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # a bug must not leave the thread waiting forever, and a panic of a library in Rust neither
        logger.exception("turn.crashed", extra={"turn": turn.pk})
        _give_up(turn, run.fence if run else None)


def warm_up() -> None:
    """Import the model libraries before the first turn needs them, which takes half a second.

    One thread at a time: concurrent imports with circular dependencies can see partly initialised modules.
    """
    with _warming:
        from threads.runner.providers import building, streaming

        building.warm_up()
        streaming.event_loop()


def settle() -> None:
    """Prepare a worker at startup: warm up, and exclude what is loaded from garbage collection.

    Those objects are permanent, and scanning them would pause the process for a sixth of a second.
    """
    warm_up()
    heap.give_back()
    gc.freeze()


def _give_up(turn: Turn, fence: Fence | None) -> None:
    """End a turn as failed after an internal error, under the claim in which that happened.

    Raises `LeaseLost` if another worker has the turn now. If the error happened while claiming, there is no claim;
    then the turn is ended only if it is still free.
    """
    with transcript.writing(turn.thread_id, fence) as writer:
        turn.refresh_from_db()
        if fence is None and not is_free(turn):
            return
        _end(writer, turn, _ACCIDENT)


def _end(writer: Transcript, turn: Turn, reason: BlockDict) -> None:
    stop(writer, Message.Status.FAILED, reason)
    conclude(writer, turn, TurnState.FAILED, reason["error_code"])
    turn.save(update_fields=ENDING)


class _Run:
    """One worker's run of one claimed turn."""

    def __init__(self, turn: Turn, fence: Fence, thread: Thread) -> None:
        self.turn = turn
        self.fence = fence
        self.thread = thread
        self.tools = Toolbox(thread, turn)
        self.answer: Message | None = None
        """The open assistant message, if any."""
        self.profile: Profile | None = None
        """The profile in use, after the first request."""

    @classmethod
    def claimed(cls, turn: Turn) -> "_Run | None":
        """Claim the turn, clean up after a dead worker, and open the answer, in one commit."""
        with transcript.writing(turn.thread_id) as writer:
            now, thread = _TURN.first(turn.pk), _THREAD.first(turn.thread_id)
            fence = claim(writer, now) if now else None
            if now is None or thread is None or fence is None:
                return None
            if now.losses > MAX_LOSSES:
                _end(writer, now, _GIVEN_UP)
                logger.error("turn.given_up", extra={"turn": now.pk, "losses": now.losses})
                return None
            run = cls(now, fence, thread)
            run._take_up(writer)
            return run

    def to_its_end(self) -> None:
        """Run steps, with the claim renewed meanwhile, until the turn is over or waits."""
        heart.hold(self.fence)
        try:
            while self.step():
                pass
        finally:
            heart.drop(self.fence)

    def _take_up(self, writer: Transcript) -> None:
        """Open the answer, unless tool calls must be answered first."""
        last = last_message(self.thread.pk)
        if last is not None and last.role == Message.Role.ASSISTANT and last.status == Message.Status.GENERATING:
            if last.block_count == 0:
                self.answer = last
                return
            writer.rewind(last.idx)
            self._count(Usage())  # a worker began this answer; its usage is lost with that worker
            logger.info("turn.rewound", extra={"turn": self.turn.pk, "from_idx": last.idx})
        elif last is not None and last.role == Message.Role.ROBOTO and self._open_server_uses():
            return
        self._open_answer(writer)

    def _open_answer(self, writer: Transcript) -> None:
        self.answer = writer.add(Message.Role.ASSISTANT, [], status=Message.Status.GENERATING)

    def _open_server_uses(self) -> list[BlockDict]:
        return [use for use in open_uses(self.thread) if not self.tools.is_clients(use)]

    def step(self) -> bool:
        """Run one open tool call or one model request. Returns False when this worker is done with the turn."""
        if self.answer is None:
            use, *others = self._open_server_uses()
            result = self.tools.answer(use, self.fence)
            with transcript.writing(self.thread.pk, self.fence) as writer:
                return self._store_result(writer, use, result, is_last=not others)
        return self._ask(self.answer)

    # One request to the model

    def _ask(self, answer: Message) -> bool:
        warm_up()
        from threads.runner.providers.streaming import ModelRequest, Stream

        try:
            # A fallback profile stays in use until the end of the turn, or until another worker takes over.
            profile = self.profile = self.profile or named(self.thread.model_profile)
        except InvalidRequest as gone:
            return self._fail(answer, [], Broken("misconfigured", gone.message))
        history = [message for message in reading.snapshots(self.thread.pk) if message.index < answer.idx]
        goals = self.tools.pending_goals()
        request = ModelRequest(
            profile=profile,
            messages=history,
            tools=self.tools.offers(),
            instructions=prompts.instructions(
                self.thread.system_prompt, [f"{name}: see its description" for name in goals]
            ),
            prompt=prompts.reprompt(list(goals)) if goals and _ends_with_answer(history) else None,
        )
        tried = 0
        while True:
            stream = Stream(request)
            try:
                outcome = self._listen(answer, stream)
            finally:
                stream.close()
            if not isinstance(outcome, Broken):
                return outcome
            wait = asking.wait_before_retry(outcome, profile, tried)
            if wait is not None:
                tried += 1
                asking.pause(wait, self.fence)
            elif outcome.can_fall_back and profile.options.fallback:
                self.profile = profile = named(profile.options.fallback)
                request, tried = replace(request, profile=profile), 0
            else:
                return self._fail(answer, [], outcome)
            self.turn.retries += 1
            logger.info("turn.asks_again", extra={"turn": self.turn.pk, "code": outcome.code, "profile": profile.id})

    def _listen(self, answer: Message, stream: object) -> bool | Broken:
        """Store fragments in batches until the request ends, then its outcome in one commit with the last batch.

        A request that failed before any text was shown is returned, so that it can be retried. One that failed later
        cannot be retried, because the shown text stays.
        """
        has_begun = False
        fragments: list[str] = []
        called: list[ToolCall] = []
        batch = settings.HEDDLE.batch_ms / 1000
        flush_at: float | None = None
        silence = BRIEF_SECONDS
        while True:
            wait = silence if flush_at is None else max(0.0, flush_at - monotonic())
            event = stream.next(wait)  # type: ignore[attr-defined]
            match event:
                case None if fragments:
                    self._flush(answer, fragments)
                    fragments, flush_at, silence = [], None, BRIEF_SECONDS
                case None:
                    # During a long silence the turn may be cancelled, and others may need the connection. Not done
                    # after every fragment, because taking a new connection costs a round trip.
                    self.fence.check()
                    give_connection_back()
                    silence = settings.HEDDLE.heartbeat_seconds
                case TextFragment(text=piece):
                    has_begun = True
                    fragments.append(piece)
                    # The first text is stored after a few milliseconds, so that readers see it at once.
                    first = 0.005 if answer.block_count == 0 else batch
                    flush_at = flush_at or monotonic() + first
                case ToolCall(name=name, verbatim=verbatim):
                    called.append(replace(event, name=storable(name), verbatim=storable(verbatim)))
                case Finished(usage=usage):
                    return self._finish(answer, fragments, called, usage)
                case Broken(usage=usage):
                    self._count(usage)
                    return self._fail(answer, fragments, event) if has_begun else event

    def _flush(self, answer: Message, fragments: Sequence[str]) -> None:
        with transcript.writing(self.thread.pk, self.fence) as writer:
            writer.extend(answer, _text_blocks(fragments))
        self._mark_first_text()

    def _finish(self, answer: Message, fragments: Sequence[str], called: list[ToolCall], usage: Usage) -> bool:
        if fragments:
            self._mark_first_text()
        with transcript.writing(self.thread.pk, self.fence) as writer:
            self._count(usage)
            writer.extend(answer, _text_blocks(fragments))
            if called:
                return self._store_calls(writer, answer, called)
            writer.close(answer, Message.Status.COMPLETED)
            return self._end_of_answer(writer)

    def _fail(self, answer: Message, fragments: Sequence[str], problem: Broken) -> bool:
        with transcript.writing(self.thread.pk, self.fence) as writer:
            writer.extend(answer, [*_text_blocks(fragments), error(problem.message, problem.code)])
            writer.close(answer, Message.Status.FAILED)
            return self._conclude(writer, TurnState.FAILED, problem.code)

    def _end_of_answer(self, writer: Transcript) -> bool:
        """The model has finished: end the turn, or re-prompt if goals are open and re-prompts are left."""
        if not self.tools.pending_goals():
            return self._conclude(writer, TurnState.DONE)
        if self.turn.reprompts >= MAX_REPROMPTS:
            return self._conclude(writer, TurnState.DONE, "goals_failed")
        self.turn.reprompts += 1
        self._open_answer(writer)
        return self._go_on()

    # Calls and their results

    def _store_calls(self, writer: Transcript, answer: Message, called: list[ToolCall]) -> bool:
        """Store the calls, which end the message, and error results for the refused ones."""
        pairs = [self.tools.use_block(call, ids.tool_use_id()) for call in called]
        writer.extend(answer, [use for use, _ in pairs])
        writer.close(answer, Message.Status.COMPLETED)
        self.answer = None
        refused = [result for _, result in pairs if result is not None]
        for use, result in pairs:
            if result is not None:
                self.tools.record(writer, use, result)
        open_ = [use for use, result in pairs if result is None]
        servers = [use for use in open_ if not self.tools.is_clients(use)]
        if servers:
            writer.add(Message.Role.ROBOTO, refused, status=Message.Status.GENERATING)
            return self._go_on()
        return self._after_results(writer, writer.add(Message.Role.ROBOTO, refused) if refused else None, len(open_))

    def _store_result(self, writer: Transcript, use: BlockDict, result: BlockDict, *, is_last: bool) -> bool:
        """Store one result at a time, so that a crash in a later call does not lose an earlier result."""
        collected = last_message(self.thread.pk)
        if collected is None or collected.role != Message.Role.ROBOTO:
            collected = writer.add(Message.Role.ROBOTO, [result], status=Message.Status.GENERATING)
        else:
            writer.extend(collected, [result])
        self.tools.record(writer, use, result)
        if not is_last:
            return self._go_on()
        waiting = [use for use in open_uses(self.thread) if self.tools.is_clients(use)]
        return self._after_results(writer, collected, len(waiting))

    def _after_results(self, writer: Transcript, collected: Message | None, waiting: int) -> bool:
        """After all server calls: wait for the client, or ask the model again."""
        if waiting:
            if collected is not None:
                writer.close(collected, Message.Status.GENERATING)
            leave(writer, ThreadStatus.CLIENT_TOOL_TURN)
            self.turn.state, self.turn.lease_until = TurnState.WAITING, None
            self.turn.wait(timezone.now())
            return self._left()
        if collected is not None:
            writer.close(collected, Message.Status.COMPLETED)
        if self.turn.requests >= MAX_REQUESTS:
            writer.add(
                Message.Role.ASSISTANT,
                [error("The turn reached its limit of model requests.", "too_many_requests")],
                status=Message.Status.FAILED,
            )
            return self._conclude(writer, TurnState.FAILED, "too_many_requests")
        self._open_answer(writer)
        return self._go_on()

    # Endings

    def _conclude(self, writer: Transcript, state: TurnState, code: str = "") -> bool:
        conclude(writer, self.turn, state, code, has_goals=bool(self.tools.goals))
        return self._left()

    def _left(self) -> bool:
        turn = self.turn
        self._save()
        logger.info("turn.left", extra={"turn": turn.pk, "state": turn.state, "code": turn.error_code})
        return False

    def _go_on(self) -> bool:
        self._save()
        return True

    def _mark_first_text(self) -> None:
        self.turn.first_text_at = self.turn.first_text_at or timezone.now()

    def _count(self, usage: Usage | None) -> None:
        """Add the usage of an answer, complete or not; an unknown cost makes the turn's cost unknown."""
        if usage is None:
            return
        turn = self.turn
        if turn.requests == 0:
            turn.cost = usage.cost
        else:
            turn.cost = None if usage.cost is None or turn.cost is None else turn.cost + usage.cost
        turn.requests += 1
        turn.input_tokens += usage.input_tokens
        turn.output_tokens += usage.output_tokens
        turn.profile = self.profile.id if self.profile else turn.profile
        turn.model = usage.model[:200] or turn.model

    def _save(self) -> None:
        """Store everything but the lease, which `heart` may just have extended."""
        (_FIGURES if self.turn.state == TurnState.RUNNING else _LEFT).update(self.turn)


def _text_blocks(fragments: Sequence[str]) -> list[BlockDict]:
    """Join fragments into blocks of a useful size, so that the table does not get a row per word."""
    blocks: list[BlockDict] = []
    held = ""
    for fragment in fragments:
        held += storable(fragment)
        if len(held) >= BLOCK_CHARACTERS:
            blocks.append(text(held))
            held = ""
    return [*blocks, text(held)] if held else blocks


def _ends_with_answer(history: Sequence[MessageSnapshot]) -> bool:
    return bool(history) and history[-1].role == "assistant"
