"""OpenInference's attributes, as Phoenix and its instrumentations write them, in the words of OpenTelemetry's.

They flatten their lists: `llm.input_messages.0.message.role`. Only what makes a conversation is translated.
"""

import re
from typing import Any

from threads.content import JsonObject
from threads.dialects.canonical import DialectError

KIND = "openinference.span.kind"
_NAMES = {
    "llm.model_name": "gen_ai.request.model",
    "llm.token_count.prompt": "gen_ai.usage.input_tokens",
    "llm.token_count.completion": "gen_ai.usage.output_tokens",
    "agent.name": "gen_ai.agent.name",
    "tool.id": "gen_ai.tool.call.id",
    "tool_call.id": "gen_ai.tool.call.id",
}
_OPERATIONS = {"LLM": "chat", "TOOL": "execute_tool"}
_SIDES = {"llm.input_messages.": "gen_ai.input.messages", "llm.output_messages.": "gen_ai.output.messages"}
_MOST = 10_000
"""Messages of a span, and parts of a message; a larger index would be a mistake."""
_NUMBER = re.compile(r"[0-9]{1,5}")


def translated(attributes: JsonObject, path: str) -> JsonObject:
    """The attributes of a span, with the GenAI conventions' names added where OpenInference's stand for them.

    Raises `DialectError` for an index beyond reason.
    """
    if KIND not in attributes:
        return attributes
    found: JsonObject = {new: attributes[old] for old, new in _NAMES.items() if old in attributes}
    if operation := _OPERATIONS.get(str(attributes[KIND])):
        found["gen_ai.operation.name"] = operation
    for prefix, name in _SIDES.items():
        if messages := _unflattened(attributes, prefix, path):
            found[name] = [_message(each.get("message")) for each in messages]
    return {**found, **attributes}


def _unflattened(attributes: JsonObject, prefix: str, path: str) -> list[JsonObject]:
    """The nested form of all attributes below a prefix, whose next part is an index."""
    tree: JsonObject = {}
    for name, value in attributes.items():
        if name.startswith(prefix):
            _plant(tree, name.removeprefix(prefix).split("."), value)
    return _in_order(tree, f"{path}.attributes.{prefix}")


def _plant(tree: JsonObject, steps: list[str], value: object) -> None:
    for step in steps[:-1]:
        below = tree.setdefault(step, {})
        if not isinstance(below, dict):
            return
        tree = below
    tree[steps[-1]] = value


def _in_order(tree: object, path: str) -> list[JsonObject]:
    if not isinstance(tree, dict):
        return []
    numbered = {int(step): item for step, item in tree.items() if _NUMBER.fullmatch(step) and isinstance(item, dict)}
    if any(number >= _MOST for number in numbered):
        raise DialectError(path, f"has an index of {_MOST} or more")
    return [item for _, item in sorted(numbered.items())]


def _message(given: Any) -> JsonObject:
    message = given if isinstance(given, dict) else {}
    role = {"human": "user", "ai": "assistant", "developer": "system", "function": "tool"}.get(
        str(message.get("role")), message.get("role")
    )
    texts = [message["content"]] if isinstance(message.get("content"), str) and message["content"] else []
    others: list[JsonObject] = []
    for item in _in_order(message.get("contents"), "contents"):
        about = item.get("message_content")
        if isinstance(about, dict) and isinstance(about.get("text"), str):
            texts.append(about["text"])
        else:  # a picture, which the import keeps in the metadata
            others.append({"type": "unknown", **(about if isinstance(about, dict) else item)})
    if role == "tool":
        answer = {"type": "tool_call_response", "id": message.get("tool_call_id"), "response": "\n".join(texts)}
        return {"role": role, "parts": [{**answer, "name": message.get("name")}, *others]}
    parts: list[JsonObject] = [*({"type": "text", "content": text} for text in texts), *others]
    calls = (item.get("tool_call") for item in _in_order(message.get("tool_calls"), "tool_calls"))
    return {"role": role, "parts": [*parts, *(_call(each) for each in calls if isinstance(each, dict))]}


def _call(call: JsonObject) -> JsonObject:
    function = call.get("function")
    called = function if isinstance(function, dict) else {}
    return {
        "type": "tool_call",
        "id": call.get("id"),
        "name": called.get("name"),
        "arguments": called.get("arguments"),
    }
