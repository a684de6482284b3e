"""Fixtures: results and errors that a world returns verbatim, given or taken from real calls (C106, C107)."""

from functools import cache, partial
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Length

from catalogue import results, validating
from catalogue.models import Call, World, WorldFixture, WorldTool
from catalogue.subschemas import linked
from catalogue.wire_worlds import MAX_MESSAGE, FixtureIn, RecordedIn
from catalogue.worlds import keeping
from core.actor import Actor
from core.canonical import fingerprint, size_of
from core.errors import Conflict, InvalidRequest
from core.wording import limit_text

MAX_FIXTURES = 1000
MAX_BYTES = 8 * 1024 * 1024
"""Maximum total size of a world's outputs and errors, because generating a result reads all of them."""
_MAX_TAKEN = MAX_BYTES // MAX_FIXTURES


def replace(actor: Actor, world: World, given: list[FixtureIn], *, seen: str | None = None) -> int:
    """Replace all fixtures of a world; returns their number.

    Raises `NotFound`, `Expired`, and `InvalidRequest` for a tool that the world does not have and, in a strict world,
    for an output that does not match the tool's schema. `seen` is the `mark` that the editor read; raises `Conflict` if
    there were changes since.
    """
    with transaction.atomic():
        keeping.held_by(actor, world)
        if seen is not None and seen != mark(world):
            raise Conflict("Somebody else changed the fixtures. Reload the page to see them.")
        # Many fixtures share few tools.
        named = cache(partial(keeping.tool_named, world))
        rows = [_row(world, place, each, named(each.tool)) for place, each in enumerate(given)]
        if sum(_size(row) for row in rows) > MAX_BYTES:
            raise InvalidRequest(f"fixtures: are larger than {limit_text(MAX_BYTES)} together")
        WorldFixture.objects.filter(world=world).delete()
        WorldFixture.objects.bulk_create(rows, batch_size=200)
    return len(rows)


def mark(world: World) -> str:
    """A fingerprint of the fixtures, which every change of them changes."""
    return fingerprint(list(WorldFixture.objects.filter(world=world).order_by("pk").values_list("pk", flat=True)))


def take_recorded(actor: Actor, world: World, body: RecordedIn) -> int:
    """Add fixtures from real calls of the world's tools, one per input; returns the number of fixtures.

    A success is preferred to a failure of the same input; otherwise the latest is taken. Calls of threads are used only
    if the actor made them, even for admins. Calls over the limits, or in a strict world not matching the tool's schema,
    are skipped.
    """
    with transaction.atomic():
        keeping.held_by(actor, world)
        own = {(tool.server, tool.name): tool for tool in _wanted(world, body.tools)}
        present = list(WorldFixture.objects.filter(world=world))
        known = {(row.tool, row.match) for row in present}
        room, bytes_left = min(body.limit, MAX_FIXTURES - len(present)), MAX_BYTES - sum(map(_size, present))
        calls = Call.objects.filter(Q(thread_id="") | Q(created_by=actor.user_id), org=world.org_id, world=None)
        # Too large ones are not even read.
        calls = calls.alias(size=Length("answer")).filter(size__lte=4 * _MAX_TAKEN)
        calls = calls.filter(tool__in={name for _, name in own}).order_by("-pk")
        taken: list[WorldFixture] = []
        for outcome in (Call.Outcome.SUCCESS, Call.Outcome.ERROR):
            for call in calls.filter(outcome=outcome)[: body.limit * 10].iterator(chunk_size=100):
                tool = own.get((call.server, call.tool))
                row = _from_call(world, tool, call) if tool and len(taken) < room else None
                if row is None or (row.tool, row.match) in known or _size(row) > min(_MAX_TAKEN, bytes_left):
                    continue
                known.add((row.tool, row.match))
                bytes_left -= _size(row)
                taken.append(row)
        WorldFixture.objects.bulk_create(taken, batch_size=200)
    return len(present) + len(taken)


def _wanted(world: World, names: list[str] | None) -> list[WorldTool]:
    if names is None:
        return list(WorldTool.objects.filter(world=world))
    return [_tool(world, f"tools.{place}", name) for place, name in enumerate(names)]


def _tool(world: World, field: str, name: str) -> WorldTool:
    tool = keeping.tool_named(world, name)
    if tool is None:
        raise _no_tool(field, name)
    return tool


def _no_tool(field: str, name: str) -> InvalidRequest:
    return InvalidRequest(f"{field}: this world has no tool {name[:200]}", details={"reason": "unknown_tool"})


def _row(world: World, place: int, given: FixtureIn, tool: WorldTool | None) -> WorldFixture:
    if tool is None:
        raise _no_tool(f"fixtures.{place}.tool", given.tool)
    wanted = given.wanted
    match = "" if wanted is None else fingerprint(wanted)
    if given.error is not None:
        error = given.error.model_dump()
        return WorldFixture(world=world, tool=tool.folded, match=match, input=wanted, error=error)
    if errors := _mismatch(world, tool, given.output):
        said = f"fixtures.{place}.output: does not match the output_schema of {tool.qualified_name}"
        raise InvalidRequest(said, details={"reason": "output_mismatch", "errors": errors})
    return WorldFixture(world=world, tool=tool.folded, match=match, input=wanted, output=given.output)


def _from_call(world: World, tool: WorldTool, call: Call) -> WorldFixture | None:
    """A call as a fixture; None if it never reached the tool or does not match.

    A failure with a code other than the ten is skipped.
    """
    answer = call.answer
    if not answer or answer["data_ref"] or not answer["attempts"]:
        return None
    row = WorldFixture(world=world, tool=tool.folded, match=fingerprint(call.arguments), input=call.arguments)
    error, row.output = answer["result"]["error"], answer["result"]["data"]
    if error is None:
        return None if _mismatch(world, tool, row.output) else row
    if error["code"] not in results.CODES or not 0 < len(error["message"]) <= MAX_MESSAGE:
        return None
    row.output, row.error = None, {name: error[name] for name in ("code", "message")}
    return row


def _mismatch(world: World, tool: WorldTool, output: Any) -> list[validating.Error]:
    """The errors of an output in a strict world."""
    if not world.strict_fixtures or tool.output_schema is None:
        return []
    return validating.problems(output, linked(tool.output_schema))


def _size(row: WorldFixture) -> int:
    return size_of(row.output) + (size_of(row.error) if row.error else 0)
