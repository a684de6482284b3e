"""Roboto's `ClientToolResult`: a status of three, a whole number of milliseconds, and always an object (C70)."""

from typing import Any

from catalogue import results
from catalogue.record import Loss
from catalogue.result_dialects.shape import (
    NO_MESSAGE,
    UNSAID,
    Context,
    at,
    custom_without,
    loss,
    misfit,
    name_in,
    object_of,
    object_or_none,
    refused,
    replaced,
    strangers,
    text_or_none,
    time_of,
    told,
)
from catalogue.results import ToolResult

DECLINED = "DECLINED"
_ABOUT_ERROR = ("error", "code", "details", "suggestion")
_NAMES = ("tool_use_id", "tool_name")
_KEYS = frozenset({*_NAMES, "status", "output", "runtime_ms"})


def write(result: ToolResult, context: Context, style: str | None) -> tuple[dict[str, Any], list[Loss]]:
    """The result as a client hands it in."""
    losses = list(told(result, "/metadata/inputSize", "/metadata/outputSize", "/metadata/warnings"))
    losses += custom_without(result, *_NAMES)
    written: dict[str, Any] = {}
    for name in _NAMES:
        written[name], more = name_in(result, name, getattr(context, name))
        losses += more
    took = result.execution_time_ms or 0
    written["runtime_ms"] = round(took)
    if written["runtime_ms"] != took:
        losses.append(loss("/execution_time_ms", "truncated", "to whole milliseconds"))
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
    losses = misfit(source.get("runtime_ms"), took, "runtime_ms") + strangers(source, _KEYS)
    names = {name: text_or_none(source.get(name)) for name in _NAMES}
    for name, text in names.items():
        losses += misfit(source.get(name), text, name)
    if status == "success":
        result = results.ok(output, execution_time_ms=took)
    else:
        result, more = _failed(status, output or {}, took)
        losses += more
    return result.noted(custom={name: text for name, text in names.items() if text is not None}), losses


def _failed(status: str, output: dict[str, Any], took: float | None) -> tuple[ToolResult, list[Loss]]:
    said = output.get("error")
    inner = {**said, "error": said.get("message")} if isinstance(said, dict) else {}
    message, code, suggestion = (
        text_or_none({**output, **inner}.get(name)) for name in ("error", "code", "suggestion")
    )
    details = object_or_none({**output, **inner}.get("details"))
    if status == "declined":
        code = DECLINED
    code, message = code or UNSAID, message or NO_MESSAGE
    read = {"error": message, "code": code, "details": details, "suggestion": suggestion}
    result = results.fail(code, message, details, suggestion=suggestion, execution_time_ms=took)
    rest = {name: value for name, value in output.items() if name not in _ABOUT_ERROR}
    return result.model_copy(update={"data": rest or None}), _unread(output, inner, read)


def _unread(output: dict[str, Any], inner: dict[str, Any], read: dict[str, Any]) -> list[Loss]:
    """What is said of the error and is not what was read: empty, of another kind, said twice, or not known."""
    outer = {name: output[name] for name in _ABOUT_ERROR if name in output and not (name == "error" and inner)}
    losses = [_unlike(value, "output", name) for name, value in outer.items() if value not in (None, read[name])]
    known = {**read, "message": read["error"]}
    said = [(name, value) for name, value in inner.items() if name != "error"]
    lost = ((name, value) for name, value in said if value is not None and value != known.get(name))
    return losses + [_unlike(value, "output", "error", name) for name, value in lost]


def _unlike(value: Any, *place: str) -> Loss:
    return (replaced(value, *place) or [loss(at(*place))])[0]
