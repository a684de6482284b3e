"""Recorded calls: stored before they are made, then completed with the result (catalogue 3.1, C134; spec 4.4, 4.5).

The runner uses tools only through this module; `catalogue.calling` does the same for callers outside of threads.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from catalogue import builtin, data, executing, naming, results, schemas
from catalogue.executing import Execution, Limits
from catalogue.models import Call
from catalogue.result_dialects import roboto
from catalogue.results import ToolResult
from catalogue.spec import ToolContext, ToolSpec

MAX_SHOWN_BYTES = 200_000
"""Maximum size of stored data that a model gets at once."""
_OF_A_TURN = Limits(patience_seconds=10)


@dataclass(frozen=True, slots=True)
class Made:
    """The outcome of a call from a thread, for the thread and for the record."""

    execution: Execution
    data_ref: dict[str, str] | None = None
    raw: dict[str, Any] | None = None
    """The raw payload, which only the owner and admins see."""

    @property
    def result(self) -> ToolResult:
        return self.execution.result

    @property
    def status(self) -> str:
        return "success" if self.result.success else "error"

    @property
    def runtime_ms(self) -> int:
        return round(self.result.execution_time_ms or 0)

    @property
    def payload(self) -> dict[str, Any]:
        """What the model sees: the data, or the error without its details."""
        shown = roboto.output_of(self.result)
        return shown if self.result.success else {name: shown[name] for name in shown if name != "details"}


def tool_names() -> frozenset[str]:
    """The names of the built-in tools, their own and qualified ones, which client tools must not use (B18)."""
    return frozenset(builtin.TOOLS) | {naming.join(tool.server, tool.name) for tool in builtin.TOOLS.values()}


def refusal(spec: ToolSpec, arguments: object) -> str | None:
    """Why the arguments do not match the tool's schema, or None."""
    return schemas.problem_of_value(arguments, spec.input_schema, "input")


def begin(name: str, spec: ToolSpec | None, arguments: Mapping[str, Any], context: ToolContext) -> str | None:
    """Record that a call is about to be made. The caller commits the transaction before making it.

    Returns the call's id, the same for a repeated attempt. None if it was started before and must not be repeated: the
    earlier process died before recording the outcome.
    """
    earlier = Call.objects.filter(tool_use_id=context.tool_use_id)
    attempts = earlier.update(outcome=Call.Outcome.UNKNOWN)
    if attempts and not (spec and spec.is_idempotent):
        return None
    row = Call.objects.create(
        tool_use_id=context.tool_use_id,
        attempt=attempts + 1,
        thread_id=context.thread_id,
        org_id=context.org_id,
        created_by_id=context.user_id,
        server=spec.server if spec else "",
        tool=spec.name if spec else name,
        version=spec.version if spec else 0,
        arguments=arguments,
    )
    return earlier.earliest("pk").call_id if attempts else row.call_id


def finish(use_id: str, made: Made) -> None:
    """Record the outcome of the last attempt, in the transaction that stores its result."""
    Call.objects.filter(tool_use_id=use_id, outcome="").update(
        outcome=made.status,
        runtime_ms=made.runtime_ms,
        answer=answer_of(made.execution, made.data_ref),
    )


def call(name: str, spec: ToolSpec | None, arguments: Mapping[str, Any], context: ToolContext) -> Made:
    """Make a call. Every failure of the tool is returned as a result; nothing it does breaks the turn."""
    if spec is None:  # it existed when the model called it, before a crash and an upgrade of Heddle
        return Made(Execution(results.fail("NOT_FOUND", f"The tool {name} no longer exists.")))
    target = executing.target_of(spec)
    execution = executing.execute(target, executing.checked(target, dict(arguments)), context, _OF_A_TURN)
    result, raw = execution.result, {"tool": name, "version": spec.version, "value": execution.result.data}
    if spec.is_inline and (result.metadata.outputSize or 0) > MAX_SHOWN_BYTES:
        result = results.fail(
            "EXECUTION_ERROR", f"The data is larger than {MAX_SHOWN_BYTES} bytes and cannot be shown."
        )
    return _stored_apart(Execution(result, execution.attempts), spec, context, raw)


def forget(thread_id: str, use_ids: QuerySet[Any, Any]) -> None:
    """Delete the calls of a thread for these tool uses (a query); a world keeps its log until it is deleted."""
    Call.objects.filter(tool_use_id__in=use_ids, thread_id=thread_id, world=None).delete()


def answer_of(execution: Execution, data_ref: dict[str, str] | None) -> dict[str, Any]:
    """The stored outcome of a call."""
    kept = {"attempts": execution.attempts, "failure": execution.failure, "data_ref": data_ref}
    return {"result": execution.result.model_dump(), **kept}


def _stored_apart(execution: Execution, spec: ToolSpec, context: ToolContext, raw: dict[str, Any]) -> Made:
    if context.org_id is None:
        return Made(execution, raw=raw)
    stash = "never" if spec.is_inline else "auto"
    limit = data.INLINE_MAX_BYTES
    result, ref = data.stashed(execution.result, context.org_id, context.user_id, stash=stash, inline_max_bytes=limit)
    return Made(Execution(result, execution.attempts, execution.failure), ref, raw)
