"""The pages of the desk with 100,000 reports: what a person waits for. Last, because it loads the reports first."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from statistics import median, quantiles

from playwright.sync_api import Error, Page, Request, sync_playwright

from bench.cases.desk import filled
from bench.figures import Measured, figure
from bench.houses import House
from bench.rounds import SHRINK, p50_alone
from tests.e2e.conftest import CHROMIUM, FLAGS

_MANY, _MOST = 100_000, 1_000_000
_DESK = "/feedback/?q=is:open"
_TIMES = 80 // SHRINK
_WATCH = """() => {
    window.painted = [];
    const item = () => new URLSearchParams(location.search).get("item");
    addEventListener("keydown", () => {
        const [before, pressed] = [item(), performance.now()];
        const look = () => {
            if (item() === before) return requestAnimationFrame(look);
            const painted = new MessageChannel();
            painted.port1.onmessage = () => window.painted.push(performance.now() - pressed);
            painted.port2.postMessage(0);
        };
        requestAnimationFrame(look);
    }, true);
}"""
"""Notes how long each key takes until the next report is painted: a message sent in a frame arrives after its paint."""


@figure("desk page, 100,000 reports, p50", at_most=150, house="pages")
def desk(house: House) -> Measured:
    return _page(house, _MANY)


@figure("desk page, 100,000 reports, HTML", at_most=60, house="pages")
def desk_bytes(house: House) -> Measured:
    filled(house, _MANY)
    return Measured(len(house.desk().prepared("GET", "/feedback/")()) / 1000, "kB")


@figure("resolve with e at the desk, round trip, p95", at_most=80, house="pages")
def action(house: House) -> Measured:
    with _desk(house) as page:
        return Measured(quantiles(islice(_resolved(page), _TIMES), n=20)[-1], "ms")


@figure("the next report is painted after e, p95", at_most=80, house="pages")
def next_after_resolving(house: House) -> Measured:
    return Measured(quantiles(_painted(house, "e"), n=20)[-1], "ms")


@figure("the next report is painted after j, p50", at_most=50, house="pages")
def next_report(house: House) -> Measured:
    return Measured(median(_painted(house, "j")), "ms")


@figure("desk page, 1,000,000 reports, p50", floor="of 100,000", at_most=1.5, is_slow=True, house="a million in pages")
def desk_of_many(house: House) -> Measured:
    few = _page(house, _MANY)
    return Measured(_page(house, _MOST).value, "ms", few.value)


def _painted(house: House, key: str) -> list[float]:
    """How many milliseconds each press of a key takes until the next report is painted."""
    with _desk(house) as page:
        page.evaluate(_WATCH)
        for _ in range(_TIMES):
            _opens_another(page, key)
        page.wait_for_function(f"window.painted.length === {_TIMES}")
        return list(page.evaluate("window.painted"))


def _page(house: House, reports: int) -> Measured:
    filled(house, reports)
    return p50_alone(house.desk().prepared("GET", "/feedback/"))


@contextmanager
def _desk(house: House) -> Iterator[Page]:
    """The desk in a browser, with a report open and the next one fetched ahead."""
    filled(house, _MANY)
    if not CHROMIUM:
        raise RuntimeError("Chromium was not found")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            context = browser.new_context(base_url=house.served.url, viewport={"width": 1440, "height": 900})
            context.add_cookies([{"name": "sessionid", "value": house.admin_cookie, "url": house.served.url}])
            page = context.new_page()
            page.goto(_DESK, wait_until="networkidle")
            _opens_another(page, "j")
            yield page
        except Error as problem:
            raise RuntimeError(problem.message) from None
        finally:
            browser.close()


def _resolved(page: Page) -> Iterator[float]:
    """Resolve one report after the other; yields the milliseconds until the page with the next one is there."""
    while True:
        with page.expect_event("requestfinished", _is_triage) as answered:
            _opens_another(page, "e")
        yield answered.value.timing["responseEnd"]


def _is_triage(request: Request) -> bool:
    return request.method == "POST" and not request.url.endswith("/lease/")


def _opens_another(page: Page, key: str) -> None:
    """Press a key and read for a moment, as a person would."""
    before = page.url
    page.keyboard.press(key)
    page.wait_for_url(lambda url: url != before)
    page.wait_for_timeout(500)
