"""How the databases go about a page of a query: along an index in the order of the page, and never over everything."""

import pytest
from django.db import connection

from feedback import querying
from feedback.models import RatedTool
from feedback.querying import sides
from tests import make

VIEWS = {
    "is:open -has:owner -is:snoozed": "feedback_owned (owned_by_id=? AND resolved=?)",
    "is:unclaimed": "feedback_owned (owned_by_id=? AND resolved=?)",
    "owner:me is:open": "feedback_owned (owned_by_id=? AND resolved=?)",
    "is:mine -is:resolved": "feedback_owned (owned_by_id=? AND resolved=?)",
    "is:open": "feedback_state (resolved=?",
    "-is:open": "feedback_state (resolved=?",
    "is:open sentiment:negative": "feedback_state_tone (resolved=? AND sentiment=?",
    "is:resolved -sentiment:negative": "feedback_state_tone (resolved=? AND sentiment=?",
    "sentiment:negative": "feedback_tone (sentiment=?",
    "org:acme": "feedback_org (org_id=?",
    "has:note": "USING INDEX feedback_noted",
}
"""What is listed in the order of its index: the page is its first rows."""
SIDES = {
    "resolved:<7d": "feedback_resolved_at (resolved_at>?",
    "created:2026-05": "feedback_insight (created>? AND created<?",
    "edited:<7d": "feedback_edited (modified>?",
    "tool:echo": "INTEGER PRIMARY KEY (rowid=?)",
    "has:fork": "(thread_id=?",
    "is:snoozed": "MULTI-INDEX OR",
    "hello": "INTEGER PRIMARY KEY (rowid=?)",
}
"""What leads from a few rows of another index to their reports."""


@pytest.fixture
def plan_of(who):
    """The plan of the first page."""
    report = make.rating(who.alice, make.thread(who.alice), notes="hello")
    querying.matching(who.admin.actor, querying.parse("hello"))
    RatedTool.objects.create(feedback=querying.matching(who.admin.actor, querying.parse("")).get(), tool_name="echo")
    assert report

    def plan(line):
        rows = querying.matching(who.admin.actor, querying.parse(line))
        return rows.order_by("-id").values_list("pk", flat=True)[:51].explain()

    return plan


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="plans of SQLite, which has no figures and plans by rule")
@pytest.mark.parametrize("line", [*VIEWS, *SIDES])
def test_a_page_follows_an_index_on_sqlite(plan_of, line):
    plan = plan_of(line)
    assert (VIEWS | SIDES)[line] in plan
    assert "SCAN feedback_userfeedback\n" not in plan
    if line in VIEWS:
        assert "TEMP B-TREE" not in plan


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="plans of SQLite, which has no figures and plans by rule")
@pytest.mark.parametrize("line", [line for line in SIDES if ":" in line])
def test_many_hits_are_found_on_the_walk_down_the_reports_on_sqlite(plan_of, monkeypatch, line):
    monkeypatch.setattr(sides, "_MANY", -1)
    monkeypatch.setattr(sides, "_MANY_TIMES", -1)
    plan = plan_of(line)
    assert "TEMP B-TREE" not in plan
    assert plan.splitlines()[0].endswith("SCAN feedback_userfeedback")


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor == "sqlite", reason="plans of PostgreSQL")
@pytest.mark.parametrize("line", VIEWS)
def test_a_page_needs_no_sort_and_no_walk_over_the_table_on_postgresql(plan_of, line):
    with connection.cursor() as cursor:
        # Over a table of one row, walking is always the quickest; what is asked is whether there is another way.
        for each in ("seqscan", "sort", "bitmapscan"):
            cursor.execute(f"SET LOCAL enable_{each} = off")
    plan = plan_of(line)
    assert "Seq Scan on feedback_userfeedback" not in plan
    assert "Sort" not in plan
