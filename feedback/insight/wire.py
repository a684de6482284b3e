"""Response models of Insight. Each count comes with the desk query that finds exactly these reports."""

from datetime import date, datetime

from core.wire import Wire


class CountOut(Wire):
    """A number of reports."""

    count: int
    query: str
    """The desk query that finds these reports."""


class VerdictsOut(Wire):
    """Reports by sentiment."""

    positive: CountOut
    negative: CountOut

    @property
    def total(self) -> int:
        """Both sentiments together."""
        return self.positive.count + self.negative.count


class SpanOut(VerdictsOut):
    """Reports of one or more days."""

    first: date
    """First day."""
    last: date
    """Last day, included."""


class NamedOut(VerdictsOut):
    """Reports with one category, tool, model profile, version of an agent, label or outcome."""

    name: str
    reports: CountOut
    """Both sentiments together."""


class ToolFiguresOut(NamedOut):
    """Reports on answers that used one tool."""

    failed: CountOut
    """Reports in which the tool returned an error."""


class RangeOut(Wire):
    """Reports with an age or a time to resolve in a range."""

    over_seconds: int | None
    """Lower bound in seconds, included; null: none."""
    under_seconds: int | None
    """Upper bound in seconds, excluded; null: none."""
    reports: CountOut


class BeforeOut(Wire):
    """Reports of the previous period of the same length."""

    since: date
    until: date
    positive: int
    negative: int


class InsightOut(Wire):
    """All figures for the reports of a period that match a query; `open` and `backlog` are for any period."""

    query: str
    """The query without the period."""
    since: date | None
    """First day of the period; null: no limit."""
    until: date | None
    """Last day of the period, included; null: no limit."""
    tz: str
    """Time zone in which days begin."""
    counted_at: datetime
    """When the figures were counted; slow counts are cached for up to 5 minutes."""
    reports: CountOut
    positive: CountOut
    negative: CountOut
    open: CountOut
    """Open now, whenever they were rated: a backlog has no period."""
    resolved: CountOut
    before: BeforeOut | None
    """Null if the period has no first or last day."""
    over_time: list[SpanOut]
    """By day, week, month or year, depending on the length of the period."""
    by_category: list[NamedOut]
    by_tool: list[ToolFiguresOut]
    tools_left_out: int
    """Number of tools beyond the listed ones."""
    by_model: list[NamedOut]
    models_left_out: int
    """Number of model profiles beyond the listed ones."""
    by_agent: list[NamedOut]
    """By the version of an agent that the thread was launched from, `name@version`."""
    agents_left_out: int
    """Number of versions of agents beyond the listed ones."""
    by_label: list[NamedOut]
    labels_left_out: int
    """Number of labels beyond the listed ones."""
    has_labels: bool
    """False if there are too many reports to count by label, agent and outcome; these lists are then empty."""
    by_outcome: list[NamedOut]
    backlog: list[RangeOut]
    """Reports that are open now, whenever they were rated, by age."""
    time_to_resolve: list[RangeOut]
    """Resolved reports by time from rating to resolution."""
    median_minutes: int | None
    """Half of the resolved reports were resolved within this time."""
    p90_minutes: int | None
    """Nine of ten resolved reports were resolved within this time."""
