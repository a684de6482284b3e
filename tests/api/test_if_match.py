"""What two people may change at once carries a version over REST: an ETag, which If-Match takes."""

import pytest

from tests import hooks, make
from tests.conftest import data_of, refusal_of


def agent(alice):
    body = {"name": "ours", "request_template": {"messages": [make.say("Hello")]}}
    return "PUT", f"/v1/ai/agents/{data_of(alice.post('/v1/ai/agents', body))['agent_id']}", "description"


def skill(alice):
    made = data_of(alice.post("/v1/skills/create", {"name": "checks", "description": "d", "body": "b"}))
    return "PUT", f"/v1/skills/id/{made['skill_id']}/versions/1", "body"


def tool(alice):
    tools = {"dialect": "openai", "server": "srv", "tool": {"name": "look"}}
    data_of(alice.post("/v1/catalogue/tools/import", tools))
    return "PATCH", "/v1/catalogue/tools/srv__look", "deprecation_message"


def webhook(alice):
    return "PATCH", f"/v1/webhooks/{hooks.endpoint(alice, 'https://hooks.example.org/')['webhook_id']}", "description"


@pytest.mark.parametrize("make_one", [agent, skill, tool, webhook])
def test_a_change_of_what_was_read_is_taken_and_one_of_what_was_not_is_refused(api, who, make_one):
    hooks.make_org_admin(who.alice)
    alice = api("alice")
    method, path, field = make_one(alice)
    tag = alice.get(path).headers["ETag"]
    changed = alice.request(method, path, {field: "first"}, **{"If-Match": tag})
    assert data_of(changed)[field] == "first" and changed.headers["ETag"] not in ("", tag)
    assert alice.get(path).headers["ETag"] == changed.headers["ETag"]
    for old in (tag, '"nonsense"', f"W/{tag}"):
        status, code, said = refusal_of(alice.request(method, path, {field: "second"}, **{"If-Match": old}))
        assert (status, code) == (412, "RobotoConflictException") and "since you opened it" in said
    assert data_of(alice.get(path))[field] == "first"
    for given in ("W/{}", '"other", {}', "*"):
        current = given.format(alice.get(path).headers["ETag"])
        assert data_of(alice.request(method, path, {field: given}, **{"If-Match": current}))[field] == given
    assert data_of(alice.request(method, path, {field: "last"}))[field] == "last"
