"""What is known of the messages that a thread got by an import."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from threads.content import MessageSnapshot

_TITLING = timedelta(seconds=1)
"""Longer than an import takes from the moment that it stores as the beginning to the moment of the thread's id."""
_FRACTION = timedelta(milliseconds=1)
"""The moment of an id has no fractions of milliseconds."""


@dataclass(frozen=True, slots=True)
class Import:
    """The import of a thread. `at` is its moment, None if unknown; `began` is when the thread says that it began.

    A conversation without times gets the moment of its import as its beginning, and its messages get that beginning.
    """

    at: datetime | None
    began: datetime

    @property
    def is_beginning_known(self) -> bool:
        """Whether the conversation had a time of its own."""
        return self.at is None or abs(self.began - self.at) > _TITLING

    def brought(self, message: MessageSnapshot) -> bool:
        """Whether a message came by this import. Later ones were written here."""
        return message.created <= (self.at or self.began) + _FRACTION

    def timed(self, message: MessageSnapshot) -> bool:
        """Whether a message has a time of its own. Only the first one can have that of the thread's beginning."""
        return message.created != self.began or (message.index == 0 and self.is_beginning_known)
