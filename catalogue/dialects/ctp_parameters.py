"""CTP's flat list of parameters, to a JSON Schema and back (catalogue 1.4)."""

import re
from fractions import Fraction
from functools import partial
from typing import Any

from catalogue.dialects import ctp_closed as closed
from catalogue.dialects.sheet import Sheet, pointer
from catalogue.dialects.source import Source
from catalogue.record import JsonObject, ToolProblem
from core.canonical import canonical_json

COLOR = "^#([0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})$"
_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9_]{0,49}")
_FORMATS = {"date": "date", "datetime": "date-time", "url": "uri", "email": "email"}
_TYPES: dict[str, JsonObject] = {
    "text": {"type": "string"},
    "textarea": {"type": "string"},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "select": {"type": "string"},
    "json": {"type": "string", "contentMediaType": "application/json"},
    "file": {"type": "string", "contentEncoding": "base64"},
    "color": {"type": "string", "format": "color", "pattern": COLOR},
    **{kind: {"type": "string", "format": name} for kind, name in _FORMATS.items()},
}
_TEXT = {"minLength": "minLength", "maxLength": "maxLength", "pattern": "pattern"}
_NUMBER = {"min": "minimum", "max": "maximum", "step": "multipleOf"}
_ITEMS = {"minItems": "minItems", "maxItems": "maxItems"}
_CONSTRAINTS = {"text": _TEXT, "textarea": _TEXT, "number": _NUMBER}
_VALIDATION = tuple(closed.VALIDATION)
_REQUIRED = ("name", "type", "label", "description", "required")
_NO_LABEL = "-"
_LONG_TEXT = 200
MAX_LABEL, MAX_DESCRIPTION = 50, 200


def respelled(source: Source) -> list[Any]:
    """The list in the spelling of CTP's JSON Schema: constraints under `validation`, `defaultValue` (C40)."""
    parameters = source.need("parameters", list)
    return [
        _respelled(each, Source(each, f"{source.at('parameters')}/{place}"), source) if isinstance(each, dict) else each
        for place, each in enumerate(parameters)
    ]


def _respelled(parameter: JsonObject, given: Source, source: Source) -> JsonObject:
    """Of what is said in both spellings, that of the JSON Schema is taken."""
    flat = {key: parameter[key] for key in _VALIDATION if key in parameter}
    spelled = {key: value for key, value in parameter.items() if key not in (*flat, "default")}
    nested = spelled.get("validation")
    said = {**flat, **nested} if isinstance(nested, dict) else flat
    twice = [key for key, value in flat.items() if said[key] != value]
    if flat and isinstance(nested, dict | None):
        spelled["validation"] = said
    if "default" in parameter and spelled.setdefault("defaultValue", parameter["default"]) != parameter["default"]:
        twice.append("default")
    for key in twice:
        given.lose(key, "no_slot", "is said twice", preserved=False)
    source.losses += given.losses
    return spelled


def read(parameters: list[Any], source: Source) -> JsonObject:
    """The input schema of a respelled list; the order of its properties is the list's (C39)."""
    properties: JsonObject = {}
    required = []
    for place, parameter in enumerate(parameters):
        given = Source(parameter, f"{source.at('parameters')}/{place}")
        name = given.need("name", str)
        if not _NAME.fullmatch(name):
            raise ToolProblem("invalid_tool", given.at("name"), f"must match ^{_NAME.pattern}$")
        if name in properties:
            raise ToolProblem("invalid_tool", given.at("name"), f"{name[:80]} is there twice")
        properties[name] = _schema_of(given)
        if given.need("required", bool):
            required.append(name)
        given.rest(partial(closed.takes, closed.PARAMETER))
        source.losses += given.losses
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}


def _schema_of(given: Source) -> JsonObject:
    kind = given.need("type", str)
    if kind not in _TYPES:
        raise ToolProblem("invalid_tool", given.at("type"), f"must be one of {', '.join(_TYPES)}")
    schema = {**_TYPES[kind]}
    rules = Source(given.take("validation", dict, {}), given.at("validation"))
    if kind == "select":
        schema = _choice(schema, given, rules)
    for rule, keyword in _CONSTRAINTS.get(kind, {}).items():
        if (value := rules.take(rule, object)) is not None:
            schema[keyword] = value
    rules.rest(partial(closed.takes, closed.VALIDATION))
    given.losses += rules.losses
    schema["title"], schema["description"] = given.need("label", str), given.need("description", str)
    if given.has("defaultValue"):
        schema["default"] = given.need("defaultValue", object)
    return schema


def _choice(schema: JsonObject, given: Source, rules: Source) -> JsonObject:
    options = given.take("options", list, [])
    values = []
    for place, option in enumerate(options):
        each = Source(option, f"{given.at('options')}/{place}")
        values.append(each.need("value", str))
        each.take("label", str)
        each.rest(partial(closed.takes, closed.OPTION))
        given.losses += each.losses
    if values:
        schema["enum"] = values
    if not given.take("multiple", bool, False):
        return schema
    bounds = {key: rules.take(key, int) for key in _ITEMS}
    return {"type": "array", "items": schema, **{key: value for key, value in bounds.items() if value is not None}}


def restored(sheet: Sheet) -> list[JsonObject]:
    """The parameters that the tool brought, as far as CTP's schema takes them (C41, C44); empty if it brought none."""
    return [_fitting(sheet, str(place), each) for place, each in enumerate(sheet.extras.get("parameters", []))]


def _fitting(sheet: Sheet, place: str, parameter: JsonObject) -> JsonObject:
    at = ("extras", sheet.dialect, "parameters", place)
    name, path = parameter["name"], f"input_schema/properties/{parameter['name']}"
    label = filled(sheet, parameter["label"], humanised(name), MAX_LABEL, f"{path}/title")
    said = {key: value for key, value in parameter.items() if key not in _REQUIRED}
    if isinstance(rules := said.get("validation"), dict):
        said["validation"] = closed.kept(sheet, rules, closed.VALIDATION, *at, "validation")
    if isinstance(options := said.get("options"), list):
        said["options"] = [_option(sheet, each, *at, "options", str(index)) for index, each in enumerate(options)]
    kind = parameter["type"]
    if kind == "select" and said.get("multiple") is True:
        kind = "json"
        del said["multiple"]
        sheet.lose(path, "flattened", "CTP's schema knows no choice of several: the list is given as JSON text")
    return {
        "name": name,
        "type": kind,
        "label": label,
        "description": filled(sheet, parameter["description"], label, MAX_DESCRIPTION, f"{path}/description"),
        "required": parameter["required"],
        **closed.kept(sheet, said, closed.PARAMETER, *at),
    }


def _option(sheet: Sheet, option: Any, *at: str) -> Any:
    """An option with a label. What is no option at all is left to be refused with its list."""
    if not (isinstance(option, dict) and isinstance(option.get("value"), str)):
        return option
    kept = closed.kept(sheet, option, closed.OPTION, *at)
    if "label" not in option:
        sheet.lose(pointer(*at, "label"), "defaulted", "CTP asks for a label; the value is written")
    return {**kept, "label": kept.get("label", option["value"] or _NO_LABEL)}


def write(sheet: Sheet) -> list[JsonObject]:
    """The parameters of an input schema, each object or union flattened to JSON text (C43, C132)."""
    content, schema = sheet.content, sheet.content.input_schema
    properties = schema.get("properties", {})
    for keyword in schema:
        if keyword not in ("type", "properties", "required"):
            sheet.lose(f"input_schema/{keyword}", "no_slot", "a list of parameters cannot say it")
    required = schema.get("required", [])
    named = dict.fromkeys([*properties, *required])  # what is required without a schema may be anything
    for name in content.param_order:
        if name not in named:
            sheet.lose("param_order", "no_slot", f"there is no parameter {name[:80]}")
    ordered = dict.fromkeys([*(name for name in content.param_order if name in named), *named])
    return [_parameter(sheet, name, properties.get(name, True), name in required) for name in ordered]


def _parameter(sheet: Sheet, name: str, schema: Any, required: bool) -> JsonObject:
    path = f"input_schema/properties/{name}"
    if not _NAME.fullmatch(name):
        raise ToolProblem("not_representable", f"/{path}", f"CTP cannot name a parameter {name[:80]}")
    said = dict(schema) if isinstance(schema, dict) else {}
    label = filled(sheet, said.pop("title", None), humanised(name), MAX_LABEL, f"{path}/title")
    description = filled(sheet, said.pop("description", None), label, MAX_DESCRIPTION, f"{path}/description")
    default = {"defaultValue": said.pop("default")} if "default" in said else {}
    kind = _recognised(sheet, said, path)
    parameter = {
        "name": name,
        "type": kind,
        "label": label,
        "description": description,
        "required": required,
        **default,
    }
    if kind == "select":
        texts = _distinct(sheet, said.pop("enum"), f"{path}/enum")
        parameter["options"] = [{"value": text, "label": text or _NO_LABEL} for text in texts]
        if default and (text := _text_of(default["defaultValue"])) in texts:
            parameter["defaultValue"] = text
    rules = {rule: said.pop(keyword) for rule, keyword in _CONSTRAINTS.get(kind, {}).items() if keyword in said}
    if said.pop("type", None) == "integer" and kind == "number":
        rules["step"] = _whole_step(rules.get("step", 1))
    if rules:
        parameter["validation"] = rules
    for keyword in said:
        sheet.lose(f"{path}/{keyword}", "no_slot", "a parameter cannot say it")
    return parameter


def _distinct(sheet: Sheet, values: list[Any], path: str) -> list[str]:
    texts = [_text_of(value) for value in values]
    for text in {text for text in texts if texts.count(text) > 1}:
        sheet.lose(path, "no_slot", f"several values are all written {text[:80]}")
    return list(dict.fromkeys(texts))


def _whole_step(step: float) -> int:
    """The step of the whole numbers that are multiples of this one."""
    return Fraction(repr(step)).numerator


def _recognised(sheet: Sheet, said: JsonObject, path: str) -> str:
    """The CTP type of a property; takes the keywords that the type itself says."""
    kind = said.get("type")
    if "enum" in said and kind in ("string", "integer", "number", "boolean", None) and said["enum"]:
        if not all(isinstance(value, str) for value in said["enum"]):
            sheet.lose(f"{path}/enum", "flattened", "the values are written as strings")
        return "select"
    if said.keys() & {"anyOf", "oneOf", "allOf", "not", "$ref", "const"} or kind not in (
        "string",
        "number",
        "integer",
        "boolean",
    ):
        sheet.lose(path, "flattened", "the value is given as JSON text")
        said.clear()
        return "json"
    if kind != "string":
        return "boolean" if kind == "boolean" else "number"
    for name, marks in _TYPES.items():
        if len(marks) > 1 and marks.items() <= {"pattern": COLOR, **said}.items():
            for keyword in marks:
                said.pop(keyword, None)
            return name
    return "textarea" if said.get("maxLength", 0) > _LONG_TEXT else "text"


def filled(sheet: Sheet, text: str | None, instead: str, limit: int, field: str) -> str:
    """A text that CTP asks for, within its limit; `instead` of none. An empty one is lost by name."""
    if text == "":
        sheet.lose(field, "defaulted", "CTP asks for a text and this one is empty")
    return cut(sheet, text or instead, limit, field)


def cut(sheet: Sheet, text: str, limit: int, field: str) -> str:
    """A text within one of CTP's limits."""
    if len(text) > limit:
        sheet.lose(field, "truncated", f"cut to {limit} characters")
    return text[:limit]


def humanised(name: str) -> str:
    """A name as words."""
    words = re.sub(r"[_.-]+", " ", name).strip() or name
    return words[:1].upper() + words[1:]


def _text_of(value: object) -> str:
    return value if isinstance(value, str) else canonical_json(value)
