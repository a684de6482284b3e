"""Timing. Floor and figure alternate in small rounds, and the faster half of the rounds counts.

Other load on the machine slows long requests more than short ones: a ratio of medians over all rounds would measure
that load.
"""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from statistics import median

from bench.figures import Measured
from bench.houses import House

Act = Callable[[], object]
CLIENTS = 8
SHRINK = 4 if os.environ.get("BENCH_QUICK") else 1
"""By how much a quick run has fewer rounds."""


def p50_beside(act: Act, floor: Act, *, rounds: int = 24, calls: int = 16) -> Measured:
    """Measure the medians of an action and of its floor, in milliseconds."""
    for each in (floor, act):
        _times(each, max(1, calls // 2))
    pairs = [(_times(floor, calls), _times(act, calls)) for _ in range(max(4, rounds // SHRINK))]
    pairs.sort(key=lambda pair: median(pair[0]) + median(pair[1]))
    quiet = pairs[: len(pairs) // 2]
    floors, figures = ([each for pair in quiet for each in pair[side]] for side in (0, 1))
    return Measured(median(figures) * 1000, "ms", median(floors) * 1000)


def p50_in_views(house: House, act: Act, *, rounds: int = 24, calls: int = 16) -> Measured:
    """Measure the medians of an action and of a bare view on the same server."""
    return p50_beside(act, house.view(), rounds=rounds, calls=calls)


def p50_alone(act: Act, *, rounds: int = 12, calls: int = 8, warm: int = 3) -> Measured:
    """Measure the median of an action without floor, over the faster half of the rounds."""
    _times(act, warm)
    found = sorted((_times(act, calls) for _ in range(max(1, rounds // SHRINK))), key=median)
    quiet = found[: max(1, len(found) // 2)]
    return Measured(median(each for times in quiet for each in times) * 1000, "ms")


def rate_beside(acts: Sequence[Act], floor: Callable[[], float], *, seconds: float = 1.0) -> Measured:
    """Measure actions per second over all clients, with a floor that measures its own rate; medians of the rounds."""
    rate_of(acts, seconds / 2)
    pairs = [(floor(), rate_of(acts, seconds)) for _ in range(max(4, 6 // SHRINK))]
    pairs.sort(key=lambda pair: -pair[0] * pair[1])
    quiet = pairs[: len(pairs) // 2]
    return Measured(median(pair[1] for pair in quiet), "/s", median(pair[0] for pair in quiet))


def rate_of(acts: Sequence[Act], seconds: float) -> float:
    """Measure actions per second, each repeated by its own client."""
    started = time.perf_counter()

    def client(act: Act) -> int:
        done = 0
        while time.perf_counter() < started + seconds:
            act()
            done += 1
        return done

    with ThreadPoolExecutor(len(acts)) as clients:
        done = sum(clients.map(client, acts))
    return done / (time.perf_counter() - started)


def in_turn(requests: Iterable[Act]) -> Act:
    """Return an action that performs the next of many each time, cyclically."""
    each = list(requests)
    place = count()
    return lambda: each[next(place) % len(each)]()


def _times(act: Act, calls: int) -> list[float]:
    found = []
    for _ in range(calls):
        started = time.perf_counter()
        act()
        found.append(time.perf_counter() - started)
    return found
