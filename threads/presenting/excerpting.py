"""Excerpts of a transcript: one message with its neighbours and its request, the rest folded."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from threads.presenting.articles import Article
from threads.presenting.words import counted


@dataclass(frozen=True, slots=True)
class Fold:
    """Articles left out: a summary, and the index where they begin."""

    index: int
    words: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """One article of an excerpt, or a fold; `is_subject` is the article that the excerpt is about."""

    turn: Article | None = None
    fold: Fold | None = None
    is_subject: bool = False


def around(articles: Sequence[Article], index: int, *, before: int = 2, after: int = 1) -> list[Stretch]:
    """The article that shows message `index`, with its neighbours and its request (whose article shows the goals);
    every other run of articles is folded into one line.
    """
    at = next((place for place, article in enumerate(articles) if index in article.covers), None)
    if at is None:
        return _folded(articles)
    end = min(len(articles), at + 1 + after)
    found: list[Stretch] = []
    last = -1  # the place of the article that was shown before
    for place in sorted({_request_of(articles, at), *range(max(0, at - before), end)}):
        article = articles[place]
        is_other_day = article.day != articles[last].day if found else not article.is_today
        found += _folded(articles[last + 1 : place])
        shown = replace(article, opens_day=article.opens_day or is_other_day)
        found.append(Stretch(turn=shown, is_subject=place == at))
        last = place
    return [*found, *_folded(articles[end:])]


def _request_of(articles: Sequence[Article], at: int) -> int:
    """The position of the request that the article at `at` answers; `at` itself if there is none."""
    return next((place for place in range(at, -1, -1) if articles[place].voice == "person"), at)


def _folded(articles: Sequence[Article]) -> list[Stretch]:
    return [Stretch(fold=_fold(articles))] if articles else []


def _fold(articles: Sequence[Article]) -> Fold:
    messages, calls = sum(len(article.covers) for article in articles), sum(len(article.calls) for article in articles)
    faults = sum(article.faults for article in articles)
    words = counted(messages, "message")
    words += f" and {counted(calls, 'tool use')} folded" if calls else " folded"
    return Fold(articles[0].index, words + (f", {counted(faults, 'error')}" if faults else ""))
