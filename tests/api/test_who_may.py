"""Every route with every kind of caller (spec 1.4, 2). A route that is not in a table here fails a test."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import get_resolver
from django.utils import timezone

from accounts.models import ApiToken, Membership, Org, mint
from accounts.orgs import set_policy
from catalogue.elsewhere import mcp_servers
from catalogue.models import Call
from feedback.models import Bulk
from tests import hooks, make
from tests.api import shapes
from tests.conftest import Api, data_of, refusal_of
from threads import pending
from threads.models import Thread


@dataclass(frozen=True)
class May:
    """What becomes of a valid request by each kind of caller.

    The owner and the stranger ask for an object that the org may see, the admin and the `private` colleague for a
    private one, the `shared` colleague for a shared one; `unknown` is an id that nobody has, asked for by somebody
    who could do everything else.
    """

    owner: int = 200
    private: int = 403
    shared: int = 200
    stranger: int = 403
    admin: int = 200
    unknown: int | None = 404


READ = May()
OWN = May(shared=403, admin=403)
OWN_OR_ADMIN = May(shared=403)
TRIAGE = May(owner=403, shared=403)
DESK = replace(TRIAGE, unknown=None)
ANYBODY = May(private=200, stranger=200, unknown=None)
IN_AN_ORG = May(private=200, stranger=200, admin=400, unknown=None)
"""The caller's only org is taken; an admin of none has to name one."""
VISIBLE_SKILL = May(private=404, stranger=404, admin=404)
EDITED_SKILL = replace(VISIBLE_SKILL, shared=403)
AGENT = May(private=200, stranger=404, admin=404)
DATA = May(private=200, stranger=404)
KEPT_DATA = replace(DATA, private=403, shared=403)
CALL = May(private=404, stranger=404)
"""The private one was made by an agent, the shared one from outside."""
BY_NAME = replace(VISIBLE_SKILL, admin=400)
WEBHOOK = May(private=404, shared=404, stranger=404)
"""Its owner's, who is an admin of the org; platform admins see everybody's."""

TOOL = replace(BY_NAME, private=200)
"""Of a tool by its name: the whole org may, nobody else knows of it, an admin of no org has to name one."""
MADE_TOOL = replace(TOOL, private=403, shared=403)
CONNECTED = replace(MADE_TOOL, stranger=200, unknown=None)
"""A server that is not there is made, in the caller's own org."""

PLAYED = May(private=200, stranger=404)
"""A world: the whole org may, and admins."""

TEXT = {"role": "user", "content": [{"text": "Hello"}]}
SKILL = {"name": "another", "description": "What for.", "body": "How."}
AGENT_BODY = {"name": "another", "request_template": {"messages": [TEXT]}}
CONVERSATIONS = {"format": "openai", "conversations": [{"id": "c", "messages": [{"role": "user", "content": "Hi"}]}]}
WEBHOOK_BODY = {"url": "https://hooks.example.org/", "events": ["feedback.submitted"]}
THREAD = "v1/ai/threads/<str:thread_id>"
SKILLS = "v1/skills/id/<str:skill_id>"
WEBHOOKS = "v1/webhooks/<str:webhook_id>"
TOOLS = {"dialect": "openai", "server": "srv", "tool": {"name": "another"}}
CONNECTION = {"kind": "http", "url": "https://tools.example.org/"}
ONE_TOOL = "v1/catalogue/tools/<str:qualified_name>"
SERVER = "v1/catalogue/servers/<str:server>"
WORLD = "v1/catalogue/worlds/<str:world_id>"

ORG = "v1/orgs/<str:org_id>"
ONE_MEMBER = f"{ORG}/members/<str:email>"
OF_THE_ORG = May(private=200, stranger=404)
"""Its members may look; platform admins, too."""
ADMINISTERED = May(private=403, shared=403, stranger=404)
"""Its admins' business, of whom alice is one."""

ROUTES: dict[tuple[str, str], tuple[May, Any]] = {
    ("GET", "v1/orgs"): (ANYBODY, None),
    ("GET", ORG): (OF_THE_ORG, None),
    ("PATCH", ORG): (ADMINISTERED, {"members_may_fork": True}),
    ("GET", f"{ORG}/members"): (OF_THE_ORG, None),
    ("POST", f"{ORG}/members"): (ADMINISTERED, {"email": "new@acme.test"}),
    ("GET", ONE_MEMBER): (OF_THE_ORG, None),
    ("PATCH", ONE_MEMBER): (ADMINISTERED, {"role": "admin"}),
    ("DELETE", ONE_MEMBER): (ADMINISTERED, None),
    ("POST", f"{ONE_MEMBER}/invitation"): (replace(ADMINISTERED, owner=400, admin=400), {}),
    ("GET", "v1/tokens"): (ANYBODY, None),
    ("DELETE", "v1/tokens/<str:token_id>"): (May(private=404, shared=404, stranger=404, admin=404), None),
    ("GET", "v1/ai/threads"): (ANYBODY, None),
    ("POST", "v1/ai/threads"): (IN_AN_ORG, {"messages": [TEXT]}),
    ("POST", "v1/ai/threads/search"): (ANYBODY, {}),
    ("POST", "v1/ai/threads/import"): (IN_AN_ORG, CONVERSATIONS),
    ("GET", THREAD): (READ, None),
    ("PATCH", THREAD): (OWN, {"title": "Other"}),
    ("GET", f"{THREAD}/delta"): (READ, None),
    ("POST", f"{THREAD}/messages"): (OWN, {"message": TEXT}),
    ("POST", f"{THREAD}/tool-results"): (OWN, {"tool_results": []}),
    ("POST", f"{THREAD}/fork"): (OWN_OR_ADMIN, {"message_sequence_num": 0}),
    ("POST", f"{THREAD}/rerun"): (OWN_OR_ADMIN, {"message_sequence_num": 0}),
    ("POST", f"{THREAD}/visibility"): (OWN, {"visibility": "private"}),
    ("POST", f"{THREAD}/pin"): (READ, {"pinned": True}),
    ("POST", f"{THREAD}/cancel"): (OWN, {}),
    ("POST", f"{THREAD}/again"): (replace(OWN, owner=400), {}),
    ("GET", f"{THREAD}/subjects"): (READ, None),
    ("PUT", f"{THREAD}/subjects"): (OWN, []),
    ("GET", f"{THREAD}/export"): (READ, None),
    ("GET", f"{THREAD}/agent"): (replace(READ, owner=404, shared=404, admin=404), None),
    ("GET", f"{THREAD}/tools/<path:tool_use_id>"): (OWN_OR_ADMIN, None),
    ("POST", f"{THREAD}/messages/<str:index>/feedback"): (READ, {"sentiment": "negative"}),
    ("DELETE", f"{THREAD}/messages/<str:index>/feedback"): (May(shared=404, admin=404), None),
    ("GET", f"{THREAD}/feedback"): (READ, None),
    ("GET", "v1/ai/admin/feedback"): (DESK, None),
    ("GET", "v1/ai/admin/feedback/terms"): (DESK, None),
    ("GET", f"{THREAD}/feedback/replies"): (READ, None),
    ("GET", "v1/ai/admin/feedback/export"): (DESK, None),
    ("GET", "v1/ai/admin/feedback/<str:feedback_id>"): (TRIAGE, None),
    ("GET", "v1/ai/admin/feedback/<str:feedback_id>/similar"): (TRIAGE, None),
    ("PUT", "v1/ai/admin/feedback/<str:feedback_id>"): (TRIAGE, {"resolved": True}),
    ("GET", "v1/ai/admin/feedback/<str:feedback_id>/triage"): (TRIAGE, None),
    ("GET", "v1/ai/admin/feedback/<str:feedback_id>/history"): (TRIAGE, None),
    ("POST", "v1/ai/admin/feedback/<str:feedback_id>/actions"): (TRIAGE, {"verb": "resolve"}),
    ("PUT", "v1/ai/admin/feedback/<str:feedback_id>/lease"): (TRIAGE, None),
    ("DELETE", "v1/ai/admin/feedback/<str:feedback_id>/lease"): (TRIAGE, None),
    ("GET", "v1/ai/admin/feedback/<str:feedback_id>/comments"): (TRIAGE, None),
    ("POST", "v1/ai/admin/feedback/<str:feedback_id>/comments"): (TRIAGE, {"text": "Hm."}),
    ("POST", "v1/ai/admin/feedback/<str:feedback_id>/comments/acknowledge"): (TRIAGE, None),
    ("PATCH", "v1/ai/admin/feedback/<str:feedback_id>/comments/<str:comment_id>"): (TRIAGE, {"text": "Hm."}),
    ("DELETE", "v1/ai/admin/feedback/<str:feedback_id>/comments/<str:comment_id>"): (TRIAGE, None),
    ("POST", "v1/ai/admin/feedback/<str:feedback_id>/comments/<str:comment_id>/restore"): (TRIAGE, None),
    ("POST", "v1/ai/admin/feedback/bulk"): (DESK, {"verb": "resolve", "query": "is:open"}),
    ("POST", "v1/ai/admin/feedback/rerun"): (DESK, {"query": "is:open"}),
    ("GET", "v1/ai/admin/feedback/bulk/<str:bulk_id>"): (TRIAGE, None),
    ("POST", "v1/ai/admin/feedback/bulk/<str:bulk_id>/cancel"): (TRIAGE, None),
    ("GET", "v1/ai/admin/feedback/<str:feedback_id>/check"): (TRIAGE, None),
    ("PUT", "v1/ai/admin/feedback/<str:feedback_id>/check"): (TRIAGE, {"expectations": []}),
    ("GET", "v1/ai/admin/checks"): (DESK, None),
    ("POST", "v1/ai/admin/checks/run"): (DESK, {}),
    ("GET", "v1/ai/admin/checks/batches/<str:batch_id>"): (TRIAGE, None),
    ("GET", "v1/ai/admin/checks/batches"): (DESK, None),
    ("POST", "v1/ai/admin/checks/batches/<str:batch_id>/fix"): (TRIAGE, {}),
    ("POST", "v1/ai/admin/checks/batches/<str:batch_id>/stop"): (TRIAGE, None),
    ("GET", "v1/ai/admin/checks/batches/<str:batch_id>/against/<str:against>"): (TRIAGE, None),
    ("PUT", "v1/ai/admin/checks/runs/<str:run_id>/verdict"): (TRIAGE, {"verdict": "passed"}),
    ("GET", "v1/ai/admin/checks/<str:check_id>"): (TRIAGE, None),
    ("DELETE", "v1/ai/admin/checks/<str:check_id>"): (TRIAGE, None),
    ("POST", "v1/ai/admin/checks/<str:check_id>/runs"): (TRIAGE, {}),
    ("POST", "v1/ai/admin/feedback/undo"): (replace(DESK, admin=404), {"action_id": "act_unknown"}),
    ("GET", "v1/ai/admin/feedback/views"): (DESK, None),
    ("POST", "v1/ai/admin/feedback/views"): (DESK, {"name": "Mine", "query": "is:open"}),
    ("PATCH", "v1/ai/admin/feedback/views/<str:view_id>"): (TRIAGE, {"name": "Ours"}),
    ("DELETE", "v1/ai/admin/feedback/views/<str:view_id>"): (TRIAGE, None),
    ("GET", "v1/ai/admin/feedback/views/<str:view_id>"): (TRIAGE, None),
    ("GET", "v1/ai/admin/feedback/labels"): (DESK, None),
    ("POST", "v1/ai/admin/feedback/labels"): (DESK, {"name": "new"}),
    ("PATCH", "v1/ai/admin/feedback/labels/<path:name>"): (TRIAGE, {"description": "What for."}),
    ("DELETE", "v1/ai/admin/feedback/labels/<path:name>"): (TRIAGE, None),
    ("GET", "v1/ai/admin/feedback/insight"): (DESK, None),
    ("GET", "v1/ai/model-profiles"): (ANYBODY, None),
    ("GET", "v1/ai/agents"): (IN_AN_ORG, None),
    ("POST", "v1/ai/agents"): (IN_AN_ORG, AGENT_BODY),
    ("GET", "v1/ai/agents/name/<path:name>"): (replace(AGENT, admin=400), None),
    ("GET", "v1/ai/agents/<str:agent_id>"): (AGENT, None),
    ("PUT", "v1/ai/agents/<str:agent_id>"): (AGENT, {"description": None}),
    ("DELETE", "v1/ai/agents/<str:agent_id>"): (AGENT, None),
    ("POST", "v1/ai/agents/<str:agent_id>/launch"): (AGENT, {}),
    ("GET", "v1/ai/agents/<str:agent_id>/versions"): (AGENT, None),
    ("GET", "v1/ai/agents/<str:agent_id>/versions/<str:version>"): (AGENT, None),
    ("POST", "v1/ai/agents/<str:agent_id>/versions/<str:version>/restore"): (AGENT, {}),
    ("GET", "v1/skills"): (IN_AN_ORG, None),
    ("POST", "v1/skills/create"): (IN_AN_ORG, SKILL),
    ("GET", "v1/skills/tags"): (IN_AN_ORG, None),
    ("GET", "v1/skills/name/<path:name>"): (BY_NAME, None),
    ("GET", SKILLS): (VISIBLE_SKILL, None),
    ("PUT", SKILLS): (EDITED_SKILL, {}),
    ("DELETE", SKILLS): (EDITED_SKILL, None),
    ("GET", f"{SKILLS}/summary"): (VISIBLE_SKILL, None),
    ("GET", f"{SKILLS}/versions"): (VISIBLE_SKILL, None),
    ("POST", f"{SKILLS}/versions"): (EDITED_SKILL, {"description": "d", "body": "b"}),
    ("GET", f"{SKILLS}/versions/<str:version>"): (VISIBLE_SKILL, None),
    ("PUT", f"{SKILLS}/versions/<str:version>"): (EDITED_SKILL, {"body": "b"}),
    ("DELETE", f"{SKILLS}/versions/<str:version>"): (EDITED_SKILL, None),
    ("POST", f"{SKILLS}/subscribe"): (VISIBLE_SKILL, None),
    ("PUT", f"{SKILLS}/subscribe"): (VISIBLE_SKILL, {"ai_version": None}),
    ("DELETE", f"{SKILLS}/subscribe"): (VISIBLE_SKILL, None),
    ("GET", "v1/webhooks"): (ANYBODY, None),
    ("POST", "v1/webhooks"): (May(shared=403, unknown=None), WEBHOOK_BODY),
    ("GET", WEBHOOKS): (WEBHOOK, None),
    ("PATCH", WEBHOOKS): (WEBHOOK, {"enabled": True}),
    ("DELETE", WEBHOOKS): (WEBHOOK, None),
    ("POST", f"{WEBHOOKS}/rotate-secret"): (WEBHOOK, {}),
    ("POST", f"{WEBHOOKS}/test"): (WEBHOOK, {}),
    ("GET", f"{WEBHOOKS}/deliveries"): (WEBHOOK, None),
    ("GET", f"{WEBHOOKS}/deliveries/<str:delivery_id>"): (WEBHOOK, None),
    ("POST", f"{WEBHOOKS}/deliveries/<str:delivery_id>/replay"): (WEBHOOK, {}),
    ("POST", "v1/catalogue/tools/import"): (IN_AN_ORG, TOOLS),
    ("GET", "v1/catalogue/tools"): (IN_AN_ORG, None),
    ("GET", ONE_TOOL): (TOOL, None),
    ("PATCH", ONE_TOOL): (TOOL, {"visible": False}),
    ("DELETE", ONE_TOOL): (MADE_TOOL, None),
    ("GET", f"{ONE_TOOL}/versions"): (TOOL, None),
    ("GET", "v1/catalogue/servers"): (IN_AN_ORG, None),
    ("GET", SERVER): (TOOL, None),
    ("PATCH", SERVER): (TOOL, {"version": "2.0.0"}),
    ("GET", f"{SERVER}/manifest"): (TOOL, None),
    ("GET", f"{SERVER}/connection"): (TOOL, None),
    ("PUT", f"{SERVER}/connection"): (CONNECTED, CONNECTION),
    ("DELETE", f"{SERVER}/connection"): (MADE_TOOL, None),
    ("POST", f"{SERVER}/connection/rotate-secret"): (MADE_TOOL, {}),
    ("POST", f"{SERVER}/refresh"): (MADE_TOOL, {}),
    ("POST", f"{ONE_TOOL}/validate"): (TOOL, {"arguments": {}}),
    ("POST", f"{ONE_TOOL}/build-input"): (TOOL, {"args": []}),
    ("POST", f"{ONE_TOOL}/call"): (TOOL, {"arguments": {}}),
    ("GET", "v1/catalogue/calls/<str:call_id>"): (CALL, None),
    ("POST", "v1/catalogue/results/validate"): (ANYBODY, {"result": {"success": True}}),
    ("POST", "v1/catalogue/results/convert"): (ANYBODY, {"from": "plain", "to": "ctp", "result": 1}),
    ("POST", "v1/catalogue/compliance"): (IN_AN_ORG, {"server": "demo"}),
    ("POST", "v1/catalogue/worlds"): (IN_AN_ORG, {}),
    ("GET", "v1/catalogue/worlds"): (IN_AN_ORG, None),
    ("GET", WORLD): (PLAYED, None),
    ("DELETE", WORLD): (PLAYED, None),
    ("POST", f"{WORLD}/tools"): (PLAYED, {"tools": []}),
    ("POST", f"{WORLD}/call"): (PLAYED, {"tool": "look"}),
    ("POST", f"{WORLD}/fixtures"): (PLAYED, {"fixtures": []}),
    ("POST", f"{WORLD}/fixtures/recorded"): (PLAYED, {}),
    ("GET", f"{WORLD}/state"): (PLAYED, None),
    ("GET", f"{WORLD}/calls"): (PLAYED, None),
    ("POST", f"{WORLD}/reset"): (PLAYED, {}),
    ("POST", "v1/catalogue/data"): (IN_AN_ORG, {"data": {}}),
    ("GET", "v1/catalogue/data/<str:ref_id>"): (DATA, None),
    ("DELETE", "v1/catalogue/data/<str:ref_id>"): (KEPT_DATA, None),
}
ALIASES = {"v1/ai/chats": "v1/ai/threads"}
"""Names that routes had before 2026-05-20 (spec 1.6)."""
OPEN_TO_ALL = {"v1/schema", "v1/schema/", "v1/docs", "v1/docs/"}
METHODS = ("get", "post", "put", "patch", "delete")


def routes(patterns: Any = None, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every route of the URLconf with its view."""
    for entry in get_resolver().url_patterns if patterns is None else patterns:
        route = prefix + str(entry.pattern)
        if hasattr(entry, "url_patterns"):
            yield from routes(entry.url_patterns, route)
        else:
            yield route, entry.callback


def api_routes() -> set[tuple[str, str]]:
    """Method and route of every endpoint under /v1, each under its present name."""
    found = set()
    for route, view in routes():
        if route.startswith("v1/") and route not in OPEN_TO_ALL:
            for old, new in ALIASES.items():
                route = new + route.removeprefix(old) if route.startswith(old) else route
            found |= {(method.upper(), route) for method in METHODS if hasattr(view.cls, method)}
    return found


def test_every_route_under_v1_is_in_the_table():
    assert api_routes() == set(ROUTES)


def test_the_older_names_lead_to_the_same_views():
    """Spec 1.6."""
    views = {route: view.cls for route, view in routes() if hasattr(view, "cls")}
    for route, view in views.items():
        if route.startswith("v1/ai/threads"):
            assert views[route.replace("threads", "chats", 1)] is view


@dataclass
class Place:
    """An object of each kind: what stands in the angle brackets of a route."""

    values: dict[str, str] = field(default_factory=dict)

    def path(self, route: str) -> str:
        path = "/" + route
        for name, value in self.values.items():
            for kind in ("str", "path", "int"):
                path = path.replace(f"<{kind}:{name}>", value)
        assert "<" not in path
        return path


UNKNOWN = {
    "org_id": "og_unknown",
    "email": "unknown@acme.test",
    "token_id": "0",
    "since": "0",
    "thread_id": "ags_unknown",
    "waiting_id": "ags_unknown",
    "feedback_id": "fb_unknown",
    "skill_id": "sk_unknown",
    "agent_id": "agt_unknown",
    "webhook_id": "wh_unknown",
    "delivery_id": "dlv_unknown",
    "bulk_id": "blk_unknown",
    "view_id": "vw_unknown",
    "check_id": "chk_unknown",
    "batch_id": "bat_unknown",
    "against": "bat_unknown",
    "run_id": "run_unknown",
    "comment_id": "cmt_unknown",
    "name": "unknown",
    "qualified_name": "srv__unknown",
    "server": "unknown",
    "call_id": "call_unknown",
    "ref_id": "td_unknown",
    "world_id": "wld_unknown",
}


@pytest.fixture
def browser_of(browser_of):
    """One browser for each caller: of what is asked nothing stays, so nobody has to sign in for each page anew."""
    return cache(browser_of)


@pytest.fixture
def world(who, api, monkeypatch):
    """Objects of alice, private and shared, and one of each state that a valid request needs."""
    set_policy("acme", "visibility_may_change", True)
    alice, admin = api("alice"), api("admin")
    agent = data_of(alice.post("/v1/ai/agents", {**AGENT_BODY, "name": "ours"}))
    hooks.make_org_admin(who.alice)
    webhook = data_of(alice.post("/v1/webhooks", WEBHOOK_BODY))
    delivery = data_of(alice.post(f"/v1/webhooks/{webhook['webhook_id']}/test"))
    data_of(alice.post("/v1/catalogue/tools/import", {**TOOLS, "tool": {"name": "look"}}))
    ref = data_of(alice.post("/v1/catalogue/data", {"data": {}}))
    data_of(alice.put("/v1/catalogue/servers/srv/connection", {**CONNECTION, "attach": False}))
    data_of(alice.put("/v1/catalogue/servers/far/connection", {**CONNECTION, "kind": "mcp"}))
    monkeypatch.setattr(mcp_servers, "list_tools", lambda *_: mcp_servers.Listing([], {}))
    played = data_of(alice.post("/v1/catalogue/worlds", {}))

    def call_of(thread: Thread, visibility: str) -> str:
        if visibility == "private":
            return Call.objects.get(thread_id=thread.thread_id).call_id
        return data_of(alice.post("/v1/catalogue/tools/srv__look/call", {}))["call_id"]

    def place(visibility: str, skill_name: str) -> Place:
        thread = make.thread(who.alice, '[[call echo {"value": 1}]]', visibility=visibility)
        waiting = make.waiting(who.alice, visibility=visibility)
        record = data_of(alice.get(f"threads/{thread.thread_id}"))
        data_of(admin.post("admin/feedback/labels", {"name": skill_name}))
        view = data_of(admin.post("admin/feedback/views", {"name": skill_name, "query": "is:open"}))
        bulk = Bulk.objects.create(verb="resolve", query="is:open", total=300, created_by=who.admin.user)
        rated = make.rating(who.alice, thread).feedback_id
        check = data_of(admin.put(f"admin/feedback/{rated}/check", {}))
        batch = data_of(admin.post(f"admin/checks/{check['check_id']}/runs", {}))
        make.run_turns()
        [run] = data_of(admin.get(f"admin/checks/batches/{batch['batch_id']}"))["runs"]
        data_of(admin.put(f"admin/checks/runs/{run['run_id']}/verdict", {"verdict": "passed"}))
        skill = data_of(alice.post("/v1/skills/create", {**SKILL, "name": skill_name, "accessibility": visibility}))
        return Place(
            {
                "thread_id": thread.thread_id,
                "waiting_id": waiting.thread_id,
                "waiting_use_id": pending.open_uses(waiting)[0]["tool_use_id"],
                "tool_use_id": shapes.blocks(record, "tool_use")[0]["tool_use_id"],
                "index": "1",
                "feedback_id": rated,
                "check_id": check["check_id"],
                "batch_id": batch["batch_id"],
                "against": batch["batch_id"],
                "run_id": batch["runs"][0]["run_id"],
                "comment_id": data_of(admin.post(f"admin/feedback/{rated}/comments", {"text": "Well."}))["comment_id"],
                "skill_id": skill["skill_id"],
                "version": "1",
                "agent_id": agent["agent_id"],
                "webhook_id": webhook["webhook_id"],
                "delivery_id": delivery["delivery_id"],
                "bulk_id": bulk.bulk_id,
                "view_id": view["view_id"],
                "name": skill_name,
                "qualified_name": "srv__look",
                "server": "srv",
                "call_id": call_of(thread, visibility),
                "ref_id": ref["ref_id"],
                "world_id": played["world_id"],
                "org_id": Org.objects.get(slug="acme").org_id,
                "email": who.bob.user.email,
                "member_id": str(Membership.objects.get(user=who.bob.user).pk),
                "since": "0",
                "token_id": str(ApiToken.objects.filter(user=who.alice.user).first().pk),
                "uidb64": "MQ",
                "token": "none-such",
            }
        )

    return SimpleNamespace(private=place("private", "mine"), shared=place("org", "ours"))


def leaving_nothing(request: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """The answer to a request of which nothing stays."""
    with transaction.atomic():
        response = request(*given, **named)
        transaction.set_rollback(True)
    return response


def ask(client: Api, method: str, route: str, place: Place, body: Any) -> Any:
    """One request, of which nothing stays."""
    if route.endswith("/tool-results"):
        place = Place({**place.values, "thread_id": place.values["waiting_id"]})
    if route.endswith("/refresh") and place.values["server"] == "srv":
        place = Place({**place.values, "server": "far"})
    response = leaving_nothing(client.request, method, place.path(route), body)
    if response.status_code == 200:
        assert response.streaming or "data" in response.json()
    else:
        status, code, _ = refusal_of(response)
        expected = {401: "RobotoUnauthorizedException", 403: "RobotoUnauthorizedException",
                    404: "RobotoNotFoundException"}  # fmt: skip
        assert code == expected.get(status, code)
    return response


def test_who_may_and_what_exists(world, api):
    """B26, B28 to B30, B42, B95, B122, B133, B141, B145: by status, on every route."""
    wrong = []
    for (method, route), (may, body) in ROUTES.items():
        # Agents belong to the whole org, so there is no private one to ask for by name.
        private = world.shared if "agents/name" in route else world.private
        asked = [
            ("owner", "alice", world.shared, may.owner),
            ("owner", "alice", private, may.owner),
            ("private", "bob", private, may.private),
            ("shared", "bob", world.shared, may.shared),
            ("stranger", "eve", world.shared, may.stranger),
            ("stranger", "eve", private, may.stranger),
            ("admin", "admin", private, may.admin),
        ]
        if may.unknown is not None:
            asked.append(("unknown", "admin" if may is TRIAGE else "alice", Place(world.shared.values | UNKNOWN), 404))
        for caller, name, place, expected in asked:
            status = ask(api(name), method, route, place, body).status_code
            if status != expected:
                wrong.append(f"{method} {route} as {caller}: {status}, not {expected}")
    assert wrong == []


def test_without_a_usable_token_nothing_is_answered(world, who):
    """Spec 1.4: authentication comes first, before the existence of anything."""
    user = who.alice.user
    past = timezone.now() - timedelta(seconds=1)
    revoked, secret = mint(user, "revoked")
    revoked.revoked_at = past
    revoked.save()
    unusable = [
        Api(None),
        Api("hdl_nobody-has-this"),
        Api(secret),
        Api(mint(user, "expired", expires_at=past)[1]),
        Api(None, Authorization=f"Basic {who.alice.token}"),
        Api(None, Authorization="Bearer"),
        Api(None, Authorization=who.alice.token),
    ]
    for (method, route), (_, body) in ROUTES.items():
        for client in unusable:
            for place in (world.shared, Place(world.shared.values | UNKNOWN)):
                response = ask(client, method, route, place, body)
                assert response.status_code == 401, (method, route)
                assert response.headers["WWW-Authenticate"] == "Bearer"


def test_every_body_is_looked_at_also_where_none_is_needed(world, api):
    """Spec 1.4, 2.8: what is no JSON is refused, and on routes of our own what is not known, by its name."""
    own = {route for route, view in routes() if hasattr(view, "cls") and view.cls.has_exact_query}
    wrong = []
    for (method, route), (may, body) in ROUTES.items():
        if method not in ("POST", "PUT", "PATCH"):
            continue
        client = api("admin" if may.owner == 403 else "alice")
        sent = [(b'{"cut": ', "body: is not valid JSON")]
        if route in own and not isinstance(body, list):
            sent.append(({**(body or {}), "nobody_knows": 1}, "nobody_knows: is not a known field"))
        for raw, expected in sent:
            status, _, said = refusal_of(ask(client, method, route, world.shared, raw))
            if status != 400 or expected not in said:
                wrong.append(f"{method} {route}: {status} {said}")
    assert wrong == []


def test_what_does_not_exist_is_said_before_the_body_is_looked_at(world, api):
    unknown, wrong = Place(world.shared.values | UNKNOWN), []
    for (method, route), (may, _) in ROUTES.items():
        if method in ("POST", "PUT", "PATCH") and "<" in route and may is not CONNECTED:  # which a PUT makes
            client = api("admin" if may.owner == 403 else "alice")
            status = ask(client, method, route, unknown, {"nobody_knows": 1}).status_code
            wrong += [] if status == 404 else [f"{method} {route}: {status}"]
    assert wrong == []


READ_BY_POST = {
    "v1/ai/threads/search",
    f"{ONE_TOOL}/validate",
    f"{ONE_TOOL}/build-input",
    "v1/catalogue/results/validate",
    "v1/catalogue/results/convert",
}


def test_a_read_only_token_reads_and_does_nothing_else(world, who):
    reader = Api(mint(who.alice.user, "reader", scope=ApiToken.Scope.READ)[1])
    for (method, route), (may, body) in ROUTES.items():
        expected = may.owner if method == "GET" or route in READ_BY_POST else 403
        assert ask(reader, method, route, world.shared, body).status_code == expected, (method, route)


def test_a_person_who_left_the_org_or_was_switched_off_is_out(world, who, api):
    """Spec 2: a creator who left the org has lost it too."""
    Membership.objects.filter(user=who.alice.user).delete()
    for (method, route), (may, body) in ROUTES.items():
        if may in (READ, OWN, OWN_OR_ADMIN, AGENT, VISIBLE_SKILL, EDITED_SKILL):
            expected = 404 if may in (AGENT, VISIBLE_SKILL, EDITED_SKILL) else 403
            assert ask(api("alice"), method, route, world.shared, body).status_code == expected, (method, route)
    who.alice.user.is_active = False
    who.alice.user.save()
    for (method, route), (_, body) in ROUTES.items():
        assert ask(api("alice"), method, route, world.shared, body).status_code == 401, (method, route)


@pytest.mark.parametrize("name", ["alice", "eve"])
def test_what_is_wrong_with_a_body_is_told_only_to_those_with_the_right(name, world, api):
    """Spec 1.4: existence, permission, body, state."""
    for (method, route), (may, body) in ROUTES.items():
        if body is not None and may in (OWN, OWN_OR_ADMIN, READ, TRIAGE):
            response = ask(api(name), method, route, world.shared, b"{not json")
            if name == "alice" and may is not TRIAGE and not route.endswith("cancel"):
                assert response.status_code == 400, route
            elif name == "eve":
                assert response.status_code == 403, route


def test_what_is_wrong_with_a_query_is_told_only_to_those_with_the_right(world, api):
    """Spec 1.4, on every list: of a thread or tool, and of an org in whose name one asks."""
    wrong = []
    for path in sorted({world.shared.path(route) for method, route in ROUTES if method == "GET"}):
        for name, headers in (("alice", {}), ("bob", {}), ("eve", {}), ("alice", {"X-Roboto-Org-Id": "og_x"})):
            usual, odd = (leaving_nothing(api(name).get, f"{path}{query}", **headers) for query in ("", "?limit=0"))
            takes_limit = b"not a known parameter" not in odd.getvalue()
            if usual.status_code in (403, 404) and takes_limit and odd.status_code != usual.status_code:
                wrong.append(f"{path} as {name} {headers}: {odd.status_code}, not {usual.status_code}")
    assert wrong == []


def test_any_other_method_is_refused_in_the_envelope(world, api):
    """Spec 1.4: 405 where the URL is known."""
    known: dict[str, set[str]] = {}
    for method, route in ROUTES:
        known.setdefault(route, set()).add(method)
    for route, methods in known.items():
        for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"} - methods:
            status, code, said = refusal_of(api("alice").request(method, world.shared.path(route)))
            assert (status, code) == (405, "RobotoInvalidRequestException"), (method, route)
            assert all(possible in said for possible in methods)


@pytest.mark.parametrize("path", ["/v1/schema/", "/v1/schema", "/v1/docs/", "/v1/docs"])
def test_what_describes_the_api_is_only_read_B169(api, path):
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        status, code, said = refusal_of(api("alice").request(method, path, {}))
        assert (status, code) == (405, "RobotoInvalidRequestException") and "GET" in said


# The pages


@dataclass(frozen=True)
class Page:
    """What a page answers: to its owner, to a colleague who shares the object, to a stranger, to an admin."""

    owner: int = 200
    shared: int = 200
    stranger: int = 403
    admin: int = 200
    form: dict[str, str] | None = None
    """What a POST carries; None for a GET."""
    has_object: bool = True


def acting(owner: int = 302, shared: int = 403, stranger: int = 403, admin: int = 403, **form: str) -> Page:
    return Page(owner, shared, stranger, admin, form)


VISIBLE_PAGE = Page(stranger=404, admin=404)
EDITOR_PAGE = Page(shared=403, stranger=404, admin=404)
SKILL_PAGE = "skills/<str:skill_id>"
AGENT_PAGE = "agents/<str:agent_id>"
HOOK_PAGE = "settings/webhooks/<str:webhook_id>"
MEMBER_PAGE = "settings/members/<int:member_id>"
WORLD_PAGE = "catalogue/worlds/<str:world_id>"
TOOL_PAGE = "catalogue/tools/<str:qualified_name>"
TOOL_OF_ORG = Page(stranger=404)
"""An admin of no org sees the first one's."""

PAGES: dict[tuple[str, str], Page] = {
    ("GET", ""): Page(302, 302, 302, 302, has_object=False),
    ("GET", "go/"): Page(stranger=200, has_object=False),
    ("GET", "settings/"): Page(stranger=200, has_object=False),
    ("POST", "settings/tokens/"): Page(302, 302, 302, 302, {"name": "mine"}, has_object=False),
    ("POST", "settings/tokens/<int:token_id>/revoke/"): acting(shared=404, stranger=404, admin=404),
    ("POST", "settings/password/"): Page(400, 400, 400, 400, {"old_password": "no"}, has_object=False),
    ("POST", "settings/theme/"): Page(302, 302, 302, 302, {"theme": "dark"}, has_object=False),
    ("POST", "settings/keys/"): Page(302, 302, 302, 302, {"keys": "off"}, has_object=False),
    ("GET", "settings/members/"): Page(stranger=200, has_object=False),
    ("POST", "settings/members/"): Page(302, 403, 403, 302, {"org": "acme", "email": "n@acme.test"}, has_object=False),
    ("POST", "settings/members/policies/"): Page(302, 403, 403, 302, {"org": "acme"}, has_object=False),
    ("POST", f"{MEMBER_PAGE}/role/"): acting(stranger=404, admin=302, role="admin"),
    ("POST", f"{MEMBER_PAGE}/remove/"): acting(stranger=404, admin=302),
    ("POST", f"{MEMBER_PAGE}/link/"): acting(owner=400, stranger=404, admin=400),
    ("GET", "settings/webhooks/"): Page(stranger=200, has_object=False),
    ("POST", "settings/webhooks/"): Page(
        302, 403, 403, 302, {**WEBHOOK_BODY, "events": "feedback.submitted"}, has_object=False
    ),
    ("GET", f"{HOOK_PAGE}/"): Page(shared=404, stranger=404),
    ("POST", f"{HOOK_PAGE}/change/"): acting(shared=404, stranger=404, admin=302, verb="disable"),
    ("POST", f"{HOOK_PAGE}/rotate/"): acting(shared=404, stranger=404, admin=302),
    ("POST", f"{HOOK_PAGE}/test/"): acting(shared=404, stranger=404, admin=302),
    ("POST", f"{HOOK_PAGE}/delete/"): acting(shared=404, stranger=404, admin=302),
    ("GET", f"{HOOK_PAGE}/deliveries/<str:delivery_id>/"): Page(shared=404, stranger=404),
    ("POST", f"{HOOK_PAGE}/deliveries/<str:delivery_id>/replay/"): acting(shared=404, stranger=404, admin=302),
    ("POST", "org/"): Page(302, 302, 404, 302, {"org": "acme"}, has_object=False),
    ("GET", "threads/"): Page(stranger=200, has_object=False),
    ("GET", "threads/running/"): Page(302, 302, 302, 302, has_object=False),
    ("GET", "threads/terms/"): Page(stranger=200, has_object=False),
    ("GET", "threads/start/"): Page(stranger=200, has_object=False),
    ("POST", "threads/start/"): Page(302, 302, 302, 302, {"text": "Hello"}, has_object=False),
    ("GET", "threads/import/"): Page(stranger=200, has_object=False),
    ("POST", "threads/import/"): Page(200, 200, 200, 200, {"text": "[1]"}, has_object=False),
    ("GET", "threads/<str:thread_id>/"): Page(),
    ("GET", "threads/<str:thread_id>/next/"): Page(302, 302, admin=302),
    ("GET", "threads/<str:thread_id>/live/"): Page(),
    ("POST", "threads/<str:thread_id>/send/"): acting(text="Hello"),
    ("POST", "threads/<str:thread_id>/again/"): acting(),
    ("POST", "threads/<str:thread_id>/cancel/"): acting(),
    ("POST", "threads/<str:thread_id>/fork/"): acting(admin=302, message_sequence_num="0"),
    ("GET", "threads/<str:thread_id>/rerun/"): Page(shared=403),
    ("POST", "threads/<str:thread_id>/rerun/"): acting(admin=302, message_sequence_num="0"),
    ("POST", "threads/<str:thread_id>/pin/"): acting(shared=302, admin=302, pinned="true"),
    ("POST", "threads/<str:thread_id>/visibility/"): acting(visibility="org"),
    ("POST", "threads/<str:thread_id>/title/"): acting(title="Other"),
    # No fork, so there is nothing to compare; tests/pages/test_compare.py has one.
    ("GET", "threads/<str:thread_id>/compare/"): Page(owner=404, shared=404, admin=404),
    ("GET", "threads/<str:thread_id>/export/?format=openai"): Page(),
    ("GET", "threads/<str:thread_id>/calls/<path:tool_use_id>/"): Page(),
    ("GET", "threads/<str:thread_id>/calls/<path:tool_use_id>/?raw=1"): Page(shared=403),
    ("GET", "threads/<str:thread_id>/messages/<int:index>/rate/"): Page(),
    ("POST", "threads/<str:thread_id>/messages/<int:index>/rate/"): acting(shared=302, admin=302, sentiment="negative"),
    ("GET", "threads/<str:thread_id>/messages/<int:index>/retract/"): Page(shared=404, admin=404),
    ("POST", "threads/<str:thread_id>/messages/<int:index>/retract/"): acting(shared=404, admin=404),
    ("POST", "threads/<str:thread_id>/answer/"): acting(
        tool_use_id="{waiting_use_id}", tool_name="remember", status="success", output="done"
    ),
    ("GET", "skills/"): Page(stranger=200, has_object=False),
    ("GET", "skills/new/"): Page(stranger=200, has_object=False),
    ("POST", "skills/new/"): Page(302, 302, 302, 302, {"name": "another", "body": "How."}, has_object=False),
    ("GET", f"{SKILL_PAGE}/"): VISIBLE_PAGE,
    ("GET", f"{SKILL_PAGE}/compare/?from=1&to=1"): VISIBLE_PAGE,
    ("GET", f"{SKILL_PAGE}/write/"): EDITOR_PAGE,
    ("POST", f"{SKILL_PAGE}/write/"): acting(stranger=404, admin=404, body="How else."),
    ("GET", f"{SKILL_PAGE}/change/"): EDITOR_PAGE,
    ("POST", f"{SKILL_PAGE}/change/"): acting(stranger=404, admin=404, name="renamed"),
    ("POST", f"{SKILL_PAGE}/subscribe/"): acting(shared=302, stranger=404, admin=404, subscribed="true"),
    ("POST", f"{SKILL_PAGE}/pin/"): acting(shared=302, stranger=404, admin=404, ai_version="1"),
    ("POST", f"{SKILL_PAGE}/delete/"): acting(stranger=404, admin=404),
    ("GET", f"{SKILL_PAGE}/versions/<str:version>/edit/"): EDITOR_PAGE,
    ("POST", f"{SKILL_PAGE}/versions/<str:version>/edit/"): acting(stranger=404, admin=404, body="How else."),
    ("POST", f"{SKILL_PAGE}/versions/<str:version>/delete/"): acting(stranger=404, admin=404),
    ("GET", "catalogue/compliance/"): Page(stranger=200, has_object=False),
    ("POST", "catalogue/compliance/"): Page(200, 200, 200, 200, {"server": "heddle"}, has_object=False),
    ("GET", "catalogue/worlds/"): Page(stranger=200, has_object=False),
    ("GET", "catalogue/worlds/new/"): Page(stranger=200, has_object=False),
    ("POST", "catalogue/worlds/new/"): Page(302, 302, 302, 302, {"mode": "stateful"}, has_object=False),
    ("GET", f"{WORLD_PAGE}/"): Page(stranger=404),
    ("POST", f"{WORLD_PAGE}/tools/"): acting(shared=302, stranger=404, admin=302, tools="heddle__calculate"),
    ("POST", f"{WORLD_PAGE}/call/"): Page(302, 302, 404, 302, {"tool": "look"}),
    ("POST", f"{WORLD_PAGE}/fixtures/"): acting(shared=302, stranger=404, admin=302),
    ("POST", f"{WORLD_PAGE}/fixtures/recorded/"): acting(shared=302, stranger=404, admin=302),
    ("POST", f"{WORLD_PAGE}/reset/"): acting(shared=302, stranger=404, admin=302),
    ("POST", f"{WORLD_PAGE}/close/"): acting(shared=302, stranger=404, admin=302),
    ("GET", "catalogue/"): Page(stranger=200, has_object=False),
    ("GET", "catalogue/import/"): Page(stranger=200, has_object=False),
    ("POST", "catalogue/import/"): Page(200, 200, 200, 200, {"text": "def f(): pass", "server": "s"}, has_object=False),
    ("POST", "catalogue/servers/<str:server>/describe/"): acting(
        shared=302, stranger=404, admin=302, description="Bikes."
    ),
    ("GET", f"{TOOL_PAGE}/"): TOOL_OF_ORG,
    ("GET", f"{TOOL_PAGE}/compare/?from=1&to=1"): TOOL_OF_ORG,
    ("GET", f"{TOOL_PAGE}/export/?dialect=openai"): TOOL_OF_ORG,
    ("POST", f"{TOOL_PAGE}/change/"): acting(shared=302, stranger=404, admin=302, tags="a"),
    ("GET", f"{TOOL_PAGE}/try/"): Page(302, 302, 404, 302),
    ("POST", f"{TOOL_PAGE}/try/"): acting(shared=302, stranger=404, admin=302, f0="x"),
    ("POST", f"{TOOL_PAGE}/delete/"): acting(shared=403, stranger=404, admin=302),
    ("GET", "agents/"): Page(stranger=200, has_object=False),
    ("GET", "agents/new/"): Page(stranger=200, has_object=False),
    ("POST", "agents/new/"): Page(302, 302, 302, 302, {"name": "another", "text": "Hello"}, has_object=False),
    ("GET", f"{AGENT_PAGE}/"): VISIBLE_PAGE,
    ("GET", f"{AGENT_PAGE}/edit/"): VISIBLE_PAGE,
    ("POST", f"{AGENT_PAGE}/edit/"): acting(shared=302, stranger=404, admin=404, name="ours", text="Hello"),
    ("GET", f"{AGENT_PAGE}/compare/"): VISIBLE_PAGE,
    ("POST", f"{AGENT_PAGE}/restore/"): acting(shared=302, stranger=404, admin=404, version="1"),
    ("POST", f"{AGENT_PAGE}/delete/"): acting(shared=302, stranger=404, admin=404),
    ("GET", f"{AGENT_PAGE}/launch/"): VISIBLE_PAGE,
    ("POST", f"{AGENT_PAGE}/launch/"): acting(shared=302, stranger=404, admin=404),
    ("GET", "feedback/"): Page(403, 403, 403, 200, has_object=False),
    ("GET", "feedback/live/<int:since>/"): Page(403, 403, 403, 200, has_object=False),
    ("GET", "feedback/count/"): Page(403, 403, 403, 200, has_object=False),
    ("GET", "feedback/terms/"): Page(403, 403, 403, 200, has_object=False),
    ("POST", "feedback/originals/"): Page(403, 403, 403, 200, {"ticked": "{feedback_id}"}, has_object=False),
    ("POST", "feedback/bulk/"): Page(403, 403, 403, 302, {"verb": "resolve", "all": "1"}, has_object=False),
    ("POST", "feedback/bulk/<str:bulk_id>/stop/"): Page(403, 403, 403, 302, {}, has_object=False),
    ("POST", "feedback/undo/"): Page(403, 403, 403, 302, {}, has_object=False),
    ("POST", "feedback/views/"): Page(403, 403, 403, 302, {"name": "Mine", "q": "is:open"}, has_object=False),
    ("GET", "feedback/insight/"): Page(403, 403, 403, 200, has_object=False),
    ("GET", "feedback/export/"): Page(403, 403, 403, 200, has_object=False),
    ("GET", "feedback/checks/"): Page(403, 403, 403, 200, has_object=False),
    ("POST", "feedback/checks/run/"): Page(403, 403, 403, 302, {}, has_object=False),
    ("GET", "feedback/checks/runs/<str:run_id>/"): Page(403, 403, 403, 200),
    ("POST", "feedback/checks/runs/<str:run_id>/"): acting(owner=403, admin=302, verdict="passed"),
    ("GET", "feedback/checks/batches/"): Page(403, 403, 403, 200, has_object=False),
    ("GET", "feedback/checks/batches/<str:batch_id>/"): Page(403, 403, 403, 200),
    ("GET", "feedback/checks/batches/<str:batch_id>/judge/"): Page(403, 403, 403, 302),
    ("POST", "feedback/checks/batches/<str:batch_id>/fix/"): acting(owner=403, admin=302, feedback_ids="{feedback_id}"),
    ("POST", "feedback/checks/batches/<str:batch_id>/leave/"): acting(owner=403, admin=204, of="{feedback_id}"),
    ("POST", "feedback/checks/batches/<str:batch_id>/stop/"): acting(owner=403, admin=302),
    ("GET", "feedback/<str:feedback_id>/check/"): Page(403, 403, 403, 200),
    ("POST", "feedback/<str:feedback_id>/check/"): acting(owner=403, admin=302, kind="says", value="x"),
    ("POST", "feedback/<str:feedback_id>/"): acting(owner=403, admin=302, verb="resolve"),
    ("POST", "feedback/<str:feedback_id>/comments/"): acting(
        owner=403, admin=302, verb="edit", comment="Hm.", comment_id="{comment_id}"
    ),
    ("POST", "feedback/<str:feedback_id>/lease/"): acting(owner=403, admin=204),
    ("POST", "feedback/<str:feedback_id>/rerun/"): acting(owner=403, admin=302),
    # No fork, so there is nothing to stop; tests/pages/test_desk_rerun.py has one.
    ("POST", "feedback/<str:feedback_id>/rerun/<str:thread_id>/stop/"): acting(owner=403, admin=404),
    ("GET", "feedback/<str:feedback_id>/originals/"): Page(403, 403, 403, 200),
    ("GET", "settings/labels/"): Page(403, 403, 403, 200, has_object=False),
    ("POST", "settings/labels/"): Page(403, 403, 403, 302, {"name": "x"}, has_object=False),
    ("POST", "settings/labels/change/"): Page(403, 403, 403, 404, {"label": "x"}, has_object=False),
    ("POST", "settings/labels/drop/"): Page(403, 403, 403, 404, {"label": "x"}, has_object=False),
}
PUBLIC_PAGES = {"signin/", "signout/", "welcome/<str:uidb64>/<str:token>/", "livez", "readyz", "metrics", *OPEN_TO_ALL}


def test_every_page_is_in_the_table():
    found = {route for route, _ in routes() if not route.startswith(("v1/", "^v1"))}
    assert found == {route.partition("?")[0] for _, route in PAGES} | PUBLIC_PAGES - OPEN_TO_ALL


def open_page(client: Client, route: str, place: Place, page: Page) -> Any:
    """One page request, of which nothing stays."""
    with transaction.atomic():
        if route.endswith("/answer/"):
            place = Place({**place.values, "thread_id": place.values["waiting_id"]})
        path = place.path(route)
        form = {name: value.format(**place.values) for name, value in (page.form or {}).items()}
        response = client.get(path) if page.form is None else client.post(path, form)
        transaction.set_rollback(True)
    return response


def test_who_may_open_which_page(world, browser_of):
    """B28 to B30, B133, B145 on the pages; the desk is for admins."""
    wrong = []
    unknown = Place(world.shared.values | UNKNOWN)
    for (method, route), page in PAGES.items():
        asked = [
            ("alice", world.shared, page.owner),
            ("bob", world.shared, page.shared),
            ("eve", world.shared, page.stranger),
            ("admin", world.private if page.has_object else world.shared, page.admin),
        ]
        if page.has_object and "thread_id" in route and "feedback_id" not in route:  # those are the desk's
            asked += [("bob", world.private, 403), ("eve", world.private, 403), ("alice", unknown, 404)]
        if "skill_id" in route:
            asked.append(("bob", world.private, 404))
        if any(name in route for name in ("skill_id", "agent_id", "world_id", "qualified_name")):
            asked.append(("alice", unknown, 404))
        if "feedback_id" in route:
            asked.append(("admin", unknown, 404))
        for name, place, expected in asked:
            status = open_page(browser_of(name), route, place, page).status_code
            if status != expected:
                kind = "private" if place is world.private else "unknown" if place is unknown else "shared"
                wrong.append(f"{method} {route} ({kind}) as {name}: {status}, not {expected}")
    assert wrong == []


def test_without_a_session_every_page_leads_to_the_sign_in(world, browser_of):
    for (method, route), page in PAGES.items():
        for place in (world.shared, Place(world.shared.values | UNKNOWN)):
            response = open_page(browser_of(None), route, place, page)
            assert response.status_code == 302, (method, route)
            location = response.headers["Location"]
            assert location.startswith("/signin/?next=") or (route == "" and location == "/threads/")


def test_a_form_from_elsewhere_is_refused(world, who):
    """Without the page's own token nothing happens, signed in or not."""
    browser = Client(enforce_csrf_checks=True)
    for is_signed_in in (False, True):
        if is_signed_in:
            browser.force_login(who.admin.user)
        for (method, route), page in PAGES.items():
            if method == "POST":
                assert open_page(browser, route, world.shared, page).status_code == 403, route
        assert browser.post("/signin/", {"email": "x", "password": "y"}).status_code == 403
        assert browser.post("/signout/").status_code == 403


FORMS_OF_THE_DESK = {
    "feedback/bulk/",
    "feedback/bulk/<str:bulk_id>/stop/",
    "feedback/undo/",
    "feedback/views/",
    "feedback/<str:feedback_id>/",
    "feedback/<str:feedback_id>/comments/",
    "feedback/<str:feedback_id>/rerun/",
    "feedback/<str:feedback_id>/rerun/<str:thread_id>/stop/",
}


def test_nothing_is_done_by_following_a_link(world, browser_of):
    """What changes something takes a form, so that no link and no image does it. A link to a form's address leads to
    the page that the form belongs to.
    """
    for method, route in PAGES:
        if method == "POST" and ("GET", route) not in PAGES:
            path = world.shared.path(route)
            opened = browser_of("alice").get(path)
            leads_to = opened.headers.get("Location", "")
            if path.count("/") == 2:
                assert opened.status_code == 405, route
            elif route in FORMS_OF_THE_DESK:
                assert leads_to.startswith("/feedback/?"), route
            else:
                assert leads_to not in ("", path) and path.startswith(leads_to), (route, leads_to)
    assert browser_of("alice").get("/signout/").status_code == 405


def test_a_token_is_no_session_and_a_session_no_token(world, who, browser_of):
    path = f"/v1/ai/threads/{world.shared.values['thread_id']}"
    assert browser_of("alice").get(path).status_code == 401
    page = Client(headers={"Authorization": f"Bearer {who.alice.token}"}).get("/threads/")
    assert page.status_code == 302
