"""View models of batches, for their list and for one batch compared with another. Plain data, no ORM."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from core.templatetags.ui import thousands
from core.wording import isolated, straight, took
from feedback.checks.presenting import Marked, RunLine
from feedback.wire_checks import BatchHeadOut
from threads.figures import dollars

_VERDICTS = ("passed", "failed", "broken", "undecided")


@dataclass(frozen=True)
class Count(Marked):
    """The number of a batch's runs with one verdict."""

    state: str
    number: int


@dataclass(frozen=True)
class Figure:
    """One figure of a batch and of the batch it is compared with, in words."""

    name: str
    now: str
    before: str


@dataclass(frozen=True)
class BatchLine:
    """A batch in a list, or at the head of its page."""

    batch_id: str
    at: datetime
    by: str
    choices: str
    counts: tuple[Count, ...]
    """One for each verdict that occurs."""
    total: int
    left: int
    """Runs that have not ended."""
    figures: str
    about: str = ""
    """What it ran, by its first check, for a list."""

    @property
    def done(self) -> int:
        """Runs that have ended."""
        return self.total - self.left


@dataclass(frozen=True)
class ReportFacts:
    """What a batch tells of a report, beside its runs."""

    notes: str = ""
    """How its notes begin."""
    facts: tuple[str, ...] = ()
    """Whether it is resolved, why it is not proved fixed although its runs passed, who has it, and whether it was
    answered, in words.
    """
    is_fixed: bool = False
    is_left_out: bool = False
    """Whether the viewer took its tick away."""


@dataclass(frozen=True)
class ComparedLine(Marked):
    """A check in two batches, with its runs in each; `state` is its new result, empty if it did not change."""

    check_id: str
    title: str
    feedback_id: str
    """Empty if the rating was retracted."""
    thread_id: str
    message_index: int
    state: str
    now: tuple[RunLine, ...]
    before: tuple[RunLine, ...]
    report: "ReportFacts"

    @property
    def is_fixed(self) -> bool:
        """Whether its report is open, and the batch proves it fixed."""
        return self.report.is_fixed

    @property
    def shown(self) -> str:
        """The thread of its latest run that has ended, to stand beside the rated answer; empty if there is none."""
        return next((run.thread_id for run in reversed(self.now) if run.is_over), "")

    @property
    def answer(self) -> str:
        """Whether the answers are the rated one or others, in words; empty if they are not the same in that."""
        told = {run.answer for run in self.now}
        return told.pop() if len(told) == 1 else ""

    @property
    def misses(self) -> tuple[tuple[str, str], ...]:
        """The failed expectations of the first run that has any."""
        return next((run.misses for run in self.now if run.misses), ())


def line_of_batch(head: BatchHeadOut, by: str, first: str = "") -> BatchLine:
    """A batch for display; `by` is the name of who started it, `first` the title of its first check."""
    return BatchLine(
        batch_id=head.batch_id,
        at=head.created,
        by=by,
        choices=_choices(head),
        counts=tuple(Count(each, number) for each in _VERDICTS if (number := getattr(head, each))),
        total=head.total,
        left=head.waiting + head.running,
        figures=", ".join(filter(None, (_time(head), _tokens(head), _cost(head)))),
        about=f"{isolated(first)} and {thousands(head.checks - 1)} more"
        if first and head.checks > 1
        else straight(first),
    )


class Headline(NamedTuple):
    """The result of a batch in one line, and the verdicts whose numbers it tells."""

    words: str
    told: frozenset[str] = frozenset()


def headline(head: BatchHeadOut, turned_failing: int, turned_passing: int) -> Headline:
    """The result of a batch: what changed, else how many runs passed."""
    if not head.is_over:
        ended = head.total - head.waiting - head.running
        return Headline(f"{thousands(ended)} of {thousands(head.total)} runs have ended")
    turned = {"failing": turned_failing, "passing": turned_passing}
    told = [f"{thousands(number)} newly {word}" for word, number in turned.items() if number]
    if told:
        return Headline(", ".join(told))
    if not head.total:
        return Headline("Stopped before any run started")
    told_of = frozenset({"passed", "undecided"})
    if head.passed == head.total:
        return Headline("All runs passed" if head.total > 1 else "The run passed", told_of)
    to_judge = f"{thousands(head.undecided)} {'answer' if head.undecided == 1 else 'answers'} to judge"
    if head.undecided == head.total:
        return Headline(to_judge, told_of)
    passed = f"{_passed(head)} runs passed"
    return Headline(f"{passed}, {to_judge}" if head.undecided else passed, told_of)


def ended(head: BatchHeadOut) -> str:
    """What a batch that is over came to, for who does something else: `9 runs have ended: 4 passed, 5 to judge`."""
    named = {"passed": "passed", "failed": "failed", "broken": "broken", "undecided": "to judge"}
    told = [f"{thousands(number)} {word}" for name, word in named.items() if (number := getattr(head, name))]
    if not told:
        return "A batch was stopped before any run started"
    return f"{thousands(head.total)} {'run has' if head.total == 1 else 'runs have'} ended: {', '.join(told)}"


def figures(now: BatchHeadOut, before: BatchHeadOut | None) -> tuple[Figure, ...]:
    """The figures of both batches, without those that are empty in both. Of one alone, the heading has the results."""
    results = (
        ("Runs that passed", _passed),
        ("Failed", lambda head: _number(head.failed)),
        ("Broken", lambda head: _number(head.broken)),
        ("Undecided", lambda head: _number(head.undecided)),
    )
    rows = (
        ("Skills", lambda head: "latest" if head.skills == "latest" else "original"),
        ("System prompt", lambda head: "latest of agents" if head.prompt == "latest" else "original"),
        ("Tool calls", lambda head: "live" if head.tools == "live" else "recorded"),
        ("Model", lambda head: head.model_profile or "thread's own"),
        ("Time", _time),
        ("Tokens", _tokens),
        ("Cost", _cost),
    )
    shown = (*results, *rows) if before else rows
    told = [Figure(name, tell(now), tell(before) if before else "") for name, tell in shown]
    return tuple(each for each in told if each.now or each.before)


def _choices(head: BatchHeadOut) -> str:
    chosen = (
        "reruns of reports" if head.of_reports else "",
        "latest skills" if head.skills == "latest" else "original skills",
        "latest prompts of agents" if head.prompt == "latest" else "",
        "live calls" if head.tools == "live" else "",
        head.model_profile or "",
        f"{head.times} runs each" if head.times > 1 else "",
    )
    return ", ".join(filter(None, chosen))


def _passed(head: BatchHeadOut) -> str:
    return f"{thousands(head.passed)} of {thousands(head.total)}"


def _number(number: int) -> str:
    return thousands(number) if number else ""


def _time(head: BatchHeadOut) -> str:
    return took(round(head.seconds * 1000)) if head.seconds else ""


def _tokens(head: BatchHeadOut) -> str:
    if not head.input_tokens and not head.output_tokens:
        return ""
    return f"{thousands(head.input_tokens)} tokens in, {thousands(head.output_tokens)} out"


def _cost(head: BatchHeadOut) -> str:
    return dollars(Decimal(str(head.cost))) if head.cost else ""
