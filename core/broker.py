"""The in-process queue: kombu's memory transport, woken by new messages instead of polling.

The stock transport polls, so an idle worker adds half its polling interval to every turn. A condition costs nothing
while idle and wakes the worker within a millisecond. Queued messages are lost with the process, which is fine: the
database rows are authoritative, and the sweep at startup queues them again.
"""

import threading
from queue import Empty
from time import monotonic
from typing import Any

from kombu.transport import TRANSPORT_ALIASES, memory

URL = "inprocess://localhost//"
_put = threading.Condition()
_puts = 0


class Channel(memory.Channel):
    """A memory channel that signals when it gets a message."""

    def _put(self, queue: str, message: Any, **kwargs: Any) -> None:
        global _puts
        super()._put(queue, message, **kwargs)  # type: ignore[no-untyped-call]
        with _put:
            _puts += 1
            _put.notify_all()


class Transport(memory.Transport):
    """A memory transport that waits for the next message."""

    Channel = Channel
    cycle: Any

    def drain_events(self, connection: Any, timeout: float | None = None) -> None:  # type: ignore[override]
        """Deliver one message; raise `socket.timeout` when none came within `timeout` seconds."""
        ends_at = None if timeout is None else monotonic() + timeout
        while True:
            seen = _puts  # read before looking: a put in between ends the wait at once
            try:
                self.cycle.get(self._deliver, timeout=timeout)
                return
            except Empty:
                left = 1.0 if ends_at is None else ends_at - monotonic()
                if left <= 0:
                    raise TimeoutError from None
                with _put:
                    _put.wait_for(lambda: _puts != seen, timeout=left)  # noqa: B023


TRANSPORT_ALIASES["inprocess"] = "core.broker:Transport"
