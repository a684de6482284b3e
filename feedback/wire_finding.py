"""What the routes of finding give: similar reports, and what a query may go on with."""

from core.wire import Wire
from feedback.wire import FullFeedbackOut


class SimilarReportOut(FullFeedbackOut):
    """A report that is like another one, and why; `is_alike` where one answer fits both, and it is hardly chance."""

    reasons: tuple[str, ...]
    score: float
    is_alike: bool


class QueryValueOut(Wire):
    """A value of a field, and the term that it makes. `count` ends at a thousand, and is null where nobody counts."""

    value: str
    term: str
    count: int | None


class QueryFieldOut(Wire):
    """A field of the query language."""

    name: str
    help: str
    takes: str
    values: tuple[QueryValueOut, ...]
