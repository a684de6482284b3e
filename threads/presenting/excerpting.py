"""Excerpts of a transcript: one message with its neighbours and its request, the rest folded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from threads.presenting.articles import Article, Call, Gap, Piece
from threads.presenting.calls import CallIo
from threads.presenting.words import counted


@dataclass(frozen=True, slots=True)
class Fold:
    """Articles left out: a summary, and the messages where they begin and end."""

    index: int
    last: int
    words: str
    first_fault: int | None = None
    """The message with the first error; known only of messages that were not read."""
    first_rating: int | None = None
    has_calls: bool = False


@dataclass(frozen=True, slots=True)
class Stretch:
    """One article of an excerpt, or a fold; `is_subject` is the article that the excerpt is about."""

    turn: Article | None = None
    fold: Fold | None = None
    is_subject: bool = False


def whole(articles: Sequence[Piece]) -> list[Stretch]:
    """All articles; only what was not read is folded."""
    return [Stretch(fold=_fold([each])) if isinstance(each, Gap) else Stretch(turn=each) for each in articles]


def unfolded(stretches: Sequence[Stretch], ios: Mapping[str, CallIo]) -> list[Stretch]:
    """The same with input and output of some calls, by their anchors."""
    return [replace(each, turn=each.turn and _unfolded(each.turn, ios)) for each in stretches]


def _unfolded(article: Article, ios: Mapping[str, CallIo]) -> Article:
    if not any(call.anchor in ios for call in article.calls):
        return article
    parts = (replace(part, io=ios.get(part.anchor)) if isinstance(part, Call) else part for part in article.parts)
    return replace(article, parts=tuple(parts))


def around(articles: Sequence[Piece], index: int, *, before: int = 2, after: int = 1) -> list[Stretch]:
    """The article that shows message `index`, with its neighbours and its request (whose article shows the goals);
    every other run of articles is folded into one line.
    """
    at = next((place for place, article in enumerate(articles) if index in article.covers), None)
    if at is None:
        return _folded(articles)
    end = min(len(articles), at + 1 + after)
    found: list[Stretch] = []
    last, day = -1, None  # the place of the article that was shown before, and its day
    for place in sorted({_request_of(articles, at), *range(max(0, at - before), end)}):
        article = articles[place]
        if isinstance(article, Gap):
            continue
        is_other_day = not article.is_today if day is None else article.day != day
        found += _folded(articles[last + 1 : place])
        shown = replace(article, opens_day=article.opens_day or is_other_day)
        found.append(Stretch(turn=shown, is_subject=place == at))
        last, day = place, article.day
    return [*found, *_folded(articles[last + 1 :])]


def _request_of(articles: Sequence[Piece], at: int) -> int:
    """The position of the request that the article at `at` answers; `at` itself if there is none."""
    return next((place for place in range(at, -1, -1) if articles[place].voice == "person"), at)


def _folded(articles: Sequence[Piece]) -> list[Stretch]:
    return [Stretch(fold=_fold(articles))] if articles else []


def _fold(articles: Sequence[Piece]) -> Fold:
    messages, calls = sum(len(article.covers) for article in articles), sum(each.call_count for each in articles)
    faults = sum(article.faults for article in articles)
    words = counted(messages, "message")
    words += f" and {counted(calls, 'tool use')} folded" if calls else " folded"
    unread = [article for article in articles if isinstance(article, Gap)]
    ratings = sum(gap.ratings for gap in unread)
    more = [counted(number, word) for number, word in ((faults, "error"), (ratings, "rating")) if number]
    return Fold(
        articles[0].index,
        articles[-1].covers[-1],
        ", ".join([words, *more]),
        next((gap.first_fault for gap in unread if gap.faults), None),
        next((gap.first_rating for gap in unread if gap.ratings), None),
        any(gap.call_count for gap in unread),
    )
