"""Reading a conversation: its frame, its parts, and warnings about everything that is not kept.

A dialect reads one message at a time into the draft. What cannot be read raises `DialectError` with its path; what can
be read only in part adds a warning with its path, so that nothing is dropped silently.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from core.visible import is_visible
from threads import content
from threads.content import MAX_NAME, BlockDict, JsonObject, Role
from threads.dialects.canonical import (
    MAX_CONVERSATION_DEPTH,
    MAX_DEPTH,
    UNKNOWN_TOOL,
    Conversation,
    DialectError,
    ParsedMessage,
    dotted,
    exact_object,
    exact_value,
    flaw,
    json_text,
    quoted,
    spelling,
)

ROOT = "conversation"
"""The path of the whole conversation."""
LATER_SYSTEM = "heddle.later_system"
DROPPED_PARTS = "heddle.dropped_parts"
MOST_MESSAGES, MOST_BLOCKS = 20_000, 100_000
"""Of one conversation: it is stored in one transaction, during which nobody else can write to SQLite."""
MAX_MILLISECONDS = 10**11
"""Three years, longer than any tool runs."""
YEARS = range(1970, 2201)
"""The same range as in search queries (`core.moments`)."""
TIME_KEYS = ("created", "created_at", "timestamp")
FRAME_KEYS = frozenset({"id", "messages", "system", "metadata", "created", "title"})
EXPORT_KEYS = frozenset({"format", "losses"})
"""Further keys that an export contains."""

PartReader = Callable[[JsonObject, str], BlockDict | None]


def _limit(count: int) -> None:
    if count > MOST_BLOCKS:
        raise DialectError("messages", f"has more than {MOST_BLOCKS:,} pieces of content, the most for an import")


@dataclass(slots=True)
class Draft:
    """A conversation while it is being read. `names` has the tool name of every use so far, by id.

    Pieces of content are counted as they come; one above `MOST_BLOCKS` raises `DialectError`.
    """

    frame: JsonObject
    messages: list[ParsedMessage] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    system: str | None = None
    names: dict[str, str] = field(default_factory=dict)
    open_uses: dict[str, str] = field(default_factory=dict)
    """The path of every use without a result so far, by id."""
    _opened: dict[str, deque[tuple[str, str]]] = field(default_factory=dict)
    """By tool name, and under "" for all, id and path of each use in order; those that are closed leave when met."""
    _uses: int = 0
    _pieces: int = 0
    later_system: list[JsonObject] = field(default_factory=list)
    dropped_parts: list[JsonObject] = field(default_factory=list)

    @classmethod
    def of(cls, conversation: object) -> "Draft":
        """Begin a draft; raises `DialectError` unless the conversation is plain data that can be stored."""
        if found := flaw(conversation, deepest=MAX_CONVERSATION_DEPTH):
            raise DialectError(dotted(found[0]) or ROOT, found[1])
        draft = cls(record(conversation, ROOT))
        draft.unkept(draft.frame, "", FRAME_KEYS | EXPORT_KEYS)
        if draft.frame.get("system") is not None:
            draft.system = draft.joined(draft.frame["system"], "system")
        return draft

    def source(self) -> Iterator[tuple[int, JsonObject]]:
        """The source messages with their index."""
        messages = sequence(self.frame.get("messages"), "messages")
        if not messages:
            raise DialectError("messages", "is empty")
        if len(messages) > MOST_MESSAGES:
            most = f"a thread can be imported with at most {MOST_MESSAGES:,}"
            raise DialectError("messages", f"has {len(messages):,} messages; {most}")
        for index, message in enumerate(messages):
            yield index, record(message, f"messages.{index}")

    def finish(self) -> Conversation:
        """The finished conversation; adds warnings about uses without a result."""
        origin_id, metadata = _origin_id(self.frame.get("id")), self._metadata()
        self._close_uses()
        return Conversation(
            origin_id=origin_id,
            system=self.system,
            messages=tuple(self.messages),
            metadata=metadata,
            created=moment(self.frame.get("created"), "created"),
            title=_title(self.frame.get("title")),
            warnings=tuple(self.warnings),
        )

    def warn(self, path: str, what: str) -> None:
        """Add a warning about something that was changed or dropped."""
        self.warnings.append(f"{path}: {what}" if path else what)

    def unkept(self, item: JsonObject, path: str, known: frozenset[str]) -> None:
        """Warn about unknown fields that are not empty."""
        for key, value in item.items():
            if key not in known and value not in (None, "", [], {}):
                self.warn(under(path, dotted((key,))), "is not kept")

    def drop(self, part: object, path: str, kind: str) -> None:
        """Store a part without a canonical block in the metadata."""
        self.warn(path, f"{kind} is not text, a tool use or a result; kept in the metadata only")
        self.dropped_parts.append({"path": path, "part": storable(part)})

    def system_message(self, index: int, value: object, role: str = "system") -> None:
        """Take the first message as the system prompt; store any other system message in the metadata.

        An export writes the prompt both next to the messages and into them, so an equal one is no conflict.
        """
        path = f"messages.{index}.content"
        prompt = self.joined(value, path)
        if index == 0 and self.system in (None, prompt):
            self.system = prompt
            return
        self.warn(f"messages.{index}", "is a later system message; kept in the metadata only")
        named = {} if role == "system" else {"role": role}
        self.later_system.append({"index": index, **named, "content": storable(value)})

    def add(self, index: int, role: Role, blocks: list[BlockDict], created: datetime | None) -> None:
        """Append a message. After a user message, open uses get no more results."""
        if role == "user":
            self._close_uses()
        if not blocks:
            self.warn(f"messages.{index}", "has no content")
        self._count(blocks)
        self.messages.append(ParsedMessage(role, blocks, created))

    def add_results(self, index: int, blocks: list[BlockDict], created: datetime | None) -> None:
        """Append results to the message of results before, or as a message if there is none."""
        if blocks and self.messages and self.messages[-1].role == "roboto":
            self._count(blocks)
            self.messages[-1].blocks.extend(blocks)
        else:
            self.add(index, "roboto", blocks, created)

    def split(self, index: int, placed: Sequence[tuple[str, BlockDict]], created: datetime | None) -> None:
        """Append a user message; its results become a separate message before its texts (B173)."""
        kinds = [block["content_type"] for _, block in placed]
        results = [block for _, block in placed if block["content_type"] == "tool_result"]
        texts = [block for _, block in placed if block["content_type"] != "tool_result"]
        if kinds != sorted(kinds, key=lambda kind: kind != "tool_result"):
            self.warn(f"messages.{index}.content", "has text before tool results; the results were moved to the front")
        if results:
            self.add(index, "roboto", results, created)
        if texts or not results:
            self.add(index, "user", texts, created)

    def text(self, value: object, path: str) -> BlockDict | None:
        """A text block; None for empty text."""
        spoken = string(value, path)
        if not spoken:
            self.warn(path, "is empty and was left out")
            return None
        return content.text(spoken)

    def use(self, block: BlockDict, path: str) -> BlockDict:
        """Register a tool use."""
        # Counted here too: the uses of a single message, which is added as a whole, may be too many.
        self._uses += 1
        _limit(self._uses)
        use_id = block["tool_use_id"]
        if use_id in self.names:
            self.warn(path, f"repeats the tool use id {quoted(use_id)}")
        self.names[use_id] = block["tool_name"]
        self.open_uses[use_id] = path
        for name in ("", block["tool_name"]):
            self._opened.setdefault(name, deque()).append((use_id, path))
        return block

    def result(self, block: BlockDict, path: str) -> BlockDict:
        """Register a tool result."""
        if self.open_uses.pop(block["tool_use_id"], None) is None:
            self.warn(path, f"has no open tool use {quoted(block['tool_use_id'])}")
        return block

    def first_open(self, name: str | None) -> str | None:
        """The id of the first use without a result, of that tool if it has a name."""
        opened = self._opened.get(name or "", deque())
        while opened and not self._is_open(*opened[0]):
            opened.popleft()
        return opened[0][0] if opened else None

    def latest_open(self, name: str) -> str | None:
        """The id of the latest use of that tool without a result."""
        opened = self._opened.get(name, deque())
        while opened and not self._is_open(*opened[-1]):
            opened.pop()
        return opened[-1][0] if opened else None

    def name_of(self, use_id: str) -> str:
        """The tool name for a result."""
        return self.names.get(use_id, UNKNOWN_TOOL)

    def arguments(self, value: object, path: str) -> tuple[JsonObject | None, JsonObject | None]:
        """`input` and `raw_request` for arguments given as an object."""
        given = record(value, path)
        if flaw(given, deepest=MAX_DEPTH) is None:
            return given, None
        self.warn(path, f"is nested deeper than {MAX_DEPTH} levels; kept as text")
        return None, {"arguments": json_text(given)}

    def arguments_text(self, text: str, path: str) -> tuple[JsonObject | None, JsonObject | None]:
        """`input` and `raw_request` for arguments given as JSON text; anything but an object stays text (B176)."""
        given = exact_object(text)
        if given is not None:
            return given, spelling("arguments", text, given)
        self.warn(path, "is not a JSON object that can be stored exactly; kept as text")
        return None, {"arguments": text}

    def payload(self, value: object, path: str) -> tuple[str | JsonObject | list[Any] | None, JsonObject | None]:
        """`payload` and `raw_response` for a result given as text or text parts.

        It is parsed as JSON if the value means exactly the same (B175); a spelling of its own is kept (B172).
        """
        if value is None:
            return None, None
        spoken = self.joined(value, path)
        exact = exact_value(spoken)
        return (spoken, None) if exact is None else (exact, spelling("content", spoken, exact))

    def shallow(self, value: object, path: str) -> object:
        """A result given as a value; one that is nested too deeply becomes JSON text."""
        kept = storable(value)
        if kept is not value:
            self.warn(path, f"is nested deeper than {MAX_DEPTH} levels; kept as text")
        return kept

    def joined(self, value: object, path: str) -> str:
        """Text that may be given in parts, as one string."""
        if not isinstance(value, list):
            return string(value, path)
        texts = [text for part, place in parts(value, path) if (text := self._part_text(part, place)) is not None]
        if len(texts) > 1:
            self.warn(path, f"has {len(texts)} text parts; joined with line breaks")
        return "\n".join(texts)

    def _part_text(self, part: JsonObject, path: str) -> str | None:
        kind = string(part.get("type"), f"{path}.type")
        if kind != "text":
            self.drop(part, path, f"part of type {quoted(kind)}")
            return None
        self.unkept(part, path, frozenset({"type", "text"}))
        return string(part.get("text"), f"{path}.text")

    def _is_open(self, use_id: str, path: str) -> bool:
        return self.open_uses.get(use_id) == path  # another path is that of a later use with the same id

    def _count(self, blocks: Sequence[BlockDict]) -> None:
        self._pieces += len(blocks)
        _limit(self._pieces)

    def _close_uses(self) -> None:
        for use_id, path in self.open_uses.items():
            self.warn(path, f"has no result for tool use {quoted(use_id)} before the next user turn")
        self.open_uses.clear()
        self._opened.clear()

    def _metadata(self) -> JsonObject:
        given = self.frame.get("metadata")
        metadata = {} if given is None else dict(record(given, "metadata"))
        if found := flaw(metadata, deepest=MAX_DEPTH):
            raise DialectError(under("metadata", dotted(found[0])), found[1])
        kept = {LATER_SYSTEM: self.later_system, DROPPED_PARTS: self.dropped_parts}
        for key, items in kept.items():
            if items and key in metadata:
                self.warn(f"metadata.{key}", "is reserved and was replaced")
        return metadata | {key: items for key, items in kept.items() if items}


def _unfit(value: object, path: str, wanted: str) -> DialectError:
    return DialectError(path, "is missing" if value is None else f"must be {wanted}, not {quoted(value)}")


def record(value: object, path: str) -> JsonObject:
    """`value` as an object; raises `DialectError`."""
    if not isinstance(value, dict):
        raise DialectError(path, f"must be an object, not {quoted(value)}")
    return value


def sequence(value: object, path: str) -> list[Any]:
    """`value` as a list; raises `DialectError`."""
    if not isinstance(value, list):
        raise _unfit(value, path, "a list")
    return value


def parts(value: object, path: str) -> Iterator[tuple[JsonObject, str]]:
    """The objects in a list, each with its path."""
    for number, item in enumerate(sequence(value, path)):
        place = f"{path}.{number}"
        yield record(item, place), place


def string(value: object, path: str) -> str:
    """`value` as text; raises `DialectError`."""
    if not isinstance(value, str):
        raise _unfit(value, path, "text")
    return value


def token(value: object, path: str) -> str:
    """A name or id: text that is neither empty nor too long."""
    given = string(value, path)
    if not given:
        raise DialectError(path, "is empty")
    if len(given) > MAX_NAME:
        raise DialectError(path, f"is longer than {MAX_NAME} characters")
    return given


def choice(value: object, path: str, allowed: tuple[str, ...]) -> str:
    """`value` as one of the allowed words; raises `DialectError`."""
    if not isinstance(value, str) or value not in allowed:
        raise DialectError(path, f"must be one of {', '.join(allowed)}, not {quoted(value)}")
    return value


def flag(value: object, path: str) -> bool:
    """`value` as a boolean; absent and null are false."""
    if not isinstance(value, bool | None):
        raise DialectError(path, f"must be true or false, not {quoted(value)}")
    return bool(value)


def milliseconds(value: object, path: str) -> int:
    """`value` as a duration in whole milliseconds; absent and null are 0."""
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_MILLISECONDS:
        raise DialectError(path, f"must be whole milliseconds, not {quoted(value)}")
    return value


def under(path: str, rest: str) -> str:
    """Join two paths."""
    return f"{path}.{rest}" if path and rest else path or rest


def reserved(role: str, owner: str, path: str) -> None:
    """Raise `DialectError` for a block in a message of the wrong role."""
    if role != owner:
        raise DialectError(path, f"belongs in a message of role {owner}, not {role}")


def moment(value: object, path: str) -> datetime | None:
    """A time from 1970 to 2200: ISO 8601, in UTC by default, or seconds since the epoch.

    Other years are errors of the exporter, and some time zones are not defined there.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise DialectError(path, f"must be a time, not {quoted(value)}")
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else datetime.fromtimestamp(value, tz=UTC)
        instant = (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, OSError) as unreadable:
        raise DialectError(path, f"is not a time: {quoted(value)}") from unreadable
    if instant.year not in YEARS:
        raise DialectError(path, f"must be a time from {YEARS[0]} to {YEARS[-1]}, not {quoted(value)}")
    return instant


def message_time(message: JsonObject, index: int) -> datetime | None:
    """The creation time of a message, under any of its known keys."""
    for key in TIME_KEYS:
        if message.get(key) is not None:
            return moment(message[key], f"messages.{index}.{key}")
    return None


def placed_parts(value: object, path: str, read: PartReader) -> list[tuple[str, BlockDict]]:
    """The blocks that `read` makes of the parts of a message, each with its source path."""
    return [(place, block) for part, place in parts(value, path) if (block := read(part, place)) is not None]


def storable(value: object) -> object:
    """`value`, or its JSON text if it is nested too deeply."""
    return value if flaw(value, deepest=MAX_DEPTH) is None else json_text(value)


def _origin_id(value: object) -> str:
    return token(str(value) if isinstance(value, int) and not isinstance(value, bool) else value, "id")


def _title(value: object) -> str | None:
    """A title; none if nothing of it is seen."""
    title = "" if value is None else string(value, "title").strip()
    return title if is_visible(title) else None
