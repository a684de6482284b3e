"""Conversations out of OpenTelemetry traces (decision 020).

An agent that is instrumented by the GenAI conventions, or by OpenInference, leaves a span for each model request, with
everything that the model was told and what it answered. So a conversation is in many spans, each holding the ones
before it again. Here they are put together: what a span says beyond what is known continues its conversation.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from threads.content import JsonObject
from threads.dialects.canonical import DialectError
from threads.dialects.reading import MAX_MILLISECONDS, YEARS, Draft, storable
from threads.dialects.requests import Request, speaks
from threads.dialects.spans import Span

INFERENCE = frozenset({"chat", "generate_content", "text_completion"})
"""Operations with one request to a model. An agent's own span sums up its requests and is used only without them."""
EXECUTE_TOOL = "execute_tool"
METADATA = "otel"
"""The key in a thread's metadata for what is known of its spans."""
NO_MESSAGES = (
    "no span has messages (gen_ai.input.messages, gen_ai.output.messages or llm.input_messages); "
    "let your instrumentation capture message content"
)


_OPEN = 100
"""Conversations of a trace that a request may continue: the latest. More at the same time would be a mistake."""


@dataclass(slots=True)
class _Strand:
    """The messages of one conversation so far, and by what they are recognised in later spans."""

    messages: list[JsonObject] = field(default_factory=list)
    keys: list[object] = field(default_factory=list)
    instructions: list[str] = field(default_factory=list)
    others: list[JsonObject] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    warnings: dict[object, tuple[str, str]] = field(default_factory=dict)

    def add(self, request: Request, known: int) -> None:
        """Continue it with a request, of whose messages the first `known` are here already."""
        self._extend(request.asked[known:], request.span.starts)
        self._extend(request.answered, request.span.ends)
        self.instructions += request.instructions
        self.others += request.others
        self.spans.append(request.span)
        for key, warning in request.warnings.items():
            self.warnings.setdefault(key, warning)

    def _extend(self, messages: Iterable[JsonObject], nanoseconds: int) -> None:
        for message in messages:
            self.messages.append({**message, "created": _iso(nanoseconds)})
            self.keys.append(_key(message))


class _Told:
    """The messages that a request was told, by their keys.

    Knuth, Morris and Pratt: equal messages without end must not take the square of their number.
    """

    def __init__(self, keys: list[object]) -> None:
        self._keys, self._borders = keys, [0]
        for key in keys[1:]:
            self._borders.append(self._longer(self._borders[-1], key))

    def overlap(self, said: list[object]) -> int:
        """How many of them a conversation ends with; 0 if they do not continue it.

        A request may leave out the beginning, as applications do when a conversation has become too long.
        """
        if not said or said[-1] not in self._keys:
            return 0
        known = 0
        for key in said[-len(self._keys) :]:
            known = self._longer(known, key)
        return known

    def _longer(self, known: int, key: object) -> int:
        """How many of them are last after one more message, if `known` were before it."""
        while known and self._keys[known] != key:
            known = self._borders[known - 1]
        return known + (self._keys[known] == key)


class Gathered(dict[str, Any]):
    """A conversation in the form that `otel.read` takes, and what its spans hold beyond it.

    The warnings are beside the conversation, not in it, where anybody who imports one could write them.
    """

    def __init__(self, conversation: JsonObject, warnings: Iterable[tuple[str, str]]) -> None:
        super().__init__(conversation)
        self._warnings = tuple(warnings)

    def warn(self, draft: Draft) -> None:
        """Pass the warnings on; raises `DialectError` with the first if there is no message that could be read."""
        for path, what in self._warnings:
            if not self["messages"]:
                raise DialectError(path, what)
            draft.warn(path, what)


def conversations(given: Iterable[Span]) -> Iterator[Gathered]:
    """The conversations in spans, in the form that `otel.read` takes, oldest first.

    Spans belong together by `gen_ai.conversation.id` (or `session.id`), else by their trace. Requests among them that
    do not continue each other, such as those of a sub-agent, are conversations of their own.
    """
    ordered = sorted(_once(given), key=lambda span: (span.starts, span.ends))
    named = {span.trace_id: name for span in ordered if (name := _conversation_id(span))}
    groups: dict[str, list[Span]] = {}
    for span in ordered:
        groups.setdefault(_conversation_id(span) or named.get(span.trace_id) or span.trace_id, []).append(span)
    for name, group in groups.items():
        tools = {span.named("gen_ai.tool.call.id"): span for span in group if span.operation == EXECUTE_TOOL}
        for number, strand in enumerate(_strands(group), 1):
            yield _conversation(name if number == 1 else f"{name}#{number}", strand, tools)


def _once(given: Iterable[Span]) -> Iterable[Span]:
    """Each span once, although exporters send again what they believe lost; of several states the most complete."""
    found: dict[object, Span] = {}
    for number, span in enumerate(given):
        key = (span.trace_id, span.span_id) if span.span_id else number
        found[key] = max(found.get(key, span), span, key=lambda each: (speaks(each), each.ends))
    return found.values()


def _conversation_id(span: Span) -> str:
    return span.named("gen_ai.conversation.id") or span.named("session.id")


def _strands(group: list[Span]) -> list[_Strand]:
    """The conversations in spans that belong together; one without messages has only warnings.

    What cannot be placed, because its span has no message that can be read, is told with the first of them.
    """
    strands: list[_Strand] = []
    unplaced = []
    for request in _requests(group):
        if not (request.asked or request.answered):
            unplaced.append(request)
            continue
        strand, known = _continued(strands, request.asked)
        strand.add(request, known)
    first = strands[0] if strands else _Strand()
    for request in unplaced:
        first.add(request, 0)
    return strands or ([first] if first.warnings else [])


def _requests(group: list[Span]) -> list[Request]:
    """What counts of the spans: requests to a model; if none of them can be read, also agents' own spans."""
    said = [Request.of(span) for span in group if speaks(span)]
    found = [request for request in said if request.span.operation in INFERENCE]
    return found if any(request.asked or request.answered for request in found) else said


def _continued(strands: list[_Strand], told: list[JsonObject]) -> tuple[_Strand, int]:
    """The conversation that a request continues, and how many of its messages it has; a new one if none."""
    sought = _Told([_key(each) for each in told])
    found = [(known, strand) for strand in strands[-_OPEN:] if (known := sought.overlap(strand.keys))]
    if not found:
        strands.append(_Strand())
        return strands[-1], 0
    known, strand = max(found, key=lambda each: each[0])
    return strand, known


def _key(message: JsonObject) -> object:
    """By what a message is known again: texts, calls and responses. Requests may leave out reasoning and pictures."""
    role = "tool" if any(_of(part, "tool_call_response") for part in message["parts"]) else message["role"]
    return role, tuple(_part_key(part) for part in message["parts"] if _part_key(part))


def _part_key(part: Any) -> object:
    if _of(part, "text"):
        return "text", str(part.get("content")).strip()
    if _of(part, "tool_call"):
        return "call", str(part.get("id") or part.get("name"))
    return ("response", str(part.get("id"))) if _of(part, "tool_call_response") else None


def _of(part: Any, kind: str) -> bool:
    return isinstance(part, dict) and part.get("type") == kind


def _conversation(name: str, strand: _Strand, tools: dict[str, Span]) -> Gathered:
    instructions = list(dict.fromkeys(strand.instructions))
    messages = [{**each, "parts": [_with_outcome(part, tools) for part in each["parts"]]} for each in strand.messages]
    conversation: JsonObject = {
        "id": name,
        "messages": messages,
        "system": instructions[0] if instructions else None,
        "metadata": {METADATA: _about(strand, instructions[1:])},
    }
    return Gathered(conversation, strand.warnings.values())


def _with_outcome(part: Any, tools: dict[str, Span]) -> Any:
    """A response with what the span of its tool knows: how long it took, and whether it failed."""
    span = tools.get(str(part.get("id"))) if _of(part, "tool_call_response") else None
    if span is None:
        return part
    runtime_ms = (span.ends - span.starts) // 1_000_000
    known = {"runtime_ms": runtime_ms} if span.starts > 0 and runtime_ms <= MAX_MILLISECONDS else {}
    return {**part, **known, "is_error": span.has_failed}


def _about(strand: _Strand, later_instructions: list[str]) -> JsonObject:
    """What is kept of the spans; empty facts are left out."""
    given = strand.spans
    facts: JsonObject = {
        "trace_ids": _distinct(span.trace_id for span in given),
        "services": _distinct(span.service for span in given),
        "agents": _distinct(span.attributes.get("gen_ai.agent.name") for span in given),
        "models": _distinct(
            span.attributes.get("gen_ai.response.model") or span.attributes.get("gen_ai.request.model")
            for span in given
        ),
        "users": _distinct(span.attributes.get("user.id") for span in given),
        "later_instructions": later_instructions,
        "other_answers": [storable(message) for message in strand.others],
        "input_tokens": _sum(given, "gen_ai.usage.input_tokens"),
        "output_tokens": _sum(given, "gen_ai.usage.output_tokens"),
    }
    return {name: value for name, value in facts.items() if value}


def _distinct(given: Iterable[object]) -> list[str]:
    return list(dict.fromkeys(value for value in given if isinstance(value, str)))


def _sum(given: list[Span], name: str) -> int:
    return sum(value for span in given if isinstance(value := span.attributes.get(name), int))


def _iso(nanoseconds: int) -> str | None:
    """A time; None if the span has none, or one that no thread may have."""
    instant = datetime.fromtimestamp(nanoseconds / 1e9, UTC) if 0 < nanoseconds < 2**63 else None
    return instant.isoformat() if instant and instant.year in YEARS else None
