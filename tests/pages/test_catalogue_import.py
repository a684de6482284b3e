"""Pasting tools: looked at first, then imported (C1 to C15, C135), and recorded calls held against a new version."""

import json
import time
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from catalogue import replaying
from catalogue.models import Tool, ToolVersion
from catalogue.record import Content
from tests import make
from tests.conftest import data_of
from tests.pages.dom import Node, dom, get, submit
from tests.pages.test_catalogue import HOSTILE, OLDER, RIDE, called, publish, tool  # noqa: F401

HERE = "/catalogue/import/"
OPENAI = {"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": OLDER}}
ANTHROPIC = {"name": "look", "description": "Looks.", "input_schema": OLDER}
MANIFEST = {
    "sdk_version": "1",
    "server": {"name": "shop", "version": "1.0.0", "description": "A shop."},
    "tools": [{"name": "look", "description": "Looks.", "input_schema": OLDER, "idempotent": True}],
}
MCP_META = {"heddle/visible": False, "heddle/tags": ["a"]}
PYTHON = 'def look(ride: str, times: int = 1) -> dict:\n    """Looks."""\n'


def pasted(client: Any, what: Any, server: str = "bikes", **more: str) -> Any:
    """What pressing the first button answers; it never stores anything."""
    before = Tool.objects.count(), ToolVersion.objects.count()
    text = what if isinstance(what, str) else json.dumps(what)
    answer = client.post(HERE, {"text": text, "server": server, "verb": "look", **more})
    assert before == (Tool.objects.count(), ToolVersion.objects.count())
    return answer


def outcomes(page: Node) -> list[str]:
    items = page.one("ul", class_="hist").children
    return [each.all("span", class_="mark")[0].words for each in items if isinstance(each, Node)]


@pytest.mark.parametrize(
    ("what", "dialect"),
    [
        (OPENAI, "openai"),
        ([OPENAI, {**OPENAI, "function": {**OPENAI["function"], "name": "other"}}], "openai"),
        (ANTHROPIC, "anthropic"),
        ({"jsonrpc": "2.0", "id": 1, "result": {"tools": [tool()]}}, "mcp"),
        (MANIFEST, "convilyn"),
        ({**ANTHROPIC, "name": "client_look"}, "roboto"),
        ({**ANTHROPIC, "annotations": {"read_only": True}, "visible": True}, "data_harness"),
        ({"name": "look", "description": "x", "parameters": OLDER, "returns": {"type": "object"}}, "rdk"),
        (PYTHON, "python"),
    ],
)
def test_the_dialect_is_found_out(browser_of, what, dialect):
    page = dom(pasted(browser_of("alice"), what))
    assert page.id("plan").one("span").words == f"format {dialect}, nothing is saved yet"
    assert set(outcomes(page)) == {"new"}


def test_a_dialect_that_would_leave_the_parameters_of_a_tool_behind_does_not_fit(browser_of):
    """Of two that each cannot read one of the tools it is the one that leaves less behind."""
    both = {"tools": [tool(), {"name": "good_name", "description": "no schema"}]}
    page = dom(pasted(browser_of("alice"), both))
    assert page.id("plan").one("span").words == "format mcp, nothing is saved yet"
    assert outcomes(page) == ["new", "cannot be imported"]
    assert [each.words for each in page.all("p", class_="wrong")] == ["/inputSchema required"]


@pytest.mark.parametrize(
    ("what", "path"),
    [(ANTHROPIC, "/input_schema"), (tool(), "/inputSchema"),
     ({"type": "function", "function": {**ANTHROPIC}}, "/function/input_schema")],
)  # fmt: skip
def test_parameters_that_are_not_read_are_no_small_print(browser_of, what, path):
    told = dom(pasted(browser_of("alice"), what, dialect="openai")).one("p", class_="wrong")
    assert told.words == f"{path} holds its parameters and is ignored in openai. Choose the right format below."


def test_c1_c2_what_was_looked_at_is_imported_and_nothing_else(browser_of):
    alice = browser_of("alice")
    page = dom(pasted(alice, ANTHROPIC))
    form = page.id("import")
    assert json.loads(form.one("textarea").text) == ANTHROPIC
    changed = json.dumps({**ANTHROPIC, "name": "other"})
    again = dom(submit(alice, form, "import", text=changed))
    assert "has changed since the preview" in again.words and not Tool.objects.filter(name="other")
    sent = submit(alice, form, "import")
    assert sent.status_code == 302 and sent["Location"] == "/catalogue/tools/bikes__look/"
    assert "Imported: 1 created." in get(alice, sent["Location"]).words
    assert outcomes(dom(pasted(alice, ANTHROPIC))) == ["unchanged"]


def test_c7_to_c12_a_wrong_tool_is_named_with_its_place_and_the_good_ones_go_in(browser_of):
    alice = browser_of("alice")
    wrong = {"name": "bad", "description": "x", "input_schema": {"type": "object", "properties": {"a": {"type": "x"}}}}
    page = dom(pasted(alice, [ANTHROPIC, wrong], dialect="anthropic"))
    assert outcomes(page) == ["new", "cannot be imported"]
    told = page.one("p", class_="wrong")
    assert told.one("code").words.startswith("/input_schema/properties/a")
    assert page.one("button", value="import").words == "Import the 1 valid"
    assert submit(alice, page.id("import"), "import", dialect="anthropic").status_code == 302
    assert set(Tool.objects.exclude(org=None).values_list("name", flat=True)) == {"look"}


@pytest.mark.parametrize(
    ("text", "more", "field", "words"),
    [
        ("", {}, "text", "It is needed."),
        ('{"name":', {"dialect": "openai"}, "text", "JSON"),
        ("[" * 3000, {}, "text", "deep"),
        (json.dumps(ANTHROPIC), {"server": "Not A Name"}, "server", "lower-case letters"),
        (json.dumps(ANTHROPIC), {"dialect": "klingon"}, "dialect", "must be one of"),
        ("a\x00b", {}, "text", "NUL"),
        ("def look(ride: str) -> dict:", {}, "text", "It is no Python: expected an indented block"),
        ("123", {"dialect": "openai"}, "text", "object or list"),
        ("true", {"dialect": "mcp"}, "text", "object or list"),
        ('"look"', {"dialect": "roboto"}, "text", "object or list"),
    ],
)
def test_a_refusal_stands_beside_its_field_and_what_was_typed_stays(browser_of, text, more, field, words):
    page = dom(pasted(browser_of("alice"), text, **more), 400)
    assert page.id(field).has("autofocus") and page.id(field)["aria-invalid"] == "true"
    assert words in page.id(f"{field}-wrong").words
    if "\x00" not in text:
        assert page.id("text").text.lstrip("\n") == text


def test_a_text_that_names_no_server_is_refused_beside_the_server(browser_of):
    """It is no fault of the text, and no plan: nothing else was looked at."""
    alice = browser_of("alice")
    page = dom(pasted(alice, PYTHON, server=""), 400)
    assert page.id("server-wrong").words == "The text names none, so name one."
    assert page.id("server")["aria-invalid"] == "true" and page.id("server").has("autofocus")
    assert [node.get("id") for node in page.all(autofocus=True)] == ["server"]
    assert page.none(id="plan") and page.one("div", role="alert").one("a", href="#server")
    form = page.id("import")
    assert form.one("button", data_kind="primary").words.startswith("Preview")
    assert outcomes(dom(submit(alice, form, "look", server="bikes"))) == ["new"]


def test_of_several_tools_the_one_without_a_server_is_told_and_the_field_is_marked(browser_of):
    named = {"name": "look", "description": "Looks.", "input_schema": OLDER, "server": "shop", "idempotent": True}
    bare = {key: value for key, value in named.items() if key != "server"} | {"name": "other"}
    page = dom(pasted(browser_of("alice"), [named, bare], server="", dialect="convilyn"))
    assert outcomes(page) == ["new", "cannot be imported"]
    assert page.one("p", class_="wrong").one("a")["href"] == "#server"
    assert page.id("server-wrong").words == "The text names none for 1 of the 2 tools, so name one."
    assert page.one("button", value="import") and page.one("button", value="look").words == "Update preview"


def test_a_new_tool_is_shown_with_what_it_does_and_takes(browser_of):
    properties = {
        "ride": {"type": "string"},
        "times": {"type": "integer"},
        "at": OLDER,
    }
    schema = {"type": "object", "properties": properties, "required": ["ride"]}
    what = {"name": "look", "description": "Looks\n<b>twice</b>.", "input_schema": schema}
    [line] = dom(pasted(browser_of("alice"), what)).one("ul", class_="hist").all("li")
    said = [each.words for each in line.all("p")]
    assert said[0] == "Looks <b>twice</b>."
    assert said[1] == "ride string · times integer, optional · at object, optional"


def test_where_nothing_can_be_imported_looking_again_is_the_first_button(browser_of):
    page = dom(pasted(browser_of("alice"), {"name": "bad name", "description": "x", "input_schema": {}}))
    assert page.none("button", value="import") and page.one("button", value="look")["data-kind"] == "primary"


def test_nobody_imports_into_a_server_of_everybody(browser_of):
    page = dom(pasted(browser_of("alice"), ANTHROPIC, server="demo"), 403)
    assert "read-only" in page.one("div", role="alert").words


@pytest.mark.parametrize(
    ("dialect", "what"),
    [
        ("mcp", tool(annotations={"readOnlyHint": True, "x": 1}, _meta=MCP_META)),
        ("openai", {**OPENAI, "function": {**OPENAI["function"], "name": "Look.up-1", "strict": True}}),
        ("openai", {"type": "function", "name": "look", "parameters": OLDER, "output_schema": RIDE, "strict": True}),
        ("anthropic", {**ANTHROPIC, "name": "x" * 100}),
        ("convilyn", {**MANIFEST["tools"][0], "output_schema": RIDE}),
        ("roboto", {**ANTHROPIC, "name": "client_look"}),
        ("data_harness", {**ANTHROPIC, "visible": False, "annotations": {"destructive": True}}),
        ("rdk", {"name": "look", "description": "x", "parameters": OLDER, "returns": RIDE}),
    ],
)  # fmt: skip
def test_the_next_version_of_a_tool_begins_with_what_it_is(browser_of, api, dialect, what):
    """Its page leads to it; unchanged it makes no version, changed in one field only that one changes."""
    alice = browser_of("alice")
    sent = {"dialect": dialect, "server": "my-bikes", "tools": [what]}
    (item,) = data_of(api("alice").post("/v1/catalogue/tools/import", sent))["items"]
    name = item["qualified_name"]
    link = next(each for each in get(alice, f"/catalogue/tools/{name}/").all("a") if each.words == "New version")
    page = get(alice, link["href"])
    form = page.id("import")
    assert f"Version 1 of {name}." in page.words
    assert form.fields()["server"] == ["my-bikes"] and form.fields()["dialect"] == [dialect]
    text = form.one("textarea").text
    assert text.startswith('{\n  "')
    assert outcomes(dom(submit(alice, form, "look"))) == ["unchanged"]
    other = json.loads(text)
    other.get("function", other)["description"] = "Finds."
    page = dom(submit(alice, form, "look", text=json.dumps(other)))
    assert outcomes(page) == ["a new version"]
    sent = submit(alice, page.id("import"), "import")
    assert sent["Location"] == f"/catalogue/tools/{name}/"
    old, new = ToolVersion.objects.filter(tool__qualified_name=name).order_by("version")
    changed = {key for key in Content.model_fields if getattr(old, key) != getattr(new, key)}
    assert changed == {"description"}
    kept = Tool.objects.get(qualified_name=name)
    assert (kept.visible, kept.tags) == ("visible" not in what and dialect != "mcp", ["a"] if dialect == "mcp" else [])


def test_the_next_version_of_a_python_function_goes_on_in_json(browser_of):
    alice = browser_of("alice")
    submit(alice, dom(pasted(alice, PYTHON)).id("import"), "import")
    page = get(alice, f"{HERE}?tool=bikes__look")
    assert json.loads(page.one("textarea").text)["description"] == "Looks."
    assert page.id("import").fields()["dialect"] != ["python"]
    told = [each.words for each in dom(submit(alice, page.id("import"), "look")).all("li") if "look" in each.words]
    assert "a new version" in told[0] and not any("removed" in each for each in told)


def test_what_nobody_may_publish_is_not_offered_as_a_next_version(browser_of, publish):  # noqa: F811
    publish(tool())
    assert browser_of("eve").get(f"{HERE}?tool=bikes__look_up").status_code == 404
    assert browser_of("alice").get(f"{HERE}?tool=bikes__nothing").status_code == 404
    alice = browser_of("alice")
    assert alice.get(f"{HERE}?tool=heddle__get_tool_data").status_code == 403
    assert not any(
        each.words == "New version" for each in get(alice, "/catalogue/tools/heddle__get_tool_data/").all("a")
    )


def test_a_file_is_read_into_the_field(browser_of, settings):
    alice = browser_of("alice")
    page = dom(alice.post(HERE, {"file": SimpleUploadedFile("t.json", json.dumps(MANIFEST).encode()), "verb": "look"}))
    assert json.loads(page.id("text").text) == MANIFEST and outcomes(page) == ["new"]
    for raw in (b"\xff\xfe\x00", b" " * (settings.TOOL_IMPORT_BYTES + 1)):
        refused = dom(alice.post(HERE, {"file": SimpleUploadedFile("t.json", raw), "verb": "look"}), 400)
        assert "the file is" in refused.id("text-wrong").words.lower()


def test_hostile_text_comes_back_as_text(browser_of):
    breakout = f"</textarea>{HOSTILE}"
    page = dom(pasted(browser_of("alice"), {"name": breakout, "description": breakout, "input_schema": {}}))
    assert breakout in page.id("text").text and page.none("img")
    large = {**ANTHROPIC, "input_schema": {"type": "object", "description": "x" * 65 * 1024}}
    assert "larger than 64 KiB" in dom(pasted(browser_of("alice"), large)).one("p", class_="wrong").words


def test_recorded_calls_are_held_against_a_new_version(browser_of, publish, who):  # noqa: F811
    """The page and the dry run say how many the present version takes and the new one would refuse, three of them
    shown; what an agent sent in another's thread is none of them: the number would tell whoever writes the schema."""
    publish(tool(schema=OLDER))
    for n in range(8):
        called(who, "look_up", "success", 1, arguments={"ride": f"R-{n}" if n < 4 else f"old {n}"})
    called(who, "look_up", "success", 1, arguments=None)
    thread = make.thread(who.bob)
    called(who, "look_up", "success", 1, thread_id=thread.thread_id, by=who.bob, arguments={"ride": "secret"})
    called(who, "look_up", "error", 1, code="TYPE_ERROR", arguments={"ride": 7})
    page = dom(pasted(browser_of("alice"), tool()))
    assert outcomes(page) == ["a new version"]
    warned = page.one("ul", class_="hist").one("div", class_="fault")
    assert "The new version would reject 4 of the last 8 calls." in warned.words
    shown = [each.words for each in warned.all("li")]
    assert len(shown) == 3 and "secret" not in page.words
    assert "old 7" in shown[0] and "ride" in shown[0]
    assert "ride became required" in page.words
    assert "reject 5 of the last 9 calls." in dom(pasted(browser_of("bob"), tool())).words
    milder = tool(schema={**OLDER, "additionalProperties": True}, description="Looks.")
    assert "It accepts all of the last 8 calls." in dom(pasted(browser_of("alice"), milder)).words
    publish(tool("idle", schema=OLDER))
    assert "No recorded call that you may see" in dom(pasted(browser_of("alice"), tool("idle"))).words


def test_the_dry_run_of_the_api_carries_the_same(api, publish, who):  # noqa: F811
    publish(tool(schema=OLDER))
    row = called(who, "look_up", "success", 1, arguments={"ride": "old"})
    body = {"dialect": "mcp", "server": "bikes", "tools": [tool(), tool("new")]}
    dry = data_of(api("alice").post("/v1/catalogue/tools/import", {**body, "dry_run": True}))
    replay = dry["items"][0]["replay"]
    assert (replay["checked"], replay["refused"], replay["whole"]) == (1, 1, True)
    assert replay["examples"][0]["call_id"] == row.call_id
    assert replay["examples"][0]["errors"][0]["field"] == "ride"
    assert "replay" not in dry["items"][1]
    assert all("replay" not in item for item in data_of(api("alice").post("/v1/catalogue/tools/import", body))["items"])


def test_looking_at_recorded_calls_ends_in_time(publish, who, monkeypatch):  # noqa: F811
    publish(tool(schema=OLDER))
    for n in range(3):
        called(who, "look_up", "success", 1, arguments={"ride": str(n)})
    monkeypatch.setattr(replaying, "LATEST", 2)
    monkeypatch.setattr(replaying, "_BATCH", 1)
    found = replaying.replays(who.alice.actor, who.acme.pk, {"bikes__look_up": RIDE})["bikes__look_up"]
    assert (found.checked, found.whole) == (2, True)
    monkeypatch.setattr(replaying, "SECONDS", -1.0)
    began = time.monotonic()
    found = replaying.replays(who.alice.actor, who.acme.pk, {"bikes__look_up": RIDE})["bikes__look_up"]
    assert (found.checked, found.whole) == (0, False) and time.monotonic() - began < 1
