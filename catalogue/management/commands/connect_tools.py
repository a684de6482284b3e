import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.authentication import actor_of_email
from accounts.orgs import org_named
from accounts.rights import may_act_in
from catalogue import refreshing
from catalogue.elsewhere import connections
from catalogue.wire_connections import ConnectionIn, RefreshIn
from core import bodies
from core.actor import Actor
from core.errors import DomainError


class Command(BaseCommand):
    help = (
        "Connect a server of the catalogue to where its tools run (HTTP or MCP), and import what an MCP server lists."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("server", help="server in the catalogue; created if missing")
        parser.add_argument("--org", required=True, help="short name of the org")
        parser.add_argument(
            "--owner", required=True, help="e-mail address of the user who does this and may change it later"
        )
        parser.add_argument("--http", metavar="URL", help="call the tools by signed requests to this URL")
        parser.add_argument("--mcp", metavar="URL", help="use the tools of the MCP server at this URL")
        parser.add_argument(
            "--command", metavar="NAME", help="use an MCP server started by this command of HEDDLE_MCP_COMMANDS"
        )
        parser.add_argument("--dialect", help="format of the results that --http returns; default: plain")
        parser.add_argument(
            "--header",
            action="append",
            default=[],
            metavar="NAME:VALUE",
            help="sent with each request; may be repeated",
        )
        parser.add_argument("--refresh", action="store_true", help="import the tools that the MCP server lists")
        parser.add_argument("--remove", action="store_true", help="remove the connection; the server's tools stay")
        parser.add_argument("--dry-run", action="store_true", help="with --refresh: only show what would change")
        parser.add_argument(
            "--partial", action="store_true", help="with --refresh: import the valid tools even if others are not"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            org_id, actor = org_named(options["org"]).pk, actor_of_email(options["owner"])
            if not may_act_in(actor, org_id):
                raise CommandError(f"{options['owner']} is not a member of {options['org']}.")
            body = _connection(options)
            if options["remove"]:
                connections.delete(actor, connections.connection_for(org_id, options["server"]))
                self.stdout.write(
                    f"{options['server']} is disconnected. Its tools stay in the catalogue but cannot run."
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
        self.stdout.write(f"{made.server} is connected ({made.kind}).")
        if made.secret:
            self.stdout.write(f"Its secret, shown only once: {made.secret}")

    def _refresh(self, actor: Actor, org_id: int, server: str, asked: RefreshIn, *, is_new: bool) -> None:
        """Import the server's tools and print what changed. A failure does not undo a connection just made."""
        try:
            drift = refreshing.refresh(actor, connections.connection_for(org_id, server), asked)
        except DomainError as problem:
            kept = f"\n{server} stays connected: use --refresh to try again, --remove to disconnect it."
            raise CommandError(problem.message + (kept if is_new else "")) from None
        self.stdout.write(json.dumps(drift.model_dump(), indent=2))


def _connection(options: dict[str, Any]) -> dict[str, Any] | None:
    """Build the body of the REST route from the options; None if they name no address."""
    named = [name for name in ("http", "mcp", "command") if options[name]]
    if not named and options["refresh"] != options["remove"]:
        return None
    if len(named) != 1 or options["remove"]:
        raise CommandError("Give one of --http, --mcp and --command; for a connected server, --refresh or --remove.")
    pairs = [each.partition(":") for each in options["header"]]
    return {
        "kind": "http" if options["http"] else "mcp",
        "headers": {name.strip(): value.strip() for name, _, value in pairs},
        ("command" if options["command"] else "url"): options[named[0]],
        **({"dialect": options["dialect"]} if options["dialect"] else {}),
    }
