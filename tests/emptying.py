"""How tests that commit leave PostgreSQL's tables empty."""

from typing import Any


def statements(operations: Any, style: Any, tables: list[str], **options: Any) -> list[str]:
    """What empties tables that hold next to nothing, in place of the `TRUNCATE` that Django makes of it.

    That gives each table and index a new file, and waits for the disk: up to seconds. As there, whoever still writes is
    waited for, and sequences go on. Everything is deleted twice because triggers note down what is deleted.
    """
    names = [operations.quote_name(name) for name in tables]
    deletions = [f"DELETE FROM {name}" for name in names]  # noqa: S608
    return ["; ".join([f"LOCK TABLE {', '.join(names)}", *deletions, *deletions])] if names else []
