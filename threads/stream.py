"""Live updates of thread pages: server-sent events with the changed articles, whole and in order.

An event replaces the articles it contains, and its id is the continuation token after it. So a reconnecting page loses
and repeats nothing, and it does not need to join fragments.

A change wakes all readers of a thread at the same moment. The HTML is rendered once for all readers who see the same
(`screens.Eyes`), not once for each.
"""

import secrets
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from time import monotonic

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_GET

from accounts.authentication import page_actor, page_actor_again
from accounts.pages import signed_in
from accounts.rights import Right
from core import bodies, notices, sse, zones
from core.actor import Actor
from core.db import snapshot
from core.errors import DomainError, InvalidRequest
from core.grammar import MAX_LENGTH
from core.shared import SharedTexts
from threads import extracts, hooks, pending, reading, screens, transcript
from threads.access import LAST, require, thread_for
from threads.models import Message, Thread
from threads.presenting.articles import Article
from threads.status import ThreadStatus

ASKED_AGAIN_SECONDS = 2.0
"""Seconds for which a reader's identity is cached while a thread changes constantly."""


@signed_in
@require_GET
def live(request: HttpRequest, thread_id: str) -> HttpResponseBase:
    """The events of one thread after `token`, and replies to the reader's ratings after `told`, the time of the latest
    that the page shows; a reconnecting reader sends its position in Last-Event-ID.
    """
    actor = page_actor(request)
    thread = thread_for(actor, thread_id)
    token = request.headers.get("Last-Event-ID") or request.GET.get("token") or None
    try:
        since = reading.revision_of(token, thread)
    except InvalidRequest:
        return HttpResponse(status=204)  # makes the browser stop reconnecting: such a token has no continuation
    shown: datetime | None = None
    with suppress(ValueError):
        shown = datetime.fromisoformat(request.GET.get("told", ""))
    return sse.stream(_news(request, actor, thread, since, shown if shown and shown.tzinfo else None))


def _news(
    request: HttpRequest, actor: Actor, thread: Thread, since: int, shown: datetime | None
) -> Iterator[sse.Event | None]:
    known_status, asked_at = None, monotonic()
    with notices.waiting(transcript.subject(thread.pk)) as waiter:
        told: Mapping[int, datetime] | None = None
        is_news = True
        while True:
            try:
                with sse.look():
                    # Checked every time, because the right to read may be revoked (B146). Loading the user costs two
                    # queries, too much for every fragment of a fast answer.
                    if not is_news or monotonic() - asked_at > ASKED_AGAIN_SECONDS:
                        actor, asked_at = page_actor_again(request), monotonic()
                    thread = thread_for(actor, thread.thread_id)
                    events: list[sse.Event] = []
                    if thread.revision != since or known_status is None:
                        events, since = _changes(request, actor, thread, since, known_status)
                        known_status = thread.status
                    now_told = hooks.feedback.replies(actor, thread)
                    if told is None:  # a reply may have come since the page was made
                        told = {index: at for index, at in now_told.items() if shown and at <= shown}
                    if now_told != told:
                        # One that was taken back has no time any more.
                        changed = {each for each in (*told, *now_told) if told.get(each) != now_told.get(each)}
                        told = now_told
                        events.append(_answered(request, actor, thread, changed))
            except DomainError:
                yield sse.Event("gone", "")
                return
            yield from events
            yield sse.WAITING
            is_news = waiter.wait(sse.HEARTBEAT_SECONDS)
            if not is_news:
                yield None


def _changes(
    request: HttpRequest, actor: Actor, thread: Thread, since: int, known_status: str | None
) -> tuple[list[sse.Event], int]:
    """The events for everything newer than a revision, and the revision after them, from one snapshot.

    Raises `Unauthorized` if the right to read is gone in that snapshot, so nothing later is shown.
    """
    with snapshot():
        reading.refresh(thread)
        require(actor, thread, Right.READ)
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
                # An article that began before that index and reached past it is sent again without the dropped part.
                changed = max(0, min(reset - 1, reset if changed is None else changed))
            if changed is not None:
                has_goals = thread.goals_revision > since
                start = pending.last_request(thread.pk, changed) or 0
                events.append(_changed(request, actor, thread, start, changed, has_goals=has_goals))
        # A turn may have begun and ended since the last check: the status is the same, the rest of the head is not.
        has_rested = thread.status != ThreadStatus.ROBOTO_TURN and thread.revision > since
        has_new_head = thread.title_revision > since or thread.goals_revision > since
        if thread.status != known_status or has_rested or has_new_head:
            events.append(_head(request, actor, thread))
        if events:
            events[-1] = sse.Event(events[-1].name, events[-1].data, reading.token_of(thread))
        return events, thread.revision


def _changed(
    request: HttpRequest, actor: Actor, thread: Thread, start: int, changed: int, *, has_goals: bool
) -> sse.Event:
    """The changed articles, rendered from the last user message on, which begins an article.

    That message declared the goals of the turn, whose status is shown with it.
    """

    def is_wanted(article: Article) -> bool:
        return _last(article) >= changed or (has_goals and bool(article.goals))

    which = ("changed", changed, has_goals)
    return sse.Event("turns", _articles(request, actor, thread, start, which, is_wanted))


def _answered(request: HttpRequest, actor: Actor, thread: Thread, rated: set[int]) -> sse.Event:
    """The articles whose ratings got a reply to the reader. The thread has not changed, so there is no token, and the
    page does not say that something is new below.
    """
    with snapshot():
        reading.refresh(thread)
        require(actor, thread, Right.READ)
        start = pending.last_request(thread.pk, min(rated, default=0)) or 0
        key = ("rated", *sorted(rated))

        def is_rated(article: Article) -> bool:
            return bool(rated.intersection(article.covers))

        return sse.Event("marks", _articles(request, actor, thread, start, key, is_rated))


def _articles(
    request: HttpRequest,
    actor: Actor,
    thread: Thread,
    start: int,
    which: tuple[Hashable, ...],
    is_wanted: Callable[[Article], bool],
) -> str:
    eyes = screens.eyes_of(actor, thread, tz=zones.of(request))
    here = reverse("threads:detail", args=[thread.thread_id])

    def draw() -> str:
        screen = screens.screen_through(eyes, thread, between=(start, LAST))
        common = {"head": eyes, "here": here, "is_excerpt": False, "is_news": which[0] == "changed"}
        wanted = filter(is_wanted, screen.articles())
        return "".join(render_to_string("threads/_turn.html", {**common, "turn": article}) for article in wanted)

    return _DRAWN.get((eyes, start, which), draw)


def _last(article: Article) -> int:
    return max(article.covers, default=article.index)


def _head(request: HttpRequest, actor: Actor, thread: Thread) -> sse.Event:
    """The page parts around the transcript, sent when the status, title or goals change, not with every fragment.

    The reader's CSRF token is inserted after rendering, because the rendered HTML is shared.
    """
    eyes = screens.eyes_of(actor, thread, tz=zones.of(request))
    goals, worlds = screens.goal_notes(thread), screens.worlds_for(actor, thread)
    head = screens.head_of(actor, thread, token=eyes.token, goals=goals, worlds=worlds)
    at, asked = bodies.number(request.GET.get("at", "")), request.GET.get("q", "")[:MAX_LENGTH]
    within = bool(request.GET.get("within"))

    def draw() -> str:
        context = screens.around(screens.extract_through(eyes, thread, extracts.PAGE, [at]), head, asked, within=within)
        return render_to_string("threads/_live_head.html", context | {"at": at, "form": None, "csrf_token": _STAND_IN})

    return sse.Event("head", _DRAWN.get((eyes, head, at, asked, within), draw).replace(_STAND_IN, get_token(request)))


# Rendered without the request, because the key does not cover what a template could read from it.
_DRAWN = SharedTexts(size=64)
_STAND_IN = secrets.token_hex(16)
"""Placeholder for the CSRF token. It is random and never sent, so no message can contain it."""
