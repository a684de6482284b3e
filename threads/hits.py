"""Where in a thread the text is that a search found it by, or else the first thing that a term of it asks for."""

import re
from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import islice
from operator import or_
from time import thread_time

from django.db.models import Min, Q
from django.db.models.functions import Left

from core import fulltext
from core.markdown import unmarked
from core.wording import flat
from threads import places, searching
from threads.finding import Sought
from threads.lists import written
from threads.models import Block, Thread
from threads.presenting.listing import Hit

_BEFORE, _AFTER = 40, 160
"""Characters shown around the text; the page cuts the rest of the line."""
_READ = 200_000
"""Characters of a message in which the text is looked for."""
_PHRASES = 5
"""Phrases of a search whose places are looked for: each place of a text is tried with all of them."""
_SECONDS = 0.5
"""Processor time for looking. Messages for which none is left are shown from their beginning."""
_WORD_BEGUN, _WORD_ENDED = re.compile(r"\w*\Z"), re.compile(r"\w*")


def of(threads: Sequence[Thread], sought: Sought) -> dict[int, Hit]:
    """The first hit in each thread, by row id: of its phrases, else of the texts that the index may not find, else the
    first place that it asks for.

    No text in those whose title has all of the texts. At most seven queries, and one for each phrase.
    """
    searched = {thread.pk for thread in threads}
    if sought.words:
        asked = [each.casefold() for each in sought.words]
        searched -= {each.pk for each in threads if all(word in (each.title or "").casefold() for word in asked)}
    found = _said_in(searched, sought.phrases)
    found |= _written(searched - found.keys(), sought.words)
    return _placed({each.pk for each in threads} - found.keys(), sought) | found


def following(thread: Thread, index: int, sought: Sought) -> Hit | None:
    """The first hit of a thread behind a message, of whatever kind and whatever its title has."""
    only = {thread.pk}
    found = (
        _said_in(only, sought.phrases, index),
        _written(only, sought.words, index),
        _placed(only, sought, index),
    )
    return min((hit for each in found for hit in each.values()), key=lambda hit: hit.index, default=None)


def calls(thread: Thread, index: int, sought: Sought) -> set[tuple[str, str | None]]:
    """The tool uses and results of a message that a thread may be found by: kind and tool use id. At most two
    queries.
    """
    return _calls_saying(thread, index, sought) | places.calls(thread, index, sought.terms)


def in_titles(threads: Sequence[Thread], words: Sequence[str]) -> dict[int, Hit]:
    """The first of the texts in each title that has one, by row id of the thread."""
    said = _any_of(map(re.escape, words))
    places = [(each.pk, each.title or "", said.search(each.title or "")) for each in threads] if words else ()
    return {pk: Hit(0, title[: at.start()], at[0], title[at.end() :]) for pk, title, at in places if at}


def _said_in(threads: set[int], phrases: Sequence[tuple[str, ...]], after: int = -1) -> dict[int, Hit]:
    said, found, began = _any_phrase(phrase for phrase, *_ in phrases), {}, thread_time()
    for pk, idx, text, calls in searching.first_messages(sorted(threads), phrases, after):
        parts = (text, calls) if thread_time() - began < _SECONDS else ()
        hits = (_hit(idx, part[:_READ], said) for part in parts)
        found[pk] = next(filter(None, hits), None) or Hit(idx, flat((text or calls)[:_AFTER]), "", "")
    return found


def _placed(threads: set[int], sought: Sought, after: int = -1) -> dict[int, Hit]:
    return {pk: Hit(idx, line, "", "") for pk, (idx, line) in places.first(threads, sought.terms, after).items()}


def _calls_saying(thread: Thread, index: int, sought: Sought) -> set[tuple[str, str | None]]:
    phrases = [phrase for phrase, *columns in sought.phrases if not columns or "call" in columns]
    if not phrases:
        return set()
    said = _any_phrase(phrases)
    rows = Block.objects.filter(thread=thread, idx=index, kind__in=("tool_use", "tool_result"))
    found = rows.values_list("kind", "tool_use_id", "data")
    return {(kind, use_id) for kind, use_id, data in found if said.search(searching.called(kind, data)[:_READ])}


def _any_phrase(phrases: Iterable[str]) -> re.Pattern[str]:
    patterns = (fulltext.pattern_in_written(phrase).pattern for phrase in phrases)
    return re.compile("|".join(islice(patterns, _PHRASES)))


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


def _written(searched: set[int], words: Sequence[str], after: int = -1) -> dict[int, Hit]:
    """Hits of texts without a word in what people wrote, which is read through."""
    words = [each for each in words if not fulltext.has_word(each)]
    if not searched or not words:
        return {}
    said = reduce(or_, (Q(text__icontains=each) for each in words))
    blocks = Block.objects.filter(written(), said, thread__in=searched, idx__gt=after)
    first = list(blocks.values_list("thread").annotate(first=Min("id")).values_list("first", flat=True))
    rows = Block.objects.filter(pk__in=first).values_list("thread", "idx", Left("text", _READ))
    pattern = _any_of(re.escape(each) for each in words)
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
    after = text[found.end() : found.end() + _AFTER]
    return Hit(index, flat(unmarked(before)), flat(found[0]), flat(unmarked(after)), _marked(before, found[0], after))


def _marked(before: str, text: str, after: str) -> tuple[str, str, str]:
    """A hit and what is beside it in its line, as browsers look for it: they find whole words only."""
    before, after = before.removeprefix("…").rpartition("\n")[2], after.partition("\n")[0]
    begun, ended = _WORD_BEGUN.search(before), _WORD_ENDED.search(after)
    assert begun and ended  # they also match nothing
    parts = unmarked(before[: begun.start()]), begun[0] + text + ended[0], unmarked(after[ended.end() :])
    return flat(parts[0]), flat(parts[1]), flat(parts[2])
