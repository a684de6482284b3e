"""Turns the desk's forms into verbs, and names what in them had no effect.

A button's value is a verb, with its argument if it has one: `resolve`, `own me`, `snooze 4h`, `unlabel money`.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any, Literal, NamedTuple

from django.db.models import Q
from django.http import QueryDict
from django.utils import timezone
from django.utils.text import get_text_list

from core import bodies, forms, ids, moments
from core.errors import InvalidRequest
from core.wire import Exact
from core.wording import isolated
from feedback import commenting, labelling
from feedback.deciding import Verb, require_ahead, verb_named
from feedback.label_text import plain
from feedback.models import Reply, UserFeedback
from feedback.wire_checks import RunIn
from feedback.wire_verbs import ReplyIn

FARTHEST = timedelta(days=365)
"""How far ahead the last day lies that is offered for snoozing."""
_MORNING = time(9)
"""When a report comes back that is snoozed until another day, in the viewer's time zone."""
_UNCHANGED = {"note": "note", "note_next": "note", "outcome": "outcome", "own": "owner", "reply": "reply"}
"""What a button has not changed if it did nothing."""
_FIXED = (("resolve", "fixed"), ("outcome", "fixed"))
"""The buttons beside a rerun, which also do what was typed and ticked there."""
AGENT_NOW: Mapping[str, Literal["latest"]] = {"skills": "latest", "prompt": "latest"}
"""What a rerun chooses to have its agent as it is now."""
_RERUNS: Mapping[str, Mapping[str, Any]] = {"": {}, "latest": {"skills": "latest"}, "agent": AGENT_NOW}
"""What the buttons that rerun the ticked choose, besides the fields above them."""
_GO_ON = frozenset({"resolve", "duplicate", "snooze", "note_next"})


def days_to_snooze(tz: tzinfo) -> tuple[date, date]:
    """The first and the last day that a report may be snoozed until, in the viewer's time zone."""
    today = timezone.localdate(timezone=tz)
    return today + timedelta(days=1), today + FARTHEST


class Snooze(NamedTuple):
    """A snooze by one click: the argument in the button's value, its label, and until when (None: it happens again)."""

    choice: str
    word: str
    until: datetime | None = None
    letter: str = ""
    """Its key in the menu."""

    @property
    def at(self) -> str:
        """That time within the next days: `Tue 09:00`, or `Mon 7 Dec 09:00` if that day of the week comes before."""
        if self.until is None:
            return ""
        if moments.is_within_a_week(self.until):
            return f"{self.until:%a %H:%M}"
        return f"{self.until:%a} {self.until.day} {self.until:%b %H:%M}"


def snoozes(tz: tzinfo) -> list[Snooze]:
    """What is offered now to a viewer in this time zone: later today, the next morning, Monday morning, or again. On a
    Sunday, tomorrow is a Monday, and the one of next week is the one after.
    """
    now = timezone.localtime(timezone=tz)
    tomorrow, monday = (now.date() + timedelta(days=days) for days in (1, 7 - now.weekday()))
    if monday == tomorrow:
        monday += timedelta(days=7)
    return [
        Snooze("4h", "In 4 hours", (now.astimezone(UTC) + timedelta(hours=4)).astimezone(tz), "i"),
        Snooze("tomorrow", "Tomorrow", datetime.combine(tomorrow, _MORNING, tz), "t"),
        Snooze("week", "Next week", datetime.combine(monday, _MORNING, tz), "n"),
        Snooze("again", "Until it happens again", None, "u"),
    ]


def chosen(form: QueryDict) -> dict[str, str]:
    """The outcome that was chosen and not sent, if it is not the usual one, which a reply changes; after reopening,
    that of the resolution is over.
    """
    outcome = form.get("outcome", "")
    is_chosen = outcome != form.get("usual_outcome") and form.get("verb") != "reopen"
    return {"outcome": outcome} if outcome and is_chosen else {}


def goes_on(form: QueryDict) -> bool:
    """Whether the pressed button also opens the next report."""
    return _pressed(form)[0] in _GO_ON


def steps_of(form: QueryDict, tz: tzinfo) -> list[tuple[Verb, Exact]]:
    """The verbs of the report's form, with their arguments; typed days begin in `tz`.

    Any button also saves a typed note, so that no key loses it. A typed label is saved by its own button only, because
    it may be half a word. Enter in a field presses no button and applies only what was typed.
    """
    verb, choice = _pressed(form)
    steps = []
    if verb in ("note", "note_next") or has_typed_note(form):
        steps.append(note_step(form))
    names = _names(form) if verb in ("", "label") else []
    if names or verb == "unlabel":
        steps.append(_step("label", {"add": names, "remove": [choice] if verb == "unlabel" else []}))
    elif verb == "label":
        raise InvalidRequest("label: type a label first")
    if verb not in ("", "note", "note_next", "label", "unlabel"):
        steps.append(_step(verb, _arguments(verb, choice, form, tz)))
    return steps


def fixes(form: QueryDict) -> bool:
    """Whether the pressed button says that the report is fixed by the rerun that is shown beside it."""
    return _pressed(form) in _FIXED


def fix_of(form: QueryDict) -> dict[str, Any]:
    """What `fixing.fix` does besides: the similar reports that were ticked, the reply that was typed beside the rerun,
    if there is one, and the rerun if its answer is to go with it.
    """
    shows = form.get("fixed_proof") if form.get("fixed_shows") else None
    return {"alike": form.getlist("fixed_alike"), "reply": _fixed_reply(form), "shows": shows}


def seen(form: QueryDict) -> dict[str, Any]:
    """The versions that the report's form was made from, as `triage.act` takes them."""
    texts = {"admin_note": form.get("note_seen"), "public_reply": form.get("reply_seen")}
    return {"seen": form.get("seen"), "seen_texts": {column: text for column, text in texts.items() if text}}


def note_step(form: QueryDict) -> tuple[Verb, Exact]:
    """The verb that saves the note of the report's form; after a conflict, below the other one if both are to stay."""
    both = ("note_other", "admin_note") if _pressed(form) == ("note", "both") else ("admin_note",)
    return _step("note", {"admin_note": "\n\n".join(filter(None, (_text(form, each) for each in both))) or None})


def has_typed_note(form: Mapping[str, str]) -> bool:
    """Whether the note in the form differs from the one shown."""
    return _text(form, "admin_note") != _text(form, "note_was")


def step_for_all(form: QueryDict, tz: tzinfo) -> tuple[Verb, Exact]:
    """The verb of the bulk form; a typed day begins in `tz`.

    Enter in a field presses the button next to it.
    """
    verb, choice = _pressed(form)
    if verb in ("", "label", "unlabel"):
        names = _names(form)
        if not names:
            raise InvalidRequest("label: type a label first")
        return _step("label", {"remove" if verb == "unlabel" else "add": names})
    return _step(verb, _arguments(verb, choice, form, tz))


def reruns(form: QueryDict) -> bool:
    """Whether the pressed button of the bulk form reruns the requests instead of changing the reports."""
    return _pressed(form)[0] == "rerun"


def rerun_of(form: QueryDict) -> RunIn:
    """The options of that rerun."""
    choice = _pressed(form)[1]
    if choice not in _RERUNS:
        raise InvalidRequest(f"verb: must rerun with {get_text_list([*filter(None, _RERUNS)], 'or')}, or with nothing")
    fields = {name: form[name] for name in ("tools", "model_profile") if form.get(name)}
    return bodies.parse(RunIn, {**fields, **_RERUNS[choice]})


def require_one_meant(form: QueryDict) -> None:
    """Refuse Enter if several fields are filled: without scripts it is not known in which one it was pressed."""
    if not form.get("verb", "").removeprefix("label typed") and len(_filled(form)) > 1:
        raise InvalidRequest(f"verb: press the button, because {get_text_list(_filled(form), 'and')} are filled in")


def require_none_left(form: QueryDict, feedback_id: str = "") -> None:
    """Refuse a button beside a reply or a comment that was typed and that it does not send: without scripts, it would
    be gone with the page. The form is that of a report, or of many.
    """
    verb, choice = _pressed(form)
    if verb != "comment" and _text(form, "comment"):
        raise InvalidRequest("comment: send it, or empty the field, first")
    if not fixes(form) and _text(form, "fixed_reply"):
        raise InvalidRequest("fixed_reply: send it, or empty the field, first")
    report = Q(feedback__key=ids.key_of(feedback_id, ids.FEEDBACK))
    if (verb, choice) != ("reply", "answered") and _has_typed_reply(form, report):
        raise InvalidRequest("public_reply: send it, or empty the field, first")


def ticked(form: QueryDict) -> list[str]:
    """Ids of the ticked reports: on this page and, with scripts, on other pages. Raises if there are none."""
    if not (found := sent_ticks(form)):
        raise InvalidRequest("feedback_ids: tick a report first")
    return found


def sent_ticks(form: QueryDict) -> list[str]:
    """As `ticked`, but there may be none."""
    return list(dict.fromkeys([*form.getlist("feedback_ids"), *filter(None, form.get("ticked", "").split(","))]))


def told_of_left(form: QueryDict, report: UserFeedback, action: str | None) -> list[str]:
    """Messages about input without effect: labels that the report already had, an unchanged note, a typed reply
    or comment that was not sent and is kept as a draft.
    """
    (verb, choice), said = _pressed(form), []
    if action is None and verb in ("", "label") and (names := _names(form)):
        said.append(f"Already labelled {isolated(', '.join(names))}.")
    elif action is None and verb == "unlabel":
        said.append(f"It is not labelled {isolated(choice)} any more.")
    elif action is None and verb in _UNCHANGED:
        said.append(f"The {_UNCHANGED[verb]} has not changed.")
    elif verb not in ("", "label") and goes_on(form) and (names := _names(form)):
        said.append(f"The label you typed was not added: {isolated(', '.join(names))}.")
    # Beside a rerun another reply may just have been sent, from which this field differs now.
    if goes_on(form) and not fixes(form) and (_text(form, "fixed_reply") or _has_typed_reply(form, Q(feedback=report))):
        said.append("Your reply was not sent.")
    if goes_on(form) and _text(form, "comment"):
        said.append("Your comment was not sent.")
    if action and has_typed_note(form) and (people := commenting.called_in(_text(form, "admin_note"))):
        said.append(f"A note asks nobody; a comment would ask {isolated(get_text_list(people, 'and'))}.")
    return said


def _fixed_reply(form: QueryDict) -> ReplyIn | None:
    if not (words := _text(form, "fixed_reply")):
        return None
    try:
        return bodies.parse(ReplyIn, {"public_reply": words})
    except InvalidRequest as problem:
        raise InvalidRequest.of("fixed_reply", problem.reason) from None


def _pressed(form: QueryDict) -> tuple[str, str]:
    """The verb of the button and its argument. `label typed` means Enter in any field."""
    verb, _, choice = form.get("verb", "").removeprefix("label typed").partition(" ")
    if verb or form.get("label"):
        return verb, choice
    if form.get("duplicate_of") or form.get("original"):
        return "duplicate", ""
    return ("snooze", "day") if form.get("until") else ("", "")


def _has_typed_reply(form: QueryDict, of: Q) -> bool:
    """Whether the reply in the form differs from the stored one."""
    if not (typed := _text(form, "public_reply")):
        return False
    sent = Reply.objects.filter(of).values_list("public_reply", flat=True).first()
    return typed != forms.lines(sent or "").strip()


def _filled(form: QueryDict) -> list[str]:
    """The fields that Enter could mean, in words."""
    duplicate = form.get("duplicate_of") or form.get("original")
    given = {"a label": form.get("label"), "an original": duplicate, "a date": form.get("until")}
    return [words for words, value in given.items() if value]


def _step(name: str, arguments: Mapping[str, Any]) -> tuple[Verb, Exact]:
    verb = verb_named(name)
    return verb, bodies.parse(verb.takes, arguments)


def _arguments(verb: str, choice: str, form: QueryDict, tz: tzinfo) -> Mapping[str, Any]:
    match verb:
        case "own":
            return {"owner": choice or None}
        case "resolve":
            outcome = choice or form.get("outcome")
            return {"outcome": outcome, **_proof(form)} if outcome else {}
        case "outcome":
            if not (outcome := choice or form.get("outcome", "")):
                raise InvalidRequest("outcome: choose an outcome first")
            return {"outcome": outcome, **_proof(form)}
        case "duplicate":
            return {"duplicate_of": choice or _original(form)}
        case "snooze":
            return {"until": _day(form, tz)} if choice == "day" else _snoozed(choice, tz)
        case "reply":
            # The other choices send no words: what is in the field is a draft then.
            words = _text(form, "public_reply") if choice == "answered" else None
            return {"public_status": choice, "public_reply": words}
    return {}


def _proof(form: QueryDict) -> Mapping[str, str]:
    shown = form.get("fixed_proof", "")
    return {"proof": shown} if shown and fixes(form) else {}


def _original(form: QueryDict) -> str:
    """The report that was chosen, else the one whose id was typed. If the text was changed since, the choice no longer
    counts.
    """
    typed = form.get("duplicate_of", "").strip()
    chosen = form.get("original")
    if chosen and typed == form.get("found_by", "").strip():
        return chosen
    if ids.key_of(typed, ids.FEEDBACK) is None:
        # Typed faster than it is searched for: the page that says so has what was found, the first of it chosen.
        asked = "not marked yet: choose the original report among those found; Enter takes the chosen one"
        raise InvalidRequest(f"duplicate_of: {asked if typed else 'choose the original report'}")
    return typed


def _day(form: QueryDict, tz: tzinfo) -> datetime:
    """The beginning of the typed day. A day out of range is refused here, once; a bulk would repeat the error for each
    report.
    """
    typed = form.get("until", "").strip()
    if not typed:
        raise InvalidRequest("until: choose a date first")
    try:
        day = date.fromisoformat(typed)
        if day.isoformat() != typed:  # ISO has other spellings, such as 2026-W20-1
            raise ValueError(typed)
    except ValueError:
        raise InvalidRequest("until: must be a date like 2026-05-01") from None
    begins = datetime(day.year, day.month, day.day, tzinfo=tz)
    require_ahead(begins)
    return begins


def _snoozed(choice: str, tz: tzinfo) -> Mapping[str, Any]:
    until = {each.choice: each.until for each in snoozes(tz)}
    if choice not in until:
        raise InvalidRequest(f"verb: must snooze until {', '.join(until)}")
    return {"until": until[choice]} if until[choice] else {"until_again": True}


def _names(form: QueryDict) -> list[str]:
    """The labels that were typed; if the phone's dock has any, only those."""
    parts = (form.get("dock_label") or form.get("label") or "").split(",")
    return labelling.meant(name for part in parts if (name := plain(part)))


def _text(form: Mapping[str, str], name: str) -> str:
    return forms.lines(form.get(name, "")).strip()
