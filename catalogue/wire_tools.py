"""Wire models of the tool and server routes (catalogue 1.1, 6.2)."""

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

from catalogue.dialects import DIALECTS
from catalogue.naming import OTHER_DIALECTS
from catalogue.record import Annotations, JsonObject, Loss
from catalogue.wire_connections import Handler
from core.wire import UNCHANGED, Exact, Page, Patch, Wire

Outcome = Literal["created", "new_version", "updated", "unchanged", "skipped", "failed"]
OUTCOMES: tuple[Outcome, ...] = ("created", "new_version", "updated", "unchanged", "skipped", "failed")
Words = Annotated[list[Annotated[str, StringConstraints(min_length=1, max_length=120)]], Field(max_length=200)]


class ImportIn(Exact):
    """Tools to import: exactly one of `tool`, `tools`, `manifest` and `source`."""

    dialect: Annotated[str, Field(json_schema_extra={"enum": [*DIALECTS, *OTHER_DIALECTS]})]
    """Format of the tools."""
    server: str | None = None
    """Server for the tools; required unless the tools or the dialect name one."""
    tool: JsonObject | None = None
    """One tool in the dialect."""
    tools: list[Any] | None = None
    """A list of tools in the dialect."""
    manifest: JsonObject | None = None
    """A server manifest (dialect convilyn)."""
    source: str | None = None
    """Source code (dialect python)."""
    on_conflict: Literal["new_version", "skip", "error"] = "new_version"
    """If a tool exists with other content: create a version, skip it, or fail."""
    dry_run: bool = False
    """Report what would happen and store nothing."""
    partial: bool = False
    """Import the valid tools even if others are invalid."""
    options: JsonObject = {}
    """Options for `source`."""


class ToolFault(Wire):
    """Why a tool of an import is invalid."""

    index: int
    """Position of the tool in the import."""
    reason: str
    """Machine-readable reason."""
    path: str
    """JSON pointer into the tool."""
    message: str


class RefusedCallOut(Wire):
    """A recorded call that a new version would reject."""

    call_id: str
    version: int
    """The version that was called."""
    created: datetime
    arguments: Any
    errors: list[JsonObject]


class ReplayOut(Wire):
    """The check against a new version of those recorded calls that the caller may see."""

    checked: int
    """Number of recorded calls that the current version accepts."""
    refused: int
    """Number of those that the new version would reject."""
    whole: bool
    """False if there was no time to check all recorded calls."""
    examples: list[RefusedCallOut]
    """Up to three rejected calls."""


class ImportedOut(Wire):
    """The outcome for one tool of an import; only the errors if it failed."""

    index: int
    """Position of the tool in the import."""
    outcome: Outcome
    qualified_name: str | None
    version: int | None
    losses: list[Loss] = []
    """What the canonical form could not take over."""
    warnings: list[str] = []
    errors: list[ToolFault] = []
    replay: ReplayOut | None = None
    """Only in a dry run, for a new version of a tool that was called."""

    @model_serializer(mode="wrap")
    def _without_what_did_not_happen(self, write: SerializerFunctionWrapHandler) -> JsonObject:
        written: JsonObject = write(self)
        if self.replay is None:
            written.pop("replay", None)
        return written


class ToolImportOut(Wire):
    """The outcome of an import."""

    items: list[ImportedOut]
    """One item per tool, in the order of the request."""
    counts: dict[Outcome, int]
    """Number of tools by outcome."""
    losses: list[Loss] = []
    """Losses of the manifest itself."""


class ToolOut(Wire):
    """A tool in one of its versions, in canonical form."""

    server: str
    name: str
    qualified_name: str
    """`server__name`."""
    version: int
    declared_version: str | None
    """The version that the imported tool declared."""
    description: str
    input_schema: JsonObject
    output_schema: JsonObject | None
    idempotent: bool
    """Whether repeating a call is harmless; only such tools are retried."""
    annotations: Annotations
    param_order: list[str]
    """Order of positional arguments."""
    category: str | None
    tags: list[str]
    visible: bool
    """Whether lists for models contain the tool."""
    deprecated: bool
    deprecation_message: str | None
    handler: JsonObject
    """How the tool is executed."""
    dispatchable: bool
    """Whether Heddle can execute the tool."""
    source_dialect: str
    """The dialect of the import."""
    extras: dict[str, JsonObject]
    """Fields of the source dialect without a canonical counterpart."""
    spec_hash: str
    """Hash of the versioned content."""
    created: datetime
    created_by: str | None
    """Email; null if Heddle or the operator did it."""
    modified: datetime
    modified_by: str | None
    """Email; null if Heddle or the operator did it."""


class ToolPageOut(Page[ToolOut]):
    """A page of tools."""


class OmittedOut(Wire):
    """A tool that the dialect of a list cannot express."""

    qualified_name: str
    reason: str
    """Machine-readable reason."""
    message: str


class DialectPageOut(Page[JsonObject]):
    """A page of tools in a dialect, ready for a model's tool list."""

    losses: dict[str, list[Loss]]
    """What the dialect cannot express unchanged, by qualified name; tools without a loss are absent."""
    omitted: list[OmittedOut]
    """Tools that the dialect cannot express, or whose name there is another tool's."""


class DialectToolOut(Wire):
    """One tool in a dialect."""

    dialect: str
    qualified_name: str
    version: int
    tool: JsonObject
    """The tool in the dialect."""
    losses: list[Loss]
    """What the dialect cannot express unchanged."""


class ToolListOut(RootModel[ToolPageOut | DialectPageOut]):
    """The tool list, without and with a dialect."""


class OneToolOut(RootModel[ToolOut | DialectToolOut]):
    """A tool, without and with a dialect."""


class ToolVersionOut(Wire):
    """A version without its content."""

    version: int
    spec_hash: str
    """Hash of the versioned content."""
    source_dialect: str
    created: datetime
    created_by: str | None


class ToolVersionPageOut(Page[ToolVersionOut]):
    """A page of versions, newest first."""


class ToolPatch(Patch):
    """Changes in place, without a new version (C51)."""

    visible: bool = UNCHANGED
    """Whether lists for models contain the tool."""
    tags: Words = UNCHANGED
    """Replaces all tags."""
    deprecated: bool = UNCHANGED
    deprecation_message: str | None = UNCHANGED
    """For example, what to use instead."""
    handler: Handler = UNCHANGED
    """How the tool is executed. Only its creator, org admins and platform admins can change it."""

    @field_validator("tags")
    @classmethod
    def _unique(cls, tags: list[str]) -> list[str]:
        return list(dict.fromkeys(tags))


class ServerPatch(Patch):
    """Changes of a server."""

    description: str = UNCHANGED
    version: Annotated[str, StringConstraints(min_length=1, max_length=64)] = UNCHANGED
    capabilities: Words = UNCHANGED
    """Free-form words, for manifests."""


class ServerOut(Wire):
    """A server."""

    name: str
    description: str
    version: str
    capabilities: list[str]
    source_dialect: str
    """The dialect of the first import."""
    tool_count: int
    readonly: bool
    """True for the built-in servers."""
    created: datetime
    created_by: str | None
    modified: datetime
    modified_by: str | None


class ServerPageOut(Page[ServerOut]):
    """A page of servers."""


class ManifestOut(Wire):
    """A server as a manifest."""

    dialect: str
    manifest: JsonObject
    losses: list[Loss]
    """What the manifest cannot express; each path begins with the tool's name."""
