"""The triggers that say which days insight has to count anew. `indexing` puts them in place with the others."""

_OF_REPORT = "SELECT {row}.created AS created"
_BY_REPORT = "SELECT created FROM feedback_userfeedback WHERE id = {row}.feedback_id"
_COUNTED = {
    "feedback_userfeedback": (("created", "sentiment", "category_bits", "resolved_at"), _OF_REPORT),
    "feedback_ratedanswer": (("feedback_id", "model_profile"), _BY_REPORT),
    "feedback_ratedtool": (("feedback_id", "tool_name", "failed"), _BY_REPORT),
}
"""What a tally is made of: the columns of each table, and where the report's time stands."""
_ROWS = {"INSERT": ("new",), "UPDATE": ("old", "new"), "DELETE": ("old",)}

# SQLite has one writer at a time, so that one mark a day is enough. On PostgreSQL each change leaves its own: a mark
# that is there may be about to go with a count that does not see this change, and to wait for one key would let two
# who change many reports at once wait for each other.
_SQLITE_MARK = """
    INSERT INTO feedback_untallied (day) SELECT substr(created, 1, 10) FROM ({asked})
    WHERE NOT EXISTS (SELECT 1 FROM feedback_untallied WHERE day = substr(created, 1, 10));"""
_POSTGRES_MARK = """
    INSERT INTO feedback_untallied (day) SELECT (created AT TIME ZONE 'UTC')::date FROM ({asked}) AS report;"""


def _when(table: str, event: str, differs: str, each: str = "") -> str:
    """When a trigger fires: at an update, only where something that is counted became another."""
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
