"""Rendering of text, JSON, sizes and times. All input is untrusted; the output is safe HTML."""

import json
import re
import unicodedata
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from itertools import pairwise
from typing import Any, cast

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

MARKDOWN_LIMIT = 20_000
"""Characters rendered as Markdown; the rest is shown as folded plain text."""
WRITTEN_LIMIT = 6_000
"""Characters shown of what a person wrote; the rest is folded."""
PLAIN_LIMIT = 400_000
"""Characters shown of that plain rest, to keep the page small."""
JSON_LIMIT = 100_000
"""Characters of one JSON value that are shown."""
GIST_LIMIT = 140
_DEEPEST = 40
_NESTING = 20
_BRACKETS = 1_000
_CELLS = 4_000
_STRING_LIMIT = 20_000
_LINE = 88
_CACHED_TEXT = 4_000
_SHORT_CELL = 24


def markdown_html(text: str) -> SafeString:
    """Markdown as sanitised HTML: no raw HTML, images or scripts; other hosts only as links.

    A text over the limit is rendered up to it; the rest is folded, with its size, as plain text.
    """
    text = whole_characters(text)
    if len(text) <= _CACHED_TEXT:
        return _cached_markdown(text)
    beginning, rest = _cut(text, MARKDOWN_LIMIT)
    return vouched(_markdown(beginning) + _remainder(rest))


def written_html(text: str) -> SafeString:
    """What a person wrote, as safe HTML that shows it as it was written; only code between fences is set off.

    People paste logs and type `2*3*4`: read as Markdown, their lines run together and their marks vanish. A long text
    is folded after its beginning.
    """
    beginning, rest = _cut(whole_characters(text).replace("\r\n", "\n").strip("\n"), WRITTEN_LIMIT)
    said, at = [], 0
    for found in _FENCED.finditer(beginning):
        said += [_written(beginning[at : found.start()]), escape(found["code"]).join(_CODE)]
        at = found.end()
    return vouched("".join([*said, _written(beginning[at:]), _remainder(rest)]))


def is_shown_whole(text: str) -> bool:
    """Whether `written_html` shows a text in one piece: it has no code between fences, and is not folded."""
    return len(text) <= WRITTEN_LIMIT and not _FENCED.search(text)


def whole_characters(text: str) -> str:
    """The text with lone surrogates replaced; they cannot be encoded."""
    return _SURROGATES.sub("\ufffd", text)


def around_code(html: SafeString, before: SafeString, after: SafeString) -> SafeString:
    """HTML of `markdown_html` with `before` and `after` around each code block."""
    return vouched(html.replace(_CODE[0], before + _CODE[0]).replace(_CODE[1], _CODE[1] + after))


def json_html(value: Any) -> SafeString:
    """A JSON value, indented, highlighted and escaped; a string is shown as plain text.

    Output over the limit is cut, with a note below.
    """
    body: str
    if isinstance(value, str):
        body, wrap = escape(value[:JSON_LIMIT]), " data-wrap"
        whole = len(value) <= JSON_LIMIT
    else:
        pieces, whole = _within(_json_pieces(value, 0), JSON_LIMIT)
        body, wrap = "".join(pieces), ""
    body = whole_characters(body)
    note = "" if whole else f'<p class="quiet">Only the first {size_text(JSON_LIMIT)} are shown.</p>'
    return vouched(f'<pre class="json" tabindex="0"{wrap}>{body}</pre>{note}')


def vouched(html: str) -> SafeString:
    """Mark HTML as safe that was already escaped or sanitised."""
    return mark_safe(html)


def json_text(value: Any) -> str:
    """A value as one line of JSON; strings unchanged."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str, separators=(",", ":"))


def json_size(value: Any) -> int:
    """The size of a value as JSON or text, in bytes."""
    return 0 if value is None else len(json_text(value).encode("utf-8", "replace"))


def size_text(size: int) -> str:
    """Bytes for people: `534 B`, `12 kB`, `1.4 MB`."""
    if size < 1_000:
        return f"{size} B"
    for unit in ("kB", "MB"):
        size_in_unit = size / (1_000 if unit == "kB" else 1_000_000)
        if size_in_unit < 999.5:
            return f"{size_in_unit:.1f} {unit}" if size_in_unit < 9.95 else f"{size_in_unit:.0f} {unit}"
    return f"{size / 1_000_000_000:.1f} GB"


def took(milliseconds: int) -> str:
    """A duration for people: `< 1 ms`, `184 ms`, `1.2 s`, `2 min 5 s`."""
    if milliseconds < 1:
        return "< 1 ms"
    if milliseconds < 1_000:
        return f"{milliseconds} ms"
    if milliseconds < 59_950:
        return f"{milliseconds / 1_000:.1f} s"
    minutes, rest = divmod(milliseconds // 1_000, 60)
    return f"{minutes} min {rest} s"


def ago(instant: datetime, now: datetime) -> str:
    """How long ago, in short: `now`, `8 min`, `3 h`, `12 d`, then the date."""
    seconds = (now - instant).total_seconds()
    if seconds < 60:
        return "now"
    if seconds < 3_600:
        return f"{int(seconds // 60)} min"
    if seconds < 86_400:
        return f"{int(seconds // 3_600)} h"
    if seconds < 30 * 86_400:
        return f"{int(seconds // 86_400)} d"
    return f"{instant.day} {instant:%b}" if instant.year == now.year else f"{instant.day} {instant:%b %Y}"


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


def one_line(text: str, limit: int) -> str:
    """The beginning of a text in one line, without control and bidirectional formatting characters."""
    said = flat(text[: limit * 4]).strip()
    return said if len(said) <= limit else said[: limit - 1].rstrip() + "…"


def share(part: float, whole: float) -> str:
    """A share in whole percent; 0 and 100 are used only for exactly none and all."""
    percent = 100 * part / whole if whole else 0
    shown = "< 1" if 0 < percent < 0.5 else "> 99" if 99.5 <= percent < 100 else f"{percent:.0f}"
    return f"{shown}\u202f%"


def flat(text: str) -> str:
    """A text in one line, each run of blanks, control and bidirectional formatting characters as one blank."""
    return re.sub(r"\s+", " ", _UNPRINTABLE.sub(" ", text))


def opening(markdown: str, limit: int) -> str:
    """The beginning of a Markdown text in one line, without its marks."""
    return one_line(unmarked(markdown[: limit * 4]), limit)


def unmarked(markdown: str) -> str:
    """A Markdown text without the marks of headings, lists, tables, emphasis and code."""
    return _MARKS.sub("", markdown)


def is_one_line(text: str) -> bool:
    """Whether a name is one line without control and bidirectional formatting characters."""
    return not _UNPRINTABLE.search(text) and len(text.splitlines()) < 2


def isolated(text: str) -> str:
    """User text for the middle of a sentence, isolated so that its writing direction does not affect the sentence."""
    plain = _DIRECTIONS.sub("", text)
    is_plain = plain == text and not any(unicodedata.bidirectional(each) in ("R", "AL", "AN") for each in text)
    return text if is_plain else f"\u2068{plain}\u2069"


_DIRECTIONS = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_MARKS = re.compile(r"^\s*#{1,6} |^\s*[>*-] |^\s*\|[\s|:-]*$|^\s*\||\|\s*$|\*\*|__|`+", re.MULTILINE)
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


# Markdown

_TAGS = {
    *("p", "br", "hr", "em", "strong", "s", "code", "pre", "blockquote", "ul", "ol", "li", "a"),
    *("h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "span"),
}
_ATTRIBUTES = {
    "a": {"href", "title"},
    "li": {"data-task"},
    "ol": {"start"},
    "pre": {"tabindex"},
    "table": {"tabindex"},
    "th": {"align", "data-long"},
    "td": {"align", "data-long"},
}
_CLASSES = {"span": {"sr"}}
_SCHEMES = {"http", "https", "mailto"}
_CODE = ('<pre tabindex="0"><code>', "</code></pre>")
_PLAIN = re.compile(r"(?![-+=\s]|\d+[.)])[^\\`*_\[\]<>#~|&\n\r\x00]+")
_FENCED = re.compile(r"^(?P<fence>```+|~~~+)[^`~\n]*\n(?P<code>.*?)(?:^(?P=fence)[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_TASK = re.compile(r"\[([ xX])\]\s+")
_ALIGN = re.compile(r"text-align:(left|right|center)")


def _lower_headings(state: StateCore) -> None:
    """Shift headings: h1 and h2 belong to the page, so a text starts at h3."""
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 2, 6)}"


def _plain_attributes(state: StateCore) -> None:
    """Use `align` instead of a style attribute, which the CSP blocks; make tables focusable for scrolling."""
    for token in state.tokens:
        if token.type in ("th_open", "td_open") and (found := _ALIGN.search(str(token.attrs.pop("style", "")))):
            token.attrs["align"] = found[1]
        elif token.type == "table_open":
            token.attrs["tabindex"] = "0"


def _long_cells(state: StateCore) -> None:
    """Mark long table cells, for which the page reserves some width."""
    for cell, words in pairwise(state.tokens):
        if (
            cell.type in ("th_open", "td_open")
            and sum(len(each.content) for each in words.children or ()) > _SHORT_CELL
        ):
            cell.attrs["data-long"] = ""


def _tasks(state: StateCore) -> None:
    """Turn list items that begin with a box into tasks: the page draws the box, screen readers get a word.

    An escaped box stays text.
    """
    for item, _, words in zip(state.tokens, state.tokens[1:], state.tokens[2:], strict=False):
        if item.type != "list_item_open" or words.type != "inline" or not words.children:
            continue
        first = words.children[0]
        if first.type == "text" and _TASK.match(words.content) and (box := _TASK.match(first.content)):
            first.content = first.content[box.end() :]
            is_done = box[1] != " "
            item.attrs["data-task"] = "done" if is_done else "open"
            told = Token("text", "", 0, content="Done: " if is_done else "To do: ")
            mark = Token("span_open", "span", 1, attrs={"class": "sr"})
            words.children[:0] = [mark, told, Token("span_close", "span", -1)]


def _image_as_link(self: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    """Render an image as a link: loading it would send a request to any host the text names."""
    token = tokens[index]
    words = self.renderInlineAsText(token.children, options, env) or "image"
    return f'<a href="{escape(str(token.attrs.get("src", "")))}">{escape(words)}</a>'


def _code(self: RendererHTML, tokens: list[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    return escape(tokens[index].content).join(_CODE) + "\n"


class _TooManyCells(Exception):
    """The tables of a text would be far larger than the text itself."""


def _bounded_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """The library's table rule with a limit: it pads every row to the length of the first; raises `_TooManyCells`."""
    if not silent and table(state, start, end, True):
        delimiters = state.src[state.bMarks[start + 1] + state.tShift[start + 1] : state.eMarks[start + 1]]
        columns = delimiters.strip("| \t").count("|") + 1
        rows = next((line for line in range(start + 2, end) if _ends_table(state, line, end)), end) - start
        state.env["cells"] = state.env.get("cells", 0) + columns * rows
        if state.env["cells"] > _CELLS:
            raise _TooManyCells
    return table(state, start, end, silent)


def _ends_table(state: StateBlock, line: int, end: int) -> bool:
    """Whether a table ends before this line: the line is empty or begins another block."""
    others = state.md.block.ruler.getRules("blockquote")
    return state.isEmpty(line) or any(rule(state, line, end, True) for rule in others)


def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False, "maxNesting": _NESTING}).enable(["table", "strikethrough"])
    reader.block.ruler.at("table", _bounded_table, {"alt": ["paragraph", "reference"]})
    reader.core.ruler.push("lower_headings", _lower_headings)
    reader.core.ruler.push("plain_attributes", _plain_attributes)
    reader.core.ruler.push("long_cells", _long_cells)
    reader.core.ruler.push("tasks", _tasks)
    reader.add_render_rule("image", _image_as_link)
    reader.add_render_rule("fence", _code)
    reader.add_render_rule("code_block", _code)
    return reader


_READER = _reader()


@lru_cache(maxsize=1_024)
def _cached_markdown(text: str) -> SafeString:
    return _markdown(text)


def _markdown(text: str) -> SafeString:
    if _PLAIN.fullmatch(text):
        return vouched(f"<p>{escape(text.rstrip())}</p>\n")
    try:
        tokens = [] if text.count("[") > _BRACKETS else _READER.parse(text)
    except _TooManyCells:
        tokens = []
    # The parser drops text nested deeper than its limit and takes seconds for very many brackets or cells. Such texts
    # are shown as plain text instead.
    if not tokens or any(token.level >= _NESTING - 2 for token in tokens):
        return _plain(text)
    clean = nh3.clean(
        _READER.renderer.render(tokens, _READER.options, {}),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        allowed_classes=_CLASSES,
        url_schemes=_SCHEMES,
        link_rel="noopener nofollow",
    )
    return vouched(clean)


def _plain(text: str) -> SafeString:
    return vouched(f'<pre class="plain" tabindex="0">{escape(text)}</pre>' if text.strip() else "")


def _written(text: str) -> str:
    text = text.strip("\n")
    return f'<p class="written">{escape(text)}</p>' if text.strip() else ""


def _cut(text: str, limit: int) -> tuple[str, str]:
    """The beginning of a text within a limit, up to the end of a line if there is one, and the rest."""
    if len(text) <= limit:
        return text, ""
    cut = text.rfind("\n", limit // 2, limit)
    return (text[:limit], text[limit:]) if cut < 0 else (text[:cut], text[cut:])


def _remainder(rest: str) -> str:
    if not rest.strip():
        return ""
    shown = rest[:PLAIN_LIMIT]
    size = size_text(len(rest.encode("utf-8", "replace")))
    lost = len(rest) - len(shown)
    note = f'<p class="quiet">{lost} more characters are not shown.</p>' if lost else ""
    return f'<details class="more"><summary>{size} more, as plain text</summary>{_plain(shown)}{note}</details>'


# JSON


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
