"""Heddle's built-in tools: small and harmless, so that agents in a new installation have something to call."""

import ast
import operator
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from catalogue import data, results
from catalogue.spec import ToolContext, ToolSpec, by_name
from core import syntax

Arguments = Mapping[str, Any]

_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def calculate(arguments: Arguments, context: ToolContext) -> Any:
    """Evaluate an arithmetic expression. No names, calls or powers, so it cannot run code or explode."""
    try:
        tree = syntax.expression(arguments["expression"])
    except SyntaxError:
        raise ValueError("not an arithmetic expression") from None
    return {"value": _value(tree)}


def _value(node: ast.AST) -> Any:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_value(left), _value(right))
    raise ValueError("only numbers, + - * / // % and brackets are allowed")


def current_time(arguments: Arguments, context: ToolContext) -> Any:
    """The current time in a time zone."""
    name = arguments.get("timezone", "UTC")
    try:
        now = datetime.now(ZoneInfo(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"unknown time zone {name}") from None
    return {"timezone": name, "time": now.isoformat(timespec="seconds"), "weekday": now.strftime("%A")}


def echo(arguments: Arguments, context: ToolContext) -> Any:
    """The given value, and the analysis scope of the call."""
    return {"value": arguments["value"], "analysis_scope": context.analysis_scope}


def wait(arguments: Arguments, context: ToolContext) -> Any:
    """Wait for some seconds."""
    time.sleep(arguments["seconds"])
    return {"waited_seconds": arguments["seconds"]}


def get_tool_data(arguments: Arguments, context: ToolContext) -> Any:
    """The stored payload for a reference of the caller's org (C91)."""
    found = data.find([context.org_id] if context.org_id else [], arguments["ref_id"])
    if found is None:
        return results.fail("NOT_FOUND", f"There is no data {arguments['ref_id'][:40]}.", {"reason": "unknown_ref"})
    return found.data


def _schema(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


TOOLS: dict[str, ToolSpec] = by_name(
    ToolSpec(
        "calculate",
        "Evaluate an arithmetic expression.",
        _schema(["expression"], expression={"type": "string", "maxLength": 500, "description": "such as 2 * (3 + 4)"}),
        calculate,
        is_idempotent=True,
        is_read_only=True,
    ),
    ToolSpec(
        "current_time",
        "Get the current time.",
        _schema([], timezone={"type": "string", "description": "IANA time zone such as Europe/Berlin; default UTC"}),
        current_time,
        is_idempotent=True,
        is_read_only=True,
    ),
    ToolSpec(
        "echo",
        "Return the given value.",
        _schema(["value"], value={}),
        echo,
        is_idempotent=True,
        is_read_only=True,
    ),
    ToolSpec(
        "wait",
        "Wait for some seconds.",
        _schema(["seconds"], seconds={"type": "number", "minimum": 0, "maximum": 30}),
        wait,
        timeout_seconds=40,
        is_idempotent=True,
        is_read_only=True,
    ),
    ToolSpec(
        "get_tool_data",
        "Get the full data of a result that was stored separately, by its ref_id.",
        _schema(["ref_id"], ref_id={"type": "string", "description": "such as td_0123456789ab"}),
        get_tool_data,
        timeout_seconds=None,
        is_idempotent=True,
        is_read_only=True,
        is_inline=True,
    ),
)
