"""What admins make of a report never reaches anybody else (B111, spec 3.10), and neither do raw payloads (H4)."""

import pytest

from tests import hooks, make
from tests.api import shapes
from tests.api.test_who_may import ROUTES, UNKNOWN, Place, ask
from tests.conftest import content_of, data_of
from threads import transcript
from threads.content import tool_result, tool_use

LABEL, NOTE, RAW = "LABEL-OF-AN-ADMIN", "NOTE-OF-AN-ADMIN", "RAW-PAYLOAD"
SUBMIT = ("POST", "v1/ai/threads/<str:thread_id>/messages/<str:index>/feedback")


@pytest.fixture
def place(who, api):
    """Objects of alice, shared with bob; each of them rated an answer, and an admin marked both reports."""
    thread = make.thread(who.alice, visibility="org")
    with transcript.writing(thread.pk) as writer:
        writer.add("assistant", [tool_use("look", "tu_1", {"a": 1}, raw={"sent": RAW})])
        writer.add("roboto", [tool_result("look", "tu_1", "success", {"b": 1}, raw={"got": RAW})])
    waiting = make.waiting(who.alice, visibility="org")
    for rated in (thread, waiting):
        for person in (who.alice, who.bob):
            report = make.rating(person, rated).feedback_id
            marked = {"admin_label": LABEL, "admin_note": NOTE, "resolved": True}
            assert data_of(api("admin").put(f"admin/feedback/{report}", marked))["admin_label"] == LABEL
            data_of(api("admin").post(f"admin/feedback/{report}/comments", {"text": NOTE}))
    skill = {"name": "ours", "description": "d", "body": "b", "accessibility": "org"}
    hooks.make_org_admin(who.alice)
    webhook = hooks.endpoint(api("alice"), "https://hooks.example.org/")["webhook_id"]
    template = {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}
    return Place(
        {
            **UNKNOWN,
            "thread_id": thread.thread_id,
            "waiting_id": waiting.thread_id,
            "tool_use_id": "tu_1",
            "index": "1",
            "feedback_id": report,
            "skill_id": data_of(api("alice").post("/v1/skills/create", skill))["skill_id"],
            "version": "1",
            "agent_id": data_of(api("alice").post("/v1/ai/agents", {"name": "ours", "request_template": template}))[
                "agent_id"
            ],
            "name": "ours",
            "webhook_id": webhook,
            "delivery_id": data_of(api("alice").post(f"/v1/webhooks/{webhook}/test"))["delivery_id"],
        }
    )


@pytest.mark.parametrize("name", ["alice", "bob", "eve"])
def test_admin_columns_are_in_no_answer_to_anybody_else_B111(name, place, api):
    """Every route, refusals included: submitter, colleague and stranger alike."""
    answered = 0
    for (method, route), (_, body) in ROUTES.items():
        response = ask(api(name), method, route, place, body)
        answered += response.status_code == 200
        content = content_of(response).decode()
        for hidden in (LABEL, NOTE, "admin@heddle.test", *shapes.ADMIN_ONLY):
            assert hidden not in content, f"{method} {route}: {hidden}"
    assert answered >= 10


def test_an_admin_who_submits_gets_the_user_record_too_B111(place, api):
    """Only the admin routes return the full record."""
    for method, route in (SUBMIT, ("GET", "v1/ai/threads/<str:thread_id>/feedback")):
        body = ROUTES[method, route][1]
        content = ask(api("admin"), method, route, place, body).content.decode()
        for key in shapes.ADMIN_ONLY:
            assert f'"{key}"' not in content


def test_the_marks_of_this_file_would_be_seen_B126(place, api):
    """By those whom they are for: otherwise the tests above prove nothing."""
    found = api("admin").get("admin/feedback").content.decode()
    assert LABEL in found
    assert NOTE in found
    detail = api("alice").get(place.path("v1/ai/threads/<str:thread_id>/tools/<path:tool_use_id>"))
    assert RAW in detail.content.decode()


@pytest.mark.parametrize("name", ["alice", "bob", "admin"])
def test_raw_payloads_are_in_the_tool_detail_only_B164(name, place, api):
    for (method, route), (_, body) in ROUTES.items():
        if not route.endswith("<path:tool_use_id>"):
            content = content_of(ask(api(name), method, route, place, body)).decode()
            assert RAW not in content, f"{method} {route}"


@pytest.mark.parametrize("path", ["/threads/", "/threads/{thread}/", "/threads/{thread}/messages/1/rate/",
                                  "/threads/{thread}/calls/tu_1/", "/threads/{thread}/export/?format=markdown",
                                  "/settings/"])  # fmt: skip
@pytest.mark.parametrize("name", ["alice", "bob"])
def test_admin_columns_are_on_no_page_of_anybody_else_B111(name, path, place, browser_of):
    response = browser_of(name).get(path.format(thread=place.values["thread_id"]))
    assert response.status_code == 200
    for hidden in (LABEL, NOTE, RAW):
        assert hidden not in response.content.decode()
