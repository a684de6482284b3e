"""The words of feedback, and the desk's address as links."""

from datetime import UTC, datetime
from urllib.parse import parse_qs

import pytest

from feedback.presenting.bar import DeskBar, Token
from feedback.presenting.card import ReportCard
from feedback.presenting.links import Choice, href, pane_of, panes
from feedback.presenting.rating import RateForm
from feedback.presenting.rows import ReportRow
from feedback.presenting.words import category_word
from feedback.taxonomy import FITTING, Category
from threads.presenting.articles import Mark

NOW = datetime(2026, 5, 15, 14, 30, tzinfo=UTC)


def query_of(link: str) -> dict[str, str]:
    return {key: values[0] for key, values in parse_qs(link.removeprefix("?")).items()}


def test_every_category_of_the_taxonomy_has_a_word() -> None:
    for category in Category:
        assert category_word(category.value) == category.value.replace("_", " ").capitalize()
    grouped = {group: {name for name, _, _ in choices} for group, choices in RateForm(3, "/rate/", "/").groups}
    assert grouped["both"] == FITTING["positive"] & FITTING["negative"] == {"other"}
    assert grouped["negative"] == {
        *("incorrect", "incomplete", "tool_failure", "refused_valid_request", "formatting", "slow", "unsafe")
    }
    assert grouped["positive"] == {"correct", "helpful", "good_tool_use"}


@pytest.mark.parametrize(
    ("sentiment", "categories", "tone", "icon", "line"),
    [
        ("negative", ("incorrect", "tool_failure"), "neg", "down", "incorrect, tool failure"),
        ("positive", (), "pos", "up", "positive"),
    ],
)
def test_a_row_shows_dye_glyph_and_words(
    sentiment: str, categories: tuple[str, ...], tone: str, icon: str, line: str
) -> None:
    row = ReportRow("fb_1", sentiment, categories, "", "T", "acme", "alice", NOW, "?item=fb_1")
    assert (row.tone, row.icon, row.categories_line) == (tone, icon, line)


@pytest.mark.parametrize(
    ("row", "is_read"),
    [
        ({}, False),
        ({"resolved": True}, True),
        ({"snoozed": "until again"}, True),
        ({"is_due": True}, False),
        ({"owner": "Bea"}, True),
        ({"owner": "Ann", "is_mine": True}, False),
    ],
)
def test_a_row_steps_back_once_somebody_else_sees_to_it(row: dict[str, object], is_read: bool) -> None:
    assert ReportRow("fb_1", "negative", (), "", "T", "acme", "alice", NOW, "?item=fb_1", **row).is_read is is_read


@pytest.mark.parametrize(
    ("card", "line"),
    [
        ({}, "unclaimed"),
        ({"owner": "Bea"}, "owned by Bea"),
        ({"owner": "Ann", "is_mine": True, "snoozed_until": NOW}, "yours, snoozed until 15 May 14:30 UTC"),
        ({"owner": "Bea", "snoozed_until": NOW, "is_due": True}, "owned by Bea, snoozed, due"),
        ({"snoozed_until_again": True}, "unclaimed, snoozed until it happens again"),
        ({"resolved": True}, "resolved"),
        ({"resolved": True, "resolved_by": "Bea", "outcome": "not_reproduced"}, "resolved by Bea, not reproduced"),
        ({"resolved": True, "resolved_by": "Bea", "owner": "Bea"}, "resolved by Bea"),
        ({"resolved": True, "resolved_by": "Bea", "owner": "Ann"}, "resolved by Bea, owned by Ann"),
        ({"resolved": True, "resolved_by": "Bea", "owner": "Ann", "is_mine": True}, "resolved by Bea, yours"),
    ],
)
def test_a_report_says_in_a_line_where_it_stands(card: dict[str, object], line: str) -> None:
    assert ReportCard("fb_1", "negative", (), "", "alice", NOW, "ags_1", "T", 1, "", "", **card).state_line == line


def test_the_bar_names_what_is_wrong_and_the_view_one_may_change() -> None:
    tokens = (Token("is:open", "?q=", "?"), Token("x:y", "?q=is:open", "?", "there is no field x"))
    views = (Choice("Due", "?q=is:due", True), Choice("Mine", "?q=is:due", True, view_id="fv_1"), Choice("Other", "?"))
    bar = DeskBar("is:due", tokens, views, (), "/feedback/", "list")
    assert bar.wrong == [tokens[1]] and bar.view == views[1]
    assert DeskBar("", (), views[2:], (), "/feedback/", "list").view is None


def test_an_empty_query_stays_in_the_address_because_it_asks_for_everything() -> None:
    assert href({"q": "", "after": "", "item": "fb_1"}) == "?q=&item=fb_1"


@pytest.mark.parametrize(
    ("query", "pane"),
    [({}, "list"), ({"item": "fb_1"}, "talk"), ({"item": "fb_1", "pane": "report"}, "report"), ({"pane": "x"}, "list")],
)
def test_the_pane_is_in_the_address(query: dict[str, str], pane: str) -> None:
    assert pane_of(query) == pane
    choices = panes(query)
    assert [choice.is_current for choice in choices].count(True) == 1
    assert all(query_of(choice.href).get("item") == query.get("item") for choice in choices)


def test_a_form_opens_with_what_was_said_and_what_was_pressed() -> None:
    mark = Mark("negative", ("slow",), "Forty seconds.", "alice", True)
    form = RateForm.of(mark, index=3, action="/rate/", back="/thread/#m3", sentiment="positive")
    assert (form.sentiment, form.notes) == ("positive", "Forty seconds.")
    assert RateForm.of(mark, index=3, action="/rate/", back="/").sentiment == "negative"
    assert RateForm.of(None, index=3, action="/rate/", back="/").categories == ()


def test_the_form_offers_every_category_once_and_ticks_the_given() -> None:
    groups = RateForm(3, "/rate/", "/", "negative", ("slow", "other")).groups
    ticked = [name for _, choices in groups for name, _, is_picked in choices if is_picked]
    assert [group for group, _ in groups] == ["negative", "positive", "both"]
    assert ticked == ["slow", "other"]
