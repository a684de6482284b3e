"""CTP results: the error is a text, the code is one of ten, nothing is null (C66 to C68, C72)."""

from typing import Any

from catalogue import results
from catalogue.record import Loss
from catalogue.result_dialects.shape import Context, count_of, loss, object_of, refused, time_of, told
from catalogue.results import CODES, Metadata, ToolResult

STRICT_METADATA = frozenset(
    {"executionTime", "inputSize", "outputSize", "cached", "warnings", "toolVersion", "executionMode"}
)
"""What the closed schema of the CTP tree knows."""
_KEYS = frozenset({"success", "data", "error", "errorCode", "suggestion", "metadata", "_meta", "validationErrors"})
_RUNTIME_CODES = {"TOOL_NOT_FOUND": "NOT_FOUND", "VALIDATION_ERROR": "INVALID_INPUT"}


def write(result: ToolResult, context: Context, style: str | None) -> tuple[dict[str, Any], list[Loss]]:
    """The result as the seed's schema wants it; with `style=strict` as the closed schema of the tree does."""
    losses: list[Loss] = []
    is_strict = style == "strict"
    metadata: dict[str, Any] = result.metadata.custom | _told_metadata(result)
    written: dict[str, Any] = {"success": result.success}
    if result.success or result.data is not None:
        written["data"] = result.data
    if result.error is not None:
        written |= _told_error(result, metadata)
        if is_strict:
            losses += told(result, "/error/suggestion")
            written.pop("suggestion", None)
    custom = result.metadata.custom
    losses += (loss(f"/metadata/custom/{key}") for key in custom if custom[key] is None or metadata[key] != custom[key])
    for key in list(metadata):
        if metadata[key] is None:
            del metadata[key]
        elif is_strict and not _is_known(key, metadata[key]):
            del metadata[key]
            losses.append(loss(f"/metadata/{key}"))
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
        losses += [loss(f"/{key}") for key in spread]
    details, original = metadata.custom.pop("details", None), metadata.custom.pop("originalCode", None)
    timing, runtime = metadata.custom.pop("executionTime", None), source.get("_meta")
    if timing is None and isinstance(runtime, dict):
        timing = runtime.get("durationMs")
    result = results.ok(data, execution_time_ms=time_of(timing))
    if source["success"]:
        losses += [loss(f"/{key}") for key in ("error", "errorCode", "suggestion") if key in source]
        if details is not None:
            metadata.custom["details"] = details
    else:
        details = dict(details) if isinstance(details, dict) else {}
        error = _error_of(source, details, original)
        result = error.model_copy(update={"data": data, "execution_time_ms": result.execution_time_ms})
    return result.model_copy(update={"metadata": metadata}), losses


def _told_metadata(result: ToolResult) -> dict[str, Any]:
    kept = result.metadata
    values = {
        "executionTime": result.execution_time_ms,
        "inputSize": kept.inputSize,
        "outputSize": kept.outputSize,
        "warnings": kept.warnings or None,
    }
    return {name: value for name, value in values.items() if value is not None}


def _told_error(result: ToolResult, metadata: dict[str, Any]) -> dict[str, Any]:
    assert result.error is not None
    error, written = result.error, {"error": result.error.message, "errorCode": result.error.code}
    if error.code not in CODES:
        written["errorCode"], metadata["originalCode"] = "EXECUTION_ERROR", error.code
    if error.suggestion is not None:
        written["suggestion"] = error.suggestion
    if error.details is not None:
        metadata["details"] = error.details
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
    rest, losses = dict(given), []
    warnings = rest.pop("warnings", [])
    if not (isinstance(warnings, list) and all(isinstance(each, str) for each in warnings)):
        warnings, losses = [], [loss("/metadata/warnings")]
    sizes = {name: count_of(rest.pop(name, None)) for name in ("inputSize", "outputSize")}
    return Metadata(**sizes, warnings=warnings, custom=rest), losses


def _error_of(source: dict[str, Any], details: dict[str, Any], original: Any) -> ToolResult:
    message, code = source.get("error", "unknown error"), source.get("errorCode", "EXECUTION_ERROR")
    suggestion = source.get("suggestion")
    if not (isinstance(message, str) and isinstance(code, str) and isinstance(suggestion, str | None)):
        raise refused("error, errorCode and suggestion must be text")
    if code in _RUNTIME_CODES:
        details["originalCode"], code = code, _RUNTIME_CODES[code]
    elif code == "EXECUTION_ERROR" and isinstance(original, str) and original:
        code = original
    if "validationErrors" in source:
        details["errors"] = source["validationErrors"]
    return results.fail(code or "EXECUTION_ERROR", message or "unknown error", details or None, suggestion=suggestion)
