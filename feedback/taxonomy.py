"""Sentiments and categories (spec 3.10), and how a report may end, as data."""

from django.db.models import TextChoices


class Sentiment(TextChoices):
    POSITIVE = "positive"
    NEGATIVE = "negative"


class Category(TextChoices):
    INCORRECT = "incorrect"
    INCOMPLETE = "incomplete"
    TOOL_FAILURE = "tool_failure"
    REFUSED_VALID_REQUEST = "refused_valid_request"
    FORMATTING = "formatting"
    SLOW = "slow"
    UNSAFE = "unsafe"
    CORRECT = "correct"
    HELPFUL = "helpful"
    GOOD_TOOL_USE = "good_tool_use"
    OTHER = "other"


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

# A row keeps its categories as one number too, so that a filter needs no second table. Never reorder: append.
BIT: dict[str, int] = {category: 1 << place for place, category in enumerate(Category.values)}


def bits(categories: list[str]) -> int:
    """The categories as one number."""
    return sum(BIT[category] for category in categories)
