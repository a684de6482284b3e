"""Which report an open one is a duplicate of: found by words, chosen, and only then marked."""

from urllib.parse import quote

import pytest
from django.test import Client

from feedback.models import Triage, UserFeedback
from tests import make
from tests.pages.desk import Browser, do, opened, press, reports, stored, told
from tests.pages.dom import Node, dom, fragment, get, queries, submit, then
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


def test_how_many_are_found_is_announced_and_which_one_enter_takes(browser_of: Browser, who: People) -> None:
    """Beside the list that htmx asks for, and nowhere in a whole page; of one's own report's neighbours nothing."""
    made, client = said(who, "It ate my canoe", "Canoe is gone", "The canoes sank"), browser_of("admin")

    def heard(page: Node) -> list[str]:
        return [each.words for each in page.all("p") if (each.get("hx-swap-oob") or "").endswith("originals-found")]

    assert heard(fragment(client, place_of(made[0], "cano"))) == [
        "2 possible originals. Enter takes “The canoes sank”."
    ]
    assert heard(fragment(client, place_of(made[0], "gone"))) == ["1 possible original. Enter takes “Canoe is gone”."]
    assert heard(fragment(client, place_of(made[0], "zebra"))) == ["No report of the same org matches."]
    assert "colour" in heard(fragment(client, place_of(made[0], "colour:red")))[0]
    assert heard(fragment(client, place_of(made[0], ""))) == []
    assert heard(ticking(client, made, typed="cano"))[0].startswith("3 possible originals. Enter takes “")
    assert heard(ticking(client, made)) == []
    page = dom(press(client, opened(client, made[0]), "duplicate", duplicate_of="canoe"), 400)
    assert page.id("said").words == "" and heard(page) == []


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
    assert page.id("duplicate-wrong").words.startswith("Not marked yet: choose the original report among those found")
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


def ticking(client: Client, ticked: list[UserFeedback], *, here: str = "/feedback/?q=", typed: str = "") -> Node:
    """What the bulk's form is offered for these."""
    sent = {"here": here, "ticked": ",".join(each.feedback_id for each in ticked), "duplicate_of": typed}
    return dom(client.post("/feedback/originals/", sent))


def test_many_get_one_original_which_may_be_ticked_itself(browser_of: Browser, who: People) -> None:
    made = said(who, "The canoe sank", "Canoe is gone", "A third canoe", "The bus is late")
    client = browser_of("admin")
    here = f"/feedback/?q=&item={made[3].feedback_id}"
    page = ticking(client, made[:3], here=here)
    assert offered(page) == ["The bus is late", "The canoe sank", "Canoe is gone", "A third canoe"]
    assert [each.words.partition(",")[0] for each in page.all(class_="cut")] == ["open here", *["ticked"] * 3]
    assert offered(ticking(client, made[:3], typed="cano")) == ["A third canoe", "Canoe is gone", "The canoe sank"]
    assert offered(ticking(client, made[:1], here=here)) == ["The bus is late"]
    assert offered(ticking(client, made[:1], typed="canoe")) == ["A third canoe", "Canoe is gone"], "not itself"
    form = get(client, "/feedback/?q=").id("bulk")
    ticked = [each.feedback_id for each in made[:3]]
    chosen = {"found_by": "cano", "duplicate_of": "cano", "original": made[0].feedback_id}
    page = then(client, submit(client, form, "duplicate", feedback_ids=ticked, **chosen))
    assert told(page) == ["Marked 2 reports as duplicate of “The canoe sank”"]
    assert not stored(made[0]).resolved
    assert {Triage.objects.get(pk=each.pk).duplicate_of for each in made[1:3]} == {made[0]}
    page = then(client, submit(client, page.id("desk-status").one("form")))
    assert told(page) == ["Undone: duplicate mark on 2 reports."] and not stored(made[1]).resolved


def test_many_of_two_orgs_and_those_without_an_original_are_told(browser_of: Browser, who: People) -> None:
    made, foreign = said(who, "The canoe sank", "Canoe is gone"), make.rating(who.eve, make.thread(who.eve))
    client = browser_of("admin")
    assert len(offered(ticking(client, [made[0], foreign], typed="is:open"))) == 3, "of both orgs"
    assert "No report of the same org matches." in ticking(client, made, typed="zebra").words
    form = get(client, "/feedback/?q=").id("bulk")
    ids = [each.feedback_id for each in (*made, foreign)]
    page = dom(submit(client, form, "duplicate", feedback_ids=ids, duplicate_of="canoe"), 400)
    assert page.id("bulk").one(class_="wrong").words.startswith("Not marked yet: choose the original report")
    field = page.id("bulk-duplicate-of")
    assert field["value"] == "canoe" and field["aria-describedby"] == page.id("bulk").one(class_="wrong")["id"]
    assert offered(page.id("bulk")) == ["Canoe is gone", "The canoe sank"]
    chosen = {each["name"]: each["value"] for each in page.id("bulk-originals").all("input") if each.has("checked")}
    assert chosen == {"original": ids[1]}, "Enter takes the first"
    assert dom(submit(client, form, "duplicate", all="1", duplicate_of="canoe"), 400).id("bulk-originals").words == ""
    page = then(client, submit(client, form, "duplicate", feedback_ids=ids, duplicate_of=ids[0]))
    assert told(page) == ["1 of 2 not changed", "Marked “Canoe is gone” as duplicate of “The canoe sank”"]
    assert "another org" in page.id("desk-status").words
    assert client.post("/feedback/originals/", {"here": "/feedback/?q="}).status_code == 400
    bob = browser_of("bob")
    assert bob.post("/feedback/originals/", {"ticked": ids[0]}).status_code == 403


def test_all_that_match_become_duplicates_of_one_of_them(browser_of: Browser, who: People) -> None:
    made, client = said(who, "The canoe sank", "Canoe is gone", "A third canoe"), browser_of("admin")
    form = get(client, "/feedback/?q=canoe").id("bulk")
    page = then(client, submit(client, form, "duplicate", all="1", duplicate_of=made[1].feedback_id))
    assert told(page) == ["Marked 2 reports as duplicate of “Canoe is gone”"]
    assert [stored(each).resolved for each in made] == [True, False, True]


def test_what_is_alike_becomes_a_duplicate_of_the_open_report_together(browser_of: Browser, who: People) -> None:
    made, client = said(who, *["The canoe sank in the lake"] * 3), browser_of("admin")
    for place in range(30):  # so that these are rare words
        make.rating(who.bob, make.thread(who.bob), notes=f"Number {place}", sentiment="positive")
    page = opened(client, made[1])
    button = next(each for each in page.id("similar").all("button") if "duplicates of this" in each.words)
    assert (button.words, button["form"]) == ("Mark 2 as duplicates of this", "together")
    then(client, submit(client, page.id("together"), verb=button["value"]))
    assert [stored(each).resolved for each in made] == [True, False, True]
    assert Triage.objects.filter(duplicate_of=made[1]).count() == 2


def test_the_open_report_of_another_org_is_no_original_of_the_ticked(browser_of: Browser, who: People) -> None:
    made, foreign = said(who, "The canoe sank", "Canoe is gone"), make.rating(who.eve, make.thread(who.eve))
    page = ticking(browser_of("admin"), made, here=f"/feedback/?q=&item={foreign.feedback_id}")
    assert offered(page) == ["The canoe sank", "Canoe is gone"]


def test_enter_with_two_fields_filled_in_asks_for_the_button(browser_of: Browser, who: People) -> None:
    made, client = said(who, "The canoe sank", "Canoe is gone"), browser_of("admin")
    typed = {"label": "money", "duplicate_of": made[0].feedback_id, "feedback_ids": [made[1].feedback_id]}
    page = dom(submit(client, get(client, "/feedback/?q=").id("bulk"), "label typed", **typed), 400)
    assert "a label and an original are filled in" in page.id("bulk").one(class_="wrong").words
    assert stored(made[1]).admin_label is None and not stored(made[1]).resolved
