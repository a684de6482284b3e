"""Response models: similar reports, and the fields of the query language."""

from core.wire import Wire
from feedback.wire import FullFeedbackOut


class SimilarReportOut(FullFeedbackOut):
    """A report that is similar to another one."""

    reasons: tuple[str, ...]
    """What both have in common, in words."""
    score: float
    """Similarity; higher is more similar, without a fixed maximum."""
    is_alike: bool
    """Whether both probably have the same cause, so that one resolution fits both."""


class QueryValueOut(Wire):
    """A value of a field of the query language."""

    value: str
    term: str
    """The query term for this value."""
    count: int | None
    """Number of reports with this value, at most 1000; null if not counted."""


class QueryFieldOut(Wire):
    """A field of the query language."""

    name: str
    help: str
    """What the field means."""
    takes: str
    """Which values are allowed, in words."""
    values: tuple[QueryValueOut, ...]
    """Values worth suggesting."""
