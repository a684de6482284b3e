"""What a tool is: a name, what it does, what it takes, and something that runs it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a call is told about where it comes from; every server tool gets the thread's scope (spec 2.2)."""

    thread_id: str
    tool_use_id: str
    analysis_scope: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool of a server.

    `is_idempotent`: calling it again after a crash does no harm; nobody has to say no. `timeout_seconds`: after that
    the agent is told that nothing came; None for a tool that keeps time itself, which runs on the worker's own thread.
    """

    name: str
    description: str
    input_schema: dict[str, Any]
    run: Callable[[Mapping[str, Any], ToolContext], Any]
    server: str = "demo"
    version: int = 1
    is_idempotent: bool = False
    timeout_seconds: float | None = 30
    tags: tuple[str, ...] = field(default=())
