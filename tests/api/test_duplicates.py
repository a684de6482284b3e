"""Duplicates of duplicates: an original is no duplicate itself, so no complaint leaves the desk in a circle."""

import random
from contextlib import suppress

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.errors import DomainError
from core.wire import Nothing
from feedback import bulk, bulk_work, capture, triage
from feedback.deciding import verb_named
from feedback.models import Bulk, BulkFailure, Triage
from feedback.wire_verbs import DuplicateIn
from tests import make
from tests.conftest import data_of, refusal_of


@pytest.fixture
def thread(who):
    return make.conversation(who.alice, 20, visibility="org")


@pytest.fixture
def reports(who, thread):
    """Four reports, the submitter's first."""
    return [make.rating(who.alice, thread, index, notes=f"Report {index}").feedback_id for index in (1, 3, 5, 7)]


@pytest.fixture
def act(api):
    """`act(id, verb, **arguments)`: what an admin did, by its action."""

    def done(feedback_id, verb, **arguments):
        body = {"verb": verb, "arguments": arguments}
        return data_of(api("admin").post(f"admin/feedback/{feedback_id}/actions", body))["action_id"]

    return done


@pytest.fixture
def mark(act):
    """`mark(a, b)`: a is a duplicate of b."""
    return lambda feedback_id, of: act(feedback_id, "duplicate", duplicate_of=of)


@pytest.fixture
def undo(api):
    """`undo(action)`: what came of it, and the reasons of what stayed."""

    def done(action):
        came = data_of(api("admin").post("admin/feedback/undo", {"action_id": action}))
        return came["done_count"], [each["reason"] for each in came["failures"]]

    return done


@pytest.fixture
def state(api, reports):
    """`state()`: each report that is there, as what it is a duplicate of, "open", or its outcome."""

    def each(feedback_id):
        record = data_of(api("admin").get(f"admin/feedback/{feedback_id}/triage"))
        if not record["resolved"]:
            assert record["duplicate_of"] is record["outcome"] is None
            return "open"
        of = record["duplicate_of"]
        assert of is None or record["outcome"] == "duplicate"
        return "ABCD"[reports.index(of)] if of in reports else of or record["outcome"]

    def found():
        there = {record["feedback_id"] for record in data_of(api("admin").get("admin/feedback"))["items"]}
        return " ".join(each(report) if report in there else "gone" for report in reports)

    return found


def test_reports_never_become_duplicates_of_each_other_in_a_circle(api, reports, mark, state):
    a, b, _, d = reports
    mark(d, a)
    mark(a, b)
    assert state() == "B open open B"
    body = {"verb": "duplicate", "arguments": {"duplicate_of": d}}
    refused = refusal_of(api("admin").post(f"admin/feedback/{b}/actions", body))
    assert refused[::2] == (400, "duplicate_of: is itself a duplicate of this report")
    assert state() == "B open open B"


def test_a_duplicate_of_a_duplicate_names_what_both_repeat(reports, mark, state):
    a, b, c, d = reports
    mark(d, a)
    mark(a, b)
    mark(c, d)
    assert state() == "B open B B"


def test_what_followed_its_original_has_a_line_of_history_and_comes_back_with_it(api, reports, mark, undo, state):
    a, b, _, d = reports
    mark(d, a)
    action = mark(a, b)
    history = f"admin/feedback/{d}/history"
    line = data_of(api("admin").get(history))[-1]
    assert (line["verb"], line["actor"], line["action_id"]) == ("follow", "admin@heddle.test", action)
    assert (line["before"], line["after"]) == ({"duplicate_of": a}, {"duplicate_of": b})
    assert undo(action) == (2, [])
    assert state() == "open open open A"
    line = data_of(api("admin").get(history))[-1]
    assert (line["verb"], line["undoes"], line["after"]) == ("follow", action, {"duplicate_of": a})


def test_two_that_were_marked_one_after_the_other_come_back_in_either_order(reports, mark, undo, state):
    a, b, c, d = reports
    mark(d, a)
    first, second = mark(a, b), mark(b, c)
    assert state() == "C C open C"
    assert undo(first) == (2, [])
    assert state() == "open C open A"
    assert undo(second) == (1, ["duplicate of: changed since, so not undone"] * 2)
    assert state() == "open open open A"
    first, second = mark(a, b), mark(b, c)
    assert undo(second) == (3, []) and state() == "B open open B"
    assert undo(first) == (2, []) and state() == "open open open A"


def test_undo_leaves_a_follower_that_somebody_saw_to_since(reports, act, mark, undo, state):
    a, b, _, d = reports
    mark(d, a)
    action = mark(a, b)
    act(d, "reopen")
    mark(d, b)
    assert undo(action) == (1, ["duplicate of: changed since, so not undone"])
    assert state() == "open open open B"


def test_undo_of_a_reopening_makes_no_circle_and_no_chain(reports, act, mark, undo, state):
    a, _, _, d = reports
    mark(d, a)
    opened = act(d, "reopen")
    mark(a, d)
    assert undo(opened)[0] == 0
    assert state() == "D open open open"


def test_undo_leaves_what_followed_where_its_original_has_gone_the_same_way_again(api, reports, act, mark, undo, state):
    a, b, _, d = reports
    mark(d, a)
    action = mark(a, b)
    act(a, "reopen")
    mark(a, b)
    history = f"admin/feedback/{d}/history"
    before = data_of(api("admin").get(history))
    came, reasons = undo(action)
    assert came == 0 and reasons[1] == "duplicate of: changed since, so not undone" and len(reasons) == 2
    assert state() == "B open open B"
    assert data_of(api("admin").get(history)) == before


def test_the_duplicates_of_what_is_a_duplicate_again_follow(reports, act, mark, undo, state):
    a, b, c, d = reports
    mark(d, a)
    opened = act(d, "reopen")
    mark(c, d)
    mark(a, b)
    assert undo(opened) == (1, [])
    assert state() == "B open B B"


def test_taking_back_what_is_between_leaves_the_others_with_the_open_one(api, thread, reports, mark, undo, state):
    a, b, _, d = reports
    mark(d, a)
    action = mark(a, b)
    data_of(api("alice").request("DELETE", f"threads/{thread.thread_id}/messages/1/feedback"))
    assert state() == "gone open open B"
    assert undo(action) == (0, ["duplicate of: changed since, so not undone"])
    assert state() == "gone open open B"


@pytest.mark.parametrize("seed", range(6))
def test_whatever_is_done_an_original_is_no_duplicate(who, thread, reports, seed):
    """Marked, reopened, undone in any order and taken back: the root of a report is always one lookup away."""
    chance, admin, actions = random.Random(seed), who.admin.actor, []

    def mark():
        one, of = chance.sample(reports, 2)
        return triage.act(admin, one, (verb_named("duplicate"), DuplicateIn(duplicate_of=of)))[1]

    def reopen():
        return triage.act(admin, chance.choice(reports), (verb_named("reopen"), Nothing()))[1]

    def undo():
        return bulk.undo(admin, chance.choice(actions)).key

    def take_back():
        capture.retract(who.alice.actor, thread, chance.choice((1, 3, 5, 7)))

    for step in range(60):
        with suppress(DomainError, IndexError):
            done = chance.choices((mark, reopen, undo, take_back), (9, 3, 6, 1 if step > 40 else 0))[0]()
            actions += [done] if done else []
        assert not Triage.objects.filter(duplicate_of__triage__duplicate_of__isnull=False).exists()
    assert len(actions) > 8


def test_a_bulk_of_duplicates_takes_theirs_along_and_brings_them_back(api, reports, mark, undo, state):
    a, b, c, d = reports
    mark(d, a)
    body = {"verb": "duplicate", "arguments": {"duplicate_of": c}, "feedback_ids": [a, b, c]}
    done = data_of(api("admin").post("admin/feedback/bulk", body))
    assert (done["done_count"], done["failures"]) == (2, [])
    assert state() == "C C open C"
    assert undo(done["action_id"]) == (3, [])
    assert state() == "open open open A"


def test_the_desk_speaks_of_what_was_marked_and_not_of_what_followed(api, who, reports, mark):
    a, b, _, d = reports
    mark(d, a)
    mark(a, b)
    page = api("admin").client
    page.force_login(who.admin.user)
    shown = page.get(f"/feedback/?q=&item={d}").content.decode()
    assert "Marked \u201cReport 1\u201d as duplicate of \u201cReport 3\u201d" in shown
    assert f"made it a duplicate of {b}: the original became a duplicate itself" in shown


def test_many_followers_cost_no_more_queries(api, who, thread, mark):
    def cost(count):
        rated = [make.rating(who.bob, thread, 2 * place + 1).feedback_id for place in range(count + 2)]
        for each in rated[2:]:
            mark(each, rated[0])
        with CaptureQueriesContext(connection) as queries:
            mark(rated[0], rated[1])
        for place in range(count + 2):
            data_of(api("bob").request("DELETE", f"threads/{thread.thread_id}/messages/{2 * place + 1}/feedback"))
        return len(queries)

    cost(1)
    assert cost(2) == cost(6)


def test_a_bulk_leaves_the_final_original_out_and_counts_what_was_its_duplicate_already(api, reports, mark):
    """Named by one of its duplicates."""
    a, b, c, d = reports
    mark(b, a)
    body = {"verb": "duplicate", "arguments": {"duplicate_of": b}, "feedback_ids": [a, b, c]}
    done = data_of(api("admin").post("admin/feedback/bulk", body))
    assert (done["total"], done["done_count"], done["failures"]) == (1, 1, [])
    body = {"verb": "duplicate", "arguments": {"duplicate_of": a}, "feedback_ids": [c, d]}
    done = data_of(api("admin").post("admin/feedback/bulk", body))
    assert (done["done_count"], [each["feedback_id"] for each in done["failures"]]) == (1, [c])
    assert BulkFailure.objects.get().is_as_wanted


def test_a_report_that_comes_to_match_while_others_are_waited_for_is_left(
    api, who, reports, mark, act, state, monkeypatch
):
    """Nobody has locked its duplicates, which would have to follow it."""
    late, copy, labelled, original = reports
    mark(copy, late)
    act(labelled, "label", add=["same"])
    hold = triage.hold_for

    def slowly(body, subjects):
        hold(body, subjects)
        monkeypatch.setattr(triage, "hold_for", hold)
        act(late, "label", add=["same"])

    monkeypatch.setattr(triage, "hold_for", slowly)
    body = {"verb": "duplicate", "arguments": {"duplicate_of": original}, "query": "label:same"}
    done = data_of(api("admin").post("admin/feedback/bulk", body))
    assert (done["total"], done["done_count"], done["failed_count"]) == (1, 1, 0)
    assert state() == "open A D open"


def test_a_bulk_counts_what_comes_to_match_before_it_is_reached(api, reports, act, monkeypatch):
    for each in reports[:2]:
        act(each, "label", add=["same"])
    monkeypatch.setattr(bulk, "AT_ONCE", 0)
    begun = data_of(
        api("admin").post("admin/feedback/bulk", {"verb": "own", "arguments": {"owner": "me"}, "query": "label:same"})
    )
    assert (begun["state"], begun["total"]) == ("queued", 2)
    act(reports[2], "label", add=["same"])
    bulk_work.advance(Bulk.objects.get().pk)
    done = data_of(api("admin").get(f"admin/feedback/bulk/{begun['bulk_id']}"))
    assert (done["state"], done["total"], done["done_count"]) == ("done", 3, 3)
