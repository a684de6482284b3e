"""Results that are a text for a model: data_harness, Anthropic and OpenAI (C69)."""

from typing import Any

from catalogue import results
from catalogue.record import Loss
from catalogue.result_dialects.shape import (
    Context,
    custom_without,
    failure_text,
    loss,
    object_of,
    refused,
    text_of_content,
    told,
    value_of_text,
)
from catalogue.results import ToolResult, text_of

Written = tuple[dict[str, Any], list[Loss]]


def write_harness(result: ToolResult, context: Context, style: str | None) -> Written:
    """A `ToolResultBlock`."""
    text, losses = _text(result)
    return {"tool_use_id": _use_id(result, context), "content": text, "is_error": not result.success}, losses


def write_anthropic(result: ToolResult, context: Context, style: str | None) -> Written:
    """A `tool_result` block."""
    text, losses = _text(result)
    use_id = _use_id(result, context)
    return {"type": "tool_result", "tool_use_id": use_id, "content": text, "is_error": not result.success}, losses


def write_openai(result: ToolResult, context: Context, style: str | None) -> Written:
    """A tool message. It has no place to say that the call failed but its text."""
    text, losses = _text(result)
    if not result.success:
        losses.append(loss("/success", "flattened", "only the text tells that it failed"))
    return {"role": "tool", "tool_call_id": _use_id(result, context), "content": text}, losses


def read_block(value: Any) -> tuple[ToolResult, list[Loss]]:
    """The result in a block of data_harness or Anthropic."""
    return _read(value, "tool_use_id")


def read_openai(value: Any) -> tuple[ToolResult, list[Loss]]:
    """The result in a tool message; it is always a success."""
    return _read(value, "tool_call_id")


def _read(value: Any, use_key: str) -> tuple[ToolResult, list[Loss]]:
    source = object_of(value)
    text, is_error = text_of_content(source.get("content", "")), source.get("is_error", False)
    if not isinstance(is_error, bool | None):
        raise refused("is_error must be true or false")
    failed = results.fail("EXECUTION_ERROR", text or "unknown error")
    result = failed if is_error else results.ok(value_of_text(text))
    use_id = source.get(use_key)
    return result.noted(custom={"tool_use_id": use_id} if isinstance(use_id, str) and use_id else {}), []


def _text(result: ToolResult) -> tuple[str, list[Loss]]:
    metadata = ("/metadata/inputSize", "/metadata/outputSize", "/metadata/warnings")
    losses = list(told(result, "/execution_time_ms", "/error/details", *metadata))
    losses += custom_without(result, "tool_use_id")
    if result.error is None:
        return text_of(result.data), losses
    return failure_text(result.error), [*losses, *told(result, "/data")]


def _use_id(result: ToolResult, context: Context) -> str:
    return context.tool_use_id or str(result.metadata.custom.get("tool_use_id") or "")
