"""Anthropic's tool (catalogue 1.9)."""

from catalogue.dialects.openai import provider_name
from catalogue.dialects.sheet import Sheet
from catalogue.dialects.source import Source, extras_of, param_order
from catalogue.record import Content, Imported, JsonObject, ToolProblem

NAME = "anthropic"
HOLDS = frozenset({"description", "input_schema"})


def read(source: Source) -> Imported:
    """A custom tool; one that Anthropic hosts has no schema and is refused (C35)."""
    is_typed = source.has("type")
    kind = source.take("type", str, "custom")
    given = {"type": kind} if is_typed and "type" not in source.nulls else {}
    if kind != "custom" and not source.has("input_schema"):
        raise ToolProblem("unsupported_tool_type", "/type", f"{kind[:80]} is run by the provider and has no schema")
    name, schema = source.need("name", str), source.need_schema("input_schema")
    description = source.take("description", str, "")
    content = Content(
        description=description,
        input_schema=schema,
        param_order=param_order(schema),
        source_dialect=NAME,
        extras=extras_of(NAME, {**source.rest(), **source.nulls, **given}),
    )
    return Imported(name, content)


def write(sheet: Sheet) -> JsonObject:
    """The minimal three keys and what the tool brought from there (C24, C34)."""
    content = sheet.content
    sheet.lose_all_but(HOLDS)
    schema = content.input_schema
    if "type" not in schema:
        sheet.lose("input_schema", "defaulted", "the root type must be there: object")
        schema = {"type": "object", **schema}
    return {
        **sheet.extras,
        "name": sheet.rename(provider_name),
        "description": sheet.given("description", content.description, ""),
        "input_schema": schema,
    }
