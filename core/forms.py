"""Forms: what people type as the values that programs send, and a refusal as sentences beside the fields."""

import csv
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from core import bodies
from core.errors import DomainError, InvalidRequest


def lines(text: str) -> str:
    """A form sends CRLF; what people write has line feeds."""
    return text.replace("\r\n", "\n")


def json_of(field: str, text: str) -> Any:
    """The JSON value that was typed, None for nothing; raises `InvalidRequest` with the line and column."""
    if not text.strip():
        return None
    try:
        return bodies.read_json(text.encode())
    except InvalidRequest as problem:
        [wrong] = problem.by_field
        path = field if wrong["field"] == "body" else f"{field}.{wrong['field']}"
        raise InvalidRequest.of(path, _where(text) or wrong["reason"]) from None


def json_typed(value: Any) -> str:
    """A value as somebody would write it into a field; nothing for None."""
    return "" if value is None else json.dumps(value, ensure_ascii=False, indent=2)


def listed(text: str) -> list[str]:
    """Words with commas between them; one that holds a comma itself stands in quotes."""
    rows = csv.reader(lines(text).split("\n"), skipinitialspace=True)
    return [word for row in rows for each in row if (word := each.strip())]


def listing(words: Sequence[str]) -> str:
    """Words as `listed` reads them."""
    return ", ".join('"' + word.replace('"', '""') + '"' if set(word) & set(',"') else word for word in words)


def together(problems: Sequence[InvalidRequest]) -> InvalidRequest:
    """Several refusals as one, so that a form names all of them at once."""
    details = [detail for problem in problems for detail in _details(problem)]
    return InvalidRequest(problems[0].message, details=details)


def reasons(
    problem: DomainError, fields: Sequence[str], *, otherwise: str = "", names: Mapping[str, str] | None = None
) -> dict[str, str]:
    """A sentence by field, the first of each.

    A place inside of a field is named before its reason; inside of a row, which is a field with a dot, it is named from
    there on. `names` gives paths the field in which they are typed, where nobody sees the number of an item; what is
    about no field stands under `otherwise`, and says itself what it is about.
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
    """The first reason as a sentence, without the path of a JSON body that a person never saw."""
    return sentence(problem.reason)


def sentence(reason: str, about: str = "") -> str:
    """A reason on its own: `is needed` as `It is needed.`, or `Name is needed.` where it says what it is about."""
    if re.match(r"(is|are|must|should|has|holds|refers|makes)\b", reason):
        it = "They" if reason.startswith("are ") else "It"
        said = it if about in ("", "body", "request_template") else about.replace("_", " ").capitalize()
        return f"{said} {reason}".rstrip(".") + "."
    word = reason.partition(" ")[0]
    return f"{reason if '_' in word else reason[:1].upper() + reason[1:]}".rstrip(".") + "."


def _where(text: str) -> str:
    """Where text stops being JSON; nothing when it is wrong in another way."""
    try:
        json.loads(text)
    except json.JSONDecodeError as problem:
        return f"is no JSON at line {problem.lineno}, column {problem.colno} ({problem.msg})"
    except (ValueError, RecursionError):
        return ""
    return ""


def _details(problem: DomainError) -> list[dict[str, str]]:
    return problem.by_field or [{"field": "", "reason": problem.message}]
