"""Reports that are offered beside one: those like it, and possible originals of it or of ticked reports."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

from django.utils import timezone

from core import grammar, ids
from core.actor import Actor
from core.errors import InvalidRequest
from core.grammar import MAX_LENGTH
from core.wording import isolated, one_line
from feedback import access, originals, quoting, similar
from feedback.models import Triage, UserFeedback
from feedback.presenting.alike import Near
from feedback.presenting.links import href
from feedback.wire_finding import SimilarReportOut


def near(actor: Actor, report: UserFeedback, query: dict[str, str]) -> list[Near]:
    """Those like a report; `query` is the address of the list that their links keep."""
    org_id, found = report.org.org_id, similar.similar_to(actor, report)
    taken = _taken(actor, [each.feedback_id for each in found if each.is_alike and not each.resolved])
    return [
        replace(
            shown,
            href=href({**query, "item": each.feedback_id}),
            is_alike=each.is_alike,
            is_of_org=each.org_id == org_id,
            taken=taken.get(each.feedback_id, ""),
        )
        for each, shown in zip(found, _shown((each, each.reasons) for each in found), strict=True)
    ]


def _taken(actor: Actor, feedback_ids: Sequence[str]) -> dict[str, str]:
    """By id the reports that another admin owns or that are snoozed, in words. One query."""
    keys = [ids.key_of(each, ids.FEEDBACK) for each in feedback_ids]
    rows = Triage.objects.filter(feedback__key__in=keys).select_related("owner", "feedback") if keys else ()
    return {each.feedback.feedback_id: words for each in rows if (words := _taken_by(actor, each))}


def _taken_by(actor: Actor, beside: Triage) -> str:
    if beside.owner and beside.owner_id != actor.user_id:
        return f"owned by {isolated(beside.owner.display_name)}"
    is_asleep = beside.snoozed_until_again or (beside.snoozed_until and beside.snoozed_until > timezone.now())
    return "snoozed" if is_asleep else ""


def choices(actor: Actor, feedback_id: str, typed: str, *, tz: ZoneInfo) -> dict[str, Any]:
    """Possible originals of a report for the typed text, without one similar reports; `lack` explains an empty list."""
    report, typed = access.report_for(actor, feedback_id), _spaced(typed)
    if not typed:
        return _choices("", [each for each in near(actor, report, {}) if each.is_of_org])
    try:
        return _choices(typed, _found(originals.found(actor, report, typed, tz=tz)))
    except InvalidRequest as problem:
        return _choices(typed, lack=problem.message)


def choices_for_all(
    actor: Actor, feedback_ids: Sequence[str], opened_id: str, typed: str, *, tz: ZoneInfo
) -> dict[str, Any]:
    """Possible originals of ticked reports; without text the open report and the oldest of the ticked.

    Of a single one they are those of the report's own form.
    """
    keys = {key for each in feedback_ids if (key := ids.key_of(each, ids.FEEDBACK))}
    typed = _spaced(typed)
    if len(keys) == 1 and (typed or opened_id in ("", *feedback_ids)):
        return choices(actor, feedback_ids[0], typed, tz=tz)
    if not typed:
        before = ids.key_of(opened_id, ids.FEEDBACK) or ""
        first = originals.first_of(actor, keys, before=before)
        return _choices("", _found((each, "open here" if each.key == before else "ticked") for each in first))
    try:
        return _choices(typed, _found(originals.found_for_all(actor, keys, typed, tz=tz)))
    except InvalidRequest as problem:
        return _choices(typed, lack=problem.message)


def _spaced(typed: str) -> str:
    return grammar.spaced(typed).strip()[:MAX_LENGTH]


def _choices(typed: str, shown: Sequence[Near] = (), *, lack: str = "") -> dict[str, Any]:
    lack = lack or ("No report of the same org matches." if typed and not shown else "")
    return {
        "found_by": typed,
        "choices": shown,
        "lack": lack,
        "announced": lack or (_announced(shown) if typed else ""),
    }


def _announced(shown: Sequence[Near]) -> str:
    """What is said of the choices for typed words to a reader who does not see them."""
    number = f"{len(shown)} possible originals" if len(shown) > 1 else "1 possible original"
    first = shown[0].words or shown[0].answer or "No notes"
    return f"{number}. Enter takes “{isolated(one_line(first, 80))}”."


def _found(found: Iterable[tuple[UserFeedback, str]]) -> list[Near]:
    return _shown((each, tuple(filter(None, (place, each.thread.title or "Untitled")))) for each, place in found)


def _shown(found: Iterable[tuple[UserFeedback | SimilarReportOut, tuple[str, ...]]]) -> list[Near]:
    """Reports, each with why it is offered; those without notes with how the rated answer begins."""
    found = list(found)
    answers = quoting.answer_openings([each.feedback_id for each, _ in found if not each.notes])
    return [
        Near(
            feedback_id=each.feedback_id,
            sentiment=each.sentiment,
            words=each.notes or "",
            answer=answers.get(each.feedback_id, ""),
            reasons=reasons,
            created=each.created,
            href="",
            resolved=each.resolved,
        )
        for each, reasons in found
    ]
