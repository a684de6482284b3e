"""Convilyn's ToolSpec, and the items of its catalogue (catalogue 1.3)."""

import re
from dataclasses import dataclass
from typing import Any

from catalogue.dialects.sheet import Sheet
from catalogue.dialects.source import Source, extras_of, param_order
from catalogue.record import Content, Imported, JsonObject, Loss

NAME = "convilyn"
HOLDS = frozenset({"description", "input_schema", "output_schema", "idempotent"})
_REFERENCE = re.compile(r"[A-Za-z0-9_-]+:[A-Za-z0-9_.]+")


def is_referable(server: str, name: str) -> bool:
    """Whether a workflow can name the tool; its server may have a hyphen, the tool not (catalogue 1.2)."""
    return _REFERENCE.fullmatch(f"{server}:{name}") is not None


def read(source: Source) -> Imported:
    """A ToolSpec; with a `server` key, an item of the catalogue, whose capabilities are tags (C133)."""
    name = source.need("name", str)
    is_item = source.has("server")
    server = source.need("server", str) if is_item else None
    description = source.need("description", str)
    schema = source.take_schema("input_schema") or {} if is_item else source.need_schema("input_schema")
    tags = source.texts("capabilities") if is_item else None
    content = Content(
        description=description,
        input_schema=schema,
        output_schema=source.take_schema("output_schema"),
        idempotent=source.take("idempotent", bool, False),
        param_order=param_order(schema),
        source_dialect=NAME,
        extras=extras_of(NAME, source.rest()),
    )
    return Imported(name, content, {} if tags is None else {"tags": tags}, server=server)


def write(sheet: Sheet) -> JsonObject:
    """Always the five keys (C17)."""
    content = sheet.content
    sheet.lose_all_but(HOLDS)
    return {
        **sheet.extras,
        "name": sheet.rename(),
        "description": content.description,
        "input_schema": content.input_schema,
        "idempotent": content.idempotent,
        "output_schema": content.output_schema,
    }


@dataclass(frozen=True, slots=True)
class Manifest:
    """A server with its tools, as Convilyn compiles it."""

    server: JsonObject
    """Name, description, version and capabilities."""
    tools: list[Any]
    losses: list[Loss]


def read_manifest(value: object) -> Manifest:
    """A manifest (C18); its tools are read one by one."""
    source = Source(value)
    named = source.inner("server")
    server = {key: named.need(key, str) for key in ("name", "version", "description")}
    server["capabilities"] = source.texts("capabilities") or []
    source.take("sdk_version", str)
    tools = source.take("tools", list, [])
    for each in (named, source):
        for key in each.rest():
            each.lose(key, "no_slot", "a server's record has no place for it", preserved=False)
    return Manifest(server, tools, [loss for loss in source.losses if not loss.preserved])


def write_manifest(server: JsonObject, tools: list[JsonObject]) -> JsonObject:
    """What the real manifest model loads (C19)."""
    named = {key: server[key] for key in ("name", "version", "description")}
    return {"sdk_version": "1.0.0", "server": named, "tools": tools, "capabilities": server["capabilities"]}
