"""The states of threads, turns and goals (spec 3.4, 4.1)."""

from django.db.models import TextChoices


class ThreadStatus(TextChoices):
    """Whose turn it is. `not_started` exists on the wire but is never used: a thread starts with a request."""

    NOT_STARTED = "not_started"
    USER_TURN = "user_turn"
    ROBOTO_TURN = "roboto_turn"
    CLIENT_TOOL_TURN = "client_tool_turn"
    GOALS_FAILED = "goals_failed"


SENDABLE = frozenset({ThreadStatus.USER_TURN, ThreadStatus.GOALS_FAILED})
RUNNING = frozenset({ThreadStatus.ROBOTO_TURN, ThreadStatus.CLIENT_TOOL_TURN})


class TurnState(TextChoices):
    """The state of a turn. QUEUED and RUNNING need a worker, WAITING needs a client, all others are final."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


OPEN_TURN = (TurnState.QUEUED, TurnState.RUNNING, TurnState.WAITING)


BAD_OUTCOMES = ("failed", "cancelled")
"""The statuses of a last answer after which its thread needs attention."""


class GoalStatus(TextChoices):
    """The state of a goal; it is pending only while its turn runs (spec 4.3)."""

    PENDING = "pending"
    ACHIEVED = "achieved"
    FAILED = "failed"


class Visibility(TextChoices):
    """Who may read a thread besides its owner and platform admins."""

    PRIVATE = "private"
    ORG = "org"
