"""Routes that help with searching: the fields of the query language, and similar reports."""

from dataclasses import asdict

from django.http import HttpResponse
from rest_framework.request import Request

from core.api import Endpoint, describe, records
from feedback import access, querying, similar
from feedback.wire_finding import QueryFieldOut, SimilarReportOut


class QueryTerms(Endpoint):
    @describe(gives=QueryFieldOut, many=True, summary="List the fields of the query language, with suggested values")
    def get(self, request: Request) -> HttpResponse:
        return records([QueryFieldOut.model_validate(asdict(each)) for each in querying.completions(self.actor)])


class SimilarReports(Endpoint):
    @describe(gives=SimilarReportOut, many=True, summary="List similar reports, with the reasons")
    def get(self, request: Request, feedback_id: str) -> HttpResponse:
        return records(similar.similar_to(self.actor, access.report_for(self.actor, feedback_id)))
