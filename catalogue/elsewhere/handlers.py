"""Handlers of tools: set, show, and run calls (catalogue 1.1, 3.5)."""

import time
from collections.abc import Collection, Mapping
from functools import partial
from math import inf
from typing import Any

from accounts.orgs import require_keeper_of
from catalogue.elsewhere import connections, http_tools, mcp_servers
from catalogue.executing import Run
from catalogue.models import Tool, ToolConnection, ToolVersion
from catalogue.record import JsonObject
from catalogue.results import ToolResult
from catalogue.spec import ToolContext
from catalogue.wire_connections import Handler
from core import outbound
from core.actor import Actor
from core.errors import DomainError, InvalidRequest


def set_handler(actor: Actor, tool: Tool, handler: Handler) -> None:
    """Set the handler of a tool; the caller saves it. Raises `Unauthorized`, `InvalidRequest`, `TargetRefused`.

    For the tool's creator, org admins and platform admins; a URL of its own also requires the right to connect the
    server, because requests to it are signed with the server's secret.
    """
    require_keeper_of(actor, tool.org_id, tool.created_by_id, "tool")
    if handler.url is not None:
        require_keeper_of(actor, tool.org_id, tool.server.created_by_id, "server")
    if handler.kind in ToolConnection.Kind.values and not _is_connected(tool, handler.kind):
        raise InvalidRequest(f"handler: the server {tool.server.name} has no connection over {handler.kind}")
    if handler.url is not None:
        outbound.check_url(handler.url)
    values = handler.model_dump(exclude_unset=True, exclude_none=True)
    if handler.headers:
        before = tool.handler
        values["headers"] = connections.kept_headers(
            handler.headers, handler.url, before.get("headers", {}), before.get("url", "")
        )
    tool.run_by(values)


def shown(handler: JsonObject) -> JsonObject:
    """A handler without the values of its headers."""
    return {**handler, "headers": dict.fromkeys(handler["headers"])} if "headers" in handler else handler


def run_of(tool: Tool, version: ToolVersion, connection: ToolConnection | None) -> Run | None:
    """The function that calls an external tool over its server's connection, or None. It needs no database."""
    if tool.org_id is None or connection is None or tool.handler.get("kind") != connection.kind:
        return None
    if connection.kind == ToolConnection.Kind.HTTP:
        return _over_http(tool, version.version, connection)
    return _over_mcp(tool, version.input_schema, connection)


def connections_of(servers: Collection[int]) -> dict[int, ToolConnection]:
    """The connections of servers, by their row ids: one query for all, because a turn asks for every tool of an org."""
    rows = ToolConnection.objects.filter(server__in=servers).select_related("server__org")
    return {row.server_id: row for row in rows}


def connection_of(tool: Tool) -> ToolConnection | None:
    """The connection of a tool's server, None if its handler needs none."""
    needs_one = tool.org_id is not None and tool.handler.get("kind") in ToolConnection.Kind.values
    return connections_of([tool.server_id]).get(tool.server_id) if needs_one else None


def _is_connected(tool: Tool, kind: str) -> bool:
    return ToolConnection.objects.filter(server=tool.server_id, kind=kind).exists()


def _over_http(tool: Tool, version: int, connection: ToolConnection) -> Run:
    own: Mapping[str, Any] = tool.handler
    assert connection.server.org is not None
    destination = http_tools.Destination(
        url=own.get("url", connection.url),
        server=connection.server.name,
        tool=tool.name,
        version=version,
        org_id=connection.server.org.org_id,
        connection=connection,
        dialect=own.get("dialect", connection.dialect),
        # Headers for the connection's address are never sent elsewhere.
        headers=own.get("headers", {}) if "url" in own else connection.headers,
        timeout_ms=own.get("timeout_ms", connection.timeout_ms),
    )
    return partial(http_tools.call, destination)


def _over_mcp(tool: Tool, schema: JsonObject, connection: ToolConnection) -> Run:
    name, own_ms = tool.name, connection.timeout_ms
    try:
        address = address_of(connection)
    except InvalidRequest as problem:
        refused = problem
        return lambda arguments, context: http_tools.unreachable(refused, 0)

    def run(arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        milliseconds = http_tools.patience(own_ms, context)
        try:
            left = inf if context.deadline is None else max(0.0, context.deadline - time.monotonic())
            seconds = min(milliseconds / 1000, left)
            return mcp_servers.call_tool(address, name, arguments, seconds, schema)
        except DomainError as problem:
            return http_tools.unreachable(problem, milliseconds)

    return run


def address_of(connection: ToolConnection) -> mcp_servers.Address:
    """The address of an MCP server. Raises `InvalidRequest` for a command that is no longer configured."""
    if connection.command:
        words = connections.command_named(connection.command)
        return mcp_servers.Address(command=words, name=connection.command, owner=connection.key)
    return mcp_servers.Address(connection.url, connection.headers)
