"""The template context of checks: the panel of a report, and a batch."""

from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Sequence, Set
from typing import Any

from django.db.models.functions import Left
from django.urls import reverse

from accounts.models import User
from catalogue import skills
from core import ids
from core.actor import Actor
from core.errors import NotFound
from core.templatetags.ui import thousands
from core.wording import isolated, one_line
from feedback import batches, check_records, proofs
from feedback.batches import Compared
from feedback.checks import changes, judging, presenting, presenting_batches
from feedback.checks.expecting import spelled
from feedback.checks.presenting import CheckCard, RunLine
from feedback.checks.presenting_batches import ComparedLine, ReportFacts
from feedback.models import Check, CheckBatch, CheckRun, Reply, UserFeedback
from feedback.wire_checks import ChangesOut
from threads import profiles
from threads.comparing import Piece
from threads.models import Thread
from threads.presenting.articles import Article
from threads.presenting.words import counted

LINES = 50
"""Checks of a batch on one page."""
_HEAVY = [f"fork__{column}" for column in Thread.HEAVY]
_NOTES = 140
_CHANGES = 6
"""Most skills that are named."""
TURNED = {"": "All", "failing": "Newly failing", "passing": "Newly passing"}


def of_report(actor: Actor, report: UserFeedback, articles: Iterable[Article] = ()) -> dict[str, Any]:
    """The context of a report's check panel, suggesting the tools that its thread called. One query, and four more if
    there is a check. The form for a new check begins with the expectations of one that was deleted.
    """
    is_there = check_records.has_check(report.pk)
    found = check_records.with_names(Check.objects.filter(feedback=report)).first() if is_there else None
    kept = found if found and found.is_kept else None
    card = cards([kept], reader=actor)[0] if kept else None
    return {
        "check": card,
        "check_rows": presenting.rows_of(found.expectations if found else []),
        "check_of": report.feedback_id,
        "check_tools": sorted({call.tool_name for article in articles for call in article.calls}),
        **choices(),
    }


def cards(checks: Sequence[Check], *, reader: Actor | None = None) -> list[CheckCard]:
    """Checks with their latest runs, for display, with links to the skills that the `reader` may open. Two queries,
    however many there are, and one for a reader.
    """
    found, shown = check_records.latest_runs(checks), []
    named = {each["skill_id"] for runs in found.values() for run in runs for each in run.skill_versions}
    openable = {skill.skill_id for skill in skills.known(reader, [*named])} if reader else set()
    for check in checks:
        runs = found.get(check.pk, check_records.NONE)
        names = _names(check.modified_by, *(run.judged_by for run in runs))
        shown.append(presenting.card_of(check_records.record(check, runs), names, openable))
    return shown


def of_batch(
    reader: Actor,
    batch: CheckBatch,
    earlier: CheckBatch | None,
    *,
    turned: str,
    start: int,
    left_out: Set[str] = frozenset(),
) -> dict[str, Any]:
    """The context of a batch's page from line `start` on, all checks or those that changed; `left_out` are the ids of
    reports that the reader does not want to resolve. Seventeen queries at most.
    """
    heads = batches.heads([batch, earlier] if earlier else [batch])
    checks = batches.compared(batch, earlier)
    counts = Counter({"": len(checks)}) + Counter(each.turned for each in checks if each.turned)
    shown = [each for each in checks if each.turned == turned] if turned else checks
    proved = proofs.fixed_by(batch).values_list("key", flat=True) if batch.ended_at else ()
    fixed = {ids.FEEDBACK + key for key in proved}
    head = presenting_batches.line_of_batch(heads[0], batch.created_by.display_name)
    headline = presenting_batches.headline(heads[0], counts["failing"], counts["passing"])
    lines = _lines(shown[start : start + LINES], batch, fixed, left_out)
    before_in = batches.befores(checks, earlier)
    return {
        "batch": head,
        "headline": headline.words,
        "counts": [each for each in head.counts if each.state not in headline.told],
        "to_judge": bool(heads[0].undecided) and judging.undecided(batch.pk).exists(),
        "figures": presenting_batches.figures(heads[0], heads[1] if earlier else None),
        "against": earlier.batch_id if earlier else "",
        "since": _since(before_in.values(), earlier),
        "changes": _changes(reader, changes.since(batch, before_in), "reports" if heads[0].of_reports else "checks"),
        "has_before": any(each.before for each in checks),
        "lines": lines,
        "has_misses": any(line.misses for line in lines),
        "may_fix": bool(fixed),
        "has_ticks": any(line.is_fixed for line in lines),
        "elsewhere": len(fixed - {line.feedback_id for line in lines} - left_out),
        "of_reports": heads[0].of_reports,
        "next_from": start + LINES if start + LINES < len(shown) else None,
        "turned": turned,
        "filters": [(name, word, counts[name]) for name, word in TURNED.items()],
        "choice": batch,
        **choices(),
        "times": sorted({*presenting.TIMES, batch.times}),
    }


def _since(before_in: Collection[int | None], earlier: CheckBatch | None) -> str:
    """What a batch is compared with, in words."""
    told = ["the previous runs"] if any(before_in) else []
    told += [] if all(before_in) else ["the rated answers"]
    return "that batch" if earlier else " or ".join(told)


def _changes(reader: Actor, made: ChangesOut, things: str) -> tuple[Piece, ...]:
    """What changed, with links to the skills that the reader may open; empty if nothing is known. One query. `things`
    is what the batch ran.
    """

    def told_of(count: int, what: str) -> str:
        """What is otherwise, and for how many, unless it is for all: `1 of 2 checks used weaving 2 instead of 1`."""
        verb = "ran" if what.startswith("with") else "used"
        of = f"{thousands(count)} of {thousands(made.checks)} {things} {verb} "
        return f"{of}{what}" if count < made.checks else what

    openable = {each.skill_id for each in skills.known(reader, [each.skill_id for each in made.skills])}
    found = []
    for each in made.skills[:_CHANGES]:
        lead = "" if each.before and each.now else "with " if each.now else "without "
        then = f" instead of {each.before}" if each.before and each.now else ""
        words = f"{lead}{each.name} {each.now or each.before}{then}"
        found.append(
            Piece(
                told_of(each.checks, words),
                each.skill_id if each.skill_id in openable else "",
                each.now or each.before or 0,
            )
        )
    if len(made.skills) > _CHANGES:
        found.append(Piece(counted(len(made.skills) - _CHANGES, "more skill")))
    if made.system_prompts:
        found.append(Piece(told_of(made.system_prompts, "another system prompt")))
    if made.model_profiles:
        found.append(Piece(told_of(made.model_profiles, "another model")))
    return tuple(found) if found or not made.checks else (Piece("the same skills, system prompt and model"),)


def under_way(batch_ids: Sequence[str]) -> dict[str, Any]:
    """What the desk tells of these batches: the `batches` that run (BatchLine), and of the latest that ended, if one
    did, `ended` (BatchLine), `ended_words` and `ended_at`. Two queries, none without batches.
    """
    found = batches.named(batch_ids)
    heads = batches.heads(found)
    lines = [presenting_batches.line_of_batch(each, "") for each in heads]
    told: dict[str, Any] = {"batches": [line for line, head in zip(lines, heads, strict=True) if not head.ended_at]}
    if over := [(head.ended_at, line, head) for line, head in zip(lines, heads, strict=True) if head.ended_at]:
        ended_at, line, head = max(over, key=lambda each: each[0])
        told |= {"ended": line, "ended_words": presenting_batches.ended(head), "ended_at": ended_at}
    return told


def choices() -> dict[str, Any]:
    """The options that the forms offer."""
    return {"kinds": presenting.KINDS, "times": presenting.TIMES, "profiles": profiles.all_profiles()}


def _names(*people: User | None) -> dict[str, str]:
    """Display names by email address."""
    return {each.email: each.display_name for each in people if each}


def _lines(
    checks: Sequence[Compared], now: CheckBatch, fixed: Container[str], left_out: Container[str]
) -> list[ComparedLine]:
    """Compared checks for display, with their runs and reports; `fixed` are the ids of the reports that the batch
    proves fixed. Six queries.
    """
    runs: dict[tuple[int, int | None], list[RunLine]] = defaultdict(list)
    batch_pks = {now.pk, *(each.before_in for each in checks if each.before_in)}
    shown = check_records.RUNS.filter(batch__in=batch_pks, of__in=[each.check for each in checks])
    for run in shown.order_by("id"):
        runs[run.of_id, run.batch_id].append(presenting.line_of(check_records.run_record(run), _names(run.judged_by)))
    reports = _reports([each.check for each in checks], now, fixed, left_out)
    return [
        ComparedLine(
            check_id=each.check.check_id,
            title=each.check.title,
            feedback_id=each.check.feedback.feedback_id if each.check.feedback else "",
            thread_id=each.check.thread.thread_id,
            message_index=each.check.message_sequence_num,
            state=each.turned or "",
            now=tuple(runs[each.check.pk, now.pk]),
            before=tuple(runs[each.check.pk, each.before_in]),
            report=reports.get(each.check.feedback_id, _RETRACTED),
        )
        for each in checks
    ]


def _reports(
    checks: Sequence[Check], batch: CheckBatch, fixed: Container[str], left_out: Container[str]
) -> dict[int | None, ReportFacts]:
    """The facts of the reports of checks, by row id. Five queries."""
    rows = UserFeedback.objects.filter(kept_check__in=checks).annotate(opens=Left("notes", _NOTES * 4))
    columns = ("key", "sentiment", "modified", "resolved", "resolved_at")
    beside = ("triage__owner__name", "triage__owner__email", "reply__public_status")
    found = list(rows.select_related("triage__owner", "reply").only(*columns, *beside))
    shown = proofs.Proofs(batch.batch_id, [each.pk for each in found])
    told: dict[int | None, ReportFacts] = {}
    for each in found:
        owner, reply = getattr(each, "triage", None), getattr(each, "reply", None)
        is_fixed = each.feedback_id in fixed
        lack = shown.lack(each) if shown.passed(each.pk) and not is_fixed and not each.resolved else ""
        facts = (
            "resolved" if each.resolved else "",
            lack[:1].lower() + lack[1:].rstrip("."),
            f"owner {isolated(owner.owner.display_name)}" if owner and owner.owner else "",
            "answered" if reply and reply.public_status == Reply.Status.ANSWERED else "",
        )
        told[each.pk] = ReportFacts(
            one_line(each.opens or "", _NOTES), tuple(filter(None, facts)), is_fixed, each.feedback_id in left_out
        )
    return told


_RETRACTED = ReportFacts(facts=("retracted by its submitter",))


def of_run(run_id: str) -> dict[str, Any]:
    """The context of the panel to judge a run that was started. Three queries. Raises `NotFound`."""
    rows = CheckRun.objects.select_related("of", "fork", "batch__created_by", "judged_by").defer(*_HEAVY)
    run = rows.filter(key=ids.key_of(run_id, ids.RUN) or "", of__dropped_at=None, fork__isnull=False).first()
    if run is None:
        raise NotFound.of("run", run_id[:80])
    line = presenting.line_of(check_records.run_record(run), _names(run.judged_by))
    missed = {expected for expected, _ in line.misses}
    ended = CheckRun.objects.filter(batch=run.batch_id, pk__lt=run.pk, ended_at__isnull=False, fork__isnull=False)
    before = ended.order_by("-pk").values_list("fork__key", flat=True).first()
    return {
        "run": line,
        "previous": ids.THREAD + before if before else "",
        "check_title": run.of.title,
        "expectations": [said for each in run.of.wanted if (said := spelled(each)) not in missed],
        "has_expectations": bool(run.of.wanted),
        "judged_by": run.judged_by.email if run.judged_by else "",
        "left": judging.undecided(run.batch_id).exclude(pk=run.pk).count(),
    }


def panel_of(actor: Actor, thread: Thread) -> str:
    """The address of the panel of a thread that is an ended run of a check; empty for others, and for non-admins."""
    if not actor.is_admin:
        return ""
    rows = CheckRun.objects.filter(fork=thread.pk, of__dropped_at=None, ended_at__isnull=False)
    key = rows.values_list("key", flat=True).first()
    return reverse("feedback:run", args=[ids.RUN + key]) if key else ""
