"""CTP's flat list of parameters, to a JSON Schema and back (catalogue 1.4)."""

import re
from typing import Any

from catalogue.dialects.sheet import Sheet
from catalogue.dialects.source import Source
from catalogue.record import JsonObject, ToolProblem

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
_VALIDATION = (*_TEXT, *_NUMBER, *_ITEMS, "accept", "maxSize", "custom")
_LONG_TEXT = 200
MAX_LABEL, MAX_DESCRIPTION = 50, 200


def respelled(parameters: list[Any]) -> list[Any]:
    """The list in the spelling of CTP's JSON Schema: constraints under `validation`, `defaultValue` (C40)."""
    return [_respelled(each) if isinstance(each, dict) else each for each in parameters]


def _respelled(parameter: JsonObject) -> JsonObject:
    flat = {key: parameter[key] for key in _VALIDATION if key in parameter}
    spelled = {
        ("defaultValue" if key == "default" else key): value for key, value in parameter.items() if key not in flat
    }
    nested = spelled.get("validation", {})
    if flat and isinstance(nested, dict):
        spelled["validation"] = {**flat, **nested}
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
        given.rest()
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
    rules.rest()
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
        each.rest()
        given.losses += each.losses
    if values:
        schema["enum"] = values
    if not given.take("multiple", bool, False):
        return schema
    bounds = {key: rules.take(key, int) for key in _ITEMS}
    return {"type": "array", "items": schema, **{key: value for key, value in bounds.items() if value is not None}}


def restored(sheet: Sheet) -> list[JsonObject]:
    """The parameters as the tool brought them, their texts within CTP's limits (C41, C44); empty if it brought none."""
    return [_fitting(sheet, parameter) for parameter in sheet.extras.get("parameters", [])]


def _fitting(sheet: Sheet, parameter: JsonObject) -> JsonObject:
    path = f"input_schema/properties/{parameter['name']}"
    label = cut(sheet, parameter["label"], MAX_LABEL, f"{path}/title")
    description = cut(sheet, parameter["description"], MAX_DESCRIPTION, f"{path}/description")
    return {**parameter, "label": label, "description": description}


def write(sheet: Sheet) -> list[JsonObject]:
    """The parameters of an input schema, each object or union flattened to JSON text (C43, C132)."""
    schema = sheet.content.input_schema
    properties = schema.get("properties", {})
    for keyword in schema:
        if keyword not in ("type", "properties", "required"):
            sheet.lose(f"input_schema/{keyword}", "no_slot", "a list of parameters cannot say it")
    ordered = [name for name in sheet.content.param_order if name in properties]
    ordered += [name for name in properties if name not in ordered]
    return [_parameter(sheet, name, properties[name], name in schema.get("required", [])) for name in ordered]


def _parameter(sheet: Sheet, name: str, schema: Any, required: bool) -> JsonObject:
    path = f"input_schema/properties/{name}"
    if not _NAME.fullmatch(name):
        raise ToolProblem("not_representable", f"/{path}", f"CTP cannot name a parameter {name[:80]}")
    said = dict(schema) if isinstance(schema, dict) else {}
    label = cut(sheet, said.pop("title", None) or humanised(name), MAX_LABEL, f"{path}/title")
    description = cut(sheet, said.pop("description", None) or label, MAX_DESCRIPTION, f"{path}/description")
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
        parameter["options"] = [{"value": _text(value), "label": _text(value) or "-"} for value in said.pop("enum")]
    rules = {rule: said.pop(keyword) for rule, keyword in _CONSTRAINTS.get(kind, {}).items() if keyword in said}
    if said.pop("type", None) == "integer" and kind == "number":
        rules.setdefault("step", 1)
    if rules:
        parameter["validation"] = rules
    if kind != "json":
        for keyword in said:
            sheet.lose(f"{path}/{keyword}", "no_slot", "a parameter cannot say it")
    return parameter


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
        return "json"
    if kind != "string":
        return "boolean" if kind == "boolean" else "number"
    for name, marks in _TYPES.items():
        if len(marks) > 1 and marks.items() <= {"pattern": COLOR, **said}.items():
            for keyword in marks:
                said.pop(keyword, None)
            return name
    return "textarea" if said.get("maxLength", 0) > _LONG_TEXT else "text"


def cut(sheet: Sheet, text: str, limit: int, field: str) -> str:
    """A text within one of CTP's limits."""
    if len(text) > limit:
        sheet.lose(field, "truncated", f"cut to {limit} characters")
    return text[:limit]


def humanised(name: str) -> str:
    """A name as words."""
    words = re.sub(r"[_.-]+", " ", name).strip() or name
    return words[:1].upper() + words[1:]


def _text(value: object) -> str:
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
