"""Visibility, pins and subjects of threads."""

from collections.abc import Collection

from django.db import transaction

from accounts.rights import Right
from core import ids
from core.actor import Actor
from threads import transcript
from threads.access import require, staying
from threads.models import Pin, Subject, Thread
from threads.wire import SubjectIn


def set_visibility(actor: Actor, thread: Thread, visibility: str) -> None:
    """Share a thread with its org or make it private, effective at once (T8, B144, B146); idempotent."""
    require(actor, thread, Right.RESCOPE)
    with transaction.atomic():
        if not Thread.objects.filter(pk=thread.pk).update(visibility=visibility):
            raise transcript.gone()
        thread.visibility = visibility
        transcript.announce(thread.pk)


def pin(actor: Actor, thread: Thread, *, pinned: bool) -> None:
    """Pin a thread to the top of the actor's list, or unpin it (T9); pinning again keeps the time (B147)."""
    require(actor, thread, Right.PIN)
    if pinned:
        with staying(thread.pk):
            Pin.objects.bulk_create([Pin(user_id=actor.user_id, thread=thread)], ignore_conflicts=True)
    else:
        Pin.objects.filter(user=actor.user_id, thread=thread).delete()


def set_subjects(actor: Actor, thread: Thread, subjects: list[SubjectIn]) -> None:
    """Replace the list of what the thread is about (H10); the last note for an entity counts."""
    require(actor, thread, Right.DESCRIBE)
    rows = {subject.association_id: subject.note for subject in subjects}
    with transaction.atomic():
        if not Thread.objects.select_for_update(no_key=True).filter(pk=thread.pk).values_list("pk"):
            raise transcript.gone()
        thread.subjects.all().delete()
        Subject.objects.bulk_create(
            Subject(thread=thread, association_id=entity, note=note) for entity, note in rows.items()
        )


def titles(actor: Actor, thread_ids: Collection[str]) -> dict[str, str]:
    """The titles of these threads that the actor may read, by the given id."""
    keys = {ids.key_of(thread_id, *ids.THREAD_SPELLINGS): thread_id for thread_id in thread_ids}
    rows = (
        Thread.objects.visible_to(actor).filter(key__in=[key for key in keys if key]) if keys else Thread.objects.none()
    )
    return {keys[key]: title or "Untitled" for key, title in rows.values_list("key", "title")}
