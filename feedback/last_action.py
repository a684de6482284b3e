"""The last action in words: what an admin did to how many reports, and until when it can be undone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Any

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.text import Truncator

from accounts.models import User
from core import ids
from core.actor import Actor
from core.prepared import Prepared, PreparedRow, together
from core.templatetags.ui import thousands
from core.wording import isolated
from feedback import historytelling, labelling, undoing
from feedback.deciding import FOLLOW, REDO
from feedback.models import Bulk, Check, TriageChange, UserFeedback
from feedback.taxonomy import Outcome

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


@dataclass(frozen=True, slots=True)
class LastAction:
    """The latest action that somebody can still undo: what it was, number of reports, the notes of one, when."""

    action: str
    deed: str
    report_count: int
    subject: str
    at: datetime
    changed_count: int = 0
    """How many reports it changed: with those whose submitters were only told of it."""
    is_bulk: bool = False
    """Whether it was asked for many reports, and not for one with its duplicates."""
    how: str = ""
    """The labels that it added or removed, the new owner, until when it snoozed, the outcome, or how the original's
    notes begin; empty for other actions.
    """
    answered: int = 0
    """How many submitters got a reply by it, if it is not only a reply."""
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
    tz: tzinfo = UTC
    over: tuple[str, ...] = ()
    """The keys of the bulks that ran when it was done, and that are undone after it."""

    @property
    def until(self) -> datetime:
        """Until when it can be undone."""
        return max(self.at, self.ended or self.at) + undoing.WINDOW

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
                f", {_people(self.answered)} answered" if self.answered else "",
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
        sent = "reply" if self.answered == 1 else "replies"
        replies = f", and the {sent} to {_people(self.answered)}" if self.answered else ""
        return f"{said} and its note{replies}" if self.has_note else said + replies

    @property
    def short(self) -> str:
        """The action as a noun without its subject, for a button: `resolution`."""
        return _DEEDS[self.deed][2].format(how=isolated(self.how))

    @property
    def _it(self) -> str:
        if self.is_bulk and self.report_count > 1:
            return f"{thousands(self.report_count)} reports"
        others = self.report_count - 1
        with_others = f" with {thousands(others)} duplicate{'' if others == 1 else 's'}" if others else ""
        return called(self.subject, self.place) + with_others

    @property
    def until_clock(self) -> str:
        """The time of day until which it can be undone, in the viewer's zone. Not the minutes that are left, which
        would have to be counted down in each page.
        """
        return f"{self.until.astimezone(self.tz):%H:%M}"


def _people(count: int) -> str:
    return f"{thousands(count)} {'person' if count == 1 else 'people'}"


def already(count: int, deed: str) -> str:
    """What is said of reports that were as an action wanted them: `25 had it already`."""
    said = _ALREADY.get(deed, "were so already")
    return f"{thousands(count)} {said.replace('were', 'was') if count == 1 else said}"


def called(notes: str, title: str) -> str:
    """What a report is called: by how its notes begin, else by the title of its thread."""
    if notes:
        return _quoted(notes)
    return f"a report on {_quoted(title)}" if title else "a report without notes"


def _quoted(text: str) -> str:
    said = text if len(text) <= 60 else f"{text[:59].rstrip()}…"
    return f"\u201c{isolated(said)}\u201d"


def last_action(
    actor: Actor, bulks: Sequence[Bulk] = (), *, meanwhile: Sequence[str] = (), tz: tzinfo = UTC
) -> LastAction | None:
    """What `z` would undo: the actor's latest action inside the window that was not undone, or not completely.

    `bulks` are those of the actor that run or ended inside the window, oldest first (`bulk.shown`). An action whose
    undo was stopped is offered again. One whose undo is finished is not, even if nothing could be changed: `z` moves on
    to the one before. While a bulk runs, nothing from before it is offered. `meanwhile` are actions on single reports
    while one ran. Times are shown in `tz`.
    """
    begin = timezone.now() - undoing.WINDOW
    if not bulks:
        return _action_of(_LATEST.first(actor.user_id, begin), tz)
    over: list[str] = []
    latest = _undoable(actor.user_id, begin, bulks).first()
    of_bulk = {each.key: each for each in bulks}
    # A bulk stores changes long after it was asked for. What was asked for meanwhile comes after it.
    while latest and (bulk := of_bulk.get(latest.action)):
        after = [each.key for each in bulks if each.created > bulk.created]
        later = _undoable(actor.user_id, begin, bulks, among=[*meanwhile, *after]).first()
        if later is None or _asked(later, of_bulk) < bulk.created:
            break
        over.append(bulk.key)
        latest = later
    running = [each.created for each in bulks if not each.is_over]
    if latest is None or (running and _asked(latest, of_bulk) <= max(running)):
        return None
    found = _action_of(latest, tz)
    return found and replace(found, over=tuple(over))


def _asked(change: TriageChange, of_bulk: Mapping[str, Bulk]) -> datetime:
    """When the action of a change was asked for."""
    return of_bulk[change.action].created if change.action in of_bulk else change.at


def _undoable(
    user_id: int, begin: datetime, bulks: Sequence[Bulk] = (), among: Sequence[str] | None = None
) -> QuerySet[TriageChange]:
    """The last change of what can be undone, maybe only `among` some actions. A bulk's window begins with its end."""
    ended = {each.key: each.created for each in bulks if each.finished_at and each.finished_at > begin}
    undos = {each.undoes: each for each in bulks if each.undoes}
    stopped = [(of, each) for of, each in undos.items() if each.state == Bulk.State.CANCELLED]
    unfinished = [of for of, each in stopped if each.dealt_with < each.total]
    tried = [of for of, each in undos.items() if each.state == Bulk.State.DONE]
    undone = TriageChange.objects.filter(undoes=OuterRef("action"))
    # The time bounds the search; without it, an admin's whole history would be read.
    is_recent = Q(at__gt=min([begin, *ended.values()])) & (Q(at__gt=begin) | Q(action__in=ended))
    is_recent &= Q() if among is None else Q(action__in=among)
    return (
        TriageChange.objects.filter(is_recent, actor=user_id, undoes__isnull=True)
        .exclude(Exists(undone) & ~Q(action__in=unfinished))
        .exclude(action__in=tried)
        .exclude(verb__in=(FOLLOW, *undoing.FINAL))
        .order_by("-id")[:1]
    )


_LATEST = PreparedRow(_undoable, TriageChange, int, datetime)


def told(action: str) -> LastAction | None:
    """An action in words, also after it was undone; None if all its reports are deleted."""
    return _action_of(undoing.changes_of(action).exclude(verb=FOLLOW).last(), UTC)


def _action_of(change: TriageChange | None, tz: tzinfo) -> LastAction | None:
    """The action that this is the last change of. The change stands for all others of the action."""
    if change is None:
        return None
    # Not joined to the change: until its statistics know the newest ones, PostgreSQL would read all reports for it.
    report, extent, end = together(
        (_SUBJECT, (change.feedback_id,)), (_EXTENT, (change.action,)), (undoing.ENDED, (change.action,))
    )
    if not report:
        return None
    [(key, notes, title)], [(began, report_count, note_count, reply_count, fixed_count)] = report, extent
    if change.verb == "reply" and fixed_count:  # to a duplicate of what it resolved
        return _action_of(undoing.changes_of(change.action).filter(verb="resolve").last(), tz)
    deed, how = _deed(change, began, tz)
    # A redo is of as many as what was undone.
    is_redo = any(verb == REDO for _, verb in end)
    is_bulk = bool(undoing.ENDED.first(undoing.origin_of(change.action)) if is_redo else end)
    return LastAction(
        action=change.action,
        deed=deed,
        report_count=fixed_count if is_bulk and fixed_count else report_count,
        subject=notes or "",
        at=change.at,
        changed_count=report_count,
        is_bulk=is_bulk,
        how=how,
        answered=0 if change.verb == "reply" else reply_count,
        has_note=change.verb != "note" and note_count > 0,
        place=title or "",
        feedback_id=ids.FEEDBACK + key,
        failing=_failing(change),
        ended=end[0][0] if end else None,
        tz=tz,
    )


_SUBJECT = Prepared(lambda pk: UserFeedback.objects.filter(pk=pk).values_list("key", "notes", "thread__title"), int)


def _extent(action: str) -> QuerySet[TriageChange, Any]:
    """When an action began, how many reports it changed and notes it wrote, how many people it replied to, and how many
    reports it resolved.
    """
    figures = {"began": Min("at"), "reports": Count("feedback", distinct=True)}
    rows = TriageChange.objects.filter(action=action).exclude(verb=FOLLOW).order_by()
    texts = {"notes": Count("pk", filter=Q(verb="note"))}
    texts["answered"] = Count("feedback__created_by", distinct=True, filter=Q(verb="reply"))
    texts["resolved"] = Count("feedback", distinct=True, filter=Q(verb="resolve"))
    return rows.values("action").annotate(**figures, **texts).values_list(*figures, *texts)


_EXTENT = Prepared(_extent, str)


def _failing(change: TriageChange) -> int:
    """The reports with a failing check whose outcome the action of this change made fixed, without a rerun that shows
    it: what was looked at is newer than the runs of the check.
    """
    if change.after.get("outcome") != Outcome.FIXED:
        return 0
    resolved = TriageChange.objects.filter(action=change.action, verb__in=("resolve", "outcome")).values("feedback")
    failing = Check.objects.filter(state=Check.State.FAILING, is_kept=True, feedback__in=resolved)
    return failing.filter(feedback__triage__proof=None).count()


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
    names, deed = undoing.labels_beyond(change.after, change.before), "label"
    if not names:
        names, deed = undoing.labels_beyond(change.before, change.after), "unlabel"
    elif len(labelling.made_since(names, began)) == len(names):
        deed = "new label"
    return deed + "s" * (len(names) > 1), ", ".join(names)
