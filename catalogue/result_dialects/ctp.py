"""CTP results: the error is a text, the code is one of ten, nothing is null (C66 to C68, C72)."""

from typing import Any

from catalogue import results
from catalogue.record import Loss
from catalogue.result_dialects.shape import (
    NO_MESSAGE,
    UNSAID,
    Context,
    at,
    count_of,
    custom_without,
    loss,
    misfit,
    object_of,
    object_or_none,
    refused,
    replaced,
    strangers,
    texts_or_none,
    time_of,
    told,
)
from catalogue.results import CODES, Metadata, ToolResult

STRICT_METADATA = frozenset(
    {"executionTime", "inputSize", "outputSize", "cached", "warnings", "toolVersion", "executionMode"}
)
"""What the closed schema of the CTP tree knows."""
_OF_FAILURE = ("error", "errorCode", "suggestion", "validationErrors")
_KEYS = frozenset({"success", "data", "metadata", "_meta", *_OF_FAILURE})
_MEASURED = ("executionTime", "inputSize", "outputSize", "warnings")
_OF_ERROR = ("details", "originalCode")
"""What `metadata` says of a failure; of a success they are custom values like any other."""
_RUNTIME_CODES = {"TOOL_NOT_FOUND": "NOT_FOUND", "VALIDATION_ERROR": "INVALID_INPUT"}


def write(result: ToolResult, context: Context, style: str | None) -> tuple[dict[str, Any], list[Loss]]:
    """The result as the seed's schema wants it; with `style=strict` as the closed schema of the tree does.

    A custom value with the name of something that CTP says itself is lost: it would be read as that.
    """
    is_strict = style == "strict"
    losses: list[Loss] = []
    custom = _custom(result, losses)
    metadata: dict[str, Any] = custom | _told_metadata(result)
    written: dict[str, Any] = {"success": result.success}
    if result.success or result.data is not None:
        written["data"] = result.data
    if result.error is not None:
        written |= _told_error(result, metadata, losses)
        if is_strict:
            losses += told(result, "/error/suggestion")
            written.pop("suggestion", None)
    for key in [key for key, value in metadata.items() if is_strict and not _is_known(key, value)]:
        del metadata[key]
        losses.append(loss(at("metadata", key)))
    return {**written, **({"metadata": metadata} if metadata else {})}, losses


def read(value: Any) -> tuple[ToolResult, list[Loss]]:
    """Its result, also of the other shapes that the CTP runtime really emits."""
    source = object_of(value)
    if not isinstance(source.get("success"), bool):
        raise refused("success must be true or false")
    metadata, losses = _metadata_of(source)
    spread = {key: child for key, child in source.items() if key not in _KEYS}
    data = source.get("data", spread or None)
    if "data" in source:
        losses += strangers(spread, ())
    took, more = _time_of(metadata, source.get("_meta"))
    losses += more
    if source["success"]:
        result = results.ok(data, execution_time_ms=took)
        losses += [loss(at(key)) for key in _OF_FAILURE if source.get(key) is not None]
    else:
        error, more = _error_of(source, metadata)
        losses += more
        result = error.model_copy(update={"data": data, "execution_time_ms": took})
    return result.model_copy(update={"metadata": metadata}), losses


def _custom(result: ToolResult, losses: list[Loss]) -> dict[str, Any]:
    """The custom values that CTP has a place for."""
    reserved = _MEASURED if result.success else _MEASURED + _OF_ERROR
    held = {key: value for key, value in result.metadata.custom.items() if key not in reserved}
    losses += custom_without(result, *held)
    kept: dict[str, Any] = _without_nulls(held, losses, "metadata", "custom")
    return kept


def _without_nulls(value: Any, losses: list[Loss], *place: str) -> Any:
    """A copy of the value without what is null in it, each of which is lost by name."""
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = list(enumerate(value))
    else:
        return value
    losses += [loss(at(*place, str(key)), detail="CTP has no nulls") for key, child in pairs if child is None]
    kept = {key: _without_nulls(child, losses, *place, str(key)) for key, child in pairs if child is not None}
    return kept if isinstance(value, dict) else list(kept.values())


def _told_metadata(result: ToolResult) -> dict[str, Any]:
    kept = result.metadata
    values = {
        "executionTime": result.execution_time_ms,
        "inputSize": kept.inputSize,
        "outputSize": kept.outputSize,
        "warnings": kept.warnings or None,
    }
    return {name: value for name, value in values.items() if value is not None}


def _told_error(result: ToolResult, metadata: dict[str, Any], losses: list[Loss]) -> dict[str, Any]:
    assert result.error is not None
    error, written = result.error, {"error": result.error.message, "errorCode": result.error.code}
    if error.code not in CODES:
        written["errorCode"], metadata["originalCode"] = "EXECUTION_ERROR", error.code
    if error.suggestion is not None:
        written["suggestion"] = error.suggestion
    if error.details is not None:
        metadata["details"] = _without_nulls(error.details, losses, "error", "details")
    return written


def _is_known(key: str, value: Any) -> bool:
    match key:
        case "cached":
            return isinstance(value, bool)
        case "toolVersion":
            return isinstance(value, str)
        case "executionMode":
            return value in ("client", "server", "hybrid")
    return key in STRICT_METADATA


def _metadata_of(source: dict[str, Any]) -> tuple[Metadata, list[Loss]]:
    given = source.get("metadata", {})
    if not isinstance(given, dict):
        raise refused("metadata must be an object")
    sizes = {name: count_of(given.get(name)) for name in ("inputSize", "outputSize")}
    warnings = texts_or_none(given.get("warnings"))
    losses = misfit(given.get("warnings"), warnings, "metadata", "warnings")
    for name, size in sizes.items():
        losses += misfit(given.get(name), size, "metadata", name)
    custom = {key: child for key, child in given.items() if key not in ("warnings", *sizes)}
    return Metadata(**sizes, warnings=warnings or [], custom=custom), losses


def _time_of(metadata: Metadata, runtime: Any) -> tuple[float | None, list[Loss]]:
    """How long it took, which the runtime says beside the metadata; taken out of the custom values."""
    beside = object_or_none(runtime) or {}
    own, other = metadata.custom.pop("executionTime", None), beside.get("durationMs")
    took = time_of(other) if time_of(own) is None else time_of(own)
    losses = [
        *misfit(own, time_of(own), "metadata", "executionTime"),
        *misfit(runtime, object_or_none(runtime), "_meta"),
        *strangers(beside, ("durationMs",), "_meta"),
        *([loss(at("_meta", "durationMs"))] if other is not None and other != took else []),
    ]
    return took, losses


def _error_of(source: dict[str, Any], metadata: Metadata) -> tuple[ToolResult, list[Loss]]:
    """The error of a failure, whose details and code are taken out of the custom values."""
    told_details, original = (metadata.custom.pop(name, None) for name in _OF_ERROR)
    details = object_or_none(told_details)
    losses = misfit(told_details, details, "metadata", "details")
    message, code = source.get("error", NO_MESSAGE), source.get("errorCode", UNSAID)
    suggestion = source.get("suggestion")
    if not (isinstance(message, str) and isinstance(code, str) and isinstance(suggestion, str | None)):
        raise refused("error, errorCode and suggestion must be text")
    losses += replaced(message, "error") + replaced(code, "errorCode")
    found: dict[str, Any] = {}
    if code in _RUNTIME_CODES:
        found["originalCode"], code = code, _RUNTIME_CODES[code]
    elif code == "EXECUTION_ERROR" and isinstance(original, str) and original:
        code = original
    if original not in (None, code):
        losses.append(loss("/metadata/originalCode"))
    if "validationErrors" in source:
        found["errors"] = source["validationErrors"]
    hidden = [key for key in found if details and details.get(key, found[key]) != found[key]]
    losses += [loss(at("metadata", "details", key)) for key in hidden]
    if found:
        details = {**(details or {}), **found}
    failed = results.fail(code or UNSAID, message or NO_MESSAGE, details, suggestion=suggestion)
    return failed, losses
