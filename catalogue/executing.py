"""Execute a call: validate, run, retry, normalise the result (catalogue 3.1 to 3.3). Stores nothing.

REST and the runner both use `execute`; `catalogue.calls` records calls.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from django.db import DatabaseError

from catalogue import naming, results, validating
from catalogue.results import ToolResult
from catalogue.retrying import MAX_WAITS_MS, RetryPolicy, wait_ms
from catalogue.spec import ToolContext, ToolSpec
from catalogue.subschemas import linked
from core.db import give_connection_back
from core.errors import DomainError
from core.slots import Slots

logger = logging.getLogger("heddle.calls")
TIMEOUT_MS: Final = 30_000
_running = Slots(200, each=50)
"""Limits the tools running in one process, including abandoned ones, and the calls that wait to be tried again."""
Run = Callable[[Mapping[str, Any], ToolContext], Any]


@dataclass(frozen=True, slots=True)
class Target:
    """One version of a tool, as a call needs it. Without `run` Heddle cannot execute it.

    `timeout_ms` None: it limits its time itself and runs on the caller's thread, as tools that use the database must.
    """

    server: str
    name: str
    version: int
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None = None
    param_order: Sequence[str] = ()
    is_idempotent: bool = False
    run: Run | None = None
    timeout_ms: float | None = TIMEOUT_MS
    is_inline: bool = False
    """Its data is never stored separately, because it returns stored data."""

    @property
    def qualified_name(self) -> str:
        """`<server>__<name>`."""
        return naming.join(self.server, self.name)


@dataclass(frozen=True, slots=True)
class Limits:
    """Options of a call. `timeout_ms` None: the tool's own limit. `patience_seconds`: how long to wait for a free slot;
    0: fail at once if there is none."""

    timeout_ms: int | None = None
    retry_policy: RetryPolicy | None = None
    strict_output: bool = False
    patience_seconds: float = 0


@dataclass(frozen=True, slots=True)
class Execution:
    """The outcome; `attempts` is empty if no handler ran, `failure` is None without a retry policy or on success."""

    result: ToolResult
    attempts: list[dict[str, Any]] = field(default_factory=list)
    failure: dict[str, Any] | None = None


def target_of(spec: ToolSpec) -> Target:
    """A tool that the server runs as a target."""
    return Target(
        server=spec.server,
        name=spec.name,
        version=spec.version,
        input_schema=spec.input_schema,
        output_schema=spec.output_schema,
        param_order=tuple(spec.input_schema.get("properties", ())),
        is_idempotent=spec.is_idempotent,
        run=spec.run,
        timeout_ms=own_time(spec),
        is_inline=spec.is_inline,
    )


def own_time(spec: ToolSpec) -> float | None:
    """The default timeout of a tool in milliseconds; None if it limits its time itself."""
    return None if spec.timeout_seconds is None else spec.timeout_seconds * 1000


def checked(target: Target, arguments: Any, args: Sequence[Any] = ()) -> validating.Checked:
    """The arguments of a call with positional ones named and defaults filled in, and their errors."""
    placed = validating.placed(args, arguments, target.param_order)
    return placed if placed.errors else validating.check(placed.arguments, target.input_schema)


def execute(target: Target, given: validating.Checked, context: ToolContext, limits: Limits) -> Execution:
    """Make the call with checked arguments. Every failure of the tool is returned as a result.

    Raises `DatabaseError` if a built-in tool could not use the database, and the `DomainError` with which a world
    rejects a call.
    """
    if given.errors:
        return _failed(given.failure(), given, target, limits)
    if target.run is None:
        reason = {"reason": "not_dispatchable"}
        said = f"{target.qualified_name} has no handler, so Heddle cannot run it."
        return _failed(results.fail("NOT_FOUND", said, reason), given, target, limits)
    surplus = validating.undeclared(given.arguments, target.input_schema)
    dropped = frozenset(surplus)
    passed = {name: value for name, value in given.arguments.items() if name not in dropped}
    result, attempts = _attempts(target, passed, context, limits)
    result = results.sized(_fitting(result, target, limits), given.sent)
    if surplus:
        result = result.noted(*(f"argument {name[:100]} is not declared and was dropped" for name in surplus[:20]))
    return Execution(result, attempts, _failure(result, target, limits))


def _failed(result: ToolResult, given: validating.Checked, target: Target, limits: Limits) -> Execution:
    """A failure before any attempt."""
    result = results.sized(result, given.sent)
    return Execution(result, [], _failure(result, target, limits))


def _failure(result: ToolResult, target: Target, limits: Limits) -> dict[str, Any] | None:
    policy = limits.retry_policy
    return policy.told(result.error, target.qualified_name) if policy and result.error else None


def _attempts(
    target: Target, arguments: Mapping[str, Any], context: ToolContext, limits: Limits
) -> tuple[ToolResult, list[dict[str, Any]]]:
    """The result of the last attempt, and all attempts; only idempotent tools are retried (C79).

    A call that would wait longer than `MAX_WAITS_MS` in all, or finds no slot to wait in, ends with its last failure.
    """
    attempts: list[dict[str, Any]] = []
    waited = 0.0
    with closing(_Place(context.user_id)) as place:
        while True:
            result = _attempt(target, arguments, context, limits, place)
            error, policy = result.error, limits.retry_policy
            attempts.append(
                {
                    "attempt": len(attempts) + 1,
                    "success": result.success,
                    "code": error.code if error else None,
                    "execution_time_ms": result.execution_time_ms,
                }
            )
            if not (error and policy and target.is_idempotent and policy.repeats(error, len(attempts))):
                return result, attempts
            pause = wait_ms(error, len(attempts))
            waited += pause
            if waited > MAX_WAITS_MS or not place.take():
                return result, attempts
            # A tool that runs on this thread took a connection, and a few such calls would hold all while they sleep.
            give_connection_back()
            time.sleep(pause / 1000)


class _Place:
    """The slot of one call, held by the call in its pauses and while its tool runs in time.

    A tool that is abandoned takes the slot with it, and the call needs another one to go on.
    """

    def __init__(self, user_id: int | None) -> None:
        self._user_id = user_id
        self._is_held = False
        self.slots = _running

    def take(self, patience_seconds: float = 0) -> bool:
        """Have a slot; False if none is free in time."""
        self._is_held = self._is_held or self.slots.take(self._user_id, patience_seconds=patience_seconds)
        return self._is_held

    def pass_on(self) -> None:
        """Leave the slot to the tool, which returns it when it ends."""
        self._is_held = False

    def close(self) -> None:
        """Return the slot, if there is one."""
        if self._is_held:
            self._is_held = False
            self.slots.leave(self._user_id)


def _attempt(
    target: Target, arguments: Mapping[str, Any], context: ToolContext, limits: Limits, place: _Place
) -> ToolResult:
    """Run the handler once; returns its normalised result with the duration."""
    assert target.run is not None
    started = time.perf_counter()
    try:
        if target.timeout_ms is None:
            result = results.lift(target.run(arguments, context))
        else:
            context = replace(context, timeout_ms=limits.timeout_ms or target.timeout_ms)
            result = _in_time(target, target.run, arguments, context, place, limits.patience_seconds)
    except Exception as problem:  # a tool may raise anything
        if isinstance(problem, DatabaseError | DomainError) and target.timeout_ms is None:
            raise  # Heddle's own database, or a world that rejects the call: not the tool's fault
        logger.warning("tool.raised", extra={"tool": target.name, "kind": type(problem).__name__})
        result = results.raised(problem)
    took = round((time.perf_counter() - started) * 1000, 3)
    return result.model_copy(update={"execution_time_ms": took})


def _in_time(
    target: Target,
    run: Run,
    arguments: Mapping[str, Any],
    context: ToolContext,
    place: _Place,
    patience_seconds: float,
) -> ToolResult:
    """Run the tool on a thread and wait for its result within its time limit, once a slot is free.

    A thread cannot be stopped: a tool that never returns keeps its thread and slot, and the call continues without it;
    a late result is ignored. The slots keep such tools from using up all threads.
    """
    assert context.timeout_ms is not None
    slots, timeout_ms = place.slots, context.timeout_ms
    if not place.take(patience_seconds):
        said = f"Too many calls are running: at most {slots.size} in total and {slots.each} per user."
        return results.fail("RATE_LIMITED", said)
    deadline = time.monotonic() + timeout_ms / 1000
    context = replace(context, deadline=deadline)
    answer: Future[Any] = Future()
    worker = threading.Thread(
        target=_answer,
        args=(answer, slots, run, arguments, context),
        name=target.name,
        daemon=True,
    )
    try:
        worker.start()
    except RuntimeError:
        return results.fail("RATE_LIMITED", "No thread could be started.")
    try:
        return results.lift(answer.result(max(0.0, deadline - time.monotonic())))
    except TimeoutError as problem:
        if answer.done() and answer.exception() is problem:
            raise  # raised by the tool itself
    finally:
        # The future decides who has the slot from here on: it is cancelled only while the tool has not ended.
        if answer.cancel():
            place.pass_on()
    said = f"{target.name} did not answer within {timeout_ms / 1000:g} s"
    return results.fail("TIMEOUT", said, {"timeout_ms": round(timeout_ms)})


def _answer(
    answer: "Future[Any]",
    slots: Slots,
    run: Run,
    arguments: Mapping[str, Any],
    context: ToolContext,
) -> None:
    try:
        tell = partial(answer.set_result, run(arguments, context))
    except Exception as problem:
        tell = partial(answer.set_exception, problem)
    except BaseException as problem:  # sys.exit() in a tool ends the tool, not the worker
        tell = partial(answer.set_exception, RuntimeError(f"it left with {type(problem).__name__}"))
    try:
        tell()
    except InvalidStateError:  # the call has gone on without the tool
        slots.leave(context.user_id)


def _fitting(result: ToolResult, target: Target, limits: Limits) -> ToolResult:
    """Add a warning, or fail, if the data does not match the tool's output schema (catalogue 3.1)."""
    if not result.success or target.output_schema is None:
        return result
    errors = validating.problems(result.data, linked(dict(target.output_schema)))
    if not errors:
        return result
    if limits.strict_output:
        said = "output does not match output_schema"
        return results.fail("EXECUTION_ERROR", said, {"errors": errors}, execution_time_ms=result.execution_time_ms)
    return result.noted("output does not match output_schema")
