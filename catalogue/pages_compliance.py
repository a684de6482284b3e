"""The compliance report as a page: a form, and what the checks found (catalogue 3.9)."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from accounts.authentication import page_actor
from accounts.pages import current_org, required_org, signed_in
from catalogue import servers
from catalogue.compliance import running
from catalogue.wire_compliance import ComplianceIn, ReportOut
from core import bodies, paging
from core.errors import Expired, InvalidRequest, NotFound


@signed_in
@require_http_methods(["GET", "POST"])
def compliance(request: HttpRequest) -> HttpResponse:
    """Choose a server and, where its tools are to be called, a world. Calls are made by a form alone, by no link."""
    said = request.POST if request.method == "POST" else request.GET
    typed = {name: said.get(name, "").strip() for name in ("server", "world")}
    org = current_org(request)
    listed = servers.listed(org.pk, limit=paging.MAX_LIMIT, page_token=None).items if org else []
    context: dict[str, Any] = {"typed": typed, "servers": [each.name for each in listed], "fault": "", "report": None}
    status = 200
    if request.method == "POST":
        try:
            bodies.check_storable(typed)
            asked = {"server": typed["server"], "world_id": typed["world"] or None}
            report = running.run(page_actor(request), required_org(request).pk, bodies.parse(ComplianceIn, asked))
            context |= {"report": report, **_told(report)}
        except (InvalidRequest, NotFound, Expired) as problem:
            context["fault"], status = problem.message, problem.status
    return render(request, "catalogue/compliance.html", context, status=status)


def _told(report: ReportOut) -> dict[str, Any]:
    """The checks in three groups: what fails stands on top."""
    failed = [each for each in report.results if not each.passed]
    warned = [each for each in report.results if each.passed and each.details.get("warning")]
    passed = [each for each in report.results if each.passed and not each.details.get("warning")]
    return {"failed": failed, "warned": warned, "passed": passed}
