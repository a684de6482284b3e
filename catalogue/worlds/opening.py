"""Create a world with catalogue tools, inline tools and fixtures in one step."""

from collections.abc import Sequence

from django.db import transaction

from catalogue.models import World
from catalogue.record import JsonObject
from catalogue.wire_worlds import FixtureIn, WorldIn, WorldToolsIn
from catalogue.worlds import fixtures, keeping
from core.actor import Actor
from core.errors import InvalidRequest


def open_stocked(
    actor: Actor, org_id: int, body: WorldIn, *, own: Sequence[WorldToolsIn] = (), given: Sequence[FixtureIn] = ()
) -> World:
    """Create a world, or nothing. `own` are inline tools that exist only in it, `given` its fixtures.

    Raises `NotFound` for a tool that the org cannot see, and `InvalidRequest` with a path that starts with `own` or
    `fixtures`.
    """
    with transaction.atomic():
        world = keeping.create(actor, org_id, body)
        stock(actor, world, own)
        if given:
            fixtures.replace(actor, world, list(given))
    return world


def stock(actor: Actor, world: World, given: Sequence[WorldToolsIn]) -> None:
    """Add all of these tools or none. Raises `NotFound`, and `InvalidRequest` (under `own` for inline tools)."""
    with transaction.atomic():
        for each in given:
            try:
                keeping.add_tools(actor, world, each)
            except InvalidRequest as problem:
                if each.tool is None:
                    raise
                raise InvalidRequest(f"own: {_named(each.tool)}{problem.message}") from None


def _named(tool: JsonObject) -> str:
    """The name of an inline tool, if it is where most dialects have it."""
    inner = tool.get("function")
    name = tool.get("name") or (inner.get("name") if isinstance(inner, dict) else None)
    return f"{name[:100]}: " if isinstance(name, str) else ""
