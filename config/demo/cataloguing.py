"""The demo's tools, and records of the calls in its threads."""

from datetime import datetime, timedelta
from typing import Any

from catalogue import calling, importing, results, tools
from catalogue.calls import answer_of
from catalogue.executing import Execution
from catalogue.models import Call, Tool, ToolServer, ToolVersion, World
from catalogue.wire_calls import CallIn
from catalogue.worlds import calling as playing
from catalogue.worlds import opening
from config.demo.people import Cast
from config.demo.stories import Call as ToldCall
from config.demo.stories import Played, Published, Told, Tried
from core import ids
from core.actor import Actor
from core.payloads import json_text
from core.wording import one_line
from threads.models import Thread


def publish(cast: Cast, published: Published, now: datetime) -> None:
    """Import tools as their author, and backdate them."""
    actor = cast.actors[published.by]
    org_id = next(iter(actor.orgs.values()))
    done = importing.import_tools(actor, org_id, published.tools)
    at = now - timedelta(days=published.days_ago)
    for item in done.items:
        tool = tools.tool_for(org_id, item.qualified_name or "")
        if tool.name in published.after:
            tools.patch(actor, tool, published.after[tool.name])
        ToolVersion.objects.filter(tool=tool, version=item.version or 1).update(created=at)
        Tool.objects.filter(pk=tool.pk).update(modified=at, **({"created": at} if item.outcome == "created" else {}))
        if item.outcome == "created":
            ToolServer.objects.filter(pk=tool.server_id, created__gt=at).update(created=at, modified=at)


def record(thread: Thread, told: list[Told]) -> None:
    """Record a thread's calls of tools that are in the catalogue.

    The rows are created directly, because these calls never happened and must not be made now.
    """
    org_tools = {tool.name: tool for tool in Tool.objects.filter(org=thread.org_id).select_related("server")}
    Call.objects.bulk_create(
        _call(thread, org_tools[each.tool], each, line.at)
        for line in told
        for each in line.line.calls
        if each.tool in org_tools and each.status != "declined"
    )


def try_out(cast: Cast, tried: Tried, now: datetime) -> None:
    """Call a tool as a user, and backdate the record."""
    actor = cast.actors[tried.by]
    org_id = next(iter(actor.orgs.values()))
    made = calling.call(actor, org_id, tools.tool_for(org_id, tried.tool), CallIn(arguments=tried.arguments))
    key = ids.key_of(made.call_id, ids.CALL)
    Call.objects.filter(key=key).update(begun=now - timedelta(hours=tried.hours_ago))


def make_world(actor: Actor, org_id: int, played: Played) -> World:
    """Make a world with its tools and fixtures, and make its calls."""
    world = opening.open_stocked(actor, org_id, played.world, own=played.own, given=played.fixtures)
    for body in played.calls:
        playing.call(actor, world, body)
    return world


def put_back(world: World, at: datetime) -> None:
    """Backdate a world and its log, with some minutes between calls."""
    World.objects.filter(pk=world.pk).update(created=at)
    for minutes, call in enumerate(Call.objects.filter(world=world).order_by("pk"), start=1):
        Call.objects.filter(pk=call.pk).update(begun=at + timedelta(minutes=4 * minutes))


def _call(thread: Thread, tool: Tool, said: ToldCall, at: datetime) -> Call:
    then = tool.versions.filter(created__lte=at).order_by("-version").first() or tool.versions.order_by("version").get(
        version=1
    )
    return Call(
        org_id=thread.org_id,
        created_by_id=thread.created_by_id,
        attempt=1,
        thread_id=thread.thread_id,
        server=tool.server.name,
        tool=tool.name,
        version=then.version,
        begun=at,
        outcome=Call.Outcome.SUCCESS if said.status == "success" else Call.Outcome.ERROR,
        runtime_ms=said.ms,
        arguments=said.input,
        answer=answer_of(Execution(_result(said)), None),
    )


def _result(said: ToldCall) -> results.ToolResult:
    if said.status == "success":
        return results.ok(said.output, execution_time_ms=said.ms)
    code = "TIMEOUT" if "timeout" in str(said.output) or "no_answer" in str(said.output) else "EXECUTION_ERROR"
    return results.fail(code, _reason(said.output), execution_time_ms=said.ms)


def _reason(output: Any) -> str:
    parts = output.items() if isinstance(output, dict) else [("said", output)]
    return one_line(", ".join(f"{name} {json_text(part)}" for name, part in parts), 300)
