"""What can be refused. Each error has one code, one status and one sentence; `core.problems` renders them all.

The codes are the exception classes of the public SDK (spec 1.4), so that a client catches what the server meant.
"""

import re
from collections.abc import Sequence
from typing import Any, ClassVar

_NAMED = re.compile(r"([\w.-]+): (.+)", re.DOTALL)


def named(message: str) -> tuple[str, str] | None:
    """The field that a message begins with, and the reason; None for one that begins with none."""
    found = _NAMED.fullmatch(message)
    return (found[1], found[2]) if found else None


class DomainError(Exception):
    """A refusal with a reason that the caller may read.

    `details` stand beside the error in the envelope: a list of fields, or in the catalogue an object with a `reason`
    for programs (docs/catalogue.md).
    """

    status: ClassVar[int] = 400
    code: ClassVar[str] = "RobotoInvalidRequestException"
    title: ClassVar[str] = "That request cannot be carried out."

    def __init__(self, message: str, *, details: list[dict[str, Any]] | dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    @property
    def by_field(self) -> list[dict[str, Any]]:
        """What is wrong by its field: the list of the details, else the field that the message begins with."""
        if isinstance(self.details, list):
            return self.details
        found = named(self.message)
        return [{"field": found[0], "reason": found[1]}] if found else []

    @property
    def reason(self) -> str:
        """The first of that, or the message where it is about no field."""
        found = self.by_field
        return str(found[0]["reason"]) if found else self.message


class InvalidRequest(DomainError):
    """The input is wrong, or impossible in the state the thing is in."""

    @classmethod
    def of(cls, field: str, reason: str) -> "InvalidRequest":
        """What is wrong with a field whose name somebody else chose: a key of their JSON may hold anything."""
        return cls(f"{field}: {reason}", details=[{"field": field, "reason": reason}])


class TargetRefused(InvalidRequest):
    """An address that Heddle does not send to: the wrong scheme, or a host that stands on a private network."""


class NoAnswer(DomainError):
    """A server that somebody named did not answer: not found, not there, too slow, or not speaking HTTP."""


class TooSlow(NoAnswer):
    """It did not answer in time."""


class NoOrgProvided(DomainError):
    """An org is needed and none can be decided."""

    code = "RobotoNoOrgProvidedException"


class NotSignedIn(DomainError):
    """No, an unknown, a revoked or an expired token."""

    status = 401
    code = "RobotoUnauthorizedException"
    title = "Sign in first."


class Unauthorized(DomainError):
    """A known caller without the right."""

    status = 403
    code = "RobotoUnauthorizedException"
    title = "You have no right to this."


class ReadOnlyThread(DomainError):
    """Adding to a thread that another surface owns (B161)."""

    status = 403
    code = "RobotoThreadReadOnlyException"


class NotFound(DomainError):
    """No such thing, or none that the caller may know of."""

    status = 404
    code = "RobotoNotFoundException"
    title = "There is nothing here."
    parts: tuple[str, str, str] | None = None
    """The message around the id or name that somebody typed, so that a page can tell it from its words."""

    @classmethod
    def of(cls, kind: str, named: str, among: str = "") -> "NotFound":
        """There is no such thing of that name, `among` those that are meant: "that you can see", "in this thread"."""
        parts = (f"There is no {kind} ", named, f" {among}." if among else ".")
        found = cls("".join(parts))
        found.parts = parts
        return found


class MethodNotAllowed(DomainError):
    """A known URL, the wrong method."""

    status = 405
    title = "That cannot be done at this address."


class Conflict(DomainError):
    """A name that is taken, or a version that has moved on."""

    status = 409
    code = "RobotoConflictException"
    title = "Somebody else was quicker."


class Stale(Conflict):
    """The version that a change was made from is not the present one; `columns` are those that both wrote."""

    status = 412

    def __init__(self, message: str, *, columns: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.columns = tuple(columns)


class Expired(DomainError):
    """Something that was closed, or whose time is over."""

    status = 410
    code = "RobotoExpiredException"
    title = "Its time is over."


class ToolFailed(DomainError):
    """A tool's own failure, told by the status of its code because the caller asked for that (C60)."""

    by_field: ClassVar[list[dict[str, Any]]] = []
    """None: whatever a tool's message begins with, it is no field of ours."""
    title = "The tool failed."
    _CODES: ClassVar[dict[int, str]] = {
        400: "RobotoInvalidRequestException",
        401: "RobotoUnauthorizedException",
        404: "RobotoNotFoundException",
        429: "RobotoLimitExceededException",
        504: "RobotoServiceTimeoutException",
    }

    def __init__(self, message: str, *, status: int, details: dict[str, Any]) -> None:
        super().__init__(message, details=details)
        self.status = status  # type: ignore[misc]
        self.code = self._CODES.get(status, "RobotoInternalException")  # type: ignore[misc]


class TooManyTries(DomainError):
    """Sign-in is paused."""

    status = 429
    title = "Too many tries."


class Unavailable(DomainError):
    """Overload or a database that does not answer; clients try again."""

    status = 503
    code = "RobotoServiceUnavailableException"
    title = "Heddle is busy."


class DiskFull(Unavailable):
    """A database without room: what is stored can be read, and nothing is added until somebody makes some."""

    title = "There is no room."

    def __init__(self) -> None:
        super().__init__("The disk of the database is full. Nothing can be stored until its operator makes room.")
