"""What the first page costs over the wire."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.e2e.visiting import Heddle, Visit

pytestmark = [pytest.mark.browser, pytest.mark.live]


def test_script_and_style_of_the_first_page_are_less_than_fifty_kilobytes(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    """With empty caches; and everything is kept by the browser from then on."""
    page = visit("admin").page
    seen = []
    page.on("requestfinished", lambda request: seen.append(request))
    page.goto("/feedback/", wait_until="networkidle")
    loaded = [request for request in seen if request.resource_type in ("script", "stylesheet")]
    assert len(loaded) >= 15
    sizes = {urlsplit(request.url).path: request.sizes()["responseBodySize"] for request in loaded}
    assert 0 < sum(sizes.values()) < 50_000, sizes
    for request in loaded:
        assert "immutable" in (request.response().header_value("cache-control") or ""), request.url


def test_the_houses_own_scripts_are_less_than_thirty_kilobytes() -> None:
    """All of them together, as they are written: nothing is built or squeezed. A page loads those it has use for."""
    own = {script.name: script.stat().st_size for script in Path("static/js").glob("**/*.js")}
    assert 0 < sum(own.values()) < 30_000, own


def test_a_page_asks_for_nothing_that_is_not_there_and_for_nobody_else(
    heddle: Heddle, visit: Callable[..., Visit]
) -> None:
    """Every screen, with the complaints that every visit is asked for at its end: console, failures, foreign hosts."""
    thread_id = heddle.start(
        "alice", "![picture](https://elsewhere.example/x.png) <img src=https://elsewhere.example/y>"
    )
    page = visit("alice").page
    for path in ("/", f"/threads/{thread_id}/", "/threads/start/", "/settings/", "/v1/docs/"):
        page.goto(path)
        page.wait_for_timeout(50)
        assert page.locator("img").count() == 0
