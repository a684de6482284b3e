"""A report's history in words: who did what, with the values before and after."""

from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import Any

from accounts.models import User
from core import moments
from core.templatetags.ui import thousands
from feedback.deciding import AGAIN, FOLLOW, RENAME, RETRACT, resolves_again
from feedback.label_text import beyond
from feedback.models import TriageChange
from feedback.presenting.card import HistoryLine
from feedback.taxonomy import Outcome

_WORDS = {"admin_label": "label", "admin_note": "note", "public_reply": "reply", "public_status": "status"}
_SILENT = frozenset({"resolved_at", "resolved_by_id", "outcome", "proof", "duplicate_of_id", "replied_at"})
"""Columns that are described by the line of another column."""
_SNOOZES = frozenset({"snoozed_until", "snoozed_until_again"})
_SHOWN = 120


def lines_of(
    change: TriageChange, people: Mapping[int, User], reports: Mapping[int, str], *, tz: tzinfo
) -> list[HistoryLine]:
    """One change as lines, with the people and reports that it names (`desk_records.named`); times in `tz`."""
    if change.verb == RETRACT:
        return [_inherited(change, reports)]
    if [*change.after] == ["duplicate_of_id"]:
        return [_followed(change, reports)]
    undo, proof = " (undo)" if change.undoes else "", change.after.get("proof") or ""
    if resolves_again(change.after):
        outcome = change.after.get("outcome")
        said = f"resolved it again{f', {Outcome(outcome).label.lower()}' if outcome else ''}{undo}"
        return [HistoryLine(change.actor.display_name, said, change.at, rerun=proof)]
    if change.after.keys() <= {"outcome", "proof"}:
        if "outcome" not in change.after:
            said = f"{'showed' if proof else 'no more shows'} its outcome by a rerun{undo}"
            return [HistoryLine(change.actor.display_name, said, change.at, rerun=proof)]
        sides = [
            Outcome(side).label.lower() if side else "" for side in (change.before["outcome"], change.after["outcome"])
        ]
        before, after = sides
        said = f"changed the outcome{undo}"
        return [HistoryLine(change.actor.display_name, said, change.at, before=before, after=after, rerun=proof)]
    return [
        _line(change, column, people, reports, tz)
        for column in change.after
        if column not in _SILENT and not (column in _SNOOZES and _is_told_by_other(change, column))
    ]


def _line(
    change: TriageChange, column: str, people: Mapping[int, User], reports: Mapping[int, str], tz: tzinfo
) -> HistoryLine:
    who, before, after = change.actor.display_name, change.before.get(column), change.after[column]
    undo = " (undo)" if change.undoes else ""
    match column:
        case "resolved" if after and change.after.get("outcome") == Outcome.DUPLICATE:
            of = reports.get(change.after.get("duplicate_of_id") or 0, "a deleted report")
            return HistoryLine(who, f"resolved it as a duplicate of {of}{undo}", change.at)
        case "resolved" if after:
            outcome, proof = change.after.get("outcome"), change.after.get("proof") or ""
            said = f"resolved it{f', {Outcome(outcome).label.lower()}' if outcome else ''}"
            return HistoryLine(who, f"{said}{', as a rerun shows' if proof else ''}{undo}", change.at, rerun=proof)
        case "resolved":
            return HistoryLine(who, f"reopened it{undo}", change.at)
        case "owner_id" if after == change.actor_id:
            return HistoryLine(who, f"claimed it{undo}", change.at)
        case "owner_id" if after is None:
            return HistoryLine(who, f"released it{undo}", change.at, before=_name(people, before))
        case "owner_id":
            from_whom = f"reassigned it{undo} from {_name(people, before)}" if before else f"assigned it{undo}"
            return HistoryLine(who, f"{from_whom} to", change.at, after=_name(people, after))
        case "snoozed_until" if change.verb == AGAIN:
            return HistoryLine(who, "reported the same again, so it is due", change.at)
        case "snoozed_until" | "snoozed_until_again" if after:
            return HistoryLine(who, f"snoozed it{undo}", change.at, after=until(after, tz))
        case "snoozed_until" | "snoozed_until_again":
            return HistoryLine(who, f"woke it{undo}", change.at)
    if change.verb == RENAME.name:
        return HistoryLine(who, "renamed a label", change.at, _short(before), _short(after))
    if column == "admin_label" and (told := _labelled(before, after)):
        return HistoryLine(who, f"{'labelled' if told[1] else 'unlabelled'} it{undo}", change.at, *told)
    verb = "removed" if after is None else "changed" if before else "set"
    if column == "public_status":
        before, after = (str(value or "").replace("_", " ") for value in (before, after))
    return HistoryLine(who, f"{verb} the {_WORDS[column]}{undo}", change.at, _short(before), _short(after))


def _labelled(before: str | None, after: str | None) -> tuple[str, str] | None:
    """The labels that a change removed and added, without those that stayed."""
    gone = ", ".join(f"\N{MINUS SIGN}{name}" for name in beyond(before, after))
    new = ", ".join(f"+{name}" for name in beyond(after, before))
    return (_short(gone), _short(new)) if gone or new else None


def _inherited(change: TriageChange, reports: Mapping[int, str]) -> HistoryLine:
    """The original of this duplicate was retracted; `pass_on` reopened it, or gave it another or none."""
    of = change.after.get("duplicate_of_id")
    now = f"this is now a duplicate of {reports.get(of, 'a deleted report')}" if of else "this is open again"
    if [*change.after.values()] == [None]:
        now = "it was resolved, and so this stays resolved"
    return HistoryLine(change.actor.display_name, f"retracted the original report: {now}", change.at)


def _followed(change: TriageChange, reports: Mapping[int, str]) -> HistoryLine:
    """The original of this duplicate became a duplicate itself, or that was undone."""
    of = reports.get(change.after["duplicate_of_id"] or 0, "a deleted report")
    why = ": the original became a duplicate itself" if change.verb == FOLLOW and not change.undoes else ""
    undo = " (undo)" if change.undoes else ""
    return HistoryLine(change.actor.display_name, f"made it a duplicate of {of}{why}{undo}", change.at)


def _is_told_by_other(change: TriageChange, column: str) -> bool:
    """Whether another line covers this snooze column: that of the other snooze column, if that one has a value now, or
    that of resolving or reopening.
    """
    return "resolved" in change.after or any(change.after.get(each) for each in _SNOOZES if each != column)


def until(value: Any, tz: tzinfo) -> str:
    """Until when a snooze lasts, from its value in a change: True means until it happens again, else an ISO time in any
    zone.
    """
    if value is True:
        return "until it happens again"
    return f"until {moments.spoken(datetime.fromisoformat(value).astimezone(tz))}"


def _name(people: Mapping[int, User], pk: int | None) -> str:
    return people[pk].display_name if pk is not None and pk in people else ""


def _short(value: Any) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN].rstrip()}… ({thousands(len(text))} characters)"
