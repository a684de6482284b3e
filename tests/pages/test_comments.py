"""Comments in the report pane: written, asked, edited, deleted and restored by their forms, without scripts too."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from core import sse
from feedback import commenting, leasing
from feedback.models import Comment, UserFeedback
from feedback.wire_desk import CommentIn, CommentPatch, SeenIn
from tests import make
from tests.conftest import Api
from tests.pages.desk import (
    ALL,
    DESK,
    Browser,
    client_of,
    do,
    live,
    opened,
    press,
    press_with_scripts,
    reports,
    row_of,
    stored,
    told,
    words,
)
from tests.pages.dom import Node, dom, get, parsed, queries, submit, then
from tests.people import People, Person, one, second_admin

ALL_OPEN = f"{DESK}?q=is:open"


def comment(person: Person, report: UserFeedback, text: str, **more: Any) -> Comment:
    return commenting.add(person.actor, report.feedback_id, CommentIn(text=text, **more))


def panel(client: Client, report: UserFeedback) -> Node:
    return opened(client, report).id("comments")


def send(client: Client, page: Node, text: str, asked: str = "") -> HttpResponse:
    """The report's form with a new comment: its fields stand outside of the form and name it."""
    seen = page.id("comments").one("input", name="comments_seen")["value"]
    assert {each["form"] for each in page.id("comments").all() if each.has("form")} == {"triage"}
    return submit(client, page.id("triage"), verb="comment", comment=text, asked=asked, comments_seen=seen)


def editing(client: Client, report: UserFeedback, said: Comment) -> Node:
    """The form of one's own comment, opened by its link."""
    link = panel(client, report).one("li", id=said.comment_id).one("a", aria_label=True)
    return get(client, DESK + link["href"]).id(said.comment_id).one("form")


def texts(page: Node) -> list[str]:
    return [each.words for each in page.id("comments").all("div", class_="said")]


def test_a_comment_is_written_and_read_and_the_report_stays_open(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    before = UserFeedback.objects.values().get()
    page = opened(client, report)
    assert page.id("comments").one("h2").words == "Comments" and page.none("a", href="#comments")
    after = then(client, send(client, page, "Seen\ntwice."))
    assert told(after) == ["Commented."] and after.id("triage")
    assert after.id("comments").one("h2").words == after.one("a", href="#comments").words == "Comments 1"
    assert after.id("comments").one("div", class_="said").text == "Seen\ntwice."
    assert Comment.objects.get().text == "Seen\ntwice."
    assert UserFeedback.objects.values().get() == before


def test_words_of_a_comment_are_shown_as_they_are_and_addresses_are_links(browser_of: Browser, who: People) -> None:
    report = reports(who.alice, 1)[0]
    comment(who.admin, report, "<script>alert(1)</script> see https://example.org/a?b=1&c=2 and javascript:alert(1)")
    said = panel(browser_of("admin"), report).one("div", class_="said")
    assert said.text.startswith("<script>alert(1)</script> see https://example.org/")
    assert [(each["href"], each["rel"]) for each in said.all("a")] == [("https://example.org/a?b=1&c=2", "nofollow")]


def test_ids_in_a_comment_lead_to_what_they_name(browser_of: Browser, who: People) -> None:
    made, client = reports(who.alice, 2), browser_of("admin")
    thread = made[0].thread.thread_id
    other, url = made[0].feedback_id, f"https://example.org/{made[0].feedback_id}"
    comment(who.admin, made[1], f"As {other}, in ({thread}). Not <b>{other}x, nor {url}")
    said = panel(client, made[1]).one("div", class_="said")
    assert said.text == f"As {other}, in ({thread}). Not <b>{other}x, nor {url}"
    assert [each["href"] for each in said.all("a")] == [f"{DESK}?q=&item={other}", f"/threads/{thread}/", url]
    assert get(client, said.all("a")[0]["href"]).id("triage")


def test_whom_a_comment_asks_is_marked_in_its_text(browser_of: Browser, who: People) -> None:
    """By whatever name; not who was only spoken of, nor what merely has an @."""
    report = reports(who.alice, 1)[0]
    second_admin()
    text = "@bea, @nobody says <b>@BEA@heddle.test</b>. @Bea… mail x@bea, see /@bea and https://example.org/@bea?"
    comment(who.admin, report, text)
    said = panel(browser_of("admin"), report).one("div", class_="said")
    assert said.text == text
    assert [each.text for each in said.all("strong")] == ["@bea", "@BEA@heddle.test", "@Bea"]
    assert [each["href"] for each in said.all("a")] == ["https://example.org/@bea"]


def test_who_is_asked_finds_it_in_a_view_and_who_asked_is_told_of_the_answer(browser_of: Browser, who: People) -> None:
    report, bea = reports(who.alice, 2)[0], second_admin()
    client, theirs = browser_of("admin"), client_of(bea)

    def tabs(each: Client) -> list[str]:
        return [tab.words for tab in get(each, DESK).id("desk-views").one("div").all("a")]

    assert not any(tab.startswith("Asked") for tab in tabs(theirs))
    page = opened(client, report)
    assert [each["value"] for each in page.id("comments").one("select").all("option")] == ["", "bea@heddle.test"]
    after = then(client, send(client, page, "Is it yours?", "bea@heddle.test"))
    assert told(after) == ["Commented, and asked Bea."]
    assert "Admin asks Bea" in after.id("comments").words and after.id("comments").none("button", value="acknowledge")
    assert words(get(theirs, "/feedback/?q=is:asked")) == ["report 0"] and "Asked 1" in tabs(theirs)
    assert "asks you" in row_of(get(theirs, ALL_OPEN), "report 0").words
    assert (
        "asks you" not in row_of(get(theirs, ALL_OPEN), "report 1").words + get(client, ALL_OPEN).id("desk-rows").words
    )
    page = opened(theirs, report)
    assert "Admin asks you" in page.id("comments").words and "Admin asked you." in page.id("comments").words
    assert page.one("a", href=f"#{Comment.objects.get().comment_id}").words == "Comments 1"
    after = then(theirs, send(theirs, page, "It is."))
    assert "Admin asked you" in after.id("comments").words and after.id("comments").none("button", value="acknowledge")
    assert "No comment waits for you." in get(theirs, "/feedback/?q=is:asked").id("desk-rows").words
    page = opened(client, report)
    assert "Asked 1" in tabs(client) and "answers you" in row_of(get(client, ALL_OPEN), "report 0").words
    assert "Bea answers you" in page.id("comments").words and "Bea answered you." in page.id("comments").words
    after = then(client, submit(client, page.id("triage"), verb="acknowledge"))
    assert told(after) == ["Dismissed."] and after.id("comments").none("button", value="acknowledge")
    assert Comment.objects.count() == 2


def test_a_name_in_the_text_is_enough_and_is_not_said_twice(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    second_admin()
    then(client, send(client, opened(client, report), "@bea look", "bea@heddle.test"))
    assert Comment.objects.get().text == "@bea look"


def test_a_name_that_nobody_has_is_told(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    second_admin()
    after = then(client, send(client, opened(client, report), "@bea and @beatrix and @alice"))
    assert told(after) == ["Commented, and asked Bea. No admin is called alice or beatrix."]


def test_who_is_chosen_is_asked_also_beside_a_similar_name(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    second_admin()
    one("be@heddle.test", None, is_staff=True)
    for text, asked in (
        ("as @bea said", "be@heddle.test"),
        ("mail info@bea.example", "bea@heddle.test"),
        ("@BEA look", "bea@heddle.test"),
    ):
        then(client, send(client, opened(client, report), text, asked))
        assert asked in [each.person.email for each in Comment.objects.latest("pk").mentions.all()], text
    page = dom(send(client, opened(client, report), "x", "alice@acme.test"), 400)
    assert page.id("comment-wrong").words == "Nobody was asked, because alice@acme.test is not an admin."


def test_a_question_that_came_meanwhile_still_waits(browser_of: Browser, who: People) -> None:
    report, bea = reports(who.alice, 1)[0], second_admin()
    client = client_of(bea)
    page = opened(client, report)
    comment(who.admin, report, "@bea?")
    after = then(client, send(client, page, "About something else"))
    assert "Admin asked you." in after.id("comments").words


def test_a_typed_note_is_saved_with_a_comment_as_with_any_button(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    form = opened(client, report).id("triage")
    answer = submit(client, form, verb="comment", comment="Said", admin_note="Typed")
    assert told(then(client, answer)) == ["Commented. The note was saved, too."]
    assert stored(report).admin_note == "Typed" and Comment.objects.get().text == "Said"


def test_a_comment_that_was_typed_and_not_sent_is_told_by_who_goes_on(browser_of: Browser, who: People) -> None:
    made, client = reports(who.alice, 2), browser_of("admin")
    after = press_with_scripts(client, opened(client, made[1]), "resolve", comment="half a thought")
    assert "Your comment was not sent." in after.id("desk-status").words
    assert stored(made[1]).resolved and not Comment.objects.exists()


def test_ones_own_comment_is_edited_deleted_and_restored(browser_of: Browser, who: People) -> None:
    report, bea, client = reports(who.alice, 1)[0], second_admin(), browser_of("admin")
    said, theirs = comment(who.admin, report, "First"), comment(bea, report, "Theirs")
    assert panel(client, report).one("li", id=theirs.comment_id).none("a")
    assert panel(client, report).none("form"), "a form only where it is wanted"
    form = editing(client, report, said)
    assert form.one("textarea").text == "First" and all("comment" not in each["href"] for each in form.all("a"))
    assert [each.has("data-forget") for each in form.all("a", data_cancel=True)] == [False, True], (
        "Esc keeps what was typed"
    )
    after = then(client, submit(client, form, "edit", comment="Better"))
    assert told(after) == ["Comment saved."] and after.id("comments").none("form")
    assert texts(after) == ["Better", "Theirs"] and "edited" in after.id(said.comment_id).words
    after = then(client, submit(client, editing(client, report, said), "delete"))
    assert texts(after) == ["Theirs"] and after.id("comments").one("h2").words == "Comments 1"
    assert "Deleted. Restore" in after.id("comments").words
    assert after.id("comments").one("button", value="restore").has("autofocus")
    assert "Deleted." not in panel(client_of(bea), report).words
    after = then(client, submit(client, after.id(said.comment_id).one("form"), "restore"))
    assert texts(after) == ["Better", "Theirs"] and after.id("comments").none("form")


def test_who_edits_in_two_tabs_sees_both(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    said = comment(who.admin, report, "First")
    form = editing(client, report, said)
    commenting.edit(who.admin.actor, report.feedback_id, said.comment_id, CommentPatch(text="In the other tab"))
    page = dom(submit(client, form, "edit", comment="In this tab"), 409)
    assert "You changed this comment in another window." in page.id("edited-wrong").words
    assert texts(page) == ["In the other tab"] and page.id("edited").text == "In this tab"
    after = then(client, submit(client, page.id(said.comment_id).one("form"), "edit", comment="In this tab"))
    assert texts(after) == ["In this tab"]


@pytest.mark.parametrize("is_new", [True, False])
def test_a_refused_comment_keeps_its_text_and_says_why_at_its_field(
    browser_of: Browser, who: People, is_new: bool
) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    said, long = comment(who.admin, report, "First"), "y" * 20_001
    form = editing(client, report, said)
    answer = send(client, opened(client, report), long) if is_new else submit(client, form, "edit", comment=long)
    page = dom(answer, 400)
    field = page.id("comments").one("textarea", aria_invalid="true")
    assert field.text.strip() == long and field["id"] == ("comment" if is_new else "edited")
    assert "20" in page.id(field["aria-describedby"]).words and texts(page) == ["First"]


def test_a_new_comment_is_refused_at_its_own_field_while_another_is_edited(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    said = comment(who.admin, report, "First")
    link = panel(client, report).one("li", id=said.comment_id).one("a", aria_label=True)
    page = dom(send(client, get(client, DESK + link["href"]), "y" * 20_001), 400)
    field = page.id("comments").one("textarea", aria_invalid="true")
    assert field["id"] == "comment" and len(field.text.strip()) == 20_001 and texts(page) == ["First"]


def test_a_comment_that_is_gone_keeps_what_was_typed_in_its_form(browser_of: Browser, who: People) -> None:
    """Deleted in another tab: the text stands in the field for a new one, and the reason beside it."""
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    said = comment(who.admin, report, "First")
    form = editing(client, report, said)
    commenting.delete(who.admin.actor, report.feedback_id, said.comment_id)
    Comment.objects.update(deleted_at=timezone.now() - timedelta(hours=1))
    page = dom(submit(client, form, "edit", comment="Corrected"), 404)
    assert page.id("comment").text.strip() == "Corrected"
    assert page.id("comment-wrong").words == "There is no such comment."


def test_what_was_typed_for_a_report_that_is_gone_can_be_copied(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    page = opened(client, report)
    thread = report.thread.thread_id
    path = f"threads/{thread}/messages/{report.message_sequence_num}/feedback"
    assert Api(who.alice.token).request("DELETE", path).status_code == 200
    left = dom(submit(client, page.id("triage"), verb="comment", comment="Long words", admin_note="A note"), 404)
    assert [each.words for each in left.id("desk-report").all("p", class_="words")] == ["A note", "Long words"]


def test_a_refused_comment_leaves_the_reply_to_the_submitter(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    do(who.admin, report, "reply", public_reply="We fixed it")
    page = dom(send(client, opened(client, report), " "), 400)
    assert page.id("comment-wrong").words == "It must have at least one visible character."
    assert page.id("public-reply").text.strip() == "We fixed it" and not Comment.objects.exists()
    said = comment(who.admin, report, "First")
    page = dom(submit(client, editing(client, report, said), "edit", comment=" "), 400)
    assert page.id("public-reply").text.strip() == "We fixed it"


def test_a_comment_and_a_note_are_stored_together_or_not_at_all(browser_of: Browser, who: People) -> None:
    """The form comes back with both; pressing again would say the comment twice."""
    report, client, bea = reports(who.alice, 1)[0], browser_of("admin"), second_admin()
    page = opened(client, report)
    do(bea, report, "note", admin_note="Bea's")
    answer = submit(client, page.id("triage"), verb="comment", comment="Look here", admin_note="Mine")
    left = dom(answer, 412)
    assert left.id("comment").text.strip() == "Look here" and not Comment.objects.exists()
    answer = submit(client, left.id("triage"), verb="comment", comment="Look here", admin_note="Mine")
    assert answer.status_code == 302 and stored(report).admin_note == "Mine"
    assert [each.text for each in Comment.objects.all()] == ["Look here"]
    page = opened(client, report)
    dom(submit(client, page.id("triage"), verb="comment", comment=" ", admin_note="Other"), 400)
    assert stored(report).admin_note == "Mine"


def test_an_unknown_button_is_refused_and_nothing_is_stored(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    dom(client.post(f"{DESK}{report.feedback_id}/comments/", {"verb": "shout", "comment": "x"}), 400)
    assert not Comment.objects.exists()


def test_of_many_comments_the_last_are_shown_and_all_on_demand(browser_of: Browser, who: People) -> None:
    report, client, bea = reports(who.alice, 1)[0], browser_of("admin"), second_admin()
    for number in range(25):
        comment(who.admin, report, f"comment {number}")
    page = opened(client_of(bea), report)
    assert texts(page) == [f"comment {number}" for number in range(5, 25)]
    assert page.id("comments").one("h2").words == "Comments 25"
    link = page.id("comments").all("p")[0].one("a")
    assert link.words == "5 earlier comments"
    whole = get(client_of(bea), DESK + link["href"].partition("#")[0])
    assert len(texts(whole)) == 25 and "earlier" not in whole.id("comments").words
    assert len(client.get(f"{DESK}?q=&item={report.feedback_id}").content) < 60_000


def test_a_question_is_shown_however_far_back_it_is(browser_of: Browser, who: People) -> None:
    report, bea = reports(who.alice, 1)[0], second_admin()
    comment(who.admin, report, "@bea is it yours?")
    for number in range(25):
        comment(who.admin, report, f"comment {number}")
    page = opened(client_of(bea), report)
    assert texts(page)[0] == "@bea is it yours?" and "Admin asked you." in page.id("comments").words


def test_a_long_comment_is_folded(browser_of: Browser, who: People) -> None:
    report = reports(who.alice, 1)[0]
    comment(who.admin, report, "line\n" * 40)
    assert "All 199 characters" in panel(browser_of("admin"), report).one("details", class_="more").words


def test_whoever_is_asked_or_no_longer_sees_it_in_the_tabs_at_once(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever made it so: a comment, its correction, its deletion and restoration, or an answer in another tab."""
    monkeypatch.setattr(sse, "HEARTBEAT_SECONDS", 0)
    report, bea = reports(who.alice, 1)[0], second_admin()
    theirs, mine = (live(client) for client in (client_of(bea), browser_of("admin")))

    def heard(pieces: Any) -> list[str]:
        found = [piece.decode() for piece, _ in zip(pieces, range(8), strict=False) if b"event: " in piece]
        names = [each.partition("event: ")[2].partition("\n")[0] for each in found]
        deeds = [each.partition('"changed": "')[2].partition('"')[0] for each in found if "event: changed" in each]
        return [*deeds, *(name for name in names if name != "changed")]

    heard(theirs), heard(mine)
    said = comment(who.admin, report, "Whose is it?")
    assert heard(theirs) == ["Admin commented on it", "list"]
    assert heard(mine) == ["list", "own"], "in another tab of one's own"
    at = (who.admin.actor, report.feedback_id, said.comment_id)
    for act, deed in (
        (lambda: commenting.edit(*at, CommentPatch(text="Whose is it? @bea")), "Admin changed a comment"),
        (lambda: commenting.delete(*at), "Admin deleted a comment"),
        (lambda: commenting.restore(*at), "Admin commented on it"),
    ):
        act()
        assert heard(theirs) == [deed, "list"]
        assert heard(mine) == ["list", "own"]
    commenting.acknowledge(bea.actor, report.feedback_id, SeenIn())
    assert heard(theirs) == ["list"]


def test_z_does_not_undo_what_came_before_a_comment(browser_of: Browser, who: People) -> None:
    """A comment has no undo; its author deletes it. Until the next action `z` therefore only says so."""
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    do(who.admin, report, "note", admin_note="hm")
    assert opened(client, report).id("desk-status").all("button", data_key="z")
    after = then(client, send(client, opened(client, report), "Said."))
    told = then(client, submit(client, after.id("undo"), "1")).id("desk-said").words
    assert told == "What you did last cannot be undone. Shift+Z undoes what was before."
    assert stored(report).admin_note == "hm"
    assert after.id("desk-status").all("button", data_key="Z")


def test_ten_more_comments_are_no_more_queries(browser_of: Browser, who: People) -> None:
    report, bea, client = reports(who.alice, 1)[0], second_admin(), browser_of("admin")
    comment(bea, report, "@admin first")
    counts = []
    for _ in range(2):
        counts.append(queries(client, f"{DESK}{ALL}&item={report.feedback_id}"))
        for place in range(10):
            comment((bea, who.admin)[place % 2], report, f"@admin @bea {place}")
    assert counts[0] == counts[1]


def test_a_search_says_that_the_words_are_in_the_comments(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    comment(who.admin, report, "the odometer again")
    page = get(client, "/feedback/?q=odometer")
    assert words(page) == ["report 0"] and "in the comments" in page.id("desk-rows").words


def news(client: Client, report: UserFeedback, **state: str) -> Iterator[tuple[str, str]]:
    """What an open desk is told, event by event, once it has heard who is where and which bulks run."""
    pieces = live(client, urlencode({"q": "is:open", "item": report.feedback_id, **state}))
    assert b"bulks" in next(piece for piece in pieces if b"event" in piece and b"leases" not in piece)
    for_each = (piece.decode().splitlines() for piece in pieces if b"event" in piece)
    return (
        (
            name.removeprefix("event: "),
            "\n".join(line.removeprefix("data: ") for line in lines if line.startswith("data")),
        )
        for name, *lines in for_each
    )


@pytest.mark.parametrize("is_addressed", [True, False])
def test_who_has_a_report_open_is_shown_what_others_say_of_it(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch, is_addressed: bool
) -> None:
    """Whichever report the address of the line names: others are opened without a new line."""
    monkeypatch.setattr(sse, "HEARTBEAT_SECONDS", 0)
    report, other = reports(who.alice, 2)
    bea = second_admin()
    leasing.take(who.admin.actor, report.feedback_id)
    told = news(browser_of("admin"), report if is_addressed else other, after="here")
    asked = comment(bea, report, "Is it yours, @admin?")
    assert next(told) == ("changed", json.dumps({report.feedback_id: {}}))
    name, html = next(told)
    said = parsed(html)
    assert name == "list" and said.id(f"count-{report.feedback_id}").words == "Comments 1"
    fresh, shown = said.id(f"said-{report.feedback_id}"), opened(browser_of("admin"), report)
    assert fresh.words == shown.id(f"said-{report.feedback_id}").words and "Is it yours" in fresh.words
    assert fresh.one("input", name="comments_seen")["value"] == asked.comment_id
    assert next(told) == ("say", "Bea commented on it.")


def test_who_corrects_their_own_comment_keeps_its_form_and_is_told_of_others(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "HEARTBEAT_SECONDS", 0)
    [report] = reports(who.alice, 1)
    own = comment(who.admin, report, "Mine")
    leasing.take(who.admin.actor, report.feedback_id)
    told = news(browser_of("admin"), report, comment=own.comment_id)
    comment(second_admin(), report, "Hers")
    assert next(told) == ("changed", json.dumps({report.feedback_id: {"changed": "Bea commented on it"}}))
    assert "said-" not in next(told)[1]


def test_what_the_submitter_changed_is_told_beside_what_others_say(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The comment comes by itself, the other words do not."""
    monkeypatch.setattr(sse, "HEARTBEAT_SECONDS", 0)
    [report] = reports(who.alice, 1)
    leasing.take(who.admin.actor, report.feedback_id)
    told = news(browser_of("admin"), report)
    comment(second_admin(), report, "Hers")
    make.rating(who.alice, report.thread, report.message_sequence_num, "negative", notes="Other words")
    assert next(told) == ("changed", json.dumps({report.feedback_id: {"changed": "The submitter changed it"}}))
    assert "Hers" in next(told)[1]


def test_who_has_closed_a_report_is_told_and_not_shown(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "HEARTBEAT_SECONDS", 0)
    [report] = reports(who.alice, 1)
    leasing.take(who.admin.actor, report.feedback_id)
    leasing.release(who.admin.actor, report.feedback_id)
    told = news(browser_of("admin"), report)
    comment(second_admin(), report, "Hers")
    assert next(told) == ("changed", json.dumps({report.feedback_id: {"changed": "Bea commented on it"}}))
    assert "said-" not in next(told)[1]


def test_who_names_somebody_in_a_note_is_told_that_it_asks_nobody(browser_of: Browser, who: People) -> None:
    [report], client = reports(who.alice, 1), browser_of("admin")
    second_admin()
    page = then(client, press(client, opened(client, report), "note", admin_note="Is it yours, @bea?"))
    assert "A note asks nobody; a comment would ask Bea." in told(page)
    for said in ("Is it yours, @nobody?", "Mail bea@heddle.test"):
        page = then(client, press(client, opened(client, report), "note", admin_note=said))
        assert not any("asks nobody" in each for each in told(page))
