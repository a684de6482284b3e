"""The variable and goal rows of the agent form. What a row cannot express is written as JSON."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile, zip_longest
from typing import Any

from django.http import QueryDict

from core import forms
from core.errors import InvalidRequest
from threads.goals import REGISTRY, checklist
from threads.presenting.words import goal_title

CHECKLIST, NO_GOAL = checklist.GOAL.name, "none"
MOST_ROWS = 120
"""More than an agent may have, so that too many rows are refused by validation instead of being cut off."""
_ITEM = re.compile(r"(.*?):(?:\s+(.*))?")


@dataclass(frozen=True, slots=True)
class VariableRow:
    """A variable as typed in the form."""

    name: str = ""
    description: str = ""
    default: str = ""
    is_needed: bool = True

    @property
    def is_blank(self) -> bool:
        """Whether nothing was typed, so the row does not count."""
        return not (self.name.strip() or self.description.strip() or self.default)

    @property
    def value(self) -> dict[str, Any]:
        """The variable's data. The default of an optional one without a default is the empty string."""
        default = self.default if self.default or not self.is_needed else None
        said = {"description": self.description.strip() or None, "default": default}
        row = {"name": self.name.strip(), "required": None if self.is_needed else False, **said}
        return {name: value for name, value in row.items() if value is not None}


@dataclass(frozen=True, slots=True)
class GoalRow:
    """A goal as typed in the form: its type, and its items one per line, or its fields as JSON."""

    kind: str = CHECKLIST
    text: str = ""

    @property
    def is_blank(self) -> bool:
        """Whether the row does not count: an empty checklist, or “No goal”."""
        return self.kind == NO_GOAL or (self.kind == CHECKLIST and not self.text.strip())

    @property
    def is_json(self) -> bool:
        """Whether the text is JSON; a list of items may begin with a placeholder."""
        return bool(re.match(r"\s*\{(?!\{)", self.text))


@dataclass(frozen=True, slots=True)
class Shown:
    """A row as the form shows it: its number, the id of its first field, and its error."""

    row: VariableRow | GoalRow
    number: int
    id: str
    error: str


@dataclass(frozen=True, slots=True)
class Rows:
    """All rows of a form in order, blank ones included, and as JSON the variables that no row can express."""

    variables: tuple[VariableRow, ...] = ()
    goals: tuple[GoalRow, ...] = ()
    variables_json: str = ""

    def with_variables(self, names: Sequence[str]) -> "Rows":
        """The rows with one more for each of these names, in place of the blank ones; without any as they are."""
        if not names:
            return self
        rows = [row for row in self.variables if not row.is_blank]
        return replace(self, variables=(*rows, *map(VariableRow, names))[:MOST_ROWS])

    def id_of(self, variable: str) -> str:
        """The id of the form field of a variable's row, empty if it has none."""
        return next((_id("variables", at) for at, row in enumerate(self.variables, 1) if row.name == variable), "")

    def with_blanks(self, part: str = "") -> "Rows":
        """The rows with at least one blank row at the end of each part, and one more in the part `part`."""
        variables, goals = self.variables, self.goals
        if part == "variables" or not any(row.is_blank for row in variables):
            variables = (*variables, VariableRow())
        if part == "goals" or not any(row.is_blank for row in goals):
            goals = (*goals, GoalRow())
        return Rows(variables, goals, self.variables_json)

    def places(self) -> dict[str, str]:
        """The id of the form field for each path in the request, to show errors next to their field."""
        found: dict[str, str] = {}
        for part, rows in self._parts():
            filled = [at for at, row in enumerate(rows, 1) if not row.is_blank]
            found |= {f"{part}.{place}": _id(part, at) for place, at in enumerate(filled)}
            # An error about the whole list is shown at the last row that counts.
            found[part] = _id(part, filled[-1] if filled else len(rows))
            if part == "variables" and self.variables_json.strip():
                behind = range(len(filled), len(filled) + MOST_ROWS)
                found |= {f"{part}.{place}": "variables_json" for place in behind}
        return found

    def shown(self, errors: Mapping[str, str]) -> dict[str, list[Shown]]:
        """The rows of each part with their errors, which are given by the ids of `places`."""
        return {
            part: [Shown(row, at, _id(part, at), errors.get(_id(part, at), "")) for at, row in enumerate(rows, 1)]
            for part, rows in self._parts()
        }

    def _parts(self) -> Iterator[tuple[str, Sequence[VariableRow | GoalRow]]]:
        yield "variables", self.variables
        yield "goals", self.goals


def typed(data: QueryDict) -> Rows:
    """The rows that a form sent. Each row sends all of its fields, so they are matched by order."""
    columns = [data.getlist(f"variable_{name}")[:MOST_ROWS] for name in ("name", "description", "default", "needed")]
    variables = (
        VariableRow(name, description, forms.lines(default), needed != "optional")
        for name, description, default, needed in zip_longest(*columns, fillvalue="")
    )
    texts, kinds = data.getlist("goal_text")[:MOST_ROWS], data.getlist("goal_type")
    goals = (GoalRow(kind or CHECKLIST, forms.lines(text)) for text, kind in zip_longest(texts, kinds, fillvalue=""))
    return Rows(tuple(variables), tuple(goals), forms.lines(data.get("variables_json", "")))


def typed_of(variables: Sequence[Mapping[str, Any]], goals: Sequence[Mapping[str, Any]]) -> Rows:
    """Stored variables and goals as form rows. From the first variable that no row can express on, they are JSON."""
    rows = [_row_of(variable) for variable in takewhile(_fits, variables)]
    rest = [terse(variable) for variable in variables[len(rows) :]]
    return Rows(tuple(rows), tuple(map(_goal_row, goals)), forms.json_typed(rest or None))


def variable_values(rows: Rows) -> list[Any]:
    """The variables of the rows, followed by those of the JSON; raises `InvalidRequest`."""
    rest = forms.json_of("variables_json", rows.variables_json)
    if not isinstance(rest, list | None):
        raise InvalidRequest("variables_json: must be a list")
    return [row.value for row in rows.variables if not row.is_blank] + (rest or [])


def goal_value(field: str, row: GoalRow) -> dict[str, Any]:
    """The goal of a row, not yet validated; raises `InvalidRequest` that names the row."""
    if row.kind == CHECKLIST and not row.is_json:
        return {"goal_type": CHECKLIST, "items": _items(field, row.text)}
    fields = forms.json_of(field, row.text) if row.text.strip() else {}
    if not isinstance(fields, dict):
        raise InvalidRequest(f"{field}: must be a JSON object with the fields of the goal")
    return {**fields, "goal_type": row.kind}


def kinds_of(rows: Rows) -> list[tuple[str, str]]:
    """The goal types to choose from, with titles; includes types in the rows that are no longer registered."""
    names = dict.fromkeys([CHECKLIST, *REGISTRY, *(row.kind for row in rows.goals if row.kind != NO_GOAL)])
    return [*((name, goal_title(name)) for name in names), (NO_GOAL, "No goal")]


def terse(row: Mapping[str, Any]) -> dict[str, Any]:
    """The data without null values, which mean the same as absent ones."""
    return {name: value for name, value in row.items() if value is not None}


def _id(part: str, number: int) -> str:
    return f"{part.removesuffix('s')}-{number}"


def _fits(variable: Mapping[str, Any]) -> bool:
    row = _row_of(variable)
    # A browser drops carriage returns and a leading line feed.
    is_kept = "\r" not in row.default and not row.default.startswith("\n")
    return is_kept and {"type": "string", "required": True, **row.value} == terse(variable)


def _row_of(variable: Mapping[str, Any]) -> VariableRow:
    description, default = variable.get("description") or "", variable.get("default") or ""
    return VariableRow(variable["name"], description, default, bool(variable.get("required", True)))


def _goal_row(goal: Mapping[str, Any]) -> GoalRow:
    fields = {name: value for name, value in terse(goal).items() if name != "goal_type"}
    if goal["goal_type"] == CHECKLIST:
        lines = "\n".join(name if name == words else f"{name}: {words}" for name, words in fields["items"].items())
        row = GoalRow(CHECKLIST, lines)
        if not row.is_json and "\r" not in lines and fields == {"items": _items("", lines)}:
            return row
    return GoalRow(goal["goal_type"], forms.json_typed(fields))


def _items(field: str, text: str) -> dict[str, str]:
    """Items from lines `name: requirement`; a line without a colon is both."""
    items: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.split("\n"))):
        parted = _ITEM.fullmatch(line)
        name, words = (parted[1].strip(), (parted[2] or "").strip()) if parted else (line, line)
        if name in items:
            raise InvalidRequest(f"{field}: the item {name[:80]} is listed twice")
        items[name] = words
    return items
