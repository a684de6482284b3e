"""A Python function as a tool: its source is parsed and never run (catalogue 1.13, 3.7, C97 to C101). Import only."""

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from catalogue.dialects import annotations, docstrings, signatures
from catalogue.dialects.annotations import Annotation
from catalogue.dialects.signatures import Warn
from catalogue.dialects.source import Source
from catalogue.record import Content, Imported, JsonObject, ToolProblem
from core import syntax

NAME = "python"
MAX_CHARACTERS = 64 * 1024
_RECEIVERS = ("self", "cls")


@dataclass(frozen=True, slots=True)
class Style:
    """How one implementation reads a signature."""

    schema: Callable[[Annotation, Warn], JsonObject]
    has_defaults: bool = True
    skips: bool = True
    """Leaves out self, cls and the ToolContext."""
    always_required: bool = False
    takes_positional_only: bool = True


STYLES = {
    "heddle": Style(signatures.heddle, takes_positional_only=False),
    "convilyn": Style(signatures.convilyn),
    "rdk": Style(signatures.rdk, has_defaults=False, skips=False),
    "data_harness": Style(
        signatures.data_harness, has_defaults=False, skips=False, always_required=True, takes_positional_only=False
    ),
}


def read(source: Source) -> Imported:
    """The function in `source`, by the rules of `style`; every other option is refused."""
    text, name = source.need("source", str), source.take("style", str, "heddle")
    for key in source.rest():
        raise ToolProblem("invalid_request", f"/options/{key}"[:80], "is no option; style is the only one")
    if name not in STYLES:
        raise ToolProblem("invalid_request", "/options/style", f"must be one of {', '.join(STYLES)}")
    function, style = _function(text), STYLES[name]
    doc = inspect.cleandoc(ast.get_docstring(function) or "")
    parameters = list(_parameters(function, style))
    said: dict[str, str] = {}
    if name == "heddle":
        doc, said = docstrings.read(doc)
    properties: JsonObject = {}
    for parameter in parameters:
        schema = style.schema(annotations.read(parameter.annotation), source.warnings.append)
        if parameter.default is not None:
            default = annotations.literal(parameter.default, f"the default of {parameter.name}")
            schema |= {"default": default} if style.has_defaults else {}
        if parameter.name in said:
            schema.setdefault("description", said[parameter.name])
        properties[parameter.name] = schema
    required = [parameter.name for parameter in parameters if parameter.default is None]
    schema = {"type": "object", "properties": properties}
    if required or style.always_required:
        schema["required"] = required
    content = Content(
        description=doc,
        input_schema=schema,
        output_schema=_output_schema(name, annotations.read(function.returns), source.warnings.append),
        param_order=list(properties),
        source_dialect=NAME,
    )
    return Imported(function.name, content)


Function = ast.FunctionDef | ast.AsyncFunctionDef


def _function(text: str) -> Function:
    """The one function of a source. Imports may stand beside it and are not made; nothing else may (C101)."""
    if len(text) > MAX_CHARACTERS:
        raise _invalid(f"is longer than {MAX_CHARACTERS} characters")
    try:
        body = syntax.module(text).body
    except SyntaxError as problem:
        raise _invalid(f"is no Python: {problem.msg}, line {problem.lineno}") from None
    except (ValueError, MemoryError, RecursionError):
        raise _invalid("is no Python that can be read") from None
    rest = [node for node in body if not isinstance(node, ast.Import | ast.ImportFrom)]
    if len(rest) == 1 and isinstance(rest[0], ast.FunctionDef | ast.AsyncFunctionDef):
        return rest[0]
    raise _invalid("must hold exactly one function and nothing besides")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter, as it is written."""

    name: str
    annotation: ast.expr | None
    default: ast.expr | None


def _parameters(function: Function, style: Style) -> Iterator[Parameter]:
    given = function.args
    if given.vararg or given.kwarg:
        raise _invalid("a tool takes neither *args nor **kwargs")
    if given.posonlyargs and not style.takes_positional_only:
        raise _invalid("a tool takes no positional-only parameters")
    positional = [*given.posonlyargs, *given.args]
    defaults: list[Any] = [None] * (len(positional) - len(given.defaults)) + given.defaults
    for argument, default in [
        *zip(positional, defaults, strict=True),
        *zip(given.kwonlyargs, given.kw_defaults, strict=True),
    ]:
        is_context = annotations.read(argument.annotation).name == "ToolContext"
        if not (style.skips and (is_context or argument.arg in _RECEIVERS)):
            yield Parameter(argument.arg, argument.annotation, default)


def _output_schema(style: str, returns: Annotation, warn: Warn) -> JsonObject | None:
    if style == "rdk":
        return signatures.rdk_returns(returns)
    if style != "heddle" or returns.name in ("", "None"):
        return None
    return signatures.heddle(returns, warn)


def _invalid(message: str) -> ToolProblem:
    return ToolProblem("invalid_tool", "/source", message)
