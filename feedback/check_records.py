"""Converts rows to the wire records of checks, with public ids instead of row ids."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import or_

from django.db.models import OuterRef, Q, QuerySet, Subquery

from core.prepared import Prepared
from feedback.models import Check, CheckRun
from feedback.wire_checks import FindingOut, KeptCheckOut, RunOut, SkillVersionOut
from threads.models import Thread

NONE: tuple[CheckRun, ...] = ()
RUNS_SHOWN = 20
"""Of each check."""


def has_check(report_pk: int) -> bool:
    """Whether a report has a check, or had one that was deleted. One query, compiled once."""
    return bool(_OF_REPORT.rows(report_pk))


_OF_REPORT = Prepared(lambda report: Check.objects.filter(feedback=report).values_list("pk"), int)


def with_names(rows: QuerySet[Check]) -> QuerySet[Check]:
    """Checks with the related rows that their records need."""
    return rows.select_related("feedback", "thread__org", "created_by", "modified_by").defer(*_HEAVY)


def records(checks: Iterable[Check]) -> list[KeptCheckOut]:
    """Checks with their latest runs. Two queries, however many there are."""
    found = list(checks)
    runs = latest_runs(found)
    return [record(each, runs.get(each.pk, NONE)) for each in found]


def latest_runs(checks: Sequence[Check]) -> Mapping[int, list[CheckRun]]:
    """The latest runs by the row id of their check, newest first. Two queries."""
    # First find the oldest run shown of each check, a few steps into the index. A window function would read all runs.
    of_check = CheckRun.objects.filter(of=OuterRef("pk")).order_by("-id").values("id")
    oldest = Check.objects.filter(pk__in=[check.pk for check in checks]).annotate(
        oldest=Subquery(of_check[RUNS_SHOWN - 1 : RUNS_SHOWN])
    )
    shown = [Q(of=pk, id__gte=first or 0) for pk, first in oldest.values_list("pk", "oldest")]
    rows = RUNS.filter(reduce(or_, shown, Q(pk__in=[])))
    found: dict[int, list[CheckRun]] = defaultdict(list)
    for run in rows.order_by("-id"):
        found[run.of_id].append(run)
    return found


def run_record(run: CheckRun) -> RunOut:
    """One run."""
    return RunOut(
        run_id=run.run_id,
        check_id=run.of.check_id,
        batch_id=run.batch.batch_id,
        thread_id=run.fork.thread_id if run.fork else None,
        skills=run.batch.skills,
        prompt=run.batch.prompt,
        tools=run.batch.tools,
        model_profile=run.model_profile,
        skill_versions=[SkillVersionOut(**each) for each in run.skill_versions],
        created=run.created,
        created_by=run.batch.created_by.email,
        ended_at=run.ended_at,
        verdict=run.verdict,
        findings=[FindingOut(**each) for each in run.findings],
        is_alike=run.is_alike,
        problem=run.problem,
        seconds=run.seconds,
        input_tokens=run.input_tokens,
        output_tokens=run.output_tokens,
        cost=None if run.cost is None else float(run.cost),
        judged_by=run.judged_by.email if run.judged_by else None,
    )


def record(check: Check, runs: Sequence[CheckRun]) -> KeptCheckOut:
    """One check with these of its runs."""
    return KeptCheckOut(
        check_id=check.check_id,
        feedback_id=check.feedback.feedback_id if check.feedback else None,
        resolved=check.feedback.resolved if check.feedback else None,
        org=check.thread.org.slug,
        thread_id=check.thread.thread_id,
        message_sequence_num=check.message_sequence_num,
        title=check.title,
        expectations=check.expectations,
        state=check.state,
        outcome_before=check.outcome_before or None,
        created=check.created,
        created_by=check.created_by.email,
        modified=check.modified,
        modified_by=check.modified_by.email,
        runs=[run_record(run) for run in runs],
    )


RUNS = (
    CheckRun.objects.select_related("of", "fork", "batch__created_by", "judged_by")
    .only(
        "key", "model_profile", "skill_versions", "created", "ended_at", "verdict", "findings", "is_alike", "problem",
        "seconds", "input_tokens", "output_tokens", "cost", "of__key", "fork__key", "batch__key", "batch__skills",
        "batch__tools", "batch__prompt", "batch__created_by__email", "batch__created_by__name", "judged_by__email",
        "judged_by__name",
    )
)  # fmt: skip
"""Runs with the related rows that their records need."""
_HEAVY = [f"thread__{column}" for column in Thread.HEAVY]
