"""The only writer of transcripts (spec 4.4). Nothing else stores messages, blocks, statuses or titles.

Goals belong to turns: the code that begins or ends a turn stores them in the same transaction and calls
`goals_changed`.

A writer locks the thread's row, appends, and gives each change the thread's next revision; readers are notified after
the commit. So deltas, event streams, lists and pages all see the same order of changes, and never half of one.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from core import notices
from core.errors import NotFound
from core.prepared import Prepared, PreparedRow
from core.prepared_writes import PreparedCommand, PreparedInsert, PreparedUpdate
from core.rows import new
from threads import weaving
from threads.content import BlockDict
from threads.models import Block, Message, Rewind, Thread, Turn, UsedTool
from threads.status import ThreadStatus, TurnState

_OWN_COLUMNS = (
    "modified",
    "title",
    "status",
    "revision",
    "title_revision",
    "goals_revision",
    "rewind_revision",
    "message_count",
    "weave",
    "has_error",
    "goal_count",
    "achieved_goal_count",
    "last_outcome",
)


class Transcript:
    """A locked thread and its pending changes, which are stored together at the end."""

    def __init__(self, thread: Thread) -> None:
        self.thread = thread
        self._began = thread.revision
        self._messages: list[Message] = []
        self._blocks: list[Block] = []
        self._changed: dict[int, Message] = {}
        self._unindexed: int | None = None
        """The first message whose end the index must learn of."""

    def add(
        self,
        role: str,
        blocks: Sequence[BlockDict],
        *,
        status: str = Message.Status.COMPLETED,
        created: datetime | None = None,
        author_id: int | None = None,
        echo_to_id: int | None = None,
    ) -> Message:
        """Append a message with its blocks; returns its row, whose `idx` is its index."""
        message = new(
            Message,
            idx=self.thread.message_count,
            role=role,
            status=status,
            created=created or timezone.now(),
            author_id=author_id,
            echo_to_id=echo_to_id,
            first_revision=self._next(),
            revision=self.thread.revision,
        )
        self.thread.message_count += 1
        self._messages.append(message)
        self._append(message, blocks)
        if status != Message.Status.GENERATING:
            self._has_ended(message)
        return message

    def extend(self, message: Message, blocks: Sequence[BlockDict]) -> None:
        """Append blocks to an open message."""
        self._append(message, blocks)
        self._changed[message.idx] = message

    def close(self, message: Message, status: str) -> None:
        """Set the status of a message."""
        message.status = status
        message.revision = self._next()
        self._changed[message.idx] = message
        self._has_ended(message)

    def turn_to(self, status: ThreadStatus) -> None:
        """Set the thread's status. Readers get it together with the content that led to it, in one commit (B90)."""
        self._next()
        self.thread.status = status

    def retitle(self, title: str) -> None:
        """Rename the thread."""
        self.thread.title = title
        self.thread.title_revision = self._next()

    def goals_changed(self, *, declared: int = 0, achieved: int = 0) -> None:
        """Mark the goals as changed for readers, and update the counts shown in lists."""
        self.thread.goals_revision = self._next()
        self.thread.goal_count += declared
        self.thread.achieved_goal_count += achieved

    def rewind(self, idx: int) -> None:
        """Remove every message from `idx` on; readers with older tokens are told to drop them (spec 4.4)."""
        thread = self.thread
        Message.objects.filter(thread=thread, idx__gte=idx).delete()
        Block.objects.filter(thread=thread, idx__gte=idx).delete()
        thread.rewind_revision = self._next()
        thread.message_count = min(thread.message_count, idx)
        Rewind.objects.create(thread=thread, revision=thread.revision, from_idx=idx)
        thread.weave, thread.has_error = weaving.of_thread(thread.pk)
        UsedTool.objects.filter(thread=thread).delete()
        self._unindexed = 0

    def flush(self) -> None:
        """Store all changes; called once, by `writing` and `creating`. Without any the thread stays as it is."""
        thread = self.thread
        if thread.revision == self._began and not thread._state.adding:
            return
        thread.modified = timezone.now()
        if thread._state.adding:
            _THREADS.insert(thread)
        else:
            _THREAD.update(thread)
        for message in self._messages:
            message.thread_id = thread.pk
        for block in self._blocks:
            block.thread_id = thread.pk
        _MESSAGES.insert_all(self._messages)
        _BLOCKS.insert_all(self._blocks)
        added = {message.idx for message in self._messages}
        for idx, message in self._changed.items():
            if idx not in added:
                _MESSAGE.update(message)
        if self._unindexed is not None:
            _UNINDEXED.run(thread.pk, self._unindexed)
        announce(thread.pk)

    def _append(self, message: Message, blocks: Sequence[BlockDict]) -> None:
        thread = self.thread
        letters = weaving.letters(message.role, blocks, continues=message.block_count > 0)
        thread.weave = (thread.weave + letters)[: weaving.LENGTH]
        thread.has_error = thread.has_error or weaving.went_wrong(letters)
        for block in blocks:
            self._blocks.append(_row(block, message.idx, message.block_count, self._next()))
            message.block_count += 1
        message.revision = thread.revision

    def _has_ended(self, message: Message) -> None:
        if self._unindexed is None or message.idx < self._unindexed:
            self._unindexed = message.idx
        if message.role == Message.Role.ASSISTANT:  # lists and pages tell by it whether the last answer was complete
            self.thread.last_outcome = message.status

    def _next(self) -> int:
        self.thread.revision += 1
        return self.thread.revision


_THREADS, _THREAD = PreparedInsert(Thread), PreparedUpdate(Thread, *_OWN_COLUMNS)
_MESSAGES = PreparedInsert(Message)
_MESSAGE = PreparedUpdate(Message, "status", "revision", "block_count", by=("thread", "idx"))
_BLOCKS = PreparedInsert(Block)
_UNINDEXED = PreparedCommand("""
    INSERT INTO threads_unindexed (thread_id, from_idx) VALUES (%s, %s)
    ON CONFLICT (thread_id) DO UPDATE SET from_idx = excluded.from_idx
    WHERE excluded.from_idx < threads_unindexed.from_idx
""")


class LeaseLost(Exception):
    """This worker has lost the turn: it was cancelled, or another worker took it."""


@dataclass(frozen=True, slots=True)
class Fence:
    """A worker's claim: a turn and the attempt number it claimed."""

    turn_id: int
    attempt: int

    def check(self) -> None:
        """Raise `LeaseLost` unless the claim is still valid.

        The claim is certain to stay valid only while the thread is locked, because every claim takes that lock.
        Without the lock this is an early check that lets a waiting worker stop sooner; its writes are checked again.
        """
        if _HELD.first(self.turn_id, self.attempt) is None:
            raise LeaseLost(f"turn {self.turn_id}, attempt {self.attempt}")


_HELD = Prepared(
    lambda pk, attempt: Turn.objects.filter(pk=pk, attempt=attempt, state=TurnState.RUNNING).values_list("id"), int, int
)
# no_key: keys never change, so inserting rows that reference the thread (ratings) need not wait for the turn.
_LOCKED = PreparedRow(
    lambda pk: Thread.objects.select_for_update(no_key=True).filter(pk=pk), Thread, int, without=Thread.HEAVY
)


@contextmanager
def writing(thread_id: int, fence: Fence | None = None) -> Iterator[Transcript]:
    """Lock a thread by row id and write to it; everything is stored together or not at all.

    Raises `NotFound` if it was deleted; with a fence, `LeaseLost` if it was deleted or the claim is lost.
    """
    with transaction.atomic():
        thread = _LOCKED.first(thread_id)
        if thread is None:
            raise gone() if fence is None else LeaseLost(f"turn {fence.turn_id}: its thread is deleted")
        if fence is not None:
            fence.check()
        transcript = Transcript(thread)
        yield transcript
        transcript.flush()


@contextmanager
def holding(thread_id: int, fence: Fence) -> Iterator[None]:
    """Lock a thread under a claim without changing it: for rows that only the current worker may store."""
    with transaction.atomic():
        if _LOCKED.first(thread_id) is None:
            raise LeaseLost(f"turn {fence.turn_id}: its thread is deleted")
        fence.check()
        yield


@contextmanager
def creating(thread: Thread) -> Iterator[Transcript]:
    """Write the first messages of a thread that is not stored yet.

    Inside a transaction it uses no savepoint: if the first messages cannot be stored, the whole transaction fails.
    """
    with transaction.atomic(savepoint=False):
        transcript = Transcript(thread)
        yield transcript
        transcript.flush()


def copy(source_id: int, target: Thread, upto: int, *, with_raw: bool) -> None:
    """Store a new thread with messages 0 to `upto` of another one, by one statement per table (T6).

    The copies get one revision of the target, as its first readers get everything. Raw payloads are copied only
    `with_raw`, because the owner of the copy may see all of it (H4).
    """
    _THREADS.insert(target)
    _COPY_MESSAGES.run(target.pk, target.revision, target.revision, source_id, upto)
    _COPY_BLOCKS.run(target.pk, target.revision, with_raw, source_id, upto)
    _UNINDEXED.run(target.pk, 0)
    announce(target.pk)


_COPY_MESSAGES = PreparedCommand("""
    INSERT INTO threads_message
        (thread_id, idx, role, status, created, author_id, first_revision, revision, block_count)
    SELECT %s, idx, role, status, created, author_id, %s, %s, block_count
    FROM threads_message WHERE thread_id = %s AND idx <= %s
""")
_COPY_BLOCKS = PreparedCommand("""
    INSERT INTO threads_block
        (thread_id, idx, position, revision, kind, text, data, raw, outcome, tool_use_id)
    SELECT %s, idx, position, %s, kind, text, data, CASE WHEN %s THEN raw END, outcome, tool_use_id
    FROM threads_block WHERE thread_id = %s AND idx <= %s
""")


def announce(thread_pk: int) -> None:
    """Wake all live readers of the thread after the commit."""
    transaction.on_commit(lambda: notices.publish(subject(thread_pk)))


def subject(thread_pk: int) -> str:
    """The notification channel of a thread."""
    return f"thread:{thread_pk}"


def gone() -> NotFound:
    """The error for a thread that was deleted during the request."""
    return NotFound("This thread was deleted just now.")


def _row(block: BlockDict, idx: int, position: int, revision: int) -> Block:
    """The row of a block, with raw payloads stored separately from what readers get."""
    kind = block["content_type"]
    row = new(Block, idx=idx, position=position, revision=revision, kind=kind)
    if kind == "text":
        row.text = block["text"]
        return row
    open_part: dict[str, Any] = {
        key: value for key, value in block.items() if key not in ("raw_request", "raw_response")
    }
    raw = {key: block[key] for key in ("raw_request", "raw_response") if block.get(key) is not None}
    if kind in ("tool_result", "error"):
        row.outcome = weaving.ending(block)
    row.data, row.raw = open_part, raw or None
    row.tool_use_id = block.get("tool_use_id")
    return row
