"""Conversations out of OpenTelemetry traces (decision 020).

An agent that is instrumented by the GenAI conventions, or by OpenInference, leaves a span for each model request, with
everything that the model was told and what it answered. So a conversation is in many spans, each holding the ones
before it again. Here they are put together: what a span says beyond what is known continues its conversation.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from threads.content import JsonObject
from threads.dialects import openinference
from threads.dialects.canonical import MAX_CONVERSATION_DEPTH, DialectError, dotted, flaw
from threads.dialects.reading import parts, record, sequence, string

INFERENCE = frozenset({"chat", "generate_content", "text_completion"})
"""Operations with one request to a model. An agent's own span sums up its requests and is used only without them."""
EXECUTE_TOOL = "execute_tool"
DETAILS = "gen_ai.client.inference.operation.details"
"""The event that holds the messages where an application does not want them on its spans."""
FAILED = (2, "STATUS_CODE_ERROR")
_INTEGER = re.compile(r"-?[0-9]{1,20}")
METADATA = "otel"
"""The key in a thread's metadata for what is known of its spans."""
NO_MESSAGES = (
    "no span has messages (gen_ai.input.messages, gen_ai.output.messages or llm.input_messages); "
    "let your instrumentation capture message content"
)


@dataclass(slots=True)
class Span:
    """A span with decoded attributes; times in nanoseconds since 1970."""

    trace_id: str
    span_id: str
    """Empty if it has none; one of zeros alone is none."""
    attributes: JsonObject
    service: object
    starts: int
    ends: int
    has_failed: bool

    @property
    def operation(self) -> str:
        return self.named("gen_ai.operation.name")

    def named(self, name: str) -> str:
        """An attribute that is a name or an id; empty for anything else."""
        value = self.attributes.get(name)
        return value if isinstance(value, str) else ""


@dataclass(slots=True)
class _Strand:
    """The messages of one conversation so far, and by what they are recognised in later spans."""

    messages: list[JsonObject] = field(default_factory=list)
    keys: list[object] = field(default_factory=list)
    instructions: list[str] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)

    def overlap(self, keys: list[object]) -> int | None:
        """How many of a request's messages are known already; None if it does not continue this conversation.

        A request may leave out the beginning, as applications do when a conversation has become too long.
        """
        for first, known in enumerate(self.keys):
            if keys and known == keys[0] and self.keys[first:] == keys[: len(self.keys) - first]:
                return len(self.keys) - first
        return None

    def extend(self, messages: Iterable[JsonObject], nanoseconds: int) -> None:
        for message in messages:
            self.messages.append({**message, "created": _iso(nanoseconds)})
            self.keys.append(_key(message))


def is_trace(value: JsonObject) -> bool:
    """Whether this is an OTLP document, as collectors and exporters write them, and not a conversation."""
    return "resourceSpans" in value


def spans(document: JsonObject) -> list[Span]:
    """The spans of an OTLP document in JSON; raises `DialectError` with the path of what cannot be read."""
    if wrong := flaw(document, deepest=MAX_CONVERSATION_DEPTH):
        raise DialectError(dotted(wrong[0]), wrong[1])
    found = []
    for resource, path in parts(document.get("resourceSpans"), "resourceSpans"):
        about = _attributes(record(resource.get("resource") or {}, f"{path}.resource"), f"{path}.resource")
        for scope, place in parts(resource.get("scopeSpans") or [], f"{path}.scopeSpans"):
            found += [_span(each, at, about) for each, at in parts(scope.get("spans") or [], f"{place}.spans")]
    return found


def conversations(given: Iterable[Span]) -> Iterator[JsonObject]:
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
        found[key] = max(found.get(key, span), span, key=lambda each: (_has_messages(each), each.ends))
    return found.values()


def _span(span: JsonObject, path: str, about: JsonObject) -> Span:
    attributes = _attributes(span, path)
    for event, place in parts(span.get("events") or [], f"{path}.events"):
        if event.get("name") == DETAILS:
            attributes |= _attributes(event, place)
    status = record(span.get("status") or {}, f"{path}.status")
    starts = _nanoseconds(span.get("startTimeUnixNano"), f"{path}.startTimeUnixNano")
    ends = _nanoseconds(span.get("endTimeUnixNano"), f"{path}.endTimeUnixNano")
    span_id = string(span.get("spanId") or "", f"{path}.spanId")
    return Span(
        trace_id=string(span.get("traceId"), f"{path}.traceId"),
        span_id=span_id if span_id.strip("0") else "",
        attributes=openinference.translated(attributes, path),
        service=about.get("service.name"),
        starts=starts,
        ends=max(starts, ends),
        has_failed=status.get("code") in FAILED,
    )


def _attributes(holder: JsonObject, path: str) -> JsonObject:
    found = {}
    for each, place in parts(holder.get("attributes") or [], f"{path}.attributes"):
        found[string(each.get("key"), f"{place}.key")] = _value(each.get("value"), f"{place}.value")
    return found


def _value(value: object, path: str) -> Any:
    """An attribute's value; OTLP names its type, and writes integers of 64 bits as text."""
    if value is None:
        return None
    [(kind, given)] = list(record(value, path).items())[:1] or [("stringValue", None)]
    if kind == "intValue":
        return _integer(given, path)
    if kind == "arrayValue":
        values = sequence(record(given, path).get("values") or [], path)
        return [_value(each, f"{path}.{number}") for number, each in enumerate(values)]
    if kind == "kvlistValue":
        pairs = parts(record(given, path).get("values") or [], path)
        return {string(each.get("key"), f"{at}.key"): _value(each.get("value"), f"{at}.value") for each, at in pairs}
    return given


def _nanoseconds(value: object, path: str) -> int:
    return 0 if value is None else _integer(value, path)


def _integer(value: object, path: str) -> int:
    text = "" if isinstance(value, bool) or not isinstance(value, int | str) else str(value)
    if not _INTEGER.fullmatch(text):
        raise DialectError(path, "must be an integer")
    return int(text)


def _conversation_id(span: Span) -> str:
    return span.named("gen_ai.conversation.id") or span.named("session.id")


def _strands(group: list[Span]) -> list[_Strand]:
    speaking = [span for span in group if _has_messages(span)]
    requests = [span for span in speaking if span.operation in INFERENCE] or speaking
    strands: list[_Strand] = []
    for span in requests:
        asked, answered = (_messages(span, f"gen_ai.{side}.messages") for side in ("input", "output"))
        instructions = [text for each in asked if each["role"] == "system" for text in _texts(each["parts"])]
        told = [each for each in asked if each["role"] != "system"]
        strand, known = _continued(strands, told)
        strand.extend(told[known:], span.starts)
        strand.extend(answered[:1], span.ends)  # further answers to the same request are alternatives
        strand.instructions += [*_texts(_listed(span, "gen_ai.system_instructions")), *instructions]
        strand.spans.append(span)
    return [strand for strand in strands if strand.messages]


def _continued(strands: list[_Strand], told: list[JsonObject]) -> tuple[_Strand, int]:
    """The conversation that a request continues, and how many of its messages it has; a new one if none."""
    keys = [_key(each) for each in told]
    found = [(known, strand) for strand in strands if (known := strand.overlap(keys)) is not None]
    if not found:
        strands.append(_Strand())
        return strands[-1], 0
    known, strand = max(found, key=lambda each: each[0])
    return strand, known


def _has_messages(span: Span) -> bool:
    return bool(span.attributes.get("gen_ai.input.messages") or span.attributes.get("gen_ai.output.messages"))


def _messages(span: Span, name: str) -> list[JsonObject]:
    """The messages of an attribute that look like messages; whatever else is wrong with them, their dialect tells."""
    found = [each for each in _listed(span, name) if isinstance(each, dict)]
    return [{"role": each.get("role"), **each, "parts": _parts(each)} for each in found]


def _parts(message: JsonObject) -> list[Any]:
    given = message.get("parts")
    return given if isinstance(given, list) else []


def _listed(span: Span, name: str) -> list[Any]:
    """An attribute that is a list, or its JSON text."""
    value = span.attributes.get(name)
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return []
    return value if isinstance(value, list) else []


def _texts(given: Iterable[Any]) -> list[str]:
    said = (part.get("content") for part in given if isinstance(part, dict) and part.get("type") == "text")
    return [text for text in said if isinstance(text, str)]


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


def _conversation(name: str, strand: _Strand, tools: dict[str, Span]) -> JsonObject:
    instructions = list(dict.fromkeys(strand.instructions))
    messages = [{**each, "parts": [_with_outcome(part, tools) for part in each["parts"]]} for each in strand.messages]
    return {
        "id": name,
        "messages": messages,
        "system": instructions[0] if instructions else None,
        "metadata": {METADATA: _about(strand.spans, instructions[1:])},
    }


def _with_outcome(part: Any, tools: dict[str, Span]) -> Any:
    """A response with what the span of its tool knows: how long it took, and whether it failed."""
    span = tools.get(str(part.get("id"))) if _of(part, "tool_call_response") else None
    if span is None:
        return part
    return {**part, "runtime_ms": (span.ends - span.starts) // 1_000_000, "is_error": span.has_failed}


def _about(given: list[Span], later_instructions: list[str]) -> JsonObject:
    """What is kept of the spans; empty facts are left out."""
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
        "input_tokens": _sum(given, "gen_ai.usage.input_tokens"),
        "output_tokens": _sum(given, "gen_ai.usage.output_tokens"),
    }
    return {name: value for name, value in facts.items() if value}


def _distinct(given: Iterable[object]) -> list[str]:
    return list(dict.fromkeys(value for value in given if isinstance(value, str)))


def _sum(given: list[Span], name: str) -> int:
    return sum(value for span in given if isinstance(value := span.attributes.get(name), int))


def _iso(nanoseconds: int) -> str | None:
    """A time; None if the span has none."""
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).isoformat() if 0 < nanoseconds < 2**63 else None
