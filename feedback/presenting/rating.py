"""View model of the rating form."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from zlib import crc32

from feedback.taxonomy import Category, Sentiment, fitting, group_of
from threads.presenting.articles import Mark


@dataclass(frozen=True)
class RateForm:
    """The rating form; `errors` are sentences by field, `action` is the form's URL, `back` that of Cancel."""

    index: int
    action: str
    back: str
    sentiment: str = ""
    categories: tuple[str, ...] = ()
    notes: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)
    is_taken_back: bool = False
    """It holds the rating that was just retracted."""
    is_change: bool = False
    """It changes a rating that stands, and takes its place until it is saved."""
    seen: str = ""
    """A checksum of the rating that it was opened with; empty if there was none."""
    is_pressed: bool = False
    """The sentiment was pressed just now, so that of a draft does not count."""

    @property
    def title(self) -> str:
        """Its heading."""
        return "Change your rating" if self.is_change else f"Rate message {self.index}"

    @property
    def is_chosen(self) -> bool:
        """Whether the sentiment is given, so that the notes come next."""
        return self.sentiment in Sentiment.values

    @property
    def groups(self) -> list[tuple[str, list[tuple[str, str, bool]]]]:
        """Categories by the sentiment they fit: name, word, and whether it is picked."""
        return [
            (
                group,
                [(each.value, each.label, each in self.categories) for each in Category if group_of(each) == group],
            )
            for group in ("negative", "positive", "both")
        ]

    @classmethod
    def of(cls, mark: Mark | None, *, index: int, action: str, back: str, sentiment: str = "") -> "RateForm":
        """The form as it opens: the earlier rating, with the sentiment that was just clicked."""
        if mark is None:
            return cls(index, action, back, sentiment, is_pressed=bool(sentiment))
        verdict = sentiment or mark.sentiment
        seen = checksum(mark.sentiment, mark.categories, mark.notes)
        categories = fitting(verdict, mark.categories)
        pressed = bool(sentiment)
        return cls(index, action, back, verdict, categories, mark.notes, is_change=True, seen=seen, is_pressed=pressed)


def checksum(sentiment: str, categories: Iterable[str], notes: str) -> str:
    """A checksum of a rating, to recognise it by."""
    return f"{crc32(repr((sentiment, sorted(categories), notes)).encode()):x}"
