"""Sentiments and categories (spec 3.10), and the outcomes of reports, as data."""

from collections.abc import Iterable

from django.db.models import TextChoices


class Sentiment(TextChoices):
    POSITIVE = "positive"
    NEGATIVE = "negative"


class Category(TextChoices):
    INCORRECT = "incorrect", "Incorrect"
    INCOMPLETE = "incomplete", "Incomplete"
    TOOL_FAILURE = "tool_failure", "Tool failure"
    REFUSED_VALID_REQUEST = "refused_valid_request", "Refused valid request"
    FORMATTING = "formatting", "Formatting"
    SLOW = "slow", "Slow"
    UNSAFE = "unsafe", "Unsafe"
    CORRECT = "correct", "Correct"
    HELPFUL = "helpful", "Helpful"
    GOOD_TOOL_USE = "good_tool_use", "Good tool use"
    OTHER = "other", "Other"


class Outcome(TextChoices):
    """How a report was resolved."""

    FIXED = "fixed", "Fixed"
    ANSWERED = "answered", "Answered"
    NOT_REPRODUCED = "not_reproduced", "Not reproduced"
    AS_INTENDED = "as_intended", "As intended"
    DUPLICATE = "duplicate", "Duplicate"
    NOTED = "noted", "Noted"


FITTING: dict[str, frozenset[str]] = {
    Sentiment.POSITIVE: frozenset({"correct", "helpful", "good_tool_use", "other"}),
    Sentiment.NEGATIVE: frozenset(
        {"incorrect", "incomplete", "tool_failure", "refused_valid_request", "formatting", "slow", "unsafe", "other"}
    ),
}
NEEDS_NOTES = Category.OTHER

# Rows also store their categories as a bit set, so that filters need no join. Never reorder: append.
BIT: dict[str, int] = {category: 1 << place for place, category in enumerate(Category.values)}


def group_of(category: str) -> str:
    """The sentiment that a category fits, or `both`."""
    fits = [sentiment for sentiment, categories in FITTING.items() if category in categories]
    return fits[0] if len(fits) == 1 else "both"


def fitting(sentiment: str, categories: Iterable[str]) -> tuple[str, ...]:
    """The categories that fit a sentiment. The form hides the others, so sending them was not intended."""
    strange = {other for other in Category.values if other not in FITTING.get(sentiment, Category.values)}
    return tuple(category for category in categories if category not in strange)


def bits(categories: list[str]) -> int:
    """The categories as a bit set."""
    return sum(BIT[category] for category in categories)
