"""View models of a thread's header."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from catalogue.worlds.choosing import Choice
from core.wording import one_line
from threads.presenting.goal_notes import GoalNote
from threads.presenting.imports import Import
from threads.presenting.words import FORMAT_WORDS, Word
from threads.status import RUNNING


@dataclass(frozen=True, slots=True)
class ForkLink:
    """A fork of the thread, and the message that it was made at."""

    thread_id: str
    title: str
    index: int = 0


@dataclass(frozen=True, slots=True)
class ForkSource:
    """The source of a fork; `title` is empty if the reader may not read it."""

    thread_id: str
    title: str
    index: int
    report_href: str = ""
    """The URL of the report about the answer there, for readers who handle reports; else empty."""


@dataclass(frozen=True, slots=True)
class AgentLink:
    """The agent that a thread was launched from; `name` is empty if the reader cannot open it."""

    agent_id: str
    name: str
    version: int | None = None
    """None for threads that were launched before versions were kept."""
    latest: int = 1

    @property
    def is_changed(self) -> bool:
        """Whether the agent has a later version by now."""
        return self.version is not None and self.version < self.latest


@dataclass(frozen=True, slots=True)
class ThreadHead:
    """The header of a thread, and what its reader may do. `context` is pairs of name and text."""

    thread_id: str
    title: str
    status: Word
    owner: str
    model_profile: str
    message_count: int
    created: datetime
    visibility: str
    org: str = ""
    admins: str = ""
    """The org's admins, in words, for readers who may neither write nor fork."""
    imported: Import | None = None
    goes_on_with: str = ""
    """The label of the profile that would answer in an imported thread, which names none of its own."""
    agent: AgentLink | None = None
    world: str = ""
    """The id of the world that simulates its tools, if any."""
    worlds: tuple[Choice, ...] = ()
    """The worlds that a fork can use."""
    is_mine: bool = False
    origin: str = ""
    """The surface that owns the thread, if it is another one."""
    pinned: bool = False
    fork_source: ForkSource | None = None
    forks: tuple[ForkLink, ...] = ()
    goals: tuple[GoalNote, ...] = ()
    context: tuple[tuple[str, str], ...] = ()
    subjects: tuple[str, ...] = ()
    token: str = ""
    may_send: bool = False
    may_answer: bool = False
    may_repeat: bool = False
    is_unanswered: bool = False
    """Whether it ends with an unanswered request."""
    may_rate: bool = False
    may_fork: bool = False
    may_cancel: bool = False
    may_rescope: bool = False
    may_rename: bool = False

    @property
    def is_running(self) -> bool:
        """Whether a turn is running or waits for a client tool."""
        return self.status.key in RUNNING

    @property
    def last_index(self) -> int:
        """The index of the last message."""
        return self.message_count - 1

    @property
    def goals_achieved(self) -> int:
        """The number of achieved goals."""
        return sum(goal.status == "achieved" for goal in self.goals)

    @property
    def exports(self) -> Iterable[tuple[str, str]]:
        """The formats of exports with their words."""
        return FORMAT_WORDS.items()

    @property
    def context_line(self) -> str:
        """The context in one line, for the folded line."""
        return ", ".join(one_line(words, 48) for _, words in self.context)
