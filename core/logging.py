"""Log formats: one line per event, with ids and outcomes, never content."""

import json
import logging
import math
import threading
import time
import traceback
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import cache
from typing import Any

request_id_var: ContextVar[str] = ContextVar("request_id", default="")
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_CONTENT = frozenset({"request"})
"""Fields that Django adds and that are never written: a request shows its address with the query, which is content."""

_OF_CODE = (AttributeError, ImportError, NameError, TypeError)
"""Errors whose messages name code. Those of others may quote what somebody wrote: a row, a key, a number."""
_QUIET_SECONDS = 10.0
_LOST = frozenset({"ConnectionError", "TimeoutError", "OperationalError"})


def _fields(record: logging.LogRecord) -> dict[str, object]:
    fields = {key: value for key, value in vars(record).items() if key not in _STANDARD | _CONTENT}
    if request_id_var.get():
        fields.setdefault("request_id", request_id_var.get())
    return fields


_POOL_SAYS = (
    "error connecting",
    "reconnection attempt",
    "discarding closed connection",
    "discarding broken connection",
)


class Seldom:
    """Lets the first of all threads that ask within some seconds log, and none of the others."""

    def __init__(self) -> None:
        self._told_at = -math.inf
        self._lock = threading.Lock()

    def is_due(self) -> bool:
        """Whether to log now; the caller then does."""
        with self._lock:
            if time.monotonic() - self._told_at < _QUIET_SECONDS:
                return False
            self._told_at = time.monotonic()
        return True


class Away(logging.Filter):
    """Turns library messages about an unreachable queue or database into one event of ours.

    Libraries log each attempt, some as an error with a trace. Here it is a warning with the reason as a field, at most
    every few seconds. `by_reason` selects records that carry a connection error, else known messages of a connection
    pool. All other records pass unchanged: they may show a bug of ours.
    """

    def __init__(self, event: str, *, by_reason: bool) -> None:
        super().__init__()
        self._event, self._by_reason = event, by_reason
        self._seldom = Seldom()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to log the record; rewrites it if it is about an unreachable service."""
        problem = next((each for each in record.args or () if isinstance(each, BaseException)), None)
        is_away = _is_of_a_connection(problem) if self._by_reason else str(record.msg).startswith(_POOL_SAYS)
        if record.levelno < logging.WARNING or not is_away:
            return True
        if not self._seldom.is_due():
            return False
        record.reason = str(problem or record.getMessage()).partition("\n")[0]
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        record.msg, record.args, record.exc_info = self._event, (), None
        return True


@cache
def away(event: str, by_reason: bool = True) -> Away:
    """The one filter of an event: a logger adds the same filter only once, however often logging is configured."""
    return Away(event, by_reason=by_reason)


def _is_of_a_connection(problem: BaseException | None) -> bool:
    """Whether it is a connection error, by class name: importing the drivers would make them required."""
    while problem is not None:
        if _LOST & {each.__name__ for each in type(problem).__mro__}:
            return True
        problem = problem.__cause__ or problem.__context__
    return False


def trace_of(problem: BaseException) -> str:
    """Where an error came from, after the errors that led to it. Only messages of `_OF_CODE` are included."""
    words = f": {problem}" if isinstance(problem, _OF_CODE) else ""
    told = "".join(traceback.format_tb(problem.__traceback__)) + type(problem).__qualname__ + words
    earlier = problem.__cause__ or (None if problem.__suppress_context__ else problem.__context__)
    return f"{trace_of(earlier)}\n\n{told}" if earlier else told


class _Formatter(logging.Formatter):
    def formatException(self, ei: Any) -> str:
        return trace_of(ei[1]) if ei[1] else ""


class JsonFormatter(_Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            "logger": record.name,
            **_fields(record),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


class TextFormatter(_Formatter):
    """One line of text per event, for a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        fields = " ".join(f"{key}={value}" for key, value in _fields(record).items())
        at = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        line = f"{at} {record.levelname.lower():7} {record.getMessage()} {fields}".rstrip()
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line
