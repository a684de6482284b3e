"""The compliance report as a page: a form, and what the checks found (catalogue 3.9)."""

from dataclasses import dataclass
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from accounts.authentication import page_actor
from accounts.pages import current_org, required_org, signed_in
from catalogue import servers
from catalogue.compliance import running
from catalogue.wire_compliance import CheckOut, ComplianceIn, ReportOut
from catalogue.worlds import choosing
from core import bodies, paging
from core.errors import Expired, InvalidRequest, NotFound

SHOWN: Final = 200
"""Checks of a kind that the page lists; the command and the route give all."""


@signed_in
@require_http_methods(["GET", "POST"])
def compliance(request: HttpRequest) -> HttpResponse:
    """Choose a server and, where its tools are to be called, a world. Calls are made by a form alone, by no link."""
    said = request.POST if request.method == "POST" else request.GET
    typed = {name: said.get(name, "").strip() for name in ("server", "world")}
    org = current_org(request)
    listed = servers.listed(org.pk, limit=paging.MAX_LIMIT, page_token=None).items if org else []
    names = [each.name for each in listed]
    if typed["server"] and typed["server"] not in names:
        names.append(typed["server"])
    context: dict[str, Any] = {"typed": typed, "servers": names, "fault": "", "report": None}
    context["worlds"] = choosing.choices(org.pk, chosen=typed["world"]) if org else []
    status = 200
    if request.method == "POST":
        try:
            bodies.check_storable(typed)
            asked = {"server": typed["server"], "world_id": typed["world"] or None}
            report = running.run(page_actor(request), required_org(request).pk, bodies.parse(ComplianceIn, asked))
            context |= {"report": report, "groups": _grouped(report)}
        except (InvalidRequest, NotFound, Expired) as problem:
            context["fault"], status = problem.message, problem.status
    return render(request, "catalogue/compliance.html", context, status=status)


@dataclass(frozen=True, slots=True)
class Group:
    """Checks that were found alike: the first of them, and how many there are."""

    word: str
    tone: str
    checks: list[CheckOut]
    count: int


def _grouped(report: ReportOut) -> list[Group]:
    """The checks in three groups, what fails on top. A server of hundreds of tools has thousands."""
    found: dict[str, list[CheckOut]] = {"failed": [], "warning": [], "passed": []}
    for each in report.results:
        found["failed" if not each.passed else "warning" if each.details.get("warning") else "passed"].append(each)
    tones = {"failed": "neg", "warning": "warn", "passed": "pos"}
    return [Group(word, tones[word], checks[:SHOWN], len(checks)) for word, checks in found.items() if checks]
