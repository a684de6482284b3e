"""The command line: turns database errors that an operator can fix into one sentence, in every command."""

import re
import sys

from django.conf import settings
from django.core.management import execute_from_command_line
from django.db import DatabaseError, OperationalError
from django.db.migrations.exceptions import InconsistentMigrationHistory

from config import migrating

OF_THE_DATABASE = (DatabaseError, InconsistentMigrationHistory)
"""Errors that `told` reads."""


def run(arguments: list[str]) -> None:
    """Run a command; exit with one sentence if the database does not respond or is not migrated, or if the command asks
    for something where nobody can type.

    Any other database error is a bug in Heddle and keeps its traceback, as everything does with `--traceback`.
    """
    try:
        execute_from_command_line(arguments)
    except OF_THE_DATABASE as problem:
        said = told(problem)
        if said is None or "--traceback" in arguments:
            raise
        sys.exit(f"CommandError: {said}")
    except EOFError:
        if "--traceback" in arguments:
            raise
        # On a line of its own, below the prompt.
        said = f"There is no terminal for what {arguments[1]} asks. Run it in one (`docker exec -it`)."
        sys.exit(f"\nCommandError: {said}")


def told(problem: Exception) -> str | None:
    """What an operator can do about the error; None for a bug."""
    is_history = isinstance(problem, InconsistentMigrationHistory)
    is_missing = re.search(r"no such (table|column)|(relation|column) .* does not exist", str(problem))
    is_there = re.search(r"already exists|duplicate column", str(problem))
    if (is_history or is_missing or is_there) and (names := migrating.unknown()):
        return (
            f"The database was made by another version of Heddle. This one does not know its {', '.join(names)}: "
            f"{_reason(problem).rstrip('.')}. Use a version that does, or restore a backup of a version before it."
        )
    if is_missing:
        return "The database is not migrated to this version. Run `manage.py migrate` (`serve` does it too)."
    if isinstance(problem, OperationalError) or type(problem) is DatabaseError:
        setting = "DATABASE_URL" if settings.HEDDLE.database_url else "HEDDLE_DATA_DIR"
        return f"{setting}: the database cannot be used: {_reason(problem)}"
    return None


def _reason(problem: BaseException) -> str:
    """The error in one line."""
    first, *others = str(problem).strip().splitlines() or [type(problem).__name__]
    # For a host with several addresses psycopg lists all, under a heading.
    return others[-1].strip(" -") if others and first.startswith("Multiple connection attempts failed") else first
