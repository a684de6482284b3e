"""How batches look: the list of them, and one held against another. Plain data, no ORM."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from core.rendering import took
from core.templatetags.ui import thousands
from feedback.checks.presenting import Marked, RunLine
from feedback.checks.wire import BatchHeadOut
from threads.figures import dollars

_VERDICTS = ("passed", "failed", "broken", "undecided")


@dataclass(frozen=True)
class Count(Marked):
    """How many runs of a batch came to one verdict."""

    state: str
    number: int


@dataclass(frozen=True)
class Figure:
    """One figure of a batch and of the one that it is held against, in words."""

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
    """Of each verdict that it has."""
    total: int
    left: int
    """Runs that have not ended."""
    figures: str


@dataclass(frozen=True)
class ComparedLine(Marked):
    """A check in two batches, with its runs in each; `state` is what it has become, empty where it did not turn."""

    check_id: str
    title: str
    feedback_id: str
    """Empty where the rating was taken back."""
    thread_id: str
    message_index: int
    state: str
    now: tuple[RunLine, ...]
    before: tuple[RunLine, ...]

    @property
    def misses(self) -> tuple[tuple[str, str], ...]:
        """What did not hold, in the first of its runs of which something did not."""
        return next((run.misses for run in self.now if run.misses), ())


def line_of_batch(head: BatchHeadOut, by: str) -> BatchLine:
    """A batch as it is shown, by whom it was asked for."""
    return BatchLine(
        batch_id=head.batch_id,
        at=head.created,
        by=by,
        choices=_choices(head),
        counts=tuple(Count(each, number) for each in _VERDICTS if (number := getattr(head, each))),
        total=head.total,
        left=head.waiting + head.running,
        figures=", ".join(filter(None, (_time(head), _tokens(head), _cost(head)))),
    )


def headline(head: BatchHeadOut, turned_failing: int, turned_passing: int) -> str:
    """What came of it, in a line: what turned, else whether all is well."""
    if not head.is_over:
        ended = head.total - head.waiting - head.running
        return f"{thousands(ended)} of {thousands(head.total)} runs have ended"
    turned = {"failing": turned_failing, "passing": turned_passing}
    told = [f"{thousands(number)} turned {word}" for word, number in turned.items() if number]
    if told:
        return ", ".join(told)
    if not head.total:
        return "Stopped before anything had begun"
    if head.passed == head.total:
        return "All runs passed" if head.total > 1 else "It passed"
    return f"{_passed(head)} runs passed"


def figures(now: BatchHeadOut, before: BatchHeadOut | None) -> tuple[Figure, ...]:
    """What the two came to and took, those left out that neither has anything of."""
    rows = (
        ("Runs that passed", _passed),
        ("Failed", lambda head: _number(head.failed)),
        ("Broke off", lambda head: _number(head.broken)),
        ("Undecided", lambda head: _number(head.undecided)),
        ("Skills", lambda head: "latest" if head.skills == "latest" else "as it had them"),
        ("Tool calls", lambda head: "really made" if head.tools == "live" else "from the record"),
        ("Model", lambda head: head.model_profile or "that of each thread"),
        ("Time", _time),
        ("Tokens", _tokens),
        ("Cost", _cost),
    )
    told = [Figure(name, tell(now), tell(before) if before else "") for name, tell in rows]
    return tuple(each for each in told if each.now or each.before)


def _choices(head: BatchHeadOut) -> str:
    chosen = (
        "latest skills" if head.skills == "latest" else "skills as it had them",
        "calls really made" if head.tools == "live" else "",
        head.model_profile or "",
        f"each {head.times} times" if head.times > 1 else "",
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
