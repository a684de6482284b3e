"""What stands above a transcript, and what its reader may do there."""

from dataclasses import dataclass
from datetime import datetime

from catalogue.worlds.choosing import Choice
from core.rendering import one_line
from threads.presenting.goal_notes import GoalNote
from threads.presenting.words import Word


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
    report_href: str = ""
    """The complaint about what was answered there, for whoever sees to it."""


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
    is_unanswered: bool = False
    """Whether it ends with a request that nobody has answered."""
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
