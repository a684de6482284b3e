"""Templates in readable lines: a line break at a tag is nothing, one between words is a space.

To HTML, every line break between inline elements is a space that shows, so markup that must not have one would have to
stand on a single long line.
"""

import re
from typing import Final

from django.template import Origin
from django.template.loaders import filesystem

_CODE: Final = r"\{\{[^\n]*?\}\}|\{%[^\n]*?%\}|\{#[^\n]*?#\}"
_LONE: Final = r"\{(?![{%#])"
_QUOTED: Final = rf""""(?:{_CODE}|{_LONE}|[^"{{])*"|'(?:{_CODE}|{_LONE}|[^'{{])*'"""
_ATTRIBUTES: Final = rf"""(?:{_CODE}|{_LONE}|{_QUOTED}|[^>"'{{])*"""
_PIECE = re.compile(
    rf"(?P<token>{_CODE})"
    rf"|<(?P<verbatim>pre|textarea|script|style)\b{_ATTRIBUTES}>"
    rf"|(?P<tag></?[a-zA-Z]{_ATTRIBUTES}>)"
    r"|(?P<gap>[ \t]*\n\s*)"
)
_GAP, _END = re.compile(r"[ \t]*\n\s*"), re.compile(r"[ \t]*\n\s*>$")


class Loader(filesystem.Loader):
    """Loads templates from the project's folder, with their lines joined."""

    def get_contents(self, origin: Origin) -> str:
        return joined(super().get_contents(origin))


def joined(source: str) -> str:
    """A template's text with its lines joined. A break inside a tag is a space; in `pre` and `textarea` it stays."""
    parts: list[str] = []
    at = 0
    while piece := _PIECE.search(source, at):
        parts.append(source[at : piece.start()])
        at, text = piece.end(), piece.group()
        if piece["gap"]:
            text = _joint(source, piece.start(), at)
        elif not piece["token"]:
            text = _GAP.sub(" ", _END.sub(">", text))
        parts.append(text)
        if name := piece["verbatim"]:
            rest, _, _ = source[at:].partition(f"</{name}>")
            parts.append(rest)
            at += len(rest)
    return "".join([*parts, source[at:]])


def _joint(source: str, start: int, end: int) -> str:
    """What a line break between two pieces is. The values of `{{ }}` are words."""
    before, after = source[max(0, start - 2) : start], source[end : end + 2]
    is_at_tag = before.endswith((">", "%}", "#}")) or after.startswith(("<", "{%", "{#"))
    return "" if is_at_tag or not before or not after else " "
