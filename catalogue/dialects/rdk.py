"""The ToolSpec of rdk's synthetic worlds (catalogue 1.6)."""

from catalogue.dialects.sheet import Sheet
from catalogue.dialects.source import Source, extras_of, param_order
from catalogue.record import Content, Imported, JsonObject

NAME = "rdk"
HOLDS = frozenset({"description", "input_schema", "output_schema", "param_order"})


def read(source: Source) -> Imported:
    """What `to_schema()` gives, and the constructor's `param_names` where somebody adds them (C27)."""
    name, description = source.need("name", str), source.need("description", str)
    schema, returns = source.need_schema("parameters"), source.need_schema("returns")
    names = source.texts("param_names")
    left = {**source.rest(), **source.nulls}
    if names is not None:
        left["param_names"] = names
    content = Content(
        description=description,
        input_schema=schema,
        output_schema=returns,
        param_order=param_order(schema) if names is None else names,
        source_dialect=NAME,
        extras=extras_of(NAME, left),
    )
    return Imported(name, content)


def write(sheet: Sheet) -> JsonObject:
    """Exactly the four keys (C25); `param_names` only where the order of the properties does not say it."""
    content = sheet.content
    sheet.lose_all_but(HOLDS)
    if content.output_schema is None:
        sheet.lose("output_schema", "defaulted", "returns must be there: an object of any kind")
    ordered = {} if content.param_order == param_order(content.input_schema) else {"param_names": content.param_order}
    return {
        **sheet.extras,
        "name": sheet.rename(),
        "description": content.description,
        "parameters": content.input_schema,
        "returns": {"type": "object"} if content.output_schema is None else content.output_schema,
        **ordered,
    }
