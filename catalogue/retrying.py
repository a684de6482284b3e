"""Whether a failed attempt is made again, and what a failure counts as (catalogue 3.2, C76 to C84)."""

import re
from typing import Annotated, Any, Final, Literal

from pydantic import Field, field_validator

from catalogue import patterns
from catalogue.results import Failure, meaning_of
from core.canonical import canonical_json
from core.wire import Patch

MAX_WAIT_MS: Final = 2_000
MAX_TOLD_WAIT_MS: Final = 30_000
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
    """What failures with such a code, and such a text, count as."""

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
        """The whole code matches, and the pattern is somewhere in message and details (C82)."""
        try:
            if not patterns.matches(self.error_code_pattern, error.code, whole=True):
                return False
            return self.log_pattern is None or patterns.matches(self.log_pattern, _log_of(error))
        except patterns.SearchTooLong:
            return False


class TerminalFailure(Patch):
    """What is said once a tool has failed for good; of every tool where none is named."""

    applicable_tools: Annotated[list[str], Field(max_length=500)] = []
    message_template: Template = "{tool_name}: {error_verbatim}"


class RetryPolicy(Patch):
    """How often a tool that may be repeated is called again.

    `validation_error` is a cap for whoever prompts the model; it is told again in `failure` and does nothing here.
    """

    kind: Literal["retry"] = "retry"
    tool_error: Annotated[int, Field(ge=0, le=10)] = 2
    validation_error: Annotated[int, Field(ge=0, le=10)] = 1
    terminal_failure: TerminalFailure | None = None
    classify_failures: Annotated[list[FailureRule], Field(max_length=50)] = []

    def rule_for(self, error: Failure) -> int | None:
        """The place of the first rule that covers the failure."""
        return next((place for place, rule in enumerate(self.classify_failures) if rule.covers(error)), None)

    def repeats(self, error: Failure, attempts: int) -> bool:
        """Whether there is another attempt after that many of an idempotent tool."""
        if attempts > self.tool_error or (error.details or {}).get("retryable") is False:
            return False
        rule = self.rule_for(error)
        if rule is not None and meaning_of(error.code).retry != "validation":
            return self.classify_failures[rule].category == "tool"
        return meaning_of(error.code).retry == "transient"

    def told(self, error: Failure, tool: str) -> dict[str, Any]:
        """The last failure as the response describes it."""
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
    """How long to wait after that attempt: what the tool asks for, else 100, 200, 400 ... up to 2000 ms."""
    asked = (error.details or {}).get("retry_after_ms")
    if isinstance(asked, int | float) and not isinstance(asked, bool) and asked >= 0:
        return float(min(asked, MAX_TOLD_WAIT_MS))
    return float(min(100 * 2 ** (attempt - 1), MAX_WAIT_MS))


def _log_of(error: Failure) -> str:
    return error.message + (canonical_json(error.details) if error.details is not None else "")


def _written(template: str, error: Failure, tool: str) -> str:
    """The template with its three names filled in, in one pass: what a tool said is never read as a template."""
    values = {"tool_name": tool, "error_code": error.code, "error_verbatim": error.message}
    return _NAMES.sub(lambda name: values[name[1]], template)
