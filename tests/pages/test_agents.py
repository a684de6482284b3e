"""The agent pages: list, reading, the form and back without a loss, launching, and what everybody may do (G1 to G7)."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Membership
from accounts.orgs import add_member
from catalogue import skills
from catalogue.models import Skill
from catalogue.wire_skills import SkillIn
from core import bodies
from tests import make
from tests.pages.dom import Node, dom, get, names, submit
from tests.people import People, Person
from threads import agents, instants
from threads.models import Agent, ClientTool, Goal, Thread
from threads.wire_agents import AgentIn, AgentPatch, LaunchIn

Browser = Callable[[str | None], Client]
HOSTILE = "<script>alert(1)</script> <img src=x onerror=alert(2)>"
PEOPLE = ("alice", "bob", "eve", "admin")
GOAL = {"goal_type": "checklist", "items": {"power": "{{station}} has power"}}
TOOL = {"name": "show_on_map", "description": "Show {{station}}.", "input_schema": {"type": "object"}}
VARIABLES = [
    {"name": "station", "description": "Its name"},
    {"name": "tone", "required": False, "default": "plain"},
]


def agent(person: Person, name: str = "Opening", variables: Any = (), **template: Any) -> Agent:
    body = {
        "name": name,
        "description": f"What {name} is for.",
        "request_template": {"messages": [make.say("Go.")], **template},
        "variables": list(variables),
    }
    return agents.create(person.actor, next(iter(person.actor.orgs.values())), bodies.parse(AgentIn, body))


def opening(person: Person, **template: Any) -> Agent:
    """An agent with two variables."""
    said = make.say("Open {{station}}, {{tone}}.")
    return agent(person, "Opening", VARIABLES, messages=[said], **template)


def skill(person: Person, name: str = "refunds", accessibility: str = "org") -> Skill:
    body = SkillIn(name=name, accessibility=accessibility, description="What for.", body="How.")
    return skills.create(person.actor, next(iter(person.actor.orgs.values())), body)


def path(held: Agent, place: str = "") -> str:
    return f"/agents/{held.agent_id}/{place}"


def form(page: Node, action: str) -> Node:
    return page.one("form", action=action)


def rows(goals: Any = (), variables: Any = ()) -> dict[str, list[str]]:
    """Goals and variables as the form's rows send them: pairs of type and text, and dicts."""
    columns = {name: [each.get(name, "") for each in variables] for name in ("name", "description", "default")}
    needed = ["needed" if each.get("required", True) else "optional" for each in variables]
    typed = {f"variable_{name}": column for name, column in columns.items()} | {"variable_needed": needed}
    return typed | {"goal_type": [kind for kind, _ in goals], "goal_text": [text for _, text in goals]}


def written(client: Client, status: int = 302, **typed: Any) -> Any:
    answer = submit(client, form(get(client, "/agents/new/"), "/agents/new/"), **{"name": "One", **typed})
    assert answer.status_code == status, answer.content.decode()[-2000:]
    return answer


def test_without_an_agent_the_list_says_what_one_is(browser_of: Browser, who: People) -> None:
    page = get(browser_of("alice"), "/agents/")
    assert page.one("main").one("h2").words == "No agents yet."
    assert "You have no agents." in get(browser_of("admin"), "/agents/").one("main").words
    Membership.objects.filter(user=who.alice.user).delete()
    client = browser_of("alice")
    assert "not in an org" in get(client, "/agents/").one("main").words
    kept = dom(written(client, 400, text="Kept"), 400)
    assert kept.id("text").text == "Kept" and "not in an org yet" in kept.one(role="alert").words


def test_the_list_shows_the_agents_of_the_org_and_searches_them(browser_of: Browser, who: People) -> None:
    """G4: newest first; nothing of another org."""
    agent(who.alice, "Refunds")
    opening(who.bob, goals=[GOAL])
    agent(who.eve, "Parking")
    seen = {name: names(get(browser_of(name), "/agents/")) for name in PEOPLE}
    assert seen == {"alice": ["Opening", "Refunds"], "bob": ["Opening", "Refunds"], "eve": ["Parking"], "admin": []}
    client = browser_of("alice")
    row = get(client, "/agents/").all("tr")[1]
    assert [cell.words for cell in row.all("td", class_="num")] == ["2", "1 goal"]
    assert "Bob" in row.words
    assert names(get(client, "/agents/?q=REFUNDS+for")) == ["Refunds"]
    assert "No agent matches." in get(client, "/agents/?q=zebra").one("main").words
    get(client, "/agents/?q=%00", 400)


def test_the_keys_of_the_list_have_a_heading_as_those_of_everywhere_do(browser_of: Browser) -> None:
    sheet = get(browser_of("alice"), "/agents/").id("keys")
    assert [each.words for each in sheet.all("h3")] == ["This page", "Everywhere"]


def test_an_agent_leads_to_its_threads_and_admins_to_the_reports_about_them(browser_of: Browser, who: People) -> None:
    held = opening(who.alice)
    add_member(who.acme, who.admin.user)

    def leads(name: str) -> dict[str, str]:
        links = get(browser_of(name), path(held)).one("section", aria_labelledby="more").all("a")
        return {link.words: link["href"] for link in links}

    threads = {"Threads launched from it": f"/threads/?q=agent:{held.agent_id}"}
    assert leads("alice") == threads
    href = f"/feedback/?q=agent%3A{held.agent_id}"
    assert leads("admin") == {**threads, "Reports about their answers": href}
    assert "There is no" not in get(browser_of("admin"), href).one("main").words


def test_everything_a_start_request_can_say_can_be_written(browser_of: Browser, who: People) -> None:
    """G1: by names and in plain words where there are any."""
    held, client = skill(who.alice), browser_of("alice")
    messages = [make.say("About {{station}}."), {"role": "assistant", "content": [{"text": "Yes?"}]}, make.say("Go.")]
    answer = written(
        client,
        description="What for.",
        messages=json.dumps(messages),
        model_profile="simulated",
        system_prompt="Be {{tone}}.\r\nAlways.",
        invoke_skills="refunds 1\r\n\r\nsk_elsewhere",
        available="listed",
        available_skills="refunds",
        **rows([("checklist", "power: {{station}} has power")], VARIABLES),
        client_tools=json.dumps([TOOL]),
        start_time="2026-05-12T08:00Z",
        end_time="1778659200000000001",
        client_context='{"view_ids": ["v1"]}',
        visibility="private",
    )
    stored = Agent.objects.get()
    assert answer["Location"] == path(stored)
    assert stored.request_template == {
        "messages": messages,
        "model_profile": "simulated",
        "system_prompt": "Be {{tone}}.\nAlways.",
        "invoke_skills": [{"skill_id": held.skill_id, "version": 1}, {"skill_id": "sk_elsewhere"}],
        "available_skills": [{"skill_id": held.skill_id}],
        "goals": [GOAL],
        "client_tools": [TOOL],
        "analysis_scope": {"start_time": 1778572800000000000, "end_time": 1778659200000000001},
        "client_context": {"view_ids": ["v1"]},
        "visibility": "private",
    }
    assert (stored.name, stored.description, len(stored.variables)) == ("One", "What for.", 2)
    page = get(browser_of("bob"), path(stored))
    words = page.one("main").words
    assert "12 May 2026, 08:00 UTC to 2026-05-13T08:00:00.000000001Z" in words
    assert [item.words for item in page.all("li") if "power" in item.words] == ["power {{station}} has power"]
    assert len(page.all("a", href=path(stored, "edit/"))) == 1
    away = browser_of("bob")
    away.cookies["tz"] = "Europe/Berlin"
    end = get(away, path(stored)).one("time", datetime="2026-05-12T08:00:00Z")
    assert (end.words, end["title"]) == ("12 May 2026, 10:00 CEST", "2026-05-12T08:00:00Z")
    assert "show_on_map" in words and "Checklist" in words and "Default: plain" in words
    assert page.one("a", href=f"/skills/{held.skill_id}/?version=1").words == "refunds"


def test_an_agent_that_names_a_skill_of_another_org_can_be_changed(browser_of: Browser, who: People) -> None:
    """It is known to who belongs to both, and by its id alone in this org."""
    add_member(who.acme, who.eve.user)
    foreign = skill(who.eve, "theirs")
    held = agent(who.alice, invoke_skills=[{"skill_id": foreign.skill_id}])
    page = get(browser_of("eve"), path(held, "edit/"))
    assert form(page, path(held, "edit/")).id("invoke_skills").text == foreign.skill_id


def test_a_form_asks_once_for_all_skills_that_an_agent_names(browser_of: Browser, who: People) -> None:
    client, counts = browser_of("alice"), []
    for number in (1, 10):
        named = [{"skill_id": skill(who.alice, f"s{number}x{place}").skill_id} for place in range(number)]
        held = agent(who.alice, f"With {number}", invoke_skills=named)
        with CaptureQueriesContext(connection) as asked:
            get(client, path(held, "edit/"))
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_skills_and_profiles_are_picked_and_a_calendar_gives_the_scope(browser_of: Browser, who: People) -> None:
    """G1: nothing but the words has to be typed."""
    first, second = skill(who.alice, "first"), skill(who.alice, "second")
    client = browser_of("alice")
    fields = form(get(client, "/agents/new/"), "/agents/new/")
    assert [each["value"] for each in fields.all("input", name="invoke_skills_ticked")] == ["first", "second"]
    assert [each["value"] for each in fields.all("input", name="model_profile")][:2] == ["", "simulated"]
    assert fields.id("start_time")["type"] == "datetime-local"
    written(
        client,
        text="Go.",
        model_profile="simulated",
        invoke_skills_ticked=["second"],
        invoke_skills="first 1",
        start_time="2026-05-12T08:00",
    )
    stored = Agent.objects.get()
    assert stored.request_template["invoke_skills"] == [
        {"skill_id": second.skill_id},
        {"skill_id": first.skill_id, "version": 1},
    ]
    assert stored.request_template["analysis_scope"] == {"start_time": 1778572800000000000}
    fields = form(get(client, path(stored, "edit/")), path(stored, "edit/"))
    assert [each["value"] for each in fields.all("input", name="invoke_skills_ticked", checked=True)] == ["second"]
    assert fields.id("invoke_skills").text == "first 1"
    assert fields.id("start_time")["value"] == "2026-05-12T08:00:00"


def lose_profile(held: Agent, profile: str) -> Agent:
    """The agent with a model profile that was removed from the configuration since."""
    held.request_template |= {"model_profile": profile}
    held.save()
    return held


def test_saving_an_untouched_form_changes_nothing(browser_of: Browser, who: People) -> None:
    """G5: what the form shows means what is stored, whatever it was."""
    mine, theirs = skill(who.alice), skill(who.bob, "secret", "private")
    invoked = [{"skill_id": mine.skill_id, "version": 1}, {"skill_id": theirs.skill_id}, {"skill_id": "{{skill}}"}]
    chosen = {"name": "skill", "description": None, "default": ""}
    items = [
        {"a": "a"},
        {"a": ""},
        {"at 10:30 it is": "at 10:30 it is"},
        {"a: b": "c", "d": "e\nf"},
        {"{": "x", " y": ""},
    ]
    templates: list[dict[str, Any]] = [
        {},
        {"messages": [make.say(" Two\n\nlines {{skill}} ")], "variables": [chosen]},
        {"messages": [make.say("\nBegins with a line")]},
        {"messages": [make.say("One"), make.say("Two")], "system_prompt": "  \nIndented"},
        {"messages": [], "goals": [GOAL], "variables": VARIABLES[:1]},
        {"invoke_skills": invoked, "variables": [chosen]},
        {"available_skills": [], "visibility": "org"},
        {"available_skills": [{"skill_id": mine.skill_id}]},
        {"analysis_scope": {"end_time": -1}, "client_context": {"misc_context": {"a": [1, None]}}},
        {"client_tools": [{**TOOL, "description": "x"}], "model_profile": "gone"},
        {
            "messages": [make.say("{{a}} {{b}} {{c}}")],
            "variables": [
                {"name": "a", "default": "two\nlines"},
                {"name": "b", "type": "dataset_id"},
                {"name": "c", "required": False, "default": ""},
            ],
        },
        {"goals": [{"goal_type": "checklist", "items": each} for each in items]},
        {"goals": [{"goal_type": "structured_output", "output_schema": {}}, GOAL], "variables": VARIABLES[:1]},
    ]
    client = browser_of("alice")
    for number, template in enumerate(templates):
        profile = template.pop("model_profile", None)
        held = agent(who.alice, f"A{number}", template.pop("variables", ()), **template)
        if profile:
            lose_profile(held, profile)
        before = (held.request_template, held.variables, held.name, held.description)
        submit(client, form(get(client, path(held, "edit/")), path(held, "edit/")))
        held.refresh_from_db()
        kept = {name: value for name, value in before[0].items() if value != []}
        if before[0].get("available_skills") == []:
            kept["available_skills"] = []
        assert (held.request_template, held.variables, held.name, held.description) == (kept, *before[1:]), number


@pytest.mark.parametrize(
    ("typed", "field", "reason"),
    [
        ({"name": ""}, "name", "one line"),
        ({"name": "taken"}, "name", "is taken"),
        (rows([("structured_output", "{]")]), "goal-1", "line 1, column 2"),
        (rows([("wish", "{}")]), "goal-1", "must be one of checklist"),
        (rows([("structured_output", "")]), "goal-1", "output_schema: is missing"),
        (rows([("checklist", "a: b"), ("checklist", "a: b\na: c")]), "goal-2", "The item a is listed twice"),
        (rows([("checklist", "a: " + "b" * 501)]), "goal-1", "items.a: "),
        (rows([("structured_output", "[]")]), "goal-1", "JSON object"),
        (rows([("structured_output", '{"instruction": "\\u0000"}')]), "goal-1", "NUL"),
        (rows([("checklist", f"a: {at}") for at in range(6)]), "goal-6", "at most 5"),
        ({"client_tools": '[\n  {"name": "x y"}\n]'}, "client_tools", "client_tools.0.name"),
        ({"client_tools": json.dumps([{**TOOL, "input_schema": {"type": 7}}])}, "client_tools", "input_schema"),
        ({"client_tools": json.dumps([{**TOOL, "name": "calculate"}])}, "client_tools", "server tool"),
        (rows(variables=VARIABLES[:1]), "variable-1", "station is declared but not used in the template"),
        (rows(variables=[{}, {"name": "a b"}]), "variable-2", "name: "),
        (rows(variables=[{"default": "x"}]), "variable-1", "name: "),
        ({"variables_json": '[{"name": "a", "required": false}]'}, "variables_json", "default: is required"),
        ({"variables_json": "{}"}, "variables_json", "list"),
        ({"text": "x" * 1_000_001}, "text", "1,000,000"),
        ({"text": ""}, "", "At least one of"),
        ({"messages": json.dumps([make.say("Hi")])}, "messages", "The request above is filled in too"),
        ({"invoke_skills": "nothing 2"}, "invoke", "no skill 'nothing'"),
        ({"available": "listed", "available_skills": "nothing"}, "available", "no skill 'nothing'"),
        ({"start_time": "yesterday"}, "start", "is not a time"),
        ({"start_time": "2026-05-13", "end_time": "2026-05-12"}, "start", "start_time must not be after end_time"),
        ({"client_context": "[]"}, "client_context", "JSON object"),
        ({"system_prompt": "a\x00b"}, "prompt", "NUL"),
        ({"description": "x" * 20_001}, "summary", "20,000"),
    ],
)
def test_what_cannot_be_saved_is_kept_whole_and_named_beside_its_field(
    browser_of: Browser, who: People, typed: dict[str, Any], field: str, reason: str
) -> None:
    agent(who.alice, "taken")
    client = browser_of("alice")
    given = {"name": "One", "text": "Go.", "system_prompt": "Be plain.", "model_profile": "simulated", **typed}
    page = dom(
        written(client, 409 if typed == {"name": "taken"} else 400, **given), 409 if "taken" in given["name"] else 400
    )
    said = page.id(f"{field}-wrong") if field else page.one(role="alert")
    assert reason in said.words, said.words
    kept = form(page, "/agents/new/").fields()
    for name, value in given.items():
        # A blank row is added where none was left.
        assert kept[name][: len(value)] == value if isinstance(value, list) else kept[name] == [value]
    assert Agent.objects.count() == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{who}}", "{{who}} was added to Variables below. Check it, then save again."),
        ("{{b}} {{a}}", "{{a}} and {{b}} were added to Variables below. Check them, then save again."),
        (
            "".join(f"{{{{{letter}}}}}" for letter in "abcdefghij"),
            "{{a}}, {{b}}, {{c}}, {{d}}, {{e}}, {{f}}, {{g}}, {{h}} and 2 more were added to Variables below."
            " Check them, then save again.",
        ),
    ],
)
def test_names_that_the_template_uses_get_rows_and_saving_again_declares_them(
    browser_of: Browser, who: People, text: str, said: str
) -> None:
    """Help, and no error of what was typed."""
    client = browser_of("alice")
    typed = {"name": "One", "text": "{{city}}", **rows(variables=[{"name": "city"}, {}])}
    page = dom(written(client, 400, **typed, system_prompt=f"Hello {text}"), 400)
    notice = page.one(role="alert")
    assert (notice["data-tone"], notice.words) == ("warn", said)
    assert page.none(class_="wrong") and page.none(aria_invalid="true")
    focused = page.one(autofocus=True)
    assert (focused["id"], f"{{{{{focused['value']}}}}}") == (
        "variable-2",
        said[:5] if "who" not in said else "{{who}}",
    )
    assert notice.one("a")["href"] == "#variable-2"
    assert submit(client, form(page, "/agents/new/")).status_code == 302
    assert [each["name"] for each in Agent.objects.get().variables][:2] == ["city", focused["value"]]


def test_a_row_is_added_without_a_script_and_keeps_all_that_was_typed(browser_of: Browser, who: People) -> None:
    held = opening(who.alice, goals=[GOAL])
    client, edit = browser_of("alice"), path(held, "edit/")
    page = get(client, edit)
    typed = {"text": "Kept {{x}}", "variable_name": ["station", "", "x"], **{"goal_text": ["a: b", ""]}}
    page = dom(submit(client, form(page, edit), "variables", **typed))
    kept = form(page, edit).fields()
    assert (kept["text"], kept["variable_name"]) == (["Kept {{x}}"], ["station", "", "x", ""])
    assert page.id("variable-4").has("autofocus") and page.none(role="alert")
    page = dom(submit(client, form(page, edit), "goals", **typed))
    assert form(page, edit).fields()["goal_text"] == ["a: b", "", ""]
    assert [each["name"] for each in Agent.objects.get().variables] == ["station", "tone"], "and nothing is saved"
    assert form(page, edit).all("button")[0].get("name") is None, "Enter in a field saves and adds no row"
    started = get(client, "/agents/new/")
    page = dom(submit(client, form(started, "/agents/new/"), "variables", name=""))
    assert page.none(role="alert") and len(page.all("input", name="variable_name")) == 2


def test_a_goal_and_a_variable_are_taken_away(browser_of: Browser, who: People) -> None:
    schema = {"goal_type": "structured_output", "output_schema": {}}
    held = opening(who.alice, goals=[GOAL, schema])
    client, edit = browser_of("alice"), path(held, "edit/")
    page = form(get(client, edit), edit)
    assert page.fields()["goal_type"] == ["checklist", "structured_output", "checklist"]
    typed = {"goal_type": ["checklist", "none", "checklist"], "variable_name": ["station", "", ""]}
    blank = {"variable_description": ["Its name", "", ""], "variable_default": ["", "", ""]}
    submit(client, page, text="Open {{station}}.", **typed, **blank)
    held.refresh_from_db()
    assert held.request_template["goals"] == [GOAL] and [each["name"] for each in held.variables] == ["station"]


def test_a_row_that_was_asked_for_hides_no_change_of_somebody_else(browser_of: Browser, who: People) -> None:
    held = agent(who.alice)
    alice, bob, edit = browser_of("alice"), browser_of("bob"), path(held, "edit/")
    page = get(bob, edit)
    submit(alice, form(get(alice, edit), edit), description="By Alice.")
    page = dom(submit(bob, form(page, edit), "goals"))
    assert "since you opened it" in dom(submit(bob, form(page, edit)), 412).one(role="alert").words


def test_everything_that_cannot_be_read_is_named_at_once(browser_of: Browser, who: People) -> None:
    typed = rows([("structured_output", "{")])
    page = dom(written(browser_of("alice"), 400, text="Go.", **typed, client_tools="{", end_time="x"), 400)
    assert {node["id"] for node in page.all(class_="wrong")} == {"goal-1-wrong", "client_tools-wrong", "end-wrong"}
    links = [link["href"] for link in page.one(role="alert").all("a")]
    assert links and all(page.id(link[1:]).get("aria-invalid") == "true" for link in links), "each leads to its field"


def test_the_examples_beside_the_fields_can_be_saved_as_they_stand(browser_of: Browser, who: People) -> None:
    client = browser_of("alice")
    page = get(client, "/agents/new/")
    fields = ("client_tools", "variables_json", "messages", "client_context", "goals")
    samples = {name: page.id(f"{name}-sample").one("pre").text for name in fields}
    given = rows([("structured_output", samples.pop("goals"))], [{"name": "station"}])
    written(client, **samples, **given, system_prompt="Look at {{flights}}.")
    stored = Agent.objects.get()
    assert stored.request_template["goals"][0]["goal_type"] == "structured_output"
    assert [each["type"] for each in stored.variables] == ["string", "collection_id"]


def test_two_people_editing_one_agent(browser_of: Browser, who: People) -> None:
    """The second is told, keeps what they typed, and may insist."""
    held = agent(who.alice)
    alice, bob = browser_of("alice"), browser_of("bob")
    edit = path(held, "edit/")
    first, second = (form(get(client, edit), edit) for client in (alice, bob))
    assert submit(alice, first, description="By Alice.")["Location"] == path(held)
    page = dom(submit(bob, second, text="By Bob."), 412)
    assert "since you opened it" in page.one(role="alert").words and page.id("text").text == "By Bob."
    held.refresh_from_db()
    assert held.description == "By Alice."
    assert submit(bob, form(page, edit)).status_code == 302
    held.refresh_from_db()
    assert held.request_template["messages"] == [make.say("By Bob.")] and held.modified_by == who.bob.user


def test_deleting_an_agent_leaves_its_threads(browser_of: Browser, who: People) -> None:
    """G6."""
    held, client = agent(who.alice), browser_of("bob")
    submit(client, form(get(client, path(held, "launch/")), path(held, "launch/")))
    assert submit(client, form(get(client, path(held)), path(held, "delete/")))["Location"] == "/agents/"
    assert not Agent.objects.exists()
    assert Thread.objects.get().created_from_agent_id == held.agent_id
    assert "Threads launched from it are kept" in get(client, "/agents/").id("notes").words


def test_launching_fills_the_variables_and_lands_on_the_thread(browser_of: Browser, who: People) -> None:
    """G7, B158 to B160: the launch's visibility wins, and of the scope each end that it sets."""
    scope = {"start_time": 5, "end_time": 1778572800000000000}
    held = opening(who.alice, goals=[GOAL], client_tools=[TOOL], analysis_scope=scope, visibility="private")
    client = browser_of("bob")
    page = get(client, path(held, "launch/"))
    start = form(page, path(held, "launch/"))
    assert start.fields()["visibility"] == ["private"], "as the template says"
    assert [node["name"] for node in start.all("textarea")] == ["value.station", "value.tone"]
    assert start.one("textarea", name="value.tone").text == "plain"
    assert [label.words for label in start.all("label")][:2] == ["station", "tone optional"], "named as in the template"
    assert start.id("readers-hint").words == "It cannot be changed later: acme does not allow it."
    assert "nanoseconds" not in start.words, "a calendar takes none"
    odd = dom(submit(client, start, start_time="12", **{"value.station": ""}), 400)
    assert "nanoseconds since 1970" in odd.id("scope-hint").words and odd.id("start_time").get("type") is None
    assert start.one("textarea", name="value.station").has("required")
    assert "Its name" in start.words
    sent = {"value.station": "Rope\r\nWalk", "visibility": "org", "start_time": "2026-05-11"}
    answer = submit(client, start, **sent)
    thread = Thread.objects.get()
    assert answer["Location"] == f"/threads/{thread.thread_id}/?write"
    assert (thread.created_by, thread.visibility, thread.org) == (who.bob.user, "org", who.acme)
    assert thread.created_from_agent_id == held.agent_id
    assert thread.analysis_scope == {"start_time": 1778457600000000000, "end_time": 1778572800000000000}
    assert Goal.objects.get().goal_data["items"] == {"power": "Rope\nWalk has power"}
    assert ClientTool.objects.get().description == "Show Rope\nWalk."
    make.run_turns(thread)
    shown = get(client, answer["Location"]).one("article", data_voice="person")
    assert shown.one(class_="written").words == "Open Rope Walk, plain."
    listed = get(client, next(link["href"] for link in get(client, path(held)).all("a") if "launched" in link.words))
    assert len(listed.all("th", class_="title")) == 1


def test_an_optional_variable_may_be_emptied(browser_of: Browser, who: People) -> None:
    held, client = opening(who.alice), browser_of("alice")
    start = form(get(client, path(held, "launch/")), path(held, "launch/"))
    submit(client, start, **{"value.station": "Here", "value.tone": ""})
    assert Thread.objects.get().title == "Open Here, ."


@pytest.mark.parametrize(
    ("typed", "field", "reason"),
    [
        ({"value.station": ""}, "wrong-1", "is required"),
        ({"value.station": " \r\n"}, "wrong-1", "is required"),
        ({"value.station": "a\x00b"}, "wrong-1", "NUL"),
        ({"start_time": "soon"}, "start-wrong", "is not a time"),
        ({"start_time": "2026-05-13", "end_time": "2026-05-12"}, "start-wrong", "must not be after"),
        ({"end_time": "2026-05-12"}, "", "must not be after"),
        ({"visibility": "public"}, "", "org"),
    ],
)
def test_what_cannot_be_launched_is_kept_and_named(
    browser_of: Browser, who: People, typed: dict[str, str], field: str, reason: str
) -> None:
    held = opening(who.alice, analysis_scope={"start_time": 1778659200000000000})
    client = browser_of("alice")
    start = form(get(client, path(held, "launch/")), path(held, "launch/"))
    given = {"value.station": "Rope Walk", "value.tone": "short", **typed}
    page = dom(submit(client, start, **given), 400)
    said = page.id(field) if field else page.one("main")
    assert reason in said.words
    kept = form(page, path(held, "launch/")).fields()
    assert {name: kept.get(name) for name in given if name != "visibility"} == {
        name: [value] for name, value in given.items() if name != "visibility"
    }
    assert not Thread.objects.exists()


def test_what_a_launch_finds_missing_is_said(browser_of: Browser, who: People) -> None:
    """B153: a skill that was deleted, a profile that is no more."""
    client = browser_of("alice")
    missing = agent(who.alice, "One", invoke_skills=[{"skill_id": "sk_gone"}])
    for held, reason in ((missing, "sk_gone"), (lose_profile(agent(who.alice, "Two"), "lost"), "lost")):
        page = dom(submit(client, form(get(client, path(held, "launch/")), path(held, "launch/"))), 400)
        assert reason in page.one(role="alert").words


def test_hostile_text_stays_text_on_every_agent_page(browser_of: Browser, who: People) -> None:
    tool = {"name": "show", "description": HOSTILE, "input_schema": {"title": HOSTILE}}
    goal = {"goal_type": "checklist", "items": {"x": HOSTILE}}
    said = make.say(f"{HOSTILE} [x](javascript:alert(3)) {{{{v}}}}")
    variables = [{"name": "v", "description": HOSTILE, "default": HOSTILE}]
    held = agent(
        who.alice, HOSTILE, variables, messages=[said], system_prompt=HOSTILE, goals=[goal], client_tools=[tool]
    )
    client = browser_of("alice")
    for address in ("/agents/", f"/agents/?q={HOSTILE}", *(path(held, place) for place in ("", "edit/", "launch/"))):
        assert get(client, address).none("img"), address  # refuses inline scripts, handlers and foreign addresses
    assert get(client, path(held)).one("h1").text == HOSTILE


@pytest.mark.parametrize("place", ["", "edit/", "launch/", "delete/"])
def test_an_agent_is_its_orgs(browser_of: Browser, who: People, place: str) -> None:
    """G2, G5 to G7: every member may; strangers and admins of elsewhere know of none; nobody is sent to sign in."""
    held = agent(who.alice)
    before = list(Agent.objects.values())
    for name in ("eve", "admin"):
        client = browser_of(name)
        if place != "delete/":
            get(client, path(held, place), 404)
        if place:
            dom(client.post(path(held, place), {"name": "x", "text": "y"}), 404)
    if place:
        assert browser_of(None).post(path(held, place))["Location"].startswith("/signin/")
    assert list(Agent.objects.values()) == before and not Thread.objects.exists()
    for name in ("alice", "bob"):
        if place != "delete/":
            get(browser_of(name), path(held, place))
    if place:
        assert browser_of("bob").post(path(held, place), {"name": "x", "text": "y"}).status_code == 302


@pytest.mark.parametrize(
    "number", [0, 1, -1, 1735689600000000001, 10**25, -(10**25), -62135596800 * 10**9, 2024, 20240101]
)
def test_an_instant_is_read_as_it_is_shown(number: int) -> None:
    assert instants.nanoseconds(instants.instant(number)) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2026-05-12T08:00Z", 1778572800 * 10**9),
        ("2026-05-12 08:00", 1778572800 * 10**9),
        (" 2026-05-12T10:00:00.5+02:00 ", 1778572800 * 10**9 + 500_000_000),
        ("1778572800000000000", 1778572800 * 10**9),
    ],
)
def test_an_instant_may_be_written_in_many_ways(text: str, number: int) -> None:
    assert instants.nanoseconds(text) == number


def changed(person: Person, held: Agent, **values: Any) -> Agent:
    """The agent after a change of it."""
    return agents.update(person.actor, held, AgentPatch(**values))


def test_an_agent_shows_its_versions_and_each_of_them(browser_of: Browser, who: People) -> None:
    held = agent(who.alice, system_prompt="Be brief.")
    template = {"messages": [make.say("Go.")], "system_prompt": "Be thorough."}
    changed(who.bob, held, request_template=template, name="Opening hours")
    client = browser_of("alice")
    page = get(client, path(held))
    assert "version 2 of 2" in page.text and "Be thorough." in page.text and "Be brief." not in page.text
    assert page.one("a", href=path(held, "?version=1")).text == "version 1"
    assert page.one("a", aria_current="true").text == "version 2"
    old = get(client, path(held, "?version=1"))
    assert "Be brief." in old.text and "This is version 1." in old.text
    assert old.one("h1").text == "Opening" and "Launch" not in [each.text for each in old.all("a")]
    assert client.get(path(held, "?version=3")).status_code == 404
    assert client.get(path(held, "?version=x")).status_code == 404


def test_a_version_says_what_came_of_it(browser_of: Browser, who: People) -> None:
    """Its threads that the reader sees, and for those who handle reports the ratings; each leads to just these."""
    held = agent(who.alice)
    add_member(who.acme, who.admin.user)

    def rated(of: Agent, sentiment: str, **body: Any) -> None:
        record = agents.launch(who.alice.actor, of, LaunchIn(**body))
        make.run_turns()
        make.rating(who.alice, Thread.objects.get(key=record.thread_id.removeprefix("ags_")), sentiment=sentiment)

    rated(held, "negative", visibility="private")
    rated(held, "positive")
    rated(held, "negative")
    changed(who.bob, held, description="New.")
    rated(agents.agent_for(who.bob.actor, held.agent_id), "positive")
    changed(who.bob, held, description="Newer.")

    def told(name: str) -> list[str]:
        lines = get(browser_of(name), path(held)).one("section", aria_labelledby="versions").all("li")
        return [line.one("small").words if line.all("small") else "" for line in lines]

    assert told("admin") == ["", "1 thread · 0 of 1 rating negative", "3 threads · 2 of 3 ratings negative"]
    assert told("alice") == ["", "1 thread", "3 threads"]
    assert told("bob")[2] == "2 threads", "one is private"
    line = get(browser_of("admin"), path(held)).one("section", aria_labelledby="versions").all("li")[2]
    threads, ratings = (link["href"] for link in line.one("small").all("a"))
    assert len(get(browser_of("alice"), threads).all("th", class_="title")) == 3
    assert len(get(browser_of("admin"), ratings).all(class_="rep")) == 3


def test_what_changed_between_two_versions_is_told_by_field(browser_of: Browser, who: People) -> None:
    held = agent(who.alice, system_prompt="Be brief.\nBe kind.")
    template = {"messages": [make.say("Go, {{station}}.")], "system_prompt": "Be brief.\nBe exact."}
    changed(who.bob, held, request_template=template, variables=[{"name": "station"}])
    changed(who.bob, held, description=None)
    client = browser_of("alice")
    page = get(client, path(held, "compare/?from=1&to=2"))
    assert [each.text for each in page.all("h2")][:3] == ["Request", "System prompt", "Variables"]
    assert "3 fields changed" in page.text
    prompt = page.one("section", aria_labelledby="system_prompt")
    assert (prompt.one("del").text, prompt.one("ins").text) == ("kind", "exact")
    world = {**template, "world_id": "wld_01m8qjq9rxedyaj3e5bp1ykkcs"}
    held.versions.filter(version=3).update(request_template=world)
    assert "World" in [each.text for each in get(client, path(held, "compare/")).all("h2")]
    held.versions.filter(version=3).update(request_template=held.versions.get(version=2).request_template)
    latest = get(client, path(held, "compare/"))
    assert "From version 2 to version 3" in latest.text and "1 field changed" in latest.text
    assert "They are the same." in get(client, path(held, "compare/?from=2&to=2")).text
    for wrong in ("?from=9", "?to=x", "?to=0"):
        assert client.get(path(held, f"compare/{wrong}")).status_code == 404


def test_a_version_is_restored_with_a_button_unless_somebody_changed_it_meanwhile(
    browser_of: Browser, who: People
) -> None:
    held = agent(who.alice)
    changed(who.bob, held, description="Worse.")
    client = browser_of("alice")
    page = get(client, path(held, "?version=1"))
    changed(who.bob, agents.agent_for(who.bob.actor, held.agent_id), description="Worse still.")
    refused = submit(client, form(page, path(held, "restore/")), version="1")
    told = get(client, refused["Location"])
    assert "was changed since you opened it" in told.text and "This is version 1." in told.text
    done = submit(client, form(told, path(held, "restore/")), version="1")
    assert "Version 1 is back, as version 4." in get(client, done["Location"]).text
    assert Agent.objects.get().description == "What Opening is for."
    again = client.post(path(held, "restore/"), {"version": "1"})
    assert "Version 1 is what the agent is now." in get(client, again["Location"]).text
    assert client.post(path(held, "restore/"), {"version": "77"}).status_code == 404


def test_a_thread_says_which_version_it_was_launched_from(browser_of: Browser, who: People) -> None:
    held = agent(who.alice)
    first = agents.launch(who.alice.actor, held, LaunchIn()).thread_id
    client = browser_of("bob")
    assert "version" not in get(client, f"/threads/{first}/").one(class_="lead").text
    changed(who.bob, held, description="New.")
    now = agents.agent_for(who.bob.actor, held.agent_id)
    second = agents.launch(who.alice.actor, now, LaunchIn()).thread_id
    page = get(client, f"/threads/{first}/")
    assert page.one("a", href=path(held, "?version=1")).text == "version 1"
    assert page.one("a", href=path(held, "compare/?from=1")).text == "changed since"
    latest = get(client, f"/threads/{second}/")
    assert latest.one("a", href=path(held, "?version=2")).text == "version 2"
    assert "changed since" not in latest.text


def test_the_page_of_an_agent_with_many_versions_asks_no_more(browser_of: Browser, who: People) -> None:
    held, client = agent(who.alice), browser_of("alice")

    def asked() -> int:
        with CaptureQueriesContext(connection) as captured:
            get(client, path(held))
        return len(captured)

    asked()
    few = asked()
    for at in range(25):
        changed(who.bob, held, description=str(at))
    assert asked() == few
    listed = get(client, path(held)).one("section", aria_labelledby="versions").all("li")
    assert len(listed) == 20 and listed[0].text.startswith("version 26")
    assert len(get(client, path(held, "compare/")).all("option")) == 2 * 26
