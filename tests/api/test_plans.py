"""How the databases go about a page of a query: along an index in the order of the page, and never over everything."""

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from core import related
from feedback import proofs, querying
from feedback.models import Check, CheckBatch, CheckRun, RatedTool, Triage, UserFeedback, WebhookEndpoint
from feedback.querying import sides
from feedback.webhooks import sending, settling
from tests import hooks, make
from tests.conftest import data_of
from threads.models import Pin

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
    "failed:echo": "INDEX rated_tool_failed (tool_name=?)",
    "is:due": "COVERING INDEX triage_snoozed (snoozed_until>? AND snoozed_until<?)",
    "is:revisited": "INDEX feedback_revisited",
    "has:fork": "(thread_id=?",
    "agent:agt_01m8d4kz86e3kak4a3zd7arnqa": "(thread_id=?",
    "is:asked": "mention_pending (person_id=?",
    "is:snoozed": "MULTI-INDEX OR",
    "hello": "INTEGER PRIMARY KEY (rowid=?)",
}
"""What leads from a few rows of another index to their reports."""
ALWAYS_FEW = ("is:due", "is:revisited", "is:asked")
ORDERS = ("", "sort:oldest")
"""Either way along the key."""


@pytest.fixture
def plan_of(who):
    """The plan of the first page."""
    report = make.rating(who.alice, make.thread(who.alice), notes="hello")
    querying.matching(who.admin.actor, querying.parse("hello"))
    RatedTool.objects.create(feedback=querying.matching(who.admin.actor, querying.parse("")).get(), tool_name="echo")
    assert report

    def plan(line):
        query = querying.parse(line)
        rows = querying.matching(who.admin.actor, query)
        return rows.order_by(*query.order.by).values_list("pk", flat=True)[:51].explain()

    return plan


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="plans of SQLite, which has no figures and plans by rule")
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("line", [*VIEWS, *SIDES])
def test_a_page_follows_an_index_on_sqlite(plan_of, line, order):
    plan = plan_of(f"{line} {order}")
    assert (VIEWS | SIDES)[line] in plan
    assert "SCAN feedback_userfeedback\n" not in plan
    if line in VIEWS:
        assert "TEMP B-TREE" not in plan


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="plans of SQLite, which has no figures and plans by rule")
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("line", [line for line in SIDES if ":" in line and line not in ALWAYS_FEW])
def test_many_hits_are_found_on_the_walk_down_the_reports_on_sqlite(plan_of, monkeypatch, line, order):
    monkeypatch.setattr(related, "MANY", -1)
    monkeypatch.setattr(sides, "MANY_TIMES", -1)
    plan = plan_of(f"{line} {order}")
    assert "TEMP B-TREE" not in plan
    assert plan.splitlines()[0].endswith("SCAN feedback_userfeedback")


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor == "sqlite", reason="plans of PostgreSQL")
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("line", VIEWS)
def test_a_page_needs_no_sort_and_no_walk_over_the_table_on_postgresql(plan_of, line, order):
    with connection.cursor() as cursor:
        # Over a table of one row, walking is always the quickest; what is asked is whether there is another way.
        for each in ("seqscan", "sort", "bitmapscan"):
            cursor.execute(f"SET LOCAL enable_{each} = off")
    plan = plan_of(f"{line} {order}")
    assert "Seq Scan on feedback_userfeedback" not in plan
    assert "Sort" not in plan


MOMENTS = {
    "sort:edited": ("INDEX feedback_edited", "(modified<?)"),
    "sort:due": ("COVERING INDEX triage_snoozed", "(snoozed_until>?)"),
}
"""Orders by a moment that few reports have: the index that they are read along, and how it is entered further on."""


@pytest.fixture
def ordered(plan_of, who):
    """Plans of both questions of a page: for those that have the moment of an order, and for the others."""
    now = timezone.now()
    UserFeedback.objects.update(modified=now)
    Triage.objects.create(feedback=UserFeedback.objects.get(), snoozed_until=now)

    def plans(line, *, is_further):
        query = querying.parse(line)
        rows = querying.matching(who.admin.actor, query)
        place = (int(now.timestamp() * 1_000_000), 1) if is_further else None
        found = [each for each in plans_of(lambda: query.order.following(rows, place, 51)) if "LIMIT 5" in each[0]]
        return [plan for _, plan in found]

    return plans


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="plans of SQLite, which has no figures and plans by rule")
@pytest.mark.parametrize("is_further", [False, True])
@pytest.mark.parametrize("order", MOMENTS)
@pytest.mark.parametrize("line", [*VIEWS, *SIDES])
def test_an_order_by_a_moment_is_read_along_its_index_on_sqlite(ordered, line, order, is_further):
    """Each row on the way is asked by its key whether it is meant; the others follow as they do without an order."""
    index, beyond = MOMENTS[order]
    having, others = ordered(f"{line} {order}", is_further=is_further)
    walk = having.splitlines()[0]
    assert index in walk and (beyond in walk or not is_further)
    assert "INTEGER PRIMARY KEY (rowid=?)" in having and "TEMP B-TREE" not in having
    assert (VIEWS | SIDES)[line] in others
    if line in VIEWS:
        assert "TEMP B-TREE" not in others


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor == "sqlite", reason="plans of PostgreSQL")
@pytest.mark.parametrize("is_further", [False, True])
@pytest.mark.parametrize("order", MOMENTS)
@pytest.mark.parametrize("line", VIEWS)
def test_an_order_by_a_moment_is_read_along_its_index_on_postgresql(ordered, line, order, is_further):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_hashjoin = off")
    having, others = ordered(f"{line} {order}", is_further=is_further)
    assert MOMENTS[order][0].split()[-1] in having
    assert "Seq Scan on feedback_userfeedback" not in having + others
    assert "Sort" not in others


LISTS = {
    "": "",
    "?view=mine": "thread_own_in_org (created_by_id=? AND org_id=?)",
    "?view=forks": "",
    "?q=has:error": "",
    "?view=private": "thread_shared (org_id=? AND visibility=?)",
    "?q=sort:oldest": "",
}
"""Views of the list of threads, and what leads to those below the pins, the org's index where that is not said."""


def plans_of(ask):
    """The plans of the questions that a request asks, each with the question."""
    with CaptureQueriesContext(connection) as captured:
        ask()
    found = [query["sql"] for query in captured.captured_queries]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # Over a few rows, walking is always the quickest; what is asked is whether there is another way.
            for each in ("seqscan", "sort", "bitmapscan"):
                cursor.execute(f"SET LOCAL enable_{each} = off")
        explain = "EXPLAIN QUERY PLAN " if connection.vendor == "sqlite" else "EXPLAIN "
        for sql in found:
            if sql.startswith(("SELECT", "WITH")):
                cursor.execute(explain + sql.replace("%", "%%"), [])
                yield sql, "\n".join(str(row[-1]) for row in cursor.fetchall())


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="plans of SQLite, which has no figures and plans by rule")
@pytest.mark.parametrize("name", ["admin", "alice"])
@pytest.mark.parametrize("view", LISTS)
def test_somebodys_pins_lead_to_their_threads(who, name, view):
    """And what stands below them comes in the order of its index."""
    person, thread = getattr(who, name), make.thread(who.alice, visibility="org", run=False)
    Pin.objects.create(user=person.user, thread=thread)
    client = Client()
    client.force_login(person.user)
    listed = [each for each in plans_of(lambda: client.get(f"/threads/{view}")) if '"threads_pin"' in each[0]]
    [pinned] = [plan for sql, plan in listed if '"pinned_at"' in sql]
    [rest] = [plan for sql, plan in listed if '"pinned_at"' not in sql]
    assert "pin_in_order" in pinned
    assert "thread_of_org" not in pinned and "thread_all" not in pinned
    if name == "admin":
        assert (LISTS[view] or "thread_of_org (org_id=?)") in rest
        assert "TEMP B-TREE" not in pinned + rest


@pytest.mark.django_db
def test_what_completes_a_query_is_counted_along_indexes(api, plan_of):
    assert plan_of("")
    asked = list(plans_of(lambda: data_of(api("admin").get("admin/feedback/terms"))))
    counted = [plan for sql, plan in asked if "SELECT count(*)" in sql]
    assert len(counted) == 6
    for plan in counted:
        # What is named may be read from one end to the other, what names it never.
        assert "SCAN counted" not in plan and "SEARCH" in plan if connection.vendor == "sqlite" else "Index" in plan
        for table in ("feedback_labelled", "feedback_userfeedback", "feedback_ratedanswer", "feedback_ratedtool"):
            assert f"SCAN {table}" not in plan and f"Seq Scan on {table}" not in plan
        assert "Sort" not in plan.partition("SubPlan")[2]


@pytest.mark.django_db
def test_what_is_sent_next_and_what_is_settled_next_come_in_the_order_of_an_index(api, who):
    """However many wait: a bulk leaves thousands."""
    hooks.endpoint(api("admin"), "https://hooks.example.org/in", *hooks.ALL)
    report = make.rating(who.alice, make.thread(who.alice))
    hooks.triaged(report.feedback_id, who.admin, resolved=True)
    asked = list(plans_of(settling.due))
    assert len(asked) == 2
    for _, plan in asked:
        assert "webhook_event_due" in plan and "TEMP B-TREE" not in plan and "Sort" not in plan
        assert "is_triage=? AND due_at<?" in plan or "due_at <=" in plan.partition("Index Cond")[2]
    [endpoint] = WebhookEndpoint.objects.all()
    asked = list(plans_of(lambda: sending._next(endpoint.pk)))
    assert "webhook_delivery_next" in asked[0][1]
    for _, plan in asked:
        assert "TEMP B-TREE" not in plan and "Sort" not in plan


@pytest.mark.django_db
def test_the_oldest_due_event_is_the_first_of_an_index(client):
    asked = [each for each in plans_of(lambda: client.get("/metrics")) if 'FROM "feedback_webhookevent"' in each[0]]
    oldest = [plan for sql, plan in asked if "LIMIT 1" in sql]
    assert (len(asked), len(oldest)) == (4, 2)
    for _, plan in asked:
        assert "webhook_event_due" in plan
    for plan in oldest:
        assert "TEMP B-TREE" not in plan and "Sort" not in plan and "Aggregate" not in plan


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="a plan of SQLite, which plans by rule")
@pytest.mark.parametrize("body", [{"query": "hello"}, {"q": '"!!"'}])
def test_what_people_wrote_is_looked_up_once_for_each_block(api, who, body):
    """Making a list of a thread's messages anew for each of its blocks took a minute in a thread of 20,000."""
    make.thread(who.alice, "hello !!")
    found = []
    asked = list(plans_of(lambda: found.extend(data_of(api("alice").post("/v1/ai/threads/search", body))["items"])))
    searches = [plan for sql, plan in asked if 'FROM "threads_block"' in sql and 'FROM "threads_message"' in sql]
    assert len(found) == 1 and searches
    for plan in searches:
        assert "threads_message_1 (thread_id=? AND idx=?)" in plan, plan


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "postgresql", reason="what PostgreSQL may do instead")
def test_what_waits_for_the_digest_is_found_without_the_answers_of_other_reports_on_postgresql(api, who):
    make.rating(who.alice, make.thread(who.alice))
    asked = list(plans_of(lambda: data_of(api("admin").get("admin/feedback?q=hello"))))
    waiting = [plan for sql, plan in asked if 'FROM "feedback_undigested"' in sql]
    assert waiting
    for plan in waiting:
        assert "feedback_ratedanswer_pkey" in plan and "hashed" not in plan.partition("feedback_userfeedback")[0], plan


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite plans without figures")
def test_few_are_expected_to_be_due_whatever_the_time_is_on_postgresql(who):
    """A prepared query may be planned without its values. Expecting a third of all, it would read all."""
    thread = make.thread(who.alice)
    by = who.alice.user.pk
    common = {"thread_id": thread.pk, "org_id": thread.org_id, "created_by_id": by, "modified_by_id": by}
    made = UserFeedback.objects.bulk_create(
        UserFeedback(key=f"due{number:023}", message_sequence_num=number, sentiment="negative", **common)
        for number in range(3_000)
    )
    now = timezone.now()
    Triage.objects.bulk_create(Triage(feedback=each, snoozed_until=None if each.pk % 50 else now) for each in made)
    rows = querying.matching(who.admin.actor, querying.parse("is:due")).order_by().values_list("pk")[:1000]
    sql, values = rows.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE feedback_userfeedback, feedback_triage")
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        cursor.execute(f"PREPARE asked AS {sql % tuple(f'${place}' for place, _ in enumerate(values, 1))}")
        cursor.execute(f"EXPLAIN EXECUTE asked({', '.join(['%s'] * len(values))})", values)
        plan = "\n".join(line for (line,) in cursor.fetchall())
        cursor.execute("DEALLOCATE asked")
    assert "$" in plan and "triage_snoozed" in plan
    assert int(re.findall(r"rows=(\d+)", plan)[0]) < 60


def test_what_a_batch_proves_fixed_is_read_from_its_runs(who):
    thread = make.thread(who.alice)
    by = who.alice.user.pk
    common = {"thread_id": thread.pk, "created_by_id": by, "modified_by_id": by}
    reports = UserFeedback.objects.bulk_create(
        UserFeedback(
            key=f"fix{number:023}", message_sequence_num=number, sentiment="negative", org_id=thread.org_id, **common
        )
        for number in range(2_000)
    )
    checks = Check.objects.bulk_create(
        Check(feedback=each, message_sequence_num=each.message_sequence_num, title="Again", **common)
        for each in reports
    )
    batches = [CheckBatch.objects.create(created_by_id=by, skills="latest", tools="recorded") for _ in range(100)]
    CheckRun.objects.bulk_create(CheckRun(of=each, batch=batches[each.pk % 100]) for each in checks)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE feedback_userfeedback, feedback_check, feedback_checkrun, feedback_triagechange")
            cursor.execute("SET LOCAL enable_seqscan = off")  # of tables that are read as fast as a whole
    plan = proofs.fixed_by(batches[7]).explain()
    assert "checkrun_batch_id" in plan
    assert not re.search(r"\bscan (feedback_|u\d)|seq scan on feedback_(userfeedback|check)", plan, re.IGNORECASE), plan
