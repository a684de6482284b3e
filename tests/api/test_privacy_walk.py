"""Nothing that admins keep, and nothing that somebody said to themselves, reaches anybody else by any route (B111).

Every column is in a table (`audiences.py`), each that is not for everybody is filled with a mark, and everybody walks
every route of the URLconf; a mark in an answer, a page, a stream, a refusal, a file or the log fails.
"""

import io
import json
import logging
from datetime import date
from http.cookies import SimpleCookie
from itertools import islice
from types import SimpleNamespace

import pytest
from django.db import transaction
from django.utils import timezone

from accounts.models import ApiToken, Membership, Org, User
from core import sse
from core.logging import JsonFormatter
from feedback.models import (
    RatedAnswer,
    RatedTool,
    Tally,
    UserFeedback,
    WebhookAttempt,
    WebhookDelivery,
    WebhookEndpoint,
    WebhookEvent,
)
from tests import hooks, make
from tests.api import audiences
from tests.api.audiences import ADMINS, MARKS, OWN, RAW, audience_of, marked, stored
from tests.api.test_who_may import OPEN_TO_ALL, PAGES, ROUTES, UNKNOWN, Place, routes
from tests.conftest import data_of, leave
from tests.people import second_admin
from threads import pending, transcript
from threads.content import tool_result, tool_use
from threads.dialects import EXPORT_FORMATS

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
RAW_IS_HERE = ("tools/<path:tool_use_id>", "calls/<path:tool_use_id>/")
"""The two places where the owner of a thread sees what a tool was really sent."""
SEEN = {
    *("threads/", "settings/", "skills/", "agents/"),
    *(f"threads/<str:thread_id>/{door}" for door in ("", "live/", "export/", "messages/<int:index>/rate/")),
    *(f"v1/ai/threads{door}" for door in ("", "/<str:thread_id>", "/<str:thread_id>/delta", "/<str:thread_id>/export")),
    *(f"v1/ai/threads/<str:thread_id>/feedback{door}" for door in ("", "/replies")),
}
"""Doors that the walk of a reader has to have come through."""
STREAMED = 6
"""Pieces of a stream that are looked at: more than a page has to be told at once."""


def test_every_column_of_every_model_has_its_audience():
    """A new column, table or app is nobody's until somebody says whose it is."""
    names = {name for name, _, _ in stored()}
    assert names == set(audiences.AUDIENCES)
    for name in names:
        columns = {column.name for each, _, column in stored() if each == name}
        listed = " ".join(audiences.AUDIENCES[name].values()).split()
        assert sorted(listed) == sorted(columns), name


def test_what_a_submitter_reads_is_made_of_own_and_public_columns():
    """Both projections, by the columns that they select."""
    from feedback import projecting

    beside = {"thread": "threads.Thread", "org": "accounts.Org", "created_by": "accounts.User",
              "modified_by": "accounts.User", "reply": "feedback.Reply"}  # fmt: skip
    for path in (*projecting.USER_COLUMNS, *projecting.TOLD_COLUMNS, *projecting.ANSWER_COLUMNS):
        place, _, column = path.rpartition("__")
        assert audience_of(beside[place] if place else "feedback.UserFeedback", column) in ("public", "org", "own")


@pytest.fixture
def place(who, api):
    """alice's shared thread with a report of hers that admins did everything to, and every hidden column marked."""
    thread = make.thread(who.alice, visibility="org")
    with transcript.writing(thread.pk) as writer:
        writer.add("assistant", [tool_use("look", "tu_1", {"a": 1}, raw={"sent": RAW})])
        writer.add("roboto", [tool_result("look", "tu_1", "success", {"b": 1}, raw={"got": RAW})])
    waiting = make.waiting(who.alice, visibility="org")
    second_admin()
    User.objects.filter(pk=who.admin.user.pk).update(name=f"Admin {ADMINS}", email=f"{ADMINS}@heddle.test")
    admin = api("admin")
    gone, other, report = [
        make.rating(who.alice, thread, 1).feedback_id,
        make.rating(who.alice, waiting, 1).feedback_id,
        make.rating(who.alice, thread, 2, notes=OWN).feedback_id,
    ]
    assert api("alice").request("DELETE", f"threads/{thread.thread_id}/messages/1/feedback").status_code == 200
    for verb, arguments in (
        ("label", {"add": ["money"]}),
        ("note", {"admin_note": "hm"}),
        ("own", {"owner": "me"}),
        ("snooze", {"until_again": True}),
        ("reply", {"public_reply": "Told"}),
        ("duplicate", {"duplicate_of": other}),
    ):
        data_of(admin.post(f"admin/feedback/{report}/actions", {"verb": verb, "arguments": arguments}))
    data_of(admin.put(f"admin/feedback/{report}/lease"))
    comment = data_of(admin.post(f"admin/feedback/{report}/comments", {"text": "Hm, @bea."}))["comment_id"]
    check = data_of(admin.put(f"admin/feedback/{report}/check", {}))
    batch = data_of(admin.post(f"admin/checks/{check['check_id']}/runs", {}))
    make.run_turns()
    data_of(admin.get(f"admin/checks/batches/{batch['batch_id']}"))
    ticked = {"verb": "note", "arguments": {"admin_note": "hm"}, "feedback_ids": [report, gone]}
    bulk = data_of(admin.post("admin/feedback/bulk", ticked))
    view = data_of(admin.post("admin/feedback/views", {"name": "mine", "query": "is:open", "is_shared": True}))
    webhook = _webhooks(who, api, report)
    tool = {"dialect": "openai", "server": "srv", "tool": {"name": "look"}}
    data_of(api("alice").post("/v1/catalogue/tools/import", tool))
    elsewhere = {"kind": "http", "url": "https://tools.example.org/", "headers": {"X-Key": "k"}, "attach": False}
    data_of(api("alice").put("/v1/catalogue/servers/srv/connection", elsewhere))
    call = data_of(api("alice").post("/v1/catalogue/tools/srv__look/call", {}))
    ref = data_of(api("alice").post("/v1/catalogue/data", {"data": {}}))
    world = data_of(api("alice").post("/v1/catalogue/worlds", {"tools": ["srv__look"]}))["world_id"]
    played = {"tool": "srv__look", "input": {}, "idempotency_key": "once"}
    data_of(api("alice").post(f"/v1/catalogue/worlds/{world}/call", played))
    rated = UserFeedback.objects.get(notes=OWN)
    RatedAnswer.objects.update_or_create(feedback=rated)
    RatedTool.objects.update_or_create(feedback=rated, tool_name="look")
    Tally.objects.create(day=date(2001, 1, 1))  # a day that no figure is asked of: what it holds now is no tally
    _mark(who)
    skill = {"name": "ours", "description": "d", "body": "b", "accessibility": "org"}
    template = {"messages": [make.say("Hi")]}
    agent = data_of(api("alice").post("/v1/ai/agents", {"name": "ours", "request_template": template}))
    return Place(
        {
            "thread_id": thread.thread_id,
            "waiting_id": waiting.thread_id,
            "waiting_use_id": pending.open_uses(waiting)[0]["tool_use_id"],
            "tool_use_id": "tu_1",
            "index": "2",
            "feedback_id": report,
            "bulk_id": bulk["bulk_id"],
            "view_id": view["view_id"],
            "comment_id": comment,
            "check_id": check["check_id"],
            "batch_id": batch["batch_id"],
            "against": batch["batch_id"],
            "run_id": batch["runs"][0]["run_id"],
            "qualified_name": "srv__look",
            "server": "srv",
            "call_id": call["call_id"],
            "ref_id": ref["ref_id"],
            "world_id": world,
            **webhook,
            "skill_id": data_of(api("alice").post("/v1/skills/create", skill))["skill_id"],
            "version": "1",
            "agent_id": agent["agent_id"],
            "name": "ours",
            "org_id": Org.objects.get(slug="acme").org_id,
            "email": who.bob.user.email,
            "member_id": str(Membership.objects.get(user=who.bob.user).pk),
            "since": "0",
            "token_id": str(ApiToken.objects.filter(user=who.alice.user).first().pk),
            "uidb64": "MQ",
            "token": "none-such",
        }
    )


def _webhooks(who, api, report):
    """An admin's webhook that was told of triage, and then one of alice's, which was told of her rating and tried."""
    hooks.make_org_admin(who.alice)
    theirs = WebhookEndpoint.objects.create(owner=who.admin.user, url=f"https://{ADMINS}.example/", events=hooks.ALL)
    rated = UserFeedback.objects.get(key=report.removeprefix("fb_"))
    event = WebhookEvent.objects.create(
        name="feedback.resolved", report=rated, actor=who.admin.user, due_at=timezone.now()
    )
    WebhookDelivery.objects.create(
        endpoint=theirs, event=event, message_id="evt_1", name=ADMINS, audience="triage", body=ADMINS
    )
    webhook = hooks.endpoint(api("alice"), "https://hooks.example.org/")["webhook_id"]
    tested = data_of(api("alice").post(f"/v1/webhooks/{webhook}/test"))["delivery_id"]
    delivery = WebhookDelivery.objects.get(key=tested.removeprefix("dlv_"))
    WebhookAttempt.objects.create(delivery=delivery, milliseconds=1, status=500, error=OWN, response=OWN)
    WebhookDelivery.objects.filter(pk=delivery.pk).update(body=json.dumps({"notes": OWN}))
    return {"webhook_id": webhook, "delivery_id": tested}


KEPT = {("feedback.Bulk", "key"), ("feedback.SavedView", "key"), ("feedback.BulkFailure", "feedback_key"),
        ("feedback.Retraction", "key"), ("feedback.Check", "key"), ("feedback.CheckRun", "key"),
        ("feedback.CheckBatch", "key"), ("feedback.Comment", "key"), ("feedback.WebhookDelivery", "body")}  # fmt: skip
"""Columns that stay as they are: keys by which the routes find something, and a document with a mark in it."""


def _mark(who):
    """Every column of the feedback app that is not for everybody, and of the others what nobody sees."""
    admin = who.admin.user
    for name, model, column in stored():
        audience = audience_of(name, column.name)
        if audience in ("public", "org") or (name, column.name) in KEPT:
            continue
        is_beside = name.startswith("feedback.") or audience == "nobody"
        if not is_beside or name in ("accounts.User", "accounts.ApiToken"):  # these sign people in
            continue
        value = marked(column, audience, admin)
        if value is not None:
            rows = model.objects.filter(pk=model.objects.order_by("-pk").first().pk)  # names stay different
            assert rows.update(**{column.name: value}), name


def test_every_hidden_column_that_can_hold_a_mark_holds_one(place, who):
    """Or the walk proves nothing: a new table needs a row here, a new column a value."""
    for name, model, column in stored():
        audience = audience_of(name, column.name)
        if name.startswith("feedback.") and audience in ("admin", "own") and (name, column.name) not in KEPT:
            value = marked(column, audience, who.admin.user)
            held = [getattr(row, column.name) for row in model.objects.all()]
            assert held, f"{name}: there is no row"
            assert value is None or value in held, f"{name}.{column.name}"


def test_the_marks_are_seen_by_those_whom_they_are_for(place, api, browser_of):
    told = api("admin").get(f"admin/feedback/{place.values['feedback_id']}/triage").content.decode()
    history = api("admin").get(f"admin/feedback/{place.values['feedback_id']}/history").content.decode()
    file = b"".join(api("admin").get("admin/feedback/export").streaming_content).decode()
    for seen in (told, history, file):
        assert ADMINS in seen
    assert "2031-03-04" in told
    replies = api("alice").get(f"threads/{place.values['thread_id']}/feedback/replies").content.decode()
    page = browser_of("alice").get(f"/threads/{place.values['thread_id']}/").content.decode()
    assert OWN in replies and OWN in page
    sent = "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}".format(**place.values)
    assert OWN in api("alice").get(sent).content.decode()
    detail = api("alice").get(f"threads/{place.values['thread_id']}/tools/tu_1").content.decode()
    assert RAW in detail


def variants(route):
    """The addresses of a route: plain, and with what turns something else on."""
    if "thread_id" in route and route.rstrip("/").endswith("export"):
        return [f"{route}?format={name}" for name in EXPORT_FORMATS]
    if route.startswith("feedback/export") or route.endswith("feedback/export"):
        return [f"{route}?format=csv", f"{route}?format=jsonl", f"{route}?q=nonsense:1"]
    if route in ("feedback/", "v1/ai/admin/feedback", "threads/"):
        return [route, f"{route}?q=seat", f"{route}?item={{feedback_id}}"]
    if route.endswith("calls/<path:tool_use_id>/"):
        return [route, f"{route}?raw=1", f"{route}?message=2"]
    return [route]


def asked_of(route, method):
    """What a POST, PUT or PATCH carries: as the who-may tables know it, else next to nothing."""
    known = ROUTES.get((method, route), (None, {}))[1] if route.startswith("v1/") else PAGES.get((method, route))
    return known.form if hasattr(known, "form") else {} if known is None else known


def walk(person, place):
    """Every route by every method: route, method, status and everything that was answered."""
    for route, _ in routes():
        if route.startswith("^") or route.startswith("static"):
            continue
        for method in METHODS:
            for variant in variants(route) if method == "GET" else [route]:
                yield route, method, *_asked(person, method, route, variant, place)


def _asked(person, method, route, variant, place):
    values = place.values
    if route.endswith(("/tool-results", "/answer/")):
        values = {**values, "thread_id": values["waiting_id"]}
    path = Place(values).path(variant.replace("{feedback_id}", values["feedback_id"]))
    body = asked_of(route, method)
    with transaction.atomic():
        if route.startswith("v1/"):
            response = person.api.request(method, path, body if method in ("POST", "PUT", "PATCH") else None)
        else:
            form = {name: value.format(**values) for name, value in (body or {}).items()}
            person.page.cookies = SimpleCookie(person.cookies)  # one of the routes is the way out
            send = getattr(person.page, method.lower())
            response = send(path, form) if method == "POST" else send(path)
        headers = "\n".join(f"{name}: {value}" for name, value in response.headers.items())
        if response.streaming:
            content = b"".join(islice(response.streaming_content, STREAMED))
            leave(response)
        else:
            content = response.content
        transaction.set_rollback(True)
    return response.status_code, headers + content.decode()


@pytest.fixture
def log():
    """Everything that is logged, at every level, as it would be written."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    root, ours = logging.getLogger(), logging.getLogger("heddle")
    levels = root.level, ours.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    ours.setLevel(logging.DEBUG)
    yield stream.getvalue
    root.removeHandler(handler)
    root.setLevel(levels[0])
    ours.setLevel(levels[1])


@pytest.fixture
def person_of(who, api, browser_of, monkeypatch):
    monkeypatch.setattr(sse, "HEARTBEAT_SECONDS", 0)

    def person(name):
        page = browser_of(name)
        cookies = {key: morsel.value for key, morsel in page.cookies.items()}
        return SimpleNamespace(api=api(name), page=page, cookies=cookies)

    return person


@pytest.mark.parametrize("name", ["alice", "bob", "eve", None])
def test_no_mark_reaches_anybody_whom_it_is_not_for(name, place, person_of, log):
    person, statuses, found, opened = person_of(name), [], [], set()
    hidden = MARKS["admin"] if name == "alice" else (*MARKS["admin"], *MARKS["own"], RAW)
    for route, method, status, answered in walk(person, place):
        statuses.append(status)
        opened |= {route} if (method, status) == ("GET", 200) else set()
        is_hidden = (*hidden, *(() if route.endswith(RAW_IS_HERE) else (RAW,)))
        found += [f"{method} {route}: {mark}" for mark in is_hidden if mark in answered]
    assert found == []
    if name in ("alice", "bob"):
        assert opened >= SEEN and statuses.count(200) > 100, "the walk met closed doors only"
    assert 500 not in statuses
    for mark in (*MARKS["admin"], *MARKS["own"], RAW):
        assert mark not in log(), "the log carries ids and outcomes"


@pytest.mark.parametrize("name", ["alice", "bob", "eve", None])
def test_no_mark_is_in_a_refusal(name, place, person_of):
    """Unknown ids and bodies that are none: a sentence never quotes what it kept back."""
    person, unknown = (
        person_of(name),
        Place(place.values | UNKNOWN | {"bulk_id": "blk_unknown", "view_id": "v_unknown"}),
    )
    for route, _ in routes():
        if not route.startswith("v1/") or route in OPEN_TO_ALL or route.startswith("^"):
            continue
        for where in (place, unknown):
            for method, body in (("GET", None), ("POST", b"{"), ("PUT", {"q": [1]}), ("PATCH", b"\xff")):
                with transaction.atomic():
                    response = person.api.request(method, where.path(route), body)
                    content = b"" if response.status_code == 200 else response.content
                    transaction.set_rollback(True)
                for mark in (*MARKS["admin"], *MARKS["own"]):
                    assert mark not in content.decode(), f"{method} {route}"


def test_what_an_admin_does_and_reads_is_in_no_log(place, person_of, log):
    admin = person_of("admin")
    report = f"admin/feedback/{place.values['feedback_id']}"
    for path in (report, f"{report}/triage", f"{report}/history", "admin/feedback", "admin/feedback/views"):
        data_of(admin.api.get(path))
    for verb, arguments in (("note", {"admin_note": ADMINS}), ("label", {"add": [ADMINS]}), ("own", {"owner": ADMINS}),
                            ("reply", {"public_reply": OWN}), ("no-such", {"admin_note": ADMINS})):  # fmt: skip
        with transaction.atomic():
            admin.api.post(f"{report}/actions", {"verb": verb, "arguments": arguments})
            admin.api.post("admin/feedback/bulk", {"verb": verb, "arguments": arguments, "query": f"is:open {ADMINS}"})
            transaction.set_rollback(True)
    admin.api.get(f"admin/feedback?q={ADMINS}:1")
    b"".join(admin.api.get("admin/feedback/export?format=csv").streaming_content)
    for mark in (ADMINS, OWN):
        assert mark not in log()
