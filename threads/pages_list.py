"""The list of threads, and the way from hit to hit of a search."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages as notes
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html_join
from django.views.decorators.http import require_GET
from django_htmx.middleware import HtmxDetails

from accounts.authentication import page_actor
from accounts.pages import current_org, signed_in
from core import bodies, ids, paging, zones
from core.actor import Actor
from core.grammar import MAX_LENGTH
from core.templatetags.ui import at_message
from threads import finding, hits, hooks, lists, screens
from threads.access import thread_for
from threads.models import Thread
from threads.pages import back
from threads.presenting import listing
from threads.presenting.listing import Hit

PAGE = 50


@signed_in
@require_GET
def threads(request: HttpRequest) -> HttpResponse:
    """The thread list: pins on top, then newest first or as asked; the URL holds the whole state."""
    actor = page_actor(request)
    asked, view, after = (request.GET.get(name, "") for name in ("q", "view", "after"))
    line = finding.narrowed(asked, view)  # an old URL, from when views were separate from the query
    found = finding.find(actor, line, tz=zones.of(request))
    scope = _in_org(request, actor).filter(found.condition)
    rows, next_token = lists.keyset(actor, scope, limit=PAGE, page_token=after or None, order=found.order)
    shown = screens.rows_of(actor, rows, found)
    views, orders = finding.views(line), listing.thread_orders(finding.orders(line))
    news = _in_org(request, actor).filter(hooks.feedback.answered(actor, unseen=True)).count()
    now = timezone.localtime(timezone=zones.of(request))
    bands = listing.bands(shown, now=now, after=request.GET.get("band", ""), is_timed=not found.order.is_number)
    context: dict[str, Any] = {
        "rows": shown,
        "bands": bands,
        "watch": listing.watch(shown, line),
        "views": listing.thread_views(views, {"replies": news}),
        "is_view": finding.is_view(line),
        "q": line,
        "problems": _refused(found.problems),
        "found_count": _count(scope, len(shown), next_token) if found.is_asked and not after else 0,
        "order": next(each for each in orders if each.is_current),
        "orders": orders,
        "remarks": [] if shown or found.problems or after else _refused(finding.advice(actor, line)),
        "has_words": bool(found.sought.words),
        "rest": found.rest,
        "rest_href": listing.href(found.rest),
        "next_url": paging.next_url(request.GET, next_token, band=bands[-1].key if bands else ""),
        "first_run": not shown and not found.is_asked and not after,
    }
    htmx = HtmxDetails(request)
    is_partial = htmx and after and not htmx.boosted
    template = "threads/_rows.html" if is_partial else "threads/list.html"
    return render(request, template, context | {"is_more": is_partial})


def _refused(problems: Iterable[finding.Problem]) -> list[listing.Refused]:
    return [listing.Refused(each.text, each.reason, each.meant, listing.href(each.mended)) for each in problems]


def _count(scope: QuerySet[Thread], shown: int, next_token: str | None) -> int:
    """The number of threads of a query, as far as it is counted. No query if all are on the first page."""
    return shown if next_token is None else paging.counted(scope)


def _in_org(request: HttpRequest, actor: Actor) -> Any:
    org = current_org(request)
    visible = Thread.objects.visible_to(actor)
    return visible.filter(org=org) if org else visible


@signed_in
@require_GET
def running(request: HttpRequest) -> HttpResponse:
    """The rows of the list that have changed, and when to poll again; 204 if none has."""
    if not HtmxDetails(request):
        return redirect("threads:list")
    actor = page_actor(request)
    marks = dict(each.split(".") for each in request.GET.getlist("row")[:PAGE] if each.count(".") == 1)
    keys = [key for each in marks if (key := ids.key_of(each, *ids.THREAD_SPELLINGS))]
    line = request.GET.get("q", "")
    found = finding.find(actor, line)
    rows = screens.rows_of(actor, lists.rows_by_key(actor, keys), found)
    changed = [row for row in rows if row.mark != marks.get(row.thread_id)]
    if not changed and len(rows) == len(marks):
        return HttpResponse(status=204)
    # Without the request, to skip the queries of the page frame.
    return HttpResponse(
        render_to_string("threads/_running.html", {"changed": changed, "watch": listing.watch(rows, line)})
    )


@signed_in
@require_GET
def terms(request: HttpRequest) -> HttpResponse:
    """Completions of the typed query, as options."""
    offered = finding.terms(page_actor(request), request.GET.get("q", "")[:MAX_LENGTH])
    return HttpResponse(format_html_join("", '<option value="{}"></option>', ((each,) for each in offered)))


@signed_in
@require_GET
def next_hit(request: HttpRequest, thread_id: str) -> HttpResponse:
    """Lead to the next hit of a search: behind message `at` of this thread, else in the next one of the list. The last
    says that it is: whoever goes on pressing must not end where the same key starts a thread. With `within`, only in
    this thread, and from its last hit to its first.
    """
    actor = page_actor(request)
    thread = thread_for(actor, thread_id)
    line, at = request.GET.get("q", ""), bodies.number(request.GET.get("at", ""))
    found = finding.find(actor, line, tz=zones.of(request))
    hit = hits.following(thread, -1 if at is None else at, found.sought)
    if request.GET.get("within"):
        if hit is None and at is not None:
            hit = hits.following(thread, -1, found.sought)
        return _within(request, thread, line, found, hit)
    if hit is not None:
        return back(thread, listing.place_of(hit, line))
    if found.sought.line:
        scope = _in_org(request, actor).filter(found.condition)
        following = lists.behind(actor, scope, thread, order=found.order)
        if following is not None:
            return back(following, listing.place_of(hits.following(following, -1, found.sought), line))
        notes.info(request, "No more hits.")
        return back(thread, at_message(at, line) if at is not None else listing.place_of(None, line))
    return redirect(reverse("threads:list") + listing.href(line) + f"#t-{thread.thread_id}")


def _within(request: HttpRequest, thread: Thread, line: str, found: finding.Found, hit: Hit | None) -> HttpResponse:
    """Lead to a hit in the thread, or say why to none; what was asked stays in the field."""
    if hit is None:
        wrong = " ".join(f"{problem.text}: {problem.reason}" for problem in found.problems)
        notes.info(request, wrong or ("No hits in this thread." if line.strip() else "Type what to look for."))
        return back(thread, "?" + urlencode({"q": line, "within": 1}) if line.strip() else "")
    place, _, fragment = listing.place_of(hit, line).partition("#")
    return back(thread, f"{place}&within=1#{fragment}")
