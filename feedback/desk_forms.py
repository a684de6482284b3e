"""From the desk's forms to verbs: what a pressed button means, and what is said when it is done."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.http import QueryDict
from django.utils import timezone

from core import bodies
from core.errors import InvalidRequest
from core.wire import Patch
from feedback.deciding import Verb, verb_named
from feedback.models import Bulk

GOES_ON = frozenset({"resolve", "duplicate", "snooze", "note_next"})
"""Buttons after which the next report is opened."""


def steps_of(form: QueryDict, *, is_bulk: bool = False) -> list[tuple[Verb, Patch]]:
    """What a form asks for, as verbs with their arguments.

    A note that was typed goes along with whatever else is pressed beside it, so that no key loses it.
    """
    pressed = form.get("verb", "")
    verb = verb_named({"note_next": "note", "": "note"}.get(pressed, pressed))
    steps = [(verb, bodies.parse(verb.takes, _arguments(verb.name, form)))]
    if (
        not is_bulk
        and verb.name != "note"
        and "admin_note" in form
        and _text(form, "admin_note") != _text(form, "note_was")
    ):
        note = verb_named("note")
        steps.insert(0, (note, bodies.parse(note.takes, _arguments("note", form))))
    return steps


def snoozes(now: datetime | None = None) -> list[tuple[str, str]]:
    """How long a report may be put off by one press: the value of the button, and its word."""
    return [("4h", "4 hours"), ("1d", "Tomorrow"), ("7d", "Next week"), ("again", "Until it happens again")]


def told_of_failures(done: Bulk) -> str:
    """What a bulk could not do, with the first reasons."""
    reasons = dict.fromkeys(done.failures.order_by("id").values_list("reason", flat=True)[:50])
    unknown = done.failed_count and not reasons
    why = "they are gone" if unknown else "; ".join(list(reasons)[:3])
    return f"{done.failed_count} of {done.total} stayed as they were: {why}"


def told_of_undo(done: Bulk) -> str:
    """What came of an undo."""
    if done.state == Bulk.State.QUEUED:
        return f"Taking back {done.total} changes."
    if done.failed_count:
        return f"Taken back, but for this. {told_of_failures(done)}"
    return "Taken back." if done.total == 1 else f"Taken back: {done.total} changes."


def _arguments(verb: str, form: QueryDict) -> Mapping[str, Any]:
    match verb:
        case "label":
            return {"add": _names(form.get("label", "")), "remove": _names(form.get("remove", ""))}
        case "note":
            return {"admin_note": _text(form, "admin_note") or None}
        case "own":
            return {"owner": form.get("owner") or None}
        case "resolve":
            return {"outcome": form["outcome"]} if form.get("outcome") else {}
        case "duplicate":
            return {"duplicate_of": form.get("duplicate_of", "").strip()}
        case "snooze":
            return _snoozed(form.get("snooze", ""))
        case "reply":
            return {"public_status": form.get("public_status", ""), "public_reply": _text(form, "public_reply") or None}
    return {}


def _snoozed(choice: str) -> Mapping[str, Any]:
    if choice == "again":
        return {"until_again": True}
    length = {"4h": timedelta(hours=4), "1d": timedelta(days=1), "7d": timedelta(days=7)}.get(choice)
    if length is None:
        raise InvalidRequest("until: must be 4h, 1d, 7d or again")
    return {"until": (timezone.now() + length).isoformat()}


def _names(text: str) -> list[str]:
    return [name for part in text.split(",") if (name := " ".join(part.split()))]


def _text(form: QueryDict, name: str) -> str:
    return form.get(name, "").replace("\r\n", "\n").strip()
