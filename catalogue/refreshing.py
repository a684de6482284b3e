"""Update stored tools from what an MCP server lists (docs/tools-elsewhere.md).

The list is requested and checked outside of any transaction; then everything is stored in one transaction, or nothing.
"""

from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from accounts.orgs import require_keeper_of
from catalogue import dialects, importing, tools
from catalogue.elsewhere import handlers, mcp_servers
from catalogue.models import Tool, ToolConnection, ToolServer
from catalogue.models.tool import no_handler
from catalogue.record import Content
from catalogue.wire_connections import ChangedOut, DriftOut, RefreshIn, RefusedOut
from catalogue.wire_tools import ImportIn, ToolImportOut
from core.actor import Actor
from core.errors import Conflict, InvalidRequest

SECONDS: Final = 30.0
GONE: Final = "Its server no longer lists it."
_MCP: Final = {"kind": "mcp"}


def refresh(actor: Actor, connection: ToolConnection, body: RefreshIn) -> DriftOut:
    """Request an MCP server's tools and update the catalogue.

    New and changed tools are imported from the dialect `mcp`, missing ones are deprecated and lose their handler.
    Raises `Unauthorized`, `NoAnswer`, `TooSlow`, `TargetRefused`, `Conflict`, and `InvalidRequest` with all errors if a
    tool is rejected and `partial` is not set: then nothing is stored.
    """
    server = connection.server
    require_keeper_of(actor, server.org_id, server.created_by_id, "server")
    if connection.kind != ToolConnection.Kind.MCP:
        raise InvalidRequest("Only MCP servers list their tools; this is an HTTP connection.")
    seconds = min(SECONDS, (connection.timeout_ms or SECONDS * 1000) / 1000)
    listing = mcp_servers.list_tools(handlers.address_of(connection), seconds)
    assert server.org_id is not None
    taken = ImportIn(dialect="mcp", server=server.name, tools=listing.tools, partial=body.partial)
    batch = importing.checked(taken)
    with transaction.atomic():
        _hold(connection)
        rows = tools.with_versions(list(Tool.objects.filter(server=server).select_related("server")))
        before = {tool.name: (tool, tools.stored(tool, version).content) for tool, version in rows}
        done = importing.told(importing.keep(actor, server.org_id, taken, batch))
        drift = _drift(before, done, listing, is_dry=body.dry_run)
        # A handler that a user removed stays removed, except at the first refresh.
        listed = {each["name"] for each in listing.tools} if connection.refreshed is None else set()
        _follow(server, drift, {*listed, *drift.new, *drift.returned})
        connection.server_info, connection.drift = listing.server, drift.model_dump()
        connection.refreshed = timezone.now()
        connection.save(update_fields=["server_info", "drift", "refreshed"])
        if body.dry_run:
            transaction.set_rollback(True)
    return drift


def _hold(connection: ToolConnection) -> None:
    """Lock the server. Raises `Conflict` if its connection changed since the list was requested."""
    ToolServer.objects.select_for_update().filter(pk=connection.server_id).first()
    if not ToolConnection.objects.filter(pk=connection.pk, modified=connection.modified).exists():
        raise Conflict("The connection changed during the refresh. Try again.")


def _drift(
    before: dict[str, tuple[Tool, Content]], done: ToolImportOut, listing: mcp_servers.Listing, *, is_dry: bool
) -> DriftOut:
    """The differences. A listed tool that was imported another way counts as changed or unchanged."""
    new, changed, returned, same = [], [], [], 0
    names = set()
    for item, value in zip(done.items, listing.tools, strict=True):
        names.add(value.get("name"))
        if item.outcome == "failed":
            continue
        name = value["name"]
        if name not in before:
            new.append(name)
            continue
        tool, content = before[name]
        if _is_gone(tool):
            returned.append(name)
        if fields := _differing(content, value):
            changed.append(ChangedOut(name=name, fields=fields))
        else:
            same += 1
    gone = [name for name, (tool, _) in before.items() if tool.handler == _MCP and name not in names]
    refused = [
        RefusedOut(name=listing.tools[fault.index].get("name"), **fault.model_dump(exclude={"index"}))
        for item in done.items
        for fault in item.errors
    ]
    return DriftOut(
        new=new,
        changed=changed,
        gone=sorted(gone),
        returned=returned,
        unchanged_count=same,
        refused=refused,
        dry_run=is_dry,
    )


def _differing(stored: Content, value: dict[str, Any]) -> list[str]:
    said = dialects.read(dialects.dialect_named("mcp"), value).content.model_dump()
    return [name for name, before in stored.model_dump().items() if said[name] != before]


def _follow(server: ToolServer, drift: DriftOut, taken: set[str]) -> None:
    """Set the handler of `taken` tools without one, and remove it from tools that are gone."""
    gone, refused = set(drift.gone), {each.name for each in drift.refused}
    for tool in Tool.objects.select_for_update().filter(server=server).order_by("pk"):
        if tool.name in gone:
            tool.run_by(no_handler())
            tool.deprecated, tool.deprecation_message = True, GONE
        elif tool.name in taken - refused and tool.handler == no_handler():
            if _is_gone(tool):
                tool.deprecated, tool.deprecation_message = False, None
            tool.run_by(dict(_MCP))
        else:
            continue
        tool.save(update_fields=["handler", "is_dispatchable", "deprecated", "deprecation_message"])


def _is_gone(tool: Tool) -> bool:
    return tool.deprecated and tool.deprecation_message == GONE
