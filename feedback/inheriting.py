"""What becomes of the duplicates of a report that its submitter takes back."""

from collections.abc import Sequence

from core import ids
from core.actor import Actor
from feedback import following, triage
from feedback.deciding import OPEN, RETRACT
from feedback.models import UserFeedback


def pass_on(actor: Actor, report: UserFeedback, duplicates: Sequence[UserFeedback]) -> None:
    """Of a report that is open, the earliest duplicate is open again and the others become its own, so that the
    complaint is still seen to. Those of a duplicate are of what it is of.

    Under its lock and those of its duplicates. Many of them cost no more queries.
    """
    heir = next((each for each in duplicates if each.resolved), None)
    if heir is None:
        return
    action, to = ids.new_key(), following.root_of(report.pk)
    if to == report.pk:
        if report.resolved:
            return
        triage.apply(actor, triage.subject_of(heir), RETRACT, OPEN, action=action)
        to = heir.pk
    following.lead(actor.user_id, of=report.pk, to=to, verb=RETRACT, action=action)
