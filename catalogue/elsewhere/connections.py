"""Connections of servers: set, rotate the secret, delete (docs/tools-elsewhere.md)."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.orgs import require_keeper_of
from accounts.rights import require_admin
from catalogue import naming, servers
from catalogue.models import Tool, ToolConnection, ToolServer
from catalogue.models.tool import no_handler
from catalogue.wire_connections import ConnectionIn, ConnectionOut, ConnectionSecretOut, DriftOut
from core import outbound
from core.actor import Actor
from core.db import held
from core.errors import InvalidRequest, NotFound, Unauthorized


def connection_for(org_id: int, server: str) -> ToolConnection:
    """The connection of a server that the org can see. Raises `NotFound`."""
    found = servers.server_for(org_id, server)
    rows = ToolConnection.objects.select_related("server", "created_by", "modified_by")
    connection = rows.filter(server=found).first()
    if connection is None:
        raise NotFound(f"The server {found.name} has no connection.")
    return connection


def put(actor: Actor, org_id: int, name: str, body: ConnectionIn) -> ConnectionSecretOut:
    """Set the connection of a server, which is created if missing.

    For the server's creator, org admins and platform admins; a command needs a platform admin, because it runs on the
    operator's machine. The secret is returned only for a new signing connection. Raises `TargetRefused`,
    `InvalidRequest`, `Unauthorized`.
    """
    if body.url is not None:
        outbound.check_url(body.url)
    if body.command is not None:
        require_admin(actor)
        command_named(body.command)
    with transaction.atomic():
        server = _held(actor, org_id, name, body.kind)
        # Rotating locks only this row: without the lock here, saving would restore the secret that it replaced.
        found = ToolConnection.objects.select_for_update().filter(server=server).first()
        connection = found or ToolConnection(server=server, created_by_id=actor.user_id)
        is_signing_anew = body.kind == "http" and (found is None or found.kind != "http")
        if found is not None and found.kind != body.kind:
            _detach(server)
            connection.server_info = connection.drift = connection.refreshed = None
        connection.headers = kept_headers(body.headers, body.url, connection.headers, connection.url)
        connection.kind, connection.url, connection.command = body.kind, body.url or "", body.command or ""
        connection.dialect, connection.timeout_ms = body.dialect or "plain", body.timeout_ms
        connection.changed_by(actor.user_id)
        connection.save()
        if body.kind == "http" and body.attach:
            _attach(server)
    return out_with_secret(connection_for(org_id, name), is_told=is_signing_anew)


def rotate(actor: Actor, connection: ToolConnection, *, overlap_hours: float = 24) -> ConnectionSecretOut:
    """Create a new secret. Those that sign now go on for a while; with 0 hours they end now."""
    require_keeper_of(actor, connection.server.org_id, connection.server.created_by_id, "server")
    with transaction.atomic():
        gone = NotFound(f"The server {connection.server.name} has no connection.")
        stored = held(ToolConnection.objects.select_for_update(), connection.pk, gone)
        if stored.kind != ToolConnection.Kind.HTTP:
            raise InvalidRequest("Requests to MCP servers are not signed, so there is no secret to rotate.")
        rotated = stored.rotation.rotated(timezone.now(), overlap_hours)
        connection.secret_generation, connection.overlap_until, connection.oldest_generation = rotated
        connection.changed_by(actor.user_id)
        connection.save(
            update_fields=["secret_generation", "overlap_until", "oldest_generation", "modified", "modified_by"]
        )
    return out_with_secret(connection)


def delete(actor: Actor, connection: ToolConnection) -> None:
    """Delete a connection. The server's tools stay; those that used it have no handler then."""
    require_keeper_of(actor, connection.server.org_id, connection.server.created_by_id, "server")
    with transaction.atomic():
        # Attaching tools also locks the server.
        ToolServer.objects.select_for_update().filter(pk=connection.server_id).first()
        _detach(connection.server)
        connection.delete()


def out(connection: ToolConnection) -> ConnectionOut:
    """The API record of a connection: header names, never their values."""
    is_http = connection.kind == ToolConnection.Kind.HTTP
    return ConnectionOut(
        server=connection.server.name,
        kind=connection.kind,
        url=connection.url or None,
        command=connection.command or None,
        headers=dict.fromkeys(connection.headers),
        dialect=connection.dialect if is_http else None,
        timeout_ms=connection.timeout_ms,
        secret_overlap_until=connection.overlap_until,
        server_info=connection.server_info,
        refreshed=connection.refreshed,
        drift=None if connection.drift is None else DriftOut.model_validate(connection.drift),
        **connection.audit,
    )


def out_with_secret(connection: ToolConnection, *, is_told: bool = True) -> ConnectionSecretOut:
    """The API record with the secret, for the one response that shows it."""
    secret = connection.secrets_at(timezone.now())[0] if is_told else None
    return ConnectionSecretOut(**out(connection).model_dump(), secret=secret)


def command_named(name: str) -> tuple[str, ...]:
    """The words of a configured command (`HEDDLE_MCP_COMMANDS`). Raises `InvalidRequest`."""
    found = settings.HEDDLE.mcp_commands.get(name)
    if found is None:
        raise InvalidRequest(f"command: the operator has not configured a command {name}")
    return tuple(found)


def kept_headers(
    given: Mapping[str, str | None], url: str | None, stored: Mapping[str, str], stored_url: str
) -> dict[str, str]:
    """The headers to store; null keeps the stored value, but only for the same address.

    Otherwise anyone who may change the address could send it somebody else's key.
    """
    before = {name.lower(): value for name, value in stored.items()}
    is_same_place = urlsplit(url or "")[:2] == urlsplit(stored_url)[:2]
    kept = {}
    for name, value in given.items():
        if value is None and (not is_same_place or name.lower() not in before):
            raise InvalidRequest(f"headers.{name}: needs a value, because none is stored for that address")
        kept[name] = before[name.lower()] if value is None else value
    return kept


def _held(actor: Actor, org_id: int, name: str, kind: str) -> ToolServer:
    """The server, locked, and created if missing."""
    folded = naming.fold(name)
    if folded in naming.BUILTIN:
        raise Unauthorized(f"The server {name} is built in and read-only.")
    if not naming.is_server(name):
        raise NotFound.of("server", name[:80], "that you can see")
    by = {"created_by_id": actor.user_id, "modified_by_id": actor.user_id}
    server: ToolServer
    server, _ = ToolServer.objects.select_for_update().get_or_create(
        org_id=org_id,
        folded=folded,
        defaults={"name": name, "source_dialect": "mcp" if kind == "mcp" else "plain", **by},
    )
    require_keeper_of(actor, org_id, server.created_by_id, "server")
    return server


def _attach(server: ToolServer) -> None:
    """Use the connection for every tool of the server without a handler."""
    for tool in Tool.objects.select_for_update().filter(server=server, is_dispatchable=False).order_by("pk"):
        if tool.handler == no_handler():
            _handled(tool, {"kind": "http"})


def _detach(server: ToolServer) -> None:
    """Remove the connection from its tools; they have no handler then."""
    for tool in Tool.objects.select_for_update().filter(server=server, is_dispatchable=True).order_by("pk"):
        _handled(tool, no_handler())


def _handled(tool: Tool, handler: dict[str, str]) -> None:
    tool.run_by(handler)
    tool.save(update_fields=["handler", "is_dispatchable"])
