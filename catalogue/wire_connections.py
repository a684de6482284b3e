"""Wire models of connections and tool handlers."""

import re
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from catalogue import naming, result_dialects
from core.wire import Exact, Wire

Url = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]
Milliseconds = Annotated[int, Field(ge=1, le=120_000)]
Headers = Annotated[dict[str, str | None], Field(max_length=20)]
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_OURS = frozenset(
    {"host", "connection", "content-length", "content-type", "transfer-encoding", "te", "upgrade", "trailer"}
    | {
        "keep-alive",
        "accept",
        "accept-encoding",
        "idempotency-key",
        "proxy-authorization",
        "proxy-connection",
        "cookie",
    }
)


class Reach(Exact):
    """The target of requests, and their headers."""

    url: Url | None = None
    """Where requests go."""
    headers: Headers = {}
    """Headers to send. A null value keeps the stored one."""
    dialect: str | None = None
    """Format of results over HTTP."""
    timeout_ms: Milliseconds | None = None
    """Maximum duration of a request."""

    @field_validator("headers")
    @classmethod
    def _sendable(cls, headers: dict[str, str | None]) -> dict[str, str | None]:
        for name, value in headers.items():
            if not _NAME.fullmatch(name) or name.lower() in _OURS or name.lower().startswith(("webhook-", "mcp-")):
                raise ValueError(f"{name[:40]!r} is not a header that can be set here")
            if value is not None and not (value.isascii() and value.isprintable() and 0 < len(value) <= 4000):
                raise ValueError(f"the value of {name} must be 1 to 4000 printable ASCII characters")
        if len({name.lower() for name in headers}) < len(headers):
            raise ValueError("duplicate header")
        return headers

    @field_validator("dialect")
    @classmethod
    def _known(cls, dialect: str | None) -> str | None:
        name = dialect and naming.dialect(dialect)
        if name is not None and name not in result_dialects.READERS:
            raise ValueError(f"must be one of {', '.join(result_dialects.READERS)}")
        return name


class Handler(Reach):
    """How a tool is executed. `http` and `mcp` need a connection of its server; only `http` may have its own URL."""

    kind: Literal["none", "client", "http", "mcp"]
    """`none`; `client`: executed by the API client; `http` and `mcp`: by the server's connection."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.kind != "http" and self.model_fields_set - {"kind"}:
            raise ValueError(f"kind: {self.kind} takes no other fields")
        if self.headers and self.url is None:
            raise ValueError("headers: need a url of the tool itself")
        return self


class ConnectionIn(Reach):
    """How the tools of a server are called."""

    kind: Literal["http", "mcp"]
    """`http` needs a URL; `mcp` a URL or a command."""
    command: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None
    """Name of a command that the operator has configured."""
    attach: bool = True
    """Call tools of the server that have no handler over HTTP from now on."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.kind == "http" and (self.url is None or self.command is not None):
            raise ValueError("url: is required for an HTTP connection, without a command")
        if self.kind == "mcp" and (self.url is None) == (self.command is None):
            raise ValueError("url: an MCP connection needs either a url or a command")
        if self.kind == "mcp" and self.dialect is not None:
            raise ValueError("dialect: cannot be set for MCP")
        if self.command is not None and self.headers:
            raise ValueError("headers: cannot be used with a command")
        return self


class RotateConnectionIn(Exact):
    """The rotation of a connection's secret."""

    overlap_hours: Annotated[float, Field(strict=False, ge=0, le=168)] = 24
    """How long the old secret signs as well; 0 if the secret leaked."""


class RefreshIn(Exact):
    """An update of a server's tools from its MCP server."""

    dry_run: bool = False
    """Report the differences and store nothing."""
    partial: bool = False
    """Import the valid tools even if others are invalid."""


class ChangedOut(Wire):
    """A tool that the server describes differently than before."""

    name: str
    fields: list[str]
    """The fields that differ."""


class RefusedOut(Wire):
    """A tool that the server lists and the catalogue rejects."""

    name: str | None
    """Null if the tool has no valid name."""
    reason: str
    """Machine-readable reason."""
    path: str
    """JSON pointer into the tool."""
    message: str


class DriftOut(Wire):
    """Differences between what a server lists and what is stored."""

    new: list[str]
    """Names of tools that are not in the catalogue yet."""
    changed: list[ChangedOut]
    gone: list[str]
    """Names of tools that the server no longer lists."""
    returned: list[str]
    """Names of tools that had gone and are listed again."""
    unchanged_count: int
    refused: list[RefusedOut]
    """Tools that the catalogue rejects."""
    dry_run: bool


class ConnectionOut(Wire):
    """A connection without its secrets."""

    server: str
    kind: str
    url: str | None
    command: str | None
    headers: dict[str, None]
    """Names of the headers; values are always null."""
    dialect: str | None
    timeout_ms: int | None
    secret_overlap_until: datetime | None
    """Until then the previous secret signs as well."""
    server_info: dict[str, Any] | None
    """What the MCP server reports about itself."""
    refreshed: datetime | None
    """Time of the last refresh."""
    drift: DriftOut | None
    """Result of the last refresh."""
    created: datetime
    created_by: str | None
    """Email of the creator."""
    modified: datetime
    modified_by: str | None
    """Email of the last editor."""


class ConnectionSecretOut(ConnectionOut):
    """`ConnectionOut` with the secret if it was created just now."""

    secret: str | None
    """Only if it was created just now; else null."""
