"""Reading a thread: its record, and deltas. Every read of several tables uses one snapshot (B87)."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, cast

from django.db.models import QuerySet

from core import ids
from core.actor import Actor
from core.errors import InvalidRequest, NotFound
from core.prepared import Prepared, Question, at_one_moment, together
from core.statements import Row
from threads.access import LAST, Standing
from threads.content import TOLD, BlockDict, MessageSnapshot, without_answerer
from threads.models import Block, Goal, Message, Rewind, Thread
from threads.wire import (
    DeltaOut,
    GoalOut,
    MessageOut,
    StatusOut,
    SubjectOut,
    ThreadOut,
    ToolDetailOut,
)

_TOKEN = re.compile(r"v1\.([0-9A-Za-z_-]{1,64})\.([0-9]{1,18})")
CLIENT_CONTEXT_SINCE = "2026-09-30"


def token_of(thread: Thread | Standing, revision: int | None = None) -> str:
    """The continuation token for a revision of a thread, by default the current one."""
    return f"v1.{thread.key}.{thread.revision if revision is None else revision}"


def revision_of(token: str | None, thread: Thread | Standing) -> int:
    """The revision in a token, 0 for None; raises `InvalidRequest` if malformed or of another thread (B94)."""
    if token is None:
        return 0
    match = _TOKEN.fullmatch(token)
    if match is None or match[1] != thread.key:
        raise InvalidRequest("next_token: is not a token of this thread")
    return int(match[2])


def record(thread: Thread, *, load_messages: bool = True, api_version: str = "") -> ThreadOut:
    """The thread record, with messages and token from one snapshot (spec 4.6 items 3, 4 and 10)."""
    of_thread = (thread.pk,)
    messages = questions(thread.pk) if load_messages else ()
    state, names, goals, *found = at_one_moment(
        (_STATE, of_thread), (_NAMES, of_thread), (_GOALS, of_thread), *messages
    )
    _refresh(thread, state)
    outs = message_outs(_woven(*found), api_version) if found else []
    token = token_of(thread, None if found else 0)
    return record_of(thread, Names._make(names[0]), outs, _goal_outs(goals), token)


def record_of_fork(
    fork: Thread, source: Thread, messages: Iterable[MessageSnapshot], *, api_version: str = ""
) -> ThreadOut:
    """The record of a fork that was just stored, without reading back what is known."""
    goals = _GOALS.rows(fork.pk) if fork.goal_count else []
    names = Names(source.org.key, fork.created_by.email, source.key)
    return record_of(fork, names, message_outs(messages, api_version), _goal_outs(goals), token_of(fork))


def status(thread: Thread) -> StatusOut:
    """The short response of the writing routes."""
    return StatusOut(thread_id=thread.thread_id, status=thread.status)


def delta(actor: Actor, standing: Standing, token: str | None, *, api_version: str = "") -> DeltaOut:
    """Everything newer than a token, read in one snapshot with the token that follows it (spec 4.4).

    If nothing is newer, no query runs besides the one for `standing`.
    """
    since = revision_of(token, standing)
    if since == standing.revision:
        token = token or token_of(standing)
        return DeltaOut(continuation_token=token, status=standing.status)
    return _news(actor, Thread(pk=standing.pk, key=standing.key), since, api_version)


def _news(actor: Actor, thread: Thread, since: int, api_version: str, *, is_lost: bool = False) -> DeltaOut:
    state, goals, rewound, *found = at_one_moment(
        (_STATE, (thread.pk,)),
        (_GOALS, (thread.pk,)),
        (_REWOUND, (thread.pk, since)),
        *questions(thread.pk, since=since),
    )
    _refresh(thread, state)
    if since > thread.revision:
        # A token from the future: the database was restored from a backup. Send everything again (spec 4.4).
        return _news(actor, thread, 0, api_version, is_lost=True)
    messages, blocks = found
    reset = 0 if is_lost else _first_rewound(rewound) if since else None
    reset = _reset_for(actor.user_id, messages, since, reset)
    changed = _woven(messages, blocks)
    return DeltaOut(
        messages_by_idx={
            str(each.index): out for each, out in zip(changed, message_outs(changed, api_version), strict=True)
        },
        continuation_token=token_of(thread),
        reset_from_message_sequence_num=reset,
        status=thread.status,
        title=thread.title if thread.title_revision > since or not since else None,
        goals=_goal_outs(goals) if thread.goals_revision > since or not since else None,
    )


def snapshots(
    thread_pk: int, *, with_raw: bool = False, between: tuple[int, int] | None = None
) -> list[MessageSnapshot]:
    """All messages, or those `between` two, both included."""
    return _woven(*together(*questions(thread_pk, with_raw=with_raw, between=between)))


def questions(
    thread_pk: int, *, since: int = 0, with_raw: bool = False, between: tuple[int, int] | None = None
) -> Sequence[Question]:
    """The queries for messages and their blocks: with changes newer than `since`, or for 0 all messages or those
    `between` two, both included.
    """
    messages, *blocks = _NEWER if since else _BETWEEN
    given = (thread_pk, since) if since else (thread_pk, *(between or _EVERYTHING))
    return [(messages, given), (blocks[with_raw], given)]


def _woven(found: list[Row], parts: list[Row]) -> list[MessageSnapshot]:
    """Combine messages with their blocks."""
    content = _content(parts)
    return [
        MessageSnapshot(idx, role, status, created, content.get(idx, []), author)
        for idx, role, status, created, _, _, author in found
    ]


def _reset_for(sender_id: int, found: list[Row], since: int, reset: int | None) -> int | None:
    """The index from which a client has to drop messages: `reset`, or the first new one if it may hold copies of what
    its user sent since its token (spec 4.6 item 9). It appended each to whatever it held: a copy may stand before a
    rewound answer that its message stands behind.
    """
    newer = [(idx, echo) for idx, *_, first, echo, _ in found if first > since]
    if any(echo == sender_id for _, echo in newer):
        begin: int = newer[0][0]
        return begin if reset is None else min(begin, reset)
    return reset


def _content(rows: list[Row]) -> dict[int, list[BlockDict]]:
    content: dict[int, list[BlockDict]] = {}
    for idx, kind, text, data, *raw in rows:
        if kind == "text":
            block: BlockDict = {"content_type": "text", "text": text}
        else:
            block = data
            if raw and raw[0]:
                block = {**data, **raw[0]}
        content.setdefault(idx, []).append(block)
    return content


_Asking = tuple[Prepared, Prepared, Prepared]


def _newer(thread_pk: int, since: int) -> QuerySet[Message]:
    return Message.objects.filter(thread=thread_pk, revision__gt=since)


def _between(thread_pk: int, first: int, last: int) -> QuerySet[Message]:
    return Message.objects.filter(thread=thread_pk, idx__range=(first, last))


def _blocks_newer(thread_pk: int, since: int) -> QuerySet[Block]:
    # A message with a newer block has a newer revision too, and there is an index on that.
    return Block.objects.filter(thread=thread_pk, revision__gt=since, idx__in=_newer(thread_pk, since).values("idx"))


def _blocks_between(thread_pk: int, first: int, last: int) -> QuerySet[Block]:
    return Block.objects.filter(thread=thread_pk, idx__range=(first, last))


def _asking(messages: Callable[..., QuerySet[Message]], blocks: Callable[..., QuerySet[Block]], count: int) -> _Asking:
    """The queries for messages, and for their blocks without and with raw payloads, each with `count` arguments."""
    of_message = ("idx", "role", "status", "created", "first_revision", "echo_to_id", "author__email")
    of_block = ("idx", "kind", "text", "data")
    kinds = [int] * count
    return (
        Prepared(lambda *given: messages(*given).order_by("idx").values_list(*of_message), *kinds),
        Prepared(lambda *given: blocks(*given).order_by("idx", "position").values_list(*of_block), *kinds),
        Prepared(lambda *given: blocks(*given).order_by("idx", "position").values_list(*of_block, "raw"), *kinds),
    )


_EVERYTHING = (0, LAST)
_NEWER, _BETWEEN = _asking(_newer, _blocks_newer, 2), _asking(_between, _blocks_between, 3)


def message_outs(messages: Iterable[MessageSnapshot], api_version: str = "") -> list[MessageOut]:
    """Messages in wire form. Clients that are too old for client_context blocks do not get them (spec 1.6)."""
    is_old = bool(api_version) and api_version < CLIENT_CONTEXT_SINCE
    return [
        {
            "role": message.role,
            "content": [
                _open(block) for block in message.blocks if not (is_old and block["content_type"] == "client_context")
            ],
            "status": message.status,
            "created": message.created,
        }
        for message in messages
    ]


def _open(block: BlockDict) -> BlockDict:
    """A stored block with every key of its record; raw payloads are null unless equal to the payload."""
    if block["content_type"] == "tool_use":
        return {**block, "raw_request": None}
    if block["content_type"] == "tool_result":
        return {**without_answerer(block), "raw_response": _payload_as_raw(block)}
    return block


def _payload_as_raw(result: BlockDict) -> object:
    """The raw response that every reader gets: the payload if the result has nothing else (spec 3.3), else None.

    The results of a turn have objects; a seeded or imported text or list has no place in a raw response.
    """
    payload = result.get("payload")
    is_told = result.get("answered_by") in TOLD and isinstance(payload, dict)
    return payload if is_told else None


def _goal_outs(rows: Iterable[Row]) -> list[GoalOut]:
    """All goals of a thread in declaration order (B101)."""
    return [GoalOut(**dict(zip(_GOAL_COLUMNS, row, strict=True))) for row in rows]


_GOAL_COLUMNS = tuple(GoalOut.model_fields)
_GOALS = Prepared(lambda pk: Goal.objects.filter(thread=pk).order_by("id").values_list(*_GOAL_COLUMNS), int)


def is_unanswered(thread: Thread) -> bool:
    """Whether the thread is a fork or an import whose last message is a request.

    A fork is recognised by its bound, because its source may be deleted.
    """
    is_copy = thread.forked_from_message_sequence_num is not None or thread.import_id is not None
    return is_copy and _LAST_ROLE.first(thread.pk) == ("user",)


_LAST_ROLE = Prepared(lambda pk: Message.objects.filter(thread=pk).order_by("-idx").values_list("role")[:1], int)


def tool_detail(
    thread: Thread, tool_use_id: str, *, raw: bool, message: int | None = None
) -> tuple[int, BlockDict, BlockDict | None]:
    """A tool use: its message index, the use and its result; with `raw` also raw payloads, if the caller checked that
    right.

    Imported threads may use an id twice: `message` selects the use by its message, by default the first. Its result is
    the first one with that id after it, in the same message or a later one. Raises `NotFound`.
    """
    rows = Block.objects.filter(thread=thread.pk, tool_use_id=tool_use_id).order_by("idx", "position")
    found = [
        (idx, {**cast(BlockDict, data), **((raw and beside) or {})})
        for idx, data, beside in rows.values_list("idx", "data", "raw")
    ]
    uses = (
        place
        for place, (idx, block) in enumerate(found)
        if block["content_type"] == "tool_use" and message in (None, idx)
    )
    place = next(uses, None)
    if place is None:
        raise NotFound.of("tool use", tool_use_id[:80], "in this thread")
    at, use = found[place]
    results = (block for _, block in found[place:] if block["content_type"] == "tool_result")
    result = next(results, None)
    if raw:
        use, result = {"raw_request": None, **use}, result and {"raw_response": _payload_as_raw(result), **result}
    return at, use, result


def tool_detail_out(thread: Thread, tool_use_id: str) -> ToolDetailOut:
    """The wire form of a tool use and its result (H4)."""
    _, use, result = tool_detail(thread, tool_use_id, raw=True)
    return ToolDetailOut(tool_use=use, tool_result=without_answerer(result) if result else None)


def subjects_of(thread: Thread) -> list[SubjectOut]:
    """The subjects of a thread (H10)."""
    rows = thread.subjects.order_by("id").values_list("association_id", "note")
    return [SubjectOut(association_id=entity, note=note) for entity, note in rows]


def refresh(thread: Thread) -> None:
    """Reload the columns that writing changes, in this snapshot; raises `NotFound`."""
    _refresh(thread, _STATE.rows(thread.pk))


def _refresh(thread: Thread, found: list[Row]) -> None:
    if not found:
        raise NotFound.of("thread", thread.thread_id)
    for column, value in zip(_STATE_COLUMNS, found[0], strict=True):
        setattr(thread, column, value)


_STATE_COLUMNS = (
    "revision",
    "status",
    "title",
    "title_revision",
    "goals_revision",
    "rewind_revision",
    "goal_count",
    "message_count",
    "visibility",
    "last_outcome",
)
_STATE = Prepared(lambda pk: Thread.objects.filter(pk=pk).values_list(*_STATE_COLUMNS), int)


def reset_since(thread: Thread, since: int) -> int | None:
    """The index from which a reader at revision `since` has to drop messages, or None if none was rewound."""
    if thread.rewind_revision <= since or not since:
        return None
    return _first_rewound(_REWOUND.rows(thread.pk, since))


def _first_rewound(rows: Iterable[Row]) -> int | None:
    return min((row[0] for row in rows), default=None)


_REWOUND = Prepared(
    lambda pk, since: Rewind.objects.filter(thread=pk, revision__gt=since).values_list("from_idx"), int, int
)


class Names(NamedTuple):
    """What the record of a thread needs from other rows."""

    org_key: str
    owner: str
    source_key: str | None
    """None if the thread is not a fork or its source was deleted."""


_NAMES = Prepared(
    lambda pk: Thread.objects.filter(pk=pk).values_list("org__key", "created_by__email", "forked_from__key"), int
)


def record_of(
    thread: Thread, names: Names, messages: list[MessageOut], goals: list[GoalOut] | None, token: str
) -> ThreadOut:
    """The record of a thread from its parts; None for the goals leaves them out, as lists do (T6)."""
    source_key = names.source_key
    return ThreadOut.trusted(
        {
            "thread_id": thread.thread_id,
            "created": thread.created,
            "created_by": names.owner,
            "created_by_principal": f"user:{names.owner}",
            "org_id": ids.ORG + names.org_key,
            "messages": messages,
            "continuation_token": token,
            "status": thread.status,
            "activity": None,
            "title": thread.title,
            "model_profile": thread.model_profile,
            "forked_from_thread_id": ids.THREAD + source_key if source_key else None,
            "forked_from_message_sequence_num": thread.forked_from_message_sequence_num if source_key else None,
            "visibility": thread.visibility,
            "created_from_agent_id": thread.created_from_agent_id,
            "created_from_trigger_id": thread.created_from_trigger_id,
            "origin": thread.origin,
            "pinned_at": None,
            "goals": goals,
            "tasks": None if goals is None else [],
        }
    )
