"""Message dialects, case by case (B171-B176, B178, B180)."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import FrameType

import pytest
from markdown_it import MarkdownIt

from core.canonical import canonical_json
from threads import content
from threads.content import BlockDict, JsonObject, MessageSnapshot, MessageStatus, Role
from threads.dialects import EXPORT_FORMATS, FORMATS, Conversation, DialectError, Rendered, parse, render

harness = import_module("data_harness.llm.types")
NOON = datetime(2024, 5, 15, 12, 0, tzinfo=UTC)
FOREIGN = ("openai", "anthropic", "data_harness")


def read(format: str, *messages: JsonObject, **frame: object) -> Conversation:
    return parse(format, {"id": "c1", "messages": list(messages), **frame})


def refused(format: str, conversation: object) -> DialectError:
    with pytest.raises(DialectError) as caught:
        parse(format, conversation)
    assert str(caught.value) == f"{caught.value.path}: {caught.value.reason}"
    return caught.value


def said(*messages: tuple[Role, list[BlockDict]], status: MessageStatus = "completed") -> list[MessageSnapshot]:
    return [MessageSnapshot(index, role, status, NOON, blocks) for index, (role, blocks) in enumerate(messages)]


def write(
    format: str,
    messages: list[MessageSnapshot],
    *,
    system: str | None = None,
    title: str | None = None,
    with_verbatim: bool = True,
    metadata: JsonObject | None = None,
) -> Rendered:
    return render(
        format,
        thread_id="ags_1",
        title=title,
        system=system,
        messages=messages,
        with_verbatim=with_verbatim,
        metadata=metadata,
    )


def again(format: str, conversation: Conversation) -> Rendered:
    return write(format, said(*((m.role, m.blocks) for m in conversation.messages)), system=conversation.system)


def call(arguments: str, use_id: str = "c", name: str = "look") -> JsonObject:
    return {"id": use_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(*calls: JsonObject, content: object = None) -> JsonObject:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def answer(content: object, use_id: str = "c") -> JsonObject:
    return {"role": "tool", "tool_call_id": use_id, "name": "look", "content": content}


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


HELLO: JsonObject = {"role": "user", "content": "hello"}
ONE_USE: tuple[Role, list[BlockDict]] = ("assistant", [content.tool_use("look", "u", {})])


class TestFrame:
    def test_formats_are_those_promised(self) -> None:
        assert FORMATS == ("openai", "anthropic", "data_harness", "roboto", "otel")
        assert EXPORT_FORMATS[:5] == FORMATS
        assert EXPORT_FORMATS[5:] == ("markdown", "transcript")

    def test_unknown_format_is_refused_both_ways(self) -> None:
        assert refused("chatml", {}).path == "format"
        with pytest.raises(DialectError, match="format"):
            write("chatml", [])

    def test_frame_is_kept(self) -> None:
        given = read(
            "openai", HELLO, id=7, metadata={"a": [1]}, created="2024-05-15T12:00:00", title=" Trip ", system="Be kind"
        )
        assert (given.origin_id, given.metadata, given.created, given.title) == ("7", {"a": [1]}, NOON, "Trip")
        assert (given.system, given.warnings) == ("Be kind", ())

    @pytest.mark.parametrize("title", ["", " ", "\u200b", "\ufeff \u202e"])
    def test_a_title_of_which_nothing_is_seen_is_none(self, title: str) -> None:
        given = read("openai", HELLO, title=title)
        assert (given.title, given.warnings) == (None, ())

    @pytest.mark.parametrize(
        "spelt", ["2024-05-15T12:00:00Z", "2024-05-15T14:00:00+02:00", "2024-05-15T12:00:00", NOON.timestamp()]
    )
    @pytest.mark.parametrize("key", ["created", "created_at", "timestamp"])
    @pytest.mark.parametrize("format", FORMATS)
    def test_message_times_are_kept(self, format: str, key: str, spelt: object) -> None:
        message = {"role": "user", "content": [{"type": "text", "text": "hi"}], key: spelt}
        if format in ("data_harness", "roboto"):
            message["content"] = [{"text": "hi"}]
        if format == "otel":
            message["parts"] = [{"type": "text", "content": message.pop("content")[0]["text"]}]
        given = read(format, message)
        assert given.messages[0].created == NOON
        assert given.warnings == ()

    @pytest.mark.parametrize(
        ("change", "path"),
        [
            ({"id": None}, "id"),
            ({"id": ""}, "id"),
            ({"id": True}, "id"),
            ({"id": 1.5}, "id"),
            ({"id": "x" * 201}, "id"),
            ({"messages": None}, "messages"),
            ({"messages": []}, "messages"),
            ({"messages": {}}, "messages"),
            ({"messages": [HELLO, "hi"]}, "messages.1"),
            ({"messages": [{"content": "hi"}]}, "messages.0.role"),
            ({"messages": [{"role": ["user"], "content": "hi"}]}, "messages.0.role"),
            ({"messages": [{"role": "wizard", "content": "hi"}]}, "messages.0.role"),
            ({"metadata": []}, "metadata"),
            ({"metadata": {"a": nested(100)}}, "metadata.a" + ".0" * 99),
            ({"created": "yesterday"}, "created"),
            ({"created": True}, "created"),
            ({"created": 1e30}, "created"),
            ({"created": 10**400}, "created"),
            ({"created": "0001-01-01T00:00:00+14:00"}, "created"),
            ({"title": 5}, "title"),
            ({"system": 5}, "system"),
            ({"system": "a\0b"}, "system"),
            ({"metadata": {"a": [0, "\ud800"]}}, "metadata.a.1"),
            ({"metadata": {"a\0": 1}}, "metadata"),
            ({"metadata": {"a": float("nan")}}, "metadata.a"),
            ({"metadata": {"a": 10**4000}}, "metadata.a"),
            ({"metadata": {1: 2}}, "metadata"),
            ({"metadata": {"a": b"bytes"}}, "metadata.a"),
        ],
    )
    def test_bad_frames_are_refused_with_their_path(self, change: JsonObject, path: str) -> None:
        """B178."""
        assert refused("openai", {"id": "c1", "messages": [HELLO], **change}).path == path

    @pytest.mark.parametrize("conversation", [None, [], "x", 5, object(), nested(600)])
    def test_what_is_no_conversation_is_refused(self, conversation: object) -> None:
        for format in FORMATS:
            assert refused(format, conversation).path

    def test_refusals_can_be_logged_whatever_they_speak_of(self) -> None:
        error = refused("openai", {"id": "c1", "messages": [{"role": "x" * 10_000}], "\x1b[31m": 1})
        assert len(str(error)) < 300
        hostile = refused("openai", {"k\n" * 100: {"a": "\0"}})
        assert str(hostile).isprintable()
        assert len(str(hostile)) < 300

    def test_origin_id_may_have_two_hundred_characters(self) -> None:
        assert read("openai", HELLO, id="x" * 200).origin_id == "x" * 200

    def test_unknown_fields_are_warned_of_and_empty_ones_are_not(self) -> None:
        message = {**HELLO, "name": "bob", "audio": None, "annotations": []}
        assert read("openai", message, model="m").warnings == ("model: is not kept", "messages.0.name: is not kept")


class TestSystem:
    @pytest.mark.parametrize("role", ["system", "developer"])
    def test_first_system_message_is_the_prompt(self, role: str) -> None:
        given = read("openai", {"role": role, "content": "Be kind"}, HELLO)
        assert (given.system, len(given.messages), given.warnings) == ("Be kind", 1, ())

    def test_later_system_message_is_warned_of_and_kept_in_the_metadata(self) -> None:
        given = read("openai", {"role": "system", "content": "A"}, HELLO, {"role": "system", "content": "B"})
        assert given.system == "A"
        assert given.metadata == {"heddle.later_system": [{"index": 2, "content": "B"}]}
        assert [warning.split(":")[0] for warning in given.warnings] == ["messages.2"]

    def test_a_later_developer_message_keeps_its_role_in_the_metadata(self) -> None:
        given = read("openai", HELLO, {"role": "developer", "content": "B"})
        assert given.metadata == {"heddle.later_system": [{"index": 1, "role": "developer", "content": "B"}]}
        assert [warning.split(":")[0] for warning in given.warnings] == ["messages.1"]

    def test_a_developer_message_at_the_start_is_written_as_the_system_prompt(self) -> None:
        """Spec 9: the two roles mean the same."""
        written = again("openai", read("openai", {"role": "developer", "content": "Be kind"}, HELLO))
        assert (written.messages[0], written.losses) == ({"role": "system", "content": "Be kind"}, [])

    def test_system_message_after_the_start_never_becomes_the_prompt(self) -> None:
        given = read("openai", HELLO, {"role": "system", "content": "B"})
        assert given.system is None
        assert given.metadata["heddle.later_system"] == [{"index": 1, "content": "B"}]

    def test_prompt_beside_the_messages_wins_over_another_one_in_them(self) -> None:
        given = read("openai", {"role": "system", "content": "B"}, HELLO, system="A")
        assert given.system == "A"
        assert given.metadata["heddle.later_system"] == [{"index": 0, "content": "B"}]

    def test_prompt_written_twice_is_read_once(self) -> None:
        written = write("openai", said(("user", [content.text("hi")])), system="A")
        given = read("openai", *written.messages, system=written.system)
        assert (given.system, given.metadata, given.warnings) == ("A", {}, ())

    def test_anthropic_system_may_come_in_parts(self) -> None:
        parts = [{"type": "text", "text": "A"}, {"type": "text", "text": "B", "cache_control": {"type": "ephemeral"}}]
        given = read("anthropic", HELLO, system=parts)
        assert given.system == "A\nB"
        assert given.warnings == (
            "system.1.cache_control: is not kept",
            "system: has 2 text parts; joined with line breaks",
        )

    def test_reserved_metadata_is_replaced_with_a_warning(self) -> None:
        given = read("openai", HELLO, {"role": "system", "content": "B"}, metadata={"heddle.later_system": "mine"})
        assert given.metadata["heddle.later_system"] == [{"index": 1, "content": "B"}]
        assert "metadata.heddle.later_system: is reserved and was replaced" in given.warnings


class TestOpenAI:
    def test_text_and_tool_calls_keep_their_order(self) -> None:
        """B172."""
        given = read(
            "openai", HELLO, calling(call('{"q":1}', "a"), call("{}", "b"), content="Looking."), answer("x", "a")
        )
        assert [block["content_type"] for block in given.messages[1].blocks] == ["text", "tool_use", "tool_use"]
        assert given.messages[1].blocks[1] == content.tool_use("look", "a", {"q": 1})

    def test_conversation_without_losses_survives(self) -> None:
        """B172."""
        messages: list[JsonObject] = [
            {"role": "system", "content": "Be kind"},
            {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
            calling(call('{"q":"ä"}', "a"), call("[1]", "b"), content="Looking."),
            answer('{"found": ["ä", null, 1.5]}', "a"),
            answer("12.50", "b"),
            {"role": "assistant", "content": "Done."},
        ]
        written = again("openai", read("openai", *messages))
        assert written.messages == messages
        assert written.losses == []

    @pytest.mark.parametrize(
        ("said", "status"),
        [
            ("Error: user not found", "error"),
            ("\n error: user not found", "error"),
            ('{"error": "user not found"}', "error"),
            ('{"error": {"reason": 1}, "code": 404, "message": "x"}', "error"),
            ([{"type": "text", "text": "ERROR: in parts"}], "error"),
            ("Errors: 0", "success"),
            ("No error: fine", "success"),
            ('{"error": null}', "success"),
            ('{"error": ""}', "success"),
            ('{"error": 0.02, "value": 7}', "success"),
            ('["Error: in a list"]', "success"),
            ("", "success"),
        ],
    )
    def test_a_result_that_says_of_itself_that_it_failed_has_failed(self, said: object, status: str) -> None:
        """The format has no place for it, so nothing is lost by an export."""
        given = read("openai", calling(call("{}")), answer(said))
        assert given.messages[1].blocks[0]["status"] == status
        written = again("openai", given)
        assert written.losses == []
        assert read("openai", *written.messages).messages[1].blocks[0]["status"] == status

    @pytest.mark.parametrize(
        ("payload", "status"), [("Error: kept", "success"), ("All is well", "error"), ('{"error": "x"}', "success")]
    )
    def test_a_status_that_an_import_would_read_otherwise_is_a_loss(self, payload: str, status: str) -> None:
        result = content.tool_result("look", "u", status, payload)
        written = write("openai", said(("user", [content.text("hi")]), ONE_USE, ("roboto", [result])))
        assert [each for each in written.losses if f"the {status} status of the result of look is not kept" in each]

    @pytest.mark.parametrize("empty", [None, ""])
    def test_no_text_beside_tool_calls_makes_no_block(self, empty: str | None) -> None:
        given = read("openai", calling(call("{}"), content=empty), answer("x"))
        assert given.messages[0].blocks == [content.tool_use("look", "c", {})]
        assert again("openai", given).messages[0]["content"] is None

    def test_consecutive_results_join_into_one_message(self) -> None:
        given = read("openai", calling(call("{}", "a"), call("{}", "b")), answer("1", "a"), answer("2", "b"), HELLO)
        assert [message.role for message in given.messages] == ["assistant", "roboto", "user"]
        assert [block["tool_use_id"] for block in given.messages[1].blocks] == ["a", "b"]

    def test_results_take_their_name_from_the_use(self) -> None:
        bare = {"role": "tool", "tool_call_id": "c", "content": "x"}
        assert read("openai", calling(call("{}", name="find")), bare).messages[1].blocks[0]["tool_name"] == "find"

    def test_result_without_use_is_accepted_and_warned_of(self) -> None:
        orphan = {"role": "tool", "tool_call_id": "zz", "content": "x"}
        given = read("openai", HELLO, orphan)
        assert given.messages[1].blocks[0]["tool_name"] == "unknown"
        assert given.warnings == ("messages.1: has no open tool use 'zz'",)
        assert again("openai", given).messages[1] == orphan

    def test_use_without_result_is_accepted_and_warned_of(self) -> None:
        given = read("openai", calling(call("{}", "a")), HELLO, calling(call("{}", "b")))
        assert [warning.split(":")[0] for warning in given.warnings] == [
            "messages.0.tool_calls.0",
            "messages.2.tool_calls.0",
        ]

    def test_result_after_the_next_user_turn_is_too_late(self) -> None:
        given = read("openai", calling(call("{}")), HELLO, answer("x"))
        assert [warning.split(":")[0] for warning in given.warnings] == ["messages.0.tool_calls.0", "messages.2"]
        assert given.messages[2].blocks[0]["tool_name"] == "look"

    def test_repeated_use_id_is_warned_of(self) -> None:
        given = read("openai", calling(call("{}")), answer("1"), calling(call("{}")), answer("2"))
        assert given.warnings == ("messages.2.tool_calls.0: repeats the tool use id 'c'",)

    @pytest.mark.parametrize(
        "arguments",
        ["", "not json", "[1]", "5", "null", '{"a":1,"a":2}', '{"a":NaN}', '{"a":1e999}', '{"a":"\\u0000"}', '{"a":-0}',
         '{"a":' * 101 + "1" + "}" * 101, '{"a":' * 5000, '{"a":0.1000000000000000055511151231257827}'],
    )  # fmt: skip
    def test_arguments_that_are_no_exact_object_are_kept_verbatim(self, arguments: str) -> None:
        """B176."""
        given = read("openai", calling(call(arguments)), answer("x"))
        assert given.messages[0].blocks[0]["input"] is None
        assert given.messages[0].blocks[0]["raw_request"] == {"arguments": arguments}
        assert [warning.split(":")[0] for warning in given.warnings] == ["messages.0.tool_calls.0.function.arguments"]
        written = again("openai", given)
        assert written.messages[0]["tool_calls"] == [call(arguments)]
        assert written.losses == []

    def test_arguments_a_hundred_levels_deep_are_an_object(self) -> None:
        given = read("openai", calling(call('{"a":' * 100 + "1" + "}" * 100)), answer("x"))
        assert given.messages[0].blocks[0]["input"] is not None

    def test_arguments_given_as_object_are_taken_with_a_warning(self) -> None:
        loose: JsonObject = {"id": "c", "function": {"name": "look", "arguments": {"q": 1}}}
        given = read("openai", calling(loose), answer("x"))
        assert given.messages[0].blocks == [content.tool_use("look", "c", {"q": 1})]
        assert given.warnings == ("messages.0.tool_calls.0.function.arguments: is an object instead of JSON text",)

    def test_old_function_calls_are_read_with_made_up_ids(self) -> None:
        messages: list[JsonObject] = [
            {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}},
            {"role": "function", "name": "look", "content": "x"},
        ]
        given = read("openai", *messages)
        use, result = given.messages[0].blocks[0], given.messages[1].blocks[0]
        assert use["tool_use_id"] == result["tool_use_id"]
        assert [warning.split(":")[0] for warning in given.warnings] == ["messages.0.function_call", "messages.1"]
        assert read("openai", *messages) == given

    @pytest.mark.parametrize("kind", ["tool_use", "tool_result"])
    def test_parts_of_the_other_format_are_no_foreign_ones(self, kind: str) -> None:
        """As a conversation without its tools it would be there, and the right import would change nothing."""
        part = {"type": kind, "id": "u", "name": "look", "input": {}}
        found = refused("openai", {"id": "c", "messages": [HELLO, {"role": "assistant", "content": [part]}]})
        assert found.path == "messages.1.content.0" and "format anthropic" in found.reason

    def test_foreign_parts_are_named_and_kept_in_the_metadata(self) -> None:
        image = {"type": "image_url", "image_url": {"url": "data:,x"}}
        custom = {"id": "x", "type": "custom", "custom": {"name": "sh", "input": "ls"}}
        user = {"role": "user", "content": [{"type": "text", "text": "see"}, image]}
        given = read("openai", user, calling(custom, content="ok"))
        assert given.messages[0].blocks == [content.text("see")]
        assert given.metadata["heddle.dropped_parts"] == [
            {"path": "messages.0.content.1", "part": image},
            {"path": "messages.1.tool_calls.0", "part": custom},
        ]
        assert "image_url" in given.warnings[0]
        assert given.warnings[0].startswith("messages.0.content.1: ")

    @pytest.mark.parametrize("spelt", [{"content": [{"type": "refusal", "refusal": "No."}]}, {"refusal": "No."}])
    def test_refusals_are_text_with_a_warning(self, spelt: JsonObject) -> None:
        given = read("openai", {"role": "assistant", **spelt})
        assert given.messages[0].blocks == [content.text("No.")]
        assert len(given.warnings) == 1

    def test_empty_message_stays_as_one_without_blocks(self) -> None:
        given = read("openai", {"role": "user", "content": ""})
        assert given.messages[0].blocks == []
        assert given.warnings == ("messages.0: has no content",)
        assert again("openai", given).messages == [{"role": "user", "content": ""}]

    @pytest.mark.parametrize(
        ("message", "path"),
        [
            ({"role": "user", "content": 5}, "messages.0.content"),
            ({"role": "user", "content": ["hi"]}, "messages.0.content.0"),
            ({"role": "user", "content": [{"text": "hi"}]}, "messages.0.content.0.type"),
            ({"role": "user", "content": [{"type": "text"}]}, "messages.0.content.0.text"),
            ({"role": "system"}, "messages.0.content"),
            ({"role": "assistant", "tool_calls": {}}, "messages.0.tool_calls"),
            (calling({"function": {}}), "messages.0.tool_calls.0.id"),
            (calling({"id": "a"}), "messages.0.tool_calls.0.function"),
            (calling(call("{}", name="")), "messages.0.tool_calls.0.function.name"),
            (calling({"id": "a", "function": {"name": "n"}}), "messages.0.tool_calls.0.function.arguments"),
            ({"role": "tool", "content": "x"}, "messages.0.tool_call_id"),
            ({"role": "function", "content": "x"}, "messages.0.name"),
            (answer(5), "messages.0.content"),
            ({**HELLO, "created": "soon"}, "messages.0.created"),
        ],
    )
    def test_malformed_messages_are_refused_with_their_path(self, message: JsonObject, path: str) -> None:
        """B178."""
        assert refused("openai", {"id": "c1", "messages": [message]}).path == path

    def test_fragments_of_an_answer_are_one_text(self) -> None:
        fragments = said(("assistant", [content.text("Hel"), content.text("lo"), content.tool_use("look", "u", {})]))
        assert write("openai", fragments).messages[0]["content"] == "Hello"

    @pytest.mark.parametrize(
        "parts",
        [
            [{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}],
            [{"type": "text", "text": "Hel"}, {"type": "refusal", "refusal": "lo"}],
        ],
    )
    def test_several_texts_of_an_answer_are_warned_of_because_an_export_has_one(self, parts: list[JsonObject]) -> None:
        given = read("openai", {"role": "assistant", "content": parts})
        assert given.messages[0].blocks == [content.text("Hel"), content.text("lo")]
        assert given.warnings[-1] == "messages.0.content: has 2 texts; shown and exported as one"
        assert again("openai", given).messages == [{"role": "assistant", "content": "Hello"}]

    def test_text_behind_a_tool_use_is_a_named_loss(self) -> None:
        written = write("openai", said(("assistant", [content.tool_use("look", "u", {}), content.text("after")])))
        assert written.messages[0]["content"] == "after"
        assert written.losses == ["message 0: the order of its texts and tool uses is not kept; text comes first"]

    def test_error_result_is_a_named_loss(self) -> None:
        """B174."""
        written = write("openai", said(ONE_USE, ("roboto", [content.tool_result("look", "u", "error", "boom")])))
        assert written.messages[1]["content"] == "boom"
        assert written.losses == ["message 1: the error status of the result of look is not kept"]

    def test_results_of_two_messages_in_a_row_are_a_named_loss(self) -> None:
        result: tuple[Role, list[BlockDict]] = ("roboto", [content.tool_result("look", "u", "success", "x")])
        assert write("openai", said(ONE_USE, result, result)).losses == [
            "message 2: its results are merged with those of the message before"
        ]

    def test_error_stands_apart_from_the_words_before_it(self) -> None:
        written = write(
            "openai", said(("assistant", [content.text("Hm"), content.error("boom", "E1"), content.text("!")]))
        )
        assert written.messages[0]["content"] == "Hm\n\nError: boom (E1)\n\n!"
        assert written.losses == ["message 0: its error is exported as text"]


class TestResultTexts:
    @pytest.mark.parametrize("value", [{}, [], {"a": None, "b": [1, 2.5, True, "ä"]}, [{"x": -0.0}], {"n": 10**30}])
    @pytest.mark.parametrize("format", FOREIGN)
    def test_json_is_kept_as_value_and_written_canonically(self, format: str, value: JsonObject) -> None:
        """B175."""
        snapshots = said(ONE_USE, ("roboto", [content.tool_result("look", "u", "success", value)]))
        written = write(format, snapshots)
        assert _result_text(written) == canonical_json(value)
        assert read(format, *written.messages).messages[1].blocks[0]["payload"] == value
        assert written.losses == []

    @pytest.mark.parametrize(
        "text",
        ["", " ", "12", "12.50", "007", "1e5", "true", "null", '"quoted"', "plain", "{broken", "[1", '{"a":1,"a":2}',
         "[NaN]", "[Infinity]", "[1e999]", "[-0]", "[0.1234567890123456789]", '["\\ud800"]', '["\\u0000"]',
         "[1e-999999999999999999999]", "[" * 101 + "]" * 101, "[" * 100_000, "[" + "9" * 5000 + "]", "[1] and more"],
    )  # fmt: skip
    @pytest.mark.parametrize("format", FOREIGN)
    def test_what_is_no_exact_json_object_or_array_stays_text(self, format: str, text: str) -> None:
        """B175."""
        snapshots = said(ONE_USE, ("roboto", [content.tool_result("look", "u", "success", text)]))
        written = write(format, snapshots)
        assert written.losses == []
        assert read(format, *written.messages).messages[1].blocks[0]["payload"] == text

    @pytest.mark.parametrize("format", FOREIGN)
    def test_text_that_would_read_back_as_a_value_is_a_named_loss(self, format: str) -> None:
        snapshots = said(ONE_USE, ("roboto", [content.tool_result("look", "u", "success", '{"a": 1}')]))
        assert len(write(format, snapshots).losses) == 1

    def test_result_without_payload(self) -> None:
        snapshots = said(ONE_USE, ("roboto", [content.tool_result("look", "u", "success", None)]))
        written = write("anthropic", snapshots)
        assert written.messages[1]["content"] == [{"type": "tool_result", "tool_use_id": "u"}]
        assert written.losses == []
        assert len(write("openai", snapshots).losses) == len(write("data_harness", snapshots).losses) == 1


def _result_text(written: Rendered) -> str:
    message = written.messages[1]
    return str(message["content"] if isinstance(message["content"], str) else message["content"][0]["content"])


class TestAnthropicAndDataHarness:
    def test_anthropic_conversation_without_losses_survives(self) -> None:
        """B172."""
        messages: list[JsonObject] = [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": [
                {"type": "text", "text": "Looking."},
                {"type": "tool_use", "id": "a", "name": "look", "input": {"q": 1}},
                {"type": "text", "text": "And again."},
                {"type": "tool_use", "id": "b", "name": "look", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": '{"found": []}'},
                {"type": "tool_result", "tool_use_id": "b", "content": "boom", "is_error": True},
                {"type": "text", "text": "Well?"},
            ]},
            {"role": "assistant", "content": "Done."},
        ]  # fmt: skip
        given = read("anthropic", *messages, system="Be kind")
        written = again("anthropic", given)
        assert given.warnings == ()
        assert (written.messages, written.system, written.losses) == (messages, "Be kind", [])

    def test_data_harness_export_rebuilds_the_real_objects(self) -> None:
        """B171."""
        written = write("data_harness", said(
            ("user", [content.text("hi")]),
            ("assistant", [content.text("Looking."), content.tool_use("look", "a", {"q": 1})]),
            ("roboto", [content.tool_result("look", "a", "error", {"why": "ä"})]),
            ("user", [content.text("Well?")]),
        ))  # fmt: skip
        assert [rebuilt(message) for message in written.messages] == [
            harness.Message("user", [harness.TextBlock("hi")]),
            harness.Message("assistant", [harness.TextBlock("Looking."), harness.ToolUseBlock("a", "look", {"q": 1})]),
            harness.Message(
                "user", [harness.ToolResultBlock("a", '{"why":"ä"}', is_error=True), harness.TextBlock("Well?")]
            ),
        ]
        assert written.losses == []

    @pytest.mark.parametrize("format", ["anthropic", "data_harness"])
    def test_results_and_texts_split_and_join_again(self, format: str) -> None:
        """B173."""
        mixed = write(format, said(
            ONE_USE,
            ("roboto", [content.tool_result("look", "u", "success", "x")]),
            ("user", [content.text("one"), content.text("two")]),
        ))  # fmt: skip
        assert [len(message["content"]) for message in mixed.messages] == [1, 3]
        given = read(format, *mixed.messages)
        assert [(message.role, len(message.blocks)) for message in given.messages] == [
            ("assistant", 1),
            ("roboto", 1),
            ("user", 2),
        ]
        assert again(format, given).messages == mixed.messages

    @pytest.mark.parametrize("format", ["anthropic", "data_harness"])
    def test_a_message_behind_results_says_the_same_as_one_with_them(self, format: str) -> None:
        """B173, spec 9: an export writes one, as both read it."""
        talk: list[tuple[Role, list[BlockDict]]] = [
            ONE_USE,
            ("roboto", [content.tool_result("look", "u", "success", "x")]),
            ("user", [content.text("one"), content.text("two")]),
        ]
        calls, mixed = write(format, said(*talk)).messages
        apart = [{"role": "user", "content": mixed["content"][:1]}, {"role": "user", "content": mixed["content"][1:]}]
        for messages in ([calls, mixed], [calls, *apart]):
            given = read(format, *messages)
            assert [(message.role, message.blocks) for message in given.messages] == talk
            assert given.warnings == ()
            assert again(format, given).messages == [calls, mixed]

    def test_text_before_results_is_warned_of(self) -> None:
        """B173."""
        use = {"tool_use_id": "u", "tool_name": "look", "tool_input": {}}
        result = {"tool_use_id": "u", "content": "x", "is_error": False}
        given = read(
            "data_harness",
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [{"text": "a"}, result]},
        )
        assert [message.role for message in given.messages] == ["assistant", "roboto", "user"]
        assert [warning.split(":")[0] for warning in given.warnings] == ["messages.1.content"]

    def test_a_user_message_without_text_stays_apart_from_results(self) -> None:
        written = write(
            "anthropic", said(ONE_USE, ("roboto", [content.tool_result("look", "u", "success", "x")]), ("user", []))
        )
        assert len(written.messages) == 3

    @pytest.mark.parametrize("format", ["anthropic", "data_harness"])
    def test_statuses_map_both_ways(self, format: str) -> None:
        """B174."""
        for status in ("success", "error"):
            written = write(format, said(ONE_USE, ("roboto", [content.tool_result("look", "u", status, "x")])))
            assert written.losses == []
            assert read(format, *written.messages).messages[1].blocks[0]["status"] == status

    @pytest.mark.parametrize("format", FOREIGN)
    def test_declined_exports_as_error_and_is_a_named_loss(self, format: str) -> None:
        """B174."""
        written = write(format, said(ONE_USE, ("roboto", [content.tool_result("look", "u", "declined", "no")])))
        assert "message 1: the declined use of look is exported as an error" in written.losses
        if format != "openai":
            assert written.messages[1]["content"][0]["is_error"] is True

    def test_result_content_may_come_in_parts(self) -> None:
        image = {"type": "image", "source": {}}
        use = {"type": "tool_use", "id": "u", "name": "look", "input": {}}
        result = {"type": "tool_result", "tool_use_id": "u", "content": [{"type": "text", "text": "[1]"}, image]}
        given = read("anthropic", {"role": "assistant", "content": [use]}, {"role": "user", "content": [result]})
        assert given.messages[1].blocks[0]["payload"] == [1]
        path = "messages.1.content.0.content.1"
        assert given.metadata["heddle.dropped_parts"] == [{"path": path, "part": image}]
        assert [warning.split(":")[0] for warning in given.warnings] == [path]

    def test_thinking_is_named_and_kept_in_the_metadata(self) -> None:
        thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
        given = read("anthropic", {"role": "assistant", "content": [thought, {"type": "text", "text": "ok"}]})
        assert given.messages[0].blocks == [content.text("ok")]
        assert given.metadata["heddle.dropped_parts"][0]["part"] == thought

    def test_too_deep_input_is_kept_verbatim(self) -> None:
        deep = {"a": nested(100)}
        given = read(
            "anthropic", {"role": "assistant", "content": [{"type": "tool_use", "id": "u", "name": "n", "input": deep}]}
        )
        block = given.messages[0].blocks[0]
        assert block["input"] is None
        assert json.loads(block["raw_request"]["arguments"]) == deep
        assert again("anthropic", given).losses == [
            "message 0: the use of n has arguments that are not a JSON object; left out"
        ]

    @pytest.mark.parametrize(
        ("format", "message", "path"),
        [
            ("anthropic", {"role": "user", "content": None}, "messages.0.content"),
            ("anthropic", {"role": "tool", "content": "x"}, "messages.0.role"),
            ("anthropic", {"role": "user", "content": [{"text": "x"}]}, "messages.0.content.0.type"),
            ("anthropic", {"role": "user", "content": [{"type": "tool_use"}]}, "messages.0.content.0"),
            ("anthropic", {"role": "assistant", "content": [{"type": "tool_result"}]}, "messages.0.content.0"),
            ("anthropic", {"role": "user", "content": [{"type": "tool_result"}]}, "messages.0.content.0.tool_use_id"),
            ("anthropic", {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "u", "is_error": 1}]},
             "messages.0.content.0.is_error"),
            ("anthropic", {"role": "assistant", "content": [{"type": "tool_use", "id": "u", "name": "n", "input": []}]},
             "messages.0.content.0.input"),
            ("data_harness", {"role": "user", "content": "text"}, "messages.0.content"),
            ("data_harness", {"role": "system", "content": []}, "messages.0.role"),
            ("data_harness", {"role": "user", "content": [{"type": "image"}]}, "messages.0.content.0"),
            ("data_harness", {"role": "user", "content": [{"text": None}]}, "messages.0.content.0.text"),
            ("data_harness", {"role": "user", "content": [{"tool_use_id": "u", "content": []}]},
             "messages.0.content.0.content"),
            ("data_harness",
             {"role": "assistant", "content": [{"tool_use_id": "u", "tool_name": "n", "tool_input": "x"}]},
             "messages.0.content.0.tool_input"),
        ],
    )  # fmt: skip
    def test_malformed_messages_are_refused_with_their_path(self, format: str, message: JsonObject, path: str) -> None:
        """B178."""
        assert refused(format, {"id": "c1", "messages": [message]}).path == path

    @pytest.mark.parametrize("format", ["anthropic", "data_harness"])
    def test_a_name_that_does_not_follow_from_the_use_is_a_named_loss(self, format: str) -> None:
        written = write(format, said(ONE_USE, ("roboto", [content.tool_result("other", "u", "success", "x")])))
        assert written.losses == ["message 1: the tool name other of a result is not kept"]


def rebuilt(message: JsonObject) -> object:
    """A message as the real package makes it; a missing or surplus field is a TypeError there."""
    kinds = {"text": harness.TextBlock, "tool_input": harness.ToolUseBlock, "is_error": harness.ToolResultBlock}
    blocks = [next(made for key, made in kinds.items() if key in block)(**block) for block in message["content"]]
    return harness.Message(role=message["role"], content=blocks)


class TestOpenTelemetry:
    def test_what_a_result_says_of_its_run_survives(self) -> None:
        """Spec 9: `is_error` and `runtime_ms` beside a response; 0 is unknown and not written."""
        results = [
            content.tool_result("look", "u", "error", "boom", runtime_ms=1200),
            content.tool_result("look", "v", "success", "x"),
        ]
        uses = [content.tool_use("look", "u", {}), content.tool_use("look", "v", {})]
        written = write("otel", said(("assistant", uses), ("roboto", results)))
        assert written.messages[1]["parts"] == [
            {"type": "tool_call_response", "id": "u", "response": "boom", "is_error": True, "runtime_ms": 1200},
            {"type": "tool_call_response", "id": "v", "response": "x"},
        ]
        assert written.losses == []
        assert read("otel", *written.messages).messages[1].blocks == results


class TestRoboto:
    def test_everything_the_records_hold_survives(self) -> None:
        """B172, B174."""
        context = content.ViewingContext(dataset_ids=["ds_1"], misc_context={"tab": None})
        snapshots = said(
            ("user", [content.text("hi"), content.ClientContextBlock(context=context).model_dump()]),
            ("assistant", [content.tool_use("look", "u", None, refused=True), content.error("boom", "E1")]),
            ("roboto", [content.tool_result("look", "u", "declined", {"why": None}, runtime_ms=12)]),
        )
        written = write("roboto", snapshots)
        given = read("roboto", *written.messages)
        assert [(message.role, message.blocks, message.created) for message in given.messages] == [
            (message.role, message.blocks, NOON) for message in snapshots
        ]
        assert (given.warnings, written.losses) == ((), [])

    def test_content_type_may_be_absent(self) -> None:
        given = read(
            "roboto", {"role": "assistant", "content": [{"text": "a"}, {"tool_name": "n", "tool_use_id": "u"}]}
        )
        assert given.messages[0].blocks == [content.text("a"), content.tool_use("n", "u", None)]

    def test_message_status_is_warned_of(self) -> None:
        given = read("roboto", {"role": "assistant", "status": "failed", "content": [{"text": "a"}]})
        assert given.warnings == ("messages.0.status: is not kept; imported messages are completed",)

    def test_too_deep_payload_becomes_text(self) -> None:
        result = {"tool_name": "n", "tool_use_id": "u", "runtime_ms": 1, "status": "success", "payload": nested(101)}
        given = read("roboto", {"role": "roboto", "content": [result]})
        assert given.messages[0].blocks[0]["payload"] == json.dumps(nested(101))

    @pytest.mark.parametrize(
        ("block", "path"),
        [
            ({"text": 5}, "messages.0.content.0.text"),
            ({"x": 1}, "messages.0.content.0"),
            ({"content_type": "deleted"}, "messages.0.content.0"),
            ({"content_type": "error", "text": "a"}, "messages.0.content.0"),
            ({"tool_name": "", "tool_use_id": "u"}, "messages.0.content.0.tool_name"),
            (
                {"tool_name": "n", "tool_use_id": "u", "runtime_ms": True, "status": "success"},
                "messages.0.content.0.runtime_ms",
            ),
            ({"tool_name": "n", "tool_use_id": "u", "runtime_ms": 1, "status": "odd"}, "messages.0.content.0.status"),
            (
                {"tool_name": "n", "tool_use_id": "u", "runtime_ms": 1, "status": "success", "payload": 5},
                "messages.0.content.0.payload",
            ),
            ({"context": {"view_ids": 5}}, "messages.0.content.0.context.view_ids"),
            (
                {"context": {"misc_context": {"a": nested(99)}}},
                "messages.0.content.0.context.misc_context.a" + ".0" * 98,
            ),
        ],
    )
    def test_malformed_blocks_are_refused_with_their_path(self, block: JsonObject, path: str) -> None:
        """B178."""
        assert refused("roboto", {"id": "c1", "messages": [{"role": "roboto", "content": [block]}]}).path == path


class TestLosses:
    @pytest.mark.parametrize("format", FOREIGN)
    def test_whatever_a_foreign_dialect_cannot_hold_is_named(self, format: str) -> None:
        context = {"content_type": "client_context", "context": {}}
        refused_use = content.tool_use("look", "u", None, refused=True)
        written = write(format, said(
            ("user", [content.text("hi"), context]),
            ("assistant", [content.error("boom"), refused_use]),
            ("roboto", [content.text("note")]),
        ))  # fmt: skip
        assert sorted(written.losses) == [
            "message 0: its client_context block is left out",
            "message 1: its error is exported as text",
            "message 1: the mark that the server answered the use of look is not kept",
            "message 1: the use of look has no arguments; exported as {}",
            "message 2: its text from the system is exported as the user's",
        ]

    @pytest.mark.parametrize("format", EXPORT_FORMATS)
    def test_what_an_import_kept_in_the_metadata_only_is_named(self, format: str) -> None:
        image = {"type": "image_url", "image_url": {"url": "data:,x"}}
        given = read("openai", HELLO, {"role": "system", "content": "B"}, {"role": "user", "content": [image, image]})
        told = said(("user", [content.text("hi")]))
        assert write(format, told, metadata=given.metadata).losses == [
            "metadata: heddle.later_system has 1 item of the import that no message holds",
            "metadata: heddle.dropped_parts has 2 items of the import that no message holds",
        ]
        foreign = {"heddle.later_system": "mine", "heddle.dropped_parts": [], "other": [1]}
        assert write(format, told, metadata=foreign).losses == []

    def test_blocks_in_messages_of_the_wrong_role_are_named(self) -> None:
        result = content.tool_result("look", "u", "success", "x")
        written = write("openai", said(("user", [content.tool_use("look", "u", {})]), ("assistant", [result])))
        assert written.losses == [
            "message 0: a tool use in a message of role user is left out",
            "message 1: a tool result in a message of role assistant is left out",
        ]

    @pytest.mark.parametrize("format", FOREIGN)
    def test_unfinished_and_failed_messages_are_named(self, format: str) -> None:
        written = write(format, said(("assistant", [content.text("Hm")]), status="failed"))
        assert written.losses == ["message 0: its status failed is not kept"]

    @pytest.mark.parametrize("format", EXPORT_FORMATS)
    def test_raw_payloads_never_leave(self, format: str) -> None:
        """B180."""
        secret = {"token": "s3cret"}
        written = write(format, said(
            ("assistant", [content.tool_use("look", "u", {"q": 1}, raw=secret)]),
            ("assistant", [content.tool_use("look", "v", None, raw=secret)]),
            ("roboto", [content.tool_result("look", "u", "success", "x", raw=secret)]),
        ))  # fmt: skip
        assert "s3cret" not in json.dumps([written.messages, written.text, written.losses])

    @pytest.mark.parametrize("format", ["anthropic", "data_harness", "roboto"])
    def test_verbatim_arguments_without_a_place_are_a_named_loss(self, format: str) -> None:
        """B176, B180."""
        broken = content.tool_use("look", "u", None, raw={"arguments": "{broken"})
        written = write(format, said(("assistant", [broken])))
        assert "{broken" not in json.dumps(written.messages)
        assert written.losses == ["message 0: the use of look has arguments that are not a JSON object; left out"]

    @pytest.mark.parametrize("format", EXPORT_FORMATS)
    def test_verbatim_arguments_that_are_not_for_the_reader_are_a_named_loss_everywhere(self, format: str) -> None:
        """B180."""
        broken = content.tool_use("look", "u", None, raw={"arguments": "{broken"})
        written = write(format, said(("assistant", [broken])), with_verbatim=False)
        assert "{broken" not in json.dumps([written.messages, written.text])
        assert written.losses == ["message 0: the use of look has arguments that are not a JSON object; left out"]


class TestForPeople:
    HOSTILE = (
        "# Fake\n\n## User\n```\n<!-- <script>alert(1)</script>\r## Assistant\n\n[9] Assistant, 2024\n\x1b[2J</div>"
    )

    def conversation(self) -> list[MessageSnapshot]:
        return said(
            ("user", [content.text(self.HOSTILE)]),
            ("assistant", [content.text("Loo"), content.text("king."), content.tool_use("lo`ok", "u", {"q": "```"})]),
            ("roboto", [content.tool_result("lo`ok", "u", "error", f"````\n{self.HOSTILE}", runtime_ms=3)]),
            ("assistant", [content.error("boom", "E1")]),
        )

    def test_markdown_has_one_section_a_message_whatever_they_say(self) -> None:
        text = write("markdown", self.conversation(), system=self.HOSTILE, title="A *trip*\n# to <b>").text
        tokens = MarkdownIt("commonmark").parse(text)
        headings = [
            tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open" and token.level == 0
        ]
        assert headings == [
            r"A \*trip\* \# to \<b\>", "System prompt", "User", "Assistant", "Tools", "Assistant",
        ]  # fmt: skip
        assert not [token for token in tokens if token.type == "html_block" and token.level == 0]

    def test_markdown_shows_calls_results_and_errors(self) -> None:
        text = write("markdown", self.conversation()).text
        assert "> Looking." in text
        fences = [
            token.content
            for token in MarkdownIt("commonmark").parse(text)
            if token.type == "fence" and token.level == 0
        ]
        assert fences[0] == '{"q":"```"}\n'
        assert fences[1].startswith("````\n# Fake")
        assert "error, 3 ms" in text
        assert "> boom (E1)" in text

    def test_transcript_cannot_be_forged(self) -> None:
        text = write("transcript", self.conversation(), system=self.HOSTILE, title="A\nB").text
        assert [line for line in text.splitlines() if line and not line.startswith("    ")] == [
            "A B",
            "Thread ags_1",
            "System prompt",
            "[0] User, 2024-05-15 12:00 UTC",
            "[1] Assistant, 2024-05-15 12:00 UTC",
            "[2] Tools, 2024-05-15 12:00 UTC",
            "[3] Assistant, 2024-05-15 12:00 UTC",
        ]
        assert "\x1b" not in text
        assert '    -> lo`ok {"q":"```"}' in text
        assert "    !! boom (E1)" in text

    def test_unfinished_messages_say_so(self) -> None:
        snapshots = said(("assistant", [content.text("Hm")]), status="cancelled")
        assert "12:00 UTC, cancelled" in write("markdown", snapshots).text
        assert "12:00 UTC, cancelled" in write("transcript", snapshots).text

    @pytest.mark.parametrize("format", ["markdown", "transcript"])
    def test_viewing_context_is_a_named_loss(self, format: str) -> None:
        context = {"content_type": "client_context", "context": {}}
        assert write(format, said(("user", [context]))).losses == ["message 0: its client_context block is left out"]


def test_reading_and_writing_need_no_web_framework() -> None:
    program = "import sys, threads.dialects; sys.exit('django' in sys.modules)"
    root = Path(__file__).resolve().parents[2]
    assert subprocess.run([sys.executable, "-c", program], cwd=root, check=False).returncode == 0


# What reading costs


def use_in(format: str, use_id: str) -> JsonObject:
    """An assistant message with one tool use and, where the format can, a text."""
    text, arguments = {"type": "text", "text": "t"}, "{}"
    match format:
        case "openai":
            calls = [{"id": use_id, "function": {"name": "look", "arguments": arguments}}]
            return {"role": "assistant", "content": "t", "tool_calls": calls}
        case "anthropic":
            return {
                "role": "assistant",
                "content": [text, {"type": "tool_use", "id": use_id, "name": "look", "input": {}}],
            }
        case "data_harness":
            return {
                "role": "assistant",
                "content": [{"text": "t"}, {"tool_use_id": use_id, "tool_name": "look", "tool_input": {}}],
            }
        case "roboto":
            use = {"content_type": "tool_use", "tool_use_id": use_id, "tool_name": "look", "input": {}}
            return {"role": "assistant", "content": [{"content_type": "text", "text": "t"}, use]}
    part = {"type": "tool_call", "id": use_id, "name": "look", "arguments": {}}
    return {"role": "assistant", "parts": [{"type": "text", "content": "t"}, part]}


@pytest.mark.parametrize("format", FORMATS)
def test_pieces_of_content_are_counted_while_they_are_read(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Told is the limit, not the fault behind it: that is not read any more."""
    monkeypatch.setattr("threads.dialects.reading.MOST_BLOCKS", 20)
    messages = [use_in(format, f"u{number}") for number in range(10)]
    assert sum(len(message.blocks) for message in read(format, *messages).messages) == 20
    found = refused(format, {"id": "c", "messages": [*messages, use_in(format, "u10"), {"role": "nobody"}]})
    assert (found.path, found.reason) == ("messages", "has more than 20 pieces of content, the most for an import")


def test_the_calls_of_one_message_and_the_results_of_many_are_counted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("threads.dialects.reading.MOST_BLOCKS", 20)
    calls = [call("{}", f"c{number}") for number in range(21)]
    results = [{"role": "tool", "tool_call_id": "c0", "content": "x"} for _ in range(20)]
    for messages in ([calling(*calls, {"id": ""})], [calling(calls[0]), *results, {"role": "nobody"}]):
        found = refused("openai", {"id": "c", "messages": messages})
        assert found.path == "messages" and found.reason.startswith("has more than 20 pieces")


def steps_of(format: str, messages: list[JsonObject]) -> int:
    """How many lines of Python reading these messages takes: work that no other process slows down."""
    steps = 0

    def count(frame: FrameType, event: str, _: object) -> object:
        nonlocal steps
        steps += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        parse(format, {"id": "c", "messages": messages})
    finally:
        sys.settrace(before)
    return steps


@pytest.mark.parametrize("called", ["look", "other"])
@pytest.mark.parametrize("format", ["openai", "otel"])
def test_results_without_an_id_do_not_look_through_all_open_calls(format: str, called: str) -> None:
    def messages(count: int) -> list[JsonObject]:
        if format == "openai":
            result = {"role": "function", "name": called, "content": "x"}
        else:
            result = {"role": "tool", "parts": [{"type": "tool_call_response", "name": called, "response": "x"}]}
        return [*(use_in(format, f"u{number}") for number in range(count)), *[result] * count]

    assert steps_of(format, messages(400)) < 5 * steps_of(format, messages(100))


@pytest.mark.parametrize(("format", "order"), [("openai", [3, 1]), ("otel", [1, 3])])
def test_results_without_an_id_belong_to_the_calls_of_their_name(format: str, order: list[int]) -> None:
    """In OpenAI's old format to the latest open one, in the conventions' to the first; a repeated id counts once."""

    def named(use: JsonObject, name: str) -> JsonObject:
        return json.loads(json.dumps(use).replace('"look"', f'"{name}"'))  # type: ignore[no-any-return]

    uses = [use_in(format, "u1"), named(use_in(format, "u2"), "other"), use_in(format, "u3"), use_in(format, "u3")]
    if format == "openai":
        result = {"role": "function", "name": "look", "content": "x"}
    else:
        result = {"role": "tool", "parts": [{"type": "tool_call_response", "name": "look", "response": "x"}]}
    blocks = [block for message in read(format, *uses, result, result, result).messages for block in message.blocks]
    answered = [block["tool_use_id"] for block in blocks if block["content_type"] == "tool_result"]
    assert answered[:2] == [f"u{number}" for number in order] and not answered[2].startswith("u")
