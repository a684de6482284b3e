"""axe-core finds nothing, on any screen, light and dark, wide and narrow."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page

from tests import live
from tests.e2e.visiting import Heddle, Visit

pytestmark = [pytest.mark.browser, pytest.mark.live]
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
}
SAID = "# Head\n\n1. one\n2. `two`\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n> quoted\n\n```\ncode\n```\n\n[a link](https://a.test/)"
GOAL = {"goal_type": "dataset_summary", "dataset_id": "ds_1"}


@pytest.fixture(scope="module")
def places(heddle: Heddle) -> dict[str, str]:
    """A thread with every kind of part in it, a running one, and a report."""
    calls = '[[call calculate {"expression": "1"}]] [[call calculate {"expression": "1/0"}]]'
    rich = heddle.start("alice", f"{SAID}\n\n{calls}", visibility="org", goals=[GOAL])
    message = {"message": {"role": "user", "content": [{"text": "[[fail]]"}]}}
    heddle.call("alice", "POST", f"threads/{rich}/messages", message)
    last = len(heddle.settled("alice", rich)["messages"]) - 1
    heddle.rate("alice", rich, last, notes="Bad", categories=["slow"])
    heddle.rate("bob", rich, last, "positive")
    heddle.start("alice", "Go on. [[words 5000]] [[pace 0.2]]", wait=False)
    reports = heddle.call("admin", "GET", f"admin/feedback?thread_id={rich}")["items"]
    check = heddle.call("admin", "PUT", f"admin/feedback/{reports[1]['feedback_id']}/check", {})["check_id"]
    batch = heddle.call("admin", "POST", f"admin/checks/{check}/runs", {"times": 3})["batch_id"]
    run = heddle.call("admin", "GET", f"admin/checks/batches/{batch}?wait=30")["runs"][0]
    waiting = heddle.start(
        "alice",
        "[[call remember {}]]",
        client_tools=[{"name": "remember", "description": "x", "input_schema": {"type": "object"}}],
    )
    path = f"admin/feedback/{reports[0]['feedback_id']}/comments"
    own = heddle.call("admin", "POST", path, {"text": "@bea see https://heddle.test/a and the rest"})["comment_id"]
    gone = heddle.call("admin", "POST", path, {"text": "x"})["comment_id"]
    heddle.call("admin", "DELETE", f"{path}/{gone}")
    heddle.call("bea", "POST", path, {"text": "word\n" * 40})
    return {
        "rich": rich,
        "comment": own,
        "last": str(last),
        "report": reports[0]["feedback_id"],
        "batch": batch,
        "run": run["run_id"],
        "rerun": run["thread_id"],
        "waiting": waiting,
        "skill": written_skill(heddle),
        "agent": written_agent(heddle),
        **failing_webhook(heddle),
        "world": played_world(heddle),
        "tool": imported_tool(heddle),
    }


def imported_tool(heddle: Heddle) -> str:
    """A tool with two versions, everything that a form has fields for, and a call that failed."""
    token, url = heddle.server.token("alice"), f"{heddle.url}/v1/catalogue/tools"
    kinds = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"enum": ["x"]}, "c": {"type": "number"}}}
    hints = {"destructiveHint": True}
    for schema in ({"type": "object"}, {**kinds, "required": ["a"]}):
        tool = {"name": "axe", "description": SAID, "inputSchema": schema, "annotations": hints}
        body = {"dialect": "mcp", "server": "axe", "tool": tool}
        assert live.fetch(f"{url}/import", token, body)[0] == 200
    assert live.fetch(f"{url}/axe__axe/call", token, {"arguments": {"a": "x"}})[0] == 200
    status, answer = live.fetch(f"{url}/demo__echo/call", token, {"arguments": {"message": "x"}})
    assert status == 200, answer
    return str(answer["data"]["call_id"])


def written_skill(heddle: Heddle) -> str:
    """A skill with two versions."""
    token, url = heddle.server.token("alice"), f"{heddle.url}/v1/skills"
    text = {"description": "What for.", "body": SAID, "relevant_topics": ["a topic"]}
    body = {**text, "name": "axe", "accessibility": "org", "tags": ["a tag"]}
    status, answer = live.fetch(f"{url}/create", token, body)
    assert status == 200, answer
    skill_id = str(answer["data"]["skill_id"])
    again = {**text, "body": SAID.replace("one", "eins")}
    assert live.fetch(f"{url}/id/{skill_id}/versions", token, again)[0] == 200
    return skill_id


def written_agent(heddle: Heddle) -> str:
    """An agent with everything that its pages show."""
    message = {"role": "user", "content": [{"text": "About {{it}}"}]}
    tool = {"name": "remember", "description": "x", "input_schema": {"type": "object"}}
    template = {"messages": [message], "system_prompt": SAID, "goals": [GOAL], "client_tools": [tool]}
    body = {"name": "axe", "request_template": template, "variables": [{"name": "it", "description": "What"}]}
    return str(heddle.call("alice", "POST", "agents", body)["agent_id"])


def failing_webhook(heddle: Heddle) -> dict[str, str]:
    """A webhook where nobody answers, with a test in its log."""
    token, url = heddle.server.token("admin"), f"{heddle.url}/v1/webhooks"
    status, answer = live.fetch(url, token, {"url": "http://127.0.0.1:9/", "events": ["feedback.submitted"]})
    assert status == 200, answer
    webhook_id = str(answer["data"]["webhook_id"])
    status, answer = live.fetch(f"{url}/{webhook_id}/test", token, {})
    assert status == 200, answer
    return {"webhook": webhook_id, "delivery": str(answer["data"]["delivery_id"])}


def played_world(heddle: Heddle) -> str:
    """A world that remembers something, with a call that failed."""
    token, url = heddle.server.token("alice"), f"{heddle.url}/v1/catalogue/worlds"
    status, answer = live.fetch(url, token, {"mode": "stateful", "tools": ["demo__echo"]})
    assert status == 200, answer
    world_id = str(answer["data"]["world_id"])
    tool = {"name": "create_note", "description": "", "parameters": {"type": "object"}, "returns": {"type": "object"}}
    assert live.fetch(f"{url}/{world_id}/tools", token, {"dialect": "rdk", "tool": tool})[0] == 200
    for name in ("create_note", "demo__echo"):
        assert live.fetch(f"{url}/{world_id}/call", token, {"tool": name, "input": {}})[0] == 200
    return world_id


def findings(page: Page, axe: str) -> list[dict[str, Any]]:
    page.evaluate(axe + "; scrollTo(0, 0)")
    found = page.evaluate("rules => axe.run(document, rules)", RULES)["violations"]
    return [
        {
            "rule": each["id"],
            "where": [(node["html"][:160], node["failureSummary"][-200:]) for node in each["nodes"]][:3],
        }
        for each in found
    ]


def but_for_covered(page: Page, axe: str) -> list[dict[str, Any]]:
    """What lies half under an open menu on a phone is too small to hit until the menu is closed."""
    return [each for each in findings(page, axe) if each["rule"] != "target-size"]


SCREENS = {
    "alice": [
        "/go/?q=t",
        "/threads/",
        "/threads/?q=colour:red",
        "/threads/?q=zzzzzz",
        "/threads/?view=answering",
        "/threads/start/",
        "/threads/import/",
        "/threads/{rich}/",
        "/threads/{waiting}/",
        "/threads/{rich}/messages/{last}/rate/?sentiment=negative",
        "/threads/{rich}/messages/{last}/retract/",
        "/threads/{rich}/rerun/",
        "/catalogue/",
        "/catalogue/?q=zzzzzz",
        "/catalogue/import/",
        "/catalogue/tools/axe__axe/",
        "/catalogue/tools/axe__axe/?version=1",
        "/catalogue/tools/axe__axe/compare/?from=1&to=2",
        "/catalogue/tools/axe__axe/export/?dialect=openai",
        "/catalogue/tools/demo__echo/?call={tool}",
        "/skills/",
        "/skills/?q=zzzzzz",
        "/skills/new/",
        "/skills/{skill}/",
        "/skills/{skill}/?version=1",
        "/skills/{skill}/compare/?from=1&to=2",
        "/skills/{skill}/write/",
        "/skills/{skill}/change/",
        "/agents/",
        "/agents/new/",
        "/agents/{agent}/",
        "/agents/{agent}/edit/",
        "/agents/{agent}/launch/",
        "/threads/start/?skill={skill}",
        "/threads/start/?world={world}",
        "/catalogue/worlds/",
        "/catalogue/worlds/?status=expired",
        "/catalogue/worlds/new/",
        "/catalogue/worlds/{world}/",
        "/catalogue/compliance/",
        "/settings/",
        "/threads/ags_nothing/",
        "/feedback/",
        "/v1/docs/",
    ],
    "admin": [
        "/feedback/",
        "/feedback/?q=",
        "/feedback/?q=colour:red",
        "/feedback/?q=label:gone",
        "/feedback/?q=&item={report}",
        "/feedback/?q=&item={report}&pane=report",
        "/feedback/?q=is:asked&item={report}&pane=report&comment={comment}",
        "/feedback/?q=&item=fb_nothing",
        "/settings/labels/",
        "/threads/{rich}/",
        "/settings/webhooks/",
        "/settings/webhooks/{webhook}/",
        "/settings/webhooks/{webhook}/deliveries/{delivery}/",
        "/feedback/insight/",
        "/feedback/insight/?q=colour:red",
        "/feedback/checks/",
        "/feedback/checks/batches/{batch}/",
        "/feedback/checks/runs/{run}/",
        "/threads/{rerun}/compare/",
        "/feedback/?q=&item={report}&pane=talk&compare={rerun}",
        "/feedback/?q=&item={report}&pane=report&check=1",
    ],
    None: ["/signin/", "/nowhere/"],
}


@pytest.mark.parametrize("name", list(SCREENS))
@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 390)])
def test_axe_finds_nothing(
    visit: Callable[..., Visit], places: dict[str, str], axe: str, name: str | None, scheme: str, width: int
) -> None:
    narrow: dict[str, Any] = {"has_touch": True, "is_mobile": True} if width < 500 else {}
    # High enough that nothing lies under what sticks to the edges of the window.
    visitor = visit(name, color_scheme=scheme, viewport={"width": width, "height": 3000}, **narrow)
    visitor.forgive("status of 40[34]")
    page = visitor.page
    found = {}
    for path in SCREENS[name]:
        page.goto(path.format(**places))
        for unfold in page.locator("#talk .call summary, .plot summary").all():
            unfold.click()
        if wrong := findings(page, axe):
            found[path] = wrong
    assert not found, found


def test_axe_finds_nothing_in_what_opens(visit: Callable[..., Visit], places: dict[str, str], axe: str) -> None:
    """The rating form with its errors, menus, the sheet of keys, a token just made, a note of an action."""
    visitor = visit("alice", viewport={"width": 1440, "height": 3000})
    visitor.forgive("status of 400")
    page = visitor.page
    page.goto("/threads/{rich}/".format(**places))
    page.locator("#acts-{last} [data-act='-']".format(**places)).click()
    page.locator("#rate-{last} [value=other]".format(**places)).check()
    page.locator("#notes-{last}".format(**places)).fill("")
    with page.expect_response("**/rate/"):
        page.locator("#rate-{last} .btn".format(**places)).first.click()
    page.locator("#notes-wrong-{last}".format(**places)).wait_for()
    assert findings(page, axe) == []
    page.locator("summary", has_text="More for this thread").click()
    assert findings(page, axe) == []
    page.keyboard.press("Escape")
    page.locator(".msg-by").first.click()
    page.keyboard.press("?")
    assert findings(page, axe) == []
    page.keyboard.press("?")
    page.keyboard.press("Control+k")
    page.locator("#places a").first.wait_for()
    assert findings(page, axe) == []
    page.goto("/catalogue/tools/axe__axe/")
    page.fill("#f2", "1")
    page.click("#try-form [value=call]")
    page.locator("#f0-wrong").wait_for()
    assert findings(page, axe) == []
    page.goto("/catalogue/import/")
    page.fill(
        "#text", '[{"name": "axe", "input_schema": {"type": "object"}}, {"name": "bad", "input_schema": {"type": "x"}}]'
    )
    page.fill("#server", "axe")
    page.click("[value=look]")
    page.locator("#plan").wait_for()
    assert findings(page, axe) == []
    page.goto("/settings/")
    page.fill("#token-name", "axe")
    page.click("button:has-text('Create token')")
    page.locator("#secret").wait_for()
    assert findings(page, axe) == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 1440), ("light", 390), ("dark", 390)])
def test_axe_finds_nothing_in_what_opens_at_the_desk(
    visit: Callable[..., Visit], places: dict[str, str], axe: str, scheme: str, width: int
) -> None:
    """Menus, ticks with the bulk's bar, a refusal beside its field, and a view that could not be kept."""
    visitor = visit("admin", color_scheme=scheme, viewport={"width": width, "height": 3000})
    visitor.forgive("status of 40[04]")
    page = visitor.page
    page.goto("/feedback/?q=&item={report}&pane=report".format(**places))
    page.locator("#triage summary", has_text="Snooze").click()
    assert findings(page, axe) == []
    page.keyboard.press("Escape")
    page.locator("#triage summary", has_text="Duplicate").click()
    page.fill("#duplicate-of", "fb_nothing")
    page.keyboard.press("Enter")
    page.locator("#duplicate-wrong").wait_for()
    assert findings(page, axe) == []
    page.goto("/feedback/?q=")
    page.locator(".rep input").first.check()
    page.locator("#bulk summary").first.click()
    assert but_for_covered(page, axe) == []
    page.keyboard.press("Escape")
    page.locator("#desk-bar summary").click()
    page.fill("#view-name", " ")
    page.locator("#desk-bar button", has_text="Save view").click()
    page.locator("#view-wrong").wait_for()
    assert but_for_covered(page, axe) == []
    page.locator("#bulk [type=reset]").click()
