"""Finding what a qualified name calls: a builtin tool, or one of the org's own (catalogue 1.1, 3.5)."""

from collections.abc import Mapping

from django.conf import settings

from catalogue import builtin, demo_tools, executing, naming
from catalogue.executing import Target
from catalogue.models import Tool, ToolVersion
from catalogue.spec import ToolSpec
from core.errors import NotFound


def builtins() -> Mapping[tuple[str, str], ToolSpec]:
    """Everybody's tools by server and name; the demo's are there outside production."""
    demo = {} if settings.HEDDLE.mode == "production" else demo_tools.TOOLS
    return {(spec.server, spec.name): spec for spec in [*builtin.TOOLS.values(), *demo.values()]}


def target_for(org_id: int, qualified_name: str, version: int | None = None) -> Target:
    """The tool under a name in any spelling, as an org sees it. Raises `NotFound` for what it does not (C94)."""
    name = naming.read(qualified_name)
    if name is None:
        raise _missing(qualified_name)
    spec = builtins().get((name.folded, name.name))
    if spec is not None and version in (None, spec.version):
        return executing.target_of(spec)
    tool = (
        Tool.objects.visible_in(org_id)
        .filter(server__folded=name.folded, name=name.name)
        .select_related("server")
        .order_by("org_id")
        .first()
    )
    if tool is None:
        raise _missing(qualified_name)
    content = ToolVersion.objects.filter(tool=tool, version=version or tool.version).first()
    if content is None:
        raise NotFound(f"{tool.qualified_name} has no version {version}.")
    return Target(
        server=tool.server.name,
        name=tool.name,
        version=content.version,
        input_schema=content.input_schema,
        output_schema=content.output_schema,
        param_order=content.param_order,
        is_idempotent=content.idempotent,
    )


def _missing(qualified_name: str) -> NotFound:
    return NotFound(f"There is no tool {qualified_name[:200]}.")
