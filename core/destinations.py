"""Places that the command palette leads to. Each app finds its own, and `config.palette` lists them together.

Pages are found by the beginnings of words, whatever has a name by any part of it: two letters are in the middle of
nearly every title.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import Q
from django.urls import reverse

from core import ids

AT_MOST = 6
"""Objects of one kind in the list."""
FEWEST = 2
"""Characters from which on names of objects are searched: a single letter is in all of them."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A place: what it is (`Page`, `Tool`), its name and address, and a few words about it."""

    kind: str
    title: str
    url: str
    icon: str
    detail: str = ""
    keys: str = ""
    """The shortcut that leads there, as in `data-key`."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of an app. `also` are further words by which it is found."""

    title: str
    name: str
    """The name of its URL."""
    icon: str
    also: str = ""
    keys: str = ""


def fits(words: Sequence[str], *texts: str) -> bool:
    """Whether each word is the beginning of one in the texts, ignoring case."""
    known = " ".join(texts).casefold().split()
    return all(any(each.startswith(word.casefold()) for each in known) for word in words)


def contains(words: Sequence[str], name: str) -> bool:
    """Whether each word is in the name, ignoring case."""
    folded = name.casefold()
    return all(word.casefold() in folded for word in words)


def column_contains(words: Sequence[str], column: str) -> Q:
    """As `contains`, as a condition for a column."""
    return Q(*(Q(**{f"{column}__icontains": word}) for word in words))


def pasted(words: Sequence[str], *prefixes: str) -> str | None:
    """The key of the public id that was pasted, alone or in an address of Heddle; None if there is none."""
    is_alone = len(words) == 1 and len(words[0].split()) == 1
    parts = re.split(r"[^0-9A-Za-z_]+", words[0]) if is_alone else ()
    return next((ids.key_of(part, *prefixes) for part in parts if ids.is_id(part, *prefixes)), None)


def pages(words: Sequence[str], known: Iterable[Page]) -> Iterator[Destination]:
    """The pages with these words in their titles or further words."""
    for page in known:
        if fits(words, page.title, page.also):
            yield Destination("Page", page.title, reverse(page.name), page.icon, keys=page.keys)


def are_long_enough(words: Sequence[str]) -> bool:
    """Whether objects are searched by name for these words."""
    return max(map(len, words), default=0) >= FEWEST


def list_search(title: str, name: str, words: Sequence[str]) -> Destination:
    """The list with that URL name, searched for the words: it searches more than names."""
    line = " ".join(words)
    return Destination("Search", f"{title} “{line}”", f"{reverse(name)}?{urlencode({'q': line})}", "search")
