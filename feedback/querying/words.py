"""Conditions that search the full-text index for words."""

from collections.abc import Sequence

from django.db.models import Q

from core.fulltext import pattern_in_written, plain
from feedback.indexing import INDEX


def place(words: Sequence[str], notes: str | None, admin_note: str | None, comments: str = "") -> str:
    """Where a report that was found by words has one of them; empty without words."""
    if not words:
        return ""
    texts = {"notes": notes, "admin note": admin_note, "comments": comments}
    said = [name for name, text in texts.items() if any(pattern_in_written(each).search(text or "") for each in words)]
    return f"in the {' and '.join(said) or 'answer'}"


def says(value: str, *columns: str) -> Q:
    """Reports with these words next to each other in one of these columns of the index, by default in any."""
    return INDEX.hits(plain(value), *columns).condition
