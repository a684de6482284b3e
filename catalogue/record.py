"""The canonical record of a tool, and its losses in dialects (catalogue 1.1, 1.12).

Plain data, without the database.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from core.canonical import fingerprint
from core.wire import Wire

JsonObject = dict[str, Any]
LossReason = Literal["no_slot", "renamed", "truncated", "flattened", "defaulted", "inferred", "wrapped", "not_portable"]


class Annotations(Wire):
    """Hints about the effects of a tool; null means unknown, never "no"."""

    title: str | None = None
    read_only: bool | None = None
    cache_mutating: bool | None = None
    destructive: bool | None = None
    open_world: bool | None = None


class Content(Wire):
    """The versioned part of a tool: any change creates the next version."""

    declared_version: str | None = None
    description: str = ""
    input_schema: JsonObject
    output_schema: JsonObject | None = None
    idempotent: bool = False
    annotations: Annotations = Annotations()
    param_order: list[str] = []
    category: str | None = None
    source_dialect: str
    extras: dict[str, JsonObject] = {}

    @property
    def schemas(self) -> list[JsonObject]:
        """The schema of the arguments, and that of results if there is one."""
        return [self.input_schema] if self.output_schema is None else [self.input_schema, self.output_schema]

    @property
    def spec_hash(self) -> str:
        """The fingerprint that detects changes (C2)."""
        return fingerprint(self.model_dump())


_ARGUMENTS = frozenset({"/inputSchema", "/input_schema", "/parameters"})
"""Where dialects have the schema of the arguments."""


class Loss(Wire):
    """Something that a dialect could not express unchanged.

    `path` is a JSON pointer into the input or, on export, into the canonical record; `preserved`: an export to the
    source dialect restores it (C47).
    """

    path: str
    reason: LossReason
    detail: str
    preserved: bool

    @property
    def is_arguments(self) -> bool:
        """Whether the arguments' schema was lost, because it is where another dialect has it."""
        return self.reason == "no_slot" and self.path.removeprefix("/function") in _ARGUMENTS

    @property
    def is_gone(self) -> bool:
        """Whether it is lost completely; otherwise it is expressed differently."""
        return self.reason in ("no_slot", "not_portable")


@dataclass(frozen=True, slots=True)
class Imported:
    """An imported tool in canonical form. `server` is set if the tool itself names one.

    `unversioned` holds tags, visible, deprecated, deprecation_message and handler as far as the source has them; stored
    values stay otherwise. `spelled_out` is what the source says of them though it need not, like the extras: a default
    or a null, which an export to the same dialect writes again.
    """

    name: str
    content: Content
    unversioned: JsonObject = field(default_factory=dict)
    spelled_out: dict[str, JsonObject] = field(default_factory=dict)
    server: str | None = None
    losses: list[Loss] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Stored:
    """A catalogue tool in one of its versions, for export."""

    server: str
    name: str
    content: Content
    tags: list[str] = field(default_factory=list)
    visible: bool = True
    deprecated: bool = False
    deprecation_message: str | None = None
    spelled_out: dict[str, JsonObject] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Exported:
    """A tool in a dialect, with its name there and its losses."""

    name: str
    tool: JsonObject
    losses: list[Loss]


class ToolProblem(Exception):
    """A tool cannot be read from or written to a dialect: reason, path and a sentence."""

    def __init__(self, reason: str, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.reason = reason
        self.path = path
        self.message = message


class Unwritable(ToolProblem):
    """A tool cannot be written to a dialect because of a fault in Heddle, which is in its log."""

    def __init__(self, dialect: str) -> None:
        super().__init__("internal_error", "", f"Heddle failed to write this tool in {dialect}; its log says why")
