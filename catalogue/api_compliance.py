"""REST route of compliance checks (catalogue 3.9, 6.2)."""

from django.http import HttpResponse
from rest_framework.request import Request

from catalogue.api_tools import CatalogueEndpoint
from catalogue.compliance import running
from catalogue.wire_compliance import ComplianceIn, ReportOut
from core.api import describe, record


class Compliance(CatalogueEndpoint):
    @describe(takes=ComplianceIn, gives=ReportOut, summary="Run compliance checks on a server (C121 to C127)")
    def post(self, request: Request) -> HttpResponse:
        org_id = self.org()
        return record(running.run(self.actor, org_id, self.parse(ComplianceIn)))
