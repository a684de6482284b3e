"""Builds articles from messages: groups them and adds days, ratings and goals."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from itertools import pairwise, takewhile
from operator import itemgetter

from django.utils.safestring import SafeString

from core.markdown import Work, markdown_html, vouched, written_html
from core.payloads import gist, json_html
from core.wording import one_line, whole_characters
from threads.advice import ADVICE
from threads.content import TERMINAL, BlockDict, MessageSnapshot
from threads.presenting.articles import Acts, Article, Call, Context, Fault, Mark, Part, Prose
from threads.presenting.calls import outcome_of, reason_of, runtime_of, sizes_of
from threads.presenting.goal_notes import Attempt, GoalNote
from threads.presenting.imports import Import
from threads.presenting.words import CALL_WORDS, Word, counted


def present(
    messages: Sequence[MessageSnapshot],
    *,
    author_names: Mapping[str, str],
    marks: Mapping[int, Mark],
    now: datetime,
    thread_status: str = "user_turn",
    goals: Sequence[GoalNote] = (),
    figures: Mapping[int, tuple[str, ...]] | None = None,
    tz: tzinfo = UTC,
    before: datetime | None = None,
    imported: Import | None = None,
) -> list[Article]:
    """The transcript as articles, in order. `marks` are by message index; `goals` are shown at the article that
    declared them.

    `thread_status` decides what an unanswered call waits for; message times after `now` are shown as now. `figures`
    are by the message that ended a turn. Times and days are in `tz`; `before` is the time of the article before a
    range, None at the beginning of a thread. `imported` is the import that the messages come from, if any.
    """
    answers = _answers(messages)
    maker = _Maker(author_names, marks, now, thread_status, answers, figures or {}, imported)
    articles = [maker.article(run) for run in _runs(messages)]
    return _with_goals(_on_days(articles, now.astimezone(tz), before), goals)


def _on_days(articles: Iterable[Article], now: datetime, before: datetime | None) -> list[Article]:
    """Add the time to each article that has one, and the day where it changes; today is shown only after another."""
    day = (before or now).astimezone(now.tzinfo).date()
    placed = []
    for article in articles:
        if not article.is_timed:
            placed.append(replace(article, is_today=True))  # that is, there is no day to name
            continue
        said = article.created.astimezone(now.tzinfo)
        words = f"{said:%a} {said.day} {said:%b}" + (f" {said.year}" if said.year != now.year else "")
        is_today = said.date() == now.date()
        opens_day = said.date() != day
        placed.append(replace(article, clock=f"{said:%H:%M}", day=words, is_today=is_today, opens_day=opens_day))
        day = said.date()
    return placed


def _runs(messages: Iterable[MessageSnapshot]) -> Iterator[list[MessageSnapshot]]:
    """Group messages by article. Messages that are left out end one."""
    run: list[MessageSnapshot] = []
    closed = False
    for message in messages:
        is_next = bool(run) and message.index == run[-1].index + 1
        if not (is_next and _goes_on(run[0].role, message.role, closed=closed)):
            if run:
                yield run
            run, closed = [], False
        run.append(message)
        closed = closed or _closes(message.role, message.status, has_text=_has_text(message))
    if run:
        yield run


def beginnings(rows: Iterable[tuple[int, str, str, bool]]) -> list[int]:
    """The indexes at which articles begin, among messages in order: index, role, status, and whether it has text.

    The first rows may belong to an article that began before them, and are left out until that is known.
    """
    found: list[int] = []
    began_with, closed = "", True
    for idx, role, status, has_text in rows:
        is_known = bool(began_with) or role == "user" or not idx
        if is_known and (not began_with or not _goes_on(began_with, role, closed=closed)):
            found.append(idx)
            began_with, closed = role, False
        closes = _closes(role, status, has_text=has_text)
        if not began_with and role == "assistant":  # an article that text closed would not go on with it
            began_with, closed = role, False
        closed = closed or closes
    return found


def _goes_on(began_with: str, role: str, *, closed: bool) -> bool:
    """Whether a message continues the article before it. Results belong to the agent's, even if text has closed it."""
    return began_with != "user" and (role == "roboto" or (role != "user" and not closed))


def _closes(role: str, status: str, *, has_text: bool) -> bool:
    return role == "assistant" and (status in ("failed", "cancelled") or has_text)


def _has_text(message: MessageSnapshot) -> bool:
    return any(block["content_type"] == "text" for block in message.blocks)


Answers = dict[tuple[int, int], tuple[int, BlockDict]]
"""By position of a tool use (message, block): the message with its result, and the result block."""


def _answers(messages: Iterable[MessageSnapshot]) -> Answers:
    """Pair uses with the results after them. Results of a repeated id are assigned in order, each only once."""
    waiting: dict[str, list[tuple[int, int]]] = {}
    found: Answers = {}
    for message in messages:
        for position, block in enumerate(message.blocks):
            if block["content_type"] == "tool_use":
                waiting.setdefault(block["tool_use_id"], []).append((message.index, position))
            elif block["content_type"] == "tool_result" and (places := waiting.get(block["tool_use_id"])):
                found[places.pop(0)] = (message.index, block)
    return found


@dataclass(slots=True)
class _Maker:
    """Builds the articles of one thread."""

    author_names: Mapping[str, str]
    marks: Mapping[int, Mark]
    now: datetime
    thread_status: str
    answers: Answers
    figures: Mapping[int, tuple[str, ...]]
    imported: Import | None = None
    paired: set[tuple[int, str]] = field(default_factory=set)
    work: Work = field(default_factory=Work)
    answered: dict[int, str] = field(default_factory=dict)
    """By message with results: the anchor of the first call that has one of them."""

    def __post_init__(self) -> None:
        self.paired = {(index, block["tool_use_id"]) for index, block in self.answers.values()}
        for place, (index, _) in sorted(self.answers.items(), key=itemgetter(0)):
            self.answered.setdefault(index, _anchor(*place))

    def article(self, run: Sequence[MessageSnapshot]) -> Article:
        first, last = run[0], run[-1]
        speaking = [message for message in run if message.role == "assistant"]
        closing = speaking[-1] if speaking else None
        parts, left = self._parts(run, closing)
        return Article(
            index=first.index,
            covers=tuple(range(first.index, last.index + 1)),
            voice="person" if first.role == "user" else "agent",
            author=self._author(first),
            created=min((closing or first).created, self.now),
            is_timed=self.imported is None or self.imported.timed(closing or first),
            state=_state(closing),
            parts=tuple(parts),
            acts=self._acts(closing) if closing else None,
            anchors=left,
            figures=next((self.figures[message.index] for message in run if message.index in self.figures), ()),
        )

    def _author(self, message: MessageSnapshot) -> str:
        if message.role != "user":
            return "Agent"
        if self.imported is not None and self.imported.brought(message):
            return "User"  # who imported it is not who wrote it
        return self.author_names.get(message.author or "", message.author or "") or "Person"

    def _acts(self, message: MessageSnapshot) -> Acts | None:
        """The actions of a message; None while it is not finished, as it cannot be rated or forked at (T6, T7)."""
        return Acts(message.index, self.marks.get(message.index)) if message.status in TERMINAL else None

    def _parts(
        self, run: Sequence[MessageSnapshot], closing: MessageSnapshot | None
    ) -> tuple[list[Part], tuple[int, ...]]:
        """The parts in order, each with the anchors of messages that begin with it or have no part of their own: those
        of results are at their first call.
        """
        parts: list[Part] = []
        calls: dict[str, int] = {}
        pending: list[int] = []
        for message in run:
            made = list(self._parts_of(message))
            call = None if made else calls.get(self.answered.get(message.index, ""))
            if call is not None:
                parts[call] = replace(parts[call], anchors=(*parts[call].anchors, message.index))
                continue
            if message is not run[0]:
                pending.append(message.index)
            if made and message is not closing and message.role == "assistant":
                made[-1] = self._with_acts(made[-1], message)
            calls |= {part.anchor: place for place, part in enumerate(made, len(parts)) if isinstance(part, Call)}
            if made:
                parts += [replace(made[0], anchors=tuple(pending)), *made[1:]]
                pending = []
        return parts, tuple(pending)

    def _with_acts(self, part: Part, message: MessageSnapshot) -> Part:
        return replace(part, acts=self._acts(message)) if isinstance(part, Call) else part

    def _parts_of(self, message: MessageSnapshot) -> Iterator[Part]:
        words: list[str] = []
        said_fault = False
        for position, block in enumerate(message.blocks):
            if block["content_type"] == "text":
                words.append(block["text"])
                continue
            yield from self._prose(message, words)
            words = []
            part = self._part(message, position, block)
            said_fault = said_fault or isinstance(part, Fault)
            if part is not None:
                yield part
        is_open = message.status == "generating" and message.role == "assistant"
        yield from self._prose(message, words, is_open=is_open)
        if message.role == "assistant" and message.status in ("failed", "cancelled") and not said_fault:
            yield _fault(message, len(message.blocks), "", None)

    def _prose(self, message: MessageSnapshot, words: list[str], *, is_open: bool = False) -> Iterator[Prose]:
        text = "".join(words)
        if not text.strip() and not is_open:
            return
        html = written_html(text) if message.role == "user" else markdown_html(text, self.work)
        if is_open:
            html = _with_caret(html)
        yield Prose(message.index, html, whole_characters(text), is_note=message.role == "roboto")

    def _part(self, message: MessageSnapshot, position: int, block: BlockDict) -> Part | None:
        match block["content_type"]:
            case "tool_use":
                return self._call(message, position, block)
            case "tool_result" if (message.index, block["tool_use_id"]) not in self.paired:
                return _orphan(message, position, block)
            case "error":
                return _fault(message, position, block["error_message"], block.get("error_code"))
            case "client_context":
                context = block["context"]
                return Context(message.index, gist(context), json_html(context))
        return None

    def _call(self, message: MessageSnapshot, position: int, use: BlockDict) -> Call:
        answered, result = self.answers.get((message.index, position), (None, None))
        asked = use.get("input") if use.get("input") is not None else use.get("raw_request")
        return Call(
            index=message.index,
            anchor=_anchor(message.index, position),
            tool_name=one_line(use["tool_name"], 64) or "unnamed tool",
            tool_use_id=use["tool_use_id"],
            gist=gist(asked),
            outcome=outcome_of(result) if result else self._unanswered(message, use),
            runtime=runtime_of(result),
            sizes=sizes_of(asked, result),
            reason=reason_of(result),
            answered=answered,
        )

    def _unanswered(self, message: MessageSnapshot, use: BlockDict) -> Word:
        if message.status == "generating" or self.thread_status == "roboto_turn":
            return CALL_WORDS["running"]
        waits = self.thread_status == "client_tool_turn" and not use.get("answered_by_server")
        return CALL_WORDS["waiting" if waits else "unanswered"]


def _anchor(index: int, position: int) -> str:
    return f"c{index}-{position}"


def _state(closing: MessageSnapshot | None) -> str:
    return closing.status if closing and closing.status in ("generating", "failed", "cancelled") else ""


def _orphan(message: MessageSnapshot, position: int, result: BlockDict) -> Call:
    """A call for a result without a stored use, which imports can contain."""
    return Call(
        index=message.index,
        anchor=_anchor(message.index, position),
        tool_name=one_line(result["tool_name"], 64) or "unnamed tool",
        tool_use_id=result["tool_use_id"],
        gist="a result without its tool use",
        outcome=outcome_of(result),
        runtime=runtime_of(result),
        sizes=sizes_of(None, result),
        reason=reason_of(result),
    )


def _fault(message: MessageSnapshot, position: int, words: str, code: str | None) -> Fault:
    cancelled = message.status == "cancelled" or code == "cancelled"
    return Fault(
        index=message.index,
        anchor=_anchor(message.index, position),
        title="Cancelled" if cancelled else "Generation failed",
        message=words,
        code="" if cancelled else code or "",
        advice=ADVICE.get(code or "", ""),
        tone="warn" if cancelled else "neg",
        icon="stop" if cancelled else "fault",
    )


_CLOSING_TAG = re.compile(r"</[a-z0-9]+>")


def _with_caret(html: SafeString) -> SafeString:
    """Insert the caret after the last word, inside the open paragraph or list."""
    cut = len(html.rstrip())
    while (begins := html.rfind("<", 0, cut)) >= 0 and _CLOSING_TAG.fullmatch(html, begins, cut):
        cut = len(html[:begins].rstrip())
    return vouched(f'{html[:cut]}<span class="caret"></span>{html[cut:]}')


def _with_goals(articles: list[Article], goals: Sequence[GoalNote]) -> list[Article]:
    if not goals:
        return articles
    notes = [replace(goal, attempts=_attempts(goal, articles), reason=_why_unmet(goal, articles)) for goal in goals]
    return [
        replace(article, goals=tuple(note for note in notes if note.index in article.covers)) for article in articles
    ]


def _attempts(goal: GoalNote, articles: Iterable[Article]) -> tuple[Attempt, ...]:
    """The calls of the goal's achieve tool, which is identified by its latest attempt (spec 4.3)."""
    calls = [call for article in articles if article.index >= goal.index for call in article.calls]
    name = next((call.tool_name for call in calls if call.tool_use_id == goal.achieve_tool_use_id), None)
    return tuple(
        Attempt(call.index, call.anchor, call.outcome, call.reason or call.gist)
        for call in calls
        if name and call.tool_name == name
    )


def _why_unmet(goal: GoalNote, articles: Iterable[Article]) -> str:
    """How the turn of a failed goal ended, derived from its answers, because a fork copies no turns."""
    if goal.status != "failed":
        return ""
    behind = [article for article in articles if article.covers[-1] > goal.index]
    answers = list(takewhile(lambda article: article.voice == "agent", behind))
    if any(after.index != before.covers[-1] + 1 for before, after in pairwise(behind[: len(answers) + 1])):
        return ""  # a part of it is not shown
    ended = answers[-1].state if answers else ""
    if ended == "cancelled":
        return "the turn was cancelled"
    return "the turn failed" if ended == "failed" else f"given up after {counted(len(answers), 'answer')}"
