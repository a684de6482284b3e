"""Simulated failures: which step of a world fails, and with which code (catalogue 3.8, C112 to C114)."""

from collections.abc import Mapping
from typing import Any, Final

from catalogue import results
from catalogue.results import ToolResult
from catalogue.sampling.drawing import Source

CODES: Final[Mapping[str, str]] = {
    "timeout": "TIMEOUT",
    "internal_error": "INTERNAL_ERROR",
    "rate_limit": "RATE_LIMITED",
    "not_found": "NOT_FOUND",
    "bad_request": "INVALID_INPUT",
}


def failure_at(seed: int, step: int, profile: Mapping[str, Any] | None) -> ToolResult | None:
    """The failure of a step, or None. Depends only on seed and step, so a replay fails at the same steps."""
    if not profile:
        return None
    source = Source("failure", seed, step)
    if source.fraction() >= profile["rate"]:
        return None
    code = source.one_of(profile["codes"])
    return results.fail(CODES[code], f"Simulated error: {code}", {"simulated": True, "code": code})
