"""Whether somebody may do something with a thread. Every door and every verb asks here (spec 2)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from django.db import IntegrityError

from accounts.models import Org, User
from accounts.rights import NEEDS_POLICY, RIGHTS, WIDENED_BY_POLICY, Relation, Right
from core import ids
from core.actor import Actor
from core.errors import DomainError, NotFound, ReadOnlyThread, Unauthorized
from core.prepared import Prepared, Question, Row
from threads.models import Message, Thread
from threads.status import Visibility
from threads.transcript import gone

LAST = 2**31 - 1
"""No message has a greater index: beyond it the column holds nothing, and SQLite would not even compare."""


def thread_for(actor: Actor, public_id: str, right: Right = Right.READ) -> Thread:
    """The thread with that id, if the actor has the right.

    A thread's existence is no secret: an unknown id is `NotFound` (B26), an unreadable thread `Unauthorized` (B28).
    """
    thread = _found(actor, public_id)
    if thread is None:
        raise NotFound.of("thread", public_id[:80])
    require(actor, thread, right)
    return thread


class Standing(NamedTuple):
    """The few columns of a thread that tell who may read it and whether there is anything new."""

    pk: int
    key: str
    org_id: int
    created_by_id: int
    visibility: str
    status: str
    activity: str | None
    revision: int
    org_key: str

    @classmethod
    def of(cls, thread: Thread) -> "Standing":
        """The same of a thread that is at hand."""
        return cls._make([*(getattr(thread, name) for name in cls._fields[:-1]), thread.org.key])


class MessageStanding(NamedTuple):
    """A message's place in a thread, with its role and status: None where there is no such message."""

    thread: Standing
    idx: int
    role: str | None
    status: str | None

    @classmethod
    def of(cls, thread: Standing, idx: int) -> "MessageStanding":
        """Where a message of a thread stands that its reader may see."""
        role, status = (_MESSAGE.first(thread.pk, idx) if 0 <= idx <= LAST else None) or (None, None)
        return cls(thread, idx, role, status)


def standing_for(actor: Actor, public_id: str, right: Right = Right.READ) -> Standing:
    """Where a thread stands, for whoever has the right, one that no policy touches; raises what `thread_for` raises.

    Readers ask for nothing else again and again, so it is one short row and no objects.
    """
    row = _first(standing_questions_of(public_id))
    if row is None:
        return Standing.of(thread_for(actor, public_id, right))
    standing = Standing._make(row)
    require(actor, standing, right)
    return standing


def message_standing_for(actor: Actor, public_id: str, idx: int, right: Right = Right.READ) -> MessageStanding:
    """The same with where one of its messages stands, by one query."""
    row = _first(message_questions_of(public_id, idx))
    if row is None:
        return MessageStanding.of(standing_for(actor, public_id, right), idx)
    role, status, *columns = row
    standing = Standing._make(columns)
    require(actor, standing, right)
    return MessageStanding(standing, idx, role, status)


def questions_of(public_id: str) -> Sequence[Question]:
    """What `thread_for` asks first, if anything."""
    key = ids.key_of(public_id, *ids.THREAD_SPELLINGS)
    return [(_BY_KEY, (key,))] if key else ()


def standing_questions_of(public_id: str) -> Sequence[Question]:
    """What `standing_for` asks first, if anything."""
    key = ids.key_of(public_id, *ids.THREAD_SPELLINGS)
    return [(_STANDING, (key,))] if key else ()


def message_questions_of(public_id: str, idx: int) -> Sequence[Question]:
    """What `message_standing_for` asks first, if anything."""
    key = ids.key_of(public_id, *ids.THREAD_SPELLINGS)
    return [(_MESSAGE_BY_KEY, (key, idx))] if key and 0 <= idx <= LAST else ()


def require(actor: Actor, thread: Thread | Standing, right: Right) -> None:
    """Raise `Unauthorized` unless the actor has the right to this thread; asks the database nothing.

    `ReadOnlyThread` for whoever could add to it if it belonged to no other surface (B161). Where only the standing is
    at hand, the right is one that neither a policy nor a surface touches.
    """
    if not (may(actor, thread, right) if isinstance(thread, Thread) else relations_of(actor, thread) & RIGHTS[right]):
        raise _refusal(actor, thread, right)


def may(actor: Actor, thread: Thread, right: Right) -> bool:
    """Whether the actor has the right to this thread; looks at the org's policies only where one matters."""
    relations = relations_of(actor, thread)
    if right in NEEDS_POLICY and not allows(thread.org, right):
        return False
    if right is Right.SEND and thread.is_read_only:
        return False
    if relations & RIGHTS[right]:
        return True
    policy, widened = WIDENED_BY_POLICY.get(right, ("", None))
    return widened in relations and bool(policy) and getattr(thread.org, policy)


@contextmanager
def staying(thread_pk: int) -> Iterator[None]:
    """Around a transaction that names a thread: it may be deleted just then, which the database notices at the commit,
    and which is `NotFound` as it would be a moment later. Asks nothing as long as all goes well.
    """
    try:
        yield
    except IntegrityError:
        if Thread.objects.filter(pk=thread_pk).exists():
            raise
        raise gone() from None


def allows(org: Org, right: Right) -> bool:
    """Whether an org's policies leave a right to whoever else has it; to all threads of the org, begun or not."""
    return right not in NEEDS_POLICY or bool(getattr(org, NEEDS_POLICY[right]))


def relations_of(actor: Actor, thread: Thread | Standing) -> frozenset[Relation]:
    """How the actor stands to the thread. A creator who left the org has lost it (spec 2), unless they are an admin."""
    found = set()
    belongs = actor.belongs_to(thread.org_id)
    if actor.is_admin:
        found.add(Relation.ADMIN)
    if thread.created_by_id == actor.user_id and (belongs or actor.is_admin):
        found.add(Relation.CREATOR)
    if belongs and thread.visibility == Visibility.ORG:
        found.add(Relation.MEMBER)
    return frozenset(found)


def _refusal(actor: Actor, thread: Thread | Standing, right: Right) -> DomainError:
    """Why somebody has no such right: whom only the policy or another surface keeps from it is told of that."""
    if not (actor.is_admin or actor.belongs_to(thread.org_id)):
        return Unauthorized(_STRANGE)
    could = relations_of(actor, thread) & RIGHTS[right]
    if could and isinstance(thread, Thread) and right is Right.SEND:
        return ReadOnlyThread(f"This thread belongs to {thread.origin}; add to it there, or fork it.")
    if could and right in NEEDS_POLICY:
        return Unauthorized(_FORBIDDEN[right])
    return Unauthorized(_REASONS.get(right, _REASONS[Right.READ]))


def _found(actor: Actor, public_id: str) -> Thread | None:
    row = _first(questions_of(public_id))
    if row is not None:
        return _thread(row)
    return _imported(actor, public_id) if public_id.startswith(ids.THREAD_SPELLINGS) else None


def _first(questions: Sequence[Question]) -> Row | None:
    return next((query.first(*given) for query, given in questions), None)


def _thread(row: Row) -> Thread:
    """A thread with its org and its creator, which every answer about it names."""
    thread = Thread.from_db(None, _COLUMNS, row[: len(_COLUMNS)])
    thread.org = Org.from_db(None, _ORG, row[len(_COLUMNS) : -len(_CREATOR)])
    thread.created_by = User.from_db(None, _CREATOR, row[-len(_CREATOR) :])
    return thread


def _imported(actor: Actor, public_id: str) -> Thread | None:
    """An imported thread is also found by the id it had where it came from, if that is one of the known spellings.

    Two orgs may have imported the same id: the one that may be read is meant.
    """
    threads = Thread.objects.select_related("org", "created_by").defer(*Thread.HEAVY)
    found = list(threads.filter(import_id=public_id[:200]).order_by("id")[:50])
    readable = (each for each in found if may(actor, each, Right.READ))
    return next(readable, found[0] if found else None)


_COLUMNS = [field.attname for field in Thread._meta.concrete_fields if field.name not in Thread.HEAVY]
_ORG = [field.attname for field in Org._meta.concrete_fields]
_CREATOR = ["id", "email", "name"]
_BY_KEY = Prepared(
    lambda key: Thread.objects.filter(key=key).values_list(
        *_COLUMNS, *(f"org__{column}" for column in _ORG), *(f"created_by__{column}" for column in _CREATOR)
    ),
    str,
)
_STANDING_COLUMNS = (*Standing._fields[:-1], "org__key")
_STANDING = Prepared(lambda key: Thread.objects.filter(key=key).values_list(*_STANDING_COLUMNS), str)
_MESSAGE = Prepared(lambda pk, idx: Message.objects.filter(thread=pk, idx=idx).values_list("role", "status"), int, int)
_MESSAGE_BY_KEY = Prepared(
    lambda key, idx: Message.objects.filter(thread__key=key, idx=idx).values_list(
        "role", "status", *(f"thread__{column}" for column in _STANDING_COLUMNS)
    ),
    str,
    int,
)

_STRANGE = "This thread belongs to an org that you are no member of."
_REASONS: dict[Right, str] = {
    Right.READ: "This thread is private to its owner.",
    Right.SEND: "Only the person who started this thread may add to it.",
    Right.CANCEL: "Only the person who started this thread may cancel its turn.",
    Right.DESCRIBE: "Only the person who started this thread may change this.",
    Right.FORK: "Only its owner may fork this thread.",
    Right.RESCOPE: "Only the person who started this thread may change who sees it.",
    Right.RAW: "Raw tool payloads are for the thread's owner and for admins.",
}
_FORBIDDEN: dict[Right, str] = {
    Right.RESCOPE: "Your org's policy does not allow that: who sees a thread is settled when it is started.",
}
"""By right that needs a policy: what is said where that is off."""
