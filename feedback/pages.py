"""The feedback desk, and rating in place: thin doors to the verbs."""

from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.contrib import messages as notes
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from accounts.authentication import page_actor
from accounts.pages import signed_in
from accounts.rights import Right, require_admin
from core import bodies
from core.actor import Actor
from core.errors import InvalidRequest
from feedback import capture, screens, triage
from feedback.models import UserFeedback
from feedback.presenting import RateForm, desk_filters, fitting, href
from feedback.wire import FeedbackIn, TriageIn
from threads import presenting
from threads import screens as thread_screens
from threads.access import thread_for
from threads.models import Thread

PAGE = 50
KEYS = ("sentiment", "category", "resolved", "thread", "after", "item", "pane")


@signed_in
@require_GET
def desk(request: HttpRequest) -> HttpResponse:
    """List, conversation and report in one page; the address is the state. It opens on what is open."""
    actor = page_actor(request)
    require_admin(actor)
    query = {key: request.GET[key] for key in KEYS if request.GET.get(key)}
    if not any(key in query for key in ("sentiment", "category", "resolved", "thread")):
        query["resolved"] = "false"
    return render(request, "feedback/desk.html", _desk(actor, query))


def _desk(actor: Actor, query: dict[str, str], errors: dict[str, str] | None = None) -> dict[str, Any]:
    rows = triage.filtered(
        {
            "sentiment": query.get("sentiment"),
            "category": query.get("category"),
            "resolved": None if query.get("resolved") == "any" else query.get("resolved"),
            "thread_id": query.get("thread"),
        }
    )
    page, next_token = triage.keyset(rows, limit=PAGE, page_token=query.get("after"))
    kept = {key: value for key, value in query.items() if key not in ("item", "pane")}
    shown = screens.rows_of(page, kept, query.get("item", ""))
    context: dict[str, Any] = {
        "filters": desk_filters(query),
        "rows": shown,
        "next_url": href({**kept, "after": next_token}) if next_token else "",
        "total": None,
        "errors": errors or {},
    }
    if query.get("item"):
        context |= _open(actor, query, [row.href for row in shown], [row.feedback_id for row in shown])
    return context


def _open(actor: Actor, query: dict[str, str], hrefs: list[str], listed: list[str]) -> dict[str, Any]:
    """The open report, its conversation, and where resolving goes on to: the row below it, else the one above."""
    report = triage.report_for(actor, query["item"])
    place = listed.index(report.feedback_id) if report.feedback_id in listed else -1
    after = hrefs[place + 1 : place + 2] or (hrefs[place - 1 : place] if place > 0 else [])
    desk_url = reverse("feedback:desk")
    thread = Thread.objects.select_related("org", "created_by").get(pk=report.thread_id)
    report.thread = thread
    screen = thread_screens.screen(actor, thread)
    rest = {key: value for key, value in query.items() if key not in ("item", "pane")}
    return {
        "item": screens.card_of(
            actor,
            report,
            here=desk_url + href(query),
            next_href=desk_url + (after[0] if after else href(rest)),
        ),
        "subject": thread_screens.head_of(actor, thread, token=screen.token, goals=screen.goals),
        "stretches": presenting.around(screen.turns(), report.message_sequence_num),
        "here": reverse("threads:detail", args=[thread.thread_id]),
        "cloth": presenting.weave(thread.weave),
    }


@signed_in
@require_POST
def act(request: HttpRequest, feedback_id: str) -> HttpResponse:
    """Save label and note, and resolve or reopen. Resolving goes on to the next report."""
    actor = page_actor(request)
    triage.report_for(actor, feedback_id)
    changes: dict[str, Any] = {
        column: request.POST[column].replace("\r\n", "\n").strip() or None
        for column in ("admin_label", "admin_note")
        if column in request.POST
    }
    verb = request.POST.get("verb", "save")
    if verb not in ("save", "resolve", "reopen"):
        raise InvalidRequest("verb: must be save, resolve or reopen")
    if verb != "save":
        changes["resolved"] = verb == "resolve"
    try:
        bodies.check_storable(changes)
        triage.update(actor, feedback_id, bodies.parse(TriageIn, changes))
    except InvalidRequest as problem:
        return _kept(request, actor, feedback_id, changes, problem)
    said = {"save": "Saved.", "resolve": "Resolved.", "reopen": "Open again."}[verb]
    notes.success(request, said)
    return redirect(_local(request, request.POST.get("next" if verb == "resolve" else "here", "")))


def _kept(
    request: HttpRequest, actor: Actor, feedback_id: str, typed: dict[str, Any], problem: InvalidRequest
) -> HttpResponse:
    """The desk as it was, with what was typed still in its fields and the reason beside it."""
    address = urlsplit(_local(request, request.POST.get("here", "")))
    query = {key: value for key, value in parse_qsl(address.query) if key in KEYS} | {"item": feedback_id}
    field, _, reason = problem.message.rpartition(": ")
    name = field if field in typed else "admin_note"
    context = _desk(actor, query, {name: _sentence(name.removeprefix("admin_"), reason)})
    fields = {column: typed[column] or "" for column in ("admin_label", "admin_note") if column in typed}
    return render(request, "feedback/desk.html", context | {"item": replace(context["item"], **fields)}, status=400)


def _local(request: HttpRequest, target: str) -> str:
    """A place on this server, the desk for anything else."""
    is_ours = url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure())
    return target if target and is_ours else reverse("feedback:desk")


@signed_in
@require_http_methods(["GET", "POST"])
def rate(request: HttpRequest, thread_id: str, index: int) -> HttpResponse:
    """Rate an answer: a form under the message, or a page of its own without scripts."""
    actor = page_actor(request)
    thread = thread_for(actor, thread_id, Right.RATE)
    capture.require_rateable(thread, index)
    here = reverse("threads:detail", args=[thread.thread_id])
    form = RateForm.of(
        screens.message_marks(actor, thread).get(index) if _has_own(actor, thread, index) else None,
        index=index,
        action=request.path,
        back=f"{here}#m{index}",
        sentiment=request.GET.get("sentiment", ""),
    )
    if request.method == "POST":
        return _submitted(request, actor, thread, form)
    if request.headers.get("HX-Request"):
        return render(request, "feedback/_form.html", {"form": form})
    return _rate_page(request, actor, thread, form)


def _submitted(request: HttpRequest, actor: Actor, thread: Thread, form: RateForm) -> HttpResponse:
    sentiment = request.POST.get("sentiment", "")
    given = {
        "sentiment": sentiment,
        "categories": list(fitting(sentiment, request.POST.getlist("categories"))),
        "notes": request.POST.get("notes", "").replace("\r\n", "\n"),
    }
    is_partial = bool(request.headers.get("HX-Request"))
    try:
        bodies.check_storable(given)
        capture.submit(actor, thread, form.index, bodies.parse(FeedbackIn, given))
    except InvalidRequest as problem:
        refused = _refused(form, given, problem)
        if is_partial:
            mark = screens.message_marks(actor, thread).get(form.index)
            context = {"index": form.index, "mark": mark, "form": refused, "here": form.back}
            return render(request, "feedback/_mark.html", context, status=400)
        return _rate_page(request, actor, thread, refused, status=400)
    if not is_partial:
        return redirect(form.back)
    return render(request, "feedback/_rated.html", _rated(actor, thread, form.index))


def _rated(actor: Actor, thread: Thread, index: int) -> dict[str, Any]:
    """The page of the thread as the new rating leaves it, with the article and the thumbs that show it."""
    context = thread_screens.context(actor, thread)
    turn = next((turn for turn in context["turns"] if index in turn.covers), None)
    acts = next((acts for acts in turn.all_acts if acts.index == index), None) if turn else None
    return {**context, "index": index, "mark": acts and acts.mark, "turn": turn, "acts": acts}


def _refused(form: RateForm, given: dict[str, Any], problem: InvalidRequest) -> RateForm:
    field, _, reason = problem.message.rpartition(": ")
    name = next((name for name in ("notes", "categories", "sentiment") if name in field), "sentiment")
    return RateForm(
        index=form.index,
        action=form.action,
        back=form.back,
        sentiment=given["sentiment"],
        categories=tuple(given["categories"]),
        notes=given["notes"],
        errors={name: "Choose good or bad." if name == "sentiment" else _sentence(name, reason)},
    )


def _sentence(name: str, reason: str) -> str:
    return f"{name.capitalize()} {reason.removeprefix('String ')}."


def _rate_page(request: HttpRequest, actor: Actor, thread: Thread, form: RateForm, status: int = 200) -> HttpResponse:
    start = thread_screens.stretch_start(thread, form.index)
    turns = thread_screens.screen(actor, thread, between=(start, form.index)).turns()
    context = {
        "form": form,
        "thread_title": thread.title or "",
        "here": reverse("threads:detail", args=[thread.thread_id]),
        "turn": next((turn for turn in turns if form.index in turn.covers), None),
    }
    return render(request, "feedback/rate.html", context, status=status)


def _has_own(actor: Actor, thread: Thread, index: int) -> bool:
    own = Q(thread=thread, message_sequence_num=index, created_by=actor.user_id)
    return UserFeedback.objects.filter(own).exists()
