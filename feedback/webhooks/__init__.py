"""Webhooks: telling programs elsewhere what happens to reports.

A verb that changes a report calls `announce` inside its transaction. That writes a row of the outbox where somebody
wants it; the rest happens in the worker: `outbox` settles what is due, `sending` sends it.
"""

from feedback.webhooks.events import EVENT_OF_OUTCOME, REOPENED, REPLIED, RESOLVED, SUBMITTED, UPDATED
from feedback.webhooks.outbox import (
    announce,
    announce_retraction,
    questions_of,
    thread_questions_of,
    wanted,
    write_down,
)

__all__ = [
    "EVENT_OF_OUTCOME",
    "REOPENED",
    "REPLIED",
    "RESOLVED",
    "SUBMITTED",
    "UPDATED",
    "announce",
    "announce_retraction",
    "questions_of",
    "thread_questions_of",
    "wanted",
    "write_down",
]
