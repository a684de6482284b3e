"""The text in which the wire stores a report's labels, separated by commas.

Case, whitespace, control characters, characters that are not seen, and two ways to write an accent tell no two labels
apart. The wire's own update (H8) accepts any text, so a
label in it may be longer than the desk's verb allows.
"""

import unicodedata
from collections.abc import Iterable

from core.grammar import spaced
from core.visible import is_visible
from core.wording import composed

LABEL_LENGTH = 60
LABELS_LENGTH = 200


_JOINERS = "\u200c\u200d"
"""Not seen either, but they make other letters and emoji."""


def plain(name: str) -> str:
    """A name as a query can spell it: with one blank for any whitespace and control characters, without characters
    that are not seen, such as marks of direction; empty if nothing else is left.
    """
    seen = "".join(each for each in name if unicodedata.category(each) != "Cf" or each in _JOINERS)
    words = " ".join(spaced(composed(seen)).split())
    return words if is_visible(words) else ""


def written_labels(admin_label: str | None) -> list[str]:
    """The labels in order and as written, without duplicates."""
    return _each_once(map(plain, (admin_label or "").split(",")))


def labels_of(admin_label: str | None) -> list[str]:
    """The labels by the names under which they are found and counted, cut to the maximum length."""
    return _each_once(map(_short, written_labels(admin_label)))


def beyond(admin_label: str | None, other: str | None) -> list[str]:
    """The labels of one text that another one does not have."""
    held = {name.casefold() for name in labels_of(other)}
    return [name for name in labels_of(admin_label) if name.casefold() not in held]


def is_too_long(admin_label: str) -> bool:
    """Whether a text is longer than the labels of a report together may be."""
    return len(admin_label) > LABELS_LENGTH


def changed(admin_label: str | None, *, add: Iterable[str], remove: Iterable[str]) -> str:
    """The text with some labels added and others removed; existing labels keep their spelling."""
    gone = {plain(name).casefold() for name in remove}
    kept = [name for name in written_labels(admin_label) if not gone & {name.casefold(), _short(name).casefold()}]
    return ", ".join(_each_once([*kept, *map(plain, add)]))


def renamed(admin_label: str | None, label: str, to: str) -> str:
    """The text with a label renamed and everything else unchanged; if it has both names, only the first stays."""
    old, new = label.casefold(), to.casefold()
    kept, is_there = [], False
    for part in (admin_label or "").split(","):
        folded = _short(plain(part)).casefold()
        if folded not in (old, new):
            kept.append(part)
        elif not is_there:
            is_there = True
            blank = part[: len(part) - len(part.lstrip())]
            kept.append(blank + to if folded == old else part)
    return ",".join(kept)


def _each_once(names: Iterable[str]) -> list[str]:
    found: dict[str, str] = {}
    for name in filter(None, names):
        found.setdefault(name.casefold(), name)
    return list(found.values())


def _short(name: str) -> str:
    return name[:LABEL_LENGTH].strip()
