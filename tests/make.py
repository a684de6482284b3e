"""Builders. Everything is made through the product's own verbs, so that every fixture is a state it can reach."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from itertools import cycle
from typing import Any
from unittest.mock import patch

from django.utils import timezone

from core import bodies, notices
from feedback import bulk_work, capture
from feedback.models import Bulk
from feedback.wire import FeedbackIn, UserFeedbackOut
from tests.people import Person
from threads import content, importing, transcript, turns
from threads.access import MessageStanding, Standing, thread_for
from threads.models import Message, Thread, Turn
from threads.runner import loop
from threads.status import TurnState
from threads.wire import SendIn, StartIn


def say(text: str) -> dict[str, Any]:
    """A user message as a client sends it."""
    return {"role": "user", "content": [{"text": text}]}


def thread(person: Person, text: str = "Hello", *, run: bool = True, org_id: int | None = None, **body: Any) -> Thread:
    """A thread of a person, its first turn answered by the simulator unless told otherwise."""
    request = bodies.parse(StartIn, {"messages": [say(text)], **body})
    actor = person.actor
    record = turns.start(actor, org_id or next(iter(actor.orgs.values())), request)
    found = thread_for(actor, record.thread_id)
    if run:
        run_turns(found)
    return fresh(found)


def send(person: Person, thread: Thread, text: str, *, run: bool = True, **body: Any) -> Thread:
    """A further message, answered unless told otherwise."""
    turns.send(person.actor, fresh(thread), bodies.parse(SendIn, {"message": say(text), **body}))
    if run:
        run_turns(thread)
    return fresh(thread)


def run_turns(thread: Thread | None = None) -> None:
    """Do what a worker would: advance every queued turn until none is left."""
    while True:
        queued = Turn.objects.filter(state=TurnState.QUEUED)
        if thread is not None:
            queued = queued.filter(thread=thread)
        found = list(queued.values_list("pk", flat=True))
        if not found:
            return
        for turn_id in found:
            loop.advance(turn_id)


def client_tool(name: str = "remember", **schema: Any) -> dict[str, Any]:
    """A tool that the client answers, as it declares it."""
    return {"name": name, "description": f"What {name} does.", "input_schema": {"type": "object", **schema}}


def waiting(person: Person, text: str = "[[call remember {}]]", *tools: dict[str, Any], **body: Any) -> Thread:
    """A thread whose turn waits for its client to answer a tool."""
    return thread(person, text, client_tools=[*tools] or [client_tool()], **body)


def half_answered(thread: Thread, *fragments: str) -> Turn:
    """The queued turn of a thread in the hands of a worker that has written these fragments and not gone on."""
    turn = Turn.objects.get(thread=thread, state=TurnState.QUEUED)
    run = loop._Run.claimed(turn)
    assert run is not None
    for fragment in fragments:
        with transcript.writing(thread.pk, run.fence) as writer:
            answer = Message.objects.filter(thread=thread).latest("idx")
            writer.extend(answer, [content.text(fragment)])
    return turn


def let_expire(turn: Turn) -> None:
    """The worker of a turn is dead: nobody keeps its lease alive."""
    Turn.objects.filter(pk=turn.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def conversation(
    person: Person,
    messages: int,
    *,
    visibility: str = "private",
    origin_id: str | None = None,
    roles: Sequence[str] = ("user", "assistant"),
) -> Thread:
    """An imported thread with that many messages, of these roles in turn."""
    said = [(role, f"Message number {n}.") for n, role in zip(range(messages), cycle(roles))]
    return imported(person, said, visibility=visibility, origin_id=origin_id)


def imported(
    person: Person,
    said: Sequence[tuple[str, str] | dict[str, Any]],
    *,
    visibility: str = "private",
    origin_id: str | None = None,
) -> Thread:
    """An imported thread with these messages: role and text of each, or the message as OpenAI writes it."""
    item = importing.import_one(
        "openai",
        {
            "id": origin_id or f"made-{Thread.objects.count()}",
            "messages": [{"role": each[0], "content": each[1]} if isinstance(each, tuple) else each for each in said],
        },
        person.user.pk,
        next(iter(person.actor.orgs.values())),
        visibility,
    )
    assert item.thread_id, item.errors
    return thread_for(person.actor, item.thread_id)


def rating(person: Person, thread: Thread, index: int = 1, sentiment: str = "negative", **said: Any) -> UserFeedbackOut:
    """A rated answer."""
    body = bodies.parse(FeedbackIn, {"sentiment": sentiment, **said})
    message = MessageStanding.of(Standing.of(thread), index)
    return capture.submit(person.actor, message, body)


def half_done_bulk() -> Bulk:
    """The latest bulk as a worker leaves it that dies behind its first chunk."""
    row = Bulk.objects.latest("pk")
    with patch.object(notices, "publish", side_effect=SystemExit), suppress(SystemExit):
        bulk_work.advance(row.pk)
    return row


def fresh(thread: Thread) -> Thread:
    """The thread as it is stored now."""
    return Thread.objects.select_related("org", "created_by").get(pk=thread.pk)
