"""What rated answers were made of: model, error, tools and words, worked out soon after a report was stored.

A rating has to be quick, so the database only notes that it is to be looked at. The clock of a worker does it
every few seconds, and whoever asks for it does it first: what was rated a moment ago is found.
"""

import json
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from django.db import DatabaseError, DataError, connection, transaction

from core import notices
from feedback import comparing, indexing, triage
from feedback.models import RatedAnswer, RatedTool, Triage, Undigested, UserFeedback

logger = logging.getLogger("heddle.feedback")

BATCH = 100
"""So many at once: SQLite has one writer, and whoever rates an answer meanwhile waits for it."""
ANSWER_LENGTH = 20_000
"""So much of an answer is indexed, and of the names of its tools."""


def digest(limit: int = BATCH) -> int:
    """Look at the answers of at most so many new reports; gives how many. Without any it is one short query.

    What the index cannot hold is left out of it and logged: it would keep all others from being looked at.
    """
    if not Undigested.objects.exists():
        return 0
    try:
        return _digest(limit, _store)
    except DatabaseError as problem:
        if not _is_of_a_row(problem):
            raise
        return sum(_digest(1, _store_or_pass_by) for _ in range(limit))


def _digest(limit: int, store: Callable[[list[int]], None]) -> int:
    with transaction.atomic():
        # The reports are locked with it, so that nobody changes their words between being read and being indexed.
        waiting = Undigested.objects.select_for_update(skip_locked=True, no_key=True).order_by("-pk")
        pks = [pk for pk, _ in waiting.values_list("pk", "feedback__key")[:limit]]
        store(pks)
        Undigested.objects.filter(pk__in=pks).delete()
        if pks:  # told here, and not with each rating: desks that are open look at most every few seconds
            transaction.on_commit(lambda: notices.publish(triage.NOTICE))
        if Triage.objects.filter(snoozed_until_again=True).exists():
            _wake(pks)
    return len(pks)


def catch_up(batches: int = 100) -> int:
    """Digest what has gathered, a bounded part of it at a time; gives how many there were."""
    done = 0
    for _ in range(batches):
        found = digest()
        done += found
        if found < BATCH:
            break
    return done


def _wake(pks: Iterable[int]) -> None:
    for pk, woken in comparing.woken_by(pks).items():
        triage.wake_again(woken, pk)


def _store_or_pass_by(pks: list[int]) -> None:
    try:
        with transaction.atomic():
            _store(pks)
    except DatabaseError as problem:
        if not _is_of_a_row(problem):
            raise
        for report in UserFeedback.objects.filter(pk__in=pks).only("key"):
            # Without its trace, which may hold what was said.
            logger.warning("digest.passed_by", extra={"feedback_id": report.feedback_id})


def _is_of_a_row(problem: DatabaseError) -> bool:
    """Whether the database refused a value, and is not away or busy: PostgreSQL calls both by one name."""
    return isinstance(problem, DataError) or getattr(problem.__cause__, "sqlstate", "").startswith("54")


def _store(pks: list[int]) -> None:
    """Work out and store; what is there already stays, because an answer never changes."""
    answers, errors, tools = _blocks(pks)
    turns = _turns(pks)
    RatedAnswer.objects.bulk_create(
        (
            RatedAnswer(
                feedback_id=pk,
                model_profile=turns.get(pk, ("", ""))[0],
                error_code=(turns.get(pk, ("", ""))[1] or errors.get(pk, ""))[:60],
            )
            for pk in pks
        ),
        ignore_conflicts=True,
    )
    RatedTool.objects.bulk_create(
        (
            RatedTool(feedback_id=pk, tool_name=name[:200], failed=failed)
            for pk in pks
            for name, failed in tools[pk].items()
        ),
        ignore_conflicts=True,
    )
    indexing.add([("".join(answers[pk])[:ANSWER_LENGTH], " ".join(tools[pk])[:ANSWER_LENGTH], pk) for pk in pks])


def _turns(pks: list[int]) -> dict[int, tuple[str, str]]:
    """Profile and error of the turn that each rated answer belongs to; imported and copied answers have none."""
    return {pk: (profile, error) for pk, profile, error in _rows(_TURNS, pks)}


def _blocks(pks: list[int]) -> tuple[dict[int, list[str]], dict[int, str], dict[int, dict[str, bool]]]:
    """What the answers say, the code of an error in them, and the tools of their turns with whether one failed."""
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


def _rows(sql: str, pks: list[int]) -> list[tuple[Any, ...]]:
    if not pks:
        return []
    with connection.cursor() as cursor:
        cursor.execute(sql.format(pks=", ".join(["%s"] * len(pks))), pks)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


# A turn begins with the last message of a user before the answer, and ends before the next one.
_USER = "SELECT {which}(idx) FROM threads_message WHERE thread_id = f.thread_id AND role = 'user' AND idx {side}"
_BEGINS = _USER.format(which="max", side="< f.message_sequence_num")
_ENDS = _USER.format(which="min", side="> f.message_sequence_num")
_TURNS = f"""
    SELECT f.id, t.profile, t.error_code
    FROM feedback_userfeedback f JOIN threads_turn t ON t.thread_id = f.thread_id
    WHERE f.id IN ({{pks}}) AND t.answer_idx >= f.message_sequence_num
        AND t.answer_idx < coalesce(({_ENDS}), 2147483647)
    ORDER BY t.id
"""  # noqa: S608
# The payload of a result may be long, and only its outcome is asked for.
_BLOCKS = f"""
    SELECT f.id, b.kind, b.text, CASE WHEN b.kind <> 'tool_result' THEN b.data END, b.outcome, b.tool_use_id
    FROM feedback_userfeedback f JOIN threads_block b ON b.thread_id = f.thread_id
    WHERE f.id IN ({{pks}}) AND b.idx > coalesce(({_BEGINS}), -1) AND b.idx <= f.message_sequence_num
        AND (b.kind IN ('tool_use', 'tool_result') OR b.idx = f.message_sequence_num AND b.kind IN ('text', 'error'))
    ORDER BY f.id, b.idx, b.position
"""  # noqa: S608
