"""The life cycle of worlds: create, find, add tools, reset, close (catalogue 3.8, C117, C118)."""

import secrets
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Prefetch, QuerySet
from django.utils import timezone

from catalogue import dialects, naming, tools
from catalogue.importing import check_tool, refused
from catalogue.models import Tool, World, WorldAnswer, WorldEntity, WorldTool
from catalogue.record import ToolProblem
from catalogue.wire_worlds import StateOut, WorldIn, WorldOut, WorldPageOut, WorldToolsIn
from core import db, ids, paging
from core.actor import Actor
from core.errors import Expired, InvalidRequest, NotFound

MAX_TOOLS = 500
_PLACES = paging.Places("worlds")


def create(actor: Actor, org_id: int, body: WorldIn) -> World:
    """Create a world in an org. Raises `NotFound` for a tool that the org cannot see."""
    now = timezone.now()
    with transaction.atomic():
        world = World.objects.create(
            org_id=org_id,
            created_by_id=actor.user_id,
            name=body.name or "",
            mode=body.mode,
            # Small enough for every JSON client.
            seed=secrets.randbelow(2**53) if body.seed is None else body.seed,
            seed_given=body.seed is not None,
            failure_profile=body.failure_profile and body.failure_profile.model_dump(),
            strict_fixtures=body.strict_fixtures,
            ttl_seconds=body.ttl_seconds,
            created=now,
            expires_at=now + timedelta(seconds=body.ttl_seconds),
        )
        _take(world, body.tools)
    return world_for(actor, world.world_id)


def world_for(actor: Actor, world_id: str) -> World:
    """A world that the actor may see, open or not. Raises `NotFound` (C117)."""
    found = _shown(World.objects.visible_to(actor)).filter(key=ids.key_of(world_id, ids.WORLD) or "").first()
    if found is None:
        raise NotFound.of("world", world_id[:80])
    return found


def open_world(actor: Actor, world_id: str) -> World:
    """As `world_for`, but raises `Expired` if it is closed or expired."""
    world = world_for(actor, world_id)
    require_open(world)
    return world


def open_world_in(org_id: int, world_id: str) -> World:
    """An open world of that org. Raises `NotFound`, `Expired`."""
    found = World.objects.filter(org=org_id, key=ids.key_of(world_id, ids.WORLD) or "").first()
    if found is None:
        raise NotFound.of("world", world_id[:80])
    require_open(found)
    return found


def require_open(world: World) -> None:
    """Raise `Expired` for a closed or expired world."""
    if world.status != World.Status.ACTIVE:
        raise Expired(f"The world {world.world_id} is {world.status}.", details={"reason": world.status})


def seen(world_pk: int) -> World:
    """An open world as it is now, not locked. Raises `Expired`."""
    world = World.objects.get(pk=world_pk)
    require_open(world)
    return world


def held(world_pk: int) -> World:
    """Lock the row of an open world, for a call whose right is that of its thread. Raises `Expired`."""
    world = World.objects.select_for_update().get(pk=world_pk)
    require_open(world)
    return world


def held_by(actor: Actor, world: World) -> World:
    """Lock the row of an open world that the actor may see, to change what its answers are made from.

    Answers that are being made meanwhile will be made anew. Raises `NotFound`, `Expired` (C117).
    """
    gone = NotFound.of("world", world.world_id)
    found: World = db.held(World.objects.visible_to(actor).select_for_update(), world.pk, gone)
    require_open(found)
    found.revision += 1
    found.save(update_fields=["revision"])
    return found


def renew(world: World, *changed: str) -> None:
    """Restart the expiry time and save the changed columns."""
    world.expires_at = timezone.now() + timedelta(seconds=world.ttl_seconds)
    world.save(update_fields=["expires_at", *changed])


def world_out(world: World) -> WorldOut:
    """The API record of a world found by this module."""
    return WorldOut(
        world_id=world.world_id,
        name=world.name or None,
        mode=world.mode,
        seed=world.seed,
        seed_given=world.seed_given,
        failure_profile=world.failure_profile,
        strict_fixtures=world.strict_fixtures,
        status=world.status,
        step_count=world.step_count,
        tools=sorted(tool.qualified_name for tool in world.tools.all()),
        created=world.created,
        created_by=world.created_by and world.created_by.email,
        expires_at=world.expires_at,
        ttl_seconds=world.ttl_seconds,
    )


def listed(org_id: int, status: str | None, *, limit: int, page_token: str | None) -> WorldPageOut:
    """A page of an org's worlds, newest first."""
    rows = _shown(World.objects.filter(org=org_id))
    if status is not None:
        if status not in World.Status.values:
            raise InvalidRequest(f"status: must be one of {', '.join(World.Status.values)}")
        rows = rows.in_status(status, timezone.now())  # type: ignore[attr-defined]
    found, next_token = _PLACES.of_query(status).page(rows, limit=limit, page_token=page_token)
    return WorldPageOut(items=[world_out(world) for world in found], next_token=next_token)


def add_tools(actor: Actor, world: World, body: WorldToolsIn) -> list[str]:
    """Add catalogue tools or an inline tool, replacing ones of the same name; returns all names of the world.

    Raises `Expired`, `InvalidRequest`, and `NotFound` for a world or a tool that is not visible.
    """
    inline = None if body.tool is None else _inline(body)
    with transaction.atomic():
        held_by(actor, world)
        if inline is not None:
            _store(world, [inline])
        else:
            _take(world, body.tools or [])
        return sorted(WorldTool.objects.filter(world=world).values_list("qualified_name", flat=True))


def tool_named(world: World, name: str) -> WorldTool | None:
    """A tool of the world by any form of its name; by its bare name if that is unique."""
    own = WorldTool.objects.filter(world=world)
    read = naming.read(name)
    spellings = [name, naming.join(*read)] if read else [name]
    found = own.filter(folded__in=spellings).first()
    if found is None:
        bare = list(own.filter(name=name)[:2])
        found = bare[0] if len(bare) == 1 else None
    return found


def state(world: World) -> StateOut:
    """The state of the world and its latest changes."""
    entities: dict[str, dict[str, Any]] = {}
    for row in WorldEntity.objects.filter(world=world, is_dropped=False).order_by("pk"):
        entities.setdefault(row.noun, {})[row.entity_id] = row.data
    return StateOut(entities=entities, step_count=world.step_count, history=world.history)


def reset(actor: Actor, world: World, *, hard: bool) -> None:
    """Reset to step 0; a hard reset also deletes entities and keys. Fixtures and tools stay (C111).

    Raises `NotFound`, `Expired`.
    """
    with transaction.atomic():
        row = held_by(actor, world)
        row.step_count = 0
        if hard:
            row.history = []
            WorldEntity.objects.filter(world=row).delete()
            WorldAnswer.objects.filter(world=row).delete()
        renew(row, "step_count", "history")


def close(actor: Actor, world: World) -> None:
    """Close the world. Idempotent; its log is kept as long as the world (C117). Raises `NotFound`."""
    if not World.objects.visible_to(actor).filter(pk=world.pk).exists():
        raise NotFound.of("world", world.world_id)
    World.objects.filter(pk=world.pk, closed_at=None).update(closed_at=timezone.now())


def _shown(rows: QuerySet[World]) -> QuerySet[World]:
    # Names only: the schemas of so many tools would be huge.
    named = WorldTool.objects.only("world_id", "server", "qualified_name", "version")
    return rows.select_related("created_by", "org").prefetch_related(Prefetch("tools", named))


def _take(world: World, names: list[str]) -> None:
    """Copy catalogue tools in their current versions."""
    wanted = {name: naming.read(name) for name in names}
    read = [each for each in wanted.values() if each]
    rows = Tool.objects.visible_in(world.org_id).select_related("server")
    rows = rows.filter(server__folded__in={each.folded for each in read}, name__in={each.name for each in read})
    found = {(tool.server.folded, tool.name): (tool, version) for tool, version in tools.with_versions(list(rows))}
    missing = next((name for name, each in wanted.items() if each not in found), None)
    if missing is not None:
        meant = tools.probably(world.org_id, missing)
        raise NotFound.of("tool", missing[:200], "that you can see", meant=meant)
    taken = []
    for key in dict.fromkeys(each for each in read):
        tool, version = found[key]
        taken.append(
            WorldTool(
                server=tool.server.name,
                name=tool.name,
                qualified_name=tool.qualified_name,
                folded=naming.join(tool.server.folded, tool.name),
                version=version.version,
                description=version.description,
                input_schema=version.input_schema,
                output_schema=version.output_schema,
                param_order=version.param_order,
                idempotent=version.idempotent,
            )
        )
    _store(world, taken)


def _inline(body: WorldToolsIn) -> WorldTool:
    """An inline tool that is not in the catalogue; it is called by its own name."""
    try:
        found = dialects.read(dialects.dialect_named(body.dialect or ""), body.tool)
        check_tool(found)
        content = found.content
        server = body.server or found.server or ""
        if server and not naming.is_server(server):
            raise ToolProblem("invalid_server", "/server", "is not a valid server name")
        if not server and naming.is_of_runtime(found.name):
            raise ToolProblem("reserved_name", "/name", f"{found.name} is reserved for the runtime")
    except ToolProblem as problem:
        raise refused(problem) from None
    return WorldTool(
        server=server,
        name=found.name,
        qualified_name=naming.join(server, found.name) if server else found.name,
        folded=naming.join(naming.fold(server), found.name) if server else found.name,
        description=content.description,
        input_schema=content.input_schema,
        output_schema=content.output_schema,
        param_order=content.param_order,
        idempotent=content.idempotent,
    )


def _store(world: World, taken: list[WorldTool]) -> None:
    own = WorldTool.objects.filter(world=world)
    own.filter(folded__in=[tool.folded for tool in taken]).delete()
    if own.count() + len(taken) > MAX_TOOLS:
        raise InvalidRequest(f"tools: a world can have at most {MAX_TOOLS}", details={"reason": "too_many_tools"})
    for tool in taken:
        tool.world = world
    WorldTool.objects.bulk_create(taken)
