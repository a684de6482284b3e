"""Runs the demo's checks in batches, whose answers are written down: the simulator would say nothing worth proving."""

from datetime import datetime, timedelta
from typing import cast

from django.db.models import F
from django.utils import timezone

from config.demo import stories
from config.demo.backdating import put_back
from config.demo.stories import Batch, Run
from core.actor import Actor
from feedback.checks import judging, running
from feedback.models import Check, CheckBatch, CheckRun
from threads import importing
from threads.models import Thread


def prove(admin: Actor, batch: Batch, now: datetime) -> None:
    """Run the checks of a batch, answer each run, give the verdicts of people, and backdate it all."""
    begins = now - timedelta(hours=batch.hours_ago)
    checks = {check.title: check for check in Check.objects.filter(title__in={run.check for run in batch.runs})}
    made = running.run(admin, list(checks.values()), batch.options)
    told = list(batch.runs)
    while under_way := list(
        CheckRun.objects.filter(batch=made, ended_at=None, fork__isnull=False).select_related("of", "fork")
    ):
        for run in under_way:
            answer = next(each for each in told if each.check == run.of.title)
            told.remove(answer)
            _answer(cast(Thread, run.fork), answer)
            judging.settle()
            if answer.verdict is not None:
                judging.judge(admin, run.run_id, answer.verdict)
            _put_back(run, begins)
        running.go_on()
    CheckBatch.objects.filter(pk=made.pk).update(created=begins, ended_at=begins + _LASTS)


_LASTS = timedelta(minutes=2)


def _answer(fork: Thread, run: Run) -> None:
    words = sum(len((line.agent or "").split()) for line in run.lines)
    importing.import_answer(
        fork,
        stories.answered(f"run_{fork.pk}", run.lines, timezone.now()),
        took=timedelta(milliseconds=900 + 40 * words),
        input_tokens=900 + 30 * words,
        output_tokens=2 * words,
    )


def _put_back(run: CheckRun, at: datetime) -> None:
    fork = cast(Thread, run.fork)
    put_back(fork, at, since=(fork.forked_from_message_sequence_num or 0) + 1)
    CheckRun.objects.filter(pk=run.pk).update(created=at, ended_at=F("ended_at") + (at - fork.created))
