"""Names that may exist once, by the unique constraints of their models."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import IntegrityError, models, transaction

from core.errors import Conflict


@contextmanager
def name_kept(model: type[models.Model], name: str, said: str = "") -> Iterator[None]:
    """A transaction in which a taken name is a `Conflict`; what other constraints refuse is raised as it is."""
    try:
        with transaction.atomic():
            yield
    except IntegrityError as problem:
        if not _is_of_name(problem, model):
            raise
        raise Conflict(f"name: {said or f'{name} is taken'}") from None


def _is_of_name(problem: IntegrityError, model: type[models.Model]) -> bool:
    """Whether a unique constraint with the column `name` failed. PostgreSQL names it, SQLite lists its columns."""
    said = problem.__cause__
    named = getattr(getattr(said, "diag", None), "constraint_name", None)
    columns = {field.name: f"{model._meta.db_table}.{field.column}" for field in model._meta.concrete_fields}
    for rule in model._meta.constraints:
        if isinstance(rule, models.UniqueConstraint) and "name" in rule.fields:
            listed = ", ".join(columns[field] for field in rule.fields)
            if rule.name == named or str(said) == f"UNIQUE constraint failed: {listed}":
                return True
    return False
