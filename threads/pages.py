"""The thread pages; they call the same functions as the REST routes."""

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any
from urllib.parse import quote, urlencode

from django.contrib import messages as notes
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.html import format_html_join
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.middleware import HtmxDetails

from accounts.authentication import page_actor
from accounts.models import Org
from accounts.pages import current_org, required_org, signed_in
from accounts.rights import Right
from catalogue import offering, skills
from catalogue.skills import SkillText
from catalogue.worlds import choosing
from core import bodies, forms, ids, paging, zones
from core.actor import Actor
from core.db import dump
from core.errors import DomainError, Expired, InvalidRequest, NotFound
from core.grammar import MAX_LENGTH
from core.templatetags.ui import at_message
from threads import (
    answering,
    comparing,
    editing,
    finding,
    forks,
    hits,
    hooks,
    importing,
    lists,
    profiles,
    reading,
    screens,
    sharing,
    titles,
    turns,
)
from threads.access import may, thread_for
from threads.dialects import EXPORT_FORMATS
from threads.models import Thread
from threads.presenting import excerpting, listing
from threads.presenting.articles import Call
from threads.presenting.calls import CallIo, call_detail
from threads.presenting.excerpting import Stretch
from threads.presenting.listing import Hit
from threads.wire import ForkIn, SendIn, StartIn, TitlePatch, VisibilityIn

PAGE = 50
MOST_IN_URL = 4_000
"""Characters of a query; servers and proxies accept about twice as many."""
UNFOLDED = 3
"""The most calls that a page shows unfolded from the beginning."""
NO_WORLD = "none"
"""The form value for a fork that leaves its world."""
_START_FIELDS = {"model_profile", "visibility", "invoke_skills", "world_id", "system_prompt"}


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
@require_http_methods(["GET", "POST"])
def start(request: HttpRequest) -> HttpResponse:
    """The form for a new thread."""
    said = request.POST if request.method == "POST" else request.GET
    like = said.get("like", "")
    begun = editing.start_of(page_actor(request), like) if like else editing.Earlier()
    form: dict[str, Any] = {
        "text": request.POST.get("text", begun.text),
        "system_prompt": request.POST.get("system_prompt", begun.system_prompt),
        "model_profile": request.POST.get("model_profile", begun.model_profile),
        "visibility": request.POST.get("visibility", "private"),
        "world": said.get("world", begun.world_id),
        "like": like,
        "left_out": begun.left_out,
        "errors": {},
    }
    wanted = {"skill_id": said.get("skill", ""), "version": bodies.number(said.get("version", ""))}
    if form["world"] and not ids.key_of(form["world"], ids.WORLD):
        raise NotFound("There is no such world.")
    problem: DomainError | None = None
    if request.method == "POST":
        try:
            started = _started(request, begun.org or required_org(request), form, wanted)
            return redirect(screens.to_write_in(started))
        except (InvalidRequest, Expired) as refusal:
            problem = refusal
            about = {wrong["field"].partition(".")[0] for wrong in problem.by_field[:1]}
            field = next(iter(about & _START_FIELDS), "text")
            form["errors"] = {"world_id" if isinstance(problem, Expired) else field: forms.reason(problem)}
    org = begun.org or current_org(request)
    invoked = _invoked(page_actor(request), org, wanted) if "invoke_skills" not in form["errors"] else None
    worlds = choosing.choices(org.pk, chosen=form["world"]) if org is not None else []
    kept_by = screens.kept_by(org)
    offered = {
        "profiles": profiles.all_profiles(),
        "worlds": worlds,
        "invoked": invoked,
        "kept_by": kept_by,
        "org": org,
    }
    return render(request, "threads/start.html", {"form": form, **offered}, status=400 if problem else 200)


def _invoked(actor: Actor, org: Org | None, wanted: dict[str, Any]) -> SkillText | None:
    """The skill that a new thread of an org, or one still to be chosen, begins with, if any; raises `NotFound` if the
    actor cannot use it there.
    """
    if not wanted["skill_id"]:
        return None
    org_id = org.pk if org else skills.skill_for(actor, wanted["skill_id"]).org_id
    try:
        return skills.texts(actor, org_id, [(wanted["skill_id"], wanted["version"])], "skill")[0]
    except InvalidRequest as problem:
        raise NotFound(forms.reason(problem)) from None


def _started(request: HttpRequest, org: Org, form: dict[str, Any], wanted: dict[str, Any]) -> str:
    text = form["text"]
    message = {"role": "user", "content": [{"text": forms.lines(text)}]}
    prompt = forms.lines(form["system_prompt"])
    bodies.check_storable(message)
    bodies.check_storable(wanted | {"world_id": form["world"], "system_prompt": prompt})
    invoked = [wanted] if wanted["skill_id"] else []
    said = [message] if text.strip() or not invoked else []
    optional = {"model_profile": form["model_profile"], "world_id": form["world"], "system_prompt": prompt.strip()}
    optional = {name: value or None for name, value in optional.items()}
    asked = {"messages": said, "invoke_skills": invoked, "visibility": form["visibility"], **optional}
    body = bodies.parse(StartIn, asked)
    return turns.start(page_actor(request), org.pk, body).thread_id


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
            ios[call.anchor] = _call_io(request, actor, thread, call.tool_use_id, call.index)
    return excerpting.unfolded(stretches, ios)


def _blocks_at(call: Call, at: int) -> set[tuple[str, str]]:
    """What of a call is in message `at`: kind and tool use id of its blocks."""
    places = (("tool_use", call.index), ("tool_result", call.answered))
    return {(kind, call.tool_use_id) for kind, index in places if index == at}


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
        return _back(thread, listing.place_of(hit, line))
    if found.sought.line:
        scope = _in_org(request, actor).filter(found.condition)
        following = lists.behind(actor, scope, thread, order=found.order)
        if following is not None:
            return _back(following, listing.place_of(hits.following(following, -1, found.sought), line))
        notes.info(request, "No more hits.")
        return _back(thread, at_message(at, line) if at is not None else listing.place_of(None, line))
    return redirect(reverse("threads:list") + listing.href(line) + f"#t-{thread.thread_id}")


def _within(request: HttpRequest, thread: Thread, line: str, found: finding.Found, hit: Hit | None) -> HttpResponse:
    """Lead to a hit in the thread, or say why to none; what was asked stays in the field."""
    if hit is None:
        wrong = " ".join(f"{problem.text}: {problem.reason}" for problem in found.problems)
        notes.info(request, wrong or ("No hits in this thread." if line.strip() else "Type what to look for."))
        return _back(thread, "?" + urlencode({"q": line, "within": 1}) if line.strip() else "")
    place, _, fragment = listing.place_of(hit, line).partition("#")
    return _back(thread, f"{place}&within=1#{fragment}")


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
    return _back(thread, "#write")  # for a page without scripts, which would begin at the top


@signed_in
@require_POST
def again(request: HttpRequest, thread_id: str) -> HttpResponse:
    """Retry a request whose turn failed; does nothing if pressed twice or too late."""
    actor = page_actor(request)
    thread = thread_for(actor, thread_id, Right.SEND)
    with suppress(InvalidRequest):
        turns.again(actor, thread)
    return _back(thread)


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
    return _back(thread)


@signed_in
@require_POST
def cancel(request: HttpRequest, thread_id: str) -> HttpResponse:
    """Stop the running turn."""
    actor = page_actor(request)
    thread = thread_for(actor, thread_id, Right.CANCEL)
    turns.cancel(actor, thread)
    return _back(thread)


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
    return _back(thread, "#heading")


@signed_in
@require_POST
def visibility(request: HttpRequest, thread_id: str) -> HttpResponse:
    """Share a thread with its org, or make it private."""
    actor = page_actor(request)
    thread = thread_for(actor, thread_id, Right.DESCRIBE)
    body = bodies.parse(VisibilityIn, {"visibility": request.POST.get("visibility", "")})
    sharing.set_visibility(actor, thread, body.visibility)
    return _back(thread, "#heading")


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
    return _back(thread, "#heading")


@signed_in
@require_GET
def call(request: HttpRequest, thread_id: str, tool_use_id: str) -> HttpResponse:
    """Input and output of one tool use, as a fragment or a page; raw payloads only with the right (H4)."""
    actor = page_actor(request)
    wants_raw = request.GET.get("raw") == "1"
    thread = thread_for(actor, thread_id, Right.RAW if wants_raw else Right.READ)
    message = bodies.number(request.GET.get("message", ""))
    io = _call_io(request, actor, thread, tool_use_id, message, wants_raw=wants_raw)
    if HtmxDetails(request):
        return render(request, "threads/_call_io.html", io)
    here = reverse("threads:detail", args=[thread.thread_id])
    return render(request, "threads/call.html", {**io, "here": here, "thread_title": thread.title or "Untitled"})


def _call_io(
    request: HttpRequest,
    actor: Actor,
    thread: Thread,
    tool_use_id: str,
    message: int | None,
    *,
    wants_raw: bool = False,
) -> CallIo:
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


def _back(thread: Thread, place: str = "") -> HttpResponse:
    return redirect(reverse("threads:detail", args=[thread.thread_id]) + place)
