"""Closing the loop: what a submitter is told of a report, taking one back, and what becomes of all that names it."""

import json
import threading
from datetime import timedelta
from functools import partial
from io import StringIO

import pytest
import time_machine
from django.core.management import call_command
from django.db import IntegrityError, OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from core import bodies, db
from core.errors import Conflict, DomainError
from core.wire import Nothing
from feedback import access, bulk, bulk_work, capture, deciding, digesting, leasing, triage, undo_chunk, versions
from feedback.models import Label, Lease, Reply, Retraction, Triage, TriageChange, Undigested, UserFeedback
from feedback.models.webhook import WebhookAttempt, WebhookDelivery, WebhookEvent
from feedback.webhooks import settling
from feedback.wire import TriageIn
from feedback.wire_verbs import DuplicateIn
from tests import hooks, make
from tests.api import shapes
from tests.conftest import data_of, refusal_of
from tests.pages.desk import live

GONE = "The submitter retracted this report."


@pytest.fixture
def thread(who):
    return make.conversation(who.alice, 40, visibility="org")


@pytest.fixture
def path(thread):
    return f"threads/{thread.thread_id}"


@pytest.fixture
def act(api):
    """`act(id, verb, **arguments)`: what an admin did."""

    def done(feedback_id, verb, **arguments):
        body = {"verb": verb, "arguments": arguments}
        return data_of(api("admin").post(f"admin/feedback/{feedback_id}/actions", body))

    return done


def take_back(client, path, index=1):
    return client.request("DELETE", f"{path}/messages/{index}/feedback")


# What the submitter is told


def test_the_submitter_is_told_that_it_came_was_looked_at_and_was_answered(api, who, thread, path, act):
    report = make.rating(who.alice, thread, 1, notes="Wrong seat").feedback_id

    def told():
        [found] = data_of(api("alice").get(f"{path}/feedback/replies"))
        assert set(found) == {"feedback_id", "message_sequence_num", "public_status", "public_reply", "replied_at"}
        assert (found["feedback_id"], found["message_sequence_num"]) == (report, 1)
        return found["public_status"], found["public_reply"], found["replied_at"]

    assert told() == ("received", None, None)
    act(report, "reply", public_status="looked_at")
    assert told()[:2] == ("looked_at", None) and told()[2]
    now = timezone.now().replace(microsecond=0) + timedelta(minutes=1)
    with time_machine.travel(now, tick=False):
        act(report, "reply", public_reply="Row 12 it is.")
    assert told() == ("answered", "Row 12 it is.", now.isoformat().replace("+00:00", "Z"))
    act(report, "reply", public_status="received")
    assert told() == ("received", None, None), "that an answer was taken back is not the submitter's affair"


def test_what_admins_do_besides_a_reply_tells_the_submitter_nothing(api, who, thread, path, act):
    report = make.rating(who.alice, thread, 1).feedback_id
    before = data_of(api("alice").get(f"{path}/feedback/replies"))
    for verb, arguments in (("note", {"admin_note": "hm"}), ("own", {"owner": "me"}), ("label", {"add": ["money"]}),
                            ("snooze", {"until_again": True}), ("resolve", {"outcome": "fixed"})):  # fmt: skip
        act(report, verb, **arguments)
    assert data_of(api("alice").get(f"{path}/feedback/replies")) == before


def test_replies_are_ones_own_in_the_order_of_the_messages(api, who, thread, path, act):
    for index in (5, 1, 3):
        act(make.rating(who.alice, thread, index).feedback_id, "reply", public_reply=f"About {index}")
    act(make.rating(who.bob, thread, 7).feedback_id, "reply", public_reply="For bob")
    found = data_of(api("alice").get(f"{path}/feedback/replies"))
    assert [each["message_sequence_num"] for each in found] == [1, 3, 5]
    assert data_of(api("bob").get(f"{path}/feedback/replies"))[0]["public_reply"] == "For bob"
    assert data_of(api("admin").get(f"{path}/feedback/replies")) == []
    own = data_of(api("alice").get(f"{path}/feedback"))
    assert all(set(each) == shapes.USER_FEEDBACK for each in own), "H5 stays the wire's"


def test_ten_more_replies_cost_no_more_queries(api, who, thread, path, act):
    def count():
        with CaptureQueriesContext(connection) as queries:
            data_of(api("alice").get(f"{path}/feedback/replies"))
        return len(queries)

    make.rating(who.alice, thread, 1)
    count()  # a token's first use is noted
    first = count()
    for index in range(3, 23, 2):
        act(make.rating(who.alice, thread, index).feedback_id, "reply", public_reply="Yes")
    assert count() == first


# Taking it back


def test_a_report_taken_back_is_gone_with_all_that_admins_kept_beside_it(api, who, thread, path, act):
    report = make.rating(who.alice, thread, 1, notes="Wrong").feedback_id
    for verb, arguments in (("label", {"add": ["money"]}), ("own", {"owner": "me"}), ("reply", {"public_reply": "Oh"})):
        act(report, verb, **arguments)
    admin = api("admin")
    data_of(admin.put(f"admin/feedback/{report}/lease"))
    assert data_of(take_back(api("alice"), path)) is None
    assert data_of(api("alice").get(f"{path}/feedback")) == data_of(api("alice").get(f"{path}/feedback/replies")) == []
    for model in (UserFeedback, Triage, TriageChange, Lease, Reply, Undigested):
        assert not model.objects.exists(), model
    assert data_of(admin.get("admin/feedback"))["items"] == []
    assert data_of(admin.get("admin/feedback?q=wrong"))["items"] == []
    assert Label.objects.get().labelled.count() == 0
    [gone] = Retraction.objects.all()
    assert str(gone) == report


def test_admins_are_told_that_it_was_taken_back_and_nothing_of_what_it_said(api, who, thread, path):
    report = make.rating(who.alice, thread, 1, notes="Wrong seat").feedback_id
    data_of(take_back(api("alice"), path))
    admin, desk = api("admin"), f"admin/feedback/{report}"
    asked = [admin.get(desk), admin.put(desk, {"resolved": True}), admin.get(f"{desk}/triage"),
             admin.get(f"{desk}/history"), admin.put(f"{desk}/lease"),
             admin.post(f"{desk}/actions", {"verb": "resolve"})]  # fmt: skip
    assert {refusal_of(response) for response in asked} == {(404, "RobotoNotFoundException", GONE)}
    columns = {field.name for field in Retraction._meta.get_fields()}
    assert columns == {"id", "key", "retracted_at"}


def test_who_took_a_report_back_may_rate_anew_under_a_new_id(api, who, thread, path, act):
    first = make.rating(who.alice, thread, 1, notes="Wrong")
    act(first.feedback_id, "reply", public_reply="Sorry")
    data_of(take_back(api("alice"), path))
    again = data_of(api("alice").post(f"{path}/messages/1/feedback", {"sentiment": "positive"}))
    assert again["feedback_id"] != first.feedback_id
    assert again["created"] > first.created.isoformat()
    assert again["notes"] is None
    assert data_of(api("admin").get(f"admin/feedback/{again['feedback_id']}/triage"))["public_status"] == "received"
    assert data_of(api("admin").get(f"admin/feedback/{again['feedback_id']}/history")) == []


def test_only_the_submitter_takes_it_back_and_the_checks_come_in_order(api, who, thread, path):
    """Spec 1.4: token, thread, right, then whether there is anything."""
    make.rating(who.alice, thread, 1)
    private = f"threads/{make.conversation(who.alice, 4).thread_id}"
    for name, where, index, status in (
        (None, path, 1, 401),
        ("alice", "threads/ags_unknown", 1, 404),
        ("eve", path, 1, 403),
        ("eve", path, 99, 403),
        ("bob", private, 1, 403),
        ("bob", path, 1, 404),
        ("admin", path, 1, 404),
        ("alice", path, 3, 404),
        ("alice", path, 99, 404),
        ("alice", path, -1, 404),
        ("alice", path, "x", 404),
        ("alice", path, 999999999, 404),
    ):
        assert refusal_of(take_back(api(name), where, index))[0] == status, (name, where, index)
    assert UserFeedback.objects.count() == 1
    assert take_back(api("alice"), path).status_code == 200
    assert refusal_of(take_back(api("alice"), path))[::2] == (404, "You have not rated message 1.")
    for index in ("abc", "-1", "9" * 10):
        assert refusal_of(take_back(api("alice"), path, index))[::2] == (404, "This thread has no such message.")


def test_others_reports_of_the_same_message_stay(api, who, thread, path):
    make.rating(who.alice, thread, 1)
    kept = make.rating(who.bob, thread, 1).feedback_id
    data_of(take_back(api("alice"), path))
    [found] = data_of(api("admin").get("admin/feedback"))["items"]
    assert found["feedback_id"] == kept


# What named it


def test_the_earliest_duplicate_takes_the_place_of_an_open_report(api, who, thread, path, act):
    """Otherwise everybody else's complaint would lie resolved as a duplicate of nothing."""
    root = make.rating(who.alice, thread, 1)
    others = [make.rating(who.bob, thread, index).feedback_id for index in (1, 3, 5)]
    for each in others:
        act(each, "duplicate", duplicate_of=root.feedback_id)
    data_of(take_back(api("alice"), path))
    heir, *rest = [data_of(api("admin").get(f"admin/feedback/{each}/triage")) for each in others]
    assert (heir["resolved"], heir["outcome"], heir["duplicate_of"]) == (False, None, None)
    for each in rest:
        assert (each["resolved"], each["outcome"], each["duplicate_of"]) == (True, "duplicate", heir["feedback_id"])
    told = [data_of(api("admin").get(f"admin/feedback/{each}/history"))[-1] for each in others]
    assert {(each["verb"], each["actor"]) for each in told} == {("retract", "alice@acme.test")}
    assert [each["after"].get("duplicate_of") for each in told] == [None, heir["feedback_id"], heir["feedback_id"]]
    page = api("admin").client
    page.force_login(who.admin.user)
    for each, now in ((others[0], "this is open again"), (others[1], f"this is now a duplicate of {others[0]}")):
        shown = page.get(f"/feedback/?q=&item={each}").content.decode()
        assert f"retracted the original report: {now}" in shown
    refused = refusal_of(api("admin").post("admin/feedback/undo", {"action_id": told[0]["action_id"]}))
    assert refused[::2] == (409, "A retracted report cannot be restored.")


def test_duplicates_of_a_report_that_was_resolved_stay_resolved(api, who, thread, path, act):
    root, other = make.rating(who.alice, thread, 1).feedback_id, make.rating(who.bob, thread, 1).feedback_id
    act(other, "duplicate", duplicate_of=root)
    act(root, "resolve", outcome="fixed")
    version = data_of(api("admin").get(f"admin/feedback/{other}/triage"))["version"]
    data_of(take_back(api("alice"), path))
    found = data_of(api("admin").get(f"admin/feedback/{other}/triage"))
    assert (found["resolved"], found["outcome"], found["duplicate_of"]) == (True, "duplicate", None)
    history = data_of(api("admin").get(f"admin/feedback/{other}/history"))
    assert [each["after"]["duplicate_of"] for each in history] == [None, None], "history names no report that is gone"
    assert (history[1]["verb"], history[1]["actor"]) == ("retract", who.alice.user.email)
    assert found["version"] != version, "who saw the report that it named has not seen this"


def test_the_heirs_of_many_duplicates_cost_no_more_queries(api, who, thread, path, act):
    def cost(count):
        root = make.rating(who.alice, thread, 1).feedback_id
        for place in range(count):
            act(make.rating(who.bob, thread, 2 * place + 1).feedback_id, "duplicate", duplicate_of=root)
        with CaptureQueriesContext(connection) as queries:
            data_of(take_back(api("alice"), path))
        UserFeedback.objects.all().delete()
        return len(queries)

    cost(1)  # a token's first use is noted
    assert cost(3) == cost(15)


def test_undo_of_an_action_on_several_takes_back_what_is_left(api, who, thread, path, act):
    for index in (1, 3):
        make.rating(who.alice, thread, index)
    admin = api("admin")
    done = data_of(admin.post("admin/feedback/bulk", {"verb": "resolve", "arguments": {}, "query": "is:open"}))
    data_of(take_back(api("alice"), path, 1))
    undone = data_of(admin.post("admin/feedback/undo", {"action_id": done["action_id"]}))
    assert (undone["total"], undone["done_count"], undone["failed_count"]) == (1, 1, 0)
    assert data_of(admin.get("admin/feedback?resolved=false"))["items"][0]["message_sequence_num"] == 3


def test_undo_of_an_action_on_a_report_that_is_gone_is_refused(api, who, thread, path, act):
    done = act(make.rating(who.alice, thread, 1).feedback_id, "resolve", outcome="fixed")
    data_of(take_back(api("alice"), path))
    assert refusal_of(api("admin").post("admin/feedback/undo", {"action_id": done["action_id"]}))[0] == 404
    page = api("admin").client
    page.force_login(who.admin.user)
    assert "Undo" not in page.get("/feedback/?q=").content.decode()


def test_undo_never_names_a_report_that_was_taken_back(api, who, thread, path, act):
    """The duplicate was opened again; taking that back would make it a duplicate of what is gone."""
    root, other = make.rating(who.alice, thread, 1).feedback_id, make.rating(who.bob, thread, 1).feedback_id
    act(other, "duplicate", duplicate_of=root)
    opened = act(other, "reopen")["action_id"]
    data_of(take_back(api("alice"), path))
    undone = data_of(api("admin").post("admin/feedback/undo", {"action_id": opened}))
    assert undone["failures"][0]["reason"] == "duplicate of: changed since, so not undone"
    found = data_of(api("admin").get(f"admin/feedback/{other}/triage"))
    assert (found["resolved"], found["outcome"], found["duplicate_of"]) == (True, "duplicate", None)


@pytest.mark.parametrize("ticked", [True, False])
def test_a_running_bulk_goes_on_over_reports_taken_back(api, who, thread, path, ticked, monkeypatch):
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    monkeypatch.setattr(bulk_work, "CHUNK", 2)
    given = [make.rating(who.alice, thread, index).feedback_id for index in (1, 3, 5, 7, 9)]
    chosen = {"feedback_ids": given} if ticked else {"query": "is:open"}
    admin = api("admin")
    begun = data_of(admin.post("admin/feedback/bulk", {"verb": "resolve", "arguments": {}, **chosen}))
    assert begun["state"] == "queued" and begun["total"] == 5
    bulk_row = make.half_done_bulk()
    for index in (1, 5):  # one that was dealt with, one whose turn comes
        data_of(take_back(api("alice"), path, index))
    bulk_work.sweep(orphans=True)
    bulk_work.advance(bulk_row.pk)
    done = data_of(admin.get(f"admin/feedback/bulk/{begun['bulk_id']}"))
    assert (done["state"], done["done_count"], done["failed_count"], done["skipped_count"]) == ("done", 4, 0, 1)
    assert data_of(admin.get("admin/feedback?resolved=false"))["items"] == []


def test_an_open_desk_is_told_at_once(who, thread, path, api, monkeypatch):
    """By the event that tells of any change of the report it has open; and the lease goes."""
    from core import sse

    monkeypatch.setattr(sse, "HEARTBEAT_SECONDS", 0)
    report = make.rating(who.alice, thread, 1).feedback_id
    client = api("bob").client
    client.force_login(who.admin.user)
    news = live(client)
    assert b"retry" in next(news) and b"leases" in next(news)
    data_of(take_back(api("alice"), path))
    event = next(piece for piece in news if b"event: changed" in piece)
    [said] = [json.loads(line.removeprefix(b"data: ")) for line in event.splitlines() if line.startswith(b"data: ")]
    assert said == {report: {"changed": "The submitter retracted it", "unmatched": ""}}


def test_an_open_desk_is_told_of_an_edit(who, thread, api, monkeypatch):
    """Once for each; a report that is new has changed for nobody."""
    from core import sse

    monkeypatch.setattr(sse, "HEARTBEAT_SECONDS", 0)
    report = make.rating(who.alice, thread, 1).feedback_id
    client = api("bob").client
    client.force_login(who.admin.user)
    news = live(client)

    def told(pieces=6):
        return [piece for _, piece in zip(range(pieces), news, strict=False) if b"event: changed" in piece]

    assert told() == []
    make.rating(who.alice, thread, 1, notes="Other words")
    [piece] = told()
    assert f'data: {{"{report}": {{"changed": "The submitter changed it"}}}}' in piece.decode()
    assert told() == []
    make.rating(who.alice, thread, 3, notes="Another one")
    assert told() == []


# Two at the same moment


@pytest.mark.parametrize(
    ("route", "asked"), [("", (versions, "of")), ("/triage", (versions, "of")), ("/similar", (digesting, "digest"))]
)
def test_a_report_that_goes_while_it_is_read_is_not_found(who, thread, api, monkeypatch, route, asked):
    report, found = make.rating(who.alice, thread, 1).feedback_id, getattr(*asked)

    def meanwhile(*args):
        answer = found(*args)
        capture.retract(who.alice.actor, thread, 1)
        return answer

    monkeypatch.setattr(*asked, meanwhile)
    assert refusal_of(api("admin").get(f"admin/feedback/{report}{route}"))[::2] == (404, GONE)


@pytest.mark.django_db(transaction=True)
def test_a_verb_that_names_a_report_that_goes_just_then_is_a_conflict(who):
    report = make.rating(who.alice, make.conversation(who.alice, 4), 1).feedback_id
    decision = {"resolved": True, "outcome": "duplicate", "duplicate_of_id": 10**9}
    quick = deciding.Verb("duplicate", Nothing, lambda *_: decision)
    with pytest.raises(Conflict, match="was deleted just now"):
        triage.act(who.admin.actor, report, (quick, Nothing()))
    assert not UserFeedback.objects.get().resolved


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("decision", [{"resolved_at": timezone.now()}, {"public_status": None}])
def test_what_another_constraint_refuses_is_no_conflict(who, decision):
    """Nobody deleted anything: reloading would not help, and the log has to tell of it."""
    report = make.rating(who.alice, make.conversation(who.alice, 4), 1).feedback_id
    wrong = deciding.Verb("wrong", Nothing, lambda *_: decision)
    with pytest.raises(IntegrityError):
        triage.act(who.admin.actor, report, (wrong, Nothing()))
    assert not TriageChange.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_an_undo_that_names_a_report_that_goes_just_then_is_a_conflict(who, monkeypatch):
    admin, thread = who.admin.actor, make.conversation(who.alice, 4)
    first, second = (make.rating(who.alice, thread, index).feedback_id for index in (1, 3))
    triage.act(admin, second, (deciding.verb_named("duplicate"), DuplicateIn(duplicate_of=first)))
    _, reopening = triage.act(admin, second, (deciding.verb_named("reopen"), Nothing()))
    capture.retract(who.alice.actor, thread, 1)
    monkeypatch.setattr(undo_chunk.Chunk, "is_there", lambda *_: True)  # it was there when that was asked
    with pytest.raises(Conflict, match="was deleted just now"):
        bulk.undo(admin, reopening)
    assert not UserFeedback.objects.get().resolved


@pytest.mark.django_db(transaction=True)
def test_a_lease_of_a_report_that_goes_just_then_is_a_conflict(who, monkeypatch):
    make.rating(who.alice, make.conversation(who.alice, 4), 1)
    stale = UserFeedback.objects.get()
    UserFeedback.objects.get().delete()
    monkeypatch.setattr(access, "report_for", lambda *_: stale)
    with pytest.raises(Conflict):
        leasing.take(who.admin.actor, stale.feedback_id)
    assert not Lease.objects.exists()


on_postgres = pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")


def aside(work):
    """Begin something in a thread of its own; gives the thread and a list that will hold what came of it."""
    came = []

    def run():
        try:
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = '3s'")
            came.append(work())
        except (DomainError, OperationalError) as problem:
            came.append(problem)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread, came


@on_postgres
@pytest.mark.django_db(transaction=True)
def test_a_lease_does_not_wait_for_a_verb(who):
    report = make.rating(who.alice, make.conversation(who.alice, 4), 1).feedback_id
    with transaction.atomic():
        triage.update(who.admin.actor, report, bodies.parse(TriageIn, {"admin_note": "Seen."}))
        thread, came = aside(lambda: leasing.take(who.admin.actor, report))
        thread.join()
    assert came == [None] and Lease.objects.exists()


@on_postgres
@pytest.mark.django_db(transaction=True)
def test_two_reports_never_become_duplicates_of_each_other(who):
    """Two admins name each other's report at once: the second one waits, and is told what the first one did."""
    thread = make.conversation(who.alice, 4)
    first, second = (make.rating(who.alice, thread, index).feedback_id for index in (1, 3))
    both_begin = threading.Barrier(2, timeout=5)
    verb = deciding.verb_named("duplicate")

    def mark(one, of):
        both_begin.wait()
        return triage.act(who.admin.actor, one, (verb, DuplicateIn(duplicate_of=of)))

    for _ in range(10):
        begun = [aside(partial(mark, one, of)) for one, of in ((first, second), (second, first))]
        for each, _came in begun:
            each.join()
        [refusal] = [came[0] for _, came in begun if isinstance(came[0], Exception)]
        assert isinstance(refusal, DomainError) and "is itself a duplicate of this report" in refusal.message
        duplicate = UserFeedback.objects.get(resolved=True)
        triage.act(who.admin.actor, duplicate.feedback_id, (deciding.verb_named("reopen"), Nothing()))


@on_postgres
@pytest.mark.django_db(transaction=True)
def test_what_becomes_a_duplicate_takes_along_what_was_made_its_own_just_then(who):
    """One admin makes D a duplicate of A, another one A of B: whoever is second, both are duplicates of B."""
    thread = make.conversation(who.alice, 6)
    a, b, d = (make.rating(who.alice, thread, index).feedback_id for index in (1, 3, 5))
    verb = deciding.verb_named("duplicate")
    with transaction.atomic():
        triage.act(who.admin.actor, d, (verb, DuplicateIn(duplicate_of=a)))
        marking, came = aside(lambda: triage.act(who.admin.actor, a, (verb, DuplicateIn(duplicate_of=b))))
        marking.join(0.5)
        assert marking.is_alive()
    marking.join()
    assert not isinstance(came[0], Exception)
    found = {row.feedback.feedback_id: row.duplicate_of.feedback_id for row in Triage.objects.all()}
    assert found == {a: b, d: b}


@on_postgres
@pytest.mark.django_db(transaction=True)
def test_what_was_made_a_duplicate_of_it_just_then_is_open_again(who):
    """The verb holds both reports, and who takes one of them back waits for it."""
    thread = make.conversation(who.alice, 4)
    first, second = (make.rating(who.alice, thread, index).feedback_id for index in (1, 3))
    with transaction.atomic():
        body = DuplicateIn(duplicate_of=first)
        triage.act(who.admin.actor, second, (deciding.verb_named("duplicate"), body))
        taking_back, came = aside(lambda: capture.retract(who.alice.actor, thread, 1))
        taking_back.join(0.5)
        assert taking_back.is_alive()
    taking_back.join()
    assert came == [None]
    left = UserFeedback.objects.get()
    assert (left.feedback_id, left.resolved) == (second, False)


@on_postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("by", ["its submitter", "the operator"])
def test_a_report_is_taken_back_while_a_webhook_tells_of_it(who, api, by, monkeypatch):
    """Attempts hang on the report: one that is stored just then is waited for and goes with it, at the first try."""
    monkeypatch.setattr(db, "_TRIES", 1)
    thread = make.conversation(who.alice, 4, visibility="org")
    hooks.endpoint(api("admin"), "https://hooks.example.org/x")
    make.rating(who.alice, thread, 1)
    settling.settle(WebhookEvent.objects.get().pk)
    delivery, client = WebhookDelivery.objects.get(), api("alice")
    with transaction.atomic():
        WebhookDelivery.objects.select_for_update().get(pk=delivery.pk)
        WebhookAttempt.objects.create(delivery=delivery, milliseconds=1, error="No answer.")
        if by == "the operator":
            given = ["delete_threads", thread.thread_id, "--as", "admin@heddle.test", "--yes"]
            going, came = aside(lambda: call_command(*given, stdout=StringIO()))
        else:
            going, came = aside(lambda: data_of(take_back(client, f"threads/{thread.thread_id}")))
        going.join(0.5)
        assert going.is_alive()
    going.join()
    assert came == [None]
    assert not UserFeedback.objects.exists() and Retraction.objects.count() == 1


@on_postgres
@pytest.mark.django_db(transaction=True)
def test_a_report_is_taken_back_while_its_event_is_handed_out(who, api, monkeypatch):
    """So do the deliveries that are stored just then; otherwise both would have to be lucky, three times over."""
    monkeypatch.setattr(db, "_TRIES", 1)
    thread = make.conversation(who.alice, 4, visibility="org")
    hooks.endpoint(api("admin"), "https://hooks.example.org/x")
    make.rating(who.alice, thread, 1)
    client = api("alice")
    with transaction.atomic():
        settling.settle(WebhookEvent.objects.get().pk)
        assert WebhookDelivery.objects.count() == 1
        going, came = aside(lambda: data_of(take_back(client, f"threads/{thread.thread_id}")))
        going.join(0.5)
        assert going.is_alive()
    going.join()
    assert came == [None]
    assert not UserFeedback.objects.exists() and not WebhookEvent.objects.exists()


# Each waits for the other


@pytest.fixture
def meet(who, api):
    """`meet(path, body)`: the answer to an admin who does something to two reports while somebody else holds the second
    and then wants the first. PostgreSQL ends one of the two, whoever looks first: that is the admin.
    """
    thread, admin = make.conversation(who.alice, 6), api("admin")
    given = [make.rating(who.alice, thread, index).feedback_id for index in (1, 3)]
    labelled = {"verb": "label", "arguments": {"add": ["money"]}, "feedback_ids": given}
    done = data_of(admin.post("admin/feedback/bulk", labelled))
    names = {"first": given[0], "second": given[1], "action": done["action_id"]}

    def met(method, path, body):
        body = json.loads(json.dumps(body) % names)
        rows = UserFeedback.objects.select_for_update(no_key=True)
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL deadlock_timeout = '20s'")
            rows.get(key=given[1].removeprefix("fb_"))
            acting, came = aside(lambda: admin.request(method, f"admin/feedback/{path % names}", body))
            acting.join(0.3)
            assert acting.is_alive()
            rows.get(key=given[0].removeprefix("fb_"))
        acting.join()
        return came[0]

    return met


MEETINGS = {
    "action": ("POST", "%(first)s/actions", {"verb": "duplicate", "arguments": {"duplicate_of": "%(second)s"}}),
    "bulk": ("POST", "bulk", {"verb": "resolve", "arguments": {}, "query": "is:open"}),
    "undo": ("POST", "undo", {"action_id": "%(action)s"}),
    "label": ("PATCH", "labels/money", {"name": "refund"}),
}


@on_postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", MEETINGS)
def test_what_met_somebody_else_is_done_when_they_are(meet, name):
    """Whoever was ended stored nothing, and begins anew."""
    done = data_of(meet(*MEETINGS[name]))
    assert done.get("done_count", done.get("bulk", {}).get("done_count", 2)) == 2
    count = UserFeedback.objects.filter(resolved=True).count()
    assert (count, TriageChange.objects.count()) == {"action": (1, 3), "bulk": (2, 4)}.get(name, (0, 4))


@on_postgres
@pytest.mark.django_db(transaction=True)
def test_who_meets_others_again_and_again_is_told_of_a_conflict(meet, monkeypatch, caplog):
    """Not that the database is away: it is not, and there is nothing to wait for."""
    monkeypatch.setattr("core.db._TRIES", 1)
    status, code, said = refusal_of(meet(*MEETINGS["action"]))
    assert (status, code) == (503, "RobotoServiceUnavailableException"), "the SDK tries again"
    assert said == "Others changed the same at this moment, and nothing of this was stored. Try again."
    assert "database.conflict" in caplog.messages and "database.unavailable" not in caplog.messages
