"""Sending to a real server on loopback: signatures, retries, what a receiver may do to us, and what the log says."""

import base64
import hashlib
import hmac
import itertools
import threading
from datetime import timedelta
from ipaddress import ip_network

import pytest
import time_machine
from celery.signals import worker_shutting_down
from django.db.models.deletion import Collector
from django.utils import timezone
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from core import jobs, outbound, stopping
from feedback.models.webhook import WebhookAttempt, WebhookDelivery, WebhookEndpoint, WebhookEvent
from feedback.webhooks import audience, sending, settling
from tests import hooks, make
from tests.conftest import data_of
from tests.receiver import Reply, receiving, silent_port
from threads.models import Thread


@pytest.fixture
def operator(settings):
    """`operator(webhook_timeout_seconds=1)` is what the operator has set besides."""

    def set_up(**values):
        settings.HEDDLE = settings.HEDDLE.model_copy(
            update={
                "allow_private_targets": (ip_network("127.0.0.0/8"),),
                "allow_http_targets": True,
                "webhook_timeout_seconds": 2.0,
                **values,
            }
        )

    set_up()
    return set_up


@pytest.fixture
def receiver(operator):
    with receiving() as server:
        yield server


@pytest.fixture
def alice(who, api):
    hooks.make_org_admin(who.alice)
    return api("alice")


@pytest.fixture
def hook(alice, receiver):
    """A webhook of alice's at the receiver."""
    return hooks.endpoint(alice, receiver.url)


@pytest.fixture
def rate(who):
    """Bob's, other words each time: the same again would be no news."""
    thread, times = make.thread(who.bob, visibility="org"), itertools.count(1)
    return lambda: make.rating(who.bob, thread, notes=f"said {next(times)} times")


def log(api, hook):
    return data_of(api.get(f"/v1/webhooks/{hook['webhook_id']}/deliveries"))["items"]


def at(moment):
    return time_machine.travel(moment, tick=True)


def test_a_message_is_signed_as_standard_webhooks_say(hook, receiver, rate):
    rate()
    hooks.work()
    [got] = receiver.got
    assert (got.method, got.path, got.headers["content-type"]) == ("POST", "/hook", "application/json")
    told = Webhook(hook["secret"]).verify(got.body, got.headers)
    assert got.headers["webhook-id"] == told["id"]
    # And by hand, as the page for receivers describes it.
    key = base64.b64decode(hook["secret"].removeprefix("whsec_"))
    signed = f"{got.headers['webhook-id']}.{got.headers['webhook-timestamp']}.".encode() + got.body
    digest = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    assert got.headers["webhook-signature"] == f"v1,{digest}"


def test_both_secrets_sign_while_they_overlap_and_one_afterwards(alice, hook, receiver, rate):
    rotated = data_of(alice.post(f"/v1/webhooks/{hook['webhook_id']}/rotate-secret"))
    rate()
    hooks.work()
    for secret in (hook["secret"], rotated["secret"]):
        assert Webhook(secret).verify(receiver.got[0].body, receiver.got[0].headers)
    with at(timezone.now() + timedelta(hours=25)):
        rate()
        hooks.work()
        assert Webhook(rotated["secret"]).verify(receiver.got[1].body, receiver.got[1].headers)
        with pytest.raises(WebhookVerificationError):
            Webhook(hook["secret"]).verify(receiver.got[1].body, receiver.got[1].headers)


def test_a_second_rotation_cuts_off_nobody_who_has_the_first_secret(alice, hook, receiver, rate):
    """As when the answer to a rotation was lost, and it is repeated. All but the newest end together."""
    path = f"/v1/webhooks/{hook['webhook_id']}/rotate-secret"
    secrets = [hook["secret"]]
    secrets += [data_of(alice.post(path, {"overlap_hours": hours}))["secret"] for hours in (24, 1, 24, 24, 24)]

    def verified():
        rate()
        hooks.work()
        got = receiver.got[-1]
        signatures = got.headers["webhook-signature"].split()
        keys = [base64.b64decode(each.removeprefix("whsec_")) for each in secrets]
        signed = f"{got.headers['webhook-id']}.{got.headers['webhook-timestamp']}.".encode() + got.body
        macs = [base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode() for key in keys]
        return [f"v1,{mac}" in signatures for mac in macs]

    assert verified() == [False, True, True, True, True, True], "five at most"
    with at(timezone.now() + timedelta(hours=25)):
        assert verified() == [False, False, False, False, False, True]
        secrets.append(data_of(alice.post(path))["secret"])
        assert verified()[-2:] == [True, True]
        secrets.append(data_of(alice.post(path, {"overlap_hours": 0}))["secret"])
        assert verified()[-3:] == [False, False, True]


def test_a_secret_that_got_about_ends_at_once(alice, hook, receiver, rate):
    data_of(alice.post(f"/v1/webhooks/{hook['webhook_id']}/rotate-secret", {"overlap_hours": 0}))
    rate()
    hooks.work()
    with pytest.raises(WebhookVerificationError):
        Webhook(hook["secret"]).verify(receiver.got[0].body, receiver.got[0].headers)


def test_a_server_that_fails_for_a_day_is_asked_less_and_less_and_then_no_more(alice, hook, receiver, rate):
    receiver.answers(Reply(500, b"no \x00 thanks"))
    rate()
    hours, start = [], timezone.now()
    while (delivery := WebhookDelivery.objects.first()) is None or delivery.state == "pending":
        with at(delivery.next_at + timedelta(seconds=1) if delivery else start):
            hours.append((timezone.now() - start).total_seconds() / 3600)
            hooks.work()
            hooks.work()  # not due yet: nothing happens
    assert len(hours) == len(receiver.got) == 8
    pauses = [after - before for before, after in itertools.pairwise(hours)]
    *growing, last_but_one, last = pauses
    assert growing == sorted(growing) and growing[-1] < min(last_but_one, last), "the longest two differ by chance only"
    assert 24 < hours[-1] < 36
    [item] = log(alice, hook)
    assert (item["state"], item["next_attempt_at"]) == ("failed", None)
    assert [(each["status"], each["response"]) for each in item["attempts"]] == [(500, "no \ufffd thanks")] * 8
    assert len({(got.headers["webhook-id"], got.body) for got in receiver.got}) == 1
    assert len({got.headers["webhook-timestamp"] for got in receiver.got}) == 8
    assert data_of(alice.get(f"/v1/webhooks/{hook['webhook_id']}"))["failing_since"] is not None


def test_a_server_that_comes_back_gets_everything_in_order(alice, hook, receiver, who):
    threads = [make.thread(who.bob, visibility="org") for _ in range(3)]
    receiver.answers(Reply(503), Reply(200))
    ids = [make.rating(who.bob, thread).feedback_id for thread in threads]
    hooks.work()
    assert len(receiver.got) == 1  # a failure ends the round
    with at(timezone.now() + timedelta(minutes=1)):
        hooks.work()
    assert len(receiver.got) == 4
    assert {item["state"] for item in log(alice, hook)} == {"delivered"}
    arrived = [Webhook(hook["secret"]).verify(got.body, got.headers)["data"]["feedback_id"] for got in receiver.got[1:]]
    assert sorted(arrived) == sorted(ids)
    assert data_of(alice.get(f"/v1/webhooks/{hook['webhook_id']}"))["failing_since"] is None


def test_a_server_that_hangs_costs_one_time_out_and_says_so(alice, hook, receiver, rate, operator, who):
    operator(webhook_timeout_seconds=0.3)
    receiver.answers(Reply(hangs=True))
    rate()
    make.rating(who.alice, make.thread(who.alice))
    hooks.work()
    assert len(receiver.got) == 1
    waiting, tried = log(alice, hook)
    assert (waiting["attempts"], waiting["state"]) == ([], "pending")
    [attempt] = tried["attempts"]
    assert (attempt["status"], attempt["error"]) == (None, "No answer within 0.3 seconds.")
    assert 250 < attempt["duration_ms"] < 2000


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(307, b"", {"Location": "http://127.0.0.1:1/"}), (307, "Redirects are not followed.")),
        (Reply(404, b"what?"), (404, None)),
        (Reply(200, b"x" * 100_000), (200, None)),
        (Reply(204, b""), (204, None)),
    ],
)
def test_whatever_is_answered_stands_in_the_log(alice, hook, receiver, rate, reply, said):
    receiver.answers(reply)
    rate()
    hooks.work()
    [item] = log(alice, hook)
    [attempt] = item["attempts"]
    assert (attempt["status"], attempt["error"]) == said
    assert item["state"] == ("delivered" if reply.status < 300 else "pending")
    assert attempt["response"] == reply.body.decode()[:2048]
    assert len(receiver.got) == 1


def test_an_address_that_turned_private_is_not_asked(alice, hook, receiver, rate, operator):
    """The operator takes the permission back, or the name leads elsewhere now: it is checked with each attempt."""
    operator(allow_private_targets=())
    rate()
    hooks.work()
    assert receiver.got == []
    [item] = log(alice, hook)
    assert item["attempts"][0]["error"] == "is a private address; HEDDLE_ALLOW_PRIVATE_TARGETS can allow it"


def test_a_plain_address_is_not_asked_once_the_operator_allows_only_tls(alice, hook, receiver, rate, operator):
    operator(allow_http_targets=False)
    rate()
    hooks.work()
    assert receiver.got == []
    [item] = log(alice, hook)
    assert item["attempts"][0]["error"].startswith("must begin with https://")


def test_nobody_there_is_tried_again(alice, operator, rate):
    hook = hooks.endpoint(alice, f"http://127.0.0.1:{silent_port()}/")
    rate()
    hooks.work()
    [item] = log(alice, hook)
    assert item["state"] == "pending" and item["attempts"][0]["error"].startswith("No connection")


def disabled_for(caplog):
    """The codes that the log gives for webhooks that were disabled."""
    return [record.code for record in caplog.records if record.getMessage() == "webhook.disabled"]


def test_gone_disables_and_what_is_due_waits_until_it_is_enabled(alice, hook, receiver, rate, caplog):
    receiver.answers(Reply(410), Reply(200))
    rate()
    hooks.work()
    assert disabled_for(caplog) == ["gone"]
    ended = data_of(alice.get(f"/v1/webhooks/{hook['webhook_id']}"))
    assert (ended["enabled"], ended["disabled_reason"]) == (False, "It responded 410 Gone.")
    assert ended["disabled_at"] is not None
    with at(timezone.now() + timedelta(hours=1)):
        hooks.work()
        assert len(receiver.got) == 1
        data_of(alice.patch(f"/v1/webhooks/{hook['webhook_id']}", {"enabled": True}))
        hooks.work()
    assert len(receiver.got) == 2 and log(alice, hook)[0]["state"] == "delivered"


def test_days_of_failure_disable_with_the_reason(alice, hook, receiver, rate, caplog):
    receiver.answers(Reply(500))
    start = timezone.now()
    for day in range(6):
        with at(start + timedelta(days=day, minutes=day)):
            rate()
            hooks.work()
            enabled = data_of(alice.get(f"/v1/webhooks/{hook['webhook_id']}"))["enabled"]
            assert enabled is (day < 5)
    reason = data_of(alice.get(f"/v1/webhooks/{hook['webhook_id']}"))["disabled_reason"]
    assert reason.startswith("No message was delivered since ") and disabled_for(caplog) == ["failing"]


def test_a_replay_sends_the_same_bytes_under_the_same_id(alice, hook, receiver, rate):
    rate()
    hooks.work()
    [item] = log(alice, hook)
    rate()  # the report is another one by now
    replayed = data_of(alice.post(f"/v1/webhooks/{hook['webhook_id']}/deliveries/{item['delivery_id']}/replay"))
    assert replayed["state"] == "pending"
    hooks.work()
    again = [got for got in receiver.got if got.headers["webhook-id"] == item["message_id"]]
    assert len(again) == 2 and again[0].body == again[1].body
    assert [len(each["attempts"]) for each in log(alice, hook)] == [1, 2]


def test_the_log_shows_exactly_what_was_sent(alice, hook, receiver, rate):
    rate()
    hooks.work()
    [item] = log(alice, hook)
    [got] = receiver.got
    sent = data_of(alice.get(f"/v1/webhooks/{hook['webhook_id']}/deliveries/{item['delivery_id']}"))
    assert sent["body"].encode() == got.body
    assert {name: got.headers[name.lower()] for name in sent["headers"]} == sent["headers"]
    assert sent["headers"]["webhook-id"] == item["message_id"] and not {"webhook-signature"} & {*sent["headers"]}
    assert {name: sent[name] for name in item} == item


def test_what_its_owner_may_no_longer_read_is_not_shown_from_the_log(alice, api, hook, receiver, rate, who):
    rate()
    hooks.work()
    [item] = log(alice, hook)
    Thread.objects.update(visibility="private")
    path = f"/v1/webhooks/{hook['webhook_id']}/deliveries/{item['delivery_id']}"
    assert data_of(alice.get(path)) == {**item, "headers": data_of(alice.get(path))["headers"], "body": None}
    assert "said 1 times" in data_of(api("admin").get(path))["body"], "a platform admin may read every rating"


def test_a_test_says_whom_it_is_for_and_nothing_else(alice, hook, receiver):
    sent = data_of(alice.post(f"/v1/webhooks/{hook['webhook_id']}/test"))
    assert (sent["event"], sent["state"], sent["attempts"]) == ("webhook.test", "pending", [])
    hooks.work()
    told = Webhook(hook["secret"]).verify(receiver.got[0].body, receiver.got[0].headers)
    assert (told["type"], told["data"]) == ("webhook.test", {"webhook_id": hook["webhook_id"]})


def test_what_somebody_waits_for_is_sent_before_what_failed(alice, hook, receiver, rate):
    receiver.answers(Reply(500), Reply(500), Reply(204))
    rate()
    rate()
    hooks.work()  # the first one failed, and ended the round before the second
    data_of(alice.post(f"/v1/webhooks/{hook['webhook_id']}/test"))
    hooks.work()
    assert [item["attempts"] != [] for item in log(alice, hook)] == [True, False, True]
    [failed] = [item for item in log(alice, hook)[1:] if item["attempts"]]
    data_of(alice.post(f"/v1/webhooks/{hook['webhook_id']}/deliveries/{failed['delivery_id']}/replay"))
    hooks.work()
    assert receiver.got[2].headers["webhook-id"] == failed["message_id"]


def test_a_worker_that_died_while_sending_is_followed_by_one_that_sends_again(alice, hook, receiver, rate, monkeypatch):
    """At least once, and under the same id: the message had arrived, and nobody stored that it had."""
    rate()
    send, held = outbound.send, []

    def killed(*request, **more):
        send(*request, **more)
        held.extend(WebhookEndpoint.objects.values_list("lease_until", flat=True))
        raise SystemExit

    monkeypatch.setattr(outbound, "send", killed)
    with pytest.raises(SystemExit):
        hooks.work()
    monkeypatch.setattr(outbound, "send", send)
    WebhookEndpoint.objects.update(lease_until=held[0])  # a killed process lets nothing go
    assert len(receiver.got) == 1 and not WebhookAttempt.objects.exists()
    hooks.work()
    assert len(receiver.got) == 1  # its lease holds
    with at(timezone.now() + timedelta(minutes=1)):
        hooks.work()
    assert [got.headers["webhook-id"] for got in receiver.got] == [log(alice, hook)[0]["message_id"]] * 2
    assert receiver.got[0].body == receiver.got[1].body
    assert log(alice, hook)[0]["state"] == "delivered"


@pytest.mark.parametrize("messages", [1, 2])
def test_a_worker_whose_lease_ran_out_sends_nothing_more_and_frees_nothing(hook, receiver, rate, monkeypatch, messages):
    """Another one has taken the webhook over while it was sending."""
    for _ in range(messages):
        rate()
    send, taken = outbound.send, timezone.now() + timedelta(hours=1)

    def slowly(*request, **more):
        WebhookEndpoint.objects.update(lease_until=taken)
        return send(*request, **more)

    monkeypatch.setattr(outbound, "send", slowly)
    hooks.work()
    assert len(receiver.got) == 1
    assert WebhookEndpoint.objects.get().lease_until == taken


@pytest.mark.parametrize("status", [200, 410, 500])
def test_a_worker_that_wakes_up_after_another_one_delivered_changes_nothing(hook, receiver, rate, monkeypatch, status):
    """Its attempt is in the log; but the message is delivered, and the webhook neither fails nor is disabled."""
    rate()
    send = outbound.send

    def frozen(*request, **more):
        monkeypatch.setattr(outbound, "send", send)
        WebhookEndpoint.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        hooks.work()
        receiver.answers(Reply(status))
        return send(*request, **more)

    monkeypatch.setattr(outbound, "send", frozen)
    hooks.work()
    endpoint, delivery = WebhookEndpoint.objects.get(), WebhookDelivery.objects.get()
    assert (endpoint.failing_since, endpoint.is_enabled) == (None, True)
    assert (delivery.state, delivery.tries) == ("delivered", 1)
    assert [each.status for each in delivery.attempts.all()] == [200, status]


def test_a_worker_that_lost_its_lease_before_it_sent_sends_nothing(hook, receiver, rate, monkeypatch):
    rate()
    found, taken = sending._next, timezone.now() + timedelta(hours=1)

    def taken_over(endpoint_id):
        WebhookEndpoint.objects.update(lease_until=taken)
        return found(endpoint_id)

    monkeypatch.setattr(sending, "_next", taken_over)
    hooks.work()
    assert receiver.got == []
    assert WebhookEndpoint.objects.get().lease_until == taken


def test_a_worker_that_is_told_to_stop_leaves_the_rest_to_the_next_one(alice, hook, receiver, rate, monkeypatch):
    """However much there is. It is queued once, and sent by whoever takes it, in its order and once."""
    monkeypatch.setattr(stopping, "_told", threading.Event())
    asked = []
    monkeypatch.setattr(jobs, "enqueue", lambda task, row_id: asked.append((task, row_id)))
    for _ in range(3):
        rate()
    for event_id in settling.due():
        settling.settle(event_id)
    told = {"sender": "worker", "sig": "SIGTERM", "how": "Warm", "exitcode": 0}
    receiver.answers(Reply(meanwhile=lambda: worker_shutting_down.send(**told)), Reply())
    pk = WebhookEndpoint.objects.get().pk
    asked.clear()
    sending.deliver(pk)
    assert len(receiver.got) == 1 and asked == [("feedback.deliver", pk)]
    assert WebhookEndpoint.objects.get().lease_until is None
    sending.deliver(pk)
    assert len(receiver.got) == len(asked) == 1
    monkeypatch.setattr(stopping, "_told", threading.Event())
    sending.deliver(pk)
    items = log(alice, hook)
    assert [got.headers["webhook-id"] for got in receiver.got] == [item["message_id"] for item in reversed(items)]
    assert {item["state"] for item in log(alice, hook)} == {"delivered"}


def test_the_only_process_takes_up_at_its_start_what_the_one_before_it_held(hook, receiver, rate):
    rate()
    WebhookEndpoint.objects.update(lease_until=timezone.now() + timedelta(hours=1))
    hooks.work()
    assert receiver.got == []
    sending.sweep(orphans=True)
    hooks.work()
    assert len(receiver.got) == 1


def test_the_sweep_asks_for_what_is_due_and_first_for_those_that_answer(alice, receiver, rate, monkeypatch):
    asked = []
    monkeypatch.setattr(jobs, "enqueue", lambda task, row_id: asked.append((task, row_id)))
    failing, well, idle = (
        WebhookEndpoint.objects.get(key=hooks.endpoint(alice, receiver.url, *events)["webhook_id"].removeprefix("wh_"))
        for events in (hooks.SAID, hooks.SAID, ["feedback.updated"])
    )
    rate()
    assert sending.sweep() == 0
    assert asked == [("feedback.settle_due", 0)]
    settling.settle_due()
    assert not settling.due()
    WebhookEndpoint.objects.filter(pk=failing.pk).update(failing_since=timezone.now(), failed_at=timezone.now())
    asked.clear()
    assert sending.sweep() == 2
    assert asked == [("feedback.deliver", well.pk), ("feedback.deliver", failing.pk)]
    assert not idle.deliveries.exists()


def test_what_is_deleted_while_it_is_sent_leaves_nothing(alice, hook, receiver, rate, monkeypatch):
    rate()
    send = outbound.send

    def deleting(*request, **more):
        data_of(alice.request("DELETE", f"/v1/webhooks/{hook['webhook_id']}"))
        return send(*request, **more)

    monkeypatch.setattr(outbound, "send", deleting)
    hooks.work()
    assert len(receiver.got) == 1
    assert not WebhookAttempt.objects.exists()


def test_what_is_deleted_while_it_is_dropped_leaves_nothing(alice, hook, receiver, rate, monkeypatch):
    rate()

    def deleting(*asked):
        data_of(alice.request("DELETE", f"/v1/webhooks/{hook['webhook_id']}"))

    for event_id in settling.due():
        settling.settle(event_id)
    monkeypatch.setattr(audience, "audience_for", deleting)
    hooks.work()
    assert receiver.got == [] and not WebhookDelivery.objects.exists()


def test_what_is_sent_again_while_an_attempt_fails_has_all_its_retries(alice, hook, receiver, rate, monkeypatch):
    """The attempt that is under way is the last of the old ones, and fails after somebody asked."""
    receiver.answers(Reply(500), Reply(204))
    rate()
    for event_id in settling.due():
        settling.settle(event_id)
    WebhookDelivery.objects.update(tries=7)
    send, [item] = outbound.send, log(alice, hook)

    def asked_again(*request, **more):
        data_of(alice.post(f"/v1/webhooks/{hook['webhook_id']}/deliveries/{item['delivery_id']}/replay"))
        return send(*request, **more)

    monkeypatch.setattr(outbound, "send", asked_again)
    hooks.work()
    assert log(alice, hook)[0]["state"] == "pending"


def test_what_is_sent_again_while_an_attempt_succeeds_is_sent_again(alice, hook, receiver, rate, monkeypatch):
    rate()
    send = outbound.send

    def replaying(*request, **more):
        monkeypatch.setattr(outbound, "send", send)
        [item] = log(alice, hook)
        data_of(alice.post(f"/v1/webhooks/{hook['webhook_id']}/deliveries/{item['delivery_id']}/replay"))
        return send(*request, **more)

    monkeypatch.setattr(outbound, "send", replaying)
    hooks.work()
    [item] = log(alice, hook)
    assert item["state"] == "delivered" and len(item["attempts"]) == len(receiver.got) == 2


def test_old_entries_leave_the_log(alice, hook, receiver, rate):
    rate()
    data_of(alice.post(f"/v1/webhooks/{hook['webhook_id']}/test"))
    hooks.work()
    assert WebhookAttempt.objects.count() == 2
    with at(timezone.now() + timedelta(days=29)):
        sending.sweep()
        assert len(log(alice, hook)) == 2
    with at(timezone.now() + timedelta(days=31)):
        sending.sweep()
    assert log(alice, hook) == []
    assert not WebhookAttempt.objects.exists() and not WebhookEvent.objects.exists()


def test_turns_keep_half_of_the_threads_however_many_servers_hang(hook, receiver, rate, monkeypatch):
    rate()
    monkeypatch.setattr(sending, "_slots", threading.BoundedSemaphore(1))
    with sending._slots:
        hooks.work()
        assert receiver.got == []
    hooks.work()
    assert len(receiver.got) == 1


def test_who_found_no_place_is_next_and_who_fails_is_not(alice, hook, receiver, rate, monkeypatch):
    """Without waiting for the sweep, however many webhooks there are."""
    others = [hooks.endpoint(alice, f"{receiver.url}{place}") for place in range(2)]
    rate()
    queued = []
    monkeypatch.setattr(sending.jobs, "enqueue", lambda task, pk: queued.append(pk))
    monkeypatch.setattr(sending, "_slots", threading.BoundedSemaphore(1))
    with sending._slots:
        hooks.work()
    assert receiver.got == [] and queued == []
    keys = [each["webhook_id"].removeprefix("wh_") for each in (hook, *others)]
    pks = list(WebhookEndpoint.objects.filter(key__in=keys).order_by("pk").values_list("pk", flat=True))
    WebhookEndpoint.objects.filter(pk=pks[2]).update(failing_since=timezone.now())
    sending.deliver(pks[0])
    assert (len(receiver.got), queued) == (1, [pks[1]])
    sending.deliver(pks[1])
    assert (len(receiver.got), queued) == (2, [pks[1]]), "the one that fails waits for the sweep"


def test_one_that_recovered_is_not_kept_waiting_by_those_that_hang(alice, hook, receiver, rate, monkeypatch):
    """Of those that fail the one that was tried longest ago comes first, however long each has failed."""
    others = [hooks.endpoint(alice, f"{receiver.url}{place}") for place in range(2)]
    keys = [each["webhook_id"].removeprefix("wh_") for each in (hook, *others)]
    pks = list(WebhookEndpoint.objects.filter(key__in=keys).order_by("pk").values_list("pk", flat=True))
    receiver.answers(*[Reply(status=500)] * 9)
    for _ in range(3):
        rate()
    asked: list[int] = []
    monkeypatch.setattr(jobs, "enqueue", lambda task, pk: asked.append(pk))
    settling.settle_due()
    for tried in (*pks, *pks):
        asked.clear()
        sending.sweep()
        assert asked[0] == tried
        sending.deliver(tried)
    assert len(receiver.got) == 6


def test_what_is_reported_as_a_round_ends_is_sent_by_the_same_worker(hook, receiver, rate, monkeypatch):
    """Its nudge finds the endpoint held, by somebody who has looked for the last time."""
    let_go = sending._released

    def told_meanwhile(*held):
        monkeypatch.undo()
        rate()
        hooks.work()
        assert len(receiver.got) == 1
        let_go(*held)

    rate()
    monkeypatch.setattr(sending, "_released", told_meanwhile)
    hooks.work()
    assert len(receiver.got) == 2


@pytest.mark.django_db(transaction=True)
def test_a_webhook_is_deleted_while_something_is_queued_for_it(alice, hook, monkeypatch):
    collect, endpoint = Collector.collect, WebhookEndpoint.objects.get()

    def queueing(self, objs, *given, **more):
        collect(self, objs, *given, **more)
        monkeypatch.setattr(Collector, "collect", collect)
        WebhookDelivery.objects.create(endpoint=endpoint, message_id="evt_1", name="webhook.test", audience="org")

    monkeypatch.setattr(Collector, "collect", queueing)
    data_of(alice.request("DELETE", f"/v1/webhooks/{hook['webhook_id']}"))
    assert not WebhookEndpoint.objects.exists() and not WebhookDelivery.objects.exists()
