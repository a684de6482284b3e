"""Comments in the report pane: written, asked, edited, deleted and restored by their forms, without scripts too."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from core import sse
from feedback import commenting
from feedback.models import Comment, UserFeedback
from feedback.wire_desk import CommentIn, CommentPatch, SeenIn
from tests.pages.desk import Browser, client_of, do, opened, reports, then, told, words
from tests.pages.dom import Node, dom, get, submit
from tests.people import People, Person, one, second_admin


def comment(person: Person, report: UserFeedback, text: str) -> Comment:
    return commenting.add(person.actor, report.feedback_id, CommentIn(text=text))


def panel(client: Client, report: UserFeedback) -> Node:
    return opened(client, report).id("comments")


def forms(node: Node) -> list[Node]:
    return node.all("form")


def test_a_comment_is_written_and_read_and_the_report_stays_open(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    before = UserFeedback.objects.values().get()
    page = opened(client, report)
    assert page.id("comments").one("h2").words == "Comments" and page.none("a", href="#comments")
    after = then(client, submit(client, page.id("comments").one("form"), "comment", comment="Seen\ntwice."))
    assert told(after) == ["Commented."] and after.id("triage")
    assert (
        after.id("comments").one("h2").words == "Comments 1" and after.one("a", href="#comments").words == "Comments 1"
    )
    assert after.id("comments").one("div", class_="said").text == "Seen\ntwice."
    assert Comment.objects.get().text == "Seen\ntwice."
    assert UserFeedback.objects.values().get() == before


def test_words_of_a_comment_are_shown_as_they_are_and_addresses_are_links(browser_of: Browser, who: People) -> None:
    report = reports(who.alice, 1)[0]
    comment(who.admin, report, "<script>alert(1)</script> see https://example.org/a?b=1&c=2 and javascript:alert(1)")
    said = panel(browser_of("admin"), report).one("div", class_="said")
    assert said.text.startswith("<script>alert(1)</script> see https://example.org/")
    assert [(each["href"], each["rel"]) for each in said.all("a")] == [("https://example.org/a?b=1&c=2", "nofollow")]


def test_who_is_asked_finds_it_in_a_view_and_answers(browser_of: Browser, who: People) -> None:
    report, bea = reports(who.alice, 2)[0], second_admin()
    client, theirs = browser_of("admin"), client_of(bea)
    assert "Asked" not in [each.words for each in opened(theirs, report).id("desk-views").one("div").all("a")]
    form = panel(client, report).one("form")
    assert [each["value"] for each in form.one("select").all("option")] == ["", "bea@heddle.test"]
    after = then(client, submit(client, form, "comment", comment="Is it yours?", asked="bea@heddle.test"))
    assert told(after) == ["Commented, and asked Bea."]
    assert "asks Bea" in after.id("comments").words and "asked you" not in after.id("comments").words
    asked = get(theirs, "/feedback/?q=is:asked")
    assert words(asked) == ["report 0"]
    assert "Asked 1" in [each.words for each in asked.id("desk-views").one("div").all("a")]
    page = opened(theirs, report)
    assert "Admin asked you." in page.id("comments").words
    after = then(theirs, submit(theirs, page.id("comments").one("form"), "comment", comment="It is."))
    assert "asked you" not in after.id("comments").words
    assert "No comment asks you." in get(theirs, "/feedback/?q=is:asked").id("desk-rows").words


def test_who_needs_not_answer_presses_one_button(browser_of: Browser, who: People) -> None:
    report, bea = reports(who.alice, 1)[0], second_admin()
    comment(who.admin, report, "@bea: only that you know")
    client = client_of(bea)
    after = then(client, submit(client, panel(client, report).one("form"), "acknowledge"))
    assert told(after) == ["Acknowledged."] and "asked you" not in after.id("comments").words
    assert Comment.objects.count() == 1


def test_a_name_in_the_text_is_enough_and_is_not_said_twice(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    second_admin()
    form = panel(client, report).one("form")
    then(client, submit(client, form, "comment", comment="@bea look", asked="bea@heddle.test"))
    assert Comment.objects.get().text == "@bea look"


def test_ones_own_comment_is_edited_deleted_and_restored(browser_of: Browser, who: People) -> None:
    report, bea, client = reports(who.alice, 1)[0], second_admin(), browser_of("admin")
    comment(who.admin, report, "First")
    comment(bea, report, "Theirs")
    own, _ = forms(panel(client, report))
    assert own.one("textarea").text == "First"
    after = then(client, submit(client, own, "edit", comment="Better"))
    assert told(after) == ["Comment saved."]
    assert [each.words for each in after.id("comments").all("div", class_="said")] == ["Better", "Theirs"]
    assert "edited" in after.id("comments").one("ol").words
    after = then(client, submit(client, forms(after.id("comments"))[0], "delete"))
    assert [each.words for each in after.id("comments").all("div", class_="said")] == ["Theirs"]
    assert "Deleted." in after.id("comments").words and after.id("comments").one("h2").words == "Comments 1"
    assert "Deleted." not in panel(client_of(bea), report).words
    after = then(client, submit(client, forms(after.id("comments"))[0], "restore"))
    assert [each.words for each in after.id("comments").all("div", class_="said")] == ["Better", "Theirs"]


@pytest.mark.parametrize("verb", ["comment", "edit"])
def test_a_refused_comment_keeps_its_text_and_says_why_at_its_field(
    browser_of: Browser, who: People, verb: str
) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    comment(who.admin, report, "First")
    own, new = forms(panel(client, report))
    form = own if verb == "edit" else new
    long = "y" * 20_001
    page = dom(submit(client, form, verb, comment=long), 400)
    field = page.id("comments").one("textarea", aria_invalid="true")
    assert field.text.strip() == long and field["id"] == form.one("textarea")["id"]
    assert "20" in page.id(field["aria-describedby"]).words
    assert [each.words for each in page.id("comments").all("div", class_="said")] == ["First"]
    assert page.none("div", class_="bulk", data_on=True)


def test_whoever_is_asked_or_no_longer_sees_it_in_the_tabs_at_once(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever made it so: a comment, its correction, its deletion and restoration, or an answer in another tab."""
    monkeypatch.setattr(sse, "HEARTBEAT_SECONDS", 0)
    report, bea = reports(who.alice, 1)[0], second_admin()
    pieces = iter(client_of(bea).get("/feedback/live/?q=is:open").streaming_content)

    def heard() -> list[str]:
        found = [piece.decode() for piece, _ in zip(pieces, range(8), strict=False)]
        return [piece.partition(" ")[2].partition("\n")[0] for piece in found if "event: " in piece]

    heard()
    said = comment(who.admin, report, "Whose is it?")
    assert heard() == ["changed", "list"]
    at = (who.admin.actor, report.feedback_id, said.comment_id)
    for act in (
        lambda: commenting.edit(*at, CommentPatch(text="Whose is it? @bea")),
        lambda: commenting.delete(*at),
        lambda: commenting.restore(*at),
        lambda: commenting.acknowledge(bea.actor, report.feedback_id, SeenIn()),
    ):
        act()
        assert heard() == ["list"]


def test_a_comment_that_is_gone_keeps_what_was_typed_in_its_form(browser_of: Browser, who: People) -> None:
    """Deleted in another tab: the text stands in the form for a new one, and the reason beside it."""
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    said = comment(who.admin, report, "First")
    own = forms(panel(client, report))[0]
    commenting.delete(who.admin.actor, report.feedback_id, said.comment_id)
    page = dom(submit(client, own, "edit", comment="Corrected"), 404)
    assert page.id("comment").text.strip() == "Corrected"
    assert page.id("comment-wrong").words == "There is no such comment."


def test_a_refused_comment_leaves_the_reply_to_the_submitter(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    do(who.admin, report, "reply", public_reply="We fixed it")
    page = dom(submit(client, panel(client, report).one("form"), "comment", comment=" "), 400)
    assert page.id("public-reply").text.strip() == "We fixed it"


def test_who_is_chosen_is_asked_also_beside_a_similar_name(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    second_admin()
    one("be@heddle.test", None, is_staff=True)
    for text, asked in (
        ("as @bea said", "be@heddle.test"),
        ("mail info@bea.example", "bea@heddle.test"),
        ("@BEA look", "bea@heddle.test"),
    ):
        then(client, submit(client, panel(client, report).all("form")[-1], "comment", comment=text, asked=asked))
        assert asked in [each.person.email for each in Comment.objects.latest("pk").mentions.all()], text
    form = panel(client, report).all("form")[-1]
    page = dom(submit(client, form, "comment", comment="x", asked="alice@acme.test"), 400)
    assert page.id("comment-wrong").words == "Nobody was asked, because alice@acme.test is not an admin."


def test_a_question_that_came_meanwhile_still_waits(browser_of: Browser, who: People) -> None:
    report, bea = reports(who.alice, 1)[0], second_admin()
    client = client_of(bea)
    page = opened(client, report)
    comment(who.admin, report, "@bea?")
    after = then(client, submit(client, page.id("comments").one("form"), "comment", comment="About something else"))
    assert "Admin asked you." in after.id("comments").words


def test_an_empty_comment_is_refused_and_nothing_is_stored(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    page = dom(submit(client, panel(client, report).one("form"), "comment", comment=" "), 400)
    assert page.id("comment-wrong").words == "Comment must have at least one visible character."
    assert not Comment.objects.exists()
    dom(client.post(f"/feedback/{report.feedback_id}/comments/", {"verb": "shout", "comment": "x"}), 400)
    assert not Comment.objects.exists()


def test_z_does_not_undo_what_came_before_a_comment(browser_of: Browser, who: People) -> None:
    """A comment has no undo; its author deletes it. Until the next action `z` therefore does nothing."""
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    do(who.admin, report, "note", admin_note="hm")
    assert opened(client, report).id("desk-status").all("button", data_key="z")
    after = then(client, submit(client, panel(client, report).one("form"), "comment", comment="Said."))
    assert after.id("desk-status").none("button", data_key="z")
    assert after.id("desk-status").all("button", data_key="Z")


def test_ten_more_comments_are_no_more_queries(browser_of: Browser, who: People) -> None:
    report, bea, client = reports(who.alice, 1)[0], second_admin(), browser_of("admin")
    comment(bea, report, "@admin first")
    counts = []
    for _ in range(2):
        opened(client, report)  # indexes what was said
        with CaptureQueriesContext(connection) as found:
            opened(client, report)
        counts.append(len(found))
        for place in range(10):
            comment((bea, who.admin)[place % 2], report, f"@admin @bea {place}")
    assert counts[0] == counts[1]


def test_a_search_says_that_the_words_are_in_the_comments(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    comment(who.admin, report, "the odometer again")
    page = get(client, "/feedback/?q=odometer")
    assert words(page) == ["report 0"] and "in the comments" in page.id("desk-rows").words
