import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.authentication import actor_of_email
from accounts.models import Org
from accounts.orgs import org_named
from catalogue import importing
from catalogue.dialects import DIALECTS
from catalogue.wire_tools import ImportIn, ToolImportOut
from core import bodies
from core.actor import Actor
from core.errors import DomainError


class Command(BaseCommand):
    help = "Import tools from a file: a JSON list, one tool, a Convilyn manifest, or a Python function."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--dialect", choices=sorted(DIALECTS), required=True)
        parser.add_argument("--server", help="where the tools go, unless the file says it")
        parser.add_argument("--org", help="short name of the org, where there are several")
        parser.add_argument("--owner", help="e-mail address of a member of the org, who may delete the tools later")
        parser.add_argument("--on-conflict", choices=["new_version", "skip", "error"], default="new_version")
        parser.add_argument("--partial", action="store_true", help="import what is good, even if something is not")
        parser.add_argument("--dry-run", action="store_true", help="tell what would happen, and store nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            org = _org(options["org"])
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


def _org(slug: str | None) -> Org:
    if slug is not None:
        return org_named(slug)
    orgs = list(Org.objects.all()[:2])
    if len(orgs) != 1:
        raise CommandError("Name the org with --org: there is not exactly one.")
    return orgs[0]


def _owner(email: str | None, org: Org) -> Actor | None:
    if email is None:
        return None
    actor = actor_of_email(email)
    if not actor.belongs_to(org.pk):
        raise CommandError(f"{email} is no member of {org.slug}.")
    return actor


def _body(options: dict[str, Any]) -> dict[str, Any]:
    """The import that a file and its options ask for, as the route takes it."""
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
