"""Handles the duplicates of a report that its submitter retracts."""

from collections.abc import Sequence

from core import ids
from core.actor import Actor
from feedback import following, triage, webhooks
from feedback.deciding import OPEN, RETRACT
from feedback.models import UserFeedback


def pass_on(actor: Actor, report: UserFeedback, duplicates: Sequence[UserFeedback]) -> None:
    """If the retracted report is open, reopen its earliest duplicate and make the others duplicates of that one, so
    that the complaint is not lost. If it is a duplicate itself, they get its original. If it is resolved, they stay
    resolved, and name nothing any more.

    The report and its duplicates must be locked. The number of queries is constant.
    """
    heir = next((each for each in duplicates if each.resolved), None)
    if heir is None:
        return
    action = ids.new_key()
    root = following.root_of(report.pk)
    to = None if root == report.pk else root
    if to is None and not report.resolved:
        triage.apply(actor, triage.subject_of(heir), RETRACT, OPEN, action=action)
        to = heir.pk
    moved = following.lead(actor.user_id, of=report.pk, to=to, verb=RETRACT, action=action)
    webhooks.announce_updates(moved, report, actor_id=actor.user_id)
