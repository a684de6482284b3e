"""The server `demo`: tools for trying calls and for tests that need every kind of behaviour (catalogue 6.4).

They exist outside production and can be called by name; agents are not offered them.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from django.db import transaction
from django.db.models import F

from catalogue import data, results
from catalogue.models import DemoCount
from catalogue.spec import ToolContext, ToolSpec, by_name

Arguments = Mapping[str, Any]
_STRING = {"type": "string"}


def echo(arguments: Arguments, context: ToolContext) -> Any:
    """The message and its length."""
    message = arguments["message"]
    return {"message": message, "repeat": arguments["repeat"], "length": len(message)}


def sleep(arguments: Arguments, context: ToolContext) -> Any:
    """Sleep for some milliseconds."""
    time.sleep(arguments["ms"] / 1000)
    return {"slept_ms": arguments["ms"]}


def fail(arguments: Arguments, context: ToolContext) -> Any:
    """Fail as requested."""
    if arguments.get("raise"):
        raise RuntimeError(arguments["message"])
    return results.fail(
        arguments["code"] or "EXECUTION_ERROR",
        arguments["message"] or "failed as requested",
        arguments.get("details"),
        suggestion=arguments.get("suggestion"),
    )


def flaky(arguments: Arguments, context: ToolContext) -> Any:
    """Fail a number of times per key, then return the number of calls."""
    calls = _count(context, f"flaky {arguments['key']}")
    if calls <= arguments["fail_times"]:
        code = arguments["code"] or "EXECUTION_ERROR"
        return results.fail(code, f"failed {calls} of {arguments['fail_times']} times", arguments.get("details"))
    return {"key": arguments["key"], "calls": calls}


def bulk(arguments: Arguments, context: ToolContext) -> Any:
    """The requested number of rows."""
    rows = [{"n": n, "text": f"Row number {n} of the demonstration."} for n in range(arguments["rows"])]
    return {"rows": rows, "count": len(rows)}


_VALUES: Final[Mapping[str, Callable[[], Any]]] = {
    "dict": lambda: {"a": 1},
    "list": lambda: [1, 2],
    "str": lambda: "text",
    "int": lambda: 7,
    "none": lambda: None,
    "result_ok": lambda: results.ok({"a": 1}),
    "result_fail": lambda: results.fail("EXECUTION_ERROR", "a result that failed"),
    "looks_like_result": lambda: {"success": False, "error": "it only looks like one"},
    "warn": lambda: results.ok({"a": 1}, warnings=("mind the gap",)),
}


def value(arguments: Arguments, context: ToolContext) -> Any:
    """A raw value of the requested kind."""
    return _VALUES[arguments["kind"]]()


def stash(arguments: Arguments, context: ToolContext) -> Any:
    """A reference to rows that the tool itself stored."""
    assert context.org_id is not None
    return data.told(data.store(context.org_id, context.user_id, bulk(arguments, context)))


def counter(arguments: Arguments, context: ToolContext) -> Any:
    """The number of calls in this org."""
    return {"count": _count(context, "counter")}


def hidden(arguments: Arguments, context: ToolContext) -> Any:
    """Confirm that it was called."""
    return {"seen": True}


def _count(context: ToolContext, name: str) -> int:
    """Increment the counter and return it, safe under concurrency."""
    assert context.org_id is not None
    with transaction.atomic():
        DemoCount.objects.get_or_create(org_id=context.org_id, name=name)
        mine = DemoCount.objects.filter(org_id=context.org_id, name=name)
        mine.update(count=F("count") + 1)
        return mine.get().count


def _schema(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **({"required": [*required]} if required else {})}


_FLAKY = _schema(
    "key",
    "fail_times",
    key={**_STRING, "maxLength": 100},
    fail_times={"type": "integer", "minimum": 0},
    code={**_STRING, "default": "EXECUTION_ERROR"},
    details={"type": "object"},
)
_ROWS = {"type": "integer", "minimum": 1, "maximum": 5000}


def _demo(
    run: Callable[[Arguments, ToolContext], Any] | None,
    name: str,
    description: str,
    schema: dict[str, Any],
    **more: Any,
) -> ToolSpec:
    marks = {"is_idempotent": True, "is_read_only": True, "timeout_seconds": 60, **more}
    return ToolSpec(name, description, schema, run, server="demo", **marks)


TOOLS: Final[Mapping[str, ToolSpec]] = by_name(
    _demo(
        echo,
        "echo",
        "Return a message.",
        _schema(
            "message",
            message={**_STRING, "maxLength": 1000},
            repeat={"type": "integer", "minimum": 1, "maximum": 5, "default": 1},
            mood={"enum": ["calm", "loud"]},
            email={**_STRING, "format": "email"},
        ),
    ),
    _demo(
        sleep,
        "sleep",
        "Sleep for some milliseconds.",
        _schema("ms", ms={"type": "integer", "minimum": 0, "maximum": 60_000}),
        timeout_seconds=30,
    ),
    _demo(
        fail,
        "fail",
        "Fail with this code and message.",
        _schema(
            "code",
            "message",
            code=_STRING,
            message=_STRING,
            details={"type": "object"},
            suggestion=_STRING,
            **{"raise": {"type": "boolean"}},
        ),
    ),
    _demo(flaky, "flaky", "Fail a number of times, then succeed.", _FLAKY, is_read_only=False, timeout_seconds=None),
    _demo(
        flaky,
        "flaky_unsafe",
        "Fail a number of times, then succeed; not idempotent.",
        _FLAKY,
        is_idempotent=False,
        is_read_only=False,
        timeout_seconds=None,
    ),
    _demo(bulk, "bulk", "Return many rows.", _schema("rows", rows=_ROWS)),
    _demo(value, "value", "Return a raw value.", _schema("kind", kind={"enum": [*_VALUES]})),
    _demo(
        stash,
        "stash",
        "Store rows and return a reference.",
        _schema(rows={**_ROWS, "default": 10}),
        is_read_only=False,
        timeout_seconds=None,
    ),
    _demo(hidden, "hidden", "A hidden tool that can be called.", _schema(), is_visible=False),
    _demo(None, "schema_only", "A tool without a handler.", _schema(q=_STRING)),
    _demo(
        counter,
        "counter",
        "Count the calls of this org.",
        _schema(),
        is_idempotent=False,
        is_read_only=False,
        timeout_seconds=None,
    ),
)
