"""Secrets that are shown once are what one lands on, on a desk and on a phone, with scripts and without."""

import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.test_phone import PHONE
from tests.e2e.visiting import Visit

pytestmark = [pytest.mark.browser, pytest.mark.live]
DESK = {"viewport": {"width": 1440, "height": 900}}
SCREENS = pytest.mark.parametrize("screen", [DESK, PHONE, {**PHONE, "java_script_enabled": False}])


def is_landed_on(page: Page, what: str) -> None:
    expect(page.locator(what)).to_be_in_viewport(ratio=1)
    expect(page.locator(f"*:focus {what}")).to_have_count(1)


@SCREENS
def test_a_token(visit: Callable[..., Visit], screen: dict[str, object]) -> None:
    page = visit("alice", **screen).page
    page.goto("/settings/")
    page.fill("#token-name", "laptop")
    page.click("button:has-text('Create token')")
    is_landed_on(page, "#secret")


@SCREENS
def test_the_secret_of_a_webhook(visit: Callable[..., Visit], screen: dict[str, object]) -> None:
    page = visit("admin", **screen).page
    page.goto("/settings/webhooks/")
    page.fill("#url", f"https://hooks.example.org/{time.monotonic_ns()}")
    page.locator("[name=events]").first.check()
    page.click("form .btn[data-kind=primary]")
    is_landed_on(page, "#secret")


@SCREENS
def test_the_link_of_an_invitation(visit: Callable[..., Visit], screen: dict[str, object]) -> None:
    page = visit("admin", **screen).page
    page.goto("/settings/members/")
    page.fill("[name=email]", f"new-{time.monotonic_ns()}@acme.test")
    page.click("form .btn[data-kind=primary]")
    is_landed_on(page, "#link")
