"""Live text for pages: server-sent events that bring the articles that changed, whole, in the order of the transcript.

An event replaces what it names, and its id is the continuation token behind it. So a line that breaks and comes back
loses nothing and repeats nothing, and the page needs no idea of how fragments join.
"""

from collections.abc import Iterator, Sequence

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_GET

from accounts.authentication import page_actor, page_actor_again
from accounts.pages import signed_in
from core import notices, sse
from core.actor import Actor
from core.db import snapshot
from core.errors import DomainError, InvalidRequest
from threads import hooks, reading, screens, transcript
from threads.access import thread_for
from threads.models import Message, Thread
from threads.presenting import Turn
from threads.status import ThreadStatus


@signed_in
@require_GET
def live(request: HttpRequest, thread_id: str) -> HttpResponseBase:
    """The stream of one thread from `token` on; a reader that reconnects says where it was in Last-Event-ID."""
    actor = page_actor(request)
    thread = thread_for(actor, thread_id)
    token = request.headers.get("Last-Event-ID") or request.GET.get("token")
    try:
        since = reading.revision_of(token, thread)
    except InvalidRequest:
        return HttpResponse(status=204)  # ends the reader's attempts: nothing can follow such a token
    return sse.stream(_news(request, actor, thread, since))


def _news(request: HttpRequest, actor: Actor, thread: Thread, since: int) -> Iterator[sse.Event | None]:
    known_status, is_asked_again = None, False
    told = hooks.replies(actor, thread)
    with notices.waiting(transcript.subject(thread.pk)) as waiter:
        while True:
            try:
                # Anew each time: the right to read may have been taken away meanwhile (B146). The person is asked for
                # anew in quiet moments only, which a thread that is being written to has none of for long.
                actor = page_actor_again(request) if is_asked_again else actor
                is_asked_again = False
                thread = thread_for(actor, thread.thread_id)
            except DomainError:
                yield sse.Event("gone", "")
                return
            if thread.revision != since or known_status is None:
                events, since = _changes(request, actor, thread, since, known_status)
                known_status = thread.status
                yield from events
            elif (now_told := hooks.replies(actor, thread)) != told:
                changed = {index for index, at in now_told.items() if told.get(index) != at}
                told = now_told
                yield _answered(request, actor, thread, changed)
            sse.give_connection_back()
            if not waiter.wait(sse.HEARTBEAT_SECONDS):
                yield None
                is_asked_again = True


def _changes(
    request: HttpRequest, actor: Actor, thread: Thread, since: int, known_status: str | None
) -> tuple[list[sse.Event], int]:
    """The events for everything newer than a revision, and the revision that they lead to: one snapshot for all."""
    with snapshot():
        reading.refresh(thread)
        events = []
        if since > thread.revision:  # the database was restored from a backup
            since = 0
            events.append(sse.Event("reset", "0"))
        reset = reading.reset_since(thread, since)
        if reset is not None:
            events.append(sse.Event("reset", str(reset)))
        if thread.revision > since:
            newer = Message.objects.filter(thread=thread, revision__gt=since).order_by("idx")
            changed = newer.values_list("idx", flat=True).first()
            if reset is not None:
                # An article that began before that place and reached past it is drawn anew, without what was dropped.
                changed = max(0, min(reset - 1, reset if changed is None else changed))
            if changed is not None:
                events.append(_turns(request, actor, thread, screens.stretch_start(thread, changed), changed))
        is_asking = thread.status == ThreadStatus.CLIENT_TOOL_TURN and thread.revision > since
        is_named_anew = thread.title_revision > since or thread.goals_revision > since
        if thread.status != known_status or is_asking or is_named_anew:
            events.append(_head(request, actor, thread))
        if events:
            events[-1] = sse.Event(events[-1].name, events[-1].data, reading.token_of(thread))
        return events, thread.revision


def _turns(request: HttpRequest, actor: Actor, thread: Thread, start: int, changed: int) -> sse.Event:
    """The articles with a change; they are drawn from the last words of a person on, which begin an article."""
    screen = screens.screen(actor, thread, between=(start, 2**31 - 1))
    return _drawn(request, actor, thread, [turn for turn in screen.turns() if _last(turn) >= changed])


def _answered(request: HttpRequest, actor: Actor, thread: Thread, rated: set[int]) -> sse.Event:
    """The articles of these messages, of which the reader's rating was answered: no news of the thread, so no token."""
    start = screens.stretch_start(thread, min(rated, default=0))
    screen = screens.screen(actor, thread, between=(start, 2**31 - 1))
    return _drawn(request, actor, thread, [turn for turn in screen.turns() if rated.intersection(turn.covers)])


def _last(turn: Turn) -> int:
    return max(turn.covers, default=turn.index)


def _drawn(request: HttpRequest, actor: Actor, thread: Thread, turns: Sequence[Turn]) -> sse.Event:
    around = {"head": screens.doors_of(actor, thread), "here": reverse("threads:detail", args=[thread.thread_id])}
    drawn = (render_to_string("threads/_turn.html", {**around, "turn": turn}, request) for turn in turns)
    return sse.Event("turns", "".join(drawn))


def _head(request: HttpRequest, actor: Actor, thread: Thread) -> sse.Event:
    """What stands around the transcript, drawn when the thread is handed over or named, not with every word."""
    context = screens.context(actor, thread) | {"form": None}
    return sse.Event("head", render_to_string("threads/_live_head.html", context, request))
