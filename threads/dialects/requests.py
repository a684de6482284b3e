"""What a span says of one request to a model, and what of it cannot be read (decision 020)."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from threads.content import JsonObject
from threads.dialects.canonical import dotted, quoted
from threads.dialects.spans import Span

ASKED, ANSWERED = "gen_ai.input.messages", "gen_ai.output.messages"
INSTRUCTIONS = "gen_ai.system_instructions"
OTHER_ANSWER = "is another answer to the same request; kept in the metadata only"


def speaks(span: Span) -> bool:
    """Whether a span has messages, readable or not."""
    return bool(span.attributes.get(ASKED) or span.attributes.get(ANSWERED))


@dataclass(slots=True)
class Request:
    """The messages of a span, and warnings about all that becomes no message or instruction."""

    span: Span
    asked: list[JsonObject] = field(default_factory=list)
    answered: list[JsonObject] = field(default_factory=list)
    others: list[JsonObject] = field(default_factory=list)
    """Further answers. They are alternatives: the next request continues one of them at most."""
    instructions: list[str] = field(default_factory=list)
    warnings: dict[object, tuple[str, str]] = field(default_factory=dict)
    """Each a path and what is the matter there, by what makes two of them the same."""

    @classmethod
    def of(cls, span: Span) -> "Request":
        """Read a span."""
        said = cls(span)
        said.instructions += said._texts(said._listed(INSTRUCTIONS), INSTRUCTIONS)
        for place, message in said._messages(ASKED):
            if message["role"] == "system":
                said.instructions += said._texts(message["parts"], f"{place}.parts")
            else:
                said.asked.append(message)
        for place, message in said._messages(ANSWERED):
            if said.answered:
                said._warn(place, OTHER_ANSWER)
            (said.others if said.answered else said.answered).append(message)
        return said

    def _messages(self, name: str) -> Iterator[tuple[str, JsonObject]]:
        """The objects in an attribute, each with its place; what is wrong with their fields, their dialect tells."""
        for place, each in self._objects(self._listed(name), name):
            parts = each.get("parts") or []
            if not isinstance(parts, list):
                self._warn(f"{place}.parts", f"must be a list, not {quoted(parts)}; left out")
                parts = []
            yield place, {"role": each.get("role"), **each, "parts": parts}

    def _texts(self, given: Iterable[Any], place: str) -> list[str]:
        texts = []
        for at, part in self._objects(given, place):
            if part.get("type") == "text" and isinstance(part.get("content"), str):
                texts.append(part["content"])
            else:
                self._warn(at, "is not text; left out of the instructions")
        return texts

    def _objects(self, given: Iterable[Any], place: str) -> Iterator[tuple[str, JsonObject]]:
        for number, each in enumerate(given):
            if isinstance(each, dict):
                yield f"{place}.{number}", each
            else:
                self._warn(f"{place}.{number}", f"must be an object, not {quoted(each)}; left out")

    def _listed(self, name: str) -> list[Any]:
        """An attribute that is a list, or its JSON text."""
        value = self.span.attributes.get(name)
        if isinstance(value, str) and value:
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                self._warn(name, f"is not JSON: {quoted(value)}; left out")
                return []
        if isinstance(value, list):
            return value
        if value not in (None, "", {}):
            self._warn(name, f"must be a list, not {quoted(value)}; left out")
        return []

    def _warn(self, place: str, what: str) -> None:
        path = f"{dotted(('spans', self.span.span_id or self.span.trace_id))}.{place}"
        # Every later request is told the same messages again, so with the same fault.
        is_told_again = place.startswith(f"{ASKED}.")
        self.warnings.setdefault((place if is_told_again else path, what), (path, what))
