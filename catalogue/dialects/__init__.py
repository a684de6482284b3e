"""Conversion of tool specs from and to other systems' formats (catalogue 1.2 to 1.13).

One small module per dialect, with the canonical record as the intermediate form; every loss is reported. Plain data in
and out: nothing here uses the database, and invalid input raises only `ToolProblem`.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from catalogue import naming
from catalogue.dialects import anthropic, convilyn, ctp, data_harness, mcp, openai, python, rdk, roboto
from catalogue.dialects.sheet import Sheet
from catalogue.dialects.source import Source
from catalogue.record import Exported, Imported, JsonObject, Stored, ToolProblem, Unwritable

logger = logging.getLogger("heddle.catalogue")


@dataclass(frozen=True, slots=True)
class Dialect:
    """How to read and write a dialect. `holds` are the canonical fields that it can express."""

    name: str
    read: Callable[[Source], Imported]
    write: Callable[[Sheet], JsonObject] | None
    holds: frozenset[str]
    styles: tuple[str, ...] = ()
    server: str | None = None
    """The server for its tools if none is named."""
    label: str = ""
    """The name on pages, if it differs from `name`."""

    @property
    def title(self) -> str:
        """The name on pages."""
        return self.label or self.name


DIALECTS: dict[str, Dialect] = {
    each.name: each
    for each in (
        Dialect(openai.NAME, openai.read, openai.write, openai.HOLDS, styles=openai.STYLES, label="OpenAI"),
        Dialect(anthropic.NAME, anthropic.read, anthropic.write, anthropic.HOLDS, label="Anthropic"),
        Dialect(mcp.NAME, mcp.read, mcp.write, mcp.HOLDS, label="MCP"),
        Dialect(convilyn.NAME, convilyn.read, convilyn.write, convilyn.HOLDS),
        Dialect(ctp.NAME, ctp.read, ctp.write, ctp.HOLDS),
        Dialect(data_harness.NAME, data_harness.read, data_harness.write, data_harness.HOLDS),
        Dialect(rdk.NAME, rdk.read, rdk.write, rdk.HOLDS),
        Dialect(roboto.NAME, roboto.read, roboto.write, roboto.HOLDS, server=roboto.SERVER),
        Dialect(python.NAME, python.read, None, frozenset(), label="Python"),
    )
}


def dialect_named(name: str, *, written: bool = False) -> Dialect:
    """The dialect; raises `ToolProblem` with `unsupported_dialect` for an unknown (or unwritable) one (C8)."""
    found = DIALECTS.get(naming.dialect(name))
    if found is None or (written and found.write is None):
        known = [each.name for each in DIALECTS.values() if each.write or not written]
        raise ToolProblem("unsupported_dialect", "", f"dialect: must be one of {', '.join(known)}")
    return found


def require_style(dialect: Dialect, style: str | None) -> None:
    """Raise a `ToolProblem` unless the dialect has that style."""
    if style is not None and style not in dialect.styles:
        known = f"must be one of {', '.join(dialect.styles)}" if dialect.styles else f"{dialect.name} has none"
        raise ToolProblem("invalid_request", "", f"style: {known}")


def read(dialect: Dialect, value: object) -> Imported:
    """A tool from a dialect in canonical form; raises `ToolProblem`."""
    source = Source(value)
    found = dialect.read(source)
    return replace(found, losses=source.losses, warnings=source.warnings)


def write(
    dialect: Dialect, tool: Stored, *, qualified: bool = False, style: str | None = None, is_renaming: bool = True
) -> Exported:
    """A tool in a dialect with its losses; raises `ToolProblem` with the reason `not_representable`.

    A fault of a dialect's own is logged and raised as `Unwritable`, so that a list of tools can leave the one out.
    """
    require_style(dialect, style)
    assert dialect.write is not None
    home = DIALECTS.get(tool.content.source_dialect)
    name = naming.join(tool.server, tool.name) if qualified else tool.name
    kept = home.holds | {"name", "extras"} if home and home.write else frozenset[str]()
    sheet = Sheet(dialect.name, tool, name, style, kept, is_renaming=is_renaming)
    try:
        written = dialect.write(sheet)
    except ToolProblem:
        raise
    except Exception as problem:
        logger.exception("tool.not_written", extra={"dialect": dialect.name, "tool": f"{tool.server}__{tool.name}"})
        raise Unwritable(dialect.name) from problem
    return Exported(sheet.name_there, written, sheet.losses)


def definition(tool: Stored) -> tuple[Dialect, JsonObject]:
    """A tool as an import reads it again: in its own dialect if that can be written, else where it loses least."""
    found = []
    for each in DIALECTS.values():
        for style in each.styles or (None,) if each.write else ():
            with suppress(ToolProblem):
                found.append((each, write(each, tool, style=style, is_renaming=False)))
    home = tool.content.source_dialect
    chosen, exported = min(found, key=lambda pair: (pair[0].name != home, len(pair[1].losses)))
    return chosen, exported.tool


__all__ = ["DIALECTS", "Dialect", "definition", "dialect_named", "read", "require_style", "write"]
