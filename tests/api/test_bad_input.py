"""Bad input of every kind on every route: a 400 in the envelope that names the field, and nothing stored (spec 1.4)."""

import json
import sqlite3
from contextlib import closing
from typing import Any

import pytest
from django.apps import apps
from django.db import OperationalError, connection
from django.test import Client
from psycopg.errors import DiskFull

from core import paging
from tests import make
from tests.conftest import Api, data_of, refusal_of
from tests.pages.dom import dom, get

SENT = {"role": "user", "content": [{"text": "Hello"}]}
TOOL = {"name": "remember", "description": "d", "input_schema": {"type": "object"}}
GOAL = {"goal_type": "dataset_summary", "dataset_id": "ds_1"}
RESULT = {"tool_use_id": "tu_1", "tool_name": "remember", "runtime_ms": 1, "status": "success", "output": {}}
CONTEXT = {
    "dataset_ids": ["ds_1"],
    "file_ids": [],
    "collection_ids": [],
    "device_ids": [],
    "device_type_ids": [],
    "session_ids": [],
    "view_ids": [],
    "table_state": {},
    "display_time_anchor_ns": 1,
    "display_time_anchor_label": "x",
    "visualizer_state": {},
    "misc_context": {},
}
TURN = {
    "client_context": CONTEXT,
    "client_tools": [TOOL],
    "analysis_scope": {"start_time": 1, "end_time": 2},
    "goals": [GOAL],
    "invoke_skills": [{"skill_id": "sk_1", "version": 1}],
}

BODIES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "start": (
        "POST",
        "threads",
        {
            "messages": [SENT],
            **TURN,
            "system_prompt": "x",
            "model_profile": "simulated",
            "available_skills": [{"skill_id": "sk_1", "version": 1}],
            "visibility": "org",
        },
    ),
    "send": ("POST", "threads/{answered}/messages", {"message": SENT, **TURN}),
    "results": ("POST", "threads/{waiting}/tool-results", {"tool_results": [RESULT], "client_tools": [TOOL]}),
    "fork": ("POST", "threads/{answered}/fork", {"message_sequence_num": 0}),
    "rerun": (
        "POST",
        "threads/{answered}/rerun",
        {"message_sequence_num": 1, "skills": "latest", "tools": "live", "model_profile": "simulated"},
    ),
    "visibility": ("POST", "threads/{answered}/visibility", {"visibility": "org"}),
    "pin": ("POST", "threads/{answered}/pin", {"pinned": True}),
    "title": ("PATCH", "threads/{answered}", {"title": "x"}),
    "rating": (
        "POST",
        "threads/{answered}/messages/1/feedback",
        {"sentiment": "negative", "categories": ["slow"], "notes": "x"},
    ),
    "search": (
        "POST",
        "threads/search",
        {
            "query": "x",
            "status": "user_turn",
            "created_by": "x",
            "created_from_agent_id": "x",
            "association_id": "x",
            "visibility": "org",
            "limit": 5,
        },
    ),
    "import": (
        "POST",
        "threads/import",
        {"format": "openai", "conversations": [{}], "visibility": "org", "owner": "alice@acme.test"},
    ),
    "triage": ("PUT", "admin/feedback/{report}", {"admin_label": "x", "admin_note": "x", "resolved": True}),
}
OWN = {"title", "triage", "search", "rerun", "import"}
"""Those that the SDK does not call."""
FREE = {"table_state", "visualizer_state", "misc_context", "input_schema", "output", "conversations"}
"""Objects whose inside is anybody's."""


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every field and item in a body."""
    found = [path] if path else []
    if isinstance(value, dict) and not (path and path[-1] in FREE):
        for key, child in value.items():
            found += places(child, (*path, key))
    elif isinstance(value, list) and not (path and path[-1] in FREE):
        for index, child in enumerate(value):
            found += places(child, (*path, index))
    return found


def at(body: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        body = body[part]
    return body


def replaced(body: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The body with another value at a path."""
    copy = json.loads(json.dumps(body))
    at(copy, path[:-1])[path[-1]] = value
    return copy


def strange(value: Any) -> list[Any]:
    """Values of every other JSON type than this one's; null where a field may not be null is tested by route."""
    samples: list[Any] = ["strange", 5, 1.5, True, [[]], {"strange": 1}]
    kinds = {bool: (bool,), int: (int,), str: (str,), list: (list,), dict: (dict,)}
    return [each for each in samples if type(each) not in kinds[type(value)]]


def stored() -> dict[str, list[Any]]:
    """Every row of every table of ours, but when a token was used last."""
    names = ("accounts", "threads", "feedback", "catalogue")
    found = {}
    for model in apps.get_models():
        if model._meta.app_label in names:
            rows = list(model.objects.order_by("pk").values())
            for row in rows:
                row.pop("last_used_at", None)
            found[model.__name__] = rows
    return found


@pytest.fixture
def send(who, api):
    """`send("start", body)` posts a body where it belongs, as somebody with every right to."""
    who.acme.visibility_may_change = True
    who.acme.save()
    answered, waiting = make.thread(who.alice), make.waiting(who.alice)
    report = make.rating(who.alice, answered).feedback_id

    def request(name: str, body: Any) -> Any:
        method, path, _ = BODIES[name]
        path = path.format(answered=answered.thread_id, waiting=waiting.thread_id, report=report)
        return api("admin" if name == "triage" else "alice").request(method, path, body)

    return request


def refused(response: Any) -> str:
    """The message of a 400."""
    status, code, said = refusal_of(response)
    assert (status, code) == (400, "RobotoInvalidRequestException"), said
    return said


@pytest.mark.parametrize("name", BODIES)
def test_every_field_of_another_type_is_refused_by_its_path_and_nothing_is_stored_B167(send, name):
    before = stored()
    body = BODIES[name][2]
    for path in places(body):
        if path == ("conversations", 0):
            continue  # fails alone: see test_importing
        for value in strange(at(body, path)):
            said = refused(send(name, replaced(body, path, value)))
            field = said.partition(": ")[0]
            # The field itself, something inside of it, or the message that a block's shape is part of.
            dotted = ".".join(str(part) for part in path)
            assert field == dotted or field.startswith(f"{dotted}."), f"{dotted} = {value!r}: {said}"
    assert stored() == before


RAW_REFUSED = {
    "cut off": b'{"messages": [',
    "two values": b"{} {}",
    "a comment": b"{} // no",
    "single quotes": b"{'a': 1}",
    "a trailing comma": b'{"a": 1,}',
    "a control character": b'{"a": "\x01"}',
    "not UTF-8": b'{"a": "\xff\xfe"}',
    "an escape of nothing": b'{"a": "\\x41"}',
    "NaN": b'{"a": NaN}',
    "Infinity": b'{"a": [Infinity]}',
    "-Infinity": b'{"a": {"b": -Infinity}}',
    "a number out of range": b'{"a": 1e999}',
    "a negative number out of range": b'{"a": [[-1e999]]}',
    "more digits than a number has": b'{"a": ' + b"9" * 5000 + b"}",
    "a NUL": b'{"a": "x\\u0000y"}',
    "a NUL in a key": b'{"x\\u0000y": 1}',
    "half of a surrogate pair": b'{"a": "\\ud800"}',
    "the other half": b'{"a": ["\\udfff\\ud800"]}',
    "half of a pair in a key": b'{"\\ud800": 1}',
    "50,000 brackets": b"[" * 50_000 + b"]" * 50_000,
    "50,000 open brackets": b"[" * 50_000,
    "50,000 objects": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "101 levels": b'{"a":' + b"[" * 100 + b"]" * 100 + b"}",
    "null": b"null",
    "true": b"true",
    "a number": b"5",
    "a text": b'"x"',
    "a list": b"[]",
}


@pytest.mark.parametrize("name", BODIES)
def test_what_is_no_json_object_that_can_be_kept_is_refused_and_nothing_is_stored_B167_B168(send, name):
    before = stored()
    for kind, raw in RAW_REFUSED.items():
        assert refused(send(name, raw)), kind
    assert stored() == before


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("more digits than a number has", "body: contains a number of more than 4,300 digits"),
        ("NaN", "body: is not valid JSON (NaN is not a JSON number)"),
        ("-Infinity", "body: is not valid JSON (-Infinity is not a JSON number)"),
    ],
)
def test_a_number_that_cannot_be_read_is_named_as_that(send, kind, said):
    assert refused(send("start", RAW_REFUSED[kind])) == said


@pytest.mark.parametrize("name", sorted(set(BODIES) - {"search", "triage"}))
def test_an_empty_body_is_an_empty_object_and_that_is_refused(send, name):
    before = stored()
    for raw in (b"", b"  \n", b"{}"):
        refused(send(name, raw))
    assert stored() == before


@pytest.mark.parametrize("name", ["search", "triage"])
def test_an_empty_body_changes_nothing_where_every_field_is_optional(send, name):
    before = stored()
    for raw in (b"", b"{}"):
        data_of(send(name, raw))
    assert stored() == before


def test_a_list_of_subjects_is_held_to_the_same_rules(who, api):
    thread = make.thread(who.alice)
    before = stored()
    for kind, raw in RAW_REFUSED.items():
        if kind != "a list":
            assert refused(api("alice").put(f"threads/{thread.thread_id}/subjects", raw)), kind
    assert stored() == before


@pytest.mark.parametrize("name", sorted(OWN))
def test_a_misspelled_field_of_a_route_of_our_own_is_refused_by_its_name_and_nothing_is_stored(send, name):
    """Spec 2.8: left out it would mean something else than was meant."""
    before = stored()
    said = refused(send(name, {**BODIES[name][2], "model_profle": "nope"}))
    assert said == "model_profle: is not a known field"
    assert stored() == before


def test_a_misspelled_field_of_a_subject_is_refused_by_its_name(who, api):
    path = f"threads/{make.thread(who.alice).thread_id}/subjects"
    said = refused(api("alice").put(path, [{"association_id": "ds_1", "note": "x", "kind": "x"}]))
    assert said == "0.kind: is not a known field"


@pytest.mark.parametrize("name", sorted(set(BODIES) - OWN))
def test_unknown_fields_are_ignored_beside_wrong_ones_B20(send, name):
    """They are never what is complained of."""
    body = BODIES[name][2]
    field = next(iter(body))
    said = refused(send(name, {"unknown": 1, **replaced(body, (field,), 5.5)}))
    assert "unknown" not in said


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "admin/feedback/export?formt=csv"),
        ("GET", "/v1/catalogue/tools?formt=mcp"),
        ("GET", "/v1/catalogue/tools/demo__echo?formt=mcp"),
        ("GET", "/v1/catalogue/servers/demo?formt="),
        ("GET", "/v1/catalogue/worlds?limit=5&formt=1"),
        ("POST", "/v1/catalogue/tools/import?formt=true"),
        ("GET", "admin/checks?formt=failing"),
        ("GET", "admin/checks/batches?formt=1"),
        ("GET", "admin/feedback?formt=true"),
        ("GET", "admin/feedback/insight?formt=7d"),
        ("GET", "admin/feedback/views?formt=1"),
        ("GET", "/v1/webhooks?formt=1"),
        ("POST", "threads/import?formt=openai"),
        ("GET", "model-profiles?formt=1"),
    ],
)
def test_a_parameter_that_is_spelled_wrong_is_refused_by_name_on_routes_of_our_own(api, method, path):
    """It would be another file, another list, or an import that was to be looked at."""
    assert refused(api("admin").request(method, path)) == "formt: is not a known parameter"


def test_the_public_wire_takes_parameters_that_it_does_not_know(api, who):
    for path in ("threads?since_version=1&q=", "agents?since_version=1", "/v1/skills?since_version=1"):
        assert data_of(api("alice").get(path))["items"] == []


def test_who_is_no_admin_learns_nothing_of_the_desk_by_a_parameter(api):
    assert refusal_of(api("alice").get("admin/checks?formt=1"))[0] == 403


@pytest.mark.parametrize("name", ["title", "triage"])
def test_unknown_fields_of_a_change_are_refused_by_name_B128(send, name):
    before = stored()
    said = refused(send(name, {**BODIES[name][2], "unknown": 1}))
    assert said.startswith("unknown: ")
    assert stored() == before


@pytest.mark.parametrize("title", [" ", "\u200b", "\u202e \u2060", "\ufeff", "\u3164"])
def test_a_title_of_which_nothing_is_seen_is_refused(send, title):
    """H11: lists would show a thread without a name."""
    before = stored()
    assert refused(send("title", {"title": title})).startswith("title: ")
    assert stored() == before


def test_all_that_is_wrong_stands_beside_the_error_for_programs(send):
    """Spec 1.4: a sibling key `details` may carry structured reasons; nothing else stands inside `error`."""
    response = send("start", {"messages": 5, "visibility": "public", "goals": {}})
    assert refused(response).endswith("(and 2 more)")
    details = json.loads(response.content)["details"]
    assert [detail["field"] for detail in details] == ["goals", "messages", "visibility"]
    assert all(set(detail) == {"field", "reason"} and detail["reason"] for detail in details)


def test_what_was_sent_is_never_repeated_in_a_refusal(send):
    """An error message may end up in logs and tickets; content does not belong there."""
    for body in (
        {"messages": [{"role": "SECRET-MARK", "content": [{"text": {"SECRET-MARK": 1}}]}]},
        {"messages": [SENT], "visibility": "SECRET-MARK"},
        {"messages": [SENT], "analysis_scope": "SECRET-MARK"},
    ):
        response = send("start", body)
        refused(response)
        assert b"SECRET-MARK" not in response.content


# Sizes


def test_the_longest_text_is_accepted_and_one_character_more_is_refused(who, api, settings):
    for length, status in ((settings.TEXT_CHARACTERS, 200), (settings.TEXT_CHARACTERS + 1, 400)):
        response = api("alice").post("threads", {"messages": [make.say("x" * length)]})
        assert response.status_code == status


def test_a_message_of_two_megabytes_of_text_is_kept_whole(who, api):
    blocks = [{"text": "ü" * 500_000}, {"text": "z" * 1_000_000}]
    record = data_of(api("alice").post("threads", {"messages": [{"role": "user", "content": blocks}]}))
    assert [len(block["text"]) for block in record["messages"][0]["content"]] == [500_000, 1_000_000]


def test_a_body_over_the_limit_is_refused_before_it_is_read(who, api, settings):
    raw = b'{"messages": "' + b"x" * settings.BODY_BYTES + b'"}'
    said = refused(api("alice").post("threads", raw))
    assert said.startswith("body: is larger than 16 MiB")


def test_numbers_of_any_size_are_kept_where_any_number_may_stand(who, api):
    number = 10**300 + 7
    body = {
        "messages": [make.say("Hi")],
        "client_context": {"display_time_anchor_ns": -number, "misc_context": {"n": number, "f": 1e-300}},
        "analysis_scope": {"start_time": -number, "end_time": number},
    }
    record = data_of(api("alice").post("threads", body))
    context = record["messages"][0]["content"][1]["context"]
    assert context["misc_context"] == {"n": number, "f": 1e-300}
    assert context["display_time_anchor_ns"] == -number


def test_nesting_up_to_the_limit_is_kept_and_deeper_is_refused(who, api):
    def context(levels: int) -> bytes:
        # The body, the context and misc_context are three levels themselves.
        deep = b'{"a":' * levels + b"1" + b"}" * levels
        return (
            b'{"messages":[{"role":"user","content":[{"text":"Hi"}]}],"client_context":{"misc_context":' + deep + b"}}"
        )

    record = data_of(api("alice").post("threads", context(98)))
    inner, depth = record["messages"][0]["content"][1]["context"]["misc_context"], 0
    while inner != 1:
        inner, depth = inner["a"], depth + 1
    assert depth == 98
    data_of(api("alice").get(f"threads/{record['thread_id']}"))
    before = stored()
    for levels in (99, 1000, 50_000):
        refused(api("alice").post("threads", context(levels)))
    assert stored() == before


def test_every_character_a_database_keeps_comes_back_unchanged(who, api):
    text = "".join(map(chr, range(1, 0xD800, 97))) + "\ue000\uffff\U0001f9f5\U0010ffff\u2028\u202e\r\n\t\x7f\x85"
    record = data_of(api("alice").post("threads", {"messages": [make.say(text)]}))
    assert record["messages"][0]["content"][0]["text"] == text


# Around the body


@pytest.mark.parametrize(
    "kind",
    [
        "",
        "nonsense",
        "text/plain",
        "application/xml",
        "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded",
        "application/json; charset=latin-1",
    ],
)
def test_the_body_is_json_whatever_its_type_is_called(who, kind):
    """Clients name it in many ways; there is one way to read it, so nothing is ever a 415 or a form."""
    response = Client(raise_request_exception=False).post(
        "/v1/ai/threads",
        json.dumps({"messages": [make.say("Grüß dich")]}).encode(),
        content_type=kind,
        headers={"Authorization": f"Bearer {who.alice.token}"},
    )
    assert data_of(response)["messages"][0]["content"][0]["text"] == "Grüß dich"


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "*/*", "", "nonsense", "application/json;q=0"])
def test_the_answer_is_json_whatever_is_accepted(who, api, accept):
    response = api("alice", Accept=accept).get("threads")
    assert response.headers["Content-Type"] == "application/json"
    data_of(response)


@pytest.mark.parametrize("format", ["json", "api", "xml", "openai"])
def test_a_format_in_the_query_changes_nothing(api, format):
    """DRF's own parameter."""
    assert api("alice").get(f"threads?format={format}").status_code == 200


def test_a_strange_requester_or_version_is_never_an_error(who, api):
    """Spec 1.2, 1.6."""
    for headers in (
        {"X-Roboto-Requester": "not json"},
        {"X-Roboto-Requester": "[]"},
        {"X-Roboto-Api-Version": "yesterday"},
        {"X-Roboto-Api-Version": "9999-99-99"},
        {"X-Roboto-Api-Version": "2026-10-06"},
    ):
        assert "thread_id" in data_of(api("alice", **headers).post("threads", {"messages": [SENT]}))


def test_a_page_token_of_another_list_is_refused_B167(who, api):
    """Also where both are sorted by the same kind of thing."""
    world = data_of(api("alice").post("/v1/catalogue/worlds", {}))["world_id"]
    lists = {
        "/v1/catalogue/tools/demo__echo/versions": paging.Places("tool versions"),
        "/v1/catalogue/worlds": paging.Places("worlds"),
        f"/v1/catalogue/worlds/{world}/calls": paging.Places("world calls"),
        "/v1/skills": paging.Places("skills"),
        "/v1/ai/agents": paging.Places("agents"),
        "/v1/webhooks": paging.Places("webhooks"),
        "admin/feedback": paging.Places("reports"),
        "threads": paging.Places("threads", (str, str, int)),
        "/v1/catalogue/tools": paging.Places("tools", (str,)),
        "/v1/catalogue/servers": paging.Places("servers", (str,)),
    }
    samples = {(int,): (7,), (str,): ("crm__ping",), (str, str, int): ("rest", "2026-05-01T00:00:00+00:00", 7)}
    for path, own in lists.items():
        asking = api("admin")
        data_of(
            asking.get(f"{path}?page_token={own.token(*samples[own.kinds])}", **{"X-Roboto-Org-Id": who.acme.org_id})
        )
        for other in lists.values():
            if other != own:
                token = other.token(*samples[other.kinds])
                assert refused(asking.get(f"{path}?page_token={token}", **{"X-Roboto-Org-Id": who.acme.org_id})), path


def test_a_page_token_belongs_to_the_filters_that_it_was_given_out_with(who, api):
    """With others it would be a page of another list, from a place in the middle."""
    admin, headers = api("admin"), {"X-Roboto-Org-Id": who.acme.org_id}
    for place in range(3):
        thread = make.thread(who.alice, f"Bag {place}", visibility="org")
        make.rating(who.alice, thread, categories=["slow"])
        data_of(admin.post("threads", {"messages": [SENT]}, **headers))
        data_of(admin.post("/v1/catalogue/worlds", {}, **headers))
        skill = {"name": f"bag-{place}", "description": "d", "body": "b", "accessibility": "org"}
        data_of(api("alice").post("/v1/skills/create", skill))
    lists = {
        "threads": ["q=-is:shared", "q=-is:shared%20sort:newest"],
        "admin/feedback": ["sentiment=negative", "resolved=false", "q=is:open", "q=is:open&sentiment=negative"],
        "/v1/catalogue/tools": ["server=demo", "q=server:demo%20o", "visible=true", "dialect=openai"],
        "/v1/catalogue/worlds": ["status=active"],
        "/v1/skills": ["scope=org"],
    }
    for path, filters in lists.items():
        asking, tokens = api("bob") if path == "/v1/skills" else admin, {}
        for query in ("", *filters):
            page = data_of(asking.get(f"{path}?{query}&limit=1", **headers))
            tokens[query] = page["next_token"]
            assert tokens[query], (path, query)
            onward = data_of(asking.get(f"{path}?{query}&limit=2&page_token={tokens[query]}", **headers))
            assert onward["items"] and onward["items"] != page["items"], (path, query)
        for query, token in tokens.items():
            for other in tokens.keys() - {query} - {"visible=true", "dialect=openai"}:
                status, _, said = refusal_of(asking.get(f"{path}?{other}&page_token={token}", **headers))
                assert (status, said) == (400, "page_token: belongs to another query"), (path, query, other)
    bags = {"limit": 1, "query": "Bag"}
    searched = data_of(api("alice").post("threads/search", bags))["next_token"]
    assert data_of(api("alice").post("threads/search", {**bags, "limit": 2, "page_token": searched}))["items"]
    said = refusal_of(api("alice").post("threads/search", {"query": "Bags", "page_token": searched}))[2]
    assert said == "page_token: belongs to another query"


@pytest.mark.parametrize("header", ["nonsense", "og_", "og_" + "0" * 26, "og_../..", "ags_1", "og_" + "x" * 5000])
def test_an_org_that_is_none_is_refused(api, header):
    headers = {"X-Roboto-Org-Id": header}
    assert refusal_of(api("alice").post("threads", {"messages": [SENT]}, **headers))[0] == 403
    assert refusal_of(api("admin").post("threads", {"messages": [SENT]}, **headers))[0] == 400


# URLs and hosts


@pytest.mark.parametrize(
    "path",
    [
        "/v1",
        "/v1/",
        "/v1/nothing",
        "/v1/ai",
        "/v1/ai/",
        "/v1/ai/threads/",
        "/v1/ai/threads/ags_1/",
        "/v1/ai/threads/ags_1/delta/",
        "/v1/ai/threads/ags_1/nothing",
        "/v1/ai/threads/ags_1/messages/1",
        "/v1/ai/threads/ags_1/messages/1/feedback/",
        "/v1/AI/threads",
        "/v1/ai//threads",
        "/v1/../admin",
        "/v1/admin/",
        "/v1/static/css/base.css",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
def test_an_unknown_url_under_v1_answers_in_the_envelope_and_never_redirects_B169_B170(api, method, path):
    assert refusal_of(api("alice").request(method, path))[:2] == (404, "RobotoNotFoundException")
    assert refusal_of(api(None).request(method, path))[:2] == (401, "RobotoUnauthorizedException")


@pytest.mark.parametrize(
    "address",
    [
        "/v1/%00",
        "/v1/ai/threads/%00",
        "/v1/ai/threads/ags_%00/delta",
        "/v1/ai/threads/ags_1/tools/tu_%00",
        "/v1/ai/threads/ags_1/messages/%00/feedback",
        "/v1/ai/threads?page_token=%00",
        "/v1/ai/admin/feedback?org_id=og_%00",
        "/v1/skills/name/a%00",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_nul_in_an_address_is_refused_before_any_database_is_asked_B169(api, method, address):
    """PostgreSQL cannot even be asked for it."""
    assert refusal_of(api("alice").request(method, address))[:2] == (400, "RobotoInvalidRequestException")


@pytest.mark.parametrize(
    "address", ["/%00", "/threads/%00/", "/threads/?q=a%00b", "/feedback/?item=fb_%00", "/signin/?next=%00"]
)
def test_a_nul_in_the_address_of_a_page_is_refused_too(browser_of, address):
    """By what is wrong and with a way out: who asks is not known yet, and may be signed in."""
    for name in ("admin", None):
        page = get(browser_of(name), address, 400)
        assert "The URL must not contain a NUL" in page.one("main").words
        assert page.one("main").one("a", class_="btn").words != "Sign in"


def test_an_endpoint_with_a_slash_at_its_end_works_for_the_sdk_B170(who, api):
    """Spec 1.2: its URLs begin with two slashes, which a URL parser would take for a host."""
    thread = make.thread(who.alice)

    def ask(method: str, path: str, body: bytes = b"") -> Any:
        client = Client(raise_request_exception=False, headers={"Authorization": f"Bearer {who.alice.token}"})
        return client.generic(method, "/", body, content_type="application/json", PATH_INFO=path)

    assert data_of(ask("GET", f"//v1/ai/threads/{thread.thread_id}"))["thread_id"] == thread.thread_id
    data_of(ask("POST", "//v1/ai/threads", json.dumps({"messages": [SENT]}).encode()))
    for path in ("//v1/nothing", "//v1/", "//v1"):
        assert refusal_of(ask("GET", path))[:2] == (404, "RobotoNotFoundException")
    assert refusal_of(ask("GET", "//v1/ai//threads"))[0] == 404


@pytest.mark.parametrize(
    "host", ["elsewhere.test", "127.0.0.1.elsewhere.test", "x y", "localhost@elsewhere.test", "[::1"]
)
def test_an_unknown_host_is_refused_in_the_envelope_B169(who, host):
    client = Client(raise_request_exception=False, headers={"Host": host, "Authorization": f"Bearer {who.alice.token}"})
    for response in (client.get("/v1/ai/threads"), client.post("/v1/ai/threads", b"{}", content_type="x/y")):
        status, _, said = refusal_of(response)
        assert (status, said.partition(":")[0]) == (400, "Host")
    page = client.get("/threads/")
    assert page.status_code == 400
    assert "text/html" in page.headers["Content-Type"]


@pytest.mark.parametrize("host", ["10.42.0.17:8000", "web:8000", "x y"])
def test_orchestrators_ask_by_whatever_address_they_have(db, host):
    """Kubernetes by a pod's, Prometheus by a service's; nothing of the host comes back in these answers."""
    client = Client(raise_request_exception=False, headers={"Host": host})
    for path in ("/livez", "/readyz", "/metrics"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert host not in f"{answer.headers}{answer.content.decode()}"
    for path in ("/livez/", "/livezz", "/metrics/x", "/signin/", "/v1/schema/"):
        assert client.get(path).status_code == 400


def test_an_accident_answers_in_the_envelope_with_nothing_but_a_number_B169(api, monkeypatch):
    monkeypatch.setattr("threads.lists.own_threads", lambda *given, **named: 1 / 0)
    status, code, said = refusal_of(api("alice").get("threads"))
    assert (status, code) == (500, "RobotoInternalException")
    assert "req_" in said
    assert "division" not in said


def test_a_database_that_does_not_answer_is_a_503(api, monkeypatch):
    """Spec 1.4: retried by the SDK."""

    def locked(*given: Any, **named: Any) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr("threads.lists.own_threads", locked)
    status, code, said = refusal_of(api("alice").get("threads"))
    assert (status, code) == (503, "RobotoServiceUnavailableException")
    assert "locked" not in said


@pytest.mark.parametrize("path", ["/threads/", "/feedback/", "/settings/", "/nowhere/"])
def test_a_page_says_that_the_database_does_not_answer(browser_of, path):
    """By a page that needs nothing of it: what stands around others asks it who looks."""
    alice = browser_of("alice")

    def away(*given: Any) -> None:
        raise OperationalError("server closed the connection unexpectedly")

    with connection.execute_wrapper(away):
        answer = alice.get(path)
    assert answer.status_code == 503
    shown = dom(answer, 503)
    assert "The database is not responding." in shown.words
    assert shown.one("a", class_="brand")["href"] == "/threads/"


def full_file() -> sqlite3.OperationalError:
    """What SQLite says where it cannot grow."""
    with closing(sqlite3.connect(":memory:")) as line, pytest.raises(sqlite3.OperationalError) as met:
        line.executescript("PRAGMA max_page_count=2; CREATE TABLE a (b); CREATE TABLE c (d); CREATE TABLE e (f);")
    return met.value


def full_index() -> sqlite3.OperationalError:
    """What SQLite says where not even the index of its log can be made, because no byte is free."""
    said = sqlite3.OperationalError("disk I/O error")
    said.sqlite_errorname = "SQLITE_IOERR_SHMSIZE"
    return said


@pytest.mark.parametrize(
    ("cause", "code"),
    [
        (full_file(), "SQLITE_FULL"),
        (full_index(), "SQLITE_IOERR_SHMSIZE"),
        (DiskFull("could not extend"), "53100"),
    ],
)
def test_a_full_disk_is_called_one_and_is_an_error_in_the_log(api, browser_of, caplog, cause, code):
    """No second try mends it, as it does where the database is away for a moment."""
    alice, page = api("alice"), browser_of("alice")

    def full(*given: Any) -> None:
        raise OperationalError("what was to be stored") from cause

    with connection.execute_wrapper(full):
        refused, shown = alice.post("threads", {"messages": [make.say("Hi")]}), page.get("/threads/")
    status, kind, said = refusal_of(refused)
    assert (status, kind) == (503, "RobotoServiceUnavailableException")
    assert said.startswith("The database's disk is full.") and said in dom(shown, 503).words
    for line in [record for record in caplog.records if record.levelname == "ERROR"]:
        assert (line.getMessage(), line.kind, line.code) == ("disk.full", "OperationalError", code)
        assert "stored" not in str(vars(line))
    assert {line.route for line in caplog.records if line.levelname == "ERROR"} == {"v1/ai/threads", "threads/"}


def test_a_token_that_travels_in_the_clear_is_refused_and_never_redirected_B170(who, settings):
    """Where the server is reached by https: a redirect would turn the SDK's POST into a GET."""
    settings.SECURE_SSL_REDIRECT, settings.SECURE_HSTS_SECONDS = True, 1000
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    api = Api(who.alice.token)
    for response in (api.get("threads"), api.post("threads", {"messages": [SENT]})):
        assert refusal_of(response)[0] == 400
    forwarded = {"X-Forwarded-Proto": "https"}
    secure = api.post("threads", {"messages": [SENT]}, **forwarded)
    data_of(secure)
    assert secure.headers["Strict-Transport-Security"].startswith("max-age=1000")
    page = Client().get("/signin/")
    assert (page.status_code, page.headers["Location"]) == (301, "https://testserver/signin/")
    assert Client().get("/livez").status_code == 200


def test_no_answer_under_v1_sets_a_cookie_or_depends_on_one(who, api):
    response = api("alice").get("threads")
    assert not response.cookies
    assert "Cookie" not in response.headers.get("Vary", "")


def test_every_answer_bears_a_request_id_and_its_length_and_its_type_is_not_guessed(api):
    for response in (api("alice").get("threads"), api(None).get("threads"), api("alice").get("/v1/nothing")):
        assert response.headers["X-Request-Id"].startswith("req_")
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert int(response.headers["Content-Length"]) == len(response.content)


def test_the_client_of_these_tests_sends_what_it_is_given(who):
    """Otherwise half of this file proves nothing."""
    assert Api(who.alice.token).post("threads", b"\xff").status_code == 400
    assert Api(who.alice.token).post("threads", {"messages": [SENT]}).status_code == 200


# Words


@pytest.mark.parametrize(
    ("path", "body", "sentence"),
    [
        (
            "/v1/skills/create",
            {"name": "s p", "description": "d", "body": "b"},
            "name: must be letters, digits, - and _ only",
        ),
        (
            "threads",
            {"messages": [SENT], "client_tools": [{**TOOL, "name": "1 x"}]},
            "client_tools.0.name: must be a letter and then letters, digits and _, 64 characters at most",
        ),
        (
            "agents",
            {"name": "a\nb", "request_template": {"messages": [SENT]}},
            "name: must be one line and must not be empty",
        ),
        (
            "agents",
            {"name": "a", "request_template": {"messages": [SENT]}, "variables": [{"name": "1"}]},
            "variables.0.name: must be a letter or _ and then letters, digits, _ and dots",
        ),
        (
            "threads",
            {"goals": [{"goal_type": "dataset_triage", "dataset_id": "d", "label_vocabulary": {"a b": "x"}}]},
            "must be letters, digits, - and _ only",
        ),
    ],
)
def test_a_spelling_that_is_refused_is_told_in_words_and_not_as_an_expression(
    api: Any, path: str, body: dict[str, Any], sentence: str
) -> None:
    status, _, told = refusal_of(api("alice").post(path, body))
    assert status == 400 and told.endswith(sentence), told
    assert "^" not in told


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("", {"mode": "examples", "tool": ["x"]}),
        ("", {"failure_profile": {"rate": 0, "code": []}}),
        ("/{world}/tools", {"tools": [], "seed": 1}),
        ("/{world}/call", {"tool": "a__b", "arguments": {}}),
        ("/{world}/fixtures", {"fixtures": [{"tool": "a__b", "output": 1, "inputs": {}}]}),
        ("/{world}/reset", {"hardly": True}),
    ],
)
def test_a_key_that_worlds_do_not_know_is_refused_by_name(api: Any, path: str, body: dict[str, Any]) -> None:
    """Catalogue 6.2: `arguments` in place of `input` would be a call without any."""
    world = data_of(api("alice").post("/v1/catalogue/worlds", {"mode": "examples"}))["world_id"]
    status, _, told = refusal_of(api("alice").post(f"/v1/catalogue/worlds{path.format(world=world)}", body))
    assert status == 400 and ": is not a known field" in told, told


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("get", "admin/feedback?q=is:opne", None, "q"),
        ("get", "admin/feedback?limit=0", None, "limit"),
        ("get", "admin/feedback?limit=1_0", None, "limit"),
        ("get", "admin/feedback?limit=%D9%A1", None, "limit"),
        ("get", "admin/feedback?page_token=x", None, "page_token"),
        ("get", "admin/feedback/export?format=x", None, "format"),
        ("post", "admin/feedback/views", {"name": " ", "query": ""}, "name"),
        ("post", "admin/feedback/views", {"name": "\u200b\u2060", "query": ""}, "name"),
        ("post", "admin/feedback/bulk", {"verb": "x", "query": "is:open"}, "verb"),
        ("post", "admin/feedback/views", [], "body"),
        ("post", "/v1/webhooks", {"url": "ftp://example.org/", "events": ["feedback.submitted"]}, "url"),
    ],
)
def test_a_refusal_that_begins_with_a_field_names_it_for_programs_too(api, method, path, body, field):
    response = getattr(api("admin"), method)(path, *([] if body is None else [body]))
    status, _, message = refusal_of(response)
    [detail] = json.loads(response.content)["details"]
    assert status == 400 and detail["field"] == field and message == f"{field}: {detail['reason']}"
