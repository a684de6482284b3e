"""H6 to H8: reports for admins, and their triage (spec 3.10)."""

from datetime import datetime, timedelta
from urllib.parse import quote

import pytest
import time_machine
from django.utils import timezone

from accounts.models import Membership
from feedback.models import Triage, TriageChange, UserFeedback
from tests import make
from tests.api import shapes
from tests.conftest import data_of, refusal_of
from threads.models import Thread

FULL = shapes.USER_FEEDBACK | shapes.ADMIN_ONLY


@pytest.fixture
def thread(who):
    return make.thread(who.alice, visibility="org")


@pytest.fixture
def report(who, thread):
    """A report of alice."""
    return make.rating(who.alice, thread, categories=["incorrect"], notes="It is 4.")


@pytest.fixture
def path(report):
    return f"admin/feedback/{report.feedback_id}"


def test_admin_routes_return_the_full_record_B126(api, report, path):
    record = data_of(api("admin").get(path))
    assert set(record) == FULL
    assert record["feedback_id"] == report.feedback_id
    assert (record["resolved"], record["admin_label"], record["admin_note"]) == (False, None, None)
    assert (record["resolved_by"], record["resolved_at"]) == (None, None)
    [listed] = data_of(api("admin").get("admin/feedback"))["items"]
    assert listed == record
    assert data_of(api("admin").put(path, {})) == record


def test_absent_is_unchanged_null_clears_and_a_value_overwrites_B127(api, path):
    put = lambda body: data_of(api("admin").put(path, body))  # noqa: E731
    both = put({"admin_label": "bug", "admin_note": "Seen before."})
    assert (both["admin_label"], both["admin_note"]) == ("bug", "Seen before.")
    assert put({"admin_label": "wording"})["admin_note"] == "Seen before."
    cleared = put({"admin_note": None})
    assert (cleared["admin_label"], cleared["admin_note"]) == ("wording", None)
    assert put({}) == cleared
    assert put({"admin_label": ""})["admin_label"] == ""


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u200b"])
def test_a_note_of_which_nothing_is_seen_is_none(api, path, blank):
    """As on the page, and as `has:note` finds it."""
    data_of(api("admin").put(path, {"admin_note": "Seen before."}))
    assert data_of(api("admin").put(path, {"admin_note": blank}))["admin_note"] is None
    acted = data_of(api("admin").post(f"{path}/actions", {"verb": "note", "arguments": {"admin_note": blank}}))
    assert (acted["action_id"], acted["report"]["admin_note"]) == (None, None)
    assert data_of(api("admin").get("admin/feedback?q=has:note"))["items"] == []


@pytest.mark.parametrize(
    "body",
    [
        {"admin_lable": "typo"},
        {"admin_label": "new", "sentiment": "positive"},
        {"admin_label": "new", "resolved_at": None},
        {"admin_label": "new", "resolved": None},
        {"admin_label": "new", "resolved": "true"},
        {"admin_label": "new", "resolved": 1},
        {"admin_label": 5},
        {"admin_label": "x" * 201},
        {"admin_label": "new", "admin_note": ["x"]},
        {"admin_label": "new", "admin_note": "x" * 20_001},
        {"admin_label": "new", "notes": "theirs"},
    ],
)
def test_an_unknown_or_wrong_field_is_refused_and_nothing_changes_B128_B130(api, path, body):
    data_of(api("admin").put(path, {"admin_label": "kept"}))
    before, changes = UserFeedback.objects.values().get(), TriageChange.objects.count()
    assert refusal_of(api("admin").put(path, body))[:2] == (400, "RobotoInvalidRequestException")
    assert UserFeedback.objects.values().get() == before
    assert TriageChange.objects.count() == changes


def test_resolving_stamps_time_and_admin_and_reopening_clears_both_B129(api, path):
    now = timezone.now()
    with time_machine.travel(now, tick=False):
        resolved = data_of(api("admin").put(path, {"resolved": True}))
    assert (resolved["resolved"], resolved["resolved_by"]) == (True, "admin@heddle.test")
    assert datetime.fromisoformat(resolved["resolved_at"]) == now
    with time_machine.travel(now + timedelta(hours=1), tick=False):
        again = data_of(api("admin").put(path, {"resolved": True, "admin_note": "Still."}))
    assert again["resolved_at"] == resolved["resolved_at"]
    reopened = data_of(api("admin").put(path, {"resolved": False}))
    assert (reopened["resolved"], reopened["resolved_by"], reopened["resolved_at"]) == (False, None, None)


def test_the_stamps_stay_with_the_admin_who_resolved_first_B129(api, who, path):
    data_of(api("admin").put(path, {"resolved": True}))
    who.eve.user.is_staff = True
    who.eve.user.save()
    again = data_of(api("eve").put(path, {"resolved": True, "admin_label": "seen"}))
    assert again["resolved_by"] == "admin@heddle.test"


def test_triage_leaves_modified_and_its_author_alone_B131(api, report, path):
    with time_machine.travel(timezone.now() + timedelta(hours=1)):
        record = data_of(api("admin").put(path, {"resolved": True, "admin_label": "bug", "admin_note": "x"}))
    assert record["modified"] == record["created"]
    assert record["modified_by"] == "alice@acme.test"
    assert record["sentiment"] == "negative"


def test_triage_survives_the_submitters_next_submission_B132(api, path, thread):
    before = data_of(api("admin").put(path, {"resolved": True, "admin_label": "bug", "admin_note": "x"}))
    again = api("alice").post(f"threads/{thread.thread_id}/messages/1/feedback", {"sentiment": "positive"})
    assert set(data_of(again)) == shapes.USER_FEEDBACK
    after = data_of(api("admin").get(path))
    assert {key: after[key] for key in shapes.ADMIN_ONLY} == {key: before[key] for key in shapes.ADMIN_ONLY}
    assert after["sentiment"] == "positive"


@pytest.mark.parametrize("name", ["alice", "bob", "eve"])
def test_only_platform_admins_triage_not_even_org_admins_or_the_submitter_B133(api, who, path, name):
    Membership.objects.update(role=Membership.Role.ADMIN)
    before = UserFeedback.objects.values().get()
    for response in (
        api(name).get("admin/feedback"),
        api(name).get(path),
        api(name).put(path, {"resolved": True}),
        api(name).put(path, {"nonsense": 1}),
        api(name).get("admin/feedback/fb_unknown"),
    ):
        assert refusal_of(response)[:2] == (403, "RobotoUnauthorizedException")
    assert UserFeedback.objects.values().get() == before


def test_a_report_is_found_by_its_id_and_by_that_of_its_thread(api, who, report, thread):
    other = make.rating(who.bob, make.thread(who.bob), notes="Other")
    report = report.feedback_id
    addresses = (
        f"http://heddle.example.org:8000/feedback/?q=is%3Aopen&item={report}&pane=report",
        f"https://heddle.example.org/feedback/?q=is:open&item={report}",
        f"https://heddle.example.org/threads/{thread.thread_id}/?at=1#m1",
    )
    for line in (report, f"id:{report}", thread.thread_id, f"id:{thread.thread_id}", *map(quote, addresses)):
        found = data_of(api("admin").get(f"admin/feedback?q={line}"))["items"]
        assert [each["feedback_id"] for each in found] == [report], line
    [found] = data_of(api("admin").get(f"admin/feedback?q=-id:{report}"))["items"]
    assert found["feedback_id"] == other.feedback_id
    unknown = "fb_01m853j92ren7s7dpb1s5e6eyv"
    assert data_of(api("admin").get(f"admin/feedback?q={unknown}"))["items"] == []


@pytest.mark.parametrize("unknown", ["fb_unknown", "fb_", "x", "ags_1"])
def test_an_unknown_report_is_not_found(api, report, unknown):
    for response in (
        api("admin").get(f"admin/feedback/{unknown}"),
        api("admin").put(f"admin/feedback/{unknown}", {"resolved": True}),
    ):
        assert refusal_of(response)[:2] == (404, "RobotoNotFoundException")


def test_who_may_not_ask_and_what_is_not_there_come_before_what_is_wrong(api, path):
    assert refusal_of(api("alice").put(path, {"resolved": "perhaps"}))[0] == 403
    assert refusal_of(api("admin").put("admin/feedback/fb_unknown", {"resolved": "perhaps"}))[0] == 404


def test_every_change_is_recorded_with_before_and_after_and_a_repeat_is_none(api, who, path):
    for _ in range(2):
        data_of(api("admin").put(path, {"resolved": True, "admin_label": "bug"}))
    data_of(api("admin").put(path, {"admin_label": None}))
    record = data_of(api("admin").get(path))
    changes = [(change.before, change.after) for change in TriageChange.objects.all()]
    unresolved = {"resolved": False, "resolved_at": None, "resolved_by_id": None}
    resolved = {"resolved": True, "resolved_at": record["resolved_at"], "resolved_by_id": who.admin.user.pk}
    assert changes == [
        ({"admin_label": None, **unresolved}, {"admin_label": "bug", **resolved}),
        ({"admin_label": "bug"}, {"admin_label": None}),
    ]
    assert set(TriageChange.objects.values_list("actor__email", flat=True)) == {"admin@heddle.test"}


# H6


@pytest.fixture
def reports(who, thread):
    """Four reports, oldest first: alice negative, bob positive, eve negative and resolved, alice positive."""
    hers = make.thread(who.eve)
    other = make.thread(who.alice)
    made = [
        make.rating(who.alice, thread, categories=["slow", "other"], notes="n"),
        make.rating(who.bob, thread, sentiment="positive", categories=["helpful"]),
        make.rating(who.eve, hers, categories=["slow"]),
        make.rating(who.alice, other, sentiment="positive"),
    ]
    row = UserFeedback.objects.get(key=made[2].feedback_id[3:])
    row.resolved, row.resolved_at, row.resolved_by = True, timezone.now(), who.admin.user
    row.save()
    return [each.feedback_id for each in made]


@pytest.fixture
def listed(api, reports):
    """The places of the reports that a query lists, in its order."""

    def places(query=""):
        page = data_of(api("admin").get(f"admin/feedback{query}"))
        assert set(page) == shapes.PAGE
        assert all(set(item) == FULL for item in page["items"])
        return [reports.index(item["feedback_id"]) for item in page["items"]]

    return places


def test_reports_are_listed_newest_first_over_all_orgs(listed):
    """H6."""
    assert listed() == [3, 2, 1, 0]


def test_every_filter_narrows_and_all_hold_together(listed, who, thread):
    """H6."""
    assert listed(f"?thread_id={thread.thread_id}") == [1, 0]
    assert listed(f"?thread_id=ch_{thread.key}") == [1, 0]
    Thread.objects.filter(pk=thread.pk).update(import_id="ath_zz9")
    assert listed("?thread_id=ath_zz9") == [1, 0], "as it was called before the import (spec 1.7)"
    assert listed(f"?org_id={who.globex.org_id}") == [2]
    assert listed("?sentiment=negative") == [2, 0]
    assert listed("?category=slow") == [2, 0]
    assert listed("?category=other") == [0]
    assert listed("?category=unsafe") == []
    assert listed("?resolved=True") == [2]
    assert listed("?resolved=false") == [3, 1, 0]
    assert listed(f"?sentiment=positive&org_id={who.acme.org_id}&resolved=False") == [3, 1]
    assert listed("?thread_id=ags_unknown") == []
    assert listed("?org_id=nonsense") == []
    assert listed("?sentiment=&category=") == [3, 2, 1, 0]


@pytest.mark.parametrize("query", ["sentiment=neutral", "category=dull", "resolved=maybe", "limit=0", "limit=201",
                                   "limit=x", "page_token=x"])  # fmt: skip
def test_an_unknown_value_of_a_filter_is_refused_by_its_name(api, query):
    status, _, said = refusal_of(api("admin").get(f"admin/feedback?{query}"))
    assert (status, said.partition(":")[0]) == (400, query.partition("=")[0])


def test_pages_follow_one_another_without_loss(api, listed, reports):
    for limit in (1, 2, 3, 4):
        seen, token = [], ""
        while token is not None:
            page = data_of(api("admin").get(f"admin/feedback?limit={limit}&page_token={token}"))
            seen += [reports.index(item["feedback_id"]) for item in page["items"]]
            token = page["next_token"]
        assert seen == [3, 2, 1, 0]


def test_the_oldest_come_first_where_the_query_says_so(api, listed, reports):
    assert listed("?q=sort:oldest") == [0, 1, 2, 3]
    assert listed("?q=is:open%20sort:oldest&sentiment=positive") == [1, 3]
    for limit in (1, 2, 3, 4):
        seen, token = [], ""
        while token is not None:
            page = data_of(api("admin").get(f"admin/feedback?q=sort:oldest&limit={limit}&page_token={token}"))
            seen += [reports.index(item["feedback_id"]) for item in page["items"]]
            token = page["next_token"]
        assert seen == [0, 1, 2, 3]
    token = data_of(api("admin").get("admin/feedback?q=sort:oldest&limit=1"))["next_token"]
    assert refusal_of(api("admin").get(f"admin/feedback?limit=1&page_token={token}"))[0] == 400


def test_what_was_edited_or_is_due_comes_first_where_the_query_says_so(api, listed, reports, who):
    """What is resolved waits for nothing; the others follow, the newest first."""
    rows = {place: UserFeedback.objects.get(key=key[3:]) for place, key in enumerate(reports)}
    for place, days in ((1, 3), (3, 2), (2, 1), (0, 3)):
        until = timezone.now().replace(microsecond=0) + timedelta(days=days)
        Triage.objects.create(feedback=rows[place], snoozed_until=until)
    assert listed("?q=sort:due") == [3, 0, 1, 2]
    assert listed("?q=sort:due%20sentiment:negative") == [0, 2]
    for place in (2, 0):
        UserFeedback.objects.filter(pk=rows[place].pk).update(modified=timezone.now())
    assert listed("?q=sort:edited") == [0, 2, 3, 1]
    assert listed("?q=is:open%20sort:edited&sentiment=negative") == [0]
    for name, expected in (("due", [3, 0, 1, 2]), ("edited", [0, 2, 3, 1])):
        for limit in (1, 2, 3, 4):
            seen, token = [], ""
            while token is not None:
                page = data_of(api("admin").get(f"admin/feedback?q=sort:{name}&limit={limit}&page_token={token}"))
                seen += [reports.index(item["feedback_id"]) for item in page["items"]]
                token = page["next_token"]
            assert seen == expected
    token = data_of(api("admin").get("admin/feedback?q=sort:edited&limit=1"))["next_token"]
    assert refusal_of(api("admin").get(f"admin/feedback?q=sort:due&limit=1&page_token={token}"))[0] == 400


def test_a_page_token_of_another_list_is_refused(api, who, reports):
    make.thread(who.alice, run=False)
    token = data_of(api("alice").get("threads?limit=1"))["next_token"]
    assert token
    assert refusal_of(api("admin").get(f"admin/feedback?page_token={token}"))[0] == 400
