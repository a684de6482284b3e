"""What became of an admin's latest bulk, as the desk shows it."""

from collections.abc import Sequence
from typing import Any

from core import ids
from core.actor import Actor
from feedback import desk_telling, last_action, undoing
from feedback.deciding import UNDO
from feedback.models import Bulk, UserFeedback

_FAILURES_SHOWN = 20


def unsettled(bulks: Sequence[Bulk], last: last_action.LastAction | None) -> dict[str, Any] | None:
    """The reports that the actor's latest bulk could not change, with the reasons.

    Those of many stay, no longer `is_news`, while the bulk can be undone or until the next of many; those of one, and
    what was resolved already, until any later action.
    """
    news = _latest(bulks, last)
    latest = news if news and news.failed_count else _last_ended([each for each in bulks if each.total > 1])
    if latest is None or not latest.failed_count:
        return None
    is_news = latest is news
    # What was resolved already is as it was wanted, so it comes last and is no warning.
    already = latest.failures.filter(is_as_wanted=True).count()
    if already == latest.failed_count and not is_news:
        return None
    listed = latest.failures.order_by("is_as_wanted", "id").values_list("feedback_key", "reason")
    failures = list(listed[:_FAILURES_SHOWN])
    named = UserFeedback.objects.filter(key__in=[key for key, _ in failures]).values_list(
        "key", "notes", "thread__title"
    )
    words = {key: last_action.called(notes or "", title or "") for key, notes, title in named}
    return {
        "words": desk_telling.of_failures(latest, already),
        "is_as_wanted": already == latest.failed_count,
        "is_news": is_news,
        "is_of_many": latest.total > 1,
        "more": max(0, latest.failed_count - _FAILURES_SHOWN),
        "failures": [
            (ids.FEEDBACK + key, words.get(key, ""), desk_telling.reason_of(reason)) for key, reason in failures
        ],
    }


def undone(bulks: Sequence[Bulk], last: last_action.LastAction | None) -> Bulk | None:
    """The actor's latest undo, until their next action; the action before it must not be shown as new. Or a redo that
    changed nothing: any other one is an action itself.
    """
    latest = _latest(bulks, last)
    is_action = latest is not None and last is not None and latest.key in (last.action, *last.over)
    is_undo = latest is not None and latest.undoes and latest.state == Bulk.State.DONE and not is_action
    return latest if is_undo else None


def redoable(actor: Actor, bulks: Sequence[Bulk], last: last_action.LastAction | None) -> Bulk | None:
    """The undo that the actor can redo: the latest that is not redone, or not to its end, if they did nothing since but
    undo and redo.
    """
    latest = _latest(bulks, last)
    if latest is None or not latest.undoes:
        return None
    undos = {each.key: each for each in bulks if each.verb == UNDO and each.is_over}
    undo = undos.get(undoing.latest_redoable(undos) or "")
    if undo is None or any(each.created > undo.created for each in bulks if each.undoes is None):
        return None
    return None if undoing.acted_since(actor, undo.created, but=[each.key for each in bulks]) else undo


def vain(bulks: Sequence[Bulk], last: last_action.LastAction | None) -> Bulk | None:
    """The actor's latest bulk, if there is nothing in it to undo: it changed no report, or renamed a label."""
    latest = _latest(bulks, last)
    is_undoable = latest is not None and last is not None and latest.key in (last.action, *last.over)
    return None if latest is None or latest.undoes or is_undoable else latest


def meanwhile(bulks: Sequence[Bulk], last: last_action.LastAction | None) -> Bulk | None:
    """The actor's latest bulk, if the actor did something else while it ran, which is undone before it."""
    latest = _latest(bulks, last)
    return latest if latest is not None and last is not None and latest.key in last.over else None


def _latest(bulks: Sequence[Bulk], last: last_action.LastAction | None) -> Bulk | None:
    """The actor's bulk that ended last, if the actor did nothing since."""
    latest = _last_ended(bulks)
    if latest is None or latest.finished_at is None:
        return None
    since = [*(each.created for each in bulks), *([last.at] if last else ())]
    return None if any(each > latest.finished_at for each in since) else latest


def _last_ended(bulks: Sequence[Bulk]) -> Bulk | None:
    ended = {each.finished_at: each for each in bulks if each.finished_at}
    return ended[max(ended)] if ended else None
