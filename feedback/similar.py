"""Similar reports, each with the reasons.

Candidates come from indexes, the newest few dozen of each kind: same thread, tool, error, and each significant word of
the notes. They are then compared in Python.
"""

from typing import Any

from django.db.models import Q

from accounts.rights import require_admin
from core.actor import Actor
from core.errors import NotFound
from feedback import digesting, projecting
from feedback.comparing import EACH, Facts, facts_of, shared, telling
from feedback.models import RatedAnswer, RatedTool, UserFeedback
from feedback.wire_finding import SimilarReportOut

_WORTH_SHOWING = 2.0


def similar_to(actor: Actor, report: UserFeedback, limit: int = 8) -> list[SimilarReportOut]:
    """The most similar reports: the same org first, then open ones, then by score. For platform admins.

    The number of queries does not depend on the number of reports. Raises `NotFound` if the report was retracted.
    """
    require_admin(actor)
    digesting.bring_up_to_date()
    one = facts_of([report.pk]).get(report.pk)
    if one is None:
        raise NotFound(projecting.GONE)
    weights, hits = telling(one)
    others = facts_of(_candidates(one) | hits - {one.pk})
    found = [(other, shared(one, other, weights)) for other in others.values()]
    worth = [(other, common) for other, common in found if common.score >= _WORTH_SHOWING]
    worth.sort(key=lambda pair: (pair[0].org != one.org, pair[0].resolved, -pair[1].score, -pair[0].pk))
    records = projecting.full_records([other.pk for other, _ in worth[:limit]])
    return [
        SimilarReportOut(
            **records[other.pk].model_dump(),
            reasons=common.reasons,
            score=round(common.score, 2),
            is_alike=common.is_alike,
        )
        for other, common in worth[:limit]
        if other.pk in records
    ]


def _candidates(one: Facts) -> set[int]:
    """Row ids of candidates, without the report itself."""
    rows: list[Any] = [UserFeedback.objects.filter(thread=one.thread).order_by("-pk").values_list("pk", flat=True)]
    if one.error:
        same = RatedAnswer.objects.exclude(error_code="").filter(error_code=one.error)
        rows.append(same.order_by("-feedback").values_list("feedback", flat=True))
    for name in sorted(one.tools, key=lambda name: not one.tools[name])[:4]:
        same_tool = RatedTool.objects.filter(tool_name=name).order_by("-feedback")
        rows.append(same_tool.values_list("feedback", flat=True))
    kin = Q(org=one.org, sentiment=one.sentiment, resolved=False)
    rows.append(UserFeedback.objects.filter(kin).order_by("-pk").values_list("pk", flat=True))
    return {pk for each in rows for pk in each[:EACH]} - {one.pk}
