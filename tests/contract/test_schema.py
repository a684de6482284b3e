"""Check the served schema against the server: any request that fits it gets the documented answer, never a 500."""

import inspect
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any

import pytest
import schemathesis
from django.core.wsgi import get_wsgi_application
from django.test import Client
from django.urls import get_resolver
from hypothesis import HealthCheck, settings
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from config import docs
from core.openapi import DescribedSchema
from feedback.deciding import VERBS
from tests import people
from threads.goals import REGISTRY
from threads.wire import MessageIn

pytestmark = pytest.mark.django_db(transaction=True)
SCHEMA = schemathesis.openapi.from_dict(json.loads(json.dumps(docs.generated(), default=str)))
wsgi = cache(get_wsgi_application)


def application(environ: Any, start_response: Any) -> Any:
    """The application in this process, created on the first request, after its static files were collected."""
    return wsgi()(environ, start_response)


SCHEMA.app = application
CHECKS = [
    schemathesis.checks.not_a_server_error,
    schemathesis.checks.response_schema_conformance,
    schemathesis.checks.content_type_conformance,
]


def test_schema_is_served_as_openapi_31(db: None) -> None:
    served = Client().get("/v1/schema/")
    assert served.status_code == 200
    assert json.loads(served.content)["openapi"].startswith("3.1")


def test_every_operation_has_a_summary_and_its_own_name() -> None:
    """Each route appears once, with its purpose."""
    operations = [operation for item in docs.generated()["paths"].values() for operation in item.values()]
    assert all(operation.get("summary") for operation in operations)
    names = [operation["operationId"] for operation in operations]
    assert len(names) == len(set(names))


def operation(method: str, path: str) -> Any:
    return docs.generated()["paths"][path][method]


def parameters(method: str, path: str) -> dict[str, Any]:
    return {each["name"]: each["schema"] for each in operation(method, path).get("parameters", [])}


def test_what_can_be_asked_for_and_answered_is_said() -> None:
    """A generated client knows headers, value types, required bodies and error statuses."""
    listed = parameters("get", "/v1/ai/admin/feedback")
    assert (listed["limit"]["type"], listed["limit"]["minimum"], listed["limit"]["maximum"]) == ("integer", 1, 200)
    assert listed["sentiment"]["enum"] == ["positive", "negative"] and listed["resolved"]["type"] == "boolean"
    assert "failing" in parameters("get", "/v1/ai/admin/checks")["state"]["enum"]
    for method, path in (("post", "/v1/ai/threads"), ("get", "/v1/catalogue/tools")):
        assert "X-Roboto-Org-Id" in parameters(method, path), path
    for method, path in (
        ("post", "/v1/ai/admin/feedback/{feedback_id}/actions"),
        ("put", "/v1/ai/admin/feedback/{feedback_id}"),
    ):
        assert "If-Match" in parameters(method, path) and "412" in operation(method, path)["responses"]
    send = operation("post", "/v1/ai/threads/{thread_id}/messages")
    assert send["requestBody"]["required"] and {"409", "503", "default"} <= set(send["responses"])
    assert not operation("post", "/v1/ai/admin/checks/run")["requestBody"].get("required")
    assert not [
        name
        for item in docs.generated()["paths"].values()
        for each in item.values()
        for name in each
        if name.startswith("x-")
    ]


def test_a_field_of_a_change_has_no_default() -> None:
    """An absent field leaves the value, so a client that fills in a default would overwrite it."""
    schemas = docs.generated()["components"]["schemas"]
    changes = [name for name in schemas if name.endswith("Patch")] + ["TriageIn"]
    assert {"AgentPatch", "TitlePatch", "WebhookPatch", "ToolPatch", "ServerPatch", "SkillPatch"} <= set(changes)
    defaults = {
        (name, field) for name in changes for field, each in schemas[name]["properties"].items() if "default" in each
    }
    assert defaults == {("LabelPatch", "merge"), ("SkillPatch", "put_tags"), ("SkillPatch", "remove_tags")}
    nullable = {
        (name, field) for name in changes for field, each in schemas[name]["properties"].items() if "anyOf" in each
    }
    assert nullable == {
        ("AgentPatch", "description"),
        ("ToolPatch", "deprecation_message"),
        ("TriageIn", "admin_label"),
        ("TriageIn", "admin_note"),
    }


def test_a_body_that_is_a_list_is_told_as_one() -> None:
    [content] = operation("put", "/v1/ai/threads/{thread_id}/subjects")["requestBody"]["content"].values()
    assert content["schema"] == {"type": "array", "maxItems": 100, "items": {"$ref": "#/components/schemas/SubjectIn"}}


def test_a_route_that_returns_nothing_is_told_to_send_null() -> None:
    """All of them send `{"data": null}`, which a generated client must expect."""
    deletions = [item["delete"]["responses"]["200"] for item in docs.generated()["paths"].values() if "delete" in item]
    empty = {"type": "object", "required": ["data"], "properties": {"data": {"type": "null"}}}
    assert len(deletions) > 12
    assert [each for each in deletions if "content" not in each] == []
    assert operation("delete", "/v1/webhooks/{webhook_id}")["responses"]["200"]["description"] == "Done."
    told = operation("delete", "/v1/webhooks/{webhook_id}")["responses"]["200"]["content"]
    assert told == {"application/json": {"schema": empty}}


def test_statuses_that_the_spec_names_are_told() -> None:
    """C60, C117."""
    calls = ("/v1/catalogue/tools/{qualified_name}/call", "/v1/catalogue/worlds/{world_id}/call")
    worlds = [f"/v1/catalogue/worlds/{{world_id}}/{verb}" for verb in ("reset", "tools", "fixtures")]
    assert all("410" in operation("post", path)["responses"] for path in (*calls, *worlds))
    assert {"429", "500", "504"} <= set(operation("post", calls[0])["responses"])


def test_closed_inputs_are_told() -> None:
    skills, tools = parameters("get", "/v1/skills"), parameters("get", "/v1/catalogue/tools")
    assert skills["scope"]["enum"] == ["personal", "org"]
    assert (tools["visible"]["enum"], tools["naming"]["enum"]) == (["true", "false", "any"], ["bare", "qualified"])
    assert {"openai", "mcp"} <= set(tools["dialect"]["enum"]) and tools["style"]["enum"]
    thread = "/v1/ai/threads/{thread_id}"
    assert "anthropic" in parameters("get", f"{thread}/export")["format"]["enum"]
    assert parameters("get", thread)["load_messages"]["default"] is True
    schemas = docs.generated()["components"]["schemas"]
    assert schemas["SearchIn"]["properties"]["limit"]["anyOf"][0] == {"type": "integer", "minimum": 1, "maximum": 200}
    goals = schemas["StartIn"]["properties"]["goals"]["anyOf"][0]["items"]
    assert goals["required"] == ["goal_type"] and goals["properties"]["goal_type"]["enum"] == [*REGISTRY]
    conversations = schemas["ConversationsIn"]["properties"]["conversations"]["items"]
    assert [each.get("required") for each in conversations["anyOf"]] == [["id", "messages"], ["resourceSpans"], None]
    for name in ("ActIn", "BulkIn"):
        assert schemas[name]["properties"]["verb"]["enum"] == [*VERBS]
    assert {"openai", "python", "roboto_client"} <= set(schemas["ImportIn"]["properties"]["dialect"]["enum"])


@pytest.mark.parametrize("item", [{"messages": []}, {"id": "a"}, {"id": None}, 7])
def test_an_item_of_an_import_that_fails_alone_fits(item: Any, token: str) -> None:
    body = {"format": "openai", "conversations": [item]}
    headers = {"Authorization": f"Bearer {token}"}
    answer = Client(headers=headers).post("/v1/ai/threads/import", body, content_type="application/json")
    assert [each["outcome"] for each in answer.json()["data"]["items"]] == ["failed"]
    records = docs.generated()["components"]
    assert Draft202012Validator({**records["schemas"]["ConversationsIn"], "components": records}).is_valid(body)


def test_a_version_that_a_response_has_is_told() -> None:
    """Where it is missing a generated client does not know what If-Match takes."""
    told = {
        (method, path)
        for path, item in docs.generated()["paths"].items()
        for method, described in item.items()
        if "ETag" in described["responses"]["200"].get("headers", {})
    }
    reports = "/v1/ai/admin/feedback/{feedback_id}"
    changed = {
        ("put", "/v1/ai/agents/{agent_id}"),
        ("put", "/v1/skills/id/{skill_id}/versions/{version}"),
        ("patch", "/v1/catalogue/tools/{qualified_name}"),
        ("patch", "/v1/webhooks/{webhook_id}"),
    }
    assert told - changed == {("get", path) for _, path in changed} | {
        ("get", reports),
        ("get", f"{reports}/triage"),
        ("post", f"{reports}/actions"),
        ("post", "/v1/ai/agents/{agent_id}/versions/{version}/restore"),
    }
    assert changed <= told


def views_of(resolver: Any) -> Iterator[Any]:
    """Every view class below a URL resolver."""
    for each in resolver.url_patterns:
        yield from views_of(each) if hasattr(each, "url_patterns") else [getattr(each.callback, "view_class", None)]


def test_a_method_is_told_to_send_a_version_if_it_does() -> None:
    methods = {
        method
        for view in views_of(get_resolver())
        for name in ("get", "post", "put", "patch", "delete")
        if hasattr(method := getattr(view, name, None), "described")
    }
    assert len(methods) > 100
    for method in methods:
        assert method.described.has_etag is bool(re.search(r"\b(tagged|dated)\(", inspect.getsource(method))), method


def test_a_block_without_its_content_type_fits_as_it_is_taken() -> None:
    """A tool result has all that a tool use needs (spec 3.3)."""
    records = docs.generated()["components"]
    blocks = records["schemas"]["MessageIn"]["properties"]["content"]["items"]
    result = {"tool_name": "t", "tool_use_id": "u", "runtime_ms": 1, "status": "success"}
    MessageIn.model_validate({"role": "assistant", "content": [result]})
    whole = Draft202012Validator({**blocks, "components": records})
    assert whole.is_valid(result) and not whole.is_valid({"tool_name": "t"})


def test_headers_that_a_route_reads_are_told() -> None:
    """G3; and what 1.6 says of earlier clients."""
    assert "X-Roboto-Resource-Owner-Id" in parameters("get", "/v1/ai/agents/name/{name}")
    said = {each["name"]: each["description"] for each in operation("get", "/v1/ai/threads")["parameters"]}
    assert "session_id" in said["X-Roboto-Api-Version"]


def test_a_key_is_told_as_a_header_wherever_a_body_has_one() -> None:
    for path in ("/v1/catalogue/tools/{qualified_name}/call", "/v1/catalogue/worlds/{world_id}/call"):
        assert "Idempotency-Key" in parameters("post", path), path
    assert "Idempotency-Key" not in parameters("post", "/v1/catalogue/worlds")


def test_every_body_of_the_catalogue_refuses_what_it_does_not_know() -> None:
    """These routes are Heddle's own, so a misspelled key is an error."""
    schema = docs.generated()
    taken = {
        content["schema"]["$ref"].rpartition("/")[2]
        for path, item in schema["paths"].items()
        for operation in item.values()
        for content in operation.get("requestBody", {}).get("content", {}).values()
        if path.startswith("/v1/catalogue/")
    }
    assert {"ImportIn", "ComplianceIn", "RefreshIn", "CallIn", "WorldIn"} <= taken
    records = schema["components"]["schemas"]
    assert [name for name in sorted(taken) if records[name].get("additionalProperties") is not False] == []


def test_every_parameter_has_a_description() -> None:
    bare = {
        each["name"]
        for item in docs.generated()["paths"].values()
        for described in item.values()
        for each in described.get("parameters", [])
        if not each.get("description")
    }
    assert bare == set()


def test_paging_and_versions_are_explained_where_they_are_parameters() -> None:
    said = {each["name"]: each["description"] for each in operation("get", "/v1/ai/threads")["parameters"]}
    assert "next_token" in said["page_token"]
    assert "latest" in said["X-Roboto-Api-Version"]


def test_triage_routes_have_their_own_tag() -> None:
    """As the API page groups them: checks and reports under triage, ratings under feedback."""
    assert operation("get", "/v1/ai/admin/checks")["tags"] == ["triage"]
    assert operation("get", "/v1/ai/admin/feedback")["tags"] == ["triage"]
    assert operation("get", "/v1/ai/threads/{thread_id}/feedback")["tags"] == ["feedback"]
    assert operation("get", "/v1/ai/threads/{thread_id}")["tags"] == ["threads"]


def test_no_record_is_named_patched() -> None:
    names = docs.generated()["components"]["schemas"]
    assert "TitlePatch" in names and not [name for name in names if name.startswith("Patched")]


def test_text_under_a_field_is_its_description() -> None:
    schemas = docs.generated()["components"]["schemas"]
    assert schemas["Handler"]["properties"]["dialect"]["description"], "inherited from Reach"
    assert schemas["ThreadPageOut"]["properties"]["next_token"]["description"], "of a generic record"


class Inner(TypedDict):
    name: str
    """Of a typed dict."""


@dataclass
class Plain:
    name: str
    """Of a dataclass."""


class Outer(BaseModel):
    said: str
    """On two
    lines."""
    aliased: Annotated[str, Field(alias="from")]
    """Under its name on the wire."""
    explicit: Annotated[str, Field(description="From Field.")]
    """Not this."""
    inner: Inner
    """Of a reference."""
    plain: Plain
    bare: str


def test_descriptions_of_all_kinds_of_records() -> None:
    found = Outer.model_json_schema(schema_generator=DescribedSchema, mode="serialization")
    said = {name: each.get("description") for name, each in found["properties"].items()}
    assert said == {
        "said": "On two lines.",
        "from": "Under its name on the wire.",
        "explicit": "From Field.",
        "inner": "Of a reference.",
        "plain": None,
        "bare": None,
    }
    assert found["$defs"]["Inner"]["properties"]["name"]["description"] == "Of a typed dict."
    assert found["$defs"]["Plain"]["properties"]["name"]["description"] == "Of a dataclass."


@pytest.fixture
def token() -> str:
    return people.gather().alice.token


@SCHEMA.parametrize()
@settings(max_examples=12, suppress_health_check=list(HealthCheck))
def test_whatever_fits_the_schema_is_answered_as_the_schema_says(case: schemathesis.Case, token: str) -> None:
    """B167 to B169: errors use the envelope; no input causes a 500."""
    case.call_and_validate(headers={"Authorization": f"Bearer {token}"}, checks=CHECKS)


def test_no_two_records_share_a_name():
    """The schema identifies records by name: two with the same name would overwrite each other."""
    found: dict[str, set[str]] = {}
    waiting = list(BaseModel.__subclasses__())
    while waiting:
        model = waiting.pop()
        waiting += model.__subclasses__()
        if (
            model.__module__.partition(".")[0] in ("accounts", "catalogue", "threads", "feedback")
            and "[" not in model.__name__
        ):
            found.setdefault(model.__name__, set()).add(model.__module__)
    assert {name: places for name, places in found.items() if len(places) > 1 and name.endswith(("In", "Out"))} == {}
