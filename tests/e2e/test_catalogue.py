"""A tool author pastes a spec, tries it, and sees whom the next version would break, as docs/catalogue.md tells it."""

import json
import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests import live
from tests.e2e.visiting import Heddle, Visit, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.live]
GUIDE = Path(__file__).resolve().parents[2] / "docs/catalogue.md"


@pytest.mark.parametrize("scripts", [True, False])
def test_from_pasting_to_the_version_that_would_break_a_call(visit: Callable[..., Visit], scripts: bool) -> None:
    """C1, C2, C53, C134; with and without scripts."""
    found = re.search(r"```json\n(.+?)```", GUIDE.read_text(), re.DOTALL)
    assert found is not None
    tool = json.loads(found[1])
    # New on a second try, too: what the first one imported is still there.
    tool["name"] += f"_{secrets.token_hex(3)}"
    visitor = visit("alice", java_script_enabled=scripts)
    visitor.forgive("status of 400")
    page = visitor.page
    if scripts:
        page.goto("/threads/")
        page.keyboard.press("g")
        page.keyboard.press("c")
        page.wait_for_url("**/catalogue/")
    else:
        page.goto("/catalogue/")
    page.click("text=Import tools")
    page.fill("#text", json.dumps(tool))
    page.fill("#server", "shop")
    page.click("[value=look]")
    expect(page.locator(".hist li").first).to_contain_text("new")
    page.click("text=Import it")
    expect(page.locator("h1")).to_have_text(tool["name"])
    assert page.evaluate("document.querySelectorAll('.grid tbody tr').length") == 2 if scripts else True

    page.fill("#f0", "12")
    page.click("#try-form [value=check]")
    expect(page.locator("#f0-wrong")).to_contain_text("Does not match")
    page.fill("#f0", "O-12")
    page.click("#try-form [value=check]")
    expect(page.locator("#try-form")).to_contain_text("The arguments are valid.")
    page.click("#try-form [value=call]")
    expect(page.locator("#run")).to_contain_text("success")
    expect(page.locator("#f0")).to_have_value("O-12")
    # What was played is no real call: a program makes one.
    path = f"/v1/catalogue/tools/shop__{tool['name']}/call"
    token = visitor.heddle.server.token("alice")
    live.fetch(f"{visitor.heddle.url}{path}", token, {"arguments": {"number": "O-12"}})

    page.goto("/catalogue/import/?server=shop")
    tool["input_schema"]["properties"]["number"]["pattern"] = "^ORDER-[0-9]+$"
    page.fill("#text", json.dumps(tool))
    page.click("[value=look]")
    expect(page.locator(".hist")).to_contain_text("The new version would reject 1 of the last 1 calls.")
    expect(page.locator(".hist")).to_contain_text('{"number":"O-12"')
    page.click("text=Import it")
    expect(page.locator("article")).to_contain_text("version 2")


def test_from_pasting_to_who_complains(visit: Callable[..., Visit]) -> None:
    """C1, C102, C134, B111: with the mouse alone, but for what is pasted and said, in far less than two minutes."""
    name = f"find_order_{secrets.token_hex(3)}"
    tool = {
        "name": name,
        "description": "Finds an order.",
        "input_schema": _of("number"),
        "output_schema": _of("state"),
    }
    page = visit("alice").page
    page.goto("/threads/")
    page.click("header >> text=Catalogue")
    page.click("text=Import tools")
    page.fill("#text", json.dumps(tool))
    page.fill("#server", "stall")
    page.click("[value=look]")
    page.click("text=Import it")
    page.fill("#f0", "O-12")
    page.click("#try-form [value=call]")
    expect(page.locator("#run")).to_contain_text("success")
    page.click("text=Open this world")
    page.click("text=Add a fixture")
    page.select_option("#fixture-1-tool", f"stall__{name}")
    page.fill("#fixture-1-output", '{"state": "lost in the post"}')
    page.click("text=Save all fixtures")
    expect(page.locator("main")).to_contain_text("1 fixture")
    page.click("main >> text=New thread")
    page.fill("#text", f'Where is O-13? [[call stall__{name} {{"number": "O-13"}}]]')
    page.click("button:has-text('Start')")
    expect(page.locator("#status")).to_have_attribute("data-status", "user_turn")
    expect(page.locator("#talk")).to_contain_text("lost in the post")
    page.locator("[aria-label='Rate message 3 negative']").click()
    page.fill("textarea[name=notes]", "It is not lost, it is late.")
    page.click("text=Send rating")
    expect(page.locator("#rate-3")).to_have_count(0)

    admin = visit("admin").page
    admin.goto(f"/catalogue/tools/stall__{name}/")
    # What a rated answer was made of is worked out within seconds.
    wait_until(lambda: "It is not lost, it is late." in ((admin.reload() and admin.inner_text("article")) or ""))


def _of(name: str) -> dict[str, Any]:
    """The schema of an object with one text in it."""
    return {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}


def test_the_form_of_a_world_is_that_of_the_tool_that_is_chosen(heddle: Heddle, visit: Callable[..., Visit]) -> None:
    """Without pressing *Choose*, too: otherwise *Call* would run the tool that was shown before."""
    worlds, token = f"{heddle.url}/v1/catalogue/worlds", heddle.server.token("alice")
    world = live.fetch(worlds, token, {"mode": "schema_only"})[1]["data"]
    for name, field in (("look_up", "place"), ("write_down", "words")):
        schema = {"type": "object", "properties": {field: {"type": "string"}}}
        tool = {"name": name, "description": "One of two.", "input_schema": schema}
        added = live.fetch(f"{worlds}/{world['world_id']}/tools", token, {"dialect": "anthropic", "tool": tool})
        assert added[0] == 200, added
    page = visit("alice").page
    page.goto(f"/catalogue/worlds/{world['world_id']}/")
    shown = page.locator("#call-form [name=tool]")
    expect(shown).to_have_value(re.compile("look_up$"))
    page.focus("#tool")
    page.keyboard.press("ArrowDown")
    expect(shown).to_have_value(re.compile("write_down$"))
    expect(page.locator("#tool")).to_be_focused()
    expect(page.locator("#call-form")).to_contain_text("words")
    page.get_by_role("button", name="Call").click()
    expect(page.locator("#answer")).to_be_focused()
