"""Backdating threads of the demo, which are made now and tell of earlier days."""

from datetime import datetime

from django.db.models import F

from threads.models import Goal, Message, Thread, Turn


def put_back(thread: Thread, began_at: datetime, *, since: int = 0) -> None:
    """Backdate a thread with its turns, goals and the messages from `since` on."""
    shift = began_at - thread.created
    Thread.objects.filter(pk=thread.pk).update(created=began_at, modified=F("modified") + shift)
    Message.objects.filter(thread=thread, idx__gte=since).update(created=F("created") + shift)
    declared = Goal.objects.filter(thread=thread, turn__isnull=False)
    declared.update(created=F("created") + shift, concluded_at=F("concluded_at") + shift)
    moments = ("requested_at", "queued_at", "started_at", "first_text_at", "finished_at")
    Turn.objects.filter(thread=thread).update(**{moment: F(moment) + shift for moment in moments})
