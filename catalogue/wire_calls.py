"""Wire models of the routes of calls, results and stored data (catalogue 6.2)."""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, StringConstraints

from catalogue.judging import Level
from catalogue.record import JsonObject, Loss
from catalogue.result_dialects import Context
from catalogue.retrying import RetryPolicy
from core.storable import MAX_INTEGER
from core.wire import Exact, Wire

Args = Annotated[list[Any], Field(max_length=1000)]
Version = Annotated[int, Field(ge=1, le=MAX_INTEGER)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=200)]
_AS_IN_A_WORLD = MappingProxyType({"input": "arguments"})


class ValidateIn(Exact):
    """Arguments to validate, by name and by position."""

    named_otherwise: ClassVar[Mapping[str, str]] = _AS_IN_A_WORLD
    arguments: Any = {}
    """Arguments by name: an object."""
    args: Args = []
    """Positional arguments, in the order of `param_order`."""
    version: Version | None = None
    """Default: the current version."""


class BuildInputIn(Exact):
    """Arguments to combine into one object."""

    args: Args = []
    """Positional arguments, in the order of `param_order`."""
    kwargs: JsonObject = {}
    """Arguments by name."""


class CallIn(Exact):
    """A call. Invalid `arguments` give an error result; errors in other fields are a 400."""

    named_otherwise: ClassVar[Mapping[str, str]] = _AS_IN_A_WORLD
    arguments: Any = {}
    """Arguments by name: an object. If they are invalid, the result is an error with details."""
    args: Args = []
    """Positional arguments, in the order of `param_order`."""
    version: Version | None = None
    """Default: the current version."""
    world_id: str | None = None
    """Simulate the call in this world instead of executing it."""
    timeout_ms: Annotated[int, Field(ge=1, le=120_000)] = 30_000
    """Maximum duration of each attempt."""
    retry_policy: RetryPolicy | None = None
    """Retries of failed attempts; only idempotent tools are retried."""
    stash: Literal["auto", "always", "never"] = "auto"
    """Store result data separately: `auto` if larger than `inline_max_bytes`, `always` or `never`."""
    inline_max_bytes: Annotated[int, Field(ge=0, le=10 * 1024 * 1024)] = 8192
    """With `stash: auto`: larger data is replaced by a reference (`data_ref`)."""
    idempotency_key: Key | None = None
    """A repeated request with this key returns the first result and calls nothing."""
    strict_output: bool = False
    """Fail if the result does not match the output schema; by default that is a warning."""
    result_dialect: str = "canonical"
    """Format of `result`."""
    tool_use_id: Annotated[str, StringConstraints(max_length=200)] | None = None
    """The model's id of the tool use, for result dialects that contain it."""
    on_error: Literal["result", "http"] = "result"
    """`http`: answer a tool failure with an HTTP error instead of a result."""


class ValidatedOut(Wire):
    """The validation of arguments."""

    valid: bool
    code: str | None
    """Error code of the first problem; null if valid."""
    errors: list[JsonObject]
    """`{field, code, message}` each."""
    arguments: Any
    """The arguments with defaults from the schema."""


class InputOut(Wire):
    """The combined arguments."""

    input: JsonObject
    """All arguments by name."""


class CallOut(Wire):
    """A call and its result, which is null while the call runs or if the process died during the call."""

    call_id: str
    qualified_name: str
    version: int
    result: Any
    """The result in `result_dialect`; null until the call has finished."""
    result_dialect: str
    attempts: list[JsonObject]
    """One object per execution, with success, error code and duration."""
    failure: JsonObject | None
    """The last failure as classified by the retry policy; null without a policy or on success."""
    data_ref: JsonObject | None
    """`{ref_id, summary}` if the data was stored separately: GET /v1/catalogue/data/{ref_id}."""
    model_view: Any
    """What a model sees of the result."""
    world: JsonObject | None
    """Facts about the simulated call; null for a real call."""
    http_status: int | None
    """The HTTP status that the result has with `on_error: http`."""


class RecordedCallOut(CallOut):
    """A recorded call: `CallOut` with arguments, time and caller."""

    arguments: Any
    created: datetime
    created_by: str | None
    """Email of the caller."""


class JudgeIn(Exact):
    """A CTP result to validate."""

    dialect: Literal["ctp"] = "ctp"
    """Only `ctp`."""
    level: Level = "schema"
    """`core`: the checks of validateToolResult. `schema`: the documented schema. `strict`: no unknown keys."""
    result: Any
    """The result to validate."""


class JudgedOut(Wire):
    """The validation of a result."""

    valid: bool
    errors: list[JsonObject]
    """`{field, code, message}` each."""


class ConvertIn(Exact):
    """A result to convert to another dialect."""

    source: Annotated[str, Field(alias="from")]
    """Dialect of `result`."""
    target: Annotated[str, Field(alias="to")]
    """Dialect to convert to."""
    result: Any
    context: Context = Context()
    """Facts that the target dialect needs and the result does not contain."""
    style: Literal["strict"] | None = None
    """Variant of the target dialect."""


class ConvertedOut(Wire):
    """A converted result."""

    result: Any
    losses: list[Loss]
    """What could not be converted unchanged."""


class DataIn(Exact):
    """A payload to store."""

    data: JsonObject
    summary: Annotated[str, StringConstraints(min_length=1, max_length=2000)] | None = None
    """One line for models; by default generated from the data."""


class DataRefOut(Wire):
    """A reference to a stored payload."""

    ref_id: str
    """Id to read the data with."""
    summary: str
    """One line for models."""


class DataOut(DataRefOut):
    """A stored payload."""

    data: JsonObject
    size_bytes: int
    """Size as canonical JSON."""
    created: datetime
    expires_at: datetime
