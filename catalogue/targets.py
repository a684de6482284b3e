"""The target of a catalogue tool's call: a version's schemas and the function that runs it (catalogue 3.5)."""

from catalogue import builtin, demo_tools, executing, tools
from catalogue.elsewhere import handlers
from catalogue.executing import Target
from catalogue.models import Tool
from catalogue.spec import ToolSpec


def target_for(tool: Tool, number: int | None = None) -> Target:
    """One version of a tool, by default the current one. Raises `NotFound` for an unknown number.

    An old version is validated by its own schema and run by the current handler.
    """
    version = tools.version_of(tool, number)
    spec = builtin_of(tool)
    return Target(
        server=tool.server.name,
        name=tool.name,
        version=version.version,
        input_schema=version.input_schema,
        output_schema=version.output_schema,
        param_order=version.param_order,
        is_idempotent=version.idempotent,
        run=spec.run if spec else handlers.run_of(tool, version, handlers.connection_of(tool)),
        timeout_ms=executing.own_time(spec) if spec else executing.TIMEOUT_MS,
        is_inline=bool(spec and spec.is_inline),
    )


def builtin_of(tool: Tool) -> ToolSpec | None:
    """The builtin that runs a built-in tool. An org's tool never runs a builtin of the same name."""
    if tool.org_id is not None or tool.handler.get("kind") != "builtin":
        return None
    specs = [builtin.TOOLS.get(tool.name), demo_tools.TOOLS.get(tool.name)]
    return next((spec for spec in specs if spec and spec.server == tool.server.name), None)
