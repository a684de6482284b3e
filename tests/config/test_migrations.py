"""An empty database gets its tables in one step, an existing one by all migrations. The results are the same."""

import sqlite3

import pytest
from django.db.migrations.executor import MigrationExecutor
from django.db.utils import ConnectionHandler

pytestmark = [pytest.mark.pure, pytest.mark.django_db]


def tables(path, *, in_one_go):
    """A database's schema after all migrations, whatever the order of columns."""
    quick = {"init_command": "PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY"}
    kept = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(path), "CONN_MAX_AGE": None, "OPTIONS": quick}
    line = ConnectionHandler({"default": kept})["default"]
    executor = MigrationExecutor(line)
    executor.loader.replace_migrations = in_one_go
    executor.loader.build_graph()
    squashed = {key for key, each in executor.loader.disk_migrations.items() if each.replaces}
    ends = executor.loader.graph.leaf_nodes()
    executor.migrate(ends if in_one_go else [end for end in ends if end not in squashed])
    line.close()
    with sqlite3.connect(path) as database:
        names = database.execute("SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").fetchall()
        return {name: sql if kind != "table" else _shape(database, name) for kind, name, sql in names}


def _shape(database, table):
    """Columns and references as sets: a migration that adds a column puts it last."""
    columns = database.execute('SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_info(?)', [table])
    keys = database.execute('SELECT "table", "from", "to", on_delete FROM pragma_foreign_key_list(?)', [table])
    return set(columns), set(keys)


def test_one_go_and_many_steps_end_at_the_same_tables(tmp_path):
    steps = tables(tmp_path / "steps.sqlite3", in_one_go=False)
    assert tables(tmp_path / "once.sqlite3", in_one_go=True) == steps
    assert {f"{app}_{noun}" for app, noun in (("threads", "block"), ("feedback", "triage"))} < steps.keys()
