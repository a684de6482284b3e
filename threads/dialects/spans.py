"""The spans of an OTLP document in JSON, as collectors and exporters write it (decision 020)."""

import re
from dataclasses import dataclass
from typing import Any

from threads.content import JsonObject
from threads.dialects import openinference
from threads.dialects.canonical import MAX_CONVERSATION_DEPTH, DialectError, dotted, flaw
from threads.dialects.reading import parts, record, sequence, string

DETAILS = "gen_ai.client.inference.operation.details"
"""The event that holds the messages where an application does not want them on its spans."""
FAILED = (2, "STATUS_CODE_ERROR")
_INTEGER = re.compile(r"-?[0-9]{1,20}")


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


def is_trace(value: JsonObject) -> bool:
    """Whether this is an OTLP document, as collectors and exporters write them, and not a conversation. A collector
    writes metrics and log records to the same file; they have no spans.
    """
    return not _SIGNALS.isdisjoint(value)


def read(document: JsonObject) -> list[Span]:
    """The spans of an OTLP document in JSON; raises `DialectError` with the path of what cannot be read."""
    if wrong := flaw(document, deepest=MAX_CONVERSATION_DEPTH):
        raise DialectError(dotted(wrong[0]), wrong[1])
    found = []
    for resource, path in parts(document.get("resourceSpans", []), "resourceSpans"):
        about = _attributes(record(resource.get("resource") or {}, f"{path}.resource"), f"{path}.resource")
        for scope, place in parts(resource.get("scopeSpans") or [], f"{path}.scopeSpans"):
            found += [_span(each, at, about) for each, at in parts(scope.get("spans") or [], f"{place}.spans")]
    return found


_SIGNALS = frozenset({"resourceSpans", "resourceMetrics", "resourceLogs"})


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
