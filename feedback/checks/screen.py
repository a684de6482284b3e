"""What the desk shows of the check of a report."""

from collections.abc import Iterable
from typing import Any

from feedback.checks import keeping, presenting, records
from feedback.models import UserFeedback
from threads import profiles
from threads.presenting.articles import Article


def of_report(report: UserFeedback, articles: Iterable[Article] = ()) -> dict[str, Any]:
    """What the panel shows of a report's check; the tools that its thread called are offered. One query, and two more
    where one is kept.
    """
    kept = records.with_names(keeping.of_report(report)).first()
    card = presenting.card_of(records.check_records([kept])[0]) if kept else None
    return {
        "check": card,
        "check_rows": card.rows if card else (presenting.Row(),),
        "check_of": report.feedback_id,
        "check_tools": sorted({call.tool_name for article in articles for call in article.calls}),
        **choices(),
    }


def choices() -> dict[str, Any]:
    """What the forms offer."""
    return {"kinds": presenting.KINDS, "times": presenting.TIMES, "profiles": profiles.all_profiles()}
