"""Payloads of tools as people read them: as highlighted JSON, as one line, as a gist, by their size."""

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from django.utils.html import escape
from django.utils.safestring import SafeString

from core.markdown import turns_shown, vouched
from core.wording import one_line, size_text, whole_characters

JSON_LIMIT = 100_000
"""Characters of one JSON value that are shown."""
GIST_LIMIT = 140
_DEEPEST = 40
_STRING_LIMIT = 20_000
_LINE = 88


def json_html(value: Any) -> SafeString:
    """A JSON value, indented, highlighted and escaped; a string is shown as plain text.

    Output over the limit is cut, with a note below.
    """
    body: str
    if isinstance(value, str):
        body, wrap = turns_shown(escape(value[:JSON_LIMIT])), " data-wrap"
        whole = len(value) <= JSON_LIMIT
    else:
        pieces, whole = _within(_json_pieces(value, 0), JSON_LIMIT)
        body, wrap = turns_shown("".join(pieces), "\\u{:04x}"), ""  # so it can be copied as the same JSON
    body = whole_characters(body)
    note = "" if whole else f'<p class="quiet">Only the first {size_text(JSON_LIMIT)} are shown.</p>'
    return vouched(f'<pre class="json" tabindex="0"{wrap}>{body}</pre>{note}')


def json_text(value: Any) -> str:
    """A value as one line of JSON; strings unchanged."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str, separators=(",", ":"))


def json_size(value: Any) -> int:
    """The size of a value as JSON or text, in bytes."""
    return 0 if value is None else len(json_text(value).encode("utf-8", "replace"))


def gist(arguments: object) -> str:
    """A tool's arguments in one line: values if they are clear by themselves, else with names."""
    match arguments:
        case None:
            return ""
        case dict():
            items = cast(dict[str, Any], arguments).items()
            line = ", ".join(part for name, value in items if (part := _gist_of(str(name), value)))
        case _:
            line = json_text(arguments)
    return one_line(line, GIST_LIMIT)


_SPEAKS = re.compile(r"[^\s{}\[\]]+(?: [^\s{}\[\]]+){0,11}")


def _gist_of(name: str, value: Any) -> str:
    words = name.replace("_", " ")
    if value is None or value in ([], {}):
        return ""
    match value:
        case bool():
            return words if value else f"no {words}"
        case int() | float():
            return f"{words} {value}"
        case str():
            text = value[:200].strip()
            return text if _SPEAKS.fullmatch(text) else f"{words}: “{one_line(text, 60)}”"
        case list():
            if len(value) <= 3 and all(isinstance(item, str) and len(item) <= 24 for item in value):
                return ", ".join(value)
            return f"{len(value)} {words}"
    return f"{words}: {len(value)} fields" if isinstance(value, dict) else words


def _json_pieces(value: Any, depth: int) -> Iterator[str]:
    """A value as pieces of HTML; short lists and objects stay on one line."""
    if not isinstance(value, dict | list) or not value:
        yield _scalar(value)
    elif depth >= _DEEPEST:
        yield "…"
    elif (flat := _flat(value)) is not None:
        yield flat
    else:
        yield from _open_pieces(value, depth)


def _open_pieces(value: dict[str, Any] | list[Any], depth: int) -> Iterator[str]:
    inner, outer = "  " * (depth + 1), "  " * depth
    left, right = "{}" if isinstance(value, dict) else "[]"
    rows = value.items() if isinstance(value, dict) else ((None, item) for item in value)
    yield left
    for position, (name, item) in enumerate(rows):
        yield f"{',' if position else ''}\n{inner}" + ("" if name is None else _name(name))
        yield from _json_pieces(item, depth + 1)
    yield f"\n{outer}{right}"


def _flat(value: dict[str, Any] | list[Any]) -> str | None:
    """One line for a container of a few short scalars, else None."""
    items = list(value.values()) if isinstance(value, dict) else value
    if len(items) > 8 or any(isinstance(item, dict | list) and item for item in items):
        return None
    if any(isinstance(item, str) and len(item) > _LINE for item in items) or len(json_text(value)) > _LINE:
        return None
    if isinstance(value, dict):
        return "{" + ", ".join(_name(name) + _scalar(item) for name, item in value.items()) + "}"
    return "[" + ", ".join(_scalar(item) for item in value) + "]"


def _name(name: object) -> str:
    return f"<b>{escape(json.dumps(str(name), ensure_ascii=False))}</b>: "


def _scalar(value: Any) -> str:
    if isinstance(value, str) and len(value) > _STRING_LIMIT:
        shown = escape(json.dumps(value[:_STRING_LIMIT], ensure_ascii=False))
        return f"{shown} <i>… {size_text(json_size(value))} in all</i>"
    text = escape(json.dumps(value, ensure_ascii=False, default=str))
    return text if isinstance(value, str | dict | list) else f"<i>{text}</i>"


def _within(pieces: Iterator[str], limit: int) -> tuple[list[str], bool]:
    """The pieces up to the limit, and whether they are complete."""
    kept: list[str] = []
    left = limit
    for piece in pieces:
        if len(piece) > left:
            return [*kept, "…"], False
        kept.append(piece)
        left -= len(piece)
    return kept, True
