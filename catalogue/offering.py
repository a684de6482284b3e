"""The server tools of a thread's agent: which ones a model is told of, and which it may call by name (catalogue 3.5).

Org tools are offered by qualified name, with characters that models accept. Hidden ones are not offered but run when
they are called; those that are only a schema are offered, as their `visible` says, and a call says that nothing runs
them. A tool that a client runs is offered by the client that declares it, not from here.
"""

from collections.abc import Mapping
from contextlib import suppress

from django.db.models import F, Q

from catalogue import builtin, naming, targets, tools
from catalogue.elsewhere import handlers
from catalogue.executing import TIMEOUT_MS
from catalogue.models import Tool, ToolConnection, ToolVersion
from catalogue.models.tool import no_handler
from catalogue.spec import ToolSpec
from core.errors import NotFound
from core.prepared import Prepared

MOST = 100
"""Maximum number of org tools offered: providers accept about 128 in total. Those that can run come first."""


def specs(org_id: int) -> Mapping[str, ToolSpec]:
    """The offered tools by name. One short query if the org has none of its own.

    Where two tools have one name for models, it is that of the tool whose qualified name it is.
    """
    pks = [pk for pk, _, _ in _OFFERED.rows(org_id)]
    if not pks:
        return builtin.TOOLS
    found = dict(builtin.TOOLS)
    rows = ToolVersion.objects.filter(tool__in=pks, version=F("tool__version")).select_related("tool__server")
    present = list(rows.order_by("-tool__is_dispatchable", "tool__qualified_name"))
    connections = handlers.connections_of({version.tool.server_id for version in present})
    for version in sorted(present, key=lambda version: _is_renamed(version.tool)):
        if name := naming.for_models(version.tool.qualified_name):
            found.setdefault(name, _spec(version, connections.get(version.tool.server_id)))
    return found


def named(org_id: int, name: str) -> ToolSpec | None:
    """A tool of the org, or one that belongs to everybody, by any form of its qualified name, offered or not."""
    try:
        tool = tools.tool_for(org_id, name)
    except NotFound:
        return None
    return targets.builtin_of(tool) or _spec(tools.version_of(tool), handlers.connection_of(tool))


def tool_called(org_id: int, name: str) -> Tool | None:
    """The tool that a name in a transcript means, in an org or of everybody: by any form of its qualified name, by its
    name for models, else by its own name if no other tool has that, which is how other systems call it.
    """
    spec = builtin.TOOLS.get(name)
    with suppress(NotFound):
        return tools.tool_for(org_id, naming.join(spec.server, spec.name) if spec else name)
    rows = Tool.objects.visible_in(org_id).select_related("server")
    renamed = next((pk for pk, qualified, _ in _OFFERED.rows(org_id) if naming.for_models(qualified) == name), None)
    if renamed is not None:
        return rows.filter(pk=renamed).first()
    found = list(rows.filter(name=name)[:2])
    return found[0] if len(found) == 1 else None


def described(org_id: int, name: str) -> ToolVersion | None:
    """The present version of the tool that a name in a transcript means, whether anything runs it or not."""
    tool = tool_called(org_id, name)
    return tools.version_of(tool) if tool else None


def names(org_id: int) -> frozenset[str]:
    """The names of offered tools that the server runs, which no client tool may have. One short query."""
    runnable = (qualified for _, qualified, is_dispatchable in _OFFERED.rows(org_id) if is_dispatchable)
    return frozenset(builtin.TOOLS) | {naming.for_models(qualified) for qualified in runnable}


def _is_renamed(tool: Tool) -> bool:
    return naming.for_models(tool.qualified_name) != tool.qualified_name


def _spec(version: ToolVersion, connection: ToolConnection | None) -> ToolSpec:
    tool = version.tool
    return ToolSpec(
        name=tool.name,
        description=version.description,
        input_schema=version.input_schema,
        run=handlers.run_of(tool, version, connection),
        server=tool.server.name,
        version=version.version,
        is_idempotent=version.idempotent,
        is_read_only=version.annotations.get("read_only"),
        timeout_seconds=TIMEOUT_MS / 1000,
        output_schema=version.output_schema,
    )


_OFFERED = Prepared(
    lambda org: (
        Tool.objects.filter(Q(is_dispatchable=True) | Q(handler=no_handler()), org=org, visible=True)
        .order_by("-is_dispatchable", "qualified_name")
        .values_list("pk", "qualified_name", "is_dispatchable")[:MOST]
    ),
    int,
)
