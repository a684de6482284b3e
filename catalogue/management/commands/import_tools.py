import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.authentication import actor_of_email
from accounts.models import Org
from accounts.orgs import the_only_or
from catalogue import importing
from catalogue.dialects import DIALECTS
from catalogue.wire_tools import ImportIn, ToolImportOut
from core import bodies
from core.actor import Actor
from core.errors import DomainError


class Command(BaseCommand):
    help = "Import tools from a file: one tool or a list of tools as JSON, a manifest, or a Python function."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="file to import")
        parser.add_argument("--dialect", choices=sorted(DIALECTS), required=True, help="format of the file")
        parser.add_argument("--server", help="server to put the tools in, unless the file names one")
        parser.add_argument("--org", help="short name of the org; needed if there are several")
        parser.add_argument("--owner", help="e-mail address of a member of the org, who may delete the tools later")
        parser.add_argument(
            "--on-conflict",
            choices=["new_version", "skip", "error"],
            default="new_version",
            help="what to do if a tool exists; default: new_version",
        )
        parser.add_argument("--partial", action="store_true", help="import the valid tools even if others are invalid")
        parser.add_argument("--dry-run", action="store_true", help="show what would happen; store nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            org = the_only_or(options["org"])
            actor = _owner(options["owner"], org)
            body = bodies.parse(ImportIn, _body(options))
            done = importing.import_tools(actor, org.pk, body)
        except DomainError as problem:
            for fault in _faults(problem):
                self.stderr.write(fault)
            raise CommandError(problem.message) from None
        self._tell(done)
        if done.counts["failed"]:
            sys.exit(1)

    def _tell(self, done: ToolImportOut) -> None:
        for item in done.items:
            name = item.qualified_name or f"tool {item.index}"
            for loss in item.losses:
                self.stderr.write(f"{name}: {loss.path}: {loss.reason}: {loss.detail}")
            for warning in item.warnings:
                self.stderr.write(f"{name}: {warning}")
            for fault in item.errors:
                self.stderr.write(f"{name}: failed: {fault.path}: {fault.message}")
        self.stdout.write(", ".join(f"{count} {outcome}" for outcome, count in done.counts.items()))


def _owner(email: str | None, org: Org) -> Actor | None:
    if email is None:
        return None
    actor = actor_of_email(email)
    if not actor.belongs_to(org.pk):
        raise CommandError(f"{email} is not a member of {org.slug}.")
    return actor


def _body(options: dict[str, Any]) -> dict[str, Any]:
    """Build the body of the import route from the file and the options."""
    path: Path = options["file"]
    try:
        text = path.read_bytes()
    except OSError as problem:
        raise CommandError(f"{path}: {problem.strerror}") from None
    body = {name: options[name] for name in ("dialect", "server", "on_conflict", "partial", "dry_run")}
    if options["dialect"] == "python":
        return {**body, "source": text.decode("utf-8", "replace")}
    value = bodies.read_json(text)
    if isinstance(value, list):
        return {**body, "tools": value}
    return {**body, ("manifest" if isinstance(value, dict) and "tools" in value else "tool"): value}


def _faults(problem: DomainError) -> list[str]:
    details = problem.details if isinstance(problem.details, dict) else {}
    return [f"tool {each['index']}: {each['path']}: {each['message']}" for each in details.get("errors", [])]
