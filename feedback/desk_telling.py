"""Messages of the desk about what an action did, and what it could not do."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.contrib.messages.storage.base import Message
from django.utils import timezone

from core import forms, ids
from core.actor import Actor
from core.templatetags.ui import thousands
from core.wording import one_line
from feedback import last_action, undoing
from feedback.deciding import REDO, RENAME, ResolvedAlready
from feedback.models import Bulk, UserFeedback
from feedback.quoting import OPENING_LENGTH

TYPED_AS = {
    "add": "label",
    "remove": "label",
    "public_status": "public_reply",
    "text": "comment",
    "expectations": "an expectation",
}
"""Arguments of verbs that are typed into a field of another name."""
SAID_AS = {**TYPED_AS, "until": "the date"}
"""Names for fields in errors that are not shown next to the field."""
OF_RUNS = "runs"
"""Tag of the message that runs of the open report's check were started; once they are over, their outcome is told."""
_NEWS = timedelta(minutes=1)
"""How long a page tells of an undo that is over."""


def of_last(messages: Sequence[Message], context: Mapping[str, Any], *, final_at: float) -> dict[str, Any]:
    """What the status line says of the last action, and what stands beside it, as values of the page's context.

    `final_at`: when the reader last did what cannot be undone.
    """
    last, undone, vain, ended_at = context["last"], context["undone"], context["vain"], context.get("ended_at")
    said = _sentences(messages, context, final_at)
    is_held = last is not None and (vain is not None or last.at.timestamp() < final_at)
    # What may be undone is shown as the news only if nothing came after it.
    is_ended = ended_at is not None and _is_news(ended_at) and not said
    is_news = ended_at is not None and last is not None and ended_at > last.at
    # What is said of it came with it, and not after it.
    of_it = sum(last is not None and each.extra_tags == last.action for each in messages)
    is_latest = not (len(said) > of_it or undone or is_held or is_news or context["errors"] or context.get("conflict"))
    redo = context["redo"] if not is_held and final_at < _ended_at(context["redo"]) else None
    # Which one, unless it has just been said.
    redone = last_action.told(redo.undoes or "") if redo and redo is not undone else None
    return {
        "said": said,
        "is_latest": is_latest,
        "is_held": is_held,
        "is_ended": is_ended,
        "redo": redo and {"action_id": ids.ACTION + redo.key, "short": redone.short if redone else ""},
    }


def _ended_at(done: Bulk | None) -> float:
    return done.finished_at.timestamp() if done and done.finished_at else 0


def _sentences(messages: Sequence[Message], context: Mapping[str, Any], final_at: float) -> list[str]:
    outcome = getattr(context.get("check"), "outcome", "")
    undone, vain, ended = context["undone"], context["vain"], context["meanwhile"]
    said = [(each.extra_tags == OF_RUNS and outcome) or str(each) for each in messages]
    if not said and undone and _is_news(undone.finished_at) and undone.finished_at.timestamp() > final_at:
        said = [of_undo(undone)]
    if vain and _is_news(vain.finished_at) and (words := of_vain(vain)):
        said.append(words)
    if ended and _is_news(ended.finished_at):
        said.append(of_ended(ended))
    return said


def _is_news(at: datetime) -> bool:
    return at > timezone.now() - _NEWS


def of_bulk(done: Bulk) -> str:
    """The message after starting a bulk; its successes and failures are shown elsewhere."""
    return "" if done.total else "No reports match; nothing was changed."


def of_vain(done: Bulk) -> str:
    """The message after a bulk that changed no report, about those that were as it wanted them."""
    if not done.done_count or done.verb == RENAME.name:
        return ""
    added, removed = (done.arguments.get(each) or () for each in ("add", "remove"))
    deed = "unlabel" if done.verb == "label" and not added else done.verb
    return f"Nothing was changed: {last_action.already(done.done_count, deed + 's' * (len(added or removed) > 1))}."


def of_ended(done: Bulk) -> str:
    """The message about a bulk during which its author did something else."""
    ended = last_action.told(done.key)
    return f"{ended.words}." if ended else ""


def of_failures(done: Bulk, already: int = 0) -> str:
    """How many reports a bulk could not change; of these, `already` were resolved before."""
    failed = done.failed_count - already
    changed = f"{thousands(failed)} of {thousands(done.total)} not changed" if failed else ""
    return ", ".join(filter(None, (changed, f"{thousands(already)} resolved already" if already else "")))


def of_undo(done: Bulk) -> str:
    """The message after an undo or a redo; none if a redo brought everything back: it is the last action itself."""
    if not done.total:
        return "Stopped before it had changed anything."
    if done.verb == REDO and done.is_over and not done.failed_count:
        return ""
    undone = last_action.told(undoing.undone_action(done))
    noun = undone.noun if undone else "changes to a deleted report"
    if not done.is_over:
        return f"{done.verb.capitalize()}ing: {noun}."
    if done.failed_count:
        if not undoing.changes_of(done.key).exists():
            return f"Nothing was {done.verb}ne."
        return f"Partly {done.verb}ne." if done.total == 1 else f"{done.verb.capitalize()}ne, but {of_failures(done)}."
    said = f"Undone: {noun}" + ("" if noun.endswith((".\u201d", "!\u201d", "?\u201d")) else ".")
    return f"{said} Its text is in the field again, not saved." if undone and undone.has_note else said


def of_resolved(actor: Actor, problem: ResolvedAlready, report: UserFeedback) -> str:
    """The message for an admin who resolves a report that is already resolved. It stands beside the next one."""
    said = "You already resolved this report." if problem.by == actor.user_id else problem.message
    name = last_action.called(one_line(report.notes or "", OPENING_LENGTH), report.thread.title or "")
    return said.replace("this report", name)


def of_stop(stopped: Bulk) -> str:
    """The message after stopping a bulk."""
    far = f"Stopped after {thousands(stopped.dealt_with)} of {thousands(stopped.total)}."
    if stopped.undoes:
        return f"{far} {stopped.verb.capitalize()} again to continue."
    return f"{far} Changes made so far stay{'' if stopped.verb == RENAME.name else ' and can be undone'}."


def reason_of(reason: str) -> str:
    """Why a bulk could not change a report, in words for people."""
    field, _, rest = reason.partition(": ")
    return forms.sentence(rest, SAID_AS[field]) if field in SAID_AS else reason
