"""What a builtin tool is: a name, what it does, what it takes, and something that runs it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a call is told about where it comes from; every server tool gets the thread's scope (spec 2.2).

    A call from outside of any thread has no thread and may have no use id. `org_id` and `user_id` are row ids.
    `call_id` is that of the record; `timeout_ms`, where it is set, is how long anybody waits for this attempt.
    """

    thread_id: str
    tool_use_id: str
    analysis_scope: Mapping[str, Any] | None = None
    org_id: int | None = None
    user_id: int | None = None
    call_id: str = ""
    timeout_ms: float | None = None


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool of a server. Without `run` it is a schema and nothing else.

    `is_idempotent`: calling it again after a crash does no harm; nobody has to say no. `timeout_seconds`: after that
    the agent is told that nothing came; None for a tool that keeps time itself, which runs on the worker's own thread,
    as those that use the database must. `is_inline`: its data is never put aside: it was, and somebody wants it now.
    """

    name: str
    description: str
    input_schema: dict[str, Any]
    run: Callable[[Mapping[str, Any], ToolContext], Any] | None
    server: str = "heddle"
    version: int = 1
    is_idempotent: bool = False
    timeout_seconds: float | None = 30
    tags: tuple[str, ...] = field(default=())
    output_schema: dict[str, Any] | None = None
    is_read_only: bool | None = None
    is_visible: bool = True
    is_inline: bool = False

    @property
    def qualified_name(self) -> str:
        """`<server>__<name>`."""
        return f"{self.server}__{self.name}"


def by_name(*specs: ToolSpec) -> dict[str, ToolSpec]:
    """The tools of one server as they are looked up; raises `TypeError` and `ValueError` where an entry is none."""
    found: dict[str, ToolSpec] = {}
    for spec in specs:
        if type(spec) is not ToolSpec:
            raise TypeError(f"TOOLS: each entry is one ToolSpec(...), not a {type(spec).__name__}: {spec!r:.80}")
        if spec.name in found:
            raise ValueError(f"TOOLS: the name {spec.name!r} is taken")
        found[spec.name] = spec
    return found
