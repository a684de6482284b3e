"""What the routes of checks take and give. Admins only."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from core.wire import Exact, Page, Wire

MOST_EXPECTATIONS = 20
MOST_RUNS = 100
"""Started together."""
Kind = Literal["says", "never_says", "calls", "never_calls", "no_tool_errors", "achieves_goals"]
OF_WORDS: tuple[Kind, ...] = ("says", "never_says")
OF_CALLS: tuple[Kind, ...] = ("calls", "never_calls")
State = Literal["untried", "running", "passing", "failing", "undecided"]
Verdict = Literal["passed", "failed", "broken"]
Title = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=120)]


def _in_one_line(text: str) -> str:
    """As words are compared, and as the one line of a form can show them."""
    return " ".join(text.split())


class Expectation(Exact):
    """One thing that must hold of an answer.

    `says` and `never_says` take words as `value`, found whatever their case and whitespace; `calls` and `never_calls`
    the name of a tool and, as `input`, what its arguments must have in them.
    """

    kind: Kind
    value: Annotated[str, StringConstraints(max_length=1000), AfterValidator(_in_one_line)] = ""
    input: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> "Expectation":
        if self.kind in OF_WORDS and not self.value:
            raise ValueError("value: must be the words")
        if self.kind in OF_CALLS and not self.value:
            raise ValueError("value: must be the name of a tool")
        if self.kind not in (*OF_WORDS, *OF_CALLS) and self.value:
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
    """Which checks to run: those named, or all in a state, or all there are."""

    check_ids: Annotated[list[str], Field(min_length=1, max_length=MOST_RUNS)] | None = None
    state: State | None = None

    @model_validator(mode="after")
    def _one_choice(self) -> "RunAllIn":
        if self.check_ids is not None and self.state is not None:
            raise ValueError("state: give either check_ids or a state")
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
    """One run. `verdict` is null while it is under way (`ended_at` is null too) and where people have to judge."""

    run_id: str
    check_id: str
    batch_id: str
    thread_id: str
    skills: str
    tools: str
    model_profile: str
    skill_versions: list[SkillVersionOut]
    created: datetime
    created_by: str
    ended_at: datetime | None
    verdict: Verdict | None
    findings: list[FindingOut]
    judged_by: str | None


class KeptCheckOut(Wire):
    """A check. `feedback_id` and `resolved`, of the report, are null where its submitter took the rating back; `org` is
    the short name of its org; `runs` are the latest, newest first.
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
    created: datetime
    created_by: str
    modified: datetime
    modified_by: str
    runs: list[RunOut]


class CheckPageOut(Page[KeptCheckOut]):
    """One page of checks, the newest first."""


class BatchOut(Wire):
    """What was started together and what came of it; `is_over` when nothing of it is under way."""

    batch_id: str
    total: int
    running: int
    passed: int
    failed: int
    broken: int
    undecided: int
    is_over: bool
    runs: list[RunOut]
