"""Request and response models of the check routes, for admins only."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, ValidationInfo, field_validator, model_validator

from catalogue import patterns
from core.wire import Exact, Page, Seen, Wire
from feedback.wire_verbs import Said

MOST_EXPECTATIONS = 20
MOST_RUNS = 500
"""Most runs in one batch."""
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
Title = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=120), Seen]


def _in_one_line(text: str) -> str:
    """Collapse whitespace, as in comparisons and one-line form fields."""
    return " ".join(text.split())


def _check_pattern(pattern: str) -> None:
    if not pattern:
        raise ValueError("value: must be a regular expression")
    try:
        patterns.compiled(pattern)
    except patterns.PatternRefused as problem:
        raise ValueError(f"value: {problem}") from None


class Expectation(Exact):
    """One requirement for an answer."""

    kind: Kind
    value: Annotated[str, StringConstraints(max_length=1000)] = ""
    """
    For `says` and `never_says` words, whatever their case and whitespace; for `matches` and `never_matches` a regular
    expression, found anywhere; for `calls`, `calls_once` and `never_calls` the name of a tool; empty for others.
    """
    input: dict[str, Any] | None = None
    """For the `calls` kinds: arguments that the call must contain; it may have others, too."""

    @field_validator("value")
    @classmethod
    def _as_it_is_compared(cls, value: str, given: ValidationInfo) -> str:
        return value if given.data.get("kind") in OF_PATTERNS else _in_one_line(value)

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> "Expectation":
        if self.kind in OF_WORDS and not self.value:
            raise ValueError("value: must be the text to look for")
        if self.kind in OF_PATTERNS:
            _check_pattern(self.value)
        if self.kind in OF_CALLS and not self.value:
            raise ValueError("value: must be the name of a tool")
        if self.kind not in WITH_VALUE and self.value:
            raise ValueError(f"value: {self.kind} takes no value")
        if self.input is not None and self.kind not in OF_CALLS:
            raise ValueError(f"input: {self.kind} takes no input")
        return self


class CheckIn(Exact):
    """A check made from a report."""

    title: Title | None = None
    """Default: the beginning of the request."""
    expectations: Annotated[list[Expectation], Field(max_length=MOST_EXPECTATIONS)] = []
    """What each answer must fulfil. Without any, people judge each run."""


class RunIn(Exact):
    """Options of a run, as for a rerun."""

    skills: Literal["recorded", "latest"] = "recorded"
    """The skill versions of the original turn, or the latest ones, also of skills that are new since then."""
    prompt: Literal["recorded", "latest"] = "recorded"
    """The system prompt of the thread, or the one that its agent has now; forks and threads that were not launched from
    an agent keep theirs.
    """
    tools: Literal["recorded", "live"] = "recorded"
    """Whether tool calls return their recorded results or are executed."""
    model_profile: str | None = None
    """Default: that of the thread."""
    times: Annotated[int, Field(ge=1, le=10)] = 1
    """Runs per check; more than one shows whether answers vary."""


class RunAllIn(RunIn):
    """Which checks to run: those named, all in a state, those of a batch again, or by default all."""

    check_ids: Annotated[list[str], Field(min_length=1, max_length=MOST_RUNS)] | None = None
    state: State | None = None
    """Run the checks in this state."""
    batch_id: str | None = None
    """Run the checks of this batch again."""

    @model_validator(mode="after")
    def _one_choice(self) -> "RunAllIn":
        named = [name for name in ("check_ids", "state", "batch_id") if getattr(self, name) is not None]
        if len(named) > 1:
            raise ValueError(f"{named[-1]}: give only one of check_ids, state and batch_id")
        return self


class FixBatchIn(Exact):
    """What ends with a batch: reports whose runs in it passed are resolved as fixed, each by its own run."""

    feedback_ids: Annotated[list[str], Field(min_length=1, max_length=MOST_RUNS)] | None = None
    """Default: all open ones whose runs all passed, and differ from the rated answer or were judged by a person."""
    public_reply: Said | None = None
    """A reply to each submitter."""
    shows_answer: bool = False
    """Whether each submitter gets the new answer to their request, after the reply if there is one."""


class VerdictIn(Exact):
    """A person's verdict on a run."""

    verdict: Literal["passed", "failed"] | None
    """Null restores the verdict of the expectations."""


class FindingOut(Wire):
    """The result of one expectation."""

    expectation: dict[str, Any]
    holds: bool
    found: str
    """What was found instead, or what decided it; may be empty."""


class SkillVersionOut(Wire):
    """A skill version available to the agent."""

    skill_id: str
    name: str
    version: int
    was: int | None = None
    """The version that the rated answer had; null if it had none, and in runs from before Heddle kept it."""


class RunOut(Wire):
    """One run of a check."""

    run_id: str
    check_id: str
    batch_id: str
    thread_id: str | None
    """The thread of the run; null while it waits to start."""
    skills: str
    prompt: str
    tools: str
    model_profile: str
    """The profile that ran it; empty while it waits to start."""
    skill_versions: list[SkillVersionOut]
    created: datetime
    created_by: str
    """Email address of the admin who started it."""
    ended_at: datetime | None
    """Null while it waits or runs."""
    verdict: Verdict | None
    """`broken`: ended without a complete answer. Null while it waits or runs, or if a person has to judge it."""
    findings: list[FindingOut]
    """One per expectation, in their order."""
    is_alike: bool | None
    """Whether the answer has the words and calls of the rated one; null until it is complete."""
    problem: str
    """Why it could not be started or judged, or why its answer is not complete; else empty."""
    seconds: float | None
    """Processing time of the answer; null if there was none."""
    input_tokens: int
    output_tokens: int
    cost: float | None
    """In the currency of the model's configured prices; null if unknown."""
    judged_by: str | None
    """Email address of the person who gave the verdict; null if the expectations decided."""


class KeptCheckOut(Wire):
    """A check with its latest runs."""

    check_id: str
    feedback_id: str | None
    """The report it was made from; null if the submitter retracted that."""
    resolved: bool | None
    """Whether the report is resolved; null if it was retracted."""
    org: str
    """Short name of the org."""
    thread_id: str
    message_sequence_num: int
    """Position of the rated answer in its thread, counted from 0."""
    title: str
    expectations: list[dict[str, Any]]
    state: State
    """`untried`: not run yet. `undecided`: a person has to judge, or a run ended without a complete answer."""
    outcome_before: Outcome | None
    """The last decided result before the latest batch."""
    created: datetime
    created_by: str
    modified: datetime
    """When the expectations last changed."""
    modified_by: str
    runs: list[RunOut]
    """The latest runs, newest first."""


class CheckPageOut(Page[KeptCheckOut]):
    """One page of checks, newest first."""


class BatchHeadOut(Wire):
    """A batch of runs with its totals."""

    batch_id: str
    skills: str
    prompt: str
    tools: str
    model_profile: str | None
    """Null: the profile of each thread."""
    times: int
    """Runs per check."""
    created: datetime
    created_by: str
    """Email address of the admin who started it."""
    ended_at: datetime | None
    checks: int
    """Number of checks, or of reports without one, that it ran."""
    of_reports: bool
    """Whether it reran reports that had no check."""
    total: int
    """Number of runs."""
    waiting: int
    """Runs that have not started."""
    running: int
    passed: int
    failed: int
    broken: int
    """Runs that ended without a complete answer, or could not be started or judged."""
    undecided: int
    """Runs that a person has to judge."""
    is_over: bool
    """Whether no run waits or is in progress."""
    seconds: float
    """Processing time of all answers together."""
    input_tokens: int
    output_tokens: int
    cost: float | None
    """In the currency of the configured prices; null if the cost of any run is unknown."""


class BatchOut(BatchHeadOut):
    """A batch with each of its runs."""

    runs: list[RunOut]


class BatchPageOut(Page[BatchHeadOut]):
    """One page of batches, newest first."""


class TallyOut(Wire):
    """The runs of one check in one batch."""

    state: State
    passed: int
    """Runs that passed."""
    total: int
    """All runs."""


class ComparedCheckOut(Wire):
    """One check in two batches."""

    check_id: str
    title: str
    now: TallyOut | None
    """Null if it was not run in this batch."""
    before: TallyOut | None
    """Null if it was not run in the other batch."""
    turned: Outcome | None
    """`failing` or `passing` if it was the opposite before; else null."""


class SkillChangeOut(Wire):
    """A skill that agents have in another version than before."""

    skill_id: str
    name: str
    before: int | None
    """Null if they did not have it."""
    now: int | None
    """Null if they do not have it any more."""
    checks: int
    """For how many checks it is so."""


class ChangesOut(Wire):
    """What the agents of a batch had otherwise than before: for a check that is compared with an earlier batch, than
    there, for any other one, than when its answer was rated.
    """

    checks: int
    """For how many checks both are known."""
    skills: list[SkillChangeOut]
    """Most frequent ones first."""
    system_prompts: int
    """For how many checks the system prompt is another one."""
    model_profiles: int
    """For how many checks the model profile is another one. An imported answer names none, and does not count."""


class ComparisonOut(Wire):
    """A batch compared with another one."""

    now: BatchHeadOut
    before: BatchHeadOut | None
    """Null if each check is compared with its own previous batch: the latest in which it passed or failed."""
    turned_failing: int
    """Number of checks that are newly failing."""
    turned_passing: int
    """Number of checks that are newly passing."""
    changes: ChangesOut
    checks: list[ComparedCheckOut]
    """Newly failing ones first, then newly passing ones."""
