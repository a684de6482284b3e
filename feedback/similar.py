"""Similar reports, each with the reasons.

Candidates come from indexes, the newest few dozen of each kind: same thread, tool, error, and each significant word of
the notes. They are then compared in Python.
"""

from functools import lru_cache
from time import time
from typing import Any, NamedTuple

from django.db.models import F, Q

from accounts.rights import require_admin
from core.actor import Actor
from core.errors import NotFound
from core.prepared import Prepared, together
from feedback import digesting, projecting
from feedback.likeness import EACH, Facts, Shared, facts_of, shared, telling
from feedback.models import RatedAnswer, RatedTool, UserFeedback
from feedback.wire_finding import SimilarReportOut

_WORTH_SHOWING = 2.0
_SHOWN = 8
_KEPT_SECONDS = 60
_NEWEST = Prepared(lambda: UserFeedback.objects.order_by("-pk").values_list("pk")[:1])
_EDITED = Prepared(
    lambda: UserFeedback.objects.filter(modified__gt=F("created")).order_by("-modified").values_list("modified")[:1]
)


class _Kin(NamedTuple):
    pk: int
    is_elsewhere: bool
    """Of another org."""
    common: Shared


def similar_to(actor: Actor, report: UserFeedback) -> list[SimilarReportOut]:
    """The eight most similar reports: the same org first, then open ones, then by score. For platform admins.

    The number of queries does not depend on the number of reports. Raises `NotFound` if the report was retracted.
    """
    require_admin(actor)
    digesting.bring_up_to_date()
    newest, edited = together((_NEWEST, ()), (_EDITED, ()))
    found = _kin_of(report.pk, report.modified, tuple(newest), tuple(edited), int(time() // _KEPT_SECONDS))
    still_open = UserFeedback.objects.filter(pk__in=[each.pk for each in found], resolved=False)
    is_open = set(still_open.values_list("pk", flat=True))
    best = sorted(found, key=lambda each: (each.is_elsewhere, each.pk not in is_open, -each.common.score, -each.pk))
    records = projecting.full_records([each.pk for each in best[:_SHOWN]])
    return [
        SimilarReportOut(
            **records[each.pk].model_dump(),
            reasons=each.common.reasons,
            score=round(each.common.score, 2),
            is_alike=each.common.is_alike,
        )
        for each in best[:_SHOWN]
        if each.pk in records
    ]


@lru_cache(maxsize=32)
def _kin_of(report_pk: int, *_state: object) -> list[_Kin]:
    """The reports that have enough in common with one. Kept for a minute, unless a report is new or was edited: the
    desk fetches a report ahead, and mostly once more when it is opened.
    """
    one = facts_of([report_pk]).get(report_pk)
    if one is None:
        raise NotFound(projecting.GONE)
    weights, hits = telling(one)
    others = facts_of(_candidates(one) | hits - {one.pk}).values()
    found = (_Kin(other.pk, other.org != one.org, shared(one, other, weights)) for other in others)
    return [each for each in found if each.common.score >= _WORTH_SHOWING]


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
