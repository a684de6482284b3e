"""Which server tools a thread's agent may call: Heddle's own, and those of its org that something answers (3.5).

An org's tool is offered by its qualified name, as models spell names; one that is hidden, or only a schema, is not.
"""

import re
from collections.abc import Mapping

from django.db.models import F

from catalogue import builtin
from catalogue.elsewhere import handlers
from catalogue.executing import TIMEOUT_MS
from catalogue.models import Tool, ToolVersion
from catalogue.spec import ToolSpec
from core.prepared import Prepared

MOST = 100
"""Tools of an org that an agent is offered: providers take no more than some 128 in all."""
_UNFIT = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST = 64


def specs(org_id: int) -> Mapping[str, ToolSpec]:
    """The tools by the names under which they are offered. Without any of the org's own it is one short query."""
    pks = [pk for pk, _ in _OFFERED.rows(org_id)]
    if not pks:
        return builtin.TOOLS
    found = dict(builtin.TOOLS)
    present = ToolVersion.objects.filter(tool__in=pks, version=F("tool__version")).select_related("tool__server")
    for version in present.order_by("tool__qualified_name"):
        if name := _name_of(version.tool.qualified_name):
            found.setdefault(name, _spec(version))
    return found


def names(org_id: int) -> frozenset[str]:
    """Under which names they are offered. One short query."""
    return frozenset(builtin.TOOLS) | {_name_of(qualified) for _, qualified in _OFFERED.rows(org_id)}


def _name_of(qualified_name: str) -> str:
    """As models spell it; empty for one that is too long for them."""
    name = _UNFIT.sub("_", qualified_name)
    return name if len(name) <= _LONGEST else ""


def _spec(version: ToolVersion) -> ToolSpec:
    tool = version.tool
    return ToolSpec(
        name=tool.name,
        description=version.description,
        input_schema=version.input_schema,
        run=handlers.run_of(tool, version),
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
