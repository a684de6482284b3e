"""What the routes of connections take and give, and what a handler may be."""

import re
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from catalogue import result_dialects
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
    """Where a request goes and what it carries there. A header that is null keeps the value that is stored."""

    url: Url | None = None
    headers: Headers = {}
    dialect: str | None = None
    """The format of results that arrive over HTTP."""
    timeout_ms: Milliseconds | None = None

    @field_validator("headers")
    @classmethod
    def _sendable(cls, headers: dict[str, str | None]) -> dict[str, str | None]:
        for name, value in headers.items():
            if not _NAME.fullmatch(name) or name.lower() in _OURS or name.lower().startswith(("webhook-", "mcp-")):
                raise ValueError(f"{name[:40]!r} is no header that can be set here")
            if value is not None and not (value.isascii() and value.isprintable() and 0 < len(value) <= 4000):
                raise ValueError(f"the value of {name} must be 1 to 4000 printable ASCII characters")
        if len({name.lower() for name in headers}) < len(headers):
            raise ValueError("one header is named twice")
        return headers

    @field_validator("dialect")
    @classmethod
    def _known(cls, dialect: str | None) -> str | None:
        if dialect is not None and dialect not in result_dialects.READERS:
            raise ValueError(f"must be one of {', '.join(result_dialects.READERS)}")
        return dialect


class Handler(Reach):
    """Who runs a tool. `http` and `mcp` need a connection of the server; only `http` may lead somewhere of its own."""

    kind: Literal["none", "client", "http", "mcp"]

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.kind != "http" and self.model_fields_set - {"kind"}:
            raise ValueError(f"kind: {self.kind} takes nothing else")
        if self.headers and self.url is None:
            raise ValueError("headers: go with a url of the tool's own")
        return self


class ConnectionIn(Reach):
    """How a server's tools are reached. `http` wants a URL, `mcp` a URL or a command that the operator has named.

    `attach`: tools of the server that nobody runs are called over HTTP from now on.
    """

    kind: Literal["http", "mcp"]
    command: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None
    attach: bool = True

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.kind == "http" and (self.url is None or self.command is not None):
            raise ValueError("url: is what a connection over HTTP needs, and no command")
        if self.kind == "mcp" and (self.url is None) == (self.command is None):
            raise ValueError("url: or a command is what a connection to an MCP server needs, and not both")
        if self.kind == "mcp" and self.dialect is not None:
            raise ValueError("dialect: is settled by the protocol")
        if self.command is not None and self.headers:
            raise ValueError("headers: are nothing that a command takes")
        return self


class RotateConnectionIn(Exact):
    """How long the old secret signs as well; 0 for one that has got about."""

    overlap_hours: Annotated[float, Field(strict=False, ge=0, le=168)] = 24


class RefreshIn(Exact):
    """`dry_run` only tells. `partial` takes the tools that are good where others are not."""

    dry_run: bool = False
    partial: bool = False


class ChangedOut(Wire):
    """A tool that a server describes otherwise than before, and the fields that differ."""

    name: str
    fields: list[str]


class RefusedOut(Wire):
    """A tool that a server lists and the catalogue does not take."""

    name: str | None
    reason: str
    path: str
    message: str


class DriftOut(Wire):
    """What a server lists, against what is stored. `returned` are listed again after they had gone."""

    new: list[str]
    changed: list[ChangedOut]
    gone: list[str]
    returned: list[str]
    unchanged_count: int
    refused: list[RefusedOut]
    dry_run: bool


class ConnectionOut(Wire):
    """A connection without its secrets: headers stand with null for a value."""

    server: str
    kind: str
    url: str | None
    command: str | None
    headers: dict[str, None]
    dialect: str | None
    timeout_ms: int | None
    secret_overlap_until: datetime | None
    server_info: dict[str, Any] | None
    refreshed: datetime | None
    drift: DriftOut | None
    created: datetime
    created_by: str | None
    modified: datetime
    modified_by: str | None


class ConnectionSecretOut(ConnectionOut):
    """The same with the secret where it was made just now; null where there is none, or none that is new."""

    secret: str | None
