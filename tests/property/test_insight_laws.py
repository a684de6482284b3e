"""Insight's figures: equal to plain SQL over the rows, and each with a query that finds exactly what it counts."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core import zones
from core.errors import InvalidRequest, Unauthorized
from core.wire import Wire
from feedback import taxonomy
from feedback.insight import plotting, tallying
from feedback.insight.figures import figures
from feedback.insight.period import Period, beginning, period_of, spans, term
from feedback.insight.wire import CountOut, InsightOut
from feedback.models import Label, Labelled, RatedAnswer, RatedTool, Triage, UserFeedback
from feedback.querying import matching, parse
from tests import caching, make

NOW = datetime(2026, 11, 5, 12, tzinfo=UTC)
BERLIN, NEW_YORK, CAIRO, KOLKATA = (
    ZoneInfo(name) for name in ("Europe/Berlin", "America/New_York", "Africa/Cairo", "Asia/Kolkata")
)
law = settings(max_examples=12, suppress_health_check=list(HealthCheck))

# Moments at which an hour, a day or a clock turns, and a microsecond to either side of them.
turns = st.sampled_from(
    [
        datetime(2026, 10, 25, 0, tzinfo=UTC),  # an hour before Berlin's clocks go back
        datetime(2026, 10, 24, 22, tzinfo=UTC),  # that day begins there
        datetime(2026, 10, 25, 23, tzinfo=UTC),  # and ends, 25 hours later
        datetime(2026, 11, 1, 4, tzinfo=UTC),  # New York's day of 25 hours
        datetime(2026, 11, 2, 5, tzinfo=UTC),
        datetime(2026, 11, 3, 18, 30, tzinfo=UTC),  # a midnight of Kolkata
        NOW - timedelta(days=1),
        NOW - timedelta(days=7),
        NOW - timedelta(days=30),
        datetime(2025, 3, 30, 1, tzinfo=UTC),
    ]
)
moments = st.builds(
    lambda turn, off: turn + timedelta(microseconds=off), turns, st.sampled_from([-1, 0, 1, 7_000_000, -3_600_000_000])
)
lengths = st.builds(
    lambda minutes, off: timedelta(minutes=minutes, microseconds=off),
    st.sampled_from([0, 4, 5, 15, 60, 961, 1440, 10_080, 50_000]),
    st.sampled_from([0, 1, 59_999_999]),
)
reports = st.lists(
    st.fixed_dictionaries(
        {
            "created": moments,
            "sentiment": st.sampled_from(["positive", "negative"]),
            "categories": st.sets(st.sampled_from(["incorrect", "slow", "other"]), max_size=2),
            "took": st.none() | lengths,
            "model": st.sampled_from(["", "fast", "Fast", "deep one", "x:y"]),
            "tools": st.dictionaries(
                st.sampled_from(["book", "Book", "shop__book", "shop__*", "b*", 'say "hi"', "OR", "-x", "(y)"]),
                st.booleans(),
                max_size=3,
            ),
            "labels": st.sets(st.sampled_from(["money", "loses count", 'say "hi"', "NOT", "-x"]), max_size=2),
            "outcome": st.none() | st.sampled_from(taxonomy.Outcome.values),
        }
    ),
    min_size=1,
    max_size=9,
)
periods = st.sampled_from([("7d", None), ("30d", None), ("all", None), ("365d", None), ("2026-10-25", "2026-11-02")])
places = st.sampled_from([zones.UTC, BERLIN, NEW_YORK, KOLKATA])
queries = st.sampled_from(
    ["", "sentiment:negative", "is:open OR tool:book", "-created:2026-10-25", "(category:slow OR has:tool) is:resolved"]
)


@pytest.fixture
def talk(who):
    """An answer for each report of a test."""
    return make.conversation(who.alice, 2)


def store(who, talk, made) -> None:
    """These reports and no others, with what their answers were made of."""
    caching.forget()  # on a machine that is busy, the figures of the example before may have been kept
    UserFeedback.objects.all().delete()
    rows = [
        UserFeedback(
            thread=talk,
            org=talk.org,
            message_sequence_num=place,
            created=each["created"],
            modified=each["created"],
            created_by=who.alice.user,
            modified_by=who.alice.user,
            sentiment=each["sentiment"],
            categories=sorted(each["categories"]),
            category_bits=taxonomy.bits(sorted(each["categories"])),
            resolved=each["took"] is not None,
            resolved_by=None if each["took"] is None else who.admin.user,
            resolved_at=None if each["took"] is None else each["created"] + each["took"],
        )
        for place, each in enumerate(made)
    ]
    both = list(zip(UserFeedback.objects.bulk_create(rows), made, strict=True))
    RatedAnswer.objects.bulk_create(RatedAnswer(feedback=row, model_profile=each["model"]) for row, each in both)
    RatedTool.objects.bulk_create(
        RatedTool(feedback=row, tool_name=name, failed=failed)
        for row, each in both
        for name, failed in each["tools"].items()
    )
    names = {name for each in made for name in each.get("labels", ())}
    labels = {
        name: Label.objects.get_or_create(name=name, folded=name.casefold(), defaults={"created_by": who.admin.user})[0]
        for name in names
    }
    Labelled.objects.bulk_create(
        Labelled(feedback=row, label=labels[name]) for row, each in both for name in each.get("labels", ())
    )
    # An outcome goes with the resolution: on an open report there is none.
    Triage.objects.bulk_create(Triage(feedback=row, outcome=each.get("outcome")) for row, each in both if row.resolved)


def counts(value: Any) -> Iterator[CountOut]:
    """Every count of the figures, wherever it stands."""
    if isinstance(value, CountOut):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from counts(each)
    elif isinstance(value, Wire):
        for name in type(value).model_fields:
            yield from counts(getattr(value, name))


def links(found: InsightOut) -> Iterator[tuple[str, str]]:
    """Every link of the plots, with what it says."""
    for plot in plotting.plots(found, lambda query: "/feedback/?" + query):
        bars = [*(plot.picture.bars if plot.picture else ()), *(bar for row in plot.rows for bar in row.bars)]
        yield from ((bar.href, bar.title) for bar in bars)
        yield from ((cell.href, cell.text) for row in plot.rows for cell in row.cells if cell.href)


@pytest.mark.django_db
@law
@given(made=reports, days=periods, tz=places, q=queries, kept=st.booleans())
@time_machine.travel(NOW, tick=False)
def test_every_query_finds_exactly_what_was_counted(who, talk, made, days, tz, q, kept):
    """In whatever zone it is asked: a link with a zone in it means the same to everybody."""
    store(who, talk, made)
    tallying.catch_up(60 if kept else 0)
    actor = who.admin.actor
    found = figures(actor, parse(q), period_of(*days, tz, NOW))
    for counted in counts(found):
        again = parse(counted.query)
        assert again.problems == (), counted.query
        assert matching(actor, again).count() == counted.count, counted.query
        if counted.count:
            assert matching(actor, again.anchored(NEW_YORK)).count() == counted.count, counted.query


@pytest.mark.django_db
@law
@given(made=reports, days=periods, tz=places)
@time_machine.travel(NOW, tick=False)
def test_every_link_of_the_plots_says_how_many_it_finds(who, talk, made, days, tz):
    store(who, talk, made)
    actor = who.admin.actor
    found = figures(actor, parse(""), period_of(*days, tz, NOW))
    followed = list(links(found))
    assert bool(followed) == bool(found.reports.count or found.open.count)
    for href, said in followed:
        number = matching(actor, parse(href.removeprefix("/feedback/?"))).count()
        assert f" {number} " in f" {said.partition(': ')[2] if ': ' in said else said} ", (href, said)
        assert number > 0


def sql(statement: str, *values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


def in_sql(moment: datetime) -> Any:
    """As it is stored: SQLite has text, without a fraction where there is none."""
    return str(moment.replace(tzinfo=None)) if connection.vendor == "sqlite" else moment


@pytest.mark.django_db
@law
@given(made=reports, days=periods, tz=places, kept=st.booleans())
@time_machine.travel(NOW, tick=False)
def test_figures_equal_plain_sql_over_the_rows(who, talk, made, days, tz, kept):
    """Counted once more, a statement for each figure, with nothing of the product's between."""
    store(who, talk, made)
    if kept:
        tallying.catch_up(60)
    period = period_of(*days, tz, NOW)
    found = figures(who.admin.actor, parse(""), period)
    begins, ends = period.begins or datetime(1900, 1, 1, tzinfo=UTC), period.ends or datetime(3000, 1, 1, tzinfo=UTC)
    inside = "FROM feedback_userfeedback f {} WHERE f.created >= %s AND f.created < %s AND {}"

    def count(where: str, *values: Any, joined: str = "", what: str = "count(*)") -> Any:
        statement = f"SELECT {what} {inside.format(joined, where)}"
        return sql(statement, in_sql(begins), in_sql(ends), *values)[0][0]

    assert found.reports.count == count("1 = 1")
    assert found.negative.count == count("sentiment = 'negative'")
    waiting = "SELECT count(*) FROM feedback_userfeedback WHERE NOT resolved AND created > %s AND created <= %s"
    assert found.open.count == sum(each.reports.count for each in found.backlog)
    for each in found.backlog:
        aged = [NOW - timedelta(seconds=age) for age in (each.under_seconds or 10**9, each.over_seconds or -(10**9))]
        assert each.reports.count == sql(waiting, *map(in_sql, aged))[0][0]
    assert found.resolved.count == count("resolved")
    for each in found.over_time:
        span = (in_sql(beginning(each.first, tz)), in_sql(beginning(each.last + timedelta(days=1), tz)))
        by = "f.created >= %s AND f.created < %s AND sentiment = 'negative'"
        assert each.negative.count == count(by, *span)
    assert sum(each.total for each in found.over_time) == found.reports.count
    for each in found.by_category:
        bit = taxonomy.BIT[each.name]
        assert each.reports.count == count("(category_bits & %s) > 0", bit)
    tool, once = "JOIN feedback_ratedtool t ON t.feedback_id = f.id", "count(DISTINCT f.id)"
    for each in found.by_tool:
        assert each.reports.count == count("lower(tool_name) = lower(%s)", each.name, joined=tool, what=once)
        by = "lower(tool_name) = lower(%s) AND t.failed"
        assert each.failed.count == count(by, each.name, joined=tool, what=once)
    model = "JOIN feedback_ratedanswer a ON a.feedback_id = f.id"
    for each in found.by_model:
        assert each.reports.count == count("lower(model_profile) = lower(%s)", each.name, joined=model)
    assert sum(each.reports.count for each in found.by_model) == count("model_profile <> ''", joined=model)
    label = "JOIN feedback_labelled l ON l.feedback_id = f.id JOIN feedback_label b ON b.id = l.label_id"
    for each in found.by_label:
        assert each.reports.count == count("b.name = %s", each.name, joined=label)
    assert sum(each.reports.count for each in found.by_label) == count("1 = 1", joined=label)
    outcome = "JOIN feedback_triage o ON o.feedback_id = f.id"
    for each in found.by_outcome:
        assert each.negative.count == count("sentiment = 'negative' AND outcome = %s", each.name, joined=outcome)
    assert sum(each.reports.count for each in found.by_outcome) == count("outcome IS NOT NULL", joined=outcome)
    took = sorted(
        int((each["created"] + each["took"]).timestamp()) - int(each["created"].timestamp())
        for each in made
        if each["took"] is not None and begins <= each["created"] < ends
    )
    for each in found.time_to_resolve:
        over, under = each.over_seconds or 0, each.under_seconds or 10**9
        assert each.reports.count == sum(over <= seconds < under for seconds in took)
    middle, ninth = (took[-(-len(took) * part // 100) - 1] // 60 if took else None for part in (50, 90))
    assert (found.median_minutes, found.p90_minutes) == (middle, ninth)


def test_a_day_is_as_long_as_the_clocks_make_it():
    """Days of 23 and 25 hours, and a midnight that is skipped: the day begins when the clocks jump."""
    length = {
        day: beginning(day + timedelta(days=1), BERLIN) - beginning(day, BERLIN)
        for day in (date(2026, 3, 29), date(2026, 10, 25), date(2026, 10, 26))
    }
    assert [each // timedelta(hours=1) for each in length.values()] == [23, 25, 24]
    assert beginning(date(2026, 4, 24), CAIRO) == datetime(2026, 4, 23, 22, tzinfo=UTC)
    assert beginning(date(2026, 4, 25), CAIRO) == datetime(2026, 4, 24, 21, tzinfo=UTC)


@given(first=st.dates(date(1990, 1, 1), date(2090, 1, 1)), length=st.integers(0, 36_000))
def test_spans_cover_every_day_once_and_are_few(first, length):
    last = first + timedelta(days=length)
    found = spans(first, last)
    assert (found[0].first, found[-1].last) == (first, last)
    assert all(each.first <= each.last for each in found)
    assert all(one.last + timedelta(days=1) == two.first for one, two in pairwise(found))
    assert len(found) <= 101


def test_periods_end_today_where_the_viewer_is():
    late = datetime(2026, 11, 5, 23, 30, tzinfo=UTC)
    assert period_of(None, None, None, late) == Period(date(2026, 10, 7), date(2026, 11, 5), zones.UTC)
    assert period_of("7d", None, "Europe/Berlin", late) == Period(date(2026, 10, 31), date(2026, 11, 6), BERLIN)
    assert period_of("7d", "2026-05-07", None, late).first == date(2026, 5, 1)
    assert period_of("9999d", "1975-01-01", None, late).term == "created:1970-01-01..1975-01-01[UTC]"
    assert period_of("all", None, None, late).term == ""
    assert period_of("all", "2026-05-07", None, late).term == "created:<=2026-05-07[UTC]"
    day = period_of("2026-05-07", "2026-05-07", "Europe/Berlin", late)
    assert day.term == "created:2026-05-07[Europe/Berlin]"
    assert day.before == Period(date(2026, 5, 6), date(2026, 5, 6), BERLIN)


@pytest.mark.parametrize(
    ("since", "until", "tz", "named"),
    [
        ("yesterday", None, None, "since"),
        ("2026-02-30", None, None, "since"),
        ("0d", None, None, "since"),
        ("2026-05-02", "2026-05-01", None, "until"),
        ("30d", "soon", None, "until"),
        ("30d", None, "Mars/Phobos", "tz"),
        ("30d", None, "../../etc/passwd", "tz"),
        ("30d", None, "Europe", "tz"),
    ],
)
def test_what_is_no_period_is_named(since, until, tz, named):
    with pytest.raises(InvalidRequest, match=f"^{named}: "):
        period_of(since, until, tz, NOW)


@pytest.mark.parametrize("value", ["2026-05-01[]", "2026-05-01[Nowhere]", "<7d[Europe/Berlin]", "2026[UTC][UTC]"])
def test_a_zone_that_is_none_is_named(value):
    assert len(parse(f"created:{value}").problems) == 1


def test_a_week_and_a_month_are_whole_where_the_period_is():
    assert term(spans(date(2026, 1, 1), date(2026, 12, 31))[0], zones.UTC) == "created:2026-01-01..2026-01-04[UTC]"


def test_only_admins_are_told(who):
    with pytest.raises(Unauthorized):
        figures(who.alice.actor, parse(""), period_of(None, None, None, NOW))


@pytest.mark.django_db
def test_a_query_that_leaves_no_room_is_refused(who):
    long = " OR ".join(["sentiment:negative"] * 64)
    with pytest.raises(InvalidRequest, match=r"^q: is too long"):
        figures(who.admin.actor, parse(long), period_of(None, None, None, NOW))


def test_addresses_hold_the_query_whole():
    assert parse_qs(urlsplit("/feedback/?q=created%3A2026-05-01%5BEurope%2FBerlin%5D").query)["q"] == [
        "created:2026-05-01[Europe/Berlin]"
    ]
