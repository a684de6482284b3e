"""Reports for those who may triage them, and what becomes of a change if one was retracted meanwhile."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import IntegrityError
from django.db.models import QuerySet

from accounts.rights import require_admin
from core import ids
from core.actor import Actor
from core.db import is_named_elsewhere
from core.errors import Conflict, NotFound
from core.prepared import PreparedRow
from feedback import projecting
from feedback.models import Retraction, UserFeedback

_FOUND = PreparedRow(lambda key: UserFeedback.objects.filter(key=key), UserFeedback, str)


def report_for(actor: Actor, feedback_id: str) -> UserFeedback:
    """The report with that id, for an admin; raises `Unauthorized`, then `NotFound`."""
    require_admin(actor)
    key = ids.key_of(feedback_id, ids.FEEDBACK) or ""
    return there(_FOUND.first(key), key, feedback_id)


def there(report: UserFeedback | None, key: str, feedback_id: str) -> UserFeedback:
    """What was found for an id; raises `NotFound` for nothing, which says whether there was such a report."""
    if report is None:
        if Retraction.objects.filter(key=key).exists():
            raise NotFound(projecting.GONE)
        raise NotFound.of("report", feedback_id[:80])
    return report


def locked(pks: Collection[int] | QuerySet[Any, Any], *beside: str) -> QuerySet[UserFeedback]:
    """Reports with these row ids, locked until the commit in the one order in which all lock several of them.

    The related rows `beside` are read with them, and not locked. No verb changes a key, so inserting rows that
    reference a report need not wait for this lock.
    """
    rows = UserFeedback.objects.select_for_update(of=("self",) if beside else (), no_key=True)
    rows = rows.select_related(*beside) if beside else rows
    return rows.filter(pk__in=pks).order_by("pk")


@contextmanager
def named_reports_stay() -> Iterator[None]:
    """Wrap a transaction that references an unlocked report or a label: either may be deleted meanwhile, which the
    database reports at the commit. That becomes a `Conflict`; what other constraints refuse is raised as it is.
    """
    try:
        yield
    except IntegrityError as problem:
        if not is_named_elsewhere(problem):
            raise
        raise Conflict(
            "This report, the one it names, or a label was deleted just now. Reload and try again."
        ) from None
