"""Writing a thread in a foreign dialect: what all of them can hold, and the list of losses."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from threads import content
from threads.content import BlockDict, MessageSnapshot
from threads.dialects.canonical import UNKNOWN_TOOL, exact_value, text_of, verbatim_arguments

Speaker = Literal["user", "assistant"]


@dataclass(slots=True)
class Export:
    """A thread while it is being written. `names` has the tool name of every use so far, by id."""

    with_verbatim: bool
    losses: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)

    def lost(self, index: int, what: str) -> None:
        """Add a loss."""
        self.losses.append(f"message {index}: {what}")

    def portable(self, message: MessageSnapshot) -> list[BlockDict]:
        """The blocks that other dialects can hold: texts, errors as texts, uses of an assistant, results of tools."""
        if message.status != "completed":
            self.lost(message.index, f"its status {message.status} is not kept")
        found = (self._portable(message, block) for block in message.blocks)
        return [block for block in found if block is not None]

    def result_text(self, index: int, block: BlockDict, *, null: str | None = "") -> str | None:
        """A result as text, values as JSON (B172, B175). `null` is what the dialect uses for no payload."""
        payload = block["payload"]
        if payload is None:
            if null is not None:
                self.lost(index, f"the result of {block['tool_name']} has no payload; exported as empty text")
            return null
        text = payload if isinstance(payload, str) else text_of(payload, block["raw_response"], "content")
        returned = exact_value(text)
        if (text if returned is None else returned) != payload:
            self.lost(index, f"the payload type of the result of {block['tool_name']} changes when imported again")
        return text

    def verbatim(self, block: BlockDict) -> str | None:
        """The arguments of a use as the model wrote them, if not an object and the reader may see them (B176, B180)."""
        return verbatim_arguments(block) if self.with_verbatim else None

    def arguments(self, index: int, block: BlockDict) -> content.JsonObject:
        """The arguments of a use, for dialects that allow only an object."""
        if block["input"] is None:
            self._lost_arguments(index, block)
            return {}
        return dict(block["input"])

    def withheld_arguments(self, index: int, block: BlockDict) -> None:
        """Add a loss for verbatim arguments, which the dialect cannot hold or the reader may not see."""
        if block["input"] is None and verbatim_arguments(block) is not None:
            self._lost_arguments(index, block)

    def nameless(self, block: BlockDict) -> bool:
        """Whether the tool name of a result is just the placeholder for an unknown use."""
        return block["tool_name"] == UNKNOWN_TOOL and block["tool_use_id"] not in self.names

    def implied_name(self, index: int, block: BlockDict) -> None:
        """For dialects whose results have no name: add a loss if the name differs from that of the use."""
        if block["tool_name"] != self._implied(block):
            self.lost(index, f"the tool name {block['tool_name']} of a result is not kept")

    def _implied(self, block: BlockDict) -> str:
        return self.names.get(block["tool_use_id"], UNKNOWN_TOOL)

    def _lost_arguments(self, index: int, block: BlockDict) -> None:
        is_missing = verbatim_arguments(block) is None
        what = (
            "has no arguments; exported as {}" if is_missing else "has arguments that are not a JSON object; left out"
        )
        self.lost(index, f"the use of {block['tool_name']} {what}")

    def _portable(self, message: MessageSnapshot, block: BlockDict) -> BlockDict | None:
        match block["content_type"]:
            case "text":
                return self._text(message, block)
            case "tool_use":
                return self._use(message, block)
            case "tool_result":
                return self._result(message, block)
            case "error":
                self.lost(message.index, "its error is exported as text")
                return block
            case kind:
                self.lost(message.index, f"its {kind} block is left out")
                return None

    def _text(self, message: MessageSnapshot, block: BlockDict) -> BlockDict | None:
        if not block["text"]:
            return None
        if message.role == "roboto":
            self.lost(message.index, "its text from the system is exported as the user's")
        return block

    def _use(self, message: MessageSnapshot, block: BlockDict) -> BlockDict | None:
        if message.role != "assistant":
            self.lost(message.index, f"a tool use in a message of role {message.role} is left out")
            return None
        if block["answered_by_server"]:
            self.lost(message.index, f"the mark that the server answered the use of {block['tool_name']} is not kept")
        self.names[block["tool_use_id"]] = block["tool_name"]
        return block

    def _result(self, message: MessageSnapshot, block: BlockDict) -> BlockDict | None:
        if message.role != "roboto":
            self.lost(message.index, f"a tool result in a message of role {message.role} is left out")
            return None
        if block["status"] == "declined":
            self.lost(message.index, f"the declined use of {block['tool_name']} is exported as an error")
            return {**block, "status": "error"}
        return block


def spoken(block: BlockDict) -> str:
    """The words of a text or error block."""
    if block["content_type"] == "text":
        return str(block["text"])
    code = f" ({block['error_code']})" if block["error_code"] else ""
    return f"Error: {block['error_message']}{code}"


def said(blocks: Sequence[BlockDict]) -> str:
    """Several texts as one. Fragments of a streamed answer are joined directly; an error is a paragraph."""
    words = ""
    for before, block in zip((None, *blocks), blocks, strict=False):
        apart = before is not None and "error" in (before["content_type"], block["content_type"])
        words += ("\n\n" if apart else "") + spoken(block)
    return words


def speeches(export: Export, messages: Sequence[MessageSnapshot]) -> Iterator[tuple[int, Speaker, list[BlockDict]]]:
    """Messages for dialects that know only users and assistants.

    Results become a user message, joined with a user message right after them (B173). One without text stays separate,
    because it would otherwise disappear.
    """
    held: tuple[int, list[BlockDict]] | None = None
    for message in messages:
        blocks = export.portable(message)
        if held:
            index, results = held
            joins = message.role == "user" and bool(blocks)
            yield index, "user", results + blocks if joins else results
            held = None
            if joins:
                continue
        if message.role == "roboto":
            held = _held(export, message.index, blocks)
        else:
            yield message.index, message.role, blocks
    if held:
        yield held[0], "user", held[1]


def _held(export: Export, index: int, blocks: list[BlockDict]) -> tuple[int, list[BlockDict]] | None:
    if not blocks:
        export.lost(index, "is left out, because it has no content to export")
        return None
    return index, sorted(blocks, key=lambda block: block["content_type"] != "tool_result")
