"""The words for the states of threads, calls and goals, each with a colour and an icon."""

from dataclasses import dataclass

from core.templatetags.ui import thousands
from threads.status import BAD_OUTCOMES


@dataclass(frozen=True, slots=True)
class Word:
    """A state in one word; `idle` words are shown to screen readers only."""

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

IMPORT_WORDS: dict[str, Word] = {
    "created": Word("created", "new", "pos", "check"),
    "unchanged": Word("unchanged", "imported before", "", "rest"),
    "failed": Word("failed", "failed", "neg", "fault"),
}

FORMAT_WORDS: dict[str, str] = {
    "markdown": "Markdown",
    "transcript": "transcript",
    "openai": "OpenAI messages",
    "anthropic": "Anthropic messages",
    "data_harness": "data_harness",
    "otel": "OpenTelemetry messages",
    "roboto": "Heddle messages",
}
"""The formats of exports, in the order of the menu; those that hold messages are imported, too."""


def goal_title(goal_type: str) -> str:
    """The title of a goal type."""
    return goal_type.replace("_", " ").capitalize()


def thread_word(status: str, last_assistant: str | None = None) -> Word:
    """The word for a thread's status; an idle thread whose last answer failed or was cancelled shows that."""
    if status == "user_turn" and last_assistant in BAD_OUTCOMES:
        return THREAD_WORDS[last_assistant]
    return THREAD_WORDS[status]


def counted(number: int, word: str) -> str:
    """A number with its word: `1 message`, `2 messages`."""
    return f"{thousands(number)} {word}{'' if number == 1 else 's'}"
