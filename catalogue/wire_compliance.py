"""Wire models of the compliance route (catalogue 3.9, 6.2)."""

from typing import Annotated, Literal, get_args

from pydantic import Field, StringConstraints

from catalogue.record import JsonObject
from core.wire import Exact, Wire

Part = Literal["upstream", "heddle"]
PARTS: tuple[Part, ...] = get_args(Part)


class ComplianceIn(Exact):
    """A server to check."""

    server: Annotated[str, StringConstraints(min_length=1, max_length=80)]
    """Name of the server to check."""
    world_id: str | None = None
    """Call the tools in this world; by default only harmless ones are called."""
    include: Annotated[list[Part], Field(max_length=10)] = [*PARTS]
    """`upstream`: the checks of the original suite. `heddle`: additional ones."""


class CheckOut(Wire):
    """The result of a check."""

    passed: bool
    check_name: str
    """Checks of a tool end with `:<tool>`."""
    message: str
    details: JsonObject = {}
    """`warning: true` marks a passed check with a warning."""


class ReportOut(Wire):
    """The compliance report of a server."""

    results: list[CheckOut]
    """All checks, in order."""
    all_passed: bool
    """True too if nothing was checked."""
    failed: list[str]
    """Names of the failed checks."""
