"""Preview of an import, with the changes of each new version (C1 to C15). Stores nothing."""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from django.db.models import F

from catalogue import importing
from catalogue.changes import Change, changes
from catalogue.importing import Batch
from catalogue.models import ToolVersion
from catalogue.record import Content, Loss
from catalogue.tabulating import Row, table
from catalogue.wire_tools import ImportedOut, ImportIn
from core.actor import Actor
from core.payloads import json_text
from core.wording import one_line

_FIELDS: Final = 12
"""Parameters shown of a new tool."""


class Mark(NamedTuple):
    """Icon, tone and label of an outcome."""

    icon: str
    tone: str
    word: str


_MARKS = {
    "failed": Mark("fault", "neg", "cannot be imported"),
    "created": Mark("plus", "pos", "new"),
    "new_version": Mark("live", "live", "a new version"),
    "updated": Mark("live", "live", "updated in place"),
}


@dataclass(frozen=True, slots=True)
class Planned:
    """The preview of one tool: its name, outcome, and changes to the current version."""

    name: str
    item: ImportedOut
    changes: tuple[Change, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    """Calls that would be rejected: arguments in one line, and why."""
    description: str = ""
    fields: tuple[Row, ...] = ()
    """The parameters of a new tool; not those inside others."""

    @property
    def mark(self) -> Mark:
        """How to show the outcome."""
        return _MARKS.get(self.item.outcome) or Mark("rest", "", self.item.outcome)


@dataclass(frozen=True, slots=True)
class Plan:
    """The preview of an import. `good`: the number of tools that can be imported."""

    dialect: str
    tools: tuple[Planned, ...]
    losses: tuple[Loss, ...]

    @property
    def good(self) -> int:
        return sum(each.item.outcome != "failed" for each in self.tools)

    @property
    def failed(self) -> int:
        return len(self.tools) - self.good


def plan(actor: Actor | None, org_id: int, body: ImportIn) -> Plan:
    """Preview an import; raises what `importing.import_tools` raises. `body` must be a dry run."""
    batch = importing.carry_out(actor, org_id, body)
    present = _present(org_id, batch)
    planned = [_planned(item, out, present) for item, out in zip(batch.items, importing.told(batch).items, strict=True)]
    return Plan(batch.dialect.name, tuple(planned), tuple(batch.losses))


def _present(org_id: int, batch: Batch) -> dict[str, ToolVersion]:
    """The current versions of tools that would get a new one, by qualified name, in one query."""
    names = [item.qualified_name for item in batch.good if item.outcome == "new_version"]
    rows = ToolVersion.objects.filter(tool__org=org_id, tool__qualified_name__in=names, version=F("tool__version"))
    return {row.tool.qualified_name: row for row in rows.select_related("tool")}


def _planned(item: importing.Item, out: ImportedOut, present: dict[str, ToolVersion]) -> Planned:
    if item.found is None or item.fault:
        return Planned(item.found.name if item.found else "", out)
    old = present.get(item.qualified_name)
    changed = changes(old, ToolVersion(**item.found.content.model_dump())) if old else []
    examples = out.replay.examples if out.replay else []
    return Planned(
        item.found.name,
        out,
        tuple(changed),
        tuple((_arguments(each.arguments), "; ".join(_why(error) for error in each.errors)) for each in examples),
        **(_new(item.found.content) if item.outcome == "created" else {}),
    )


def _new(content: Content) -> dict[str, Any]:
    rows = table(content.input_schema).rows
    return {
        "description": one_line(content.description, 300),
        "fields": tuple(row for row in rows if row.depth == 0)[:_FIELDS],
    }


def _arguments(arguments: Any) -> str:
    return one_line(json_text(arguments), 200)


def _why(error: dict[str, Any]) -> str:
    place = f"{error['field']} " if error.get("field") else ""
    return one_line(f"{place}{error.get('message') or error['code']}", 160)
