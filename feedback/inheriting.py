"""What becomes of the duplicates of a report that its submitter takes back."""

from collections.abc import Sequence

from core import ids
from core.actor import Actor
from feedback import triage
from feedback.deciding import RETRACT
from feedback.models import Triage, TriageChange, UserFeedback


def pass_on(actor: Actor, report: UserFeedback, duplicates: Sequence[UserFeedback]) -> None:
    """The earliest duplicate is open again and the others become its own, so that the complaint is still seen to.

    For a report that is open, under its lock and those of its duplicates. Many of them cost no more queries.
    """
    heir = next((each for each in duplicates if each.resolved), None)
    if heir is None:
        return
    action = ids.new_key()
    triage.apply(actor, triage.subject_of(heir), RETRACT, {"resolved": False}, action=action)
    others = [each for each in duplicates if each.pk != heir.pk]
    changes = [
        TriageChange(
            feedback=each,
            actor_id=actor.user_id,
            before={"duplicate_of_id": report.pk},
            after={"duplicate_of_id": heir.pk},
            verb=RETRACT,
            action=action,
        )
        for each in others
    ]
    TriageChange.objects.bulk_create(changes, batch_size=500)
    Triage.objects.filter(duplicate_of=report.pk, feedback__in=[each.pk for each in others]).update(duplicate_of=heir)
