"""The request and the rated answer of reports: in full for exports, how the answer begins for lists; and the texts of
the comments on them.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import OuterRef, Subquery
from django.db.models.functions import Left

from core import ids
from core.markdown import opening
from feedback.models import Comment, RatedAnswer, RatedTool, UserFeedback
from threads.models import Block, Message

OPENING_LENGTH = 140
BETWEEN = "\nxqcommentqx\n"
"""Between two texts that are indexed together: a word, because a phrase passes over anything else."""


def answer_opening() -> Subquery:
    """For queries of reports: the beginning of the first text in the rated answer, null without a text."""
    texts = Block.objects.filter(thread=OuterRef("thread"), idx=OuterRef("message_sequence_num"), kind="text")
    return Subquery(texts.order_by("position").values(beginning=Left("text", OPENING_LENGTH * 4))[:1])


def answer_openings(feedback_ids: Collection[str]) -> dict[str, str]:
    """How the rated answers of reports begin, in one line, by id; only of those with a text. At most one query."""
    keys = [ids.key_of(each, ids.FEEDBACK) for each in feedback_ids]
    rows = UserFeedback.objects.filter(key__in=keys).annotate(words=answer_opening()).values_list("key", "words")
    return {ids.FEEDBACK + key: opening(words, OPENING_LENGTH) for key, words in rows if words} if keys else {}


def request_openings(pks: Collection[int]) -> dict[int, str]:
    """How the requests of rated answers begin, by row id of the report; only of those with text. At most one query."""
    asked = Message.objects.filter(thread=OuterRef("thread"), role="user", idx__lt=OuterRef("message_sequence_num"))
    texts = Block.objects.filter(thread=OuterRef("thread"), idx=OuterRef("asked"), kind="text").order_by("position")
    opens = Subquery(texts.values(beginning=Left("text", OPENING_LENGTH * 4))[:1])
    rows = UserFeedback.objects.filter(pk__in=pks).annotate(asked=Subquery(asked.order_by("-idx").values("idx")[:1]))
    return {pk: words for pk, words in rows.annotate(words=opens).values_list("pk", "words") if words} if pks else {}


def comments(pks: Collection[int]) -> dict[int, str]:
    """The comments on reports as one text, by row id, the latest first; empty without comments. At most one query."""
    found: dict[int, list[str]] = {pk: [] for pk in pks}
    rows = Comment.objects.filter(feedback__in=pks, deleted_at=None).order_by("-pk") if pks else Comment.objects.none()
    for pk, text in rows.values_list("feedback_id", "text"):
        found[pk].append(text)
    return {pk: BETWEEN.join(texts) for pk, texts in found.items()}


class Quoted(NamedTuple):
    """The texts of a request and its rated answer, and the answer's model, error and tools."""

    request: str
    answer: str
    model_profile: str
    error_code: str
    tools: list[str]


def quoted(pks: Sequence[int]) -> dict[int, Quoted]:
    """By row id of the report, in three queries. A report that is not digested yet has no profile and no tools."""
    texts: dict[tuple[int, bool], list[str]] = defaultdict(list)
    for pk, is_request, text, _ in _texts(pks):
        texts[pk, bool(is_request)].append(text)
    made = {
        pk: (profile, error)
        for pk, profile, error in RatedAnswer.objects.filter(pk__in=pks).values_list(
            "feedback_id", "model_profile", "error_code"
        )
    }
    tools: dict[int, list[str]] = defaultdict(list)
    for pk, name in RatedTool.objects.filter(feedback__in=pks).order_by("pk").values_list("feedback_id", "tool_name"):
        tools[pk].append(name)
    return {
        pk: Quoted("".join(texts[pk, True]), "".join(texts[pk, False]), *made.get(pk, ("", "")), tools[pk])
        for pk in pks
    }


def _texts(pks: Sequence[int]) -> list[tuple[Any, ...]]:
    if not pks:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_TEXTS.format(pks=", ".join(["%s"] * len(pks))), list(pks))
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


# The request of an answer is the last user message before it. It is looked up once for each report: in the condition
# of the join, PostgreSQL would do so for each block of the thread.
_TEXTS = """
    WITH asked AS (
        SELECT f.id, f.thread_id, f.message_sequence_num AS answer, (
            SELECT m.idx FROM threads_message m
            WHERE m.thread_id = f.thread_id AND m.role = 'user' AND m.idx < f.message_sequence_num
            ORDER BY m.idx DESC LIMIT 1
        ) AS request
        FROM feedback_userfeedback f WHERE f.id IN ({pks})
    )
    SELECT a.id, true, b.text, b.position AS place
    FROM asked a JOIN threads_block b ON b.thread_id = a.thread_id AND b.idx = a.request AND b.kind = 'text'
    UNION ALL
    SELECT a.id, false, b.text, b.position
    FROM asked a JOIN threads_block b ON b.thread_id = a.thread_id AND b.idx = a.answer AND b.kind = 'text'
    ORDER BY place
"""
