"""Database triggers that keep derived data of reports current: owner, digest queue and full-text index.

Triggers cannot be forgotten by a verb, command or manual repair.

The index has one row per report: on SQLite in an FTS5 table with one column per kind of text, on PostgreSQL a vector
with one weight per kind. The digest inserts the row, because doing it with the rating would make rating 50 % slower.
From then on the triggers update it.
"""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from django.db import connection

from core.fulltext import Index
from core.triggers import Triggers
from feedback import recounting

TABLE = "feedback_search"
WEIGHTS = {"notes": "A", "note": "B", "answer": "C", "tools": "D"}
INDEX = Index(TABLE, "feedback_id", WEIGHTS)

NEWEST = {
    "sqlite": f"SELECT %s AS word, rowid FROM {TABLE} WHERE {TABLE} MATCH %s ORDER BY rowid DESC LIMIT {{limit}}",  # noqa: S608
    "postgresql": f"SELECT %s AS word, feedback_id FROM {TABLE} "  # noqa: S608
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
            UPDATE feedback_search SET notes = new.notes, note = new.admin_note WHERE rowid = new.id;
        END""",
    "feedback_report_gone": """
        AFTER DELETE ON feedback_userfeedback BEGIN
            DELETE FROM feedback_search WHERE rowid = old.id;
            DELETE FROM feedback_undigested WHERE feedback_id = old.id;
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
        # The unchanged part comes first, so that word positions do not grow with each change.
        """
        UPDATE feedback_search SET document = ts_filter(document, '{c,d}')
            || feedback_words(new.notes, 'A') || feedback_words(new.admin_note, 'B')
            WHERE feedback_id = new.id;""",
    ),
    "feedback_report_gone": (
        "AFTER DELETE ON feedback_userfeedback FOR EACH ROW",
        """
        DELETE FROM feedback_search WHERE feedback_id = old.id;
        DELETE FROM feedback_undigested WHERE feedback_id = old.id;""",
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
    frozenset({TABLE, "feedback_untallied"}), _SQLITE, _POSTGRES, f"{TABLE}_words ON {TABLE} USING gin (document)"
)


def in_notes(word: str) -> str:
    """The index query for a word in notes."""
    return f'{{notes}} : "{word}"' if connection.vendor == "sqlite" else f"'{word}':{WEIGHTS['notes']}"


def add(rows: list[tuple[str, str, int]]) -> None:
    """Index reports; each row is the answer's text, the tool names and the row id.

    The caller must have locked the reports, because the triggers update only rows that already exist.
    """
    values: Sequence[tuple[Any, ...]] = rows
    if connection.vendor == "sqlite":
        # FTS5 writes a segment of its index at the end of an INSERT with SELECT, and whenever a row id is lower than
        # the one before.
        own = "(SELECT {column} FROM feedback_userfeedback WHERE id = %s)"
        sql = (
            f"INSERT OR REPLACE INTO {TABLE} (answer, tools, rowid, notes, note) "  # noqa: S608
            f"VALUES (%s, %s, %s, {own.format(column='notes')}, {own.format(column='admin_note')})"
        )
        values = [(answer, tools, pk, pk, pk) for answer, tools, pk in sorted(rows, key=itemgetter(2))]
    else:
        sql = (
            f"INSERT INTO {TABLE} (feedback_id, document) "  # noqa: S608
            "SELECT id, feedback_words(%s, 'C') || feedback_words(%s, 'D') "
            "|| feedback_words(notes, 'A') || feedback_words(admin_note, 'B') FROM feedback_userfeedback WHERE id = %s "
            "ON CONFLICT (feedback_id) DO UPDATE SET document = excluded.document"
        )
    with connection.cursor() as cursor:
        cursor.executemany(sql, values)
