"""Input and output of a tool use."""

from typing import Any
from urllib.parse import quote, urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET
from django_htmx.middleware import HtmxDetails

from accounts.authentication import page_actor
from accounts.pages import current_org, signed_in
from accounts.rights import Right
from catalogue import offering
from core import bodies
from core.actor import Actor
from core.db import dump
from threads import reading
from threads.access import may, thread_for
from threads.models import Thread
from threads.presenting.calls import CallIo, call_detail

MOST_IN_URL = 4_000
"""Characters of a query; servers and proxies accept about twice as many."""


@signed_in
@require_GET
def call(request: HttpRequest, thread_id: str, tool_use_id: str) -> HttpResponse:
    """Input and output of one tool use, as a fragment or a page; raw payloads only with the right (H4)."""
    actor = page_actor(request)
    wants_raw = request.GET.get("raw") == "1"
    thread = thread_for(actor, thread_id, Right.RAW if wants_raw else Right.READ)
    message = bodies.number(request.GET.get("message", ""))
    io = call_io(request, actor, thread, tool_use_id, message, wants_raw=wants_raw)
    if HtmxDetails(request):
        return render(request, "threads/_call_io.html", io)
    here = reverse("threads:detail", args=[thread.thread_id])
    return render(request, "threads/call.html", {**io, "here": here, "thread_title": thread.title or "Untitled"})


def call_io(
    request: HttpRequest,
    actor: Actor,
    thread: Thread,
    tool_use_id: str,
    message: int | None,
    *,
    wants_raw: bool = False,
) -> CallIo:
    """The view model of a tool use, at a message or where it is first; raises `NotFound` if there is none."""
    at, use, result = reading.tool_detail(thread, tool_use_id, raw=may(actor, thread, Right.RAW), message=message)
    shown = call_detail(use, result, index=at, raw=wants_raw, thread_status=thread.status)
    here = reverse("threads:detail", args=[thread.thread_id])
    call_url = f"{here}calls/{quote(tool_use_id, safe='')}/?message={at}"
    tool_url = _tool_url(request, thread, use["tool_name"])
    return CallIo(
        call=shown,
        call_url=call_url,
        raw_url=f"{call_url}&raw=1" if shown.differs_raw and not wants_raw else "",
        tool_url=tool_url,
        try_url=f"{tool_url}{_with_arguments(use.get('input'))}#try" if tool_url else "",
    )


def _tool_url(request: HttpRequest, thread: Thread, tool_name: str) -> str:
    """The URL of the tool's page, if it is in the catalogue of the viewer's current org; else empty."""
    org = current_org(request)
    if org is None:
        return ""
    tool = offering.tool_called(thread.org_id, tool_name)
    if tool is None or tool.org_id not in (None, org.pk):
        return ""
    return reverse("catalogue:tool", args=[tool.qualified_name])


def _with_arguments(given: Any) -> str:
    """The query that fills the try-it form with the arguments of a call; none if it would make the URL too long."""
    query = "?" + urlencode({"arguments": dump(given)}) if isinstance(given, dict) and given else ""
    return query if len(query) <= MOST_IN_URL else ""
