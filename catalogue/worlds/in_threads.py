"""Threads in a world: its simulated tools replace Heddle's tools, and nothing real is called (catalogue 3.8).

A thread can be started or forked in a world. Only `get_tool_data` stays: it reads stored data of the org.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from catalogue import builtin, data, naming, results
from catalogue.calls import Made
from catalogue.executing import Execution
from catalogue.models import World, WorldTool
from catalogue.spec import ToolSpec
from catalogue.worlds import calling, keeping
from catalogue.worlds.playing import Played, play
from core.errors import Expired, InvalidRequest, NotFound, Unavailable

_ALWAYS = ("get_tool_data",)


def world_for(org_id: int, world_id: str) -> World:
    """An open world of the thread's org. Raises `InvalidRequest` for any other, `Expired` if it has ended."""
    try:
        return keeping.open_world_in(org_id, world_id)
    except NotFound as problem:
        raise InvalidRequest(f"world_id: {problem.message}") from None


def names(world_pk: int) -> frozenset[str]:
    """The names under which a world offers its tools. One short query."""
    tools = WorldTool.objects.filter(world=world_pk).only("server", "name", "qualified_name")
    return frozenset(_ALWAYS) | {name for tool in tools if (name := _name_of(tool))}


class Stage:
    """The tools of a world by the names that models use, as of the start of a turn."""

    def __init__(self, world_pk: int) -> None:
        self._world_pk = world_pk
        self._tools: dict[str, WorldTool] = {}
        for tool in WorldTool.objects.filter(world=world_pk).order_by("pk"):
            if name := _name_of(tool):
                self._tools.setdefault(name, tool)
        self.specs: Mapping[str, ToolSpec] = {
            **{name: builtin.TOOLS[name] for name in _ALWAYS},
            **{name: ToolSpec(name, tool.description, tool.input_schema, None) for name, tool in self._tools.items()},
        }

    def only(self, own_name: str) -> str | None:
        """The name under which the only tool with this own name is offered, which is how other systems call it."""
        found = [name for name, tool in self._tools.items() if tool.name == own_name]
        return found[0] if len(found) == 1 else None

    def has(self, name: str) -> bool:
        """Whether the world has the tool."""
        return name in self._tools

    def call(
        self,
        name: str,
        arguments: Any,
        thread_id: str,
        use_id: str,
        user_id: int | None,
        within: Callable[[], AbstractContextManager[None]],
    ) -> Made:
        """Simulate and record a call of a turn. A repeated tool use gets the same result; large data is stored apart.

        It is stored in a transaction that `within` opens (`play`). If the world has ended or is too busy the call
        fails: it never falls through to the real tool.
        """
        world = World.objects.get(pk=self._world_pk)
        tool = self._tools[name]

        def keep(played: Played) -> Made:
            limit, raw = data.INLINE_MAX_BYTES, {"tool": name, "version": tool.version, "value": played.result.data}
            shown, ref = data.stashed(played.result, world.org_id, user_id, stash="auto", inline_max_bytes=limit)
            calling.recorded(
                world,
                replace(played, result=shown),
                name,
                arguments,
                created_by_id=user_id,
                thread_id=thread_id,
                tool_use_id=use_id,
                attempt=calling.attempts_of(use_id) + 1,
                data_ref=ref,
            )
            return Made(Execution(shown), ref, raw)

        try:
            return play(world.pk, tool.folded, arguments, keep, key=use_id, user_id=user_id, within=within)
        except Expired as problem:
            return Made(Execution(results.fail("NOT_FOUND", problem.message, {"reason": "world_over"})))
        except Unavailable as problem:
            return Made(Execution(results.fail("RATE_LIMITED", problem.message, {"reason": "world_busy"})))


def _name_of(tool: WorldTool) -> str:
    """The name for models: bare for built-in tools, as in every thread; empty if it is too long."""
    return naming.for_models(tool.name if tool.server == "heddle" else tool.qualified_name)
