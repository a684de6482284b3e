"""What the command palette finds of accounts: the settings."""

from collections.abc import Iterator, Sequence

from core.destinations import Destination, Page, pages

_PAGES = (
    Page(
        "Settings",
        "accounts:settings",
        "person",
        "you profile password theme dark light keys shortcuts voice api tokens",
    ),
    Page("Members", "accounts:members", "person", "settings people roles invite org policies"),
)


def destinations(words: Sequence[str]) -> Iterator[Destination]:
    """The pages that fit the words; no words fit all."""
    return pages(words, _PAGES)
