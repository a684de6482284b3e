"""What the thread routes take and give (spec 2.2 to 2.4, 3). Spellings that the wire fixes are mapped here, once."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from django.conf import settings
from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field, StringConstraints, model_validator
from typing_extensions import TypedDict

from core.wire import Body, Exact, Page, Patch, Spelling, Wire
from threads.content import (
    MAX_NAME,
    Block,
    ClientContextBlock,
    JsonObject,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
    ViewingContext,
)
from threads.status import ThreadStatus, Visibility

# What a request may hold, and why: docs/decisions/014-limits.md.
MAX_MESSAGES: Final = 1_000
MAX_BLOCKS: Final = 5_000
"""Of all messages of a request together."""
MAX_RESULTS: Final = 1_000
MAX_INVOKED_SKILLS: Final = 20
MAX_AVAILABLE_SKILLS: Final = 100
MAX_SKILL_CHARACTERS: Final = 4_000_000
"""In the bodies of the skills of one list: a few bytes that name them must not store and answer gigabytes."""
MAX_CLIENT_TOOLS: Final = 64
MAX_SCHEMAS_BYTES: Final = 512 * 1024
"""Of the client tools of one request. A check takes a second for so much."""
MAX_SUBJECTS: Final = 100
MAX_VARIABLES: Final = 100
ToolName = Annotated[str, StringConstraints(max_length=MAX_NAME)]


# What comes in


def _fitting(block: Block) -> Block:
    if isinstance(block, TextBlock):
        if not block.text.strip():
            raise ValueError("text must not be blank")
        if len(block.text) > settings.TEXT_CHARACTERS:
            raise ValueError(f"text must not have more than {settings.TEXT_CHARACTERS} characters")
    if isinstance(block, ToolUseBlock | ToolResultBlock):
        for field in ("tool_name", "tool_use_id"):
            if len(getattr(block, field)) > MAX_NAME:
                raise ValueError(f"{field}: must not have more than {MAX_NAME} characters")
    return block


def _few_blocks(messages: Any) -> Any:
    """Counted before any of them is looked at."""
    if isinstance(messages, list):
        contents = (message.get("content") for message in messages if isinstance(message, dict))
        if sum(len(content) for content in contents if isinstance(content, list)) > MAX_BLOCKS:
            raise ValueError(f"must not have more than {MAX_BLOCKS} content blocks together")
    return messages


class MessageIn(Body):
    """A message of a request. Status and time are the server's to set (spec 3.2)."""

    role: Literal["user", "assistant"]
    content: Annotated[list[Annotated[Block, AfterValidator(_fitting)]], Field(min_length=1, max_length=MAX_BLOCKS)]

    @model_validator(mode="after")
    def _people_write_text(self) -> "MessageIn":
        if self.role == "user" and not all(isinstance(block, TextBlock | ClientContextBlock) for block in self.content):
            raise ValueError("content: a user message holds text only; tool results have a route of their own")
        return self

    @property
    def has_text(self) -> bool:
        """Whether there is a text block in it."""
        return any(isinstance(block, TextBlock) for block in self.content)


class SentMessageIn(MessageIn):
    """A message of a send request: from the user, text only (B38 to B41)."""

    role: Literal["user"]

    @model_validator(mode="after")
    def _text_only(self) -> "SentMessageIn":
        if not all(isinstance(block, TextBlock) for block in self.content):
            raise ValueError("content: a sent message holds text blocks only")
        return self


class AnalysisScope(Body):
    """A time window, inclusive, in nanoseconds since the epoch; handed to every server tool."""

    start_time: int | None = None
    end_time: int | None = None

    @model_validator(mode="after")
    def _in_order(self) -> "AnalysisScope":
        if self.start_time is not None and self.end_time is not None and self.start_time > self.end_time:
            raise ValueError("start_time must not be after end_time")
        return self


class ClientToolIn(Body):
    """A tool that the caller answers (spec 3.6)."""

    name: Annotated[
        str,
        Spelling(
            r"[A-Za-z][A-Za-z0-9_]{0,63}", "must be a letter and then letters, digits and _, 64 characters at most"
        ),
    ]
    description: Annotated[str, StringConstraints(max_length=20_000)]
    input_schema: JsonObject


ClientTools = Annotated[list[ClientToolIn], Field(max_length=MAX_CLIENT_TOOLS)]


class InvokedSkillIn(Body):
    """A skill to put into this turn."""

    skill_id: str
    version: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None


class _TurnIn(Body):
    """What start and send have in common."""

    client_context: Annotated[
        ViewingContext | None, Field(validation_alias=AliasChoices("client_context", "context"))
    ] = None
    """`context` stands for it, unless it is there, even as null (B19, spec 1.6)."""
    client_tools: ClientTools | None = None
    analysis_scope: AnalysisScope | None = None
    goals: Annotated[list[Any], Field(max_length=5)] | None = None
    invoke_skills: Annotated[list[InvokedSkillIn], Field(max_length=MAX_INVOKED_SKILLS)] = []


class StartIn(_TurnIn):
    """A start request (spec 2.2). `world_id` is ours: the server's tools are played there instead of run."""

    messages: Annotated[list[MessageIn], Field(max_length=MAX_MESSAGES), BeforeValidator(_few_blocks)] = []
    system_prompt: Annotated[str, StringConstraints(max_length=1_000_000)] | None = None
    model_profile: str | None = None
    available_skills: Annotated[list[InvokedSkillIn], Field(max_length=MAX_AVAILABLE_SKILLS)] | None = None
    visibility: Literal["private", "org"] = "private"
    world_id: str | None = None

    @model_validator(mode="after")
    def _something_to_do(self) -> "StartIn":
        if not (self.messages or self.goals or self.invoke_skills):
            raise ValueError("at least one of messages, goals and invoke_skills must not be empty")
        if self.goals and self.messages and not self.invoke_skills and not any(m.has_text for m in self.messages):
            raise ValueError("messages: with goals, some message must hold text")
        ids = [skill.skill_id for skill in self.available_skills or []]
        if len(ids) != len(set(ids)):
            raise ValueError("available_skills: a skill must not stand there twice")
        return self


class SendIn(_TurnIn):
    """A send request (spec 2.3)."""

    message: SentMessageIn | None = None

    @model_validator(mode="after")
    def _something_to_do(self) -> "SendIn":
        if not (self.message or self.goals or self.invoke_skills):
            raise ValueError("at least one of message, goals and invoke_skills must not be empty")
        return self


class ClientToolResultIn(Body):
    """The answer to one client tool use (spec 3.6)."""

    tool_use_id: ToolName
    tool_name: ToolName
    runtime_ms: Annotated[int, Field(ge=0, le=2**31 - 1)]
    status: Literal["success", "error", "declined"]
    output: JsonObject | None = None


class ToolResultsIn(Body):
    """A tool-results request (spec 2.4)."""

    tool_results: Annotated[list[ClientToolResultIn], Field(max_length=MAX_RESULTS)]
    client_tools: ClientTools | None = None

    @model_validator(mode="after")
    def _each_once(self) -> "ToolResultsIn":
        ids = [result.tool_use_id for result in self.tool_results]
        if len(ids) != len(set(ids)):
            raise ValueError("tool_results: a tool_use_id must not stand there twice")
        return self


class ForkIn(Body):
    """A fork request (spec 2.5). `world_id` is ours: where the fork's tools are played.

    Without it the fork stays in its source's world; null leaves it.
    """

    message_sequence_num: int
    world_id: str | None = None


class RerunIn(Exact):
    """Which answer is to be run again, or by its own number which request, and with what.

    `skills`: those that the agent had then, or their latest versions. `tools`: calls that were made then are answered
    as they were and new ones only where the tool only reads, or all of them are really made. Without `model_profile` it
    is the thread's.
    """

    message_sequence_num: int
    skills: Literal["recorded", "latest"] = "recorded"
    tools: Literal["recorded", "live"] = "recorded"
    model_profile: str | None = None


class VisibilityIn(Body):
    visibility: Literal["private", "org"]


class PinIn(Body):
    pinned: bool


class TitlePatch(Patch):
    """Another title (H11). Not null: a delta could not tell of it, where null means the one that is held."""

    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)] = ""


class SubjectIn(Exact):
    """An outside entity and what it has to do with the thread."""

    association_id: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    note: Annotated[str, StringConstraints(max_length=2000)]


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
    collection_content_type: Literal["dataset", "event", "file", "session"] | None = None

    @model_validator(mode="after")
    def _whole(self) -> "VariableIn":
        if not self.required and self.default is None:
            raise ValueError("default: is needed for a variable that is not required")
        if self.collection_content_type is not None and self.type != "collection_id":
            raise ValueError("collection_content_type: goes with the type collection_id only")
        return self


AgentName = Annotated[
    str, StringConstraints(max_length=200), Spelling(r"[^\x00-\x1f\x7f]+", "must be one line, and not empty")
]
"""On one line, so that it can stand in a path (G3)."""


class AgentIn(Body):
    """A new agent (G1)."""

    name: AgentName
    description: Annotated[str, StringConstraints(max_length=20_000)] | None = None
    request_template: JsonObject
    variables: Annotated[list[VariableIn], Field(max_length=MAX_VARIABLES)] = []


class AgentPatch(Body):
    """A change of an agent (G5)."""

    name: AgentName | None = None
    description: Annotated[str, StringConstraints(max_length=20_000)] | None = None
    request_template: JsonObject | None = None
    variables: Annotated[list[VariableIn], Field(max_length=MAX_VARIABLES)] | None = None


class LaunchIn(Body):
    """Values for an agent's variables (G7)."""

    values: Annotated[dict[str, str], Field(max_length=MAX_VARIABLES)] = {}
    visibility: Literal["private", "org"] = "org"
    analysis_scope: AnalysisScope | None = None


class SearchIn(Exact):
    """Search (H2); every field optional."""

    query: Annotated[str, StringConstraints(max_length=500)] | None = None
    status: Annotated[ThreadStatus, Field(strict=False)] | None = None
    created_by: str | None = None
    created_from_agent_id: str | None = None
    association_id: str | None = None
    visibility: Annotated[Visibility, Field(strict=False)] | None = None
    limit: int | None = None
    page_token: str | None = None
    q: str | None = None
    """Ours: a line of the list's grammar, which narrows the others further."""


class ConversationsIn(Exact):
    """An import (spec 9)."""

    format: Literal["openai", "anthropic", "data_harness", "roboto"]
    conversations: Annotated[list[Any], Field(min_length=1, max_length=500)]
    visibility: Literal["private", "org"] = "private"
    owner: str | None = None


# What goes out


class MessageOut(TypedDict):
    """A message as every reader gets it; raw tool payloads are not in it (H4)."""

    role: str
    content: list[JsonObject]
    status: str
    created: datetime


class GoalOut(Wire):
    """A goal and where it stands (spec 3.8)."""

    goal_type: str
    goal_data: JsonObject
    status: str
    message_sequence_num: int
    created: datetime
    concluded_at: datetime | None
    achieve_tool_use_id: str | None


class ThreadOut(Wire):
    """The thread record (spec 3.1)."""

    thread_id: str
    created: datetime
    created_by: str
    created_by_principal: str | None
    org_id: str
    messages: list[MessageOut]
    continuation_token: str
    status: str
    activity: str | None
    title: str | None
    model_profile: str | None
    forked_from_thread_id: str | None
    forked_from_message_sequence_num: int | None
    visibility: str
    created_from_agent_id: str | None
    created_from_trigger_id: str | None
    origin: str | None
    pinned_at: datetime | None = None
    goals: list[GoalOut] | None = None
    tasks: list[JsonObject] | None = None


class DeltaOut(Wire):
    """What is new since a token (spec 3.7)."""

    messages_by_idx: dict[str, MessageOut] = {}
    continuation_token: str
    reset_from_message_sequence_num: int | None = None
    status: str | None = None
    activity: str | None = None
    title: str | None = None
    goals: list[GoalOut] | None = None
    tasks: list[JsonObject] | None = None


class StatusOut(Wire):
    """The answer to a POST whose body the SDK does not read."""

    thread_id: str
    status: str


class ToolDetailOut(Wire):
    """A tool use and its result, raw payloads included (H4)."""

    tool_use: JsonObject
    tool_result: JsonObject | None


class SubjectOut(Wire):
    association_id: str
    note: str


class ProfileOut(Wire):
    """A model profile (H9)."""

    id: str
    label: str
    description: str
    is_default: bool


class ImportedThreadOut(Wire):
    """What became of one conversation."""

    id: str | None
    thread_id: str | None
    outcome: Literal["created", "unchanged", "failed"]
    warnings: list[str]
    errors: list[JsonObject]


class ImportItemOut(ImportedThreadOut):
    """The same, with its place among those that were sent (B178): a bad one may have no id."""

    index: int


class ImportOut(Wire):
    items: list[ImportItemOut]
    counts: dict[str, int]


class ExportOut(Wire):
    """A thread in another system's format (spec 9)."""

    format: str
    system: str | None
    messages: list[JsonObject]
    losses: list[str]


class AgentOut(Wire):
    """An agent (spec 3.11)."""

    agent_id: str
    org_id: str
    name: str
    description: str | None
    request_template: JsonObject
    variables: list[JsonObject]
    created: datetime
    created_by: str
    modified: datetime
    modified_by: str


class AgentPageOut(Page[AgentOut]):
    """A page of agents."""


class ThreadPageOut(Page[ThreadOut]):
    """A page of threads."""
