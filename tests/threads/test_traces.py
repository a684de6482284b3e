"""Conversations out of OpenTelemetry traces (decision 020): of real instrumentations, and of spans as they come."""

import io
import json
from typing import Any

import pytest

from threads.content import JsonObject
from threads.dialects import Conversation, DialectError, gathered, parse, spans
from threads.models import Thread

SECOND = 1_000_000_000
NOON = 1_780_000_000 * SECOND


def attribute(key: str, value: Any) -> JsonObject:
    kind = {bool: "boolValue", int: "intValue", float: "doubleValue"}.get(type(value), "stringValue")
    text = (
        value if isinstance(value, bool | float | str) else str(value) if isinstance(value, int) else json.dumps(value)
    )
    return {"key": key, "value": {kind: text}}


def span(attributes: JsonObject, *, at: int = 0, trace: str = "t1", **more: Any) -> JsonObject:
    """A span of one second, `at` seconds after noon."""
    begun = NOON + at * SECOND
    return {
        "traceId": trace,
        "spanId": f"s{at}",
        "startTimeUnixNano": str(begun),
        "endTimeUnixNano": str(begun + SECOND),
        "attributes": [attribute(key, value) for key, value in attributes.items()],
        **more,
    }


def chat(asked: list[JsonObject], *answered: JsonObject, at: int = 0, trace: str = "t1", **more: Any) -> JsonObject:
    """A request to a model."""
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": asked, "gen_ai.output.messages": answered}
    return span({**attributes, **more}, at=at, trace=trace)


def document(*spans: JsonObject, service: str = "bikes") -> JsonObject:
    resource = {"attributes": [attribute("service.name", service)]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


def text(role: str, words: str) -> JsonObject:
    return {"role": role, "parts": [{"type": "text", "content": words}]}


def call(use_id: str | None = "c1") -> JsonObject:
    part = {"type": "tool_call", "id": use_id, "name": "look", "arguments": {"at": "ST-1"}}
    return {"role": "assistant", "parts": [part], "finish_reason": "tool_call"}


def response(use_id: str | None = "c1") -> JsonObject:
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": use_id, "response": {"docks": 4}}]}


def read(*documents: JsonObject) -> list[Conversation]:
    return [parse("otel", found) for _, found in gathered("otel", enumerate(documents))]


def said(conversation: Conversation) -> list[str]:
    """Role and first words, or the kind, of every message."""
    return [
        f"{message.role}: {message.blocks[0].get('text') or message.blocks[0]['content_type']}"
        for message in conversation.messages
    ]


ASKED, ANSWERED = text("user", "Where are bikes?"), text("assistant", "At ST-1.")
THANKED, WELCOME = text("user", "Thanks"), text("assistant", "You are welcome.")


def test_every_request_adds_what_it_says_beyond_the_ones_before() -> None:
    first = chat([ASKED], call())
    second = chat([ASKED, call(), response()], ANSWERED, at=3)
    third = chat([ASKED, call(), response(), ANSWERED, THANKED], WELCOME, at=60, trace="t2", **{
        "gen_ai.conversation.id": "k-1",
    })  # fmt: skip
    first["attributes"].append(attribute("gen_ai.conversation.id", "k-1"))
    [found] = read(document(third), document(second, first))
    assert found.origin_id == "k-1"
    assert said(found) == [
        "user: Where are bikes?",
        "assistant: tool_use",
        "roboto: tool_result",
        "assistant: At ST-1.",
        "user: Thanks",
        "assistant: You are welcome.",
    ]
    assert found.warnings == ()
    times = [int(message.created.timestamp()) - NOON // SECOND for message in found.messages if message.created]
    assert times == [0, 1, 3, 4, 60, 61], "what is asked is as old as its request, what is answered as its end"


def test_without_a_name_of_its_own_a_conversation_is_a_trace() -> None:
    found = read(document(chat([ASKED], ANSWERED)), document(chat([THANKED], WELCOME, at=5, trace="t2")))
    assert [each.origin_id for each in found] == ["t1", "t2"]


def test_requests_that_do_not_continue_each_other_are_conversations_of_their_own() -> None:
    """A sub-agent's, the second of two answers to the same request, and what is asked in parallel."""
    other = text("user", "Summarise: At ST-1.")
    found = read(document(
        chat([ASKED], ANSWERED),
        chat([other], text("assistant", "ST-1"), at=2),
        chat([ASKED, ANSWERED, THANKED], WELCOME, at=4),
        chat([ASKED], text("assistant", "At ST-2."), at=6),
    ))  # fmt: skip
    assert [each.origin_id for each in found] == ["t1", "t1#2", "t1#3"]
    assert [len(each.messages) for each in found] == [4, 2, 2]


def test_a_request_that_leaves_out_the_beginning_continues_its_conversation() -> None:
    [found] = read(document(
        chat([ASKED], ANSWERED),
        chat([ASKED, ANSWERED, THANKED], WELCOME, at=2),
        chat([THANKED, WELCOME, text("user", "Bye")], text("assistant", "Bye."), at=4),
    ))  # fmt: skip
    assert [line.partition(": ")[2] for line in said(found)][-3:] == ["You are welcome.", "Bye", "Bye."]
    assert len(found.messages) == 6


def test_instructions_become_the_system_prompt_and_facts_the_metadata() -> None:
    facts = {"gen_ai.request.model": "m-1", "gen_ai.agent.name": "spoke", "gen_ai.usage.input_tokens": 7}
    told = {"gen_ai.system_instructions": [{"type": "text", "content": "Be brief."}]}
    [found] = read(document(
        chat([ASKED], ANSWERED, **facts, **told),
        chat([text("system", "Be kind."), ASKED, ANSWERED, THANKED], WELCOME, at=2, **facts),
    ))  # fmt: skip
    assert found.system == "Be brief."
    assert found.metadata["otel"] == {
        "trace_ids": ["t1"],
        "services": ["bikes"],
        "agents": ["spoke"],
        "models": ["m-1"],
        "later_instructions": ["Be kind."],
        "input_tokens": 14,
    }


@pytest.mark.parametrize(
    "tool",
    [
        {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.id": "c1"},
        {"openinference.span.kind": "TOOL", "tool.name": "look", "tool.id": "c1"},
        {"openinference.span.kind": "TOOL", "tool_call.id": "c1", "output.value": "boom"},
    ],
)
def test_the_span_of_a_tool_says_how_long_it_took_and_whether_it_failed(tool: JsonObject) -> None:
    failed = span(tool, at=1, status={"code": 2})
    [found] = read(document(chat([ASKED], call()), failed, chat([ASKED, call(), response()], ANSWERED, at=3)))
    [block] = found.messages[2].blocks
    assert (block["status"], block["runtime_ms"], block["payload"]) == ("error", 1000, {"docks": 4})


@pytest.mark.parametrize(("key", "value"), [("startTimeUnixNano", None), ("endTimeUnixNano", "7300000000000000000")])
def test_a_time_that_no_thread_may_have_is_left_out(key: str, value: str | None) -> None:
    tool = span({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.id": "c1"}, at=1)
    asked = chat([ASKED, call(), response()], ANSWERED, at=3)
    for each in (tool, asked) if value else (tool,):
        each[key] = value
    [found] = read(document(chat([ASKED], call()), tool, asked))
    assert found.messages[2].blocks[0]["runtime_ms"] == 0 and len(found.messages) == 4


def test_a_conversation_that_says_the_same_again_and_again_is_one() -> None:
    """Its overlap is found in one pass, so that the square of its length is not needed."""
    same = [text("user", "Again."), text("assistant", "Yes.")] * 20
    spans_ = [chat(same[: 2 * turn + 1], same[2 * turn + 1], at=turn) for turn in range(20)]
    [found] = read(document(*spans_))
    assert len(found.messages) == 40
    [cut] = read(
        document(*spans_[:10], *(chat(same[15 : 2 * turn + 1], same[2 * turn + 1], at=turn) for turn in (10,)))
    )
    assert len(cut.messages) == 22


@pytest.mark.parametrize("kept", ["first", "last"])
def test_a_span_that_is_there_twice_counts_once(kept: str) -> None:
    """What an exporter sends again, in one document or two; of two states of it the one counts that is complete."""
    facts = {"gen_ai.usage.input_tokens": 7}
    whole = chat([ASKED], ANSWERED, **facts)
    begun = {**chat([ASKED], **facts), "endTimeUnixNano": None}
    for twice in ([whole, whole], [whole, begun] if kept == "first" else [begun, whole]):
        for documents in ([document(*twice)], [document(each) for each in twice]):
            [found] = read(*documents, document(chat([ASKED, ANSWERED, THANKED], WELCOME, at=2)))
            assert said(found)[1:3] == ["assistant: At ST-1.", "user: Thanks"]
            assert len(found.messages) == 4
            assert found.metadata["otel"]["input_tokens"] == 7


@pytest.mark.parametrize("no_id", [None, "", "0000000000000000"])
def test_spans_without_an_id_are_all_different(no_id: str | None) -> None:
    first, second = chat([ASKED], ANSWERED), chat([ASKED, ANSWERED, THANKED], WELCOME, at=2)
    [found] = read(document({**first, "spanId": no_id}, {**second, "spanId": no_id}))
    assert len(found.messages) == 4


ODD_ATTRIBUTES = [
    ("not JSON", "is not JSON: 'not JSON'; left out"),
    ('[{"role": "user", "pa', 'is not JSON: \'[{"role": "user", "pa\'; left out'),
    ('{"role": "user"}', "must be a list, not an object; left out"),
    ("5", "must be a list, not 5; left out"),
    ("[" * 100_000, None),
]


@pytest.mark.parametrize(("odd", "reason"), ODD_ATTRIBUTES)
@pytest.mark.parametrize("name", ["input.messages", "output.messages", "system_instructions"])
def test_an_attribute_that_is_no_list_of_messages_is_warned_of(name: str, odd: str, reason: str | None) -> None:
    """With the id of its span, which can be found in the file."""
    request = chat([ASKED], ANSWERED)
    request["attributes"] = [each for each in request["attributes"] if each["key"] != f"gen_ai.{name}"]
    request["attributes"].append({"key": f"gen_ai.{name}", "value": {"stringValue": odd}})
    [found] = read(document(request))
    assert len(found.messages) == (2 if name == "system_instructions" else 1)
    [warning] = found.warnings
    assert warning.startswith(f"spans.s0.gen_ai.{name}: ")
    assert reason is None or warning == f"spans.s0.gen_ai.{name}: {reason}"


def test_an_unreadable_span_is_told_with_the_conversation_it_belongs_to() -> None:
    broken = span({"gen_ai.operation.name": "chat", "gen_ai.input.messages": "[{", "gen_ai.output.messages": "{"}, at=1)
    [found] = read(document(broken, chat([ASKED], ANSWERED), chat([ASKED, ANSWERED, THANKED], WELCOME, at=2)))
    assert len(found.messages) == 4
    assert [warning.partition(": ")[0] for warning in found.warnings] == [
        "spans.s1.gen_ai.input.messages",
        "spans.s1.gen_ai.output.messages",
    ]


def test_a_conversation_whose_every_span_is_unreadable_is_refused_with_the_path() -> None:
    """B178: beside a good one, which stays."""
    broken = span({"gen_ai.operation.name": "chat", "gen_ai.input.messages": "[{"}, trace="t2")
    spoilt, good = [found for _, found in gathered("otel", [(0, document(broken, chat([ASKED], ANSWERED, at=1)))])]
    assert parse("otel", good).origin_id == "t1"
    with pytest.raises(DialectError) as refused:
        parse("otel", spoilt)
    assert (refused.value.path, refused.value.reason) == (
        "spans.s0.gen_ai.input.messages",
        "is not JSON: '[{'; left out",
    )


def test_an_agents_own_span_stands_in_for_requests_that_cannot_be_read() -> None:
    agent = span({"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": [ASKED],
                  "gen_ai.output.messages": [ANSWERED]})  # fmt: skip
    broken = span({"gen_ai.operation.name": "chat", "gen_ai.input.messages": "[{"}, at=1)
    [found] = read(document(agent, broken))
    assert said(found) == ["user: Where are bikes?", "assistant: At ST-1."]
    assert len(found.warnings) == 1


def test_what_is_no_message_or_no_list_of_parts_is_warned_of_once_however_often_it_is_told() -> None:
    odd: list[Any] = ["hm", 5, {"role": "user", "parts": "Where?"}, text("user", "Where?")]
    other = {"role": "system", "parts": [{"type": "image"}, "x", {"type": "text", "content": "Be brief."}]}
    [found] = read(document(
        chat([*odd, other], ANSWERED, None),  # type: ignore[arg-type]
        chat([*odd, other, ANSWERED, THANKED], WELCOME, at=2),
    ))  # fmt: skip
    assert [message.role for message in found.messages] == ["user", "user", "assistant", "user", "assistant"]
    assert found.system == "Be brief."
    assert [warning for warning in found.warnings if warning.startswith("spans.")] == [
        "spans.s0.gen_ai.input.messages.0: must be an object, not 'hm'; left out",
        "spans.s0.gen_ai.input.messages.1: must be an object, not 5; left out",
        "spans.s0.gen_ai.input.messages.2.parts: must be a list, not 'Where?'; left out",
        "spans.s0.gen_ai.input.messages.4.parts.0: is not text; left out of the instructions",
        "spans.s0.gen_ai.input.messages.4.parts.1: must be an object, not 'x'; left out",
        "spans.s0.gen_ai.output.messages.1: must be an object, not null; left out",
    ]


def test_further_answers_to_a_request_are_kept_in_the_metadata_with_a_warning() -> None:
    [found] = read(document(chat([ASKED], ANSWERED, text("assistant", "At ST-2."), WELCOME)))
    assert said(found) == ["user: Where are bikes?", "assistant: At ST-1."]
    assert found.metadata["otel"]["other_answers"] == [text("assistant", "At ST-2."), WELCOME]
    assert found.warnings == tuple(
        f"spans.s0.gen_ai.output.messages.{number}: is another answer to the same request; kept in the metadata only"
        for number in (1, 2)
    )


def test_an_agents_own_span_counts_only_without_its_requests() -> None:
    agent = span({"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": [ASKED],
                  "gen_ai.output.messages": [ANSWERED]})  # fmt: skip
    [found] = read(document(agent, chat([ASKED], call(), at=1)))
    assert said(found) == ["user: Where are bikes?", "assistant: tool_use"]
    [found] = read(document(agent))
    assert said(found) == ["user: Where are bikes?", "assistant: At ST-1."]


def test_messages_may_be_in_an_event_and_need_not_be_text() -> None:
    words = {"kvlistValue": {"values": [{"key": "type", "value": {"stringValue": "text"}},
                                        {"key": "content", "value": {"stringValue": "Where?"}}]}}  # fmt: skip
    message = {"kvlistValue": {"values": [{"key": "role", "value": {"stringValue": "user"}},
                                          {"key": "parts", "value": {"arrayValue": {"values": [words]}}}]}}  # fmt: skip
    asked = {"key": "gen_ai.input.messages", "value": {"arrayValue": {"values": [message]}}}
    event = {"name": "gen_ai.client.inference.operation.details", "attributes": [asked]}
    [found] = read(document(span({"gen_ai.operation.name": "chat"}, events=[event])))
    assert said(found) == ["user: Where?"]


def test_calls_without_ids_are_paired_in_order() -> None:
    [found] = read(document(chat([ASKED, call(None), response(None)], ANSWERED)))
    [use], [result] = found.messages[1].blocks, found.messages[2].blocks
    assert use["tool_use_id"] == result["tool_use_id"]
    assert len(found.warnings) == 2


def test_what_is_not_said_in_words_is_kept_in_the_metadata_with_a_warning() -> None:
    thought = {"role": "assistant", "parts": [{"type": "reasoning", "content": "hm"}, *ANSWERED["parts"]]}
    [found] = read(document(chat([ASKED], thought), chat([ASKED, ANSWERED, THANKED], WELCOME, at=2)))
    assert len(found.messages) == 4, "the next request leaves the reasoning out"
    assert found.metadata["heddle.dropped_parts"][0]["part"]["content"] == "hm"
    assert len(found.warnings) == 1


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"resourceSpans": 5}, "resourceSpans"),
        ({"resourceSpans": [5]}, "resourceSpans.0"),
        ({"resourceSpans": [{"resource": 5}]}, "resourceSpans.0.resource"),
        ({"resourceSpans": [{"scopeSpans": [{"spans": [5]}]}]}, "resourceSpans.0.scopeSpans.0.spans.0"),
    ],
)
def test_traces_that_cannot_be_read_are_refused_with_a_path(change: JsonObject, path: str) -> None:
    good = document(chat([ASKED], ANSWERED))
    found = list(gathered("otel", [("line 1", change), ("line 2", good)]))
    assert found[0] == ("line 1", change)
    assert [parse("otel", each).origin_id for _, each in found[1:]] == ["t1"], "the good one stays"
    with pytest.raises(DialectError) as refused:
        parse("otel", change)
    assert refused.value.path == path


def test_a_trace_nested_without_end_is_refused() -> None:
    value: JsonObject = {"stringValue": "x"}
    for _ in range(2_000):
        value = {"kvlistValue": {"values": [{"key": "a", "value": value}]}}
    deep = document({**chat([ASKED], ANSWERED), "attributes": [{"key": "a", "value": value}]})
    assert list(gathered("otel", [(0, deep)])) == [(0, deep)]
    with pytest.raises(DialectError, match="nested deeper"):
        parse("otel", deep)


@pytest.mark.parametrize("key", ["startTimeUnixNano", "traceId", "spanId", "attributes", "events", "status"])
@pytest.mark.parametrize("value", [[[1]], {"a": 1}, True, "x", 1.5])
def test_whatever_a_span_holds_is_read_or_refused(key: str, value: object) -> None:
    odd = document({**chat([ASKED], ANSWERED), key: value})
    for _, found in gathered("otel", [(0, odd)]):
        assert outcome_of(found)


@pytest.mark.parametrize("name", ["gen_ai.operation.name", "gen_ai.conversation.id", "gen_ai.tool.call.id"])
@pytest.mark.parametrize("odd", [{"arrayValue": {"values": []}}, {"kvlistValue": {}}, {"intValue": "--5"}, {"x": [1]}])
def test_whatever_an_attribute_is_it_is_read_or_refused(name: str, odd: JsonObject) -> None:
    """Also where a list stands for an id, and beside a response whose id is one."""
    tool = span({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.id": "c1"}, spanId="s1")
    pair = [
        chat([ASKED, call(), {**response(), "parts": [{"type": "tool_call_response", "id": [1]}]}], ANSWERED),
        tool,
    ]
    for each in pair:
        each["attributes"] = [given for given in each["attributes"] if given["key"] != name]
        each["attributes"].append({"key": name, "value": odd})
    for _, found in gathered("otel", [(0, document(*pair))]):
        assert outcome_of(found)


def outcome_of(conversation: object) -> str:
    """The id of what was read, or the path of what was refused."""
    try:
        return parse("otel", conversation).origin_id
    except DialectError as refused:
        return refused.path


def test_traces_without_messages_say_what_to_turn_on() -> None:
    silent = document(span({"gen_ai.operation.name": "chat"}))
    assert list(gathered("otel", [("line 1", silent), ("line 2", silent)])) == [("line 1", silent)]
    with pytest.raises(DialectError, match="capture message content"):
        parse("otel", silent)


def test_other_formats_take_no_traces() -> None:
    assert list(gathered("openai", [(0, document())])) == [(0, document())]


class TestRealInstrumentations:
    """What real libraries write, by the exporter of OpenTelemetry that writes files."""

    @pytest.fixture
    def exported(self) -> Any:
        trace = pytest.importorskip("opentelemetry.sdk.trace", reason="the reference packages are not installed")
        export = pytest.importorskip("opentelemetry.sdk.trace.export")
        files = pytest.importorskip("opentelemetry.exporter.otlp.json.file.trace_exporter")
        stream, provider = io.StringIO(), trace.TracerProvider()
        provider.add_span_processor(export.SimpleSpanProcessor(files.FileSpanExporter(stream=stream)))

        def documents() -> list[JsonObject]:
            provider.shutdown()
            return [json.loads(line) for line in stream.getvalue().splitlines()]

        return provider, documents

    def test_an_agent_of_pydantic_ai(self, exported: Any) -> None:
        from pydantic_ai import Agent
        from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, UserPromptPart
        from pydantic_ai.models.function import FunctionModel
        from pydantic_ai.models.instrumented import InstrumentationSettings

        def answer(messages: Any, info: Any) -> ModelResponse:
            last = messages[-1].parts[-1]
            if isinstance(last, UserPromptPart) and "bikes" in str(last.content):
                return ModelResponse(parts=[TextPart("One moment."), ToolCallPart("look", {"at": "ST-1"}, "c1")])
            return ModelResponse(parts=[TextPart("Four.")])

        def look(at: str) -> dict[str, int]:
            return {"docks": 4}

        provider, documents = exported
        agent = Agent(FunctionModel(answer), name="spoke", instructions="Be brief.", tools=[look])
        agent.instrument = InstrumentationSettings(tracer_provider=provider)
        first = agent.run_sync("Where are bikes?")
        agent.run_sync("Thanks", message_history=first.all_messages())
        [found] = read(*documents())
        assert said(found) == [
            "user: Where are bikes?",
            "assistant: One moment.",
            "roboto: tool_result",
            "assistant: Four.",
            "user: Thanks",
            "assistant: Four.",
        ]
        assert (found.system, found.warnings) == ("Be brief.", ())
        assert found.messages[2].blocks[0]["payload"] == {"docks": 4}
        assert found.metadata["otel"]["agents"] == ["spoke"]

    def test_openinference_around_openai(self, exported: Any) -> None:
        instrumentation = pytest.importorskip("openinference.instrumentation")
        around = pytest.importorskip("openinference.instrumentation.openai").OpenAIInstrumentor()
        import httpx
        from openai import OpenAI

        function = {"name": "look", "arguments": '{"at": "ST-1"}'}
        called = {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c1", "type": "function", "function": function},
        ]}  # fmt: skip
        answers = iter([called, {"role": "assistant", "content": "Four."}])

        def serve(request: httpx.Request) -> httpx.Response:
            choice = {"index": 0, "finish_reason": "stop", "message": next(answers)}
            usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
            body = {"id": "r", "object": "chat.completion", "created": 1, "model": "m-1"}
            return httpx.Response(200, json={**body, "choices": [choice], "usage": usage})

        provider, documents = exported
        client = OpenAI(api_key="k", http_client=httpx.Client(transport=httpx.MockTransport(serve)))
        talk: list[Any] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where are bikes?"}]
        around.instrument(tracer_provider=provider)
        try:
            with instrumentation.using_session("k-1"):
                client.chat.completions.create(model="m-1", messages=talk)
                talk += [called, {"role": "tool", "tool_call_id": "c1", "content": '{"docks": 4}'}]
                client.chat.completions.create(model="m-1", messages=talk)
        finally:
            around.uninstrument()
        [found] = read(*documents())
        assert found.origin_id == "k-1"
        assert said(found) == [
            "user: Where are bikes?",
            "assistant: tool_use",
            "roboto: tool_result",
            "assistant: Four.",
        ]
        assert (found.system, found.warnings) == ("Be brief.", ())
        assert found.messages[1].blocks[0]["input"] == {"at": "ST-1"}
        assert found.messages[2].blocks[0]["payload"] == {"docks": 4}
        assert found.metadata["otel"]["models"] == ["m-1"]
        assert found.metadata["otel"]["input_tokens"] == 10


def test_a_picture_in_openinference_is_kept_in_the_metadata_with_a_warning() -> None:
    asked = "llm.input_messages.0.message."
    attributes = {
        "openinference.span.kind": "LLM",
        f"{asked}role": "user",
        f"{asked}contents.0.message_content.type": "text",
        f"{asked}contents.0.message_content.text": "What is this?",
        f"{asked}contents.1.message_content.type": "image",
        f"{asked}contents.1.message_content.image.image.url": "https://a.test/bike.png",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "A bike.",
    }
    [found] = read(document(span(attributes)))
    assert said(found) == ["user: What is this?", "assistant: A bike."]
    [kept] = found.metadata["heddle.dropped_parts"]
    assert kept["part"]["image"] == {"image": {"url": "https://a.test/bike.png"}}
    assert [warning for warning in found.warnings if "image" in warning]


def test_no_index_beyond_reason_is_unflattened() -> None:
    name = "llm.input_messages.99999.message.role"
    with pytest.raises(DialectError, match="index"):
        spans.read(document(span({"openinference.span.kind": "LLM", name: "user"})))


def test_traces_hold_no_more_conversations_than_an_import_takes_B178(api):
    """One document may hold thousands: they are counted once they are put together, before any of them is stored."""
    many = document(*(chat([ASKED], ANSWERED, at=each, trace=f"t{each}") for each in range(501)))
    answer = api("alice").post("/v1/ai/threads/import", {"format": "otel", "conversations": [many]})
    assert answer.status_code == 400
    message = answer.json()["error"]["message"]
    assert message == "conversations: 501 are too many for one import (maximum 500)"
    assert not Thread.objects.exists()
