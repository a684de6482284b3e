"""The compliance page: a form and the report (catalogue 3.9)."""

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
"""Maximum number of checks listed per group; the command and the REST route return all."""
CHECKS: Final = {
    "server_metadata": ("Metadata", "The server has a name, a description and a version."),
    "tools_exist": ("Tools", "The server has at least one."),
    "tool_schema": ("Description and schema", "The tool has a description, and its schema has a type."),
    "manifest_synth": ("Manifest", "The server can be written as a Convilyn manifest."),
    "tool_invocation": ("Call", "A call without arguments does not crash. Skipped if it could do harm."),
    "ref_id_pattern": ("Large results", "Reports whether a result has ref_id and summary; always passes."),
    "get_tool_data": ("Data store", "Large results can be stored separately."),
    "heddle:input_schema": ("Input schema", "It is a valid JSON Schema of an object."),
    "heddle:output_schema": ("Output schema", "It is a valid JSON Schema, if present."),
    "heddle:portable_name": (
        "Name",
        "OpenAI, Anthropic and MCP accept the name unchanged; one that Convilyn's workflows do not is a warning.",
    ),
    "heddle:annotations": ("Side effects", "The hints do not contradict each other."),
    "heddle:result": ("Result", "A result generated from the output schema is a valid CTP result."),
    "heddle:description": ("Parameters", "Each has a description; a missing one is a warning."),
}
"""Label of each check and when it passes, by its name in the API (catalogue 3.9)."""


@signed_in
@require_http_methods(["GET", "POST"])
def compliance(request: HttpRequest) -> HttpResponse:
    """Run the checks on a server, optionally calling its tools in a world. Only POST calls tools."""
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
            if not typed["server"]:
                raise InvalidRequest("Choose a server.")
            asked = {"server": typed["server"], "world_id": typed["world"] or None}
            report = running.run(page_actor(request), required_org(request).pk, bodies.parse(ComplianceIn, asked))
            checked = servers.server_out(servers.server_for(required_org(request).pk, typed["server"]))
            context |= {"report": report, "groups": grouped(report.results), "checked": checked}
        except (InvalidRequest, NotFound, Expired) as problem:
            context["fault"], status = problem.message, problem.status
    return render(request, "catalogue/compliance.html", context, status=status)


@dataclass(frozen=True, slots=True)
class Line:
    """A check for display: label, tool (empty if about the server), result."""

    word: str
    tool: str
    said: str
    check_name: str


@dataclass(frozen=True, slots=True)
class Group:
    """Checks with the same outcome: the first of them, and their number."""

    word: str
    tone: str
    lines: list[Line]
    count: int


def line_of(each: CheckOut) -> Line:
    """A check for display. Tool names contain no colon."""
    check, _, tool = each.check_name.removeprefix("heddle:").partition(":")
    key = each.check_name.removesuffix(f":{tool}") if tool else each.check_name
    return Line(CHECKS[key][0] if key in CHECKS else check, tool, each.message, each.check_name)


def grouped(results: list[CheckOut]) -> list[Group]:
    """The checks in three groups, failures first. A server with hundreds of tools has thousands."""
    found: dict[str, list[CheckOut]] = {"failed": [], "warning": [], "passed": []}
    for each in results:
        found["failed" if not each.passed else "warning" if each.details.get("warning") else "passed"].append(each)
    tones = {"failed": "neg", "warning": "warn", "passed": "pos"}
    return [
        Group(word, tones[word], [line_of(each) for each in checks[:SHOWN]], len(checks))
        for word, checks in found.items()
        if checks
    ]
