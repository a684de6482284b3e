"""Taking back what one click did, to one report or to thousands, and saying honestly what could not be taken back."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet
from django.utils import timezone

from accounts.rights import require_admin
from core import ids
from core.actor import Actor
from core.errors import Conflict, NotFound
from core.rendering import isolated
from feedback import following, historytelling, labelling, projecting, triage
from feedback.deciding import (
    AGAIN,
    FOLLOW,
    RENAME,
    REPLY_COLUMNS,
    RETRACT,
    UNDO,
    Decision,
    Subject,
    read_back,
)
from feedback.label_text import LABELS_LENGTH, beyond, changed
from feedback.models import Bulk, TriageChange, UserFeedback

WINDOW = timedelta(minutes=30)
"""How long an action can be taken back."""
_DEEDS = {
    "label": ("Labelled {it} {how}", "label {how} on {it}"),
    "new label": ("New label {how} on {it}", "new label {how} on {it}"),
    "unlabel": ("Took {how} off {it}", "taking {how} off {it}"),
    "note": ("Noted on {it}", "note on {it}"),
    "own": ("Handed over {it}", "handover of {it}"),
    "take": ("Took {it}", "taking of {it}"),
    "let go": ("Let go of {it}", "letting go of {it}"),
    "resolve": ("Resolved {it}", "resolution of {it}"),
    "reopen": ("Reopened {it}", "reopening of {it}"),
    "duplicate": ("Marked as duplicate: {it}", "duplicate mark of {it}"),
    "snooze": ("Snoozed {it} {how}", "snooze of {it}"),
    "wake": ("Woke {it}", "waking of {it}"),
    "reply": ("Answered {it}", "answer to {it}"),
    "update": ("Changed {it}", "change of {it}"),
}
"""What was done, and the same as a thing that is taken back."""
_FINAL = {
    AGAIN: "What was reported again stays so. Snooze it again instead.",
    RETRACT: "What a submitter took back stays taken back.",
    RENAME.name: "A label is renamed back by its name; a merge of two cannot be taken back.",
}
"""What cannot be undone, by its verb in history, and why."""
_WHOLE = frozenset({"resolved", *REPLY_COLUMNS})
"""What stays of these is one with all else that its verb wrote."""
_HISTORY_ONLY = frozenset({"resolved_at", "resolved_by_id"})


@dataclass(frozen=True, slots=True)
class LastAction:
    """What somebody did last and can still take back: what it was, to how many reports, the words of one, when."""

    action: str
    deed: str
    report_count: int
    subject: str
    at: datetime
    how: str = ""
    """The labels that it put on or took off, or until when it put reports off, where that is what it did."""

    @property
    def until(self) -> datetime:
        """Up to when it can be taken back."""
        return self.at + WINDOW

    @property
    def action_id(self) -> str:
        """The public id."""
        return ids.ACTION + self.action

    @property
    def words(self) -> str:
        """What was done, for people: `Resolved “Called me Sophia”`, `Resolved 9 reports`."""
        return _DEEDS[self.deed][0].format(it=self._it, how=isolated(self.how))

    @property
    def noun(self) -> str:
        """The same as a thing: `resolution of “Called me Sophia”`."""
        return _DEEDS[self.deed][1].format(it=self._it, how=isolated(self.how))

    @property
    def _it(self) -> str:
        if self.report_count > 1:
            return f"{self.report_count} reports"
        said = self.subject if len(self.subject) <= 60 else f"{self.subject[:59].rstrip()}…"
        return f"\u201c{isolated(said)}\u201d" if said else "a report without words"

    @property
    def minutes(self) -> int:
        """How much longer it can be taken back."""
        return max(0, int((self.until - timezone.now()).total_seconds() // 60))


def last_action(
    actor: Actor, *, unfinished: Iterable[str] = (), tried: Iterable[str] = (), tz: tzinfo = UTC
) -> LastAction | None:
    """What `z` undoes: the actor's latest action that is young enough and was not undone.

    `unfinished`: actions whose undo was stopped, so that it can go on. `tried`: actions whose undo came to its end,
    though it may have changed nothing: `z` goes on to the one before. Times are shown in `tz`.
    """
    undone = TriageChange.objects.filter(undoes=OuterRef("action"))
    found = (
        TriageChange.objects.filter(actor=actor.user_id, undoes__isnull=True, at__gt=timezone.now() - WINDOW)
        .exclude(Exists(undone) & ~Q(action__in=unfinished))
        .exclude(action__in=tried)
        .exclude(verb__in=(FOLLOW, *_FINAL))
        .select_related("feedback")
        .order_by("-id")
        .first()
    )
    return None if found is None else _told(found, tz)


def noun_of(action: str) -> str:
    """An action as a thing that is taken back: `snooze of “Used words”`."""
    last = changes_of(action).exclude(verb=FOLLOW).last()
    return "what was done to a report that is gone" if last is None else _told(last, UTC).noun


def _told(change: TriageChange, tz: tzinfo) -> LastAction:
    """The action of which this is the last change. It speaks for all that the action did."""
    of = (
        TriageChange.objects.filter(action=change.action)
        .exclude(verb=FOLLOW)
        .aggregate(began=Min("at"), reports=Count("feedback", distinct=True))
    )
    deed, how = _deed(change, of["began"], tz)
    return LastAction(change.action, deed, of["reports"], change.feedback.notes or "", change.at, how)


def _deed(change: TriageChange, began: datetime, tz: tzinfo) -> tuple[str, str]:
    """The verb of a change with the labels or the time that it is about; for an owner who: oneself, nobody, or
    somebody else.
    """
    if change.verb == "label":
        return _labelled(change, began)
    if change.verb == "snooze":
        return "snooze", historytelling.until(change.after.get("snoozed_until") or True, tz)
    if change.verb != "own":
        return change.verb, ""
    owner = change.after.get("owner_id")
    return ("take" if owner == change.actor_id else "own" if owner else "let go"), ""


def _labelled(change: TriageChange, began: datetime) -> tuple[str, str]:
    added = _less(change.after, change.before)
    if not added:
        return "unlabel", ", ".join(_less(change.before, change.after))
    is_new = len(labelling.made_since(added, began)) == len(added)
    return ("new label" if is_new else "label"), ", ".join(added)


def _less(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The labels of one side of a change that the other has not."""
    return beyond(one.get("admin_label"), other.get("admin_label"))


def only_report(action: str) -> str | None:
    """The id of the report that an action was about, None where it was about several."""
    changes = TriageChange.objects.filter(action=action).exclude(verb=FOLLOW).order_by()
    found = list(changes.values_list("feedback__key", flat=True).distinct()[:2])
    return ids.FEEDBACK + found[0] if len(found) == 1 else None


def require_undoable(actor: Actor, action: str) -> None:
    """Refuse to take an action back that cannot be. Its last change counts, as it does where the desk offers it.

    Raises `NotFound` for an unknown action, `Conflict` when it is too old, was taken back to its end or is just being
    taken back, or takes one back itself.
    """
    require_admin(actor)
    last = TriageChange.objects.filter(action=action).order_by("-id").first() if action else None
    if last is None:
        raise NotFound("There is no such action.")
    if last.at < timezone.now() - WINDOW:
        raise Conflict("That is more than 30 minutes ago and can no longer be taken back.")
    if last.verb in _FINAL:
        raise Conflict(_FINAL[last.verb])
    if last.undoes is not None:
        raise Conflict("That took something back itself. Do it again instead.")
    if Bulk.objects.filter(undoes=action, state__in=Bulk.OPEN).exists():
        raise Conflict("That is being taken back already.")
    if not left_of(action).exists():
        raise Conflict("That was taken back already.")


def left_of(action: str) -> QuerySet[TriageChange]:
    """The changes of an action that no undo came to: where one was stopped, those behind its last."""
    latest = TriageChange.objects.filter(undoes=action).order_by("-id").values_list("action", flat=True).first()
    if latest is None:
        return changes_of(action)
    stopped = Bulk.objects.filter(key=latest, state=Bulk.State.CANCELLED).values_list("after", flat=True).first()
    return changes_of(action).none() if stopped is None else changes_of(action, after=stopped)


def hold_for(changes: Iterable[TriageChange]) -> None:
    """Lock what changes named, before they are taken back."""
    moved = [change for change in changes if "duplicate_of_id" in change.after]
    sides = [side["duplicate_of_id"] for change in moved for side in (change.before, change.after)]
    following.hold({change.feedback_id for change in moved}, named=set(filter(None, sides)))


def undo_one(actor: Actor, change: TriageChange, *, action: str) -> list[str]:
    """Take one change back, in the caller's transaction: each column that still is as the change left it.

    Gives the columns that somebody has changed since and that therefore stay; `NotFound` where the report is gone.
    """
    report = UserFeedback.objects.select_for_update(no_key=True).filter(pk=change.feedback_id).first()
    if report is None:
        raise NotFound(projecting.GONE)
    subject = triage.subject_of(report)
    stay = [column for column in change.after if not _as_left(subject, change, column)]
    if _WHOLE.intersection(stay):  # the resolution or the answer is somebody else's now, and all that it says
        stay = sorted(change.after)
    decision = {column: read_back(column, change.before[column]) for column in change.after if column not in stay}
    if "admin_label" in stay and not _WHOLE.intersection(stay):
        others = _without_its_labels(report.admin_label, change)
        if others != report.admin_label:
            decision["admin_label"] = others
            stay.remove("admin_label")
    if _is_of_nothing(decision):
        decision["duplicate_of_id"] = None if "resolved" in decision else subject["duplicate_of_id"]
        stay.append("duplicate_of_id")
    elif original := decision.get("duplicate_of_id"):
        decision["duplicate_of_id"] = root = following.root_of(original)
        if root in (report.pk, subject["duplicate_of_id"]):  # what it was a duplicate of is one now, of it or with it
            stay, decision = sorted(change.after), {}
    triage.apply(actor, subject, UNDO, decision, action=action, undoes=change.action)
    if labels := _less(change.after, change.before):
        began = changes_of(change.action).values_list("at", flat=True)[0]
        labelling.forget(labels, by=change.actor_id, since=began)
    return [column for column in stay if column not in _HISTORY_ONLY]


def changes_of(action: str, *, after: int = 0) -> QuerySet[TriageChange]:
    """The changes of an action in their order, behind a row id."""
    return TriageChange.objects.filter(action=action, pk__gt=after).select_related("feedback").order_by("id")


def columns_line(columns: Iterable[str]) -> str:
    """Columns, for people."""
    return ", ".join(column.removesuffix("_id").replace("admin_", "").replace("_", " ") for column in columns)


def _without_its_labels(admin_label: str | None, change: TriageChange) -> str | None:
    """Labels as they would be without a change of them: what others added or removed since stays so."""
    labels = changed(admin_label, add=_less(change.before, change.after), remove=_less(change.after, change.before))
    return admin_label if len(labels) > LABELS_LENGTH else labels or None


def _is_of_nothing(decision: Decision) -> bool:
    """Whether it would name a report that was taken back since."""
    of = decision.get("duplicate_of_id")
    return of is not None and not UserFeedback.objects.filter(pk=of).exists()


def _as_left(subject: Subject, change: TriageChange, column: str) -> bool:
    if column in _HISTORY_ONLY:
        return True
    if column == "resolved" and change.after["resolved"] and subject.report.resolved_at != change.at:
        return False  # opened and resolved again since: the value is the same, the resolution is not
    if column == "duplicate_of_id" and (of := change.after[column]):
        return _is_still_of(subject, change, of)
    return bool(subject[column] == read_back(column, change.after[column]))


def _is_still_of(subject: Subject, change: TriageChange, of: int) -> bool:
    """Whether it is the duplicate that the change made of it, which may have followed its original since."""
    resolved_at = subject.report.resolved_at
    is_of_change = resolved_at is not None and resolved_at <= change.at
    return is_of_change and ("resolved" in change.after or subject["duplicate_of_id"] == following.root_of(of))
