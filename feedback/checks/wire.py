"""What the routes of checks take and give. Admins only."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, ValidationInfo, field_validator, model_validator

from catalogue import patterns
from core.wire import Exact, Page, Wire

MOST_EXPECTATIONS = 20
MOST_RUNS = 500
"""Asked for together."""
Kind = Literal[
    "says",
    "never_says",
    "matches",
    "never_matches",
    "calls",
    "calls_once",
    "never_calls",
    "no_tool_errors",
    "achieves_goals",
]
OF_WORDS: tuple[Kind, ...] = ("says", "never_says")
OF_PATTERNS: tuple[Kind, ...] = ("matches", "never_matches")
OF_CALLS: tuple[Kind, ...] = ("calls", "calls_once", "never_calls")
WITH_VALUE = (*OF_WORDS, *OF_PATTERNS, *OF_CALLS)
State = Literal["untried", "running", "passing", "failing", "undecided"]
Outcome = Literal["passing", "failing"]
Verdict = Literal["passed", "failed", "broken"]
Title = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=120)]


def _in_one_line(text: str) -> str:
    """As words are compared, and as the one line of a form can show them."""
    return " ".join(text.split())


def _check_pattern(pattern: str) -> None:
    if not pattern:
        raise ValueError("value: must be a regular expression")
    try:
        patterns.compiled(pattern)
    except patterns.PatternRefused as problem:
        raise ValueError(f"value: {problem}") from None


class Expectation(Exact):
    """One thing that must hold of an answer.

    `says` and `never_says` take words as `value`, found whatever their case and whitespace; `matches` and
    `never_matches` a regular expression, found anywhere; `calls`, `calls_once` and `never_calls` the name of a tool
    and, as `input`, what its arguments must have in them.
    """

    kind: Kind
    value: Annotated[str, StringConstraints(max_length=1000)] = ""
    input: dict[str, Any] | None = None

    @field_validator("value")
    @classmethod
    def _as_it_is_compared(cls, value: str, given: ValidationInfo) -> str:
        return value if given.data.get("kind") in OF_PATTERNS else _in_one_line(value)

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> "Expectation":
        if self.kind in OF_WORDS and not self.value:
            raise ValueError("value: must be the words")
        if self.kind in OF_PATTERNS:
            _check_pattern(self.value)
        if self.kind in OF_CALLS and not self.value:
            raise ValueError("value: must be the name of a tool")
        if self.kind not in WITH_VALUE and self.value:
            raise ValueError(f"value: {self.kind} takes none")
        if self.input is not None and self.kind not in OF_CALLS:
            raise ValueError(f"input: {self.kind} takes none")
        return self


class CheckIn(Exact):
    """What to keep of a report. Without expectations people judge each run; the title is that of the request."""

    title: Title | None = None
    expectations: Annotated[list[Expectation], Field(max_length=MOST_EXPECTATIONS)] = []


class RunIn(Exact):
    """With what to run: as a rerun of the thread, `times` times, because a model does not answer twice the same."""

    skills: Literal["recorded", "latest"] = "recorded"
    tools: Literal["recorded", "live"] = "recorded"
    model_profile: str | None = None
    times: Annotated[int, Field(ge=1, le=10)] = 1


class RunAllIn(RunIn):
    """Which checks to run: those named, all in a state, those of a batch once more, or all there are."""

    check_ids: Annotated[list[str], Field(min_length=1, max_length=MOST_RUNS)] | None = None
    state: State | None = None
    batch_id: str | None = None

    @model_validator(mode="after")
    def _one_choice(self) -> "RunAllIn":
        named = [name for name in ("check_ids", "state", "batch_id") if getattr(self, name) is not None]
        if len(named) > 1:
            raise ValueError(f"{named[-1]}: give only one of check_ids, state and batch_id")
        return self


class VerdictIn(Exact):
    """What somebody makes of a run; null leaves it to the expectations again."""

    verdict: Literal["passed", "failed"] | None


class FindingOut(Wire):
    """Whether one expectation held, and what was found."""

    expectation: dict[str, Any]
    holds: bool
    found: str


class SkillVersionOut(Wire):
    """A version of a skill that the agent had."""

    skill_id: str
    name: str
    version: int


class RunOut(Wire):
    """One run. It waits while it has no `thread_id`. `verdict` is null while it waits or is under way (`ended_at` is
    null too) and where people have to judge; `problem` says why it was never begun or could not be judged. `seconds`
    are those that were worked on the answer, null where nothing was; `cost` is in the currency of the model's prices,
    null where unknown.
    """

    run_id: str
    check_id: str
    batch_id: str
    thread_id: str | None
    skills: str
    tools: str
    model_profile: str
    skill_versions: list[SkillVersionOut]
    created: datetime
    created_by: str
    ended_at: datetime | None
    verdict: Verdict | None
    findings: list[FindingOut]
    problem: str
    seconds: float | None
    input_tokens: int
    output_tokens: int
    cost: float | None
    judged_by: str | None


class KeptCheckOut(Wire):
    """A check. `feedback_id` and `resolved`, of the report, are null where its submitter took the rating back; `org` is
    the short name of its org; `outcome_before` is what it was before its latest batch; `runs` are the latest, newest
    first.
    """

    check_id: str
    feedback_id: str | None
    resolved: bool | None
    org: str
    thread_id: str
    message_sequence_num: int
    title: str
    expectations: list[dict[str, Any]]
    state: State
    outcome_before: Outcome | None
    created: datetime
    created_by: str
    modified: datetime
    modified_by: str
    runs: list[RunOut]


class CheckPageOut(Page[KeptCheckOut]):
    """One page of checks, the newest first."""


class BatchHeadOut(Wire):
    """What was asked for together and what came of it; `is_over` when nothing of it waits or is under way.

    `model_profile` is null where each thread had its own. The figures are those of all its runs: `seconds` worked on
    answers, tokens, and `cost`, which is null where that of one is unknown.
    """

    batch_id: str
    skills: str
    tools: str
    model_profile: str | None
    times: int
    created: datetime
    created_by: str
    ended_at: datetime | None
    total: int
    waiting: int
    running: int
    passed: int
    failed: int
    broken: int
    undecided: int
    is_over: bool
    seconds: float
    input_tokens: int
    output_tokens: int
    cost: float | None


class BatchOut(BatchHeadOut):
    """A batch with each of its runs."""

    runs: list[RunOut]


class BatchPageOut(Page[BatchHeadOut]):
    """One page of batches, the newest first."""


class TallyOut(Wire):
    """How the runs of one check went in one batch."""

    state: State
    passed: int
    total: int


class ComparedCheckOut(Wire):
    """One check in two batches; `now` or `before` is null where it was not run. `turned` is null where it did not."""

    check_id: str
    title: str
    now: TallyOut | None
    before: TallyOut | None
    turned: Outcome | None


class ComparisonOut(Wire):
    """A batch held against another: what turned first, failing before passing.

    `before` is null where each check is held against its own previous batch, the latest in which it passed or failed.
    """

    now: BatchHeadOut
    before: BatchHeadOut | None
    turned_failing: int
    turned_passing: int
    checks: list[ComparedCheckOut]
