"""An undo is an action, too, and can be undone: what it took back is done again, by who redoes it, and as of now."""

from contextlib import suppress
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, example, given, settings, strategies

from accounts.models import User
from feedback import bulk, bulk_work
from feedback.models import Bulk, UserFeedback
from tests import make
from tests.conftest import Api, data_of, refusal_of
from tests.people import second_admin

IGNORED = {"version", "resolved_at", "replied_at"}
"""What tells when something was done."""


@pytest.fixture
def act(admin):
    """`act(id, verb, **arguments)`: the action's id."""

    def done(feedback_id, verb, **arguments):
        body = {"verb": verb, "arguments": arguments}
        return data_of(admin.post(f"admin/feedback/{feedback_id}/actions", body))["action_id"]

    return done


@pytest.fixture
def undo(admin):
    """`undo(action)`: the record of the undo, or the redo."""
    return lambda action: data_of(admin.post("admin/feedback/undo", {"action_id": action}))


@pytest.fixture
def refused(admin):
    return lambda action: refusal_of(admin.post("admin/feedback/undo", {"action_id": action}))


@pytest.fixture
def state(admin):
    """`state(id)`: a report's triage, without times."""

    def read(feedback_id):
        record = data_of(admin.get(f"admin/feedback/{feedback_id}/triage"))
        return {name: value for name, value in record.items() if name not in IGNORED}

    return read


@pytest.mark.parametrize(
    ("before", "verb", "arguments"),
    [
        ([], "label", {"add": ["money", "bags"]}),
        ([], "note", {"admin_note": "Seen."}),
        ([], "own", {"owner": "me"}),
        ([], "resolve", {"outcome": "fixed"}),
        ([("resolve", {"outcome": "fixed"})], "outcome", {"outcome": "answered"}),
        ([("resolve", {"outcome": "fixed"})], "reopen", {}),
        ([], "duplicate", {"duplicate_of": "OTHER"}),
        ([("duplicate", {"duplicate_of": "OTHER"})], "reopen", {}),
        ([], "snooze", {"until_again": True}),
        ([("snooze", {"until_again": True})], "wake", {}),
        ([], "reply", {"public_status": "answered", "public_reply": "It is 4 now."}),
    ],
)
def test_every_verb_can_be_done_again_after_its_undo(
    admin, act, undo, refused, state, reports, before, verb, arguments
):
    given = lambda arguments: {k: reports[1] if v == "OTHER" else v for k, v in arguments.items()}  # noqa: E731
    for name, with_ in before:
        act(reports[0], name, **given(with_))
    at_first = state(reports[0])
    action = act(reports[0], verb, **given(arguments))
    done = state(reports[0])
    back = undo(action)
    assert state(reports[0]) == at_first
    again = undo(back["action_id"])
    assert (again["verb"], again["done_count"], again["failed_count"]) == ("redo", 1, 0)
    assert state(reports[0]) == done
    line = data_of(admin.get(f"admin/feedback/{reports[0]}/history"))[-1]
    assert (line["verb"], line["action_id"], line["undoes"]) == (verb, again["action_id"], None)
    assert refused(back["action_id"])[0] == refused(action)[0] == 409
    back = undo(again["action_id"])
    assert state(reports[0]) == at_first
    undo(back["action_id"])
    assert state(reports[0]) == done


def test_a_resolution_that_is_redone_is_of_who_redoes_it_and_of_now(admin, act, undo, reports):
    action = act(reports[0], "resolve", outcome="fixed")
    first = data_of(admin.get(f"admin/feedback/{reports[0]}"))
    bea = second_admin()
    back = undo(action)
    data_of(Api(bea.token).post("admin/feedback/undo", {"action_id": back["action_id"]}))
    found = data_of(admin.get(f"admin/feedback/{reports[0]}"))
    assert found["resolved_by"] == bea.user.email and found["resolved_at"] > first["resolved_at"]


def test_a_second_resolution_can_be_redone(admin, act, undo, who, thread, reports):
    """It has no other state than the first one, only its time, admin and outcome."""
    act(reports[0], "resolve", outcome="noted")
    make.rating(who.alice, thread, 1, notes="Still wrong")
    action = act(reports[0], "resolve", outcome="fixed")
    second = data_of(admin.get(f"admin/feedback/{reports[0]}/triage"))
    again = undo(undo(action)["action_id"])
    found = data_of(admin.get(f"admin/feedback/{reports[0]}/triage"))
    assert again["failed_count"] == 0 and found["outcome"] == "fixed"
    assert found["resolved_at"] > second["resolved_at"], "so it is no more one that was changed since"


def test_undos_of_one_column_are_redone_in_turn(act, undo, state, reports):
    """Each redo finds the value that its undo left, though others wrote the column in between."""
    first = act(reports[0], "note", admin_note="One")
    second = act(reports[0], "note", admin_note="Two")
    late, early = undo(second)["action_id"], undo(first)["action_id"]
    assert state(reports[0])["admin_note"] is None
    assert undo(early)["failed_count"] == 0 and state(reports[0])["admin_note"] == "One"
    again = undo(late)
    assert again["failed_count"] == 0 and state(reports[0])["admin_note"] == "Two"
    assert undo(again["action_id"])["failed_count"] == 0 and state(reports[0])["admin_note"] == "One"


def test_an_earlier_action_is_not_undone_while_a_redone_one_stands_on_it(act, undo, state, reports):
    first = act(reports[0], "note", admin_note="One")
    second = act(reports[0], "note", admin_note="Two")
    act_again = undo(undo(second)["action_id"])["action_id"]
    assert undo(first)["failed_count"] == 1 and state(reports[0])["admin_note"] == "Two"
    undo(act_again)
    assert undo(first)["failed_count"] == 0 and state(reports[0])["admin_note"] is None


@pytest.mark.parametrize(
    ("mine", "theirs", "column"),
    [
        (("note", {"admin_note": "Mine"}), [("note", {"admin_note": "Bea's"})], "note"),
        (("own", {"owner": "me"}), [("own", {"owner": "bea@heddle.test"})], "owner"),
        (("resolve", {"outcome": "fixed"}), [("resolve", {"outcome": "noted"})], "outcome"),
        (("resolve", {"outcome": "fixed"}), [("resolve", {"outcome": "noted"}), ("reopen", {})], "resolved"),
        (("snooze", {"until_again": True}), [("snooze", {"until_again": True}), ("wake", {})], "snoozed until again"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_somebody_decided_since_the_undo_stays_and_is_named(act, undo, state, reports, mine, theirs, column):
    bea = second_admin()
    back = undo(act(reports[0], mine[0], **mine[1]))
    for verb, arguments in theirs:
        body = {"verb": verb, "arguments": arguments}
        data_of(Api(bea.token).post(f"admin/feedback/{reports[0]}/actions", body))
    before = state(reports[0])
    again = undo(back["action_id"])
    assert (again["done_count"], again["failed_count"]) == (0, 1)
    assert column in again["failures"][0]["reason"] and again["failures"][0]["reason"].endswith("so not redone")
    assert state(reports[0]) == before


def test_labels_of_others_stay_and_a_label_that_was_renamed_comes_back_by_its_new_name(
    admin, act, undo, state, reports
):
    act(reports[1], "label", add=["money"])
    back = undo(act(reports[0], "label", add=["money"]))
    act(reports[0], "label", add=["bags"])
    data_of(admin.request("PATCH", "admin/feedback/labels/money", {"name": "refunds"}))
    assert undo(back["action_id"])["failed_count"] == 0
    assert sorted(state(reports[0])["labels"]) == ["bags", "refunds"]


def test_what_had_followed_its_original_follows_again_and_is_not_counted(admin, act, undo, state, reports):
    copy, original, root = reports
    act(copy, "duplicate", duplicate_of=original)
    action = act(original, "duplicate", duplicate_of=root)
    back = undo(action)
    assert state(copy)["duplicate_of"] == original and back["done_count"] == 2
    again = undo(back["action_id"])
    assert (again["total"], again["done_count"], again["failed_count"]) == (1, 1, 0)
    assert [state(each)["duplicate_of"] for each in (copy, original)] == [root, root]
    undo(again["action_id"])
    assert [state(each)["duplicate_of"] for each in (copy, original)] == [original, None]


def test_a_bulk_is_redone_as_a_whole_but_for_what_is_gone(admin, undo, who, thread, reports):
    body = {"verb": "resolve", "arguments": {"outcome": "fixed"}, "feedback_ids": reports}
    back = undo(data_of(admin.post("admin/feedback/bulk", body))["action_id"])
    UserFeedback.objects.filter(key=reports[1].removeprefix("fb_")).delete()
    again = undo(back["action_id"])
    assert (again["state"], again["done_count"], again["total"]) == ("done", 2, 2)
    assert UserFeedback.objects.filter(resolved=True).count() == 2


@pytest.mark.parametrize(
    ("verb", "arguments", "undone", "redone"),
    [
        ("label", {"add": ["money", "bags"]}, 5, 6),
        ("resolve", {"outcome": "fixed"}, 4, 4),
        ("own", {"owner": "me"}, 3, 3),
        ("reply", {"public_status": "answered", "public_reply": "It is 4 now."}, 3, 3),
    ],
)
def test_an_undo_asks_about_all_reports_of_a_bulk_at_once(admin, undo, who, verb, arguments, undone, redone):
    """And so does its redo: for each report it asks who is to be told, and writes."""
    thread = make.conversation(who.alice, 40)
    reports = [make.rating(who.alice, thread, 2 * place + 1).feedback_id for place in range(20)]
    asked = []
    for count in (10, 20):
        body = {"verb": verb, "arguments": arguments, "feedback_ids": reports[:count]}
        action = data_of(admin.post("admin/feedback/bulk", body))["action_id"]
        for _ in range(2):
            with CaptureQueriesContext(connection) as captured:
                action = undo(action)["action_id"]
            asked.append(len(captured))
        undo(action)
    assert (asked[2] - asked[0]) / 10 <= undone and (asked[3] - asked[1]) / 10 <= redone


def test_an_undo_that_is_redone_while_it_runs_stops_and_what_it_undid_is_done_again(admin, undo, reports, monkeypatch):
    body = {"verb": "own", "arguments": {"owner": "me"}, "feedback_ids": reports}
    action = data_of(admin.post("admin/feedback/bulk", body))["action_id"]
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    monkeypatch.setattr(bulk_work, "CHUNK", 2)
    back = undo(action)
    assert back["state"] == "queued"
    make.half_done_bulk()
    of_mine = UserFeedback.objects.filter(triage__owner__isnull=False)
    assert of_mine.count() == 1
    again = undo(back["action_id"])
    assert (again["done_count"], again["failed_count"]) == (2, 0) and of_mine.count() == 3
    assert Bulk.objects.get(key=back["bulk_id"].removeprefix("blk_")).state == "cancelled"
    assert undo(action)["total"] == 1, "the rest of the first action can still be undone"


def test_an_undo_is_redone_for_half_an_hour_and_only_by_admins(api, act, undo, refused, reports):
    back = undo(act(reports[0], "own", owner="me"))["action_id"]
    assert refusal_of(api("alice").post("admin/feedback/undo", {"action_id": back}))[0] == 403
    with time_machine.travel(timezone.now() + timedelta(minutes=31)):
        status, _, said = refused(back)
    assert status == 409 and "more than 30 minutes old" in said


OTHER = {"duplicate_of": "OTHER"}


@pytest.mark.parametrize(
    "story",
    [
        [("resolve", {"outcome": "fixed"}), ("reopen", {})],
        [("resolve", {"outcome": "noted"}), ("RATE", {}), ("resolve", {"outcome": "fixed"})],
        [("duplicate", OTHER), ("reopen", {})],
        [("snooze", {"until_again": True}), ("resolve", {"outcome": "fixed"}), ("outcome", {"outcome": "answered"})],
        [("reply", {"public_status": "answered", "public_reply": word}) for word in ("One", "Two", "Three")],
    ],
)
def test_all_that_was_undone_is_redone_whatever_it_was(act, undo, state, reports, who, thread, story):
    """A redo resolves anew, at another time: to the undo before it, that is no decision of somebody else's."""
    actions = []
    for verb, arguments in story:
        if verb == "RATE":
            make.rating(who.alice, thread, 1, notes="Still wrong")
        else:
            given = {key: reports[1] if value == "OTHER" else value for key, value in arguments.items()}
            actions.append(act(reports[0], verb, **given))
    done = state(reports[0])
    undos = [undo(action)["action_id"] for action in reversed(actions)]
    assert [undo(each)["failures"] for each in reversed(undos)] == [[]] * len(undos)
    assert state(reports[0]) == done


VERBS = [
    ("note", {"admin_note": "N"}),
    ("label", {"add": ["L"]}),
    ("own", {"owner": "me"}),
    ("own", {"owner": "bea@heddle.test"}),
    ("resolve", {"outcome": "fixed"}),
    ("reopen", {}),
    ("snooze", {"until_again": True}),
    ("outcome", {"outcome": "answered"}),
    ("reply", {"public_status": "answered", "public_reply": "R"}),
]


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    verbs=strategies.lists(strategies.sampled_from(VERBS), min_size=1, max_size=4),
    presses=strategies.lists(strategies.sampled_from("zzZ"), min_size=2, max_size=12),
)
@example(verbs=[("note", {"admin_note": "N"}), ("note", {"admin_note": "M"})], presses=[*"zzZzZZ"])
def test_undo_and_redo_go_back_and_forth_over_the_same_states(act, undo, state, who, verbs, presses):
    """However often, and in whatever order, as the page offers them."""
    if not User.objects.filter(email="bea@heddle.test").exists():
        second_admin()
    report = make.rating(who.alice, make.conversation(who.alice, 2), notes="Wrong").feedback_id
    back, forth = [], []
    for number, (verb, arguments) in enumerate(verbs):
        before = state(report)
        with suppress(AssertionError):  # not possible then
            words = {key: f"{value}{number}" if value in ("N", "R") else value for key, value in arguments.items()}
            if action := act(report, verb, **words):
                back.append((action, before, state(report)))
    for press in presses:
        whence, whither = (back, forth) if press == "z" else (forth, back)
        if whence:
            action, before, after = whence.pop()
            done = undo(action)
            assert done["failures"] == [] and state(report) == (before if press == "z" else after)
            whither.append((done["action_id"], before, after))


def test_a_duplicate_of_what_was_retracted_is_not_redone(api, act, undo, state, reports, thread):
    """It would be resolved as a duplicate of nothing."""
    back = undo(act(reports[0], "duplicate", duplicate_of=reports[1]))
    before = state(reports[0])
    data_of(api("alice").request("DELETE", f"threads/{thread.thread_id}/messages/3/feedback", None))
    assert undo(back["action_id"])["failed_count"] == 1 and state(reports[0]) == before


def test_what_is_redone_or_undone_already_is_called_so(act, undo, refused, reports):
    action = act(reports[0], "own", owner="me")
    back = undo(action)["action_id"]
    undo(back)
    assert refused(action)[2] == "This action was already undone."
    assert refused(back)[2] == "This undo was already redone."
