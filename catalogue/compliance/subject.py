"""The subject of the checks: a server with its tools, and harmless calls of them (catalogue 3.9, C127)."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from catalogue import calling, naming, targets
from catalogue.models import Tool, ToolServer, ToolVersion, World
from catalogue.record import Stored
from catalogue.results import ToolResult
from catalogue.spec import ToolContext
from catalogue.wire_calls import CallIn
from catalogue.wire_compliance import CheckOut
from catalogue.wire_worlds import WorldCallIn
from catalogue.worlds import calling as played
from catalogue.worlds import keeping
from core.actor import Actor


@dataclass(frozen=True, slots=True)
class Invoked:
    """The outcome of a call without arguments: result, whether the handler raised, and what it returned, which a large
    result is not (it is replaced by a reference)."""

    result: ToolResult
    has_raised: bool
    returned: Any


@dataclass(frozen=True, slots=True)
class Checked:
    """A tool with its current version."""

    tool: Tool
    version: ToolVersion
    stored: Stored

    @property
    def name(self) -> str:
        return self.tool.name

    @property
    def required(self) -> list[str]:
        """The required arguments."""
        return list(self.version.input_schema.get("required", []))


@dataclass(frozen=True, slots=True)
class Subject:
    """A server for the checks. Without an actor (command line) calls have no caller."""

    server: ToolServer
    tools: list[Checked]
    org_id: int
    actor: Actor | None
    world: World | None
    ends_at: float = inf
    """The deadline, on the monotonic clock."""

    @property
    def is_late(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() > self.ends_at

    def why_not_called(self, checked: Checked) -> str | None:
        """Why a tool is not called without arguments, or None if it may be.

        Without a world only idempotent or read-only tools are called: a check must not change anything (C127).
        """
        if checked.required:
            return "has required params"
        if self.is_late:
            return "out of time"
        if self.world is not None:
            has_it = keeping.tool_named(self.world, checked.tool.qualified_name) is not None
            return None if has_it else "is not in the world"
        if not (checked.version.idempotent or checked.version.annotations.get("read_only") is True):
            return "is neither idempotent nor read-only, and no world was given"
        if targets.target_for(checked.tool).run is None:
            return "has no handler that Heddle can run"
        return None

    def invoke(self, checked: Checked) -> Invoked:
        """Call the tool with `{}`; recorded like every call."""
        if self.world is not None:
            return self._played(checked, self.world)
        noted: dict[str, Any] = {}
        target = targets.target_for(checked.tool)
        assert target.run is not None
        run = target.run

        def noting(arguments: Mapping[str, Any], context: ToolContext) -> Any:
            try:
                noted["value"] = run(arguments, context)
            except BaseException:
                noted["raised"] = True
                raise
            return noted["value"]

        user_id = self.actor.user_id if self.actor else None
        result = calling.make(user_id, self.org_id, replace(target, run=noting), CallIn(arguments={}))
        value = noted.get("value")
        returned = value.data if isinstance(value, ToolResult) else value
        return Invoked(result, "raised" in noted or "value" not in noted, returned)

    def _played(self, checked: Checked, world: World) -> Invoked:
        name = naming.join(self.server.name, checked.name)
        answer = played.call(self.actor, world, WorldCallIn(tool=name, input={}))
        result = ToolResult.model_validate(answer.result)
        return Invoked(result, False, result.data if result.success else None)


@dataclass
class Report:
    """The results of the checks so far."""

    results: list[CheckOut] = field(default_factory=list)

    def add(self, passed: bool, check_name: str, message: str, **details: Any) -> None:
        """Add the result of a check."""
        self.results.append(CheckOut(passed=passed, check_name=check_name, message=message, details=details))
