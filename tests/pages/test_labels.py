"""The labels page of the settings: for platform admins; counted, described, made, and deleted while unused."""

import pytest

from feedback.models import Label
from tests.pages.desk import Browser, do, reports, words
from tests.pages.dom import Node, dom, get, queries, submit
from tests.people import People

LABELS = "/settings/labels/"


def rows(page: Node) -> dict[str, Node]:
    return {row.one("th").words: row for row in page.all("tr") if row.all("form")}


@pytest.mark.parametrize("name", ["alice", "eve"])
def test_labels_are_for_platform_admins(browser_of: Browser, who: People, name: str) -> None:
    client = browser_of(name)
    get(client, LABELS, 403)
    for path in ("", "describe/", "drop/"):
        dom(client.post(LABELS + path, {"name": "x", "label": "x"}), 403)
    assert not Label.objects.exists()
    assert get(client, "/settings/").none("a", href=LABELS) and get(browser_of("admin"), "/settings/").one(href=LABELS)
    assert browser_of(None).get(LABELS)["Location"].startswith("/signin/")


def test_labels_are_listed_with_their_counts_which_lead_to_the_reports(browser_of: Browser, who: People) -> None:
    client = browser_of("admin")
    assert "No label yet." in get(client, LABELS).words
    made = reports(who.alice, 3)
    for report in made[:2]:
        do(who.admin, report, "label", add=['say "no"', "Late"])
    do(who.admin, made[2], "label", add=["late"])
    found = rows(get(client, LABELS))
    assert [(name, row.one(class_="num").words) for name, row in found.items()] == [("Late", "3"), ('say "no"', "2")]
    link = found['say "no"'].one("a")["href"]
    assert words(get(client, link)) == ["report 1", "report 0"]
    assert found["Late"].none("button", class_="danger") and len(found["Late"].all("form")) == 1


def test_a_label_is_made_described_and_deleted(browser_of: Browser, who: People) -> None:
    client = browser_of("admin")
    answer = submit(client, get(client, LABELS).all("form", action=LABELS)[0], name="late", description="Too late.")
    page = get(client, answer["Location"])
    assert "late can be chosen at the desk." in page.words
    describe, drop = rows(page)["late"].all("form")
    submit(client, describe, description=" An answer that came too late. ")
    assert Label.objects.get().description == "An answer that came too late."
    answer = submit(client, drop)
    assert "The label late is gone." in get(client, answer["Location"]).words and not Label.objects.exists()


@pytest.mark.parametrize(
    ("path", "typed", "status", "reason"),
    [
        ("", {"name": "a,b"}, 400, "without a comma"),
        ("", {"name": ""}, 400, "1 to 60 characters"),
        ("", {"name": "LATE"}, 409, "There is a label LATE already."),
        ("", {"name": "x", "description": "x" * 201}, 400, "at most 200"),
        ("", {"name": "a\x00"}, 400, "NUL"),
        ("describe/", {"label": "late", "description": "x" * 201}, 400, "at most 200"),
        ("describe/", {"label": "gone", "description": "x"}, 404, "There is no label gone."),
        ("drop/", {"label": "late"}, 409, "1 reports carry the label late"),
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
    assert typed.get("description", typed.get("name", "late")) in held or (path, status) == ("describe/", 404)
    assert list(Label.objects.values_list("name", "description")) == [("late", "")]


def test_ten_more_labels_are_no_more_queries(browser_of: Browser, who: People) -> None:
    report, client = reports(who.alice, 1)[0], browser_of("admin")
    do(who.admin, report, "label", add=["one"])
    few = queries(client, LABELS)
    do(who.admin, report, "label", add=[f"l{place}" for place in range(10)])
    assert queries(client, LABELS) == few
