"""Tool servers (C13, C18)."""

from django.db import transaction
from django.db.models import Count, QuerySet

from catalogue import naming
from catalogue.models import ToolServer
from catalogue.wire_tools import ServerOut, ServerPageOut, ServerPatch
from core import paging
from core.actor import Actor
from core.db import held
from core.errors import NotFound, Unauthorized

_PLACES = paging.Places("servers", (str,))


def server_for(org_id: int, name: str) -> ToolServer:
    """A server of an org or a built-in one; - and _ are equal. `NotFound` for those of other orgs."""
    found = _counted(org_id).filter(folded=naming.fold(name)).first()
    if not isinstance(found, ToolServer):
        raise NotFound.of("server", name[:80], "that you can see")
    return found


def server_out(server: ToolServer) -> ServerOut:
    """The API record of a server found by this module."""
    return ServerOut(
        name=server.name,
        description=server.description,
        version=server.version,
        capabilities=server.capabilities,
        source_dialect=server.source_dialect,
        tool_count=server.tool_count,  # type: ignore[attr-defined]
        readonly=server.org_id is None,
        **server.audit,
    )


def listed(org_id: int, *, limit: int, page_token: str | None) -> ServerPageOut:
    """A page of servers by name, with their numbers of tools."""
    rows = _counted(org_id).annotate(place=paging.Bytewise("folded"))
    found, next_token = _PLACES.page(rows, limit=limit, page_token=page_token, by="place", ascending=True)
    return ServerPageOut(items=[server_out(server) for server in found], next_token=next_token)


def require_own(server: ToolServer) -> None:
    """Raise `Unauthorized` for a built-in server."""
    if server.org_id is None:
        raise Unauthorized(f"The server {server.name} is built in and read-only.")


def patch(actor: Actor, server: ToolServer, body: ServerPatch) -> ServerOut:
    """Change a server's fields. Every org member may do that, except for built-in servers."""
    require_own(server)
    assert server.org_id is not None
    with transaction.atomic():
        gone = NotFound.of("server", server.name, "that you can see")
        row = held(ToolServer.objects.select_for_update(), server.pk, gone)
        for name, value in body.changes().items():
            setattr(row, name, value)
        row.changed_by(actor.user_id)
        row.save(update_fields=[*body.changes(), "modified", "modified_by"])
    return server_out(server_for(server.org_id, server.name))


def _counted(org_id: int) -> QuerySet[ToolServer]:
    rows: QuerySet[ToolServer] = ToolServer.objects.visible_in(org_id).select_related("created_by", "modified_by")
    return rows.annotate(tool_count=Count("tools"))
