"""Creating checks from reports, changing, listing and deleting them."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Count, QuerySet
from django.utils import timezone
from django.utils.text import Truncator

from accounts.rights import require_admin
from core import ids, paging
from core.actor import Actor
from core.canonical import fingerprint
from core.destinations import column_contains
from core.errors import Conflict, InvalidRequest, NotFound
from core.wording import isolated
from feedback import access, quoting
from feedback.checks import expecting, judging, running
from feedback.models import Check, UserFeedback
from feedback.wire_checks import MOST_RUNS, CheckIn, RunAllIn
from threads import forks, reading

PLACES = paging.Places("checks")
_TITLE = 100
MOST_TYPED = 500
"""The most characters of a search."""


def keep(
    actor: Actor, feedback_id: str, body: CheckIn, *, shown: str | None = None, title_was: str | None = None
) -> Check:
    """Create the check of a report, or change its title and expectations.

    Changed expectations are applied to the latest runs at once. Repeating a request changes nothing; a deleted check is
    restored with its runs. `shown` is the digest of the expectations that the actor saw, `title_was` the title; if
    somebody else has changed what is changed here, raises a `Conflict` that names theirs. Raises `InvalidRequest` for
    an answer without a request, which cannot be run again.
    """
    report = access.report_for(actor, feedback_id)
    before = Check.objects.filter(feedback=report).first()
    found = judging.readings(before, _data(body)) if before and _judges(before, body) else {}
    with access.named_reports_stay(), transaction.atomic():
        defaults = {
            "expectations": _data(body),
            "title": body.title or partial(_title_of, report),  # called only for a new one
            "thread_id": report.thread_id,
            "message_sequence_num": report.message_sequence_num,
            "created_by_id": actor.user_id,
            "modified_by_id": actor.user_id,
        }
        made, is_new = Check.objects.get_or_create(feedback=report, defaults=defaults)
        if is_new:
            return made
        check = judging.locked(made.pk)
        if check is None:
            raise NotFound.of("check", made.check_id)
        if check.is_kept:
            _require_seen(check, body, shown=shown, title_was=title_was)
        judged_anew, is_made = _judges(check, body), check.is_aside
        check.title, check.is_kept, check.dropped_at = body.title or check.title, True, None
        if is_made:  # whoever reran its report has not created it
            check.created, check.created_by_id = timezone.now(), actor.user_id
        if is_made or digest(body) != fingerprint(check.expectations):
            check.expectations, check.modified, check.modified_by_id = _data(body), timezone.now(), actor.user_id
        check.save()
        if judged_anew:
            judging.judge_anew(check, found, by=actor.user_id)
    return check


def _require_seen(check: Check, body: CheckIn, *, shown: str | None, title_was: str | None) -> None:
    """Refuse to overwrite what somebody else changed since; None was not seen."""
    if shown is not None and fingerprint(check.expectations) not in (shown, digest(body)):
        theirs = "; ".join(expecting.spelled(each) for each in check.expectations) or "nothing"
        raise Conflict(f"Somebody else changed the check. It now expects: {theirs}. Save again to overwrite.")
    if body.title and title_was is not None and check.title not in (title_was, body.title):
        raise Conflict(f"Somebody else renamed the check to {isolated(check.title)}. Save again to overwrite.")


def _judges(check: Check, body: CheckIn) -> bool:
    """Whether a check that is kept so judges its latest runs otherwise than it did."""
    return check.is_aside or digest(body) != fingerprint(check.wanted)


def for_reports(actor: Actor, pks: Sequence[int]) -> list[Check]:
    """The checks of reports with these row ids, as far as these are there; those that have none get one that is not
    kept. Seven queries, however many. The rerun of one that was deleted brings its runs back, not the check.

    Call it in the transaction that uses them: the reports are locked, so that none is retracted meanwhile.
    """
    require_admin(actor)
    reports = list(access.locked(pks, "thread").only("key", "thread__title", "message_sequence_num"))
    kept = Check.objects.filter(feedback__in=reports)
    kept.filter(dropped_at__isnull=False).update(dropped_at=None)
    there = set(kept.values_list("feedback", flat=True))
    new = [report for report in reports if report.pk not in there]
    asked = quoting.request_openings([report.pk for report in new])
    Check.objects.bulk_create(
        (
            Check(
                feedback=report,
                thread_id=report.thread_id,
                message_sequence_num=report.message_sequence_num,
                title=_titled(asked.get(report.pk, ""), report),
                is_kept=False,
                created_by_id=actor.user_id,
                modified_by_id=actor.user_id,
            )
            for report in new
        ),
        ignore_conflicts=True,  # somebody creates it at the same time, which needs no lock of its report
    )
    return list(kept.order_by("feedback"))


def digest(body: CheckIn) -> str:
    """A fingerprint of the expectations, for comparison."""
    return fingerprint(_data(body))


def drop(actor: Actor, check_id: str) -> Check:
    """Delete a check from all lists; its waiting runs do not start. Creating it again restores it with the others."""
    found = check_for(actor, check_id)
    with transaction.atomic():
        check = judging.locked(found.pk)
        if check is None:
            raise NotFound.of("check", check_id[:80])
        check.is_kept, check.dropped_at = False, timezone.now()
        check.save(update_fields=["is_kept", "dropped_at"])
    return check


def check_for(actor: Actor, check_id: str) -> Check:
    """The kept check with that id, for an admin; raises `Unauthorized`, then `NotFound`."""
    require_admin(actor)
    found = Check.objects.filter(key=ids.key_of(check_id, ids.CHECK) or "", is_kept=True).first()
    if found is None:
        raise NotFound.of("check", check_id[:80])
    return found


def of_report(report: UserFeedback) -> QuerySet[Check]:
    """The check of a report, if there is one."""
    return Check.objects.filter(feedback=report, is_kept=True)


def listed(actor: Actor, state: str | None = None, words: str = "") -> QuerySet[Check]:
    """All checks, or those in a state and with these words in their names. Raises `InvalidRequest` for an unknown
    state, and for more than `MOST_TYPED` characters.
    """
    require_admin(actor)
    if len(words) > MOST_TYPED:
        raise InvalidRequest(f"q: must be at most {MOST_TYPED} characters")
    if state and state not in Check.State.values:
        raise InvalidRequest(f"state: must be one of {', '.join(Check.State.values)}")
    rows = Check.objects.filter(column_contains(words.split(), "title"), is_kept=True)
    return rows.filter(state=state) if state else rows


def meant(actor: Actor, asked: RunAllIn) -> list[Check]:
    """The checks to run: those named, or those of a state or batch, up to one more than the limit."""
    rows = listed(actor, asked.state)
    if asked.batch_id is not None:  # of reports that were rerun together, too
        batch = running.batch_for(actor, asked.batch_id)
        rows = Check.objects.filter(runs__batch=batch, dropped_at=None).distinct()
    if asked.check_ids is None:
        return list(rows.order_by("id")[: MOST_RUNS + 1])
    keys = {ids.key_of(each, ids.CHECK) or each: each for each in asked.check_ids}
    found = list(rows.filter(key__in=keys))
    for gone in keys.keys() - {each.key for each in found}:
        raise NotFound.of("check", keys[gone][:80])
    return found


def counts(actor: Actor, words: str = "") -> dict[str, int]:
    """How many checks with these words in their names are in each state. One query."""
    rows = listed(actor, words=words).order_by().values_list("state")
    return dict(rows.annotate(count=Count("pk")))


def regressed(actor: Actor) -> int:
    """Number of failing checks whose report is resolved: fixes that did not hold. One query."""
    return listed(actor, Check.State.FAILING).filter(feedback__resolved=True).count()


def _data(body: CheckIn) -> list[dict[str, Any]]:
    return [each.model_dump(exclude_defaults=True) for each in body.expectations]


def _title_of(report: UserFeedback) -> str:
    """The request in one line; the thread's title if it has no text."""
    at = forks.request_of(report.thread, report.message_sequence_num)
    (request,) = reading.snapshots(report.thread_id, between=(at, at))
    return _titled("".join(block["text"] for block in request.blocks if block["content_type"] == "text"), report)


def _titled(request: str, report: UserFeedback) -> str:
    return Truncator(" ".join(request.split()) or report.thread.title or "Untitled").chars(_TITLE)
