"""Domain errors. Each has a code, a status and a message; `core.problems` renders them.

The codes are the exception classes of the public SDK (spec 1.4).
"""

import re
from collections.abc import Sequence
from typing import Any, ClassVar

_NAMED = re.compile(r"([\w.-]+): (.+)", re.DOTALL)


def field_and_reason(message: str) -> tuple[str, str] | None:
    """The field that a message begins with, and the reason; None if it begins with no field."""
    found = _NAMED.fullmatch(message)
    return (found[1], found[2]) if found else None


class DomainError(Exception):
    """An error with a reason that is shown to the caller.

    `details` is next to the error in the envelope: a list of fields, or in the catalogue an object with a
    machine-readable `reason` (docs/catalogue.md).
    """

    status: ClassVar[int] = 400
    code: ClassVar[str] = "RobotoInvalidRequestException"
    title: ClassVar[str] = "Invalid request."

    def __init__(self, message: str, *, details: list[dict[str, Any]] | dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    @property
    def by_field(self) -> list[dict[str, Any]]:
        """The errors by field: the list in `details`, else the field that the message begins with."""
        if isinstance(self.details, list):
            return self.details
        found = field_and_reason(self.message)
        return [{"field": found[0], "reason": found[1]}] if found else []

    @property
    def reason(self) -> str:
        """The first reason in `by_field`, or the message if no field is named."""
        found = self.by_field
        return str(found[0]["reason"]) if found else self.message


class InvalidRequest(DomainError):
    """The input is invalid, or not possible in the current state."""

    @classmethod
    def of(cls, field: str, reason: str) -> "InvalidRequest":
        """An error of a field whose name comes from the client: a JSON key may contain anything."""
        return cls(f"{field}: {reason}", details=[{"field": field, "reason": reason}])


class NoSuchPlace(InvalidRequest):
    """A page token that is none of the list's: cut, of another list, or made up."""

    title = "This list has no such page."


class FormTooLarge(InvalidRequest):
    """A form that is larger than its page takes. Its own status: a page takes a 400 for the form with its errors."""

    status = 413
    title = "The form is too large."


class TargetRefused(InvalidRequest):
    """An address that Heddle does not send to: a wrong scheme, or a host in a private network."""


class NoAnswer(DomainError):
    """An external server did not answer: unknown host, no connection, too slow, or not HTTP."""


class TooSlow(NoAnswer):
    """The server did not answer in time."""


class NoOrgProvided(DomainError):
    """An org is needed and none can be determined."""

    code = "RobotoNoOrgProvidedException"


class NotSignedIn(DomainError):
    """The token is missing, unknown, revoked or expired."""

    status = 401
    code = "RobotoUnauthorizedException"
    title = "Sign in first."


class Unauthorized(DomainError):
    """The caller is known but not allowed."""

    status = 403
    code = "RobotoUnauthorizedException"
    title = "You do not have permission."


class FormExpired(Unauthorized):
    """A form of a page from before its user signed out, in or elsewhere: its CSRF token is not the current one."""

    title = "This form has expired."


class SignedOut(FormExpired):
    """A form of a page whose user is no longer signed in."""

    title = "Sign in first."


class ReadOnlyThread(DomainError):
    """A write to a thread that another surface owns (B161)."""

    status = 403
    code = "RobotoThreadReadOnlyException"


class NotFound(DomainError):
    """Does not exist, or the caller may not know that it exists."""

    status = 404
    code = "RobotoNotFoundException"
    title = "Not found."
    parts: tuple[str, str, str] | None = None
    """The message split around the id or name that was requested, so that a page can mark it as code."""

    @classmethod
    def of(cls, kind: str, named: str, among: str = "", *, meant: str = "") -> "NotFound":
        """There is no `kind` of that name; `among` limits the statement: "that you can see", "in this thread".

        `meant` is the name that was probably meant, if there is one.
        """
        asked = f" Did you mean {meant}?" if meant else ""
        parts = (f"There is no {kind} ", named, f" {among}.{asked}" if among else f".{asked}")
        found = cls("".join(parts))
        found.parts = parts
        return found


class MethodNotAllowed(DomainError):
    """The URL exists, but not with this method."""

    status = 405
    title = "Method not allowed."


class Conflict(DomainError):
    """A name is taken, or the version has changed."""

    status = 409
    code = "RobotoConflictException"
    title = "Changed by somebody else."


class Stale(Conflict):
    """The change was based on an outdated version; `columns` are those that both sides wrote."""

    status = 412

    def __init__(self, message: str, *, columns: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.columns = tuple(columns)


class Expired(DomainError):
    """The resource was closed or has expired."""

    status = 410
    code = "RobotoExpiredException"
    title = "Expired."


class ToolFailed(DomainError):
    """A tool's own failure as an HTTP status, because the caller asked for that (C60)."""

    by_field: ClassVar[list[dict[str, Any]]] = []
    """Always empty: a tool's message never names a field of ours."""
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
    """Sign-in is paused after too many attempts."""

    status = 429
    title = "Too many attempts."


class Unavailable(DomainError):
    """Overload, or the database does not respond; clients should retry."""

    status = 503
    code = "RobotoServiceUnavailableException"
    title = "Heddle is busy."


class Contended(Unavailable):
    """The database aborted a change because of concurrent ones. Nothing was stored; clients should retry."""

    title = "Changed by somebody else."


class DiskFull(Unavailable):
    """The database's disk is full: reading works, writing does not."""

    title = "Disk full."

    def __init__(self) -> None:
        super().__init__("The database's disk is full. Nothing can be saved until the operator frees space.")
