"""Runs benchmarks and prints the results."""

import os
from itertools import groupby
from subprocess import SubprocessError

from bench import cases  # noqa: F401 - registers the figures
from bench.figures import FIGURES, HEADING, Figure
from bench.houses import REDIS, House, house
from tests.on_services import missing

_TITLES = {
    "embedded": "One process: SQLite, the worker inside the server",
    "full": "Full: PostgreSQL, Redis, one worker process with eight threads",
}


def run(way: str, *, only: str, slow: bool) -> None:
    """Run and print all selected benchmarks in one mode."""
    chosen = [each for each in FIGURES if way in each.ways and only in each.name and (slow or not each.is_slow)]
    if way == "full" and (what := missing(REDIS)):
        print(f"{_TITLES[way]}: skipped, {what} was not found.")
        return
    if not chosen:
        return
    print(f"{_TITLES[way]}\n{HEADING}", flush=True)
    for _, together in groupby(chosen, key=lambda each: each.house):
        with house(way) as running:
            for each in together:
                print(_line(each, running), flush=True)
    print(
        f"  Load of the machine in the last minutes: {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores\n", flush=True
    )


def _line(each: Figure, running: House) -> str:
    """Run one benchmark; print a failure and continue."""
    try:
        return each.tell(running.way, each.measure(running))
    except (OSError, RuntimeError, AssertionError, SubprocessError) as problem:
        return f"  {each.name:<58} broke: {problem}"
