"""MCP's `CallToolResult`: a text block for the model, `structuredContent` for programs, the rest in `_meta` (C71)."""

from typing import Any

from catalogue import results
from catalogue.record import Loss
from catalogue.result_dialects.shape import (
    Context,
    count_of,
    failure_text,
    loss,
    object_of,
    refused,
    text_of_content,
    time_of,
    told,
    value_of_text,
)
from catalogue.results import Metadata, ToolResult
from core.canonical import canonical_json

TIME, METADATA = "heddle/execution_time_ms", "heddle/metadata"


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
    """Its result: the structured content where there is one, else what the text says."""
    source = object_of(value)
    structured, is_error = source.get("structuredContent"), source.get("isError", False)
    if not isinstance(is_error, bool):
        raise refused("isError must be true or false")
    text = text_of_content(source.get("content", []))
    if is_error:
        result = _failed(structured, text)
    else:
        result = results.ok(value_of_text(text) if structured is None else structured)
    meta = source.get("_meta") or {}
    if not isinstance(meta, dict):
        raise refused("_meta must be an object")
    custom = {key: child for key, child in meta.items() if key not in (TIME, METADATA)}
    update = {"execution_time_ms": time_of(meta.get(TIME)), "metadata": _metadata(meta.get(METADATA), custom)}
    blocks = source.get("content", [])
    losses = [
        loss(f"/content[{place}]")
        for place, block in enumerate(blocks if isinstance(blocks, list) else ())
        if not (isinstance(block, dict) and block.get("type", "text") == "text")
    ]
    return result.model_copy(update=update), losses


def _failed(structured: Any, text: str) -> ToolResult:
    error = structured.get("error") if isinstance(structured, dict) else None
    if isinstance(error, dict) and isinstance(error.get("code"), str) and isinstance(error.get("message"), str):
        details, suggestion = error.get("details"), error.get("suggestion")
        return results.fail(
            error["code"] or "EXECUTION_ERROR",
            error["message"] or "unknown error",
            details if isinstance(details, dict) else None,
            suggestion=suggestion if isinstance(suggestion, str) else None,
        )
    return results.fail("EXECUTION_ERROR", text or "unknown error")


def _metadata(kept: Any, custom: dict[str, Any]) -> Metadata:
    kept = kept if isinstance(kept, dict) else {}
    warnings, own = kept.get("warnings"), kept.get("custom")
    return Metadata(
        inputSize=count_of(kept.get("inputSize")),
        outputSize=count_of(kept.get("outputSize")),
        warnings=[each for each in warnings if isinstance(each, str)] if isinstance(warnings, list) else [],
        custom={**custom, **(own if isinstance(own, dict) else {})},
    )
