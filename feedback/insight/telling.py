"""The finding of each plot, in one sentence."""

from collections.abc import Callable, Sequence
from datetime import date

from django.utils.text import get_text_list

from core.templatetags.ui import thousands
from core.wording import isolated, share
from feedback.insight.wire import InsightOut, NamedOut, RangeOut, SpanOut
from feedback.presenting.words import category_word, many_reports, outcome_word

_WEEK = 7 * 86_400


def duration(minutes: int) -> str:
    """A duration in its two largest units: `12 min`, `9 h 20 min`, `3 days 4 h`."""
    days, hours, minutes = minutes // 1440, minutes // 60 % 24, minutes % 60
    parts = [f"{days} day{'s' if days != 1 else ''}"] if days else []
    parts += [f"{hours} h"] if hours else []
    parts += [f"{minutes} min"] if minutes and not days else []
    return " ".join(parts) or "a minute"


def day(each: date, *, today: date | None = None) -> str:
    """A date: `5 May`, with the year unless it is this year."""
    year = "" if today and each.year == today.year else f" {each.year}"
    return f"{each.day} {each:%b}{year}"


def days(first: date, last: date, *, today: date | None = None) -> str:
    """A range of dates: `5 May`, `4 May to 10 May`."""
    return day(first, today=today) if first == last else f"{day(first, today=today)} to {day(last, today=today)}"


def over_time(found: InsightOut) -> str:
    """When most negative ratings came."""
    if not found.negative.count:
        return f"None of the {many_reports(found.reports.count)} is negative."
    worst: SpanOut = max(found.over_time, key=lambda each: each.negative.count)
    verb = "is" if found.negative.count == 1 else "are"
    said = f"{thousands(found.negative.count)} of {many_reports(found.reports.count)} {verb} negative"
    when = f"{'on' if worst.first == worst.last else 'from'} {days(worst.first, worst.last, today=found.until)}"
    if worst.negative.count == found.negative.count:
        return f"{said}, {when}."
    most = "most of them" if 2 * worst.negative.count > found.negative.count else "the most"
    return f"{said}, {most} {when}: {thousands(worst.negative.count)}."


def by_category(found: InsightOut) -> str:
    """The most frequent categories of negative ratings."""
    first = found.by_category[0]
    word = category_word(first.name)
    if not first.negative.count:
        return f"No negative report has a category; most positive ones have {word.lower()}."
    part, whole = first.negative.count, found.negative.count
    level = [category_word(each.name) for each in found.by_category if each.negative.count == part]
    if len(level) > 3:
        return (
            f"No category is named most: {len(level)} are in {thousands(part)} of {thousands(whole)} negative reports."
        )
    named = f"{_are(level)} named most: {'each ' if level[1:] else ''}in"
    return f"{named} {thousands(part)} of {thousands(whole)} negative reports."


def _are(names: list[str]) -> str:
    return f"{get_text_list(names, 'and')} {'is' if len(names) == 1 else 'are'}"


def by_label(found: InsightOut) -> str:
    """The label with the most negative ratings."""
    first = found.by_label[0]
    name, part, whole = f"“{isolated(first.name)}”", first.negative.count, found.negative.count
    if not part:
        return f"No negative report has a label; most positive ones have {name}."
    said = f"{name} is on {thousands(part)} of {thousands(whole)} negative reports"
    is_alone = all(each.negative.count < part for each in found.by_label[1:])
    return f"{said}, more than any other." if found.by_label[1:] and is_alone else f"{said}."


def by_outcome(found: InsightOut) -> str:
    """The most frequent outcome."""
    most: NamedOut = max(found.by_outcome, key=lambda each: each.total)
    part, whole = most.total, found.resolved.count
    level = [outcome_word(each.name) for each in found.by_outcome if each.total == part]
    if len(level) > 3:
        return f"No outcome is the most frequent: {len(level)} are of {thousands(part)} of {thousands(whole)} resolved."
    said = f"{_are(level)} the most frequent: {'each ' if level[1:] else ''}"
    return f"{said}{thousands(part)} of {thousands(whole)} resolved, {share(part, whole)}."


def by_tool(found: InsightOut) -> str:
    """The tool with the most negative ratings, and the one with the most errors."""
    first, worst = found.by_tool[0], max(found.by_tool, key=lambda each: each.failed.count)
    part, whole, own = thousands(first.negative.count), thousands(found.negative.count), many_reports(first.total)
    said = f"{first.name} has the most negative reports: {part} of {whole}. It was used in {own}."
    if not first.negative.count:
        said = f"No negative answer used a tool; {first.name} was used most."
    if not worst.failed.count:
        return said
    name = "it" if worst is first else worst.name
    return f"{said} Most errors came from {name}: in {many_reports(worst.failed.count)}."


def by_model(found: InsightOut) -> str:
    """The profile with the largest negative share."""
    return _worst(found.by_model, str) or "No profile has a negative report."


def by_agent(found: InsightOut) -> str:
    """The version of an agent with the largest negative share."""
    return _worst(found.by_agent, agent_version) or "No agent has a negative report."


def agent_version(name: str) -> str:
    """`name@version` in words."""
    agent, _, version = name.rpartition("@")
    return f"{isolated(agent)}, version {version}"


def _worst(listed: Sequence[NamedOut], word: Callable[[str], str]) -> str:
    worst: NamedOut = max(listed, key=lambda each: (each.negative.count / each.total, each.total))
    name, told = word(worst.name), share(worst.negative.count, worst.total)
    if not worst.negative.count:
        return ""
    if len(listed) == 1:
        return f"{told} of the reports on {name} are negative."
    return f"{name} has the largest negative share: {told} of {many_reports(worst.total)}."


def backlog(found: InsightOut) -> str:
    """The number of open reports, and of those open for over a week."""
    old = older(found.backlog, _WEEK)
    waited = f"{thousands(old)} of them {'has' if old == 1 else 'have'}" if old else "None has"
    return f"{thousands(found.open.count)} open now, whenever they were rated. {waited} waited longer than a week."


def older(ranges: Sequence[RangeOut], seconds: int) -> int:
    """Number of reports with at least that age."""
    return sum(each.reports.count for each in ranges if (each.over_seconds or 0) >= seconds)


def time_to_resolve(found: InsightOut) -> str:
    """The time in which half and nine tenths were resolved."""
    if found.median_minutes is None or found.p90_minutes is None:
        return "No report was resolved."
    if found.resolved.count == 1:
        return f"One was resolved, within {duration(found.median_minutes)}."
    return f"Half within {duration(found.median_minutes)}, nine of ten within {duration(found.p90_minutes)}."
