import sys
from argparse import ArgumentParser
from math import inf
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.orgs import the_only_or
from catalogue.compliance import running
from catalogue.wire_compliance import PARTS, ComplianceIn, ReportOut
from core import bodies
from core.errors import DomainError


class Command(BaseCommand):
    help = (
        "Check the tools of a server, for example in CI. "
        "Exit code: 0 all passed, 1 a check failed, 2 nothing could be checked."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("server", help="name of the server in the catalogue")
        parser.add_argument("--org", help="short name of the org; needed if there are several")
        parser.add_argument("--include", action="append", choices=PARTS, help="run only these checks; may be repeated")
        parser.add_argument(
            "--world", metavar="ID", help="call the tools that need no arguments, simulated in this world"
        )
        parser.add_argument("--json", action="store_true", help="print the report as REST returns it")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            asked = {"server": options["server"], "world_id": options["world"]}
            asked["include"] = options["include"] or [*PARTS]
            # The command has no time limit, unlike the REST route.
            report = running.run(None, the_only_or(options["org"]).pk, bodies.parse(ComplianceIn, asked), seconds=inf)
        except DomainError as problem:
            raise CommandError(problem.message, returncode=2) from None
        if options["json"]:
            self.stdout.write(report.model_dump_json(indent=2))
        else:
            self._tell(report)
        if not report.all_passed:
            sys.exit(1)

    def _tell(self, report: ReportOut) -> None:
        for each in report.results:
            word = "FAIL" if not each.passed else "warn" if each.details.get("warning") else "ok"
            self.stdout.write(f"{word:4}  {each.check_name}: {each.message}")
        self.stdout.write(f"{len(report.results)} checks, {len(report.failed)} failed")
