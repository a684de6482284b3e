"""Insight's figures. Beside each count stands the desk query that finds exactly these reports."""

from datetime import date, datetime

from core.wire import Wire


class CountOut(Wire):
    """A number of reports and the query that finds them."""

    count: int
    query: str


class VerdictsOut(Wire):
    """Reports by sentiment."""

    positive: CountOut
    negative: CountOut

    @property
    def total(self) -> int:
        """Both together."""
        return self.positive.count + self.negative.count


class SpanOut(VerdictsOut):
    """What was rated from the beginning of one day to the end of another."""

    first: date
    last: date


class NamedOut(VerdictsOut):
    """What was rated of one category, tool or model profile; `reports` are both sentiments."""

    name: str
    reports: CountOut


class ToolFiguresOut(NamedOut):
    """The same of a tool; `failed` are those where it gave an error."""

    failed: CountOut


class RangeOut(Wire):
    """Reports with an age or a time to resolve in a range, `over` included and `under` not; null is open."""

    over_seconds: int | None
    under_seconds: int | None
    reports: CountOut


class BeforeOut(Wire):
    """How many came in the same number of days before."""

    since: date
    until: date
    positive: int
    negative: int


class InsightOut(Wire):
    """All figures, of the reports that came from the day `since` to the day `until` and that `query` means.

    Without `has_labels` there are too many to be counted by label and outcome, both of which are empty then.

    Half of those that are resolved were so within `median_minutes`, nine of ten within `p90_minutes`.
    """

    query: str
    since: date | None
    until: date | None
    tz: str
    counted_at: datetime
    reports: CountOut
    positive: CountOut
    negative: CountOut
    open: CountOut
    resolved: CountOut
    before: BeforeOut | None
    over_time: list[SpanOut]
    by_category: list[NamedOut]
    by_tool: list[ToolFiguresOut]
    tools_left_out: int
    by_model: list[NamedOut]
    models_left_out: int
    by_label: list[NamedOut]
    labels_left_out: int
    has_labels: bool
    by_outcome: list[NamedOut]
    backlog: list[RangeOut]
    time_to_resolve: list[RangeOut]
    median_minutes: int | None
    p90_minutes: int | None
