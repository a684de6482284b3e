"""Results in every dialect, to and from the canonical one (catalogue 2.3)."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from pydantic import ValidationError

from catalogue import naming, results
from catalogue.record import Loss
from catalogue.result_dialects import blocks, convilyn, ctp, mcp, roboto
from catalogue.result_dialects.shape import Context, object_of, refused
from catalogue.results import ToolResult
from core.bodies import invalid
from core.errors import InvalidRequest

Reader = Callable[[Any], tuple[ToolResult, list[Loss]]]
Writer = Callable[[ToolResult, Context, str | None], tuple[Any, list[Loss]]]


def _read_canonical(value: Any) -> tuple[ToolResult, list[Loss]]:
    try:
        return ToolResult.model_validate(object_of(value), strict=True), []
    except ValidationError as problem:
        raise invalid(problem, "result") from None


def _write_canonical(result: ToolResult, context: Context, style: str | None) -> tuple[Any, list[Loss]]:
    return result.model_dump(), []


def _read_plain(value: Any) -> tuple[ToolResult, list[Loss]]:
    return results.lift(value), []


READERS: Final[Mapping[str, Reader]] = {
    "canonical": _read_canonical,
    "plain": _read_plain,
    "convilyn": convilyn.read,
    "ctp": ctp.read,
    "data_harness": blocks.read_block,
    "roboto": roboto.read,
    "mcp": mcp.read,
    "anthropic": blocks.read_block,
    "openai": blocks.read_openai,
}
WRITERS: Final[Mapping[str, Writer]] = {
    "canonical": _write_canonical,
    "convilyn": convilyn.write,
    "ctp": ctp.write,
    "data_harness": blocks.write_harness,
    "roboto": roboto.write,
    "mcp": mcp.write,
    "anthropic": blocks.write_anthropic,
    "openai": blocks.write_openai,
}


STYLES: Final[Mapping[str, tuple[str, ...]]] = {"ctp": ("strict",)}
"""The variants of a dialect, if it has any."""


def read(dialect: str, value: Any) -> tuple[ToolResult, list[Loss]]:
    """A result of that dialect as a canonical one, and what had no place in it.

    `plain` lifts any value. Raises `InvalidRequest` for an unknown dialect, and for what is no result of it.
    """
    reader = READERS.get(naming.dialect(dialect))
    if reader is None:
        raise _unsupported("from", dialect, READERS)
    return reader(value)


def write(
    dialect: str, result: ToolResult, *, context: Context | None = None, style: str | None = None
) -> tuple[Any, list[Loss]]:
    """A canonical result in that dialect, and what was lost. Raises `InvalidRequest` as `written_dialect`."""
    return WRITERS[written_dialect("to", dialect, style)](result, context or Context(), style)


def written_dialect(field: str, dialect: str, style: str | None = None) -> str:
    """The own name of a dialect that results are written in.

    Raises `InvalidRequest` about that field for an unknown one, and for a style that the dialect does not have.
    """
    name = naming.dialect(dialect)
    if name not in WRITERS:
        raise _unsupported(field, dialect, WRITERS)
    known = STYLES.get(name, ())
    if style is not None and style not in known:
        raise InvalidRequest.of("style", f"must be one of {', '.join(known)}" if known else f"{name} has none")
    return name


def _unsupported(field: str, dialect: str, known: Iterable[str]) -> InvalidRequest:
    """There is no such dialect of results (C8)."""
    said = f"{field}: {dialect[:40]} is none of {', '.join(known)}"
    return InvalidRequest(said, details={"field": field, "reason": "unsupported_dialect"})


__all__ = ["READERS", "WRITERS", "Context", "Loss", "read", "refused", "write", "written_dialect"]
