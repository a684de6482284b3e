"""The triggers that mark the days that Insight must count again. `indexing` installs them with the others."""

_OF_REPORT = "SELECT {row}.created AS created"
_BY_REPORT = "SELECT created FROM feedback_userfeedback WHERE id = {row}.feedback_id"
_COUNTED = {
    "feedback_userfeedback": (("created", "sentiment", "category_bits", "resolved_at"), _OF_REPORT),
    "feedback_ratedanswer": (("feedback_id", "model_profile"), _BY_REPORT),
    "feedback_ratedtool": (("feedback_id", "tool_name", "failed"), _BY_REPORT),
}
"""The counted columns of each table, and SQL for the report's creation time."""
_ROWS = {"INSERT": ("new",), "UPDATE": ("old", "new"), "DELETE": ("old",)}

# SQLite has one writer at a time, so one mark per day is enough. On PostgreSQL each change inserts its own mark: an
# existing one may be about to be deleted by a count that does not see this change, and a unique key would make two
# transactions that change many reports deadlock.
_SQLITE_MARK = """
    INSERT INTO feedback_untallied (day) SELECT substr(created, 1, 10) FROM ({asked})
    WHERE NOT EXISTS (SELECT 1 FROM feedback_untallied WHERE day = substr(created, 1, 10));"""
_POSTGRES_MARK = """
    INSERT INTO feedback_untallied (day) SELECT (created AT TIME ZONE 'UTC')::date FROM ({asked}) AS report;"""


def _when(table: str, event: str, differs: str, each: str = "") -> str:
    """The trigger's event; updates fire only if a counted column changed."""
    columns, _ = _COUNTED[table]
    if event != "UPDATE":
        return f"AFTER {event} ON {table} {each}"
    changed = " OR ".join(f"new.{column} {differs} old.{column}" for column in columns)
    return f"AFTER UPDATE OF {', '.join(columns)} ON {table} {each} WHEN ({changed})"


def _body(mark: str, table: str, event: str) -> str:
    _, asked = _COUNTED[table]
    return "".join(mark.format(asked=asked.format(row=row)) for row in _ROWS[event])


_TRIGGERS = {f"{table}_{event.lower()}_recounts": (table, event) for table in _COUNTED for event in _ROWS}
SQLITE = {
    name: f"{_when(table, event, 'IS NOT')} BEGIN {_body(_SQLITE_MARK, table, event)} END"
    for name, (table, event) in _TRIGGERS.items()
}
POSTGRES = {
    name: (_when(table, event, "IS DISTINCT FROM", "FOR EACH ROW"), _body(_POSTGRES_MARK, table, event))
    for name, (table, event) in _TRIGGERS.items()
}
