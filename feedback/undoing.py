"""Undoing one action, on one report or thousands, and reporting what could not be undone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.text import Truncator

from accounts.models import User
from accounts.rights import require_admin
from core import ids
from core.actor import Actor
from core.errors import Conflict, NotFound
from core.prepared import Prepared, PreparedRow, together
from core.rendering import isolated
from core.templatetags.ui import thousands
from feedback import following, historytelling, labelling, projecting, triage
from feedback.deciding import (
    AGAIN,
    FOLLOW,
    RENAME,
    RETRACT,
    UNDO,
    Decision,
    Subject,
    read_back,
    resolves_again,
    spelled,
)
from feedback.label_text import LABELS_LENGTH, beyond, changed
from feedback.models import Bulk, Check, TriageChange, UserFeedback
from feedback.taxonomy import Outcome

WINDOW = timedelta(minutes=30)
"""How long an action can be undone."""
_DEEDS = {
    "label": ("Labelled {it} {how}", "on {it}", "label {how}"),
    "labels": ("Labelled {it} {how}", "on {it}", "labels {how}"),
    "new label": ("New label {how} on {it}", "on {it}", "new label {how}"),
    "new labels": ("New labels {how} on {it}", "on {it}", "new labels {how}"),
    "unlabel": ("Removed {how} from {it}", "from {it}", "removal of {how}"),
    "unlabels": ("Removed {how} from {it}", "from {it}", "removal of {how}"),
    "note": ("Saved note on {it}", "on {it}", "note"),
    "own": ("Assigned {it} to {how}", "of {it}", "assignment to {how}"),
    "take": ("Claimed {it}", "of {it}", "claim"),
    "let go": ("Released {it}", "of {it}", "release"),
    "resolve": ("Resolved {it}{how}", "of {it}", "resolution"),
    "outcome": ("Changed the outcome of {it} to {how}", "of {it}", "outcome"),
    "reopen": ("Reopened {it}", "of {it}", "reopening"),
    "duplicate": ("Marked {it} as duplicate of \u201c{how}\u201d", "on {it}", "duplicate mark"),
    "snooze": ("Snoozed {it} {how}", "of {it}", "snooze"),
    "wake": ("Woke {it}", "of {it}", "waking"),
    "reply": ("Replied to {it}", "to {it}", "reply"),
    "update": ("Changed {it}", "of {it}", "change"),
}
"""Each action as a sentence, and the end and the beginning of a noun for messages like `Undone: ...`."""
_ALREADY = {
    **dict.fromkeys(("label", "new label"), "had it already"),
    **dict.fromkeys(("labels", "new labels"), "had them already"),
    "unlabel": "did not have it",
    "unlabels": "did not have them",
}
"""What is said of reports that were as an action wants them; of other actions, `were so already`."""
_FINAL = {
    AGAIN: "A report that was reported again stays due. Snooze it again instead.",
    RETRACT: "A retracted report cannot be restored.",
    RENAME.name: "To undo a renaming, rename the label back. A merge cannot be undone.",
}
"""Verbs in history that cannot be undone, and why."""
_WHOLE = frozenset({"resolved", "outcome", "public_status", "public_reply"})
"""If one of these columns was changed since, nothing of its change is undone."""
_HISTORY_ONLY = frozenset({"resolved_at", "resolved_by_id", "replied_at"})
_BY_CONTENT = frozenset({"admin_label", "duplicate_of_id"})


@dataclass(frozen=True, slots=True)
class LastAction:
    """The latest action that somebody can still undo: what it was, number of reports, the notes of one, when."""

    action: str
    deed: str
    report_count: int
    subject: str
    at: datetime
    how: str = ""
    """The labels that it added or removed, the new owner, until when it snoozed, the outcome, or how the original's
    notes begin; empty for other actions.
    """
    has_note: bool = False
    """Whether it also saved a note that was typed; not for an action that is only a note."""
    place: str = ""
    """The title of its thread, for one without notes."""
    feedback_id: str = ""
    """The only report that it changed, else the last one."""
    failing: int = 0
    """How many of the reports that it resolved as fixed have a failing check now."""
    unchanged: int = 0
    """How many of the chosen reports were so already."""
    ended: datetime | None = None
    """When it ended, if it was a bulk."""

    @property
    def until(self) -> datetime:
        """Until when it can be undone."""
        return max(self.at, self.ended or self.at) + WINDOW

    @property
    def action_id(self) -> str:
        """The public id."""
        return ids.ACTION + self.action

    @property
    def words(self) -> str:
        """The action for people: `Resolved “Called me Sophia”`, `Resolved 9 reports`."""
        said = _DEEDS[self.deed][0].format(it=self._it, how=isolated(self.how))
        return "".join(
            (
                said,
                " and saved the note" if self.has_note else "",
                f" ({already(self.unchanged, self.deed)})" if self.unchanged else "",
            )
        )

    @property
    def warning(self) -> str:
        """What is wrong with it; empty if nothing is: `its check fails`, `the checks of 2 fail`."""
        if self.report_count == 1 and self.failing:
            return "its check fails"
        many = f"the checks of {thousands(self.failing)} fail" if self.failing > 1 else "the check of 1 fails"
        return many if self.failing else ""

    @property
    def noun(self) -> str:
        """The action as a noun: `resolution of “Called me Sophia”`."""
        said = f"{self.short} {_DEEDS[self.deed][1].format(it=self._it)}"
        return f"{said} and its note" if self.has_note else said

    @property
    def short(self) -> str:
        """The action as a noun without its subject, for a button: `resolution`."""
        return _DEEDS[self.deed][2].format(how=isolated(self.how))

    @property
    def _it(self) -> str:
        if self.report_count > 1:
            return f"{thousands(self.report_count)} reports"
        if self.subject:
            return _quoted(self.subject)
        return f"a report on {_quoted(self.place)}" if self.place else "a report without notes"

    @property
    def minutes(self) -> int:
        """How many more minutes it can be undone."""
        return max(0, int((self.until - timezone.now()).total_seconds() // 60))


def already(count: int, deed: str) -> str:
    """What is said of reports that were as an action wanted them: `25 had it already`."""
    said = _ALREADY.get(deed, "were so already")
    return f"{thousands(count)} {said.replace('were', 'was') if count == 1 else said}"


def _quoted(text: str) -> str:
    said = text if len(text) <= 60 else f"{text[:59].rstrip()}…"
    return f"\u201c{isolated(said)}\u201d"


def last_action(actor: Actor, bulks: Sequence[Bulk] = (), *, tz: tzinfo = UTC) -> LastAction | None:
    """What `z` would undo: the actor's latest action inside the window that was not undone, or not completely.

    `bulks` are those of the actor that run or ended inside the window, oldest first (`bulk.shown`). An action whose
    undo was stopped is offered again. One whose undo is finished is not, even if nothing could be changed: `z` moves on
    to the one before. Times are shown in `tz`.
    """
    begin = timezone.now() - WINDOW
    found = _undoable(actor.user_id, begin, bulks).first() if bulks else _LATEST.first(actor.user_id, begin)
    return _told(found, tz)


def _undoable(user_id: int, begin: datetime, bulks: Sequence[Bulk] = ()) -> QuerySet[TriageChange]:
    """The last change of what can be undone; the window of a bulk begins with its end."""
    ended = {each.key: each.created for each in bulks if each.finished_at and each.finished_at > begin}
    undos = {each.undoes: each for each in bulks if each.undoes}
    stopped = [(of, each) for of, each in undos.items() if each.state == Bulk.State.CANCELLED]
    unfinished = [of for of, each in stopped if each.dealt_with < each.total]
    tried = [of for of, each in undos.items() if each.state == Bulk.State.DONE]
    undone = TriageChange.objects.filter(undoes=OuterRef("action"))
    # The time bounds the search; without it, an admin's whole history would be read.
    is_recent = Q(at__gt=min([begin, *ended.values()])) & (Q(at__gt=begin) | Q(action__in=ended))
    return (
        TriageChange.objects.filter(is_recent, actor=user_id, undoes__isnull=True)
        .exclude(Exists(undone) & ~Q(action__in=unfinished))
        .exclude(action__in=tried)
        .exclude(verb__in=(FOLLOW, *_FINAL))
        .order_by("-id")[:1]
    )


_LATEST = PreparedRow(_undoable, TriageChange, int, datetime)


def told(action: str) -> LastAction | None:
    """An action in words, also after it was undone; None if all its reports are deleted."""
    return _told(changes_of(action).exclude(verb=FOLLOW).last(), UTC)


def _told(change: TriageChange | None, tz: tzinfo) -> LastAction | None:
    """The action that this is the last change of. The change stands for all others of the action."""
    if change is None:
        return None
    # Not joined to the change: until its statistics know the newest ones, PostgreSQL would read all reports for it.
    report, extent, end = together(
        (_SUBJECT, (change.feedback_id,)), (_EXTENT, (change.action,)), (_END, (change.action,))
    )
    if not report:
        return None
    [(key, notes, title)], [(began, report_count, note_count)] = report, extent
    deed, how = _deed(change, began, tz)
    return LastAction(
        action=change.action,
        deed=deed,
        report_count=report_count,
        subject=notes or "",
        at=change.at,
        how=how,
        has_note=change.verb != "note" and note_count > 0,
        place=title or "",
        feedback_id=ids.FEEDBACK + key,
        failing=_failing(change),
        ended=end[0][0] if end else None,
    )


_SUBJECT = Prepared(lambda pk: UserFeedback.objects.filter(pk=pk).values_list("key", "notes", "thread__title"), int)
_END = Prepared(lambda action: Bulk.objects.filter(key=action).values_list("finished_at"), str)


def _extent(action: str) -> QuerySet[TriageChange, Any]:
    """When an action began, and how many reports it changed and notes it wrote."""
    figures = {"began": Min("at"), "reports": Count("feedback", distinct=True)}
    rows = TriageChange.objects.filter(action=action).exclude(verb=FOLLOW).order_by()
    found = rows.values("action").annotate(**figures, notes=Count("pk", filter=Q(verb="note")))
    return found.values_list(*figures, "notes")


_EXTENT = Prepared(_extent, str)


def _failing(change: TriageChange) -> int:
    """The reports with a failing check whose outcome the action of this change made fixed."""
    if change.after.get("outcome") != Outcome.FIXED:
        return 0
    resolved = TriageChange.objects.filter(action=change.action, verb__in=("resolve", "outcome")).values("feedback")
    return Check.objects.filter(state=Check.State.FAILING, dropped_at=None, feedback__in=resolved).count()


def _deed(change: TriageChange, began: datetime, tz: tzinfo) -> tuple[str, str]:
    """The key in `_DEEDS`, and the labels, owner, time, outcome or original of a change; the key of `own` depends on
    the new owner.
    """
    if change.verb == "label":
        return _labelled(change, began)
    if change.verb == "snooze":
        return "snooze", historytelling.until(change.after.get("snoozed_until") or True, tz)
    if change.verb == "outcome":
        return "outcome", Outcome(change.after["outcome"]).label.lower()
    if change.verb == "duplicate":
        return "duplicate", _beginning_of(change.after.get("duplicate_of_id"))
    if change.verb == "resolve":
        said = Outcome(change.after.get("outcome") or Outcome.NOTED).label.lower()
        return "resolve", "" if said == "noted" else f" as {said.removeprefix('as ')}"
    if change.verb != "own":
        return change.verb, ""
    owner = change.after.get("owner_id")
    if owner in (None, change.actor_id):
        return ("take" if owner else "let go"), ""
    found = User.objects.filter(pk=owner).first()
    return "own", found.display_name if found else "somebody"


def _beginning_of(report_pk: int | None) -> str:
    """How the notes of a report begin; without notes the title of its thread."""
    found = UserFeedback.objects.filter(pk=report_pk or 0).values_list("notes", "thread__title", "key").first()
    if found is None:
        return "a deleted report"
    notes, title, key = found
    return Truncator(" ".join((notes or title or ids.FEEDBACK + key).split())).chars(40)


def _labelled(change: TriageChange, began: datetime) -> tuple[str, str]:
    names, deed = _less(change.after, change.before), "label"
    if not names:
        names, deed = _less(change.before, change.after), "unlabel"
    elif len(labelling.made_since(names, began)) == len(names):
        deed = "new label"
    return deed + "s" * (len(names) > 1), ", ".join(names)


def _less(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The labels of one side of a change that the other side does not have."""
    return beyond(one.get("admin_label"), other.get("admin_label"))


def only_report(action: str) -> str | None:
    """The id of the only report that an action changed, None if it changed several."""
    changes = TriageChange.objects.filter(action=action).exclude(verb=FOLLOW).order_by()
    found = list(changes.values_list("feedback__key", flat=True).distinct()[:2])
    return ids.FEEDBACK + found[0] if len(found) == 1 else None


def require_undoable(actor: Actor, action: str) -> None:
    """Refuse an action that cannot be undone. Its last change decides, as in the desk's offer.

    Raises `NotFound` for an unknown action, `Conflict` if it is too old, already undone, being undone, or itself an
    undo.
    """
    require_admin(actor)
    last = TriageChange.objects.filter(action=action).order_by("-id").first() if action else None
    if last is None:
        raise NotFound("There is no such action.")
    if max(last.at, _end_of(action) or last.at) < timezone.now() - WINDOW:
        raise Conflict("This action is more than 30 minutes old and can no longer be undone.")
    if last.verb in _FINAL:
        raise Conflict(_FINAL[last.verb])
    if last.undoes is not None:
        raise Conflict("This action is itself an undo. Repeat the original action instead.")
    if Bulk.objects.filter(undoes=action, state__in=Bulk.OPEN).exists():
        raise Conflict("This action is already being undone.")
    if not left_of(action).exists():
        raise Conflict("This action was already undone.")


def _end_of(action: str) -> datetime | None:
    """When a bulk ended; None for any other action."""
    found = _END.first(action)
    return found[0] if found else None


def left_of(action: str) -> QuerySet[TriageChange]:
    """The changes of an action that are not undone yet: all, or after a stopped undo those it did not reach."""
    latest = TriageChange.objects.filter(undoes=action).order_by("-id").values_list("action", flat=True).first()
    if latest is None:
        return changes_of(action)
    stopped = Bulk.objects.filter(key=latest, state=Bulk.State.CANCELLED).values_list("after", flat=True).first()
    return changes_of(action).none() if stopped is None else changes_of(action, after=stopped)


def hold_for(changes: Iterable[TriageChange]) -> None:
    """Lock the reports that changes name, before the changes are undone."""
    moved = [change for change in changes if "duplicate_of_id" in change.after]
    sides = [side["duplicate_of_id"] for change in moved for side in (change.before, change.after)]
    following.hold({change.feedback_id for change in moved}, named=set(filter(None, sides)))


def undo_one(actor: Actor, change: TriageChange, *, action: str) -> list[str]:
    """Undo one change in the caller's transaction: each column that still has the value that the change wrote.

    Returns the columns that stay because somebody changed them since; raises `NotFound` if the report is gone.
    """
    report = UserFeedback.objects.select_for_update(no_key=True).filter(pk=change.feedback_id).first()
    if report is None:
        raise NotFound(projecting.GONE)
    subject = triage.subject_of(report)
    if resolves_again(change.after) and spelled(report.resolved_at) != change.after["resolved_at"]:
        return ["resolved"]  # reopened or resolved since
    since = _written_since(change)
    stay = [column for column in change.after if column in since or not _as_left(subject, change, column)]
    # The resolution or the reply is now somebody else's, with all its columns.
    if _WHOLE.intersection(stay) or ("resolved" in change.after and "outcome" in since):
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
        # The original may be a duplicate of this report by now, or of the same one.
        if root in (report.pk, subject["duplicate_of_id"]):
            stay, decision = sorted(change.after), {}
    triage.apply(actor, subject, UNDO, decision, action=action, undoes=change.action)
    if labels := _less(change.after, change.before):
        began = changes_of(change.action).values_list("at", flat=True)[0]
        labelling.forget(labels, by=change.actor_id, since=began)
    return [column for column in stay if column not in _HISTORY_ONLY]


def changes_of(action: str, *, after: int = 0) -> QuerySet[TriageChange]:
    """The changes of an action in order, with row ids above `after`."""
    return TriageChange.objects.filter(action=action, pk__gt=after).select_related("feedback").order_by("id")


def columns_line(columns: Iterable[str]) -> str:
    """The names of columns, for people."""
    return ", ".join(column.removesuffix("_id").replace("admin_", "").replace("_", " ") for column in columns)


def _without_its_labels(admin_label: str | None, change: TriageChange) -> str | None:
    """The labels without what a change did to them; what others added or removed since is kept."""
    labels = changed(admin_label, add=_less(change.before, change.after), remove=_less(change.after, change.before))
    return admin_label if len(labels) > LABELS_LENGTH else labels or None


def _is_of_nothing(decision: Decision) -> bool:
    """Whether it would name a report that was retracted since."""
    of = decision.get("duplicate_of_id")
    return of is not None and not UserFeedback.objects.filter(pk=of).exists()


def _written_since(change: TriageChange) -> set[str]:
    """The columns that were written after a change, also with the same value again, unless that was undone since.

    Labels and duplicate links are compared by what is in them.
    """
    later = list(TriageChange.objects.filter(feedback=change.feedback_id, pk__gt=change.pk))
    undone = {each.undoes for each in later if each.undoes}
    standing = [each for each in later if each.undoes is None and each.action not in undone | {change.action}]
    written = {column for each in standing for column in each.after}
    if "resolved" in written:
        written.add("outcome")
    return written - _BY_CONTENT - _HISTORY_ONLY


def _as_left(subject: Subject, change: TriageChange, column: str) -> bool:
    if column in _HISTORY_ONLY:
        return True
    if column == "resolved" and change.after["resolved"] and subject.report.resolved_at != change.at:
        return False  # reopened and resolved again since: the same value, another resolution
    if column == "duplicate_of_id" and (of := change.after[column]):
        return _is_still_of(subject, change, of)
    return bool(subject[column] == read_back(column, change.after[column]))


def _is_still_of(subject: Subject, change: TriageChange, of: int) -> bool:
    """Whether it still is the duplicate that the change made it; it may have followed its original since."""
    resolved_at = subject.report.resolved_at
    is_of_change = resolved_at is not None and resolved_at <= change.at
    return is_of_change and ("resolved" in change.after or subject["duplicate_of_id"] == following.root_of(of))
