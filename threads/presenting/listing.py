"""View models of the thread list: rows in groups, views, and polling of running rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import quote, urlencode
from zlib import crc32

from core.templatetags.ui import at_message
from threads.presenting.cloth import Cloth, weave
from threads.presenting.words import Word
from threads.status import RUNNING, ThreadStatus

_BESIDE = 3
"""Words that say which of several places is meant."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that contains the text searched for, and a line of it: before the text, the text, and after it."""

    index: int
    before: str
    text: str
    after: str
    marked: tuple[str, str, str] = ("", "", "")
    """The same as it is marked in the page: in whole words, with only what is in one line with it."""


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """One row of the thread list. `weave` is the string that `cloth.weave()` draws."""

    thread_id: str
    title: str
    status: Word
    owner: str
    model_profile: str
    message_count: int
    at: datetime
    """The time that the list is sorted by; in an order by something else, when the thread was created."""
    weave: str = ""
    is_private: bool = False
    is_fork: bool = False
    is_imported: bool = False
    is_pinned: bool = False
    goals_achieved: int = 0
    goals_count: int = 0
    negative: int = 0
    positive: int = 0
    answered: int | None = None
    """The message with an unseen reply to the reader's rating; the row links to it."""
    asked: str = ""
    """The query, if it looks for something inside threads; the row takes it along."""
    hit: Hit | None = None
    """Where the text is that the thread was found by, unless that is the title; the row links to it."""
    in_title: Hit | None = None
    """The title, if it contains a text that was searched for."""

    @property
    def cloth(self) -> Cloth:
        """The activity chart."""
        return weave(self.weave)

    @property
    def goals_tone(self) -> str:
        """`pos` if all goals are achieved, `neg` if the thread's status is goals_failed."""
        if self.goals_achieved == self.goals_count:
            return "pos"
        return "neg" if self.status.key == "goals_failed" else ""

    @property
    def place(self) -> str:
        """The end of the row's link: the message, if any, and the text found in it, which browsers mark."""
        if self.answered is not None:
            return at_message(self.answered, self.asked)
        return place_of(self.hit, self.asked)

    @property
    def is_running(self) -> bool:
        """Whether a turn is running or waits for a client tool, so the row may change soon."""
        return self.status.key in RUNNING

    @property
    def mark(self) -> str:
        """A checksum of the row's appearance, except its position."""
        return f"{crc32(repr(replace(self, is_pinned=False)).encode()):x}"


def place_of(hit: Hit | None, asked: str) -> str:
    """The end of a thread's URL: what was asked, and the message with a hit of it and its text, if there is one."""
    if hit is None:
        return f"?{urlencode({'q': asked})}" if asked else ""
    return at_message(hit.index, asked) + _marking(hit)


def _marking(hit: Hit) -> str:
    """A text directive for a hit, with words before or after it: else browsers would mark the first such text.

    Where the page has other characters in between, nothing is marked, and the link still leads to the message.
    """
    before, text, after = hit.marked
    before, text, after = (
        quote(part, safe="").replace("-", "%2D")  # hyphens and commas separate the parts
        for part in (" ".join(before.split()[-_BESIDE:]), text.strip(), " ".join(after.split()[:_BESIDE]))
    )
    if not text:
        return ""
    return f":~:text={before}-,{text}" if before else f":~:text={text},-{after}" if after else f":~:text={text}"


@dataclass(frozen=True, slots=True)
class Watch:
    """The polling of running rows: the interval, and the rows with their marks."""

    seconds: int
    query: str


def watch(rows: Sequence[ThreadRow], line: str) -> Watch | None:
    """The polling of the rows that a query found; None if none is running. Rows that wait for a client are polled less
    often.
    """
    running = [row for row in rows if row.is_running]
    if not running:
        return None
    is_answering = any(row.status.key == ThreadStatus.ROBOTO_TURN for row in running)
    asked = [("q", line), *(("row", f"{row.thread_id}.{row.mark}") for row in running)]
    return Watch(3 if is_answering else 30, urlencode(asked))


@dataclass(frozen=True, slots=True)
class Band:
    """Rows under one heading; the heading is empty if the previous page already ended with it."""

    key: str
    heading: str
    rows: tuple[ThreadRow, ...]


def bands(rows: Sequence[ThreadRow], *, now: datetime, after: str = "", is_timed: bool = True) -> list[Band]:
    """Rows in their order under Pinned, Today, Yesterday, This week, Earlier; `after` is the last band shown before.
    Below the pins, rows that are not sorted by time (`is_timed`) have one heading, and none without pins.

    Days are those of `now`'s time zone, the viewer's.
    """
    found: list[tuple[str, list[ThreadRow]]] = []
    for row in rows:
        key = _band(row, now) if is_timed or row.is_pinned else "others"
        if not found or found[-1][0] != key:
            found.append((key, []))
        found[-1][1].append(row)
    before = [after, *(key for key, _ in found)]
    return [Band(key, _heading(key, above), tuple(group)) for above, (key, group) in zip(before, found, strict=False)]


_BANDS = {
    "pinned": "Pinned",
    "today": "Today",
    "yesterday": "Yesterday",
    "week": "This week",
    "earlier": "Earlier",
    "others": "Others",
}


def _heading(key: str, above: str) -> str:
    """The heading of a band below another one; others than nothing need none."""
    return "" if key == above or (key == "others" and not above) else _BANDS[key]


def _band(row: ThreadRow, now: datetime) -> str:
    if row.is_pinned:
        return "pinned"
    days = (now.date() - row.at.astimezone(now.tzinfo).date()).days
    return "today" if days <= 0 else "yesterday" if days == 1 else "week" if days < 7 else "earlier"


@dataclass(frozen=True, slots=True)
class View:
    """A view as a link."""

    key: str
    word: str
    href: str
    is_current: bool
    count: int | None = None


VIEW_WORDS = {
    "all": "All",
    "mine": "Mine",
    "replies": "Replies",
    "answering": "Answering",
    "tool_pending": "Tool pending",
    "failed": "Failed",
    "goals_failed": "Goals failed",
    "rated_negative": "Rated negative",
    "private": "Private",
    "forks": "Forks",
}


ORDER_WORDS = {
    "newest": "Newest first",
    "oldest": "Oldest first",
    "changed": "Last changed first",
    "longest": "Longest first",
}


def thread_views(lines: Mapping[str, tuple[str, bool]], counts: Mapping[str, int]) -> list[View]:
    """The views of the list, from their queries, whether each is current, and what is new in some; no news no count."""
    return [
        View(key, VIEW_WORDS[key], href(line), is_current, counts.get(key) or None)
        for key, (line, is_current) in lines.items()
    ]


def thread_orders(lines: Mapping[str, tuple[str, bool]]) -> list[View]:
    """The sort orders, from the query in each of them and whether it is current."""
    return [View(key, ORDER_WORDS[key], href(line), is_current) for key, (line, is_current) in lines.items()]


def href(line: str) -> str:
    """The URL of the list's first page with this query."""
    return "?" + (urlencode({"q": line}) if line else "")


@dataclass(frozen=True, slots=True)
class Refused:
    """An invalid term of a query, with a link to the likely correction if there is one."""

    text: str
    reason: str
    meant: str = ""
    meant_href: str = ""
