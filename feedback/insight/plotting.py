"""The plots as plain data: SVG lengths, texts and links."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal

from django.urls import reverse

from core.templatetags.ui import thousands
from core.wording import share
from feedback.insight import telling
from feedback.insight.telling import days, duration
from feedback.insight.wire import CountOut, InsightOut, NamedOut, RangeOut
from feedback.presenting.words import category_word, many_reports, outcome_word

Link = Callable[[str], str]
WIDTH, HEIGHT = 1200, 240
_MARKS = 5
_ALL_MARKED = 7
"""Up to so many columns each have a label, even on a phone."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a chart; its title is the tooltip."""

    x: float
    y: float
    width: float
    height: float
    tone: str
    href: str
    title: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A table cell, with a link to its reports if there are any."""

    text: str
    href: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a plot's table, with its bars in a bar plot."""

    name: str
    href: str
    cells: tuple[Cell, ...]
    bars: tuple[Bar, ...] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """A column chart; the labels along its sides are separate HTML, so they are not stretched."""

    bars: tuple[Bar, ...]
    rules: str
    axis: str
    side: tuple[str, ...]
    foot: tuple[str, ...]
    is_by_column: bool = False
    """Whether `foot` has one label per column, empty for none; else its labels are spread evenly."""
    width: int = WIDTH
    height: int = HEIGHT


@dataclass(frozen=True, slots=True)
class Plot:
    """One plot: a finding, a table, and a column chart unless the table contains the bars."""

    title: str
    finding: str
    heads: tuple[str, ...]
    rows: tuple[Row, ...]
    span: Literal["", "half", "wide"] = ""
    picture: Picture | None = None
    is_code: bool = False
    has_tones: bool = False
    rest: str = ""
    more: str = ""
    """What the plot leaves out, and where that is listed."""
    more_href: str = ""


def plots(found: InsightOut, link: Link, longer: str = "") -> list[Plot]:
    """All plots that have something to show; `link` turns a query into a URL, and `longer` is that of longer lists."""
    made = [_over_time(found, link)] if found.reports.count else []
    if found.by_category:
        made.append(_by_category(found, link))
    if found.by_label:
        made.append(_by_label(found, link))
    if found.by_tool:
        made.append(_by_tool(found, link, longer))
    if found.by_model:
        made.append(_by_model(found, link, longer))
    if found.by_agent:
        made.append(_by_agent(found, link, longer))
    if found.by_outcome:
        made.append(_by_outcome(found, link))
    if found.open.count:
        made.append(_backlog(found, link))
    if found.resolved.count:
        made.append(_time_to_resolve(found, link))
    return made


def ceiling(most: int) -> int:
    """The maximum of an axis for this value: an even, round number."""
    size = 1
    while most > 16 * size:
        size *= 10
    return next(step * size for step in (2, 4, 6, 8, 10, 12, 16) if step * size >= most)


def _over_time(found: InsightOut, link: Link) -> Plot:
    spans, today = found.over_time, found.counted_at.date()
    top = ceiling(max(max(each.positive.count, each.negative.count) for each in spans))
    step, middle, bars, rows = WIDTH / len(spans), HEIGHT / 2, [], []
    for place, each in enumerate(spans):
        when = days(each.first, each.last, today=today)
        for tone, counted, word in (("pos", each.positive, "positive"), ("neg", each.negative, "negative")):
            height = middle * counted.count / top
            y = middle - height if tone == "pos" else middle
            bars += _column(place, step, (y, height), tone, counted, f"{when}: {thousands(counted.count)} {word}", link)
        cells = (_cell(each.positive, link, "positive"), _cell(each.negative, link, "negative"))
        rows.append(Row(when, "", cells))
    side = (thousands(top), thousands(top // 2), "0", thousands(top // 2), thousands(top))
    return Plot(
        title="Feedback over time",
        finding=telling.over_time(found),
        heads=("Days", "Positive", "Negative"),
        rows=tuple(rows),
        span="wide",
        has_tones=True,
        picture=Picture(
            tuple(bars),
            _rules((0, HEIGHT / 4, HEIGHT * 3 / 4, HEIGHT)),
            _rules((middle,)),
            side,
            _under([telling.day(each.first, today=today) for each in spans]),
            is_by_column=True,
        ),
    )


def _by_category(found: InsightOut, link: Link) -> Plot:
    whole = found.reports.count
    return Plot(
        title="By category",
        finding=telling.by_category(found),
        heads=("Category", "Negative", "Positive", "Share"),
        rows=_named_rows(found.by_category, link, _share_of(whole), category_word),
        rest="A report may have several; shares are of all reports.",
    )


def _by_label(found: InsightOut, link: Link) -> Plot:
    whole = found.reports.count
    return Plot(
        title="By label",
        finding=telling.by_label(found),
        heads=("Label", "Negative", "Positive", "Share"),
        rows=_named_rows(found.by_label, link, _share_of(whole)),
        more=_left_out(found.labels_left_out, "label"),
        more_href=reverse("feedback:labels"),
    )


def _by_outcome(found: InsightOut, link: Link) -> Plot:
    whole = found.resolved.count
    unsaid = whole - sum(each.total for each in found.by_outcome)
    return Plot(
        title="By outcome",
        finding=telling.by_outcome(found),
        heads=("Outcome", "Negative", "Positive", "Share"),
        rows=_named_rows(found.by_outcome, link, _share_of(whole), outcome_word),
        rest="Shares are of all resolved reports.",
        more=f"{many_reports(unsaid)} without one." if unsaid else "",
        more_href=link(f"{found.resolved.query} outcome:none"),
    )


def _by_tool(found: InsightOut, link: Link, longer: str) -> Plot:
    failed = {each.name: each.failed for each in found.by_tool}
    return Plot(
        title="By tool",
        finding=telling.by_tool(found),
        heads=("Tool", "Negative", "Positive", "Errors"),
        rows=_named_rows(
            found.by_tool, link, lambda each: _cell(failed[each.name], link, _error_word(failed[each.name]))
        ),
        is_code=True,
        more=_left_out(found.tools_left_out, "tool"),
        more_href=longer,
    )


def _by_model(found: InsightOut, link: Link, longer: str) -> Plot:
    unnamed = 0 if found.models_left_out else found.reports.count - sum(each.total for each in found.by_model)
    without = f"{many_reports(unnamed)} without a profile." if unnamed > 0 else ""
    return Plot(
        title="By model profile",
        finding=telling.by_model(found),
        heads=("Profile", "Negative", "Positive", "Negative share"),
        rows=_named_rows(found.by_model, link, _negative_share, is_whole=True),
        is_code=True,
        rest=without,
        more=_left_out(found.models_left_out, "profile"),
        more_href=longer,
    )


def _by_agent(found: InsightOut, link: Link, longer: str) -> Plot:
    others = 0 if found.agents_left_out else found.reports.count - sum(each.total for each in found.by_agent)
    return Plot(
        title="By agent",
        finding=telling.by_agent(found),
        heads=("Agent", "Negative", "Positive", "Negative share"),
        rows=_named_rows(found.by_agent, link, _negative_share, telling.agent_version, is_whole=True),
        rest=f"{many_reports(others)} of other threads." if others else "",
        more=_left_out(found.agents_left_out, "version"),
        more_href=longer,
    )


def _backlog(found: InsightOut, link: Link) -> Plot:
    top = max(each.reports.count for each in found.backlog)
    rows = []
    for each in found.backlog:
        href = link(each.reports.query) if each.reports.count else ""
        tone: str = "warn" if (each.over_seconds or 0) >= 7 * 86_400 else ""
        name = _range(each)
        bars = (_piece(0, each.reports, top, tone, f"{name}: {thousands(each.reports.count)} open", link),)
        rows.append(Row(name, href, (_cell(each.reports, link, "open"),), bars if each.reports.count else ()))
    return Plot(
        title="Open backlog by age",
        finding=telling.backlog(found),
        heads=("Age", "Open"),
        rows=tuple(rows),
        span="half",
    )


def _time_to_resolve(found: InsightOut, link: Link) -> Plot:
    ranges = found.time_to_resolve
    top = ceiling(max(each.reports.count for each in ranges))
    step, bars, rows = WIDTH / len(ranges), [], []
    for place, each in enumerate(ranges):
        height = HEIGHT * each.reports.count / top
        title = f"{_range(each)}: {thousands(each.reports.count)} resolved"
        bars += _column(place, step, (HEIGHT - height, height), "", each.reports, title, link)
        rows.append(Row(_range(each), "", (_cell(each.reports, link, "resolved"),)))
    foot = [duration((each.over_seconds or 0) // 60) for each in ranges[3::3]]
    return Plot(
        title="Time to resolve",
        finding=telling.time_to_resolve(found),
        heads=("Time", "Resolved"),
        rows=tuple(rows),
        span="half",
        picture=Picture(
            tuple(bars),
            _rules((0, HEIGHT / 2)),
            _rules((HEIGHT,)),
            (thousands(top), thousands(top // 2), "0"),
            ("0", *foot, "longer"),
        ),
    )


def _named_rows(
    named: Sequence[NamedOut],
    link: Link,
    last: Callable[[NamedOut], Cell],
    word: Callable[[str], str] = str,
    *,
    is_whole: bool = False,
) -> tuple[Row, ...]:
    """Rows with bars proportional to their reports or, with `is_whole`, all full length to compare shares."""
    top = max(each.total for each in named)
    rows = []
    for each in named:
        name, whole = word(each.name), each.total if is_whole else top
        bars, at = [], 0
        for tone, counted, side in (("neg", each.negative, "negative"), ("pos", each.positive, "positive")):
            if counted.count:
                bars.append(_piece(at, counted, whole, tone, f"{name}: {thousands(counted.count)} {side}", link))
                at += counted.count
        cells = (_cell(each.negative, link, "negative"), _cell(each.positive, link, "positive"), last(each))
        rows.append(Row(name, link(each.reports.query), cells, tuple(bars)))
    return tuple(rows)


def _piece(at: int, counted: CountOut, whole: int, tone: str, title: str, link: Link) -> Bar:
    scale = WIDTH / whole
    return Bar(round(at * scale, 1), 0, round(counted.count * scale, 1), 12, tone, link(counted.query), title)


def _column(
    place: int, step: float, tall: tuple[float, float], tone: str, counted: CountOut, title: str, link: Link
) -> list[Bar]:
    """One thin column; none for zero."""
    y, height = tall
    if not counted.count:
        return []
    x, width = step * (place + 0.3), step * 0.4
    return [Bar(round(x, 1), round(y, 1), round(width, 1), round(height, 1), tone, link(counted.query), title)]


def _cell(counted: CountOut, link: Link, label: str) -> Cell:
    return Cell(thousands(counted.count), link(counted.query) if counted.count else "", label)


def _error_word(counted: CountOut) -> str:
    return "error" if counted.count == 1 else "errors"


def _rules(heights: Sequence[float]) -> str:
    return "".join(f"M0 {height:g}h{WIDTH}" for height in heights)


def _under(words: Sequence[str]) -> tuple[str, ...]:
    """The labels below columns: all if they fit, else a few at equal distances, the last one included."""
    if len(words) <= _ALL_MARKED:
        return tuple(words)
    last = len(words) - 1
    step = max(last // (_MARKS - 1), ceil(last / (_ALL_MARKED - 1)))
    return tuple("" if (last - place) % step else word for place, word in enumerate(words))


def _range(each: RangeOut) -> str:
    over, under = (seconds and duration(seconds // 60) for seconds in (each.over_seconds, each.under_seconds))
    return f"{over} to {under}" if over and under else f"under {under}" if under else f"over {over}"


def _negative_share(each: NamedOut) -> Cell:
    """The last cell of a row: how many of its reports are negative."""
    return Cell(share(each.negative.count, each.total), label="negative share")


def _share_of(whole: int) -> Callable[[NamedOut], Cell]:
    """The last cell of a row: its share of so many reports."""
    return lambda each: Cell(share(each.total, whole), label="share")


def _left_out(number: int, word: str) -> str:
    return f"{thousands(number)} more {word}{'' if number == 1 else 's'} with fewer reports." if number else ""
