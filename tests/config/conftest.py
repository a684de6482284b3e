"""What tests of processes begin with."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from django.db import connection


@pytest.fixture
def migrated(db: None) -> Callable[[Path], Path]:
    """`migrated(folder)` is a data folder with all tables and nobody in it.

    They are copied from the database of the tests: a process that makes them is busy for four seconds.
    """
    if connection.vendor != "sqlite":
        pytest.skip("the tests' own database is no SQLite here, as it is in the first run")

    def copied(folder: Path) -> Path:
        with (
            closing(sqlite3.connect(connection.settings_dict["NAME"])) as made,
            closing(sqlite3.connect(folder / "heddle.sqlite3")) as copy,
        ):
            made.backup(copy)
        return folder

    return copied
