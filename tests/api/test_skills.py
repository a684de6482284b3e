"""K1 to K16: writing, sharing, versioning and subscribing to skills (spec 2.7, 3.11)."""

from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Org
from accounts.orgs import add_member
from catalogue import skills
from catalogue.models import Skill, SkillSubscription, SkillVersion
from catalogue.wire_skills import SkillPatch, VersionIn, VersionPatch
from core.errors import NotFound, Unauthorized
from tests.conftest import data_of, refusal_of

SKILL = {"skill_id", "org_id", "accessibility", "name", "tags", "created", "created_by", "modified"}
VERSION = {"skill_id", "version", "description", "body", "relevant_topics", "created", "modified"}
SUBSCRIPTION = {"user_id", "skill_id", "ai_version", "subscribed"}
MISSING = (404, "RobotoNotFoundException")
FORBIDDEN = (403, "RobotoUnauthorizedException")
INVALID = (400, "RobotoInvalidRequestException")
TAKEN = (409, "RobotoConflictException")

ROUTES = [
    ("GET", "/v1/skills"),
    ("GET", "/v1/skills/tags"),
    ("POST", "/v1/skills/create"),
    ("GET", "/v1/skills/name/checks"),
    ("GET", "/v1/skills/id/sk_1"),
    ("PUT", "/v1/skills/id/sk_1"),
    ("DELETE", "/v1/skills/id/sk_1"),
    ("GET", "/v1/skills/id/sk_1/summary"),
    ("GET", "/v1/skills/id/sk_1/versions"),
    ("POST", "/v1/skills/id/sk_1/versions"),
    ("GET", "/v1/skills/id/sk_1/versions/1"),
    ("PUT", "/v1/skills/id/sk_1/versions/1"),
    ("DELETE", "/v1/skills/id/sk_1/versions/1"),
    ("POST", "/v1/skills/id/sk_1/subscribe"),
    ("PUT", "/v1/skills/id/sk_1/subscribe"),
    ("DELETE", "/v1/skills/id/sk_1/subscribe"),
]


def stored():
    """Every row there is, so that a refusal shows what it changed."""
    return [list(model.objects.order_by("pk").values()) for model in (Skill, SkillVersion, SkillSubscription)]


@pytest.fixture
def write(api):
    """Create a skill: `write("alice", "name", accessibility="org")`."""

    def create(name, skill_name="checks", **more):
        headers = more.pop("headers", {})
        body = {"name": skill_name, "description": "When to use it.", "body": "What to do.", **more}
        return data_of(api(name).post("/v1/skills/create", body, **headers))

    return create


@pytest.fixture
def at(api):
    """Call a route of one skill: `at("bob", skill, "PUT", "/versions/1", body)`."""

    def call(name, skill, method="GET", tail="", body=None):
        return api(name).request(method, f"/v1/skills/id/{skill['skill_id']}{tail}", body)

    return call


@pytest.fixture
def second_org(who):
    """An org in which alice is, and bob is not."""
    org = Org.objects.create(slug="second", name="Second")
    add_member(org, who.alice.user)
    return org


def listed(api, name, query="", **headers):
    """The names of a list, after checking the shape of its rows."""
    page = data_of(api(name).get(f"/v1/skills{query}", **headers))
    assert set(page) == {"items", "next_token"}
    for row in page["items"]:
        assert set(row) == {"skill", "latest_version", "subscription"}
        assert set(row["skill"]) == SKILL
        assert set(row["latest_version"]) == VERSION
        assert row["subscription"] is None or set(row["subscription"]) == SUBSCRIPTION
    return [row["skill"]["name"] for row in page["items"]]


# K1


def test_a_new_skill_has_version_1_and_a_pinned_subscription_of_its_author_K1(write, at, who):
    skill = write("alice", "look-into_it2", tags=["b", "a", "b"], relevant_topics=["/imu", "/gps"], body="Ü\nTwo.")
    assert set(skill) == SKILL
    assert skill["skill_id"].startswith("sk_")
    assert skill["org_id"] == who.acme.org_id
    assert (skill["accessibility"], skill["name"], skill["tags"]) == ("private", "look-into_it2", ["a", "b"])
    assert skill["created_by"] == "alice@acme.test"
    assert datetime.fromisoformat(skill["created"]).utcoffset() == timedelta(0)

    summary = data_of(at("alice", skill, tail="/summary"))
    assert summary["skill"] == skill
    version = summary["latest_version"]
    assert set(version) == VERSION
    assert (version["skill_id"], version["version"]) == (skill["skill_id"], 1)
    assert (version["description"], version["body"]) == ("When to use it.", "Ü\nTwo.")
    assert version["relevant_topics"] == ["/imu", "/gps"]
    assert set(summary["subscription"]) == SUBSCRIPTION
    assert summary["subscription"]["user_id"] == "alice@acme.test"
    assert summary["subscription"]["ai_version"] == 1


def test_the_header_names_the_org_and_only_ones_own_K1(api, write, second_org, who):
    assert write("alice", headers={"X-Roboto-Org-Id": second_org.org_id})["org_id"] == second_org.org_id
    before = stored()
    # Whether one may at all is settled before the body is looked at.
    for name, org in (("eve", who.acme.org_id), ("bob", second_org.org_id), ("bob", "og_nowhere")):
        assert refusal_of(api(name, **{"X-Roboto-Org-Id": org}).post("/v1/skills/create", {}))[:2] == FORBIDDEN
    assert refusal_of(api("admin").post("/v1/skills/create", {}))[:2] == (400, "RobotoNoOrgProvidedException")
    assert stored() == before


GOOD = {"name": "x" * 120, "description": "d" * 500, "body": ""}


BAD = [
    ({"name": "x" * 121}, "name"),
    ({"name": ""}, "name"),
    ({"name": "two words"}, "name"),
    ({"name": "a/b"}, "name"),
    ({"name": "ümlaut"}, "name"),
    ({"name": "line\n"}, "name"),
    ({"name": None}, "name"),
    ({"name": 5}, "name"),
    ({"description": "d" * 501}, "description"),
    ({"description": None}, "description"),
    ({"body": ["no"]}, "body"),
    ({"body": None}, "body"),
    ({"accessibility": "public"}, "accessibility"),
    ({"accessibility": "org_editable"}, "accessibility"),
    ({"accessibility": None}, "accessibility"),
    ({"tags": "one"}, "tags"),
    ({"tags": [1]}, "tags.0"),
    ({"relevant_topics": [None]}, "relevant_topics.0"),
]


def test_bad_input_is_refused_naming_the_field_K1(api, who):
    assert data_of(api("alice").post("/v1/skills/create", {**GOOD, "unknown": 1}))["name"] == "x" * 120
    before = stored()
    for change, field in BAD:
        status, code, said = refusal_of(api("alice").post("/v1/skills/create", {**GOOD, "name": "other", **change}))
        assert (status, code) == INVALID, change
        assert said.startswith(f"{field}: "), change
    assert stored() == before


def test_left_out_name_description_or_body_is_refused_K1(api):
    for field in GOOD:
        body = {key: value for key, value in GOOD.items() if key != field}
        status, _, said = refusal_of(api("alice").post("/v1/skills/create", body))
        assert (status, said.partition(":")[0]) == (400, field)
    assert stored() == [[], [], []]


# Who sees what


@pytest.mark.parametrize(
    ("accessibility", "readers"), [("private", "alice"), ("org", "alice bob"), ("org-editable", "alice bob")]
)
def test_a_skill_is_found_by_those_who_see_it_and_by_nobody_else_K2_K3_K4_K9_K10(
    api, write, at, accessibility, readers
):
    skill = write("alice", accessibility=accessibility)
    routes = [(method, path.partition("sk_1")[2]) for method, path in ROUTES if "/id/" in path]
    for name in ("alice", "bob", "eve", "admin"):
        if name in readers.split():
            assert data_of(at(name, skill)) == data_of(api(name).get("/v1/skills/name/checks")) == skill
            for tail in ("/summary", "/versions", "/versions/1"):
                data_of(at(name, skill, tail=tail))
        else:
            assert {refusal_of(at(name, skill, method, tail, {}))[:2] for method, tail in routes} == {MISSING}
            if name != "admin":  # who has no org to look in
                assert refusal_of(api(name).get("/v1/skills/name/checks"))[:2] == MISSING


def test_nobody_in_particular_gets_in_and_other_methods_are_refused_in_the_envelope_K1_to_K16(api):
    nobody, alice = api(None), api("alice")
    for method, path in ROUTES:
        assert refusal_of(nobody.request(method, path, {}))[:2] == (401, "RobotoUnauthorizedException"), path
        assert refusal_of(alice.request("PATCH", path, {}))[:2] == (405, "RobotoInvalidRequestException"), path


@pytest.mark.parametrize("skill_id", ["sk_nobody", "sk_", "agt_1", "checks", "sk_%2F..", "sk_" + "x" * 300])
def test_an_unknown_id_is_not_found_K2(api, write, skill_id):
    write("alice")
    assert refusal_of(api("alice").get(f"/v1/skills/id/{skill_id}"))[:2] == MISSING


def test_ones_own_private_skill_comes_before_the_orgs_namesake_K4(api, write):
    """Whichever of the two is the older."""
    shared, mine = write("alice", "twin", accessibility="org"), write("bob", "twin")
    mine_first, shared_later = write("bob", "pair"), write("alice", "pair", accessibility="org")
    assert data_of(api("bob").get("/v1/skills/name/twin")) == mine
    assert data_of(api("bob").get("/v1/skills/name/pair")) == mine_first
    assert data_of(api("alice").get("/v1/skills/name/twin")) == shared
    assert data_of(api("alice").get("/v1/skills/name/pair")) == shared_later
    data_of(api("bob").request("DELETE", f"/v1/skills/id/{mine['skill_id']}"))
    assert data_of(api("bob").get("/v1/skills/name/twin")) == shared


def test_a_name_is_looked_up_in_the_org_of_the_header_and_read_percent_encoded_K4(api, write, second_org):
    here = write("alice", "plan-b", accessibility="org")
    there = write("alice", "plan-b", accessibility="org", headers={"X-Roboto-Org-Id": second_org.org_id})
    assert data_of(api("alice").get("/v1/skills/name/plan%2Db")) == here
    assert data_of(api("alice").get("/v1/skills/name/plan-b", **{"X-Roboto-Org-Id": second_org.org_id})) == there
    for name in ("no%2Fsuch", "plan-b%2F", "%2E%2E", "plan-b%0A"):
        assert refusal_of(api("alice").get(f"/v1/skills/name/{name}"))[:2] == MISSING


def test_a_colleague_who_leaves_loses_the_shared_skills_and_keeps_the_private_one(at, write, who):
    private, shared = write("alice"), write("alice", "shared", accessibility="org-editable")
    who.alice.user.memberships.all().delete()
    assert data_of(at("alice", private)) == private
    assert refusal_of(at("alice", shared))[:2] == MISSING
    refused = refusal_of(at("alice", private, "PUT", "", {"accessibility": "org"}))
    assert refused == (403, "RobotoUnauthorizedException", "You are not a member of that org.")
    assert data_of(at("alice", private))["accessibility"] == "private"


def test_nobody_subscribes_to_what_became_private_meanwhile_K14_K16(at, write, who):
    """Bob's request has found the skill when its author takes it back."""
    skill = write("alice", accessibility="org")
    bob = who.bob.actor
    found = skills.skill_for(bob, skill["skill_id"])
    data_of(at("alice", skill, "PUT", "", {"accessibility": "private"}))
    for ask in (skills.subscribe, lambda *given: skills.pin_version(*given, 1)):
        with pytest.raises(NotFound):
            ask(bob, found)
    assert not SkillSubscription.objects.filter(user=bob.user_id).exists()


def test_what_an_admin_writes_in_an_org_they_name_stays_within_their_reach_K1_K2(api, write, at, who):
    """Spec 1.2: an admin acts in any existing org."""
    skill = write("admin", accessibility="org", headers={"X-Roboto-Org-Id": who.acme.org_id})
    assert data_of(at("admin", skill)) == data_of(at("bob", skill)) == skill
    others = write("alice", "hers", accessibility="org")
    assert refusal_of(at("admin", others))[:2] == MISSING
    assert data_of(at("admin", skill, "DELETE")) is None


# K5, K6


def test_tags_are_those_of_what_one_sees_in_the_org_K5(api, write, second_org):
    write("alice", "one", tags=["zeta", "both"])
    write("alice", "two", tags=["both", "Alpha"], accessibility="org")
    write("bob", "three", tags=["bobs"])
    write("alice", "four", tags=["elsewhere"], headers={"X-Roboto-Org-Id": second_org.org_id})
    assert data_of(api("alice").get("/v1/skills/tags")) == ["Alpha", "both", "zeta"]
    assert data_of(api("bob").get("/v1/skills/tags")) == ["Alpha", "bobs", "both"]
    assert data_of(api("eve").get("/v1/skills/tags")) == []
    assert data_of(api("alice").get("/v1/skills/tags", **{"X-Roboto-Org-Id": second_org.org_id})) == ["elsewhere"]


def test_the_scopes_of_the_list_K6(api, write, at, second_org, who):
    write("alice", "a-private")
    mine = write("alice", "a-org", accessibility="org")
    write("bob", "b-private")
    shared = write("bob", "b-org", accessibility="org")
    editable = write("bob", "b-editable", accessibility="org-editable")
    write("alice", "a-elsewhere", accessibility="org", headers={"X-Roboto-Org-Id": second_org.org_id})
    data_of(at("alice", editable, "POST", "/subscribe"))
    data_of(at("bob", editable, "PUT", "/subscribe", {"ai_version": 1}))
    data_of(at("alice", mine, "DELETE", "/subscribe"))

    assert listed(api, "alice") == ["b-editable", "b-org", "a-org", "a-private"]
    assert listed(api, "alice", "?scope=personal") == ["b-editable", "a-org", "a-private"]
    assert listed(api, "alice", "?scope=org") == ["b-editable", "b-org"]
    assert listed(api, "bob", "?scope=org") == ["a-org"]
    assert listed(api, "alice", **{"X-Roboto-Org-Id": second_org.org_id}) == ["a-elsewhere"]
    assert listed(api, "eve") == []
    assert refusal_of(api("eve").get("/v1/skills", **{"X-Roboto-Org-Id": who.acme.org_id}))[:2] == FORBIDDEN

    rows = {row["skill"]["name"]: row for row in data_of(api("alice").get("/v1/skills"))["items"]}
    assert rows["b-org"]["subscription"] is None
    assert rows["b-org"]["skill"] == shared
    assert rows["b-editable"]["subscription"]["user_id"] == "alice@acme.test"
    assert rows["b-editable"]["subscription"]["ai_version"] is None


@pytest.mark.parametrize("query", ["?scope=mine", "?limit=0", "?limit=201", "?limit=x", "?page_token=zz"])
def test_a_bad_query_of_the_list_is_refused_naming_the_field_K6(api, query):
    status, code, said = refusal_of(api("alice").get(f"/v1/skills{query}"))
    assert (status, code) == INVALID
    assert said.startswith(query[1:].partition("=")[0])


@pytest.mark.parametrize("scope", ["", "&scope=personal"])
def test_pages_follow_one_another_without_loss_or_repeat_while_others_write_K6(api, write, at, scope):
    """A skill with several versions and subscribers stands there once, with its highest version."""
    made = [write("alice", f"s{number}", accessibility="org-editable") for number in range(5)]
    for skill in made:
        at("bob", skill, "POST", "/subscribe")
        data_of(at("bob", skill, "POST", "/versions", {"description": "2", "body": "2"}))
    seen, token = [], ""
    while True:
        page = data_of(api("alice").get(f"/v1/skills?limit=2{scope}{token}"))
        seen += [(row["skill"]["name"], row["latest_version"]["version"]) for row in page["items"]]
        write("alice", f"new{len(seen)}")
        if page["next_token"] is None:
            break
        token = f"&page_token={page['next_token']}"
    assert seen == [(f"s{number}", 2) for number in (4, 3, 2, 1, 0)]


def test_more_rows_need_no_more_queries_K6(api, write, at, django_assert_num_queries):
    def grow(count, prefix):
        for number in range(count):
            skill = write("bob", f"{prefix}{number}", accessibility="org")
            data_of(at("bob", skill, "POST", "/versions", {"description": "2", "body": "2"}))
            data_of(at("alice", skill, "POST", "/subscribe"))

    grow(1, "few")
    for path in ("/v1/skills", "/v1/skills?scope=personal", "/v1/skills?scope=org", "/v1/skills/tags"):
        api("alice").get(path)
        with CaptureQueriesContext(connection) as asked:
            data_of(api("alice").get(path))
        count = len(asked)
        grow(3, path[-3:].strip("/=") + "_")
        with django_assert_num_queries(count):
            data_of(api("alice").get(path))


# K7


def test_renaming_tagging_and_rescoping_K7(write, at):
    skill = write("alice", tags=["one", "two"])
    changed = data_of(at("alice", skill, "PUT", "", {"put_tags": ["three", "one"], "remove_tags": ["two", "absent"]}))
    assert changed["tags"] == ["one", "three"]
    assert changed["modified"] > skill["modified"]
    changed = data_of(at("alice", skill, "PUT", "", {"name": "renamed", "accessibility": "org", "unknown": 1}))
    assert (changed["name"], changed["accessibility"], changed["tags"]) == ("renamed", "org", ["one", "three"])
    unchanged = data_of(at("alice", skill, "PUT", "", {}))
    assert {**unchanged, "modified": None} == {**changed, "modified": None}
    assert data_of(at("bob", skill)) == unchanged


def test_who_may_edit_an_org_editable_skill_K7_K11_K12_K13(write, at):
    skill = write("alice", accessibility="org-editable", tags=["t"])
    version = {"description": "d", "body": "b"}
    edits = [
        ("PUT", "", {"name": "other"}),
        ("PUT", "", {"put_tags": ["u"]}),
        ("POST", "/versions", version),
        ("PUT", "/versions/1", {"body": "edited"}),
        ("DELETE", "/versions/2", None),
    ]
    before = stored()
    for method, tail, body in edits:
        assert refusal_of(at("bob", skill, method, tail, body))[:2] == FORBIDDEN
        # May one not at all, then what one sent is not looked at (spec 1.4).
        assert refusal_of(at("bob", skill, method, tail, {"body": 5, "name": 5}))[:2] == FORBIDDEN
    assert stored() == before

    data_of(at("bob", skill, "POST", "/subscribe"))
    for method, tail, body in edits:
        data_of(at("bob", skill, method, tail, body))
    before = stored()
    for body in (
        {"accessibility": "org"},
        {"accessibility": "org-editable"},
        {"name": "x", "accessibility": "private"},
    ):
        assert refusal_of(at("bob", skill, "PUT", "", body))[:2] == FORBIDDEN
    assert refusal_of(at("bob", skill, "DELETE"))[:2] == FORBIDDEN
    assert stored() == before
    data_of(at("bob", skill, "DELETE", "/subscribe"))
    assert refusal_of(at("bob", skill, "PUT", "/versions/1", {"body": "again"}))[:2] == FORBIDDEN


def test_a_subscriber_of_an_org_skill_reads_and_does_not_edit_K7(write, at):
    skill = write("alice", accessibility="org")
    data_of(at("bob", skill, "POST", "/subscribe"))
    for method, tail in (("PUT", ""), ("POST", "/versions"), ("PUT", "/versions/1"), ("DELETE", "/versions/1")):
        assert refusal_of(at("bob", skill, method, tail, {}))[:2] == FORBIDDEN


def test_an_author_without_subscription_still_edits_K7_K15(write, at):
    skill = write("alice", accessibility="org-editable")
    data_of(at("alice", skill, "DELETE", "/subscribe"))
    assert data_of(at("alice", skill, "PUT", "", {"name": "still-mine"}))["name"] == "still-mine"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "a b"}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"accessibility": "all"}, "accessibility"),
        ({"accessibility": None}, "accessibility"),
        ({"name": None}, "name"),
        ({"put_tags": "t"}, "put_tags"),
        ({"put_tags": [""]}, "put_tags.0"),
        ({"remove_tags": None}, "remove_tags"),
    ],
)
def test_a_bad_change_is_refused_naming_the_field_K7(write, at, body, field):
    skill = write("alice")
    before = stored()
    status, code, said = refusal_of(at("alice", skill, "PUT", "", {"name": "good", **body}))
    assert (status, code) == INVALID
    assert said.startswith(f"{field}: ")
    assert stored() == before


def test_turning_private_ends_everybody_elses_subscription_K7(api, write, at):
    skill = write("alice", accessibility="org-editable")
    data_of(at("bob", skill, "PUT", "/subscribe", {"ai_version": 1}))
    data_of(at("alice", skill, "PUT", "", {"accessibility": "org"}))
    assert SkillSubscription.objects.count() == 2
    data_of(at("alice", skill, "PUT", "", {"accessibility": "private"}))
    assert [row.user.email for row in SkillSubscription.objects.all()] == ["alice@acme.test"]
    assert refusal_of(at("bob", skill))[:2] == MISSING
    data_of(at("alice", skill, "PUT", "", {"accessibility": "org-editable"}))
    assert data_of(at("bob", skill, tail="/summary"))["subscription"] is None
    assert data_of(at("alice", skill, tail="/summary"))["subscription"]["ai_version"] == 1


# Names


def test_shared_skills_are_one_namespace_an_org_and_private_ones_one_an_author_K1(api, write, who):
    def refused(name, accessibility, **headers):
        body = {**GOOD, "name": "same", "accessibility": accessibility}
        status, code, said = refusal_of(api(name, **headers).post("/v1/skills/create", body))
        assert (status, code) == TAKEN
        assert said.startswith("name: ")

    write("alice", "same", accessibility="org")
    for name in ("alice", "bob"):
        refused(name, "org")
        refused(name, "org-editable")
        write(name, "same")
        refused(name, "private")
    write("eve", "same", accessibility="org-editable")
    refused("eve", "org")
    write("alice", "Same", accessibility="org")
    assert SkillVersion.objects.count() == SkillSubscription.objects.count() == Skill.objects.count() == 5


def test_a_taken_name_is_a_conflict_on_rename_and_rescope_too_K7(write, at):
    write("alice", "one", accessibility="org")
    two = write("alice", "two", accessibility="org-editable")
    private = write("bob", "one")
    write("bob", "three")
    before = stored()
    assert refusal_of(at("alice", two, "PUT", "", {"name": "one", "put_tags": ["t"]}))[:2] == TAKEN
    assert refusal_of(at("bob", private, "PUT", "", {"accessibility": "org"}))[:2] == TAKEN
    assert refusal_of(at("bob", private, "PUT", "", {"name": "three"}))[:2] == TAKEN
    assert stored() == before
    data_of(at("bob", private, "PUT", "", {"accessibility": "org", "name": "free"}))


# K8 to K13


def test_deleting_takes_versions_and_subscriptions_along_and_is_the_authors_K8(write, at):
    skill = write("alice", accessibility="org-editable")
    kept = write("bob", "kept", accessibility="org")
    data_of(at("bob", skill, "POST", "/subscribe"))
    assert refusal_of(at("bob", skill, "DELETE"))[:2] == FORBIDDEN
    assert data_of(at("alice", skill, "DELETE")) is None
    for method in ("GET", "DELETE"):
        assert refusal_of(at("alice", skill, method))[:2] == MISSING
    assert {row.skill.skill_id for row in SkillVersion.objects.all()} == {kept["skill_id"]}
    assert {row.skill.skill_id for row in SkillSubscription.objects.all()} == {kept["skill_id"]}
    write("bob", "checks", accessibility="org")


def test_versions_are_numbered_on_listed_newest_first_and_move_no_pin_K9_K10_K11(write, at):
    skill = write("alice", accessibility="org")
    data_of(at("bob", skill, "PUT", "/subscribe", {"ai_version": 1}))
    for number in (2, 3):
        made = data_of(at("alice", skill, "POST", "/versions", {"description": f"d{number}", "body": f"b{number}"}))
        assert set(made) == VERSION
        assert (made["version"], made["body"], made["relevant_topics"]) == (number, f"b{number}", [])
    versions = data_of(at("bob", skill, tail="/versions"))
    assert [version["version"] for version in versions] == [3, 2, 1]
    assert versions[0] == made == data_of(at("bob", skill, tail="/versions/3"))
    assert data_of(at("bob", skill, tail="/summary"))["latest_version"] == made
    assert [row.ai_version for row in SkillSubscription.objects.all()] == [1, 1]


@pytest.mark.parametrize("number", ["0", "2", "-1", "x", "1.0", "99999999999999999999", "%31%2F2", "\u0661"])
def test_a_version_that_is_not_there_is_not_found_K10_K12_K13(write, at, number):
    skill = write("alice")
    for method in ("GET", "PUT", "DELETE"):
        assert refusal_of(at("alice", skill, method, f"/versions/{number}", {}))[:2] == MISSING


def test_the_next_number_follows_the_highest_there_is_K11(write, at):
    skill = write("alice")
    new = {"description": "d", "body": "b"}
    for _ in range(2):
        data_of(at("alice", skill, "POST", "/versions", new))
    data_of(at("alice", skill, "DELETE", "/versions/2"))
    assert data_of(at("alice", skill, "POST", "/versions", new))["version"] == 4


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"description": "d"}, "body"),
        ({"body": "b"}, "description"),
        ({"description": "d" * 501, "body": "b"}, "description"),
        ({"description": "d", "body": "b", "relevant_topics": {}}, "relevant_topics"),
    ],
)
def test_a_bad_version_is_refused_naming_the_field_K11(write, at, body, field):
    skill = write("alice")
    before = stored()
    status, code, said = refusal_of(at("alice", skill, "POST", "/versions", body))
    assert (status, code) == INVALID
    assert said.startswith(f"{field}: ")
    assert stored() == before


def test_a_version_is_changed_in_place_K12(write, at):
    skill = write("alice", relevant_topics=["/imu"])
    data_of(at("alice", skill, "POST", "/versions", {"description": "d2", "body": "b2"}))
    first = data_of(at("alice", skill, "PUT", "/versions/1", {"body": "edited"}))
    assert (first["description"], first["body"], first["relevant_topics"]) == ("When to use it.", "edited", ["/imu"])
    assert first["modified"] > first["created"]
    first = data_of(at("alice", skill, "PUT", "/versions/1", {"relevant_topics": [], "description": "", "other": 1}))
    assert (first["description"], first["body"], first["relevant_topics"]) == ("", "edited", [])
    assert data_of(at("alice", skill, tail="/versions/1")) == first
    assert data_of(at("alice", skill, tail="/versions/2"))["body"] == "b2"
    for field, value in (("body", 1), ("body", None), ("description", None), ("relevant_topics", None)):
        status, _, said = refusal_of(at("alice", skill, "PUT", "/versions/1", {field: value}))
        assert (status, said.partition(":")[0]) == (400, field)


def test_pins_on_a_deleted_version_end_and_others_stay_K13(write, at):
    skill = write("alice", accessibility="org")
    data_of(at("alice", skill, "POST", "/versions", {"description": "d", "body": "b"}))
    data_of(at("bob", skill, "PUT", "/subscribe", {"ai_version": 2}))
    assert data_of(at("alice", skill, "DELETE", "/versions/2")) is None
    pins = {row.user.email: row.ai_version for row in SkillSubscription.objects.all()}
    assert pins == {"alice@acme.test": 1, "bob@acme.test": None}


def test_the_last_version_goes_with_the_skill_and_only_by_its_author_K13(write, at):
    skill = write("alice", accessibility="org-editable")
    data_of(at("bob", skill, "POST", "/subscribe"))
    data_of(at("bob", skill, "POST", "/versions", {"description": "d", "body": "b"}))
    data_of(at("bob", skill, "DELETE", "/versions/1"))
    before = stored()
    assert refusal_of(at("bob", skill, "DELETE", "/versions/2"))[:2] == FORBIDDEN
    assert stored() == before
    data_of(at("alice", skill, "DELETE", "/versions/2"))
    assert stored() == [[], [], []]


# K14 to K16


def test_subscribing_is_for_all_who_see_it_and_repeating_changes_nothing_K14_K15(write, at):
    skill = write("alice", accessibility="org")
    first = data_of(at("bob", skill, "POST", "/subscribe"))
    assert set(first) == SUBSCRIPTION
    assert (first["user_id"], first["skill_id"], first["ai_version"]) == ("bob@acme.test", skill["skill_id"], None)
    data_of(at("bob", skill, "PUT", "/subscribe", {"ai_version": 1}))
    assert data_of(at("bob", skill, "POST", "/subscribe")) == {**first, "ai_version": 1}
    for _ in range(2):
        assert data_of(at("bob", skill, "DELETE", "/subscribe")) is None
    assert SkillSubscription.objects.count() == 1
    data_of(at("alice", skill, "DELETE", "/subscribe"))
    assert data_of(at("alice", skill, "POST", "/subscribe"))["ai_version"] is None


def test_a_pin_names_a_version_that_is_there_and_subscribes_where_needed_K16(write, at):
    skill = write("alice", accessibility="org")
    data_of(at("alice", skill, "POST", "/versions", {"description": "d", "body": "b"}))
    made = data_of(at("bob", skill, "PUT", "/subscribe", {"ai_version": 2}))
    assert set(made) == SUBSCRIPTION
    assert made["ai_version"] == 2
    assert data_of(at("bob", skill, "PUT", "/subscribe", {"ai_version": None})) == {**made, "ai_version": None}
    data_of(at("bob", skill, "PUT", "/subscribe", {"ai_version": 1}))
    before = stored()
    for wrong in (3, 0, -1, 2**40, 10**30, "1", True, 1.0):
        status, code, said = refusal_of(at("bob", skill, "PUT", "/subscribe", {"ai_version": wrong}))
        assert (status, code) == INVALID
        assert said.startswith("ai_version: ")
    assert refusal_of(at("bob", skill, "PUT", "/subscribe", {}))[2].startswith("ai_version: ")
    assert stored() == before


# Two at once: each verb is handed a skill that was read before the other's change


def test_tags_of_two_changes_at_once_are_merged_K7(write, who):
    skill = write("alice", tags=["old"])
    copies = [skills.skill_for(who.alice.actor, skill["skill_id"]) for _ in range(2)]
    skills.update(who.alice.actor, copies[0], SkillPatch(put_tags=["one"], name="renamed"))
    after = skills.update(who.alice.actor, copies[1], SkillPatch(put_tags=["two"], remove_tags=["old"]))
    assert (after.tags, after.name) == (["one", "two"], "renamed")


def test_an_editor_who_comes_too_late_does_not_open_a_skill_again_K7_K11_K12_K13(write, at, who):
    skill = write("alice", accessibility="org-editable")
    data_of(at("bob", skill, "POST", "/subscribe"))
    late, bob = skills.skill_for(who.bob.actor, skill["skill_id"]), who.bob.actor
    data_of(at("alice", skill, "PUT", "", {"accessibility": "private"}))
    before = stored()
    for act in (
        lambda: skills.update(bob, late, SkillPatch(name="mine-now")),
        lambda: skills.add_version(bob, late, VersionIn(description="", body="")),
        lambda: skills.edit_version(bob, late, 1, VersionPatch(body="")),
        lambda: skills.delete_version(bob, late, 1),
    ):
        with pytest.raises(Unauthorized):
            act()
    assert stored() == before


def test_a_skill_that_is_deleted_meanwhile_is_not_found_and_does_not_come_back_K8(write, at, who):
    skill = write("alice")
    late, alice = skills.skill_for(who.alice.actor, skill["skill_id"]), who.alice.actor
    data_of(at("alice", skill, "DELETE"))
    for act in (
        lambda: skills.update(alice, late, SkillPatch(name="again")),
        lambda: skills.delete(alice, late),
        lambda: skills.add_version(alice, late, VersionIn(description="", body="")),
        lambda: skills.edit_version(alice, late, 1, VersionPatch(body="")),
        lambda: skills.delete_version(alice, late, 1),
        lambda: skills.subscribe(alice, late),
        lambda: skills.pin_version(alice, late, 1),
        lambda: skills.summary(alice, late),
    ):
        with pytest.raises(NotFound):
            act()
    assert stored() == [[], [], []]
