"""The periodic digest of rated answers and the index of threads: the tasks and their schedule."""

import threading
from time import sleep

import pytest
from django.conf import settings
from django.db import connection, transaction

from config.celery import app
from core import notices
from core.db import anew
from feedback import desk_notices, digesting, tasks, triage
from feedback.deciding import VERBS
from feedback.models import RatedAnswer, Triage, Undigested, UserFeedback
from tests import make
from threads import tasks as threads
from threads.models import Block, Unindexed


@pytest.mark.django_db(transaction=True)  # the task gives its connection back
def test_the_task_digests_what_has_gathered(who):
    report = make.rating(who.alice, make.thread(who.alice))
    tasks.digest()
    assert not Undigested.objects.exists()
    [answer] = RatedAnswer.objects.select_related("feedback")
    assert (answer.feedback.feedback_id, answer.model_profile) == (report.feedback_id, "simulated")


@pytest.mark.django_db(transaction=True)
def test_desks_that_are_open_are_told_of_new_reports_once_for_all(who, monkeypatch):
    told = []
    monkeypatch.setattr(notices, "publish", told.append)
    make.rating(who.alice, make.thread(who.alice))
    make.rating(who.bob, make.thread(who.bob))
    told.clear()
    tasks.digest()
    tasks.digest()
    assert told == [desk_notices.NOTICE]


@pytest.mark.django_db(transaction=True)
def test_the_task_indexes_what_has_ended(who):
    make.thread(who.alice)
    threads.index()
    assert not Unindexed.objects.exists()


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
@pytest.mark.django_db(transaction=True)
def test_the_digest_and_a_bulk_that_meet_in_a_circle_both_get_there(who):
    """The digest has the new report and wakes the older one; a bulk has the older one and wants the new one."""

    def rate(person):
        return make.rating(person, make.thread(person, "[[fail]]"), 1, notes="Quasimodo overcharged me").feedback_id

    snoozed = rate(who.alice)
    digesting.catch_up()
    snooze = VERBS["snooze"]
    triage.act(who.admin.actor, snoozed, (snooze, snooze.takes(until_again=True)))
    rate(who.bob)
    older, newer = UserFeedback.objects.order_by("pk")
    reports, held = UserFeedback.objects.select_for_update(no_key=True), threading.Event()

    @anew
    def change():
        with transaction.atomic():
            list(reports.filter(pk=older.pk))
            held.set()
            sleep(0.4)
            list(reports.filter(pk=newer.pk))

    changing = threading.Thread(target=lambda: (change(), connection.close()))
    changing.start()
    assert held.wait(5)
    digesting.finish()
    changing.join()
    assert not Undigested.objects.exists()
    assert not Triage.objects.get(feedback=older).snoozed_until_again


def test_they_run_every_few_seconds():
    for name in (tasks.digest.name, threads.index.name):
        entry = app.conf.beat_schedule[name]
        assert entry["task"] == name
        assert entry["schedule"] == settings.HEDDLE.digest_seconds <= 10


def test_a_worker_whose_clock_is_some_seconds_ahead_drops_none_of_them():
    """Beat says by its own clock until when each is worth running (docs/operations.md, Clocks)."""
    assert all(entry["options"]["expires"] >= 60 for entry in app.conf.beat_schedule.values())


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite's index holds whatever it is given")
def test_an_answer_that_the_index_cannot_hold_keeps_no_other_from_being_looked_at(who, monkeypatch, caplog):
    monkeypatch.setattr(digesting, "ANSWER_LENGTH", 4_000_000)
    fine = make.rating(who.alice, make.conversation(who.alice, 2), 1)
    endless = " ".join(f"{number:x>200}" for number in range(12_000))
    huge = make.conversation(who.alice, 2)
    Block.objects.filter(thread=huge, idx=1).update(text=endless)
    report = make.rating(who.alice, huge, 1)
    assert digesting.digest() == 2
    assert not Undigested.objects.exists()
    assert [answer.feedback.feedback_id for answer in RatedAnswer.objects.select_related("feedback")] == [
        fine.feedback_id
    ]
    [said] = [each for each in caplog.records if each.message == "digest.passed_by"]
    assert said.feedback_id == report.feedback_id


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="counts SQLite's steps")
def test_a_report_takes_as_many_steps_however_much_was_said_after_it(who):
    """Ratings wait meanwhile: in a thread of 10,000 messages a batch once took two seconds."""

    def steps(length):
        make.rating(who.alice, make.conversation(who.alice, length), 1)
        taken = []
        connection.connection.set_progress_handler(lambda: taken.append(1) and 0, 20)
        assert digesting.digest() == 1
        connection.connection.set_progress_handler(None, 0)
        return len(taken)

    steps(4)  # the first one also compiles
    # The index of words merges its parts now and then, which is not of this report.
    assert min(steps(1000) for _ in range(5)) < min(steps(4) for _ in range(5)) * 2


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="a plan of SQLite, which plans by rule")
def test_whether_anything_waits_is_asked_of_what_waits_and_not_of_all_reports():
    """Each search and each opened report asks it: 5 ms with 100,000 reports."""
    plan = digesting._WAITING.values_list("pk")[:1].explain()
    assert plan.splitlines()[0].endswith("SCAN feedback_undigested")
