"""People with browsers, and the wire beside them."""

import re
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect

from tests import live

expect.set_options(timeout=15_000)


class Heddle:
    """The server, and what a program does with it."""

    def __init__(self, server: live.Served) -> None:
        self.server = server
        self.states: dict[tuple[str, str | None], Any] = {}
        """Signed-in sessions, so that only the tests of the door go through it."""

    @property
    def url(self) -> str:
        return self.server.url

    def call(self, name: str, method: str, path: str, body: Any = None, *, org: str | None = None) -> Any:
        """One request of a person's program; what it carries."""
        sent = {"X-Roboto-Org-Id": org} if org else {}
        status, answer = live.fetch(f"{self.url}/v1/ai/{path}", self.server.token(name), body, method, **sent)
        assert status == 200, (status, answer)
        return answer["data"]

    def start(self, name: str, text: str, *, wait: bool = True, org: str | None = None, **body: Any) -> str:
        """A thread, idle again unless told not to wait."""
        message = {"role": "user", "content": [{"text": text}]}
        thread_id = str(self.call(name, "POST", "threads", {"messages": [message], **body}, org=org)["thread_id"])
        if wait:
            self.settled(name, thread_id)
        return thread_id

    def settled(self, name: str, thread_id: str, seconds: float = 20) -> dict[str, Any]:
        """The record of a thread once nobody is working on it."""
        wait_until(lambda: self._record(name, thread_id)["status"] != "roboto_turn", seconds)
        return self._record(name, thread_id)

    def _record(self, name: str, thread_id: str) -> dict[str, Any]:
        return dict(self.call(name, "GET", f"threads/{thread_id}"))

    def imported(self, name: str, thread_id: str, messages: list[dict[str, Any]], **more: Any) -> str:
        """A conversation as another system had it."""
        body = {"format": "openai", "conversations": [{"id": thread_id, "messages": messages, **more}]}
        item = self.call(name, "POST", "threads/import", {**body, "visibility": "org"})["items"][0]
        assert item["thread_id"], item
        return str(item["thread_id"])

    def rate(self, name: str, thread_id: str, index: int, sentiment: str = "negative", **said: Any) -> None:
        self.call(name, "POST", f"threads/{thread_id}/messages/{index}/feedback", {"sentiment": sentiment, **said})


def wait_until(happened: Callable[[], bool], seconds: float = 15, *, page: Page | None = None) -> None:
    """Look until it has; the content policy forbids a page to look for itself.

    What the events of a `page` tell is only heard while Playwright waits.
    """
    ends_at = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < ends_at, f"it has not happened within {seconds} s"
        if page:
            page.wait_for_timeout(50)
        else:
            time.sleep(0.05)


def text_of(message: dict[str, Any]) -> str:
    """The words of a message on the wire."""
    return "".join(block["text"] for block in message["content"] if block["content_type"] == "text")


def squeezed(words: str) -> str:
    return " ".join(words.split())


class Visit:
    """One browser of one person, with everything it complained about."""

    def __init__(self, heddle: Heddle, browser: Browser, name: str | None, **options: Any) -> None:
        self.heddle, self.name = heddle, name
        self.forgiven: list[str] = []
        self._said: list[str] = []
        self._ahead: set[Request] = set()
        known = (heddle.url, name)
        if name and known not in heddle.states:
            heddle.states[known] = self._through_the_door(browser, name)
        self.context = browser.new_context(
            base_url=heddle.url, storage_state=heddle.states[known] if name else None, **options
        )
        self.context.set_default_timeout(8_000)
        self.page = self.tab()

    def tab(self) -> Page:
        """One more tab of this browser."""
        page = self.context.new_page()
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self._said.append(f"script: {error}"))
        page.on("requestfailed", self._fail)
        page.on("request", self._leave)
        page.on("requestfinished", lambda request: self._ahead.discard(request))
        return page

    def wait_until_fetched_ahead(self) -> None:
        """The desk has what it fetches ahead of its reader."""
        self.page.wait_for_timeout(300)
        wait_until(lambda: not self._ahead, page=self.page)

    def forgive(self, *patterns: str) -> None:
        """What this journey brings about on purpose."""
        self.forgiven += patterns

    def complaints(self) -> list[str]:
        return [said for said in self._said if not any(re.search(each, said) for each in self.forgiven)]

    def _hear(self, message: ConsoleMessage) -> None:
        # A focus that the browser refused is told as a mere remark.
        if message.type in ("error", "warning") or "already has a focused element" in message.text:
            self._said.append(f"console: {message.text}")

    def _fail(self, request: Request) -> None:
        # A line that is left with its page, or a request that a newer one replaces, is no failure.
        self._ahead.discard(request)
        if request.failure != "net::ERR_ABORTED":
            self._said.append(f"failed: {request.method} {request.url} {request.failure}")

    def _leave(self, request: Request) -> None:
        if "heddle-part" in request.headers:
            self._ahead.add(request)
        if urlsplit(request.url).netloc not in ("", urlsplit(self.heddle.url).netloc):
            self._said.append(f"foreign: {request.url}")

    def _through_the_door(self, browser: Browser, name: str) -> Any:
        context = browser.new_context(base_url=self.heddle.url)
        page = context.new_page()
        page.goto("/signin/")
        page.fill("#email", self.heddle.server.who["emails"][name])
        page.fill("#password", self.heddle.server.who["passwords"][name])
        page.click("form button")
        page.wait_for_url("**/threads/")
        state = context.storage_state()
        context.close()
        return state


def sideways(page: Page) -> int:
    """By how many pixels the page is wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


SPACED = "* { letter-spacing: 0.12em !important; word-spacing: 0.16em !important; line-height: 1.5 !important }"
"""Letters as far apart as a reader may set them (WCAG 1.4.12)."""


def restyle(page: Page, style: str) -> None:
    """Show the page in a reader's own style."""
    page.evaluate(
        """style => {
          document.adoptedStyleSheets = [new CSSStyleSheet()];
          document.adoptedStyleSheets[0].replaceSync(style);
        }""",
        style,
    )


def articles(page: Page) -> Iterator[str]:
    """What is said in each article of the transcript, in order."""
    for body in page.locator("#talk .msg[data-index] > .msg-body").all():
        yield squeezed(" ".join(body.locator(".prose").all_inner_texts()))
