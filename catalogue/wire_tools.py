"""What the tool routes take and give (catalogue 1.1, 6.2)."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    RootModel,
    SerializerFunctionWrapHandler,
    StringConstraints,
    field_validator,
    model_serializer,
)

from catalogue.elsewhere.wire import Handler
from catalogue.record import Annotations, JsonObject, Loss
from core.wire import Exact, Page, Patch, Wire

Outcome = Literal["created", "new_version", "updated", "unchanged", "skipped", "failed"]
OUTCOMES: tuple[Outcome, ...] = ("created", "new_version", "updated", "unchanged", "skipped", "failed")
Words = Annotated[list[Annotated[str, StringConstraints(min_length=1, max_length=120)]], Field(max_length=200)]


class ImportIn(Exact):
    """Exactly one of `tool`, `tools`, `manifest` and `source`."""

    dialect: str
    server: str | None = None
    tool: JsonObject | None = None
    tools: list[Any] | None = None
    manifest: JsonObject | None = None
    source: str | None = None
    on_conflict: Literal["new_version", "skip", "error"] = "new_version"
    dry_run: bool = False
    partial: bool = False
    options: JsonObject = {}


class ToolFault(Wire):
    """Why one tool of an import is not valid."""

    index: int
    reason: str
    path: str
    message: str


class RefusedCallOut(Wire):
    """A recorded call that a new version would refuse. `arguments` is null where they are not the asker's to see."""

    call_id: str
    version: int
    created: datetime
    arguments: Any
    errors: list[JsonObject]


class ReplayOut(Wire):
    """Recorded calls held against a new version: how many the present one takes, and the new one would refuse.

    `whole` is false where there was no time to look at all of them.
    """

    checked: int
    refused: int
    whole: bool
    examples: list[RefusedCallOut]


class ImportedOut(Wire):
    """What became of one tool of an import; nothing but the errors where it failed.

    `replay` is there in a dry run, for a new version of a tool that was called.
    """

    index: int
    outcome: Outcome
    qualified_name: str | None
    version: int | None
    losses: list[Loss] = []
    warnings: list[str] = []
    errors: list[ToolFault] = []
    replay: ReplayOut | None = None

    @model_serializer(mode="wrap")
    def _without_what_did_not_happen(self, write: SerializerFunctionWrapHandler) -> JsonObject:
        written: JsonObject = write(self)
        if self.replay is None:
            written.pop("replay", None)
        return written


class ToolImportOut(Wire):
    """An import: one item a tool, in the order they came. `losses` are the manifest's own."""

    items: list[ImportedOut]
    counts: dict[Outcome, int]
    losses: list[Loss] = []


class ToolOut(Wire):
    """The canonical record of a tool with one of its versions."""

    server: str
    name: str
    qualified_name: str
    version: int
    declared_version: str | None
    description: str
    input_schema: JsonObject
    output_schema: JsonObject | None
    idempotent: bool
    annotations: Annotations
    param_order: list[str]
    category: str | None
    tags: list[str]
    visible: bool
    deprecated: bool
    deprecation_message: str | None
    handler: JsonObject
    dispatchable: bool
    source_dialect: str
    extras: dict[str, JsonObject]
    spec_hash: str
    created: datetime
    created_by: str | None
    modified: datetime
    modified_by: str | None


class ToolPageOut(Page[ToolOut]):
    """A page of tools."""


class OmittedOut(Wire):
    """A tool that the dialect of a list cannot hold."""

    qualified_name: str
    reason: str
    message: str


class DialectPageOut(Page[JsonObject]):
    """A page of tools in a dialect, as a model's tool list takes them; `omitted` are those that do not fit there."""

    omitted: list[OmittedOut]


class DialectToolOut(Wire):
    """One tool in a dialect."""

    dialect: str
    qualified_name: str
    version: int
    tool: JsonObject
    losses: list[Loss]


class ToolListOut(RootModel[ToolPageOut | DialectPageOut]):
    """What the list answers, without and with a dialect."""


class OneToolOut(RootModel[ToolOut | DialectToolOut]):
    """What a tool's URL answers, without and with a dialect."""


class ToolVersionOut(Wire):
    """A version, without what it says."""

    version: int
    spec_hash: str
    source_dialect: str
    created: datetime
    created_by: str | None


class ToolVersionPageOut(Page[ToolVersionOut]):
    """A page of versions, newest first."""


class ToolPatch(Patch):
    """What changes in place (C51). A handler is for who made the tool, and for admins."""

    visible: bool = True
    tags: Words = []
    deprecated: bool = False
    deprecation_message: str | None = None
    handler: Handler = Handler(kind="none")

    @field_validator("tags")
    @classmethod
    def _unique(cls, tags: list[str]) -> list[str]:
        return list(dict.fromkeys(tags))


class ServerPatch(Patch):
    """What changes of a server."""

    description: str = ""
    version: Annotated[str, StringConstraints(min_length=1, max_length=64)] = "1.0.0"
    capabilities: Words = []


class ServerOut(Wire):
    """A server's record; `readonly` where it belongs to everybody."""

    name: str
    description: str
    version: str
    capabilities: list[str]
    source_dialect: str
    tool_count: int
    readonly: bool
    created: datetime
    created_by: str | None
    modified: datetime
    modified_by: str | None


class ServerPageOut(Page[ServerOut]):
    """A page of servers."""


class ManifestOut(Wire):
    """A server as its dialect's manifest. The path of a loss begins with the tool's name."""

    dialect: str
    manifest: JsonObject
    losses: list[Loss]
