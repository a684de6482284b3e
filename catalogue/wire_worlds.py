"""What the routes of worlds take and give (catalogue 3.8, 6.2)."""

from datetime import datetime
from typing import Annotated, Any, Literal

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
    """Which share of the steps fails, and how (C112, C116)."""

    rate: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    codes: Annotated[list[FailureCode], Field(max_length=20)] = []

    @model_validator(mode="after")
    def _codes_to_fail_with(self) -> "FailureProfile":
        if self.rate > 0 and not self.codes:
            raise ValueError("codes: must not be empty where the rate is above 0")
        return self


class WorldIn(Exact):
    """A world to be made. Without a seed one is drawn, and told (C118)."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, max_length=100)] | None = None
    mode: Mode = "schema_only"
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63)] | None = None
    failure_profile: FailureProfile | None = None
    tools: Names = []
    ttl_seconds: Annotated[int, Field(ge=1, le=30 * 86_400)] = 3600
    strict_fixtures: bool = False

    @model_validator(mode="after")
    def _fixtures_to_be_strict_about(self) -> "WorldIn":
        if self.strict_fixtures and self.mode == "schema_only":
            raise ValueError("strict_fixtures: the mode schema_only knows no fixtures")
        return self


class WorldOut(Wire):
    """The record of a world."""

    world_id: str
    name: str | None
    mode: str
    seed: int
    seed_given: bool
    failure_profile: JsonObject | None
    strict_fixtures: bool
    status: str
    step_count: int
    tools: list[str]
    created: datetime
    created_by: str | None
    expires_at: datetime
    ttl_seconds: int

    @property
    def title(self) -> str:
        """What a page calls it."""
        servers = (tool.partition("__")[0] for tool in self.tools if naming.read(tool))
        return naming.world_title(self.name or "", self.mode, self.seed, servers)


class WorldPageOut(Page[WorldOut]):
    """A page of worlds, newest first."""


class WorldToolsIn(Exact):
    """Tools of the catalogue by name, or one in any dialect that lives in the world alone."""

    tools: Names | None = None
    dialect: str | None = None
    tool: JsonObject | None = None
    server: Annotated[str, StringConstraints(max_length=64)] | None = None

    @model_validator(mode="after")
    def _one_of_the_two(self) -> "WorldToolsIn":
        if (self.tools is None) == (self.tool is None) or (self.tool is None) != (self.dialect is None):
            raise ValueError("either tools, or dialect and tool have to be given")
        return self


class WorldToolsOut(Wire):
    tools: list[str]


class WorldCallIn(Exact):
    """A call in a world. What is wrong with `input` is the result's business."""

    tool: Name
    input: Any = {}
    idempotency_key: Key | None = None


class WorldCallOut(Wire):
    """What a call in a world came to. `source` says what the answer was made from."""

    call_id: str
    output: Any
    result: JsonObject
    step_count: int
    cache_hit: bool
    mode_used: str
    source: str | None
    validation: JsonObject | None
    seed: int


def _listed(code: str) -> str:
    if code not in CODES:
        raise ValueError(f"must be one of {', '.join(CODES)}")
    return code


class FixtureError(Exact):
    """How a call fails: one of the ten codes of catalogue 2.2, and what is said of it."""

    code: Annotated[str, AfterValidator(_listed), Field(json_schema_extra={"enum": [*CODES]})]
    message: Annotated[str, StringConstraints(min_length=1, max_length=MAX_MESSAGE)]


class FixtureIn(Exact):
    """An answer for one input, or a failure; without `input` the tool's default (C106, C107).

    An input of null is an input, and an output of null an answer where no error stands beside it.
    """

    tool: Name
    input: Any = None
    output: Any = None
    error: FixtureError | None = None

    @model_validator(mode="after")
    def _one_of_the_two(self) -> "FixtureIn":
        if self.error is None and "output" not in self.model_fields_set:
            raise ValueError("either output or error has to be given")
        if self.error is not None and self.output is not None:
            raise ValueError("output and error cannot both be given")
        return self

    @property
    def has_input(self) -> bool:
        """Whether one was spelled out."""
        return "input" in self.model_fields_set


class FixturesIn(Exact):
    fixtures: Annotated[list[FixtureIn], Field(max_length=1000)]


class RecordedIn(Exact):
    """Take fixtures from calls that really were made, the newest first."""

    tools: Names | None = None
    limit: Annotated[int, Field(ge=1, le=500)] = 100


class FixturesOut(Wire):
    fixture_count: int


class StateOut(Wire):
    """What a world remembers, by noun and id, and the last things that were done to it."""

    entities: dict[str, dict[str, Any]]
    step_count: int
    history: list[JsonObject]


class LoggedOut(Wire):
    """A line of a world's log (C120)."""

    call_id: str
    tool: str
    version: int
    input: Any
    output: Any
    error: JsonObject | None
    step: int
    cache_hit: bool
    source: str | None
    created: datetime
    created_by: str | None
    thread_id: str | None


class LogPageOut(Page[LoggedOut]):
    """A page of a world's log, in order."""


class ResetIn(Exact):
    hard: bool = False


class ResetOut(Wire):
    world_id: str
    step_count: int
