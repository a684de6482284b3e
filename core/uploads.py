"""Reading what a request holds. No read can be cut short: who announces a body and sends it slowly keeps a thread."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from django.conf import settings

from core.errors import Unavailable
from core.slots import Slots

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
_PATIENCE_SECONDS: Final = 1.0
_SIZE: Final = max(1, settings.HEDDLE.threads // 4)
# Who waits for a place keeps a thread as well, so that no more of them wait than have one.
_reading = Slots(_SIZE, each=max(1, _SIZE // 2), waiting=_SIZE)


def bounded(application: Application) -> Application:
    """The application, of which only some threads can be kept by bodies that do not come, half of those by one caller.

    What was sent with its request is there when it is read, so that a place is free again at once. Rejected: reading on
    threads apart, with a time limit. It would cost every small body more than its reading, and a thread apart is kept
    like any other.
    """

    def call(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        environ["wsgi.input"] = _Body(environ["wsgi.input"], environ.get("REMOTE_ADDR", ""))
        return application(environ, start_response)

    return call


class _Body:
    """A request's body. Its reads raise `Unavailable` where too many wait for theirs."""

    __slots__ = ("_body", "_caller")

    def __init__(self, body: Any, caller: str) -> None:
        self._body, self._caller = body, caller

    def read(self, *size: int) -> bytes:
        """As of any stream."""
        return self._in_place(self._body.read, *size)

    def readline(self, *size: int) -> bytes:
        """As of any stream."""
        return self._in_place(self._body.readline, *size)

    def _in_place(self, read: Callable[..., bytes], *size: int) -> bytes:
        if not _reading.take(self._caller, patience_seconds=_PATIENCE_SECONDS):
            raise Unavailable("Too many requests are on their way in. Try again in a moment.")
        try:
            return read(*size)
        finally:
            _reading.leave(self._caller)
