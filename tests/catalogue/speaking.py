"""Tools of every dialect, and the way through the catalogue's record and back."""

from typing import Any

from catalogue import dialects
from catalogue.record import Exported, Imported, Stored

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 40}, "days": {"type": "integer", "default": 3}},
    "required": ["city"],
}
MINIMAL: dict[str, dict[str, Any]] = {
    "convilyn": {"name": "look", "description": "Look.", "input_schema": SCHEMA},
    "ctp": {
        "id": "look",
        "name": "Look",
        "description": "Look.",
        "category": "utilities",
        "tags": ["eyes"],
        "method": "POST",
        "parameters": [],
        "outputDescription": "What is seen.",
        "example": {"input": {}, "output": {"success": True, "data": 1}},
    },
    "data_harness": {"name": "look", "description": "Look.", "input_schema": SCHEMA},
    "rdk": {"name": "look", "description": "Look.", "parameters": SCHEMA, "returns": {"type": "object"}},
    "roboto": {"name": "client_look", "description": "Look.", "input_schema": SCHEMA},
    "openai": {"type": "function", "function": {"name": "look", "description": "Look.", "parameters": SCHEMA}},
    "anthropic": {"name": "look", "description": "Look.", "input_schema": SCHEMA},
    "mcp": {"name": "look", "description": "Look.", "inputSchema": SCHEMA},
}


def read(dialect: str, tool: Any) -> Imported:
    """A foreign tool in canonical form."""
    return dialects.read(dialects.dialect_named(dialect), tool)


def stored(found: Imported, server: str = "srv") -> Stored:
    """The same as the catalogue keeps it."""
    unversioned = {key: value for key, value in found.unversioned.items() if key != "handler"}
    kept = {**unversioned, "spelled_out": found.spelled_out}
    return Stored(server=server, name=found.name, content=found.content, **kept)


def write(dialect: str, tool: Stored, **how: Any) -> Exported:
    """A stored tool in a dialect."""
    return dialects.write(dialects.dialect_named(dialect), tool, **how)


def across(source: str, target: str, tool: Any, **how: Any) -> Exported:
    """From one dialect into another."""
    return write(target, stored(read(source, tool)), **how)


def lost(exported: Exported | Imported) -> dict[str, str]:
    """Reason by path."""
    return {loss.path: loss.reason for loss in exported.losses}
