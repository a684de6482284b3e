"""Benchmark registry: named figures with budgets, and the output format."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from bench.houses import House

Unit = Literal["ms", "/s", "s", "MiB", "kB"]
EMBEDDED, FULL = "embedded", "full"


@dataclass(frozen=True, slots=True)
class Measured:
    """A measured value and its floor (baseline) from the same minutes, if any."""

    value: float
    unit: Unit
    floor: float | None = None

    @property
    def ratio(self) -> float | None:
        """The value divided by its floor; for rates, the floor divided by the value."""
        if self.floor is None:
            return None
        return self.floor / self.value if self.unit == "/s" else self.value / self.floor


Measure = Callable[[House], Measured]


@dataclass(frozen=True, slots=True)
class Figure:
    """A benchmark. `at_most` is its budget in floors, or in the unit if there is no floor.

    Those with the same `house` are measured on the same running Heddle. One that loads many reports has a house of its
    own, or the others would be measured among them.
    """

    name: str
    measure: Measure
    at_most: dict[str, float]
    floor: str
    ways: tuple[str, ...]
    is_slow: bool
    house: str = ""

    def tell(self, way: str, measured: Measured) -> str:
        """Format one line: figure, floor, ratio, budget, ok or over."""
        floor = "" if measured.floor is None else f"{_number(measured.floor, measured.unit)} {self.floor}"
        ratio = "" if measured.ratio is None else f"{measured.ratio:.2f}"
        most = self.at_most.get(way)
        counted = measured.value if measured.ratio is None else measured.ratio
        budget = "" if most is None else f"{most:g}" if measured.ratio is not None else f"{most:g} {measured.unit}"
        verdict = "" if most is None else "ok" if counted <= most else "over"
        figure = _number(measured.value, measured.unit)
        return f"  {self.name:<58} {figure:>12} {floor:>17} {ratio:>8} {budget:>9}  {verdict}".rstrip()


FIGURES: list[Figure] = []
HEADING = f"  {'':<58} {'figure':>12} {'floor':>17} {'ratio':>8} {'at most':>9}"


def figure(
    name: str,
    *,
    at_most: float | dict[str, float] | None = None,
    floor: str = "",
    ways: tuple[str, ...] = (EMBEDDED, FULL),
    is_slow: bool = False,
    house: str = "",
) -> Callable[[Measure], Measure]:
    """Register a function as a benchmark."""

    def register(measure: Measure) -> Measure:
        most = at_most if isinstance(at_most, dict) else {} if at_most is None else dict.fromkeys(ways, at_most)
        FIGURES.append(Figure(name, measure, most, floor, ways, is_slow, house))
        return measure

    return register


def _number(value: float, unit: Unit) -> str:
    if unit == "kB" or value >= 100:
        return f"{value:,.0f} {unit}".replace(" /s", "/s")
    return f"{value:.3g} {unit}".replace(" /s", "/s")
