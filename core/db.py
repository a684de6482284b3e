"""Shared database helpers: snapshots, dead pool connections, error codes, JSON stored unchanged."""

import json
import logging
import random
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, partial, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from django.conf import settings
from django.core import signals
from django.core.cache import close_caches
from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    close_old_connections,
    connection,
    connections,
    models,
    reset_queries,
)
from django.db.models import QuerySet

from core.errors import DomainError
from core.turnstile import Courtesy

Given = ParamSpec("Given")
Result = TypeVar("Result")
Row = TypeVar("Row", bound=models.Model)


class _Own(threading.local):
    """Holds the connection object that Django made for this thread, for as long as the thread lives."""

    def __init__(self) -> None:
        self.connection: Any = connections[DEFAULT_DB_ALIAS]


_own = _Own()


def this_connection() -> Any:
    """This thread's connection, of `core.postgres` or `core.sqlite`.

    Django looks through six functions for it, each time; a poll asks five times.
    """
    return _own.connection


@contextmanager
def snapshot() -> Iterator[None]:
    """Let several reads see one state of the database (spec 4.4, B87), without blocking writers.

    Inside another snapshot or a writing transaction it does nothing: those already guarantee that.
    """
    ours = this_connection()
    ours.ensure_connection()
    if ours.in_atomic_block or ours.is_in_transaction:
        yield
    else:
        with ours.snapshot():
            yield


_TURN = Courtesy(0.005)
_NO_TURN: AbstractContextManager[None] = nullcontext()


def in_turn() -> AbstractContextManager[None]:
    """Wrap answering a request, connection included. On SQLite, short ones are answered one after the other.

    Each statement lets other threads run. Eight requests that stop at each other's statements take half as long again,
    each on a connection whose cached pages are outdated by the others' writes.
    """
    return _TURN.taken() if _takes_turns() else _NO_TURN


@cache
def _takes_turns() -> bool:
    ours: Any = connection
    return bool(ours.takes_turns)


def give_connection_back(**_: object) -> None:
    """Let another thread have this one's connection, after a request and before waiting: a few event streams would
    otherwise hold all of them.

    As Django's `close_old_connections`, which also looks for other databases: four times as long.
    """
    this_connection().close_if_unusable_or_obsolete()


def tidy_once() -> None:
    """Let requests give their connection back only at their end. Called once when Django is ready.

    Django does it at their beginning, too, where nothing has happened since. It also forgets logged queries, which only
    exist with DEBUG.
    """
    signals.request_started.disconnect(close_old_connections)
    signals.request_finished.disconnect(close_old_connections)
    signals.request_finished.connect(give_connection_back)
    signals.request_finished.disconnect(close_caches)  # neither kind of cache here has anything to close
    if not settings.DEBUG:
        signals.request_started.disconnect(reset_queries)


def replace_dead_connections() -> None:
    """After a lost connection: drop every dead connection from the pool.

    A database restart leaves a pool full of them, and each would fail one more request. Checking whenever a connection
    is taken would slow down every request instead.
    """
    pool = getattr(connection, "pool", None)
    if pool is not None:
        pool.check()


def held(rows: QuerySet[Row], pk: int, gone: DomainError) -> Row:
    """A row, read again and locked until the commit. If it was deleted since it was first read, raises `gone`.

    `rows` says how it is locked (`select_for_update`) and what is read with it.
    """
    found = rows.filter(pk=pk).first()
    if found is None:
        raise gone
    return found


def hold_names(of: str, names: Iterable[str]) -> None:
    """Keep names of a kind from everybody else who calls this, until the transaction ends; waits for whoever has them.

    For names that may have no row yet, which could be locked instead. On SQLite whoever writes is alone anyway.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            for name in sorted(names):  # in a fixed order, or two would wait for each other
                cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"{of}: {name}"])


def code_of(problem: BaseException) -> str:
    """The database's error code: SQLite's error name or PostgreSQL's SQLSTATE; empty for other errors.

    Its messages may contain stored data, its codes never do.
    """
    said = problem.__cause__ or problem
    return getattr(said, "sqlite_errorname", None) or getattr(said, "sqlstate", None) or ""


def is_full(problem: BaseException) -> bool:
    """Whether the disk is full, which no retry fixes.

    SQLITE_IOERR_SHMSIZE: without a free byte a connection cannot even create the index of SQLite's log, and not read.
    """
    return code_of(problem) in ("SQLITE_FULL", "SQLITE_IOERR_SHMSIZE", "53100")


def is_conflict(problem: BaseException) -> bool:
    """Whether the database aborted a transaction because of concurrent ones: a deadlock, a serialization failure."""
    return code_of(problem) in ("40P01", "40001")


def is_named_elsewhere(problem: BaseException) -> bool:
    """Whether a foreign key failed: a row it names was deleted, or one was stored for a row being deleted."""
    return code_of(problem) in ("23503", "SQLITE_CONSTRAINT_FOREIGNKEY")


def again(work: Callable[[], Result], also: Callable[[BaseException], bool] = lambda _: False) -> Result:
    """Run a piece of work that is a transaction of its own, at most three times, while concurrent ones abort it.

    Retried are conflicts (`is_conflict`) and problems that `also` accepts; any other problem is raised, and so is the
    third. A failed try leaves nothing, not even its `on_commit` calls. Inside a transaction the work runs once: whoever
    opened that has to retry.
    """
    for _ in range(_TRIES - 1):
        try:
            return work()
        except DatabaseError as problem:
            if connection.in_atomic_block or not (is_conflict(problem) or also(problem)):
                raise
        time.sleep(random.uniform(0, _APART))  # noqa: S311 (so that two do not meet again)
    return work()


_TRIES, _APART = 3, 0.05


def anew(work: Callable[Given, Result]) -> Callable[Given, Result]:
    """Decorator: run a function by `again`. It must not change its arguments, or a retry would start from others."""

    @wraps(work)
    def done(*given: Given.args, **named: Given.kwargs) -> Result:
        return again(partial(work, *given, **named))

    return done


def log_refused(logger: logging.Logger, event: str, problem: BaseException, **ids: object) -> None:
    """Log a database failure as a warning under that event; a full disk as an error."""
    told = {**ids, "kind": type(problem).__name__, "code": code_of(problem)}
    level, event = (logging.ERROR, "disk.full") if is_full(problem) else (logging.WARNING, event)
    logger.log(level, event, extra={name: value for name, value in told.items() if value != ""})


def dump(value: object) -> str:
    """JSON text as it is stored: key order kept, ASCII only, no NaN."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def load(text: str) -> Any:
    """The value of stored JSON text. A lone surrogate, which no response can encode, is read as U+FFFD.

    New rows have none; rows of older versions may. Text without an escaped surrogate only costs a substring search.
    `json.loads` would look for white space around it, which `dump` writes nowhere: half of the time for a short list.
    """
    if "\\ud" in text and _HALF.search(text):
        text = _ESCAPE.sub(lambda found: "\\ufffd" if found["half"] else found[0], text)
    return _DECODER.raw_decode(text)[0]


_DECODER = json.JSONDecoder()
_HALF = re.compile(r"\\ud[89ab]..(?!\\ud[c-f])|(?<!\\ud[89ab]..)\\ud[c-f]")
"""A lone surrogate as `dump` escapes it. May also match an escaped backslash before these letters."""
_ESCAPE = re.compile(r"\\(?:ud[89ab]..\\ud[c-f]..|(?P<half>ud[89a-f]..)|.)")


class JsonText(models.TextField):  # type: ignore[type-arg]
    """A JSON document stored as text.

    PostgreSQL's jsonb sorts keys, normalizes numbers and rejects NUL; what an agent exchanged with a tool must come
    back unchanged (B81). Queries never filter by what is inside such a column, which has its own column; only the text
    of imported metadata is searched, and the name that the block of a tool begins with.
    """

    if TYPE_CHECKING:
        _pyi_private_set_type: Any
        _pyi_private_get_type: Any

    def from_db_value(self, value: str | None, expression: object, connection: object) -> Any:
        return None if value is None else load(value)

    def to_python(self, value: Any) -> Any:
        return value

    def get_prep_value(self, value: Any) -> str | None:
        return None if value is None else dump(value)

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        return value if prepared else self.get_prep_value(value)

    def value_to_string(self, obj: models.Model) -> str:
        return self.get_prep_value(self.value_from_object(obj)) or ""
