"""Listing, exporting, changing and deleting tools and servers (C13, C18, C46 to C52, C93, C94, C130, C133)."""

import pytest
from django.conf import settings
from django.test.utils import override_settings

from catalogue import builtin, demo_tools, publishing
from catalogue.models import Tool
from tests.api.test_queries import TOKEN, same_with_more_rows
from tests.api.test_tools import IMPORT, TOOLS, function, imported
from tests.catalogue.speaking import MINIMAL, SCHEMA
from tests.conftest import data_of, refusal_of

SERVERS = "/v1/catalogue/servers"


@pytest.fixture
def alice(api):
    """A client of alice, who has tools of several kinds."""
    alice = api("alice")
    imported(alice, function("Beta", "Finds a PENGUIN."), function("alpha", "Looks."), function("gamma.ray"))
    imported(alice, {**MINIMAL["data_harness"], "name": "hidden", "visible": False}, dialect="data_harness")
    item = {"name": "item", "server": "shop", "description": "d", "capabilities": ['quo"te', "Penguins", "a,b"]}
    imported(alice, item, dialect="convilyn", server=None)
    return alice


def names(alice, **query) -> list[str]:
    """What a list with these filters holds of the org's own."""
    text = "&".join(f"{key}={value}" for key, value in query.items())
    found = data_of(alice.get(f"{TOOLS}?{text}"))["items"]
    return [each["name"] for each in found if each["server"] not in ("demo", "heddle")]


def test_c49_filters(alice):
    """C49 and C133."""
    assert names(alice) == ["item", "Beta", "alpha", "gamma.ray", "hidden"]
    assert names(alice, server="srv") == ["Beta", "alpha", "gamma.ray", "hidden"]
    assert names(alice, server="none") == []
    assert names(alice, q="pEnGuIn") == ["item", "Beta"]
    assert names(alice, q="beta") == ["Beta"]
    assert names(alice, q="100%25_") == []
    assert names(alice, tag="Penguins") == ["item"]
    for tag in ("penguins", "Penguin", "te", "b", "quo%5C"):
        assert names(alice, tag=tag) == []
    assert names(alice, tag="quo%22te") == names(alice, tag="a%2Cb") == ["item"]
    assert names(alice, visible="False") == ["hidden"]
    assert "hidden" not in names(alice, visible="true") and "hidden" in names(alice, visible="any")
    assert names(alice, source_dialect="convilyn") == ["item"]
    assert names(alice, source_dialect="heddle", server="demo") == names(alice, source_dialect="roboto_client") == []
    assert names(alice, dispatchable="true") == []
    assert len(data_of(alice.get(f"{TOOLS}?dispatchable=true&server=demo"))["items"]) == 10
    for bad in (
        "visible=maybe",
        "dispatchable=2",
        "limit=0",
        "limit=201",
        "page_token=x",
        "naming=odd",
        "source_dialect=nope",
    ):
        assert alice.get(f"{TOOLS}?{bad}").status_code == 400


def test_the_line_of_the_page_is_understood(alice):
    assert names(alice, q="server:srv") == ["Beta", "alpha", "gamma.ray", "hidden"]
    assert names(alice, q="server:srv+is:hidden") == names(alice, q="is:hidden", server="srv") == ["hidden"]
    assert names(alice, q="tag:Penguins") == ["item"] == names(alice, q="pEnGuIn+is:visible+tag:Penguins")
    assert names(alice, q="penguin+server:none") == names(alice, q="odd:penguin") == []
    listed = data_of(alice.get(f"{TOOLS}?dialect=openai&q=is:hidden+server:srv"))["items"]
    assert [each["function"]["name"] for each in listed] == ["srv__hidden"]
    said = refusal_of(alice.get(f"{TOOLS}?q=server:srv&server=demo"))
    assert said[0] == 400 and said[2] == "q: sets server as well: use only one of them"
    said = refusal_of(alice.get(f"{TOOLS}?q=penguin+is:odd"))
    assert said[0] == 400 and said[2] == "q: is:odd is not known: use is:hidden or is:visible"
    said = refusal_of(alice.get(f"{TOOLS}?q={'x' * 501}"))
    assert said[0] == 400 and said[2] == "q: must have at most 500 characters"


@pytest.mark.parametrize("written", ["srv__alpha", "srv:alpha", "srv__alp", "srv__ALPHA", "srv__alpha+is:visible"])
def test_a_tool_is_found_by_its_qualified_name(alice, written):
    """As it is copied from a transcript."""
    assert names(alice, q=written) == ["alpha"]
    assert names(alice, q=written.replace("srv", "other")) == []


def test_c49_pages_hold_everything_once_in_order(alice):
    seen, token = [], ""
    while token is not None:
        page = data_of(alice.get(f"{TOOLS}?limit=3{token and f'&page_token={token}'}"))
        assert 0 < len(page["items"]) <= 3
        seen += [item["qualified_name"] for item in page["items"]]
        token = page["next_token"]
    assert seen == sorted(seen)
    assert len(seen) == len(set(seen)) == Tool.objects.count()


def test_c50_a_dialects_list_is_a_models_tool_list(alice):
    """C50 and C93: visible tools under qualified names, hidden ones where they are asked for."""
    listed = data_of(alice.get(f"{TOOLS}?dialect=openai&server=srv"))
    assert [item["function"]["name"] for item in listed["items"]] == ["srv__Beta", "srv__alpha", "srv__gamma_ray"]
    assert listed["omitted"] == []
    whole = data_of(alice.get(f"{TOOLS}?dialect=anthropic&server=srv&visible=any&naming=bare"))
    assert [item["name"] for item in whole["items"]] == ["Beta", "alpha", "gamma_ray", "hidden"]
    flat = data_of(alice.get(f"{TOOLS}?dialect=openai&style=responses&server=shop"))["items"]
    assert flat[0]["strict"] is False
    assert "demo__hidden" not in str(data_of(alice.get(f"{TOOLS}?dialect=mcp")))
    for bad in ("dialect=odd", "dialect=python", "dialect=mcp&style=x"):
        answer = alice.get(f"{TOOLS}?{bad}")
        assert answer.status_code == 400 and answer.json()["details"]["reason"]


@pytest.mark.parametrize("path", [TOOLS, f"{TOOLS}/srv__alpha"], ids=["list", "one"])
@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("style=responses", "style: is for an export: name a dialect too"),
        ("style=odd", "style: must be one of chat, responses"),
        ("dialect=openai&style=odd", "style: must be one of chat, responses"),
        ("dialect=mcp&style=responses", "style: mcp has none"),
        ("naming=odd", "naming: must be one of bare, qualified"),
    ],
)
def test_c50_a_style_is_one_of_the_dialects_and_never_ignored(alice, path, query, said):
    answer = alice.get(f"{path}?{query}")
    assert refusal_of(answer) == (400, "RobotoInvalidRequestException", said)
    assert data_of(alice.get(f"{path}?style=&naming=bare"))


def test_c46_what_does_not_fit_is_refused_alone_and_named_in_a_list(alice):
    """C46 and C132."""
    imported(alice, function("n" * 65), function("odd", parameters={"properties": {"$filter": {}}}))
    for name, dialect in (("n" * 65, "openai"), ("n" * 65, "anthropic"), ("odd", "ctp")):
        answer = alice.get(f"{TOOLS}/srv__{name}?dialect={dialect}")
        assert refusal_of(answer)[:2] == (400, "RobotoInvalidRequestException")
        assert answer.json()["details"]["reason"] == "not_representable"
    listed = data_of(alice.get(f"{TOOLS}?dialect=ctp&server=srv&visible=any"))
    assert [each["qualified_name"] for each in listed["omitted"]] == ["srv__odd"]
    assert len(listed["items"]) == 5


@pytest.mark.parametrize("dialect", ["openai", "roboto"])
def test_c50_a_name_in_a_list_means_the_tool_that_calling_it_reaches(alice, dialect):
    """C47: what was renamed says so. Of two tools with one name, the one that is called so is listed, on any page."""
    listed = data_of(alice.get(f"{TOOLS}?dialect={dialect}&server=srv&q=gamma"))
    assert len(listed["items"]) == 1
    assert [loss["reason"] for loss in listed["losses"]["srv__gamma.ray"] if loss["path"] == "/name"] == ["renamed"]
    imported(alice, function("gamma_ray", description="The one that is called so."))
    for limit in (50, 1):
        items, omitted, token = [], [], ""
        while token is not None:
            page = f"limit={limit}{token and f'&page_token={token}'}"
            listed = data_of(alice.get(f"{TOOLS}?dialect={dialect}&server=srv&q=gamma&{page}"))
            items, omitted, token = items + listed["items"], omitted + listed["omitted"], listed["next_token"]
        assert ["The one that is called so." in str(each) for each in items] == [True]
        assert [(each["qualified_name"], each["reason"]) for each in omitted] == [("srv__gamma.ray", "duplicate_name")]


def test_c47_an_export_of_one_tool_names_its_losses(alice):
    data = data_of(alice.get(f"{TOOLS}/srv:hidden?dialect=roboto_client"))
    assert (data["dialect"], data["qualified_name"], data["version"]) == ("roboto", "srv__hidden", 1)
    assert data["tool"] == {"name": "client_hidden", "description": "Look.", "input_schema": SCHEMA}
    assert [(each["path"], each["reason"], each["preserved"]) for each in data["losses"]] == [
        ("/visible", "no_slot", True),
        ("/name", "renamed", True),
    ]
    assert data_of(alice.get(f"{TOOLS}/srv:alpha?dialect=mcp&naming=qualified"))["tool"]["name"] == "srv__alpha"


def test_an_old_version_can_be_exported(alice):
    """C3."""
    imported(alice, function("alpha", "Looks again."))
    tool = data_of(alice.get(f"{TOOLS}/srv__alpha?version=1&dialect=mcp"))["tool"]
    assert tool["description"] == "Looks."


def test_c51_what_a_person_changes_makes_no_version(alice, api):
    body = {"visible": False, "tags": ["a", "b", "a"], "deprecated": True, "deprecation_message": "Use beta."}
    record = data_of(api("bob").patch(f"{TOOLS}/srv__alpha", body))
    assert record["version"] == 1 and record["modified_by"] == "bob@acme.test"
    assert {key: record[key] for key in body} == {**body, "tags": ["a", "b"]}
    assert data_of(alice.get(f"{TOOLS}/srv__alpha")) == record
    assert names(alice, tag="b") == ["alpha"] == names(alice, q="B", tag="a")
    assert data_of(alice.patch(f"{TOOLS}/srv__alpha", {"deprecation_message": None}))["deprecation_message"] is None
    for bad in ({"visible": None}, {"tags": [""]}, {"tags": "a"}, {"name": "x"}, {"description": "x"}):
        assert alice.patch(f"{TOOLS}/srv__alpha", bad).status_code == 400


def test_c51_its_maker_and_admins_delete_a_tool(alice, api, who):
    """C51: and it is gone; imported again it begins anew."""
    assert api("bob").request("DELETE", f"{TOOLS}/srv__alpha").status_code == 403
    assert api("eve").request("DELETE", f"{TOOLS}/srv__alpha").status_code == 404
    assert data_of(alice.request("DELETE", f"{TOOLS}/srv__alpha")) is None
    assert alice.get(f"{TOOLS}/srv__alpha").status_code == 404
    admin = api("admin", **{"X-Roboto-Org-Id": who.acme.org_id})
    assert data_of(admin.request("DELETE", f"{TOOLS}/srv__Beta")) is None
    assert imported(alice, function("alpha"))["items"][0]["outcome"] == "created"


def test_c52_another_orgs_tools_do_not_exist(alice, api):
    """C52 and C130."""
    eve = api("eve")
    assert names(eve) == []
    mine = imported(eve, function("alpha", "Eve's."))
    assert mine["items"][0]["outcome"] == "created"
    assert data_of(alice.get(f"{TOOLS}/srv__alpha"))["description"] == "Looks."
    for path in (f"{TOOLS}/srv__Beta", f"{TOOLS}/nonsense", f"{TOOLS}/shop__item/versions", f"{SERVERS}/shop"):
        assert refusal_of(eve.get(path))[:2] == (404, "RobotoNotFoundException")
    assert api(None).get(TOOLS).status_code == 401
    assert api(None).post(IMPORT, {}).status_code == 401


def test_c93_builtin_tools_are_everybodys(api):
    """6.4: the same records, by the same routes."""
    for person in ("alice", "eve"):
        listed = data_of(api(person).get(f"{TOOLS}?limit=200"))["items"]
        assert {each["qualified_name"] for each in listed} == {
            *(spec.qualified_name for spec in builtin.TOOLS.values()),
            *(f"demo__{name}" for name in demo_tools.TOOLS),
        }
    hidden = data_of(api("eve").get(f"{TOOLS}/demo__hidden"))
    assert (hidden["visible"], hidden["dispatchable"], hidden["handler"]) == (False, True, {"kind": "builtin"})
    schema_only = data_of(api("eve").get(f"{TOOLS}/demo:schema_only"))
    assert (schema_only["dispatchable"], schema_only["created_by"]) == (False, None)
    assert data_of(api("eve").get(f"{TOOLS}/demo__echo?dialect=openai"))["tool"]["function"]["name"] == "echo"


def test_builtin_tools_follow_the_code(api):
    """6.4: a changed one gets a version, one that is gone goes; in production there is no `demo` unless asked for."""
    [echo] = [spec for spec in demo_tools.TOOLS.values() if spec.name == "echo"]
    changed = type(echo)(**{**{name: getattr(echo, name) for name in echo.__slots__}, "description": "Other."})
    publishing.publish([changed])
    alice = api("alice")
    assert data_of(alice.get(f"{TOOLS}/demo__echo"))["version"] == 2
    assert [each["qualified_name"] for each in data_of(alice.get(TOOLS))["items"]] == ["demo__echo"]
    # A copy: threads of the process read other settings meanwhile.
    with override_settings(HEDDLE=settings.HEDDLE.model_copy(update={"demo_tools": False})):
        publishing.after_migration()
    assert [each["name"] for each in data_of(alice.get(SERVERS))["items"]] == ["heddle"]


def test_c18_servers_are_listed_and_described(alice, api):
    listed = data_of(alice.get(SERVERS))["items"]
    assert [(each["name"], each["tool_count"]) for each in listed if not each["readonly"]] == [("shop", 1), ("srv", 4)]
    change = {"description": "A shop.", "version": "2.0", "capabilities": ["a"]}
    record = data_of(api("bob").patch(f"{SERVERS}/shop", change))
    assert {key: record[key] for key in change} == change and record["modified_by"] == "bob@acme.test"
    assert data_of(alice.get(f"{SERVERS}/shop")) == record
    page = data_of(alice.get(f"{SERVERS}?limit=3"))
    rest = data_of(alice.get(f"{SERVERS}?limit=3&page_token={page['next_token']}"))
    assert [each["name"] for each in (*page["items"], *rest["items"])] == ["demo", "heddle", "shop", "srv"]
    assert rest["next_token"] is None
    for bad in ({"name": "x"}, {"version": ""}, {"capabilities": None}):
        assert alice.patch(f"{SERVERS}/shop", bad).status_code == 400


def test_c19_a_manifest_holds_every_tool_and_its_losses(alice):
    data = data_of(alice.get(f"{SERVERS}/srv/manifest"))
    assert data["dialect"] == "convilyn"
    assert [tool["name"] for tool in data["manifest"]["tools"]] == ["Beta", "alpha", "gamma.ray", "hidden"]
    assert ("/hidden/visible", "no_slot") in [(loss["path"], loss["reason"]) for loss in data["losses"]]
    for dialect in ("openai", "odd"):
        answer = alice.get(f"{SERVERS}/srv/manifest?dialect={dialect}")
        assert answer.json()["details"]["reason"] == "unsupported_dialect"


@pytest.mark.parametrize(
    ("path", "queries"),
    [
        # The names of the page, its tools with server and people, their versions.
        (f"{TOOLS}?limit=200", 3),
        # And whose names they would be renamed to.
        (f"{TOOLS}?limit=200&dialect=ctp&q=o", 4),
        (f"{TOOLS}/srv__alpha/versions?limit=200", 2),
        (f"{SERVERS}?limit=200", 1),
        # The server, its tools, their versions.
        (f"{SERVERS}/srv/manifest", 3),
    ],
)
def test_lists_take_as_many_queries_however_many_rows_there_are(path, queries, alice):
    made = iter(range(1000))

    def grow(number: int) -> None:
        for _ in range(number):
            one = next(made)
            imported(alice, function(f"tool{one}"), function("alpha", f"Version {one}."))
            imported(alice, function(), server=f"server{one}")

    assert same_with_more_rows(lambda: data_of(alice.get(path)), grow) == TOKEN + queries
