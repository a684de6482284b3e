"""Run compliance checks, for REST, the page and the command (catalogue 3.9, C121 to C127)."""

import time
from typing import Final

from catalogue import servers, tools
from catalogue.compliance import own, upstream
from catalogue.compliance.subject import Checked, Report, Subject
from catalogue.models import Tool
from catalogue.wire_compliance import ComplianceIn, ReportOut
from catalogue.worlds import keeping
from core.actor import Actor

SECONDS: Final = 60.0
"""Time limit of a run; the report shows what was skipped."""


def run(actor: Actor | None, org_id: int, body: ComplianceIn, *, seconds: float = SECONDS) -> ReportOut:
    """Check a server of an org or a built-in one.

    After that many seconds nothing more is called or generated. Raises `NotFound` for a server or world that the org
    cannot see, `Expired` for a world that has ended.
    """
    server = servers.server_for(org_id, body.server)
    rows = list(Tool.objects.filter(server=server).select_related("server").order_by("pk"))
    checked = [Checked(tool, version, tools.stored(tool, version)) for tool, version in tools.with_versions(rows)]
    world = None if body.world_id is None else keeping.open_world_in(org_id, body.world_id)
    subject, report = Subject(server, checked, org_id, actor, world, time.monotonic() + seconds), Report()
    if "upstream" in body.include:
        upstream.check(subject, report)
    if "heddle" in body.include:
        own.check(subject, report)
    failed = [each.check_name for each in report.results if not each.passed]
    return ReportOut(results=report.results, all_passed=not failed, failed=failed)
