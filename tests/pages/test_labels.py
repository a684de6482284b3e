"""The labels page of the settings: for platform admins; counted, described, made, and deleted while unused."""

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from feedback import bulk, bulk_work, labelling, pages_labels
from feedback.models import Bulk, Label
from tests.pages.desk import Browser, do, opened, reports, stored, words
from tests.pages.dom import Node, dom, get, queries, submit, then
from tests.people import People

LABELS = "/settings/labels/"


def rows(page: Node) -> dict[str, Node]:
    return {row.one("th").words: row for row in page.all("tr") if row.all("form")}


def changed(client: Client, label: str, button: str = "", page: Node | None = None, **typed: str) -> HttpResponse:
    """What comes of a label's form."""
    return submit(client, rows(page or get(client, LABELS))[label].one("form"), button, **typed)


@pytest.mark.parametrize("name", ["alice", "eve"])
def test_labels_are_for_platform_admins(browser_of: Browser, who: People, name: str) -> None:
    client = browser_of(name)
    get(client, LABELS, 403)
    for path in ("", "change/", "drop/"):
        dom(client.post(LABELS + path, {"name": "x", "label": "x"}), 403)
    assert not Label.objects.exists()
    assert get(client, "/settings/").none("a", href=LABELS) and get(browser_of("admin"), "/settings/").one(href=LABELS)
    assert browser_of(None).get(LABELS)["Location"].startswith("/signin/")


def test_labels_are_listed_with_their_counts_which_lead_to_the_reports(browser_of: Browser, who: People) -> None:
    client = browser_of("admin")
    assert "No labels yet." in get(client, LABELS).words
    made = reports(who.alice, 3)
    for report in made[:2]:
        do(who.admin, report, "label", add=['say "no"', "Late"])
    do(who.admin, made[2], "label", add=["late"])
    found = rows(get(client, LABELS))
    assert [(name, row.one(class_="num").words) for name, row in found.items()] == [("Late", "3"), ('say "no"', "2")]
    link = found['say "no"'].one("a")["href"]
    assert words(get(client, link)) == ["report 1", "report 0"]
    assert [button.words for button in found["Late"].all("button")] == ["Save Late"], "and no Delete"


def test_labels_have_pages_and_a_change_stays_on_its_own(browser_of: Browser, who: People, monkeypatch: Any) -> None:
    monkeypatch.setattr(pages_labels, "PAGE", 2)
    client = browser_of("admin")
    for name in ("a", "b", "c"):
        labelling.make(who.admin.actor, name)
    page = get(client, LABELS)
    assert list(rows(page)) == ["a", "b"]
    own = page.one("a", rel="next")["href"]
    assert list(rows(get(client, own))) == ["c"] and get(client, own).none("a", rel="next")
    form = rows(get(client, own))["c"].one("form")
    said = submit(client, form, description="What for.")["Location"]
    assert said.startswith(own) and rows(get(client, said))["c"].one("summary").has("autofocus")
    refused = dom(submit(client, form, name="a,b"), 400)
    assert list(rows(refused)) == ["c"] and refused.id("row-wrong")


def test_a_label_is_made_described_and_deleted(browser_of: Browser, who: People) -> None:
    client = browser_of("admin")
    answer = submit(client, get(client, LABELS).all("form", action=LABELS)[0], name="late", description="Too late.")
    page = get(client, answer["Location"])
    assert "Label late created." in page.words
    assert rows(page)["late"].one("p").words == "Too late." and not rows(page)["late"].one("details").has("open")
    answer = changed(client, "late", description=" An answer that came too late. ")
    assert Label.objects.get().description == "An answer that came too late."
    page = get(client, answer["Location"])
    assert "Saved." in page.words
    drop = rows(page)["late"].one("button", formaction=f"{LABELS}drop/")
    answer = client.post(drop["formaction"], rows(page)["late"].one("form").fields())
    assert "Label late deleted." in get(client, answer["Location"]).words and not Label.objects.exists()


@pytest.mark.parametrize(
    ("path", "typed", "status", "reason"),
    [
        ("", {"name": "a,b"}, 400, "without a comma"),
        ("", {"name": ""}, 400, "1 to 60 characters"),
        ("", {"name": "LATE"}, 409, "Label late already exists."),
        ("", {"name": "x", "description": "x" * 201}, 400, "at most 200"),
        ("", {"name": "a\x00"}, 400, "NUL"),
        ("change/", {"label": "late", "name": "late", "description": "x" * 201}, 400, "at most 200"),
        ("change/", {"label": "late", "name": "a,b", "description": ""}, 400, "without a comma"),
        ("change/", {"label": "late", "name": "soon", "description": "x" * 201}, 400, "at most 200"),
        ("change/", {"label": "gone", "name": "x", "description": "x"}, 404, "There is no label gone."),
        ("drop/", {"label": "late"}, 409, "Label late is on 1 report."),
        ("drop/", {"label": "gone"}, 404, "There is no label gone."),
    ],
)
def test_what_is_refused_says_why_and_stays_typed(
    browser_of: Browser, who: People, path: str, typed: dict[str, str], status: int, reason: str
) -> None:
    do(who.admin, reports(who.alice, 1)[0], "label", add=["late"])
    page = dom(browser_of("admin").post(LABELS + path, typed), status)
    assert reason in page.one("main").words
    held = [each.get("value") for each in page.all("input")]
    assert typed.get("description", typed.get("name", "late")) in held or (path, status) == ("change/", 404)
    assert list(Label.objects.values_list("name", "description")) == [("late", "")]


def test_a_label_is_renamed_and_its_reports_follow(browser_of: Browser, who: People) -> None:
    client, made = browser_of("admin"), reports(who.alice, 2)
    do(who.admin, made[0], "label", add=["late", "mail"])
    page = then(client, changed(client, "late", name=" too  late ", description="After the bus."))
    assert "Renamed late to too late on 1 report." in page.words
    assert {name: row.one(class_="num").words for name, row in rows(page).items()} == {"mail": "1", "too late": "1"}
    assert rows(page)["too late"].one("p").words == "After the bus."
    assert stored(made[0]).admin_label == "too late, mail"
    assert "renamed a label" in opened(client, made[0]).words
    page = then(client, changed(client, "too late", name="Too Late"))
    assert stored(made[0]).admin_label == "Too Late, mail" and Label.objects.count() == 2


LATE = "\u05de\u05d0\u05d5\u05d7\u05e8"
"""A word that is written from right to left."""


@pytest.mark.parametrize(("name", "shown"), [("{late}", "{late}"), (LATE, f"\u2068{LATE}\u2069")])
def test_whatever_a_label_is_called_it_is_said(browser_of: Browser, who: People, name: str, shown: str) -> None:
    client, made = browser_of("admin"), reports(who.alice, 1)
    do(who.admin, made[0], "label", add=[name])
    do(who.admin, made[0], "label", add=["late"])
    page = get(client, LABELS)
    refused = dom(client.post(f"{LABELS}drop/", {"label": name}), 409)
    merging = dom(changed(client, shown, page=page, name="late"), 409)
    assert f"Label {shown} is on 1 report" in refused.words and f"deletes “{shown}”" in merging.words
    for each in (page, refused, merging):
        assert "\u202e" not in each.words
    assert rows(page)[shown].one("form").fields()["label"] == [name]
    assert f"Renamed {shown} to soon on 1 report." in then(client, changed(client, shown, name="soon")).words


def test_a_name_that_another_label_has_asks_whether_to_merge(browser_of: Browser, who: People) -> None:
    client, made = browser_of("admin"), reports(who.alice, 3)
    do(who.admin, made[0], "label", add=["cash"])
    do(who.admin, made[1], "label", add=["money", "cash"])
    do(who.admin, made[2], "label", add=["bags"])
    page = dom(changed(client, "cash", name="MONEY", description="What was paid."), 409)
    asked = rows(page)["cash"]
    assert (
        asked.one("details").has("open") and asked.id(f"name-{Label.objects.get(name='cash').pk}")["value"] == "MONEY"
    )
    said = asked.one(role="alert").words
    assert "Label “money” already exists, on 1 report." in said and "replaces “cash” with it on 2 reports" in said
    assert stored(made[0]).admin_label == "cash", "nothing is done before it is asked for"
    other = dom(changed(client, "cash", "MONEY", page, name="bags"), 409)
    assert "Label “bags” already" in rows(other)["cash"].one(role="alert").words, "another one is asked anew"
    page = then(client, changed(client, "cash", "MONEY", page))
    assert "Merged cash into money on 2 reports." in page.words
    assert [stored(each).admin_label for each in made] == ["money", "money", "bags"]
    assert rows(page)["money"].one("p").words == "What was paid."


def test_many_reports_follow_in_the_background(
    browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, made = browser_of("admin"), reports(who.alice, 2)
    for each in made:
        do(who.admin, each, "label", add=["late"])
    monkeypatch.setattr(bulk, "AT_ONCE", 1)
    page = then(client, changed(client, "late", name="soon"))
    assert "Renaming late to soon on 2 reports. The desk shows the progress." in page.words
    again = dom(changed(client, "late", name="never"), 409)
    assert "late is already being renamed" in again.words
    bulk_work.advance(Bulk.objects.get().pk)
    assert [stored(each).admin_label for each in made] == ["soon", "soon"]
    assert list(rows(get(client, LABELS))) == ["soon"]


def test_ten_more_labels_are_no_more_queries(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    do(who.admin, report, "label", add=["one"])
    few = queries(client, LABELS)
    do(who.admin, report, "label", add=[f"l{place}" for place in range(10)])
    assert queries(client, LABELS) == few


def test_the_question_whether_to_merge_and_what_is_wrong_with_a_name_are_gone_to(
    browser_of: Browser, who: People
) -> None:
    """Many labels are above the one that is changed."""
    client = browser_of("admin")
    for name in ("late", "slow"):
        client.post(LABELS, {"name": name})
    answer = dom(
        client.post(f"{LABELS}change/", {"label": "late", "name": "slow", "description": "", "described": ""}), 409
    )
    assert answer.one(role="alert").has("autofocus")
    answer = dom(
        client.post(f"{LABELS}change/", {"label": "late", "name": " ", "description": "", "described": ""}), 400
    )
    assert answer.one("input", aria_invalid="true").has("autofocus")
    answer = dom(client.post(LABELS, {"name": "SLOW"}), 409)
    assert answer.id("name-wrong").words == "Label slow already exists." and answer.id("label-name").has("autofocus")
