"""The server tools offered to a thread's agent: built-in ones, and those of its org with a handler (3.5).

Org tools are offered by qualified name, with characters that models accept; hidden ones and those without a handler
are not offered.
"""

import re
from collections.abc import Mapping

from django.db.models import F

from catalogue import builtin
from catalogue.elsewhere import handlers
from catalogue.executing import TIMEOUT_MS
from catalogue.models import Tool, ToolConnection, ToolVersion
from catalogue.spec import ToolSpec
from core.prepared import Prepared

MOST = 100
"""Maximum number of org tools offered: providers accept about 128 in total."""
_UNFIT = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST = 64


def specs(org_id: int) -> Mapping[str, ToolSpec]:
    """The offered tools by name. One short query if the org has none of its own."""
    pks = [pk for pk, _ in _OFFERED.rows(org_id)]
    if not pks:
        return builtin.TOOLS
    found = dict(builtin.TOOLS)
    rows = ToolVersion.objects.filter(tool__in=pks, version=F("tool__version")).select_related("tool__server")
    present = list(rows.order_by("tool__qualified_name"))
    connections = handlers.connections_of({version.tool.server_id for version in present})
    for version in present:
        if name := _name_of(version.tool.qualified_name):
            found.setdefault(name, _spec(version, connections.get(version.tool.server_id)))
    return found


def names(org_id: int) -> frozenset[str]:
    """The names of the offered tools. One short query."""
    return frozenset(builtin.TOOLS) | {_name_of(qualified) for _, qualified in _OFFERED.rows(org_id)}


def _name_of(qualified_name: str) -> str:
    """The name for models; empty if it is too long for them."""
    name = _UNFIT.sub("_", qualified_name)
    return name if len(name) <= _LONGEST else ""


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
        Tool.objects.filter(org=org, visible=True, is_dispatchable=True)
        .order_by("qualified_name")
        .values_list("pk", "qualified_name")[:MOST]
    ),
    int,
)
