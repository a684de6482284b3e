"""What a request may hold (decision 014): one more is refused by the name of its field, soon and in little memory."""

import time
import tracemalloc

import pytest
from django.db import connection

from accounts.models import mint
from catalogue import importing, schema_rules
from tests import make
from tests.conftest import Api, data_of, refusal_of
from threads.dialects import FORMATS
from threads.models import Block, ClientTool, Subject, Thread

HELLO = {"messages": [make.say("Hi")]}
GO_ON = make.say("Go on")
LONG = "i" * 201


def use(name: str = "look", use_id: str = "u1") -> dict[str, object]:
    return {"tool_name": name, "tool_use_id": use_id, "input": {}}


def result(name: str = "look", use_id: str = "u1") -> dict[str, object]:
    return {"tool_name": name, "tool_use_id": use_id, "runtime_ms": 1, "status": "success"}


def schema_of(size: int) -> dict[str, object]:
    """An input schema of about that many bytes."""
    return {"type": "object", "properties": {f"p{n:05}": {"type": "string", "minLength": 1} for n in range(size // 42)}}


@pytest.fixture
def looked_at(monkeypatch):
    """Of each schema that is checked, how many transactions were open."""
    seen: list[int] = []
    size = schema_rules.canonical_json

    def look(schema):
        seen.append(len(connection.savepoint_ids))
        return size(schema)

    monkeypatch.setattr(schema_rules, "canonical_json", look)
    return seen


# Memory


ZEROS = b"[" + b"0," * 100_000 + b"0]"
MALFORMED = {
    "messages": ("POST", "threads", b'{"messages": ' + ZEROS + b"}"),
    "message.content": ("POST", "threads/{}/messages", b'{"message": {"role": "user", "content": ' + ZEROS + b"}}"),
    "invoke_skills": ("POST", "threads", b'{"invoke_skills": ' + ZEROS + b"}"),
    "client_tools": ("POST", "threads", b'{"client_tools": ' + ZEROS + b"}"),
    "query": ("POST", "threads/search", b'{"query": ' + ZEROS + b"}"),
    "query.1": ("POST", "threads/search", b'{"query": [' + ZEROS + b', "\\u0000"]}'),
    "k0": ("PATCH", "threads/{}", b'{"title": "New",' + b",".join(b'"k%d": 0' % n for n in range(20_000)) + b"}"),
}


@pytest.mark.parametrize("field", MALFORMED)
def test_a_malformed_body_takes_a_few_times_its_size(who, api, field):
    method, path, raw = MALFORMED[field]
    path = path.format(make.thread(who.alice).thread_id)
    client = api("alice")
    client.get("threads")  # what is loaded once is not the request's
    tracemalloc.start()
    response = client.request(method, path, raw)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    status, code, message = refusal_of(response)
    assert (status, code) == (400, "RobotoInvalidRequestException")
    assert message.startswith(f"{field}: ")
    assert peak < 1_000_000 + 20 * len(raw)


# Messages, blocks, subjects


def test_a_start_has_at_most_a_thousand_messages(api):
    data_of(api("alice").post("threads", {"messages": [make.say("Hi")] * 1000}))
    status, _, message = refusal_of(api("alice").post("threads", {"messages": [make.say("Hi")] * 1001}))
    assert status == 400 and message.startswith("messages: ") and "1000" in message
    assert Thread.objects.count() == 1


def test_a_request_has_at_most_five_thousand_blocks_in_all_its_messages(api, who):
    def said(*counts):
        return [{"role": "user", "content": [{"text": "a"}] * count} for count in counts]

    data_of(api("alice").post("threads", {"messages": said(2000, 3000)}))
    for messages in (said(2000, 3001), said(5001)):
        status, _, message = refusal_of(api("alice").post("threads", {"messages": messages}))
        assert status == 400 and message.startswith("messages") and "5000" in message
    path = f"threads/{make.thread(who.alice).thread_id}/messages"
    refused = refusal_of(api("alice").post(path, {"message": said(5001)[0]}))
    assert refused[0] == 400 and refused[2].startswith("message.content: ")
    assert Block.objects.filter(text="a").count() == 5000


def test_a_thread_has_at_most_a_hundred_subjects_and_they_are_counted_first(api, who):
    path = f"threads/{make.thread(who.alice).thread_id}/subjects"
    subjects = [{"association_id": f"ds_{n}", "note": ""} for n in range(101)]
    assert len(data_of(api("alice").put(path, subjects[:100]))) == 100
    for body in (subjects, [0] * 101):
        assert refusal_of(api("alice").put(path, body))[2] == "body: must have at most 100 items"
    assert Subject.objects.count() == 100


# Skills


@pytest.fixture
def skill(api):
    """Writes a skill of Alice's with a body of that many characters and gives its id."""

    def write(characters, name="s"):
        body = {"name": name, "description": "d", "body": "x" * characters}
        return {"skill_id": data_of(api("alice").post("/v1/skills/create", body))["skill_id"]}

    return write


def test_a_request_invokes_at_most_twenty_skills(api, who, skill):
    one, thread = skill(10), make.thread(who.alice)
    data_of(api("alice").post("threads", {"invoke_skills": [one] * 20}))
    for path in ("threads", f"threads/{thread.thread_id}/messages"):
        for many in ([one] * 21, [{"skill_id": f"sk_{n:026}"} for n in range(40_000)]):
            status, _, message = refusal_of(api("alice").post(path, {"invoke_skills": many}))
            assert status == 400 and message.startswith("invoke_skills: ") and "20" in message


@pytest.mark.parametrize("field", ["invoke_skills", "available_skills"])
def test_a_small_request_does_not_freeze_more_than_four_million_characters_of_skills(api, skill, field):
    chosen = [skill(1_000_000, f"s{n}") for n in range(4)]
    data_of(api("alice").post("threads", {**HELLO, field: chosen}))
    status, _, message = refusal_of(api("alice").post("threads", {**HELLO, field: [*chosen, skill(1, "more")]}))
    assert status == 400 and message.startswith(f"{field}: ") and "4000000" in message
    assert Thread.objects.count() == 1


# Tool names and ids


@pytest.mark.parametrize("block", [use(LONG), use(use_id=LONG), result(LONG), result(use_id=LONG)])
def test_names_and_ids_of_tools_have_at_most_two_hundred_characters(api, block):
    field = "tool_name" if block["tool_name"] == LONG else "tool_use_id"
    short = {**block, field: LONG[:200]}
    told = {"role": "assistant", "content": [{"text": "so"}, short]}
    data_of(api("alice").post("threads", {"messages": [make.say("x"), told, GO_ON]}))
    told["content"][1] = block
    status, _, message = refusal_of(api("alice").post("threads", {"messages": [make.say("x"), told, GO_ON]}))
    assert (status, message) == (400, f"messages.1.content.1.{field}: must not have more than 200 characters")
    assert Thread.objects.count() == 1


def call_in(format: str, name: str, use_id: str) -> dict[str, object]:
    """An assistant's message with one call, as that dialect writes it."""
    if format == "openai":
        call = {"id": use_id, "type": "function", "function": {"name": name, "arguments": "{}"}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    if format == "otel":
        part = {"type": "tool_call", "id": use_id, "name": name, "arguments": {}}
        return {"role": "assistant", "parts": [part]}
    block = {
        "anthropic": {"type": "tool_use", "id": use_id, "name": name, "input": {}},
        "data_harness": {"tool_use_id": use_id, "tool_name": name, "tool_input": {}},
        "roboto": use(name, use_id),
    }[format]
    return {"role": "assistant", "content": [block]}


@pytest.mark.parametrize("format", FORMATS)
def test_names_and_ids_are_bounded_in_imports_too_and_the_good_conversations_stay(api, format):
    messages = [
        [call_in(format, LONG[:200], LONG[:200])],
        [call_in(format, LONG, "u1")],
        [call_in(format, "look", LONG)],
    ]
    conversations = [{"id": str(n), "messages": each} for n, each in enumerate(messages)]
    done = data_of(api("alice").post("threads/import", {"format": format, "conversations": conversations}))
    assert [item["outcome"] for item in done["items"]] == ["created", "failed", "failed"]
    for item in done["items"][1:]:
        [error] = item["errors"]
        assert error["path"].startswith("messages.0.") and error["reason"] == "is longer than 200 characters"


def test_a_conversation_that_would_hold_up_everybody_is_refused_and_the_others_stay(api):
    """B178: one of so many messages, or of messages with so many parts."""
    say = {"role": "user", "content": "a"}
    parts = {"role": "user", "content": [{"type": "text", "text": "a"}] * 60_000}
    conversations = [
        {"id": "1", "messages": [say] * 20_001},
        {"id": "2", "messages": [say]},
        {"id": "3", "messages": [parts, parts]},
    ]
    done = data_of(api("alice").post("threads/import", {"format": "openai", "conversations": conversations}))
    assert [item["outcome"] for item in done["items"]] == ["failed", "created", "failed"]
    assert [item["errors"][0]["path"] for item in done["items"] if item["errors"]] == ["messages"] * 2
    assert "20,001 messages" in done["items"][0]["errors"][0]["reason"]
    assert Thread.objects.count() == 1


def test_results_name_tools_and_uses_within_the_same_bound(api, who):
    thread = make.waiting(who.alice)
    path = f"threads/{thread.thread_id}/tool-results"
    for field in ("tool_name", "tool_use_id"):
        answer = {**result(), "output": {}, field: LONG}
        assert refusal_of(api("alice").post(path, {"tool_results": [answer]}))[2].startswith(f"tool_results.0.{field}")
    many = [{**result(use_id=f"u{n}"), "output": {}} for n in range(1001)]
    assert refusal_of(api("alice").post(path, {"tool_results": many}))[2].startswith("tool_results: ")


# Schemas


def test_client_tools_are_counted_before_their_schemas_are_checked(api, who, looked_at):
    tools = [make.client_tool(f"tool{n}") for n in range(65)]
    waiting, idle = make.waiting(who.alice), make.thread(who.alice)
    looked_at.clear()
    for path, body in (
        ("threads", HELLO),
        (f"threads/{idle.thread_id}/messages", {"message": GO_ON}),
        (f"threads/{waiting.thread_id}/tool-results", {"tool_results": []}),
    ):
        status, _, message = refusal_of(api("alice").post(path, {**body, "client_tools": tools}))
        assert status == 400 and message.startswith("client_tools: ") and "64" in message
    assert looked_at == []


def test_the_schemas_of_one_request_have_at_most_half_a_mebibyte_and_each_64_kib(api, looked_at):
    one = {**make.client_tool("big"), "input_schema": schema_of(66 * 1024)}
    message = refusal_of(api("alice").post("threads", {**HELLO, "client_tools": [one]}))[2]
    assert message == "client_tools.0.input_schema: is larger than 64 KiB"
    looked_at.clear()
    many = [{**make.client_tool(f"tool{n}"), "input_schema": schema_of(60_000)} for n in range(10)]
    message = refusal_of(api("alice").post("threads", {**HELLO, "client_tools": many}))[2]
    assert message == "client_tools: the input schemas together have more than 512 KiB"
    assert looked_at == []


def test_a_thread_still_has_at_most_sixty_four_client_tools_over_all_its_turns(api, who):
    first = [make.client_tool(f"tool{n}") for n in range(60)]
    thread = make.thread(who.alice, client_tools=first)
    path = f"threads/{thread.thread_id}/messages"
    more = [make.client_tool(f"more{n}") for n in range(5)]
    status, _, message = refusal_of(api("alice").post(path, {"message": GO_ON, "client_tools": more}))
    assert status == 400 and message.startswith("client_tools: ") and "64" in message
    assert ClientTool.objects.filter(thread=thread).count() == 60
    data_of(api("alice").post(path, {"message": GO_ON, "client_tools": [*first, *more[:4]]}))


def test_schemas_are_checked_before_anything_is_locked(api, who, looked_at):
    """A check takes as long as its schema is large, and on SQLite every writer would wait for it."""
    outside = len(connection.savepoint_ids)
    tool = make.client_tool()
    goal = {"goal_type": "structured_output", "output_schema": {"type": "object"}}
    template = {**HELLO, "client_tools": [tool], "goals": [goal]}
    client = api("alice")
    agent = data_of(client.post("agents", {"name": "a", "request_template": template}))["agent_id"]
    data_of(client.put(f"agents/{agent}", {"request_template": template}))
    data_of(client.post(f"agents/{agent}/launch", {}))
    path = f"threads/{make.thread(who.alice).thread_id}/messages"
    data_of(client.post(path, {"message": GO_ON, "client_tools": [tool], "goals": [goal]}))
    path = f"threads/{make.waiting(who.alice).thread_id}/tool-results"
    data_of(client.post(path, {"tool_results": [], "client_tools": [tool]}))
    world = data_of(client.post("/v1/catalogue/worlds", {"mode": "schema_only"}))["world_id"]
    inline = {"dialect": "mcp", "server": "s", "tool": {"name": "t", "inputSchema": {"type": "object"}}}
    data_of(client.post(f"/v1/catalogue/worlds/{world}/tools", inline))
    assert len(looked_at) >= 10
    assert set(looked_at) == {outside}


DEEP: dict[str, object] = {}
for _ in range(20):
    DEEP = {"properties": {"x": DEEP}}


@pytest.mark.parametrize(
    ("schema", "is_taken"),
    [
        ({"properties": {"a": {"pattern": r"^\p{L}+$"}}}, True),
        ({"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"type": "string"}}}, True),
        ({"properties": {"a": {"pattern": "(((a{5000}))){5000}"}}}, False),
        ({"properties": {"a": {"pattern": "("}}}, False),
        ({"properties": {"a": {"type": "strin"}}}, False),
        ({"properties": {"a": {"$ref": "#/$defs/b"}}}, False),
        ({"properties": {"a": {"$ref": "https://elsewhere.test/schema"}}}, False),
        ({"type": "array"}, False),
        (DEEP, False),
    ],
)
def test_one_set_of_rules_says_which_schemas_are_taken(api, schema, is_taken):
    """Of tools of the catalogue, of client tools (spec 3.6), and of structured goals."""
    schema = {"type": "object", **schema}
    tool = {"dialect": "mcp", "server": "s", "tools": [{"name": "t", "inputSchema": schema}]}
    client_tool = {**make.client_tool(), "input_schema": schema}
    answers = [
        api("alice").post("/v1/catalogue/tools/import", tool),
        api("alice").post("threads", {**HELLO, "client_tools": [client_tool]}),
    ]
    if schema["type"] == "object":
        goal = {"goal_type": "structured_output", "output_schema": schema}
        answers.append(api("alice").post("threads", {**HELLO, "goals": [goal]}))
    assert {answer.status_code for answer in answers} == {200 if is_taken else 400}
    if not is_taken:
        assert refusal_of(answers[1])[2].startswith("client_tools.0.input_schema: ")


@pytest.fixture
def checked(monkeypatch):
    """How many schemas the meta-schema was applied to, which is what a check costs."""
    jsonschema = pytest.importorskip("jsonschema")
    counts = {"schemas": 0}
    # The root of the meta-schema joins its vocabularies in one `allOf`, and nothing else in it has that keyword.
    apply = jsonschema.Draft202012Validator.VALIDATORS["allOf"]

    def count(*given):
        counts["schemas"] += 1
        return apply(*given)

    monkeypatch.setitem(jsonschema.Draft202012Validator.VALIDATORS, "allOf", count)
    return counts


def nested(schema: dict[str, object], levels: int) -> dict[str, object]:
    for _ in range(levels):
        schema = {"not": schema}
    return schema


WIDE: dict[str, object] = {"anyOf": [{}] * 1500}
OUTER_FIRST = [{"$ref": "#/x" + "/not" * level} for level in range(26)]
REFERRED = {"type": "object", "x": nested(WIDE, 26)}
PROPERTIES: dict[str, object] = {"anyOf": [{}] * 1000}
for _ in range(12):
    PROPERTIES = {"properties": {"not": PROPERTIES}}
EACH = [{"$ref": "#" + "/properties/not" * level + "/properties"} for level in range(12)]


def declared(api, schema):
    return api("alice").post("threads", {**HELLO, "client_tools": [{**make.client_tool(), "input_schema": schema}]})


@pytest.mark.parametrize("references", [OUTER_FIRST, OUTER_FIRST[::-1], OUTER_FIRST[::-2] + OUTER_FIRST[-2::-2]])
def test_no_place_of_a_schema_is_checked_twice_in_whatever_order_references_lead_to_it(api, checked, references):
    data_of(declared(api, {**REFERRED, "anyOf": references}))
    assert 1500 < checked["schemas"] < 1500 + 100


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [{}] * 4000},
        {"anyOf": [True] * 4000},
        {"dependencies": {f"d{n}": {} for n in range(4000)}},
        {"anyOf": [{"$ref": "#/x"}], "x": {"anyOf": [{}] * 4000}},
        {**PROPERTIES, "anyOf": EACH},
        {"$defs": {f"d{n}": {"$ref": f"#/x/{n}"} for n in range(1400)}, "x": [{"not": {}}] * 1400},
    ],
    ids=["empty", "true", "dependencies", "referred", "properties", "many"],
)
def test_a_schema_has_at_most_four_thousand_subschemas_and_they_are_counted_first(api, checked, schema):
    """Those included that only a reference makes a schema."""
    message = refusal_of(declared(api, {"type": "object", **schema}))[2]
    assert message == "client_tools.0.input_schema: has more than 4,000 subschemas"
    assert checked["schemas"] <= 4000


def test_a_schema_of_four_thousand_subschemas_is_taken_at_every_door(api):
    schema = {"type": "object", "anyOf": [{}] * 3999}
    data_of(declared(api, schema))
    tool = {"dialect": "mcp", "server": "s", "tools": [{"name": "t", "inputSchema": schema}]}
    data_of(api("alice").post("/v1/catalogue/tools/import", tool))
    goal = {"goal_type": "structured_output", "output_schema": schema}
    data_of(api("alice").post("threads", {**HELLO, "goals": [goal]}))
    larger = {"type": "object", "anyOf": [{}] * 4000}
    tool["tools"] = [{"name": "u", "inputSchema": larger}]
    refused = api("alice").post("/v1/catalogue/tools/import", tool)
    [error] = refused.json()["details"]["errors"]
    assert (refused.status_code, error["path"], error["reason"]) == (400, "/input_schema", "invalid_schema")
    status, _, message = refusal_of(
        api("alice").post("threads", {**HELLO, "goals": [{**goal, "output_schema": larger}]})
    )
    assert status == 400 and "output_schema: " in message and "has more than 4,000 subschemas" in message


def test_the_schemas_of_one_request_have_at_most_sixteen_thousand_subschemas(api, checked):
    wide = {"type": "object", "anyOf": [{}] * 999}
    many = [{**make.client_tool(f"tool{n}"), "input_schema": wide} for n in range(17)]
    message = refusal_of(api("alice").post("threads", {**HELLO, "client_tools": many}))[2]
    assert message == "client_tools: the input schemas together have more than 16,000 subschemas"
    assert checked["schemas"] == 0


@pytest.mark.parametrize("last", [{}, {"minLength": "long"}])
def test_the_schemas_of_one_import_have_at_most_a_limit_of_subschemas_even_invalid_ones(
    api, checked, monkeypatch, last
):
    monkeypatch.setattr(importing, "MAX_PARTS", 500)
    tools = [{"name": f"t{n}", "inputSchema": {"type": "object", "anyOf": [{}] * 98 + [last]}} for n in range(20)]
    body = {"dialect": "mcp", "server": "s", "tools": tools, "partial": True}
    response = api("alice").post("/v1/catalogue/tools/import", body)
    assert refusal_of(response)[2] == "tools: the schemas together have more than 500 subschemas"
    assert response.json()["details"]["reason"] == "too_many_subschemas"
    assert checked["schemas"] <= 600
    data_of(api("alice").post("/v1/catalogue/tools/import", {**body, "tools": tools[:5]}))


@pytest.mark.parametrize("place", ["type", "dependencies"])
def test_a_list_of_names_with_something_else_in_it_is_not_compared_pair_by_pair(api, monkeypatch, place):
    compared = []
    monkeypatch.setattr("jsonschema._utils.equal", lambda one, two: compared.append(1) or one == two)
    names = [*range(1000), "a"]
    schema = {"type": "object", "properties": {"p": {place: names if place == "type" else {"d": names}}}}
    message = refusal_of(declared(api, schema))[2]
    assert message == f"client_tools.0.input_schema: must have only names (at properties.p.{place})"
    assert len(compared) < 1000


# Reports


def test_ids_of_any_length_that_name_no_report_are_told_and_the_others_done(api, who):
    """PostgreSQL holds the 26 characters of a key, and no more."""
    good = make.rating(who.alice, make.thread(who.alice), categories=["incorrect"]).feedback_id
    strange = ["fb_" + "x" * 40, "fb_" + "x" * 41, f"{good}x", "fb_" + "z" * 26]
    body = {"verb": "label", "arguments": {"add": ["x"]}, "feedback_ids": [good, *strange]}
    done = data_of(api("admin").post("admin/feedback/bulk", body))
    assert (done["done_count"], done["failed_count"]) == (1, 4)
    assert len(done["failures"]) == 4
    assert all(len(failure["feedback_id"]) <= 29 for failure in done["failures"])


def test_a_bulk_names_at_most_five_thousand_reports_and_they_are_counted_first(api):
    body = {"verb": "label", "arguments": {"add": ["x"]}, "feedback_ids": [0] * 5001}
    status, _, message = refusal_of(api("admin").post("admin/feedback/bulk", body))
    assert status == 400 and message.startswith("feedback_ids: ") and "5000" in message


# Tokens


def test_a_read_only_token_asks_whatever_changes_nothing(who):
    """Reading has the method POST where the question is too long for a URL."""
    reader = Api(mint(who.alice.user, "reader", scope="read")[1])
    thread = make.thread(who.alice)
    assert data_of(reader.post("threads/search", {}))["items"][0]["thread_id"] == thread.thread_id
    assert data_of(reader.post("/v1/catalogue/tools/demo__echo/validate", {"arguments": {"message": "x"}}))["valid"]
    data_of(reader.post("/v1/catalogue/tools/demo__echo/build-input", {"args": ["x"]}))
    data_of(reader.post("/v1/catalogue/results/validate", {"result": {}}))
    data_of(reader.post("/v1/catalogue/results/convert", {"from": "plain", "to": "canonical", "result": [1]}))
    for refused in (
        reader.post("threads", HELLO),
        reader.post("/v1/catalogue/tools/demo__echo/call", {"arguments": {"message": "x"}}),
        reader.patch(f"threads/{thread.thread_id}", {"title": "x"}),
        reader.put("threads/search", {}),
    ):
        assert refusal_of(refused)[0] == 403


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("threads/search", lambda line: {"q": line}),
        ("admin/feedback/bulk", lambda line: {"verb": "resolve", "arguments": {}, "query": line}),
    ],
)
@pytest.mark.parametrize("line", ["x" * 12_000_000, "é \x01 " * 250_000], ids=["a word", "blanks"])
def test_a_query_of_megabytes_is_refused_at_once(api, path, body, line):
    """Its characters are not looked at one by one: that took a second for each megabyte."""
    started = time.process_time()
    status, _, said = refusal_of(api("admin").post(path, body(line)))
    assert time.process_time() - started < 3
    assert status == 400 and "(maximum 2,000)" in said
