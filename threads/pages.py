"""The pages of one thread; they call the same functions as the REST routes."""

import json
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice

from django.contrib import messages as notes
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_GET, require_POST

from accounts.authentication import page_actor
from accounts.pages import signed_in
from accounts.rights import Right
from core import bodies, forms, zones
from core.actor import Actor
from core.errors import InvalidRequest, NotFound
from threads import (
    answering,
    comparing,
    editing,
    finding,
    forks,
    hits,
    hooks,
    importing,
    screens,
    sharing,
    titles,
    turns,
)
from threads.access import thread_for
from threads.dialects import EXPORT_FORMATS
from threads.models import Thread
from threads.pages_calls import call_io
from threads.presenting import excerpting
from threads.presenting.articles import Call
from threads.presenting.excerpting import Stretch
from threads.wire import ForkIn, SendIn, TitlePatch, VisibilityIn

UNFOLDED = 3
"""The most calls that a page shows unfolded from the beginning."""
NO_WORLD = "none"
"""The form value for a fork that leaves its world."""


@signed_in
@require_GET
def detail(request: HttpRequest, thread_id: str) -> HttpResponse:
    """One thread."""
    actor = page_actor(request)
    return _detail(request, actor, thread_for(actor, thread_id))


def _detail(
    request: HttpRequest, actor: Actor, thread: Thread, form: dict[str, str] | None = None, status: int = 200
) -> HttpResponse:
    at = bodies.number(request.GET.get("at", ""))
    told = max(hooks.feedback.replies(actor, thread).values(), default=None)  # read before what the page shows
    sought = finding.sought(request.GET.get("q", ""))
    context = screens.context(
        actor, thread, tz=zones.of(request), places=[at], asked=sought.line, within=bool(request.GET.get("within"))
    )
    if form is None and "edit" in request.GET:
        form = {"text": editing.next_request(actor, thread)}
    context |= {"form": form, "at": at, "told": told.isoformat() if told else ""}
    if at is not None and sought.line:
        context["stretches"] = _unfolded(request, actor, thread, context["stretches"], at, sought)
    screens.note_seen(actor, thread, context["articles"])
    return render(request, "threads/detail.html", context, status=status)


def _unfolded(
    request: HttpRequest, actor: Actor, thread: Thread, stretches: Sequence[Stretch], at: int, sought: finding.Sought
) -> list[Stretch]:
    """The transcript with the calls unfolded that message `at` was found by, so that the browser finds the text."""
    found = hits.calls(thread, at, sought)
    calls = (call for each in stretches if each.turn for call in each.turn.calls)
    wanted = (call for call in calls if not found.isdisjoint(_blocks_at(call, at)))
    ios = {}
    for call in islice(wanted, UNFOLDED):
        with suppress(NotFound):  # the answer was rewound meanwhile
            ios[call.anchor] = call_io(request, actor, thread, call.tool_use_id, call.index)
    return excerpting.unfolded(stretches, ios)


def _blocks_at(call: Call, at: int) -> set[tuple[str, str]]:
    """What of a call is in message `at`: kind and tool use id of its blocks."""
    places = (("tool_use", call.index), ("tool_result", call.answered))
    return {(kind, call.tool_use_id) for kind, index in places if index == at}


@signed_in
@require_POST
def send(request: HttpRequest, thread_id: str) -> HttpResponse:
    """Send a message to the agent; if that fails, the form keeps the text."""
    actor = page_actor(request)
    thread = thread_for(actor, thread_id, Right.SEND)
    text = request.POST.get("text", "")
    try:
        message = {"role": "user", "content": [{"text": forms.lines(text)}]}
        bodies.check_storable(message)
        turns.send(actor, thread, bodies.parse(SendIn, {"message": message}), echo=False)
    except InvalidRequest as problem:
        return _detail(request, actor, thread, {"text": text, "error": forms.reason(problem)}, status=400)
    return back(thread, "#write")  # for a page without scripts, which would begin at the top


@signed_in
@require_POST
def again(request: HttpRequest, thread_id: str) -> HttpResponse:
    """Retry a request whose turn failed; does nothing if pressed twice or too late."""
    actor = page_actor(request)
    thread = thread_for(actor, thread_id, Right.SEND)
    with suppress(InvalidRequest):
        turns.again(actor, thread)
    return back(thread)


@signed_in
@require_POST
def answer(request: HttpRequest, thread_id: str) -> HttpResponse:
    """Answer a client tool by hand (T5); invalid input stays in the form, a late result is shown."""
    actor = page_actor(request)
    thread = thread_for(actor, thread_id, Right.SEND)
    typed = answering.Typed.of(request.POST)
    try:
        turns.submit_tool_results(actor, thread, answering.submission(thread, typed))
    except InvalidRequest as problem:
        shown = screens.context(actor, thread, tz=zones.of(request))  # reloads the thread
        shown["asking"] = answering.asking(thread, typed, forms.reason(problem))
        return render(request, "threads/detail.html", shown, status=400)
    return back(thread)


@signed_in
@require_POST
def cancel(request: HttpRequest, thread_id: str) -> HttpResponse:
    """Stop the running turn."""
    actor = page_actor(request)
    thread = thread_for(actor, thread_id, Right.CANCEL)
    turns.cancel(actor, thread)
    return back(thread)


@signed_in
@require_POST
def fork(request: HttpRequest, thread_id: str) -> HttpResponse:
    """Fork at a message, with the results that the page shows with it, and open the fork at its end, ready to write.

    With `edit` fork before it, and begin with its text; what a thread begins with is changed in a new one.
    """
    actor = page_actor(request)
    thread = thread_for(actor, thread_id, Right.FORK)
    body = bodies.parse(ForkIn, {"message_sequence_num": bodies.number(request.POST.get("message_sequence_num", ""))})
    world, at, is_edit = request.POST.get("world", forks.SAME_WORLD), body.message_sequence_num, "edit" in request.GET
    if is_edit and at == 0:
        return redirect(reverse("threads:start") + f"?like={thread.thread_id}")
    upto = at - 1 if is_edit else forks.with_results(thread, at)
    forked = forks.fork(actor, thread, upto, world_id=None if world == NO_WORLD else world)
    if is_edit:
        words = ("This private fork is yours. Change the request and send it.", editing.left_out(thread, at))
        notes.success(request, " ".join(filter(None, words)))
        return redirect(screens.to_write_in(forked.thread_id) + "&edit")
    notes.success(request, "This private fork is yours. Write to continue from here.")
    return redirect(screens.to_write_in(forked.thread_id) + f"#m{at}")


@signed_in
@require_POST
def pin(request: HttpRequest, thread_id: str) -> HttpResponse:
    """Pin a thread to the top of the user's list, or unpin it."""
    actor = page_actor(request)
    thread = thread_for(actor, thread_id, Right.PIN)
    sharing.pin(actor, thread, pinned=request.POST.get("pinned") == "true")
    return back(thread, "#heading")


@signed_in
@require_POST
def visibility(request: HttpRequest, thread_id: str) -> HttpResponse:
    """Share a thread with its org, or make it private."""
    actor = page_actor(request)
    thread = thread_for(actor, thread_id, Right.DESCRIBE)
    body = bodies.parse(VisibilityIn, {"visibility": request.POST.get("visibility", "")})
    sharing.set_visibility(actor, thread, body.visibility)
    return back(thread, "#heading")


@signed_in
@require_POST
def title(request: HttpRequest, thread_id: str) -> HttpResponse:
    """Rename a thread."""
    actor = page_actor(request)
    thread = thread_for(actor, thread_id, Right.DESCRIBE)
    given = {"title": request.POST.get("title", "").strip()}
    try:
        bodies.check_storable(given)
        titles.retitle(actor, thread, bodies.parse(TitlePatch, given).title)
    except InvalidRequest as problem:
        notes.warning(request, f"The title stays as it was. {forms.sentence(forms.reason(problem))}")
    return back(thread, "#heading")


@signed_in
@require_GET
def compare(request: HttpRequest, thread_id: str) -> HttpResponse:
    """A fork next to its source, from the first message that differs."""
    actor = page_actor(request)
    fork, named = thread_for(actor, thread_id), request.GET.get("report", "")
    found = comparing.with_source(actor, fork, tz=zones.of(request), report=named)
    return render(request, "threads/compare.html", {"comparison": found})


@signed_in
@require_GET
def export(request: HttpRequest, thread_id: str) -> HttpResponse:
    """Download a thread in another system's format, as Markdown or as a plain transcript."""
    actor = page_actor(request)
    thread = thread_for(actor, thread_id)
    name = request.GET.get("format", "")
    if name not in EXPORT_FORMATS:
        raise InvalidRequest(f"format: must be one of {', '.join(EXPORT_FORMATS)}")
    if name in ("markdown", "transcript"):
        content, ending, kind = (
            importing.rendered_as(actor, thread, name).text,
            "md" if name == "markdown" else "txt",
            "text/plain",
        )
    else:
        found = importing.conversation(actor, thread, name)
        content, ending, kind = json.dumps(found, ensure_ascii=False, indent=2), "json", "application/json"
    response = HttpResponse(content, content_type=f"{kind}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{thread.thread_id}-{name}.{ending}"'
    add_never_cache_headers(response)
    return response


def back(thread: Thread, place: str = "") -> HttpResponse:
    """Lead to the page of a thread, and there to a place: a query, a fragment or both."""
    return redirect(reverse("threads:detail", args=[thread.thread_id]) + place)
