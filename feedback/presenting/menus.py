"""What menus of the desk offer, and the key of each item."""

from collections.abc import Iterable

from core import fulltext
from feedback.taxonomy import Outcome


def outcomes() -> list[tuple[str, str, bool, str]]:
    """The outcomes to choose from: name, label, whether it is the default, and its letter in a menu. Duplicates have
    their own form.
    """
    offered = [each for each in Outcome if each != Outcome.DUPLICATE]
    by_use = sorted(offered, key=Outcome.NOTED.__ne__)
    lettered = dict(zip(by_use, letters(each.label for each in by_use), strict=True))
    return [(each.value, each.label, each == Outcome.NOTED, lettered[each]) for each in offered]


def letters(words: Iterable[str], *, taken: str = "") -> list[str]:
    """For each item of a menu the key that chooses it: the first letter or digit of its words that none before it has;
    empty if there is none.
    """
    used, found = set(taken), []
    for each in words:
        free = (
            letter for letter in fulltext.plain(each) if letter.isascii() and letter.isalnum() and letter not in used
        )
        found.append(next(free, ""))
        used.add(found[-1])
    return found
