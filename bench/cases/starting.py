"""Fixed costs: memory, startup, download, installation."""

import contextlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin

from bench.figures import EMBEDDED, Measured, figure
from bench.houses import House, new_server, stop
from bench.lines import Caller
from tests.live import ROOT, Served

_LOADED = re.compile(rb"""<(?:script|link)[^>]+(?:src|href)="([^"]+\.(?:js|css))\"""")
_IMPORTED = re.compile(rb"""(?:from|import)\s*\(?\s*(?:url\()?["']([./][^"'\s]*\.(?:js|css))["']""")


@figure("script and style over the wire, first page", at_most=50, ways=(EMBEDDED,))
def first_page_bytes(house: House) -> Measured:
    """Size of all scripts and styles of the first page of a signed-in browser, compressed."""
    page = house.browser().prepared("GET", "/threads/")()
    pending, seen, sent = [found.decode() for found in _LOADED.findall(page)], set(), 0
    while pending:
        path = urljoin("/threads/", pending.pop())
        if path not in seen:
            seen.add(path)
            sent += len(Caller(house.served.port, encoding="br, gzip").prepared("GET", path)())
            plain = Caller(house.served.port).prepared("GET", path)()
            pending += [urljoin(path, found.decode()) for found in _IMPORTED.findall(plain)]
    return Measured(sent / 1000, "kB")


@figure("memory, server with embedded worker, idle (PSS)", at_most=160, ways=(EMBEDDED,))
def idle_memory(house: House) -> Measured:
    """Measured after the first page, before the first turn."""
    with _new_server() as (served, _):
        time.sleep(2)
        return Measured(pss_mib(served.processes["server"].pid), "MiB")


@figure("memory of the server that was measured here, at the end (PSS)")
def used_memory(house: House) -> Measured:
    return Measured(pss_mib(house.served.processes["server"].pid), "MiB")


@figure("from start to the first page, fresh data folder", at_most=3, ways=(EMBEDDED,))
def fresh_start(house: House) -> Measured:
    with _new_server() as (_, seconds):
        return Measured(seconds, "s")


@figure("from start to the first page, data there", at_most=3, ways=(EMBEDDED,))
def later_start(house: House) -> Measured:
    with _new_server() as (served, _):
        stop(served)
        return Measured(_seconds_to_first_page(served), "s")


@figure("size of the installed environment", at_most=200, ways=(EMBEDDED,), is_slow=True)
def environment_size(house: House) -> Measured:
    """Size of a new environment with the locked dependencies, without pip."""
    folder = Path(tempfile.mkdtemp(prefix="heddle-bench-"))
    try:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        [packages] = folder.glob("lib/python*/site-packages")
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--require-hashes"]
        subprocess.run(
            [*pip, "--target", packages, "-r", "requirements/base.txt"], cwd=ROOT, check=True, stderr=subprocess.DEVNULL
        )
        sizes = (path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
        return Measured(sum(sizes) / 2**20, "MiB")
    finally:
        shutil.rmtree(folder)


@contextlib.contextmanager
def _new_server() -> Iterator[tuple[Served, float]]:
    """Start a server on an empty data folder and time its first page."""
    folder = Path(tempfile.mkdtemp(prefix="heddle-bench-"))
    served = new_server(EMBEDDED, folder / "product", {})
    try:
        yield served, _seconds_to_first_page(served)
    finally:
        stop(served)
        shutil.rmtree(folder)


def _seconds_to_first_page(served: Served) -> float:
    started = time.perf_counter()
    served.start("server", "manage.py", "serve", "--port", str(served.port))
    while True:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{served.url}/signin/", timeout=5) as page:
            page.read()
            return time.perf_counter() - started
        if served.processes["server"].poll() is not None:
            raise RuntimeError(served.log.read_text()[-3000:])
        time.sleep(0.01)


def pss_mib(pid: int) -> float:
    """Proportional memory (PSS) of a process and its children."""
    own = re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    assert own is not None
    children = Path(f"/proc/{pid}/task").glob("*/children")
    return int(own[1]) / 1024 + sum(pss_mib(int(child)) for each in children for child in each.read_text().split())
