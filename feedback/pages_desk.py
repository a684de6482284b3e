"""The feedback desk: list, conversation and report in one page, and doors to its verbs. The address is the state."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.contrib import messages as notes
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_POST

from accounts.authentication import page_actor
from accounts.pages import signed_in
from accounts.rights import require_admin
from core import bodies, ids, sse
from core.actor import Actor
from core.errors import DomainError, InvalidRequest, NotFound, Stale
from feedback import (
    bulk,
    desk_forms,
    desk_live,
    finding,
    labelling,
    leasing,
    saved_views,
    screens,
    similar,
    triage,
    undoing,
)
from feedback.models import UserFeedback
from feedback.presenting import Choice, Conflict, DeskBar, Near, Token, href, pane_of, panes, sentence
from feedback.querying import Query, completions, parse, remarks
from threads import presenting
from threads import screens as thread_screens
from threads.models import Thread

PAGE = 50
KEYS = ("q", "after", "item", "pane")


@signed_in
@require_GET
def desk(request: HttpRequest) -> HttpResponse:
    """The page at an address. Without a query it opens on what nobody has taken; a term that is added leads on."""
    actor = page_actor(request)
    require_admin(actor)
    query = _state(request.GET.items())
    if added := request.GET.get("add", "").strip():
        return redirect(reverse("feedback:desk") + href({"q": parse(query["q"]).with_term(added).text}))
    if request.headers.get("Heddle-Part") == "item" and query.get("item"):
        return render(request, "feedback/_opened.html", {**_opened(actor, query), "panes": panes(query)})
    context = _desk(actor, query)
    return render(request, "feedback/desk.html", context, status=404 if "gone" in context else 200)


@signed_in
@require_POST
def act(request: HttpRequest, feedback_id: str) -> HttpResponse:
    """Do to one report what the pressed button says; some go on to the next one."""
    actor = page_actor(request)
    triage.report_for(actor, feedback_id)
    try:
        bodies.check_storable(request.POST.dict())
        steps = desk_forms.steps_of(request.POST)
        triage.act(actor, feedback_id, *steps, seen=request.POST.get("seen"))
    except (InvalidRequest, Stale) as problem:
        return _kept(request, actor, feedback_id, problem)
    target = "next" if request.POST.get("verb") in desk_forms.GOES_ON else "here"
    return redirect(_local(request, request.POST.get(target, "")))


@signed_in
@require_POST
def act_on_all(request: HttpRequest) -> HttpResponse:
    """Do to all that are ticked, or to all that match, what the pressed button says."""
    actor = page_actor(request)
    require_admin(actor)
    bodies.check_storable(request.POST.dict())
    [(verb, body)] = desk_forms.steps_of(request.POST, is_bulk=True)
    if request.POST.get("all"):
        done = bulk.act_on_all(actor, verb, body, query=request.POST.get("q", ""))
    else:
        done = bulk.act_on_all(actor, verb, body, feedback_ids=_ticked(request))
    if done.failed_count:
        notes.warning(request, desk_forms.told_of_failures(done))
    return redirect(_local(request, request.POST.get("here", "")))


@signed_in
@require_POST
def undo(request: HttpRequest) -> HttpResponse:
    """Take back an action, one's last one unless another is named."""
    actor = page_actor(request)
    require_admin(actor)
    action = ids.key_of(request.POST.get("action_id", ""), ids.ACTION) or ""
    try:
        done = bulk.undo(actor, action)
    except DomainError as problem:
        notes.warning(request, problem.message)
    else:
        notes.success(request, desk_forms.told_of_undo(done))
    return redirect(_local(request, request.POST.get("here", "")))


@signed_in
@require_POST
def stop(request: HttpRequest, bulk_id: str) -> HttpResponse:
    """Stop a bulk that a worker is at."""
    bulk.cancel(page_actor(request), bulk_id)
    return redirect(_local(request, request.POST.get("here", "")))


@signed_in
@require_POST
def keep_view(request: HttpRequest) -> HttpResponse:
    """Keep the query as a view; one of that name is one's own already gets this query. Or drop one."""
    actor = page_actor(request)
    require_admin(actor)
    bodies.check_storable(request.POST.dict())
    query = request.POST.get("q", "")
    if request.POST.get("verb") == "drop":
        saved_views.drop(actor, request.POST.get("view_id", ""))
        notes.success(request, "The view is gone.")
        return redirect(reverse("feedback:desk"))
    view = saved_views.keep(actor, request.POST.get("name", ""), query, is_shared=bool(request.POST.get("is_shared")))
    notes.success(request, f"Kept as {view.name}.")
    return redirect(reverse("feedback:desk") + href({"q": view.query}))


@signed_in
@require_POST
def hold(request: HttpRequest, feedback_id: str) -> HttpResponse:
    """Say that one has a report open; scripts say it again while it stays open."""
    leasing.hold(page_actor(request), feedback_id)
    return HttpResponse(status=204)


@signed_in
@require_GET
def live(request: HttpRequest) -> HttpResponseBase:
    """Who else has what open, what was changed, and how far one's bulks are, as it happens."""
    actor = page_actor(request)
    require_admin(actor)
    return sse.stream(desk_live.news(request, actor))


def _state(given: Any) -> dict[str, str]:
    """The keys of an address that mean something; `q` is always among them."""
    query = {key: value for key, value in given if key in KEYS and (value or key == "q")}
    return {"q": saved_views.DEFAULT.query, **query}


def _desk(actor: Actor, query: dict[str, str]) -> dict[str, Any]:
    parsed = parse(query["q"])
    page, next_token = ([], None) if parsed.problems else finding.page(actor, parsed, PAGE, query.get("after"))
    kept = {key: value for key, value in query.items() if key not in ("item", "pane")}
    rows = screens.rows_of(actor, page, kept, query.get("item", ""))
    context: dict[str, Any] = {
        "bar": _bar(actor, parsed, query),
        "rows": rows,
        "next_url": href({**kept, "after": next_token}) if next_token else "",
        "total": None if parsed.problems else saved_views.count(actor, query["q"]),
        "last": undoing.last_action(actor),
        "running": bulk.running(actor),
        "terms": [(value.term, field.help) for field in completions(actor) for value in field.values],
        "labels": labelling.names(actor),
        "errors": {},
    }
    if query.get("item"):
        try:
            context |= _opened(actor, query, [row.href for row in rows], [row.feedback_id for row in rows])
        except NotFound as problem:
            context["gone"] = problem.message
    return context


def _bar(actor: Actor, parsed: Query, query: dict[str, str]) -> DeskBar:
    own = saved_views.listed(actor)
    views = [
        Choice(each.name, href({"q": each.query}), each.query == parsed.canonical, saved_views.count(actor, each.query))
        for each in saved_views.BUILT_IN
    ]
    views += [
        Choice(
            each.name,
            href({"q": each.query}),
            each.query == parsed.canonical,
            saved_views.count(actor, each.query),
            is_shared=each.is_shared,
            view_id=ids.VIEW + each.key if each.created_by_id == actor.user_id else "",
        )
        for each in own
    ]
    tokens = (
        Token(term.text, href({"q": parsed.without(place).text}), term.reason)
        for place, term in enumerate(parsed.terms)
    )
    return DeskBar(
        query=query["q"],
        tokens=tuple(tokens),
        views=tuple(views),
        panes=panes(query),
        here=reverse("feedback:desk") + href(query),
        pane=pane_of(query),
        notes=remarks(actor, parsed),
    )


def _opened(
    actor: Actor, query: dict[str, str], hrefs: Sequence[str] = (), listed: Sequence[str] = ()
) -> dict[str, Any]:
    """The open report, its conversation, and where resolving goes on to: the row below, the one above, or the first.

    Where the list is not drawn, the page that has it knows the way on, and says so with the form.
    """
    report = triage.report_for(actor, query["item"])
    place = listed.index(report.feedback_id) if report.feedback_id in listed else -1
    after = hrefs[place + 1 : place + 2] or hrefs[max(0, place - 1) : place]
    desk_url = reverse("feedback:desk")
    thread = Thread.objects.select_related("org", "created_by").get(pk=report.thread_id)
    report.thread = thread
    screen = thread_screens.screen(actor, thread)
    rest = {key: value for key, value in query.items() if key not in ("item", "pane")}
    item = screens.card_of(
        actor,
        report,
        here=desk_url + href(query),
        next_href=desk_url + (after[0] if after else href(rest)),
        near=_near(actor, report, rest),
    )
    return {
        "item": item,
        "subject": thread_screens.head_of(actor, thread, token=screen.token, goals=screen.goals),
        "stretches": presenting.around(screen.turns(), report.message_sequence_num),
        "here": reverse("threads:detail", args=[thread.thread_id]),
        "cloth": presenting.weave(thread.weave),
        "snoozes": desk_forms.snoozes(),
    }


def _near(actor: Actor, report: UserFeedback, query: dict[str, str]) -> list[Near]:
    return [
        Near(
            feedback_id=each.feedback_id,
            sentiment=each.sentiment,
            words=each.notes or "",
            reasons=each.reasons,
            created=each.created,
            href=href({**query, "item": each.feedback_id}),
            resolved=each.resolved,
        )
        for each in similar.similar_to(actor, report)
    ]


def _kept(request: HttpRequest, actor: Actor, feedback_id: str, problem: DomainError) -> HttpResponse:
    """The desk as it was, with what was typed still in its fields and the reason beside it."""
    address = urlsplit(_local(request, request.POST.get("here", "")))
    query = _state(parse_qsl(address.query, keep_blank_values=True)) | {"item": feedback_id}
    context = _desk(actor, query)
    if "item" not in context:
        raise problem
    typed = request.POST.get("admin_note", "").replace("\r\n", "\n")
    if isinstance(problem, Stale):
        context["conflict"] = _conflict(context["item"], problem, request)
    else:
        field, _, reason = problem.message.rpartition(": ")
        name = {"add": "label", "remove": "label"}.get(field.partition(".")[0], field.partition(".")[0])
        context["errors"] = {name or "verb": sentence(name.removeprefix("admin_").replace("_", " "), reason)}
    context["typed"] = request.POST
    if "admin_note" in request.POST:
        context["item"] = replace(context["item"], admin_note=typed)
    return render(request, "feedback/desk.html", context, status=problem.status)


def _conflict(item: Any, problem: Stale, request: HttpRequest) -> Conflict:
    column = problem.columns[0]
    theirs = {"admin_note": item.admin_note, "admin_label": ", ".join(item.labels)}.get(column, item.state_line)
    mine = {"admin_note": request.POST.get("admin_note", ""), "admin_label": request.POST.get("label", "")}.get(column)
    return Conflict(problem.message, column.removeprefix("admin_"), theirs, mine or request.POST.get("verb", ""))


def _ticked(request: HttpRequest) -> list[str]:
    ticked = request.POST.getlist("feedback_ids")
    if not ticked:
        raise InvalidRequest("feedback_ids: tick at least one report")
    return ticked


def _local(request: HttpRequest, target: str) -> str:
    """A place on this server, the desk for anything else."""
    is_ours = url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure())
    return target if target and is_ours else reverse("feedback:desk")
