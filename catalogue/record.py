"""The canonical record of a tool, and what a dialect cannot hold of it (catalogue 1.1, 1.12).

Plain data: nothing here knows the database.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from core.canonical import fingerprint
from core.wire import Wire

JsonObject = dict[str, Any]
LossReason = Literal["no_slot", "renamed", "truncated", "flattened", "defaulted", "inferred", "wrapped", "not_portable"]


class Annotations(Wire):
    """Hints about what a tool does; null is unknown and never "no"."""

    title: str | None = None
    read_only: bool | None = None
    cache_mutating: bool | None = None
    destructive: bool | None = None
    open_world: bool | None = None


class Content(Wire):
    """Everything of a tool that is versioned: a change of any of it makes the next version."""

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
    def spec_hash(self) -> str:
        """By which a change is noticed (C2)."""
        return fingerprint(self.model_dump())


_ARGUMENTS = frozenset({"/inputSchema", "/input_schema", "/parameters"})
"""Where the dialects have the schema of a tool's arguments."""


class Loss(Wire):
    """Something that a dialect could not take over as it was.

    `path` is a JSON pointer into what was read or, on export, into the canonical record; `preserved` says that an
    export to the dialect the tool came from brings it back (C47).
    """

    path: str
    reason: LossReason
    detail: str
    preserved: bool

    @property
    def is_arguments(self) -> bool:
        """Whether it is the schema of the arguments, which was read as none: it stands where another dialect has it."""
        return self.reason == "no_slot" and self.path.removeprefix("/function") in _ARGUMENTS

    @property
    def is_gone(self) -> bool:
        """Whether nothing is left of it there; else it is there in another way."""
        return self.reason in ("no_slot", "not_portable")


@dataclass(frozen=True, slots=True)
class Imported:
    """A foreign tool in canonical form. `server` where the tool itself names one.

    `unversioned` holds what the source says of tags, visible, deprecated, deprecation_message and handler; where it is
    silent, what is stored stays.
    """

    name: str
    content: Content
    unversioned: JsonObject = field(default_factory=dict)
    server: str | None = None
    losses: list[Loss] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Stored:
    """A catalogue tool with one of its versions, as a dialect writes it."""

    server: str
    name: str
    content: Content
    tags: list[str] = field(default_factory=list)
    visible: bool = True
    deprecated: bool = False
    deprecation_message: str | None = None


@dataclass(frozen=True, slots=True)
class Exported:
    """A tool in a dialect under its name there, with what it lost on the way."""

    name: str
    tool: JsonObject
    losses: list[Loss]


class ToolProblem(Exception):
    """Why a foreign tool cannot be read, or a canonical one not be written: a reason, where, and one sentence."""

    def __init__(self, reason: str, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.reason = reason
        self.path = path
        self.message = message
