"""The catalogue's pages: finding a tool, reading it, what it changed, how it does, keeping it (C13, C49 to C52)."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from catalogue import calling, tools
from catalogue.models import Call, Tool, ToolServer, ToolVersion
from catalogue.wire_calls import CallIn
from feedback import digesting
from tests import make
from tests.conftest import data_of
from tests.pages.dom import Node, dom, get, names, queries, submit

HOSTILE = "<script>alert(1)</script> <img src=x onerror=alert(2)>"
RIDE = {
    "type": "object",
    "properties": {
        "ride": {"type": "string", "pattern": "^R-[0-9]+$", "description": "The number of the ride."},
        "kind": {"enum": ["refund", "complaint"], "default": "refund"},
        "bikes": {"type": "array", "items": {"$ref": "#/$defs/bike"}},
    },
    "required": ["ride"],
    "$defs": {
        "bike": {
            "type": "object",
            "properties": {"number": {"type": "integer", "minimum": 1}, "next": {"$ref": "#/$defs/bike"}},
            "required": ["number"],
        }
    },
}
OLDER = {"type": "object", "properties": {"ride": {"type": "string"}, "gone": {"type": "boolean"}}}


@pytest.fixture
def publish(api):
    """Import tools as alice, in MCP's form, which says most."""

    def published(*named: dict[str, Any], server: str = "bikes", who: str = "alice", **more: Any) -> Any:
        sent = {"dialect": "mcp", "server": server, "tools": [*named], **more}
        return data_of(api(who).post("/v1/catalogue/tools/import", sent))

    return published


def tool(name: str = "look_up", description: str = "Looks up a ride.", schema: Any = None, **more: Any) -> Any:
    return {"name": name, "description": description, "inputSchema": schema or RIDE, **more}


def path(name: str, place: str = "") -> str:
    return f"/catalogue/tools/{name}/{place}"


def cells(page: Node, caption: str) -> list[list[str]]:
    table = next(each for each in page.all("table") if each.one("caption").words == caption)
    rows = table.one("tbody").all("tr")
    return [[child.words for child in row.children if isinstance(child, Node)] for row in rows]


def crumbs(page: Node) -> list[tuple[str, str | None]]:
    """The words of the way to a page with their addresses, at its end the page itself."""
    way = page.one("nav", class_="crumbs").children
    return [(each.words, each.get("href")) for each in way if isinstance(each, Node) and not each.has("aria-hidden")]


PLACES = {
    "Tools": "/catalogue/",
    "Skills": "/skills/",
    "Worlds": "/catalogue/worlds/",
    "Compliance": "/catalogue/compliance/",
}


@pytest.mark.parametrize("here", PLACES)
def test_the_places_of_the_catalogue_are_the_same_on_each_of_them(browser_of, here):
    page = get(browser_of("alice"), PLACES[here])
    tabs = page.one("nav", aria_label="Catalogue")
    assert {tab.words: tab["href"] for tab in tabs.all("a")} == PLACES
    assert tabs.one("a", aria_current="page").words == here
    assert here == "Tools" or crumbs(page) == [("Catalogue", "/catalogue/"), (here, None)]


def test_a_server_narrows_the_list_and_leaves_the_search_as_it_is(browser_of, publish):
    publish(tool("find_ride"), tool("find_seat", "Finds a seat."))
    publish(tool("find_ride"), server="planes")
    alice = browser_of("alice")
    page = get(alice, "/catalogue/?q=find+server:planes+ride")
    servers = {link.words.split()[0]: link for link in page.one("nav", aria_label="Servers").all("a")}
    assert {"All", "bikes", "planes", "demo"} <= set(servers)
    assert [name for name, link in servers.items() if link.has("aria-current")] == ["planes"]
    page = get(alice, servers["bikes"]["href"])
    assert page.id("q")["value"] == "find ride server:bikes"
    assert page.one("tbody").one("a", class_="cut")["href"] == path("bikes__find_ride")
    assert get(alice, servers["All"]["href"]).id("q")["value"] == "find ride"


def test_the_way_to_every_page_of_a_tool_is_told_alike(browser_of, publish):
    publish(tool(schema=OLDER))
    publish(tool())
    way = [("Catalogue", "/catalogue/"), ("bikes", "/catalogue/?q=server%3Abikes")]
    alice = browser_of("alice")
    assert crumbs(get(alice, path("bikes__look_up"))) == [*way, ("look_up", None)]
    way.append(("look_up", path("bikes__look_up")))
    assert crumbs(get(alice, path("bikes__look_up", "compare/?from=1&to=2"))) == [*way, ("Compare", None)]
    assert crumbs(get(alice, path("bikes__look_up", "export/?dialect=ctp"))) == [*way, ("Export", None)]


def test_compliance_of_no_server_asks_for_one(browser_of, who):
    page = dom(browser_of("alice").post("/catalogue/compliance/", {"server": " "}), 400)
    field = page.id("server")
    assert page.id(field["aria-describedby"]).words == "Choose a server."
    assert field["aria-invalid"] == "true" and field.has("autofocus")


def test_a_server_is_described_where_compliance_says_that_it_is_not(browser_of, publish):
    """Every member of its org may, as over REST; nobody describes what is built in."""
    publish(tool(), server="my-bikes")
    alice, bob = browser_of("alice"), browser_of("bob")
    assert not get(alice, "/catalogue/?q=server:my-bikes").id("describe").has("open")
    report = dom(bob.post("/catalogue/compliance/", {"server": "my-bikes"}))
    link = report.one("a", href="/catalogue/?q=server%3Amy-bikes&describe=1#describe")
    row = link.within("tr").words
    assert row == "my-bikes Metadata Missing metadata: Server description is empty: describe it"
    page = get(bob, link["href"])
    assert page.id("describe").has("open") and page.id("description").has("autofocus")
    sent = submit(bob, page.id("describe").one("form"), description=f"Bikes.\r\n{HOSTILE}")
    assert sent["Location"] == "/catalogue/?q=server%3Amy-bikes"
    page = get(alice, sent["Location"])
    assert ToolServer.objects.get(name="my-bikes").description == f"Bikes.\n{HOSTILE}" == page.id("description").text
    assert page.id("describe").one("summary").words == "Edit the description" and not page.id("describe").has("open")
    report = dom(alice.post("/catalogue/compliance/", {"server": "my-bikes"}))
    assert "describe it" not in report.words and "Server metadata is complete" in report.words
    here = "/catalogue/servers/my-bikes/describe/"
    refused = dom(alice.post(here, {"description": "a\x00b"}), 400)
    assert "NUL" in refused.id("description-wrong").words and refused.id("describe").has("open")
    assert browser_of("eve").post(here, {"description": "x"}).status_code == 404
    assert get(browser_of("eve"), "/catalogue/?q=server:my-bikes").none(id="describe")
    assert get(alice, "/catalogue/?q=server:demo").none(id="describe")
    assert alice.post("/catalogue/servers/demo/describe/", {"description": "x"}).status_code == 403


def called(who: Any, name: str, outcome: str, ms: int, *, thread_id: str = "", code: str = "", **more: Any) -> Call:
    """A call as the verbs leave it, without waiting for it."""
    error = {"code": code, "message": "said by the tool", "details": None, "suggestion": None} if code else None
    result = {"success": not error, "data": None, "error": error, "execution_time_ms": ms, "metadata": {}}
    return Call.objects.create(
        org=who.acme,
        created_by=more.pop("by", who.alice).user,
        attempt=1,
        thread_id=thread_id,
        tool_use_id=f"tu_{thread_id}" if thread_id else None,
        server="bikes",
        tool=name,
        version=more.pop("version", 1),
        outcome=outcome,
        runtime_ms=ms,
        arguments=more.pop("arguments", {"ride": "R-1"}),
        answer={"result": result, "attempts": [], "failure": None, "data_ref": None},
        **more,
    )


# The list


def test_c13_c49_tools_stand_by_server_and_are_found_by_every_word(browser_of, publish):
    publish(tool(), tool("fix", "Mends a wheel.", _meta={}), server="bikes")
    publish(tool("park", "Finds a place."), server="parking")
    alice = browser_of("alice")
    page = get(alice, "/catalogue/")
    assert page.one("a", data_key="g c")["aria-current"] == "page"
    bands = [band.words for band in page.all("th", scope="rowgroup")]
    assert bands == ["bikes", "demo built in, to try calls with", "heddle built in, read-only", "parking"]
    assert names(get(alice, "/catalogue/?q=WHEEL")) == ["fix"]
    assert names(get(alice, "/catalogue/?q=bikes+ride")) == ["look_up"]
    assert names(get(alice, "/catalogue/?q=server:parking")) == ["park"]
    data_tags = {"tags": "riders, money", "visible": "true"}
    assert alice.post(path("bikes__fix", "change/"), data_tags).status_code == 302
    assert names(get(alice, "/catalogue/?q=tag:money")) == ["fix"]
    assert get(alice, "/catalogue/?q=zzzz").one("main").one("h2").words == "No tool matches."
    assert "bikes" not in get(browser_of("eve"), "/catalogue/").one("main").words


def test_marks_hints_and_calls_stand_in_the_list(browser_of, publish, who):
    publish(tool(annotations={"destructiveHint": True, "readOnlyHint": False}))
    Tool.objects.filter(name="look_up").update(visible=False, deprecated=True)
    for ms, outcome in ((1, "success"), (2, "error"), (2, "success")):
        called(who, "look_up", outcome, ms)
    row = get(browser_of("alice"), "/catalogue/?q=server:bikes").one("th", class_="title").within("tr")
    for word in ("hidden", "deprecated", "may destroy data", "changes data"):
        assert word in row.words
    assert "simulation only" in row.words
    publish(tool("run_here"))
    Tool.objects.filter(name="run_here").update(handler={"kind": "client"})
    marked = get(browser_of("alice"), "/catalogue/?q=server:bikes").one("table")
    said = {each.one("a").words: "simulation only" in each.words for each in marked.all("th", class_="title")}
    assert said == {"look_up": True, "run_here": False}
    assert "nothing runs it" in get(browser_of("alice"), path("bikes__look_up")).words
    assert [cell.words for cell in row.all("td")[3:]] == ["3", "33 %"]
    assert row.all("td")[4].one("span")["data-tone"] == "neg"
    assert names(get(browser_of("alice"), "/catalogue/?q=is:hidden+server:bikes")) == ["look_up"]


def many(who: Any, count: int) -> None:
    """Tools straight into the tables: the verb takes five hundred at once."""
    server = ToolServer.objects.create(org=who.acme, name="many", folded="many", source_dialect="mcp")
    made = Tool.objects.bulk_create(
        Tool(org=who.acme, server=server, name=f"t{n:04}", qualified_name=f"many__t{n:04}", search=f"t{n:04}")
        for n in range(count)
    )
    versions = (
        ToolVersion(tool=each, version=1, input_schema=OLDER, annotations={}, source_dialect="mcp") for each in made
    )
    ToolVersion.objects.bulk_create(versions)


def test_the_list_pages_by_key_at_a_constant_price(browser_of, who):
    alice = browser_of("alice")
    many(who, 3)
    few = queries(alice, "/catalogue/?q=server:many")
    ToolServer.objects.filter(name="many").delete()
    many(who, 120)
    assert queries(alice, "/catalogue/?q=server:many") == few
    seen, at = [], "/catalogue/?q=server:many"
    while at:
        page = get(alice, at)
        seen += names(page)
        onward = page.all("a", rel="next")
        at = f"/catalogue/{onward[0]['href']}" if onward else ""
    assert seen == [f"t{n:04}" for n in range(120)]


def test_people_of_no_org_are_told_so(browser_of, who):
    who.alice.user.memberships.all().delete()
    assert "You are not in an org yet." in get(browser_of("alice"), "/catalogue/").one("main").words


# One tool


def test_c3_a_tool_is_read_as_tables_with_references_followed(browser_of, publish):
    publish(tool(outputSchema={"type": "object", "properties": {"paid": {"type": "number"}}}))
    page = get(browser_of("alice"), path("bikes__look_up"))
    assert page.one("h1").words == "look_up"
    rows = cells(page, "Input, field by field")
    assert rows == [
        ["ride required", "string", "The number of the ride. matches ^R-[0-9]+$"],
        ["kind", "refund | complaint", "default refund"],
        ["bikes", "array of object", ""],
        ["number required", "integer", "at least 1"],
        ["next", "object", "recursive"],
    ]
    assert cells(page, "Output, field by field") == [["paid", "number", ""]]
    assert "5 hints not declared: changes data" in page.words
    assert json.loads(page.all("pre")[0].text) == RIDE


def test_a_schema_of_forms_without_end_says_that_more_is_left_out(browser_of, publish):
    publish(tool(inputSchema={"type": "object", "anyOf": [{"required": []}] * 3_100}))
    page = get(browser_of("alice"), path("bikes__look_up"))
    assert "Not all fields are shown" in page.words


def test_c50_what_is_unknown_is_said_in_words_and_never_as_no(browser_of, publish):
    publish(tool(annotations={"readOnlyHint": True, "destructiveHint": False}))
    facts = get(browser_of("alice"), path("bikes__look_up")).one("article").one("dl")
    assert "read-only" in facts.words and "not destructive" in facts.words
    assert "3 hints not declared: external effects, changes caches, safe to repeat" in facts.words


def test_only_what_asks_for_care_is_marked_among_the_hints(browser_of, publish):
    """A tick or a cross beside a word would say whether that is good, and said the opposite."""
    hints = {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": True, "idempotentHint": False}
    publish(tool(annotations=hints), tool("look", annotations={**hints, "readOnlyHint": True}))

    def marks(name: str) -> dict[str, tuple[str | None, str]]:
        facts = get(browser_of("alice"), path(f"bikes__{name}")).one("article").one("dl")
        found = {mark.words: mark for mark in facts.all("span", class_="mark")}
        return {
            word: (mark.get("data-tone"), mark.one("use")["href"].partition("#")[2]) for word, mark in found.items()
        }

    assert marks("look_up") == {
        "changes data": ("warn", "warn"),
        "not destructive": (None, "rest"),
        "external effects": ("warn", "warn"),
        "not safe to repeat": ("warn", "warn"),
    }
    assert marks("look")["not safe to repeat"] == (None, "rest"), "reading twice harms nobody"


@pytest.mark.parametrize(
    ("dialect", "sent", "is_told"),
    [
        ("mcp", {"inputSchema": RIDE}, False),
        ("mcp", {"inputSchema": RIDE, "annotations": {"idempotentHint": None}}, False),
        ("mcp", {"inputSchema": RIDE, "annotations": {"idempotentHint": False}}, True),
        ("anthropic", {"input_schema": RIDE}, False),
        ("convilyn", {"input_schema": RIDE, "idempotent": False}, True),
    ],
)
def test_that_a_tool_is_not_safe_to_repeat_is_a_warning_only_if_its_author_said_so(
    browser_of, api, dialect, sent, is_told
):
    named = {"name": "look_up", "description": "Looks up a ride.", **sent}
    data_of(api("alice").post("/v1/catalogue/tools/import", {"dialect": dialect, "server": "bikes", "tool": named}))
    facts = get(browser_of("alice"), path("bikes__look_up")).one("article").one("dl")
    assert [(each.words, each.get("data-tone")) for each in facts.all("span", class_="mark")] == (
        [("not safe to repeat", "warn")] if is_told else []
    )
    unsaid = "changes data, destroys data, external effects, changes caches"
    assert (
        f"4 hints not declared: {unsaid}" if is_told else f"5 hints not declared: {unsaid}, safe to repeat"
    ) in facts.words


def test_versions_say_what_they_changed_and_any_two_are_compared(browser_of, publish):
    publish(tool(schema=OLDER))
    publish(tool("look_up", "Looks up a ride, with its bikes."))
    alice = browser_of("alice")
    page = get(alice, path("bikes__look_up"))
    said = next(each for each in page.all("ol", class_="hist")).words
    for words in ("ride became required", "gone removed", "bikes new", "kind new", "description changed"):
        assert words in said, said
    compared = get(alice, path("bikes__look_up", "compare/?from=1&to=2"))
    first = compared.one("ul", class_="plain").all("li")
    assert all("may break callers" in each.words for each in first[:2])
    assert "may break callers" not in first[-1].words
    assert [each.words for each in compared.all("h2", id=True)][:2] == ["What changed", "Description"]
    assert get(alice, path("bikes__look_up", "compare/?from=1&to=1")).none("table")
    assert "This is version 1." in get(alice, path("bikes__look_up", "?version=1")).words
    get(alice, path("bikes__look_up", "?version=9"), 404)
    get(alice, path("bikes__look_up", "compare/?from=x&to=1"), 404)
    assert get(alice, path("bikes__look_up", "compare/")).one("main").words == compared.one("main").words


def test_without_numbers_a_skill_s_latest_version_is_compared_with_the_one_before(browser_of, api):
    skill = {"name": "refunds", "accessibility": "org", "description": "d", "body": "First text."}
    held = data_of(api("alice").post("/v1/skills/create", skill))["skill_id"]
    alice = browser_of("alice")
    assert "Second text." not in get(alice, f"/skills/{held}/compare/").words
    for body in ("Lost text.", "Second text."):
        data_of(api("alice").post(f"/v1/skills/id/{held}/versions", {"body": body, "description": "d"}))
    alice.post(f"/skills/{held}/versions/2/delete/")
    compared = get(alice, f"/skills/{held}/compare/").one("main").words
    assert "First text." in compared and "Second text." in compared


@pytest.mark.parametrize("number", ["0x1", "-1", "²", "1" * 5000])
def test_a_version_that_is_no_number_is_not_there(browser_of, api, publish, number):
    publish(tool())
    skill = {"name": "refunds", "accessibility": "org", "description": "d", "body": "b"}
    held = data_of(api("alice").post("/v1/skills/create", skill))["skill_id"]
    alice = browser_of("alice")
    for here in (path("bikes__look_up"), f"/skills/{held}/"):
        get(alice, f"{here}?version={number}", 404)
        get(alice, f"{here}compare/?from=1&to={number}", 404)
    assert api("alice").get(f"/v1/catalogue/tools/bikes__look_up?version={number}").status_code == 404
    assert api("alice").get(f"/v1/skills/id/{held}/versions/{number}").status_code == 404


def test_only_a_stricter_rule_may_break_a_caller(browser_of, publish):
    bare, ruled = (
        {"type": "object", "properties": {"ride": {"type": "string", **more}}} for more in ({}, {"maxLength": 5})
    )
    for schema in (ruled, bare, ruled):
        publish(tool(schema=schema))
    for old, new, may_break in ((1, 2, False), (2, 3, True)):
        compared = get(browser_of("alice"), path("bikes__look_up", f"compare/?from={old}&to={new}"))
        [change] = compared.one("ul", class_="plain").all("li")
        assert ("may break callers" in change.words) is may_break, change.words


def test_the_bar_of_a_tool_leads_back_and_to_its_form(browser_of, publish):
    publish(tool())
    page = get(browser_of("alice"), path("bikes__look_up"))
    links = [each["href"] for each in page.one("div", class_="bar").all("a")]
    assert links == ["/catalogue/", "/catalogue/?q=server%3Abikes", "/catalogue/import/?tool=bikes__look_up", "#try"]
    assert page.id("try").one("form")["id"] == "try-form"


def test_the_verdict_on_a_tool_is_had_without_a_call(browser_of, publish):
    """C126: the checks that are Heddle's own, in words."""
    publish(tool("wipe", annotations={"readOnlyHint": True, "destructiveHint": True}))
    found = get(browser_of("alice"), path("bikes__wipe")).one("article").words
    assert "1 failed" in found and "read_only and destructive contradict each other" in found
    assert not Call.objects.exists()


def test_usage_comes_from_real_calls_of_the_last_month(browser_of, publish, who):
    publish(tool())
    for ms in range(1, 101):
        called(who, "look_up", "success", ms)
    called(who, "look_up", "error", 500, code="TIMEOUT", version=2)
    called(who, "look_up", "error", 1, begun=timezone.now() - timedelta(days=31))
    page = get(browser_of("alice"), path("bikes__look_up"))
    assert cells(page, "Calls by version") == [
        ["2", "1", "1", "100 %", "500 ms", "500 ms", "500 ms"],
        ["1 shown here", "100", "0", "0 %", "50 ms", "95 ms", "99 ms"],
    ]
    publish(tool(description="Looks up the weather."))
    publish(tool(description="Looks up a forecast."))
    assert "No calls of version 3, the current one." in get(browser_of("alice"), path("bikes__look_up")).words


def test_c134_failures_lead_where_the_reader_may_go(browser_of, publish, who):
    """The figures are everybody's; what was exchanged is for who asked, and the thread for who may read it."""
    publish(tool())
    private, shared = (make.thread(who.alice, visibility=each) for each in ("private", "org"))
    for each in (private, shared):
        called(who, "look_up", "error", 9, thread_id=each.thread_id, code="TIMEOUT")
    called(who, "look_up", "error", 9, code="RATE_LIMITED")
    alice, bob = (get(browser_of(name), path("bikes__look_up")) for name in ("alice", "bob"))
    links = {each["href"] for each in alice.all("a")}
    assert f"/threads/{private.thread_id}/" in links and f"/threads/{shared.thread_id}/" in links
    links = {each["href"] for each in bob.all("a")}
    assert f"/threads/{private.thread_id}/" not in links and f"/threads/{shared.thread_id}/" in links
    failures = bob.all("ul", class_="hist")[-1].all("li")
    assert [each.one("code").words for each in failures] == ["RATE_LIMITED", "TIMEOUT", "TIMEOUT"]
    assert ["said by the tool" in each.words for each in failures] == [True, False, False]


def test_reports_that_mention_a_tool_are_for_admins(browser_of, who):
    thread = make.thread(who.alice, '[[call calculate {"expression": "1/0"}]]', visibility="org")
    make.rating(who.alice, thread, 3, notes="It cannot divide.")
    digesting.digest()
    page = get(browser_of("admin"), path("heddle__calculate"))
    near = page.one("ul", class_="near").one("li")
    assert "It cannot divide." in near.words and "the call failed" in near.words
    assert near.one("a")["href"].startswith("/feedback/?item=fb_")
    assert "Reports on answers" not in get(browser_of("alice"), path("heddle__calculate")).words


def test_a_tools_page_leads_to_the_threads_that_used_it(browser_of, who):
    """Under either of its names: imported threads have the one that their model knew."""
    make.thread(who.alice, '[[call calculate {"expression": "1"}]] Sum')
    make.thread(who.alice, "None")
    alice = browser_of("alice")
    [link] = [each for each in get(alice, path("heddle__calculate")).all("a") if "Threads that used" in each.words]
    assert link["href"].endswith("?q=tool%3Aheddle__calculate")
    assert [each.words for each in get(alice, link["href"]).one("table").all("a", class_="cut")] == ["Sum"]


def test_a_tools_page_costs_the_same_however_much_there_is(browser_of, publish, who):
    alice = browser_of("alice")
    publish(tool(schema=OLDER))
    called(who, "look_up", "error", 1, code="TIMEOUT")
    few = queries(alice, path("bikes__look_up"))
    publish(tool(), *(tool(f"other_{n}") for n in range(20)))
    for n in range(30):
        called(who, "look_up", "error", n, code="TIMEOUT")
    assert queries(alice, path("bikes__look_up")) == few


# Export


def test_c46_every_dialect_is_offered_with_what_is_lost_there(browser_of, publish):
    publish(tool(annotations={"destructiveHint": True}))
    alice = browser_of("alice")
    page = get(alice, path("bikes__look_up"))
    links = [each for each in page.all("a", class_="btn") if "export/?dialect=" in each["href"]]
    assert len(links) >= 6
    for link in links:
        shown = get(alice, link["href"])
        toll = shown.id("lost").all("span")
        assert link.words.partition(" ")[2] == (toll[0].words if toll else "")
        told = [row.all("td")[0].words.partition(":")[0] for row in shown.id("lost").within("section").all("tr")[1:]]
        counts = [f"{told.count(word)} {word}" for word in ("lost", "changed") if word in told]
        assert link.words.partition(" ")[2] == ", ".join(counts)
        assert shown.one("h1").words == f"look_up as {link.words.split()[0]}"
        downloaded = alice.get(f"{link['href']}&download=1")
        assert downloaded["Content-Disposition"].startswith('attachment; filename="bikes__look_up.')
        assert json.loads(downloaded.content) == json.loads(shown.one("pre").text)
    assert "destructive" in get(alice, path("bikes__look_up", "export/?dialect=openai")).one("table").words
    said = get(alice, path("bikes__look_up", "export/?dialect=ctp")).one("table").words
    assert "changed: CTP asks for a category and the tool has none; utilities is written" in said
    get(alice, path("bikes__look_up", "export/?dialect=klingon"), 400)
    get(alice, path("bikes__look_up", "export/"), 400)


def test_what_each_dialect_loses_is_named_beside_the_counts(browser_of, publish):
    publish(tool(annotations={"destructiveHint": True}))
    page = get(browser_of("alice"), path("bikes__look_up"))
    told = {row.one("b").words: row for row in page.id("tolls").all("li")}
    for link in (each for each in page.all("a", class_="btn") if "export/?dialect=" in each["href"]):
        name, _, toll = link.words.partition(" ")
        assert bool(toll) == (name in told)
        if toll:
            assert len(told[name].all("code")) == sum(int(word) for word in toll.split() if word.isdigit())
    assert "lost: annotations/destructive" in told["OpenAI"].words


# Keeping


def test_c51_what_is_not_versioned_is_changed_in_place(browser_of, publish):
    publish(tool())
    bob = browser_of("bob")
    page = get(bob, path("bikes__look_up"))
    form = page.one("form", action=path("bikes__look_up", "change/"))
    sent = submit(bob, form, tags='riders, "a, b"', deprecated="true", deprecation_message="Use find.")
    assert sent.status_code == 302
    found = Tool.objects.get(name="look_up")
    assert (found.tags, found.visible, found.deprecated, found.version) == (["riders", "a, b"], True, True, 1)
    assert "Deprecated. Use find." in get(bob, path("bikes__look_up")).words
    page = dom(bob.post(path("bikes__look_up", "change/"), {"tags": "x" * 121}), 400)
    assert page.id("tags")["aria-invalid"] == "true" and page.id("tags")["value"] == "x" * 121
    form = get(bob, path("bikes__look_up")).one("form", action=path("bikes__look_up", "change/"))
    page = dom(submit(bob, form, tags="x" * 131_073, deprecation_message="Use seek."), 400)
    assert "too long" in page.id("tags-wrong").words and page.id("deprecation_message")["value"] == "Use seek."
    assert submit(bob, form, tags="one\rtwo").status_code == 302
    assert Tool.objects.get(name="look_up").tags == ["one", "two"]


def test_a_form_opened_before_somebody_elses_change_does_not_undo_it(browser_of, publish):
    """The second is told, keeps what they typed, sees what is saved now, and may insist."""
    publish(tool())
    here, change = path("bikes__look_up"), path("bikes__look_up", "change/")
    alice, bob = browser_of("alice"), browser_of("bob")
    first, second = (get(client, here).one("form", action=change) for client in (alice, bob))
    hidden = {name: value for name, value in first.fields().items() if name != "visible"}
    assert alice.post(change, {**hidden, "deprecated": "true", "deprecation_message": "Use find."}).status_code == 302
    refused = dom(submit(bob, second, tags="x" * 121), 400)
    page = dom(submit(bob, refused.one("form", action=change), tags="riders"), 412)
    form = page.one("form", action=change)
    assert "since you opened it" in form.one(role="alert").words and form.id("tags")["value"] == "riders"
    assert form.one("input", name="visible").has("checked") and not form.one("input", name="deprecated").has("checked")
    assert "Deprecated. Use find." in page.words and "hidden from lists" in page.words
    found = Tool.objects.get(name="look_up")
    assert (found.visible, found.deprecated, found.tags) == (False, True, [])
    assert submit(bob, form).status_code == 302
    found.refresh_from_db()
    assert (found.visible, found.deprecated, found.tags) == (True, False, ["riders"])


def test_c51_only_its_maker_and_admins_delete_a_tool(browser_of, publish):
    publish(tool())
    here = path("bikes__look_up", "delete/")
    assert get(browser_of("bob"), path("bikes__look_up")).none("form", action=here)
    assert browser_of("bob").post(here).status_code == 403
    alice = browser_of("alice")
    assert submit(alice, get(alice, path("bikes__look_up")).one("form", action=here)).status_code == 302
    get(alice, path("bikes__look_up"), 404)


def test_what_belongs_to_everybody_is_read_only(browser_of, who):
    for name in ("alice", "admin"):
        page = get(browser_of(name), path("demo__echo"))
        assert page.none("form", action=path("demo__echo", "change/"))
        assert browser_of(name).post(path("demo__echo", "change/"), {}).status_code == 403


# Hostile specs


def test_hostile_specs_are_shown_and_harm_nothing(browser_of, publish):
    """HTML, writing from the right, fields by the hundred and levels by the dozen."""
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(12):
        deep = {"type": "object", "properties": {HOSTILE: deep}}
    wide = {"type": "object", "properties": {f"f{n}{'x' * 80}": {"type": "string"} for n in range(500)}}
    turning = {"type": "object", "properties": {"\u202eride": {"enum": [HOSTILE, "\u202eabc"], "title": HOSTILE}}}
    publish(
        tool("deep", HOSTILE, deep),
        tool("wide", "\u202eturned", wide),
        tool("turning", HOSTILE, turning, annotations={"title": HOSTILE}),
        tool(
            "odd", "x", {"properties": {"a": True, "b": {"$ref": "#/properties/b"}, "c": {"type": ["null", "string"]}}}
        ),
    )
    alice = browser_of("alice")
    for name in ("deep", "wide", "turning", "odd"):
        page = get(alice, path(f"bikes__{name}"))
        assert page.none("img") and all(each["src"].startswith("/static/") for each in page.all("script"))
        assert len(page.all("tr")) < 320
    get(alice, "/catalogue/?q=server:bikes")


def forking(word: str) -> dict[str, Any]:
    """A schema of a few lines that stands for 2 ** 30 others: every definition refers twice to the next."""
    references = ({"$ref": f"#/$defs/d{number + 1}"} for number in range(30))
    defs = {f"d{number}": {word: [each, dict(each)]} for number, each in enumerate(references)}
    properties = {"x": {"$ref": "#/$defs/d0"}, "last": {"type": "string"}}
    return {"type": "object", "properties": properties, "$defs": {**defs, "d30": {"type": "string"}}}


LISTS = {
    "type": "object",
    "properties": {"rows": {"$ref": "#/$defs/rows"}, "last": {"type": "string"}},
    "$defs": {"rows": {"type": "array", "items": {"$ref": "#/$defs/rows"}}},
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("word", ["anyOf", "oneOf", "allOf"])
def test_forms_that_fork_without_end_are_told_once_each(browser_of, publish, word):
    publish(tool("forking", schema=OLDER))
    publish(tool("forking", schema=forking(word)))
    alice = browser_of("alice")
    page = get(alice, path("bikes__forking"))
    assert [row[0] for row in cells(page, "Input, field by field")] == ["x", "last"]
    get(alice, path("bikes__forking", "compare/?from=1&to=2"))


@pytest.mark.timeout(60)
def test_lists_of_themselves_are_told_once(browser_of, publish):
    publish(tool("lists", schema=LISTS))
    page = get(browser_of("alice"), path("bikes__lists"))
    rows = cells(page, "Input, field by field")
    assert [row[0] for row in rows] == ["rows", "last"]
    assert "recursive" in rows[0][2]


def test_a_call_of_another_tool_or_of_somebody_else_is_not_shown(browser_of, publish, who):
    publish(tool())
    thread = make.thread(who.alice)
    hidden = called(who, "look_up", "success", 1, thread_id=thread.thread_id)
    get(browser_of("bob"), path("bikes__look_up", f"?call={hidden.call_id}"), 404)
    shown = get(browser_of("alice"), path("bikes__look_up", f"?call={hidden.call_id}"))
    assert shown.id("run").one("h2").words.startswith("Called by Alice ")
    found = tools.tool_for(who.acme.pk, "demo__echo")
    other = calling.call(who.alice.actor, who.acme.pk, found, CallIn(arguments={"message": "x"}))
    get(browser_of("alice"), path("bikes__look_up", f"?call={other.call_id}"), 404)
