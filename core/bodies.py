"""Parse and validate JSON bodies; every error is one sentence that names the place."""

import json
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from core.errors import InvalidRequest, field_and_reason
from core.storable import UNSTORABLE

MAX_DEPTH = 100
TOO_LONG = f"contains a number of more than {sys.get_int_max_str_digits():,} digits"
"""Why a number is not read; Python's own message advises on Python."""
_BAD_TEXT = "contains a NUL character or a lone surrogate"
Model = TypeVar("Model", bound=BaseModel)


def read_json(raw: bytes, *, is_checked: Callable[[str], bool] = lambda key: True) -> Any:
    """The JSON value in `raw`; {} if it is empty, as in a POST without a body.

    `is_checked`: whether the value of a key of the outermost object is checked here. It need not be if the caller
    ignores it, or checks it item by item so that only bad items are rejected.

    Raises `InvalidRequest` for malformed text, NaN and numbers out of range, nesting deeper than 100 levels, NUL
    characters and lone surrogates: not every database stores the latter two unchanged.
    """
    if not raw.strip():
        return {}
    try:
        value = json.loads(raw, parse_constant=_no_constant)
    except RecursionError:
        raise InvalidRequest(f"body: is nested more than {MAX_DEPTH} levels deep") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as problem:
        raise InvalidRequest(f"body: is not valid JSON ({problem})") from None
    except ValueError:
        raise InvalidRequest(f"body: {TOO_LONG}") from None
    is_object = isinstance(value, dict)
    check_storable({key: item for key, item in value.items() if is_checked(key)} if is_object else value)
    return value


def check_storable(value: Any) -> None:
    """Reject a value that cannot be stored unchanged, naming the path to it.

    Iterative, because the depth is what is being checked. It holds one iterator per level and builds the path only for
    an error: a body of a few megabytes has millions of elements.
    """
    levels: list[Iterator[tuple[Any, Any]]] = [iter([(None, value)])]
    path: list[Any] = [None]
    while levels:
        for path[-1], item in levels[-1]:
            if isinstance(item, dict | list):
                if len(levels) > MAX_DEPTH:
                    raise _unstorable(path[:7], f"is nested more than {MAX_DEPTH} levels deep")
                levels.append(iter(item.items() if isinstance(item, dict) else enumerate(item)))
                if isinstance(item, dict) and any(isinstance(key, str) and UNSTORABLE.search(key) for key in item):
                    raise _unstorable(path, _BAD_TEXT)
                path.append(None)
                break
            if isinstance(item, str):
                if UNSTORABLE.search(item):
                    raise _unstorable(path, _BAD_TEXT)
            elif isinstance(item, float) and not math.isfinite(item):
                raise _unstorable(path, "is a number out of range")
        else:
            levels.pop()
            path.pop()


def _unstorable(path: list[Any], reason: str) -> InvalidRequest:
    return InvalidRequest.of(_dotted(tuple(path[1:])), reason)


def parse(model: type[Model], value: Any, within: str = "") -> Model:
    """The value as a validated model; raises `InvalidRequest` naming the first invalid field."""
    if not isinstance(value, dict):
        raise InvalidRequest(f"{within or 'body'}: must be a JSON object")
    try:
        return model.model_validate(value)
    except ValidationError as problem:
        raise invalid(problem, within) from None


def invalid(problem: ValidationError, within: str = "") -> InvalidRequest:
    """A validation error as one sentence, with the first 20 of its errors in `details`.

    There are never many: every list in a body has a limit, and only a few unknown keys are reported.
    """
    errors = problem.errors(include_url=False)
    details = [_detail(within, error["loc"], reason_of(error)) for error in errors]
    first = details[0]
    more = f" (and {len(details) - 1} more)" if len(details) > 1 else ""
    return InvalidRequest(f"{first['field']}: {first['reason']}{more}", details=[*details[:20]])


def _detail(within: str, loc: tuple[int | str, ...], reason: str) -> dict[str, str]:
    """A field and its error. A rule over several fields names the field itself."""
    path: tuple[int | str, ...] = (within, *_public(loc)) if within else _public(loc)
    if about := field_and_reason(reason):
        path, reason = (*path, about[0]), about[1]
    return {"field": _dotted(path), "reason": reason}


def _public(loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """A location without the tags that pydantic adds for union members."""
    return tuple(
        part for place, part in enumerate(loc) if isinstance(part, int) or place == 0 or not _is_tag(loc, place)
    )


def _is_tag(loc: tuple[int | str, ...], place: int) -> bool:
    return loc[place] in _TAGS and loc[place - 2 : place - 1] == ("content",)


_TAGS = frozenset({"text", "tool_use", "tool_result", "error", "client_context"})


def _dotted(path: tuple[Any, ...]) -> str:
    return ".".join(str(part)[:80] for part in path) or "body"


_WORDS = {
    "extra_forbidden": "is not a known field",
    "missing": "is missing",
    "timezone_aware": "must say its time zone, as 2026-05-01T12:00:00Z does",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "list_type": "must be a list",
    "dict_type": "must be a JSON object",
    "model_type": "must be a JSON object",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "string_too_short": "must have at least {min_length} character{s}",
    "string_too_long": "must have at most {max_length:,} character{s}, not {length:,}",
    "too_short": "must have at least {min_length} item{s}",
    "too_long": "must have at most {max_length} item{s}",
}
"""Our wording by pydantic error type; pydantic's own wording is meant for Python developers."""


def reason_of(error: ErrorDetails) -> str:
    """The reason as it follows the name of a field: "must be text"."""
    kind, context = error["type"], error.get("ctx", {})
    if words := _WORDS.get(kind):
        s = "" if context.get("min_length", context.get("max_length")) == 1 else "s"
        return words.format(**context, s=s, length=len(error["input"]) if kind == "string_too_long" else 0)
    if kind.startswith("datetime_"):
        return "must be a time like 2026-05-01T12:00:00Z"
    said = error["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return said.replace("Input should", "must").replace(" after validation", "")


def _no_constant(name: str) -> NoReturn:
    raise InvalidRequest(f"body: is not valid JSON ({name} is not a JSON number)")


def number(text: str) -> int | None:
    """A whole number of at most nine digits in a URL or a form; None for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def flag(name: str, value: str | None, default: bool = False) -> bool:
    """A boolean in a URL; the SDK sends True and False. Missing or empty means the default."""
    said = (value or str(default)).lower()
    if said not in ("true", "1", "false", "0"):
        raise InvalidRequest(f"{name}: must be true or false")
    return said in ("true", "1")
