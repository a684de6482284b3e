"""Choices of worlds for forms: the open ones, newest first."""

from dataclasses import dataclass
from typing import Final

from django.utils import timezone

from catalogue import naming
from catalogue.models import Tool, World, WorldTool

MOST: Final = 20


@dataclass(frozen=True, slots=True)
class Choice:
    """An open world and its label."""

    world_id: str
    words: str


def choices(org_id: int, tool: Tool | None = None, chosen: str = "") -> list[Choice]:
    """The open worlds of an org, optionally with a tool; `chosen` is always included."""
    rows = World.objects.filter(org=org_id).in_status(World.Status.ACTIVE, timezone.now())
    if tool is not None:
        rows = rows.filter(tools__folded=naming.join(tool.server.folded, tool.name))
    worlds = list(rows.only("key", "name", "mode", "seed", "step_count").order_by("-pk")[:MOST])
    servers: dict[int, list[str]] = {}
    taken = WorldTool.objects.filter(world__in=worlds).exclude(server="")
    for world_pk, server in taken.values_list("world", "server").distinct() if worlds else ():
        servers.setdefault(world_pk, []).append(server)
    found = [Choice(world.world_id, _words(world, servers.get(world.pk, []))) for world in worlds]
    if chosen and chosen not in (each.world_id for each in found):
        found.append(Choice(chosen, chosen))
    return found


def _words(world: World, servers: list[str]) -> str:
    title = naming.world_title(world.name, world.mode, world.seed, servers)
    return f"{title}, step {world.step_count} (…{world.key[-5:]})"
