"""Which report an open one is a duplicate of: found by words, chosen, and only then marked."""

from urllib.parse import quote

import pytest

from feedback.models import Triage, UserFeedback
from tests import make
from tests.pages.desk import Browser, do, opened, press, reports, stored, then
from tests.pages.dom import Node, dom, fragment, queries
from tests.people import People


def place_of(report: UserFeedback, typed: str) -> str:
    return f"/feedback/{report.feedback_id}/originals/?duplicate_of={quote(typed)}"


def offered(page: Node) -> list[str]:
    return [each.words for each in page.all(class_="saying")]


def said(who: People, *notes: str) -> list[UserFeedback]:
    made = reports(who.alice, len(notes))
    for place, words in enumerate(notes):
        make.rating(who.alice, made[0].thread, 2 * place + 1, notes=words)
    return made


def test_words_an_id_or_a_query_find_reports_of_the_same_org(browser_of: Browser, who: People) -> None:
    made = said(who, "It ate my canoe", "Canoe is gone", "The canoes sank", "The bus is late")
    make.rating(who.eve, make.thread(who.eve), notes="A foreign canoe")
    client = browser_of("admin")

    def found(typed: str) -> list[str]:
        return offered(fragment(client, place_of(made[0], typed)))

    assert found("cano") == ["The canoes sank", "Canoe is gone"], "the word goes on; never the report itself"
    assert found("canoe gone") == ["Canoe is gone"]
    assert found(made[3].feedback_id) == ["The bus is late"] and found(made[0].feedback_id) == []
    do(who.admin, made[3], "resolve")
    page = fragment(client, place_of(made[0], " is:resolved "))
    assert offered(page) == ["The bus is late"] and "resolved ·" in page.words
    for typed in ("zebra", "fb_unknown"):
        assert "No report of the same org matches." in fragment(client, place_of(made[0], typed)).words
    assert "colour" in fragment(client, place_of(made[0], "colour:red")).words
    do(who.admin, made[1], "duplicate", duplicate_of=made[0].feedback_id)
    assert found("cano") == ["The canoes sank"], "what is its duplicate is not its original"


def test_what_the_notes_say_comes_first_then_what_is_open_and_each_tells_where_it_matches(
    browser_of: Browser, who: People
) -> None:
    made = said(who, "The bus", "Canoe, resolved", "Canoe, open", "Nothing", "Noted", "Asked for")
    do(who.admin, made[1], "resolve")
    do(who.admin, made[4], "note", admin_note="A canoe")
    page = fragment(browser_of("admin"), place_of(made[0], "canoe"))
    assert offered(page) == ["Canoe, open", "Canoe, resolved", "Noted"]
    places = [each.words.partition(",")[0] for each in page.all(class_="cut")]
    assert places == ["in the notes", "in the notes", "in the admin note"]
    answers = fragment(browser_of("admin"), place_of(made[0], "number 11"))
    assert offered(answers) == ["Asked for"] and "in the answer, " in answers.words
    page = fragment(browser_of("admin"), place_of(made[0], "sort:oldest is:open"))
    assert offered(page) == ["Canoe, open", "Nothing", "Noted", "Asked for"] and "in the" not in page.words


@pytest.mark.parametrize("typed", ["\x7f", "\x01", "\x85", "( )", "-"])
def test_what_is_no_word_offers_no_more_than_nothing_typed(browser_of: Browser, who: People, typed: str) -> None:
    made, client = said(who, "It ate my canoe", "The bus is late"), browser_of("admin")
    assert offered(fragment(client, place_of(made[0], typed))) in ([], offered(fragment(client, place_of(made[0], ""))))
    page = dom(press(client, opened(client, made[0]), "duplicate", duplicate_of=typed), 400)
    assert page.id("duplicate-wrong") and not stored(made[0]).resolved


def test_what_is_offered_costs_the_same_whatever_there_is(browser_of: Browser, who: People) -> None:
    made, client = said(who, "It ate my canoe", "Canoe is gone"), browser_of("admin")
    few = queries(client, place_of(made[0], "canoe"))
    for each in range(12):
        make.rating(who.bob, make.thread(who.bob, visibility="org"), notes=f"Canoe {each}")
    page = fragment(client, place_of(made[0], "canoe"))
    assert len(offered(page)) == 8 and queries(client, place_of(made[0], "canoe")) == few


def test_words_that_are_no_id_show_what_they_find_and_the_chosen_one_is_marked(
    browser_of: Browser, who: People
) -> None:
    """Without scripts too: one press shows, the next one marks."""
    made, client = said(who, "It ate my canoe", "Canoe is gone", "The bus is late"), browser_of("admin")
    page = dom(press(client, opened(client, made[0]), "duplicate", duplicate_of="canoe", admin_note="typed"), 400)
    assert page.id("duplicate-wrong").words == "Choose the original report."
    assert page.id("duplicate-of")["value"] == "canoe" and page.id("admin-note").text == "typed"
    assert offered(page.id("originals")) == ["Canoe is gone"] and not stored(made[0]).resolved
    radio = page.id("originals").one("input", type="radio")
    then(client, press(client, page, "duplicate", original=radio["value"]))
    assert Triage.objects.get(pk=made[0].pk).duplicate_of == made[1] and stored(made[0]).admin_note == "typed"


@pytest.mark.parametrize("verb", ["duplicate", "label typed"])
def test_a_choice_holds_for_the_words_it_was_found_by(browser_of: Browser, who: People, verb: str) -> None:
    made, client = said(who, "It ate my canoe", "Canoe is gone", "The bus is late"), browser_of("admin")
    page = dom(press(client, opened(client, made[0]), "duplicate", duplicate_of="canoe"), 400)
    chosen = {"original": page.id("originals").one("input", type="radio")["value"]}
    page = dom(press(client, page, verb, duplicate_of="bus", **chosen), 400)
    assert offered(page.id("originals")) == ["The bus is late"] and not stored(made[0]).resolved
    then(client, press(client, page, verb, duplicate_of=made[2].feedback_id, **chosen))
    assert Triage.objects.get(pk=made[0].pk).duplicate_of == made[2]
