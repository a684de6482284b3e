"""The definition of a tool that the server runs: name, description, schema and function."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from catalogue import naming


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The context of a call; every server tool gets the thread's scope (spec 2.2).

    A call from outside of threads has no thread id and may have no tool use id. `org_id` and `user_id` are row ids.
    `call_id` is the id of the record; `timeout_ms`, if set, is the time limit of this attempt, and `deadline` the
    moment on the monotonic clock at which its caller stops waiting.
    """

    thread_id: str
    tool_use_id: str
    analysis_scope: Mapping[str, Any] | None = None
    org_id: int | None = None
    user_id: int | None = None
    call_id: str = ""
    timeout_ms: float | None = None
    deadline: float | None = None


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool of a server. Without `run` it cannot be executed.

    `is_idempotent`: calling it again after a crash is harmless; the default is no. `timeout_seconds`: after that the
    call fails; None for a tool that limits its time itself and runs on the worker's thread, as tools that use the
    database must. `is_inline`: its data is never stored separately, because it returns stored data.
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
        return naming.join(self.server, self.name)


def by_name(*specs: ToolSpec) -> dict[str, ToolSpec]:
    """Tools by name; raises `TypeError` or `ValueError` for an invalid or duplicate entry."""
    found: dict[str, ToolSpec] = {}
    for spec in specs:
        if type(spec) is not ToolSpec:
            raise TypeError(f"TOOLS: each entry is one ToolSpec(...), not a {type(spec).__name__}: {spec!r:.80}")
        if spec.name in found:
            raise ValueError(f"TOOLS: the name {spec.name!r} is taken")
        found[spec.name] = spec
    return found
