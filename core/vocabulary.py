"""The fields of a query language: values are normalised, invalid terms say what would be valid. Knows no one field."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from django.utils.text import get_text_list

from core import grammar
from core.grammar import Either, Field, Unknown
from core.sorting import SORT

Clean = Callable[[str], str]
"""Returns the canonical spelling of a value, or raises `ValueError` with the allowed values."""


_ELSEWHERE: Mapping[str, Sequence[str]] = {
    "answer": ("text",),
    "assigned": ("owner",),
    "assignee": ("owner",),
    "author": ("by", "owner"),
    "comment": ("notes",),
    "creator": ("by", "owner"),
    "date": ("created",),
    "message": ("text",),
    "order": ("sort",),
    "rating": ("sentiment",),
    "reporter": ("by", "owner"),
    "score": ("sentiment",),
    "state": ("status", "is"),
    "status": ("is",),
    "submitter": ("by", "owner"),
    "tag": ("label",),
    "tags": ("label",),
    "time": ("created",),
    "user": ("by", "owner"),
    "who": ("by", "owner"),
}
"""Names of fields in other tools, and the fields that stand for them here: the first that a list has."""


class Known(Protocol):
    """What a list's own field tells this module."""

    @property
    def name(self) -> str: ...

    @property
    def takes(self) -> str:
        """The allowed values, in words."""

    @property
    def clean(self) -> Clean: ...

    @property
    def offered(self) -> Callable[[], Sequence[str]]:
        """The values worth suggesting."""


def choice(values: Sequence[str], also: Mapping[str, str] | None = None) -> Clean:
    """For a field with fixed values, which may be abbreviated; `also` maps further spellings to values."""

    def clean(value: str) -> str:
        said = value.lower().replace("-", "_").replace(" ", "_")
        said = (also or {}).get(said, said)
        if said in values:
            return said
        begun = [each for each in values if said and each.startswith(said)]
        if len(begun) > 1:
            raise ValueError(f"may be {get_text_list(begun, 'or')}; type more of it")
        if not begun:
            raise ValueError(f"must be {get_text_list(list(values), 'or')}")
        return begun[0]

    return clean


def checked(asked: Field, line: str, fields: Mapping[str, Known]) -> Field | Unknown:
    """The term with its value normalised, or as an invalid part of the line."""
    known = fields.get(asked.name)
    if known is None:
        close = _field_meant(asked.name, fields)
        better = f"did you mean {close}:?" if close else f"the fields are {', '.join(fields)}."
        said = f"There is no field {asked.name}; {better} Quote it to search for the words."
        return grammar.unknown(asked, line, said)
    if not asked.value.strip():
        return grammar.unknown(asked, line, f"needs a value directly after the colon: {known.takes}")
    try:
        return replace(asked, value=known.clean(asked.value), literal=False)
    except ValueError as problem:
        return grammar.unknown(asked, line, str(problem))


def meant(leaf: Unknown, fields: Mapping[str, Known]) -> str:
    """The term that was probably meant by an invalid one; empty if nothing is similar."""
    asked = grammar.read(leaf.text)
    if leaf.text.startswith("("):
        return grammar.closing(leaf.text)
    known = fields.get(_field_meant(asked.name, fields)) if isinstance(asked, Field) else None
    if known is None or not isinstance(asked, Field):
        return ""
    with suppress(ValueError):
        several = tuple(Field(known.name, known.clean(each.strip())) for each in asked.value.split(","))
        if several[1:] and known.name != SORT:
            return grammar.spelled(Either(several), alone=False)
    for each in filter(None, (asked.value, grammar.near(asked.value.lower(), known.offered()))):
        with suppress(ValueError):
            return grammar.spelled(Field(known.name, known.clean(each)))
    value = asked.value.lower()
    others = [each.name for each in fields.values() if value in each.offered()]
    return grammar.spelled(Field(others[0], value)) if len(others) == 1 else ""


def _field_meant(name: str, fields: Mapping[str, Known]) -> str:
    """The field that was probably meant by a name that may be none; empty if nothing is similar."""
    own = next((each for each in _ELSEWHERE.get(name, ()) if each in fields), "")
    return name if name in fields else own or grammar.near(name, fields)
