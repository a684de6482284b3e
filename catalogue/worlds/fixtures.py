"""Answers that a world gives verbatim: handed in, or taken from calls that really were made (C106, C107)."""

from django.db import transaction
from django.db.models import Q

from catalogue import validating
from catalogue.models import Call, World, WorldFixture, WorldTool
from catalogue.subschemas import hoisted
from catalogue.wire_worlds import FixtureIn, RecordedIn
from catalogue.worlds import keeping
from core.actor import Actor
from core.canonical import fingerprint, size_of
from core.errors import InvalidRequest

MAX_FIXTURES = 1000
MAX_BYTES = 8 * 1024 * 1024
"""Of all outputs of a world together: an answer is drawn with them in view."""


def replace(world: World, given: list[FixtureIn]) -> int:
    """Put these in the place of all that were there.

    Raises `InvalidRequest` for a tool that the world does not have and, in a strict world, for an output that does not
    fit the tool's schema. How many there are now.
    """
    with transaction.atomic():
        keeping.held(world.pk)
        rows = [_row(world, place, each) for place, each in enumerate(given)]
        if sum(size_of(row.output) for row in rows) > MAX_BYTES:
            raise InvalidRequest(f"fixtures: are larger than {MAX_BYTES // 1024 // 1024} MiB together")
        WorldFixture.objects.filter(world=world).delete()
        WorldFixture.objects.bulk_create(rows, batch_size=200)
    return len(rows)


def take_recorded(actor: Actor, world: World, body: RecordedIn) -> int:
    """Add the answers of real calls of the world's tools, one an input; how many fixtures there are now.

    Calls of a thread are somebody's own: only those that the caller asked for are taken, an admin's wider view is not.
    """
    with transaction.atomic():
        keeping.held(world.pk)
        own = {(tool.server, tool.name): tool for tool in _wanted(world, body.tools)}
        present = WorldFixture.objects.filter(world=world)
        known = set(present.values_list("tool", "match"))
        room, taken = MAX_FIXTURES - len(known), 0
        calls = Call.objects.filter(Q(thread_id="") | Q(created_by=actor.user_id), org=world.org_id, world=None)
        calls = calls.filter(outcome=Call.Outcome.SUCCESS, tool__in={name for _, name in own}).order_by("-pk")
        for call in calls[: body.limit * 10].iterator():
            tool = own.get((call.server, call.tool))
            if tool is None or not call.answer or call.answer["data_ref"] or taken >= min(body.limit, room):
                continue
            key = (tool.folded, fingerprint(call.arguments))
            output = call.answer["result"]["data"]
            if key not in known and size_of(output) <= MAX_BYTES // MAX_FIXTURES:
                known.add(key)
                WorldFixture.objects.create(world=world, tool=key[0], match=key[1], input=call.arguments, output=output)
                taken += 1
        return present.count()


def _wanted(world: World, names: list[str] | None) -> list[WorldTool]:
    if names is None:
        return list(WorldTool.objects.filter(world=world))
    return [_tool(world, f"tools.{place}", name) for place, name in enumerate(names)]


def _tool(world: World, field: str, name: str) -> WorldTool:
    tool = keeping.tool_named(world, name)
    if tool is None:
        raise InvalidRequest(f"{field}: this world has no tool {name[:200]}", details={"reason": "unknown_tool"})
    return tool


def _row(world: World, place: int, given: FixtureIn) -> WorldFixture:
    tool = _tool(world, f"fixtures.{place}.tool", given.tool)
    if world.strict_fixtures and tool.output_schema is not None:
        errors = validating.problems(given.output, hoisted(tool.output_schema))
        if errors:
            said = f"fixtures.{place}.output: does not fit the output_schema of {tool.qualified_name}"
            raise InvalidRequest(said, details={"reason": "output_mismatch", "errors": errors})
    match = fingerprint(given.input) if given.has_input else ""
    return WorldFixture(world=world, tool=tool.folded, match=match, input=given.input, output=given.output)
