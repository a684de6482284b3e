"""From bytes to a checked body: every way JSON can be wrong ends in one sentence that names the place."""

import json
import math
import re
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from core.errors import InvalidRequest

MAX_DEPTH = 100
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_NAMED = re.compile(r"([a-z_]+): (.+)", re.DOTALL)
Model = TypeVar("Model", bound=BaseModel)


def read_json(raw: bytes) -> Any:
    """The JSON value in `raw`; {} for nothing at all, as a POST without a body means.

    Raises `InvalidRequest` for malformed text, NaN and numbers out of range, nesting deeper than 100 levels, NUL
    characters and lone surrogates: no database keeps the latter two faithfully.
    """
    if not raw.strip():
        return {}
    try:
        value = json.loads(raw, parse_constant=_no_constant)
    except RecursionError:
        raise InvalidRequest(f"body: is nested deeper than {MAX_DEPTH} levels") from None
    except (ValueError, UnicodeDecodeError) as problem:
        raise InvalidRequest(f"body: is not valid JSON ({problem})") from None
    check_storable(value)
    return value


def check_storable(value: Any) -> None:
    """Refuse what cannot be stored unchanged, naming the path to it. Iterative: depth is the thing under test."""
    pending: list[tuple[Any, tuple[Any, ...], int]] = [(value, (), 1)]
    while pending:
        item, path, depth = pending.pop()
        if isinstance(item, str):
            if _UNSTORABLE.search(item):
                raise InvalidRequest(f"{_dotted(path)}: holds a NUL character or half of a surrogate pair")
        elif isinstance(item, float):
            if not math.isfinite(item):
                raise InvalidRequest(f"{_dotted(path)}: is a number out of range")
        elif isinstance(item, dict | list):
            if depth > MAX_DEPTH:
                raise InvalidRequest(f"{_dotted(path[:6])}: is nested deeper than {MAX_DEPTH} levels")
            if isinstance(item, dict):
                pending.extend((key, path, depth) for key in item)
                pending.extend((child, (*path, key), depth + 1) for key, child in item.items())
            else:
                pending.extend((child, (*path, index), depth + 1) for index, child in enumerate(item))


def parse(model: type[Model], value: Any, place: str = "") -> Model:
    """The value as a checked model; the first thing wrong with it as an `InvalidRequest` that names the field."""
    if not isinstance(value, dict):
        raise InvalidRequest(f"{place or 'body'}: must be a JSON object")
    try:
        return model.model_validate(value)
    except ValidationError as problem:
        raise invalid(problem, place) from None


def invalid(problem: ValidationError, place: str = "") -> InvalidRequest:
    """A validation error as one sentence, with all of them beside it for programs."""
    errors = problem.errors(include_url=False, include_context=False, include_input=False)
    details = [_detail(place, error["loc"], _reason(error["msg"])) for error in errors]
    first = details[0]
    more = f" (and {len(details) - 1} more)" if len(details) > 1 else ""
    return InvalidRequest(f"{first['field']}: {first['reason']}{more}", details=[*details[:20]])


def _detail(place: str, loc: tuple[int | str, ...], reason: str) -> dict[str, str]:
    """A field and what is wrong with it. A rule over several fields names the one that it is about itself."""
    path: tuple[int | str, ...] = (place, *_public(loc)) if place else _public(loc)
    if named := _NAMED.fullmatch(reason):
        path, reason = (*path, named[1]), named[2]
    return {"field": _dotted(path), "reason": reason}


def _public(loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """A location without the tags that pydantic adds for the members of a union."""
    return tuple(
        part for place, part in enumerate(loc) if isinstance(part, int) or place == 0 or not _is_tag(loc, place)
    )


def _is_tag(loc: tuple[int | str, ...], place: int) -> bool:
    return loc[place] in _TAGS and loc[place - 2 : place - 1] == ("content",)


_TAGS = frozenset({"text", "tool_use", "tool_result", "error", "client_context"})


def _dotted(path: tuple[Any, ...]) -> str:
    return ".".join(str(part)[:80] for part in path) or "body"


def _reason(message: str) -> str:
    return message.removeprefix("Value error, ").removeprefix("Assertion failed, ").replace("Input should", "should")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")
