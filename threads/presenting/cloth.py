"""The activity chart of a thread, drawn from its weave (see `threads.weaving`)."""

from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Cloth:
    """An activity chart: SVG paths by kind, dots for ratings, number of steps, width."""

    paths: tuple[tuple[str, str], ...]
    dots: tuple[float, ...]
    steps: int
    width: str


_STROKES = {
    "p": ("person", 1, 12),
    "a": ("agent", 4, 6),
    "t": ("tool", 5.5, 3),
    "f": ("fault", 2, 10),
    "c": ("warn", 2, 10),
    "l": ("live", 3, 8),
}
_COLUMNS = 40
_WIDTH = 120
_WEIGHT = "taplrcf"
"""Letters by importance, least important first."""


def weave(kinds: str) -> Cloth:
    """The chart of a thread, one letter per step: p user, a agent, t tool, f fault, c cancelled, l live, r rated.

    If there are more steps than columns, a column shows the most important of its steps.
    """
    steps = "".join(letter for letter in kinds if letter in _STROKES or letter == "r")
    shown = _squeezed(steps, min(_COLUMNS, _WIDTH // 3))
    pitch = min(4.0, (_WIDTH - 4) / max(1, len(shown) - 1))
    strokes: dict[str, list[str]] = {}
    for column, letter in enumerate(shown):
        kind, top, height = _STROKES["a" if letter == "r" else letter]
        strokes.setdefault(kind, []).append(f"M{_short(2 + column * pitch)} {top}v{height}")
    dots = tuple(round(2 + column * pitch, 1) for column, letter in enumerate(shown) if letter == "r")
    length = _short(min(_WIDTH, 5 + (len(shown) - 1) * pitch))
    warp = [("warp", f"M0 7h{length}")] if shown else []
    return Cloth((*warp, *((kind, "".join(found)) for kind, found in strokes.items())), dots, len(steps), length)


def _squeezed(steps: str, columns: int) -> str:
    if len(steps) <= columns:
        return steps
    edges = [round(column * len(steps) / columns) for column in range(columns + 1)]
    return "".join(max(steps[start:end], key=_WEIGHT.find) for start, end in pairwise(edges))


def _short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
