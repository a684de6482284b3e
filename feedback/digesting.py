"""The digest: extracts model, error, tools and words of rated answers, soon after a report is stored.

Rating must be fast, so the database only marks the report as undigested. The scheduler runs the digest every few
seconds, and queries that need it run it first, so that they find the newest reports. An answer that was rated during
its turn stays marked and is digested again when the turn has ended, because only then its error is known. Of a report
whose notes changed, only the words are indexed again.
"""

import json
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any

from django.db import DatabaseError, DataError, OperationalError, connection, transaction
from django.db.models import Exists, OuterRef, Q, Subquery
from django.db.models.lookups import IsNull

from core.db import again
from core.errors import Unavailable
from core.prepared import Prepared, together
from core.rows import new
from feedback import desk_notices, indexing, likeness, quoting, triage
from feedback.models import RatedAnswer, RatedTool, Reworded, Triage, Undigested, UserFeedback
from threads.models import Message, Turn
from threads.status import OPEN_TURN

logger = logging.getLogger("heddle.feedback")

BATCH = 100
"""Reports per transaction: SQLite has one writer, and ratings have to wait meanwhile."""
ANSWER_LENGTH = 20_000
"""Most characters that are indexed of an answer, and of its tool names."""
COMMENTS_LENGTH = 20_000
"""Most characters that are indexed of the comments on a report, the latest first."""


def bring_up_to_date() -> None:
    """Digest before reading; while the database accepts no write, what is digested so far has to do."""
    with suppress(OperationalError):
        digest()


def finish(seconds: float = 10) -> None:
    """Digest all that waits, including what another process is digesting: for what acts on all that match, or counts
    them. What is not digested yet has no words, so that it would be missed, and be hit by a term with a minus.

    Not inside a transaction. Raises `Unavailable` if it takes longer.
    """
    end = time.monotonic() + seconds
    while any(together((_ANY_WAITING, ()), (_ANY_REWORDED, ()))):
        if time.monotonic() > end:
            raise Unavailable("Many new reports are being indexed. Try again in a moment.")
        if not digest():
            time.sleep(0.02)


def digest(limit: int = BATCH) -> int:
    """Digest at most `limit` new reports and as many changed ones; returns how many new ones. One short trip to the
    database if there are none.

    A report that the index cannot hold is skipped and logged, so that it does not block the others.
    """
    is_new, is_reworded = together((_ANY_WAITING, ()), (_ANY_REWORDED, ()))
    done = _digest_new(limit) if is_new else 0
    if is_reworded:
        _index_changed(limit)
    return done


def _digest_new(limit: int) -> int:
    try:
        return again(partial(_digest, limit, _store))
    except DatabaseError as problem:
        if not _is_of_a_row(problem):
            raise
        return sum(again(partial(_digest, 1, _store_or_pass_by)) for _ in range(limit))


def _digest(limit: int, store: Callable[[list[int]], set[int]]) -> int:
    """Digest in one transaction, which is tried again after a deadlock: it locks new reports and then wakes older ones,
    while bulks lock upwards.
    """
    with transaction.atomic():
        # The reports are locked, too, so that their texts do not change between reading and indexing.
        waiting = _WAITING.select_for_update(skip_locked=True, no_key=True).order_by("-pk")
        pks = [pk for pk, _ in waiting.values_list("pk", "feedback__key")[:limit]]
        unfinished = store(pks)
        Undigested.objects.filter(pk__in=set(pks) - unfinished).delete()
        if pks:  # notified here, not with each rating, so that open desks refresh at most every few seconds
            desk_notices.announce()
        if Triage.objects.filter(snoozed_until_again=True).exists():
            _wake(pks)
    return len(pks)


def _index_changed(limit: int) -> None:
    with transaction.atomic():
        changed = Reworded.objects.select_for_update(skip_locked=True, no_key=True).order_by("-pk")
        rows = list(changed.values_list("pk", *_NOTES)[:limit])
        comments = quoting.comments([pk for pk, *_ in rows])
        reports = [indexing.Words(pk, notes, _joined(note, comments[pk])) for pk, notes, note in rows]
        indexing.reword(reports)
        Reworded.objects.filter(pk__in=[report.pk for report in reports]).delete()


def catch_up(batches: int = 100) -> int:
    """Digest all new and changed reports, in limited batches; returns how many new ones."""
    done = 0
    for _ in range(batches):
        found = digest()
        done += found
        if found < BATCH and not _ANY_REWORDED.rows():
            break
    return done


def _wake(pks: Iterable[int]) -> None:
    for pk, woken in likeness.woken_by(pks).items():
        triage.wake_again(woken, pk)


def _store_or_pass_by(pks: list[int]) -> set[int]:
    try:
        with transaction.atomic():
            return _store(pks)
    except DatabaseError as problem:
        if not _is_of_a_row(problem):
            raise
        for report in UserFeedback.objects.filter(pk__in=pks).only("key"):
            # Without the traceback, which may contain users' texts.
            logger.warning("digest.passed_by", extra={"feedback_id": report.feedback_id})
        return set()


def _is_of_a_row(problem: DatabaseError) -> bool:
    """Whether the database refused a value, and is not unavailable or busy: PostgreSQL uses one class for both."""
    return isinstance(problem, DataError) or getattr(problem.__cause__, "sqlstate", "").startswith("54")


def _store(pks: list[int]) -> set[int]:
    """Extract and store; returns the reports whose turn has not ended yet. Without a turn, existing rows stay."""
    answers, errors, tools = _blocks(pks)
    turns = _turns(pks)
    unknown = ("", "", False)
    RatedAnswer.objects.filter(pk__in=turns).delete()  # of reports that were digested before their turn ended
    RatedTool.objects.filter(feedback__in={*turns, *tools}).delete()
    RatedAnswer.objects.bulk_create(
        (
            new(RatedAnswer, feedback_id=pk, model_profile=profile, error_code=(error or errors.get(pk, ""))[:60])
            for pk, (profile, error, _) in ((pk, turns.get(pk, unknown)) for pk in pks)
        ),
        ignore_conflicts=True,
    )
    RatedTool.objects.bulk_create(
        (
            new(RatedTool, feedback_id=pk, tool_name=name[:200], failed=failed)
            for pk in pks
            for name, failed in tools[pk].items()
        ),
        ignore_conflicts=True,
    )
    comments = quoting.comments(pks)
    indexing.add(
        indexing.Words(
            pk,
            notes,
            _joined(note, comments[pk]),
            "".join(answers[pk])[:ANSWER_LENGTH],
            " ".join(tools[pk])[:ANSWER_LENGTH],
        )
        for pk, notes, note in UserFeedback.objects.filter(pk__in=pks).values_list("pk", "notes", "admin_note")
    )
    return {pk for pk, (_, _, is_open) in turns.items() if is_open}


def _turns(pks: list[int]) -> dict[int, tuple[str, str, bool]]:
    """Profile and error of each rated answer's turn, and whether it is open; imported and copied answers have none."""
    return {pk: (profile, error, is_open) for pk, profile, error, is_open in _rows(_TURNS, pks)}


def _blocks(pks: list[int]) -> tuple[dict[int, list[str]], dict[int, str], dict[int, dict[str, bool]]]:
    """The texts of the answers, the error code in them, and the tools of their turns with whether they failed."""
    answers: dict[int, list[str]] = defaultdict(list)
    errors: dict[int, str] = {}
    tools: dict[int, dict[str, bool]] = defaultdict(dict)
    used: dict[tuple[int, str], str] = {}
    for pk, kind, text, data, outcome, use_id in _rows(_BLOCKS, pks):
        match kind:
            case "text":
                answers[pk].append(text)
            case "error":
                errors[pk] = json.loads(data).get("error_code") or "" if data else ""
            case "tool_use":
                name = json.loads(data)["tool_name"]
                tools[pk].setdefault(name, False)
                used[pk, use_id] = name
            case "tool_result" if outcome == "error" and (pk, use_id) in used:
                tools[pk][used[pk, use_id]] = True
    return answers, errors, tools


def _joined(note: str | None, comments: str) -> str:
    return f"{note or ''}{quoting.BETWEEN}{comments[:COMMENTS_LENGTH]}" if comments else note or ""


def _rows(sql: str, pks: list[int]) -> list[tuple[Any, ...]]:
    if not pks:
        return []
    with connection.cursor() as cursor:
        cursor.execute(sql.format(pks=", ".join(["%s"] * len(pks))), pks)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


# A turn begins with the last user message before the answer, and ends before the next one.
_USER = "SELECT {which}(idx) FROM threads_message WHERE thread_id = f.thread_id AND role = 'user' AND idx {side}"
_BEGINS = _USER.format(which="max", side="< f.message_sequence_num")
_ENDS = _USER.format(which="min", side="> f.message_sequence_num")
# An open turn reaches to the end of its thread.
_OPEN = "t.state IN ({})".format(", ".join(f"'{state.value}'" for state in OPEN_TURN))
_ANSWERS = f"CASE WHEN {_OPEN} THEN 2147483646 ELSE t.answer_idx END"
_TURNS = f"""
    SELECT f.id, t.profile, t.error_code, {_OPEN}
    FROM feedback_userfeedback f JOIN threads_turn t ON t.thread_id = f.thread_id
    WHERE f.id IN ({{pks}}) AND {_ANSWERS} >= f.message_sequence_num
        AND {_ANSWERS} < coalesce(({_ENDS}), 2147483647)
    ORDER BY t.id
"""  # noqa: S608
# Payloads of results may be long, and only their outcome is needed. The result of a rated call comes after it.
_BLOCKS = f"""
    SELECT f.id, b.kind, b.text, CASE WHEN b.kind <> 'tool_result' THEN b.data END, b.outcome, b.tool_use_id
    FROM feedback_userfeedback f JOIN threads_block b ON b.thread_id = f.thread_id
    WHERE f.id IN ({{pks}}) AND b.idx > coalesce(({_BEGINS}), -1) AND b.idx < coalesce(({_ENDS}), 2147483647)
        AND (b.idx <= f.message_sequence_num OR b.kind = 'tool_result')
        AND (b.kind IN ('tool_use', 'tool_result') OR b.idx = f.message_sequence_num AND b.kind IN ('text', 'error'))
    ORDER BY f.id, b.idx, b.position
"""  # noqa: S608
_OPEN_TURNS = Turn.objects.filter(thread=OuterRef("thread"), state__in=OPEN_TURN)
_REQUESTS_SINCE = Message.objects.filter(
    thread=OuterRef("thread"), role=Message.Role.USER, idx__gt=OuterRef("message_sequence_num")
)
# Not a join: SQLite would begin it with all reports, and look for each whether it waits.
_IS_OVER = Exists(UserFeedback.objects.filter(pk=OuterRef("pk")).filter(~Exists(_OPEN_TURNS) | Exists(_REQUESTS_SINCE)))
# A value, not an EXISTS: for that PostgreSQL may read the answers of all reports first.
_DIGESTED = Subquery(RatedAnswer.objects.filter(pk=OuterRef("pk")).values("pk")[:1])
_WAITING = Undigested.objects.filter(IsNull(_DIGESTED, True) | Q(_IS_OVER))
"""New reports, and those that were digested during a turn that has ended since."""
_ANY_WAITING = Prepared(lambda: _WAITING.values_list("pk")[:1])
_ANY_REWORDED = Prepared(lambda: Reworded.objects.values_list("pk")[:1])
_NOTES = ("feedback__notes", "feedback__admin_note")
