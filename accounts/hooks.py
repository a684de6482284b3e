"""What a higher app tells this one, registered when Django is ready."""

from collections.abc import Callable

_open_reports: list[Callable[[], int]] = []


def register_open_reports(count: Callable[[], int]) -> None:
    """The feedback app tells how many reports are open, for the place's name in the app bar."""
    _open_reports[:] = [count]


def open_reports() -> int | None:
    """How many reports are open; None while nobody knows."""
    return _open_reports[0]() if _open_reports else None
