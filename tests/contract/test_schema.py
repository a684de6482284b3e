"""The schema that is served, held against the server: whatever fits it is answered as it says, never with a 500."""

import json
from functools import cache
from typing import Any

import pytest
import schemathesis
from django.core.wsgi import get_wsgi_application
from django.test import Client
from hypothesis import HealthCheck, settings
from pydantic import BaseModel

from config import docs
from tests import people

pytestmark = pytest.mark.django_db(transaction=True)
SCHEMA = schemathesis.openapi.from_dict(json.loads(json.dumps(docs.generated(), default=str)))
wsgi = cache(get_wsgi_application)


def application(environ: Any, start_response: Any) -> Any:
    """The application in this process, made when the first request comes: its static files are collected by then."""
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
    """A reader of the schema finds each route once, with what it is for."""
    operations = [operation for item in docs.generated()["paths"].values() for operation in item.values()]
    assert all(operation.get("summary") for operation in operations)
    names = [operation["operationId"] for operation in operations]
    assert len(names) == len(set(names))


def operation(method: str, path: str) -> Any:
    return docs.generated()["paths"][path][method]


def parameters(method: str, path: str) -> dict[str, Any]:
    return {each["name"]: each["schema"] for each in operation(method, path).get("parameters", [])}


def test_what_can_be_asked_for_and_answered_is_said() -> None:
    """A generated client knows headers, kinds of values, bodies that are needed, and refusals."""
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


def test_a_key_is_told_as_a_header_wherever_a_body_has_one() -> None:
    for path in ("/v1/catalogue/tools/{qualified_name}/call", "/v1/catalogue/worlds/{world_id}/call"):
        assert "Idempotency-Key" in parameters("post", path), path
    assert "Idempotency-Key" not in parameters("post", "/v1/catalogue/worlds")


def test_every_body_of_the_catalogue_refuses_what_it_does_not_know() -> None:
    """These routes are Heddle's own: a key that is spelled wrong there would mean something else than was meant."""
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


@pytest.fixture
def token() -> str:
    return people.gather().alice.token


@SCHEMA.parametrize()
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_fits_the_schema_is_answered_as_the_schema_says(case: schemathesis.Case, token: str) -> None:
    """B167 to B169: refusals in the envelope, no accident whatever is sent."""
    case.call_and_validate(headers={"Authorization": f"Bearer {token}"}, checks=CHECKS)


def test_no_two_records_share_a_name():
    """The schema knows records by their names: of two with the same, one would be described as the other."""
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
