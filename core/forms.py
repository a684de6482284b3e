"""Forms: convert typed text to API values, and errors to sentences for the fields."""

import csv
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from core import bodies
from core.errors import DomainError, InvalidRequest


def lines(text: str) -> str:
    """The text with line feeds instead of the CRLF that forms send."""
    return text.replace("\r\n", "\n")


def json_of(field: str, text: str) -> Any:
    """The JSON value that was typed, None if empty; raises `InvalidRequest` with the line and column."""
    if not text.strip():
        return None
    try:
        return bodies.read_json(text.encode())
    except InvalidRequest as problem:
        [wrong] = problem.by_field
        path = field if wrong["field"] == "body" else f"{field}.{wrong['field']}"
        raise InvalidRequest.of(path, _where(text) or wrong["reason"]) from None


def number_of(text: str) -> int | float | str:
    """The typed number; any other text as it is, so that it is refused together with the other fields of its model."""
    try:
        found = bodies.read_json(text.encode())
    except InvalidRequest:
        return text
    return found if type(found) in (int, float) else text


def json_typed(value: Any) -> str:
    """A value as text for a form field; empty for None."""
    return "" if value is None else json.dumps(value, ensure_ascii=False, indent=2)


def listed(field: str, text: str) -> list[str]:
    """Comma-separated words; a word that contains a comma is quoted. Raises `InvalidRequest` for a huge word."""
    # A carriage return alone, which no browser sends, ends a line too: the parser would refuse it.
    rows = csv.reader(lines(text).replace("\r", "\n").split("\n"), skipinitialspace=True)
    try:
        return [word for row in rows for each in row if (word := each.strip())]
    except csv.Error:  # over its limit, 131,072 characters
        raise InvalidRequest.of(field, "contains a word that is too long") from None


def listing(words: Sequence[str]) -> str:
    """Words in the form that `listed` reads."""
    return ", ".join('"' + word.replace('"', '""') + '"' if set(word) & set(',"') else word for word in words)


def together(problems: Sequence[InvalidRequest]) -> InvalidRequest:
    """Several errors as one, so that a form shows all of them at once."""
    details = [detail for problem in problems for detail in _details(problem)]
    return InvalidRequest(problems[0].message, details=details)


def reasons(
    problem: DomainError, fields: Sequence[str], *, otherwise: str = "", names: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The first error of each field, as a sentence.

    A place inside a field is named before its reason; inside a row (a field with a dot), relative to the row. `names`
    maps paths to the form field in which they are typed, if users do not see item numbers. Errors of no known field are
    under `otherwise` and name what they are about.
    """
    typed_as, found = names or {}, dict[str, str]()
    for detail in _details(problem):
        path, reason = detail["field"].removeprefix("request_template."), detail["reason"]
        parts = path.split(".")
        field = next((head for at in range(len(parts), 0, -1) if (head := ".".join(parts[:at])) in fields), None)
        if field is None:
            found.setdefault(otherwise, sentence(reason, typed_as.get(parts[0], parts[0])))
            continue
        within, named = path.removeprefix(f"{field}."), typed_as.get(field, field)
        if path == field or (named != field and within.isdecimal()):
            found.setdefault(named, sentence(reason))
        else:
            found.setdefault(named, f"{within if '.' in field else path}: {reason}.")
    return found


def reason(problem: DomainError) -> str:
    """The first reason as a sentence, without the path in the JSON body, which the user never saw."""
    return sentence(problem.reason)


def sentence(reason: str, about: str = "") -> str:
    """A reason as a sentence: `is needed` gives `It is needed.`, or `Name is needed.` if `about` is given."""
    if re.match(r"(is|are|must|should|has|holds|contains|cannot|refers|makes)\b", reason):
        it = "They" if reason.startswith("are ") else "It"
        said = it if about in ("", "body", "request_template") else about.replace("_", " ").capitalize()
        return f"{said} {reason}".rstrip(".") + "."
    word = reason.partition(" ")[0]
    said = reason if "_" in word else reason[:1].upper() + reason[1:]
    return said if said.endswith("?") else said.rstrip(".") + "."


def _where(text: str) -> str:
    """Where the JSON syntax error is; empty for other errors."""
    try:
        json.loads(text)
    except json.JSONDecodeError as problem:
        return f"is not valid JSON at line {problem.lineno}, column {problem.colno} ({problem.msg})"
    except (ValueError, RecursionError):
        return ""
    return ""


def _details(problem: DomainError) -> list[dict[str, str]]:
    return problem.by_field or [{"field": "", "reason": problem.message}]
