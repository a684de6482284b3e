"""What the route of compliance takes and gives (catalogue 3.9, 6.2)."""

from typing import Annotated, Literal, get_args

from pydantic import Field, StringConstraints

from catalogue.record import JsonObject
from core.wire import Exact, Wire

Part = Literal["upstream", "heddle"]
PARTS: tuple[Part, ...] = get_args(Part)


class ComplianceIn(Exact):
    """A server to be checked; with a world its tools are called there."""

    server: Annotated[str, StringConstraints(min_length=1, max_length=80)]
    world_id: str | None = None
    include: Annotated[list[Part], Field(max_length=10)] = [*PARTS]


class CheckOut(Wire):
    """What one check found. A warning passes, with `details.warning`."""

    passed: bool
    check_name: str
    message: str
    details: JsonObject = {}


class ReportOut(Wire):
    """All checks in their order. Nothing checked is nothing failed."""

    results: list[CheckOut]
    all_passed: bool
    failed: list[str]
