"""Wire models of the world routes (catalogue 3.8, 6.2)."""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from catalogue import naming
from catalogue.record import JsonObject
from catalogue.results import CODES
from catalogue.wire_calls import Key
from core.wire import Exact, Page, Wire

Mode = Literal["schema_only", "examples", "stateful"]
FailureCode = Literal["timeout", "internal_error", "rate_limit", "not_found", "bad_request"]
Name = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Names = Annotated[list[Name], Field(max_length=500)]
MAX_MESSAGE = 2000


class FailureProfile(Exact):
    """How often steps fail, and with which codes (C112, C116)."""

    rate: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    """Share of steps that fail, from 0 to 1."""
    codes: Annotated[list[FailureCode], Field(max_length=20)] = []
    """Error codes to choose from."""

    @model_validator(mode="after")
    def _codes_to_fail_with(self) -> "FailureProfile":
        if self.rate > 0 and not self.codes:
            raise ValueError("codes: must not be empty if the rate is above 0")
        return self


class WorldIn(Exact):
    """A new world. Without a seed a random one is chosen and returned (C118)."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, max_length=100)] | None = None
    mode: Mode = "schema_only"
    """`schema_only`: results from schemas. `examples`: also fixtures. `stateful`: also a state that calls change."""
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None
    """Determines generated results and failures; random if absent."""
    failure_profile: FailureProfile | None = None
    """Simulated failures; none by default."""
    tools: Names = []
    """Qualified names of catalogue tools."""
    ttl_seconds: Annotated[int, Field(ge=1, le=30 * 86_400)] = 3600
    """The world expires after this time without a call."""
    strict_fixtures: bool = False
    """Calls without a matching fixture fail."""

    @model_validator(mode="after")
    def _fixtures_to_be_strict_about(self) -> "WorldIn":
        if self.strict_fixtures and self.mode == "schema_only":
            raise ValueError("strict_fixtures: the mode schema_only does not use fixtures")
        return self


class WorldOut(Wire):
    """A world."""

    world_id: str
    name: str | None
    """Null if none was given."""
    mode: str
    seed: int
    seed_given: bool
    """False if the seed was chosen at random."""
    failure_profile: JsonObject | None
    strict_fixtures: bool
    status: str
    step_count: int
    """Number of steps since the creation or the last reset."""
    tools: list[str]
    """Qualified names."""
    created: datetime
    created_by: str | None
    """Email of the creator."""
    expires_at: datetime
    ttl_seconds: int
    """Time without a call after which the world expires."""

    @property
    def title(self) -> str:
        """The title on pages."""
        servers = (tool.partition("__")[0] for tool in self.tools if naming.read(tool))
        return naming.world_title(self.name or "", self.mode, self.seed, servers)


class WorldPageOut(Page[WorldOut]):
    """A page of worlds, newest first."""


class WorldToolsIn(Exact):
    """Catalogue tools by name, or one inline tool in any dialect that exists only in this world."""

    tools: Names | None = None
    """Qualified names of catalogue tools."""
    dialect: str | None = None
    """Dialect of `tool`."""
    tool: JsonObject | None = None
    """A tool that exists only in this world."""
    server: Annotated[str, StringConstraints(max_length=64)] | None = None
    """Server name for `tool`."""

    @model_validator(mode="after")
    def _one_of_the_two(self) -> "WorldToolsIn":
        if (self.tools is None) == (self.tool is None) or (self.tool is None) != (self.dialect is None):
            raise ValueError("give either tools, or dialect and tool")
        return self


class WorldToolsOut(Wire):
    """The tools of a world."""

    tools: list[str]
    """Qualified names of all tools of the world."""


class WorldCallIn(Exact):
    """A simulated call. Invalid `input` gives an error result."""

    named_otherwise: ClassVar[Mapping[str, str]] = MappingProxyType({"arguments": "input"})
    tool: Name
    """Qualified name."""
    input: Any = {}
    """The arguments: an object. If they are invalid, the result is an error."""
    idempotency_key: Key | None = None
    """A repeated call with this key returns the first result and is no new step."""


class WorldCallOut(Wire):
    """The result of a simulated call."""

    call_id: str
    output: Any
    """The data of a success; null on failure."""
    result: JsonObject
    """The canonical result."""
    step_count: int
    cache_hit: bool
    """Whether the result was repeated for the idempotency key."""
    mode_used: str
    """The mode that produced the result."""
    source: str | None
    """What the result was made from, such as a fixture or the state."""
    validation: JsonObject | None
    """The check against the output schema; null without one."""
    seed: int


def _listed(code: str) -> str:
    if code not in CODES:
        raise ValueError(f"must be one of {', '.join(CODES)}")
    return code


class FixtureError(Exact):
    """A predefined error: one of the ten codes of catalogue 2.2, and a message."""

    code: Annotated[str, AfterValidator(_listed), Field(json_schema_extra={"enum": [*CODES]})]
    """One of the ten error codes."""
    message: Annotated[str, StringConstraints(min_length=1, max_length=MAX_MESSAGE)]


class FixtureIn(Exact):
    """A predefined result or error for one input, or for any input (C106, C107)."""

    tool: Name
    """Qualified name."""
    input: JsonObject = {}
    """The arguments that the fixture is for; absent: any."""
    output: Any = None
    """The data to return. Null is a valid output unless `error` is given."""
    error: FixtureError | None = None
    """Fail instead of returning data."""

    @model_validator(mode="after")
    def _one_of_the_two(self) -> "FixtureIn":
        if self.error is None and "output" not in self.model_fields_set:
            raise ValueError("give either output or error")
        if self.error is not None and self.output is not None:
            raise ValueError("give only one of output and error")
        return self

    @property
    def wanted(self) -> JsonObject | None:
        """The input; None if none was given, so that the fixture is for any."""
        return self.input if "input" in self.model_fields_set else None


class FixturesIn(Exact):
    """The fixtures of a world."""

    fixtures: Annotated[list[FixtureIn], Field(max_length=1000)]
    """Replaces all fixtures of the world."""


class RecordedIn(Exact):
    """Create fixtures from recorded real calls, newest first."""

    tools: Names | None = None
    """Qualified names; absent: all tools of the world."""
    limit: Annotated[int, Field(ge=1, le=500)] = 100
    """Maximum number of calls to take."""


class FixturesOut(Wire):
    """The number of fixtures."""

    fixture_count: int
    """Number of fixtures of the world."""


class StateOut(Wire):
    """The state of a world and its latest changes."""

    entities: dict[str, dict[str, Any]]
    """Stored entities by noun and id."""
    step_count: int
    history: list[JsonObject]
    """The latest changes."""


class LoggedOut(Wire):
    """A call in a world's log (C120)."""

    call_id: str
    tool: str
    version: int
    input: Any
    output: Any
    error: JsonObject | None
    step: int
    """Number of the step."""
    cache_hit: bool
    """Whether the result was repeated for an idempotency key."""
    source: str | None
    """What the result was made from."""
    created: datetime
    created_by: str | None
    """Email of the caller."""
    thread_id: str | None
    """The thread that made the call; null for a direct call."""


class LogPageOut(Page[LoggedOut]):
    """A page of a world's log, oldest first."""


class ResetIn(Exact):
    """A reset to step 0."""

    hard: bool = False
    """Also delete the state and the results kept for idempotency keys."""


class ResetOut(Wire):
    """A world after its reset."""

    world_id: str
    step_count: int
