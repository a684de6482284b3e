"""docs/worlds.md: what its commands lead to is what it says."""

import json
import re
from pathlib import Path

import pytest

from catalogue.results import CODES
from catalogue.worlds.failing import CODES as FAILURES
from catalogue.worlds.failing import failure_at

GUIDE = (Path(__file__).resolve().parents[2] / "docs/worlds.md").read_text()
BODIES = [json.loads(body) for body in re.findall(r" -d '(\{.*?\})'", GUIDE, re.DOTALL)]
WORLD = BODIES[0]
pytestmark = pytest.mark.pure


def test_every_command_is_about_tools_of_its_world():
    asked = {body["tool"] for body in BODIES if "tool" in body}
    told = {each["tool"] for body in BODIES for each in body.get("fixtures", [])}
    assert asked | told == set(WORLD["tools"])


def test_the_seventh_call_is_the_first_that_fails():
    """More than the commands that it shows: a stranger's very first call once failed."""
    failed = [step for step in range(1, 10) if failure_at(WORLD["seed"], step, WORLD["failure_profile"])]
    assert failed == [7] and sum("tool" in body for body in BODIES) < 7


def test_both_kinds_of_codes_are_named():
    assert all(f"`{code}`" in GUIDE for code in (*FAILURES, *CODES))
