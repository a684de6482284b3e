"""Model objects without Django's constructor.

Django sets each field by a descriptor, looks through all fields again, and sends two signals, which nobody here
receives: ten times what filling a dict takes, and a tenth of a rating.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS
from django.db.models import Model
from django.db.models.base import ModelState

Stored = TypeVar("Stored", bound=Model)


def loaded(model: type[Stored], columns: Sequence[str], values: Sequence[Any]) -> Stored:
    """The object of a stored row, like `Model.from_db`. Columns that are missing are loaded on demand."""
    row, state = model.__new__(model), ModelState()
    state.adding, state.db = False, DEFAULT_DB_ALIAS
    row.__dict__.update(zip(columns, values, strict=True), _state=state)
    return row


def new(model: type[Stored], **values: Any) -> Stored:
    """An unsaved object, like `model(**values)`, but with column names: `thread_id`, not `thread`."""
    constants, made = _defaults_of(model)
    if not values.keys() <= constants.keys():
        raise TypeError(f"{model.__name__} has no column {', '.join(sorted(values.keys() - constants.keys()))}")
    row = model.__new__(model)
    row.__dict__.update(constants, _state=ModelState())
    row.__dict__.update(values)
    for name, make in made:
        if name not in values:
            row.__dict__[name] = make()
    return row


@cache
def _defaults_of(model: type[Model]) -> tuple[dict[str, Any], list[tuple[str, Callable[[], Any]]]]:
    """The default of each column, and what makes the default of those that get another one each time."""
    fields = model._meta.concrete_fields
    made = [(each.attname, each.default) for each in fields if each.has_default() and callable(each.default)]
    makes = {name for name, _ in made}
    return {each.attname: None if each.attname in makes else each.get_default() for each in fields}, made
