"""Where in a thread the text is that a search found it by."""

import re
from collections.abc import Sequence
from functools import reduce
from operator import or_

from django.db.models import Min, Q
from django.db.models.functions import Left

from core.rendering import flat
from threads.lists import written
from threads.models import Block, Thread
from threads.presenting.listing import Hit

_BEFORE, _AFTER = 40, 160
"""Characters shown around the text; the page cuts the rest of the line."""
_READ = 50_000
"""Characters of a message in which the text is looked for."""


def of(threads: Sequence[Thread], words: Sequence[str]) -> dict[int, Hit]:
    """The first hit in each thread, by row id, but not in those whose title has one of the texts. Two queries."""
    if not words:
        return {}
    pattern = re.compile("|".join(re.escape(each) for each in words), re.IGNORECASE)
    searched = [thread.pk for thread in threads if not pattern.search(thread.title or "")]
    if not searched:
        return {}
    said = reduce(or_, (Q(text__icontains=each) for each in words))
    blocks = Block.objects.filter(written(), said, thread__in=searched)
    first = list(blocks.values_list("thread").annotate(first=Min("id")).values_list("first", flat=True))
    rows = Block.objects.filter(pk__in=first).values_list("thread", "idx", Left("text", _READ))
    return {pk: hit for pk, idx, text in rows if (hit := _hit(idx, text, pattern))}


def _hit(index: int, text: str, pattern: re.Pattern[str]) -> Hit | None:
    """None if the database took a letter for the same that is not the same here."""
    found = pattern.search(text)
    if found is None:
        return None
    begins = max(0, found.start() - _BEFORE)
    before = ("…" if begins else "") + flat(text[begins : found.start()])
    return Hit(index, before, flat(found[0]), flat(text[found.end() : found.end() + _AFTER]))
