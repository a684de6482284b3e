"""What the database itself keeps beside each report: who owns it, what is to be worked out, and changes of its words.

Triggers do it, so that no verb, command or repair by hand can leave one of them out. They are put in place after every
migration, and taken away before one on SQLite, where a changed table is a new one that would lose them in silence.

The index has a row for each report: on SQLite an FTS5 table with one column a kind of text, on PostgreSQL a vector with
one weight a kind. The row comes with the digest, not with the rating: it would make the rating half as long again.
From then on the database follows what the submitter and the admins change.
"""

import re
from typing import Any

from django.db import connection

from feedback import recounting

TABLE = "feedback_search"
WEIGHTS = {"notes": "A", "note": "B", "answer": "C", "tools": "D"}
"""The columns of the index, and the weights that stand for them on PostgreSQL."""

NEWEST = {
    "sqlite": f"SELECT %s AS word, rowid FROM {TABLE} WHERE {TABLE} MATCH %s ORDER BY rowid DESC LIMIT {{limit}}",  # noqa: S608
    "postgresql": f"SELECT %s AS word, feedback_id FROM {TABLE} "  # noqa: S608
    "WHERE document @@ to_tsquery('pg_catalog.simple', %s) "
    "ORDER BY feedback_id DESC LIMIT {limit}",
}
"""The newest reports that the index finds, beside a word that tells of which search they are."""
_TABLES = {TABLE, "feedback_untallied"}
"""What the triggers write to, beside tables that were there before them."""
_WORD = re.compile(r"[^\W_]+")

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
        # What comes first keeps its places, so that places do not drift with each change.
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


def split(text: str) -> list[str]:
    """The words of a text as the index has them, in lower case."""
    return [word.lower() for word in _WORD.findall(text)]


def in_notes(word: str) -> str:
    """How the index is asked for a word in notes."""
    return f'{{notes}} : "{word}"' if connection.vendor == "sqlite" else f"'{word}':{WEIGHTS['notes']}"


def install(**signal: Any) -> None:
    """Put the triggers in place, after a migration."""
    if not signal.get("plan", True) or not _TABLES.issubset(connection.introspection.table_names()):
        return
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            for name, body in _SQLITE.items():
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
                cursor.execute(f"CREATE TRIGGER {name} {body}")
            return
        for name, (when, body) in _POSTGRES.items():
            cursor.execute(
                f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql "
                f"AS $$ BEGIN {body} RETURN NULL; END $$"
            )
            cursor.execute(f"CREATE OR REPLACE TRIGGER {name} {when} EXECUTE FUNCTION {name}()")
        # A bulk load takes it away and may have died.
        cursor.execute(f"CREATE INDEX IF NOT EXISTS {TABLE}_words ON {TABLE} USING gin (document)")


def remove(**signal: Any) -> None:
    """Take the triggers of SQLite away, before a migration that changes something."""
    if connection.vendor == "sqlite" and signal.get("plan", True):
        with connection.cursor() as cursor:
            for name in _SQLITE:
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}")


def add(rows: list[tuple[str, str, int]]) -> None:
    """Index reports with what their answers said and the names of the tools; each row ends with the row id.

    Whoever calls this has the reports locked: a change of their words follows only in a row that is there.
    """
    if connection.vendor == "sqlite":
        sql = (
            f"INSERT OR REPLACE INTO {TABLE} (rowid, notes, note, answer, tools) "  # noqa: S608
            "SELECT id, notes, admin_note, %s, %s FROM feedback_userfeedback WHERE id = %s"
        )
    else:
        sql = (
            f"INSERT INTO {TABLE} (feedback_id, document) "  # noqa: S608
            "SELECT id, feedback_words(%s, 'C') || feedback_words(%s, 'D') "
            "|| feedback_words(notes, 'A') || feedback_words(admin_note, 'B') FROM feedback_userfeedback WHERE id = %s "
            "ON CONFLICT (feedback_id) DO UPDATE SET document = excluded.document"
        )
    with connection.cursor() as cursor:
        cursor.executemany(sql, rows)
