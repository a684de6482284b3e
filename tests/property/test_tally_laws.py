"""Tallies: whatever changes after a day was counted, insight says what it would say without them."""

import threading
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from core import zones
from feedback import taxonomy
from feedback.insight import counting, tallying
from feedback.insight.figures import figures
from feedback.insight.period import period_of
from feedback.models import RatedAnswer, RatedTool, Tally, Untallied, UserFeedback
from feedback.querying import parse
from tests import caching, make
from tests.property.test_insight_laws import BERLIN, KOLKATA, NEW_YORK, NOW, law, periods, reports, store

Change = Callable[[UserFeedback, int], object]


def _resolve(row: UserFeedback, admin: int) -> None:
    done = {"resolved": True, "resolved_by": admin, "resolved_at": row.created + timedelta(minutes=77)}
    UserFeedback.objects.filter(pk=row.pk).update(**done)


def _change(**values: object) -> Change:
    return lambda row, _: UserFeedback.objects.filter(pk=row.pk).update(**values)


CHANGES: dict[str, Change] = {
    "rated otherwise": _change(sentiment="positive", category_bits=0),
    "of another category": _change(category_bits=taxonomy.bits(["slow"])),
    "resolved": _resolve,
    "reopened": _change(resolved=False, resolved_by=None, resolved_at=None),
    "of another day": _change(created=NOW - timedelta(days=9)),
    "taken back": lambda row, _: UserFeedback.objects.filter(pk=row.pk).delete(),
    "of another model": lambda row, _: RatedAnswer.objects.filter(feedback=row).update(model_profile="slow"),
    "a tool more": lambda row, _: RatedTool.objects.get_or_create(feedback=row, tool_name="late", failed=True),
    "a tool that failed": lambda row, _: RatedTool.objects.filter(feedback=row).update(failed=True),
    "no tool": lambda row, _: RatedTool.objects.filter(feedback=row).delete(),
}


@pytest.fixture
def talk(who):
    return make.conversation(who.alice, 2)


def told(who, days, tz):
    caching.forget()
    return figures(who.admin.actor, parse(""), period_of(*days, tz, NOW)).model_dump()


@pytest.mark.django_db
@law
@given(
    made=reports,
    days=periods,
    tz=st.sampled_from([zones.UTC, BERLIN, NEW_YORK, KOLKATA]),
    changes=st.lists(st.tuples(st.sampled_from(sorted(CHANGES)), st.integers(0, 8)), max_size=4),
)
@time_machine.travel(NOW, tick=False)
def test_figures_are_the_same_with_tallies_and_without(who, talk, made, days, tz, changes):
    store(who, talk, made)
    tallying.catch_up(60)
    for name, place in changes:
        rows = list(UserFeedback.objects.order_by("pk"))
        if rows:
            CHANGES[name](rows[place % len(rows)], who.admin.user.pk)
    after_changes = told(who, days, tz)
    tallying.catch_up(60)
    assert not Untallied.objects.filter(day__lt=NOW.date()).exists()
    counted_anew = told(who, days, tz)
    Tally.objects.all().delete()
    assert after_changes == counted_anew == told(who, days, tz)


@pytest.mark.django_db
@pytest.mark.parametrize("name", sorted(CHANGES))
@time_machine.travel(NOW, tick=False)
def test_each_change_leaves_a_mark(who, talk, name):
    """And one of what no figure is made of leaves none."""
    day = NOW - timedelta(days=3)
    one = {"created": day, "sentiment": "negative", "categories": {"other"}, "model": "fast", "tools": {"book": False}}
    store(who, talk, [{**one, "took": timedelta(minutes=5) if name == "reopened" else None}])
    tallying.catch_up(60)
    row = UserFeedback.objects.get()
    UserFeedback.objects.update(notes="Later.", admin_note="Seen.", sentiment="negative")
    assert not Untallied.objects.exists()
    CHANGES[name](row, who.admin.user.pk)
    assert Untallied.objects.filter(day=day.date()).exists()


@pytest.mark.django_db
@time_machine.travel(NOW, tick=False)
def test_the_day_that_is_not_over_is_left_alone(who, talk):
    make.rating(who.alice, talk, 1)
    assert tallying.catch_up() == 0
    assert Untallied.objects.exists()


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
@pytest.mark.django_db(transaction=True)
def test_a_change_that_commits_while_its_day_is_counted_is_not_missed(who, talk, monkeypatch):
    """Its mark stays, and the day is counted again."""
    day = NOW - timedelta(days=3)
    one = {"created": day, "sentiment": "negative", "categories": set(), "model": "fast", "tools": {}, "took": None}
    store(who, talk, [one])

    def change():
        try:
            UserFeedback.objects.update(sentiment="positive")
        finally:
            connection.close()

    other, count = threading.Thread(target=change), counting.counted

    def counted_meanwhile(rows, limits):
        found = count(rows, limits)
        other.start()
        other.join()
        return found

    monkeypatch.setattr(counting, "counted", counted_meanwhile)
    tallying.tally(day.date())
    monkeypatch.undo()
    assert Untallied.objects.filter(day=day.date()).exists()
    with time_machine.travel(NOW, tick=False):
        assert told(who, ("7d", None), zones.UTC)["positive"]["count"] == 1


def one(created):
    return {"created": created, "sentiment": "negative", "categories": set(), "model": "", "tools": {}, "took": None}


@pytest.mark.django_db
@time_machine.travel(NOW, tick=False)
def test_with_many_gaps_between_tallies_the_query_stays_short(who, talk):
    store(who, talk, [one(NOW - timedelta(days=2 * place)) for place in range(1, 61)])
    tallying.catch_up(60)
    with CaptureQueriesContext(connection) as asked:
        assert told(who, ("365d", None), zones.UTC)["negative"]["count"] == 60
    assert max(query["sql"].count(" OR ") for query in asked) < 50


@pytest.mark.django_db
@time_machine.travel(NOW, tick=False)
def test_days_that_begin_within_a_quarter_of_an_hour_are_counted_as_they_began(who, talk):
    """Kiritimati's 2 May 1975 began at 10:40 of UTC's."""
    store(who, talk, [one(datetime(1975, 5, 2, 10, 42, tzinfo=UTC))])
    tallying.catch_up(60)
    found = told(who, ("1975-04-25", "1975-05-10"), ZoneInfo("Pacific/Kiritimati"))
    [day] = [each for each in found["over_time"] if each["negative"]["count"]]
    assert day["first"] == date(1975, 5, 2)
