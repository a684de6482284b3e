"""Insight's route."""

from django.http import HttpResponse
from django.utils import timezone
from rest_framework.request import Request

from accounts.rights import require_admin
from core import paging
from core.api import Endpoint, describe, record
from feedback.insight.figures import figures
from feedback.insight.period import period_of
from feedback.insight.wire import InsightOut
from feedback.querying import parse


class Insight(Endpoint):
    @describe(
        gives=InsightOut, query=("q", "since", "until", "tz", "limit"), summary="Get figures about feedback, for admins"
    )
    def get(self, request: Request) -> HttpResponse:
        require_admin(self.actor)
        period = period_of(self.query("since"), self.query("until"), self.query("tz"), timezone.now())
        limit = paging.limit_of(self.query("limit"))
        return record(figures(self.actor, parse(self.query("q") or ""), period, limit=limit))
