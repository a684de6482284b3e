"""MCP server commands, kept running between requests: starting one takes a second, a request a millisecond.

A process has at most `MAX_KEPT` of them, one for each connection that leads to a command, so two orgs never share one.
Each lives on a thread with a loop of its own, as long as it is asked something every `IDLE_SECONDS`, and for
`MAX_AGE_SECONDS` at most: then the operator's new version of it is noticed. Whatever goes wrong ends it, and the next
question starts another; so does a process that has died meanwhile, which is noticed before a question is put to it. A
question that was put is never put again: nobody knows what it did.

A worker that is killed needs no care: its pipes close with it, which is how such a server is told to end.
"""

import atexit
import os
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    import anyio
    from anyio.from_thread import BlockingPortal
    from mcp import ClientSession

MAX_KEPT: Final = 8
IDLE_SECONDS: Final = 60.0
MAX_AGE_SECONDS: Final = 600.0
_START_SECONDS: Final = 30.0
_END_SECONDS: Final = 3.0
"""How long a process waits for its commands at shutdown."""
Found = TypeVar("Found")
Question = Callable[["ClientSession"], Awaitable[Found]]
_lock = threading.Lock()
_kept: dict[tuple[str, ...], "_Session"] = {}


def ask(
    owner: str, command: tuple[str, ...], seconds: float, question: Question[Found], *, fresh: bool = False
) -> Found:
    """Send a request to a command, which is started if it is not running; `fresh`: always start a new one.

    A command runs once per `owner`. Raises `TimeoutError`, `MCPError`, `OSError`, and other errors, alone or in groups.
    """
    until = time.monotonic() + seconds
    key = (owner, *command)
    while True:
        session = _taken(key, until, fresh=fresh)
        try:
            return session.ask(question, until - time.monotonic())
        except _Gone:
            continue
        finally:
            _given_back(key, session, until)


def end_all() -> None:
    """End all commands and wait for them for a moment."""
    with _lock:
        ended = list(_kept.values())
        _kept.clear()
    for session in ended:
        session.end()
    until = time.monotonic() + _END_SECONDS
    for session in ended:
        session.thread.join(max(0.0, until - time.monotonic()))


def _taken(key: tuple[str, ...], until: float, *, fresh: bool) -> "_Session":
    """The command's session, busy until then. If there are too many, it is not kept and ends with its request."""
    with _lock:
        session = _kept.get(key)
        if session is None or fresh or session.is_over:
            _drop(key)
            if len(_kept) >= MAX_KEPT:
                idle = [each for each, held in _kept.items() if not held.busy]
                if idle:
                    _drop(min(idle, key=lambda each: _kept[each].used))
            session = _Session(key[1:])
            if len(_kept) < MAX_KEPT:
                _kept[key] = session
        session.busy.append(until)
        return session


def _given_back(key: tuple[str, ...], session: "_Session", until: float) -> None:
    with _lock:
        session.busy.remove(until)
        session.used = time.monotonic()
        if _kept.get(key) is session and session.is_over:
            del _kept[key]
        is_kept = _kept.get(key) is session
        if not session.busy and not is_kept:
            session.end()


def _drop(key: tuple[str, ...]) -> None:
    """Stop keeping the session; requests in progress continue, and the last of them ends it."""
    dropped = _kept.pop(key, None)
    if dropped is not None and not dropped.busy:
        dropped.end()


def _start_over() -> None:
    """Reset in a forked child: threads, loops and commands belong to the parent."""
    global _lock
    _lock = threading.Lock()
    _kept.clear()


os.register_at_fork(after_in_child=_start_over)
atexit.register(end_all)


class _Gone(Exception):
    """The session had ended before the request was sent."""


class _Session:
    """One running command. `busy` (the deadlines of the requests in progress) and `used` are protected by `_lock`."""

    def __init__(self, command: tuple[str, ...]) -> None:
        self.busy: list[float] = []
        self.began = self.used = time.monotonic()
        self._command = command
        self._portal: Future[BlockingPortal] = Future()
        self._ready: Future[ClientSession] = Future()
        self._scope: anyio.CancelScope | None = None
        self._is_broken = False
        self._under_way = 0
        self.thread = threading.Thread(target=self._run, name="mcp", daemon=True)
        self.thread.start()

    @property
    def is_over(self) -> bool:
        """Whether the session should get no new requests.

        A request past its deadline says so before its own thread does: whoever asked it may have left already.
        """
        now = time.monotonic()
        is_overdue = min(self.busy, default=inf) <= now
        return self._is_broken or is_overdue or not self.thread.is_alive() or now - self.began > MAX_AGE_SECONDS

    def ask(self, question: Question[Found], seconds: float) -> Found:
        """The response to one request. Anything but a response or a protocol error breaks the session.

        Raises `_Gone` if it was found dead: then nothing was sent.
        """
        from mcp import MCPError, types

        until = time.monotonic() + seconds
        was_there, put = self._ready.done(), threading.Event()
        try:
            session = self._ready.result(max(0.0, seconds))
            left = max(0.0, until - time.monotonic())
            asked = partial(self._answered, session, question, left, put, is_known=not was_there)
            return self._portal.result().start_task_soon(asked).result(left + 1)
        except BaseException as problem:
            is_refusal = isinstance(problem, MCPError) and problem.code != types.CONNECTION_CLOSED
            self._is_broken |= not is_refusal
            if was_there and not put.is_set() and not isinstance(problem, TimeoutError):
                raise _Gone from None
            raise

    def end(self) -> None:
        """Tell the session to end; does not wait."""
        self._is_broken = True
        try:
            self._portal.result().start_task_soon(self._cancel)
        except RuntimeError:
            return  # it has ended

    def _cancel(self) -> None:
        assert self._scope is not None
        self._scope.cancel()

    async def _answered(
        self,
        session: "ClientSession",
        question: Question[Found],
        seconds: float,
        put: threading.Event,
        *,
        is_known: bool,
    ) -> Found:
        """The response within that time; pings the server first if it may be dead."""
        import anyio

        assert self._scope is not None
        with anyio.fail_after(seconds):
            if not is_known:
                await _greet(session)
            put.set()
            self._under_way += 1
            self._scope.deadline = inf
            try:
                return await question(session)
            finally:
                self._under_way -= 1
                if not self._under_way:
                    self._scope.deadline = anyio.current_time() + IDLE_SECONDS

    def _run(self) -> None:
        import anyio

        problem: BaseException = TimeoutError()
        try:
            anyio.run(self._live)
        except BaseException as raised:
            problem = raised
        for each in (self._portal, self._ready):
            if not each.done():
                each.set_exception(problem)

    async def _live(self) -> None:
        import anyio
        from anyio.from_thread import BlockingPortal

        # One deadline, first for the start, then moved for each request.
        with anyio.CancelScope(deadline=anyio.current_time() + _START_SECONDS) as self._scope:
            async with BlockingPortal() as portal:
                self._portal.set_result(portal)
                async with _opened(self._command) as session:
                    self._scope.deadline = anyio.current_time() + IDLE_SECONDS
                    self._ready.set_result(session)
                    await anyio.sleep_forever()


@asynccontextmanager
async def _opened(command: tuple[str, ...]) -> "AsyncIterator[ClientSession]":
    from mcp import Client, StdioServerParameters, stdio_client

    program, *args = command
    # Its stderr is not copied to our log.
    with open(os.devnull, "w") as beside:
        transport: Any = stdio_client(StdioServerParameters(command=program, args=args), errlog=beside)
        async with Client(transport, cache=None) as client:
            yield client.session


async def _greet(session: "ClientSession") -> None:
    """Ping the server; raises if it does not respond."""
    from mcp import MCPError, types

    try:
        await session.send_ping()
    except MCPError as problem:
        # Even an error response shows that it is alive.
        if problem.code == types.CONNECTION_CLOSED:
            raise
