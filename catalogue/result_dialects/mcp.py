"""MCP's `CallToolResult`: a text block for the model, `structuredContent` for programs, the rest in `_meta` (C71)."""

from typing import Any

from catalogue import results
from catalogue.record import Loss
from catalogue.result_dialects.shape import (
    NO_MESSAGE,
    UNSAID,
    Context,
    at,
    count_of,
    failure_text,
    loss,
    message_of,
    misfit,
    object_of,
    object_or_none,
    refused,
    replaced,
    strangers,
    text_of_content,
    text_or_none,
    texts_or_none,
    time_of,
    told,
    value_of_text,
)
from catalogue.results import Metadata, ToolResult
from core.canonical import canonical_json

TIME, METADATA = "heddle/execution_time_ms", "heddle/metadata"
_KEYS = frozenset({"content", "structuredContent", "isError", "_meta"})


def write(result: ToolResult, context: Context, style: str | None) -> tuple[dict[str, Any], list[Loss]]:
    """The result; older revisions of the protocol want an object, so anything else stands under `value`."""
    losses: list[Loss] = []
    if result.error is not None:
        text, structured = failure_text(result.error), {"error": result.error.model_dump(exclude_none=True)}
        losses += told(result, "/data")
    else:
        text, structured = canonical_json(result.data), result.data
        if not isinstance(structured, dict):
            structured = {"value": structured}
            losses.append(loss("/data", "wrapped", "under value"))
    meta: dict[str, Any] = {METADATA: result.metadata.model_dump(exclude_none=True)}
    if result.execution_time_ms is not None:
        meta[TIME] = result.execution_time_ms
    block = {"type": "text", "text": text}
    is_error = not result.success
    return {"content": [block], "structuredContent": structured, "isError": is_error, "_meta": meta}, losses


def read(value: Any) -> tuple[ToolResult, list[Loss]]:
    """Its result: the structured content where there is one, else what the text says.

    The text beside a structured content is no loss: by the protocol it says the same.
    """
    source = object_of(value)
    structured, is_error = source.get("structuredContent"), source.get("isError", False)
    if not isinstance(is_error, bool):
        raise refused("isError must be true or false")
    text, losses = text_of_content(source.get("content", []))
    if is_error:
        result, more = _failed(structured, text, source.get("content"))
        losses += more
    else:
        result = results.ok(value_of_text(text) if structured is None else structured)
    meta = source.get("_meta") or {}
    if not isinstance(meta, dict):
        raise refused("_meta must be an object")
    took = time_of(meta.get(TIME))
    metadata, more = _metadata(meta)
    losses += [*strangers(source, _KEYS), *misfit(meta.get(TIME), took, "_meta", TIME), *more]
    return result.model_copy(update={"execution_time_ms": took, "metadata": metadata}), losses


def _failed(structured: Any, text: str, content: Any) -> tuple[ToolResult, list[Loss]]:
    error = structured.get("error") if isinstance(structured, dict) else None
    if not (isinstance(error, dict) and isinstance(error.get("code"), str) and isinstance(error.get("message"), str)):
        message, losses = message_of(text, content)
        losses += [loss("/structuredContent")] if structured is not None else []
        return results.fail(UNSAID, message), losses
    details, suggestion = object_or_none(error.get("details")), text_or_none(error.get("suggestion"))
    code, message = error["code"] or UNSAID, error["message"] or NO_MESSAGE
    place = ("structuredContent", "error")
    losses = [
        *(each for name in ("code", "message") for each in replaced(error[name], *place, name)),
        *strangers(structured, ("error",), "structuredContent"),
        *strangers(error, ("code", "message", "details", "suggestion"), *place),
        *misfit(error.get("details"), details, *place, "details"),
        *misfit(error.get("suggestion"), suggestion, *place, "suggestion"),
    ]
    return results.fail(code, message, details, suggestion=suggestion), losses


def _metadata(meta: dict[str, Any]) -> tuple[Metadata, list[Loss]]:
    """Heddle's own metadata, and everything else in `_meta` as custom values."""
    given = meta.get(METADATA)
    kept = object_or_none(given) or {}
    sizes = {name: count_of(kept.get(name)) for name in ("inputSize", "outputSize")}
    warnings, own = texts_or_none(kept.get("warnings")), object_or_none(kept.get("custom"))
    custom = {key: child for key, child in meta.items() if key not in (TIME, METADATA)}
    place = ("_meta", METADATA)
    losses = [
        *misfit(given, object_or_none(given), *place),
        *strangers(kept, Metadata.model_fields, *place),
        *(each for name, size in sizes.items() for each in misfit(kept.get(name), size, *place, name)),
        *misfit(kept.get("warnings"), warnings, *place, "warnings"),
        *misfit(kept.get("custom"), own, *place, "custom"),
        *(loss(at("_meta", key)) for key, child in custom.items() if own and own.get(key, child) != child),
    ]
    return Metadata(**sizes, warnings=warnings or [], custom={**custom, **(own or {})}), losses
