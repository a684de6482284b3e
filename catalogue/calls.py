"""Calling tools: find the spec, check the arguments, run it, return one canonical result (spec 4.5).

The runner knows tools through this module alone.
"""

import logging
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from catalogue import builtin, schemas
from catalogue.models import Call
from catalogue.spec import ToolContext, ToolSpec

logger = logging.getLogger("heddle.calls")
MAX_PAYLOAD_CHARACTERS = 200_000


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call came to. `payload` is what the model sees, `raw` what only owner and admins see."""

    status: str
    payload: str | dict[str, Any] | list[Any] | None
    runtime_ms: int = 0
    raw: dict[str, Any] | None = None


def specs() -> Mapping[str, ToolSpec]:
    """The server tools that a thread's agent may call, by name."""
    return builtin.TOOLS


def tool_names() -> frozenset[str]:
    """Their names: a client tool may bear none of them (B18)."""
    return frozenset(builtin.TOOLS)


def refusal(name: str, arguments: object) -> str | None:
    """Why a call cannot be made, or None: an unknown tool, or arguments that do not fit its schema."""
    spec = specs().get(name)
    if spec is None:
        return f"There is no tool {name}."
    return schemas.problem_of_value(arguments, spec.input_schema, "input")


def begin(name: str, context: ToolContext) -> bool:
    """Record that a call is about to be made, in a transaction that its caller commits before making it.

    False where it was begun before and may not be repeated: whoever began it did not live to tell what came of it.
    """
    spec = specs().get(name)
    earlier = Call.objects.filter(tool_use_id=context.tool_use_id)
    attempts = earlier.update(outcome=Call.Outcome.UNKNOWN)
    if attempts and not (spec and spec.is_idempotent):
        return False
    Call.objects.create(
        tool_use_id=context.tool_use_id,
        attempt=attempts + 1,
        thread_id=context.thread_id,
        tool=name,
        version=spec.version if spec else 0,
    )
    return True


def finish(use_id: str, outcome: str, runtime_ms: int | None) -> None:
    """Record what the last attempt at a call came to, in the transaction that stores its result."""
    Call.objects.filter(tool_use_id=use_id, outcome="").update(outcome=outcome, runtime_ms=runtime_ms)


def call(name: str, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
    """Make a call. A tool that raises answers with an error result; nothing it does breaks the turn."""
    spec = specs().get(name)
    if spec is None:  # it was there when the model called it, before a worker died and Heddle was upgraded
        return ToolResult("error", {"error": f"There is no tool {name} any more."})
    started = time.perf_counter()
    try:
        value = _in_time(spec, arguments, context)
        status, payload = "success", _shown(value)
    except Exception as problem:  # a tool may raise anything
        status, payload, value = "error", {"error": f"{type(problem).__name__}: {problem}"[:2000]}, None
        logger.warning("tool.raised", extra={"tool": name, "kind": type(problem).__name__})
    runtime_ms = round((time.perf_counter() - started) * 1000)
    raw = {"tool": name, "version": spec.version, "value": value}
    return ToolResult(status, payload, runtime_ms, raw)


def _in_time(spec: ToolSpec, arguments: Mapping[str, Any], context: ToolContext) -> Any:
    """What the tool answers; raises `TimeoutError` after its time.

    Nothing can stop a thread from outside: a tool that never returns keeps its own, and the turn goes on without it.
    """
    if spec.timeout_seconds is None:
        return spec.run(arguments, context)
    answer: Future[Any] = Future()
    threading.Thread(target=_answer, args=(answer, spec, arguments, context), name=spec.name, daemon=True).start()
    try:
        return answer.result(spec.timeout_seconds)
    except TimeoutError:
        if answer.done():
            raise  # the tool's own
        raise TimeoutError(f"{spec.name} did not answer within {spec.timeout_seconds:g} s") from None


def _answer(answer: "Future[Any]", spec: ToolSpec, arguments: Mapping[str, Any], context: ToolContext) -> None:
    try:
        answer.set_result(spec.run(arguments, context))
    except Exception as problem:
        answer.set_exception(problem)
    except BaseException as problem:  # sys.exit() in a tool ends the tool, not the worker
        answer.set_exception(RuntimeError(f"it left with {type(problem).__name__}"))


def _shown(value: Any) -> str | dict[str, Any] | list[Any]:
    """A tool's plain value as a payload: objects, lists and text as they are, everything else under `result`."""
    if isinstance(value, str):
        return value[:MAX_PAYLOAD_CHARACTERS]
    return value if isinstance(value, dict | list) else {"result": value}
