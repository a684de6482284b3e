"""One line an event, with ids and outcomes, never content."""

import json
import logging
import math
import threading
import time
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import cache

request_id_var: ContextVar[str] = ContextVar("request_id", default="")
_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}

_QUIET_SECONDS = 10.0
_LOST = frozenset({"ConnectionError", "TimeoutError", "OperationalError"})


def _fields(record: logging.LogRecord) -> dict[str, object]:
    fields = {key: value for key, value in vars(record).items() if key not in _STANDARD}
    if request_id_var.get():
        fields.setdefault("request_id", request_id_var.get())
    return fields


_POOL_SAYS = ("error connecting", "reconnection attempt", "discarding closed connection")


class Away(logging.Filter):
    """What a library says of a queue or a database that is away, as the event of ours that means it.

    It says so with each try, in sentences, some as errors with a trace. Here it is a warning with its reason as a
    field, once in a while. `by_reason`: what carries the error of a connection; else what a pool says of one. All else
    that the library says may be a mistake of ours, and stays as it is.
    """

    def __init__(self, event: str, *, by_reason: bool) -> None:
        super().__init__()
        self._event, self._by_reason = event, by_reason
        self._told_at = -math.inf
        self._lock = threading.Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether it is written, and how."""
        problem = next((each for each in record.args or () if isinstance(each, BaseException)), None)
        is_away = _is_of_a_connection(problem) if self._by_reason else str(record.msg).startswith(_POOL_SAYS)
        if record.levelno < logging.WARNING or not is_away:
            return True
        with self._lock:
            if time.monotonic() - self._told_at < _QUIET_SECONDS:
                return False
            self._told_at = time.monotonic()
        record.reason = str(problem or record.getMessage()).partition("\n")[0]
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        record.msg, record.args, record.exc_info = self._event, (), None
        return True


@cache
def away(event: str, by_reason: bool = True) -> Away:
    """The filter of an event, always the same: a logger takes one only once, however often the log is set up."""
    return Away(event, by_reason=by_reason)


def _is_of_a_connection(problem: BaseException | None) -> bool:
    """By the names that drivers give their errors: to import them would be to need them."""
    while problem is not None:
        if _LOST & {each.__name__ for each in type(problem).__mro__}:
            return True
        problem = problem.__cause__ or problem.__context__
    return False


class JsonFormatter(logging.Formatter):
    """A JSON object a line."""

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


class TextFormatter(logging.Formatter):
    """The same for a person at a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        fields = " ".join(f"{key}={value}" for key, value in _fields(record).items())
        at = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        line = f"{at} {record.levelname.lower():7} {record.getMessage()} {fields}".rstrip()
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line
