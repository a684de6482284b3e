"""Fixtures as rows of a form: a tool, the input that is answered, the answer (catalogue 3.8, C106, C107)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from django.http import QueryDict

from catalogue.models import World, WorldFixture
from catalogue.wire_worlds import FixtureIn, FixturesIn
from core import bodies, forms
from core.canonical import fingerprint
from core.errors import DomainError, InvalidRequest

MAX_ROWS = 50
"""More than these are handed in by a program."""
_FIELDS = ("tool", "input", "output")


@dataclass(frozen=True, slots=True)
class Row:
    """One fixture as it is typed. An empty input stands for any; `wrong` are sentences by field."""

    tool: str = ""
    input: str = ""
    output: str = ""
    wrong: Mapping[str, str] = field(default_factory=dict)


def stored(world: World) -> tuple[list[Row], str]:
    """The fixtures of a world as rows, and a mark that changes with them. No rows where there are too many to edit."""
    found = list(WorldFixture.objects.filter(world=world).order_by("pk")[: MAX_ROWS + 1])
    names = dict(world.tools.values_list("folded", "qualified_name"))
    mark = fingerprint([each.pk for each in found])
    if len(found) > MAX_ROWS:
        return [], mark
    return [
        Row(names.get(each.tool, each.tool), _text(each.input) if each.match else "", _text(each.output))
        for each in found
    ], mark


def typed(post: QueryDict) -> list[Row]:
    """The rows that something was typed into."""
    columns = [[forms.lines(text) for text in post.getlist(f"fixture_{name}")] for name in _FIELDS]
    return [Row(*cells) for cells in zip(*columns, strict=False) if any(cell.strip() for cell in cells)]


def read(rows: list[Row]) -> list[FixtureIn]:
    """What a client would send. Raises `InvalidRequest` with every fault, under `fixtures.<row>.<field>`."""
    asked, faults = [], []
    for place, row in enumerate(rows):
        said: dict[str, object] = {"tool": row.tool.strip()}
        faults += [
            InvalidRequest(f"fixtures.{place}.{name}: is needed")
            for name, text in (("tool", row.tool), ("output", row.output))
            if not text.strip()
        ]
        for name, text in (("input", row.input), ("output", row.output)):
            try:
                if text.strip():
                    said[name] = forms.json_of(f"fixtures.{place}.{name}", text)
            except InvalidRequest as problem:
                faults.append(problem)
        asked.append(said)
    if faults:
        raise forms.together(faults)
    bodies.check_storable(asked)
    return bodies.parse(FixturesIn, {"fixtures": asked}).fixtures


def marked(rows: list[Row], problem: DomainError | None) -> list[Row]:
    """The rows with what is wrong beside the field it is about."""
    if problem is None:
        return rows
    paths = [f"fixtures.{place}.{name}" for place in range(len(rows)) for name in _FIELDS]
    said = forms.reasons(problem, paths)
    return [
        replace(row, wrong={name: said[path] for name in _FIELDS if (path := f"fixtures.{place}.{name}") in said})
        for place, row in enumerate(rows)
    ]


def _text(value: object) -> str:
    return forms.json_typed(value) or "null"
