"""Permanent deletion of threads, for operators with retention rules."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from django.db import transaction
from django.utils import timezone

from accounts.models import Org, User
from accounts.rights import require_admin
from catalogue import calls
from core import ids
from core.actor import Actor
from core.db import again, is_named_elsewhere
from core.errors import NotFound
from threads import hooks, transcript
from threads.models import Block, Thread

_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which threads to delete: the given ids, narrowed by every other condition that is set."""

    thread_ids: Sequence[str] = ()
    org: Org | None = None
    started_by: User | None = None
    untouched_days: int | None = None
    """Days since anything was last written to them."""


def chosen(actor: Actor, what: Chosen, *, with_forks: bool = False) -> list[int]:
    """The row ids of the selected threads, with everything forked from them if `with_forks`.

    Runs of checks are copies of the thread they check and always included. Raises `NotFound` for an unknown id.
    """
    require_admin(actor)
    rows = Thread.objects.all()
    if what.thread_ids:
        keys = {ids.key_of(each, *ids.THREAD_SPELLINGS) or "": each for each in what.thread_ids}
        rows = rows.filter(key__in=keys)
        for gone in keys.keys() - set(rows.values_list("key", flat=True)):
            raise NotFound.of("thread", keys[gone][:80])
    if what.org is not None:
        rows = rows.filter(org=what.org)
    if what.started_by is not None:
        rows = rows.filter(created_by=what.started_by)
    if what.untouched_days is not None:
        rows = rows.filter(modified__lt=timezone.now() - timedelta(days=what.untouched_days))
    return _with_copies(actor, set(rows.values_list("pk", flat=True)), with_forks=with_forks)


def delete(actor: Actor, thread_pk: int) -> bool:
    """Delete a thread with its messages, turns, goals, calls, ratings and checks; False if it was already gone.

    Its ratings are retracted as if by their submitters, so webhook receivers learn of it. A running turn loses its
    thread and ends. Forks are kept, without a source.
    """
    require_admin(actor)
    # Somebody may rate it just then, or store what hangs on a rating.
    return again(partial(_delete, actor, thread_pk), is_named_elsewhere)


def _delete(actor: Actor, thread_pk: int) -> bool:
    with transaction.atomic():
        thread = Thread.objects.select_for_update().filter(pk=thread_pk).first()
        if thread is None:
            return False
        for run in _copies(actor, [thread_pk], with_forks=False):  # one may have started since the selection
            delete(actor, run)
        hooks.feedback.deleted(actor, thread)
        uses = Block.objects.filter(thread=thread, tool_use_id__isnull=False)
        calls.forget(thread.thread_id, uses.values("tool_use_id"))
        thread.delete()
        transcript.announce(thread_pk)
    return True


def _with_copies(actor: Actor, found: set[int], *, with_forks: bool) -> list[int]:
    """The threads and their copies, copies first."""
    in_order, seen = sorted(found), set(found)
    newest = in_order
    while newest:
        parts = (newest[start : start + _AT_ONCE] for start in range(0, len(newest), _AT_ONCE))
        copies = {pk for part in parts for pk in _copies(actor, part, with_forks=with_forks)}
        newest = sorted(copies - seen)
        seen |= copies
        in_order = newest + in_order
    return in_order


def _copies(actor: Actor, of: Sequence[int], *, with_forks: bool) -> list[int]:
    forks = Thread.objects.filter(forked_from__in=of)
    return list((forks if with_forks else forks.filter(hooks.feedback.runs(actor))).values_list("pk", flat=True))
