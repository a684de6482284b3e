"""Undoing one action, on one report or thousands, and reporting what could not be undone."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, OuterRef, QuerySet
from django.utils import timezone

from accounts.rights import require_admin
from core import ids
from core.actor import Actor
from core.errors import Conflict, NotFound
from core.prepared import Prepared
from feedback import following, labelling, triage
from feedback.deciding import (
    AGAIN,
    FOLLOW,
    REDO,
    RENAME,
    RETRACT,
    UNDO,
    UPDATE,
    Decision,
    Subject,
    read_back,
    resolves_again,
)
from feedback.label_text import beyond, changed, is_too_long
from feedback.models import Bulk, TriageChange
from feedback.undo_chunk import Chunk, Written, sides_of

WINDOW = timedelta(minutes=30)
"""How long an action can be undone."""
FINAL = {
    AGAIN: "A report that was reported again stays due. Snooze it again instead.",
    RETRACT: "A retracted report cannot be restored.",
    RENAME.name: "To undo a renaming, rename the label back. A merge cannot be undone.",
}
"""Verbs in history that cannot be undone, and why."""
_UNDONE = "This action was already undone."
_WHOLE = frozenset({"resolved", "outcome", "public_status", "public_reply"})
"""If one of these columns was changed since, nothing of its change is undone."""
_HISTORY_ONLY = frozenset({"resolved_at", "resolved_by_id", "replied_at"})
_BY_CONTENT = frozenset({"admin_label", "duplicate_of_id"})


def report_of(action: str) -> str | None:
    """The id of the report that an action was about, which it changed last; None for a bulk of several."""
    changes = TriageChange.objects.filter(action=action).exclude(verb=FOLLOW)
    last = changes.order_by("-id").values_list("feedback__key", flat=True).first()
    if last is None:
        return None
    is_of_many = Bulk.objects.filter(key=action).exists() and changes.exclude(feedback__key=last).exists()
    return None if is_of_many else ids.FEEDBACK + last


def require_undoable(actor: Actor, action: str) -> None:
    """Refuse an action that cannot be undone. Its last change decides, as in the desk's offer; a bulk that has not
    ended can be undone before it has changed anything, or it would go on after an undo that was refused.

    An undo can be undone, too: that brings back what it took back. Raises `NotFound` for an unknown action, `Conflict`
    if it is too old, already undone, or being undone. An action that was undone stays known by that, even if it had
    changed nothing yet.
    """
    require_admin(actor)
    last = TriageChange.objects.filter(action=action).order_by("-id").first() if action else None
    begun = last or Bulk.objects.filter(key=action, state__in=Bulk.OPEN).first()
    if begun is None:
        if action and Bulk.objects.filter(undoes=action).exists():
            raise Conflict(_UNDONE)
        raise NotFound("There is no such action.")
    if last and max(last.at, _end_of(action) or last.at) < timezone.now() - WINDOW:
        raise Conflict("This action is more than 30 minutes old and can no longer be undone.")
    if begun.verb in FINAL:
        raise Conflict(FINAL[begun.verb])
    if last is None:
        return
    if Bulk.objects.filter(undoes=action, state__in=Bulk.OPEN).exists():
        raise Conflict(f"This action is already being {'redone' if begun.undoes else 'undone'}.")
    if not left_of(action).exists():
        raise Conflict("This undo was already redone." if begun.undoes else _UNDONE)


def _end_of(action: str) -> datetime | None:
    """When a bulk ended; None for any other action."""
    found = ENDED.first(action)
    return found[0] if found else None


ENDED = Prepared(lambda action: Bulk.objects.filter(key=action).values_list("finished_at", "verb"), str)
"""When the bulk with a key ended, and its verb: one row, none if it is no bulk."""


def left_of(action: str) -> QuerySet[TriageChange]:
    """The first change of each report of an action that is not undone yet: of all of them, or after a stopped undo of
    those it did not reach.
    """
    redone = Bulk.objects.filter(undoes=action, verb=REDO).values_list("key", flat=True)
    by = {"action__in": list(redone)} if is_undo(action) else {"undoes": action}
    latest = TriageChange.objects.filter(**by).order_by("-id").values_list("action", flat=True).first()
    if latest is None:
        return first_changes(action)
    stopped = Bulk.objects.filter(key=latest, state=Bulk.State.CANCELLED).values_list("after", flat=True).first()
    return changes_of(action).none() if stopped is None else first_changes(action, after=stopped)


def first_changes(action: str, *, after: int = 0) -> QuerySet[TriageChange]:
    """The first change of each report of an action, in order, with row ids above `after`: one row per report, as an
    undo goes through them.
    """
    rows = _to_undo(action)
    earlier = rows.filter(feedback=OuterRef("feedback"), pk__lt=OuterRef("pk")).order_by()
    return rows.filter(~Exists(earlier), pk__gt=after)


def changes_to_undo(action: str, reports: Iterable[int]) -> list[TriageChange]:
    """All changes of an action to some reports, in order. It is looked for in their histories, which are short: by the
    action, a database would go through all of a bulk for each chunk.
    """
    rows = TriageChange.objects.filter(feedback__in=list(reports)).select_related("feedback").order_by()
    left_out = FOLLOW if is_undo(action) else None
    found = (each for each in rows if each.action == action and each.verb != left_out)
    return sorted(found, key=lambda each: each.pk)


def _to_undo(action: str) -> QuerySet[TriageChange]:
    """The changes of an action that its undo takes back. Of an undo, duplicates that moved with their original are left
    out: redone, it leads them itself.
    """
    changes = changes_of(action)
    return changes.exclude(verb=FOLLOW) if is_undo(action) else changes


def origin_of(action: str) -> str:
    """The action that an undo or a redo is about in the end; any other one itself."""
    kept = Bulk.objects.filter(key=action).values_list("arguments", flat=True).first()
    return str((kept or {}).get("origin", action))


def undone_action(done: Bulk) -> str:
    """The action that an undo took back; of a redo, the one that it brings back."""
    source = done.undoes or ""
    of_redo = Bulk.objects.filter(key=source).values_list("undoes", flat=True) if done.verb == REDO else ()
    return next((each or "" for each in of_redo), source)


def is_undo(action: str) -> bool:
    """Whether an action is an undo, and no redo."""
    return Bulk.objects.filter(key=action, verb=UNDO).exists()


def latest_redoable(undos: Iterable[str]) -> str | None:
    """The latest of some undos that took anything back and that nobody has redone, or not to its end."""
    changed = TriageChange.objects.filter(action=OuterRef("key"))
    redone = Bulk.objects.filter(verb=REDO, undoes=OuterRef("key")).exclude(state=Bulk.State.CANCELLED)
    found = Bulk.objects.filter(Exists(changed), ~Exists(redone), key__in=list(undos))
    return found.order_by("-id").values_list("key", flat=True).first()


def acted_since(actor: Actor, since: datetime, *, but: Iterable[str]) -> bool:
    """Whether somebody did anything since a time that is in the history, besides some actions and what followed."""
    changes = TriageChange.objects.filter(actor=actor.user_id, at__gt=since, undoes=None).exclude(action__in=list(but))
    return changes.exclude(verb__in=(FOLLOW, *FINAL)).exists()


def hold_for(changes: Sequence[TriageChange]) -> None:
    """Lock the reports that changes name, before the changes are undone."""
    moved = {change.feedback_id for change in changes if "duplicate_of_id" in change.after}
    following.hold(moved, named=sides_of(changes))


def undo_one(actor: Actor, stored: TriageChange, change: TriageChange, chunk: Chunk, *, action: str) -> list[str]:
    """Undo one change in the caller's transaction: each column that still has the value that the change wrote.

    `change` is the one that is `stored`, with labels as they are called now (`renaming.followed`). Labels that the
    change added are left to `forget_labels`, at the end of the chunk.
    Returns the columns that stay because somebody changed them since, or because nobody could write that now: too long
    labels, an owner who is no longer an admin. Raises `NotFound` if the report is gone.
    """
    subject = chunk.subject_of(change)
    decision, stay = _inverse(subject, change, chunk)
    verb = FOLLOW if change.verb == FOLLOW else UNDO
    if triage.apply(actor, subject, verb, decision, action=action, undoes=change.action):
        chunk.changed(change.feedback_id, of=decision.get("duplicate_of_id"))
    if labels := labels_beyond(stored.after, stored.before):
        chunk.labels[change.action, change.actor_id].update(labels)
    return stay


def forget_labels(chunk: Chunk) -> None:
    """Delete the labels that undone actions created and that no report has any more."""
    for (action, by), labels in chunk.labels.items():
        began = changes_of(action).values_list("at", flat=True)[0]
        labelling.forget(labels, by=by, since=began)


def redo_one(actor: Actor, _: TriageChange, change: TriageChange, chunk: Chunk, *, action: str) -> list[str]:
    """Bring back what one change of an undo took back, as `undo_one` does; but it is an action of the actor, of now.

    A duplicate of a report that was retracted since stays as it is: it would be resolved as one of nothing.
    """
    subject = chunk.subject_of(change)
    if (of := change.before.get("duplicate_of_id")) and not chunk.is_there(of):
        return [column for column in change.after if column not in _HISTORY_ONLY]
    decision, stay = _inverse(subject, change, chunk)
    undone = chunk.undone_by(change)
    verb = next((each.verb for each in undone if change.after.keys() <= each.columns), UPDATE.name)
    now = {column: value for column, value in decision.items() if column not in _HISTORY_ONLY}
    if decision and resolves_again(change.after):
        now |= {"resolved_at": timezone.now(), "resolved_by_id": actor.user_id}
    if triage.apply(actor, subject, verb, now, action=action):
        chunk.changed(change.feedback_id, of=now.get("duplicate_of_id"))
    return stay


def _inverse(subject: Subject, change: TriageChange, chunk: Chunk) -> tuple[Decision, list[str]]:
    """What a change wrote as it was before, where it still stands, and the columns that stay."""
    report = subject.report
    since = _written_since(change, chunk)
    if resolves_again(change.after) and "resolved" in since:
        return {}, ["resolved"]
    vain = {column for column in change.after if change.after[column] == change.before[column]}
    left = {column for column in change.after if _is_as_left(subject, change, column, since, chunk)}
    stay = [column for column in change.after if column in since | vain or column not in left]
    # The resolution or the reply is now somebody else's, with all its columns.
    if _WHOLE.intersection(stay) or ("resolved" in change.after and "outcome" in since):
        stay = sorted(change.after)
    decision = {column: read_back(column, change.before[column]) for column in change.after if column not in stay}
    if is_too_long(decision.get("admin_label") or ""):  # one was renamed since, and is longer now
        stay.append("admin_label")
    if (owner := decision.get("owner_id")) and not chunk.is_admin(owner):
        stay.append("owner_id")
    decision = {column: value for column, value in decision.items() if column not in stay}
    if "admin_label" in stay and not _WHOLE.intersection(stay):
        others = _without_its_labels(report.admin_label, change)
        if others != report.admin_label:
            decision["admin_label"] = others
            stay.remove("admin_label")
    if (of := decision.get("duplicate_of_id")) and not chunk.is_there(of):  # it was retracted since
        decision["duplicate_of_id"] = None if "resolved" in decision else subject["duplicate_of_id"]
        stay.append("duplicate_of_id")
    elif of:
        decision["duplicate_of_id"] = root = chunk.root_of(of)
        # The original may be a duplicate of this report by now, or of the same one.
        if root in (report.pk, subject["duplicate_of_id"]):
            stay, decision = sorted(change.after), {}
    return decision, [column for column in stay if column not in _HISTORY_ONLY]


def undoable_among(actor: Actor, changes: Sequence[TriageChange]) -> dict[int, tuple[str, int]]:
    """What the actor did to a report and may undo, by the row id of its last change there: the action's id, and how
    many reports it changed. One query if there is any.
    """
    begin, undone = timezone.now() - WINDOW, {each.undoes for each in changes}
    own = (each for each in changes if each.actor_id == actor.user_id and each.at > begin)
    is_final = {UNDO, FOLLOW, *FINAL}
    last = {each.action: each.pk for each in own if each.verb not in is_final and each.action not in undone}
    if not last:
        return {}
    # A bulk may be undone on other reports alone, or be on the way to this one.
    undos = TriageChange.objects.filter(undoes=OuterRef("action"))
    begun = Bulk.objects.filter(undoes=OuterRef("action"), state__in=Bulk.OPEN)
    rows = TriageChange.objects.filter(~Exists(undos), ~Exists(begun), action__in=last).exclude(verb=FOLLOW).order_by()
    counted = rows.values_list("action").annotate(reports=Count("feedback", distinct=True))
    return {last[action]: (ids.ACTION + action, count) for action, count in counted}


def taken_back(actor: Actor, changes: Sequence[TriageChange]) -> dict[str, str]:
    """The texts that the actor's latest change of a report took back, by column, if nobody has written others since.

    They are offered again: whoever undoes a resolve wants to see what they had typed for it. A note that was saved by
    itself is not among them, because any button would save it again.
    """
    last = next((each for each in reversed(changes) if each.actor_id == actor.user_id), None)
    if last is None or last.undoes is None or last.at < timezone.now() - WINDOW:
        return {}
    undone = [each for each in changes if each.action == last.undoes]
    columns = {"public_reply"} if {each.verb for each in undone} <= {"note"} else {"admin_note", "public_reply"}
    texts = {column: each.after[column] or "" for each in undone for column in columns & each.after.keys()}
    latest = {column: each for each in changes for column in texts.keys() & each.after.keys()}
    return {column: text for column, text in texts.items() if latest[column].action == last.action}


def changes_of(action: str) -> QuerySet[TriageChange]:
    """The changes of an action, in order."""
    return TriageChange.objects.filter(action=action).select_related("feedback").order_by("id")


def labels_beyond(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The labels of one side of a change that the other side does not have."""
    return beyond(one.get("admin_label"), other.get("admin_label"))


def columns_line(columns: Iterable[str]) -> str:
    """The names of columns, for people."""
    return ", ".join(column.removesuffix("_id").replace("admin_", "").replace("_", " ") for column in columns)


def _without_its_labels(admin_label: str | None, change: TriageChange) -> str | None:
    """The labels without what a change did to them; what others added or removed since is kept."""
    labels = changed(
        admin_label, add=labels_beyond(change.before, change.after), remove=labels_beyond(change.after, change.before)
    )
    return admin_label if is_too_long(labels) else labels or None


def _written_since(change: TriageChange, chunk: Chunk) -> set[str]:
    """The columns that were written after a change, also with the same value again, unless that was undone since.

    Labels and duplicate links are compared by what is in them.
    """
    later = chunk.later_than(change)
    undone = {each.undoes for each in later if each.undoes}
    standing = [each for each in later if each.undoes is None and each.action not in undone | {change.action}]
    standing = [each for each in standing if not _is_of_before(each.action, later, chunk)]
    written = {column for each in standing for column in each.columns}
    # By another resolution its time is written, and maybe nothing else.
    if written & {"resolved", "resolved_at"}:
        written |= {"resolved", "outcome"}
    return written - _BY_CONTENT - _HISTORY_ONLY


def _is_of_before(action: str, later: Sequence[Written], chunk: Chunk) -> bool:
    """Whether an action only brought back what was there before a change: it is the redo of an undo, or of the undo of
    such a redo, of what came before it. Together they leave the change as it was.
    """
    undid = {each.action: each.undoes for each in later if each.undoes}
    done = {each.action for each in later}
    while (undo := chunk.undo_before(action)) in undid:
        action = undid[undo]
        if action not in done:
            return True
    return False


def _is_as_left(subject: Subject, change: TriageChange, column: str, since: set[str], chunk: Chunk) -> bool:
    if column in _HISTORY_ONLY:
        return True
    if column == "duplicate_of_id" and (of := change.after[column]):  # it may have followed its original since
        is_same = "resolved" in change.after or subject[column] == chunk.root_of(of)
        return subject.report.resolved and "resolved" not in since and is_same
    return bool(subject[column] == read_back(column, change.after[column]))
