"""Laws of the dialects: what has no losses survives both round trips, whatever is read can be written (B172-B176)."""

import copy
import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.canonical import canonical_json
from threads import content
from threads.content import BlockDict, JsonObject, MessageSnapshot, Role
from threads.dialects import EXPORT_FORMATS, FORMATS, Conversation, DialectError, Rendered, parse, render
from threads.dialects.canonical import exact_value, json_text

NOON = datetime(2024, 5, 15, 12, 0, tzinfo=UTC)
REAL_CONVERSATIONS = Path(
    os.environ.get("HEDDLE_TAU_BENCH")
    or Path(__file__).resolve().parents[2] / "../shared/data/tau-bench/threads-airline.jsonl"
)

law = settings(max_examples=30)

characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
words = st.text(characters, min_size=1, max_size=12)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3), max_leaves=6
)
objects = st.dictionaries(words, values, max_size=3)
containers = objects | st.lists(values, max_size=3)
tricky = st.sampled_from(
    ["", "12", "12.50", "true", "null", "{", "[1", '{"a":1,"a":2}', "[NaN]", "[1e999]", "[-0]", '["\\u0000"]']
)
plain_texts = (words | tricky).filter(lambda text: exact_value(text) is None)
broken_arguments = plain_texts | st.lists(values, max_size=2).map(json.dumps)
seen_as = st.sampled_from(["look", "find", "unknown"])

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8) | st.sampled_from(
        ["user", "assistant", "system", "tool", "roboto", "text", "tool_use", "tool_result", "function", "{}", "u0"]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip

Spoken = tuple[Role, list[BlockDict]]


def snapshots(messages: list[Spoken]) -> list[MessageSnapshot]:
    return [MessageSnapshot(index, role, "completed", NOON, blocks) for index, (role, blocks) in enumerate(messages)]


def write(format: str, messages: list[Spoken], system: str | None = None) -> Rendered:
    return render(
        format, thread_id="ags_1", title="Trip", system=system, messages=snapshots(messages), with_verbatim=True
    )


def read(format: str, written: Rendered) -> Conversation:
    return parse(format, {"id": "c1", "messages": written.messages, "system": written.system})


def spoken(conversation: Conversation) -> list[Spoken]:
    return [(message.role, message.blocks) for message in conversation.messages]


def payloads(format: str) -> st.SearchStrategy[object]:
    exact = containers | plain_texts
    return exact | st.none() if format in ("anthropic", "roboto") else exact


def statuses(format: str) -> st.SearchStrategy[str]:
    by_format = {"openai": ["success"], "roboto": ["success", "error", "declined"]}
    return st.sampled_from(by_format.get(format, ["success", "error"]))


@st.composite
def assistant_blocks(draw: st.DrawFn, format: str, first: int) -> list[BlockDict]:
    """One or two uses, with text wherever the dialect can hold it."""
    blocks: list[BlockDict] = []
    for number in range(draw(st.integers(1, 2))):
        if (number == 0 or format != "openai") and draw(st.booleans()):
            blocks.append(content.text(draw(words)))
        blocks.append(content.tool_use(draw(seen_as), f"u{first + number}", draw(objects)))
    if format != "openai" and draw(st.booleans()):
        blocks.append(content.text(draw(words)))
    return blocks


@st.composite
def result_blocks(draw: st.DrawFn, format: str, uses: list[BlockDict]) -> list[BlockDict]:
    """A result of each use, in any order."""
    runtime = st.integers(0, 10**6) if format in ("roboto", "otel") else st.just(0)
    return [
        content.tool_result(
            use["tool_name"],
            use["tool_use_id"],
            draw(statuses(format)),
            cast(JsonObject, draw(payloads(format))),
            runtime_ms=draw(runtime),
        )
        for use in draw(st.permutations(uses))
    ]


@st.composite
def canonical(draw: st.DrawFn, format: str) -> list[Spoken]:
    """A thread that the dialect can hold without any loss."""
    messages: list[Spoken] = []
    for turn in range(draw(st.integers(1, 3))):
        messages.append(("user", [content.text(text) for text in draw(st.lists(words, min_size=1, max_size=3))]))
        if draw(st.booleans()):
            blocks = draw(assistant_blocks(format, turn * 10))
            uses = [block for block in blocks if block["content_type"] == "tool_use"]
            messages += [("assistant", blocks), ("roboto", draw(result_blocks(format, uses)))]
        if draw(st.booleans()):
            most = 1 if format == "openai" else 3
            messages.append(
                ("assistant", [content.text(text) for text in draw(st.lists(words, min_size=1, max_size=most))])
            )
    return messages


def openai_use(draw: st.DrawFn, name: str, use_id: str) -> JsonObject:
    function = {"name": name, "arguments": draw(objects.flatmap(spelt) | broken_arguments)}
    return {"id": use_id, "type": "function", "function": function}


def result_content(draw: st.DrawFn) -> str:
    return draw(containers.flatmap(spelt) | plain_texts)


def spelt(value: object) -> st.SearchStrategy[str]:
    """A value as JSON in the ways that programs write it."""
    return st.sampled_from(
        [
            canonical_json(value),
            json.dumps(value),
            json.dumps(value, ensure_ascii=False, indent=2),
            f" {json_text(value)}",
        ]
    )


@st.composite
def openai_chats(draw: st.DrawFn) -> list[JsonObject]:
    """Chat messages as they come, each result with the name of its tool."""
    chat: list[JsonObject] = [{"role": "system", "content": draw(words)}] if draw(st.booleans()) else []
    for turn in range(draw(st.integers(1, 3))):
        parts = st.lists(words.map(lambda text: {"type": "text", "text": text}), min_size=2, max_size=3)
        chat.append({"role": "user", "content": draw(words | parts)})
        names = draw(st.lists(seen_as, max_size=2))
        if names:
            calls = [openai_use(draw, name, f"u{turn}{number}") for number, name in enumerate(names)]
            chat.append({"role": "assistant", "content": draw(st.none() | words), "tool_calls": calls})
        for number, name in enumerate(names):
            called = {"role": "tool", "tool_call_id": f"u{turn}{number}", "name": name}
            chat.append({**called, "content": result_content(draw)})
        chat.append({"role": "assistant", "content": draw(words)})
    return chat


Maker = Callable[..., JsonObject]
MAKERS: dict[str, tuple[Maker, Maker, Maker]] = {
    "anthropic": (
        lambda text: {"type": "text", "text": text},
        lambda name, use_id, given: {"type": "tool_use", "id": use_id, "name": name, "input": given},
        lambda use_id, text, failed: {
            "type": "tool_result", "tool_use_id": use_id, "content": text, **({"is_error": True} if failed else {}),
        },
    ),
    "data_harness": (
        lambda text: {"text": text},
        lambda name, use_id, given: {"tool_use_id": use_id, "tool_name": name, "tool_input": given},
        lambda use_id, text, failed: {"tool_use_id": use_id, "content": text, "is_error": failed},
    ),
}  # fmt: skip


@st.composite
def block_chats(draw: st.DrawFn, format: str) -> list[JsonObject]:
    """Messages of the dialects that hold blocks: texts and uses in any order, results before texts."""
    text, use, result = MAKERS[format]
    chat: list[JsonObject] = [{"role": "user", "content": [text(word) for word in draw(st.lists(words, min_size=2))]}]
    for turn in range(draw(st.integers(1, 3))):
        ids = [f"u{turn}{number}" for number in range(draw(st.integers(0, 3)))]
        uses = [use(draw(seen_as), use_id, draw(objects)) for use_id in ids]
        texts = [text(word) for word in draw(st.lists(words, min_size=2, max_size=3))]
        chat.append({"role": "assistant", "content": draw(st.permutations(uses + texts))})
        results = [result(use_id, result_content(draw), draw(st.booleans())) for use_id in ids]
        said = [text(word) for word in draw(st.lists(words, min_size=0 if ids else 2, max_size=3))]
        chat.append({"role": "user", "content": results + said})
    if format == "anthropic":
        chat += [{"role": "assistant", "content": draw(words)}, {"role": "user", "content": draw(words)}]
    return chat


outcomes = st.fixed_dictionaries({}, optional={"is_error": st.just(True), "runtime_ms": st.integers(1, 10**6)})


@st.composite
def otel_chats(draw: st.DrawFn) -> list[JsonObject]:
    """Messages by OpenTelemetry's conventions: texts and calls in any order, all responses in one message."""
    chat: list[JsonObject] = []
    for turn in range(draw(st.integers(1, 3))):
        said = [{"type": "text", "content": word} for word in draw(st.lists(words, min_size=1, max_size=2))]
        chat.append({"role": "user", "parts": said})
        ids = [f"u{turn}{number}" for number in range(draw(st.integers(0, 3)))]
        calls = [
            {"type": "tool_call", "id": each, "name": draw(seen_as), "arguments": otel_arguments(draw)} for each in ids
        ]
        texts = [{"type": "text", "content": word} for word in draw(st.lists(words, min_size=1, max_size=2))]
        chat.append({"role": "assistant", "parts": draw(st.permutations(calls + texts))})
        if ids:
            chat.append({"role": "tool", "parts": [
                {"type": "tool_call_response", "id": each, "response": result_content(draw), **draw(outcomes)}
                for each in ids
            ]})  # fmt: skip
    return chat


def otel_arguments(draw: st.DrawFn) -> object:
    """An object, or what the model wrote instead; text that is the canonical form of an object comes back as one."""
    return draw(objects | broken_arguments.filter(lambda text: not text.startswith("{")))


@st.composite
def records(draw: st.DrawFn) -> list[JsonObject]:
    """Message records with every field spelled out, times of their own included."""
    written = write("roboto", draw(canonical("roboto"))).messages
    times = st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2100, 1, 1), timezones=st.just(UTC))
    return [{**message, "created": draw(times).isoformat()} for message in written]


def chats(format: str) -> st.SearchStrategy[list[JsonObject]]:
    own = {"openai": openai_chats(), "roboto": records(), "otel": otel_chats()}
    return own[format] if format in own else block_chats(format)


def places(value: object) -> list[tuple[JsonObject, str]]:
    """Every place inside where something else may be put."""
    found: list[tuple[JsonObject, str]] = []
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict | list):
            keys = item if isinstance(item, dict) else range(len(item))
            found += [(cast(JsonObject, item), cast(str, key)) for key in keys]
            waiting += item.values() if isinstance(item, dict) else item
    return found


@st.composite
def damaged(draw: st.DrawFn, format: str) -> JsonObject:
    """A good conversation with one to three places damaged."""
    conversation: JsonObject = {
        "id": "c1",
        "messages": copy.deepcopy(draw(chats(format))),
        "metadata": {"a": 1},
        "created": 1,
    }
    for _ in range(draw(st.integers(1, 3))):
        container, key = draw(st.sampled_from(places(conversation)))
        mild = isinstance(container[key], str) and draw(st.booleans())
        container[key] = draw(words | tricky if mild else anything)
    return conversation


def accepted(format: str, conversation: object) -> Conversation | None:
    """The conversation, or None after a refusal that says where and can be written down."""
    try:
        return parse(format, conversation)
    except DialectError as refused:
        path, sentence = refused.path, str(refused)
    assert path
    assert sentence.encode()
    return None


def check_everything_works_on(conversation: Conversation) -> None:
    for format in EXPORT_FORMATS:
        written = write(format, spoken(conversation), conversation.system)
        json.dumps([written.messages, written.text, written.losses], ensure_ascii=False, allow_nan=False).encode()
    json.dumps([conversation.metadata, conversation.warnings], ensure_ascii=False, allow_nan=False).encode()


@pytest.mark.parametrize("format", FORMATS)
@law
@given(data=st.data())
def test_a_thread_without_losses_survives_export_and_import(format: str, data: st.DataObject) -> None:
    """B172-B175: import(export(x)) == x."""
    messages, system = data.draw(canonical(format)), data.draw(st.none() | words)
    written = write(format, messages, system)
    conversation = read(format, written)
    assert written.losses == []
    assert spoken(conversation) == messages
    assert conversation.system == system
    assert conversation.warnings == ()


@pytest.mark.parametrize("format", FORMATS)
@law
@given(data=st.data())
def test_a_conversation_without_losses_survives_import_and_export(format: str, data: st.DataObject) -> None:
    """B172, B176: export(import(y)) == y."""
    chat = data.draw(chats(format))
    given_back = parse(format, {"id": "c1", "messages": copy.deepcopy(chat)})
    messages = [
        MessageSnapshot(index, message.role, "completed", message.created or NOON, message.blocks)
        for index, message in enumerate(given_back.messages)
    ]
    written = render(
        format, thread_id="ags_1", title=None, system=given_back.system, messages=messages, with_verbatim=True
    )
    assert written.messages == chat
    assert written.losses == []


@pytest.mark.parametrize("format", FORMATS)
@law
@given(given_json=anything)
def test_any_json_is_read_or_refused_with_a_path(format: str, given_json: object) -> None:
    """B178."""
    for candidate in (given_json, {"id": "c1", "messages": given_json}, {"id": "c1", "messages": [given_json]}):
        conversation = accepted(format, candidate)
        if conversation is not None:
            check_everything_works_on(conversation)


@pytest.mark.parametrize("format", FORMATS)
@law
@given(data=st.data())
def test_damaged_conversations_are_read_or_refused_with_a_path(format: str, data: st.DataObject) -> None:
    """B178, and a second round trip changes nothing more than the first did."""
    conversation = accepted(format, data.draw(damaged(format)))
    if conversation is None:
        return
    check_everything_works_on(conversation)
    first = write(format, spoken(conversation), conversation.system)
    second = read(format, first)
    assert write(format, spoken(second), second.system).messages == first.messages


@pytest.mark.parametrize("source", FORMATS)
@pytest.mark.parametrize("target", FORMATS)
@settings(max_examples=15)
@given(data=st.data())
def test_every_dialect_goes_over_into_every_other(source: str, target: str, data: st.DataObject) -> None:
    """What is written can be read again, with every message's words in their order."""
    messages = data.draw(canonical(source))
    given_back = read(target, write(target, messages))
    assert words_of(spoken(given_back)) == words_of(messages)


def words_of(messages: list[Spoken]) -> list[tuple[Role, str]]:
    """Who said what: texts of a message run together."""
    said = [(role, "".join(block.get("text", "") for block in blocks)) for role, blocks in messages]
    return [(role, text) for role, text in said if text]


@law
@given(st.text(st.sampled_from('{}[]",:0123456789.eE+-truefalsn \\u'), max_size=30) | containers.flatmap(spelt))
def test_a_text_kept_as_value_is_written_back_as_that_value(text: str) -> None:
    """B175."""
    value = exact_value(text)
    if value is not None:
        assert json.loads(text) == value
        assert exact_value(canonical_json(value)) == value


@pytest.mark.skipif(
    not REAL_CONVERSATIONS.is_file(), reason="no file of real conversations; HEDDLE_TAU_BENCH names one"
)
def test_real_conversations_survive_unchanged() -> None:
    """B172, B175: every message as it came."""
    lines = REAL_CONVERSATIONS.read_text(encoding="utf-8").splitlines()
    assert lines
    for line in lines:
        source = json.loads(line)
        conversation = parse("openai", source)
        written = write("openai", spoken(conversation), conversation.system)
        assert written.messages == source["messages"]
        assert (written.losses, conversation.metadata) == ([], source["metadata"])
        for format in EXPORT_FORMATS:
            write(format, spoken(conversation), conversation.system)
