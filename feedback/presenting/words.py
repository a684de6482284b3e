"""The words of feedback: sentiments, categories, outcomes and numbers of reports."""

from core.templatetags.ui import thousands
from feedback.taxonomy import Category, Outcome, Sentiment
from threads.presenting.articles import Sentimental


def category_word(category: str) -> str:
    """The label of a category."""
    return Category(category).label if category in Category.values else category.replace("_", " ")


def outcome_word(outcome: str) -> str:
    """The label of an outcome."""
    return Outcome(outcome).label


def categories_line(categories: tuple[str, ...]) -> str:
    """Categories in one line, lower case, as the desk and the rated message show them."""
    return ", ".join(category_word(category).lower() for category in categories)


def many_reports(count: int) -> str:
    """A number of reports, for people: `1 report`, `1 284 reports` with a thin space."""
    return f"{thousands(count)} report{'' if count == 1 else 's'}"


class Spelled(Sentimental):
    """What has a sentiment that is shown in words."""

    __slots__ = ()

    @property
    def word(self) -> str:
        """The word next to the icon."""
        return Sentiment(self.sentiment).label
