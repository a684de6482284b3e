"""What the desk shows of the check of a report."""

from typing import Any

from feedback.checks import keeping, presenting, records
from feedback.models import UserFeedback
from threads import profiles


def of_report(report: UserFeedback) -> dict[str, Any]:
    """What the panel shows of a report's check. Three queries."""
    kept = keeping.check_of(report)
    card = presenting.card_of(records.check_records([kept])[0]) if kept else None
    return {
        "check": card,
        "check_rows": card.rows if card else (presenting.Row(),),
        "check_of": report.feedback_id,
        **choices(),
    }


def choices() -> dict[str, Any]:
    """What the forms offer."""
    return {"kinds": presenting.KINDS, "times": presenting.TIMES, "profiles": profiles.all_profiles()}
