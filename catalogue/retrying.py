"""Retry policies: whether to retry a failure, and how to classify it (catalogue 3.2, C76 to C84)."""

import re
from typing import Annotated, Any, Final, Literal

from pydantic import Field, field_validator

from catalogue import patterns
from catalogue.results import Failure, meaning_of
from core.canonical import canonical_json
from core.wire import Patch

MAX_WAIT_MS: Final = 2_000
MAX_TOLD_WAIT_MS: Final = 30_000
MAX_WAITS_MS: Final = 60_000
"""Of all pauses of a call together, because each call that waits occupies a thread of the server."""
_NAMES = re.compile(r"\{(tool_name|error_code|error_verbatim)\}")
Template = Annotated[str, Field(max_length=2_000)]
Category = Literal[
    "tool",
    "understanding",
    "planning",
    "format",
    "data",
    "illegal-fallback",
    "over-questioning",
    "hallucination",
]


class FailureRule(Patch):
    """The category of failures with a matching code and text."""

    error_code_pattern: str
    log_pattern: str | None = None
    category: Category
    rationale_template: Template = ""

    @field_validator("error_code_pattern", "log_pattern")
    @classmethod
    def _usable(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            patterns.compiled(pattern)
        return pattern

    def covers(self, error: Failure) -> bool:
        """Whether the code matches completely, and the log pattern occurs in message or details (C82)."""
        try:
            if not patterns.matches(self.error_code_pattern, error.code, whole=True):
                return False
            return self.log_pattern is None or patterns.matches(self.log_pattern, _log_of(error))
        except patterns.SearchTooLong:
            return False


class TerminalFailure(Patch):
    """The message after the final failure of a tool; by default for every tool."""

    applicable_tools: Annotated[list[str], Field(max_length=500)] = []
    message_template: Template = "{tool_name}: {error_verbatim}"


class RetryPolicy(Patch):
    """How often an idempotent tool is retried.

    `validation_error` is a limit for the program that prompts the model; it is only repeated in `failure`.
    """

    kind: Literal["retry"] = "retry"
    tool_error: Annotated[int, Field(ge=0, le=10)] = 2
    validation_error: Annotated[int, Field(ge=0, le=10)] = 1
    terminal_failure: TerminalFailure | None = None
    classify_failures: Annotated[list[FailureRule], Field(max_length=50)] = []

    def rule_for(self, error: Failure) -> int | None:
        """The index of the first rule that covers the failure."""
        return next((place for place, rule in enumerate(self.classify_failures) if rule.covers(error)), None)

    def repeats(self, error: Failure, attempts: int) -> bool:
        """Whether an idempotent tool is retried after that many attempts."""
        if attempts > self.tool_error or (error.details or {}).get("retryable") is False:
            return False
        rule = self.rule_for(error)
        if rule is not None and meaning_of(error.code).retry != "validation":
            return self.classify_failures[rule].category == "tool"
        return meaning_of(error.code).retry == "transient"

    def told(self, error: Failure, tool: str) -> dict[str, Any]:
        """The last failure, for the response."""
        place = self.rule_for(error)
        rule = None if place is None else self.classify_failures[place]
        terminal = self.terminal_failure
        if terminal and terminal.applicable_tools and tool not in terminal.applicable_tools:
            terminal = None
        return {
            "category": rule.category if rule else meaning_of(error.code).retry,
            "rule_index": place,
            "rationale": _written(rule.rationale_template, error, tool) if rule else None,
            "message": _written(terminal.message_template, error, tool) if terminal else None,
            "validation_error": self.validation_error,
        }


def wait_ms(error: Failure, attempt: int) -> float:
    """Delay after an attempt: what the tool requests, else 100, 200, 400 ... up to 2000 ms."""
    asked = (error.details or {}).get("retry_after_ms")
    if isinstance(asked, int | float) and not isinstance(asked, bool) and asked >= 0:
        return float(min(asked, MAX_TOLD_WAIT_MS))
    return float(min(100 * 2 ** (attempt - 1), MAX_WAIT_MS))


def _log_of(error: Failure) -> str:
    return error.message + (canonical_json(error.details) if error.details is not None else "")


def _written(template: str, error: Failure, tool: str) -> str:
    """Fill in the template's three names in one pass, so that tool output is never treated as a template."""
    values = {"tool_name": tool, "error_code": error.code, "error_verbatim": error.message}
    return _NAMES.sub(lambda name: values[name[1]], template)
