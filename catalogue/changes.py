"""The changes in a version of a tool, in sentences for its callers (catalogue 1.1)."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from catalogue.models import ToolVersion
from catalogue.record import JsonObject
from catalogue.tabulating import Row, table
from core.wording import one_line

MAX_CHANGES = 40
_HINTS = {
    "read_only": "read-only",
    "destructive": "destructive",
    "open_world": "open world",
    "cache_mutating": "changes caches",
    "title": "title",
}


@dataclass(frozen=True, slots=True)
class Change:
    """One change. `where` is a field's path or empty; `is_breaking`: a call valid before may now be rejected."""

    where: str
    said: str
    is_breaking: bool = False


def changes(old: ToolVersion, new: ToolVersion) -> list[Change]:
    """The differences, those that may break callers first; at most 40."""
    found = [*_fields("", old.input_schema, new.input_schema, is_input=True)]
    found += _output(old.output_schema, new.output_schema)
    if old.description != new.description:
        found.append(Change("", "description changed"))
    if old.idempotent != new.idempotent:
        found.append(Change("", f"idempotent: {_word(old.idempotent)} to {_word(new.idempotent)}"))
    for key, word in _HINTS.items():
        was, is_now = old.annotations.get(key), new.annotations.get(key)
        if was != is_now:
            found.append(Change("", f"{word}: {_word(was)} to {_word(is_now)}"))
    before, after = (
        [name for name in row.param_order if name in other.param_order] for row, other in ((old, new), (new, old))
    )
    if before != after:
        found.append(Change("", "order of parameters changed"))
    if old.category != new.category:
        found.append(Change("", "category changed"))
    if old.declared_version != new.declared_version:
        found.append(Change("", f"declared version: {_word(old.declared_version)} to {_word(new.declared_version)}"))
    if not found:
        found.append(Change("", "only details of the schema changed"))
    return sorted(found, key=lambda change: not change.is_breaking)[:MAX_CHANGES]


def _output(old: JsonObject | None, new: JsonObject | None) -> Sequence[Change]:
    if old is None or new is None:
        return [] if old is new else [Change("", "output schema added" if new else "output schema removed")]
    return [*_fields("output", old, new, is_input=False)]


def _fields(place: str, old: JsonObject, new: JsonObject, *, is_input: bool) -> Iterator[Change]:
    before, after = ({row.path: row for row in table(schema).rows} for schema in (old, new))
    new_paths, gone = after.keys() - before.keys(), before.keys() - after.keys()
    for path, row in after.items():
        if path in before:
            yield from _field(_where(place, path), before[path], row, is_input)
        elif not _is_inside(path, new_paths):
            said = "new, required" if row.is_required else "new"
            yield Change(_where(place, path), said, is_input and row.is_required)
    for path in before:
        if path in gone and not _is_inside(path, gone):
            yield Change(_where(place, path), "removed", is_input)


def _where(place: str, path: str) -> str:
    return f"{place} {path.removeprefix('/').replace('/', '.')}".lstrip()


def _is_inside(path: str, others: Set[str]) -> bool:
    """Whether a field is inside one that was itself added or removed."""
    return path.rpartition("/")[0] in others


def _field(where: str, old: Row, new: Row, is_input: bool) -> Iterator[Change]:
    if old.is_required != new.is_required:
        yield Change(where, f"became {'required' if new.is_required else 'optional'}", is_input and new.is_required)
    if old.kind != new.kind:
        yield Change(where, f"from {old.kind} to {new.kind}", is_input)
    if old.rules != new.rules:
        before, after = (", ".join(row.rules) or "no rules" for row in (old, new))
        # Removing a rule rejects no calls.
        is_stricter = bool({*new.rules} - {*old.rules, "deprecated"})
        yield Change(where, one_line(f"from {before} to {after}", 300), is_input and is_stricter)
    if old.default != new.default:
        yield Change(where, f"default from {old.default or 'none'} to {new.default or 'none'}")
    if old.meaning != new.meaning:
        yield Change(where, "description changed")


def _word(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {True: "yes", False: "no", None: "unknown"}[value]
    return one_line(str(value), 80)
