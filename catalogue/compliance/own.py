"""Heddle's own checks, prefixed `heddle:`; warnings count as passed (catalogue 3.9, C126)."""

from collections.abc import Callable
from typing import Any, Final

from catalogue import dialects, judging, result_dialects, results
from catalogue.compliance.subject import Checked, Report, Subject
from catalogue.dialects import convilyn
from catalogue.record import JsonObject, ToolProblem
from catalogue.result_dialects import Context
from catalogue.sampling import making
from catalogue.sampling.drawing import Source
from catalogue.sampling.merging import Unmakeable
from catalogue.schema_rules import check_schema
from catalogue.wire_compliance import CheckOut

Finding = tuple[bool, str, JsonObject]
MODEL_DIALECTS: Final = ("openai", "anthropic", "mcp")
"""Dialects in which models get tool names."""
_SEED: Final = 0


def check(subject: Subject, report: Report) -> None:
    """Run the checks, each over all tools. Checks that run out of time give a warning."""
    for name, find in _CHECKS.items():
        for each in subject.tools:
            passed, said, details = _warning("Skipped: out of time") if subject.is_late else find(each)
            report.add(passed, f"heddle:{name}:{each.name}", said, **details)


def findings(each: Checked) -> list[CheckOut]:
    """The results for one tool. Nothing is called."""
    found = ((name, find(each)) for name, find in _CHECKS.items())
    return [
        CheckOut(passed=passed, check_name=f"heddle:{name}:{each.name}", message=said, details=details)
        for name, (passed, said, details) in found
    ]


def _warning(said: str, **details: Any) -> Finding:
    return True, said, {"warning": True, **details}


def _schema(schema: JsonObject, *, is_input: bool) -> Finding:
    try:
        check_schema(schema, "", is_input=is_input)
    except ToolProblem as problem:
        return False, f"{problem.path or 'the schema'}: {problem.message}", {"path": problem.path}
    return True, "The schema is valid", {}


def _input_schema(each: Checked) -> Finding:
    return _schema(each.version.input_schema, is_input=True)


def _output_schema(each: Checked) -> Finding:
    if each.version.output_schema is None:
        return True, "No output schema: every result is accepted", {}
    return _schema(each.version.output_schema, is_input=False)


def _portable_name(each: Checked) -> Finding:
    """Whether every model dialect accepts the qualified name; a warning if only Convilyn's workflows do not."""
    refused: dict[str, str] = {}
    for name in MODEL_DIALECTS:
        try:
            written = dialects.write(dialects.dialect_named(name), each.stored, qualified=True)
        except ToolProblem as problem:
            refused[name] = problem.message
        else:
            if written.name != each.tool.qualified_name:
                refused[name] = f"becomes {written.name} there"
    if refused:
        return False, f"{each.tool.qualified_name} does not fit {', '.join(refused)}", {"dialects": refused}
    fits = f"{each.tool.qualified_name} fits every model dialect"
    if not convilyn.is_referable(each.stored.server, each.name):
        said = f"workflow references of {convilyn.NAME} cannot name a tool with a hyphen"
        return _warning(f"{fits}, but {said}", dialects={convilyn.NAME: said})
    return True, fits, {}


def _annotations(each: Checked) -> Finding:
    hints = each.version.annotations
    if hints.get("read_only") is True and hints.get("destructive") is True:
        return False, "read_only and destructive contradict each other", {}
    if hints.get("destructive") is True and each.version.idempotent:
        return _warning("Destructive and idempotent: automatic retries destroy again")
    return True, "The hints are consistent", {}


def _result(each: Checked) -> Finding:
    """A simulated result as a CTP result."""
    schema = each.version.output_schema
    try:
        data = {"id": each.name, "status": "ok"} if schema is None else _made(each, schema)
    except Unmakeable as problem:
        return False, f"No output was found that matches the output_schema: {problem}", {}
    context = Context(tool_name=each.tool.qualified_name)
    written, _ = result_dialects.write("ctp", results.ok(data), context=context)
    errors = judging.judge(written, "schema")
    return (
        not errors,
        "A simulated result is a valid CTP result" if not errors else "It is not a valid CTP result",
        ({"errors": errors} if errors else {}),
    )


def _made(each: Checked, schema: JsonObject) -> Any:
    return making.made(schema, Source(_SEED, each.tool.qualified_name, each.version.version))


def _description(each: Checked) -> Finding:
    properties = each.version.input_schema.get("properties", {})
    bare = [name for name, schema in properties.items() if not (isinstance(schema, dict) and schema.get("description"))]
    if bare:
        return _warning(f"Parameters without a description: {', '.join(bare)[:200]}", parameters=bare)
    return True, "Every parameter is described", {}


_CHECKS: Final[dict[str, Callable[[Checked], Finding]]] = {
    "input_schema": _input_schema,
    "output_schema": _output_schema,
    "portable_name": _portable_name,
    "annotations": _annotations,
    "result": _result,
    "description": _description,
}
