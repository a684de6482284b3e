"""Convilyn's `ToolResult`: data is an object, an error has code, message and details (C65, C74)."""

from typing import Any

from catalogue import results
from catalogue.record import Loss
from catalogue.result_dialects.shape import (
    NO_MESSAGE,
    UNSAID,
    Context,
    loss,
    misfit,
    object_of,
    refused,
    replaced,
    strangers,
    time_of,
    told,
)
from catalogue.results import Failure, ToolResult

_KEYS = frozenset({"success", "data", "error", "execution_time_ms"})


def write(result: ToolResult, context: Context, style: str | None) -> tuple[dict[str, Any], list[Loss]]:
    """The result for the real model; what is no object stands under `value`."""
    losses = list(told(result, "/metadata/inputSize", "/metadata/outputSize", "/metadata/warnings", "/metadata/custom"))
    data, error = result.data, None
    if data is not None and not isinstance(data, dict):
        data = {"value": data}
        losses.append(loss("/data", "wrapped", "under value"))
    if result.error is not None:
        error = result.error.model_dump(include={"code", "message", "details"})
        error["details"], more = _details(result.error)
        losses += more
    told_time = result.execution_time_ms
    return {"success": result.success, "data": data, "error": error, "execution_time_ms": told_time}, losses


def read(value: Any) -> tuple[ToolResult, list[Loss]]:
    """Its result. A success with an error is refused, a failure without one is completed."""
    source = object_of(value)
    success, error = source.get("success", True), source.get("error")
    if not isinstance(success, bool):
        raise refused("success must be true or false")
    if success and error is not None:
        raise refused("a success must not have an error")
    if not isinstance(source.get("data"), dict | None):
        raise refused("data must be an object or null")
    custom = {key: child for key, child in source.items() if key not in _KEYS}
    took = time_of(source.get("execution_time_ms"))
    losses = misfit(source.get("execution_time_ms"), took, "execution_time_ms")
    if success:
        return results.ok(source.get("data"), execution_time_ms=took).noted(custom=custom), losses
    result = _failed(error, took)
    losses += strangers(error or {}, ("code", "message", "details"), "error")
    losses += [each for name in ("code", "message") for each in replaced((error or {}).get(name), "error", name)]
    return result.model_copy(update={"data": source.get("data")}).noted(custom=custom), losses


def _details(error: Failure) -> tuple[dict[str, Any] | None, list[Loss]]:
    """The details with the suggestion among them. One that was there already is lost, or read as the suggestion."""
    details, place = error.details, "/error/details/suggestion"
    if error.suggestion is not None:
        lost = [loss(place)] if details and details.get("suggestion", error.suggestion) != error.suggestion else []
        return {**(details or {}), "suggestion": error.suggestion}, lost
    is_text = isinstance(details, dict) and isinstance(details.get("suggestion"), str)
    return details, [loss(place, "renamed", "is the suggestion there")] if is_text else []


def _failed(error: Any, took: float | None) -> ToolResult:
    if error is None:
        return results.fail(UNSAID, NO_MESSAGE, execution_time_ms=took).noted("the failure had no error")
    if not (isinstance(error, dict) and isinstance(error.get("code"), str) and isinstance(error.get("message"), str)):
        raise refused("error must have a code and a message")
    details = error.get("details")
    if not isinstance(details, dict | None):
        raise refused("error.details must be an object or null")
    suggestion = details.get("suggestion") if details else None
    if isinstance(suggestion, str) and details:
        details = {key: child for key, child in details.items() if key != "suggestion"} or None
    else:
        suggestion = None
    code, message = error["code"] or UNSAID, error["message"] or NO_MESSAGE
    return results.fail(code, message, details, suggestion=suggestion, execution_time_ms=took)
