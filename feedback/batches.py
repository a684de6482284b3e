"""Reading batches: the results of one, and the comparison of two."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from django.db.models import Count, Exists, F, Min, OuterRef, Q, QuerySet, Subquery, Sum

from accounts.rights import require_admin
from core import ids, paging
from core.actor import Actor
from core.errors import InvalidRequest
from feedback import bulk, check_records, fixing, proofs
from feedback.checks import changes, judging
from feedback.checks.running import batch_for
from feedback.models import Bulk, Check, CheckBatch, CheckRun
from feedback.wire_checks import BatchHeadOut, BatchOut, ComparedCheckOut, ComparisonOut, FixBatchIn, TallyOut
from feedback.wire_verbs import FixIn

PREVIOUS = "previous"
PLACES = paging.Places("batches")
Tallies = Mapping[int, tuple[TallyOut, int]]
"""By row id of the check: its results in one batch, and the row id of that batch."""
_NAMED = ("key", "title", "message_sequence_num", "feedback__key", "thread__key")
_RUNS = CheckRun.objects.only("of", "batch", "ended_at", "verdict")
_REMEMBERED = 20
_WORST = ("failing", "undecided", "running", "untried", "passing")


class Compared(NamedTuple):
    """The results of one check in two batches; None if it was not run."""

    check: Check
    now: TallyOut | None
    before: TallyOut | None
    before_in: int | None
    """The row id of the batch that it is compared with."""

    @property
    def turned(self) -> Literal["passing", "failing"] | None:
        """The new result if it was the opposite before, else None."""
        match self.before and self.before.state, self.now and self.now.state:
            case "passing", "failing":
                return "failing"
            case "failing", "passing":
                return "passing"
        return None


def listed(actor: Actor) -> QuerySet[CheckBatch]:
    """All batches."""
    require_admin(actor)
    return CheckBatch.objects.select_related("created_by")


def comparable(actor: Actor, batch: CheckBatch) -> QuerySet[CheckBatch]:
    """All batches that have a check with this one in common, newest first."""
    checks = CheckRun.objects.filter(batch=batch).values("of")
    shared = CheckRun.objects.filter(batch=OuterRef("pk"), of__in=checks)
    return listed(actor).filter(Exists(shared)).order_by("-pk")


def proved(actor: Actor, batch_id: str) -> list[str]:
    """The ids of the reports that a batch proves fixed (`proofs.Proofs`)."""
    keys = proofs.fixed_by(batch_for(actor, batch_id)).order_by("pk").values_list("key", flat=True)
    return [ids.FEEDBACK + key for key in keys]


def named(batch_ids: Sequence[str]) -> list[CheckBatch]:
    """The batches with these ids that there are, oldest first. One query, none for none."""
    keys = [ids.key_of(each, ids.BATCH) for each in batch_ids]
    return list(CheckBatch.objects.filter(key__in=keys).order_by("pk")) if keys else []


def heads(batches: Sequence[CheckBatch]) -> list[BatchHeadOut]:
    """Batches with their counts and totals. One query, however many there are; none for none."""
    if not batches:
        return []
    is_over = Q(ended_at__isnull=False)
    rows = CheckRun.objects.filter(batch__in=batches).order_by().values("batch")
    counted = rows.annotate(
        total=Count("pk"),
        waiting=Count("pk", filter=~is_over & Q(fork=None)),
        running=Count("pk", filter=~is_over & Q(fork__isnull=False)),
        undecided=Count("pk", filter=is_over & Q(verdict=None)),
        checks=Count("of", distinct=True),
        aside=Count("pk", filter=Q(of__is_kept=False, of__dropped_at=None)),
        unpriced=Count("pk", filter=is_over & Q(fork__isnull=False, cost=None)),
        **{verdict: Count("pk", filter=Q(verdict=verdict)) for verdict in CheckRun.Verdict.values},
        **{f"all_{name}": Sum(name) for name in CheckRun.FIGURES},
    )
    of_batch = {row["batch"]: row for row in counted}
    return [_head(batch, of_batch.get(batch.pk)) for batch in batches]


def firsts(batches: Sequence[CheckBatch]) -> dict[int, str]:
    """The title of the first check of each batch, by row id; a batch without runs has none. One query."""
    first = CheckRun.objects.filter(batch__in=batches).order_by().values("batch").annotate(first=Min("pk"))
    return dict(CheckRun.objects.filter(pk__in=first.values("first")).values_list("batch", "of__title"))


def batch_record(actor: Actor, batch_id: str) -> BatchOut:
    """A batch with each of its runs. Three queries."""
    batch = batch_for(actor, batch_id)
    (head,) = heads([batch])
    runs = check_records.RUNS.filter(batch=batch).order_by("id")
    return BatchOut(**dict(head), runs=[check_records.run_record(run) for run in runs])


def comparison(actor: Actor, batch_id: str, against: str) -> ComparisonOut:
    """Compare a batch with another one, or each of its checks with its own `previous` batch.

    Nine queries at most, however many checks there are; raises `NotFound`.
    """
    batch = batch_for(actor, batch_id)
    other = None if against == PREVIOUS else batch_for(actor, against)
    now, *earlier = heads([batch, other] if other else [batch])
    checks = compared(batch, other)
    turned = [each.turned for each in checks]
    return ComparisonOut(
        now=now,
        before=earlier[0] if earlier else None,
        turned_failing=turned.count("failing"),
        turned_passing=turned.count("passing"),
        changes=changes.since(batch, befores(checks, other)),
        checks=[
            ComparedCheckOut(
                check_id=each.check.check_id,
                title=each.check.title,
                now=each.now,
                before=each.before,
                turned=each.turned,
            )
            for each in checks
        ],
    )


def compared(batch: CheckBatch, other: CheckBatch | None) -> list[Compared]:
    """The checks of both batches: changed ones first, failing before passing. Four queries at most.

    Without another batch, each check is compared with the latest earlier batch in which it passed or failed; broken
    runs decide nothing. While the batch runs, the checks keep the order of their list, so that rows do not move.
    """
    now = _tallies(_RUNS.filter(batch=batch))
    earlier = _tallies(_RUNS.filter(batch=other)) if other else _previous(batch, now)
    rows = Check.objects.filter(pk__in=now.keys() | earlier.keys()).select_related("feedback", "thread").only(*_NAMED)
    found = []
    for check in rows.order_by("-pk"):
        before, before_in = earlier.get(check.pk, (None, None))
        found.append(Compared(check, now.get(check.pk, (None, None))[0], before, before_in))
    return sorted(found, key=_place) if batch.ended_at else found


def befores(checks: Iterable[Compared], other: CheckBatch | None) -> dict[int, int | None]:
    """By row id of a check, that of the batch that it is compared with; None for one that had not run before, which is
    compared with its rated answer. Without those that another batch did not run, if there is one.
    """
    return {each.check.pk: each.before_in for each in checks if each.before_in or not other}


def fix(actor: Actor, batch_id: str, body: FixBatchIn) -> Bulk:
    """Resolve as fixed the reports that a batch proves fixed (`proofs.Proofs`), or those that are named, each by its
    own run and with a reply if one is given, which the submitters of duplicates without an answer get, too; as one bulk
    that one undo takes back.

    Asked again for all when all are fixed, it returns the bulk that did it. Raises `InvalidRequest` if there is none,
    and for a reply beside which the answer has no room; a named report that it does not prove is a failure of the bulk.
    """
    batch = batch_for(actor, batch_id)
    if body.shows_answer:
        fixing.require_room(body.public_reply, field="public_reply")
    named = body.feedback_ids
    if named is None:
        named = proved(actor, batch_id)
        if not named and (done := _fixed_before(actor, batch)):
            return done
    if not named:
        raise InvalidRequest.of("feedback_ids", "this batch proves no open report fixed")
    step = FixIn(batch_id=batch.batch_id, public_reply=body.public_reply, shows_answer=body.shows_answer)
    told = fixing.untold(named) if body.public_reply else []
    return bulk.act_on_all(actor, fixing.FIX, step, feedback_ids=[*named, *told])


def _fixed_before(actor: Actor, batch: CheckBatch) -> Bulk | None:
    """The actor's latest bulk that fixed what a batch proves: a client asks again that did not hear the answer."""
    own = Bulk.objects.filter(verb=fixing.FIX.name, created_by=actor.user_id).order_by("-pk")[:_REMEMBERED]
    return next((each for each in own if each.arguments["batch_id"] == batch.batch_id), None)


def _previous(batch: CheckBatch, checks: Iterable[int]) -> Tallies:
    """The runs of each check in the latest earlier batch in which it passed or failed. Two queries.

    A single query on runs would search for that batch again for every run of a check.
    """
    rows = CheckRun.objects.filter(of=OuterRef("pk"), batch__lt=batch.pk).order_by("-batch").values("batch")
    counted = rows.annotate(
        total=Count("pk"),
        over=Count("ended_at"),
        passed=Count("pk", filter=Q(verdict=CheckRun.Verdict.PASSED)),
        failed=Count("pk", filter=Q(verdict=CheckRun.Verdict.FAILED)),
    )
    decided = counted.filter(
        Q(failed__gt=0) | Q(passed=F("total")), over=F("total")
    )  # the same rule as `judging.state_of`
    found = Check.objects.filter(pk__in=checks).values_list("pk", Subquery(decided.values("batch")[:1]))
    latest = {pk: in_batch for pk, in_batch in found if in_batch}
    runs = _RUNS.filter(of__in=latest, batch__in=set(latest.values()))
    return _tallies(run for run in runs if run.batch_id == latest[run.of_id])


def _tallies(runs: Iterable[CheckRun]) -> Tallies:
    of_check: dict[int, list[CheckRun]] = defaultdict(list)
    for run in runs:
        of_check[run.of_id].append(run)
    return {pk: (_tally(runs), runs[0].batch_id) for pk, runs in of_check.items()}


def _place(compared: Compared) -> tuple[int, int]:
    """The sort key; checks that are not in this batch come last."""
    turned = ("failing", "passing", None).index(compared.turned)
    return turned, _WORST.index(compared.now.state) if compared.now else len(_WORST)


def _tally(runs: Sequence[CheckRun]) -> TallyOut:
    passed = sum(run.verdict == CheckRun.Verdict.PASSED for run in runs)
    return TallyOut(state=judging.state_of(runs), passed=passed, total=len(runs))


def _head(batch: CheckBatch, row: Mapping[str, Any] | None) -> BatchHeadOut:
    row = row or {}
    counts = {
        name: row.get(name, 0) for name in ("total", "waiting", "running", "passed", "failed", "broken", "undecided")
    }
    return BatchHeadOut(
        batch_id=batch.batch_id,
        skills=batch.skills,
        prompt=batch.prompt,
        tools=batch.tools,
        model_profile=batch.model_profile or None,
        times=batch.times,
        created=batch.created,
        created_by=batch.created_by.email,
        ended_at=batch.ended_at,
        checks=row.get("checks", 0),
        of_reports=bool(row.get("aside")),
        **counts,
        is_over=not counts["waiting"] and not counts["running"],
        seconds=round(row.get("all_seconds") or 0.0, 3),
        input_tokens=row.get("all_input_tokens") or 0,
        output_tokens=row.get("all_output_tokens") or 0,
        cost=None if row.get("unpriced") else float(row.get("all_cost") or Decimal()),
    )
