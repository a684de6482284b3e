"""The pages of worlds and of compliance: made, played, reset and closed in a browser (catalogue 3.8, 3.9)."""

import json

import pytest
from django.test import Client

from catalogue import browsing, pages_compliance, pages_fixtures, pages_worlds
from catalogue.models import Call, Tool, World
from tests import make
from tests.conftest import data_of
from tests.pages.dom import dom, get, queries, submit, then

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def alice(browser_of) -> Client:
    return browser_of("alice")


@pytest.fixture
def world(alice, who) -> World:
    """A stateful world with a tool that creates and one that reads, made by the form."""
    alice.post(
        "/catalogue/worlds/new/",
        {
            "mode": "stateful",
            "seed": "7",
            "tools": "demo__echo\nheddle__calculate",
            "failure_rate": "",
            "ttl_seconds": "",
        },
    )
    return World.objects.get()


def path(world: World, place: str = "") -> str:
    return f"/catalogue/worlds/{world.world_id}/{place}"


def test_without_a_world_the_list_says_what_one_is(alice):
    page = get(alice, "/catalogue/worlds/")
    assert page.one("main").one("h2").words == "No worlds yet." and page.none("table")


def test_a_world_is_made_by_the_form(alice, world, browser_of):
    assert (world.seed, world.seed_given, world.mode, world.failure_profile) == (7, True, "stateful", None)
    row = get(browser_of("bob"), "/catalogue/worlds/").one("tbody").one("tr")
    assert world.world_id in row.one("code").words and "stateful" in row.words
    assert get(browser_of("eve"), "/catalogue/worlds/").none("table")
    assert "No world matches this filter." in get(alice, "/catalogue/worlds/?status=closed").one("main").words


def test_a_world_is_called_by_its_name_or_by_what_tells_it_from_others(alice, world, api):
    title = "Stateful world of demo, heddle, seed 7"
    assert get(alice, path(world)).one("h1").words == title
    assert title in get(alice, "/threads/start/").id("world").words, "where one is chosen too"
    alice.post("/catalogue/worlds/new/", {"name": f" Docks {HOSTILE} ", "mode": "examples"})
    named = World.objects.latest("pk")
    assert get(alice, path(named)).one("h1").words == f"Docks {HOSTILE}"
    assert f"Docks {HOSTILE}" in get(alice, "/catalogue/worlds/").one("tbody").words
    asked = [api("alice").get(f"/v1{path(each)[:-1]}") for each in (named, world)]
    assert [data_of(each)["name"] for each in asked] == [f"Docks {HOSTILE}", None]
    assert data_of(api("alice").post("/v1/catalogue/worlds", {"name": "Two"}))["name"] == "Two"
    long = alice.post("/catalogue/worlds/new/", {"name": "x" * 101, "mode": "examples"})
    assert dom(long, 400).id("name-wrong").words


@pytest.mark.parametrize(
    ("field", "typed"),
    [
        ("seed", {"seed": "seven"}),
        ("tools", {"tools": "crm__nothing"}),
        ("failure_rate", {"failure_rate": "2", "error_codes": "timeout"}),
        ("failure_rate", {"failure_rate": "often"}),
        ("ttl_seconds", {"ttl_seconds": "0"}),
    ],
)
def test_what_is_wrong_stands_beside_its_field_and_what_was_typed_stays(alice, who, field, typed):
    """C116."""
    response = alice.post("/catalogue/worlds/new/", {"mode": "stateful", **typed})
    page = dom(response, 404 if field == "tools" else 400)
    assert page.id(field).get("aria-invalid") == "true"
    assert typed[field] in (page.id(field).get("value"), page.id(field).text)
    assert not World.objects.exists()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("demo__ecko", "demo__echo"),
        ("heddle:calculat", "heddle__calculate"),
        ("calculate", "heddle__calculate"),
        ("shop__zzzzzzzz", ""),
        ("globex__find_ride", ""),
    ],
)
def test_a_wrong_name_of_a_tool_is_told_with_the_one_that_was_probably_meant(alice, who, api, world, typed, meant):
    """Beside its field, when a world is made and when tools are added; over REST too; never a tool of another org."""
    tool = {"name": "find_ride", "description": "x", "input_schema": {"type": "object"}}
    sent = {"dialect": "anthropic", "server": "globex-rides", "tool": tool}
    data_of(api("eve").post("/v1/catalogue/tools/import", sent))
    said = f"There is no tool {typed} that you can see.{f' Did you mean {meant}?' if meant else ''}"
    page = dom(alice.post("/catalogue/worlds/new/", {"mode": "stateful", "tools": typed}), 404)
    assert page.id("tools-wrong").words == said
    assert page.one(href="#tools").within("li").words == f"Individual tools: {said}"
    assert dom(alice.post(path(world, "tools/"), {"tools": typed}), 400).id("more-tools-wrong").words == said
    answer = api("alice").post("/v1/catalogue/worlds", {"tools": [typed]})
    assert (answer.status_code, answer.json()["error"]["message"]) == (404, said)


def test_individual_tools_are_chosen_by_server_and_added_to_those_that_are_typed(alice, who, api):
    page = get(alice, "/catalogue/worlds/new/")
    box = page.one("input", name="picked", value="demo__echo")
    assert box.within("fieldset").one("legend").words == "demo" and box.within("label").words == "echo"
    assert box.within("details").one("summary").words == "Choose individual tools" and not box.within("details").has(
        "open"
    )
    typed = {"mode": "stateful", "tools": "heddle__wait, demo__echo", "picked": ["demo__echo", "demo__value"]}
    again = dom(alice.post("/catalogue/worlds/new/", {**typed, "seed": "seven"}), 400)
    assert [each["value"] for each in again.all("input", name="picked") if each.has("checked")] == typed["picked"]
    assert again.one("input", name="picked", value="demo__echo").within("details").has("open")
    alice.post("/catalogue/worlds/new/", typed)
    assert [tool.qualified_name for tool in World.objects.get().tools.order_by("qualified_name")] == [
        "demo__echo", "demo__value", "heddle__wait",
    ]  # fmt: skip


def test_of_many_tools_the_first_are_offered_at_a_constant_price_and_the_rest_counted(alice, who, api, monkeypatch):
    before = queries(alice, "/catalogue/worlds/new/")
    tool = {"description": "x", "input_schema": {"type": "object"}}
    many = [{**tool, "name": f"tool_{n:03}"} for n in range(240)]
    data_of(api("alice").post("/v1/catalogue/tools/import", {"dialect": "anthropic", "server": "aa", "tools": many}))
    assert queries(alice, "/catalogue/worlds/new/") == before
    for most in (browsing.MAX_NAMES, 230):
        monkeypatch.setattr(browsing, "MAX_NAMES", most)
        page = get(alice, "/catalogue/worlds/new/")
        assert len(page.all("input", name="picked")) == 200
        count = Tool.objects.visible_in(who.acme.pk).count() - 200
        assert f"{count} more tools can only be typed above." in page.one("main").words


def test_numbers_that_are_none_are_refused_all_at_once(alice, who):
    typed = {"seed": "seven", "failure_rate": "0,5", "ttl_seconds": "true", "mode": "stateful"}
    page = dom(alice.post("/catalogue/worlds/new/", typed), 400)
    told = [each.words for each in page.all(class_="fault")[0].all("li")]
    assert told == [
        "Seed: It must be a whole number.",
        "Failure rate: It must be a number.",
        "Ttl seconds: It must be a whole number.",
    ]


def test_codes_are_needed_where_something_fails_and_strictness_where_there_are_fixtures(alice, who):
    for typed, said in (
        ({"mode": "stateful", "failure_rate": "0.5"}, "Choose at least one error code."),
        ({"mode": "schema_only", "strict_fixtures": "true"}, "The mode schema_only does not use fixtures."),
    ):
        response = alice.post("/catalogue/worlds/new/", typed)
        assert [each.words for each in dom(response, 400).all(class_="wrong")] == [said]


def test_the_tool_that_is_chosen_is_called_by_a_form_made_from_its_schema(alice, world):
    page = get(alice, path(world, "?tool=demo__echo"))
    form = page.id("call-form")
    labels = {label.words.split()[0]: label["for"] for label in form.all("label", for_=True)}
    assert list(labels)[:2] == ["message", "repeat"] and form.one("input", name="tool")["value"] == "demo__echo"
    page = then(alice, submit(alice, form, **{labels["message"]: "hi", labels["repeat"]: "2"}))
    assert page.id("answer").one("h2").words == "Result" and page.id(labels["repeat"])["value"] == "2"
    assert Call.objects.get(world=world).arguments == {"message": "hi", "repeat": 2}
    turned = dom(submit(alice, page.id("call-form"), "turn"))
    assert json.loads(turned.id("whole").text) == {"message": "hi", "repeat": 2}
    wrong = dom(submit(alice, form, **{labels["message"]: "hi", labels["repeat"]: "many"}), 400)
    assert wrong.id(labels["repeat"])["aria-invalid"] == "true"
    assert Call.objects.filter(world=world).count() == 1


def test_the_tool_is_chosen_by_a_button_only_without_scripts(alice, world):
    """The select sends by itself; what the style hides is still there for whoever has no scripts."""
    page = get(alice, path(world)).id("call")
    button = next(each for each in page.all("button") if each.words == "Choose")
    assert button.has("data-unscripted") and button.within("form")["method"] == "get"
    assert page.id("tool")["hx-trigger"] == "change"


def test_a_call_by_hand_shows_its_answer_and_stays_in_the_form(alice, world):
    """At an address of its own, so that a reload calls nothing."""
    answer = alice.post(path(world, "call/"), {"tool": "demo__echo", "as": "whole", "whole": '{"message": "hi"}'})
    for _ in range(2):
        page = then(alice, answer)
        answered = page.one("section", id="answer")
        assert answered.one("h2").words == "Result"
        assert answered["tabindex"] == "-1" and answered.has("data-focus"), "or nobody is told that there is one"
        assert json.loads(page.id("whole").text) == {"message": "hi"}
        assert page.one("option", selected=True).words == "demo__echo"
    assert World.objects.get().step_count == 1
    failed = then(alice, alice.post(path(world, "call/"), {"tool": "demo__echo", "as": "whole", "whole": "{}"}))
    assert failed.one("section", id="answer").one("h2").words == "Failed"
    assert "MISSING_REQUIRED" in failed.one("section", id="answer").words
    wrong = alice.post(path(world, "call/"), {"tool": "demo__echo", "as": "whole", "whole": "{"})
    assert dom(wrong, 400).id("whole").text == "{"
    assert World.objects.get().step_count == 2


def test_what_it_remembers_and_what_was_done_is_shown(alice, world, api):
    tool = {"name": "create_note", "description": "", "parameters": {"type": "object"}, "returns": {"type": "object"}}
    data_of(api("alice").post(f"/v1{path(world)[:-1]}/tools", {"dialect": "rdk", "tool": tool}))
    alice.post(
        path(world, "call/"), {"tool": "create_note", "as": "whole", "whole": json.dumps({"id": "n1", "text": HOSTILE})}
    )
    response = alice.get(path(world))
    page = dom(response)
    remembered = page.one("section", aria_labelledby="remembered")
    assert "note" in remembered.words and "n1" in remembered.words and HOSTILE in remembered.words
    assert HOSTILE not in response.content.decode(), "it is shown, not run"
    assert "create note n1" in page.one("section", aria_labelledby="history").words
    assert "only in this world" in page.one("section", aria_labelledby="its-tools").words


def test_what_was_asked_for_without_an_id_is_told_by_its_arguments_and_a_reset_says_what_it_forgets(alice, world, api):
    tool = {"name": "get_note", "description": "", "parameters": {"type": "object"}, "returns": {"type": "object"}}
    data_of(api("alice").post(f"/v1{path(world)[:-1]}/tools", {"dialect": "rdk", "tool": tool}))
    alice.post(path(world, "call/"), {"tool": "get_note", "as": "whole", "whole": "{}"})
    page = get(alice, path(world))
    told = "arguments {}"
    assert page.one("section", aria_labelledby="remembered").one("h3").words == told
    assert told in page.one("section", aria_labelledby="history").words
    [resetting, _] = page.one("section", aria_labelledby="more").all("details")
    assert "(1 note)" in resetting.words and resetting.one("input", name="hard")


def test_tools_are_added_fixtures_taken_and_steps_set_back(alice, world, api):
    wrong = alice.post(path(world, "tools/"), {"tools": "crm__nothing"})
    assert "crm__nothing" in dom(wrong, 400).one(class_="wrong").words
    alice.post(path(world, "tools/"), {"tools": "demo__value, demo__hidden"})
    assert world.tools.count() == 4
    api("alice").post("/v1/catalogue/tools/demo__echo/call", {"arguments": {"message": "hello"}})
    assert (
        "1 fixture "
        in dom(alice.post(path(world, "fixtures/recorded/"), follow=True))
        .one("section", aria_labelledby="fixtures")
        .words
    )
    alice.post(path(world, "call/"), {"tool": "demo__echo", "as": "whole", "whole": '{"message": "hello"}'})
    alice.post(path(world, "reset/"), {"hard": "true"})
    assert World.objects.get().step_count == 0


def test_a_name_too_long_for_a_list_of_tools_is_named_at_its_field(alice, world):
    long = "x" * 131_073
    page = dom(alice.post(path(world, "tools/"), {"tools": long}), 400)
    assert "too long" in page.id("more-tools-wrong").words and page.id("more-tools").text == long
    page = dom(alice.post("/catalogue/worlds/new/", {"mode": "stateful", "tools": long}), 400)
    assert "too long" in page.id("tools-wrong").words and page.id("tools").text == long
    assert alice.post(path(world, "tools/"), {"tools": "demo__echo\rheddle__calculate"}).status_code == 302


def test_a_closed_world_has_no_forms_left(alice, world):
    """C117."""
    alice.post(path(world, "close/"))
    page = get(alice, path(world))
    assert page.one("main").none("form")
    assert alice.post(path(world, "call/"), {"tool": "demo__echo"}).status_code == 410


def test_a_thread_in_a_world_says_so(alice, who, world):
    page = get(alice, path(world))
    [link] = [each for each in page.all("a", class_="btn") if "New thread" in each.words]
    form = get(alice, link["href"])
    assert form.id("world").one("option", selected=True)["value"] == world.world_id
    alice.post("/threads/start/", {"text": '[[call calculate {"expression": "1+1"}]]', "world": world.world_id})
    make.run_turns()
    thread = make.Thread.objects.get()
    assert thread.world == world
    [mark] = get(alice, f"/threads/{thread.thread_id}/").all("a", href=path(world))
    assert mark.words == "a world"
    assert "calculate" in get(alice, path(world)).one("section", aria_labelledby="called").words
    plain = make.thread(who.alice)
    assert get(alice, f"/threads/{plain.thread_id}/").none("a", href=path(world))
    assert alice.get("/threads/start/?world=a/b").status_code == 404
    alice.post(path(world, "close/"))
    late = alice.post("/threads/start/", {"text": "Hello", "world": world.world_id})
    assert "closed" in dom(late, 400).one(role="alert").words


def test_a_fork_may_go_into_a_world(alice, who, world):
    thread = make.thread(who.alice)
    field = get(alice, f"/threads/{thread.thread_id}/").id("world")
    assert (field["name"], field["form"]) == ("world", "fork")
    alice.post(f"/threads/{thread.thread_id}/fork/", {"message_sequence_num": "1", "world": world.world_id})
    assert make.Thread.objects.latest("pk").world == world
    wrong = alice.post(f"/threads/{thread.thread_id}/fork/", {"message_sequence_num": "1", "world": "wld_unknown"})
    assert "wld_unknown" in dom(wrong, 400).one("main").words


def test_ten_more_calls_cost_the_page_no_more_queries(alice, world):
    alice.post(path(world, "call/"), {"tool": "demo__echo", "as": "whole", "whole": '{"message": "hi"}'})
    before = queries(alice, path(world)), queries(alice, "/catalogue/worlds/")
    for _ in range(10):
        alice.post(path(world, "call/"), {"tool": "demo__echo", "as": "whole", "whole": '{"message": "hi"}'})
        alice.post("/catalogue/worlds/new/", {"mode": "stateful"})
    assert (queries(alice, path(world)), queries(alice, "/catalogue/worlds/")) == before


def test_the_report_puts_failures_first(alice, who):
    """C121: a link calls nothing; a form does."""
    page = get(alice, "/catalogue/compliance/?server=demo")
    assert page.id("server").one("option", selected=True).words == "demo" and page.none(id="found")
    page = dom(alice.post("/catalogue/compliance/", {"server": "demo"}))
    groups = page.one("section", aria_labelledby="found").all("details")
    words = [group.one("summary").words.partition(" ")[0] for group in groups]
    assert words == [word for word in ("failed", "warning", "passed") if word in words] and "passed" in words
    assert [group.has("open") for group in groups] == [word != "passed" for word in words], "nobody reads what passed"
    assert "demo Metadata" in groups[-1].one("tbody").words
    assert groups[-1].all("a", href="/catalogue/?q=server%3Ademo")
    assert groups[-1].all("a", href="/catalogue/tools/demo__echo/"), "a check leads to its tool"
    assert "Passes when" in page.one("section", aria_labelledby="checks").words
    unknown = alice.post("/catalogue/compliance/", {"server": HOSTILE})
    assert dom(unknown, 404).id("server").one("option", selected=True).words == HOSTILE


def test_a_server_of_many_tools_has_a_report_that_a_browser_can_show(alice, who, monkeypatch):
    monkeypatch.setattr(pages_compliance, "SHOWN", 3)
    found = dom(alice.post("/catalogue/compliance/", {"server": "demo"})).one("section", aria_labelledby="found")
    last = found.all("details")[-1]
    assert len(last.one("tbody").all("tr")) == 3 and "The first 3 are shown." in last.words


# Fixtures and tools by hand


def typed_fixtures(*rows):
    """What a form sends for rows of tool, input and output, or an empty output, code and message."""
    names = ("tool", "input", "output", "code", "message")
    columns = zip(*((*row, "", "")[:5] for row in rows), strict=True)
    return dict(zip((f"fixture_{name}" for name in names), map(list, columns), strict=True))


PASTED = {
    "name": "find_seat",
    "description": "Finds a seat.",
    "input_schema": {"type": "object", "properties": {"row": {"type": "integer"}}, "required": ["row"]},
}


def test_a_world_is_made_with_pasted_tools_and_fixtures_in_one_step(alice, who, api):
    """C106, C107: what only a program could hand in before."""
    sent = typed_fixtures(
        ("find_seat", '{"row": 3}', '{"seat": "3A"}'), ("find_seat", "", '{"seat": null}'), ("", "", "")
    )
    alice.post("/catalogue/worlds/new/", {"mode": "examples", "own": json.dumps(PASTED), "servers": ["demo"], **sent})
    made = World.objects.get()
    assert "find_seat" in made.tools.values_list("qualified_name", flat=True) and made.tools.count() > 3
    for row, seat in ((3, "3A"), (4, None)):
        call = {"tool": "find_seat", "input": {"row": row}}
        assert data_of(api("alice").post(f"/v1{path(made)}call", call))["output"] == {"seat": seat}
    section = get(alice, path(made)).one("section", aria_labelledby="fixtures")
    assert "2 fixtures" in section.words and section.id("fixture-1-output").text == '{\n  "seat": "3A"\n}'
    assert section.id("fixture-2-input").text == "", "an empty input stands for any"


@pytest.mark.parametrize(
    ("row", "field", "said"),
    [
        (("find_seat", "{", "1"), "input", "not valid JSON"),
        (("find_seat", "{}", ""), "output", "needed"),
        (("find_sofa", "{}", "1"), "tool", "no tool find_sofa"),
    ],
)
def test_a_bad_fixture_is_named_at_its_field_and_nothing_is_made(alice, who, row, field, said):
    sent = {"mode": "examples", "own": json.dumps(PASTED), **typed_fixtures(("find_seat", "", "1"), row)}
    page = dom(alice.post("/catalogue/worlds/new/", sent), 400)
    assert said in page.id(f"fixture-2-{field}-wrong").words and page.id(f"fixture-2-{field}")["aria-invalid"] == "true"
    assert page.none(id="fixture-1-tool-wrong") and page.id("own").text == sent["own"], "what was typed stays"
    assert not World.objects.exists()


def test_a_fixture_that_fails_is_written_and_read_again_by_the_form(alice, who, api):
    """C106, C107, decision 012."""
    own = {"mode": "examples", "own": json.dumps(PASTED)}
    failing = ("find_seat", '{"row": 13}', "", "NOT_FOUND", f"There is no row 13. {HOSTILE}")
    alice.post("/catalogue/worlds/new/", {**own, **typed_fixtures(failing, ("find_seat", "", '{"seat": "1A"}'))})
    made = World.objects.get()
    page = get(alice, path(made))
    assert page.id("fixture-1-code").one("option", selected=True).words == "NOT_FOUND"
    assert page.id("fixture-1-message")["value"] == failing[4] and page.id("fixture-1-output").text == ""
    assert page.id("fixture-2-code").none("option", selected=True)
    called = alice.post(path(made, "call/"), {"tool": "find_seat", "as": "whole", "whole": '{"row": 13}'})
    answer = then(alice, called).id("answer")
    assert answer.one("h2").words == "Failed" and "step 1, fixture" in answer.words and HOSTILE in answer.words
    call = {"tool": "find_seat", "input": {"row": 13}}
    error = data_of(api("alice").post(f"/v1{path(made)}call", call))["result"]["error"]
    assert (error["code"], error["message"]) == ("NOT_FOUND", failing[4])


@pytest.mark.parametrize(
    ("row", "field"),
    [
        (("find_seat", "", "1", "TIMEOUT", "late"), "output"),
        (("find_seat", "", "", "", "late"), "code"),
        (("find_seat", "", "", "TIMEOUT", " "), "message"),
        (("find_seat", "", "", "OUT_OF_SEATS", "m"), "code"),
    ],
)
def test_a_bad_failure_is_named_at_its_field(alice, who, row, field):
    sent = {"mode": "examples", "own": json.dumps(PASTED), **typed_fixtures(("find_seat", "", "1"), row)}
    page = dom(alice.post("/catalogue/worlds/new/", sent), 400)
    assert page.id(f"fixture-2-{field}-wrong").words and page.id(f"fixture-2-{field}")["aria-invalid"] == "true"
    assert not World.objects.exists()


def test_of_many_things_remembered_the_page_shows_some_and_says_so(alice, world, api, monkeypatch):
    monkeypatch.setattr(pages_worlds, "LINES", 3)
    for noun in ("note", "song"):
        tool = {"name": f"create_{noun}", "description": "", "parameters": {}, "returns": {"type": "object"}}
        data_of(api("alice").post(f"/v1{path(world)[:-1]}/tools", {"dialect": "rdk", "tool": tool}))
        for number in range(2):
            call = {"tool": f"create_{noun}", "input": {"id": f"{noun}{number}"}}
            data_of(api("alice").post(f"/v1{path(world)}call", call))
    notes, songs = get(alice, path(world)).one("section", aria_labelledby="remembered").all("details")
    assert len(notes.all("h3")) == 2 and "Not all" not in notes.words
    assert len(songs.all("h3")) == 1 and songs.one("summary").words == "song 2" and "Not all" in songs.words


def test_a_bad_paste_is_named_at_its_field(alice, who):
    for own in ("{", json.dumps({**PASTED, "name": "a b"}), json.dumps({**PASTED, "input_schema": {"type": "what"}})):
        page = dom(alice.post("/catalogue/worlds/new/", {"mode": "examples", "own": own}), 400)
        assert page.id("own-wrong").words and page.id("own").text == own
    assert not World.objects.exists()


def test_without_scripts_a_press_gives_another_row_and_makes_nothing(alice, who):
    sent = {"mode": "examples", "verb": "more", **typed_fixtures(("demo__echo", "{}", "{"))}
    page = dom(alice.post("/catalogue/worlds/new/", sent))
    assert page.id("fixture-1-output").text == "{" and page.id("fixture-2-output").text == ""
    assert not World.objects.exists()


def test_fixtures_are_edited_on_the_worlds_page_and_nothing_is_written_over_unseen(alice, world, browser_of):
    page = get(alice, path(world))
    seen = page.one("input", name="seen")["value"]
    sent = {"seen": seen, "verb": "save", **typed_fixtures(("demo__echo", "", '{"message": "always"}'))}
    assert alice.post(path(world, "fixtures/"), sent).status_code == 302
    assert get(alice, path(world)).id("fixture-1-tool").one("option", selected=True).words == "demo__echo"
    late = dom(browser_of("bob").post(path(world, "fixtures/"), sent), 409)
    assert "Somebody else changed the fixtures" in late.one(role="alert").words
    wrong = {"verb": "save", **typed_fixtures(("demo__echo", "", "{"))}
    assert "not valid JSON" in dom(alice.post(path(world, "fixtures/"), wrong), 400).id("fixture-1-output-wrong").words
    more = {"verb": "more", **typed_fixtures(("demo__echo", "", "{"))}
    assert dom(alice.post(path(world, "fixtures/"), more)).id("fixture-2-tool")
    assert world.fixtures.count() == 1
    assert alice.post(path(world, "fixtures/"), {"verb": "save"}).status_code == 302
    assert world.fixtures.count() == 0


def test_fixtures_saved_in_the_same_moment_are_not_written_over_unseen(alice, world, browser_of, monkeypatch):
    bob, seen = browser_of("bob"), get(alice, path(world)).one("input", name="seen")["value"]
    read = pages_fixtures.read

    def overtaken(rows):
        monkeypatch.undo()
        bobs = {"seen": seen, "verb": "save", **typed_fixtures(("demo__echo", "", '{"message": "bob"}'))}
        assert bob.post(path(world, "fixtures/"), bobs).status_code == 302
        return read(rows)

    monkeypatch.setattr(pages_fixtures, "read", overtaken)
    late = {"seen": seen, "verb": "save", **typed_fixtures(("demo__echo", "", '{"message": "alice"}'))}
    page = dom(alice.post(path(world, "fixtures/"), late), 409)
    assert "Somebody else changed the fixtures" in page.one(role="alert").words
    assert world.fixtures.get().output == {"message": "bob"}


def test_a_pasted_tool_is_added_to_a_world_that_is_there(alice, world):
    alice.post(path(world, "tools/"), {"own": json.dumps(PASTED)})
    assert world.tools.filter(qualified_name="find_seat").exists()
    page = dom(alice.post(path(world, "tools/"), {"own": "[1]"}), 400)
    assert page.id("own-wrong").words and page.id("own").text == "[1]"


# Choosing one


def test_open_worlds_are_offered_where_something_is_played(alice, who, world, browser_of):
    """In the try-it form those that have the tool, for a new thread and a fork all of the org, never another org's."""
    other = World.objects.create(
        org=world.org, mode="examples", seed=1, seed_given=True, ttl_seconds=60, expires_at=world.expires_at
    )

    def offered(client, place):
        return {each["value"] for each in get(client, place).id("world").all("option")} - {""}

    both = {world.world_id, other.world_id}
    thread = make.thread(who.alice)
    assert offered(alice, "/catalogue/tools/demo__echo/") == {world.world_id, "new"}
    assert offered(alice, "/threads/start/") == both == offered(alice, f"/threads/{thread.thread_id}/")
    eve = browser_of("eve")
    assert offered(eve, "/catalogue/tools/demo__echo/") == {"new"}
    assert get(eve, "/threads/start/").none(id="world")
    alice.post(path(world, "close/"))
    assert offered(alice, "/threads/start/") == {other.world_id}


def test_that_real_tools_act_is_said_where_a_world_could_be_chosen(alice, who, world):
    def told(place):
        return [(each["value"], each.words) for each in get(alice, place).id("world").all("option")][:2]

    real = "Real tools (they act)"
    assert told("/threads/start/")[0] == ("", real)
    assert told(f"/threads/{make.thread(who.alice).thread_id}/")[0] == ("", real)
    inside = make.thread(who.alice, world_id=world.world_id)
    assert told(f"/threads/{inside.thread_id}/") == [("", "Simulated in the same world"), ("none", real)]


def test_a_fork_leaves_its_world_where_it_is_told_to(alice, who, world):
    thread = make.thread(who.alice, world_id=world.world_id)
    for said, expected in (("", world), ("none", None)):
        alice.post(f"/threads/{thread.thread_id}/fork/", {"message_sequence_num": "1", "world": said})
        assert make.Thread.objects.latest("pk").world == expected


def test_a_world_is_reset_and_closed_on_its_page_alone_by_its_name(alice, world):
    alice.post(path(world, "call/"), {"tool": "demo__echo", "as": "whole", "whole": '{"message": "hi"}'})
    row = get(alice, "/catalogue/worlds/").one("tbody").one("tr")
    assert "seed" in get(alice, "/catalogue/worlds/").one("thead").words.lower() and "in 59 min" in row.words
    assert row.none("form") and row.none("button")
    for verb, said in (("reset", "Reset {} to step 0."), ("close", "Closed {}. Its log stays readable.")):
        form = get(alice, path(world)).one("form", action=path(world, f"{verb}/"))
        assert get(alice, path(world)).one("h1").words[:36] in form.within("details").one("button").words
        assert submit(alice, form)["Location"] == path(world)
        assert get(alice, path(world)).one(id="notes").words == said.format(world.world_id)
    assert World.objects.get().step_count == 0 and get(alice, path(world)).none("form", action=path(world, "close/"))
