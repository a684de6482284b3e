"""Database triggers that keep derived data of reports current: owner, digest queue and full-text index.

Triggers cannot be forgotten by a verb, command or manual repair.

On SQLite the index is an FTS5 table with one row per report and one column per kind of text; on PostgreSQL it has a
vector for each of `core.fulltext.pieces`, with one weight per kind. Its texts are `core.fulltext.plain`, which no
database can do, so the triggers only mark a report as undigested or reworded, and the digest writes the rows.

On PostgreSQL, pieces from 0 on hold all texts of a report. Once its notes have changed, those from -1 downwards hold
its notes and admin notes instead, and the others only the rest, so that the answer is not read again.
"""

from collections.abc import Iterable
from operator import itemgetter
from typing import NamedTuple

from django.db import connection

from core.fulltext import Index, pieces, plain
from core.triggers import Triggers
from feedback import recounting

TABLE = "feedback_search"
WEIGHTS = {"notes": "A", "note": "B", "answer": "C", "tools": "D"}
INDEX = Index(TABLE, "feedback_id", WEIGHTS)

NEWEST = {
    "sqlite": f"SELECT %s AS word, rowid FROM {TABLE} WHERE {TABLE} MATCH %s ORDER BY rowid DESC LIMIT {{limit}}",  # noqa: S608
    "postgresql": f"SELECT DISTINCT ON (feedback_id) %s AS word, feedback_id FROM {TABLE} "  # noqa: S608
    "WHERE document @@ to_tsquery('pg_catalog.simple', %s) "
    "ORDER BY feedback_id DESC LIMIT {limit}",
}
"""SQL for the newest hits of a search, with the searched word as the first column."""

_SQLITE = {
    "feedback_report_added": """
        AFTER INSERT ON feedback_userfeedback BEGIN
            INSERT INTO feedback_undigested (feedback_id) VALUES (new.id);
        END""",
    "feedback_report_reworded": """
        AFTER UPDATE OF notes, admin_note ON feedback_userfeedback
        WHEN new.notes IS NOT old.notes OR new.admin_note IS NOT old.admin_note BEGIN
            INSERT INTO feedback_reworded (feedback_id) VALUES (new.id) ON CONFLICT DO NOTHING;
        END""",
    "feedback_comment_added": """
        AFTER INSERT ON feedback_comment BEGIN
            INSERT INTO feedback_reworded (feedback_id) VALUES (new.feedback_id) ON CONFLICT DO NOTHING;
        END""",
    "feedback_comment_changed": """
        AFTER UPDATE OF text, deleted_at ON feedback_comment BEGIN
            INSERT INTO feedback_reworded (feedback_id) VALUES (new.feedback_id) ON CONFLICT DO NOTHING;
        END""",
    "feedback_comment_gone": """
        AFTER DELETE ON feedback_comment WHEN old.deleted_at IS NULL BEGIN
            INSERT INTO feedback_reworded (feedback_id)
            SELECT id FROM feedback_userfeedback WHERE id = old.feedback_id ON CONFLICT DO NOTHING;
        END""",
    "feedback_report_gone": """
        AFTER DELETE ON feedback_userfeedback BEGIN
            DELETE FROM feedback_search WHERE rowid = old.id;
            DELETE FROM feedback_undigested WHERE feedback_id = old.id;
            DELETE FROM feedback_reworded WHERE feedback_id = old.id;
        END""",
    "feedback_owner_named": """
        AFTER INSERT ON feedback_triage WHEN new.owner_id IS NOT NULL BEGIN
            UPDATE feedback_userfeedback SET owned_by_id = new.owner_id WHERE id = new.feedback_id;
        END""",
    "feedback_owner_changed": """
        AFTER UPDATE OF owner_id ON feedback_triage WHEN new.owner_id IS NOT old.owner_id BEGIN
            UPDATE feedback_userfeedback SET owned_by_id = new.owner_id WHERE id = new.feedback_id;
        END""",
    "feedback_owner_gone": """
        AFTER DELETE ON feedback_triage WHEN old.owner_id IS NOT NULL BEGIN
            UPDATE feedback_userfeedback SET owned_by_id = NULL WHERE id = old.feedback_id;
        END""",
    **recounting.SQLITE,
}
_POSTGRES = {
    "feedback_report_added": (
        "AFTER INSERT ON feedback_userfeedback FOR EACH ROW",
        "INSERT INTO feedback_undigested (feedback_id) VALUES (new.id);",
    ),
    "feedback_report_reworded": (
        "AFTER UPDATE OF notes, admin_note ON feedback_userfeedback FOR EACH ROW "
        "WHEN (new.notes IS DISTINCT FROM old.notes OR new.admin_note IS DISTINCT FROM old.admin_note)",
        "INSERT INTO feedback_reworded (feedback_id) VALUES (new.id) ON CONFLICT DO NOTHING;",
    ),
    "feedback_comment_added": (
        "AFTER INSERT ON feedback_comment FOR EACH ROW",
        "INSERT INTO feedback_reworded (feedback_id) VALUES (new.feedback_id) ON CONFLICT DO NOTHING;",
    ),
    "feedback_comment_changed": (
        "AFTER UPDATE OF text, deleted_at ON feedback_comment FOR EACH ROW",
        "INSERT INTO feedback_reworded (feedback_id) VALUES (new.feedback_id) ON CONFLICT DO NOTHING;",
    ),
    "feedback_comment_gone": (
        "AFTER DELETE ON feedback_comment FOR EACH ROW WHEN (old.deleted_at IS NULL)",
        "INSERT INTO feedback_reworded (feedback_id) "
        "SELECT id FROM feedback_userfeedback WHERE id = old.feedback_id ON CONFLICT DO NOTHING;",
    ),
    "feedback_report_gone": (
        "AFTER DELETE ON feedback_userfeedback FOR EACH ROW",
        """
        DELETE FROM feedback_search WHERE feedback_id = old.id;
        DELETE FROM feedback_undigested WHERE feedback_id = old.id;
        DELETE FROM feedback_reworded WHERE feedback_id = old.id;""",
    ),
    "feedback_reports_gone": (
        "AFTER TRUNCATE ON feedback_userfeedback FOR EACH STATEMENT",
        "TRUNCATE feedback_search; DELETE FROM feedback_tally;",
    ),
    "feedback_owner_named": (
        "AFTER INSERT ON feedback_triage FOR EACH ROW WHEN (new.owner_id IS NOT NULL)",
        "UPDATE feedback_userfeedback SET owned_by_id = new.owner_id WHERE id = new.feedback_id;",
    ),
    "feedback_owner_changed": (
        "AFTER UPDATE OF owner_id ON feedback_triage FOR EACH ROW WHEN (new.owner_id IS DISTINCT FROM old.owner_id)",
        "UPDATE feedback_userfeedback SET owned_by_id = new.owner_id WHERE id = new.feedback_id;",
    ),
    "feedback_owner_gone": (
        "AFTER DELETE ON feedback_triage FOR EACH ROW WHEN (old.owner_id IS NOT NULL)",
        "UPDATE feedback_userfeedback SET owned_by_id = NULL WHERE id = old.feedback_id;",
    ),
    **recounting.POSTGRES,
}
TRIGGERS = Triggers(
    frozenset({TABLE, "feedback_reworded", "feedback_untallied", "feedback_comment"}),
    _SQLITE,
    _POSTGRES,
    f"{TABLE}_words ON {TABLE} USING gin (document)",
)


class Words(NamedTuple):
    """The texts of a report that are searched, as they were written."""

    pk: int
    notes: str | None
    admin_note: str | None
    answer: str = ""
    tools: str = ""


def in_notes(word: str) -> str:
    """The index query for a word in notes."""
    return INDEX.match(plain(word), ["notes"]) if _is_sqlite() else INDEX.vector_query(plain(word), ["notes"])


def add(reports: Iterable[Words]) -> None:
    """Index reports. The caller must have locked them, so that their texts do not change meanwhile."""
    # FTS5 writes a segment of its index whenever a row id is lower than the one before.
    rows = sorted(map(_plain, reports), key=itemgetter(-1))
    with connection.cursor() as cursor:
        if _is_sqlite():
            cursor.executemany(_ROW, rows)
            return
        cursor.execute(_FORGET, [[pk for *_, pk in rows]])
        cursor.executemany(
            _VECTOR, [(*part, pk, piece) for *texts, pk in rows for piece, part in enumerate(pieces(texts))]
        )


def reword(reports: Iterable[Words]) -> None:
    """Index the notes and admin notes of reports anew, as `add`; those that are not indexed yet stay so."""
    rows = sorted(((notes, note, pk) for notes, note, _, _, pk in map(_plain, reports)), key=itemgetter(-1))
    with connection.cursor() as cursor:
        if _is_sqlite():
            cursor.executemany(_CHANGED_ROW, rows)
            return
        pks = [pk for *_, pk in rows]
        cursor.execute(_FORGET_CHANGED, [pks])
        cursor.execute(_FORGET_NOTES, [pks])
        written = [(pk, pieces(texts)) for *texts, pk in rows if any(texts)]
        cursor.executemany(
            _CHANGED_VECTOR, [(*part, -piece, pk) for pk, parts in written for piece, part in enumerate(parts, 1)]
        )


def _plain(report: Words) -> tuple[str, str, str, str, int]:
    pk, *texts = report
    notes, note, answer, tools = (plain(text or "") for text in texts)
    return notes, note, answer, tools, pk


def _is_sqlite() -> bool:
    return connection.vendor == "sqlite"


_ROW = f"INSERT OR REPLACE INTO {TABLE} (notes, note, answer, tools, rowid) VALUES (%s, %s, %s, %s, %s)"  # noqa: S608
_CHANGED_ROW = f"UPDATE {TABLE} SET notes = %s, note = %s WHERE rowid = %s"  # noqa: S608
_NOTES, _REST = (
    " || ".join(f"setweight(to_tsvector('pg_catalog.simple', %s), '{WEIGHTS[column]}')" for column in columns)
    for columns in (("notes", "note"), ("answer", "tools"))
)
_FORGET = f"DELETE FROM {TABLE} WHERE feedback_id = ANY(%s)"  # noqa: S608
_VECTOR = f"INSERT INTO {TABLE} (document, feedback_id, piece) VALUES ({_NOTES} || {_REST}, %s, %s)"  # noqa: S608
_FORGET_CHANGED = f"{_FORGET} AND piece < 0"
_FORGET_NOTES = f"""
    UPDATE {TABLE} SET document = ts_filter(document, '{{c,d}}')
    WHERE feedback_id = ANY(%s) AND ts_filter(document, '{{a,b}}') <> ''
"""  # noqa: S608
_CHANGED_VECTOR = f"""
    INSERT INTO {TABLE} (document, feedback_id, piece)
    SELECT {_NOTES}, feedback_id, %s FROM {TABLE} WHERE feedback_id = %s AND piece = 0
"""  # noqa: S608
