"""Recorded calls in a world, and its log (catalogue 3.8, C120, C134)."""

from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Coalesce, Length

from catalogue import calls
from catalogue.executing import Execution
from catalogue.models import Call, World
from catalogue.wire_worlds import LoggedOut, LogPageOut, WorldCallIn, WorldCallOut
from catalogue.worlds.playing import Played, play
from core import ids, paging
from core.actor import Actor
from core.canonical import size_of
from core.errors import InvalidRequest

MAX_INPUT_BYTES = 1024 * 1024
MAX_PAGE_BYTES = 16 * 1024 * 1024
"""Maximum size of inputs and outputs on a page of the log, to limit memory."""
_LOG_PLACES = paging.Places("world calls")


def call(actor: Actor | None, world: World, body: WorldCallIn) -> WorldCallOut:
    """Call a tool in a world. Failures are results; raises `Expired`, `Conflict`, `Unavailable` and, over 1 MiB,
    `InvalidRequest`.

    Without an actor (command line) the call has no caller.
    """
    if size_of(body.input) > MAX_INPUT_BYTES:
        raise InvalidRequest("input: is larger than 1 MiB", details={"reason": "too_large"})
    user_id = actor.user_id if actor else None

    def keep(played: Played) -> Call:
        return recorded(world, played, body.tool, body.input, created_by_id=user_id)

    return _out(play(world.pk, body.tool, body.input, keep, key=body.idempotency_key, user_id=user_id))


def called(actor: Actor, world: World, call_id: str) -> tuple[LoggedOut, WorldCallOut] | None:
    """A call of the world's log and what it returned; None for an unknown one, or one that the actor may not see."""
    rows = Call.objects.visible_to(actor).filter(world=world, key=ids.key_of(call_id, ids.CALL) or "")
    row = rows.select_related("created_by").first()
    if row is None or not row.answer or not row.world_facts:
        return None
    return _line(row), _out(row)


def _out(row: Call) -> WorldCallOut:
    """The answer to a call that has one."""
    result, facts = (row.answer or {})["result"], row.world_facts or {}
    told = {name: facts[name] for name in _TOLD}
    return WorldCallOut(call_id=row.call_id, output=result["data"], result=result, **told)


_TOLD = ("step_count", "cache_hit", "mode_used", "source", "validation", "seed")


def recorded(
    world: World, played: Played, name: str, arguments: Any, *, data_ref: dict[str, str] | None = None, **columns: Any
) -> Call:
    """Record a simulated call, in the same transaction."""
    result, tool = played.result, played.tool
    attempt = {"attempt": 1, "success": result.success, "code": result.error.code if result.error else None}
    execution = Execution(result, [{**attempt, "execution_time_ms": None}])
    return Call.objects.create(
        org_id=world.org_id,
        **{"attempt": 1, "thread_id": "", **columns},
        server=tool.server if tool else "",
        tool=tool.name if tool else name[:200],
        version=tool.version if tool else 0,
        arguments=arguments,
        outcome=Call.Outcome.SUCCESS if result.success else Call.Outcome.ERROR,
        runtime_ms=0,
        answer=calls.answer_of(execution, data_ref),
        world=world,
        world_facts=played.facts,
    )


def attempts_of(use_id: str) -> int:
    """The number of attempts recorded for a call of a thread."""
    return Call.objects.filter(tool_use_id=use_id).count()


def log(actor: Actor, world: World, *, limit: int, page_token: str | None) -> LogPageOut:
    """A page of a world's calls in order (C120). Calls of threads show their content only to those who may see it."""
    rows = Call.objects.visible_to(actor).filter(world=world).order_by("pk")
    if page_token:
        rows = rows.filter(pk__gt=_LOG_PLACES.place(page_token)[0])
    items, last = _lines(rows, limit)
    return LogPageOut(items=items, next_token=None if last is None else _LOG_PLACES.token(last))


def latest(actor: Actor, world: World, count: int) -> list[LoggedOut]:
    """The latest calls, newest first."""
    return _lines(Call.objects.visible_to(actor).filter(world=world).order_by("-pk"), count)[0]


def _lines(rows: QuerySet[Call], limit: int) -> tuple[list[LoggedOut], int | None]:
    """At most `limit` calls within `MAX_PAGE_BYTES`, but at least one; and the last row if there are more."""
    size = Coalesce(Length("answer"), 0) + Coalesce(Length("arguments"), 0)
    sizes = list(rows.values_list("pk", size)[: limit + 1])
    keys: list[int] = []
    left = MAX_PAGE_BYTES
    for pk, size in sizes[:limit]:
        left -= size
        if keys and left < 0:
            break
        keys.append(pk)
    found = rows.filter(pk__in=keys).select_related("created_by")
    return [_line(row) for row in found], keys[-1] if len(sizes) > len(keys) else None


def _line(row: Call) -> LoggedOut:
    result = (row.answer or {}).get("result") or {}
    facts = row.world_facts or {}
    return LoggedOut(
        call_id=row.call_id,
        tool=row.qualified_name,
        version=row.version,
        input=row.arguments,
        output=result.get("data"),
        error=result.get("error"),
        step=facts.get("step_count", 0),
        cache_hit=facts.get("cache_hit", False),
        source=facts.get("source"),
        created=row.begun,
        created_by=row.created_by and row.created_by.email,
        thread_id=row.thread_id or None,
    )
