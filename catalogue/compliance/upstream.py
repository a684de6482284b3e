"""The seven checks of Convilyn's own runner, with its names, order and leniency (C121 to C124).

As there, a tool that returns a failure passes the invocation; only one that raises does not (T4).
"""

from pydantic import BaseModel, ValidationError

from catalogue import manifests
from catalogue.compliance.subject import Invoked, Report, Subject
from catalogue.dialects import convilyn
from core.errors import InvalidRequest


def check(subject: Subject, report: Report) -> None:
    """Run the checks."""
    _server_metadata(subject, report)
    _tools_exist(subject, report)
    _tool_schemas(subject, report)
    _manifest_synth(subject, report)
    _tool_invocations(subject, report)
    _ref_id_pattern(subject, report)
    report.add(True, "get_tool_data", "data_store is available; heddle__get_tool_data answers")


def _server_metadata(subject: Subject, report: Report) -> None:
    named = ("name", "description", "version")
    missing = [f"Server {name} is empty" for name in named if not getattr(subject.server, name)]
    said = f"Missing metadata: {', '.join(missing)}" if missing else "Server metadata is complete"
    report.add(not missing, "server_metadata", said)


def _tools_exist(subject: Subject, report: Report) -> None:
    count = len(subject.tools)
    report.add(count > 0, "tools_exist", f"Server has {count} tool(s)" if count else "Server has no tools registered")


def _tool_schemas(subject: Subject, report: Report) -> None:
    for each in subject.tools:
        if "type" not in each.version.input_schema:
            said = f"Tool '{each.name}' has invalid input schema"
        elif not each.version.description:
            said = f"Tool '{each.name}' is missing a description"
        else:
            report.add(True, f"tool_schema:{each.name}", f"Tool '{each.name}' schema is valid")
            continue
        report.add(False, f"tool_schema:{each.name}", said)


class _Spec(BaseModel):
    name: str
    description: str
    input_schema: dict[str, object]
    idempotent: bool = False
    output_schema: dict[str, object] | None = None


class _Described(BaseModel):
    name: str
    version: str
    description: str


class _Manifest(BaseModel):
    """The fields that Convilyn's manifest model requires."""

    sdk_version: str
    server: _Described
    tools: list[_Spec]
    capabilities: list[str]


def _manifest_synth(subject: Subject, report: Report) -> None:
    try:
        manifest = manifests.manifest(subject.server, convilyn.NAME).manifest
        loaded = _Manifest.model_validate(manifest)
    except (InvalidRequest, ValidationError) as problem:
        report.add(False, "manifest_synth", f"Manifest synth failed: {problem}")
        return
    report.add(True, "manifest_synth", "Manifest synthesized successfully", tools_count=len(loaded.tools))


def _tool_invocations(subject: Subject, report: Report) -> None:
    for each in subject.tools:
        name = f"tool_invocation:{each.name}"
        reason = subject.why_not_called(each)
        if each.required:
            report.add(True, name, f"Tool '{each.name}' skipped ({reason})", required=each.required)
        elif reason is not None:
            report.add(True, name, f"Tool '{each.name}' skipped ({reason})", skipped=True)
        else:
            _invocation(subject.invoke(each), each.name, report)


def _invocation(invoked: Invoked, name: str, report: Report) -> None:
    error = invoked.result.error
    if invoked.has_raised:
        said = error.message if error else "it raised"
        report.add(False, f"tool_invocation:{name}", f"Tool '{name}' crashed with defaults: {said}")
    else:
        details = {"code": error.code} if error else {}
        report.add(True, f"tool_invocation:{name}", f"Tool '{name}' invoked successfully with defaults", **details)


def _ref_id_pattern(subject: Subject, report: Report) -> None:
    """The second call, as in Convilyn: reports only on tools that returned an object."""
    for each in subject.tools:
        if subject.why_not_called(each) is not None:
            continue
        invoked = subject.invoke(each)
        if invoked.has_raised or not isinstance(invoked.returned, dict):
            continue
        has_both = {"ref_id", "summary"} <= invoked.returned.keys()
        said = (
            "returns ref_id + summary" if has_both else "does not return ref_id+summary (recommended for large results)"
        )
        report.add(True, f"ref_id_pattern:{each.name}", f"Tool '{each.name}' {said}")
