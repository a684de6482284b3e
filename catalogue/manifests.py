"""A server with its tools as one document of another project (C19)."""

from catalogue import dialects, tools
from catalogue.dialects import convilyn
from catalogue.importing import refused
from catalogue.models import Tool, ToolServer
from catalogue.record import ToolProblem
from catalogue.wire_tools import ManifestOut


def manifest(server: ToolServer, dialect: str) -> ManifestOut:
    """A server with all its tools, including hidden ones, as a manifest (C19)."""
    try:
        chosen = dialects.dialect_named(dialect, written=True)
        if chosen.name != convilyn.NAME:
            raise ToolProblem("unsupported_dialect", "", f"dialect: only {convilyn.NAME} has manifests")
    except ToolProblem as problem:
        raise refused(problem) from None
    described = {key: getattr(server, key) for key in ("name", "description", "version", "capabilities")}
    rows = list(Tool.objects.filter(server=server).select_related("server").order_by("pk"))
    written, losses = [], []
    for tool, version in tools.with_versions(rows):
        exported = dialects.write(chosen, tools.stored(tool, version))
        written.append(exported.tool)
        losses += [loss.model_copy(update={"path": f"/{tool.name}{loss.path}"}) for loss in exported.losses]
    return ManifestOut(dialect=chosen.name, manifest=convilyn.write_manifest(described, written), losses=losses)
