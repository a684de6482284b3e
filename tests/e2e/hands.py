"""Three ways to do the same at the pages: keys alone, mouse alone, and a browser with its scripts blocked."""

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, Route, expect

from tests.e2e.desk import WORDS, listed, notes_of
from tests.e2e.visiting import Visit


def press_until(page: Page, key: str, selector: str, times: int = 40) -> None:
    """Press a key until the focus is there."""
    for _ in range(times):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{selector} is not reached with {key}")


class Mouse:
    """Everything is clicked; the keyboard types words and nothing else."""

    options: dict[str, Any] = {}

    def __init__(self, visit: Callable[..., Visit], name: str) -> None:
        self.visitor = visit(name, **self.options)
        self.page = self.visitor.page

    def narrow(self, words: str) -> None:
        self.page.fill("#q", words)
        self.page.press("#q", "Enter")  # a query line has no button

    def open(self, words: str) -> None:
        self.page.locator(".rep a", has_text=words).click()
        expect(self.page.locator(WORDS)).to_have_text(words)

    def tick_all(self) -> None:
        for box in self.page.locator(".rep input").all():
            box.check()

    def resolve_ticked(self) -> None:
        self.page.click("#bulk [value=resolve]")

    def undo(self) -> None:
        self.page.click("#desk-status [data-key=z]")

    def snooze(self) -> None:
        self.page.click("#triage summary[data-key=h]")
        self.page.click("#triage [value='snooze 4h']")

    def wake(self) -> None:
        self.page.click("#triage [value=wake]")

    def note(self, words: str) -> None:
        self.page.fill("#admin-note", words)
        self.page.click("#triage [value=note_next]")

    def share_view(self, name: str) -> None:
        self.page.click("#desk-bar summary")
        self.page.fill("#view-name", name)
        self.page.check("text=Shared with all admins")
        self.page.click("#desk-bar button:has-text('Save view')")

    def rate(self, words: str) -> None:
        self.page.locator("#m1").hover()
        self.page.click("#acts-1 a[title*=negative]")
        self._send(words)

    def change_rating(self, words: str) -> None:
        self.page.click("#mark-1 a:has-text('Change')")
        self._send(words)

    def take_back(self) -> None:
        self.page.click("#mark-1 a:has-text('Retract')")

    def _send(self, words: str) -> None:
        self.page.check("#rate-1 [value=slow]")
        self.page.fill("#notes-1", words)
        self.page.click("#rate-1 button")


class Plain(Mouse):
    """A mouse, with scripts blocked."""

    options = {"java_script_enabled": False}

    def take_back(self) -> None:
        super().take_back()
        self.page.click("main form button")


class Keys(Mouse):
    """The mouse is never touched."""

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def narrow(self, words: str) -> None:
        self.press("/")
        self.page.keyboard.type(words)
        self.press("Enter")
        expect(self.page.locator(".query a", has_text=words)).to_be_visible()
        self.press("Escape")

    def open(self, words: str) -> None:
        """From the row that is open, if one is, up or down to that one."""
        shown = listed(self.page)
        current = self.page.locator(".rep[aria-current] a").all()
        by = shown.index(words) - (shown.index(notes_of(current[0])) if current else -1)
        for _ in range(abs(by)):
            self.press("j" if by > 0 else "k")
        expect(self.page.locator(WORDS)).to_have_text(words)

    def tick_all(self) -> None:
        for _ in range(self.page.locator(".rep").count()):
            self.press("j", "x")

    def resolve_ticked(self) -> None:
        self.press("e")

    def undo(self) -> None:
        self.press("z")

    def snooze(self) -> None:
        self.press("h", "Enter")

    def wake(self) -> None:
        self.press("h")

    def note(self, words: str) -> None:
        self.press("m", "Control+a")
        self.page.keyboard.type(words)
        self.press("Control+Enter")

    def share_view(self, name: str) -> None:
        self.press("/")
        press_until(self.page, "Tab", "#desk-bar summary")
        self.press("Enter")
        expect(self.page.locator("#view-name")).to_be_focused()  # a menu begins in its first field
        self.page.keyboard.type(name)
        self.press("Tab", "Space", "Enter")

    def rate(self, words: str) -> None:
        self.press("k", "j")
        press_until(self.page, "Tab", "#acts-1 a[title*=negative]")
        self.press("Enter")
        self._send(words)

    def change_rating(self, words: str) -> None:
        press_until(self.page, "Tab", "#mark-1 a:first-child")
        self.press("Enter")
        self._send(words)

    def take_back(self) -> None:
        press_until(self.page, "Tab", "#mark-1 a:last-child")
        self.press("Enter")

    def _send(self, words: str) -> None:
        expect(self.page.locator("#notes-1")).to_be_focused()
        self.press("Control+a")
        self.page.keyboard.type(words)
        self.press("Control+Enter")


HANDS = [Keys, Mouse, Plain]


def slow(page: Page, pattern: str | re.Pattern[str]) -> list[Route]:
    """Requests of that kind wait until they are continued. Before the page is there: what comes right behind the
    order passes by unseen.
    """
    waiting: list[Route] = []
    page.route(pattern, lambda line: waiting.append(line))
    return waiting


def sent(page: Page, waiting: list[Route]) -> Route:
    """The one that has just gone."""
    for _ in range(500):
        if waiting:
            return waiting.pop()
        page.wait_for_timeout(20)
    raise AssertionError("Nothing was sent.")
