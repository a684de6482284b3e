"""Which migrations this version has, and which of the database it does not know."""

import pkgutil
from importlib.util import find_spec

from django.apps import apps
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

Key = tuple[str, str]
"""App and name of a migration."""


def applied() -> set[Key]:
    """What the database has. Raises `DatabaseError`."""
    return set(MigrationRecorder(connection).applied_migrations())


def known() -> set[Key]:
    """What this version has, from file names: importing them would cost memory permanently."""
    found = set()
    for app in apps.get_app_configs():
        if folder := find_spec(f"{app.name}.migrations"):
            modules = pkgutil.iter_modules(folder.submodule_search_locations)
            found |= {(app.label, module.name) for module in modules if module.name[0] not in "_~"}
    return found


def unknown() -> list[str]:
    """What the database has of another version, as `app.name`. Raises `DatabaseError`."""
    return sorted(".".join(key) for key in applied() - known())
