"""Where in a thread the text is that a search found it by."""

import re
from collections.abc import Sequence
from functools import reduce
from operator import or_

from django.db.models import Min, Q
from django.db.models.functions import Left

from core import fulltext
from core.rendering import flat, unmarked
from threads import searching
from threads.lists import written
from threads.models import Block, Thread
from threads.presenting.listing import Hit

_BEFORE, _AFTER = 40, 160
"""Characters shown around the text; the page cuts the rest of the line."""
_READ = 50_000
"""Characters of a message in which the text is looked for."""


def of(threads: Sequence[Thread], words: Sequence[str], phrases: Sequence[str]) -> dict[int, Hit]:
    """The first hit in each thread, by row id: of these texts in what people wrote, else of these phrases in an answer.

    None in those whose title has one of the texts. At most four queries, and one for each phrase.
    """
    found: dict[int, Hit] = {}
    searched = {thread.pk for thread in threads}
    if words:
        pattern = re.compile("|".join(re.escape(each) for each in words), re.IGNORECASE)
        searched -= {thread.pk for thread in threads if pattern.search(thread.title or "")}
        found = _written(searched, words, pattern)
    if phrases:
        said = re.compile("|".join(fulltext.pattern(each).pattern for each in phrases), re.IGNORECASE)
        for pk, idx, text in searching.first_answers(sorted(searched - found.keys()), phrases):
            if hit := _hit(idx, text[:_READ], said):
                found[pk] = hit
    return found


def _written(searched: set[int], words: Sequence[str], pattern: re.Pattern[str]) -> dict[int, Hit]:
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
    before = text[begins : found.start()]
    if begins:
        cut, space, rest = before.partition(" ")
        before = f"…{rest if space else cut}"
    return Hit(index, flat(unmarked(before)), flat(found[0]), flat(unmarked(text[found.end() : found.end() + _AFTER])))
