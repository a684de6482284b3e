"""View models of checks, for the report pane and the list of checks. Plain data, no ORM."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest
from typing import Any

from core.canonical import canonical_json, fingerprint
from feedback.checks.expecting import WORDS, spelled
from feedback.wire_checks import FindingOut, KeptCheckOut, RunOut

MARKS = {
    "untried": ("rest", "", "not run yet"),
    "running": ("live", "live", "running"),
    "passing": ("check", "pos", "passing"),
    "failing": ("cross", "neg", "failing"),
    "undecided": ("eye", "warn", "undecided"),
    "passed": ("check", "pos", "passed"),
    "failed": ("cross", "neg", "failed"),
    "broken": ("warn", "warn", "broken"),
    "waiting": ("rest", "", "waiting"),
}
"""Icon, tone and word of each state and verdict."""
KINDS = tuple(WORDS.items())
TIMES = (1, 3, 5, 10)
_TURNED = {"passing", "failing"}
_SKILLS = 3


class Marked:
    """A mixin that gives the icon, tone and word of a `state`."""

    __slots__ = ()
    state: str

    @property
    def icon(self) -> str:
        """The icon."""
        return MARKS[self.state][0]

    @property
    def tone(self) -> str:
        """The icon's tone."""
        return MARKS[self.state][1]

    @property
    def word(self) -> str:
        """The word next to the icon."""
        return MARKS[self.state][2]


@dataclass(frozen=True)
class SkillLine:
    """A skill that the agent of a run had; `skill_id` is empty if the viewer cannot open it."""

    name: str
    version: int
    skill_id: str


@dataclass(frozen=True)
class RunLine(Marked):
    """One run: its result, options and failed expectations."""

    run_id: str
    thread_id: str
    state: str
    lead: str
    """`latest skills`; empty if those of the thread were used."""
    skills: tuple[SkillLine, ...]
    more_skills: int
    """How many are not in `skills`."""
    choices: str
    misses: tuple[tuple[str, str], ...]
    """Failed expectations, each with what was found."""
    at: datetime
    batch: str
    judged_by: str
    is_over: bool
    answer: str = ""
    """Whether the answer is the rated one or another, in words; empty until it is complete."""

    @property
    def facts(self) -> str:
        """Its skills and options in words: `latest skills (refunds 3, tone 2 and 4 more), live calls`."""
        named = ", ".join(f"{each.name} {each.version}" for each in self.skills)
        more = f" and {self.more_skills} more" if self.more_skills else ""
        had = " ".join(filter(None, (self.lead, f"({named}{more})" if named else "")))
        return ", ".join(filter(None, (had, self.choices)))


@dataclass(frozen=True)
class Row:
    """One line of the form: an expectation, or an empty line for another one."""

    kind: str = ""
    value: str = ""
    was: str = ""
    """The kind of the expectation that is stored; a line that lost its value deletes it."""


@dataclass(frozen=True)
class CheckCard(Marked):
    """A check in the report pane or in the list of checks."""

    check_id: str
    feedback_id: str
    thread_id: str
    message_index: int
    title: str
    org: str
    report_state: str
    """`open` or `resolved`; empty if the report was retracted."""
    state: str
    expectations: tuple[str, ...]
    rows: tuple[Row, ...]
    runs: tuple[RunLine, ...]
    modified: datetime
    modified_by: str
    before: str
    """The result before its latest batch."""
    digest: str = ""
    """The fingerprint of the expectations shown; see `keeping.digest`."""

    @property
    def tally(self) -> str:
        """How many runs of the latest batch had the check's result: `2 of 3 failed`."""
        latest = [run for run in self.runs if run.batch == self.runs[0].batch and run.is_over]
        if not latest:
            return ""
        state = {"passing": "passed", "failing": "failed"}.get(self.state, latest[0].state)
        return f"{sum(run.state == state for run in latest)} of {len(latest)} {MARKS[state][2]}"

    @property
    def outcome(self) -> str:
        """What its latest batch came to, as a sentence; empty while any run goes on."""
        return "" if self.is_running or not self.tally else f"Check {self.word}: {self.tally}."

    @property
    def was(self) -> str:
        """The earlier result if the latest batch changed it, else empty."""
        return self.before if self.before and {self.before, self.state} == _TURNED else ""

    @property
    def is_running(self) -> bool:
        """Whether any run waits or is in progress."""
        return self.state == "running"


def card_of(check: KeptCheckOut, names: Mapping[str, str], openable: Collection[str] = ()) -> CheckCard:
    """A check for display; `names` maps people's addresses to names, `openable` are the skills that can be linked."""
    return CheckCard(
        check_id=check.check_id,
        feedback_id=check.feedback_id or "",
        thread_id=check.thread_id,
        message_index=check.message_sequence_num,
        title=check.title,
        org=check.org,
        report_state="" if check.resolved is None else "resolved" if check.resolved else "open",
        state=check.state,
        expectations=tuple(spelled(each) for each in check.expectations),
        rows=rows_of(check.expectations),
        runs=tuple(line_of(run, names, openable) for run in check.runs),
        modified=check.modified,
        modified_by=names[check.modified_by],
        before=check.outcome_before or "",
        digest=fingerprint(check.expectations),
    )


def rows_of(expectations: Sequence[dict[str, Any]]) -> tuple[Row, ...]:
    """The lines of the form, and an empty one."""
    return (*(Row(each["kind"], _value(each), each["kind"]) for each in expectations), Row())


def typed_rows(kinds: Sequence[str], values: Sequence[str], were: Sequence[str]) -> tuple[Row, ...]:
    """The lines of the form as they were typed."""
    return tuple(Row(*line) for line in zip_longest(kinds, values, were, fillvalue=""))


def line_of(run: RunOut, names: Mapping[str, str], openable: Collection[str] = ()) -> RunLine:
    """A run for display; `names` and `openable` as in `card_of`."""
    is_over = run.ended_at is not None
    chosen = ["live calls" if run.tools == "live" else "", run.model_profile]
    shown = run.skill_versions[:_SKILLS]
    return RunLine(
        run_id=run.run_id,
        thread_id=run.thread_id or "",
        state=(run.verdict or "undecided") if is_over else "running" if run.thread_id else "waiting",
        lead="latest skills" if run.skills == "latest" else "",
        skills=tuple(
            SkillLine(each.name, each.version, each.skill_id if each.skill_id in openable else "") for each in shown
        ),
        more_skills=len(run.skill_versions) - len(shown),
        choices=", ".join(filter(None, chosen)),
        misses=((run.problem, ""),) if run.problem else tuple(_miss(each) for each in run.findings if not each.holds),
        at=run.ended_at or run.created,
        batch=run.batch_id,
        judged_by=names[run.judged_by] if run.judged_by else "",
        is_over=is_over,
        answer={None: "", True: "same answer as the rated one", False: "answer differs from the rated one"}[
            run.is_alike
        ],
    )


def _miss(finding: FindingOut) -> tuple[str, str]:
    return spelled(finding.expectation), finding.found


def _value(expectation: dict[str, object]) -> str:
    """An expectation's value as typed in the form: the tool, then its required arguments."""
    given = expectation.get("input")
    value = str(expectation.get("value", ""))
    return value if given is None else f"{value} {canonical_json(given)}"
