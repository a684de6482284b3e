"""The command line: what an operator can mend is told in a sentence, also where a command did not expect it."""

import re
import sys

from django.conf import settings
from django.core.management import execute_from_command_line
from django.db import DatabaseError, OperationalError


def run(arguments: list[str]) -> None:
    """Do what a command line says; a database that does not answer or is not prepared ends it with one sentence.

    Everything else that a database refuses is a mistake of ours: its trace stays, as it does with `--traceback`.
    """
    try:
        execute_from_command_line(arguments)
    except DatabaseError as problem:
        said = told(problem)
        if said is None or "--traceback" in arguments:
            raise
        sys.exit(f"CommandError: {said}")


def told(problem: DatabaseError) -> str | None:
    """What an operator can do about it; None where nothing can be done from outside."""
    if re.search(r"no such (table|column)|(relation|column) .* does not exist", str(problem)):
        return "The database is not prepared for this version: `manage.py migrate` does it, as `serve` does."
    if isinstance(problem, OperationalError) or type(problem) is DatabaseError:
        setting = "DATABASE_URL" if settings.HEDDLE.database_url else "HEDDLE_DATA_DIR"
        return f"{setting}: the database does not answer: {_reason(problem)}"
    return None


def _reason(problem: BaseException) -> str:
    """One line of it."""
    first, *others = str(problem).strip().splitlines() or [type(problem).__name__]
    # Of a name with several addresses psycopg tells all, under a heading.
    return others[-1].strip(" -") if others and first.startswith("Multiple connection attempts failed") else first
