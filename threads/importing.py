"""Importing threads from other systems and exporting them (spec 9)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, timedelta
from typing import Any, Literal

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.authentication import actor_of_email, org_of
from accounts.rights import Right, require_admin
from core.actor import Actor
from core.bodies import check_storable
from core.errors import InvalidRequest, NotFound
from core.visible import is_visible
from threads import dialects, reading, titles, transcript
from threads.access import may
from threads.content import BlockDict, JsonObject, with_answerer
from threads.conversation_files import Unreadable
from threads.dialects import Conversation, DialectError
from threads.models import Thread, Turn
from threads.models.thread import IMPORT_ID_LENGTH, TITLE_LENGTH
from threads.status import ThreadStatus, TurnState
from threads.turns import ENDING, conclude
from threads.wire_importing import MOST_CONVERSATIONS, ExportOut, ImportItemOut, ImportOut


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of one conversation, or would come of it; `index` is its place in the import.

    `title` and `message_count` are those of its thread, or of the one it would become; a failed one has none.
    """

    id: str | None
    thread_id: str | None
    outcome: Literal["created", "unchanged", "failed"]
    warnings: list[str]
    errors: list[JsonObject]
    title: str = ""
    message_count: int = 0
    index: int = 0


def record(done: Sequence[Imported]) -> ImportOut:
    """The results of an import as they are sent."""
    items = [ImportItemOut(**{name: getattr(each, name) for name in ImportItemOut.model_fields}) for each in done]
    return ImportOut(items=items, counts=counts_of(done))


def counts_of(done: Sequence[Imported]) -> dict[str, int]:
    """The number of conversations by outcome."""
    return {outcome: sum(each.outcome == outcome for each in done) for outcome in ("created", "unchanged", "failed")}


def target(actor: Actor, owner: str | None, org_public_id: str | None) -> tuple[int, int]:
    """Row ids of the owner and the org of an import; only admins may name another owner (B179)."""
    org_id = org_of(actor, org_public_id)
    return owner_for(actor, owner, org_id), org_id


def owner_for(actor: Actor, owner: str | None, org_id: int) -> int:
    """The row id of the owner of an import into an org (B179)."""
    if owner is None or owner.strip().lower() == actor.email:
        return actor.user_id
    require_admin(actor, "import for somebody else")
    try:
        other = actor_of_email(owner)
    except NotFound as problem:
        raise InvalidRequest(f"owner: {problem.message}") from None
    if not other.belongs_to(org_id):
        raise InvalidRequest(f"owner: {owner} is not a member of that org")
    return other.user_id


def import_conversations(
    format: str,
    conversations: Iterable[Any],
    owner_id: int,
    org_id: int,
    visibility: str = "private",
    *,
    is_dry: bool = False,
) -> list[Imported]:
    """Store every valid conversation; an invalid one fails alone, with index, path and reason (B178). With `is_dry`
    nothing is stored.

    Conversations out of traces have the index of the first trace (`dialects.gathered`). Raises `InvalidRequest` for
    more than 500, which one request should not wait for.
    """
    found = list(dialects.gathered(format, enumerate(conversations)))
    if len(found) > MOST_CONVERSATIONS:
        most = f"{len(found)} are too many for one import (maximum {MOST_CONVERSATIONS})"
        raise InvalidRequest(f"conversations: {most}")
    done, seen = [], set[str | None]()
    for index, each in found:
        one = replace(import_one(format, each, owner_id, org_id, visibility, is_dry=is_dry), index=index)
        if is_dry and one.outcome == "created" and one.id in seen:
            same = "has the id of one before it, and only the first is imported"
            one = replace(one, outcome="unchanged", warnings=[*one.warnings, same])
        seen.add(one.id)
        done.append(one)
    return done


def import_one(
    format: str, conversation: Any, owner_id: int, org_id: int, visibility: str = "private", *, is_dry: bool = False
) -> Imported:
    """Store one conversation, whole or not at all. If its id was imported before, nothing changes (B177); there is a
    warning if it now has more messages. With `is_dry` nothing is stored, and a new one has no thread id.
    """
    if isinstance(conversation, Unreadable):
        return _failed(None, "line", conversation.reason)
    given = conversation.get("id") if isinstance(conversation, dict) else None
    origin_id = str(given) if isinstance(given, str | int) and not isinstance(given, bool) else None
    try:
        check_storable(given)
    except InvalidRequest:
        origin_id = None  # it cannot be returned either
    try:
        check_storable(conversation)
        parsed = dialects.parse(format, conversation)
    except DialectError as problem:
        return _refused(origin_id, owner_id, org_id, problem.path, problem.reason)
    except InvalidRequest as problem:
        [wrong] = problem.by_field
        return _refused(origin_id, owner_id, org_id, wrong["field"], wrong["reason"])
    thread = _imported(parsed.origin_id, owner_id, org_id)
    if thread is None and is_dry:
        return _created(parsed, None)
    if thread is None:
        try:
            thread = _stored(parsed, owner_id, org_id, visibility)
        except IntegrityError:
            # A concurrent import of the same conversation was faster.
            thread = _imported(parsed.origin_id, owner_id, org_id)
            if thread is None:
                raise
        else:
            return _created(parsed, thread)
    return _unchanged(thread, parsed.origin_id, _not_taken_over(parsed, thread))


def import_answer(
    thread: Thread, messages: Sequence[JsonObject], *, took: timedelta, input_tokens: int, output_tokens: int
) -> None:
    """End the queued turn of a thread with an answer that was given elsewhere, as if a worker had written it.

    The messages are the assistant's, with their results as roboto messages (spec 3.3); their usage is stored with the
    turn. Raises `Turn.DoesNotExist` unless a turn is queued.
    """
    with transcript.writing(thread.pk) as writer:
        turn = Turn.objects.get(thread=thread, state=TurnState.QUEUED)
        for message in messages:
            writer.add(message["role"], message["content"])
        conclude(writer, turn, TurnState.DONE)
        turn.started_at = timezone.now() - took
        turn.requests = sum(message["role"] == "assistant" for message in messages)
        turn.input_tokens, turn.output_tokens = input_tokens, output_tokens
        turn.save(update_fields=[*ENDING, "started_at", "requests", "input_tokens", "output_tokens"])


def export(actor: Actor, thread: Thread, format: str) -> ExportOut:
    """A thread in a dialect, with all losses listed and without raw payloads (B180)."""
    if format not in dialects.FORMATS:
        raise InvalidRequest(f"format: must be one of {', '.join(dialects.FORMATS)}")
    rendered = rendered_as(actor, thread, format)
    return ExportOut(
        format=format, system=rendered.system, messages=list(rendered.messages), losses=list(rendered.losses)
    )


def conversation(actor: Actor, thread: Thread, format: str) -> dict[str, Any]:
    """A thread in a dialect as an import accepts it, with its id, title and creation time, and with its metadata if
    the actor may see raw payloads.
    """
    return {
        "id": thread.thread_id,
        "title": thread.title,
        "created": thread.created.astimezone(UTC).isoformat(),
        **({"metadata": thread.metadata} if may(actor, thread, Right.RAW) else {}),
        **export(actor, thread, format).model_dump(mode="json"),
    }


def rendered_as(actor: Actor, thread: Thread, format: str) -> dialects.Rendered:
    """A thread in any export format, including Markdown and transcript.

    Arguments that are not a JSON object are stored as the raw request (B176). They are exported if the actor may see
    raw payloads, and listed as a loss otherwise.
    """
    beside = Thread.objects.filter(pk=thread.pk).values_list("system_prompt", "metadata")
    system, metadata = beside.first() or (None, {})
    messages = reading.snapshots(thread.pk, with_raw=True)
    return dialects.render(
        format,
        thread_id=thread.thread_id,
        title=thread.title,
        system=system,
        messages=messages,
        with_verbatim=may(actor, thread, Right.RAW),
        metadata=metadata,
    )


def _imported(origin_id: str, owner_id: int, org_id: int) -> Thread | None:
    return Thread.objects.imported_as(origin_id).filter(org=org_id, created_by=owner_id).first()


def _refused(origin_id: str | None, owner_id: int, org_id: int, place: str, reason: str) -> Imported:
    """A conversation that cannot be read: it failed, unless it was imported before (B177)."""
    if origin_id and (thread := _imported(origin_id, owner_id, org_id)):
        return _unchanged(thread, origin_id, [f"{place}: {reason}"])
    return _failed(origin_id and origin_id[:IMPORT_ID_LENGTH], place, reason)


def _unchanged(thread: Thread, origin_id: str, warnings: list[str]) -> Imported:
    return Imported(origin_id, thread.thread_id, "unchanged", warnings, [], thread.title or "", thread.message_count)


def _not_taken_over(parsed: Conversation, thread: Thread) -> list[str]:
    """A warning if a repeated import has new or other messages. Fewer are normal: imported threads continue here."""
    given, stored = len(parsed.messages), thread.message_count
    if given > stored:
        return [f"has {given} messages, the stored thread {stored}: the new ones were not imported"]
    for index, (message, held) in enumerate(zip(parsed.messages, reading.snapshots(thread.pk), strict=False)):
        if (message.role, _words(message.blocks)) != (held.role, _words(held.blocks)):
            return [f"messages.{index}: differs from the stored thread, which was not changed"]
    return []


def _words(blocks: Iterable[BlockDict]) -> list[object]:
    """What a message says, whatever else was stored of it."""
    return [block.get("text") or (block.get("tool_name"), block.get("input"), block.get("payload")) for block in blocks]


def _stored(parsed: Conversation, owner_id: int, org_id: int, visibility: str) -> Thread:
    now = timezone.now()
    times = [message.created for message in parsed.messages if message.created]
    created = parsed.created or min(times, default=now)
    thread = Thread(
        org_id=org_id,
        created_by_id=owner_id,
        created=created,
        title=_title(parsed),
        status=ThreadStatus.USER_TURN,
        visibility=visibility,
        system_prompt=parsed.system,
        import_id=parsed.origin_id,
        metadata=parsed.metadata,
    )
    with transaction.atomic(), transcript.creating(thread) as writer:
        for message in parsed.messages:
            author = owner_id if message.role == "user" else None
            blocks = [with_answerer(block) for block in message.blocks]
            writer.add(message.role, blocks, created=message.created or created, author_id=author)
    return thread


def _title(parsed: Conversation) -> str | None:
    """The given title as far as a thread can hold it, else one from the first words of which anything is seen."""
    given = (parsed.title or "")[:TITLE_LENGTH]
    return given if is_visible(given) else titles.of_messages(parsed.messages)


def _created(parsed: Conversation, thread: Thread | None) -> Imported:
    """A conversation that became a thread, or would become one."""
    return Imported(
        id=parsed.origin_id,
        thread_id=thread.thread_id if thread else None,
        outcome="created",
        warnings=list(parsed.warnings),
        errors=[],
        title=_title(parsed) or "",
        message_count=len(parsed.messages),
    )


def _failed(origin_id: str | None, path: str, reason: str) -> Imported:
    return Imported(origin_id, None, "failed", [], [{"path": path, "reason": reason}])
