"""Callbacks that other apps register when Django is ready."""

from collections.abc import Callable

_open_reports: list[Callable[[], int]] = []


def register_open_reports(count: Callable[[], int]) -> None:
    """Register the function that counts open reports, for the app bar. Called by the feedback app."""
    _open_reports[:] = [count]


def open_reports() -> int | None:
    """The number of open reports; None if no function is registered."""
    return _open_reports[0]() if _open_reports else None
