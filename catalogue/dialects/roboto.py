"""Roboto's client tool: the server lists it, the client runs it (catalogue 1.7)."""

import re

from catalogue.dialects.sheet import Sheet
from catalogue.dialects.source import Source, extras_of, param_order
from catalogue.record import Content, Imported, JsonObject, ToolProblem

NAME = "roboto"
HOLDS = frozenset({"description", "input_schema"})
SERVER = "client"
_NAME = re.compile(r"client_[a-z][a-z0-9_]*")


def read(source: Source) -> Imported:
    """A client tool, kept on the server `client` unless another one is named (C28, C29)."""
    name = source.need("name", str)
    if not _NAME.fullmatch(name):
        raise ToolProblem("invalid_tool", "/name", f"must match ^{_NAME.pattern}$")
    description, schema = source.need("description", str), source.need_schema("input_schema")
    content = Content(
        description=description,
        input_schema=schema,
        param_order=param_order(schema),
        source_dialect=NAME,
        extras=extras_of(NAME, source.rest()),
    )
    return Imported(name, content, {"handler": {"kind": "client"}})


def write(sheet: Sheet) -> JsonObject:
    """The three keys, under a name that the SDK takes (C30)."""
    content = sheet.content
    sheet.lose_all_but(HOLDS)
    return {
        **sheet.extras,
        "name": sheet.rename(_client_name),
        "description": content.description,
        "input_schema": content.input_schema,
    }


def _client_name(name: str) -> str:
    plain = re.sub(r"[^a-z0-9_]", "_", name.lower()).removeprefix("client_")
    return f"client_{plain}" if plain[:1].isalpha() else f"client_t_{plain}"
