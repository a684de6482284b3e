"""Roboto's `ClientToolResult`: a status of three, a whole number of milliseconds, and always an object (C70)."""

from typing import Any

from catalogue import results
from catalogue.record import Loss
from catalogue.result_dialects.shape import Context, custom_without, loss, object_of, refused, time_of, told
from catalogue.results import ToolResult

DECLINED = "DECLINED"
_ABOUT_ERROR = ("error", "code", "details", "suggestion")


def write(result: ToolResult, context: Context, style: str | None) -> tuple[dict[str, Any], list[Loss]]:
    """The result as a client hands it in."""
    losses = list(told(result, "/metadata/inputSize", "/metadata/outputSize", "/metadata/warnings"))
    losses += custom_without(result, "tool_use_id", "tool_name")
    custom = result.metadata.custom
    written = {
        "tool_use_id": context.tool_use_id or str(custom.get("tool_use_id") or ""),
        "tool_name": context.tool_name or str(custom.get("tool_name") or ""),
        "runtime_ms": round(result.execution_time_ms or 0),
    }
    if result.error is not None:
        losses += told(result, "/data")
        status = "declined" if result.error.code == DECLINED else "error"
        return {**written, "status": status, "output": output_of(result)}, losses
    if result.data is not None and not isinstance(result.data, dict):
        losses.append(loss("/data", "wrapped", "under result"))
    return {**written, "status": "success", "output": output_of(result)}, losses


def output_of(result: ToolResult) -> dict[str, Any]:
    """The object that stands for data or error; null is an empty one, anything else stands under `result`."""
    if result.error is None:
        data = {} if result.data is None else result.data
        return data if isinstance(data, dict) else {"result": data}
    error = result.error
    beside = {"code": error.code, "details": error.details, "suggestion": error.suggestion}
    return {"error": error.message, **{name: value for name, value in beside.items() if value is not None}}


def read(value: Any) -> tuple[ToolResult, list[Loss]]:
    """Its result. The SDK writes an error as a text, others as an object."""
    source = object_of(value)
    status, output = source.get("status"), source.get("output")
    if status not in ("success", "error", "declined"):
        raise refused("status must be success, error or declined")
    if not isinstance(output, dict | None):
        raise refused("output must be an object or null")
    took = time_of(source.get("runtime_ms"))
    is_success = status == "success"
    result = results.ok(output, execution_time_ms=took) if is_success else _failed(status, output or {}, took)
    named = {name: source[name] for name in ("tool_use_id", "tool_name") if isinstance(source.get(name), str)}
    return result.noted(custom=named), []


def _failed(status: str, output: dict[str, Any], took: float | None) -> ToolResult:
    said = output.get("error")
    error = {**output, **said, "error": said.get("message")} if isinstance(said, dict) else output
    message, code, details, suggestion = (error.get(name) for name in _ABOUT_ERROR)
    rest = {name: value for name, value in output.items() if name not in _ABOUT_ERROR}
    if status == "declined":
        code = DECLINED
    result = results.fail(
        code if isinstance(code, str) and code else "EXECUTION_ERROR",
        message if isinstance(message, str) and message else "unknown error",
        details if isinstance(details, dict) else None,
        suggestion=suggestion if isinstance(suggestion, str) else None,
        execution_time_ms=took,
    )
    return result.model_copy(update={"data": rest or None})
