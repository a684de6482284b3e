"""Tool specs come from and go to other systems' formats (catalogue 1.2 to 1.13).

One small module a dialect, the canonical record in the middle, every loss named. Plain data in and out: nothing here
knows the database, and nothing raises anything but `ToolProblem` for what it is given.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from catalogue import naming
from catalogue.dialects import anthropic, convilyn, ctp, data_harness, mcp, openai, python, rdk, roboto
from catalogue.dialects.sheet import Sheet
from catalogue.dialects.source import Source
from catalogue.record import Exported, Imported, JsonObject, Stored, ToolProblem

ALIASES = {"roboto_client": "roboto"}
"""Names that a dialect is asked for by as well."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a dialect is read and written. `holds` are the canonical fields that it has a slot for."""

    name: str
    read: Callable[[Source], Imported]
    write: Callable[[Sheet], JsonObject] | None
    holds: frozenset[str]
    styles: tuple[str, ...] = ()
    server: str | None = None
    """Where its tools go when nobody names a server."""


DIALECTS: dict[str, Dialect] = {
    each.name: each
    for each in (
        Dialect(convilyn.NAME, convilyn.read, convilyn.write, convilyn.HOLDS),
        Dialect(ctp.NAME, ctp.read, ctp.write, ctp.HOLDS),
        Dialect(data_harness.NAME, data_harness.read, data_harness.write, data_harness.HOLDS),
        Dialect(rdk.NAME, rdk.read, rdk.write, rdk.HOLDS),
        Dialect(roboto.NAME, roboto.read, roboto.write, roboto.HOLDS, server=roboto.SERVER),
        Dialect(openai.NAME, openai.read, openai.write, openai.HOLDS, styles=openai.STYLES),
        Dialect(anthropic.NAME, anthropic.read, anthropic.write, anthropic.HOLDS),
        Dialect(mcp.NAME, mcp.read, mcp.write, mcp.HOLDS),
        Dialect(python.NAME, python.read, None, frozenset()),
    )
}


def dialect_named(name: str, *, written: bool = False) -> Dialect:
    """A dialect, one that can be written if need be; else a `ToolProblem` with `unsupported_dialect` (C8)."""
    found = DIALECTS.get(ALIASES.get(name, name))
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
    """A foreign tool in canonical form, or a `ToolProblem`."""
    source = Source(value)
    found = dialect.read(source)
    return replace(found, losses=source.losses, warnings=source.warnings)


def write(dialect: Dialect, tool: Stored, *, qualified: bool = False, style: str | None = None) -> Exported:
    """A tool in a dialect with what it loses, or a `ToolProblem` with the reason `not_representable`."""
    require_style(dialect, style)
    assert dialect.write is not None
    home = DIALECTS.get(tool.content.source_dialect)
    name = naming.join(tool.server, tool.name) if qualified else tool.name
    sheet = Sheet(
        dialect.name, tool, name, style, home.holds | {"name", "extras"} if home and home.write else frozenset()
    )
    written = dialect.write(sheet)
    return Exported(sheet.name_there, written, sheet.losses)


__all__ = ["ALIASES", "DIALECTS", "Dialect", "dialect_named", "read", "require_style", "write"]
