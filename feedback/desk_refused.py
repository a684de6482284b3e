"""The desk after a rejected form: the typed text in its fields, the reason beside them, both versions of a conflict."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

from django.http import QueryDict

from core import forms
from core.actor import Actor
from core.errors import DomainError, Stale
from feedback import comment_forms, desk_forms, desk_nearby, desk_records, desk_screen, desk_telling, historytelling
from feedback.presenting.card import Conflict, ReportCard

_SHOWN = ("label", "admin_note", "duplicate_of", "public_reply", "until", "comment", "fixed_reply")
"""Fields of the report's form that show an error next to them."""
_TYPED_FOR_ALL = ("label", "add", "remove", "duplicate_of", "public_reply", "public_status", "until")


def refused(
    actor: Actor,
    query: dict[str, str],
    form: QueryDict,
    problem: DomainError,
    *,
    tz: ZoneInfo,
    part: str = "",
    meanwhile: Sequence[str] = (),
    follows: Sequence[str] = (),
) -> dict[str, Any]:
    """The page after a rejected form, with the typed text still in its fields and the reason next to them.

    `part` names the rejected form if it is not the report's: `bulk`, `view`, `check` or `comment`.
    """
    state = query if part else {**query, "pane": "report"}
    context = desk_screen.page(actor, state, tz=tz, meanwhile=meanwhile, follows=follows)
    context |= {"typed": _typed(form), "typed_alike": form.getlist("fixed_alike")}
    item = context.get("item")
    if part in ("", "comment"):
        context["comment_at"] = _comment_at(item, form)
    if part == "bulk":  # the report's own form has fields of the same names
        at = next(iter(forms.reasons(problem, _TYPED_FOR_ALL, otherwise=part, names=desk_telling.TYPED_AS)))
        context |= {"typed": {}, "bulk_typed": form, "bulk_at": at}
        if at == "duplicate_of" and (ticked := desk_forms.sent_ticks(form)):
            typed, opened = form.get("duplicate_of", ""), query.get("item", "")
            context["for_all"] = desk_nearby.choices_for_all(actor, ticked, opened, typed, tz=tz)
    if part:
        return context | {"errors": forms.reasons(problem, (), otherwise=part, names=desk_telling.SAID_AS)}
    if item is None:
        return context | {"unsaved": _unsaved(form)}
    if isinstance(problem, Stale):
        context["conflict"] = _conflict(actor, item, problem, form, tz)
    else:
        fields, otherwise = (*_SHOWN, *desk_telling.TYPED_AS), _field_of(item, form)
        context["errors"] = forms.reasons(problem, fields, otherwise=otherwise, names=desk_telling.TYPED_AS)
        if "duplicate_of" in context["errors"]:
            context |= desk_nearby.choices(actor, item.feedback_id, form.get("duplicate_of", ""), tz=tz)
    if desk_forms.has_typed_note(form):
        context |= {"item": replace(item, admin_note=forms.lines(form.get("admin_note", ""))), "has_typed_note": True}
    return context


def _typed(form: QueryDict) -> QueryDict:
    """What was typed. An empty reply beside another button was not: it would stand in the place of one that somebody
    has sent meanwhile.
    """
    if form.get("public_reply", "").strip() or form.get("verb") == "reply answered":
        return form
    typed = form.copy()
    typed.pop("public_reply", None)
    return typed


def _comment_at(item: ReportCard | None, form: Mapping[str, str]) -> str:
    """The comment whose form was rejected; empty for the form of a new one, which also stands for one that is gone."""
    live = [each.comment_id for each in item.talk.said if each.is_mine and not each.is_deleted] if item else []
    return form.get("comment_id", "") if form.get("comment_id") in live else ""


def _unsaved(form: Mapping[str, str]) -> list[str]:
    """The texts of a form that were typed for a report that is not there any more."""
    note = form.get("admin_note", "") if desk_forms.has_typed_note(form) else ""
    return [each for each in (note, form.get("public_reply", ""), form.get("comment", "")) if each.strip()]


def _field_of(item: ReportCard, form: Mapping[str, str]) -> str:
    if form.get("verb") in comment_forms.OF_THE_REPORT:
        return "comment"
    is_there = form.get("duplicate_of") and not item.resolved
    return "duplicate_of" if is_there and form.get("verb", "") in ("", "label typed", "duplicate") else "verb"


def _conflict(actor: Actor, item: ReportCard, problem: Stale, form: QueryDict, tz: ZoneInfo) -> Conflict:
    """Both versions of a text; for a verb, what somebody else did and what a second press does."""
    change, column = getattr(problem, "change", None), problem.columns[0]
    if change is None:
        sides = (("Now", item.said), ("When you read it", form.get("read", "")))
        replies = form.get("verb") == "reply answered"
        has_typed = replies or desk_forms.has_typed_note(form) or form.get("label", "").strip()
        kept = " Your text is kept." if has_typed else ""
        column = "public_reply" if replies else ""
        return Conflict(problem.message, f"Press again if it still applies.{kept}", sides, column)
    is_own = change.actor_id == actor.user_id
    if column == "public_reply" and desk_forms.fixes(form):
        sides = (("Theirs", item.public_reply), ("Yours", form.get("fixed_reply", "")))
        return Conflict(problem.message, "", sides, "fixed_reply")
    theirs = {"admin_note": item.admin_note, "admin_label": ", ".join(item.labels), "public_reply": item.public_reply}
    if column in theirs:
        mine = "label" if column == "admin_label" else column
        sides = (("The other" if is_own else "Theirs", theirs[column]), ("Yours", form.get(mine, "")))
        return Conflict(problem.message, "", sides, column)
    line = historytelling.lines_of(change, *desk_records.named_in([change]), tz=tz)[0]
    who, when = ("You", "in another window") if is_own else (line.who, "just now")
    takes = form.get("verb") == "own me" and item.owner and not item.is_mine
    again = "Press a again to take it over." if takes else "Your change was not saved. Press again if it still applies."
    return Conflict(f"{who} {' '.join(filter(None, (line.what, line.after)))} {when}.", again)
