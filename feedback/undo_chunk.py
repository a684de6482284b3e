"""Reports whose changes are undone together, locked, with what the undo of each change has to know.

It is read for all of them at once: asked report by report, an undo took three times as long as the bulk that it undoes.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from django.db.models import QuerySet

from accounts.models import User
from core.errors import NotFound
from feedback import access, following, projecting
from feedback.deciding import REDO, Subject
from feedback.models import Bulk, Reply, Triage, TriageChange, UserFeedback


class Written(NamedTuple):
    """A change in a report's history, of which only the columns count."""

    pk: int
    action: str
    undoes: str | None
    verb: str
    columns: frozenset[str]


class Chunk:
    """The reports of some changes, locked in the order of row id. Make it after `undoing.hold_for`.

    What the undo of one change writes is read again for the next change that it concerns: of the same report, of a
    duplicate that followed it, or of its original.
    """

    def __init__(self, changes: Sequence[TriageChange]) -> None:
        self.labels: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
        """Labels that the undone changes added, by action and actor."""
        self._first: dict[int, int] = {}
        for change in changes:
            self._first.setdefault(change.feedback_id, change.pk)
        self._subjects: dict[int, Subject | None] = {}
        self._later: dict[int, list[Written]] = {}
        self._redos: dict[str, str | None] = {}
        self._asked: set[str] = set()
        self._read(self._first.keys())
        named = sides_of(changes)
        self._there = set(UserFeedback.objects.filter(pk__in=named).values_list("pk", flat=True))
        of = Triage.objects.filter(pk__in=named, duplicate_of__isnull=False).values_list("pk", "duplicate_of")
        self._roots = {pk: pk for pk in named} | {pk: root for pk, root in of if root}
        owners = {each for change in changes if (each := change.before.get("owner_id"))}
        self._admins = set(User.objects.admins().filter(pk__in=owners).values_list("pk", flat=True))
        self._undone = _undone_by(changes, self._first.keys())

    def subject_of(self, change: TriageChange) -> Subject:
        """The report of a change, as it is now; raises `NotFound` if it is gone."""
        if change.feedback_id not in self._subjects:
            self._read([change.feedback_id])
        subject = self._subjects[change.feedback_id]
        if subject is None:
            raise NotFound(projecting.GONE)
        return subject

    def later_than(self, change: TriageChange) -> list[Written]:
        """The changes of the report after this one."""
        return [each for each in self._later[change.feedback_id] if each.pk > change.pk]

    def undo_before(self, action: str) -> str | None:
        """The undo, among those that changed a report later, that an action redid; None for any other action."""
        return self._redos.get(action)

    def undone_by(self, change: TriageChange) -> list[Written]:
        """The changes of the report that an undo with this change took back."""
        return self._undone.get((change.undoes, change.feedback_id), [])

    def is_there(self, pk: int) -> bool:
        """Whether a report that a change names was not retracted."""
        return pk in self._there

    def is_admin(self, pk: int) -> bool:
        """Whether an owner before a change is an admin."""
        return pk in self._admins

    def root_of(self, pk: int) -> int:
        """The final original of a report that a change names."""
        root = self._roots.get(pk)
        if root is None:
            root = self._roots[pk] = following.root_of(pk)
        return root

    def changed(self, pk: int, *, of: int | None = None) -> None:
        """A report was changed; `of`: and is a duplicate of that report now, which its own duplicates follow."""
        if of:
            for each, subject in [*self._subjects.items()]:
                if each == of or (subject and subject["duplicate_of_id"] == pk):
                    del self._subjects[each]
            self._roots |= {each: of for each, root in self._roots.items() if root == pk}
        self._subjects.pop(pk, None)
        self._roots.pop(pk, None)

    def _read(self, pks: Collection[int]) -> None:
        reports = {report.pk: report for report in access.locked(pks)}
        beside = {row.pk: row for row in Triage.objects.filter(pk__in=pks)}
        replies = {row.pk: row for row in Reply.objects.filter(pk__in=pks)}
        for pk in pks:
            report = reports.get(pk)
            self._subjects[pk] = Subject(report, beside.get(pk), replies.get(pk)) if report else None
            self._later[pk] = []
        first = min((self._first[pk] for pk in pks), default=0)
        for pk, each in _written(TriageChange.objects.filter(feedback__in=pks, pk__gt=first)):
            self._later[pk].append(each)
        undos = {each.action for pk in pks for each in self._later[pk] if each.undoes} - self._asked
        if undos:
            self._asked |= undos
            self._redos |= dict(Bulk.objects.filter(verb=REDO, undoes__in=undos).values_list("key", "undoes"))


def sides_of(changes: Iterable[TriageChange]) -> set[int]:
    """The reports that changes name, before or after, as the original of a duplicate."""
    moved = [change for change in changes if "duplicate_of_id" in change.after]
    return {of for change in moved for side in (change.before, change.after) if (of := side["duplicate_of_id"])}


def _undone_by(
    changes: Iterable[TriageChange], reports: Collection[int]
) -> dict[tuple[str | None, int], list[Written]]:
    """The changes that undos took back, by action and report, in order."""
    found: dict[tuple[str | None, int], list[Written]] = {}
    if actions := {change.undoes for change in changes if change.undoes}:
        for pk, each in _written(TriageChange.objects.filter(action__in=actions, feedback__in=reports)):
            found.setdefault((each.action, pk), []).append(each)
    return found


def _written(changes: QuerySet[TriageChange]) -> Iterator[tuple[int, Written]]:
    """Changes in order, each with its report; their texts may be long, and are not kept."""
    rows = changes.order_by("id").values_list("feedback", "pk", "action", "undoes", "verb", "after")
    for report, pk, action, undoes, verb, after in rows.iterator():
        yield report, Written(pk, action, undoes, verb, frozenset(after))
