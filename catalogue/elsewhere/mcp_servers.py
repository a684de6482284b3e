"""Requests to MCP servers through the package `mcp`: list tools, call a tool (catalogue 1.10, 2.3, 3.1).

Over HTTP each request uses its own connection, so a server that dies, hangs or floods affects only that request.
Commands are kept running for a while (`mcp_sessions`), because starting one takes longer than most calls.

The package is an optional dependency (`make mcp`) and heavy, so it is imported on demand.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from django.conf import settings
from pydantic import ValidationError

from catalogue import result_dialects, results
from catalogue.elsewhere import http_tools, mcp_sessions
from catalogue.results import MAX_RESULT_BYTES, ToolResult
from core import bodies
from core.errors import DomainError, InvalidRequest, NoAnswer, TooSlow

if TYPE_CHECKING:
    import httpx2
    from mcp import ClientSession
    from mcp.types import CallToolResult

    from core.guarded import Watched

MISSING: Final = "MCP servers need the package mcp, 2.3 or newer, which is not installed here: make mcp"
MAX_TOOLS: Final = 500
MAX_PAGES: Final = 100
_MAX_SAID: Final = 500
_CODES: Final[Mapping[int, str]] = {-32602: "INVALID_INPUT", -32601: "NOT_FOUND"}
"""Error codes by protocol error; any other is an EXECUTION_ERROR."""
Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a server: a URL, or a configured command, which runs once per `owner`.

    Users see only the `name` of a command, because its words may contain secrets.
    """

    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = ()
    name: str = ""
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """The tools that a server lists, and its self-description."""

    tools: list[dict[str, Any]]
    server: dict[str, Any]


def list_tools(address: Address, seconds: float) -> Listing:
    """All tools of a server. Raises `NoAnswer`, `TooSlow`, `TargetRefused`, or `InvalidRequest` for too many.

    Never call it inside a transaction.
    """
    found = _ask(address, seconds, _Question(_list, settings.TOOL_IMPORT_BYTES, is_fresh=True))
    if isinstance(found, ToolResult):
        assert found.error is not None
        raise NoAnswer(found.error.message)
    return found


def call_tool(
    address: Address, name: str, arguments: Mapping[str, Any], seconds: float, schema: Mapping[str, Any]
) -> ToolResult:
    """One `tools/call`. Errors from the server are results; raises `NoAnswer`, `TooSlow` or `TargetRefused` otherwise.

    `schema` marks arguments that are also sent as headers (`x-mcp-header`, over HTTP with the 2026 protocol).
    """
    question = partial(_call, name=name, arguments=dict(arguments))
    said = _ask(address, seconds, _Question(question, MAX_RESULT_BYTES, partial(_mirrored, schema, arguments)))
    if isinstance(said, ToolResult):
        return said
    try:
        bodies.check_storable(said.model_dump(by_alias=True, exclude_unset=True))  # as JSON, NaN would be null
        result, losses = result_dialects.read("mcp", said.model_dump(by_alias=True, mode="json", exclude_unset=True))
    except InvalidRequest as problem:
        message = f"The server's response is not a result: {problem.message}"[:2000]
        return results.fail("EXECUTION_ERROR", message, {"reason": "not_a_result", "retryable": False})
    return result.noted(*(f"{loss.path}: {loss.detail}"[:300] for loss in losses[:20]))


def is_installed() -> bool:
    """Whether version 2 of the package is installed. Takes a second the first time."""
    try:
        from mcp import Client  # noqa: F401
    except ImportError:
        return False
    return True


async def _list(session: "ClientSession") -> Listing:
    from mcp import types

    tools: list[dict[str, Any]] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        request = types.ListToolsRequest(params=types.PaginatedRequestParams(cursor=cursor))
        page = await session.send_request(request, types.ListToolsResult)
        tools += [tool.model_dump(by_alias=True, mode="json", exclude_unset=True) for tool in page.tools]
        if len(tools) > MAX_TOOLS:
            message = f"The server lists too many tools (maximum {MAX_TOOLS})."
            raise InvalidRequest(message, details={"reason": "too_many_tools"})
        cursor = page.next_cursor
        if cursor is None:
            return Listing(tools, _described(session))
    raise InvalidRequest("The server's list of tools does not end.", details={"reason": "too_many_tools"})


async def _call(session: "ClientSession", *, name: str, arguments: dict[str, Any]) -> "CallToolResult":
    from mcp import types

    request = types.CallToolRequest(params=types.CallToolRequestParams(name=name, arguments=arguments))
    # Not the session's call_tool: it would list the tools again for checks that Heddle does itself.
    return await session.send_request(request, types.CallToolResult)


def _described(session: "ClientSession") -> dict[str, Any]:
    info = session.server_info
    named = {"name": info.name[:200], "version": info.version[:100]} if info else {"name": None, "version": None}
    return {**named, "protocol_version": session.protocol_version}


def _mirrored(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, str]:
    """The headers that repeat arguments of a call; none if the schema marks them wrongly."""
    from mcp.shared import inbound

    if inbound.find_invalid_x_mcp_header(schema) is not None:
        return {}
    return inbound.mcp_param_headers(inbound.x_mcp_header_map(dict(schema)), arguments)


@dataclass(frozen=True, slots=True)
class _Question(Generic[Found]):
    """A request: the function, the size limit over HTTP, and the headers that repeat arguments."""

    ask: "Callable[[ClientSession], Awaitable[Found]]"
    limit: int
    headers: Callable[[], dict[str, str]] = dict
    is_fresh: bool = False
    """Whether to start a new command process, so that its list is up to date."""


def _ask(address: Address, seconds: float, question: _Question[Found]) -> Found | ToolResult:
    """The response to one request, or the failure that the server itself reported.

    Any other problem is raised as its root cause, not as the follow-up errors of tasks and streams.
    """
    if not is_installed():
        raise InvalidRequest(MISSING, details={"reason": "not_installed"})
    import anyio
    from mcp import MCPError, types

    seen: list[Watched] = []
    try:
        if address.command:
            return mcp_sessions.ask(address.owner, address.command, seconds, question.ask, fresh=question.is_fresh)
        return anyio.run(partial(_asked, address, seconds, question, seen))
    except TimeoutError:
        raise TooSlow(f"No answer within {seconds:g} seconds.") from None
    except Exception as problem:
        causes = [*_leaves(problem)]
        known = [each for each in causes if isinstance(each, DomainError)]
        if seen and seen[0].problem:
            raise seen[0].problem from None
        if known:
            raise known[0] from None
        status = seen[0].status if seen else 200
        for each in causes:
            if isinstance(each, MCPError) and each.code == types.CONNECTION_CLOSED:
                raise NoAnswer("The MCP server closed the connection.") from None
            if isinstance(each, MCPError) and each.code == types.REQUEST_TIMEOUT:
                raise TooSlow(f"No answer within {seconds:g} seconds.") from None
            if isinstance(each, MCPError):
                return _refused(each.code, each.message, status)
            if isinstance(each, ValidationError):
                wrong = each.errors(include_url=False, include_input=False)[0]
                place = ".".join(map(str, wrong["loc"]))
                said = f"The server's response violates the protocol: {place}: {wrong['msg']}."[:_MAX_SAID]
                return results.fail("EXECUTION_ERROR", said, {"reason": "protocol_error"})
            if isinstance(each, OSError) and address.command:
                why = each.strerror or type(each).__name__
                raise NoAnswer(f"The command {address.name} could not be started: {why}.") from None
        raise NoAnswer(f"The connection broke ({type(causes[0]).__name__}).") from None


def _refused(code: int, message: str, status: int) -> ToolResult:
    """An error from the server as a result; an HTTP error status is preferred to the protocol's code."""
    details: dict[str, Any] = {"reason": "protocol_error", "protocol_code": code}
    said = f"The MCP server refused: {message.splitlines()[0][:_MAX_SAID] if message else 'no reason'}"
    if status >= 300:
        details["status"], said = status, f"{said} (status {status})"
    meant = http_tools.CODES.get(status) or _CODES.get(code, "EXECUTION_ERROR")
    return results.fail(meant, said, details)


async def _asked(
    address: Address,
    seconds: float,
    question: _Question[Found],
    seen: "list[Watched]",
) -> Found:
    import anyio
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    from core.guarded import Watched, guarded_client

    answered: list[Found] = []
    try:
        with anyio.fail_after(seconds):
            async with AsyncExitStack() as stack:
                watched = Watched(question.limit)
                seen.append(watched)
                client = guarded_client(watched, address.headers, seconds=seconds)
                client.event_hooks = {"request": [_mirroring(question.headers())]}
                await stack.enter_async_context(client)
                transport: Any = streamable_http_client(
                    address.url, http_client=client, max_sse_event_size=question.limit
                )
                talking = await stack.enter_async_context(Client(transport, read_timeout_seconds=seconds, cache=None))
                answered.append(await question.ask(talking.session))
    except Exception:
        # The server answered; that it does not close the connection does not matter.
        if not answered:
            raise
    return answered[0]


def _mirroring(headers: Mapping[str, str]) -> "Callable[[httpx2.Request], Awaitable[None]]":
    """A hook that adds the headers to the call's request, if the protocol version supports them."""

    async def mirror(request: "httpx2.Request") -> None:
        if request.headers.get("mcp-method") == "tools/call":
            request.headers.update(headers)

    return mirror


def _leaves(problem: BaseException) -> Iterator[BaseException]:
    """The exceptions inside exception groups."""
    if isinstance(problem, BaseExceptionGroup):
        for each in problem.exceptions:
            yield from _leaves(each)
    else:
        yield problem
