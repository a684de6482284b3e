"""Results that are a text for a model: data_harness, Anthropic and OpenAI (C69)."""

from typing import Any

from catalogue import results
from catalogue.record import Loss
from catalogue.result_dialects.shape import (
    UNSAID,
    Context,
    custom_without,
    failure_text,
    loss,
    message_of,
    misfit,
    name_in,
    object_of,
    refused,
    strangers,
    text_of_content,
    text_or_none,
    told,
    value_of_text,
)
from catalogue.results import ToolResult, text_of

Written = tuple[dict[str, Any], list[Loss]]
_KEYS = frozenset({"type", "role", "content", "is_error"})


def write_harness(result: ToolResult, context: Context, style: str | None) -> Written:
    """A `ToolResultBlock`."""
    use_id, text, losses = _text(result, context)
    return {"tool_use_id": use_id, "content": text, "is_error": not result.success}, losses


def write_anthropic(result: ToolResult, context: Context, style: str | None) -> Written:
    """A `tool_result` block."""
    use_id, text, losses = _text(result, context)
    return {"type": "tool_result", "tool_use_id": use_id, "content": text, "is_error": not result.success}, losses


def write_openai(result: ToolResult, context: Context, style: str | None) -> Written:
    """A tool message. It has no place to say that the call failed but its text."""
    use_id, text, losses = _text(result, context)
    if not result.success:
        losses.append(loss("/success", "flattened", "only the text tells that it failed"))
    return {"role": "tool", "tool_call_id": use_id, "content": text}, losses


def read_block(value: Any) -> tuple[ToolResult, list[Loss]]:
    """The result in a block of data_harness or Anthropic."""
    return _read(value, "tool_use_id")


def read_openai(value: Any) -> tuple[ToolResult, list[Loss]]:
    """The result in a tool message; it is always a success."""
    return _read(value, "tool_call_id")


def _read(value: Any, use_key: str) -> tuple[ToolResult, list[Loss]]:
    source = object_of(value)
    text, losses = text_of_content(source.get("content", ""))
    is_error, use_id = source.get("is_error", False), text_or_none(source.get(use_key))
    if not isinstance(is_error, bool | None):
        raise refused("is_error must be true or false")
    if is_error:
        message, more = message_of(text, source.get("content"))
        result = results.fail(UNSAID, message)
        losses += more
    else:
        result = results.ok(value_of_text(text))
    losses += misfit(source.get(use_key), use_id, use_key) + strangers(source, _KEYS | {use_key})
    return result.noted(custom={"tool_use_id": use_id} if use_id else {}), losses


def _text(result: ToolResult, context: Context) -> tuple[str, str, list[Loss]]:
    """The id of the call, the text, and what is lost."""
    use_id, losses = name_in(result, "tool_use_id", context.tool_use_id)
    metadata = ("/metadata/inputSize", "/metadata/outputSize", "/metadata/warnings")
    losses += told(result, "/execution_time_ms", "/error/details", *metadata)
    losses += custom_without(result, "tool_use_id")
    if result.error is None:
        return use_id, text_of(result.data), losses
    return use_id, failure_text(result.error), [*losses, *told(result, "/data")]
