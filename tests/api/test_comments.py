"""Comments on reports: who reads and writes them, whom they ask, and that they change nothing of the report."""

import threading
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from feedback import commenting, digesting, quoting, sweeping
from feedback.models import Comment, Mention, Reworded
from feedback.wire_desk import CommentIn, CommentPatch
from tests import make
from tests.conftest import Api, data_of, refusal_of
from tests.people import one, second_admin


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
    assert (said["edited_at"], said["mentions"], said["answers"], said["pending"]) == (None, [], [], [])
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
    assert data_of(admin.post(path, {"text": "Again?"})) == first, "also if somebody else spoke in between"
    assert Comment.objects.count() == 2
    data_of(admin.post(path, {"text": "Other words"}))
    data_of(admin.post(path, {"text": "Again?"}))
    with time_machine.travel(timezone.now() + timedelta(minutes=2)):
        data_of(admin.post(path, {"text": "Again?"}))
    assert Comment.objects.count() == 5


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
    [
        "@bea, is this yours?",
        "Ask @BEA.",
        "@bea@heddle.test: look",
        "(@bea) and @bea",
        "@nobody and @bea and @alice",
        "@bea- look",
        "@bea_",
    ],
)
def test_whom_a_comment_names_is_asked_until_they_answer(admin, bea, report, path, text):
    said = data_of(admin.post(path, {"text": text}))
    assert said["mentions"] == said["pending"] == ["bea@heddle.test"]
    assert ids_of(bea, "is:asked") == [report]
    assert ids_of(admin, "is:asked") == [] and ids_of(bea, "-is:asked") == []
    data_of(bea.post(path, {"text": "It is."}))
    assert ids_of(bea, "is:asked") == []
    question, answer = data_of(admin.get(path))
    assert (question["mentions"], question["pending"]) == (["bea@heddle.test"], [])
    assert (answer["mentions"], answer["answers"]) == ([], ["admin@heddle.test"]) == ([], answer["pending"])


def test_who_asked_is_told_of_the_answer_and_nobody_of_thanks(admin, bea, report, path):
    data_of(admin.post(path, {"text": "@bea is it yours?"}))
    data_of(bea.post(path, {"text": "It is."}))
    assert ids_of(admin, "is:asked") == [report] and ids_of(bea, "is:asked") == []
    thanks = data_of(admin.post(path, {"text": "Thanks."}))
    assert thanks["answers"] == thanks["mentions"] == []
    assert ids_of(admin, "is:asked") == ids_of(bea, "is:asked") == []


def test_whom_the_answer_names_is_asked_and_not_told_twice(admin, bea, path):
    data_of(admin.post(path, {"text": "@bea is it yours?"}))
    back = data_of(bea.post(path, {"text": "No, @admin, why?"}))
    assert (back["mentions"], back["answers"]) == (["admin@heddle.test"], [])


def test_an_answer_that_names_whom_it_answers_later_asks_them(admin, bea, path):
    data_of(bea.post(path, {"text": "@admin whose is it?"}))
    said = data_of(admin.post(path, {"text": "Looks like tax."}))
    data_of(bea.post(path, {"text": "@admin I see."}))
    edited = data_of(admin.request("PATCH", f"{path}/{said['comment_id']}", {"text": "Tax. @bea can you mend it?"}))
    assert (edited["mentions"], edited["pending"]) == (["bea@heddle.test"], ["bea@heddle.test"])


def test_an_admin_is_named_by_their_name_too(admin, bea, path):
    User.objects.filter(email="bea@heddle.test").update(email="b.brandt@heddle.test", name="Bea Brandt")
    for text in ("@Brandt?", "@bea?", "@b.brandt?"):
        assert data_of(admin.post(path, {"text": text}))["mentions"] == ["b.brandt@heddle.test"], text


def test_who_comments_is_found(admin, bea, report, path):
    data_of(admin.post(path, {"text": "Hm."}))
    for query, is_found in (("commented:admin", True), ("commented:me", True), ("commented:bea", False)):
        assert ids_of(admin, query) == [report] * is_found, query
    assert ids_of(bea, "-commented:me") == [report] and ids_of(admin, "commented:nobody-here") == []


@pytest.mark.parametrize(
    "text",
    [
        *("bea@heddle.test wrote", "a@bea", "@alice", "@beatrice", "@admin", "@", "@bea@else.test", "info@bea.example"),
        *("https://medium.com/@bea/post", "see example.org/@bea", "npm i @bea/x"),
    ],
)
def test_only_other_admins_are_asked(admin, bea, path, text):
    assert data_of(admin.post(path, {"text": text}))["mentions"] == []
    assert ids_of(bea, "is:asked") == []


def test_who_needs_not_answer_says_so(admin, bea, report, path):
    data_of(admin.post(path, {"text": "@bea fyi"}))
    assert data_of(bea.post(f"{path}/acknowledge")) is None
    assert ids_of(bea, "is:asked") == []
    assert data_of(bea.post(f"{path}/acknowledge")) is None, "again changes nothing"


def test_what_came_after_the_last_comment_that_was_read_still_waits(admin, bea, report, path):
    first = data_of(admin.post(path, {"text": "@bea one?"}))["comment_id"]
    data_of(admin.post(path, {"text": "@bea two?"}))
    data_of(bea.post(path, {"text": "To the first: yes.", "seen": first}))
    assert [each["pending"] for each in data_of(admin.get(path))[:2]] == [[], ["bea@heddle.test"]]
    data_of(bea.post(f"{path}/acknowledge", {"seen": first}))
    assert ids_of(bea, "is:asked") == [report]
    data_of(bea.post(path, {"text": "Unread.", "seen": ""}))
    assert ids_of(bea, "is:asked") == [report]
    data_of(bea.post(f"{path}/acknowledge", {}))
    assert ids_of(bea, "is:asked") == []


def test_what_was_read_is_known_by_the_id_of_a_comment_even_of_one_that_was_cleared_since(admin, bea, report, path):
    data_of(admin.post(path, {"text": "@bea one?"}))
    last = data_of(admin.post(path, {"text": "Never mind."}))["comment_id"]
    for place, body in ((path, {"text": "Yes.", "seen": "the last"}), (f"{path}/acknowledge", {"seen": report})):
        status, _, told = refusal_of(bea.post(place, body))
        assert (status, told.partition(",")[0]) == (400, "seen: must be the id of a comment")
    assert Comment.objects.count() == 2 and ids_of(bea, "is:asked") == [report]
    Comment.objects.filter(text="Never mind.").delete()
    data_of(bea.post(f"{path}/acknowledge", {"seen": last}))
    assert ids_of(bea, "is:asked") == []


def test_an_address_with_marks_in_it_is_named_too(admin, path):
    one("o'brien+desk@heddle.test", None, is_staff=True)
    said = data_of(admin.post(path, {"text": "('@o'brien+desk@heddle.test')?"}))
    assert said["mentions"] == ["o'brien+desk@heddle.test"]


def test_at_most_twenty_are_asked(admin, path):
    for number in range(22):
        one(f"same@{number}.test", None, is_staff=True)
    assert len(data_of(admin.post(path, {"text": "@same"}))["mentions"]) == 20


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
    with time_machine.travel(timezone.now() + timedelta(minutes=30, seconds=30)):
        assert refusal_of(admin.post(f"{own}/restore"))[0] == 404
        sweeping.sweep()
        assert Comment.objects.exists(), "a restoration that has begun still finds it"
    with time_machine.travel(timezone.now() + timedelta(minutes=32)):
        sweeping.sweep()
    assert not Comment.objects.exists()


def test_who_has_answered_is_not_asked_again_by_a_restored_comment(admin, bea, path):
    own = f"{path}/{data_of(admin.post(path, {'text': '@bea is it yours?'}))['comment_id']}"
    data_of(bea.post(path, {"text": "Yes."}))
    data_of(admin.request("DELETE", own))
    restored = data_of(admin.post(f"{own}/restore"))
    assert (restored["mentions"], restored["pending"]) == (["bea@heddle.test"], [])
    assert ids_of(bea, "is:asked") == []


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


def test_a_phrase_is_of_one_comment(admin, report, path):
    data_of(admin.put(f"admin/feedback/{report}", {"admin_note": "seen alpha"}))
    for text in ("gamma delta", "beta here"):
        data_of(admin.post(path, {"text": text}))
    for query, is_found in (
        ('"seen alpha"', True),
        ('"beta here"', True),
        ('"alpha beta"', False),
        ('"alpha gamma"', False),
        ('"here gamma"', False),
        ('"delta beta"', False),
    ):
        assert ids_of(admin, query) == [report] * is_found, query


def test_the_latest_comments_are_found_however_long_the_others_are(admin, report, path):
    for number in range(3):
        data_of(admin.post(path, {"text": f"word{number} " + "long " * 3_900}))
    data_of(admin.post(path, {"text": "the latest purple giraffe"}))
    assert ids_of(admin, '"purple giraffe"') == [report] == ids_of(admin, "word2")
    assert ids_of(admin, "word0") == [], "beyond what is indexed"


def test_a_row_that_is_deleted_by_hand_leaves_the_index(admin, report, path):
    data_of(admin.post(path, {"text": "secret words"}))
    assert ids_of(admin, "secret") == [report]
    Comment.objects.all().delete()
    assert ids_of(admin, "secret") == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("change", ["edit", "delete"])
def test_a_change_while_the_report_is_indexed_is_indexed_too(admin, who, report, path, monkeypatch, change):
    digesting.catch_up()
    said = data_of(admin.post(path, {"text": "rounding"}))
    indexed, changed = threading.Event(), threading.Event()
    reads = quoting.comments

    def slowly(pks):
        found = reads(pks)
        if not indexed.is_set():
            indexed.set()
            changed.wait(1)  # the change waits for the lock, so this runs out
        return found

    monkeypatch.setattr(quoting, "comments", slowly)

    def act():
        indexed.wait(5)
        if change == "edit":
            commenting.edit(who.admin.actor, report, said["comment_id"], CommentPatch(text="truncation"))
        else:
            commenting.delete(who.admin.actor, report, said["comment_id"])
        changed.set()
        connection.close()

    other = threading.Thread(target=act)
    other.start()
    digesting.digest()
    other.join()
    digesting.catch_up()
    assert ids_of(admin, "rounding") == []
    assert ids_of(admin, "truncation") == ([report] if change == "edit" else [])


@pytest.mark.django_db(transaction=True)
def test_a_retraction_and_a_change_at_the_same_moment(api, admin, bea, who, report, path):
    """One waits for the other: none of them fails, and nothing stays."""
    thread = data_of(admin.get(f"admin/feedback/{report}"))["thread_id"]
    said = data_of(admin.post(path, {"text": "hm"}))
    answers = []

    def edit():
        for number in range(5):
            body = {"text": f"@bea {number}"}
            answers.append(Api(who.admin.token).request("PATCH", f"{path}/{said['comment_id']}", body).status_code)
        connection.close()

    other = threading.Thread(target=edit)
    other.start()
    taken_back = api("alice").request("DELETE", f"threads/{thread}/messages/1/feedback").status_code
    other.join()
    assert taken_back == 200 and set(answers) <= {200, 404}
    assert not Comment.objects.exists() and not Mention.objects.exists()


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
