"""What the routes of calls, results and data take and give (catalogue 6.2)."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from catalogue.judging import Level
from catalogue.record import JsonObject, Loss
from catalogue.result_dialects import Context
from catalogue.retrying import RetryPolicy
from core.wire import Exact, Wire

Args = Annotated[list[Any], Field(max_length=1000)]
Version = Annotated[int, Field(ge=1, le=2**31 - 1)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class ValidateIn(Exact):
    """Arguments by name, and by place."""

    arguments: Any = {}
    args: Args = []
    version: Version | None = None


class BuildInputIn(Exact):
    args: Args = []
    kwargs: JsonObject = {}


class CallIn(Exact):
    """A call. What is wrong with `arguments` is the result's business, everything else is checked here."""

    arguments: Any = {}
    args: Args = []
    version: Version | None = None
    world_id: str | None = None
    timeout_ms: Annotated[int, Field(ge=1, le=120_000)] = 30_000
    retry_policy: RetryPolicy | None = None
    stash: Literal["auto", "always", "never"] = "auto"
    inline_max_bytes: Annotated[int, Field(ge=0, le=10 * 1024 * 1024)] = 8192
    idempotency_key: Key | None = None
    strict_output: bool = False
    result_dialect: str = "canonical"
    tool_use_id: Annotated[str, StringConstraints(max_length=200)] | None = None
    on_error: Literal["result", "http"] = "result"


class ValidatedOut(Wire):
    """`arguments` with the schema's defaults; `code` null where they are valid."""

    valid: bool
    code: str | None
    errors: list[JsonObject]
    arguments: Any


class InputOut(Wire):
    input: JsonObject


class CallOut(Wire):
    """A call and what came of it; nothing of the latter while it runs, or where nobody lived to tell."""

    call_id: str
    qualified_name: str
    version: int
    result: Any
    result_dialect: str
    attempts: list[JsonObject]
    failure: JsonObject | None
    data_ref: JsonObject | None
    model_view: Any
    world: JsonObject | None
    http_status: int | None


class RecordedCallOut(CallOut):
    """The same, as recorded."""

    arguments: Any
    created: datetime
    created_by: str | None


class JudgeIn(Exact):
    dialect: Literal["ctp"] = "ctp"
    level: Level = "schema"
    result: Any


class JudgedOut(Wire):
    valid: bool
    errors: list[JsonObject]


class ConvertIn(Exact):
    source: Annotated[str, Field(alias="from")]
    target: Annotated[str, Field(alias="to")]
    result: Any
    context: Context = Context()
    style: Literal["strict"] | None = None


class ConvertedOut(Wire):
    result: Any
    losses: list[Loss]


class DataIn(Exact):
    data: JsonObject
    summary: Annotated[str, StringConstraints(min_length=1, max_length=2000)] | None = None


class DataRefOut(Wire):
    ref_id: str
    summary: str


class DataOut(DataRefOut):
    data: JsonObject
    size_bytes: int
    created: datetime
    expires_at: datetime
