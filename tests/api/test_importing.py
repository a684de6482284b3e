"""Import and export through REST (spec 9)."""

import io
import json
from contextlib import nullcontext
from urllib.parse import quote

import pytest
from django.core.management import call_command

from accounts.orgs import add_member
from tests import make
from tests.api import shapes
from tests.conftest import data_of, refusal_of
from threads import transcript
from threads.content import tool_result, tool_use
from threads.dialects import EXPORT_FORMATS, FORMATS
from threads.models import Block, Message, Thread

TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "2+2?"},
    {"role": "assistant", "content": "4"},
]


def talk(origin_id="c1", **more):
    return {"id": origin_id, "messages": TALK, **more}


def imported(api, *conversations, name="alice", headers=None, **body):
    body = {"format": "openai", "conversations": list(conversations), **body}
    return api(name).post("threads/import", body, **(headers or {}))


def outcomes(answer):
    return [item["outcome"] for item in answer["items"]]


@pytest.mark.parametrize(
    "q", ["id:zebra-7", "meta:quagga", 'meta:"Quagga 55"', "meta:customer", "meta:föhn", "meta:C\\D"]
)
def test_an_import_is_found_by_its_id_and_its_metadata(api, q):
    """Spec 9: both are searchable. Metadata only for those who may read it."""
    metadata = {"customer": "Quagga 55", "of": ["Föhn", "föhn", "C\\D"]}
    data_of(imported(api, talk("zebra-7", metadata=metadata), talk("zebra-8"), visibility="org"))
    asked = {name: data_of(api(name).post("threads/search", {"q": q})) for name in ("alice", "bob")}
    found = {name: len(page["items"]) for name, page in asked.items()}
    assert found == {"alice": 1, "bob": int(q.startswith("id:"))}
    assert [each["title"] for each in data_of(api("alice").get(f"threads?q={quote(q)}"))["items"]] != []


def test_metadata_is_for_the_owner_and_admins_on_the_page_too(api, browser_of):
    [item] = data_of(imported(api, talk(metadata={"customer": "Quagga 55"}), visibility="org"))["items"]
    pages = {
        name: browser_of(name).get(f"/threads/{item['thread_id']}/").content.decode()
        for name in ("alice", "admin", "bob")
    }
    assert [name for name, page in pages.items() if "Quagga" in page] == ["alice", "admin"]
    assert "c1" in pages["bob"], "the id of an import is told to everyone who may read it"


def test_an_imported_conversation_is_a_private_idle_thread_of_the_caller(api):
    """Spec 9."""
    answer = data_of(imported(api, talk(metadata={"task": 7})))
    assert set(answer) == {"items", "counts"}
    [item] = answer["items"]
    assert set(item) == {"index", "id", "thread_id", "outcome", "warnings", "errors"}
    assert (item["id"], item["outcome"], item["errors"]) == ("c1", "created", [])
    assert answer["counts"] == {"created": 1, "unchanged": 0, "failed": 0}
    record = data_of(api("alice").get(f"threads/{item['thread_id']}"))
    shapes.check_thread(record)
    assert shapes.texts(record) == ["2+2?", "4"]
    assert {message["status"] for message in record["messages"]} == {"completed"}
    assert (record["status"], record["visibility"], record["created_by"]) == ("user_turn", "private", "alice@acme.test")
    row = Thread.objects.get()
    assert (row.system_prompt, row.metadata) == ("Be brief.", {"task": 7})


CALL = {"id": "u1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
CALLING = {"role": "assistant", "content": None, "tool_calls": [CALL]}
SEEN = {"role": "tool", "tool_call_id": "u1", "content": "4"}


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        (TALK, "the last request was answered"),
        ([TALK[2]], "the thread has no request"),
        ([TALK[1], CALLING], "the last answer ends with a tool call; send a message to continue it"),
        ([TALK[1], CALLING, SEEN], "the last answer ends with a tool call; send a message to continue it"),
    ],
)
def test_why_an_import_cannot_be_answered_again_is_told_as_it_is(api, messages, reason):
    [item] = data_of(imported(api, talk(messages=messages)))["items"]
    refusal = refusal_of(api("alice").post(f"threads/{item['thread_id']}/again"))
    assert (refusal[0], refusal[2]) == (400, f"message: nothing to retry: {reason}")


@pytest.mark.parametrize("title", ["", "\u200b", "\u202e \ufeff", "\u200b" * 200 + "Sums"])
def test_a_title_of_which_nothing_is_seen_is_made_from_the_words_as_a_missing_one(api, title):
    said = [{"role": "user", "content": "\u200b\n2+2?"}]
    [item] = data_of(imported(api, talk(title=title, messages=said)))["items"]
    assert item["outcome"] == "created"
    assert data_of(api("alice").get(f"threads/{item['thread_id']}"))["title"] == "2+2?"


@pytest.mark.parametrize("bad", ["\x00", "\ud800"])
def test_a_conversation_that_cannot_be_stored_fails_alone_B178(api, bad):
    spoilt = [
        talk("text", messages=[{"role": "user", "content": f"2{bad}2"}]),
        talk(f"id{bad}"),
        talk("key", metadata={bad: 1}),
    ]
    answer = data_of(imported(api, talk("first"), *spoilt, talk("last")))
    assert outcomes(answer) == ["created", "failed", "failed", "failed", "created"]
    assert answer["counts"] == {"created": 2, "unchanged": 0, "failed": 3}
    assert [item["index"] for item in answer["items"]] == [0, 1, 2, 3, 4]
    errors = [(item["id"], *item["errors"]) for item in answer["items"][1:4]]
    reason = "contains a NUL character or a lone surrogate"
    assert errors == [
        ("text", {"path": "messages.0.content", "reason": reason}),
        (None, {"path": "id", "reason": reason}),
        ("key", {"path": "metadata", "reason": reason}),
    ]
    assert Thread.objects.count() == 2


def test_a_conversation_with_a_viewing_context_of_another_shape_fails_alone_B178(api):
    """Spec 3.9: the SDK could not read it."""

    def seen(context):
        return [{"role": "user", "content": [{"text": "Look."}, {"context": context}]}]

    answer = data_of(
        imported(
            api,
            talk("bad", messages=seen({"dataset_ids": 5})),
            talk("good", messages=seen({"dataset_ids": ["ds_1"], "shelf": 1})),
            format="roboto",
        )
    )
    assert outcomes(answer) == ["failed", "created"]
    bad, good = answer["items"]
    assert bad["errors"] == [{"path": "messages.0.content.1.context.dataset_ids", "reason": "must be a list"}]
    assert good["warnings"] == ["messages.0.content.1.context.shelf: is not kept"]


def test_the_rest_of_an_import_is_checked_as_every_body_is(api):
    assert refusal_of(imported(api, talk(), owner="a\x00b"))[2].startswith("owner: contains a NUL")
    assert not Thread.objects.exists()


def test_importing_again_creates_nothing_whatever_the_conversation_holds_B177(api):
    [first] = data_of(imported(api, talk()))["items"]
    before = [model.objects.count() for model in (Thread, Message, Block)]
    [again] = data_of(imported(api, {"id": "c1", "messages": [{"role": "user", "content": "Other words"}]}))["items"]
    assert (again["outcome"], again["thread_id"]) == ("unchanged", first["thread_id"])
    assert [model.objects.count() for model in (Thread, Message, Block)] == before


def test_importing_again_what_can_no_longer_be_read_changes_nothing_B177(api):
    """Spec 9: unchanged, whatever it holds; what is wrong with it is a warning."""
    [first] = data_of(imported(api, talk()))["items"]
    [again] = data_of(imported(api, {"id": "c1", "messages": [{"role": "nobody", "content": "?"}]}))["items"]
    assert (again["outcome"], again["thread_id"]) == ("unchanged", first["thread_id"])
    [warning] = again["warnings"]
    assert warning.startswith("messages.0.role: ")


def test_a_conversation_that_has_grown_is_warned_of_B177(api, who):
    """Spec 9: unchanged, whatever it holds; but whoever imports must not take it for the newer one."""
    grown = talk(messages=[*TALK, {"role": "user", "content": "3+3?"}, {"role": "assistant", "content": "6"}])
    answers = [data_of(imported(api, each))["items"][0] for each in (talk(), grown, talk())]
    assert [each["warnings"] for each in answers] == [
        [], ["has 4 messages, the stored thread 2: the new ones were not imported"], []
    ]  # fmt: skip
    make.send(who.alice, Thread.objects.get(), "And now?")
    [again] = data_of(imported(api, talk()))["items"]
    assert (again["outcome"], again["warnings"]) == ("unchanged", []), "people talk on"


def test_a_conversation_that_says_something_else_is_warned_of_B177(api):
    """Also beside its first form, in the same call."""
    other = talk(messages=[*TALK[:2], {"role": "assistant", "content": "5"}])
    answer = data_of(imported(api, talk(), other))
    assert outcomes(answer) == ["created", "unchanged"]
    warning = "messages.1: differs from the stored thread, which was not changed"
    assert [each["warnings"] for each in answer["items"]] == [[], [warning]]


def test_the_same_id_twice_in_one_call_is_stored_once_B177(api):
    answer = data_of(imported(api, talk(), talk()))
    assert outcomes(answer) == ["created", "unchanged"]
    assert answer["items"][0]["thread_id"] == answer["items"][1]["thread_id"]


def test_one_id_for_two_owners_or_two_orgs_is_two_threads_B177(api, who):
    add_member(who.globex, who.alice.user)
    answers = [
        data_of(imported(api, talk())),
        data_of(imported(api, talk(), name="bob")),
        data_of(imported(api, talk(), headers={"X-Roboto-Org-Id": who.globex.org_id})),
    ]
    assert [outcomes(answer) for answer in answers] == [["created"]] * 3


@pytest.mark.parametrize(
    "bad",
    [
        {"id": "bad"},
        {"id": "bad", "messages": []},
        {"id": "bad", "messages": "x"},
        {"id": "bad", "messages": [{"role": "wizard", "content": "x"}]},
        {"messages": TALK},
        {"id": "", "messages": TALK},
        None,
        "text",
        5,
        [],
    ],
)
def test_a_bad_conversation_fails_alone_with_path_and_reason_B178(api, bad):
    answer = data_of(imported(api, talk("a"), bad, talk("b")))
    assert outcomes(answer) == ["created", "failed", "created"]
    assert answer["counts"] == {"created": 2, "unchanged": 0, "failed": 1}
    failed = answer["items"][1]
    assert failed["thread_id"] is None
    [problem] = failed["errors"]
    assert set(problem) == {"path", "reason"}
    assert problem["reason"]
    assert Thread.objects.count() == 2


def test_an_id_that_is_too_long_fails_whatever_was_imported_before_B178(api):
    stored = "x" * 200
    assert outcomes(data_of(imported(api, talk(stored)))) == ["created"]
    [failed] = data_of(imported(api, talk(stored + "y")))["items"]
    assert (failed["outcome"], failed["id"], failed["errors"][0]["path"]) == ("failed", stored, "id")


FAR = ["0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2201-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"]


@pytest.mark.parametrize("when", [*FAR, -62135596800, -1, 253402300799])
@pytest.mark.parametrize("is_messages", [False, True])
def test_a_time_that_not_every_zone_has_fails_its_conversation_alone_B178(api, when, is_messages):
    said = {"role": "user", "content": "Hi", **({"created": when} if is_messages else {})}
    bad = talk("bad", messages=[said], **({} if is_messages else {"created": when}))
    answer = data_of(imported(api, talk("a"), bad))
    assert outcomes(answer) == ["created", "failed"]
    [problem] = answer["items"][1]["errors"]
    assert problem["path"] == ("messages.0.created" if is_messages else "created")
    assert problem["reason"].startswith("must be a time from 1970 to 2200")


@pytest.mark.parametrize("when", ["1970-01-01T00:00:00Z", 0, "2200-12-31T23:59:59Z"])
@pytest.mark.parametrize("zone", ["America/New_York", "Pacific/Kiritimati"])
def test_the_first_and_the_last_time_are_shown_in_every_zone(api, browser_of, when, zone):
    [item] = data_of(imported(api, talk(created=when)))["items"]
    page = browser_of("alice")
    page.cookies["tz"] = zone
    for path in ("/threads/", f"/threads/{item['thread_id']}/"):
        assert page.get(path).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"format": "openai"},
        {"format": "openai", "conversations": []},
        {"format": "openai", "conversations": {}},
        {"format": "xml", "conversations": [talk()]},
        {"format": None, "conversations": [talk()]},
        {"format": "openai", "conversations": [talk()] * 501},
        {"format": "openai", "conversations": [talk()], "visibility": "public"},
        {"format": "openai", "conversations": [talk()], "owner": 5},
    ],
)
def test_a_bad_import_is_refused_as_a_whole(api, body):
    assert refusal_of(api("alice").post("threads/import", body))[:2] == (400, "RobotoInvalidRequestException")
    assert not Thread.objects.exists()


def test_five_hundred_conversations_are_accepted(api):
    small = [{"id": str(number), "messages": [{"role": "user", "content": "Hi"}]} for number in range(500)]
    assert data_of(imported(api, *small))["counts"]["created"] == 500


def test_an_import_may_be_larger_than_other_bodies(api):
    """Spec 9: 32 MiB, where everything else is refused at 16."""
    big = {"id": "big", "messages": [{"role": "user", "content": "x" * 900_000}] * 19}
    raw = json.dumps({"format": "openai", "conversations": [big]}).encode()
    assert len(raw) > 16 * 1024 * 1024
    assert data_of(api("alice").post("threads/import", raw))["counts"]["created"] == 1
    assert refusal_of(api("alice").post("threads", raw))[0] == 400
    assert refusal_of(api("alice").post("threads/import", b" " * (33 * 1024 * 1024)))[0] == 400


@pytest.mark.parametrize("visibility", ["private", "org"])
def test_the_visibility_asked_for_is_given(api, visibility):
    [item] = data_of(imported(api, talk(), visibility=visibility))["items"]
    assert data_of(api("alice").get(f"threads/{item['thread_id']}"))["visibility"] == visibility


def test_nobody_imports_for_another_owner_or_org_without_admin_right_B179(api, who):
    assert refusal_of(imported(api, talk(), owner="bob@acme.test"))[0] == 403
    assert refusal_of(imported(api, talk(), owner="nobody@acme.test"))[0] == 403
    assert refusal_of(imported(api, talk(), headers={"X-Roboto-Org-Id": who.globex.org_id}))[0] == 403
    # May one not at all, then what one sent is not looked at (spec 1.4).
    for org_id in (who.globex.org_id, "og_x"):
        assert refusal_of(api("alice", **{"X-Roboto-Org-Id": org_id}).post("threads/import", b"{not json"))[0] == 403
    assert not Thread.objects.exists()
    data_of(imported(api, talk(), owner=" Alice@ACME.test "))


def test_an_admin_imports_for_members_of_a_named_org_B179(api, who):
    acme = {"X-Roboto-Org-Id": who.acme.org_id}
    [item] = data_of(imported(api, talk(), name="admin", headers=acme, owner="bob@acme.test"))["items"]
    assert data_of(api("bob").get(f"threads/{item['thread_id']}"))["created_by"] == "bob@acme.test"
    for owner in ("eve@globex.test", "nobody@acme.test"):
        response = imported(api, talk("c2"), name="admin", headers=acme, owner=owner)
        status, _, said = refusal_of(response)
        assert (status, said.partition(":")[0]) == (400, "owner")
    assert refusal_of(imported(api, talk("c2"), name="admin"))[1] == "RobotoNoOrgProvidedException"


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_exported_can_be_imported_again_and_says_the_same_B172(api, who, format):
    """Calls, results and their order survive through REST, not only inside the dialect's module."""
    thread = make.thread(who.alice)
    with transcript.writing(thread.pk) as writer:
        writer.add("assistant", [tool_use("look", "tu_1", {"deep": [1, None, {"ü": 2.5}]})])
        writer.add("roboto", [{**tool_result("look", "tu_1", "success", {"found": [True]}), "answered_by": "server"}])
        writer.add("assistant", [{"content_type": "text", "text": "Done."}])
    export = data_of(api("alice").get(f"threads/{thread.thread_id}/export?format={format}"))
    assert set(export) == {"format", "system", "messages", "losses"}
    assert export["format"] == format and "'answered_by':" not in str(export), "who answered is ours to know"
    conversation = {"id": "back", "messages": export["messages"]}
    [item] = data_of(imported(api, conversation, format=format))["items"]
    assert item["outcome"] == "created", item
    again = data_of(api("alice").get(f"threads/{item['thread_id']}"))
    before = data_of(api("alice").get(f"threads/{thread.thread_id}"))
    assert [message["role"] for message in again["messages"]] == [message["role"] for message in before["messages"]]
    assert shapes.texts(again) == shapes.texts(before)
    [use], [result] = shapes.blocks(again, "tool_use"), shapes.blocks(again, "tool_result")
    assert use["input"] == {"deep": [1, None, {"ü": 2.5}]}
    assert result["payload"] == {"found": [True]}


@pytest.mark.parametrize("name", ["alice", "bob"])
def test_a_later_system_message_is_a_named_loss_of_the_export(api, name):
    """Spec 9: it is in the metadata only, which not everybody reads."""
    later = [*TALK, {"role": "developer", "content": "Be kind."}]
    [item] = data_of(imported(api, talk(messages=later), visibility="org"))["items"]
    assert item["warnings"] == ["messages.3: is a later system message; kept in the metadata only"]
    export = data_of(api(name).get(f"threads/{item['thread_id']}/export?format=openai"))
    assert export["messages"] == TALK
    assert export["losses"] == ["metadata: heddle.later_system has 1 item of the import that no message holds"]


SPELT = ['{"b":1,"a":2}', '{"b": 1, "a": 2}', '{\n  "a": 2.0\n}', '["\\u00e4"]', '{"a":2}', "12.50"]


def using(format, given, text):
    """A use and its result, with the arguments as JSON text in the dialect that has such a text."""
    if format == "openai":
        call = {"id": "u1", "type": "function", "function": {"name": "look", "arguments": given}}
        return [
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "u1", "name": "look", "content": text},
        ]
    use = {"tool_use_id": "u1", "tool_name": "look", "tool_input": {}}
    result = {"tool_use_id": "u1", "content": text, "is_error": False}
    words = {"text": "Look."}
    if format == "anthropic":
        use = {"type": "tool_use", "id": "u1", "name": "look", "input": {}}
        result = {"type": "tool_result", "tool_use_id": "u1", "content": text}
        words = {"type": "text", **words}
    asked = words["text"] if format == "anthropic" else [words]
    spoken = [("user", asked), ("assistant", [use]), ("user", [result])]
    return [{"role": role, "content": content} for role, content in spoken]


@pytest.mark.parametrize("text", SPELT)
@pytest.mark.parametrize("format", ["openai", "anthropic", "data_harness"])
def test_json_comes_back_as_the_text_that_it_came_as_B172(api, format, text):
    """For every reader: the text says nothing that the value does not say."""
    talk = using(format, text if text.startswith("{") else "{}", text)
    [item] = data_of(imported(api, {"id": "c1", "messages": talk}, format=format, visibility="org"))["items"]
    assert (item["outcome"], item["warnings"]) == ("created", [])
    for name in ("alice", "bob"):
        export = data_of(api(name).get(f"threads/{item['thread_id']}/export?format={format}"))
        assert (export["messages"], export["losses"]) == (talk, [])
    [result] = shapes.blocks(data_of(api("bob").get(f"threads/{item['thread_id']}")), "tool_result")
    assert result["payload"] == (text if text == "12.50" else json.loads(text)) and result["raw_response"] is None


@pytest.mark.parametrize("format", ["openai", "anthropic", "data_harness"])
def test_a_value_without_a_text_of_its_own_is_written_in_canonical_form(api, who, format):
    """Spec 9, and the same text as `results/convert` writes."""
    value = {"b": [1.0, "ä"], "a": None}
    thread = make.thread(who.alice)
    with transcript.writing(thread.pk) as writer:
        writer.add("assistant", [tool_use("look", "tu_1", value)])
        writer.add("roboto", [tool_result("look", "tu_1", "success", value)])
    export = data_of(api("alice").get(f"threads/{thread.thread_id}/export?format={format}"))
    last = export["messages"][-1]
    text = last["content"] if format == "openai" else last["content"][0]["content"]
    assert text == '{"a":null,"b":[1,"ä"]}'
    given = {"success": True, "data": value}
    converted = api("alice").post("/v1/catalogue/results/convert", {"from": "canonical", "to": format, "result": given})
    assert data_of(converted)["result"]["content"] == text


def test_export_is_in_the_projects_own_format_unless_another_is_named(api, who):
    thread = make.thread(who.alice, system_prompt="Be brief.")
    export = data_of(api("alice").get(f"threads/{thread.thread_id}/export"))
    assert export["format"] == "roboto"
    assert len(export["messages"]) == 2
    for format in ("xml", "markdown", "ROBOTO"):
        response = api("alice").get(f"threads/{thread.thread_id}/export?format={format}")
        status, _, said = refusal_of(response)
        assert (status, said.partition(":")[0]) == (400, "format")


@pytest.mark.parametrize(("name", "status"), [("bob", 403), ("eve", 403), ("admin", 200), (None, 401)])
def test_export_needs_read_access_B180(api, who, name, status):
    thread = make.thread(who.alice)
    assert api(name).get(f"threads/{thread.thread_id}/export").status_code == status


@pytest.mark.parametrize("format", EXPORT_FORMATS)
@pytest.mark.parametrize("name", ["alice", "bob", "admin"])
def test_an_export_shows_nobody_what_the_tool_detail_refuses_them_B180(api, browser_of, who, format, name):
    """H4: arguments that are no object stand in the raw request. Both doors, every format."""
    use = {"id": "u1", "type": "function", "function": {"name": "look", "arguments": "no object, a key: k-4711"}}
    talk = [{"role": "user", "content": "x"}, {"role": "assistant", "content": None, "tool_calls": [use]}]
    [item] = data_of(imported(api, {"id": "c1", "messages": talk}, visibility="org"))["items"]
    path = f"threads/{item['thread_id']}"
    may_see = api(name).get(f"{path}/tools/u1").status_code == 200
    assert may_see == (name != "bob")
    answers = [browser_of(name).get(f"/{path}/export/?format={format}")]
    if format in FORMATS:
        answers.append(api(name).get(f"{path}/export?format={format}"))
    for answer in answers:
        assert answer.status_code == 200
        has_place = format in ("openai", "otel", "markdown", "transcript")
        assert (b"k-4711" in answer.content) == (may_see and has_place)
    if not may_see and format in FORMATS:
        losses = data_of(answers[-1])["losses"]
        assert "message 1: the use of look has arguments that are not a JSON object; left out" in losses


def test_a_use_without_its_result_is_answered_when_a_turn_is_run(api):
    """Spec 9."""
    messages = [
        {"role": "user", "content": "Look"},
        {"role": "assistant", "tool_calls": [
            {"id": "u1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]},
    ]  # fmt: skip
    [item] = data_of(imported(api, {"id": "open", "messages": messages}))["items"]
    assert item["warnings"]
    path = f"threads/{item['thread_id']}"
    assert shapes.blocks(data_of(api("alice").get(path)), "tool_result") == []
    data_of(api("alice").post(f"{path}/messages", {"message": make.say("And?")}))
    make.run_turns()
    [result] = shapes.blocks(data_of(api("alice").get(path)), "tool_result")
    assert (result["tool_use_id"], result["status"]) == ("u1", "error")


def uses_and_results(record):
    """The ids of calls and of results, each with the place of its message."""
    return [
        {block["tool_use_id"]: place for place, said in enumerate(record["messages"]) for block in said["content"]
         if block["content_type"] == kind}
        for kind in ("tool_use", "tool_result")
    ]  # fmt: skip


def calls(*ids):
    function = {"name": "look", "arguments": "{}"}
    return {"role": "assistant", "tool_calls": [{"id": each, "type": "function", "function": function} for each in ids]}


ASKED, ANSWERED = {"role": "user", "content": "Look."}, {"role": "tool", "tool_call_id": "u_0", "content": "FIRST"}


@pytest.mark.parametrize(
    "talk",
    [
        [ASKED, calls("u_0", "u_1")],
        [ASKED, calls("u_0", "u_1"), ANSWERED],
        [ASKED, calls("u_0"), ANSWERED, calls("u_1"), ASKED],
        [ASKED, calls("u_0"), ANSWERED, calls("u_1"), ASKED, {"role": "assistant", "content": "Done."}],
    ],
)
def test_every_call_of_an_import_that_nobody_answered_is_answered_when_a_turn_is_run(api, talk):
    """Spec 9: wherever it stands, once, behind the words of whoever goes on (B51)."""
    [item] = data_of(imported(api, {"id": "c1", "messages": talk}))["items"]
    path = f"threads/{item['thread_id']}"
    before = len(data_of(api("alice").get(path))["messages"])
    for _ in range(2):
        data_of(api("alice").post(f"{path}/messages", {"message": make.say("Go on")}))
        make.run_turns()
    record = data_of(api("alice").get(path))
    uses, results = uses_and_results(record)
    assert set(results) == set(uses) == {"u_0", "u_1"}
    assert results["u_1"] == before + 1
    assert [each["role"] for each in record["messages"]][before:] == [
        "user", "roboto", "assistant", "user", "assistant"
    ]  # fmt: skip


@pytest.mark.parametrize("verb", ["again", "rerun"])
def test_a_call_that_nobody_answered_is_answered_when_the_last_request_is_at_last(api, verb):
    """Spec 9, 4.7: behind the request, before its answer, once."""
    [item] = data_of(imported(api, {"id": "c1", "messages": [ASKED, calls("u_0"), ASKED]}))["items"]
    path = f"threads/{item['thread_id']}"
    made = data_of(api("alice").post(f"{path}/{verb}", {"message_sequence_num": 2} if verb == "rerun" else None))
    make.run_turns()
    record = data_of(api("alice").get(f"threads/{made['thread_id']}"))
    assert uses_and_results(record) == [{"u_0": 1}, {"u_0": 3}]
    assert [each["role"] for each in record["messages"]] == ["user", "assistant", "user", "roboto", "assistant"]
    data_of(api("alice").post(f"threads/{made['thread_id']}/messages", {"message": make.say("Go on")}))
    make.run_turns()
    record = data_of(api("alice").get(f"threads/{made['thread_id']}"))
    assert [each["role"] for each in record["messages"]][5:] == ["user", "assistant"]


def test_what_the_command_reports_to_a_file_is_reports_alone(who, tmp_path, capsys):
    """A bar is for a terminal: elsewhere pieces of it would stand between the lines."""
    path = tmp_path / "talks.jsonl"
    path.write_text(json.dumps(talk("a")) + "\n{\n[]\n")
    with pytest.raises(SystemExit):
        call_command("import_threads", path, format="openai", org="acme", owner="alice@acme.test")
    said = capsys.readouterr()
    assert said.out == "1 created, 0 unchanged, 2 failed\n"
    reports = said.err.splitlines()
    assert len(reports) == 2
    assert all(line.startswith(f"line {number}: failed: ") for number, line in zip((2, 3), reports, strict=True))


def test_equal_warnings_of_many_lines_are_told_once_with_their_number(who, tmp_path, capsys):
    later = [*TALK, {"role": "system", "content": "Be long."}]
    given = [talk(str(number), **({"messages": later} if number != 1 else {})) for number in range(41)]
    path = tmp_path / "talks.jsonl"
    path.write_text("\n".join(map(json.dumps, [*given, talk("odd", messages=[*later[1:]])])))
    call_command("import_threads", path, format="openai", org="acme", owner="alice@acme.test")
    said = capsys.readouterr()
    assert said.out == "42 created, 0 unchanged, 0 failed\n"
    assert said.err.splitlines() == [
        "line 1, line 3, line 4 and 37 more: warning: messages.3: is a later system message; kept in the metadata only",
        "line 42: warning: messages.2: is a later system message; kept in the metadata only",
    ]


def test_a_line_that_is_not_utf_8_says_where(who, tmp_path, capsys):
    path = tmp_path / "talks.jsonl"
    path.write_bytes(json.dumps(talk("a")).encode() + b"\n" + '{"id": "caf\u00e9"}'.encode("latin-1"))
    with pytest.raises(SystemExit):
        call_command("import_threads", path, format="openai", org="acme", owner="alice@acme.test")
    assert capsys.readouterr().err.strip() == "line 2: failed: line: is not UTF-8 text at byte 12"


def test_of_a_file_in_utf_16_no_line_is_taken(who, tmp_path, capsys):
    """The first alone was, because it begins with the mark of its encoding."""
    path = tmp_path / "talks.jsonl"
    path.write_bytes(f"{json.dumps(talk('a'))}\n{json.dumps(talk('b'))}\n".encode("utf-16"))
    with pytest.raises(SystemExit):
        call_command("import_threads", path, format="openai", org="acme", owner="alice@acme.test")
    told = capsys.readouterr().err
    assert "line 1: failed: line: is not UTF-8 text at byte 1" in told and not Thread.objects.exists()


def test_a_minus_stands_for_what_is_piped_in(who, capsys, monkeypatch):
    lines = f"{json.dumps(talk('a'))}\n{json.dumps(talk('b'))}\n{{\n"
    for piped, outcome in ((lines, "2 created, 0 unchanged, 1 failed"), ("", "0 created, 0 unchanged, 0 failed")):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(piped.encode())))
        with pytest.raises(SystemExit) if piped else nullcontext():
            call_command("import_threads", "-", format="openai", org="acme", owner="alice@acme.test")
        said = capsys.readouterr()
        assert said.out.strip() == outcome and said.err.startswith("line 3: failed: " if piped else "")
    monkeypatch.setattr(
        "sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps([talk("a"), talk("c")], indent=1).encode()))
    )
    call_command("import_threads", "-", format="openai", org="acme", owner="alice@acme.test")
    assert capsys.readouterr().out.strip() == "1 created, 1 unchanged, 0 failed"


def test_a_list_of_conversations_in_one_file_is_reported_by_the_place_of_each(who, tmp_path, capsys):
    path = tmp_path / "talks.json"
    path.write_text(json.dumps([talk("a"), {"id": "b"}, talk("c")], indent=1))
    with pytest.raises(SystemExit):
        call_command("import_threads", path, format="openai", org="acme", owner="alice@acme.test")
    said = capsys.readouterr()
    assert said.out == "2 created, 0 unchanged, 1 failed\n"
    assert said.err.startswith("conversation 2: failed: messages: ")


ASKED_BY_SPAN = {"role": "user", "parts": [{"type": "text", "content": "Where are bikes?"}]}


def trace(conversation_id, answer="At ST-1.", *, begun=1_780_000_000):
    """One line of a collector's file: a request to a model."""
    said = [[ASKED_BY_SPAN], [{"role": "assistant", "parts": [{"type": "text", "content": answer}]}]]
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.conversation.id": conversation_id,
        "gen_ai.request.model": "zebra-4",
        "gen_ai.input.messages": json.dumps(said[0]),
        "gen_ai.output.messages": json.dumps(said[1]),
    }
    span = {
        "traceId": f"trace of {conversation_id}",
        "startTimeUnixNano": str(begun * 10**9),
        "endTimeUnixNano": str((begun + 2) * 10**9),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
    }
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def test_the_file_of_a_collector_becomes_threads_and_again_changes_nothing(api, who, tmp_path, capsys):
    """Decision 020: a bad line is told, the good ones stay, and the model is found in the metadata."""
    path = tmp_path / "traces.jsonl"
    others = [json.dumps({kind: []}) for kind in ("resourceMetrics", "resourceLogs")]
    lines = [*others, json.dumps(trace("k-1")), "{", json.dumps({"resourceSpans": 5}), json.dumps(trace("k-2"))]
    path.write_text("\n".join(lines))
    for outcome in ("2 created, 0 unchanged, 2 failed\n", "0 created, 2 unchanged, 2 failed\n"):
        with pytest.raises(SystemExit):
            call_command("import_threads", path, format="otel", org="acme", owner="alice@acme.test")
        said = capsys.readouterr()
        assert said.out == outcome
        assert [line.partition(": failed: ")[0] for line in said.err.splitlines()] == ["line 4", "line 5"]
    found = data_of(api("alice").get(f"threads?q={quote('id:k-1 meta:zebra-4')}"))["items"]
    record = data_of(api("alice").get(f"threads/{found[0]['thread_id']}"))
    shapes.check_thread(record)
    assert shapes.texts(record) == ["Where are bikes?", "At ST-1."]
    assert [message["created"][:19] for message in record["messages"]] == ["2026-05-28T20:26:40", "2026-05-28T20:26:42"]


def test_traces_over_rest_are_conversations_with_the_place_of_the_first(api):
    own = {"id": "mine", "messages": [ASKED_BY_SPAN]}
    answer = data_of(imported(api, own, trace("k-1"), trace("k-2"), format="otel"))
    assert [(item["index"], item["id"], item["outcome"]) for item in answer["items"]] == [
        (0, "mine", "created"),
        (1, "k-1", "created"),
        (1, "k-2", "created"),
    ]
    silent = {"resourceSpans": []}
    [item] = data_of(imported(api, silent, format="otel"))["items"]
    assert item["errors"][0]["path"] == "resourceSpans" and "capture message content" in item["errors"][0]["reason"]


def cut_off(value, name="gen_ai.input.messages"):
    """The trace as an exporter writes it that cuts long attributes."""
    [span] = value["resourceSpans"][0]["scopeSpans"][0]["spans"]
    span["spanId"] = "5fb397be34d26b51"
    for each in span["attributes"]:
        if each["key"] == name:
            each["value"] = {"stringValue": each["value"]["stringValue"][:40]}
    return value


def test_an_attribute_that_was_cut_off_is_told_over_rest_and_by_the_command(api, who, tmp_path, capsys):
    """Decision 020: the answer stays, and the span can be found by its id."""
    path = tmp_path / "traces.jsonl"
    path.write_text(json.dumps(cut_off(trace("k-1"))) + "\n" + json.dumps(trace("k-2")))
    call_command("import_threads", path, format="otel", org="acme", owner="bob@acme.test")
    told = capsys.readouterr().err
    assert told.startswith("line 1: warning: spans.5fb397be34d26b51.gen_ai.input.messages: is not JSON: ")
    assert told.count("\n") == 1
    [item] = data_of(imported(api, cut_off(trace("k-1")), format="otel"))["items"]
    assert (item["outcome"], [f"line 1: warning: {each}\n" for each in item["warnings"]]) == ("created", [told])
    record = data_of(api("alice").get(f"threads/{item['thread_id']}"))
    assert shapes.texts(record) == ["At ST-1."]


@pytest.mark.parametrize("format", EXPORT_FORMATS)
def test_a_context_that_an_earlier_version_stored_as_it_came_is_exported_as_it_is(browser_of, who, format):
    said = [{"text": "z"}, {"context": {"dataset_ids": ["ds_1"]}}]
    thread = make.thread(who.alice, messages=[{"role": "user", "content": said}])
    block = Block.objects.get(kind="client_context")
    Block.objects.filter(pk=block.pk).update(data={**block.data, "context": {"dataset_ids": 5}})
    answer = browser_of("alice").get(f"/threads/{thread.thread_id}/export/?format={format}")
    assert answer.status_code == 200


def test_an_import_of_too_many_pieces_says_so_before_it_reads_on(api, monkeypatch):
    monkeypatch.setattr("threads.dialects.reading.MOST_BLOCKS", 2)
    answer = data_of(imported(api, {"id": "c1", "messages": [*TALK, TALK[1], {"role": "nobody"}]}))
    [item] = answer["items"]
    assert item["outcome"] == "failed" and Thread.objects.count() == 0
    assert [error["path"] for error in item["errors"]] == ["messages"] and "more than 2 pieces" in str(item["errors"])
