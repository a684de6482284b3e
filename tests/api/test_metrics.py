"""/metrics: figures for operators, and nothing of what anybody said."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from feedback.models import UserFeedback
from feedback.models.webhook import WebhookDelivery, WebhookEndpoint, WebhookEvent
from tests import make
from tests.api.test_queries import count
from threads.models import Turn

State = WebhookDelivery.State


@pytest.fixture
def figures(client):
    """Reads the page: figure with its labels, and value."""

    def read():
        lines = client.get("/metrics").content.decode().splitlines()
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}

    return read


def delivery(endpoint, state=State.PENDING, **values):
    settled = None if state == State.PENDING else timezone.now()
    made = {"message_id": "evt_1", "name": "webhook.test", "audience": "org", "body": "{}", "settled_at": settled}
    return WebhookDelivery.objects.create(endpoint=endpoint, state=state, **(made | values))


def endpoint(who, **values):
    return WebhookEndpoint.objects.create(owner=who.admin.user, url="https://hooks.example.org/", **values)


def test_webhooks_by_outcome_backlog_and_state(who, figures):
    long_ago = timezone.now() - timedelta(hours=2)
    well, gone = endpoint(who), endpoint(who, is_enabled=False)
    endpoint(who, failing_since=long_ago)
    delivery(well, State.DELIVERED)
    delivery(well, State.FAILED)
    delivery(well, State.FAILED, settled_at=long_ago)
    delivery(well, created=long_ago)
    delivery(gone, created=long_ago - timedelta(days=3))
    found = figures()
    assert found['heddle_webhook_settled{outcome="delivered"}'] == 1
    assert found['heddle_webhook_settled{outcome="failed"}'] == 1
    assert found['heddle_webhook_settled{outcome="dropped"}'] == 0
    assert found["heddle_webhook_pending"] == 1
    assert 7200 <= found["heddle_webhook_oldest_pending_seconds"] < 7300
    assert [found[f'heddle_webhook_endpoints{{state="{each}"}}'] for each in ("well", "failing", "disabled")] == [1] * 3


def test_what_happened_and_was_told_to_nobody_yet(who, figures):
    make.rating(who.alice, make.thread(who.alice))
    row = UserFeedback.objects.get()
    for due_at in (timezone.now(), timezone.now() + timedelta(hours=1)):
        WebhookEvent.objects.create(name="feedback.updated", report=row, actor=who.admin.user, due_at=due_at)
    assert figures()["heddle_webhook_events_due"] == 1


def test_since_when_the_oldest_event_is_due(who, figures):
    """Of either kind. Many that are due since just now, as after a bulk, are no reason for an alarm."""
    assert figures()["heddle_webhook_oldest_due_seconds"] == 0
    make.rating(who.alice, make.thread(who.alice))
    common = {"name": "feedback.updated", "report": UserFeedback.objects.get(), "actor": who.admin.user}
    now = timezone.now()
    for minutes in (-60, *[0] * 20):
        WebhookEvent.objects.create(is_triage=True, due_at=now - timedelta(minutes=minutes), **common)
    found = figures()
    assert found["heddle_webhook_events_due"] == 20 and found["heddle_webhook_oldest_due_seconds"] < 60
    for minutes, is_triage in ((10, True), (20, False), (40, True)):
        event = WebhookEvent.objects.create(is_triage=is_triage, due_at=now - timedelta(minutes=minutes), **common)
        assert 0 <= figures()["heddle_webhook_oldest_due_seconds"] - 60 * minutes < 60
    WebhookEvent.objects.filter(pk=event.pk).update(settled_at=now)
    assert 0 <= figures()["heddle_webhook_oldest_due_seconds"] - 1200 < 60


def test_the_desk_by_age(who, figures):
    thread = make.conversation(who.alice, 8)
    for place, days in enumerate((0, 2, 10, 40)):
        made = make.rating(who.alice, thread, 2 * place + 1)
        old = timezone.now() - timedelta(days=days)
        UserFeedback.objects.filter(key=made.feedback_id.removeprefix("fb_")).update(created=old)
    found = figures()
    assert [found[f'heddle_reports_open{{older_than="{days}d"}}'] for days in (0, 1, 7, 30)] == [4, 3, 2, 1]


def test_since_when_the_oldest_queued_turn_waits(who, figures):
    for minutes in (1, 10):
        turn = Turn.objects.get(thread=make.thread(who.alice, run=False))
        Turn.objects.filter(pk=turn.pk).update(queued_at=timezone.now() - timedelta(minutes=minutes))
    make.thread(who.alice)
    assert 600 <= figures()["heddle_turn_oldest_queued_seconds"] < 660


def test_a_turn_whose_worker_is_gone_waits_for_one_again(who, figures):
    """Without any other worker nothing queues it, so the alert would never fire."""
    turn = Turn.objects.get(thread=make.thread(who.alice, run=False))
    now = timezone.now()
    ours = Turn.objects.filter(pk=turn.pk)
    ours.update(state="running", queued_at=now - timedelta(hours=1), lease_until=now + timedelta(seconds=20))
    assert figures()["heddle_turn_oldest_queued_seconds"] == 0
    ours.update(lease_until=now - timedelta(minutes=5))
    assert 300 <= figures()["heddle_turn_oldest_queued_seconds"] < 360


def test_a_quiet_house_has_all_figures(db, figures):
    found = figures()
    assert found["heddle_webhook_oldest_pending_seconds"] == found["heddle_webhook_pending"] == 0
    assert found['heddle_turns{state="queued"}'] == found["heddle_turn_oldest_queued_seconds"] == 0


def test_how_much_the_disks_have_left(db, figures, settings, tmp_path):
    """That of a server's database cannot be seen from here, and a folder that is not there has none."""
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"data_dir": tmp_path})
    named = {'heddle_disk_free_bytes{holds="data"}', 'heddle_disk_free_bytes{holds="database"}'}
    found = {name: value for name, value in figures().items() if "disk" in name}
    assert found.keys() == (named if connection.vendor == "sqlite" else {min(named)})
    assert min(found.values()) > 0
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"data_dir": tmp_path / "none"})
    assert min(named) not in figures()


def test_the_number_of_queries_is_the_same_for_more_rows(who, figures):
    few = count(figures)
    for _ in range(3):
        one = endpoint(who)
        for state in State:
            delivery(one, state)
    assert len(count(figures)) == len(few)
