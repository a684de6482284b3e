"""The view models of a transcript: articles, their parts and ratings."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Literal

from django.utils.safestring import SafeString

from core.markdown import MARKDOWN_LIMIT, is_shown_whole
from threads.presenting.calls import CallIo
from threads.presenting.goal_notes import GoalNote
from threads.presenting.words import Word, counted


class Sentimental:
    """Colour and icon of a sentiment."""

    __slots__ = ()
    sentiment: str

    @property
    def tone(self) -> str:
        """The colour."""
        return "pos" if self.sentiment == "positive" else "neg"

    @property
    def icon(self) -> str:
        """The icon."""
        return "up" if self.sentiment == "positive" else "down"


@dataclass(frozen=True, slots=True)
class Told:
    """The status of a rating for its submitter: received, looked at, or answered with a reply."""

    word: str
    at: datetime
    words: str = ""
    is_news: bool = False
    """Whether the reply is new since they last looked."""


_LONG_NOTES = 700
"""About how many letters of a rating's notes are shown without folding."""


@dataclass(frozen=True, slots=True)
class OtherMark(Sentimental):
    """One more rating of a message, in one line, for readers who handle reports."""

    sentiment: str
    words: str
    """The first words of its notes, else its categories."""
    by: str
    report_href: str
    is_resolved: bool


@dataclass(frozen=True)
class Mark(Sentimental):
    """A rating of one message as the reader may see it."""

    sentiment: str
    categories: tuple[str, ...]
    notes: str
    by: str
    mine: bool
    told: Told | None = None
    report_href: str = ""
    """The URL of the report, for readers who handle reports; else empty."""
    is_resolved: bool = False
    """Whether its report is resolved, for the same readers."""
    others: tuple[OtherMark, ...] = ()
    """The latest ratings of the message by other people, for the same readers."""
    more: int = 0
    """How many others there are besides."""
    all_href: str = ""
    """The URL of all reports of the thread, if there are more."""

    @property
    def words(self) -> str:
        """The categories as words."""
        return ", ".join(category.replace("_", " ") for category in self.categories)

    @property
    def is_long(self) -> bool:
        """Whether the notes are folded."""
        return len(self.notes) > _LONG_NOTES or self.notes.count("\n") > _LONG_NOTES // 50


@dataclass(frozen=True, slots=True)
class Acts:
    """The actions for one message, and its rating."""

    index: int
    mark: Mark | None = None

    @property
    def mine(self) -> str:
        """The sentiment of the reader's own rating; empty if they have not rated it."""
        return self.mark.sentiment if self.mark and self.mark.mine else ""


@dataclass(frozen=True, slots=True)
class Prose:
    """Text as sanitised HTML, and as it was written. `is_note` marks text from Heddle itself."""

    index: int
    html: SafeString
    text: str
    is_note: bool = False
    anchors: tuple[int, ...] = ()
    kind: Literal["prose"] = "prose"


@dataclass(frozen=True, slots=True)
class Call:
    """A tool use with its result, as one line; input and output are loaded when it is unfolded, unless they are here
    already (`io`).
    """

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
    answered: int | None = None
    """The message with its result."""
    io: CallIo | None = None
    anchors: tuple[int, ...] = ()
    kind: Literal["call"] = "call"

    @property
    def is_plain(self) -> bool:
        """Whether it may be folded with others: a success that is not rated, and not unfolded itself."""
        return self.outcome.key == "success" and self.io is None and not (self.acts and self.acts.mark)


@dataclass(frozen=True, slots=True)
class CallRun:
    """Tool uses in a row that are one line until they are unfolded."""

    calls: tuple[Call, ...]

    @property
    def anchor(self) -> str:
        """Its id on the page."""
        return f"run-{self.calls[0].anchor}"

    @property
    def words(self) -> str:
        """How many they are, and of which tools: `6 more tool uses: calculate × 4, get_station × 2`."""
        tools = Counter(call.tool_name for call in self.calls).most_common()
        named = [f"{name} × {times}" if times > 1 else name for name, times in tools[:_RUN_NAMES]]
        if len(tools) > _RUN_NAMES:
            named.append(counted(len(tools) - _RUN_NAMES, "other tool"))
        return f"{counted(len(self.calls), 'more tool use')}: {', '.join(named)}"


_RUN_HEAD, _RUN_TAIL, _RUN_LEAST, _RUN_NAMES = 2, 1, 4, 3
"""Of plain tool uses in a row: how many stay shown before and after those that are folded, how few are not folded, and
how many tools are named.
"""


@dataclass(frozen=True, slots=True)
class Fault:
    """An error block, or a failed or cancelled message without one."""

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
    """What the user's screen showed when they wrote."""

    index: int
    words: str
    html: SafeString
    anchors: tuple[int, ...] = ()
    kind: Literal["context"] = "context"


Part = Prose | Call | Fault | Context
Voice = Literal["person", "agent"]


@dataclass(frozen=True, slots=True)
class Article:
    """One article of the transcript: a user message, or agent messages up to the first one with text.

    Its id is `m<index>`; `covers` are all messages it shows, including results of its calls, so a change in any of
    them changes the article.
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
    """What the turn that ended here used, in words; empty if the reader may not see it."""
    is_timed: bool = True
    """Whether its time is known; it is not if it came without one by an import."""
    clock: str = ""
    """The time in the reader's time zone: `14:02`; empty if it is not known."""
    day: str = ""
    """The day in the reader's time zone: `Sat 21 Nov`."""
    is_today: bool = False
    opens_day: bool = False
    """Whether it is the first of that day and gets a date separator."""

    @property
    def last(self) -> int:
        """The index of the message that the article's actions apply to."""
        return self.acts.index if self.acts else self.index

    @property
    def source(self) -> str:
        """The text as it was written, for copying; empty if too long (the export has it)."""
        said = [part.text.strip() for part in self.parts if isinstance(part, Prose) and not part.is_note]
        text = "\n\n".join(said) if self.acts or self.voice == "person" else ""
        return text if len(text) <= MARKDOWN_LIMIT else ""

    @property
    def is_verbatim(self) -> bool:
        """Whether it is shown letter for letter in one piece, which can be copied from the page."""
        said = [part.text for part in self.parts if isinstance(part, Prose)]
        return self.voice == "person" and len(said) == 1 and is_shown_whole(said[0])

    @property
    def calls(self) -> tuple[Call, ...]:
        """Its tool uses."""
        return tuple(part for part in self.parts if isinstance(part, Call))

    @property
    def laid_out(self) -> list[tuple[Part, CallRun | None, bool]]:
        """The parts, each with the run of tool uses that begins with it, and whether one ends with it. What failed,
        waits or was rated is never folded.
        """
        runs, ends = _runs(self.parts) if self.call_count >= _RUN_HEAD + _RUN_LEAST + _RUN_TAIL else ({}, set())
        return [(part, runs.get(place), place in ends) for place, part in enumerate(self.parts)]

    @property
    def all_acts(self) -> tuple[Acts, ...]:
        """Where messages of the article can be rated, in order."""
        return tuple(acts for acts in (*(call.acts for call in self.calls), self.acts) if acts)

    @property
    def marks(self) -> tuple[Acts, ...]:
        """Where messages of the article were rated, in order."""
        return tuple(acts for acts in self.all_acts if acts.mark)

    @property
    def call_count(self) -> int:
        """The number of its tool uses."""
        return len(self.calls)

    @property
    def faults(self) -> int:
        """The number of errors in the article."""
        return sum(is_fault(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Gap:
    """Messages of a long thread that are not shown, up to `last`, with what they contain."""

    index: int
    last: int
    call_count: int
    faults: int
    ratings: int
    first_fault: int | None
    """The message with the first error."""
    first_rating: int | None
    voice: Literal[""] = ""

    @property
    def covers(self) -> range:
        """The messages."""
        return range(self.index, self.last + 1)


Piece = Article | Gap


def _runs(parts: Sequence[Part]) -> tuple[dict[int, CallRun], set[int]]:
    """The runs of tool uses by the position at which they begin, and the positions of their ends."""
    runs: dict[int, CallRun] = {}
    ends: set[int] = set()
    for is_plain, group in groupby(enumerate(parts), lambda each: isinstance(each[1], Call) and each[1].is_plain):
        inner = list(group)[_RUN_HEAD:-_RUN_TAIL] if is_plain else []
        if len(inner) >= _RUN_LEAST:
            runs[inner[0][0]] = CallRun(tuple(part for _, part in inner if isinstance(part, Call)))
            ends.add(inner[-1][0])
    return runs, ends


def is_fault(part: Part) -> bool:
    """Whether the part is an error; a cancellation is not."""
    return part.outcome.key == "error" if isinstance(part, Call) else isinstance(part, Fault) and part.tone == "neg"
