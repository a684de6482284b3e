"""OpenAI's function tool: nested for Chat Completions, flat for Responses, or the bare function (catalogue 1.8)."""

import re

from catalogue.dialects.sheet import Sheet
from catalogue.dialects.source import Source, extras_of, param_order
from catalogue.record import Content, Imported, JsonObject, ToolProblem

NAME = "openai"
HOLDS = frozenset({"description", "input_schema"})
STYLES = ("chat", "responses")
_MAX_NAME = 64
_NO_PARAMETERS: JsonObject = {"type": "object", "properties": {}}
_FRAME = frozenset({"type", "function"})
_OUTSIDE = "$outer"
"""Where the extras of a nested tool keep what stood beside `function`. A key of the function that is spelled like this
is kept with one more dollar, so that no source can collide with it."""
_SPELLED = re.compile(r"\$+outer")


def read(source: Source) -> Imported:
    """Any of the three forms; they differ in nothing but their frame (C31, C32)."""
    kind = source.take("type", str, "function")
    if kind != "function":
        raise ToolProblem("unsupported_tool_type", "/type", f"{kind[:80]} is no function tool")
    is_nested = source.has("function")
    function = source.inner("function") if is_nested else source
    name = function.need("name", str)
    schema = function.take_schema("parameters")
    schema = _NO_PARAMETERS if schema is None else schema
    description = function.take("description", str, "")
    output_schema = None if is_nested else function.take_schema("output_schema")
    nulls = {key: None for key in function.nulls if is_nested or key != "type"}
    extras = {_kept_as(key): value for key, value in {**function.rest(), **nulls}.items()}
    if is_nested and (outside := source.rest()):
        extras[_OUTSIDE] = outside
    content = Content(
        description=description,
        input_schema=schema,
        output_schema=output_schema,
        param_order=param_order(schema),
        source_dialect=NAME,
        extras=extras_of(NAME, extras),
    )
    return Imported(name, content)


def write(sheet: Sheet) -> JsonObject:
    """Nested; flat in the style `responses`, where `strict` has to be there and an output schema may be."""
    content = sheet.content
    outside, extras = _parted(sheet.extras)
    function = {
        **extras,
        "name": sheet.rename(provider_name),
        "description": sheet.given("description", content.description, ""),
        "parameters": sheet.given("parameters", content.input_schema, _NO_PARAMETERS),
    }
    if sheet.style != "responses":
        sheet.lose_all_but(HOLDS)
        return {**outside, "type": "function", "function": function}
    sheet.lose_all_but(HOLDS | {"output_schema"})
    if content.output_schema is not None:
        function["output_schema"] = content.output_schema
    for key in _FRAME & function.keys():
        del function[key]
        sheet.lose(f"extras/{NAME}/{key}", "no_slot", "the flat form has something else under this key")
    for key in sorted(outside.keys() & function.keys()):
        sheet.lose(f"extras/{NAME}/{_OUTSIDE}/{key}", "no_slot", "the flat form has one place for both")
    if "strict" not in outside.keys() | function.keys():
        function["strict"] = False
        sheet.lose(f"extras/{NAME}/strict", "defaulted", "the flat form asks for it; false is written")
    return {**outside, **function, "type": "function"}


def _kept_as(key: str) -> str:
    return f"${key}" if _SPELLED.fullmatch(key) else key


def _parted(kept: JsonObject) -> tuple[JsonObject, JsonObject]:
    """What stood beside the function, and what stood in it."""
    outside = kept.get(_OUTSIDE, {})
    inside = {key: value for key, value in kept.items() if key != _OUTSIDE}
    return outside, {key[1:] if _SPELLED.fullmatch(key) else key: value for key, value in inside.items()}


def provider_name(name: str) -> str:
    """A name as the model providers take it, or a `ToolProblem` where it is too long (C46)."""
    if len(name) > _MAX_NAME:
        raise ToolProblem("not_representable", "/name", f"{name} is longer than {_MAX_NAME} characters")
    return name.replace(".", "_")
