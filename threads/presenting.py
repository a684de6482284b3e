"""How a thread looks: turns, calls, marks, map, weave as plain data. No ORM, no request, no HTML but message text."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from itertools import pairwise, takewhile
from typing import Literal
from urllib.parse import urlencode
from zlib import crc32

from django.utils.safestring import SafeString

from catalogue.worlds.choosing import Choice
from core.rendering import gist, json_html, json_size, json_text, markdown_html, one_line, size_text, took, vouched
from threads.advice import ADVICE
from threads.content import TERMINAL, BlockDict, MessageSnapshot
from threads.goals import Point
from threads.status import RUNNING, ThreadStatus

# What a thread, a call or a goal has come to: a word, a dye and a glyph.


@dataclass(frozen=True, slots=True)
class Word:
    """A state in one word; `idle` words are for screen readers only, because nothing needs saying to the eye."""

    key: str
    word: str
    tone: str
    icon: str
    idle: bool = False


THREAD_WORDS: dict[str, Word] = {
    "not_started": Word("not_started", "Not started", "", "rest", idle=True),
    "user_turn": Word("user_turn", "Idle", "", "rest", idle=True),
    "roboto_turn": Word("roboto_turn", "Answering", "live", "live"),
    "client_tool_turn": Word("client_tool_turn", "Tool pending", "warn", "clock"),
    "goals_failed": Word("goals_failed", "Goals failed", "neg", "goal"),
    "failed": Word("failed", "Failed", "neg", "fault"),
    "cancelled": Word("cancelled", "Cancelled", "", "stop"),
}

CALL_WORDS: dict[str, Word] = {
    "success": Word("success", "success", "", "check"),
    "error": Word("error", "error", "neg", "fault"),
    "declined": Word("declined", "declined", "warn", "cross"),
    "running": Word("running", "running", "live", "live"),
    "waiting": Word("waiting", "waiting", "warn", "clock"),
    "unanswered": Word("unanswered", "no result", "", "rest"),
}

GOAL_WORDS: dict[str, Word] = {
    "pending": Word("pending", "pending", "live", "clock"),
    "achieved": Word("achieved", "achieved", "pos", "check"),
    "failed": Word("failed", "failed", "neg", "fault"),
}

GOAL_TITLES = {
    "dataset_summary": "Dataset summary",
    "dataset_triage": "Dataset triage",
    "create_events": "Create events",
}


def goal_title(goal_type: str) -> str:
    """A type of goal, for people."""
    return GOAL_TITLES.get(goal_type, goal_type.replace("_", " ").capitalize())


def thread_word(status: str, last_assistant: str | None = None) -> Word:
    """The word for a thread; an idle thread whose last answer went wrong says that instead."""
    if status == "user_turn" and last_assistant in ("failed", "cancelled"):
        return THREAD_WORDS[last_assistant]
    return THREAD_WORDS[status]


# The list.


@dataclass(frozen=True, slots=True)
class Cloth:
    """A thread as cloth: SVG paths by kind, dots where it was rated, how many steps it has, how wide it is."""

    paths: tuple[tuple[str, str], ...]
    dots: tuple[float, ...]
    steps: int
    width: str


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """One line of the thread list. `weave` is the compact string of `weave()`, `goals` is achieved, of, and tone."""

    thread_id: str
    title: str
    status: Word
    owner: str
    model_profile: str
    message_count: int
    active_at: datetime
    weave: str = ""
    is_private: bool = False
    is_fork: bool = False
    is_pinned: bool = False
    goals_achieved: int = 0
    goals_count: int = 0
    negative: int = 0
    positive: int = 0

    @property
    def cloth(self) -> Cloth:
        """The weave, drawn."""
        return weave(self.weave)

    @property
    def goals_tone(self) -> str:
        """Achieved once all are; missed once the thread says so."""
        if self.goals_achieved == self.goals_count:
            return "pos"
        return "neg" if self.status.key == "goals_failed" else ""

    @property
    def is_running(self) -> bool:
        """Whether it goes on by itself, or when a client answers: it may look different soon."""
        return self.status.key in RUNNING

    @property
    def mark(self) -> str:
        """How it looks, in short: rows with the same mark look the same, but for their place."""
        return f"{crc32(repr(replace(self, is_pinned=False)).encode()):x}"


@dataclass(frozen=True, slots=True)
class Watch:
    """When rows that run are asked for again, and which, each with its mark."""

    seconds: int
    query: str


def watch(rows: Sequence[ThreadRow]) -> Watch | None:
    """How the rows stay live; None where none of them runs. A client takes its time, and is waited for in peace."""
    running = [row for row in rows if row.is_running]
    if not running:
        return None
    is_answering = any(row.status.key == ThreadStatus.ROBOTO_TURN for row in running)
    return Watch(3 if is_answering else 30, urlencode([("row", f"{row.thread_id}.{row.mark}") for row in running]))


@dataclass(frozen=True, slots=True)
class Band:
    """Rows under one heading; the heading is empty where the page before already ended in it."""

    key: str
    heading: str
    rows: tuple[ThreadRow, ...]


def bands(rows: Sequence[ThreadRow], *, now: datetime, after: str = "") -> list[Band]:
    """Rows in their order under Pinned, Today, Yesterday, This week, Earlier; `after` is the last band shown before."""
    found: list[tuple[str, list[ThreadRow]]] = []
    for row in rows:
        key = _band(row, now)
        if not found or found[-1][0] != key:
            found.append((key, []))
        found[-1][1].append(row)
    return [
        Band(key, "" if key == after and not position else _BANDS[key], tuple(group))
        for position, (key, group) in enumerate(found)
    ]


_BANDS = {"pinned": "Pinned", "today": "Today", "yesterday": "Yesterday", "week": "This week", "earlier": "Earlier"}


def _band(row: ThreadRow, now: datetime) -> str:
    if row.is_pinned:
        return "pinned"
    days = (now.date() - row.active_at.date()).days
    return "today" if days <= 0 else "yesterday" if days == 1 else "week" if days < 7 else "earlier"


@dataclass(frozen=True, slots=True)
class View:
    """A filter as a link."""

    key: str
    word: str
    href: str
    is_current: bool
    count: int | None = None


_VIEWS = {
    "all": "All",
    "mine": "Mine",
    "answering": "Answering",
    "tool_pending": "Tool pending",
    "failed": "Failed",
    "goals_failed": "Goals failed",
    "rated_badly": "Rated badly",
    "private": "Private",
    "forks": "Forks",
}


def thread_views(current: str, *, q: str = "", counts: Mapping[str, int] | None = None) -> list[View]:
    """The filters of the list; each keeps the query."""
    kept = {"q": q} if q else {}
    return [
        View(key, word, "?" + urlencode({"view": key, **kept}), key == current, (counts or {}).get(key))
        for key, word in _VIEWS.items()
    ]


@dataclass(frozen=True, slots=True)
class Refused:
    """A part of the query line that is not understood; where something near was probably meant, a link to that."""

    text: str
    reason: str
    meant: str = ""
    meant_href: str = ""


_STROKES = {
    "p": ("person", 1, 12),
    "a": ("agent", 4, 6),
    "t": ("tool", 5.5, 3),
    "f": ("fault", 2, 10),
    "l": ("live", 3, 8),
}
_COLUMNS = 40
_WEIGHT = "taplrf"
"""Which step tells most, from least to most."""


def weave(kinds: str, *, width: int = 120) -> Cloth:
    """A thread's cloth from one letter a step: p person, a agent, t tool, f fault, l live, r a rated answer.

    A thread with more steps than the width has columns keeps, of the steps that share one, the one that tells most.
    """
    steps = "".join(letter for letter in kinds if letter in _STROKES or letter == "r")
    shown = _squeezed(steps, min(_COLUMNS, width // 3))
    pitch = min(4.0, (width - 4) / max(1, len(shown) - 1))
    strokes: dict[str, list[str]] = {}
    for column, letter in enumerate(shown):
        kind, top, height = _STROKES["a" if letter == "r" else letter]
        strokes.setdefault(kind, []).append(f"M{_short(2 + column * pitch)} {top}v{height}")
    dots = tuple(round(2 + column * pitch, 1) for column, letter in enumerate(shown) if letter == "r")
    length = _short(min(width, 5 + (len(shown) - 1) * pitch))
    warp = [("warp", f"M0 7h{length}")] if shown else []
    return Cloth((*warp, *((kind, "".join(found)) for kind, found in strokes.items())), dots, len(steps), length)


def _squeezed(steps: str, columns: int) -> str:
    if len(steps) <= columns:
        return steps
    edges = [round(column * len(steps) / columns) for column in range(columns + 1)]
    return "".join(max(steps[start:end], key=_WEIGHT.find) for start, end in pairwise(edges))


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


# The head.


@dataclass(frozen=True, slots=True)
class ForkLink:
    """A thread that was forked off this one."""

    thread_id: str
    title: str


@dataclass(frozen=True, slots=True)
class ForkSource:
    """Where a fork comes from; `title` is empty where the reader may not read the source."""

    thread_id: str
    title: str
    index: int


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try at a goal: the call that made it, and what it answered."""

    anchor: str
    outcome: Word
    words: str


@dataclass(frozen=True, slots=True)
class GoalNote:
    """A goal beside the turn that declared it. `present` fills in the attempts, and why it failed where it did."""

    goal_type: str
    target: str
    status: str
    index: int
    achieve_tool_use_id: str | None = None
    points: tuple[Point, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    reason: str = ""

    @property
    def summary(self) -> str:
        """What it is about, how often it was tried, and why it failed where it did."""
        tried = len(self.attempts)
        attempts = counted(tried, "attempt") if tried else "No attempt" if self.status == "failed" else ""
        return " · ".join(filter(None, (self.target, ", ".join(filter(None, (attempts, self.reason))))))

    @property
    def points_line(self) -> str:
        """The points in a few words, for the fold."""
        if not self.points:
            return "What was tried"
        return f"{sum(point.done is True for point in self.points)} of {len(self.points)} done"

    @property
    def title(self) -> str:
        """What is to be achieved."""
        return goal_title(self.goal_type)

    @property
    def word(self) -> Word:
        """How far it has come."""
        return GOAL_WORDS[self.status]


@dataclass(frozen=True, slots=True)
class AgentLink:
    """The agent that a thread was launched from; without a name there is nothing to open."""

    agent_id: str
    name: str


@dataclass(frozen=True, slots=True)
class ThreadHead:
    """What stands above a transcript, and what its reader may do. `context` is pairs of name and words."""

    thread_id: str
    title: str
    status: Word
    owner: str
    model_profile: str
    message_count: int
    created: datetime
    visibility: str
    org: str = ""
    agent: AgentLink | None = None
    world: str = ""
    """The id of the world in which its tools are played, where there is one."""
    worlds: tuple[Choice, ...] = ()
    """Those that a fork may go into."""
    is_mine: bool = False
    origin: str = ""
    """The surface that owns it, where that is another one."""
    pinned: bool = False
    fork_source: ForkSource | None = None
    forks: tuple[ForkLink, ...] = ()
    goals: tuple[GoalNote, ...] = ()
    activity: str | None = None
    context: tuple[tuple[str, str], ...] = ()
    subjects: tuple[str, ...] = ()
    token: str = ""
    may_send: bool = False
    may_answer: bool = False
    may_repeat: bool = False
    may_rate: bool = False
    may_fork: bool = False
    may_cancel: bool = False
    may_rescope: bool = False
    may_rename: bool = False

    @property
    def is_running(self) -> bool:
        """Whether somebody else has the word."""
        return self.status.key in ("roboto_turn", "client_tool_turn")

    @property
    def last_index(self) -> int:
        """The message at its end."""
        return self.message_count - 1

    @property
    def goals_achieved(self) -> int:
        """How many goals are done."""
        return sum(goal.status == "achieved" for goal in self.goals)

    @property
    def context_line(self) -> str:
        """The context in one line, for the fold."""
        return ", ".join(one_line(words, 48) for _, words in self.context)


# The transcript.


class Sentimental:
    """What a sentiment looks like, for everything that has one."""

    __slots__ = ()
    sentiment: str

    @property
    def tone(self) -> str:
        """The dye."""
        return "pos" if self.sentiment == "positive" else "neg"

    @property
    def icon(self) -> str:
        """The glyph."""
        return "up" if self.sentiment == "positive" else "down"


@dataclass(frozen=True, slots=True)
class Told:
    """What the person who rated is told of it: that it came in, was looked at, or was answered with these words."""

    word: str
    at: datetime
    words: str = ""


@dataclass(frozen=True)
class Mark(Sentimental):
    """A rating of one message, as its reader may see it."""

    sentiment: str
    categories: tuple[str, ...]
    notes: str
    by: str
    mine: bool
    told: Told | None = None

    @property
    def words(self) -> str:
        """The categories, spelled for people."""
        return ", ".join(category.replace("_", " ") for category in self.categories)


@dataclass(frozen=True, slots=True)
class Acts:
    """What can be done at one message, and what was said of it."""

    index: int
    mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class Prose:
    """Words, already sanitised HTML. `is_note` is text of Heddle itself, in a roboto message."""

    index: int
    html: SafeString
    size: int
    is_note: bool = False
    anchors: tuple[int, ...] = ()
    kind: Literal["prose"] = "prose"


@dataclass(frozen=True, slots=True)
class Call:
    """A tool use with its result as one line; its input and output are fetched when it is unfolded."""

    index: int
    anchor: str
    tool_name: str
    tool_use_id: str
    gist: str
    outcome: Word
    runtime: str
    sizes: str
    reason: str = ""
    acts: Acts | None = None
    anchors: tuple[int, ...] = ()
    kind: Literal["call"] = "call"


@dataclass(frozen=True, slots=True)
class Fault:
    """An error block, or a message that ended badly without saying why."""

    index: int
    anchor: str
    title: str
    message: str
    code: str
    tone: str
    icon: str
    advice: str = ""
    anchors: tuple[int, ...] = ()
    kind: Literal["fault"] = "fault"


@dataclass(frozen=True, slots=True)
class Context:
    """What the person was looking at when they wrote."""

    index: int
    words: str
    html: SafeString
    anchors: tuple[int, ...] = ()
    kind: Literal["context"] = "context"


Part = Prose | Call | Fault | Context
Voice = Literal["person", "agent"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One article of the transcript: a person's message, or a run of the agent's up to the first that has words.

    Its id is `m<index>`; `covers` are all messages it shows, results of its calls included, so a change of any of them
    means this article has changed.
    """

    index: int
    covers: tuple[int, ...]
    voice: Voice
    author: str
    created: datetime
    state: str
    parts: tuple[Part, ...]
    acts: Acts | None = None
    goals: tuple[GoalNote, ...] = ()
    anchors: tuple[int, ...] = ()
    figures: tuple[str, ...] = ()
    """What the turn that ended here used, in words, for those who may know."""
    clock: str = ""
    """When it was said, by the clock of its reader: `14:02`."""
    day: str = ""
    """The day of that: `Sat 21 Nov`."""
    is_today: bool = False
    opens_day: bool = False
    """Whether it stands first under that day: then the day is a rule above it."""

    @property
    def last(self) -> int:
        """The message that the article's own actions mean."""
        return self.acts.index if self.acts else self.index

    @property
    def calls(self) -> tuple[Call, ...]:
        """Its tool uses."""
        return tuple(part for part in self.parts if isinstance(part, Call))

    @property
    def all_acts(self) -> tuple[Acts, ...]:
        """Where it can be rated, in order."""
        return tuple(acts for acts in (*(call.acts for call in self.calls), self.acts) if acts)

    @property
    def marks(self) -> tuple[Acts, ...]:
        """Where it was rated, in order."""
        return tuple(acts for acts in self.all_acts if acts.mark)

    @property
    def faults(self) -> int:
        """How many things went wrong in it."""
        return sum(_is_fault(part) for part in self.parts)


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
) -> list[Turn]:
    """The transcript as articles, in order. `marks` are by message index, `goals` stand at the turn that declared them.

    `thread_status` decides what an unanswered call waits for; messages after `now` count as now. `figures` are by the
    message that ended a turn. Clock and days are those of `tz`; `before` is when the article in front of a stretch was
    said, None at the beginning of a thread.
    """
    answers = _answers(messages)
    desk = _Desk(author_names, marks, now, thread_status, answers, figures or {})
    turns = [desk.turn(run) for run in _runs(messages)]
    return _with_goals(_on_days(turns, now.astimezone(tz), before), goals)


def _on_days(turns: Iterable[Turn], now: datetime, before: datetime | None) -> list[Turn]:
    """The clock beside each article, and the day where it changes; today is said only behind another day."""
    day = (before or now).astimezone(now.tzinfo).date()
    placed = []
    for turn in turns:
        said = turn.created.astimezone(now.tzinfo)
        words = f"{said:%a} {said.day} {said:%b}" + (f" {said.year}" if said.year != now.year else "")
        is_today = said.date() == now.date()
        opens_day = said.date() != day
        placed.append(replace(turn, clock=f"{said:%H:%M}", day=words, is_today=is_today, opens_day=opens_day))
        day = said.date()
    return placed


def _runs(messages: Iterable[MessageSnapshot]) -> Iterator[list[MessageSnapshot]]:
    """Messages by article. Results belong to the agent's article before them, even where words have closed it."""
    run: list[MessageSnapshot] = []
    closed = False
    for message in messages:
        goes_on = (
            run and run[0].role != "user" and (message.role == "roboto" or (message.role != "user" and not closed))
        )
        if not goes_on:
            if run:
                yield run
            run, closed = [], False
        run.append(message)
        closed = closed or (message.role == "assistant" and _closes(message))
    if run:
        yield run


def _closes(message: MessageSnapshot) -> bool:
    return message.status in ("failed", "cancelled") or any(block["content_type"] == "text" for block in message.blocks)


Answers = dict[tuple[int, int], tuple[int, BlockDict]]
"""By place of a tool use (message, position): the message that answers it and the result block."""


def _answers(messages: Iterable[MessageSnapshot]) -> Answers:
    """Pair uses with the results that follow them. An id used twice is answered in order, so no result shows twice."""
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
class _Desk:
    """What every article of one thread needs to know, and the making of one."""

    author_names: Mapping[str, str]
    marks: Mapping[int, Mark]
    now: datetime
    thread_status: str
    answers: Answers
    figures: Mapping[int, tuple[str, ...]]
    paired: set[tuple[int, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.paired = {(index, block["tool_use_id"]) for index, block in self.answers.values()}

    def turn(self, run: Sequence[MessageSnapshot]) -> Turn:
        first, last = run[0], run[-1]
        speaking = [message for message in run if message.role == "assistant"]
        closing = speaking[-1] if speaking else None
        parts, left = self._parts(run, closing)
        return Turn(
            index=first.index,
            covers=tuple(range(first.index, last.index + 1)),
            voice="person" if first.role == "user" else "agent",
            author=self._author(first),
            created=min((closing or first).created, self.now),
            state=_state(closing),
            parts=tuple(parts),
            acts=self._acts(closing) if closing else None,
            anchors=left,
            figures=next((self.figures[message.index] for message in run if message.index in self.figures), ()),
        )

    def _author(self, message: MessageSnapshot) -> str:
        if message.role != "user":
            return "Agent"
        return self.author_names.get(message.author or "", message.author or "") or "Person"

    def _acts(self, message: MessageSnapshot) -> Acts | None:
        """Only what has ended can be rated or forked at (T6, T7)."""
        return Acts(message.index, self.marks.get(message.index)) if message.status in TERMINAL else None

    def _parts(
        self, run: Sequence[MessageSnapshot], closing: MessageSnapshot | None
    ) -> tuple[list[Part], tuple[int, ...]]:
        """Parts in order, each carrying the anchors of messages that begin with it or left no part of their own."""
        parts: list[Part] = []
        pending: list[int] = []
        for message in run:
            if message is not run[0]:
                pending.append(message.index)
            made = list(self._parts_of(message))
            if made and message is not closing and message.role == "assistant":
                made[-1] = self._with_acts(made[-1], message)
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
        html = markdown_html(text)
        if is_open:
            html = _with_caret(html)
        yield Prose(message.index, html, len(text), is_note=message.role == "roboto")

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
        _, result = self.answers.get((message.index, position), (0, None))
        asked = use.get("input") if use.get("input") is not None else use.get("raw_request")
        return Call(
            index=message.index,
            anchor=f"c{message.index}-{position}",
            tool_name=one_line(use["tool_name"], 64) or "unnamed tool",
            tool_use_id=use["tool_use_id"],
            gist=gist(asked),
            outcome=_outcome(result) if result else self._unanswered(message, use),
            runtime=_runtime(result),
            sizes=_sizes(asked, result),
            reason=_reason(result),
        )

    def _unanswered(self, message: MessageSnapshot, use: BlockDict) -> Word:
        if message.status == "generating" or self.thread_status == "roboto_turn":
            return CALL_WORDS["running"]
        waits = self.thread_status == "client_tool_turn" and not use.get("answered_by_server")
        return CALL_WORDS["waiting" if waits else "unanswered"]


def _state(closing: MessageSnapshot | None) -> str:
    return closing.status if closing and closing.status in ("generating", "failed", "cancelled") else ""


def _outcome(result: BlockDict) -> Word:
    return CALL_WORDS.get(result["status"], CALL_WORDS["unanswered"])


def _runtime(result: BlockDict | None) -> str:
    """How long a call took. Where nothing says that it was timed, a time of 0 is one that nobody knows (spec 3.3)."""
    if result is None or not (result["runtime_ms"] or result.get("answered_by") == "server"):
        return ""
    return took(result["runtime_ms"])


def _sizes(asked: object, result: BlockDict | None) -> str:
    """Sizes on everything folded."""
    sent = f"input {size_text(json_size(asked))}" if asked is not None else "no input"
    if result is None:
        return sent
    output = output_of(result)
    return f"{sent}, output {size_text(json_size(output))}" if output is not None else f"{sent}, no output"


def _reason(result: BlockDict | None) -> str:
    """Why a call went wrong, in one line."""
    if result is None or result["status"] == "success":
        return ""
    output = output_of(result)
    if isinstance(output, dict):
        output = next((output[name] for name in ("error", "message", "reason", "detail") if output.get(name)), output)
    return one_line(json_text(output), 160) if output is not None else ""


def output_of(result: BlockDict) -> object:
    """What a tool answered: the payload, else what it sent raw (spec 3.3)."""
    return result["payload"] if result.get("payload") is not None else result.get("raw_response")


def _orphan(message: MessageSnapshot, position: int, result: BlockDict) -> Call:
    """A result whose use was never stored, as imports bring them."""
    return Call(
        index=message.index,
        anchor=f"c{message.index}-{position}",
        tool_name=one_line(result["tool_name"], 64) or "unnamed tool",
        tool_use_id=result["tool_use_id"],
        gist="a result without its tool use",
        outcome=_outcome(result),
        runtime=_runtime(result),
        sizes=_sizes(None, result),
        reason=_reason(result),
    )


def _fault(message: MessageSnapshot, position: int, words: str, code: str | None) -> Fault:
    cancelled = message.status == "cancelled" or code == "cancelled"
    return Fault(
        index=message.index,
        anchor=f"c{message.index}-{position}",
        title="Cancelled" if cancelled else "Generation failed",
        message=words,
        code="" if cancelled else code or "",
        advice=ADVICE.get(code or "", ""),
        tone="warn" if cancelled else "neg",
        icon="stop" if cancelled else "fault",
    )


_CLOSING_TAGS = re.compile(r"(?:\s*</[a-z0-9]+>)*\s*\Z")


def _with_caret(html: SafeString) -> SafeString:
    """The caret behind the last word, inside the paragraph or list that is being written."""
    tail = _CLOSING_TAGS.search(html)
    cut = tail.start() if tail else len(html)
    return vouched(f'{html[:cut]}<span class="caret"></span>{html[cut:]}')


def _with_goals(turns: list[Turn], goals: Sequence[GoalNote]) -> list[Turn]:
    if not goals:
        return turns
    notes = [replace(goal, attempts=_attempts(goal, turns), reason=_why_unmet(goal, turns)) for goal in goals]
    return [replace(turn, goals=tuple(note for note in notes if note.index in turn.covers)) for turn in turns]


def _attempts(goal: GoalNote, turns: Iterable[Turn]) -> tuple[Attempt, ...]:
    """The calls of the goal's own achieve tool: the one that its latest attempt names (spec 4.3)."""
    calls = [call for turn in turns if turn.index >= goal.index for call in turn.calls]
    name = next((call.tool_name for call in calls if call.tool_use_id == goal.achieve_tool_use_id), None)
    return tuple(
        Attempt(call.anchor, call.outcome, call.reason or call.gist)
        for call in calls
        if name and call.tool_name == name
    )


def _why_unmet(goal: GoalNote, turns: Iterable[Turn]) -> str:
    """How the turn of a failed goal ended, by its answers: a fork has those and not the turn."""
    if goal.status != "failed":
        return ""
    behind = (turn for turn in turns if turn.covers[-1] > goal.index)
    answers = list(takewhile(lambda turn: turn.voice == "agent", behind))
    ended = answers[-1].state if answers else ""
    if ended == "cancelled":
        return "the turn was cancelled"
    return "the turn failed" if ended == "failed" else f"given up after {counted(len(answers), 'answer')}"


# What a reader jumps to, and the side map.


@dataclass(frozen=True, slots=True)
class Jump:
    """How many of one kind there are, and where the first is."""

    key: str
    icon: str
    word: str
    keycap: str
    each: str
    """The selector of all of them in the transcript."""
    count: int
    href: str


def jumps(turns: Iterable[Turn]) -> list[Jump]:
    """Next error, next rating, next tool use; without scripts each leads to the first."""
    errors, ratings, calls = [], [], []
    for turn in turns:
        errors += [part.anchor for part in turn.parts if isinstance(part, Call | Fault) and _is_fault(part)]
        ratings += [f"m{acts.index}" for acts in turn.marks]
        calls += [call.anchor for call in turn.calls]
    return [
        _jump("error", "fault", "error", "e", ".call[data-outcome=error], .fault[data-tone=neg]", errors),
        _jump("rating", "down", "rating", "r", ".msg-form:has(.margin[aria-label^=Rating])", ratings),
        _jump("call", "threads", "tool use", "t", ".call", calls),
    ]


def _jump(key: str, icon: str, word: str, keycap: str, each: str, anchors: Sequence[str]) -> Jump:
    return Jump(key, icon, word, keycap, each, len(anchors), f"#{anchors[0]}" if anchors else "")


def _is_fault(part: Part) -> bool:
    return part.outcome.key == "error" if isinstance(part, Call) else isinstance(part, Fault) and part.tone == "neg"


@dataclass(frozen=True, slots=True)
class Pick:
    """One mark of the map: a link to an article."""

    kind: str
    x: int
    y: int
    width: int
    height: int
    href: str
    label: str


@dataclass(frozen=True, slots=True)
class ThreadMap:
    """The whole thread down one side; the height is in the map's own units."""

    height: int
    picks: tuple[Pick, ...]

    @property
    def tallest(self) -> int:
        """How many pixels it takes at most: a long thread is squeezed, a short one is not pulled apart."""
        return self.height * 2


_MAP_PICKS = 300
_SHAPES = {"person": (0, 24), "goal": (0, 24), "aim": (0, 24), "missed": (0, 24), "tool": (16, 8)}
_GOAL_KINDS = {"achieved": "goal", "failed": "missed", "pending": "aim"}


def thread_map(turns: Sequence[Turn]) -> ThreadMap:
    """Where everything is. Past 300 marks the plain tool uses are left out, so that the rest can still be hit."""
    rows = [row for turn in turns for row in _map_rows(turn)]
    if len(rows) > _MAP_PICKS:
        rows = [row for row in rows if row[0] != "tool"]
    picks, y = [], 0
    for kind, height, href, label in rows:
        x, width = _SHAPES.get(kind, (8, 16))
        picks.append(Pick(kind, x, y, width, height, href, label))
        y += height + 3
    return ThreadMap(max(y - 3, 1), tuple(picks))


def _map_rows(turn: Turn) -> Iterator[tuple[str, int, str, str]]:
    place = f"message {turn.index}"
    for part in turn.parts:
        if isinstance(part, Call):
            word = "Failed tool use" if _is_fault(part) else "Tool use"
            yield ("fault" if _is_fault(part) else "tool", 4, f"#{part.anchor}", f"{word} {part.tool_name}, {place}")
        elif isinstance(part, Fault):
            yield ("fault" if _is_fault(part) else "warn", 6, f"#{part.anchor}", f"{part.title}, {place}")
    size = sum(part.size for part in turn.parts if isinstance(part, Prose))
    if size or turn.state == "generating" or turn.voice == "person":
        yield _map_kind(turn), min(52, 8 + size // 24), f"#m{turn.index}", f"{_map_word(turn)}, {place}"
    for goal in turn.goals:
        label = f"Goal {goal.title}, {goal.word.word}, {place}"
        yield _GOAL_KINDS[goal.status], 6, f"#m{turn.index}", label


def _map_kind(turn: Turn) -> str:
    if turn.voice == "person":
        return "person"
    if turn.state == "generating":
        return "live"
    tones = {acts.mark.tone for acts in turn.marks if acts.mark}
    return "rated" if "neg" in tones else "praised" if tones else "agent"


def _map_word(turn: Turn) -> str:
    words = {"live": "Being written", "rated": "Answer rated negative", "praised": "Answer rated positive"}
    return words.get(_map_kind(turn), turn.author)


# The desk's excerpt.


@dataclass(frozen=True, slots=True)
class Fold:
    """Articles left out: what they hold, and where they begin."""

    index: int
    words: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """One article of an excerpt, or a fold; `is_subject` is the article that the excerpt is about."""

    turn: Turn | None = None
    fold: Fold | None = None
    is_subject: bool = False


def around(turns: Sequence[Turn], index: int, *, before: int = 2, after: int = 1) -> list[Stretch]:
    """The article that shows message `index` with its neighbours; what is further away is folded to a line."""
    at = next((place for place, turn in enumerate(turns) if index in turn.covers), None)
    if at is None:
        return [Stretch(fold=_fold(turns))] if turns else []
    start, end = max(0, at - before), at + 1 + after
    first = replace(turns[start], opens_day=turns[start].opens_day or not turns[start].is_today)
    shown = [
        Stretch(turn=first if place == start else turns[place], is_subject=place == at)
        for place in range(start, min(end, len(turns)))
    ]
    head = [Stretch(fold=_fold(turns[:start]))] if start else []
    tail = [Stretch(fold=_fold(turns[end:]))] if turns[end:] else []
    return [*head, *shown, *tail]


def _fold(turns: Sequence[Turn]) -> Fold:
    messages, calls = sum(len(turn.covers) for turn in turns), sum(len(turn.calls) for turn in turns)
    faults = sum(turn.faults for turn in turns)
    words = counted(messages, "message")
    words += f" and {counted(calls, 'tool use')} folded" if calls else " folded"
    return Fold(turns[0].index, words + (f", {counted(faults, 'error')}" if faults else ""))


def counted(number: int, word: str) -> str:
    """A number with its word: `1 message`, `2 messages`."""
    return f"{number} {word}{'' if number == 1 else 's'}"


# One call, unfolded.


@dataclass(frozen=True, slots=True)
class Payload:
    """Input or output of a call, ready to print."""

    title: str
    words: str
    html: SafeString


@dataclass(frozen=True, slots=True)
class CallDetail:
    """A call with its payloads, fetched when it is unfolded. `is_raw` tells what only some may see.

    `differs_raw` is whether anything went over the line that is not shown as input or output already.
    """

    tool_name: str
    tool_use_id: str
    outcome: Word
    runtime: str
    payloads: tuple[Payload, ...]
    index: int
    is_raw: bool = False
    differs_raw: bool = False


def call_detail(
    use: BlockDict, result: BlockDict | None, *, index: int, raw: bool = False, thread_status: str = "user_turn"
) -> CallDetail:
    """Input and output of one call; with `raw` also what went to the tool and came back otherwise (spec 3.5)."""
    waiting = {"roboto_turn": "running", "client_tool_turn": "waiting"}.get(thread_status, "unanswered")
    answered = output_of(result) if result else None
    sent_raw, answered_raw = use.get("raw_request"), result.get("raw_response") if result else None
    payloads = [_payload("Input", use.get("input")), _payload("Output", answered)]
    raw_payloads = [
        _payload("Raw request", sent_raw if sent_raw != use.get("input") else None),
        _payload("Raw response", answered_raw if answered_raw != answered else None),
    ]
    return CallDetail(
        tool_name=one_line(use["tool_name"], 64) or "unnamed tool",
        tool_use_id=use["tool_use_id"],
        outcome=_outcome(result) if result else CALL_WORDS[waiting],
        runtime=_runtime(result),
        payloads=tuple(payload for payload in (payloads + raw_payloads if raw else payloads) if payload),
        index=index,
        is_raw=raw,
        differs_raw=any(raw_payloads),
    )


def _payload(title: str, value: object) -> Payload | None:
    if value is None:
        return None
    if isinstance(value, str):
        extent = counted(value.count("\n") + 1, "line")
    elif isinstance(value, list):
        extent = counted(len(value), "item")
    else:
        extent = counted(len(value), "field") if isinstance(value, dict) else ""
    return Payload(title, ", ".join(filter(None, (extent, size_text(json_size(value))))), json_html(value))
