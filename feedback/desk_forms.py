"""From the desk's forms to verbs: what a pressed button means, and what is said when it is done.

A button says a verb and, where there is a choice, its argument: `resolve`, `own me`, `snooze 4h`, `unlabel money`.
"""

from collections.abc import Mapping
from datetime import date, datetime, timedelta, tzinfo
from typing import Any

from django.http import QueryDict
from django.utils import timezone

from core import bodies, forms, ids
from core.actor import Actor
from core.errors import InvalidRequest
from core.rendering import isolated
from core.wire import Exact
from feedback import labelling, undoing
from feedback.deciding import RENAME, ResolvedAlready, Verb, require_ahead, verb_named
from feedback.models import Bulk, Reply, UserFeedback

SNOOZES = (("4h", "4 hours"), ("1d", "Tomorrow"), ("7d", "Next week"), ("again", "Until it happens again"))
"""How long a report may be put off by one press: what the button says after its verb, and its word."""
FARTHEST = timedelta(days=365)
"""How far the last day lies ahead that is offered for snoozing."""
FAILURES_SHOWN = 20
_LENGTHS = {"4h": timedelta(hours=4), "1d": timedelta(days=1), "7d": timedelta(days=7)}
_GO_ON = frozenset({"resolve", "duplicate", "snooze", "note_next"})


def days_to_snooze(tz: tzinfo) -> tuple[date, date]:
    """The first and the last day until which a report may be put off, where the viewer is."""
    today = timezone.localdate(timezone=tz)
    return today + timedelta(days=1), today + FARTHEST


def goes_on(form: QueryDict) -> bool:
    """Whether the next report is opened after the button that was pressed."""
    return _pressed(form)[0] in _GO_ON


def steps_of(form: QueryDict, tz: tzinfo) -> list[tuple[Verb, Exact]]:
    """What the report's form asks for, as verbs with their arguments; days that are typed begin in `tz`.

    A note that was typed goes along with whatever is pressed beside it, so that no key loses it; a label does not: half
    a word is none. Enter in a field presses nothing, and asks for no more than what was typed.
    """
    verb, choice = _pressed(form)
    steps = []
    if verb in ("note", "note_next") or has_typed_note(form):
        steps.append(_step("note", {"admin_note": _text(form, "admin_note") or None}))
    names = _names(form) if verb in ("", "label") else []
    if names or verb == "unlabel":
        steps.append(_step("label", {"add": names, "remove": [choice] if verb == "unlabel" else []}))
    elif verb == "label":
        raise InvalidRequest("label: type a label first")
    if verb not in ("", "note", "note_next", "label", "unlabel"):
        steps.append(_step(verb, _arguments(verb, choice, form, tz)))
    return steps


def has_typed_note(form: Mapping[str, str]) -> bool:
    """Whether a note was typed that is not the one that was there."""
    return _text(form, "admin_note") != _text(form, "note_was")


def step_for_all(form: QueryDict, tz: tzinfo) -> tuple[Verb, Exact]:
    """What the bulk's form asks for; a day that is typed begins in `tz`. Enter in a field is a press of the button
    beside it.
    """
    verb, choice = _pressed(form)
    if verb in ("", "label"):
        names = _names(form)
        if not names:
            raise InvalidRequest("label: type a label first")
        return _step("label", {"add": names})
    return _step(verb, _arguments(verb, choice, form, tz))


def ticked(form: QueryDict) -> list[str]:
    """The reports that a bulk is about: those of the page, and with scripts those that were ticked on others."""
    found = list(dict.fromkeys([*form.getlist("feedback_ids"), *filter(None, form.get("ticked", "").split(","))]))
    if not found:
        raise InvalidRequest("feedback_ids: tick a report first")
    return found


def told_of_bulk(done: Bulk) -> str:
    """What is worth saying about a bulk that was just begun; what was done and what failed stand elsewhere."""
    return "" if done.total else "No report matches: nothing was done."


def told_of_failures(done: Bulk) -> str:
    """How many reports a bulk could not change."""
    return f"{done.failed_count} of {done.total} stayed as {'it was' if done.failed_count == 1 else 'they were'}"


def told_of_undo(done: Bulk) -> str:
    """What came of an undo."""
    if not done.is_over:
        return f"Taking back: {undoing.noun_of(done.undoes or '')}."
    if done.failed_count:
        if not undoing.changes_of(done.key).exists():
            return "Nothing was taken back."
        stayed = "not all of it" if done.total == 1 else told_of_failures(done)
        return f"Taken back, but {stayed}."
    noun = undoing.noun_of(done.undoes or "")
    return f"Taken back: {noun}" + ("" if noun.endswith((".\u201d", "!\u201d", "?\u201d")) else ".")


def told_of_resolved(actor: Actor, problem: ResolvedAlready) -> str:
    """What is said to somebody who resolves what is resolved already."""
    return "You resolved it already." if problem.by == actor.user_id else problem.message.replace("this report", "it")


def told_of_left(form: QueryDict, report: UserFeedback, action: str | None) -> list[str]:
    """What a press left as it was, though it may have been meant: labels that were there already, a note that is no
    other one, a reply that was typed and not sent.
    """
    verb, said = _pressed(form)[0], []
    if action is None and verb in ("", "label") and (names := _names(form)):
        said.append(f"It has {isolated(', '.join(names))} already.")
    elif action is None and verb in ("note", "note_next"):
        said.append("The note is as it was.")
    elif verb not in ("", "label") and goes_on(form) and (names := _names(form)):
        said.append(f"The label that you typed was not added: {isolated(', '.join(names))}.")
    if goes_on(form) and (typed := _text(form, "public_reply")):
        sent = Reply.objects.filter(feedback=report).values_list("public_reply", flat=True).first()
        if typed != forms.lines(sent or "").strip():
            said.append("The reply that you typed was not sent.")
    return said


def told_of_stop(stopped: Bulk) -> str:
    """What a bulk had done when it was stopped."""
    far = f"Stopped after {stopped.dealt_with} of {stopped.total}."
    if stopped.undoes:
        return f"{far} The rest can still be taken back."
    return f"{far} What was done stays{'' if stopped.verb == RENAME.name else ', and can be undone'}."


def _pressed(form: QueryDict) -> tuple[str, str]:
    """The verb of the button and its choice. `label typed` is the press of Enter: any field may have been meant."""
    verb, _, choice = form.get("verb", "").removeprefix("label typed").partition(" ")
    if verb or form.get("label"):
        return verb, choice
    if form.get("duplicate_of") or form.get("original"):
        return "duplicate", ""
    return ("snooze", "day") if form.get("until") else ("", "")


def _step(name: str, arguments: Mapping[str, Any]) -> tuple[Verb, Exact]:
    verb = verb_named(name)
    return verb, bodies.parse(verb.takes, arguments)


def _arguments(verb: str, choice: str, form: QueryDict, tz: tzinfo) -> Mapping[str, Any]:
    match verb:
        case "own":
            return {"owner": choice or None}
        case "resolve":
            outcome = choice or form.get("outcome")
            return {"outcome": outcome} if outcome else {}
        case "duplicate":
            return {"duplicate_of": choice or _original(form)}
        case "snooze":
            return {"until": _day(form, tz)} if choice == "day" else _snoozed(choice)
        case "reply":
            return {"public_status": choice, "public_reply": _text(form, "public_reply") or None}
    return {}


def _original(form: QueryDict) -> str:
    """The report that was chosen, else the one whose id was typed. A choice holds for the words that it was found by:
    when others were typed since, it is not what they mean.
    """
    typed = form.get("duplicate_of", "").strip()
    chosen = form.get("original")
    if chosen and typed == form.get("found_by", "").strip():
        return chosen
    if ids.key_of(typed, ids.FEEDBACK) is None:
        raise InvalidRequest("duplicate_of: choose the report that says the same")
    return typed


def _day(form: QueryDict, tz: tzinfo) -> datetime:
    """When the day begins that was typed. One until which nothing may be put off is refused here: a bulk would name it
    once for each report.
    """
    typed = form.get("until", "").strip()
    if not typed:
        raise InvalidRequest("until: choose a day first")
    try:
        day = date.fromisoformat(typed)
    except ValueError:
        raise InvalidRequest("until: must be a day, like 2026-05-01") from None
    begins = datetime(day.year, day.month, day.day, tzinfo=tz)
    require_ahead(begins)
    return begins


def _snoozed(choice: str) -> Mapping[str, Any]:
    if choice == "again":
        return {"until_again": True}
    if choice not in _LENGTHS:
        raise InvalidRequest("verb: must snooze for 4h, 1d, 7d or again")
    return {"until": (timezone.now() + _LENGTHS[choice]).isoformat()}


def _names(form: QueryDict) -> list[str]:
    """The labels that were typed; where there are some in a phone's dock, those alone."""
    parts = (form.get("dock_label") or form.get("label") or "").split(",")
    return labelling.meant(name for part in parts if (name := " ".join(part.split())))


def _text(form: Mapping[str, str], name: str) -> str:
    return forms.lines(form.get(name, "")).strip()
