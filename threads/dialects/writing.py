"""Writing a thread in a foreign dialect: what any of them can hold, and the name of every loss."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from threads import content
from threads.content import BlockDict, MessageSnapshot
from threads.dialects.canonical import UNKNOWN_TOOL, exact_value, json_text, verbatim_arguments

Speaker = Literal["user", "assistant"]


@dataclass(slots=True)
class Export:
    """A thread while it is being written. `names` knows the tool of every use written so far."""

    with_verbatim: bool
    losses: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)

    def lost(self, index: int, what: str) -> None:
        """Name a loss."""
        self.losses.append(f"message {index}: {what}")

    def portable(self, message: MessageSnapshot) -> list[BlockDict]:
        """What other dialects can hold: texts, errors as texts, uses of an assistant, results of tools."""
        if message.status != "completed":
            self.lost(message.index, f"its status {message.status}")
        found = (self._portable(message, block) for block in message.blocks)
        return [block for block in found if block is not None]

    def result_text(self, index: int, block: BlockDict, *, null: str | None = "") -> str | None:
        """A result as text: JSON in canonical form (B175). `null` is what the dialect says for no payload at all."""
        payload = block["payload"]
        if payload is None:
            if null is not None:
                self.lost(index, f"that the result of {block['tool_name']} has no payload; it is empty text")
            return null
        text = payload if isinstance(payload, str) else json_text(payload)
        returned = exact_value(text)
        if (text if returned is None else returned) != payload:
            self.lost(index, f"the payload type of the result of {block['tool_name']}; it reads back as another one")
        return text

    def verbatim(self, block: BlockDict) -> str | None:
        """The arguments of a use that are no object, as the model wrote them, for whoever may see them (B176, B180)."""
        return verbatim_arguments(block) if self.with_verbatim else None

    def arguments(self, index: int, block: BlockDict) -> content.JsonObject:
        """The arguments of a use, for dialects that hold nothing but an object there."""
        if block["input"] is None:
            self._lost_arguments(index, block)
            return {}
        return dict(block["input"])

    def withheld_arguments(self, index: int, block: BlockDict) -> None:
        """Name the verbatim arguments that are left out: there is no place for them, or they are not for the reader."""
        if block["input"] is None and verbatim_arguments(block) is not None:
            self._lost_arguments(index, block)

    def nameless(self, block: BlockDict) -> bool:
        """Whether the tool name of a result is our own filler for want of a use."""
        return block["tool_name"] == UNKNOWN_TOOL and block["tool_use_id"] not in self.names

    def implied_name(self, index: int, block: BlockDict) -> None:
        """For dialects whose results bear no name: a name other than that of the use is a loss."""
        if block["tool_name"] != self._implied(block):
            self.lost(index, f"the tool name {block['tool_name']} of a result")

    def _implied(self, block: BlockDict) -> str:
        return self.names.get(block["tool_use_id"], UNKNOWN_TOOL)

    def _lost_arguments(self, index: int, block: BlockDict) -> None:
        what = "no arguments" if verbatim_arguments(block) is None else "arguments that are not a JSON object"
        self.lost(index, f"that the use of {block['tool_name']} has {what}")

    def _portable(self, message: MessageSnapshot, block: BlockDict) -> BlockDict | None:
        match block["content_type"]:
            case "text":
                return self._text(message, block)
            case "tool_use":
                return self._use(message, block)
            case "tool_result":
                return self._result(message, block)
            case "error":
                self.lost(message.index, "that its error is one; it is text")
                return block
            case kind:
                self.lost(message.index, f"a {kind} block")
                return None

    def _text(self, message: MessageSnapshot, block: BlockDict) -> BlockDict | None:
        if not block["text"]:
            return None
        if message.role == "roboto":
            self.lost(message.index, "that its text came from the system; it is the user's")
        return block

    def _use(self, message: MessageSnapshot, block: BlockDict) -> BlockDict | None:
        if message.role != "assistant":
            self.lost(message.index, f"a tool use in a message of the {message.role}")
            return None
        if block["answered_by_server"]:
            self.lost(message.index, f"that the server answered the use of {block['tool_name']} itself")
        self.names[block["tool_use_id"]] = block["tool_name"]
        return block

    def _result(self, message: MessageSnapshot, block: BlockDict) -> BlockDict | None:
        if message.role != "roboto":
            self.lost(message.index, f"a tool result in a message of the {message.role}")
            return None
        if block["status"] == "declined":
            self.lost(message.index, f"that the use of {block['tool_name']} was declined; it is an error")
            return {**block, "status": "error"}
        return block


def spoken(block: BlockDict) -> str:
    """The words of a text or error block."""
    if block["content_type"] == "text":
        return str(block["text"])
    code = f" ({block['error_code']})" if block["error_code"] else ""
    return f"Error: {block['error_message']}{code}"


def said(blocks: Sequence[BlockDict]) -> str:
    """Several texts as one. Fragments of a streamed answer simply follow each other; an error stands apart."""
    words = ""
    for before, block in zip((None, *blocks), blocks, strict=False):
        apart = before is not None and "error" in (before["content_type"], block["content_type"])
        words += ("\n\n" if apart else "") + spoken(block)
    return words


def speeches(export: Export, messages: Sequence[MessageSnapshot]) -> Iterator[tuple[int, Speaker, list[BlockDict]]]:
    """Messages for dialects that know only users and assistants.

    Results are a user's, and the user's message right after them is the same one (B173). Without text it stays apart,
    else nothing would tell that it was there.
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
        export.lost(index, "everything, it has nothing to show")
        return None
    return index, sorted(blocks, key=lambda block: block["content_type"] != "tool_result")
