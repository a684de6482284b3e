"""Detect the dialect of a pasted text: the one that reads it with the fewest losses."""

from typing import Any, Final

from catalogue import dialects
from catalogue.dialects import convilyn, python
from catalogue.record import JsonObject, ToolProblem
from catalogue.wire_tools import ImportIn
from core import bodies
from core.errors import InvalidRequest

_ORDER: Final = ("openai", "mcp", "roboto", "anthropic", "convilyn", "data_harness", "rdk", "ctp")
"""Preference between equal dialects, the most common first."""
_LISTS: Final = ("tools", "items", "functions")
"""Keys under which systems wrap a list of tools, such as MCP's `tools/list` response."""


def body_of(text: str, dialect: str, server: str, **more: Any) -> ImportIn:
    """A pasted text as an import; an empty `dialect` is detected, an empty `server` must be in the text.

    Accepts a list, an object around a list, a manifest, one tool or Python source; else raises `InvalidRequest`.
    """
    if not text.strip():
        raise InvalidRequest("text: is needed")
    named: JsonObject = {"server": server} if server else {}
    bodies.check_storable({"text": text, "server": server})
    is_json = text.lstrip()[:1] in ("{", "[")
    if dialect == python.NAME or (not dialect and not is_json):
        return bodies.parse(ImportIn, {"dialect": python.NAME, "source": text, **named, **more})
    value = _read(text)
    if isinstance(value, dict) and dialect in ("", convilyn.NAME) and _is_manifest(value):
        return bodies.parse(ImportIn, {"dialect": convilyn.NAME, "manifest": value, **named, **more})
    tools = _tools(value)
    return bodies.parse(ImportIn, {"dialect": dialect or detected(tools), "tools": tools, **named, **more})


def detected(tools: list[Any]) -> str:
    """The dialect that fits the first tools best; `openai` if none does, so that its errors are shown."""
    return min(_ORDER, key=lambda name: (_misfit(name, tools[:5]), _ORDER.index(name)))


def _misfit(name: str, tools: list[Any]) -> tuple[int, int]:
    """How many tools a dialect cannot read, and how many losses the others have.

    A tool whose arguments would be lost counts as unreadable.
    """
    unread = losses = 0
    for tool in tools:
        try:
            found = dialects.read(dialects.DIALECTS[name], tool)
        except ToolProblem:
            unread += 1
        else:
            unread += any(loss.is_arguments for loss in found.losses)
            kept = found.content.extras.get(name, {}).values()
            losses += len(found.losses) + len(found.warnings) + sum(value is not None for value in kept)
    return unread, losses


def _read(text: str) -> Any:
    try:
        return bodies.read_json(text.encode())
    except InvalidRequest as problem:
        raise InvalidRequest(f"text: {problem.reason}") from None


def _tools(value: Any) -> list[Any]:
    """The tools in a JSON value, unwrapped: MCP and others wrap their list, some twice."""
    for _ in range(2):
        inner = value.get("result") if isinstance(value, dict) and "jsonrpc" in value else None
        value = inner if isinstance(inner, dict) else value
    if isinstance(value, dict):
        found = next((value[key] for key in _LISTS if isinstance(value.get(key), list)), None)
        return [value] if found is None else found
    if not isinstance(value, list):
        raise InvalidRequest("text: must be a JSON object or list")
    return value


def _is_manifest(value: JsonObject) -> bool:
    return isinstance(value.get("server"), dict) and isinstance(value.get("tools"), list)
