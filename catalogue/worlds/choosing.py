"""The worlds that somebody may choose from where something is to be played: the open ones, the newest first."""

from dataclasses import dataclass
from typing import Final

from django.utils import timezone

from catalogue import naming
from catalogue.models import Tool, World
from core import ids

MOST: Final = 20


@dataclass(frozen=True, slots=True)
class Choice:
    """An open world, and how it is told from the others."""

    world_id: str
    words: str


def choices(org_id: int, tool: Tool | None = None, chosen: str = "") -> list[Choice]:
    """The open worlds of an org, of those that have the tool where one is given; `chosen` is always among them."""
    rows = World.objects.filter(org=org_id).in_status(World.Status.ACTIVE, timezone.now())
    if tool is not None:
        rows = rows.filter(tools__folded=naming.join(tool.server.folded, tool.name))
    columns = rows.order_by("-pk").values_list("key", "mode", "seed", "step_count")[:MOST]
    found = [
        Choice(ids.WORLD + key, f"{mode.replace('_', ' ')}, seed {seed}, step {steps} (…{key[-5:]})")
        for key, mode, seed, steps in columns
    ]
    if chosen and chosen not in (each.world_id for each in found):
        found.append(Choice(chosen, chosen))
    return found
