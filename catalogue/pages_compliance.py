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
from catalogue.wire_compliance import CheckOut, ComplianceIn
from catalogue.worlds import choosing
from core import bodies, paging
from core.errors import Expired, InvalidRequest, NotFound

SHOWN: Final = 200
"""Checks of a kind that the page lists; the command and the route give all."""
CHECKS: Final = {
    "server_metadata": ("Metadata", "The server has a name, a description and a version."),
    "tools_exist": ("Tools", "The server has one at least."),
    "tool_schema": ("Description and schema", "The tool has a description, and its schema has a type."),
    "manifest_synth": ("Manifest", "The server can be written as a Convilyn manifest."),
    "tool_invocation": ("Call", "A call without arguments does not crash. It is skipped where it could do harm."),
    "ref_id_pattern": ("Large results", "Says whether a result comes with ref_id and summary; it always passes."),
    "get_tool_data": ("Data store", "Large results have a place to be put aside."),
    "heddle:input_schema": ("Input schema", "It is valid JSON Schema of an object."),
    "heddle:output_schema": ("Output schema", "It is valid JSON Schema, where there is one."),
    "heddle:portable_name": ("Name", "OpenAI, Anthropic and MCP take the name as it is."),
    "heddle:annotations": ("Side effects", "Its hints do not contradict each other."),
    "heddle:result": ("Result", "A result made from the output schema is a valid CTP result."),
    "heddle:description": ("Parameters", "Each has a description; a missing one is a warning."),
}
"""What a check is called for a reader, and when it passes, by its name on the wire (catalogue 3.9)."""


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
    context: dict[str, Any] = {"typed": typed, "servers": names, "fault": "", "report": None, "checks": CHECKS.values()}
    context["worlds"] = choosing.choices(org.pk, chosen=typed["world"]) if org else []
    status = 200
    if request.method == "POST":
        try:
            bodies.check_storable(typed)
            asked = {"server": typed["server"], "world_id": typed["world"] or None}
            report = running.run(page_actor(request), required_org(request).pk, bodies.parse(ComplianceIn, asked))
            context |= {"report": report, "groups": grouped(report.results)}
        except (InvalidRequest, NotFound, Expired) as problem:
            context["fault"], status = problem.message, problem.status
    return render(request, "catalogue/compliance.html", context, status=status)


@dataclass(frozen=True, slots=True)
class Line:
    """One check as it is read: what was checked, of which tool where it is about one, and what was found."""

    word: str
    tool: str
    said: str
    check_name: str


@dataclass(frozen=True, slots=True)
class Group:
    """Checks that were found alike: the first of them, and how many there are."""

    word: str
    tone: str
    lines: list[Line]
    count: int


def line_of(each: CheckOut) -> Line:
    """A check in words. No tool's name holds a colon."""
    check, _, tool = each.check_name.removeprefix("heddle:").partition(":")
    key = each.check_name.removesuffix(f":{tool}") if tool else each.check_name
    return Line(CHECKS[key][0] if key in CHECKS else check, tool, each.message, each.check_name)


def grouped(results: list[CheckOut]) -> list[Group]:
    """The checks in three groups, what fails on top. A server of hundreds of tools has thousands."""
    found: dict[str, list[CheckOut]] = {"failed": [], "warning": [], "passed": []}
    for each in results:
        found["failed" if not each.passed else "warning" if each.details.get("warning") else "passed"].append(each)
    tones = {"failed": "neg", "warning": "warn", "passed": "pos"}
    return [
        Group(word, tones[word], [line_of(each) for each in checks[:SHOWN]], len(checks))
        for word, checks in found.items()
        if checks
    ]
