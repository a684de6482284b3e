"""Permission checks for threads. Every page, route and operation uses them (spec 2)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from django.db import IntegrityError

from accounts.models import Org, User
from accounts.rights import NEEDS_POLICY, RIGHTS, WIDENED_BY_POLICY, Relation, Right, may_act_in
from core import ids
from core.actor import Actor
from core.errors import DomainError, NotFound, ReadOnlyThread, Unauthorized
from core.prepared import Prepared, Question
from core.rows import loaded
from core.statements import Row
from core.storable import MAX_INTEGER
from core.wording import isolated
from threads.models import Message, Thread
from threads.status import Visibility
from threads.transcript import gone

LAST = MAX_INTEGER
"""The highest possible message index: the column cannot hold more, and SQLite cannot compare more."""


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
    """The few columns of a thread that decide who may read it and whether it has changed."""

    pk: int
    key: str
    org_id: int
    created_by_id: int
    visibility: str
    status: str
    revision: int
    org_key: str

    @classmethod
    def of(cls, thread: Thread) -> "Standing":
        """The standing of a thread that is already loaded."""
        return cls._make([*(getattr(thread, name) for name in cls._fields[:-1]), thread.org.key])


class MessageStanding(NamedTuple):
    """A message's index with its role and status, which are None if there is no such message."""

    thread: Standing
    idx: int
    role: str | None
    status: str | None

    @classmethod
    def of(cls, thread: Standing, idx: int) -> "MessageStanding":
        """The standing of one message in a thread that the reader may see."""
        role, status = (_MESSAGE.first(thread.pk, idx) if 0 <= idx <= LAST else None) or (None, None)
        return cls(thread, idx, role, status)


def standing_for(actor: Actor, public_id: str, right: Right = Right.READ) -> Standing:
    """The standing of a thread, if the actor has the right, which must be one without a policy; raises as `thread_for`.

    Pollers ask for this over and over, so it reads one short row and creates no objects.
    """
    row = _first(standing_questions_of(public_id))
    if row is None:
        return Standing.of(thread_for(actor, public_id, right))
    standing = Standing._make(row)
    require(actor, standing, right)
    return standing


def message_standing_for(actor: Actor, public_id: str, idx: int, right: Right = Right.READ) -> MessageStanding:
    """Like `standing_for`, with the standing of one message, in one query."""
    row = _first(message_questions_of(public_id, idx))
    if row is None:
        return MessageStanding.of(standing_for(actor, public_id, right), idx)
    role, status, *columns = row
    standing = Standing._make(columns)
    require(actor, standing, right)
    return MessageStanding(standing, idx, role, status)


def questions_of(public_id: str) -> Sequence[Question]:
    """The first query of `thread_for`, if any."""
    key = ids.key_of(public_id, *ids.THREAD_SPELLINGS)
    return [(_BY_KEY, (key,))] if key else ()


def standing_questions_of(public_id: str) -> Sequence[Question]:
    """The first query of `standing_for`, if any."""
    key = ids.key_of(public_id, *ids.THREAD_SPELLINGS)
    return [(_STANDING, (key,))] if key else ()


def message_questions_of(public_id: str, idx: int) -> Sequence[Question]:
    """The first query of `message_standing_for`, if any."""
    key = ids.key_of(public_id, *ids.THREAD_SPELLINGS)
    return [(_MESSAGE_BY_KEY, (key, idx))] if key and 0 <= idx <= LAST else ()


def require(actor: Actor, thread: Thread | Standing, right: Right) -> None:
    """Raise `Unauthorized` unless the actor has the right to this thread; runs no query.

    `ReadOnlyThread` if the actor could add to it but another surface owns it (B161). With only a standing, the right
    must be one that depends on neither policy nor surface.
    """
    if not (may(actor, thread, right) if isinstance(thread, Thread) else relations_of(actor, thread) & RIGHTS[right]):
        raise _refusal(actor, thread, right)


def may(actor: Actor, thread: Thread, right: Right) -> bool:
    """Whether the actor has the right to this thread; looks at the org's policies only if the right depends on one."""
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
    """Wrap a transaction that stores rows of a thread: if the thread is deleted meanwhile, the commit's foreign-key
    error becomes `NotFound`. No query as long as all goes well.
    """
    try:
        yield
    except IntegrityError:
        if Thread.objects.filter(pk=thread_pk).exists():
            raise
        raise gone() from None


def allows(org: Org, right: Right) -> bool:
    """Whether an org's policies permit a right at all, for any thread of the org."""
    return right not in NEEDS_POLICY or bool(getattr(org, NEEDS_POLICY[right]))


def relations_of(actor: Actor, thread: Thread | Standing) -> frozenset[Relation]:
    """The actor's relations to the thread. A creator who left the org is no longer one (spec 2), unless an admin."""
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
    """The error for a missing right; it names the policy or the surface if that alone is the reason."""
    if not may_act_in(actor, thread.org_id):
        return Unauthorized(_STRANGE)
    could = relations_of(actor, thread) & RIGHTS[right]
    if could and isinstance(thread, Thread) and right is Right.SEND:
        return ReadOnlyThread(f"This thread belongs to {thread.origin}. Add to it there, or fork it.")
    if could and right in NEEDS_POLICY:
        return Unauthorized(_FORBIDDEN[right])
    return Unauthorized(_REASONS.get(right) or _privacy(thread))


def _privacy(thread: Thread | Standing) -> str:
    """Why a member of its org cannot read a thread, and who could change that; only a standing names nobody."""
    if isinstance(thread, Standing):
        return "This thread is private to its owner."
    owner, org = isolated(thread.created_by.display_name), thread.org
    if allows(org, Right.RESCOPE):
        return f"This thread is private to {owner}. Only they can share it with {org.slug}."
    return f"This thread is private to {owner}, and {org.slug} does not allow sharing it."


def _found(actor: Actor, public_id: str) -> Thread | None:
    row = _first(questions_of(public_id))
    if row is not None:
        return _thread(row)
    return _imported(actor, public_id) if public_id.startswith(ids.THREAD_SPELLINGS) else None


def _first(questions: Sequence[Question]) -> Row | None:
    for query, given in questions:
        return query.first(*given)
    return None


def _thread(row: Row) -> Thread:
    """The thread of a row, with its org and creator, which every response names."""
    thread = loaded(Thread, _COLUMNS, row[: len(_COLUMNS)])
    thread.org = loaded(Org, _ORG, row[len(_COLUMNS) : -len(_CREATOR)])
    thread.created_by = loaded(User, _CREATOR, row[-len(_CREATOR) :])
    return thread


def _imported(actor: Actor, public_id: str) -> Thread | None:
    """Find an imported thread by its original id, if that has one of the known prefixes.

    Several owners may have imported the same id: the actor's own wins, then one that they may read.
    """
    threads = Thread.objects.select_related("org", "created_by").defer(*Thread.HEAVY).order_by("id")
    found = threads.imported_as(public_id)
    readable = found.visible_to(actor)
    return readable.filter(created_by=actor.user_id).first() or readable.first() or found.first()


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

_STRANGE = "You are not a member of this thread's org."
_REASONS: dict[Right, str] = {
    Right.SEND: "Only the owner of this thread can add to it.",
    Right.CANCEL: "Only the owner of this thread can stop its turn.",
    Right.DESCRIBE: "Only the owner of this thread can change this.",
    Right.FORK: "Only the owner of this thread can fork it.",
    Right.RESCOPE: "Only the owner of this thread can change who sees it.",
    Right.RAW: "Only the owner of this thread and admins can see raw tool payloads.",
}
_FORBIDDEN: dict[Right, str] = {
    Right.RESCOPE: "Your org's policy does not allow changing who sees a thread after it was started.",
}
"""The error if the policy that a right needs is off, by right."""
