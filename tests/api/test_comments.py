"""Comments on reports: who reads and writes them, whom they ask, and that they change nothing of the report."""

import threading
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from feedback import commenting, digesting, sweeping
from feedback.models import Comment, Mention, Reworded
from feedback.wire_desk import CommentIn
from tests import make
from tests.conftest import Api, data_of, refusal_of
from tests.people import second_admin


@pytest.fixture
def report(who):
    return make.rating(who.alice, make.thread(who.alice), notes="Wrong total").feedback_id


@pytest.fixture
def admin(api):
    return api("admin")


@pytest.fixture
def bea():
    return Api(second_admin().token)


@pytest.fixture
def path(report):
    return f"admin/feedback/{report}/comments"


def ids_of(client, query):
    """The reports that a query finds."""
    return [each["feedback_id"] for each in data_of(client.get(f"admin/feedback?q={query}"))["items"]]


def test_a_comment_is_read_by_all_admins_and_changes_nothing_of_the_report(admin, bea, report, path):
    before = data_of(admin.get(f"admin/feedback/{report}/triage"))
    said = data_of(admin.post(path, {"text": "  It adds the tax twice.\n\nSee the result.  \n"}))
    assert said["text"] == "It adds the tax twice.\n\nSee the result."
    assert said["author"] == "admin@heddle.test"
    assert (said["edited_at"], said["mentions"], said["pending"]) == (None, [], [])
    data_of(bea.post(path, {"text": "Agreed."}))
    assert [each["text"] for each in data_of(bea.get(path))] == [said["text"], "Agreed."]
    assert data_of(admin.get(f"admin/feedback/{report}/triage")) == before
    assert data_of(admin.get(f"admin/feedback/{report}/history")) == []


@pytest.mark.parametrize("text", ["", "  \n ", "\u200b\u2060"])
def test_a_comment_says_something(admin, path, text):
    status, _, message = refusal_of(admin.post(path, {"text": text}))
    assert status == 400 and message.startswith("text: must have at least one visible character")
    assert not Comment.objects.exists()


def test_a_comment_has_a_limit_and_no_other_keys(admin, path):
    assert refusal_of(admin.post(path, {"text": "x" * 20_001}))[0] == 400
    assert refusal_of(admin.post(path, {"text": "x", "txt": "y"}))[2].startswith("txt:")
    assert refusal_of(admin.post(path, {"text": 1}))[0] == 400
    assert len(data_of(admin.post(path, {"text": "x" * 20_000}))["text"]) == 20_000


def test_a_report_has_a_thousand_comments_and_no_more(admin, path, monkeypatch):
    monkeypatch.setattr(commenting, "MOST", 2)
    for text in ("one", "two"):
        data_of(admin.post(path, {"text": text}))
    assert refusal_of(admin.post(path, {"text": "three"}))[2] == "text: a report has at most 2 comments"


def test_a_repeated_request_is_one_comment(admin, bea, path):
    first = data_of(admin.post(path, {"text": "Again?"}))
    assert data_of(admin.post(path, {"text": "Again?"})) == first
    data_of(bea.post(path, {"text": "Again?"}))
    data_of(admin.post(path, {"text": "Again?"}))  # somebody else spoke in between: it is an answer
    assert Comment.objects.count() == 3
    with time_machine.travel(timezone.now() + timedelta(minutes=2)):
        data_of(admin.post(path, {"text": "Again?"}))
    assert Comment.objects.count() == 4


@pytest.mark.django_db(transaction=True)
def test_repeated_requests_at_the_same_moment_are_one_comment(who, report):
    def add():
        commenting.add(who.admin.actor, report, CommentIn(text="Once."))
        connection.close()

    threads = [threading.Thread(target=add) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert Comment.objects.count() == 1


@pytest.mark.parametrize(
    "text",
    ["@bea, is this yours?", "Ask @BEA.", "@bea@heddle.test: look", "(@bea) and @bea", "@nobody and @bea and @alice"],
)
def test_whom_a_comment_names_is_asked_until_they_answer(admin, bea, report, path, text):
    said = data_of(admin.post(path, {"text": text}))
    assert said["mentions"] == said["pending"] == ["bea@heddle.test"]
    assert ids_of(bea, "is:asked") == [report]
    assert ids_of(admin, "is:asked") == [] and ids_of(bea, "-is:asked") == []
    data_of(bea.post(path, {"text": "It is."}))
    assert ids_of(bea, "is:asked") == []
    assert [each["pending"] for each in data_of(admin.get(path))] == [[], []]
    assert data_of(admin.get(path))[0]["mentions"] == ["bea@heddle.test"]


@pytest.mark.parametrize(
    "text", ["bea@heddle.test wrote", "a@bea", "@alice", "@beatrice", "@admin", "@", "@bea@else.test x"]
)
def test_only_other_admins_are_asked(admin, bea, path, text):
    assert data_of(admin.post(path, {"text": text}))["mentions"] == []
    assert ids_of(bea, "is:asked") == []


def test_who_needs_not_answer_says_so(admin, bea, report, path):
    data_of(admin.post(path, {"text": "@bea fyi"}))
    assert data_of(bea.post(f"{path}/acknowledge")) is None
    assert ids_of(bea, "is:asked") == []
    assert data_of(bea.post(f"{path}/acknowledge")) is None, "again changes nothing"


def test_ones_own_comment_is_edited_and_then_asks_whom_it_names_now(admin, bea, who, path):
    said = data_of(admin.post(path, {"text": "Whose is it?"}))
    edited = data_of(admin.request("PATCH", f"{path}/{said['comment_id']}", {"text": "Whose is it? @bea"}))
    assert edited["edited_at"] is not None and edited["pending"] == ["bea@heddle.test"]
    same = data_of(admin.request("PATCH", f"{path}/{said['comment_id']}", {"text": "Whose is it? @bea"}))
    assert same == edited
    data_of(bea.post(f"{path}/acknowledge"))
    longer = data_of(admin.request("PATCH", f"{path}/{said['comment_id']}", {"text": "Whose is it now? @bea"}))
    assert (longer["mentions"], longer["pending"]) == (["bea@heddle.test"], []), "who has answered is not asked again"
    gone = data_of(admin.request("PATCH", f"{path}/{said['comment_id']}", {"text": "Nobody's."}))
    assert gone["mentions"] == []


def test_another_admins_comment_stays_as_it_is(admin, bea, path):
    said = data_of(admin.post(path, {"text": "Mine."}))
    own = f"{path}/{said['comment_id']}"
    for method, body in (("PATCH", {"text": "Yours."}), ("DELETE", None)):
        assert refusal_of(bea.request(method, own, body))[0] == 403
    assert refusal_of(bea.post(f"{own}/restore"))[0] == 403
    data_of(admin.request("DELETE", own))
    assert refusal_of(bea.post(f"{own}/restore"))[0] == 404, "of a deleted one others know nothing"
    assert [each["text"] for each in data_of(admin.get(path))] == []


def test_a_deleted_comment_asks_nobody_and_comes_back_for_half_an_hour(admin, bea, report, path):
    said = data_of(admin.post(path, {"text": "@bea is it yours?"}))
    own = f"{path}/{said['comment_id']}"
    assert data_of(admin.request("DELETE", own)) is None
    assert data_of(admin.request("DELETE", own)) is None, "again changes nothing"
    assert data_of(bea.get(path)) == [] and ids_of(bea, "is:asked") == [] and ids_of(bea, "has:comment") == []
    assert refusal_of(admin.request("PATCH", own, {"text": "Changed"}))[0] == 404
    assert data_of(admin.post(f"{own}/restore")) == said
    assert ids_of(bea, "is:asked") == [report] == ids_of(bea, "has:comment")
    data_of(admin.request("DELETE", own))
    sweeping.sweep()
    assert Comment.objects.count() == 1
    with time_machine.travel(timezone.now() + timedelta(minutes=31)):
        assert refusal_of(admin.post(f"{own}/restore"))[0] == 404
        sweeping.sweep()
    assert not Comment.objects.exists()


def test_a_comment_is_of_its_report(admin, who, path):
    said = data_of(admin.post(path, {"text": "Here."}))
    other = make.rating(who.alice, make.thread(who.alice), notes="Other").feedback_id
    for method in ("PATCH", "DELETE"):
        elsewhere = f"admin/feedback/{other}/comments/{said['comment_id']}"
        assert refusal_of(admin.request(method, elsewhere, {"text": "x"} if method == "PATCH" else None))[0] == 404


def test_comments_are_found_by_their_words(admin, report, path):
    said = data_of(admin.post(path, {"text": "The rounding in settle_invoice is off"}))
    for query in ("rounding", "note:rounding", '"settle_invoice is off"'):
        assert ids_of(admin, query) == [report], query
    assert ids_of(admin, "notes:rounding") == []
    data_of(admin.request("PATCH", f"{path}/{said['comment_id']}", {"text": "The truncation is off"}))
    assert ids_of(admin, "rounding") == [] and ids_of(admin, "truncation") == [report]
    data_of(admin.put(f"admin/feedback/{report}", {"admin_note": "Seen."}))
    assert ids_of(admin, "truncation") == [report] == ids_of(admin, "seen")
    data_of(admin.request("DELETE", f"{path}/{said['comment_id']}"))
    assert ids_of(admin, "truncation") == [] and ids_of(admin, "seen") == [report]


def test_a_comment_before_the_first_digest_is_found_too(admin, report, path):
    data_of(admin.post(path, {"text": "early words"}))
    digesting.catch_up()
    assert ids_of(admin, "early") == [report]


def test_a_retracted_report_takes_its_comments_along(api, admin, who, report, path):
    data_of(admin.post(path, {"text": "@bea hm"}))
    thread = data_of(admin.get(f"admin/feedback/{report}"))["thread_id"]
    data_of(api("alice").request("DELETE", f"threads/{thread}/messages/1/feedback"))
    assert not Comment.objects.exists() and not Mention.objects.exists() and not Reworded.objects.exists()
    assert refusal_of(admin.post(path, {"text": "Late"}))[0] == 404


def test_a_list_of_comments_takes_the_same_queries_however_many(admin, bea, path):
    counts = []
    for _ in range(2):
        for text in ("@bea one", "two", "@bea three"):
            data_of(admin.post(path, {"text": f"{text} {len(counts)}"}))
        with CaptureQueriesContext(connection) as found:
            data_of(admin.get(path))
        counts.append(len(found))
    assert counts[0] == counts[1]
