"""What higher apps tell the app bar."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Feedback:
    """What the feedback app answers."""

    open_reports: Callable[[], int | None] = lambda: None
    """The number of open reports."""


feedback = Feedback()
"""Replaced once by that app, when Django is ready."""
