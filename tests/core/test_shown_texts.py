"""What hostile text, JSON, sizes and times become on a page."""

import json
import re
from datetime import UTC, datetime, timedelta
from html import unescape
from time import thread_time
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import markdown, payloads
from core.markdown import Work, markdown_html, opening, written_html
from core.payloads import gist, json_html
from core.templatetags import ui
from core.wording import ago, composed, isolated, limit_text, one_line, size_text, took

NOW = datetime(2026, 5, 15, 14, 30, tzinfo=UTC)
TAG = re.compile(r"<\s*/?\s*([a-zA-Z0-9]+)")


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[click](javascript:alert(1))",
        "[click](JaVaScRiPt&#58;alert(1))",
        "[click](data:text/html;base64,PHNjcmlwdD4=)",
        "<a href='javascript:alert(1)'>x</a>",
        "![x](javascript:alert(1))",
        "`<svg onload=alert(1)>`",
        "```\n</code></pre><script>alert(1)</script>\n```",
        "| a |\n|---|\n| <style>*{display:none}</style> |",
    ],
)
def test_nothing_in_a_message_can_act(text: str) -> None:
    for html in (markdown_html(text), written_html(text)):
        assert {tag.lower() for tag in TAG.findall(html)} <= markdown._TAGS
        assert not re.search(r'(?:href|src)="\s*(?:javascript|data)', html, re.IGNORECASE)
        assert not re.search(r"<[^>]+\s(?:on\w+|style)=", html)


@given(st.text(alphabet=st.sampled_from("<>&\"'`*_[]()!#-+|\\:/ \n\tascript=ond1."), max_size=300))
def test_markdown_of_any_text_holds_only_allowed_tags(text: str) -> None:
    assert {tag.lower() for tag in TAG.findall(markdown_html(text))} <= {*markdown._TAGS, "details", "summary"}


def test_what_a_person_wrote_stays_as_it_was_written() -> None:
    typed = "Three things:\n  # no heading\n* 2*3*4 <b>\n\n[a](b)"
    [shown] = re.findall('<p class="written">(.*)</p>', written_html(typed), re.DOTALL)
    assert unescape(shown) == typed
    assert written_html("a\r\n```\r\nb\r\n```\r\nc") == written_html("a\n```\nb\n```\nc")
    html = written_html("Fails:\n\n```python\nprint(1 < 2)\n\n  x\n```\nHelp\n~~~\nopen")
    assert html == (
        '<p class="written">Fails:</p><pre tabindex="0"><code>print(1 &lt; 2)\n\n  x\n</code></pre>'
        '<p class="written">Help</p><pre tabindex="0"><code>open</code></pre>'
    )
    assert written_html(" \n ") == ""


@given(st.text(alphabet=st.sampled_from("ab`~<&\n \u00e9"), max_size=200))
def test_nothing_that_a_person_wrote_is_lost(text: str) -> None:
    """Except the fences of code, and what only parts them."""
    shown = unescape(re.sub("<[^>]*>", "", written_html(text)))
    kept = [each for each in text if each not in "`~\n "]
    left = iter(text)
    assert all(each in left for each in shown if each != "\n")
    if "```" not in text and "~~~" not in text:
        assert [each for each in shown if each not in "`~\n "] == kept


@pytest.mark.parametrize("turn", "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
def test_what_turns_the_direction_of_a_text_is_shown_as_its_code(turn: str) -> None:
    code = f">U+{ord(turn):04X}</span>"
    for html in (
        markdown_html(f"Run `a{turn}b`"),
        markdown_html(f"a{turn}b"),
        markdown_html(f"a{turn}b" + " c" * 3_000),
        written_html(f"a{turn}b\n```\nc{turn}d\n```"),
        json_html(f"a{turn}b"),
    ):
        assert code in html and turn not in html
    shown = unescape(re.sub("<[^>]*>", "", json_html({f"a{turn}b": [f"c{turn}d"]})))
    assert turn not in shown and json.loads(shown) == {f"a{turn}b": [f"c{turn}d"]}, "it is copied as the same JSON"


def test_a_turn_in_a_link_breaks_no_attribute() -> None:
    html = markdown_html('[a](https://x.example/\u202eb "<i>\u202e \'>\u202e\\"") \u202e')
    assert html.count('class="turn"') == 1 and "\u202e" not in html and '<a href="https://x.example/' in html


def test_a_text_of_nothing_but_turns_does_not_fill_the_page() -> None:
    html = written_html("\u202e" * 2_900)
    assert html.count("U+202E") == 1_000 and "\u202e" not in html


def test_images_are_not_fetched_but_offered_as_links() -> None:
    html = markdown_html("![a chart](https://elsewhere.example/chart.png)")
    assert "<img" not in html
    assert '<a href="https://elsewhere.example/chart.png" rel="noopener nofollow">a chart</a>' in html


def test_links_tell_nothing_to_where_they_lead() -> None:
    assert 'rel="noopener nofollow"' in markdown_html("[docs](https://docs.example/)")


def test_prose_keeps_its_shape() -> None:
    html = markdown_html("# Head\n\n1. **one**\n2. `two`\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n~~gone~~")
    for piece in (
        "<h3>Head</h3>",
        "<ol>",
        "<strong>one</strong>",
        "<code>two</code>",
        '<td align="right">2</td>',
        "<s>",
    ):
        assert piece in html


def test_a_list_of_tasks_says_what_is_done() -> None:
    """A glyph in place of the dash, and a word for who cannot see it; within what a text may hold as ever."""
    html = markdown_html(
        "- [ ] **look**\n- [x] done\n  1. [X] inner\n\n[x] no item\n\n- [x]\n- [y] other\n- [ ](/a) b\n- \\[x] words"
    )
    assert '<li data-task="open"><span class="sr">To do: </span><strong>look</strong></li>' in html
    assert '<li data-task="done"><span class="sr">Done: </span>done' in html
    assert '<li data-task="done"><span class="sr">Done: </span>inner</li>' in html
    assert html.count("data-task") == 3
    for left in ("<p>[x] no item</p>", "<li>[x]</li>", "<li>[y] other</li>", "<li>[x] words</li>"):
        assert left in html


def test_plain_sentences_take_the_short_way_to_the_same_end() -> None:
    text = 'Hello there, "you" and I\'ll be (briefly) fine: 5 > 3'.replace(">", "over")
    assert markdown._PLAIN.fullmatch(text)
    assert "fine: 5 over 3" in markdown_html(text)
    assert markdown_html(text).startswith("<p>")


@pytest.mark.parametrize("text", ["1. one", "- one", "+ one", "    code", "1) one", "= x"])
def test_text_that_begins_like_a_list_is_not_plain(text: str) -> None:
    assert markdown._PLAIN.fullmatch(text) is None


def test_a_long_text_is_folded_honestly_and_loses_nothing() -> None:
    text = "word " * 10_000 + "the very end"
    html = markdown_html(text)
    assert "more, as plain text" in html
    assert "as plain text" in html
    assert html.count("word") == 10_000
    assert "the very end" in html


def test_a_long_paste_is_folded_at_the_end_of_a_line_and_loses_nothing() -> None:
    html = written_html("a line of a log\n" * 1_000)
    begins, rest = html.split("<details", 1)
    assert (
        "15 kB more, as plain text" in rest and begins.count("a line") == 40 and begins.endswith("a line of a log</p>")
    )
    assert html.count("a line of a log") == 1_000


def test_a_text_too_long_for_a_page_says_what_is_left_out() -> None:
    html = markdown_html("x" * (markdown.MARKDOWN_LIMIT + markdown.PLAIN_LIMIT + 7))
    assert "7 more characters are not shown" in html


@pytest.mark.parametrize("text", [">" * 60 + " deep", "- " * 60 + "deep"])
def test_what_is_nested_too_deeply_is_shown_as_written(text: str) -> None:
    html = markdown_html(text)
    assert 'class="plain"' in html
    assert "deep" in html


def table_of(columns: int, row: str) -> str:
    """A Markdown table as long as is read, every row of it the same."""
    head = "|a" * columns + "|\n" + "|:-:" * columns + "|\n"
    return head + row * (markdown.MARKDOWN_LIMIT // len(row))


@pytest.mark.parametrize(
    "text",
    [
        table_of(2_000, "a|\n"),
        table_of(100, "|" * 101 + "\n"),
        "> " + table_of(100, "> a|\n").replace("\n|", "\n> |"),
        (table_of(30, "a|\n")[:400] + "\n\n") * 60,
    ],
    ids=["short-rows", "empty-rows", "quoted", "many-tables"],
)
def test_a_table_of_more_cells_than_text_is_shown_as_written(text: str) -> None:
    text = text[: markdown.MARKDOWN_LIMIT]
    html = markdown_html(text)
    assert 'class="plain"' in html and "<td" not in html
    assert len(html) < 6 * len(text)


def test_a_large_table_that_says_something_is_a_table() -> None:
    html = markdown_html("|a|b|c|d|\n|--|--|--|--|\n" + "|1|20|300|4000|\n" * 900)
    assert html.count("<td>") == 3_600


@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "![",
        "[a](",
        "**a ",
        "> ",
        "_a",
        "`",
        "|a",
        "<",
        "&a",
        "~~a ",
        pytest.param("A" * 999 + " ", id="long words"),
    ],
)
def test_no_text_takes_long(piece: str) -> None:
    text = (piece * markdown.MARKDOWN_LIMIT)[: markdown.MARKDOWN_LIMIT]
    began = thread_time()
    markdown_html(text)
    assert thread_time() - began < 2


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("{0}", '<p><span class="unbroken">{0}</span></p>\n'),
        (
            "The *key* is {0} and `{0}`.",
            '<p>The <em>key</em> is <span class="unbroken">{0}</span> and <code>{0}</code>.</p>\n',
        ),
        (
            "[{0}](https://a.test)",
            '<p><a href="https://a.test" rel="noopener nofollow"><span class="unbroken">{0}</span></a></p>\n',
        ),
    ],
)
def test_a_word_as_long_as_a_page_is_marked_for_the_browser(text: str, html: str) -> None:
    """It breaks letters that are kerned at a cost that grows with the square of the word."""
    assert markdown_html(text.format("A" * 1_000)) == html.format("A" * 1_000)
    assert "unbroken" not in markdown_html(text.format("A " * 1_000))


def test_half_a_character_does_not_break_the_page() -> None:
    markdown_html("a \ud800 b").encode()
    json_html({"a": "\ud800", "\udfff": 1}).encode()
    one_line("a \ud800 b", 10).encode()


def test_json_is_escaped_and_highlighted() -> None:
    html = json_html({"<b>": ["</pre><script>", 1, None, True]})
    assert "<script" not in html
    assert "&lt;/pre&gt;" in html
    assert "<i>null</i>" in html
    assert "<b>&quot;&lt;b&gt;&quot;</b>" in html


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_json_shown_is_the_json_given(value: object) -> None:
    shown = json_html(value)
    text = re.sub(r"</?[bi]>", "", shown.removeprefix('<pre class="json" tabindex="0">').removesuffix("</pre>"))
    for entity, char in (("&quot;", '"'), ("&#x27;", "'"), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        text = text.replace(entity, char)
    if not isinstance(value, str):
        assert json.loads(text) == value


@pytest.mark.parametrize(
    ("markdown", "begins"),
    [
        ("# Docks\n\n**Two** of `three`", "Docks Two of three"),
        ("Plans:\n\n| plan | total |\n|---|--:|\n| day | 24 |", "Plans: plan | total day | 24"),
        ("- a\n* b\n> c", "a b c"),
        ("C# is 2*3 - 1 | x", "C# is 2*3 - 1 | x"),
        ("a\u202e b" + "c" * 50, "a b" + "c" * 36 + "…"),
    ],
)
def test_an_opening_is_one_line_without_marks(markdown: str, begins: str) -> None:
    assert opening(markdown, 40) == begins


def test_a_short_record_stays_on_one_line() -> None:
    assert "\n" not in json_html({"flight": "HAT136", "date": "2024-05-20"})


def test_a_large_value_is_cut_and_says_so() -> None:
    html = json_html([{"n": number, "text": "x" * 100} for number in range(5_000)])
    assert len(html) < payloads.JSON_LIMIT * 1.2
    assert "Only the first 100 kB are shown" in html


def test_one_huge_string_says_how_long_it_is() -> None:
    assert "2.0 MB in all" in json_html({"blob": "x" * 2_000_000})


def test_endless_nesting_ends() -> None:
    value: list[object] = []
    for _ in range(500):
        value = [value, 1]
    assert "…" in json_html(value)


def test_a_string_result_is_text_not_json() -> None:
    assert json_html("Error: <b>") == '<pre class="json" tabindex="0" data-wrap>Error: &lt;b&gt;</pre>'


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (534, "534 B"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (12_345, "12 kB"),
        (999_600, "1.0 MB"),
        (1_420_000, "1.4 MB"),
        (3_000_000_000, "3.0 GB"),
    ],
)
def test_sizes_for_people(size: int, text: str) -> None:
    assert size_text(size) == text


@pytest.mark.parametrize(("size", "text"), [(64 * 1024, "64 KiB"), (1024**2, "1 MiB"), (16 * 1024**2, "16 MiB")])
def test_limits_for_people(size: int, text: str) -> None:
    assert limit_text(size) == text


@pytest.mark.parametrize(
    ("milliseconds", "text"), [(0, "< 1 ms"), (184, "184 ms"), (1_240, "1.2 s"), (125_000, "2 min 5 s")]
)
def test_durations_for_people(milliseconds: int, text: str) -> None:
    assert took(milliseconds) == text


@pytest.mark.parametrize(
    ("past", "text"),
    [
        (timedelta(seconds=-5), "now"),
        (timedelta(seconds=59), "now"),
        (timedelta(minutes=8), "8 min"),
        (timedelta(hours=3), "3 h"),
        (timedelta(days=12), "12 d"),
        (timedelta(days=40), "5 Apr"),
        (timedelta(days=400), "10 Apr 2025"),
    ],
)
def test_age_of_an_instant(past: timedelta, text: str) -> None:
    assert ago(NOW - past, NOW) == text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (None, ""),
        ({}, ""),
        ({"user_id": "mia_li_3668"}, "mia_li_3668"),
        ({"origin": "JFK", "destination": "SEA", "total_bags": 0}, "JFK, SEA, total bags 0"),
        ({"flights": [{"a": 1}, {"b": 2}], "insured": False}, "2 flights, no insured"),
        ({"summary": ""}, "summary: “”"),
        ({"tags": ["a", "b"], "where": {"x": 1}}, "a, b, where: 1 fields"),
    ],
)
def test_gist_of_tool_input(arguments: object, text: str) -> None:
    assert gist(arguments) == text


def test_gist_is_one_line_whatever_comes() -> None:
    line = gist({"thought": "first\nsecond\x00 \u202egnp.exe" + "y" * 5_000})
    assert len(line) <= payloads.GIST_LIMIT
    assert not re.search("[\n\x00\u202e]", line)


def test_an_instant_is_relative_and_exact() -> None:
    html = ui.when(NOW - timedelta(minutes=8), "{}", NOW)
    assert html == '<time datetime="2026-05-15T14:22:00Z" title="2026-05-15 14:22:00 UTC">8 min</time>'
    assert ">8 min ago<" in ui.since(NOW - timedelta(minutes=8), NOW)
    assert ">just now<" in ui.since(NOW, NOW)
    assert ">on 26 Jan<" in ui.since(datetime(2026, 1, 26, tzinfo=UTC), NOW)
    assert ui.when(None) == ui.since(None) == ""


def test_a_tool_use_id_is_one_segment_of_a_path() -> None:
    assert ui.segment('tu/3 #?"') == "tu%2F3%20%23%3F%22"


def test_counts_are_grouped() -> None:
    assert ui.thousands(1_284) == "1\u202f284"
    assert ui.thousands(None) == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Mine (2)", "Mine (2)"),
        ("", ""),
        ("a\u202eb", "\u2068ab\u2069"),
        ("a\u2069b\u2067", "\u2068ab\u2069"),
        ("\u05d0\u05d1", "\u2068\u05d0\u05d1\u2069"),
    ],
)
def test_what_people_wrote_turns_no_words_around_it(text, shown):
    assert isolated(text) == shown


@pytest.mark.parametrize("behind", ["```\n" + "code\n" * 800 + "```", "- item\n" * 800, "# Head\n" + "words\n" * 800])
def test_what_follows_a_table_without_a_blank_line_is_none_of_its_rows(behind: str) -> None:
    small = "|a|b|c|d|e|f|g|h|\n" + "|-" * 8 + "|\n" + "|1|2|3|4|5|6|7|8|\n"
    assert "<table" in markdown_html(small + behind)


@given(st.text(st.sampled_from("ae\u0301\u0315\u0300\u05b0 \uac00\u1161\U0001f600"), max_size=40))
def test_a_text_with_few_marks_in_a_row_is_composed_as_by_unicode(text: str) -> None:
    marks = max(map(len, re.findall("[\u0301\u0315\u0300\u05b0]+", text)), default=0)
    assert composed(text) == normalize("NFC", text) or marks > 30


def test_a_million_marks_in_a_row_are_composed_like_a_few() -> None:
    """All of them together would be put in order for half an hour."""
    for marks in ("\u0315\u0300", "\u0f73\u0f75"):
        said = composed("a" + marks * 500_000)
        assert composed(said) == said and said[0] in "a\u00e0"
    assert composed("e\u0301" * 1_000) == "\u00e9" * 1_000, "each letter has its own"
    assert composed("\U0001f600" * 100) == "\U0001f600" * 100, "symbols in a row are no marks"


@pytest.mark.parametrize("text", ["* a\n" * 4_999, "* a\r" * 4_999, "*_" * 9_990])
def test_of_a_page_as_much_is_read_as_markdown_as_takes_no_long_time(text: str) -> None:
    work = Work()
    shown = [markdown_html(text, work) for _ in range(30)]
    plain = [each for each in shown if 'class="plain"' in each]
    assert 3 < len(shown) - len(plain) < 15 and plain == shown[-len(plain) :]
    assert "<strong>" in markdown_html("**short**", work), "what takes little is read all the same"
    assert 'class="plain"' not in markdown_html(text), "a text by itself is"
