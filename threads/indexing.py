"""The index of threads: the words of answers, of what people wrote, and of what tools were sent and returned, and the
tools that were used.

The writer of the transcript only marks a thread as unindexed, because an answer is stored in fragments and a turn must
not wait for an index. The scheduler indexes every few seconds, and searches do so first, so that they find the newest
answers. Messages are indexed once they have ended. Rows of the full-text index are deleted by a trigger with their
message.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db import connection, transaction

from core.db import load
from core.fulltext import Index, pieces, plain
from core.prepared import Prepared
from core.triggers import Triggers
from threads.models import Block, Message, Thread, Unindexed

INDEX = Index("threads_search", "message_id", {"text": "A", "asked": "B", "call": "C"})
AT_ONCE = 200
"""Messages per transaction: SQLite has one writer, and the threads are locked meanwhile."""
_THREADS = 50
_LENGTH, _CALLS_LENGTH = 100_000, 50_000
"""Characters of a message, and of its calls; PostgreSQL cannot index more than a megabyte of different words."""

TRIGGERS = Triggers(
    frozenset({INDEX.table, "threads_message"}),
    {
        "threads_message_gone": f"""
            AFTER DELETE ON threads_message BEGIN
                DELETE FROM {INDEX.table} WHERE rowid = old.id;
            END""",  # noqa: S608
    },
    {
        "threads_message_gone": (
            "AFTER DELETE ON threads_message FOR EACH ROW",
            f"DELETE FROM {INDEX.table} WHERE message_id = old.id;",  # noqa: S608
        ),
        "threads_messages_gone": (
            "AFTER TRUNCATE ON threads_message FOR EACH STATEMENT",
            f"TRUNCATE {INDEX.table};",
        ),
    },
    f"{INDEX.table}_words ON {INDEX.table} USING gin (document)",
)


@dataclass(frozen=True, slots=True)
class _Part:
    """The messages of a thread from `first` to before `end`, and whether they are all that wait."""

    thread_pk: int
    first: int
    end: int
    is_last: bool


def index() -> int:
    """Index at most `AT_ONCE` messages; returns how many. One short query if there are none."""
    if not _ANY_WAITING.rows():
        return 0
    with transaction.atomic():
        # Locked like by the writer, and in its order, so neither can wait for the other in a circle.
        parts = _batch(_WAITING.select_for_update(skip_locked=True, no_key=True))
        _index_texts(_RANGE, [[part.thread_pk, part.first, part.end] for part in parts])
        _index_tools(parts)
        for part in parts:
            if not part.is_last:
                Unindexed.objects.filter(pk=part.thread_pk).update(from_idx=part.end)
        Unindexed.objects.filter(pk__in=[part.thread_pk for part in parts if part.is_last]).delete()
    return sum(max(part.end - part.first, 1) for part in parts)


def _batch(waiting: Iterable[tuple[int, int, int]]) -> list[_Part]:
    """As much as one transaction takes, of threads with their number of messages and the first that waits."""
    parts, room = [], AT_ONCE
    for pk, count, first in waiting:
        end = min(count, first + room)
        parts.append(_Part(pk, first, end, end == count))
        room -= end - first
        if room <= 0:
            break
    return parts


def catch_up(batches: int = 500) -> int:
    """Index all that waits, in limited batches; returns how many messages."""
    total = 0
    for _ in range(batches):
        done = index()
        total += done
        if not done:
            break
    return total


def index_texts(first_pk: int, last_pk: int) -> None:
    """Index the messages of all threads between these row ids, for bulk loads."""
    _index_texts("m.thread_id BETWEEN %s AND %s", [[first_pk, last_pk]])


def _index_texts(which: str, values: Sequence[Sequence[int]]) -> None:
    rows: list[tuple[int, str, str, str]] = []
    with connection.cursor() as cursor:
        for each in values:
            cursor.execute(_BLOCKS.format(which=which), each)
            rows += (_indexed(pk, role, blocks) for (pk, role), blocks in groupby(cursor, itemgetter(0, 1)))
        if connection.vendor == "sqlite":
            # FTS5 writes a segment of its index at the end of an INSERT with SELECT, and whenever a row id is lower
            # than the one before.
            cursor.executemany(_ROW, sorted(rows))
            return
        cursor.execute(_FORGET, [[pk for pk, *_ in rows]])
        parts = ((pk, enumerate(pieces(texts))) for pk, *texts in rows)
        cursor.executemany(_VECTOR, [(pk, piece, *part) for pk, numbered in parts for piece, part in numbered])


def _indexed(pk: int, role: str, blocks: Iterable[Sequence[Any]]) -> tuple[int, str, str, str]:
    """The row of a message: answer, request, and what tools were sent and returned."""
    said, called = [], []
    for *_, kind, text, data in blocks:
        if kind == "text":
            said.append(text)
        elif data:
            called.append(exchanged(kind, load(data)))
    text = plain("".join(said)[:_LENGTH])
    is_answer = role == Message.Role.ASSISTANT
    return pk, text if is_answer else "", "" if is_answer else text, plain(" ".join(called)[:_CALLS_LENGTH])


def exchanged(kind: str, data: Any) -> str:
    """What is searched of a tool use or result: all texts and numbers in its input or payload, without their keys, a
    line for each.
    """
    found: list[str] = []
    length, waiting = 0, [data.get("input" if kind == "tool_use" else "payload")]
    while waiting and length < _CALLS_LENGTH:
        match waiting.pop():
            case dict() as each:
                waiting += reversed(each.values())
            case list() as each:
                waiting += reversed(each)
            case bool() | None:
                pass
            case each:
                found.append(str(each))
                length += len(found[-1])
    return "\n".join(found)


def _index_tools(parts: Iterable[_Part]) -> None:
    used: dict[tuple[int, str], bool] = {}
    for part in parts:
        names: dict[str, str] = {}
        for kind, use_id, data, outcome in _TOOLS.rows(part.thread_pk, part.first, part.end):
            if kind == "tool_use":
                names[use_id] = _name(data)
                used.setdefault((part.thread_pk, names[use_id]), False)
            elif outcome == "error" and (name := names.get(use_id) or _earlier(part.thread_pk, use_id)):
                used[part.thread_pk, name] = True
    if used:
        with connection.cursor() as cursor:
            cursor.executemany(_USED, [(pk, name, failed) for (pk, name), failed in used.items()])


def _earlier(thread_pk: int, use_id: str) -> str:
    """The name of a tool whose use is not in the same part as its result; empty if there is none."""
    uses = Block.objects.filter(thread=thread_pk, tool_use_id=use_id, kind="tool_use")
    return next((_name(data) for data in uses.values_list("data", flat=True)), "")


def _name(data: Any) -> str:
    """The tool's name in a tool use."""
    return str(data["tool_name"])[:200]


_ANY_WAITING = Prepared(lambda: Unindexed.objects.values_list("pk")[:1])
_WAITING = (
    Thread.objects.filter(unindexed__isnull=False)
    .order_by("-pk")
    .values_list("pk", "message_count", "unindexed__from_idx")[:_THREADS]
)
# Payloads of results may be long, and only their outcome is needed.
_TOOLS = Prepared(
    lambda pk, first, end: (
        Block.objects.filter(thread=pk, idx__gte=first, idx__lt=end, kind__in=("tool_use", "tool_result"))
        .order_by("idx", "position")
        .values_list("kind", "tool_use_id", "data", "outcome")
    ),
    int,
    int,
    int,
)
_USED = """
    INSERT INTO threads_usedtool (thread_id, tool_name, failed) VALUES (%s, %s, %s)
    ON CONFLICT (thread_id, tool_name) DO UPDATE SET failed = threads_usedtool.failed OR excluded.failed
"""
_RANGE = "m.thread_id = %s AND m.idx >= %s AND m.idx < %s"
_ENDED = "', '".join((Message.Status.COMPLETED, Message.Status.FAILED, Message.Status.CANCELLED))
_BLOCKS = f"""
    SELECT m.id, m.role, b.kind, b.text, b.data
    FROM threads_message m JOIN threads_block b ON b.thread_id = m.thread_id AND b.idx = m.idx
    WHERE {{which}} AND m.status IN ('{_ENDED}') AND b.kind IN ('text', 'tool_use', 'tool_result')
    ORDER BY m.id, b.position
"""  # noqa: S608
_ROW = f"INSERT OR REPLACE INTO {INDEX.table} (rowid, {', '.join(INDEX.weights)}) VALUES (%s, %s, %s, %s)"  # noqa: S608
_WEIGHED = " || ".join(
    f"setweight(to_tsvector('pg_catalog.simple', %s), '{weight}')" for weight in INDEX.weights.values()
)
_FORGET = f"DELETE FROM {INDEX.table} WHERE message_id = ANY(%s)"  # noqa: S608
_VECTOR = f"INSERT INTO {INDEX.table} (message_id, piece, document) VALUES (%s, %s, {_WEIGHED})"  # noqa: S608
