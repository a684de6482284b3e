"""A fork of the rated thread beside the rated answer, as the desk shows it: `compare` in the address is its id."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from django.urls import reverse

from accounts.rights import Right
from core.actor import Actor
from core.errors import DomainError
from feedback import fixing, proofs
from feedback.checks import expecting
from feedback.models import Check, CheckRun, UserFeedback
from feedback.presenting.links import href
from threads import comparing, profiles
from threads.access import may
from threads.comparing import Comparison
from threads.models import Thread, Turn
from threads.presenting.words import Word
from threads.status import RUNNING, ThreadStatus

_ALIKE = Word("alike", "Same answer", "warn", "rest")
_OTHER = Word("other", "Another answer", "", "note")
_NONE = Word("none", "No answer", "", "rest")
_PASSES = Word("passes", "Passes the check", "pos", "check")
_FAILS = Word("fails", "Fails the check", "neg", "fault")
_JUDGED = {
    CheckRun.Verdict.PASSED: Word("passes", "Judged passed", "pos", "check"),
    CheckRun.Verdict.FAILED: Word("fails", "Judged failed", "neg", "fault"),
}
"""Of a run that a person judged."""


@dataclass(frozen=True, slots=True)
class Rerun:
    """A fork that answers the rated request again, or goes on from there."""

    thread_id: str
    by: str
    calls: str
    """How its tool calls are answered: `recorded calls` or `live calls`; empty if nobody asked its agent anything."""
    state: Word
    """Its status while it runs and if it ended badly, else what its check says of it, else whether it differs."""
    is_running: bool
    may_stop: bool
    compared: Comparison
    model: str
    """The label of its model profile; empty if there is none any more."""
    misses: tuple[tuple[str, str], ...] = ()
    """What the check of the report expects and a whole answer does not do, in words, and what was found instead."""

    @property
    def facts(self) -> tuple[str, ...]:
        """How it was made, and its figures once it is whole."""
        differs = (
            (_OTHER.word.lower(),)
            if self.state in (_PASSES, _FAILS, *_JUDGED.values()) and not self.compared.is_alike
            else ()
        )
        figures = () if self.is_running else self.compared.fork.facts
        return tuple(filter(None, (self.calls, self.model, *differs, *figures)))

    @property
    def may_be_fixed(self) -> bool:
        """Whether it ended by itself, did not answer the same, and nobody judged that it failed."""
        return self.state in (_OTHER, _PASSES, _FAILS, _JUDGED[CheckRun.Verdict.PASSED]) and not self.compared.is_alike


def beside(actor: Actor, report: UserFeedback, query: Mapping[str, str], *, tz: ZoneInfo) -> dict[str, Any]:
    """The template context of the fork that an address names: `rerun`, None without one, with `untold`, the number of
    the report's duplicates that have no answer; `lost` (a sentence) if there is none such; `of`, the report's id; and
    the addresses of `ways`.
    """
    context: dict[str, Any] = {"rerun": None, "lost": "", "of": report.feedback_id, **ways(query)}
    if named := query.get("compare"):
        try:
            rerun = rerun_of(actor, report, proofs.fork_of(actor, report, named), tz=tz)
            return context | {"rerun": rerun, "untold": fixing.untold_count(report)}
        except DomainError:
            return context | {"lost": "The thread to compare with is not there any more."}
    return context


def ways(query: Mapping[str, str]) -> dict[str, str]:
    """The address of an open report without a fork, and the address of one beside it up to the fork's id."""
    alone = {**query, "compare": "", "pane": ""}
    return {"alone": href(alone), "beside_at": reverse("feedback:desk") + href({**alone, "pane": "talk"}) + "&compare="}


def rerun_of(actor: Actor, report: UserFeedback, fork: Thread, *, tz: ZoneInfo) -> Rerun:
    """A fork with what differs from the rated answer, and what the report's check says of it."""
    compared = comparing.with_source(actor, fork, tz=tz, is_of_answers=True)
    replays = Turn.objects.filter(thread=fork).order_by("pk").values_list("replays_calls", flat=True).first()
    is_running = fork.status == ThreadStatus.ROBOTO_TURN
    word = compared.state
    misses = None if is_running or not word.idle else _misses(report, fork)
    if word.idle and not compared.is_alike and not compared.is_answered:
        word = _NONE
    elif word.idle:
        word = _judged(fork) or _of_check(misses) or (_ALIKE if compared.is_alike else _OTHER)
    return Rerun(
        thread_id=fork.thread_id,
        by="you" if fork.created_by_id == actor.user_id else fork.created_by.display_name,
        calls="" if replays is None else "recorded calls" if replays else "live calls",
        state=word,
        is_running=is_running,
        may_stop=fork.status in RUNNING and may(actor, fork, Right.CANCEL),
        compared=compared,
        model=profiles.label_of(fork.model_profile),
        misses=misses or (),
    )


def token_of(fork: Thread) -> tuple[int, str]:
    """What changes with every change of a fork that is shown."""
    return fork.revision, fork.status


def _judged(fork: Thread) -> Word | None:
    """What a person said of a fork that is a run."""
    judged = CheckRun.objects.filter(fork=fork, judged_by__isnull=False).values_list("verdict", flat=True).first()
    return _JUDGED[CheckRun.Verdict(judged)] if judged in _JUDGED else None


def _of_check(misses: tuple[tuple[str, str], ...] | None) -> Word | None:
    if misses is None:
        return None
    return _FAILS if misses else _PASSES


def _misses(report: UserFeedback, fork: Thread) -> tuple[tuple[str, str], ...] | None:
    """The expectations of a report's check that the answer of a fork does not meet; None without expectations, and for
    an answer that is not whole.
    """
    wanted = Check.objects.filter(feedback=report, is_kept=True).values_list("expectations", flat=True).first()
    answer = expecting.answer_of(fork, fork.forked_from_message_sequence_num or 0) if wanted else None
    if not wanted or answer is None or not answer.is_whole:
        return None
    found = zip(wanted, expecting.findings(wanted, answer), strict=True)
    return tuple((expecting.spelled(each), one.found) for each, one in found if not one.holds)
