"""Insight's page: admins only, plots that begin with their findings, and the address is the state."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from django.test import Client

from feedback.insight import telling
from feedback.models import RatedAnswer, RatedTool, UserFeedback
from feedback.querying import matching, parse
from tests import make
from tests.conftest import Api, data_of
from tests.pages.desk import do
from tests.pages.dom import Node, dom, get, queries
from tests.people import People
from threads.models import Thread

Browser = Callable[[str | None], Client]
INSIGHT = "/feedback/insight/"
NOW = datetime(2026, 11, 5, 12, tzinfo=UTC)


def rated(who: People, number: int) -> None:
    """That many reports of all kinds, one every seven hours, the latest just now."""
    thread = make.conversation(who.alice, 2 * number)
    for place in range(number):
        bad = place % 3 != 0
        categories = ["tool_failure"] if place % 2 else ["incorrect", "slow"]
        made = make.rating(
            who.alice,
            thread,
            2 * place + 1,
            "negative" if bad else "positive",
            categories=categories if bad else ["helpful"],
        )
        row = UserFeedback.objects.filter(key=made.feedback_id.removeprefix("fb_"))
        created = NOW - timedelta(hours=7 * place)
        done = {"resolved": True, "resolved_by": who.admin.user, "resolved_at": created + timedelta(hours=place)}
        row.update(created=created, modified=created, **(done if place % 4 == 1 else {}))
        RatedAnswer.objects.create(feedback=row.get(), model_profile=["fast", "deep"][place % 2])
        RatedTool.objects.create(feedback=row.get(), tool_name="book", failed=place % 5 == 0)


def plot(page: Node, title: str) -> Node:
    return next(each for each in page.all("figure") if each.one("h2").words == title)


@pytest.mark.parametrize("name", ["alice", "eve"])
def test_it_is_for_admins(browser_of: Browser, name: str) -> None:
    """B133; and nobody else is told of the place."""
    page = get(browser_of(name), INSIGHT, 403)
    assert page.none("a", data_key="g i")


@time_machine.travel(NOW, tick=False)
def test_every_link_of_the_page_finds_what_it_says(browser_of: Browser, who: People) -> None:
    rated(who, 30)
    page = get(browser_of("admin"), INSIGHT + "?since=90d&q=-sentiment:positive+OR+category:helpful")
    followed = [each for each in page.one("main").all("a") if each["href"].startswith("/feedback/?q=")]
    assert len(followed) > 60
    for link in followed:
        query = parse_qs(urlsplit(link["href"]).query)["q"][0]
        number = matching(who.admin.actor, parse(query)).count()
        assert number, query
        said = link.words.rpartition(": ")[2].replace("\u202f", "").split()
        # The names of bar plots lead to all of their reports: the picture beside them tells how many.
        assert str(number) in said or link.parent.tag == "th", (link.words, query, number)


@time_machine.travel(NOW, tick=False)
@pytest.mark.parametrize("days", [7, 30, 90, 365])
def test_dates_below_the_columns_stand_at_equal_distances_up_to_today(
    browser_of: Browser, who: People, days: int
) -> None:
    rated(who, 1)
    below = plot(get(browser_of("admin"), f"{INSIGHT}?since={days}d"), "Feedback over time").all("ol")[-1]
    named = [place for place, each in enumerate(below.all("li")) if each.words]
    assert len({later - earlier for earlier, later in pairwise(named)}) == 1
    assert 4 <= len(named) <= 7
    assert named[-1] == len(below.all("li")) - 1


@time_machine.travel(NOW, tick=False)
@pytest.mark.parametrize(("today", "words"), [(2, "the most on"), (3, "most of them on")])
def test_most_are_more_than_half(browser_of: Browser, who: People, today: int, words: str) -> None:
    for place in range(5):
        made = make.rating(who.alice, make.thread(who.alice))
        if place >= today:
            earlier = NOW - timedelta(days=place)
            UserFeedback.objects.filter(key=made.feedback_id.removeprefix("fb_")).update(created=earlier)
    page = get(browser_of("admin"), INSIGHT)
    said = next(each for each in page.all("figure") if each.one("h2").words == "Feedback over time").words
    assert f"5 of 5 reports are negative, {words}" in said


def test_labels_that_have_no_row_are_a_click_away(browser_of: Browser, who: People) -> None:
    make.rating(who.alice, make.thread(who.alice))
    do(who.admin, UserFeedback.objects.get(), "label", add=["fast", "money", "slow"])
    link = plot(get(browser_of("admin"), f"{INSIGHT}?limit=1"), "By label").all("a")[-1]
    assert link.words == "2 more labels with fewer reports."
    assert len(get(browser_of("admin"), link["href"]).one("table").one("tbody").all("tr")) == 3


def test_tools_and_profiles_that_have_no_row_are_a_click_away(
    browser_of: Browser, who: People, api: Callable[[str], Api]
) -> None:
    for name in ("book", "look_up", "refund"):
        make.rating(who.alice, make.conversation(who.alice, 2))
        report = UserFeedback.objects.latest("pk")
        RatedAnswer.objects.create(feedback=report, model_profile=f"to {name}")
        RatedTool.objects.create(feedback=report, tool_name=name)
    page = get(browser_of("admin"), f"{INSIGHT}?since=all&limit=2")
    for title, word in (("By tool", "tool"), ("By model profile", "profile")):
        assert len(plot(page, title).one("tbody").all("tr")) == 2
        link = plot(page, title).all("a")[-1]
        assert link.words == f"1 more {word} with fewer reports."
        longer = plot(get(browser_of("admin"), INSIGHT + link["href"]), title)
        assert len(longer.one("tbody").all("tr")) == 3 and f"more {word}" not in longer.words
    found = data_of(api("admin").get("admin/feedback/insight?limit=2"))
    assert len(found["by_tool"]) == 2 and found["tools_left_out"] == 1
    assert api("admin").get("admin/feedback/insight?limit=0").status_code == 400


def test_the_versions_of_agents_stand_side_by_side(browser_of: Browser, who: People) -> None:
    for version, sentiments in ((1, ("negative", "negative", "positive")), (2, ("positive",)), (None, ("negative",))):
        for sentiment in sentiments:
            thread = make.thread(who.alice)
            agent_id = "agt_gone" if version else None
            Thread.objects.filter(pk=thread.pk).update(
                created_from_agent_id=agent_id, created_from_agent_version=version
            )
            make.rating(who.alice, thread, sentiment=sentiment)
    figure = plot(get(browser_of("admin"), INSIGHT), "By agent")
    said = figure.one("figcaption").one("p").words
    assert said == "agt_gone, version 1 has the largest negative share: 67 % of 3 reports."
    rows = [row.one("th").words for row in figure.one("tbody").all("tr")]
    assert rows == ["agt_gone, version 1", "agt_gone, version 2"] and "1 report of other threads." in figure.words
    link = figure.one("tbody").all("th")[0].one("a")["href"]
    assert len(get(browser_of("admin"), link).id("desk-rows").all("li")) == 3


def test_what_was_resolved_without_outcome_is_a_click_away(
    browser_of: Browser, who: People, api: Callable[[str], Api]
) -> None:
    made = [make.rating(who.alice, make.thread(who.alice)).feedback_id.removeprefix("fb_") for _ in range(3)]
    said, unsaid, _ = (UserFeedback.objects.get(key=key) for key in made)
    do(who.admin, said, "resolve", outcome="fixed")
    data_of(api("admin").put(f"admin/feedback/{unsaid.feedback_id}", {"resolved": True}))
    figure = plot(get(browser_of("admin"), INSIGHT), "By outcome")
    assert "Shares are of all resolved reports." in figure.words
    link = figure.all("a")[-1]
    assert link.words == "1 report without one."
    rows = get(browser_of("admin"), link["href"]).id("desk-rows").all("li")
    assert [row["id"] for row in rows] == [f"r-{unsaid.feedback_id}"]


@time_machine.travel(NOW, tick=False)
def test_each_plot_begins_with_its_finding_and_has_its_table(browser_of: Browser, who: People) -> None:
    rated(who, 30)
    page = get(browser_of("admin"), INSIGHT)
    findings = {each.one("h2").words: each.one("figcaption").one("p").words for each in page.all("figure")}
    assert list(findings) == [
        "Feedback over time",
        "By category",
        "By tool",
        "By model profile",
        "Open backlog by age",
        "Time to resolve",
    ]
    assert findings["Feedback over time"].startswith("20 of 30 reports are negative, the most on ")
    assert (
        findings["By category"] == "Incorrect, Slow and Tool failure are named most: each in 10 of 20 negative reports."
    )
    assert (
        findings["By tool"] == "book has the most negative reports: 20 of 20. It was used in 30 reports."
        " Most errors came from it: in 6 reports."
    )
    assert findings["By model profile"] == "deep has the largest negative share: 67 % of 15 reports."
    assert (
        findings["Open backlog by age"]
        == "22 open now, whenever they were rated. 4 of them have waited longer than a week."
    )
    assert findings["Time to resolve"] == "Half within 13 h, nine of ten within 1 day 5 h."
    for each in page.all("figure"):
        assert each.one("table").all("tbody")[0].all("tr")
        assert each.one("table").one("caption").words == each.one("h2").words
    days = plot(page, "Feedback over time").one("tbody").all("tr")
    assert [days[0].one("th").words, days[-1].one("th").words] == ["7 Oct", "5 Nov"]
    sums = {each.one("dt").words: each.one("dd").words for each in page.one(class_="sums").all("div")}
    assert sums["Reports"] == "30 none in the previous 30 days"
    assert sums["Open now"] == "22 4 older than a week"
    week = get(browser_of("admin"), INSIGHT + "?since=7d").one(class_="sums").all("div")[0]
    assert week.words == "Reports 23 +16 vs. the previous 7 days"


@time_machine.travel(NOW, tick=False)
def test_the_reports_of_these_days_can_be_taken_away_as_a_file(browser_of: Browser, who: People) -> None:
    rated(who, 40)
    client = browser_of("admin")
    page = get(client, INSIGHT + "?since=7d&q=sentiment:negative")
    links = {link.words: link["href"] for link in page.one("main").all("a", download=True)}
    assert list(links) == ["JSONL", "CSV"]
    assert "format=csv" in links["CSV"]
    lines = b"".join(client.get(links["JSONL"]).streaming_content).decode().splitlines()
    assert str(len(lines)) == page.one("dl", class_="sums").all("dd")[0].words.split()[0]
    assert 0 < len(lines) < 26


def test_a_page_without_reports_says_so(browser_of: Browser) -> None:
    page = get(browser_of("admin"), INSIGHT)
    assert "Nothing was rated in this period." in page.words
    assert page.none("figure")
    assert "No reports match in this period." in get(browser_of("admin"), INSIGHT + "?q=is:open").words


def test_the_backlog_is_all_that_is_open_however_short_the_period(browser_of: Browser, who: People) -> None:
    with time_machine.travel(NOW, tick=False):
        rated(who, 30)
    client = browser_of("admin")
    with time_machine.travel(NOW + timedelta(days=100), tick=False):
        client.force_login(who.admin.user)
        page = get(client, INSIGHT + "?since=7d")
    assert "Nothing was rated in this period." in page.words
    assert [each.one("h2").words for each in page.all("figure")] == ["Open backlog by age"]
    [bar] = page.one("figure").all("rect")
    [link] = [each["href"] for each in page.one("figure").all("a") if each["href"].startswith("/feedback/?q=")][:1]
    assert parse_qs(urlsplit(link).query)["q"] == ["is:open age:>=90d"] and bar
    sums = {each.one("dt").words: each.one("dd").words for each in page.one(class_="sums").all("div")}
    assert (sums["Reports"][:2], sums["Open now"]) == ("0 ", "22 22 older than a week")


@time_machine.travel(NOW, tick=False)
def test_one_report_is_enough(browser_of: Browser, who: People) -> None:
    rated(who, 1)
    page = get(browser_of("admin"), INSIGHT)
    assert "None of the 1 report is negative." in page.words
    assert "1 open now, whenever they were rated. None has waited longer than a week." in page.words


def test_the_address_is_the_state(browser_of: Browser) -> None:
    client = browser_of("admin")
    page = get(client, INSIGHT + "?q=tool:book&since=7d")
    choices = {each.words: each for each in page.one("nav", aria_label="Period").all("a")}
    assert [word for word, each in choices.items() if each.has("aria-current")] == ["7 days"]
    assert parse_qs(urlsplit(choices["All"]["href"]).query) == {"q": ["tool:book"], "since": ["all"]}
    search = page.one("form", role="search")
    assert search.one("a", aria_label="Remove tool:book")["href"] == "?q=&since=7d"
    changed = get(client, INSIGHT + search.one("a", aria_label="Change tool:book")["href"])
    assert changed.id("q")["value"] == "tool:book"
    assert changed.one("nav", aria_label="Period").one("a", aria_current="true").words == "7 days"
    response = client.get(INSIGHT, {**{name: values[0] for name, values in search.fields().items()}, "add": "is:open"})
    assert parse_qs(urlsplit(response["Location"]).query) == {"q": ["tool:book is:open"], "since": ["7d"]}
    chosen = get(client, INSIGHT + "?since=2026-05-01&until=2026-05-30")
    period = chosen.one("details", name="period")
    assert period.one("summary").words == "1 May to 30 May"
    assert [each["value"] for each in period.all("input", type="date")] == ["2026-05-01", "2026-05-30"]


def test_what_is_not_understood_is_named_in_its_place(browser_of: Browser) -> None:
    page = get(browser_of("admin"), INSIGHT + "?q=colour:red")
    assert page.one("a", aria_label="Change colour:red")["aria-invalid"] == "true"
    assert page.id("q")["aria-describedby"] == "unread" and "colour:red" in page.id("unread").words
    assert "There is no field colour" in page.words and "Invalid query." in page.words
    assert page.none("figure")
    for wrong, said in (
        ("since=soon", "From must "),
        ("until=2026-02-30", "To must "),
        ("tz=Moon", "There is no time zone "),
    ):
        page = get(browser_of("admin"), f"{INSIGHT}?{wrong}", 400)
        assert f"Invalid period. {said}" in page.words and page.none("figure")


@time_machine.travel(datetime(2026, 11, 5, 23, 30, tzinfo=UTC), tick=False)
def test_days_begin_where_the_viewer_is(browser_of: Browser, who: People) -> None:
    make.rating(who.alice, make.conversation(who.alice, 2))
    client = browser_of("admin")
    page = get(client, INSIGHT + "?since=7d")
    assert "Days begin at midnight in UTC." in page.words
    assert plot(page, "Feedback over time").one("tbody").all("tr")[-1].one("th").words == "5 Nov"
    client.cookies["tz"] = "Europe/Berlin"
    page = get(client, INSIGHT + "?since=7d")
    assert "Days begin at midnight in Europe/Berlin." in page.words
    last = plot(page, "Feedback over time").one("tbody").all("tr")[-1]
    assert last.words.startswith("6 Nov")
    linked = parse_qs(urlsplit(last.one("a")["href"]).query)["q"]
    assert linked == ["created:2026-11-06[Europe/Berlin] sentiment:negative"]
    client.cookies["tz"] = "../../etc"
    assert "Days begin at midnight in UTC." in get(client, INSIGHT).words


def test_hostile_names_are_only_shown(browser_of: Browser, who: People) -> None:
    made = make.rating(who.alice, make.conversation(who.alice, 2))
    row = UserFeedback.objects.get(key=made.feedback_id.removeprefix("fb_"))
    name = '<script>alert(1)</script>" OR is:open'
    RatedTool.objects.create(feedback=row, tool_name=name)
    page = dom(browser_of("admin").get(INSIGHT))
    assert plot(page, "By tool").one("code").words == name
    query = parse_qs(urlsplit(plot(page, "By tool").one("th", scope="row").one("a")["href"]).query)["q"][0]
    assert matching(who.admin.actor, parse(query)).get() == row


@time_machine.travel(NOW, tick=False)
def test_more_reports_take_no_more_queries(browser_of: Browser, who: People) -> None:
    client = browser_of("admin")
    rated(who, 4)
    few = queries(client, INSIGHT)
    rated(who, 12)
    assert queries(client, INSIGHT) == few


def test_categories_that_are_named_as_often_are_named_both():
    def found(*counts):
        named = [
            SimpleNamespace(name=name, negative=SimpleNamespace(count=count))
            for name, count in zip(("incorrect", "incomplete", "slow", "unsafe"), counts, strict=True)
        ]
        return SimpleNamespace(by_category=named, negative=SimpleNamespace(count=20))

    assert telling.by_category(found(6, 5, 0, 0)).startswith("Incorrect is named most: in 6 of 20")
    both = "Incorrect and Incomplete are named most: each in 5 of 20 negative reports."
    assert telling.by_category(found(5, 5, 0, 0)).startswith(both)
    assert telling.by_category(found(5, 5, 5, 5)) == "No category is named most: 4 are in 5 of 20 negative reports."


@pytest.mark.django_db
def test_a_period_that_ends_before_it_begins_is_told_in_the_page(browser_of: Browser) -> None:
    """With the query and the dates as they were asked for."""
    asked = f"{INSIGHT}?q=is:open&since=2026-11-20&until=2026-11-01"
    page = dom(browser_of("admin").get(asked), 400)
    assert "2026-11-01 is before 2026-11-20." in page.one("main").words
    assert page.one("details", name="period").one("summary").words == "From – to", "and no period that nobody asked for"
    form = page.one("form", class_="days")
    fields = form.fields()
    assert [fields[name] for name in ("q", "since", "until")] == [["is:open"], ["2026-11-20"], ["2026-11-01"]]
    assert dom(browser_of("admin").get(f"{INSIGHT}?since=soon"), 400).one("form", class_="days")
