"""The words of feedback and the desk's filters as links."""

from datetime import UTC, datetime
from urllib.parse import parse_qs

import pytest

from feedback import presenting
from feedback.presenting import RateForm, ReportRow, desk_filters
from threads.presenting import Mark

NOW = datetime(2026, 5, 15, 14, 30, tzinfo=UTC)


def query_of(href: str) -> dict[str, str]:
    return {key: values[0] for key, values in parse_qs(href.removeprefix("?")).items()}


def test_every_category_of_the_taxonomy_has_a_word() -> None:
    assert set(presenting.CATEGORY_WORDS["negative"]) == {
        *("incorrect", "incomplete", "tool_failure", "refused_valid_request", "formatting", "slow", "unsafe")
    }
    assert set(presenting.CATEGORY_WORDS["positive"]) == {"correct", "helpful", "good_tool_use"}
    assert presenting.category_word("refused_valid_request") == "Refused valid request"


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
    row = ReportRow("fb_1", sentiment, categories, "", "T", "alice", NOW, "?item=fb_1")
    assert (row.tone, row.icon, row.categories_line) == (tone, icon, line)


def test_a_view_replaces_state_and_sentiment_and_keeps_the_rest() -> None:
    filters = desk_filters(
        {"resolved": "false", "sentiment": "positive", "category": "slow", "after": "x", "item": "fb_1"}
    )
    hrefs = {choice.word: query_of(choice.href) for choice in filters.views}
    assert hrefs["Negative"] == {"category": "slow", "resolved": "false", "sentiment": "negative"}
    assert hrefs["Resolved"] == {"category": "slow", "resolved": "true"}
    assert [choice.word for choice in filters.views if choice.is_current] == ["Positive"]


def test_all_says_so_because_the_desk_opens_on_what_is_open() -> None:
    filters = desk_filters({"resolved": "any"})
    assert query_of(filters.views[-1].href) == {"resolved": "any"}
    assert [choice.word for choice in filters.views if choice.is_current] == ["All"]
    assert filters.tokens == ()


def test_a_token_takes_itself_out_and_nothing_else() -> None:
    filters = desk_filters({"resolved": "false", "category": "slow", "thread": "ags_1"})
    assert {token.word: query_of(token.href) for token in filters.tokens} == {
        "category:slow": {"resolved": "false", "thread": "ags_1"},
        "resolved:false": {"category": "slow", "thread": "ags_1", "resolved": "any"},
        "thread:ags_1": {"category": "slow", "resolved": "false"},
    }


def test_a_category_is_added_and_lets_go_of_page_and_item() -> None:
    filters = desk_filters({"sentiment": "negative", "after": "x", "item": "fb_1"})
    slow = next(choice for choice in filters.categories if choice.word == "Slow")
    assert query_of(slow.href) == {"sentiment": "negative", "category": "slow"}


@pytest.mark.parametrize(
    ("query", "pane"),
    [({}, "list"), ({"item": "fb_1"}, "talk"), ({"item": "fb_1", "pane": "report"}, "report"), ({"pane": "x"}, "list")],
)
def test_the_pane_is_in_the_address(query: dict[str, str], pane: str) -> None:
    filters = desk_filters(query)
    assert filters.pane == pane
    assert [choice.is_current for choice in filters.panes].count(True) == 1
    assert all(query_of(choice.href).get("item") == query.get("item") for choice in filters.panes)


def test_counts_stand_beside_their_views() -> None:
    assert [choice.count for choice in desk_filters({}, counts={"Open": 31}).views] == [31, None, None, None, None]


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
