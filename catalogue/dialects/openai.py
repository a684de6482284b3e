"""OpenAI's function tool: nested for Chat Completions, flat for Responses, or the bare function (catalogue 1.8)."""

from catalogue.dialects.sheet import Sheet
from catalogue.dialects.source import Source, extras_of, param_order
from catalogue.record import Content, Imported, JsonObject, ToolProblem

NAME = "openai"
HOLDS = frozenset({"description", "input_schema"})
STYLES = ("chat", "responses")
_MAX_NAME = 64
_OUTSIDE = "$outer"
"""Where the extras of a nested tool keep what stood beside `function`; no key of a function begins with a dollar."""


def read(source: Source) -> Imported:
    """Any of the three forms; they differ in nothing but their frame (C31, C32)."""
    kind = source.take("type", str, "function")
    if kind != "function":
        raise ToolProblem("unsupported_tool_type", "/type", f"{kind[:80]} is no function tool")
    is_nested = source.has("function")
    function = source.inner("function") if is_nested else source
    name = function.need("name", str)
    schema = function.take_schema("parameters")
    schema = {"type": "object", "properties": {}} if schema is None else schema
    description = function.take("description", str, "")
    output_schema = None if is_nested else function.take_schema("output_schema")
    extras = function.rest()
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
    extras = dict(sheet.extras)
    outside = extras.pop(_OUTSIDE, {})
    function = {
        **extras,
        "name": sheet.rename(provider_name(sheet.name)),
        "description": content.description,
        "parameters": content.input_schema,
    }
    if sheet.style != "responses":
        sheet.lose_all_but(HOLDS)
        return {**outside, "type": "function", "function": function}
    sheet.lose_all_but(HOLDS | {"output_schema"})
    if content.output_schema is not None:
        function["output_schema"] = content.output_schema
    return {**outside, "type": "function", "strict": False, **function}


def provider_name(name: str) -> str:
    """A name as the model providers take it, or a `ToolProblem` where it is too long (C46)."""
    if len(name) > _MAX_NAME:
        raise ToolProblem("not_representable", "/name", f"{name} is longer than {_MAX_NAME} characters")
    return name.replace(".", "_")
