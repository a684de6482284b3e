"""The neighbourhood of one message, the rest folded to lines."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from threads.presenting.articles import Article
from threads.presenting.words import counted


@dataclass(frozen=True, slots=True)
class Fold:
    """Articles left out: what they hold, and where they begin."""

    index: int
    words: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """One article of an excerpt, or a fold; `is_subject` is the article that the excerpt is about."""

    turn: Article | None = None
    fold: Fold | None = None
    is_subject: bool = False


def around(articles: Sequence[Article], index: int, *, before: int = 2, after: int = 1) -> list[Stretch]:
    """The article that shows message `index` with its neighbours; what is further away is folded to a line."""
    at = next((place for place, article in enumerate(articles) if index in article.covers), None)
    if at is None:
        return [Stretch(fold=_fold(articles))] if articles else []
    start, end = max(0, at - before), at + 1 + after
    first = replace(articles[start], opens_day=articles[start].opens_day or not articles[start].is_today)
    shown = [
        Stretch(turn=first if place == start else articles[place], is_subject=place == at)
        for place in range(start, min(end, len(articles)))
    ]
    head = [Stretch(fold=_fold(articles[:start]))] if start else []
    tail = [Stretch(fold=_fold(articles[end:]))] if articles[end:] else []
    return [*head, *shown, *tail]


def _fold(articles: Sequence[Article]) -> Fold:
    messages, calls = sum(len(article.covers) for article in articles), sum(len(article.calls) for article in articles)
    faults = sum(article.faults for article in articles)
    words = counted(messages, "message")
    words += f" and {counted(calls, 'tool use')} folded" if calls else " folded"
    return Fold(articles[0].index, words + (f", {counted(faults, 'error')}" if faults else ""))
