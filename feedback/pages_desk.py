"""The feedback desk: the page with list, conversation and report, and the views for its forms."""

from contextlib import suppress
from functools import partial

from django.contrib import messages as notes
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html_join
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import HttpResponseClientRedirect, push_url, replace_url
from django_htmx.middleware import HtmxDetails

from accounts.authentication import admin_actor
from accounts.pages import signed_in
from core import bodies, ids, sse, zones
from core.actor import Actor
from core.errors import Conflict, DomainError, NotFound
from core.templatetags.ui import thousands
from core.wording import isolated
from feedback import (
    bulk,
    comment_forms,
    desk_answers,
    desk_forms,
    desk_live,
    desk_nearby,
    desk_screen,
    desk_session,
    desk_state,
    desk_telling,
    fixing,
    leasing,
    rerunning,
    saved_views,
    triage,
    undoing,
)
from feedback.deciding import ResolvedAlready
from feedback.desk_answers import onward, posted, refused
from feedback.desk_session import hold_undo
from feedback.desk_state import address_in, desk_at, sent_from
from feedback.models import Bulk
from feedback.querying import completing

_HELD_BACK = "What you did last cannot be undone. Shift+Z undoes what was before."
_WHY_NOT = {
    "nothing": "Nothing is left to undo.",
    "undoing": "It is being undone. Stop ends that.",
    "redo": "Nothing is left to redo: you undid nothing, or did something else since.",
}


@signed_in
@require_GET
def desk(request: HttpRequest) -> HttpResponse:
    """The desk page. Without a query it shows unclaimed reports; `add` redirects to the query with that term, and to a
    report whose id it is, `stay` to the query with the open report, `back` to the last list with that report open, and
    with `compare` with that fork beside it.
    """
    return desk_answers.desk(request)


@signed_in
@require_GET
def terms(request: HttpRequest) -> HttpResponse:
    """Completions of the typed query, as HTML options."""
    offered = completing.following(admin_actor(request), request.GET.get("add", ""))
    return HttpResponse(format_html_join("", '<option value="{}"></option>', ((each,) for each in offered)))


@signed_in
@require_GET
def count(request: HttpRequest) -> HttpResponse:
    """The number of reports that an action on all that match would reach; the list only counts up to 1,000."""
    return HttpResponse(thousands(saved_views.total(admin_actor(request), request.GET.get("q", ""))))


@signed_in
@require_GET
def originals(request: HttpRequest, feedback_id: str) -> HttpResponse:
    """Possible originals of a report for the typed text."""
    found = desk_nearby.choices(
        admin_actor(request), feedback_id, request.GET.get("duplicate_of", ""), tz=zones.of(request)
    )
    return render(request, "feedback/_offered.html", {**found, "region": "originals-found"})


@signed_in
@require_POST
def originals_for_all(request: HttpRequest) -> HttpResponse:
    """Possible originals of the ticked reports for the typed text."""
    actor, form = admin_actor(request), request.POST
    bodies.check_storable(form.dict())
    found = desk_nearby.choices_for_all(
        actor,
        desk_forms.ticked(form),
        sent_from(request).get("item", ""),
        form.get("duplicate_of", ""),
        tz=zones.of(request),
    )
    return render(request, "feedback/_offered.html", {**found, "region": "bulk-originals-found"})


@signed_in
@posted
def act(request: HttpRequest, feedback_id: str) -> HttpResponseBase:
    """Apply the pressed button to one report; some buttons then open the next report."""
    actor = admin_actor(request)
    try:
        bodies.check_storable(request.POST.dict())
        _require_meant(request, feedback_id)
        if request.POST.get("verb") in comment_forms.OF_THE_REPORT:
            return _comment(request, actor, feedback_id)
        steps = desk_forms.steps_of(request.POST, zones.of(request))
        if not steps:  # Enter in a field without words: nothing that undo would have to wait for
            notes.info(request, "Nothing was typed.")
            return onward(request, address_in(request, "here"))
        seen, apply = desk_forms.seen(request.POST), triage.act
        if desk_forms.fixes(request.POST):
            apply = partial(fixing.fix, **desk_forms.fix_of(request.POST))
        try:
            report, action = apply(actor, feedback_id, *steps, **seen)
        except ResolvedAlready as problem:
            # The second admin wanted it resolved, and it is: say so instead of asking to press again.
            # Who says that it is fixed, and writes so, must see who said otherwise.
            if steps[-1][0].name != "resolve" or desk_forms.fixes(request.POST):
                raise
            report, action = apply(actor, feedback_id, *steps[:-1], **seen)
            notes.info(request, desk_telling.of_resolved(actor, problem, report))
    except DomainError as problem:
        return refused(request, actor, problem, item=feedback_id)
    for words in desk_forms.told_of_left(request.POST, report, action):
        notes.info(request, words, extra_tags=action or "")
    if action is None:
        hold_undo(request)
    elif bulk.is_running(actor):
        desk_session.keep_meanwhile(request, action)
    if desk_forms.goes_on(request.POST):
        return onward(request, address_in(request, "next"))
    return onward(request, address_in(request, "here"), chosen=desk_forms.chosen(request.POST))


def _require_meant(request: HttpRequest, feedback_id: str = "") -> None:
    """With scripts, Enter in a field presses the button of that field, and drafts keep what is not sent."""
    if not HtmxDetails(request):
        desk_forms.require_one_meant(request.POST)
        desk_forms.require_none_left(request.POST, feedback_id)


def _comment(request: HttpRequest, actor: Actor, feedback_id: str) -> HttpResponseBase:
    """Comment on a report, or acknowledge its comments."""
    notes.success(request, comment_forms.apply_to_report(actor, feedback_id, request.POST))
    hold_undo(request)
    return onward(request, address_in(request, "here"), chosen=desk_forms.chosen(request.POST))


@signed_in
@posted
def act_on_all(request: HttpRequest) -> HttpResponseBase:
    """Apply the pressed button to all ticked or all matching reports."""
    actor = admin_actor(request)
    try:
        bodies.check_storable(dict(request.POST.lists()))
        _require_meant(request)
        if desk_forms.reruns(request.POST):
            return _rerun_all(request, actor)
        verb, body = desk_forms.step_for_all(request.POST, zones.of(request))
        if request.POST.get("all"):
            done = bulk.act_on_all(actor, verb, body, query=desk_state.query_of(request))
        else:
            done = bulk.act_on_all(actor, verb, body, feedback_ids=desk_forms.ticked(request.POST))
    except DomainError as problem:
        return refused(request, actor, problem, part="bulk")
    if done.is_over and "ticked" in request.POST and not request.POST.get("all"):
        desk_session.keep_ticked(request, done.bulk_id)
    if words := desk_telling.of_bulk(done):
        notes.info(request, words)
    if verb.name in ("resolve", "duplicate") and _is_open_among(request, done):
        state = sent_from(request)
        item = desk_screen.below(actor, state)
        return onward(request, desk_at(desk_state.kept(state) | ({"item": item} if item else {})), push_url)
    return onward(request, address_in(request, "here"), push_url)


def _rerun_all(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Rerun the requests of all ticked or all matching reports, and lead to the batch."""
    form, options = request.POST, desk_forms.rerun_of(request.POST)
    if form.get("all"):
        batch = rerunning.rerun_all(actor, options, query=desk_state.query_of(request))
    else:
        batch = rerunning.rerun_all(actor, options, feedback_ids=desk_forms.ticked(form))
    hold_undo(request)
    desk_session.follow(request, batch.batch_id)
    address = reverse("feedback:batch", args=[batch.batch_id])
    return HttpResponseClientRedirect(address) if HtmxDetails(request) else redirect(address)


def _is_open_among(request: HttpRequest, done: Bulk) -> bool:
    """Whether a bulk changed the open report; once all are resolved, the list goes on below it."""
    key = ids.key_of(sent_from(request).get("item", ""), ids.FEEDBACK)
    return key is not None and undoing.changes_of(done.key).filter(feedback__key=key).exists()


@signed_in
@posted
def undo(request: HttpRequest) -> HttpResponseBase:
    """Undo an action, or redo an undo. Unless it was a bulk, the report that it was about is opened.

    With `ask` only tell why not: something came after it that cannot be undone, or that changed nothing, or as in
    `_WHY_NOT`.
    """
    actor = admin_actor(request)
    if "ask" in request.POST:
        notes.info(request, _WHY_NOT.get(request.POST["ask"], _HELD_BACK))
        return onward(request, address_in(request, "here"))
    action = ids.key_of(request.POST.get("action_id", ""), ids.ACTION) or ""
    try:
        done = bulk.undo(actor, action)
    except DomainError as problem:
        notes.warning(request, problem.message)
        return onward(request, address_in(request, "here"), push_url)
    if words := desk_telling.of_undo(done):
        notes.success(request, words)
    desk_session.release_undo(request)
    only, state = undoing.report_of(action), sent_from(request)
    # Another report in place of an open one is no step of the browser's history.
    tell = replace_url if state.get("item") else push_url
    if only and only != state.get("item"):  # options like `whole` were set for another report
        state = {**desk_state.kept(state), "item": only}
    return onward(request, desk_at(state), tell)


@signed_in
@posted
def stop(request: HttpRequest, bulk_id: str) -> HttpResponse:
    """Stop a running bulk."""
    try:
        stopped = bulk.cancel(admin_actor(request), bulk_id)
    except Conflict as problem:
        notes.warning(request, problem.message)
    else:
        notes.info(request, desk_telling.of_stop(stopped), extra_tags=stopped.key)
    return redirect(address_in(request, "here"))


@signed_in
@posted
def keep_view(request: HttpRequest) -> HttpResponse:
    """Save the query as a view. If the actor has one of that name, its query is shown, with a button to replace it.

    Or change the current view including its name, or delete it; its query then stays in the search field. The page of
    the list and the open report stay.
    """
    actor = admin_actor(request)
    form = request.POST
    try:
        bodies.check_storable(form.dict())
        if form.get("verb") == "drop":
            gone = saved_views.drop(actor, form.get("view_id", ""))
            notes.success(request, f"Deleted {isolated(gone.name)}. To restore it, save it again.")
            hold_undo(request)
            return redirect(desk_state.looking_at(request, gone.query))
        name, query, is_shared = form.get("name", ""), desk_state.query_of(request), bool(form.get("is_shared"))
        if form.get("verb") == "change":
            view_id, before = form.get("view_id", ""), ""
            view = saved_views.change(actor, view_id, name=name, query=query, is_shared=is_shared)
        else:
            # The button names the view it asked about; for a name typed since, ask again.
            replace = form.get("replace") == name
            view, before = saved_views.keep(actor, name, query, is_shared=is_shared, replace=replace)
    except saved_views.IsThere as problem:
        return refused(request, actor, problem, part="view", replaced=problem.view)
    except DomainError as problem:
        return refused(request, actor, problem, part="view")
    was = "" if before in ("", view.query) else f" Previous query: {isolated(before)}"
    notes.success(request, f"Saved as {isolated(view.name)}.{was}")
    hold_undo(request)
    return redirect(desk_state.looking_at(request, view.query))


@signed_in
@require_POST
def lease(request: HttpRequest, feedback_id: str) -> HttpResponse:
    """Take, renew or (with `leave`) release the actor's lease on a report."""
    actor = admin_actor(request)
    response = HttpResponse(status=204)
    if request.GET.get("leave"):
        with suppress(NotFound):  # its submitter retracted it while it was open
            leasing.release(actor, feedback_id)
        return response
    leasing.take(actor, feedback_id)
    desk_state.keep_open(response, feedback_id)
    return response


@signed_in
@require_GET
def live(request: HttpRequest, since: int) -> HttpResponseBase:
    """Live events since the page was read, in milliseconds: leases of others, changes, the actor's bulks."""
    follows = desk_session.followed(request)
    return sse.stream(desk_live.news(request, admin_actor(request), since=since, follows=follows))
