"""Tool calls as signed POST requests (docs/tools-elsewhere.md)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from django.conf import settings
from django.utils import timezone

from catalogue import result_dialects, results
from catalogue.models import ToolConnection
from catalogue.results import MAX_RESULT_BYTES, ToolResult
from catalogue.spec import ToolContext
from core import bodies, ids, outbound, signing
from core.db import dump
from core.errors import DomainError, InvalidRequest, NoAnswer, TargetRefused, TooSlow
from core.wording import limit_text

DEFAULT_MS: Final = 30_000
CODES: Final[Mapping[int, str]] = {
    400: "INVALID_INPUT",
    401: "UNAUTHORIZED",
    403: "UNAUTHORIZED",
    404: "NOT_FOUND",
    408: "TIMEOUT",
    410: "NOT_FOUND",
    422: "INVALID_INPUT",
    429: "RATE_LIMITED",
    504: "TIMEOUT",
}
"""Error codes by HTTP status; any other is an EXECUTION_ERROR."""
_MAX_NOTED: Final = 20


@dataclass(frozen=True, slots=True)
class Destination:
    """Everything that a request to a tool needs, so that no request runs inside a transaction."""

    url: str
    server: str
    tool: str
    version: int
    org_id: str
    connection: ToolConnection
    dialect: str = "plain"
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout_ms: int | None = None


def call(destination: Destination, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
    """Make one request. Every outcome is a result; failures that must not be retried have `retryable: false`.

    All attempts of a call have the same `webhook-id` and `Idempotency-Key`, so that the receiver can deduplicate.
    """
    call_id = context.call_id or ids.CALL + ids.new_key()
    body = dump(
        {
            "call_id": call_id,
            "server": destination.server,
            "tool": destination.tool,
            "version": destination.version,
            "arguments": arguments,
            "context": {
                "org_id": destination.org_id,
                "thread_id": context.thread_id or None,
                "tool_use_id": context.tool_use_id or None,
                "analysis_scope": context.analysis_scope,
            },
        }
    )
    at, milliseconds = timezone.now(), patience(destination.timeout_ms, context)
    headers = {
        **destination.headers,
        "Accept": "application/json",
        "Content-Type": "application/json",
        "User-Agent": f"Heddle/{settings.VERSION}",
        "Idempotency-Key": call_id,
        **signing.headers(destination.connection.secrets_at(at), call_id, at, body),
    }
    try:
        answer = outbound.send(
            "POST",
            destination.url,
            content=body.encode(),
            headers=headers,
            seconds=milliseconds / 1000,
            limit=MAX_RESULT_BYTES,
        )
    except DomainError as problem:
        return unreachable(problem, milliseconds)
    return _result_of(answer, destination.dialect)


def patience(own_ms: int | None, context: ToolContext) -> float:
    """The time limit of an attempt in milliseconds: the lower one of the tool's and the call's."""
    return min(own_ms or context.timeout_ms or DEFAULT_MS, context.timeout_ms or own_ms or DEFAULT_MS)


def unreachable(problem: DomainError, milliseconds: float) -> ToolResult:
    """A missing response as a result."""
    said = problem.reason
    if isinstance(problem, TooSlow):
        return results.fail("TIMEOUT", said, {"timeout_ms": round(milliseconds)})
    if isinstance(problem, NoAnswer):
        return results.fail("EXECUTION_ERROR", said, {"reason": "no_answer"})
    if isinstance(problem, TargetRefused):
        details = {"reason": "target_refused", "retryable": False}
        return results.fail("EXECUTION_ERROR", f"The address of the tool {said}.", details)
    return results.fail("EXECUTION_ERROR", said, {"reason": "unusable", "retryable": False})


def _result_of(answer: outbound.Answer, dialect: str) -> ToolResult:
    if answer.is_cut:
        said = f"The tool's response is larger than {limit_text(MAX_RESULT_BYTES)}."
        return _final(said, "too_large", answer)
    if 300 <= answer.status < 400:
        return _final("The tool responded with a redirect; redirects are not followed.", "redirect", answer)
    try:
        result = _read(answer, dialect)
    except InvalidRequest as problem:
        if answer.status >= 300:
            return _failed(answer)
        return _final(f"The tool's response is not a result: {problem.message}"[:2000], "not_a_result", answer)
    # If both status and body report a failure, the body has more detail.
    return result if answer.status < 300 or (dialect != "plain" and not result.success) else _failed(answer)


def _read(answer: outbound.Answer, dialect: str) -> ToolResult:
    """Parse the body in that dialect. Raises `InvalidRequest`."""
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()[:60]
    if answer.body.strip() and kind and kind != "application/json" and not kind.endswith("+json"):
        raise InvalidRequest(f"it is {kind}, not JSON")
    value = bodies.read_json(answer.body) if answer.body.strip() else None
    result, losses = result_dialects.read(dialect, value)
    return result.noted(*(f"{loss.path}: {loss.detail}"[:300] for loss in losses[:_MAX_NOTED]))


def _failed(answer: outbound.Answer) -> ToolResult:
    code = CODES.get(answer.status, "EXECUTION_ERROR")
    details: dict[str, Any] = {"status": answer.status}
    if answer.status < 500 and code == "EXECUTION_ERROR":
        details["retryable"] = False
    after = answer.headers.get("retry-after", "")
    if after.isascii() and after.isdigit() and len(after) < 6:
        details["retry_after_ms"] = int(after) * 1000
    return results.fail(code, f"The tool responded with status {answer.status}.", details)


def _final(said: str, reason: str, answer: outbound.Answer) -> ToolResult:
    details = {"reason": reason, "status": answer.status, "retryable": False}
    return results.fail("EXECUTION_ERROR", said, details)
