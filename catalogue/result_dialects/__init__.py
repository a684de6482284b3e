"""Results in every dialect, to and from the canonical one (catalogue 2.3)."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import ValidationError

from catalogue import results
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
        return ToolResult.model_validate(object_of(value)), []
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


def read(dialect: str, value: Any) -> tuple[ToolResult, list[Loss]]:
    """A result of that dialect as a canonical one, and what had no place in it.

    `plain` lifts any value. Raises `InvalidRequest` for an unknown dialect, and for what is no result of it.
    """
    if dialect not in READERS:
        raise unsupported("from", dialect)
    return READERS[dialect](value)


def write(
    dialect: str, result: ToolResult, *, context: Context | None = None, style: str | None = None
) -> tuple[Any, list[Loss]]:
    """A canonical result in that dialect, and what was lost. Raises `InvalidRequest` for an unknown dialect."""
    if dialect not in WRITERS:
        raise unsupported("to", dialect)
    return WRITERS[dialect](result, context or Context(), style)


def unsupported(field: str, dialect: str) -> InvalidRequest:
    """There is no such dialect of results (C8)."""
    said = f"{field}: {dialect[:40]} is none of {', '.join(WRITERS)}"
    return InvalidRequest(said, details={"field": field, "reason": "unsupported_dialect"})


__all__ = ["READERS", "WRITERS", "Context", "Loss", "read", "refused", "unsupported", "write"]
