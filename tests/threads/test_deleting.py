"""`manage.py delete_threads`: threads go for ever with all that hangs on them, and nothing else does."""

import threading
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.utils.module_loading import import_string

from catalogue.models import Call
from feedback.models import Check, CheckRun, Retraction, UserFeedback
from tests import make
from tests.conftest import data_of, refusal_of
from tests.people import People
from threads import deleting
from threads.models import Block, Goal, Message, Thread, Turn
from threads.runner import loop

pytestmark = pytest.mark.django_db
CALLING = '[[call echo {"value": 1}]] Hello there'
AS = ("--as", "admin@heddle.test")


def left() -> dict[str, int]:
    return {model.__name__: model.objects.count() for model in (Thread, Message, Block, Turn, Goal, Call, UserFeedback)}


def delete(capsys, *args: str) -> str:
    call_command("delete_threads", *args, *AS)
    return capsys.readouterr().out.strip()


def test_a_thread_goes_with_all_that_hangs_on_it(api, who: People, capsys) -> None:
    make.thread(who.bob, CALLING)
    before = left()
    thread = make.thread(who.alice, CALLING)
    report = make.rating(who.alice, thread)
    check = data_of(api("admin").put(f"admin/feedback/{report.feedback_id}/check", {}))
    data_of(api("admin").post(f"admin/checks/{check['check_id']}/runs", {"times": 2}))
    make.run_turns()
    fork = data_of(api("alice").post(f"threads/{thread.thread_id}/fork", {"message_sequence_num": 1}))
    with_all = left()
    assert delete(capsys, thread.thread_id) == "3 threads would be deleted. Add --yes to delete permanently."
    assert left() == with_all
    assert delete(capsys, thread.thread_id, "--yes") == "3 of 3 threads deleted."
    assert not Check.objects.exists() and not CheckRun.objects.exists()
    assert f"fb_{Retraction.objects.get().key}" == report.feedback_id
    assert api("alice").get(f"threads/{thread.thread_id}").status_code == 404
    assert api("admin").get(f"admin/feedback/{report.feedback_id}").status_code == 404
    record = data_of(api("alice").get(f"threads/{fork['thread_id']}"))
    assert len(record["messages"]) == 2
    assert delete(capsys, fork["thread_id"], "--yes") == "1 of 1 thread deleted."
    assert left() == before


def test_whoever_was_told_of_a_rating_is_told_to_forget_it(api, who: People, capsys, monkeypatch) -> None:
    thread = make.thread(who.alice, CALLING)
    report = make.rating(who.alice, thread)
    told = []
    monkeypatch.setattr("feedback.webhooks.announce_retraction", lambda report, actor_id: told.append(report.key))
    delete(capsys, thread.thread_id, "--yes")
    assert told == [report.feedback_id.removeprefix("fb_")]


def test_the_complaint_lives_on_in_its_duplicate(api, who: People, capsys) -> None:
    first = make.rating(who.alice, make.thread(who.alice, CALLING))
    second = make.rating(who.alice, make.thread(who.alice, CALLING))
    verb = {"verb": "duplicate", "arguments": {"duplicate_of": first.feedback_id}}
    data_of(api("admin").post(f"admin/feedback/{second.feedback_id}/actions", verb))
    delete(capsys, first.thread_id, "--yes")
    assert data_of(api("admin").get(f"admin/feedback/{second.feedback_id}"))["resolved"] is False


@pytest.mark.parametrize("with_forks", [False, True])
def test_forks_go_along_where_asked_for(api, who: People, capsys, with_forks: bool) -> None:
    thread = make.thread(who.alice, CALLING)
    fork = data_of(api("alice").post(f"threads/{thread.thread_id}/fork", {"message_sequence_num": 1}))
    data_of(api("alice").post(f"threads/{fork['thread_id']}/fork", {"message_sequence_num": 0}))
    delete(capsys, thread.thread_id, "--yes", *(["--with-forks"] if with_forks else []))
    assert Thread.objects.count() == (0 if with_forks else 2)


def test_they_are_chosen_by_org_by_person_and_by_age(api, who: People, capsys) -> None:
    alices, bobs, eves = (make.thread(person, CALLING) for person in (who.alice, who.bob, who.eve))
    Thread.objects.filter(pk=bobs.pk).update(modified="2020-01-01T00:00:00Z")

    def meant(*args: str) -> int:
        return int(delete(capsys, *args).split(" ")[0])

    assert (meant("--org", "globex"), meant("--started-by", "Alice@acme.test"), meant("--untouched", "30")) == (1, 1, 1)
    assert meant("--untouched", "30", "--started-by", "alice@acme.test") == 0
    assert meant("--untouched", "0") == 3 and meant(alices.thread_id, eves.thread_id) == 2


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ([], "Name the threads"),
        (["ags_unknown"], "There is no thread ags_unknown"),
        (["--org", "nowhere"], "There is no org nowhere"),
        (["--started-by", "nobody@acme.test"], "There is no person nobody@acme.test"),
        (["--untouched", "-1"], "--untouched"),
        (["--untouched", "soon"], "--untouched: must be a whole number of days from 0 to 36500"),
    ],
)
def test_what_is_meant_by_nothing_is_refused(who: People, capsys, args: list[str], reason: str) -> None:
    make.thread(who.alice, CALLING)
    with pytest.raises(CommandError, match=reason):
        call_command("delete_threads", *args, *AS, "--yes")
    assert Thread.objects.count() == 1


def test_only_a_platform_admin_deletes(who: People) -> None:
    thread = make.thread(who.alice, CALLING)
    with pytest.raises(CommandError):
        call_command("delete_threads", thread.thread_id, "--as", "alice@acme.test", "--yes")
    assert Thread.objects.count() == 1


def test_a_turn_that_loses_its_thread_ends(who: People, capsys, monkeypatch) -> None:
    """A worker that is at it finds nothing to write to, and leaves nothing behind."""
    thread = make.thread(who.alice, "Hello", run=False)
    turn = Turn.objects.get(thread=thread)
    step = loop._Run.step

    def gone(run) -> bool:
        if Thread.objects.filter(pk=thread.pk).exists():
            delete(capsys, thread.thread_id, "--yes")
        return step(run)

    monkeypatch.setattr(loop._Run, "step", gone)
    loop.advance(turn.pk)
    assert left() == dict.fromkeys(left(), 0)


WRITES = {
    "rating": ("feedback.capture.require_rateable", "messages/1/feedback", {"sentiment": "negative"}),
    "fork": ("threads.forks.require", "fork", {"message_sequence_num": 1}),
    "rerun": ("threads.reruns.skills_of", "rerun", {"message_sequence_num": 1}),
    "send": ("threads.turns.require", "messages", {"message": make.say("More")}),
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", WRITES)
def test_who_writes_to_a_thread_that_is_deleted_just_then_is_told_that_it_is_gone(api, who, name, monkeypatch) -> None:
    """Spec 1.4: 404. The thread was there when the request was let in, and is gone when the database is asked."""
    thread = make.thread(who.alice, visibility="org")
    where, tail, body = WRITES[name]
    asked = import_string(where)

    def asked_and_gone(*given: Any, **more: Any) -> Any:
        found = asked(*given, **more)
        deleting.delete(who.admin.actor, thread.pk)
        return found

    monkeypatch.setattr(where, asked_and_gone)
    status, code, _ = refusal_of(api("alice").post(f"threads/{thread.thread_id}/{tail}", body))
    assert (status, code) == (404, "RobotoNotFoundException")
    assert not Thread.objects.exists() and not UserFeedback.objects.exists()


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", WRITES)
def test_who_waits_for_a_thread_that_is_being_deleted_is_told_that_it_is_gone(api, who, name) -> None:
    thread, client = make.thread(who.alice, visibility="org"), api("alice")
    _, tail, body = WRITES[name]
    came: list[Any] = []

    def write() -> None:
        came.append(refusal_of(client.post(f"threads/{thread.thread_id}/{tail}", body))[0])
        connection.close()

    writing = threading.Thread(target=write)
    with transaction.atomic():
        deleting.delete(who.admin.actor, thread.pk)
        writing.start()
        writing.join(0.5)
        assert writing.is_alive()
    writing.join()
    assert came == [404]
