"""Fixtures as form rows: tool, input, and result or error (catalogue 3.8, C106, C107)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from django.http import QueryDict

from catalogue.models import World, WorldFixture
from catalogue.wire_worlds import FixtureIn, FixturesIn
from catalogue.worlds import fixtures
from core import bodies, forms
from core.errors import DomainError, InvalidRequest

MAX_ROWS = 50
"""Maximum number of rows that the form edits; more need the API."""
_FIELDS = {"tool": "tool", "input": "input", "output": "output", "code": "error.code", "message": "error.message"}
"""Form fields and their paths in the API body."""


@dataclass(frozen=True, slots=True)
class Row:
    """One fixture as typed. An empty input matches any; a code means failure; `wrong`: errors by field."""

    tool: str = ""
    input: str = ""
    output: str = ""
    code: str = ""
    message: str = ""
    wrong: Mapping[str, str] = field(default_factory=dict, kw_only=True)


def stored(world: World) -> tuple[list[Row], str]:
    """The fixtures of a world as rows, and their mark. No rows if there are too many to edit."""
    mark = fixtures.mark(world)  # read first: a change before the rows are read is then a conflict, not overwritten
    found = list(WorldFixture.objects.filter(world=world).order_by("pk")[: MAX_ROWS + 1])
    names = dict(world.tools.values_list("folded", "qualified_name"))
    if len(found) > MAX_ROWS:
        return [], mark
    return [_row(names.get(each.tool, each.tool), each) for each in found], mark


def typed(post: QueryDict) -> list[Row]:
    """The rows that are not empty."""
    columns = [[forms.lines(text) for text in post.getlist(f"fixture_{name}")] for name in _FIELDS]
    return [Row(*cells) for cells in zip_longest(*columns, fillvalue="") if any(cell.strip() for cell in cells)]


def read(rows: list[Row]) -> list[FixtureIn]:
    """The rows as API input. Raises `InvalidRequest` with all errors, under `fixtures.<row>.<field>`."""
    asked, faults = [], []
    for place, row in enumerate(rows):
        said: dict[str, object] = {"tool": row.tool.strip()}
        is_failure = bool(row.code or row.message.strip())
        needed = ("tool", "code", "message") if is_failure else ("tool", "output")
        faults += [
            InvalidRequest(f"{_path(place, name)}: is needed") for name in needed if not getattr(row, name).strip()
        ]
        if is_failure:
            said["error"] = {"code": row.code, "message": row.message.strip()}
            if row.output.strip():
                faults.append(InvalidRequest(f"{_path(place, 'output')}: must be empty if the call fails"))
        for name, text in (("input", row.input), ("output", row.output)):
            try:
                if text.strip():
                    said[name] = forms.json_of(_path(place, name), text)
            except InvalidRequest as problem:
                faults.append(problem)
        asked.append(said)
    if faults:
        raise forms.together(faults)
    bodies.check_storable(asked)
    return bodies.parse(FixturesIn, {"fixtures": asked}).fixtures


def marked(rows: list[Row], problem: DomainError | None) -> list[Row]:
    """The rows with their errors by field."""
    if problem is None:
        return rows
    said = forms.reasons(problem, [_path(place, name) for place in range(len(rows)) for name in _FIELDS])
    return [
        replace(row, wrong={name: said[path] for name in _FIELDS if (path := _path(place, name)) in said})
        for place, row in enumerate(rows)
    ]


def wrong(rows: list[Row]) -> dict[str, str]:
    """The errors of the rows, by field id."""
    return {f"fixture-{number}-{name}": said for number, row in enumerate(rows, 1) for name, said in row.wrong.items()}


def _row(tool: str, stored: WorldFixture) -> Row:
    given = _text(stored.input) if stored.match else ""
    return Row(tool, given, **stored.error) if stored.error else Row(tool, given, _text(stored.output))


def _path(place: int, name: str) -> str:
    return f"fixtures.{place}.{_FIELDS[name]}"


def _text(value: object) -> str:
    return forms.json_typed(value) or "null"
