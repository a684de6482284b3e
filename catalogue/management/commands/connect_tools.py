import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.authentication import actor_of_email
from accounts.orgs import org_named
from catalogue.elsewhere import connections, refreshing
from catalogue.elsewhere.wire import ConnectionIn, RefreshIn
from core import bodies
from core.actor import Actor
from core.errors import DomainError


class Command(BaseCommand):
    help = "Say where the tools of a server live, and take over what an MCP server lists."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("server", help="the server in the catalogue; it is made where it is missing")
        parser.add_argument("--org", required=True, help="short name of the org")
        parser.add_argument("--owner", required=True, help="e-mail address of who does this, and may change it later")
        parser.add_argument("--http", metavar="URL", help="tools are called by signed requests to this address")
        parser.add_argument("--mcp", metavar="URL", help="tools are those of the MCP server at this address")
        parser.add_argument("--command", metavar="NAME", help="the same, started by a command of HEDDLE_MCP_COMMANDS")
        parser.add_argument("--dialect", help="of the results that come over HTTP; plain unless it is given")
        parser.add_argument("--header", action="append", default=[], metavar="NAME:VALUE")
        parser.add_argument("--refresh", action="store_true", help="ask the MCP server for its tools")
        parser.add_argument("--remove", action="store_true", help="take the connection away; the server's tools stay")
        parser.add_argument("--dry-run", action="store_true", help="with --refresh: only tell what differs")
        parser.add_argument("--partial", action="store_true", help="with --refresh: take the tools that are good")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            org_id, actor = org_named(options["org"]).pk, actor_of_email(options["owner"])
            if not actor.is_admin and not actor.belongs_to(org_id):
                raise CommandError(f"{options['owner']} is no member of {options['org']}.")
            body = _connection(options)
            if options["remove"]:
                connections.delete(actor, connections.connection_for(org_id, options["server"]))
                self.stdout.write(
                    f"{options['server']} is not connected any more. Its tools stay, and nobody runs them."
                )
            if body:
                self._connect(actor, org_id, options["server"], bodies.parse(ConnectionIn, body))
            if options["refresh"]:
                asked = RefreshIn(dry_run=options["dry_run"], partial=options["partial"])
                self._refresh(actor, org_id, options["server"], asked, is_new=body is not None)
        except DomainError as problem:
            raise CommandError(problem.message) from None

    def _connect(self, actor: Actor, org_id: int, server: str, body: ConnectionIn) -> None:
        made = connections.put(actor, org_id, server, body)
        self.stdout.write(f"{made.server} is connected over {made.kind}.")
        if made.secret:
            self.stdout.write(f"Its secret, which is shown this once: {made.secret}")

    def _refresh(self, actor: Actor, org_id: int, server: str, asked: RefreshIn, *, is_new: bool) -> None:
        """Tell what differs. Whoever connected it just now is told that it stays so, where it does not answer."""
        try:
            drift = refreshing.refresh(actor, connections.connection_for(org_id, server), asked)
        except DomainError as problem:
            kept = f"\nThe connection of {server} is kept: --refresh alone asks it again, --remove takes it away."
            raise CommandError(problem.message + (kept if is_new else "")) from None
        self.stdout.write(json.dumps(drift.model_dump(), indent=2))


def _connection(options: dict[str, Any]) -> dict[str, Any] | None:
    """The body of the route that the options stand for, None where they name no place."""
    named = [name for name in ("http", "mcp", "command") if options[name]]
    if not named and options["refresh"] != options["remove"]:
        return None
    if len(named) != 1 or options["remove"]:
        raise CommandError(
            "Give one of --http, --mcp and --command; or --refresh or --remove for a server that is connected."
        )
    pairs = [each.partition(":") for each in options["header"]]
    return {
        "kind": "http" if options["http"] else "mcp",
        "headers": {name.strip(): value.strip() for name, _, value in pairs},
        ("command" if options["command"] else "url"): options[named[0]],
        **({"dialect": options["dialect"]} if options["dialect"] else {}),
    }
