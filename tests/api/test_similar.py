"""Reports like a report, with the reasons why; and what wakes a report that sleeps until it happens again."""

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from core.errors import Unauthorized
from feedback import digesting, likeness, similar, triage
from feedback.models import Triage, UserFeedback
from tests import make
from tests.conftest import data_of

FAILING = '[[call calculate {"expression": "1+"}]] How much?'


@pytest.fixture
def rate(who):
    """`rate(name, text, notes, ...)` is a report on the last answer of a new thread."""

    def rated(name, text="Hello", notes=None, sentiment="negative", **said):
        person = who.named(name)
        thread = make.thread(person, text, visibility="org")
        report = make.rating(person, thread, thread.message_count - 1, sentiment, notes=notes, **said)
        return UserFeedback.objects.get(key=report.feedback_id[3:])

    return rated


@pytest.fixture
def like(api):
    """What is like a report: id and reasons, in order."""
    return lambda report: [
        (each["feedback_id"], each["reasons"])
        for each in data_of(api("admin").get(f"admin/feedback/{report.feedback_id}/similar"))
    ]


def test_every_reason_is_told(who, rate, like):
    one = rate("alice", FAILING, "The refund for my canoe was wrong", categories=["incorrect", "slow"])
    tool = rate("alice", FAILING)
    words = rate("alice", notes="Again no refund for the canoe!")
    place = make.rating(who.bob, one.thread, one.message_sequence_num, "positive")
    kind = rate("alice", categories=["incorrect", "slow"])
    for _ in range(8):
        rate("bob", notes="Something else entirely", sentiment="positive")
    assert dict(like(one)) == {
        tool.feedback_id: ["calculate failed in both"],
        words.feedback_id: ["both say canoe and refund"],
        place.feedback_id: ["calculate failed in both", "in the same thread"],
        kind.feedback_id: ["both negative: incorrect and slow"],
    }
    assert one.feedback_id not in dict(like(one))


def test_long_notes_weigh_no_more_than_others(rate):
    """On PostgreSQL the index has several rows of them."""
    pks = [rate("alice", notes=notes).pk for notes in ("The canoe " * 700, "Canoe")]
    digesting.finish()
    assert likeness._newest(["canoe"]) == {"canoe": pks[::-1]}


def test_the_same_error_and_a_tool_that_worked(rate, like):
    broken, again = rate("alice", "[[fail]]"), rate("bob", "[[fail]]")
    assert like(broken) == [(again.feedback_id, ["both ended with the error simulated_failure"])]
    use = '[[call echo {"value": 1}]]'
    one, other = rate("alice", use, categories=["slow"]), rate("bob", use, categories=["slow"])
    assert like(one) == [(other.feedback_id, ["both used echo", "both negative: slow"])]


def test_ones_own_org_comes_first_and_what_is_open_before_what_is_done(who, rate, like):
    one = rate("alice", FAILING)
    abroad, done, waiting = rate("eve", FAILING), rate("bob", FAILING), rate("bob", FAILING)
    done.resolved, done.resolved_at, done.resolved_by = True, done.created, who.admin.user
    done.save()
    assert [found for found, _ in like(one)] == [each.feedback_id for each in (waiting, done, abroad)]


def test_what_has_nothing_in_common_is_not_shown(rate, like):
    one = rate("alice", notes="The canoe leaks")
    rate("alice", notes="Wonderful", sentiment="positive")
    assert like(one) == []


def test_one_word_alone_makes_no_two_reports_alike(rate, like):
    one = rate("alice", notes="The canoe leaks", categories=["slow"])
    rate("bob", notes="What a wonderful canoe", sentiment="positive")
    other = rate("bob", notes="This canoe came late", categories=["slow"])
    for number in range(30):  # so that it is a rare word
        rate("bob", notes=f"Number {number}", sentiment="positive")
    assert like(one) == [(other.feedback_id, ["both say canoe", "both negative: slow"])]


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("Die Ru\u0308ckerstattung der Kanus", "KANUS: Ruckerstattung fehlt", "both say kanus and rückerstattung"),
        ("GPT退款没有到账", "我的GPT退款在哪里", "both say gpt and 退款"),
        ("払い戻しがまだです", "払い戻しはいつですか", "both say です and 払い戻し"),
    ],
)
def test_words_are_compared_in_every_script(rate, like, one, other, reason):
    said, alike = rate("alice", notes=one), rate("bob", notes=other)
    for number in range(9):
        rate("bob", notes=f"Number {number}", sentiment="positive")
    assert like(said) == [(alike.feedback_id, [reason])]


def test_a_whole_complaint_in_a_script_without_spaces_is_compared(rate, like):
    """By what it is about, not by its endings and particles, which come first in the alphabet."""
    said = rate(
        "alice",
        notes="先週の予約をキャンセルしたのに、まだ返金されていません。担当者に連絡しても返事がなく、とても困っています。",
    )
    alike = rate("bob", notes="返金されていません。いつになりますか。")
    for number in range(9):
        rate("bob", notes=f"とても役に立ちました、ありがとうございます。{number}", sentiment="positive")
    [(found, [reason])] = like(said)
    assert found == alike.feedback_id and "返金" in reason


def test_words_that_everybody_says_explain_nothing(rate, like):
    one = rate("alice", notes="customers unhappy")
    for _ in range(9):
        rate("bob", notes="customers happy", sentiment="positive")
    assert like(one) == []


def test_only_admins_ask(who, rate):
    report = rate("alice")
    with pytest.raises(Unauthorized):
        similar.similar_to(who.alice.actor, report)


def test_it_takes_the_same_number_of_queries_however_many_there_are(api, rate):
    one = rate("alice", FAILING, "canoe refund")

    def count():
        with CaptureQueriesContext(connection) as captured:
            data_of(api("admin").get(f"admin/feedback/{one.feedback_id}/similar"))
        return len(captured)

    count()  # notes when the token was used
    rate("alice", FAILING, "canoe refund")
    digesting.catch_up()
    few = count()
    for _ in range(8):
        rate("bob", FAILING, "canoe refund")
    digesting.catch_up()
    assert count() == few <= 18


def test_what_was_found_is_kept_until_a_report_is_new_or_was_edited(who, rate, like, api):
    """The desk asks twice within seconds. What is resolved meanwhile is told as such."""
    one, first, second = (rate("bob", FAILING, categories=[name]) for name in ("slow", "incorrect", "incorrect"))
    assert [found for found, _ in like(one)] == [second.feedback_id, first.feedback_id]
    with time_machine.travel(timezone.now(), tick=False):  # for a minute at most
        like(one)
        with CaptureQueriesContext(connection) as captured:
            like(one)
    assert not any("UNION" in each["sql"] for each in captured.captured_queries)
    data_of(api("admin").post(f"admin/feedback/{second.feedback_id}/actions", {"verb": "resolve"}))
    assert [found for found, _ in like(one)] == [first.feedback_id, second.feedback_id]
    third = rate("bob", FAILING)
    assert [found for found, _ in like(one)] == [third.feedback_id, first.feedback_id, second.feedback_id]
    make.rating(who.bob, third.thread, third.message_sequence_num, "negative", categories=["slow"])
    assert like(one)[0] == (third.feedback_id, ["calculate failed in both", "both negative: slow"])
    third.delete()
    assert [found for found, _ in like(one)] == [first.feedback_id, second.feedback_id]


@pytest.fixture
def woken(monkeypatch):
    """What was woken by what."""
    told = []
    monkeypatch.setattr(triage, "wake_again", lambda pks, because: told.append((pks, because)))
    return told


def test_a_new_report_wakes_those_that_sleep_until_it_happens_again(who, rate, woken):
    sleeping, other, dated = rate("alice", FAILING), rate("alice", notes="Too slow"), rate("bob", FAILING)
    digesting.catch_up()
    for report in (sleeping, other):
        Triage.objects.create(feedback=report, snoozed_until_again=True)
    Triage.objects.create(feedback=dated, snoozed_until=dated.created)
    rate("eve", "Hello", "Something else")
    digesting.catch_up()
    assert woken == []
    again = rate("bob", FAILING)
    digesting.catch_up()
    assert woken == [([sleeping.pk], again.pk)]
    assert likeness.woken_by([again.pk]) == {again.pk: [sleeping.pk]}


def test_many_new_ones_are_held_against_those_that_sleep_at_one_price(rate, woken):
    sleeping = rate("alice", FAILING)
    digesting.catch_up()
    Triage.objects.create(feedback=sleeping, snoozed_until_again=True)
    firsts, prices = [], []
    for count in (2, 9):
        first, *_ = [rate("bob", FAILING, f"Number {number}") for number in range(count)]
        firsts.append(first.pk)
        with CaptureQueriesContext(connection) as asked:
            digesting.catch_up()
        prices.append(len(asked))
    assert woken == [([sleeping.pk], first) for first in firsts]  # whom one has woken, the next ones let be
    assert prices[0] == prices[1]


def test_what_came_before_it_wakes_nothing(rate, woken):
    before, sleeping = rate("alice", FAILING), rate("alice", FAILING)
    Triage.objects.create(feedback=sleeping, snoozed_until_again=True)
    digesting.catch_up()
    assert woken == []
    assert likeness.woken_by([before.pk]) == {}


def test_a_report_that_is_gone_wakes_nobody(rate):
    report = rate("alice")
    assert likeness.woken_by([report.pk + 1]) == {}
