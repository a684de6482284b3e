"""The desk's address as links: to its panes, its pages and its views."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode


@dataclass(frozen=True, slots=True)
class Choice:
    """A link to a view or pane. `count` is None if unknown; with `is_aside` it is only in the menu."""

    word: str
    href: str
    is_current: bool = False
    count: int | None = None
    is_shared: bool = False
    is_aside: bool = False
    is_rare: bool = False
    view_id: str = ""
    name: str = ""
    letter: str = ""
    """Its key in the open menu, if it has no number."""


@dataclass(frozen=True, slots=True)
class PageBeside:
    """The next or previous page; `on` is its address with the nearest report open."""

    href: str
    on: str = ""


_PANES = {"list": "List", "talk": "Conversation", "report": "Report"}


def pane_of(query: Mapping[str, str]) -> str:
    """The pane that a phone shows: the requested one, else the conversation of an open report, else the list."""
    asked = query.get("pane", "")
    return asked if asked in _PANES else "talk" if query.get("item") else "list"


def panes(query: Mapping[str, str]) -> tuple[Choice, ...]:
    """Links to the panes that keep all other keys of the address."""
    current = pane_of(query)
    return tuple(
        Choice(word, href({**query, "pane": name}), name == current, name=name) for name, word in _PANES.items()
    )


def href(query: Mapping[str, str]) -> str:
    """A query string for a link; empty values are left out except `q`, where empty means all reports."""
    return "?" + urlencode({key: value for key, value in query.items() if value or key == "q"})
