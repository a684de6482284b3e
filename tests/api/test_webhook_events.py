"""What is told to whom, and what is not told at all. The worker's part is done by `hooks.work`."""

import json
from datetime import timedelta

import pytest
import time_machine
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Membership
from core import jobs, outbound
from feedback import bulk, bulk_work
from feedback.models import Bulk, UserFeedback
from feedback.models.webhook import WebhookDelivery, WebhookEndpoint, WebhookEvent, WebhookTold
from feedback.webhooks import sending, settling
from tests import hooks, make
from tests.conftest import data_of

URL = "https://hooks.example.org/in"
MARK = "only-admins-may-read-this"
ADMIN_KEYS = {"admin_label", "admin_note", "resolved", "resolved_by", "resolved_at", "owner", "outcome", "duplicate_of"}


@pytest.fixture
def sent(monkeypatch):
    """What endpoints were told, as (address, message); everything is answered 200."""
    told = []

    def send(method, url, *, content, **_):
        told.append((url, json.loads(content)))
        return outbound.Answer(200, {}, b"", False, 1)

    monkeypatch.setattr(outbound, "send", send)
    return told


@pytest.fixture
def alice(who, api):
    hooks.make_org_admin(who.alice)
    return api("alice")


@pytest.fixture
def thread(who):
    return make.thread(who.bob, visibility="org")


def later(hours=1):
    return time_machine.travel(timezone.now() + timedelta(hours=hours), tick=True)


def types(told):
    return [message["type"] for _, message in told]


def test_a_rating_is_told_at_once_and_its_change_as_such(alice, api, who, thread, sent):
    """B111 to B113: what a submitter says, in the submitter's projection."""
    hooks.endpoint(alice, URL)
    record = data_of(api("bob").post(f"threads/{thread.thread_id}/messages/1/feedback", {"sentiment": "negative"}))
    hooks.work()
    [(url, told)] = sent
    assert url == URL
    assert told["data"] == record
    assert (told["type"], set(told)) == ("feedback.submitted", {"id", "type", "timestamp", "data"})
    assert told["id"].startswith("evt_") and told["timestamp"]
    for sentiment in ("negative", "positive", "positive"):  # the same sent again is told to nobody
        data_of(api("bob").post(f"threads/{thread.thread_id}/messages/1/feedback", {"sentiment": sentiment}))
    hooks.work()
    assert types(sent) == ["feedback.submitted", "feedback.updated"]
    assert sent[1][1]["data"]["sentiment"] == "positive"
    assert sent[1][1]["id"] != told["id"]


def test_a_rating_is_told_before_its_change_whichever_is_settled_first(alice, api, thread, sent):
    """Each has a job of its own, and two workers take them at the same time."""
    hooks.endpoint(alice, URL)
    for sentiment in ("negative", "positive"):
        data_of(api("bob").post(f"threads/{thread.thread_id}/messages/1/feedback", {"sentiment": sentiment}))
    first, second = WebhookEvent.objects.order_by("pk").values_list("pk", flat=True)
    settling.settle(second)
    settling.settle(first)
    hooks.work()
    assert types(sent) == ["feedback.submitted", "feedback.updated"]


def test_a_platform_admin_gets_the_full_record_and_who_did_it(api, who, thread, sent):
    """B126."""
    hooks.endpoint(api("admin"), URL, *hooks.ALL)
    report = make.rating(who.bob, thread)
    hooks.triaged(report.feedback_id, who.admin, admin_note=MARK)
    with later():
        hooks.work()
    assert types(sent) == ["feedback.submitted", "feedback.updated"]
    for _, message in sent:
        assert set(message["data"]) >= ADMIN_KEYS
    assert (sent[1][1]["actor"], sent[1][1]["data"]["admin_note"]) == ("admin@heddle.test", MARK)


def test_an_orgs_admin_never_receives_what_is_the_platform_admins(alice, api, who, thread, sent):
    """B111, B133: with everything that triage may write marked, before and after, in every event there is."""
    hooks.endpoint(alice, URL)
    WebhookEndpoint.objects.update(events=hooks.ALL)  # whatever is stored: the right is looked up when it is told
    report = make.rating(who.bob, thread)
    hooks.triaged(report.feedback_id, who.admin, admin_label=MARK, admin_note=MARK)
    hooks.triaged(report.feedback_id, who.admin, resolved=True)
    replied(api("admin"), report.feedback_id, public_reply="Told on purpose.")
    make.rating(who.bob, thread, sentiment="positive")
    with later():
        hooks.work()
    assert types(sent) == ["feedback.submitted", "feedback.replied", "feedback.updated"]
    for _, message in sent:
        assert not ADMIN_KEYS & set(message["data"])
        assert MARK not in json.dumps(message) and "admin@heddle.test" not in json.dumps(message)
    assert MARK not in str(list(WebhookDelivery.objects.values()))


def test_a_check_that_turns_is_told_to_platform_admins_and_once(alice, api, who, sent):
    """Not when it first fails, which is why it was kept; not again while it stays; and to no org's admin."""
    hooks.endpoint(alice, URL)
    WebhookEndpoint.objects.update(events=hooks.ALL)
    hooks.endpoint(api("admin"), URL + "/all", *hooks.ALL)
    report = make.rating(who.alice, make.thread(who.alice, "[[call echo {}]] Where is it?"))
    hooks.work()
    sent.clear()
    path, expects = f"admin/feedback/{report.feedback_id}/check", {"kind": "never_calls", "value": "echo"}
    check = data_of(api("admin").put(path, {"expectations": [expects]}))

    def told(kind):
        data_of(api("admin").put(path, {"expectations": [{**expects, "kind": kind}]}))
        data_of(api("admin").post(f"admin/checks/{check['check_id']}/runs", {}))
        make.run_turns()
        data_of(api("admin").get(path))
        hooks.work()
        found = [(url, message["type"], message["data"]["state"]) for url, message in sent]
        sent.clear()
        return found

    assert told("never_calls") == [] and told("never_calls") == []
    assert told("calls") == [(URL + "/all", "check.passing", "passing")]
    assert told("calls") == []
    assert told("never_calls") == [(URL + "/all", "check.failing", "failing")]
    WebhookEndpoint.objects.update(is_enabled=False)
    assert told("calls") == []
    WebhookEndpoint.objects.update(is_enabled=True)
    assert told("never_calls") == [(URL + "/all", "check.failing", "failing")], "nobody was told that it passed"


def replied(admin, feedback_id, **arguments):
    done = {"verb": "reply", "arguments": arguments}
    return data_of(admin.post(f"admin/feedback/{feedback_id}/actions", done))


def test_what_a_submitter_is_told_is_told_to_an_orgs_admin_as_they_read_it(alice, api, who, thread, sent):
    """After the undo window, once, with the submitter's record and nothing of who answered."""
    report = make.rating(who.bob, thread)
    hooks.endpoint(alice, URL, "feedback.replied")
    replied(api("admin"), report.feedback_id, public_status="looked_at")
    replied(api("admin"), report.feedback_id, public_reply="It is mended.")
    hooks.work()
    assert sent == []
    with later():
        hooks.work()
    [(_, one)] = sent
    [told] = data_of(api("bob").get(f"threads/{thread.thread_id}/feedback/replies"))
    [record] = data_of(api("bob").get(f"threads/{thread.thread_id}/feedback"))
    assert (one["type"], set(one)) == ("feedback.replied", {"id", "type", "timestamp", "data"})
    assert one["data"] == record | told
    assert told["public_reply"] == "It is mended."


def test_a_platform_admin_gets_the_full_record_with_a_reply_too(alice, api, who, thread, sent):
    """Whoever stores `data` as it comes would empty every column that is not in it."""
    admin, report = api("admin"), make.rating(who.bob, thread).feedback_id
    hooks.endpoint(alice, URL, "feedback.replied")
    hooks.endpoint(admin, URL + "/all", "feedback.replied")
    hooks.triaged(report, who.admin, admin_label=MARK, resolved=True)
    replied(admin, report, public_reply="It is mended.")
    with later():
        hooks.work()
        replied(admin, report, public_status="received")
    with later(2):
        hooks.work()
    told = [message for url, message in sent if url.endswith("/all")]
    assert [(each["type"], each["actor"]) for each in told] == [("feedback.replied", "admin@heddle.test")] * 2
    shown = data_of(admin.get(f"admin/feedback/{report}/triage"))
    assert told[1]["data"] == {name: value for name, value in shown.items() if name not in ("lease", "version")}
    assert (told[0]["data"]["public_reply"], told[0]["data"]["admin_label"]) == ("It is mended.", MARK)
    others = [message for url, message in sent if url == URL]
    assert len(others) == 2 and MARK not in json.dumps(others) and "admin@heddle.test" not in json.dumps(others)


def labelled_until_it_was_told(admin, feedback_id):
    """A label that comes before another message about the report is settled, and is taken back after that."""
    with later(20 / 60):
        body = {"verb": "label", "arguments": {"add": ["loses count"]}}
        acted = data_of(admin.post(f"admin/feedback/{feedback_id}/actions", body))
    with later(31 / 60):
        hooks.work()
        data_of(admin.post("admin/feedback/undo", {"action_id": acted["action_id"]}))
    with later(2):
        hooks.work()


def test_a_label_that_came_with_a_reply_is_corrected_when_it_is_taken_back(api, who, thread, sent):
    admin, report = api("admin"), make.rating(who.bob, thread)
    hooks.endpoint(admin, URL, "feedback.updated", "feedback.replied")
    replied(admin, report.feedback_id, public_reply="It is mended.")
    labelled_until_it_was_told(admin, report.feedback_id)
    assert types(sent) == ["feedback.replied", "feedback.updated"]
    assert [message["data"]["admin_label"] for _, message in sent] == ["loses count", None]


def test_an_answer_that_was_taken_back_is_not_told(alice, api, who, thread, sent):
    report = make.rating(who.bob, thread)
    hooks.endpoint(alice, URL, "feedback.replied")
    done = replied(api("admin"), report.feedback_id, public_reply="Too early.")
    data_of(api("admin").post("admin/feedback/undo", {"action_id": done["action_id"]}))
    with later():
        hooks.work()
    assert sent == []


def test_a_reply_that_was_sent_and_is_withdrawn_is_news(alice, api, who, thread, sent):
    """Who mirrors replies would keep it for good."""
    admin, report = api("admin"), make.rating(who.bob, thread).feedback_id
    hooks.endpoint(alice, URL, "feedback.replied")
    replied(admin, report, public_reply="Too early.")
    with later():
        hooks.work()
        replied(admin, report, public_status="received")
    with later(2):
        hooks.work()
    assert types(sent) == ["feedback.replied"] * 2
    [told] = data_of(api("bob").get(f"threads/{thread.thread_id}/feedback/replies"))
    assert {name: sent[1][1]["data"][name] for name in told} == told
    assert (told["public_status"], told["public_reply"], told["replied_at"]) == ("received", None, None)


def test_what_happened_while_there_was_no_webhook_hides_nothing_from_the_next_one(api, who, thread, sent):
    """Resolved and told; reopened, told to nobody; resolved again."""
    admin, report = api("admin"), make.rating(who.bob, thread).feedback_id
    hooks.endpoint(admin, URL, "feedback.resolved")
    hooks.triaged(report, who.admin, resolved=True)
    with later():
        hooks.work()
        WebhookEndpoint.objects.update(is_enabled=False)
        hooks.triaged(report, who.admin, resolved=False)
    with later(2):
        hooks.endpoint(admin, URL + "/next", "feedback.resolved")
        hooks.triaged(report, who.admin, resolved=True)
    with later(3):
        hooks.work()
    assert [(url, message["type"]) for url, message in sent] == [
        (URL, "feedback.resolved"),
        (URL + "/next", "feedback.resolved"),
    ]


def test_the_earlier_reply_that_an_undo_brings_back_is_not_news(alice, api, who, thread, sent):
    """It has its own time again, so that the submitter is shown nothing new either."""
    admin, report = api("admin"), make.rating(who.bob, thread)
    hooks.endpoint(alice, URL, "feedback.replied")
    first = replied(admin, report.feedback_id, public_reply="It is mended.")
    with later():
        hooks.work()
        data_of(api("bob").get(f"threads/{thread.thread_id}/feedback/replies"))
        second = replied(admin, report.feedback_id, public_reply="It is not.")
        data_of(admin.post("admin/feedback/undo", {"action_id": second["action_id"]}))
        now = data_of(admin.get(f"admin/feedback/{report.feedback_id}/triage"))
    assert (now["public_reply"], now["replied_at"]) == ("It is mended.", first["report"]["replied_at"])
    with later(2):
        hooks.work()
    assert types(sent) == ["feedback.replied"]


@pytest.mark.parametrize("is_told", [False, True])
def test_a_label_that_was_taken_back_is_not_told(api, who, thread, sent, is_told):
    """Neither itself nor its undo; what came before it was told or not."""
    admin, report = api("admin"), make.rating(who.bob, thread).feedback_id
    hooks.triaged(report, who.admin, admin_label="kept", admin_note="Old.")
    hooks.endpoint(admin, URL, "feedback.updated")
    if is_told:
        hooks.triaged(report, who.admin, admin_note="New.")
    with later():
        hooks.work()
        for verb, arguments in (("label", {"add": ["loses count"]}), ("note", {"admin_note": "Wrong."})):
            acted = data_of(admin.post(f"admin/feedback/{report}/actions", {"verb": verb, "arguments": arguments}))
            data_of(admin.post("admin/feedback/undo", {"action_id": acted["action_id"]}))
    with later(2):
        hooks.work()
        hooks.triaged(report, who.admin, admin_note="Newer.")
    with later(3):
        hooks.work()
    assert [message["data"]["admin_note"] for _, message in sent] == [*["New."] * is_told, "Newer."]


def test_a_label_that_another_message_told_of_is_corrected_when_it_is_taken_back(api, who, thread, sent):
    """The resolution is told with the label that the report has then."""
    admin, report = api("admin"), make.rating(who.bob, thread)
    hooks.endpoint(admin, URL, "feedback.updated", "feedback.resolved")
    resolved(report, who)
    labelled_until_it_was_told(admin, report.feedback_id)
    assert types(sent) == ["feedback.resolved", "feedback.updated"]
    assert [message["data"]["admin_label"] for _, message in sent] == ["loses count", None]


def test_a_label_that_was_taken_back_after_a_resolution_is_not_told(api, who, thread, sent):
    """The resolution lies between what was told last and the label, and is told by itself."""
    admin, report = api("admin"), make.rating(who.bob, thread)
    hooks.endpoint(admin, URL, "feedback.updated", "feedback.resolved")
    hooks.triaged(report.feedback_id, who.admin, admin_label="kept")
    with later():
        hooks.work()
        resolved(report, who)
        body = {"verb": "label", "arguments": {"add": ["loses count"]}}
        acted = data_of(admin.post(f"admin/feedback/{report.feedback_id}/actions", body))
        data_of(admin.post("admin/feedback/undo", {"action_id": acted["action_id"]}))
    with later(2):
        hooks.work()
    assert types(sent) == ["feedback.updated", "feedback.resolved"]
    assert not WebhookEvent.objects.filter(settled_at=None).exists()


def acted(admin, feedback_id, verb, **arguments):
    """An action of the desk; its id."""
    body = {"verb": verb, "arguments": arguments}
    return data_of(admin.post(f"admin/feedback/{feedback_id}/actions", body))["action_id"]


def undone(admin, action):
    return data_of(admin.post("admin/feedback/undo", {"action_id": action}))["action_id"]


SNOOZED = {"until_again": True}
CHANGED = {
    "an owner": ([("own", {"owner": "me"})], "owner"),
    "several, which are one": ([("snooze", SNOOZED), ("wake", {}), ("own", {"owner": "me"})], "owner"),
    "a snooze": ([("snooze", SNOOZED)], "snoozed_until_again"),
    "another outcome": ([("outcome", {"outcome": "answered"})], "outcome"),
    "the same resolution again": ([("resolve", {"outcome": "noted"})], "resolved_at"),
}


def prepared(admin, who, thread, name):
    """A report on which the verb of `CHANGED` with that name may be used, and all of which was told."""
    report = make.rating(who.bob, thread)
    if name in ("another outcome", "the same resolution again"):
        acted(admin, report.feedback_id, "resolve", outcome="fixed")
    if name == "the same resolution again":
        make.rating(who.bob, thread, notes="Not yet.")
    return report.feedback_id


@pytest.mark.parametrize("undos", range(4))
@pytest.mark.parametrize("name", CHANGED)
def test_whatever_else_is_in_the_full_record_is_told_when_an_admin_changed_it(
    alice, api, who, thread, sent, name, undos
):
    """To platform admins, once, after the undo window, unless it is undone and not redone. To org admins nothing, as
    before.
    """
    is_undone = bool(undos % 2)
    admin, (verbs, column) = api("admin"), CHANGED[name]
    report = prepared(admin, who, thread, name)
    hooks.endpoint(alice, URL + "/org")
    hooks.endpoint(admin, URL, *hooks.ALL)
    before = data_of(admin.get(f"admin/feedback/{report}/triage"))[column]
    actions = [acted(admin, report, verb, **arguments) for verb, arguments in verbs]
    hooks.work()
    assert sent == []
    for _ in range(undos):
        actions.append(undone(admin, actions[-1]))
        hooks.work()
    with later():
        hooks.work()
    now = data_of(admin.get(f"admin/feedback/{report}/triage"))
    assert (now[column] == before) is is_undone
    assert [(url, *types([(url, message)])) for url, message in sent] == [(URL, "feedback.updated")] * (not is_undone)
    for _, message in sent:
        assert message["actor"] == "admin@heddle.test"
        assert message["data"] == {key: value for key, value in now.items() if key not in ("lease", "version")}


def test_what_a_resolution_and_a_reopening_bring_with_them_is_told_by_them_alone(api, who, thread, sent):
    admin = api("admin")
    hooks.endpoint(admin, URL, *hooks.ALL)
    report, copy = make.rating(who.bob, thread).feedback_id, make.rating(who.alice, thread).feedback_id
    acted(admin, report, "snooze", **SNOOZED)
    with later():
        hooks.work()
        sent.clear()
        acted(admin, report, "resolve", outcome="fixed")
        acted(admin, copy, "duplicate", duplicate_of=report)
    with later(2):
        hooks.work()
        acted(admin, report, "reopen")
    with later(3):
        hooks.work()
    assert types(sent) == ["feedback.resolved", "feedback.resolved", "feedback.reopened"]
    assert [message["data"]["outcome"] for _, message in sent] == ["fixed", "duplicate", None]
    assert [message["data"]["snoozed_until_again"] for _, message in sent] == [True, False, False]


def test_a_change_of_the_outcome_that_a_reopening_overtook_is_not_told(api, who, thread, sent):
    """Nothing is left of it, and of the resolution nothing was told."""
    admin, report = api("admin"), make.rating(who.bob, thread).feedback_id
    hooks.endpoint(admin, URL, *hooks.ALL)
    resolution = acted(admin, report, "resolve", outcome="fixed")
    undone(admin, acted(admin, report, "outcome", outcome="answered"))
    undone(admin, resolution)
    with later():
        hooks.work()
    assert sent == []


def test_duplicates_that_follow_their_original_are_told_with_the_new_one(api, who, thread, sent):
    """By another duplicate, and when that is undone; and by a retraction."""
    admin = api("admin")
    copy, first = make.rating(who.eve, make.thread(who.eve)).feedback_id, make.rating(who.eve, make.thread(who.eve))
    root = make.rating(who.eve, make.thread(who.eve)).feedback_id
    acted(admin, copy, "duplicate", duplicate_of=first.feedback_id)
    hooks.endpoint(admin, URL, *hooks.ALL)
    undone(admin, acted(admin, first.feedback_id, "duplicate", duplicate_of=root))
    with later():
        hooks.work()
        assert sent == []
        acted(admin, first.feedback_id, "duplicate", duplicate_of=root)
    with later(2):
        hooks.work()
        assert {(message["type"], message["data"]["feedback_id"]) for _, message in sent} == {
            ("feedback.resolved", first.feedback_id),
            ("feedback.updated", copy),
        }
        assert {message["data"]["duplicate_of"] for _, message in sent} == {root}
        sent.clear()
        acted(admin, root, "resolve", outcome="fixed")
        path = UserFeedback.objects.get(key=root.removeprefix("fb_")).thread.thread_id
        data_of(api("eve").request("DELETE", f"threads/{path}/messages/1/feedback"))
    with later(4):
        hooks.work()
    told = {message["data"]["feedback_id"]: message for _, message in sent}
    assert told[root]["type"] == "feedback.retracted"
    assert {(told[each]["type"], told[each]["data"]["duplicate_of"]) for each in (first.feedback_id, copy)} == {
        ("feedback.updated", None)
    }


@pytest.mark.parametrize(
    ("verb", "arguments", "column"),
    [
        ("resolve", {"outcome": "fixed"}, "resolved"),
        ("reply", {"public_reply": "It is mended."}, "public_reply"),
        ("own", {"owner": "me"}, "owner"),
    ],
)
def test_what_came_with_a_message_of_the_submitter_is_corrected_when_it_is_undone(
    api, who, thread, sent, verb, arguments, column
):
    """That message is sent at once, with all that can still be undone."""
    admin, report = api("admin"), make.rating(who.bob, thread).feedback_id
    hooks.endpoint(admin, URL, *hooks.ALL)
    action = acted(admin, report, verb, **arguments)
    make.rating(who.bob, thread, notes="And another thing.")
    hooks.work()
    undone(admin, action)
    with later():
        hooks.work()
    assert types(sent) == ["feedback.updated"] * 2
    assert bool(sent[0][1]["data"][column]) and not sent[1][1]["data"][column]


def test_a_snooze_that_ended_with_a_reopening_of_which_nothing_is_told_is_told(api, who, thread, sent):
    admin, report = api("admin"), make.rating(who.bob, thread).feedback_id
    hooks.endpoint(admin, URL, *hooks.ALL)
    acted(admin, report, "snooze", **SNOOZED)
    with later():
        hooks.work()
        acted(admin, report, "resolve", outcome="fixed")
        acted(admin, report, "reopen")
    with later(2):
        hooks.work()
    assert types(sent) == ["feedback.updated"] * 2
    assert [message["data"]["snoozed_until_again"] for _, message in sent] == [True, False]


def test_an_undone_reply_is_not_told_again_whatever_else_was_told_since(api, who, thread, sent):
    admin, report = api("admin"), make.rating(who.bob, thread)
    hooks.endpoint(admin, URL, "feedback.replied", "feedback.resolved")
    replied(admin, report.feedback_id, public_reply="It is mended.")
    with later():
        hooks.work()
        other = replied(admin, report.feedback_id, public_reply="It is not.")
        resolved(report, who)
        data_of(admin.post("admin/feedback/undo", {"action_id": other["action_id"]}))
    with later(2):
        hooks.work()
    assert types(sent) == ["feedback.replied", "feedback.resolved"]


def retract(api, thread):
    data_of(api("bob").request("DELETE", f"threads/{thread.thread_id}/messages/1/feedback"))


def test_a_rating_that_is_taken_back_is_told_at_once_and_holds_no_word_of_it(alice, api, who, thread, sent):
    """Both audiences hear the same, and what was not yet told of it goes with it."""
    hooks.endpoint(alice, URL, *hooks.SAID, "feedback.retracted")
    hooks.endpoint(api("admin"), URL + "/all", "feedback.retracted")
    report = make.rating(who.bob, thread, notes=MARK)
    retract(api, thread)
    hooks.work()
    [(_, one), (_, two)] = sent
    assert one == two
    assert one["type"] == "feedback.retracted"
    assert one["data"] == {
        "feedback_id": report.feedback_id,
        "thread_id": thread.thread_id,
        "message_sequence_num": 1,
        "org_id": who.acme.org_id,
    }
    [log, _] = [data_of(each.get(f"/v1/webhooks/{hook}/deliveries"))["items"] for each, hook in logs(alice, api)]
    assert [(each["event"], each["state"]) for each in log] == [("feedback.retracted", "delivered")]


def logs(alice, api):
    return [(each, data_of(each.get("/v1/webhooks"))["items"][0]["webhook_id"]) for each in (alice, api("admin"))]


@pytest.mark.parametrize("was_told", [True, False])
def test_whoever_was_told_of_a_rating_is_told_that_it_is_gone(alice, api, who, thread, sent, was_told):
    """The thread is closed to them meanwhile. Who was told nothing hears nothing."""
    hooks.endpoint(alice, URL, *hooks.SAID[not was_told :], "feedback.retracted")
    make.rating(who.bob, thread)
    hooks.work()
    thread.visibility = "private"
    thread.save()
    retract(api, thread)
    hooks.work()
    assert types(sent) == (["feedback.submitted", "feedback.retracted"] if was_told else [])


def test_a_disabled_webhook_is_told_of_a_retraction_when_it_is_enabled(alice, api, who, thread, sent):
    """It holds the submitter's words."""
    made = hooks.endpoint(alice, URL, *hooks.SAID, "feedback.retracted")
    path = f"/v1/webhooks/{made['webhook_id']}"
    make.rating(who.bob, thread, notes=MARK)
    hooks.work()
    data_of(alice.patch(path, {"enabled": False}))
    retract(api, thread)
    hooks.work()
    assert types(sent) == ["feedback.submitted"]
    data_of(alice.patch(path, {"enabled": True}))
    hooks.work()
    assert types(sent) == ["feedback.submitted", "feedback.retracted"]


def test_what_happened_before_a_webhook_was_disabled_is_told_when_it_is_enabled(api, who, thread, sent):
    """Its undo window ended meanwhile. What happened while it was disabled is not told."""
    admin, report = api("admin"), make.rating(who.bob, thread).feedback_id
    path = f"/v1/webhooks/{hooks.endpoint(admin, URL, 'feedback.resolved', 'feedback.reopened')['webhook_id']}"
    hooks.triaged(report, who.admin, resolved=True)
    data_of(admin.patch(path, {"enabled": False}))
    with later():
        hooks.work()
        assert sent == []
    other = make.rating(who.eve, make.thread(who.eve)).feedback_id
    hooks.triaged(other, who.admin, resolved=True)
    with later(2):
        hooks.work()
        data_of(admin.patch(path, {"enabled": True}))
        hooks.triaged(report, who.admin, resolved=False)
    with later(4):
        hooks.work()
    told = [(message["type"], message["data"]["feedback_id"]) for _, message in sent]
    assert told == [("feedback.resolved", report), ("feedback.reopened", report)]


def test_many_events_are_settled_by_one_job_after_the_other(alice, who, thread, sent, monkeypatch):
    """So that turns, whose jobs are in the same queue, wait for one of them at most; one that fails stops no other."""
    asked, settle = [], settling.settle
    hooks.endpoint(alice, URL)
    for _ in range(5):
        make.rating(who.bob, make.thread(who.bob, visibility="org"))
    broken = settling.due()[1]

    def failing(event_id):
        if event_id == broken:
            raise RuntimeError
        settle(event_id)

    monkeypatch.setattr(settling, "_AT_ONCE", 3)
    monkeypatch.setattr(settling, "settle", failing)
    monkeypatch.setattr(jobs, "enqueue", lambda task, row: asked.append(task))
    settling.settle_due()
    assert asked.count("feedback.settle_due") == 1
    settling.settle_due()
    assert settling.due() == [broken]


def test_a_retraction_outlives_the_log_of_a_disabled_webhook(alice, api, who, thread, sent):
    """What else waits is as old as the log, and goes with it."""
    made = hooks.endpoint(alice, URL, *hooks.SAID, "feedback.retracted")
    path = f"/v1/webhooks/{made['webhook_id']}"
    make.rating(who.bob, thread)
    hooks.work()
    make.rating(who.alice, thread)
    settling.settle(WebhookEvent.objects.get(settled_at=None).pk)
    data_of(alice.patch(path, {"enabled": False}))
    retract(api, thread)
    with later(31 * 24):
        sending.sweep()
        data_of(alice.patch(path, {"enabled": True}))
        hooks.work()
        assert types(sent) == ["feedback.submitted", "feedback.retracted"]
        sending.sweep()
        assert types_in_log(alice, path) == ["feedback.retracted"]
    with later(62 * 24):
        sending.sweep()
        assert types_in_log(alice, path) == []


@pytest.mark.parametrize("was_told", [True, False])
def test_whoever_was_told_long_ago_is_told_that_it_is_gone(alice, api, who, thread, sent, was_told):
    """The log is forgotten meanwhile, with its bodies and answers; that they hold the rating is not."""
    made = hooks.endpoint(alice, URL, *hooks.SAID[not was_told :], "feedback.retracted")
    make.rating(who.bob, thread)
    hooks.work()
    make.rating(who.bob, thread, sentiment="positive" if was_told else "negative")
    hooks.work()
    thread.visibility = "private"
    thread.save()
    with later(31 * 24):
        sending.sweep()
        assert types_in_log(alice, f"/v1/webhooks/{made['webhook_id']}") == []
        assert WebhookTold.objects.count() == was_told
        retract(api, thread)
        hooks.work()
    assert types(sent) == (["feedback.submitted", "feedback.updated", "feedback.retracted"] if was_told else [])
    assert not WebhookTold.objects.exists()


def test_a_message_that_was_dropped_is_not_remembered_as_told(alice, who, thread, sent):
    hooks.endpoint(alice, URL, *hooks.SAID, "feedback.retracted")
    make.rating(who.bob, thread)
    settling.settle(WebhookEvent.objects.get().pk)
    type(thread).objects.filter(pk=thread.pk).update(visibility="private")
    hooks.work()
    with later(31 * 24):
        sending.sweep()
    assert not WebhookDelivery.objects.exists() and not WebhookTold.objects.exists()


def types_in_log(alice, path):
    return [each["event"] for each in data_of(alice.get(f"{path}/deliveries"))["items"]]


def test_what_was_never_sent_was_not_told(alice, api, who, thread, sent):
    """Due but not sent while they might be told, then dropped."""
    hooks.endpoint(alice, URL, *hooks.SAID, "feedback.retracted")
    make.rating(who.bob, thread)
    for event_id in settling.due():
        settling.settle(event_id)
    thread.visibility = "private"
    thread.save()
    hooks.work()
    retract(api, thread)
    hooks.work()
    assert sent == []


def test_an_answer_in_a_private_thread_is_not_for_its_orgs_admin(alice, api, who, sent):
    """B28."""
    report = make.rating(who.bob, make.thread(who.bob, visibility="private"))
    hooks.endpoint(alice, URL, "feedback.replied")
    replied(api("admin"), report.feedback_id, public_reply="Only for you.")
    with later():
        hooks.work()
    assert sent == []


def test_a_private_thread_stays_private(alice, who, sent):
    """B28: an org's admin hears of no thread that they could not read; of their own they do."""
    hooks.endpoint(alice, URL)
    make.rating(who.bob, make.thread(who.bob, visibility="private"))
    mine = make.rating(who.alice, make.thread(who.alice, visibility="private"))
    hooks.work()
    assert [message["data"]["feedback_id"] for _, message in sent] == [mine.feedback_id]


def test_another_org_is_told_nothing(alice, api, who, sent):
    hooks.make_org_admin(who.eve)
    hooks.endpoint(alice, URL)
    hooks.endpoint(api("eve"), URL + "/eve")
    hooks.endpoint(api("admin"), URL + "/globex", org_id=who.globex.org_id)
    hooks.endpoint(api("admin"), URL + "/all")
    make.rating(who.eve, make.thread(who.eve, visibility="org"))
    hooks.work()
    assert sorted(url for url, _ in sent) == [URL + "/all", URL + "/eve", URL + "/globex"]


def test_only_what_an_endpoint_asked_for_is_sent(api, who, thread, sent):
    hooks.endpoint(api("admin"), URL, "feedback.updated")
    make.rating(who.bob, thread)
    make.rating(who.bob, thread, sentiment="positive")
    hooks.work()
    assert types(sent) == ["feedback.updated"]


def test_without_anybody_who_wants_it_nothing_is_written(alice, api, who, thread):
    make.rating(who.bob, thread)
    made = hooks.endpoint(alice, URL, "feedback.updated")
    make.rating(who.alice, thread)
    data_of(alice.patch(f"/v1/webhooks/{made['webhook_id']}", {"enabled": False}))
    make.rating(who.alice, thread)
    hooks.make_org_admin(who.eve)
    hooks.endpoint(api("eve"), URL)
    make.rating(who.alice, thread)
    assert not WebhookEvent.objects.exists()


def test_a_refused_rating_is_not_announced(alice, api, who, thread):
    """B125."""
    hooks.endpoint(alice, URL)
    path = f"threads/{thread.thread_id}/messages/0/feedback"
    assert api("bob").post(path, {"sentiment": "negative"}).status_code == 400
    with transaction.atomic():
        make.rating(who.bob, thread)
        transaction.set_rollback(True)
    assert not WebhookEvent.objects.exists()


def test_the_worker_is_woken_after_the_commit(alice, who, thread, monkeypatch, django_capture_on_commit_callbacks):
    hooks.endpoint(alice, URL)
    woken = []
    monkeypatch.setattr(jobs, "enqueue", lambda task, row_id: woken.append((task, row_id)))
    with django_capture_on_commit_callbacks(execute=True):
        make.rating(who.bob, thread)
        assert woken == []
    assert woken == [("feedback.settle", WebhookEvent.objects.get().pk)]


def test_a_resolve_is_told_when_it_can_no_longer_be_undone(api, who, thread, sent):
    hooks.endpoint(api("admin"), URL, "feedback.resolved", "feedback.reopened")
    report = make.rating(who.bob, thread)
    resolved(report, who)
    hooks.work()
    assert sent == []
    with later():
        hooks.work()
        reopened(report, who)
    with later(2):
        hooks.work()
        hooks.work()
    assert types(sent) == ["feedback.resolved", "feedback.reopened"]
    assert [message["data"]["resolved"] for _, message in sent] == [True, False]


def test_a_resolve_tells_its_outcome_and_whose_it_was(api, who, thread, sent):
    """Whoever closes a ticket by it knows what became of the complaint."""
    hooks.endpoint(api("admin"), URL, "feedback.resolved")
    original, copy = make.rating(who.bob, thread), make.rating(who.alice, thread)
    for report, verb, said in (
        (original, "own", {"owner": "me"}),
        (original, "resolve", {"outcome": "fixed"}),
        (copy, "duplicate", {"duplicate_of": original.feedback_id}),
    ):
        path = f"/v1/ai/admin/feedback/{report.feedback_id}/actions"
        assert api("admin").post(path, {"verb": verb, "arguments": said}).status_code == 200
    with later():
        hooks.work()
    told = {message["data"]["feedback_id"]: message["data"] for _, message in sent}
    shown = {key: data_of(api("admin").get(f"/v1/ai/admin/feedback/{key}/triage")) for key in told}
    for key, data in told.items():
        assert data == {name: value for name, value in shown[key].items() if name not in ("lease", "version")}
    first, second = told[original.feedback_id], told[copy.feedback_id]
    assert (first["outcome"], first["owner"]) == ("fixed", "admin@heddle.test")
    assert (second["outcome"], second["duplicate_of"]) == ("duplicate", original.feedback_id)


def test_a_resolve_that_was_undone_sends_nothing(api, who, thread, sent):
    """Neither itself nor the reopening that undid it; and an undo that announces nothing is found out as well."""
    hooks.endpoint(api("admin"), URL, "feedback.resolved", "feedback.reopened")
    first, second = make.rating(who.bob, thread), make.rating(who.alice, thread)
    resolved(first, who)
    reopened(first, who)
    resolved(second, who)
    UserFeedback.objects.update(resolved=False, resolved_by=None, resolved_at=None)
    with later():
        hooks.work()
    assert sent == []


def test_what_the_desk_takes_back_sends_nothing_either(api, who, thread, sent):
    """By its undo, which announces what it does like every verb."""
    admin = api("admin")
    hooks.endpoint(admin, URL, "feedback.resolved", "feedback.reopened")
    report = make.rating(who.bob, thread).feedback_id
    acted = data_of(admin.post(f"admin/feedback/{report}/actions", {"verb": "resolve", "arguments": {}}))
    data_of(admin.post("admin/feedback/undo", {"action_id": acted["action_id"]}))
    with later():
        hooks.work()
    assert sent == []
    assert {event.is_told for event in WebhookEvent.objects.all()} == {False}


def test_a_label_that_is_set_with_a_resolution_is_told_as_such(api, who, thread, sent):
    """Also if the resolution and a reopening cancel each other out."""
    hooks.endpoint(api("admin"), URL, "feedback.updated", "feedback.resolved", "feedback.reopened")
    report = make.rating(who.bob, thread)
    hooks.work()
    sent.clear()
    hooks.triaged(report.feedback_id, who.admin, admin_label="money", resolved=True)
    hooks.triaged(report.feedback_id, who.admin, resolved=False)
    with later():
        hooks.work()
    assert types(sent) == ["feedback.updated"] and sent[0][1]["data"]["admin_label"] == "money"


def test_without_an_undo_window_a_large_bulk_is_told_as_it_goes(api, who, thread, sent, monkeypatch, settings):
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"webhook_delay_seconds": 0})
    monkeypatch.setattr(bulk, "AT_ONCE", 0)
    monkeypatch.setattr(bulk_work, "CHUNK", 1)
    admin = api("admin")
    hooks.endpoint(admin, URL, "feedback.resolved")
    for _ in range(2):
        make.rating(who.bob, make.thread(who.bob))
    data_of(admin.post("admin/feedback/bulk", {"verb": "resolve", "query": "is:open"}))
    Bulk.objects.update(state=Bulk.State.RUNNING)
    assert bulk_work._advance_chunk(who.admin.actor, Bulk.objects.get().pk)
    hooks.work()
    assert types(sent) == ["feedback.resolved"]


def test_without_an_undo_window_a_bulk_wakes_one_job_and_not_one_for_each(
    api, who, thread, sent, monkeypatch, settings, django_capture_on_commit_callbacks
):
    """Turns are in the same queue. What asks while the job is at work is not left to the sweep."""
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"webhook_delay_seconds": 0})
    admin, asked, settle = api("admin"), [], settling.settle
    hooks.endpoint(admin, URL, "feedback.resolved", "feedback.updated")
    for _ in range(5):
        make.rating(who.bob, make.thread(who.bob))
    monkeypatch.setattr(jobs, "enqueue", lambda task, row: asked.append(task))
    with django_capture_on_commit_callbacks(execute=True):
        data_of(admin.post("admin/feedback/bulk", {"verb": "resolve", "query": "is:open"}))
    assert WebhookEvent.objects.filter(name="feedback.resolved").count() == 5
    assert [task for task in asked if "settle" in task] == ["feedback.settle_due"]

    def meanwhile(event_id):
        settle(event_id)
        if event_id == first:
            settling.settle_due()

    first = settling.due()[0]
    asked.clear()
    monkeypatch.setattr(settling, "settle", meanwhile)
    settling.settle_due()
    assert asked.count("feedback.settle_due") == 1 and settling.due() == []


def test_a_large_bulk_is_told_when_none_of_it_can_be_undone_any_more(api, who, thread, sent, monkeypatch):
    """Its window begins with its end; while it is being undone, nothing of it is told."""
    monkeypatch.setattr(bulk, "AT_ONCE", 0)
    monkeypatch.setattr(bulk_work, "CHUNK", 1)
    admin = api("admin")
    hooks.endpoint(admin, URL, "feedback.resolved")
    made = [make.rating(who.bob, make.thread(who.bob)) for _ in range(3)]
    started = data_of(admin.post("admin/feedback/bulk", {"verb": "resolve", "query": "is:open"}))
    row = Bulk.objects.get(key=started["bulk_id"].partition("_")[2])
    actor = who.admin.actor
    Bulk.objects.filter(pk=row.pk).update(state=Bulk.State.RUNNING)
    assert bulk_work._advance_chunk(actor, row.pk)
    with time_machine.travel(timezone.now() + timedelta(minutes=20), tick=True):
        while bulk_work._advance_chunk(actor, row.pk):
            pass
    with later(45 / 60):
        hooks.work()
        assert sent == [], "the first could still be undone with the others"
        undoing = data_of(admin.post("admin/feedback/undo", {"action_id": started["action_id"]}))
        undo = Bulk.objects.get(key=undoing["bulk_id"].partition("_")[2])
        Bulk.objects.filter(pk=undo.pk).update(state=Bulk.State.RUNNING)
        assert bulk_work._advance_chunk(actor, undo.pk)
    with later(2):
        hooks.work()
        assert sent == [], "the rest is being undone"
        bulk.cancel(actor, undoing["bulk_id"])
    with later(4):
        hooks.work()
        assert {message["data"]["feedback_id"] for _, message in sent} == {each.feedback_id for each in made[1:]}


@pytest.fixture
def behind_a_bulk(api, who, sent):
    """Four reports of bob's that a bulk resolved, oldest first; all of it is due, and told to nobody yet."""
    admin = api("admin")
    hooks.endpoint(admin, URL, *hooks.ALL)
    made = [make.rating(who.bob, make.thread(who.bob)) for _ in range(4)]
    hooks.work()
    sent.clear()
    data_of(admin.post("admin/feedback/bulk", {"verb": "resolve", "query": "is:open"}))
    with later():
        yield made


def told_of(sent):
    return [(message["type"].partition(".")[2], message["data"]["feedback_id"]) for _, message in sent]


@pytest.mark.parametrize("is_settled", [True, False])
def test_what_submitters_do_is_not_kept_waiting_by_what_the_desk_did(api, who, sent, behind_a_bulk, is_settled):
    """A new rating, a change and a retraction; but of the report that was changed first what was done before."""
    if is_settled:
        for event_id in settling.due():
            settling.settle(event_id)
    first, second, third, fourth = behind_a_bulk
    new = make.rating(who.alice, make.thread(who.alice)).feedback_id
    make.rating(who.bob, report_thread(third), notes="Not yet.")
    path = report_thread(fourth).thread_id
    data_of(api("bob").request("DELETE", f"threads/{path}/messages/1/feedback"))
    hooks.work()
    said, desk = told_of(sent)[:4], told_of(sent)[4:]
    assert set(said) == {
        ("submitted", new),
        ("resolved", third.feedback_id),
        ("updated", third.feedback_id),
        ("retracted", fourth.feedback_id),
    }
    assert said.index(("resolved", third.feedback_id)) < said.index(("updated", third.feedback_id))
    assert desk == [("resolved", first.feedback_id), ("resolved", second.feedback_id)]


def test_a_rating_that_the_sweep_finds_is_settled_before_a_bulk(who, sent, behind_a_bulk, monkeypatch):
    """Its own job may be lost; then it is one of many that are due."""
    new = make.rating(who.alice, make.thread(who.alice)).feedback_id
    monkeypatch.setattr(settling, "_AT_ONCE", 2)
    settling.settle_due()
    monkeypatch.setattr(settling, "due", list)
    hooks.work()
    assert told_of(sent) == [("submitted", new), ("resolved", behind_a_bulk[0].feedback_id)]


def test_a_resolve_waits_for_its_own_window_not_for_that_of_one_before_it(api, who, thread, sent):
    hooks.endpoint(api("admin"), URL, "feedback.resolved", "feedback.reopened")
    report = make.rating(who.bob, thread)
    for minutes, change in ((0, resolved), (20, reopened), (25, resolved)):
        with later(minutes / 60):
            change(report, who)
    with later(35 / 60):
        hooks.work()
        assert sent == []
    with later(1):
        hooks.work()
    assert types(sent) == ["feedback.resolved"]


def test_who_wants_only_resolves_hears_of_the_second_one_too(api, who, thread, sent):
    hooks.endpoint(api("admin"), URL, "feedback.resolved")
    report = make.rating(who.bob, thread)
    for hours, change in enumerate((resolved, reopened, resolved)):
        with later(hours * 2):
            change(report, who)
        with later(hours * 2 + 1):
            hooks.work()
    assert types(sent) == ["feedback.resolved"] * 2


def test_a_message_has_everything_up_to_its_time_stamp_and_may_have_more(api, who, thread, sent):
    """What the page for receivers says: the newest time stamp is right, but for triage that is undone meanwhile."""
    hooks.endpoint(api("admin"), URL, *hooks.SAID, "feedback.resolved", "feedback.reopened")
    report = make.rating(who.bob, thread)
    hooks.work()
    sent.clear()
    with later(1 / 60):
        hooks.triaged(report.feedback_id, who.admin, admin_label="seen")
        resolved(report, who)
    with later(10 / 60):
        make.rating(who.bob, thread, sentiment="positive")
        hooks.work()
        reopened(report, who)
    with later():
        hooks.work()
    assert types(sent) == ["feedback.updated"] * 2
    of_bob, of_triage = (message for _, message in sent)
    assert of_triage["timestamp"] < of_bob["timestamp"]
    for message in (of_bob, of_triage):
        assert (message["data"]["admin_label"], message["data"]["sentiment"]) == ("seen", "positive")
    assert (of_bob["data"]["resolved"], of_triage["data"]["resolved"]) == (True, False)


def test_several_changes_of_triage_within_the_window_are_told_as_one(api, who, thread, sent):
    hooks.endpoint(api("admin"), URL, "feedback.updated")
    report = make.rating(who.bob, thread)
    for label in ("first", "second", "third"):
        hooks.triaged(report.feedback_id, who.admin, admin_label=label)
    with later():
        hooks.work()
    assert [message["data"]["admin_label"] for _, message in sent] == ["third"]


@pytest.mark.parametrize("order", [1, -1])
def test_they_are_told_as_one_in_whatever_order_workers_come_to_them(api, who, thread, sent, order):
    hooks.endpoint(api("admin"), URL, "feedback.updated", "feedback.replied")
    report = make.rating(who.bob, thread)
    for words in ("first", "second"):
        hooks.triaged(report.feedback_id, who.admin, admin_label=words)
        replied(api("admin"), report.feedback_id, public_reply=words)
    with later():
        for event_id in settling.due()[::order]:
            settling.settle(event_id)
        hooks.work()
    assert sorted(types(sent)) == ["feedback.replied", "feedback.updated"]


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=8))
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
def test_who_follows_the_events_knows_whether_a_report_is_open(api, who, sent, steps):
    """State and events agree: (resolve or reopen, whether the window then passes), and every event is news."""
    sent.clear()
    with transaction.atomic():
        hooks.endpoint(api("admin"), URL, "feedback.resolved", "feedback.reopened")
        report = make.rating(who.bob, make.thread(who.bob))
        hour, is_resolved = 0, False
        for to_resolved, passes in steps:
            if to_resolved != is_resolved:
                with later(hour):
                    (resolved if to_resolved else reopened)(report, who)
                is_resolved = to_resolved
            hour += passes
            with later(hour):
                hooks.work()
        with later(hour + 1):
            hooks.work()
        told = [message["type"] == "feedback.resolved" for _, message in sent]
        assert (told[-1] if told else False) == is_resolved
        assert all(before != after for before, after in zip([False, *told], told, strict=False))
        transaction.set_rollback(True)


DEEDS = ("label a", "label b", "label", "note", "resolve", "reopen", "rate")
STEP = st.tuples(st.sampled_from(DEEDS), st.sampled_from((0, 10, 20, 45)))


@given(st.lists(STEP, max_size=8))
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
def test_who_follows_all_events_ends_with_the_label_and_the_note_that_the_report_has(api, who, sent, steps):
    """Whatever else is done to it, and however the windows of each deed pass meanwhile."""
    sent.clear()
    with transaction.atomic():
        report = make.rating(who.bob, make.thread(who.bob))
        hooks.endpoint(api("admin"), URL, "feedback.updated", "feedback.resolved", "feedback.reopened")
        told, minutes = {"admin_label": None, "admin_note": None}, 0
        for place, (step, wait) in enumerate(steps):
            with later(minutes / 60):
                match step.split():
                    case ["label", *words]:
                        hooks.triaged(report.feedback_id, who.admin, admin_label=words[0] if words else None)
                    case ["note"]:
                        hooks.triaged(report.feedback_id, who.admin, admin_note="Seen." if place % 2 else None)
                    case ["rate"]:
                        make.rating(who.bob, report_thread(report), notes=f"Changed {place}")
                    case [change]:
                        hooks.triaged(report.feedback_id, who.admin, resolved=change == "resolve")
            minutes += wait
            with later(minutes / 60):
                hooks.work()
        with later(minutes / 60 + 1):
            hooks.work()
        for _, message in sent:
            told = {name: message["data"][name] for name in told}
        row = UserFeedback.objects.get(key=report.feedback_id[3:])
        assert told == {name: getattr(row, name) for name in told}
        assert not WebhookEvent.objects.filter(settled_at=None).exists()
        transaction.set_rollback(True)


VERBS = {
    "label": {"add": ["loses count"]},
    "unlabel": {"remove": ["loses count"]},
    "own": {"owner": "me"},
    "release": {"owner": None},
    "resolve": {"outcome": "fixed"},
    "outcome": {"outcome": "answered"},
    "reopen": {},
    "snooze": {"until_again": True},
    "wake": {},
    "reply": {"public_reply": "It is mended."},
    "duplicate": {},
}
SPELLED = {"unlabel": "label", "release": "own"}


@given(st.lists(st.tuples(st.sampled_from([*VERBS, "undo", "undo", "rate"]), st.sampled_from((0, 5, 29, 45)))))
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
def test_who_stores_the_data_of_all_events_ends_with_the_record_that_the_report_has(api, who, sent, steps):
    """Whatever admins and the submitter do to it, and take back, and whenever the windows of that pass."""
    sent.clear()
    admin = api("admin")
    with transaction.atomic():
        hooks.endpoint(admin, URL, *hooks.ALL)
        other = make.rating(who.alice, make.thread(who.alice)).feedback_id
        report = make.rating(who.bob, make.thread(who.bob))
        path, actions, minutes = f"admin/feedback/{report.feedback_id}", [], 0
        for place, (step, wait) in enumerate(steps):
            with later(minutes / 60):
                if step == "rate":
                    make.rating(who.bob, report_thread(report), notes=f"Changed {place}")
                elif step == "undo":
                    if actions:
                        admin.post("admin/feedback/undo", {"action_id": actions.pop()})
                else:
                    arguments = {"duplicate_of": other} if step == "duplicate" else VERBS[step]
                    done = admin.post(f"{path}/actions", {"verb": SPELLED.get(step, step), "arguments": arguments})
                    if done.status_code == 200 and (action := data_of(done)["action_id"]):
                        actions.append(action)
            minutes += wait
            with later(minutes / 60):
                hooks.work()
        with later(minutes / 60 + 1):
            hooks.work()
        told = [message["data"] for _, message in sent if message["data"]["feedback_id"] == report.feedback_id]
        shown = data_of(admin.get(f"{path}/triage"))
        assert told[-1] == {name: value for name, value in shown.items() if name not in ("lease", "version")}
        assert not WebhookEvent.objects.filter(settled_at=None).exists()
        transaction.set_rollback(True)


def report_thread(report):
    return UserFeedback.objects.get(key=report.feedback_id[3:]).thread


def test_who_lost_the_right_meanwhile_is_told_nothing_and_what_is_due_waits(alice, who, thread, sent):
    """Looked up when it is sent: here between the settling and the sending. They get the right back later."""
    made = hooks.endpoint(alice, URL)
    for person in (who.bob, who.alice):
        make.rating(person, thread)
    for event_id in settling.due():
        settling.settle(event_id)
    Membership.objects.filter(user=who.alice.user).update(role=Membership.Role.MEMBER)
    hooks.work()
    assert sent == []
    assert [each.state for each in WebhookDelivery.objects.all()] == ["pending", "pending"]
    endpoint = WebhookEndpoint.objects.get()
    assert not endpoint.is_enabled
    assert endpoint.disabled_reason == "Its owner may no longer receive this org's reports."
    hooks.make_org_admin(who.alice)
    data_of(alice.patch(f"/v1/webhooks/{made['webhook_id']}", {"enabled": True}))
    hooks.work()
    assert types(sent) == ["feedback.submitted"] * 2


def test_a_thread_that_turned_private_is_not_told_of(alice, who, thread, sent):
    """B146: between the settling and the sending."""
    hooks.endpoint(alice, URL)
    make.rating(who.bob, thread)
    settling.settle(WebhookEvent.objects.get().pk)
    type(thread).objects.filter(pk=thread.pk).update(visibility="private")
    hooks.work()
    assert sent == []
    assert WebhookDelivery.objects.get().state == "dropped"
    assert WebhookEndpoint.objects.get().is_enabled


def test_a_full_record_never_goes_to_somebody_who_is_no_platform_admin_any_more(api, who, thread, sent):
    """B133: made for one, and then they are only an org's admin; what comes next is made for what they are."""
    who.admin.user.memberships.create(org=who.acme, role=Membership.Role.ADMIN)
    hooks.endpoint(api("admin"), URL, org_id=who.acme.org_id)
    make.rating(who.bob, thread)
    settling.settle(WebhookEvent.objects.get().pk)
    type(who.admin.user).objects.filter(pk=who.admin.user.pk).update(is_staff=False)
    hooks.work()
    assert sent == []
    assert WebhookDelivery.objects.get().state == "dropped"
    make.rating(who.bob, thread, sentiment="positive")
    hooks.work()
    [(_, message)] = sent
    assert not ADMIN_KEYS & set(message["data"])


def test_settling_twice_makes_one_delivery(alice, who, thread):
    hooks.endpoint(alice, URL)
    make.rating(who.bob, thread)
    for _ in range(2):
        settling.settle(WebhookEvent.objects.get().pk)
    assert WebhookDelivery.objects.count() == 1


def test_rating_looks_once_whether_anybody_wants_it(alice, api, who, thread):
    """However many endpoints there are."""
    counts = []
    for number in (0, 3):
        for place in range(number):
            hooks.endpoint(alice, f"{URL}/{place}", "feedback.updated")
        make.rating(who.bob, thread)
        with CaptureQueriesContext(connection) as asked:
            make.rating(who.alice, make.thread(who.alice), index=1)
        counts.append(len([each for each in asked.captured_queries if "webhook" in each["sql"]]))
    assert counts == [1, 1]


def resolved(report, who):
    hooks.triaged(report.feedback_id, who.admin, resolved=True)


def reopened(report, who):
    hooks.triaged(report.feedback_id, who.admin, resolved=False)
