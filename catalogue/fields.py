"""Forms generated from input schemas, and arguments from the typed values (catalogue 1.1, 3.1).

Names in a schema are untrusted, so form fields are numbered instead.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from catalogue.record import JsonObject
from catalogue.subschemas import linked
from catalogue.tabulating import kind_of, resolved
from core import forms
from core.errors import InvalidRequest
from core.payloads import json_text
from core.wording import one_line

MAX_FIELDS: Final = 60
MAX_OPTIONS: Final = 200
_LONG: Final = 200
"""Longer texts get a multi-line field."""
WHOLE: Final = "whole"
"""The field for all arguments as JSON."""
TURN: Final = "turn"
"""The button that switches between fields and JSON."""


@dataclass(frozen=True, slots=True)
class Field:
    """One argument. `kind`: select, number, text, lines or json; `options` are values as JSON with their words."""

    name: str
    property: str
    kind: str
    told: str
    is_required: bool
    meaning: str = ""
    options: tuple[tuple[str, str], ...] = ()
    minimum: str = ""
    maximum: str = ""
    step: str = ""
    default: str = ""
    typed: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Form:
    """The form fields; none if the schema has nothing to show as fields: then all arguments are typed as JSON."""

    fields: tuple[Field, ...]
    whole: str = ""
    error: str = ""
    """Errors that belong to no single field."""
    is_whole: bool = False
    """Whether the user switched to JSON."""

    @property
    def as_whole(self) -> bool:
        """Whether it is shown as JSON."""
        return self.is_whole or not self.fields

    @property
    def faulty(self) -> tuple[Field, ...]:
        """The fields with errors."""
        return tuple(field for field in self.fields if field.error)

    @property
    def status(self) -> int:
        """The HTTP status of the page with this form."""
        return 400 if self.error or self.faulty else 200

    def filled(self, arguments: Any) -> "Form":
        """The form filled with these arguments."""
        given = arguments if isinstance(arguments, dict) else {}
        fields = tuple(replace(each, typed=_typed(each, given)) for each in self.fields)
        return replace(self, fields=fields, whole=forms.json_typed(arguments))

    def told(self, errors: list[dict[str, Any]]) -> "Form":
        """The form with errors at their fields; a place inside a field is named in the error."""
        beside: dict[str, str] = {}
        rest = []
        for error in errors:
            field = next((each for each in self.fields if _is_about(error["field"], each.property)), None)
            place = error["field"].removeprefix(field.property).lstrip(".") if field else error["field"]
            said = f"{place}: {error['message']}." if place else forms.sentence(error["message"])
            if field:
                beside.setdefault(field.name, said)
            else:
                rest.append(said)
        fields = tuple(replace(each, error=beside.get(each.name, "")) for each in self.fields)
        return replace(self, fields=fields, error=" ".join(rest[:5]))


def form_of(schema: JsonObject) -> Form:
    """The fields of a schema's top level; nested ones are typed as JSON."""
    whole = linked(schema)
    top = resolved(whole, whole)
    properties, required = top.get("properties"), top.get("required")
    if not isinstance(properties, dict) or not 0 < len(properties) <= MAX_FIELDS:
        return Form(())
    needed = required if isinstance(required, list) else []
    items = enumerate(properties.items())
    return Form(
        tuple(_field(f"f{at}", name, resolved(each, whole), whole, name in needed) for at, (name, each) in items)
    )


def arguments_of(form: Form, post: Mapping[str, str]) -> tuple[Any, list[dict[str, Any]]]:
    """The typed arguments and their parse errors; empty fields are omitted."""
    if not form.fields or post.get("as") == WHOLE:
        try:
            typed = forms.json_of(WHOLE, forms.lines(post.get(WHOLE, "")))
        except InvalidRequest as problem:
            return {}, [_error("", problem.reason)]
        return ({} if typed is None else typed), []
    arguments, errors = {}, []
    for field in form.fields:
        text = forms.lines(post.get(field.name, ""))
        if not text.strip() and not (field.kind in ("text", "lines") and text):
            continue
        try:
            arguments[field.property] = _value(field, text)
        except InvalidRequest as problem:
            errors.append(_error(field.property, problem.reason))
    return arguments, errors


def typed_again(form: Form, post: Mapping[str, str]) -> Form:
    """The form with the typed text, valid or not."""
    fields = tuple(replace(each, typed=forms.lines(post.get(each.name, ""))) for each in form.fields)
    return replace(form, fields=fields, whole=forms.lines(post.get(WHOLE, "")), is_whole=post.get("as") == WHOLE)


def turned(form: Form, post: Mapping[str, str]) -> Form:
    """Switch between fields and JSON; stays, with the reason, if the other form cannot show the values."""
    arguments, errors = arguments_of(form, post)
    typed = typed_again(form, post)
    if not errors and typed.as_whole:
        errors = _unshown(form, arguments)
    return typed.told(errors) if errors else replace(form.filled(arguments), is_whole=not typed.as_whole)


def showing(form: Form, arguments: Any) -> Form:
    """The form filled with arguments; as JSON if the fields cannot show them without loss."""
    return replace(form.filled(arguments), is_whole=bool(_unshown(form, arguments)))


def _field(name: str, called: str, schema: JsonObject, whole: JsonObject, is_required: bool) -> Field:
    field = Field(
        name,
        called,
        "json",
        one_line(kind_of(schema, whole), 80),
        is_required,
        meaning=one_line(str(schema.get("description") or schema.get("title") or ""), 300),
        default=one_line(json_text(schema["default"]), 80) if "default" in schema else "",
    )
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    kind = schema.get("type")
    if isinstance(choices, list) and 0 < len(choices) <= MAX_OPTIONS:
        options = tuple((forms.json_typed(each) or "null", one_line(json_text(each), 80) or '""') for each in choices)
        return replace(field, kind="select", options=options, told="")
    if kind == "boolean":
        return replace(field, kind="select", options=(("true", "true"), ("false", "false")), told="")
    if kind in ("integer", "number"):
        return replace(field, kind="number", told=_range(schema, kind), **_bounds(schema, kind))  # type: ignore[arg-type]
    if kind == "string":
        longest = schema.get("maxLength")
        is_short = "format" in schema or "pattern" in schema or (isinstance(longest, int) and longest <= _LONG)
        return replace(field, kind="text" if is_short else "lines", told=_format(schema))
    return field


def _bounds(schema: JsonObject, kind: str) -> dict[str, str]:
    """Number attributes for the browser; validation is done on the server."""
    low, high = schema.get("minimum"), schema.get("maximum")
    step = {"integer": "1"}.get(kind, "any")
    bounds = {"minimum": low, "maximum": high}
    shown = {key: json_text(value) for key, value in bounds.items() if isinstance(value, int | float)}
    return {"step": step, **shown}


def _range(schema: JsonObject, kind: str) -> str:
    low, high = (schema.get(key) for key in ("minimum", "maximum"))
    if low is not None and high is not None:
        return one_line(f"{json_text(low)} to {json_text(high)}", 60)
    if low is not None or high is not None:
        return one_line(f"from {json_text(low)}" if high is None else f"up to {json_text(high)}", 60)
    return "whole number" if kind == "integer" else "number"


def _format(schema: JsonObject) -> str:
    return one_line(str(schema.get("format", "")), 30)


def _value(field: Field, text: str) -> Any:
    if field.kind in ("text", "lines"):
        return text
    try:
        return forms.json_of("value", text)
    except InvalidRequest as problem:
        if field.kind == "number":
            raise InvalidRequest("number: is not a number") from problem
        raise


def _typed(field: Field, given: Mapping[str, Any]) -> str:
    if field.property not in given:
        return ""
    value = given[field.property]
    if field.kind in ("text", "lines"):
        return value if isinstance(value, str) else json_text(value)
    return forms.json_typed(value) or "null"


def _unshown(form: Form, arguments: Any) -> list[dict[str, Any]]:
    """The arguments that the fields cannot show without loss, with reasons."""
    if not isinstance(arguments, dict):
        return [_error("", "must be a JSON object to show it as fields")]
    fields = {field.property: field for field in form.fields}
    return [
        _error(name, _WITHOUT_FIELD if field is None else "cannot be shown in its field, so this stays JSON")
        for name, value in arguments.items()
        if (field := fields.get(name)) is None or not _can_show(field, value)
    ]


_WITHOUT_FIELD = "has no field, so this stays JSON"


def _can_show(field: Field, value: Any) -> bool:
    """Whether the browser's field preserves the value: number fields drop other values, one-line fields drop line
    breaks, text areas drop a leading line break."""
    match field.kind:
        case "select":
            return _typed(field, {field.property: value}) in [option for option, _ in field.options]
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "text":
            return isinstance(value, str) and bool(value) and not set(value) & set("\r\n")
        case "lines":
            return isinstance(value, str) and bool(value) and "\r" not in value and not value.startswith("\n")
    return True


def _is_about(path: str, called: str) -> bool:
    return path == called or path.startswith((f"{called}.", f"{called}["))


def _error(path: str, message: str) -> dict[str, Any]:
    return {"field": path, "code": "TYPE_ERROR", "message": message}
