"""A served Heddle and a real browser. Nothing here touches the test database: everything goes over the wire."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests import live
from tests.e2e.visiting import Heddle, Visit

NAMES = ("chromium-headless-shell", "chromium", "google-chrome")
"""The first needs a quarter less of two cores: the same engine without a desktop's browser around it."""
CHROMIUM = os.environ.get("HEDDLE_TEST_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), "")

FLAGS = ["--no-sandbox", "--renderer-process-limit=1"]
"""One process for all pages of a visit: each would otherwise begin in one and go on in another."""


@pytest.fixture(scope="session")
def heddle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Heddle]:
    """One server with everybody in it, for all journeys."""
    if not CHROMIUM:
        live.missing("Chromium")
    with live.serving("embedded", tmp_path_factory.mktemp("e2e")) as server:
        yield Heddle(server)


@pytest.fixture(scope="module")
def browser(heddle: Heddle) -> Iterator[Browser]:
    """Chromium. Playwright keeps an event loop running, which the ORM refuses, so it ends with its module."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(heddle: Heddle, browser: Browser) -> Iterator[Callable[..., Visit]]:
    """`visit("alice")` is a signed-in browser of alice; what it should not have met is told when the test ends."""
    visits: list[Visit] = []

    def start(name: str | None = None, **options: object) -> Visit:
        visits.append(Visit(heddle, browser, name, **options))
        return visits[-1]

    yield start
    complaints = [complaint for each in visits for complaint in each.complaints()]
    for each in visits:
        # A handler that is still waiting would otherwise fail the next test, which is told of it.
        for page in each.context.pages:
            page.unroute_all(behavior="ignoreErrors")
        each.context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The source of axe-core, installed for this run."""
    npm = shutil.which("npm")
    if npm is None:
        live.missing("npm, for axe-core,")
    folder = tmp_path_factory.mktemp("axe")
    command = [
        str(npm),
        "install",
        "--no-save",
        "--prefer-offline",
        "--no-audit",
        "--no-fund",
        "--prefix",
        str(folder),
        "axe-core@4.14.1",  # a newer one may know more rules
    ]
    source = Path(folder, "node_modules/axe-core/axe.min.js")
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=90)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        live.missing("axe-core")
    return source.read_text()
