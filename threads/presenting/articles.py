"""What a transcript is made of, drawn: articles, their parts, and the ratings beside them."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.utils.safestring import SafeString

from core.rendering import MARKDOWN_LIMIT
from threads.presenting.goal_notes import GoalNote
from threads.presenting.words import Word


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
    is_news: bool = False
    """Whether it was answered since they saw it last."""


@dataclass(frozen=True)
class Mark(Sentimental):
    """A rating of one message, as its reader may see it."""

    sentiment: str
    categories: tuple[str, ...]
    notes: str
    by: str
    mine: bool
    told: Told | None = None
    report_href: str = ""
    """Where it is seen to, for whoever does that."""

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
    """Words, already sanitised HTML, and the Markdown they were written in. `is_note` is text of Heddle itself."""

    index: int
    html: SafeString
    text: str
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
class Article:
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
    def source(self) -> str:
        """What the agent says in it, as Markdown to take along; of a text that a page folds, the thread's export is."""
        said = [part.text.strip() for part in self.parts if isinstance(part, Prose) and not part.is_note]
        text = "\n\n".join(said) if self.acts else ""
        return text if len(text) <= MARKDOWN_LIMIT else ""

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
        return sum(is_fault(part) for part in self.parts)


def is_fault(part: Part) -> bool:
    """Whether something went wrong there; what somebody stopped did not."""
    return part.outcome.key == "error" if isinstance(part, Call) else isinstance(part, Fault) and part.tone == "neg"
