"""The canonical result of a tool call (catalogue 2.1, 2.2).

Independent of callers and storage.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Any, Final, NamedTuple, Self

from pydantic import Field, model_validator

from core.canonical import canonical_json, size_of
from core.storable import UNSTORABLE, storable
from core.wire import Wire
from core.wording import limit_text

MAX_RESULT_BYTES: Final = 10 * 1024 * 1024
MAX_DEPTH: Final = 100


class Code(NamedTuple):
    """An error code's HTTP status, and its kind for retries (catalogue 2.2)."""

    status: int
    retry: str


CODES: Final[Mapping[str, Code]] = {
    "INVALID_INPUT": Code(400, "validation"),
    "MISSING_REQUIRED": Code(400, "validation"),
    "TYPE_ERROR": Code(400, "validation"),
    "CONSTRAINT_VIOLATION": Code(400, "validation"),
    "EXECUTION_ERROR": Code(500, "transient"),
    "TIMEOUT": Code(504, "transient"),
    "RATE_LIMITED": Code(429, "transient"),
    "UNAUTHORIZED": Code(401, "permanent"),
    "NOT_FOUND": Code(404, "permanent"),
    "INTERNAL_ERROR": Code(500, "transient"),
}
_UNLISTED = Code(500, "permanent")


def meaning_of(code: str) -> Code:
    """The properties of a code. Unlisted codes are allowed: status 500, not retried."""
    return CODES.get(code, _UNLISTED)


class Failure(Wire):
    """The error of a call. `details` is for programs and never shown to a model."""

    code: Annotated[str, Field(min_length=1)]
    message: str
    details: dict[str, Any] | None = None
    suggestion: str | None = None


Size = Annotated[int, Field(ge=0)]


class Metadata(Wire):
    """Sizes of input and output as canonical JSON, warnings, and custom values."""

    inputSize: Size | None = None
    outputSize: Size | None = None
    warnings: list[str] = []
    custom: dict[str, Any] = {}


class ToolResult(Wire):
    """The canonical result: all five keys are always present, and `error` is null exactly on success (C64)."""

    success: Annotated[bool, Field(strict=True)]
    data: Any = None
    error: Failure | None = None
    execution_time_ms: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    metadata: Metadata = Metadata()

    @model_validator(mode="after")
    def _one_or_the_other(self) -> Self:
        if self.success != (self.error is None):
            raise ValueError("error: must be null on success and an object on failure")
        return self

    @property
    def status(self) -> int:
        """The HTTP status with `on_error: "http"`."""
        return 200 if self.error is None else meaning_of(self.error.code).status

    def noted(self, *warnings: str, **metadata: Any) -> "ToolResult":
        """The result with further warnings and metadata."""
        told = {"warnings": [*self.metadata.warnings, *warnings], **metadata}
        return self.model_copy(update={"metadata": self.metadata.model_copy(update=told)})


def ok(
    data: Any, *, execution_time_ms: float | None = None, warnings: tuple[str, ...] = (), **custom: Any
) -> ToolResult:
    """A success; it never carries an error (C75)."""
    metadata = Metadata(warnings=list(warnings), custom=custom)
    return ToolResult(success=True, data=data, execution_time_ms=execution_time_ms, metadata=metadata)


def fail(
    code: str,
    message: str,
    details: dict[str, Any] | None = None,
    *,
    suggestion: str | None = None,
    execution_time_ms: float | None = None,
) -> ToolResult:
    """A failure with its error. Raises `ValueError` without a message (C75)."""
    if not message:
        raise ValueError("a failure needs a message")
    error = Failure(code=code, message=message, details=details, suggestion=suggestion)
    return ToolResult(success=False, error=error, execution_time_ms=execution_time_ms)


def lift(value: Any) -> ToolResult:
    """A handler's return value as a result (C61, C62).

    A result is kept, an object is the data even with a key `success`, any other value goes under `value`. A value that
    is not JSON, or too large, is a failure of the tool.
    """
    if isinstance(value, ToolResult):
        reason = problem_of(value.model_dump())
        return fail("EXECUTION_ERROR", f"The tool returned {reason}.") if reason else value
    reason = problem_of(value)
    if reason:
        return fail("EXECUTION_ERROR", f"The tool returned {reason}.")
    return ok(value if isinstance(value, dict) else {"value": value})


def raised(problem: BaseException) -> ToolResult:
    """An exception in a tool as a result: type and text, no traceback (C63)."""
    said = storable(f"{type(problem).__name__}: {_text_of(problem)}"[:2000])
    return fail("EXECUTION_ERROR", said)


def model_view(result: ToolResult) -> Any:
    """What a model sees: the data, or code, message and suggestion, never the details (catalogue 3.1)."""
    if result.error is None:
        return result.data
    return {"error": result.error.model_dump(include={"code", "message", "suggestion"})}


def problem_of(value: Any) -> str | None:
    """Why a value cannot be stored as JSON, completing a sentence; or None.

    Iterative and counting, so that depth, cycles and size cost no more than the limit.
    """
    pending: list[tuple[Any, int]] = [(value, 1)]
    size = 0
    while pending:
        item, depth = pending.pop()
        size += 2
        if isinstance(item, str):
            size += len(item)
            if size <= MAX_RESULT_BYTES and UNSTORABLE.search(item):
                return "text with a NUL character or a lone surrogate"
        elif isinstance(item, dict | list):
            if depth > MAX_DEPTH:
                return f"a value nested deeper than {MAX_DEPTH} levels"
            size += len(item)
            if size <= MAX_RESULT_BYTES:
                if isinstance(item, dict):
                    if not all(isinstance(key, str) for key in item):
                        return "an object with a key that is not text"
                    pending.extend((key, depth) for key in item)
                    pending.extend((child, depth + 1) for child in item.values())
                else:
                    pending.extend((child, depth + 1) for child in item)
        elif (isinstance(item, float) and not math.isfinite(item)) or (isinstance(item, int) and abs(item) >> 1024):
            return "a number out of range"
        elif not (item is None or isinstance(item, bool | int | float)):
            return f"a {type(item).__name__}, which is not JSON"
        if size > MAX_RESULT_BYTES:
            return f"more than {limit_text(MAX_RESULT_BYTES)}"
    return None


def sized(result: ToolResult, arguments: Any) -> ToolResult:
    """The result with the sizes of input and output (C64)."""
    out = None if result.data is None and not result.success else size_of(result.data)
    return result.noted(inputSize=size_of(arguments), outputSize=out)


def text_of(value: Any) -> str:
    """A value as text: strings unchanged, everything else as canonical JSON."""
    return value if isinstance(value, str) else canonical_json(value)


def _text_of(problem: BaseException) -> str:
    try:
        return str(problem)
    except Exception:  # `__str__` of a tool's exception may itself raise
        return "no message"
