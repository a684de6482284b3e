"""Database triggers of an app: installed after every migration, and on SQLite removed before one.

Changing a table there creates a new one, which would silently lose them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.apps import AppConfig
from django.db import connection
from django.db.models.signals import post_migrate, pre_migrate


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Triggers:
    """Triggers by name."""

    tables: frozenset[str]
    """Tables that must exist before they are installed."""
    sqlite: Mapping[str, str]
    """When each fires and what it does, as in `CREATE TRIGGER`."""
    postgres: Mapping[str, tuple[str, str]]
    """When each fires, and the statements of its function."""
    index: str = ""
    """An index that PostgreSQL must have: a bulk load drops it and may have failed before it created it again."""

    def keep(self, app: AppConfig) -> None:
        """Install and remove them with the migrations of an app."""
        pre_migrate.connect(self.remove, sender=app)
        post_migrate.connect(self.install, sender=app)

    def install(self, **signal: Any) -> None:
        """Install the triggers, after a migration; if there was none, only if they are not what they should be.

        A `migrate` that was killed after its last migration leaves no trigger on SQLite, and old ones on PostgreSQL.
        """
        if not self.tables.issubset(connection.introspection.table_names()):
            return
        with connection.cursor() as cursor:
            if self.index and connection.vendor != "sqlite":
                cursor.execute(f"CREATE INDEX IF NOT EXISTS {self.index}")
            if not signal.get("plan", True) and self._are_installed(cursor):
                return
            if connection.vendor == "sqlite":
                for name, body in self.sqlite.items():
                    cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
                    cursor.execute(_CREATE.format(name=name, body=body))
                return
            for name, (when, body) in self.postgres.items():
                cursor.execute(
                    f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql "
                    f"AS $${_FUNCTION.format(body=body)}$$"
                )
                cursor.execute(f"CREATE OR REPLACE TRIGGER {name} {when} EXECUTE FUNCTION {name}()")

    def _are_installed(self, cursor: Any) -> bool:
        if connection.vendor == "sqlite":
            wanted = {name: _CREATE.format(name=name, body=body) for name, body in self.sqlite.items()}
        else:
            wanted = {name: _FUNCTION.format(body=body) for name, (_, body) in self.postgres.items()}
        cursor.execute(_INSTALLED[connection.vendor])
        return wanted.items() <= dict(cursor.fetchall()).items()

    def remove(self, **signal: Any) -> None:
        """Remove the triggers on SQLite, before a migration that changes something."""
        if connection.vendor == "sqlite" and signal.get("plan", True):
            with connection.cursor() as cursor:
                for name in self.sqlite:
                    cursor.execute(f"DROP TRIGGER IF EXISTS {name}")


_CREATE = "CREATE TRIGGER {name} {body}"
_FUNCTION = " BEGIN {body} RETURN NULL; END "
_INSTALLED = {
    "sqlite": "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": "SELECT tgname, prosrc FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid WHERE NOT tgisinternal",
}
