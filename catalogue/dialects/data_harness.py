"""data_harness's ToolSpec (catalogue 1.5)."""

from typing import Any

from catalogue.dialects.sheet import HINTS, Sheet
from catalogue.dialects.source import Source, extras_of, param_order
from catalogue.record import Annotations, Content, Imported, JsonObject

NAME = "data_harness"
HOLDS = frozenset({"description", "input_schema", "annotations", "visible"})


def read(source: Source) -> Imported:
    """A ToolSpec as JSON. A handler is a Python object and stays where it is (C23)."""
    name, description = source.need("name", str), source.need("description", str)
    schema = source.need_schema("input_schema")
    if source.has("handler") and source.need("handler", object) is not None:
        source.lose(
            "handler", "not_portable", "a handler cannot be imported; the tool is a schema only", preserved=False
        )
    hints = Source(source.take("annotations", dict, {}), source.at("annotations"))
    values: dict[str, Any] = {key: hints.take(key, bool) for key in HINTS}
    annotations = Annotations(title=hints.take("title", str), **values)
    unknown = hints.rest()
    source.losses += hints.losses
    visible = source.take("visible", bool, True)
    content = Content(
        description=description,
        input_schema=schema,
        annotations=annotations,
        param_order=param_order(schema),
        source_dialect=NAME,
        extras=extras_of(NAME, {**source.rest(), **extras_of("annotations", unknown)}),
    )
    return Imported(name, content, {"visible": visible})


def write(sheet: Sheet) -> JsonObject:
    """The five keys; annotations are null where nothing is known (C22)."""
    content = sheet.content
    sheet.lose_all_but(HOLDS)
    annotations = {**sheet.extras.get("annotations", {}), **content.annotations.model_dump()}
    return {
        **sheet.extras,
        "name": sheet.rename(),
        "description": content.description,
        "input_schema": content.input_schema,
        "visible": sheet.tool.visible,
        "annotations": annotations if any(value is not None for value in annotations.values()) else None,
    }
