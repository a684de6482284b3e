"""Limits how large a form may be, and how many threads slow uploads can hold: a read of a request body cannot be
interrupted.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from django.conf import settings
from django.http import HttpRequest

from core.errors import FormTooLarge, NotSignedIn, Unavailable
from core.slots import Slots
from core.wording import limit_text

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
View = TypeVar("View", bound=Callable[..., Any])
SMALL: Final = 64 * 1024
"""Most bytes of a form of somebody who is not signed in."""
_PATIENCE_SECONDS: Final = 1.0
_SIZE: Final = max(1, settings.HEDDLE.threads // 4)
# Waiting for a slot also holds a thread, so no more may wait than have a slot.
_reading = Slots(_SIZE, each=max(1, _SIZE // 2), waiting=_SIZE)


def takes(most: int) -> Callable[[View], View]:
    """Decorate a page that takes a form of up to that many bytes, as it is sent; others take `settings.BODY_BYTES`."""

    def mark(view: View) -> View:
        view.form_bytes = most  # type: ignore[attr-defined]
        return view

    return mark


def require_fitting(request: HttpRequest, view: Callable[..., Any]) -> None:
    """Refuse a form that is larger than its page takes, before any of it is read.

    Parsing one takes 50 times its size in memory, and its files go to the disk, of any size: Django counts only fields.
    So nobody who is not signed in may send more than a small one. Raises `FormTooLarge`, `NotSignedIn`.
    """
    told = request.META.get("CONTENT_LENGTH") or ""
    length = int(told) if told.isdigit() else 0  # then Django reads nothing
    if length <= SMALL:
        return
    most = getattr(view, "form_bytes", settings.BODY_BYTES)
    if length > most:
        raise FormTooLarge(f"The form is larger than {limit_text(most)}. Nothing was stored.")
    if not request.user.is_authenticated:
        raise NotSignedIn("You are signed out; nothing was stored. Sign in and send it again.")


def bounded(application: Application) -> Application:
    """Wrap the application: at most a quarter of the threads can wait for slow bodies, half of those per address.

    A body sent together with its request is read at once, so its slot is free immediately. Rejected: separate reader
    threads with a time limit. They would cost small bodies more than reading them, and can be blocked just the same.
    """

    def call(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        environ["wsgi.input"] = _Body(environ["wsgi.input"], environ.get("REMOTE_ADDR", ""))
        return application(environ, start_response)

    return call


class _Body:
    """A request body. Reading raises `Unavailable` if too many other reads are waiting."""

    __slots__ = ("_body", "_caller")

    def __init__(self, body: Any, caller: str) -> None:
        self._body, self._caller = body, caller

    def read(self, *size: int) -> bytes:
        """As for any stream."""
        return self._in_place(self._body.read, *size)

    def readline(self, *size: int) -> bytes:
        """As for any stream."""
        return self._in_place(self._body.readline, *size)

    def _in_place(self, read: Callable[..., bytes], *size: int) -> bytes:
        if not _reading.take(self._caller, patience_seconds=_PATIENCE_SECONDS):
            raise Unavailable("Too many uploads at once. Try again in a moment.")
        try:
            return read(*size)
        finally:
            _reading.leave(self._caller)
