"""How a transcript becomes articles, a map and a cloth."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threads import weaving
from threads.content import BlockDict, MessageSnapshot, Role, error, text, tool_result, tool_use
from threads.presenting.articles import Article, Call, Fault, Mark, Prose
from threads.presenting.calls import call_detail
from threads.presenting.cloth import weave
from threads.presenting.composing import beginnings, present
from threads.presenting.excerpting import around
from threads.presenting.goal_notes import GoalNote
from threads.presenting.landmarks import jumps, thread_map
from threads.presenting.listing import ThreadRow, bands, thread_views
from threads.presenting.words import THREAD_WORDS, thread_word

NOW = datetime(2026, 5, 15, 14, 30, tzinfo=UTC)


class Script:
    """A thread, written down message by message."""

    def __init__(self) -> None:
        self.messages: list[MessageSnapshot] = []

    def says(self, role: Role, *blocks: BlockDict, status: str = "completed", author: str | None = None) -> "Script":
        index = len(self.messages)
        created = NOW - timedelta(minutes=60 - index)
        self.messages.append(MessageSnapshot(index, role, status, created, list(blocks), author))  # type: ignore[arg-type]
        return self

    def articles(self, **options: object) -> list[Article]:
        given: dict[str, object] = {"author_names": {}, "marks": {}, "now": NOW, **options}
        return present(self.messages, **given)  # type: ignore[arg-type]


def a_booking() -> Script:
    """Question, two calls of which one fails, a retry, the answer, and one more question."""
    script = Script().says("user", text("Book it."), author="alice")
    script.says("assistant", tool_use("get_user", "u1", {"id": "mia"}), tool_use("book", "u2", {"from": "JFK"}))
    script.says(
        "roboto",
        tool_result("get_user", "u1", "success", {"name": "Mia"}, runtime_ms=96),
        tool_result("book", "u2", "error", "Error: it does not add up", runtime_ms=212),
    )
    script.says("assistant", tool_use("book", "u3", {"from": "JFK"}))
    script.says("roboto", tool_result("book", "u3", "success", None, runtime_ms=1_240))
    return script.says("assistant", text("Booked "), text("**it**.")).says("user", text("Thanks."), author="alice")


def prose(article: Article) -> str:
    return "".join(part.html for part in article.parts if isinstance(part, Prose))


def test_a_run_of_the_agent_up_to_its_words_is_one_article() -> None:
    person, agent, thanks = a_booking().articles(author_names={"alice": "Alice Anders"})
    assert (person.voice, person.author, person.covers) == ("person", "Alice Anders", (0,))
    assert (agent.voice, agent.author, agent.covers) == ("agent", "Agent", (1, 2, 3, 4, 5))
    assert [part.kind for part in agent.parts] == ["call", "call", "call", "prose"]
    assert thanks.index == 6


def test_words_that_came_in_pieces_are_read_as_one() -> None:
    assert "Booked <strong>it</strong>." in prose(a_booking().articles()[1])


def test_calls_carry_outcome_runtime_gist_and_sizes() -> None:
    first, second, third = a_booking().articles()[1].calls
    assert (first.outcome.word, first.runtime, first.gist) == ("success", "96 ms", "mia")
    assert (second.outcome.key, second.outcome.tone, second.reason) == ("error", "neg", "Error: it does not add up")
    assert first.sizes == "input 12 B, output 14 B"
    assert third.sizes == "input 14 B, no output"


def test_every_message_can_be_pointed_at() -> None:
    agent = a_booking().articles()[1]
    reachable = {agent.index, *agent.anchors, *(anchor for part in agent.parts for anchor in part.anchors)}
    assert reachable == set(agent.covers)


def test_actions_mean_the_last_answer_and_inner_ones_keep_their_own() -> None:
    agent = a_booking().articles(marks={3: Mark("negative", ("slow",), "", "bob", False)})[1]
    assert agent.acts
    assert agent.acts.index == 5
    assert [call.acts.index if call.acts else None for call in agent.calls] == [None, 1, 3]
    assert [acts.index for acts in agent.marks] == [3]


def test_an_unfinished_answer_shows_its_caret_and_cannot_be_rated() -> None:
    script = Script().says("user", text("Go")).says("assistant", text("One\n\n- two"), status="generating")
    article = script.articles(thread_status="roboto_turn")[1]
    assert article.state == "generating"
    assert article.acts is None
    assert '<li>two<span class="caret"></span></li>' in prose(article)


def test_a_finished_answer_has_no_caret() -> None:
    assert "caret" not in prose(a_booking().articles()[1])


@pytest.mark.parametrize(
    ("thread_status", "message_status", "refused", "outcome"),
    [
        ("roboto_turn", "completed", False, "running"),
        ("roboto_turn", "generating", False, "running"),
        ("client_tool_turn", "completed", False, "waiting"),
        ("client_tool_turn", "completed", True, "unanswered"),
        ("user_turn", "completed", False, "unanswered"),
    ],
)
def test_what_an_unanswered_call_waits_for(
    thread_status: str, message_status: str, refused: bool, outcome: str
) -> None:
    script = Script().says("assistant", tool_use("pick", "u1", {}, refused=refused), status=message_status)
    assert script.articles(thread_status=thread_status)[0].calls[0].outcome.key == outcome


def test_an_id_used_twice_is_answered_in_order() -> None:
    script = Script().says("assistant", tool_use("a", "same", {}))
    script.says("roboto", tool_result("a", "same", "success", {"n": 1}))
    script.says("assistant", tool_use("a", "same", {})).says("roboto", tool_result("a", "same", "error", "no"))
    assert [call.outcome.key for call in script.articles()[0].calls] == ["success", "error"]


def test_a_result_without_its_use_is_shown_all_the_same() -> None:
    call = Script().says("roboto", tool_result("lost", "x", "success", "found")).articles()[0].calls[0]
    assert (call.tool_name, call.gist) == ("lost", "a result without its tool use")


def test_words_followed_by_a_call_close_the_article_but_keep_the_result() -> None:
    script = Script().says("assistant", text("I will look."), tool_use("look", "u1", {}))
    script.says("roboto", tool_result("look", "u1", "success", "seen")).says("assistant", text("Seen."))
    first, second = script.articles()
    assert first.covers == (0, 1)
    assert first.calls[0].outcome.key == "success"
    assert second.covers == (2,)


@pytest.mark.parametrize(
    ("status", "block", "title", "tone", "code"),
    [
        ("failed", error("529 three times", "overloaded"), "Generation failed", "neg", "overloaded"),
        ("cancelled", error("Cancelled by alice", "cancelled"), "Cancelled", "warn", ""),
        ("failed", None, "Generation failed", "neg", ""),
    ],
)
def test_an_answer_that_went_wrong_looks_like_it(
    status: str, block: BlockDict | None, title: str, tone: str, code: str
) -> None:
    blocks = [text("Half"), *([block] if block else [])]
    article = Script().says("assistant", *blocks, status=status).articles()[0]
    (fault,) = [part for part in article.parts if isinstance(part, Fault)]
    assert (article.state, fault.title, fault.tone, fault.code) == (status, title, tone, code)
    assert article.acts is not None


def test_a_failure_ends_the_article_so_that_the_next_answer_stands_alone() -> None:
    script = Script().says("assistant", error("no"), status="failed").says("assistant", text("Again"))
    assert [article.covers for article in script.articles()] == [(0,), (1,)]


def test_messages_text_is_never_markup() -> None:
    script = Script().says("user", text("<script>alert(1)</script>"), author="<b>eve</b>")
    article = script.articles()[0]
    assert "<script" not in prose(article)
    assert article.author == "<b>eve</b>"


def test_a_goal_stands_at_the_turn_that_declared_it_with_its_attempts() -> None:
    script = Script().says("user", text("Summarise"))
    script.says("assistant", tool_use("achieve_dataset_summary", "g1", {"summary": ""}))
    script.says("roboto", tool_result("achieve_dataset_summary", "g1", "error", {"error": "summary is blank"}))
    script.says("assistant", tool_use("achieve_dataset_summary", "g2", {"summary": "Fine"}))
    script.says("roboto", tool_result("achieve_dataset_summary", "g2", "success", None))
    person, agent = script.articles(goals=[GoalNote("dataset_summary", "ds_1", "achieved", 0, "g2")])
    (goal,) = person.goals
    assert agent.goals == ()
    assert (goal.title, goal.word.tone) == ("Dataset summary", "pos")
    assert [(attempt.outcome.key, attempt.words) for attempt in goal.attempts] == [
        ("error", "summary is blank"),
        ("success", "Fine"),
    ]
    assert goal.attempts[0].anchor == agent.calls[0].anchor


messages = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant", "roboto"]),
        st.sampled_from(["completed", "failed", "cancelled", "generating"]),
        st.lists(
            st.one_of(
                st.text(min_size=1, max_size=20).map(text),
                st.sampled_from(["a", "b", ""]).map(lambda use_id: tool_use("t", use_id, None)),
                st.sampled_from(["a", "b", ""]).map(lambda use_id: tool_result("t", use_id, "error", None)),
                st.just(error("broken")),
            ),
            max_size=4,
        ),
    ),
    max_size=12,
)


@given(messages)
def test_every_message_is_in_exactly_one_article_and_in_order(drawn: list[tuple[Role, str, list[BlockDict]]]) -> None:
    script = Script()
    for role, status, blocks in drawn:
        script.says(role, *blocks, status=status)
    articles = script.articles()
    assert [index for article in articles for index in article.covers] == list(range(len(drawn)))
    shown = [part for article in articles for part in article.parts if isinstance(part, Call)]
    kinds = [block["content_type"] for _, _, blocks in drawn for block in blocks]
    assert kinds.count("tool_use") <= len(shown) <= kinds.count("tool_use") + kinds.count("tool_result")
    ids = [f"m{article.index}" for article in articles]
    for article in articles:
        ids += [f"m{index}" for part in article.parts for index in part.anchors] + [
            f"m{index}" for index in article.anchors
        ]
        ids += [part.anchor for part in article.parts if isinstance(part, Call | Fault)]
    assert len(ids) == len(set(ids)), "an id would stand twice on the page"
    assert {f"m{index}" for index in range(len(drawn))} <= set(ids)


def test_jumps_count_and_lead_to_the_first() -> None:
    articles = a_booking().articles(marks={5: Mark("positive", (), "", "bob", False)})
    errors, ratings, calls = jumps(articles)
    assert (errors.count, errors.href) == (1, "#c1-1")
    assert (ratings.count, ratings.href) == (1, "#m5")
    assert (calls.count, calls.href) == (3, "#c1-0")


def test_the_map_shows_what_is_where() -> None:
    articles = a_booking().articles(marks={5: Mark("negative", (), "", "bob", False)})
    picks = thread_map(articles).picks
    assert [pick.kind for pick in picks] == ["person", "tool", "fault", "tool", "rated", "person"]
    assert picks[2].href == "#c1-1"
    assert all(later.y >= pick.y + pick.height for pick, later in pairwise(picks))


def test_the_map_is_in_the_order_of_the_page() -> None:
    said = (text("I look."), tool_use("t", "u1", {}), tool_use("t", "u2", {}), text("Found. "), text("Done."))
    script = Script().says("user", text("Look")).says("assistant", *said)
    script.says("user", text("And now?")).says("assistant", text("Half"), error("It broke.", "x"), status="failed")
    picks = thread_map(script.articles()).picks
    assert [pick.kind for pick in picks] == ["person", "agent", "tool", "tool", "person", "agent", "fault"]
    assert [pick.href for pick in picks][1:4] == ["#m1", "#c1-1", "#c1-2"]


def test_the_map_of_a_praised_answer_is_not_that_of_a_bad_one() -> None:
    articles = a_booking().articles(marks={5: Mark("positive", (), "", "bob", False)})
    assert "praised" in [pick.kind for pick in thread_map(articles).picks]


def test_a_cancelled_answer_is_no_error_on_the_map_or_among_the_jumps() -> None:
    articles = Script().says("assistant", error("Stopped", "cancelled"), status="cancelled").articles()
    assert [pick.kind for pick in thread_map(articles).picks] == ["warn"]
    assert jumps(articles)[0].count == 0


def test_the_map_of_a_long_thread_leaves_plain_calls_out_but_not_errors() -> None:
    script = Script()
    for number in range(200):
        script.says("user", text("Go")).says("assistant", tool_use("t", f"u{number}", {}))
        outcome = "error" if number == 7 else "success"
        script.says("roboto", tool_result("t", f"u{number}", outcome, None)).says("assistant", text("Done"))
    kinds = [pick.kind for pick in thread_map(script.articles()).picks]
    assert "tool" not in kinds
    assert kinds.count("fault") == 1
    assert kinds.count("person") == 200


def test_an_empty_thread_has_a_map_and_no_jumps() -> None:
    assert thread_map([]).picks == ()
    assert [jump.count for jump in jumps([])] == [0, 0, 0]


def test_the_weave_draws_a_stroke_a_step() -> None:
    cloth = weave("patfrl")
    assert dict(cloth.paths)["person"] == "M2 1v12"
    assert [kind for kind, _ in cloth.paths] == ["warp", "person", "agent", "tool", "fault", "live"]
    assert dict(cloth.paths)["agent"].count("M") == 2, "a rated answer is an answer too"
    assert list(cloth.dots) == [18]
    assert cloth.steps == 6


def test_what_was_cancelled_is_no_fault_to_the_eye() -> None:
    script = Script().says("user", text("Go."))
    script.says("assistant", text("I"), error("The turn was cancelled.", "cancelled"), status="cancelled")
    assert weaving.of_messages(script.messages) == ("pac", True), "searched for as an error all the same"
    assert [kind for kind, _ in weave("pac").paths] == ["warp", "person", "agent", "warn"]
    failed = Script().says("assistant", error("It broke off.", "upstream"), status="failed")
    assert weaving.of_messages(failed.messages) == ("f", True)


def test_a_long_weave_stays_in_its_width_and_keeps_what_matters() -> None:
    cloth = weave("pta" * 500 + "f" + "pta" * 500)
    columns = [float(stroke.split()[0]) for _, d in cloth.paths[1:] for stroke in d.split("M")[1:]]
    assert max(columns) <= 118
    assert len(columns) <= 40
    assert "fault" in dict(cloth.paths)
    assert cloth.steps == 3_001


@given(st.text(max_size=400))
def test_the_weave_takes_any_letters(kinds: str) -> None:
    assert weave(kinds).steps <= len(kinds)


def test_a_neighbourhood_folds_the_rest_and_says_what_it_holds() -> None:
    script = a_booking()
    for _ in range(3):
        script.says("assistant", text("Anything else?")).says("user", text("No."))
    stretches = around(script.articles(), 9, before=1, after=1)
    head, before, subject, after, tail = stretches
    assert head.fold
    assert head.fold.words == "8 messages and 3 tool uses folded, 1 error"
    assert before.turn
    assert before.turn.index == 8
    assert subject.is_subject
    assert subject.turn
    assert subject.turn.index == 9
    assert after.turn
    assert after.turn.index == 10
    assert tail.fold
    assert tail.fold.words == "2 messages folded"
    assert tail.fold.index == 11


def test_the_request_of_a_rated_answer_is_shown_however_many_steps_stand_between() -> None:
    script = a_booking()
    for step in range(6):
        script.says("assistant", text(f"Step {step}."))
    goals = [GoalNote("checklist", "Thanks are answered", "failed", 6)]
    before, request, steps, *near, subject = around(script.articles(goals=goals), 12, after=0)
    assert before.fold and before.fold.words == "6 messages and 3 tool uses folded, 1 error"
    assert request.turn and request.turn.index == 6 and not request.is_subject
    assert [goal.target for goal in request.turn.goals] == ["Thanks are answered"]
    assert steps.fold and (steps.fold.words, steps.fold.index) == ("3 messages folded", 7)
    assert [each.turn and each.turn.index for each in near] == [10, 11]
    assert subject.is_subject and subject.turn and subject.turn.index == 12


def test_a_request_of_another_day_says_so_and_what_follows_the_fold_says_its_own() -> None:
    script = a_booking()
    for step in range(6):
        script.says("assistant", text(f"Step {step}."))
    midnight = NOW.replace(hour=0, minute=0)
    script.messages = [replace(each, created=midnight + timedelta(hours=each.index - 8)) for each in script.messages]
    shown = around(script.articles(now=NOW + timedelta(days=3)), 12, after=0)
    days = [(each.turn.index, each.turn.opens_day) for each in shown if each.turn]
    assert days == [(6, True), (10, True), (11, False), (12, False)]


def test_a_stretch_knows_the_day_before_it_and_a_neighbourhood_opens_with_its_day() -> None:
    """What is drawn of a thread alone looks as it does within the whole of it."""
    articles = a_booking().articles(now=NOW + timedelta(days=1))
    assert [article.opens_day for article in articles] == [True, False, False]
    later = a_booking().articles(now=NOW + timedelta(days=1), before=NOW - timedelta(hours=2))
    assert [article.opens_day for article in later] == [False, False, False]
    shown = around(articles, 6, before=1, after=0)
    assert [stretch.turn and stretch.turn.opens_day for stretch in shown] == [None, True, False]
    today = around(a_booking().articles(), 6, before=1, after=0)
    assert not any(stretch.turn and stretch.turn.opens_day for stretch in today)


def test_a_rated_message_inside_an_article_opens_that_article() -> None:
    (subject,) = [stretch.turn for stretch in around(a_booking().articles(), 3) if stretch.is_subject]
    assert subject
    assert subject.index == 1


def test_a_neighbourhood_of_what_is_gone_is_one_fold() -> None:
    assert [bool(stretch.fold) for stretch in around(a_booking().articles(), 99)] == [True]
    assert around([], 0) == []


def row(hours: float, *, is_pinned: bool = False) -> ThreadRow:
    word = THREAD_WORDS["user_turn"]
    return ThreadRow("ags_1", "T", word, "alice", "simulated", 1, NOW - timedelta(hours=hours), is_pinned=is_pinned)


def test_rows_come_in_bands() -> None:
    rows = [row(900, is_pinned=True), row(1), row(2), row(20), row(70), row(900)]
    found = bands(rows, now=NOW)
    assert [(band.heading, len(band.rows)) for band in found] == [
        ("Pinned", 1),
        ("Today", 2),
        ("Yesterday", 1),
        ("This week", 1),
        ("Earlier", 1),
    ]


def test_a_second_page_does_not_repeat_the_heading_it_goes_on_under() -> None:
    assert [band.heading for band in bands([row(900)], now=NOW, after="earlier")] == [""]
    assert [band.heading for band in bands([row(70), row(900)], now=NOW, after="today")] == [
        "This week",
        "Earlier",
    ]


def test_rows_that_are_not_sorted_by_time_are_one_band() -> None:
    rows = [row(900, is_pinned=True), row(1), row(900)]
    assert [(band.heading, len(band.rows)) for band in bands(rows, now=NOW, is_timed=False)] == [
        ("Pinned", 1),
        ("Others", 2),
    ]
    assert [band.heading for band in bands(rows[1:], now=NOW, is_timed=False)] == [""]
    for after, heading in (("others", ""), ("pinned", "Others")):
        assert [band.heading for band in bands(rows[1:], now=NOW, after=after, is_timed=False)] == [heading]


def test_views_are_links_to_their_lines() -> None:
    views = thread_views({"all": ("", False), "mine": ("is:mine a&b", True)}, {"mine": 3, "all": 0})
    assert [view.count for view in views] == [None, 3]
    assert [view.key for view in views if view.is_current] == ["mine"]
    assert [view.href for view in views] == ["?", "?q=is%3Amine+a%26b"]


@pytest.mark.parametrize(
    ("status", "last", "word", "tone"),
    [
        ("roboto_turn", None, "Answering", "live"),
        ("client_tool_turn", "completed", "Tool pending", "warn"),
        ("goals_failed", "failed", "Goals failed", "neg"),
        ("user_turn", "failed", "Failed", "neg"),
        ("user_turn", "cancelled", "Cancelled", ""),
        ("user_turn", "completed", "Idle", ""),
    ],
)
def test_a_thread_says_how_it_stands(status: str, last: str | None, word: str, tone: str) -> None:
    found = thread_word(status, last)
    assert (found.word, found.tone, found.idle) == (word, tone, word == "Idle")


def test_an_unfolded_call_shows_payloads_and_raw_ones_only_on_request() -> None:
    use = tool_use("book", "u1", {"a": 1}, raw={"sent": True})
    result = tool_result("book", "u1", "error", "no\nway", runtime_ms=5, raw={"status": 500})
    plain = call_detail(use, result, index=3)
    assert [(payload.title, payload.words) for payload in plain.payloads] == [
        ("Input", "1 field, 7 B"),
        ("Output", "2 lines, 6 B"),
    ]
    raw = call_detail(use, result, index=3, raw=True)
    assert [payload.title for payload in raw.payloads][2:] == ["Raw request", "Raw response"]
    assert call_detail(use, None, index=3, thread_status="client_tool_turn").outcome.key == "waiting"


STEPS = {
    "asks": ("user", "completed", text("Why?")),
    "says": ("assistant", "completed", text("So.")),
    "calls": ("assistant", "completed", tool_use("book", "u", {})),
    "fails": ("assistant", "failed", tool_use("book", "u", {})),
    "gets": ("roboto", "completed", tool_result("book", "u", "success", None)),
}


@given(st.lists(st.sampled_from([*STEPS]), min_size=1, max_size=14), st.data())
def test_an_article_is_the_same_in_a_part_of_its_thread(steps: list[str], data: st.DataObject) -> None:
    """Wherever the reading of roles begins, what it takes for beginnings are those of the whole, and none is missed."""
    script = Script()
    for step in steps:
        role, status, block = STEPS[step]
        script.says(role, block, status=status)  # type: ignore[arg-type]
    articles = [(each.index, each.covers) for each in script.articles()]
    begins = [index for index, _ in articles]
    rows = [
        (each.index, each.role, each.status, any(block["content_type"] == "text" for block in each.blocks))
        for each in script.messages
    ]
    assert beginnings(rows) == begins
    cut = data.draw(st.integers(0, len(steps) - 1))
    found = beginnings(rows[cut:])
    known = next((row[0] for row in rows[cut:] if row[1] != "roboto"), len(rows))
    assert set(found) <= set(begins) and set(found) >= {each for each in begins if each > known}
    first, after = (data.draw(st.sampled_from([*begins, len(rows)])) for _ in range(2))
    part = Script()
    part.messages = [each for each in script.messages if first <= each.index < after]
    assert [(each.index, each.covers) for each in part.articles()] == [
        each for each in articles if first <= each[0] < after
    ]


def test_what_is_left_out_ends_an_article() -> None:
    script = a_booking()
    del script.messages[2:4]
    assert [each.covers for each in script.articles()] == [(0,), (1,), (4, 5), (6,)]
