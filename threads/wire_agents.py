"""Request and response bodies of agents, the request templates that threads are launched from (spec 3.11)."""

from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints, model_validator

from core.wire import UNCHANGED, Body, Change, Page, Seen, Spelling, Wire
from threads.content import JsonObject
from threads.wire import AnalysisScope

MAX_VARIABLES: Final = 100
"""Why: docs/decisions/014-limits.md."""


class VariableIn(Body):
    """A variable of an agent's template (spec 3.11)."""

    name: Annotated[
        str,
        StringConstraints(max_length=200),
        Spelling(r"[a-zA-Z_][a-zA-Z0-9_.]*", "must be a letter or _ and then letters, digits, _ and dots"),
    ]
    type: Literal["string", "dataset_id", "device_id", "collection_id"] = "string"
    description: str | None = None
    required: bool = True
    default: str | None = None
    """Value if a launch gives none; required if `required` is false."""
    collection_content_type: Literal["dataset", "event", "file", "session"] | None = None
    """What the collection contains; only with type `collection_id`."""

    @model_validator(mode="after")
    def _whole(self) -> "VariableIn":
        if not self.required and self.default is None:
            raise ValueError("default: is required for a variable that is not required")
        if self.collection_content_type is not None and self.type != "collection_id":
            raise ValueError("collection_content_type: is only allowed with the type collection_id")
        return self


AgentName = Annotated[
    str,
    StringConstraints(max_length=200),
    Spelling(r"[^\x00-\x1f\x7f]+", "must be one line and must not be empty"),
    Seen,
]
"""On one line, because a path can contain it (G3)."""


class AgentIn(Body):
    """A new agent (G1)."""

    name: AgentName
    """Unique in the org."""
    description: Annotated[str, StringConstraints(max_length=20_000)] | None = None
    request_template: JsonObject
    """A start request; string values may contain placeholders such as {{name}}."""
    variables: Annotated[list[VariableIn], Field(max_length=MAX_VARIABLES)] = []
    """One for each placeholder in the template."""


class AgentPatch(Change, Body):
    """A change of an agent (G5); absent fields stay as they are."""

    name: AgentName = UNCHANGED
    description: Annotated[str, StringConstraints(max_length=20_000)] | None = UNCHANGED
    request_template: JsonObject = UNCHANGED
    """A start request; string values may contain placeholders such as {{name}}."""
    variables: Annotated[list[VariableIn], Field(max_length=MAX_VARIABLES)] = UNCHANGED
    """One for each placeholder in the template; replaces the whole list."""


class LaunchIn(Body):
    """Values for an agent's variables (G7)."""

    values: Annotated[dict[str, str], Field(max_length=MAX_VARIABLES)] = {}
    """Values by variable name."""
    visibility: Literal["private", "org"] = "org"
    """Who can read the thread; overrides the template."""
    analysis_scope: AnalysisScope | None = None
    """Each end given here overrides that of the template."""


class AgentOut(Wire):
    """An agent (spec 3.11)."""

    agent_id: str
    org_id: str
    name: str
    description: str | None
    request_template: JsonObject
    """A start request; string values may contain placeholders such as {{name}}."""
    variables: list[JsonObject]
    created: datetime
    created_by: str
    """E-mail address of the author."""
    modified: datetime
    modified_by: str
    """E-mail address of the last editor."""


class AgentPageOut(Page[AgentOut]):
    """A page of agents."""


class AgentVersionOut(Wire):
    """What an agent was made, or changed to."""

    agent_id: str
    version: int
    """From 1; the highest is what the agent is now."""
    name: str
    description: str | None
    request_template: JsonObject
    """A start request; string values may contain placeholders such as {{name}}."""
    variables: list[JsonObject]
    created: datetime
    """When it was made."""
    created_by: str
    """E-mail address of who made it."""


class AgentVersionPageOut(Page[AgentVersionOut]):
    """A page of an agent's versions."""
