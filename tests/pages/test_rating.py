"""Rating an answer: in place by htmx, on a page of its own without scripts, and never losing what was typed."""

from collections.abc import Callable

import pytest
from django.test import Client

from feedback import deciding, triage
from feedback.models import UserFeedback
from tests import make
from tests.pages.dom import Node, dom, fragment, get, submit
from tests.people import People, one
from threads.models import Thread

Browser = Callable[[str | None], Client]


def address(thread: Thread, index: object = 1) -> str:
    return f"/threads/{thread.thread_id}/messages/{index}/rate/"


def form_of(page: Node) -> Node:
    return page.one("form", class_="rate")


def picked(form: Node, name: str) -> list[str]:
    return [box["value"] for box in form.all("input", name=name) if box.has("checked")]


def test_pressing_a_thumb_brings_the_form_with_that_verdict(browser_of: Browser, who: People) -> None:
    thread, client = make.thread(who.alice), browser_of("alice")
    page = get(client, f"/threads/{thread.thread_id}/")
    good, bad = page.id("m1").one(class_="msg-acts").all("a", data_act=True)
    for thumb, verdict in ((good, "positive"), (bad, "negative")):
        assert thumb["hx-get"] == thumb["href"]
        assert page.id(thumb["hx-target"].removeprefix("#"))
        form = form_of(fragment(client, thumb["hx-get"]))
        assert picked(form, "sentiment") == [verdict]
        assert page.id(form["hx-target"].removeprefix("#"))
    assert form.all("label", data_for="negative")[0].words == "Incorrect"
    assert {label["data-for"] for label in form.all("label", data_for=True)} == {"negative", "positive", "both"}


def test_without_scripts_the_form_is_a_page_with_the_message_on_it(browser_of: Browser, who: People) -> None:
    thread, client = make.thread(who.alice, "Hello"), browser_of("alice")
    page = get(client, address(thread) + "?sentiment=positive")
    assert page.one("h1").words == "Rate message 1"
    assert page.one("article")["id"] == "m1" and page.none("form", id="write")
    assert form_of(page).one("a")["href"] == f"/threads/{thread.thread_id}/?at=1#m1"
    answer = submit(client, form_of(page), categories=["helpful", "correct"], notes="Yes\r\nplease")
    assert (answer.status_code, answer["Location"]) == (302, f"/threads/{thread.thread_id}/?at=1#m1")
    row = UserFeedback.objects.get()
    assert (row.sentiment, row.categories, row.notes) == ("positive", ["correct", "helpful"], "Yes\nplease")


def test_by_htmx_the_rating_takes_the_place_of_the_form(browser_of: Browser, who: People) -> None:
    """T7 and what stands around it: the jumps, the map and the mark of the page follow."""
    thread, client = make.thread(who.alice, "Hello"), browser_of("alice")
    form = form_of(fragment(client, address(thread) + "?sentiment=negative"))
    sent = {**form.fields(), "categories": ["slow"], "notes": "An age"}
    answer = dom(client.post(form["hx-post"], sent, headers={"HX-Request": "true"}))
    mark = answer.id("mark-1")
    assert mark.one("section")["aria-label"] == "Rating of message 1"
    assert mark.one("p", class_="words").words == "An age" and "slow" in mark.words
    assert mark.id("form-1").none("form")
    assert answer.id("bar")["hx-swap-oob"] == answer.id("map")["hx-swap-oob"] == "true"
    assert answer.id("bar").one("a", data_jump="rating").one(class_="count").words == "1"
    assert answer.id("map").one("rect", data_k="rated")
    assert [thumb.get("data-tone") for thumb in answer.id("acts-1").all("a", data_act=True)] == [None, "neg"]
    whole = get(client, f"/threads/{thread.thread_id}/")
    assert whole.id("mark-1").one("section").words == mark.one("section").words


def test_rating_again_opens_with_what_was_said_and_changes_it(browser_of: Browser, who: People) -> None:
    """B112 to B114."""
    thread, client = make.thread(who.alice), browser_of("alice")
    make.rating(who.alice, thread, 1, "negative", categories=["slow", "unsafe"], notes="First")
    form = form_of(get(client, address(thread)))
    assert picked(form, "sentiment") == ["negative"]
    assert picked(form, "categories") == ["slow", "unsafe"]
    assert form.one("textarea").text == "First"
    thumbs = get(client, f"/threads/{thread.thread_id}/").id("m1").one(class_="msg-acts").all("a", data_act=True)
    assert [thumb.get("data-tone") for thumb in thumbs] == [None, "neg"]
    assert form.one("h3").words == "Change your rating" and form.one("button").words.startswith("Save ")
    assert "Rating saved." in get(client, submit(client, form)["Location"]).words
    submit(client, form, sentiment="positive", categories=[], notes=" ")
    row = UserFeedback.objects.get()
    assert (row.sentiment, row.categories, row.notes) == ("positive", [], None)


@pytest.mark.parametrize("first", ["", "Old"])
@pytest.mark.parametrize("by_htmx", [True, False])
def test_a_rating_from_another_tab_is_not_replaced_unseen(
    browser_of: Browser, who: People, by_htmx: bool, first: str
) -> None:
    """Both are shown, and the second try replaces the first rating."""
    thread, client = make.thread(who.alice), browser_of("alice")
    if first:
        make.rating(who.alice, thread, 1, "negative", notes=first)
    headers = {"HX-Request": "true"} if by_htmx else {}
    one, two = (form_of(get(client, address(thread))) for _ in range(2))
    sent = {**one.fields(), "sentiment": ["negative"], "categories": ["slow", "unsafe"], "notes": ["tab one"]}
    assert client.post(address(thread), sent, headers=headers).status_code in (200, 302)
    assert client.post(address(thread), sent, headers=headers).status_code in (200, 302), (
        "the same again is no conflict"
    )
    late = {**two.fields(), "sentiment": ["positive"], "notes": ["tab two"]}
    page = dom(client.post(address(thread), late, headers=headers), 400)
    form = form_of(page)
    assert form.one(role="alert").words.startswith(
        "You rated this in another tab meanwhile: negative (slow, unsafe) “tab one”."
    )
    assert form.one("textarea").text == "tab two"
    assert not by_htmx or page.id("mark-1").one("section").one(class_="words").words == "tab one"
    assert UserFeedback.objects.get().notes == "tab one"
    assert client.post(address(thread), form.fields(), headers=headers).status_code in (200, 302)
    assert UserFeedback.objects.get().notes == "tab two"


@pytest.mark.parametrize("by_htmx", [True, False], ids=["with scripts", "without"])
def test_a_rating_that_another_tab_retracted_is_not_brought_back_unseen(
    browser_of: Browser, who: People, by_htmx: bool
) -> None:
    thread, client = make.thread(who.alice), browser_of("alice")
    make.rating(who.alice, thread, 1, "negative", notes="once")
    headers = {"HX-Request": "true"} if by_htmx else {}
    stale = form_of(get(client, address(thread))).fields()
    client.post(address(thread).replace("/rate/", "/retract/"), headers=headers)
    form = form_of(dom(client.post(address(thread), stale, headers=headers), 400))
    assert form.one(role="alert").words.startswith("You retracted this rating in another tab meanwhile.")
    assert form.one("textarea").text == "once" and not UserFeedback.objects.exists()
    assert client.post(address(thread), form.fields(), headers=headers).status_code in (200, 302)
    assert UserFeedback.objects.get().notes == "once"


def test_retracting_what_another_tab_retracted_is_done_already(browser_of: Browser, who: People) -> None:
    thread, client = make.thread(who.alice), browser_of("alice")
    page = dom(client.post(address(thread).replace("/rate/", "/retract/"), headers={"HX-Request": "true"}))
    assert not page.id("mark-1").all("section") and not page.id("mark-1").all("form")


def test_what_is_saved_without_a_change_says_so_too(browser_of: Browser, who: People) -> None:
    thread, client = make.thread(who.alice), browser_of("alice")
    make.rating(who.alice, thread, 1, "negative", notes="First")
    form = form_of(fragment(client, address(thread) + "?sentiment=negative"))
    assert form.has("data-change") and form.one("textarea").has("data-focus")
    assert not any(each.has("data-focus") for each in form.all("input"))
    answer = dom(client.post(form["hx-post"], form.fields(), headers={"HX-Request": "true"}))
    assert answer.id("said").words == "Saved. Rated negative by you"
    assert "by you · saved" in answer.id("mark-1").one("h3").words


def test_the_rating_of_somebody_else_does_not_fill_ones_own_form(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice, visibility="org")
    make.rating(who.alice, thread, 1, "negative", notes="mine")
    for name in ("bob", "admin"):
        form = form_of(get(browser_of(name), address(thread)))
        assert picked(form, "sentiment") == [] and form.one("textarea").text == ""


@pytest.mark.parametrize(
    ("typed", "field", "reason"),
    [
        ({"sentiment": "", "notes": "kept"}, "sentiment", "Choose positive or negative."),
        ({"sentiment": "so-so", "notes": "kept"}, "sentiment", "Choose positive or negative."),
        ({"sentiment": "negative", "categories": ["other"], "notes": "  "}, "notes", "They are required"),
        ({"sentiment": "positive", "categories": ["made-up"], "notes": "kept"}, "categories", "categories.0: must be"),
        (
            {"sentiment": "negative", "notes": "x" * 20_001},
            "notes",
            "It must have at most 20,000 characters, not 20,001",
        ),
        ({"sentiment": "negative", "notes": "a\x00b"}, "notes", "It contains a NUL"),
    ],
)
@pytest.mark.parametrize("by_htmx", [True, False])
def test_what_cannot_be_sent_stays_in_the_form_with_the_reason(
    browser_of: Browser, who: People, typed: dict[str, object], field: str, reason: str, by_htmx: bool
) -> None:
    """B118, B125."""
    thread, client = make.thread(who.alice), browser_of("alice")
    headers = {"HX-Request": "true"} if by_htmx else {}
    page = dom(client.post(address(thread), typed, headers=headers), 400)
    form = form_of(page)
    wrong = form.one(class_="wrong")
    assert wrong.words.startswith(reason), wrong.words
    assert form.one("textarea").text == typed["notes"]
    assert form.one("textarea").has("aria-invalid") == (field == "notes")
    known = {box["value"] for box in form.all("input", name="categories")}
    assert picked(form, "categories") == [each for each in typed.get("categories", []) if each in known]
    if by_htmx:
        assert page.id("mark-1").one(id="form-1").one("form") is form
    assert not UserFeedback.objects.exists()


@pytest.mark.parametrize(("verdict", "kept"), [("positive", ["correct", "other"]), ("negative", ["other", "slow"])])
def test_categories_that_the_verdict_hides_are_not_sent(
    browser_of: Browser, who: People, verdict: str, kept: list[str]
) -> None:
    """B119 never meets somebody who only changed their mind: what they cannot see they cannot take back."""
    thread, client = make.thread(who.alice), browser_of("alice")
    sent = {"sentiment": verdict, "categories": ["slow", "correct", "other"], "notes": "x"}
    client.post(address(thread), sent)
    assert UserFeedback.objects.get().categories == kept
    other = "negative" if verdict == "positive" else "positive"
    form = form_of(get(client, address(thread) + f"?sentiment={other}"))
    assert (picked(form, "sentiment"), picked(form, "categories")) == ([other], ["other"])


def test_a_refused_change_leaves_the_rating_and_shows_it(browser_of: Browser, who: People) -> None:
    """B125."""
    thread, client = make.thread(who.alice), browser_of("alice")
    make.rating(who.alice, thread, 1, "negative", notes="First")
    refused = client.post(
        address(thread), {"sentiment": "positive", "categories": ["other"]}, headers={"HX-Request": "true"}
    )
    page = dom(refused, 400)
    assert page.id("mark-1").one("section").one(class_="words").words == "First"
    assert picked(form_of(page), "sentiment") == ["positive"]


@pytest.mark.parametrize(("index", "status"), [(0, 400), (2, 404), (99, 404), ("9" * 30, 404), ("-1", 404), ("x", 404)])
def test_only_answers_of_the_agent_can_be_rated(browser_of: Browser, who: People, index: object, status: int) -> None:
    """B121, B124."""
    thread, client = make.thread(who.alice), browser_of("alice")
    get(client, address(thread, index), status)
    dom(client.post(address(thread, index), {"sentiment": "positive"}), status)
    assert not UserFeedback.objects.exists()


def test_an_answer_that_is_still_being_written_cannot_be_rated(browser_of: Browser, who: People) -> None:
    """B120."""
    thread = make.thread(who.alice, run=False)
    make.half_answered(thread, "Half")
    dom(browser_of("alice").post(address(thread), {"sentiment": "positive"}), 400)
    assert not UserFeedback.objects.exists()


def test_an_answer_before_the_last_of_a_turn_can_be_rated_too(browser_of: Browser, who: People) -> None:
    """A message that only calls a tool has its own thumbs, inside its call."""
    thread = make.thread(who.alice, '[[call calculate {"expression": "1"}]]')
    page = get(browser_of("alice"), f"/threads/{thread.thread_id}/")
    inside = page.one("details", class_="call")
    assert inside.one(class_="msg-acts").words.startswith("Message 1")
    assert inside.id("mark-1") and page.id("mark-3")
    make.rating(who.alice, thread, 1)
    page = get(browser_of("alice"), f"/threads/{thread.thread_id}/")
    call = page.one("details", class_="call")
    assert call.one("summary").one("svg", role="img")["aria-label"] == "rated"
    assert call.id("mark-1").one("section")


def test_the_page_shows_the_message_as_the_thread_does_with_the_results_of_its_calls(
    browser_of: Browser, who: People
) -> None:
    """A result comes in a message of its own behind the answer that asked for it."""
    thread = make.waiting(who.alice)
    client, here = browser_of("alice"), f"/threads/{thread.thread_id}/"
    decline = get(client, here).id("ask-1")
    submit(client, decline, "declined", output="No.")
    make.run_turns(thread)
    for page in (get(client, here), get(client, address(thread))):
        assert page.one("details", class_="call")["data-outcome"] == "declined"


@pytest.mark.parametrize(("name", "status"), [("bob", 302), ("eve", 403), ("admin", 302)])
def test_every_reader_rates_for_themselves_and_nobody_else_rates(
    browser_of: Browser, who: People, name: str, status: int
) -> None:
    """B115, B122."""
    thread = make.thread(who.alice, visibility="org")
    make.rating(who.alice, thread)
    assert browser_of(name).post(address(thread), {"sentiment": "positive"}).status_code == status
    assert UserFeedback.objects.count() == (2 if status == 302 else 1)


def test_a_rating_without_the_forms_token_is_refused(who: People) -> None:
    thread = make.thread(who.alice)
    client = Client(enforce_csrf_checks=True)
    client.force_login(who.alice.user)
    dom(client.post(address(thread), {"sentiment": "positive"}), 403)
    assert not UserFeedback.objects.exists()
    form = form_of(get(client, address(thread)))
    assert submit(client, form, sentiment="positive").status_code == 302


def test_long_notes_of_a_rating_are_folded_and_say_how_long_they_are(browser_of, who):
    thread = make.thread(who.alice, "Hello")
    make.rating(who.alice, thread, 1, "negative", notes="word " * 200)
    page = get(browser_of("alice"), f"/threads/{thread.thread_id}/")
    assert page.id("notes-1").one("summary").words == "All 1 000 characters"
    make.rating(who.alice, thread, 1, "negative", notes="word " * 20)
    assert not get(browser_of("alice"), f"/threads/{thread.thread_id}/").all(id="notes-1")


def test_who_handles_reports_sees_all_ratings_of_an_answer_and_which_are_resolved(
    browser_of: Browser, who: People
) -> None:
    """Everybody else sees their own, and nothing of what came of others."""
    thread = make.thread(who.alice, visibility="org")
    address = f"/threads/{thread.thread_id}/"
    ratings = [
        make.rating(who.alice, thread, notes="Alice's words."),
        make.rating(who.bob, thread, notes="Bob's words."),
    ]
    resolve = deciding.verb_named("resolve")
    triage.act(who.admin.actor, ratings[0].feedback_id, (resolve, resolve.takes()))
    shown = get(browser_of("admin"), address).id("mark-1")
    assert shown.one("h3").words.endswith("Bob · report") and "Bob's words." in shown.words
    (other,) = shown.one("ul").all("li")
    assert "Alice's words." in other.words and other.one("a").words == "resolved report"
    assert other.one("a")["href"].endswith(ratings[0].feedback_id)
    theirs = get(browser_of("alice"), address).id("mark-1").words
    assert "Alice's words." in theirs and not {"Bob", "resolved"} & set(theirs.split())


def test_of_very_many_ratings_of_an_answer_some_are_shown(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice, visibility="org")
    for number in range(7):
        make.rating(one(f"rater{number}@acme.test", thread.org), thread, notes=f"Number {number}.")
    *others, more = get(browser_of("admin"), f"/threads/{thread.thread_id}/").id("mark-1").one("ul").all("li")
    assert [each.one(class_="cut").words for each in others] == [f"Number {number}." for number in (5, 4, 3, 2, 1)]
    assert more.words == "1 more, all reports of this thread" and thread.thread_id in more.one("a")["href"]
