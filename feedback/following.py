"""Duplicates follow their original: if it becomes a duplicate itself or is retracted, they get its original.

So an original is never a duplicate, there are no chains or cycles, and the root is found in one lookup.
"""

from collections.abc import Iterable

from feedback import access
from feedback.models import Triage, TriageChange


def root_of(pk: int) -> int:
    """The final original of a report; the report itself if it is not a duplicate."""
    return Triage.objects.filter(pk=pk).values_list("duplicate_of", flat=True).first() or pk


def hold(subjects: Iterable[int], *, named: Iterable[int] = ()) -> None:
    """Lock reports with their duplicates, and the reports they name with their roots, in order of row id.

    Call it in the transaction, before any of them becomes a duplicate. Of two admins who name each other's report, the
    second waits and then sees the change of the first. If a locked report got another root or duplicate during the
    wait, that one is locked, too.
    """
    held: set[int] = set()
    while missing := _family(set(subjects), set(named)) - held:
        held |= missing | set(access.locked(missing).values_list("pk", flat=True))


def lead(actor_id: int, *, of: int, to: int | None, verb: str, action: str, undoes: str | None = None) -> list[int]:
    """Move the duplicates of report `of` to report `to`, which stays as it is, or to none, each with a history row;
    returns their row ids.

    All of them must be locked. The number of queries is constant.
    """
    duplicates = Triage.objects.filter(duplicate_of=of).exclude(pk=to)
    changes = [
        TriageChange(
            feedback_id=pk,
            actor_id=actor_id,
            before={"duplicate_of_id": of},
            after={"duplicate_of_id": to},
            verb=verb,
            action=action,
            undoes=undoes,
        )
        for pk in duplicates.order_by("pk").values_list("pk", flat=True)
    ]
    if changes:
        TriageChange.objects.bulk_create(changes, batch_size=500)
        duplicates.update(duplicate_of=to)
    return [change.feedback_id for change in changes]


def _family(subjects: set[int], named: set[int]) -> set[int]:
    roots = Triage.objects.filter(pk__in=named, duplicate_of__isnull=False).values_list("duplicate_of", flat=True)
    duplicates = Triage.objects.filter(duplicate_of__in=subjects).values_list("pk", flat=True)
    return subjects | named | set(roots) | set(duplicates)
