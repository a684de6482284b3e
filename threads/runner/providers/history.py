"""Converts a thread to pydantic-ai messages, with every call paired with its result."""

import json
from collections.abc import Sequence
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from threads.content import UNANSWERED, BlockDict, MessageSnapshot

LOOKING_AT = "\n\n[What the user is looking at: "
"""What comes before a client context in the text that a model reads."""


def of_thread(
    messages: Sequence[MessageSnapshot], *, instructions: str | None, prompt: str | None
) -> list[ModelMessage]:
    """The message history, ending in a request. `prompt` is a corrective re-prompt, never stored (spec 4.3).

    Results are placed right after their calls, wherever they are in the thread, and a call without a result gets one
    that says so: providers require this.
    """
    results = iter(_results(messages))
    history: list[ModelMessage] = []
    waiting: list[ModelRequestPart] = []
    for message in messages:
        if message.role == "user":
            waiting.append(UserPromptPart(content=_text_of(message)))
        elif message.role == "assistant" and (parts := _answer(message)):
            history.extend(_request(waiting, instructions))
            history.append(ModelResponse(parts=parts))
            waiting = [_returned(part, next(results)) for part in parts if isinstance(part, ToolCallPart)]
    if prompt:
        waiting.append(UserPromptPart(content=prompt))
    history.extend(_request(waiting or [UserPromptPart(content="Go on.")], instructions))
    return history


def _results(messages: Sequence[MessageSnapshot]) -> list[BlockDict | None]:
    """The result of each assistant call, in order, or None.

    Imported threads may reuse an id: a result belongs to the nearest earlier message with an unanswered call of that
    id, and there to the first such call.
    """
    found: list[BlockDict | None] = []
    waiting: dict[str, list[int]] = {}
    for message in messages:
        called: dict[str, list[int]] = {}
        for block in message.blocks:
            if block["content_type"] == "tool_use" and message.role == "assistant":
                called.setdefault(block["tool_use_id"], []).append(len(found))
                found.append(None)
        for use_id, places in called.items():
            waiting[use_id] = places + waiting.get(use_id, [])
        for block in message.blocks:
            if block["content_type"] == "tool_result" and waiting.get(block["tool_use_id"]):
                found[waiting[block["tool_use_id"]].pop(0)] = block
    return found


def _request(parts: list[ModelRequestPart], instructions: str | None) -> list[ModelMessage]:
    return [ModelRequest(parts=list(parts), instructions=instructions)] if parts else []


def _text_of(message: MessageSnapshot) -> str:
    pieces = []
    for block in message.blocks:
        if block["content_type"] == "text":
            pieces.append(block["text"])
        elif block["content_type"] == "client_context":
            pieces.append(f"{LOOKING_AT}{json.dumps(block['context'], ensure_ascii=False)}]")
    return "".join(pieces)


def _answer(message: MessageSnapshot) -> list[ModelResponsePart]:
    parts: list[ModelResponsePart] = []
    for block in message.blocks:
        if block["content_type"] == "text":
            if parts and isinstance(parts[-1], TextPart):
                parts[-1] = TextPart(content=parts[-1].content + block["text"])
            else:
                parts.append(TextPart(content=block["text"]))
        elif block["content_type"] == "tool_use":
            call = ToolCallPart(block["tool_name"], block["input"] or {}, tool_call_id=block["tool_use_id"])
            parts.append(call)
    return parts


def _returned(call: ToolCallPart, result: BlockDict | None) -> ToolReturnPart:
    if result is None:
        return ToolReturnPart(call.tool_name, UNANSWERED, tool_call_id=call.tool_call_id, outcome="interrupted")
    outcome: Any = {"success": "success", "error": "failed", "declined": "denied"}[result["status"]]
    payload = result.get("payload")  # threads that earlier versions loaded have none
    content = payload if payload is not None else ""
    return ToolReturnPart(call.tool_name, content, tool_call_id=call.tool_call_id, outcome=outcome)
