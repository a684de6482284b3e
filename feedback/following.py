"""Duplicates follow their original: when it becomes a duplicate itself or is taken back, they are of what it is of.

So an original is no duplicate, chains and circles never come about, and one look tells what a complaint is about.
"""

from collections.abc import Iterable

from feedback.models import Triage, TriageChange, UserFeedback


def root_of(pk: int) -> int:
    """The report that one is a duplicate of in the end; one that is no duplicate is its own."""
    seen = {pk}
    while (of := Triage.objects.filter(pk=pk).values_list("duplicate_of", flat=True).first()) and of not in seen:
        seen.add(of)
        pk = of
    return pk


def hold(subjects: Iterable[int], *, named: Iterable[int] = ()) -> None:
    """Lock reports with their duplicates, and those that they name up to their roots, by row id: before any of them
    becomes a duplicate, and inside its transaction.

    Two admins who name each other's report meet there one after the other, and the second one sees what the first one
    did. Who was locked may have got another root or a duplicate more while this waited, which is locked as well then.
    """
    held: set[int] = set()
    while missing := _family(set(subjects), set(named)) - held:
        rows = UserFeedback.objects.select_for_update(no_key=True).filter(pk__in=missing).order_by("pk")
        held |= missing | set(rows.values_list("pk", flat=True))


def lead(actor_id: int, *, of: int, to: int, verb: str, action: str, undoes: str | None = None) -> None:
    """Make the duplicates of one report those of another one, which is none of them, each with a history row.

    Under the locks of them all. Many of them cost no more queries.
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


def _family(subjects: set[int], named: set[int]) -> set[int]:
    family = subjects | named
    above = named
    while above:
        rows = Triage.objects.filter(pk__in=above, duplicate_of__isnull=False)
        above = set(rows.values_list("duplicate_of", flat=True)) - family
        family |= above
    return family | set(Triage.objects.filter(duplicate_of__in=subjects).values_list("pk", flat=True))
