"""Webhooks: notify other programs of changes to reports.

A verb that changes a report calls `announce` inside its transaction. This writes a row to the outbox if a webhook wants
the event. A worker does the rest: `settling` turns due events into deliveries, `sending` sends them.
"""

from feedback.webhooks.events import (
    EVENT_OF_OUTCOME,
    REOPENED,
    REPLIED,
    RESOLVED,
    SUBMITTED,
    UPDATED,
    told_by_update,
)
from feedback.webhooks.outbox import (
    announce,
    announce_updates,
    hold,
    questions_of,
    thread_questions_of,
    wanted,
    write_down,
)
from feedback.webhooks.retractions import announce_retraction

__all__ = [
    "EVENT_OF_OUTCOME",
    "REOPENED",
    "REPLIED",
    "RESOLVED",
    "SUBMITTED",
    "UPDATED",
    "announce",
    "announce_retraction",
    "announce_updates",
    "hold",
    "questions_of",
    "thread_questions_of",
    "told_by_update",
    "wanted",
    "write_down",
]
