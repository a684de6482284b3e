"""Request and response bodies of the thread routes (spec 2.2 to 2.4, 3)."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from django.conf import settings
from pydantic import (
    AfterValidator,
    AliasChoices,
    BeforeValidator,
    Field,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)
from typing_extensions import TypedDict

from core import paging
from core.storable import MAX_INTEGER
from core.wire import Body, Exact, Page, Seen, Spelling, Wire
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
from threads.goals import MAX_PER_TURN
from threads.status import ThreadStatus, Visibility

# Limits of a request; reasons in docs/decisions/014-limits.md.
MAX_MESSAGES: Final = 1_000
MAX_BLOCKS: Final = 5_000
"""In all messages of a request together."""
MAX_RESULTS: Final = 1_000
MAX_INVOKED_SKILLS: Final = 20
MAX_AVAILABLE_SKILLS: Final = 100
MAX_PROMPT: Final = 1_000_000
MAX_SKILL_CHARACTERS: Final = 4_000_000
"""Total length of the skill bodies in one list: a small request that names skills must not store gigabytes."""
MAX_CLIENT_TOOLS: Final = 64
MAX_SCHEMAS_BYTES: Final = 512 * 1024
"""Total size of the client tool schemas in one request. They are stored, and sent to the model in every turn."""
MAX_SCHEMA_PARTS: Final = 16_000
"""Total of their subschemas. Checking this many takes four seconds; 512 KiB of real schemas have 7,000."""
MAX_SUBJECTS: Final = 100
ToolName = Annotated[str, StringConstraints(max_length=MAX_NAME)]


# Requests


def _fitting(block: Block) -> Block:
    if isinstance(block, TextBlock) and len(block.text) > settings.TEXT_CHARACTERS:
        most, length = settings.TEXT_CHARACTERS, len(block.text)
        raise ValueError(f"text must have at most {most:,} characters, not {length:,}")
    if isinstance(block, ToolUseBlock | ToolResultBlock):
        for field in ("tool_name", "tool_use_id"):
            if len(getattr(block, field)) > MAX_NAME:
                raise ValueError(f"{field}: must not have more than {MAX_NAME} characters")
    return block


def _few_blocks(messages: Any) -> Any:
    """Count the blocks before any of them is validated."""
    if isinstance(messages, list):
        contents = (message.get("content") for message in messages if isinstance(message, dict))
        if sum(len(content) for content in contents if isinstance(content, list)) > MAX_BLOCKS:
            raise ValueError(f"must not have more than {MAX_BLOCKS} content blocks together")
    return messages


class MessageIn(Body):
    """A message of a request. The server sets its status and time (spec 3.2).

    An answer is stored as given (B2): models write blank texts between others, and empty answers.
    """

    role: Literal["user", "assistant"]
    content: Annotated[list[Annotated[Block, AfterValidator(_fitting)]], Field(max_length=MAX_BLOCKS)]
    """Content blocks in order; a user message holds at least one, only text and client_context."""

    @model_validator(mode="after")
    def _people_write_text(self) -> "MessageIn":
        if self.role != "user":
            return self
        if not self.content:
            raise ValueError("content: must have at least 1 item")
        if not all(isinstance(block, TextBlock | ClientContextBlock) for block in self.content):
            raise ValueError("content: a user message holds text only; send tool results to the tool-results route")
        blank = (
            place for place, block in enumerate(self.content) if isinstance(block, TextBlock) and not block.text.strip()
        )
        if (place := next(blank, None)) is not None:
            raise ValueError(f"content.{place}: text must not be blank")
        return self

    @property
    def has_text(self) -> bool:
        """Whether the message contains a text block."""
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
    """A time window that every server tool receives; both ends are inclusive."""

    start_time: int | None = None
    """Nanoseconds since 1970-01-01 UTC; null for no lower bound."""
    end_time: int | None = None
    """Nanoseconds since 1970-01-01 UTC; null for no upper bound."""

    @model_validator(mode="after")
    def _in_order(self) -> "AnalysisScope":
        if self.start_time is not None and self.end_time is not None and self.start_time > self.end_time:
            raise ValueError("start_time must not be after end_time")
        return self


class ClientToolIn(Body):
    """A tool that the client runs: the thread waits for its result (spec 3.6)."""

    name: Annotated[
        str,
        Spelling(
            r"[A-Za-z][A-Za-z0-9_]{0,63}", "must be a letter and then letters, digits and _, 64 characters at most"
        ),
    ]
    description: Annotated[str, StringConstraints(max_length=20_000)]
    """What the tool does; the model reads it."""
    input_schema: JsonObject
    """JSON Schema of the arguments."""


SystemPrompt = Annotated[str, StringConstraints(max_length=MAX_PROMPT)]
ClientTools = Annotated[list[ClientToolIn], Field(max_length=MAX_CLIENT_TOOLS)]


class InvokedSkillIn(Body):
    """A skill and its version."""

    skill_id: str
    version: Annotated[int, Field(ge=1, le=MAX_INTEGER)] | None = None
    """Absent or null: the highest version."""


# The values are checked one by one by `threads.goals`, which names what is wrong in each.
_GOAL_TYPES: Final = ("dataset_summary", "dataset_triage", "create_events", "structured_output", "checklist")
_Declaration = Annotated[
    Any,
    WithJsonSchema(
        {
            "type": "object",
            "required": ["goal_type"],
            "properties": {"goal_type": {"type": "string", "enum": [*_GOAL_TYPES]}},
        }
    ),
]


class _TurnIn(Body):
    """The fields that start and send share."""

    client_context: Annotated[
        ViewingContext | None, Field(validation_alias=AliasChoices("client_context", "context"))
    ] = None
    """What the user's screen shows. The older name `context` is read if this key is absent (B19, spec 1.6)."""
    client_tools: ClientTools | None = None
    """Tools to add to the thread; one with a known name replaces it. They stay for later turns."""
    analysis_scope: AnalysisScope | None = None
    """Replaces the scope of the thread for this and later turns; null keeps it."""
    goals: Annotated[list[_Declaration], Field(max_length=MAX_PER_TURN)] | None = None
    """At most 5 objects, each with `goal_type` and the fields of that type; the agent must achieve all of them."""
    invoke_skills: Annotated[list[InvokedSkillIn], Field(max_length=MAX_INVOKED_SKILLS)] = []
    """Skills to load before the agent answers."""


class StartIn(_TurnIn):
    """A start request (spec 2.2). `world_id` is an extension of Heddle."""

    messages: Annotated[list[MessageIn], Field(max_length=MAX_MESSAGES), BeforeValidator(_few_blocks)] = []
    """Messages to begin with, in order; may be empty if there are goals or invoked skills."""
    system_prompt: SystemPrompt | None = None
    model_profile: str | None = None
    """Id of a model profile; null for the default one."""
    available_skills: Annotated[list[InvokedSkillIn], Field(max_length=MAX_AVAILABLE_SKILLS)] | None = None
    """Skills that the agent may load; null for the caller's subscribed skills."""
    visibility: Literal["private", "org"] = "private"
    """`private`: only the owner and platform admins; `org`: every member of the org."""
    world_id: str | None = None
    """Id of a world (simulated environment): server tools are simulated there instead of run."""

    @model_validator(mode="after")
    def _something_to_do(self) -> "StartIn":
        if not (self.messages or self.goals or self.invoke_skills):
            raise ValueError("at least one of messages, goals and invoke_skills must not be empty")
        if self.goals and self.messages and not self.invoke_skills and not any(m.has_text for m in self.messages):
            raise ValueError("messages: with goals, at least one message must hold text")
        ids = [skill.skill_id for skill in self.available_skills or []]
        if len(ids) != len(set(ids)):
            raise ValueError("available_skills: a skill must not be listed twice")
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
    """The result of one client tool use (spec 3.6)."""

    tool_use_id: ToolName
    """Id of the pending tool use."""
    tool_name: ToolName
    """Name of the tool in that use."""
    runtime_ms: Annotated[int, Field(ge=0, le=MAX_INTEGER)]
    """Runtime of the tool in milliseconds."""
    status: Literal["success", "error", "declined"]
    """`declined`: the user or program refused to run the tool."""
    output: JsonObject | None = None
    """Result, error or reason as a JSON object."""


class ToolResultsIn(Body):
    """A tool-results request (spec 2.4)."""

    tool_results: Annotated[list[ClientToolResultIn], Field(max_length=MAX_RESULTS)]
    """Results of pending tool uses; the turn resumes after the last one."""
    client_tools: ClientTools | None = None
    """Tools to add to the thread, or to replace by name."""

    @model_validator(mode="after")
    def _each_once(self) -> "ToolResultsIn":
        ids = [result.tool_use_id for result in self.tool_results]
        if len(ids) != len(set(ids)):
            raise ValueError("tool_results: a tool_use_id must not be listed twice")
        return self


class ForkIn(Body):
    """A fork request (spec 2.5). `world_id` is an extension of Heddle."""

    message_sequence_num: int
    """Index of the last message to copy."""
    world_id: str | None = None
    """World that simulates the fork's tools; absent: the world of the source, null: none, tools really run."""


class RerunIn(Exact):
    """A rerun request: which answer to run again, and with which skills, tools, model and system prompt."""

    message_sequence_num: int
    """Index of the answer to run again, or of the request itself."""
    skills: Literal["recorded", "latest"] = "recorded"
    """`recorded`: the versions the agent had; `latest`: the latest versions, also of skills that are new since then."""
    tools: Literal["recorded", "live"] = "recorded"
    """`recorded`: recorded results, new calls of read-only tools only; `live`: every call is really made."""
    model_profile: str | None = None
    """Id of a model profile; null for the one of the thread."""
    system_prompt: SystemPrompt | None = None
    """Replaces that of the thread, if not null; empty for none."""
    prompt: Literal["recorded", "latest"] = "recorded"
    """`latest`: the system prompt that the agent has now from which the thread was launched, if it was."""

    @model_validator(mode="after")
    def _one_prompt(self) -> "RerunIn":
        if self.system_prompt is not None and self.prompt == "latest":
            raise ValueError("prompt: must not be latest together with a system_prompt")
        return self


class VisibilityIn(Body):
    """Who can read a thread besides its owner and platform admins."""

    visibility: Literal["private", "org"]


class PinIn(Body):
    """Whether a thread is pinned to the top of the caller's list."""

    pinned: bool


class TitlePatch(Exact):
    """A new title (H11). It cannot be null: in a delta, null means that the title has not changed."""

    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200), Seen]


class SubjectIn(Exact):
    """An external entity that the thread is about."""

    association_id: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    """Id of the entity."""
    note: Annotated[str, StringConstraints(max_length=2000)]
    """What the entity has to do with the thread."""


class SearchIn(Exact):
    """A search for threads (H2); every field is optional."""

    query: Annotated[str, StringConstraints(max_length=500)] | None = None
    """Words in the title or in a user message."""
    status: Annotated[ThreadStatus, Field(strict=False)] | None = None
    created_by: str | None = None
    """E-mail address of the owner."""
    created_from_agent_id: str | None = None
    association_id: str | None = None
    """Id of a subject of the thread."""
    visibility: Annotated[Visibility, Field(strict=False)] | None = None
    limit: Annotated[int, Field(ge=1, le=paging.MAX_LIMIT)] | None = None
    """By default 50."""
    page_token: str | None = None
    """`next_token` of the previous page."""
    q: str | None = None
    """A query in the syntax of the thread list; narrows the other filters further, and may set the order of what is
    not pinned. An extension of Heddle.
    """


# Responses


class MessageOut(TypedDict):
    """A message as every reader gets it, without raw tool payloads (H4)."""

    role: str
    """`user`, `assistant`, or `roboto` for tool results."""
    content: list[JsonObject]
    """Content blocks in order, told apart by `content_type`."""
    status: str
    """`generating` while the message is written, then `completed`, `failed` or `cancelled`."""
    created: datetime


class GoalOut(Wire):
    """A goal and its status (spec 3.8)."""

    goal_type: str
    goal_data: JsonObject
    """The declaration of the goal, complete."""
    status: str
    """`pending`, `achieved` or `failed`."""
    message_sequence_num: int
    """Index of the message that declared the goal."""
    created: datetime
    concluded_at: datetime | None
    """When the goal was achieved or failed."""
    achieve_tool_use_id: str | None
    """Id of the latest tool use that tried to achieve the goal."""


class ThreadOut(Wire):
    """The thread record (spec 3.1)."""

    thread_id: str
    created: datetime
    created_by: str
    """E-mail address of the owner."""
    created_by_principal: str | None
    """`user:` and the e-mail address of the owner."""
    org_id: str
    messages: list[MessageOut]
    """All messages in order; empty in lists and if `load_messages` is false."""
    continuation_token: str
    """Pass it to the delta route as `next_token` to get later changes."""
    status: str
    """Whose turn it is: `user_turn`, `roboto_turn` (the agent answers), `client_tool_turn`, or `goals_failed`."""
    activity: str | None
    """Always null: no agent here works out of sight."""
    title: str | None
    model_profile: str | None
    """Id of the model profile."""
    forked_from_thread_id: str | None
    """The source of a fork."""
    forked_from_message_sequence_num: int | None
    """Index of the last message copied from the source."""
    visibility: str
    """`private`: owner and platform admins only; `org`: every member of the org."""
    created_from_agent_id: str | None
    """The agent that the thread was launched from."""
    created_from_trigger_id: str | None
    origin: str | None
    """The surface that owns the thread; one other than null or `api` is read-only here."""
    pinned_at: datetime | None = None
    """When the caller pinned the thread; set in lists only."""
    goals: list[GoalOut] | None = None
    """All goals in order of declaration; null in lists."""
    tasks: list[JsonObject] | None = None
    """Always empty; null in lists."""


class DeltaOut(Wire):
    """Changes since a token (spec 3.7)."""

    messages_by_idx: dict[str, MessageOut] = {}
    """Changed messages by index; `content` holds only the blocks that are new."""
    continuation_token: str
    """The `next_token` of the next request."""
    reset_from_message_sequence_num: int | None = None
    """Drop every message from this index on before applying the changes."""
    status: str | None = None
    activity: str | None = None
    """Always null."""
    title: str | None = None
    """Null if unchanged."""
    goals: list[GoalOut] | None = None
    """All goals; null if unchanged."""
    tasks: list[JsonObject] | None = None
    """Always null."""


class StatusOut(Wire):
    """The response of a POST whose body the SDK does not read."""

    thread_id: str
    status: str


class ToolDetailOut(Wire):
    """A tool use and its result with raw payloads (H4)."""

    tool_use: JsonObject
    """The tool_use block."""
    tool_result: JsonObject | None
    """The tool_result block; null if there is none yet."""


class SubjectOut(Wire):
    """An external entity that the thread is about."""

    association_id: str
    """Id of the entity."""
    note: str
    """What the entity has to do with the thread."""


class ProfileOut(Wire):
    """A model profile (H9)."""

    id: str
    label: str
    description: str
    is_default: bool


class ThreadPageOut(Page[ThreadOut]):
    """A page of threads."""
