"""Markdown, and what people wrote, as safe HTML. All input is hostile."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from core.wording import TURNS, one_line, size_text, straight, whole_characters

MARKDOWN_LIMIT = 20_000
"""Characters rendered as Markdown; the rest is shown as folded plain text."""
MARKS_OF_PAGE = 100_000
"""Lines and marks of all texts of a page that are read as Markdown: five times those of the longest text. Each takes up
to 0.03 ms."""
WRITTEN_LIMIT, WRITTEN_LINES = 3_000, 40
"""Characters and lines shown of what a person wrote; the rest is folded. Longer texts are mostly pasted."""
PLAIN_LIMIT = 400_000
"""Characters shown of that plain rest, to keep the page small."""
_COSTLY = "\r\n*_`~[]|<&\\!#:"
_NESTING = 20
_BRACKETS = 1_000
_CELLS = 4_000
_CACHED_TEXT = 4_000
_SHORT_CELL = 24
_TURNS_SHOWN = 1_000


@dataclass(slots=True)
class Work:
    """What is left of the lines and marks that are read as Markdown, shared by all texts of a page."""

    left: int = MARKS_OF_PAGE


def markdown_html(text: str, work: Work | None = None) -> SafeString:
    """Markdown as sanitised HTML: no raw HTML, images or scripts; other hosts only as links.

    A text over the limit is rendered up to it; the rest is folded, with its size, as plain text. So is a text for which
    there is no `work` left on its page.
    """
    text = whole_characters(text)
    beginning, rest = _cut(text, MARKDOWN_LIMIT)
    if work is not None and not _is_afforded(beginning, work):
        return turns_shown(_plain(beginning) + _remainder(rest))
    if len(text) <= _CACHED_TEXT:
        return _cached_markdown(text)
    return turns_shown(_markdown(beginning) + _remainder(rest))


def _is_afforded(text: str, work: Work) -> bool:
    needed = sum(map(text.count, _COSTLY))
    if needed > work.left:
        return False
    work.left -= needed
    return True


def written_html(text: str) -> SafeString:
    """What a person wrote, as safe HTML that shows it as it was written; only code between fences is set off.

    People paste logs and type `2*3*4`: read as Markdown, their lines run together and their marks vanish. A long text
    is folded after its beginning.
    """
    text = whole_characters(text).replace("\r\n", "\n").strip("\n")
    beginning, rest = _cut(text, _shown_of(text))
    said, at = [], 0
    for found in _FENCED.finditer(beginning):
        said += [_written(beginning[at : found.start()]), escape(found["code"]).join(_CODE)]
        at = found.end()
    return turns_shown("".join([*said, _written(beginning[at:]), _remainder(rest)]))


def is_shown_whole(text: str) -> bool:
    """Whether `written_html` shows a text in one piece and letter by letter: it has no code between fences, is not
    folded, and turns no direction.
    """
    return len(text) <= _shown_of(text) and not _FENCED.search(text) and not TURNS.search(text)


def turns_shown(html: str, code: str = "U+{:04X}") -> SafeString:
    """Escaped or sanitised HTML with each character that turns the direction of a text as its code: a command may do
    something else than it seems to say. In attributes they are left out, and so are those beyond a thousand.
    """
    if not TURNS.search(html):
        return vouched(html)
    left = iter(range(_TURNS_SHOWN))

    def shown(found: re.Match[str]) -> str:
        if found[0].startswith("<"):
            return straight(found[0])
        return "" if next(left, None) is None else _TURN.format(code.format(ord(found[0])))

    return vouched(_TAG_OR_TURN.sub(shown, html))


def around_code(html: SafeString, before: SafeString, after: SafeString) -> SafeString:
    """HTML of `markdown_html` with `before` and `after` around each code block."""
    return vouched(html.replace(_CODE[0], before + _CODE[0]).replace(_CODE[1], _CODE[1] + after))


def vouched(html: str) -> SafeString:
    """Mark HTML as safe that was already escaped or sanitised."""
    return mark_safe(html)


def opening(markdown: str, limit: int) -> str:
    """The beginning of a Markdown text in one line, without its marks."""
    return one_line(unmarked(markdown[: limit * 4]), limit)


def unmarked(markdown: str) -> str:
    """A Markdown text without the marks of headings, lists, tables, emphasis and code."""
    return _MARKS.sub("", markdown)


# Blanks, not any white space: of a run of empty lines, each would be tried as the beginning of all that follow.
_MARKS = re.compile(r"^[ \t]*(?:#{1,6} |[>*-] |\|[ \t|:-]*$|\|)|\|[ \t]*$|\*\*|__|`+", re.MULTILINE)
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
_CLASSES = {"span": {"sr", "unbroken"}}
_SCHEMES = {"http", "https", "mailto"}
_CODE = ('<pre tabindex="0"><code>', "</code></pre>")
_PLAIN = re.compile(r"(?![-+=\s]|\d+[.)])[^\\`*_\[\]<>#~|&\n\r\x00]+")
_FENCED = re.compile(r"^(?P<fence>```+|~~~+)[^`~\n]*\n(?P<code>.*?)(?:^(?P=fence)[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_TAG_OR_TURN = re.compile(rf'<(?:"[^"]*"|[^">])*>|{TURNS.pattern}')
_TURN = '<span class="turn" title="Turns the direction of the text behind it">{}</span>'
_UNBROKEN = re.compile(r"((?<!\S)\S{1000,})")
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


def _unbroken_words(state: StateCore) -> None:
    """Mark words that are as long as a page: browsers need seconds to break one whose letters are kerned."""
    for token in state.tokens:
        if token.children and _UNBROKEN.search(token.content):
            token.children = [part for child in token.children for part in _with_unbroken_marked(child)]


def _with_unbroken_marked(token: Token) -> Iterator[Token]:
    if token.type != "text":
        yield token
        return
    for place, text in enumerate(_UNBROKEN.split(token.content)):
        words = Token("text", "", 0, content=text)
        if place % 2:
            yield from (
                Token("span_open", "span", 1, attrs={"class": "unbroken"}),
                words,
                Token("span_close", "span", -1),
            )
        else:
            yield words


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
    reader.core.ruler.push("unbroken_words", _unbroken_words)
    reader.add_render_rule("image", _image_as_link)
    reader.add_render_rule("fence", _code)
    reader.add_render_rule("code_block", _code)
    return reader


_READER = _reader()


@lru_cache(maxsize=1_024)
def _cached_markdown(text: str) -> SafeString:
    return turns_shown(_markdown(text))


def _markdown(text: str) -> SafeString:
    if _PLAIN.fullmatch(text) and not _UNBROKEN.search(text):
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


def _shown_of(text: str) -> int:
    """The number of characters to show of what a person wrote."""
    lines = text[:WRITTEN_LIMIT].split("\n")
    return WRITTEN_LIMIT if len(lines) <= WRITTEN_LINES else len("\n".join(lines[:WRITTEN_LINES])) + 1


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
