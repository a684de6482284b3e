"""The feedback desk: the page with list, conversation and report, and the views for its forms. The URL is the state."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from functools import partial, wraps
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from django.conf import settings
from django.contrib import messages as notes
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.encoding import iri_to_uri
from django.utils.html import format_html_join
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import HttpResponseClientRedirect, push_url, replace_url
from django_htmx.middleware import HtmxDetails

from accounts.authentication import admin_actor
from accounts.pages import local, signed_in
from core import bodies, ids, sse, zones
from core.actor import Actor
from core.errors import Conflict, DomainError, NotFound
from core.problems import came_from, path_here
from core.templatetags.ui import thousands
from core.wording import isolated
from feedback import (
    bulk,
    comment_forms,
    desk_forms,
    desk_live,
    desk_nearby,
    desk_refused,
    desk_screen,
    desk_telling,
    fixing,
    idle,
    leasing,
    saved_views,
    screens,
    triage,
    undoing,
)
from feedback.checks import rerunning
from feedback.deciding import ResolvedAlready
from feedback.models import Bulk
from feedback.presenting.links import href, panes
from feedback.querying import Query, completing, matching, parse

_LATEST = "bulk_latest"
"""Session key of the latest bulk of ticked reports; the next page ticks those that it still lists."""
_MEANWHILE, _MOST_MEANWHILE = "meanwhile", 20
"""Session key of the latest actions that were done while a bulk ran; how many it keeps."""
_FINAL = "final_at"
"""Session key: when the reader last did something that cannot be undone."""
BATCHES, _MOST_BATCHES = "batches", 10
"""Session key: the ids of the batches that the reader began, until they open their page after the end; of how many."""
_HELD_BACK = "What you did last cannot be undone. Shift+Z undoes what was before."
_WHY_NOT = {
    "nothing": "Nothing is left to undo.",
    "undoing": "It is being undone. Stop ends that.",
    "redo": "Nothing is left to redo: you undid nothing, or did something else since.",
}
View = Callable[..., HttpResponseBase]
Told = Callable[[HttpResponseBase, str], HttpResponseBase]
_REPLACED = "HX-Replace-Url"
_LEFT, _EVERYTHING, _COOKIE_BYTES = "desk", "q=", 3_000
"""Cookie with the last list, so that a visit to a thread can return to it; its default; its maximum length."""
_AT = "desk_at"
"""Cookie with the report that was open last, so that a list that is loaded anew goes on at its row."""
_WRITING = {"check", "comment", "edit"}
"""Keys of the address with which a field has the focus."""


def posted(view: View) -> View:
    """A view for forms. A GET redirects to the desk with the same query.

    Without scripts, a rejected form is answered at this URL: relative links of that page and a reload lead back here.
    """
    post = require_POST(view)

    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method not in ("GET", "HEAD"):
            return post(request, *args, **kwargs)
        return to_desk(request, item=kwargs.get("feedback_id", ""))

    return wrapper


def to_desk(request: HttpRequest, *, item: str = "") -> HttpResponse:
    """Redirect to the desk with the query of this URL; if there is none, to all reports with `item` open."""
    query = request.META["QUERY_STRING"] or urlencode({"q": "", **({"item": item} if item else {})})
    return redirect(f"{reverse('feedback:desk')}?{query}")


@signed_in
@require_GET
def desk(request: HttpRequest) -> HttpResponse:
    """The desk page. Without a query it shows unclaimed reports; `add` redirects to the query with that term, and to a
    report whose id it is, `stay` to the query with the open report, `back` to the last list with that report open, and
    with `compare` with that fork beside it.
    """
    return _desk(request)


def _desk(request: HttpRequest, chosen: Mapping[str, str] | None = None) -> HttpResponse:
    """`chosen` is what stands in the open report's form and was not sent: other buttons must not set it back."""
    actor = admin_actor(request)
    if left := request.GET.get("back"):
        beside = {"compare": request.GET["compare"], "pane": "talk"} if "compare" in request.GET else {}
        return redirect(desk_at({**_last_state(request), "item": left, **beside}))
    query = desk_screen.state_of(request.GET.items(), zones.of(request))
    if added := request.GET.get("add", "").strip():
        place = bodies.number(request.GET.get("at", ""))
        asked = parse(query["q"]).with_term(added, at=place).anchored(zones.of(request))
        opened = desk_screen.only_one(actor, asked) or _if_found(actor, asked, _open_before(request))
        return redirect(desk_at({"q": asked.text, **opened}))
    if "stay" in request.GET:
        return redirect(desk_at({"q": query["q"], **_open_before(request)}))
    if "edit" in request.GET and (current := _as_shown(request)):
        return redirect(current)
    if request.headers.get("Heddle-Part") == "item" and query.get("item"):
        shown = desk_screen.opened(actor, query, tz=zones.of(request))
        part = {**shown, **desk_screen.offered(actor, zones.of(request)), "panes": panes(query)}
        return _apart(render(request, "feedback/_opened.html", part))
    ahead = request.headers.get("Heddle-Ahead", "")
    context = desk_screen.page(
        actor,
        query,
        tz=zones.of(request),
        meanwhile=_meanwhile(request),
        follows=request.session.get(BATCHES, ()),
        is_ahead=bool(ahead),
        has_changed=ahead == "true",
    )
    context["typed"] = chosen or {}
    # A page that the browser loads itself, as for Back from elsewhere, begins at the row of the open report. Only of a
    # reload it says so; that goes on at the row that was open, too.
    if not HtmxDetails(request) and not request.GET.keys() & _WRITING:
        is_again = request.headers.get("Cache-Control") == "max-age=0"
        context.setdefault("resume", query.get("item") or (request.COOKIES.get(_AT, "") if is_again else ""))
    response = _shown(request, actor, context, 404 if "gone" in context else 200)
    here = urlencode(desk_screen.kept(query))
    _keep(response, _LEFT, here if len(here) < _COOKIE_BYTES else _EVERYTHING)
    return response


def _open_before(request: HttpRequest) -> dict[str, str]:
    """The report that is open where one comes from, with its pane, for another list: who narrows, widens or turns it
    goes on with what they read.
    """
    shown = _state_in(request, urlsplit(came_from(request)).query)
    is_open = ids.key_of(shown.get("item", ""), ids.FEEDBACK)
    return {name: shown[name] for name in ("item", "pane") if name in shown} if is_open else {}


def _if_found(actor: Actor, asked: Query, opened: dict[str, str]) -> dict[str, str]:
    """What was open before, if a query finds that report, too."""
    key = ids.key_of(opened.get("item", ""), ids.FEEDBACK)
    return opened if key and not asked.problems and matching(actor, asked).filter(key=key).exists() else {}


def _keep(response: HttpResponse, cookie: str, value: str) -> None:
    """Have the browser tell this at the desk again, until it is closed."""
    is_secure, path = settings.SESSION_COOKIE_SECURE, reverse("feedback:desk")
    response.set_cookie(cookie, value, path=path, secure=is_secure, httponly=True, samesite="Lax")


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
        state_of(request).get("item", ""),
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
            return onward(request, _local(request, "here"))
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
        request.session[_MEANWHILE] = [*_meanwhile(request), action][-_MOST_MEANWHILE:]
    if desk_forms.goes_on(request.POST):
        return onward(request, _local(request, "next"))
    return onward(request, _local(request, "here"), chosen=desk_forms.chosen(request.POST))


def _meanwhile(request: HttpRequest) -> list[str]:
    return list(request.session.get(_MEANWHILE, ()))


def _require_meant(request: HttpRequest, feedback_id: str = "") -> None:
    """With scripts, Enter in a field presses the button of that field, and drafts keep what is not sent."""
    if not HtmxDetails(request):
        desk_forms.require_one_meant(request.POST)
        desk_forms.require_none_left(request.POST, feedback_id)


def _comment(request: HttpRequest, actor: Actor, feedback_id: str) -> HttpResponseBase:
    """Comment on a report, or acknowledge its comments."""
    notes.success(request, comment_forms.apply_to_report(actor, feedback_id, request.POST))
    hold_undo(request)
    return onward(request, _local(request, "here"), chosen=desk_forms.chosen(request.POST))


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
            done = bulk.act_on_all(actor, verb, body, query=_asked(request))
        else:
            done = bulk.act_on_all(actor, verb, body, feedback_ids=desk_forms.ticked(request.POST))
    except DomainError as problem:
        return refused(request, actor, problem, part="bulk")
    if done.is_over and "ticked" in request.POST and not request.POST.get("all"):
        request.session[_LATEST] = done.bulk_id
    if words := desk_telling.of_bulk(done):
        notes.info(request, words)
    if verb.name in ("resolve", "duplicate") and _is_open_among(request, done):
        state = state_of(request)
        item = desk_screen.below(actor, state)
        return onward(request, desk_at(desk_screen.kept(state) | ({"item": item} if item else {})), push_url)
    return onward(request, _local(request, "here"), push_url)


def _rerun_all(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Rerun the requests of all ticked or all matching reports, and lead to the batch."""
    form, options = request.POST, desk_forms.rerun_of(request.POST)
    if form.get("all"):
        batch = rerunning.rerun_all(actor, options, query=_asked(request))
    else:
        batch = rerunning.rerun_all(actor, options, feedback_ids=desk_forms.ticked(form))
    hold_undo(request)
    follow(request, batch.batch_id)
    address = reverse("feedback:batch", args=[batch.batch_id])
    return HttpResponseClientRedirect(address) if HtmxDetails(request) else redirect(address)


def follow(request: HttpRequest, batch_id: str, *, is_over: bool = False) -> None:
    """Let the desk tell how far a batch is and what it came to, or no more if the reader has seen that it `is_over`."""
    known = request.session.get(BATCHES, [])
    others = [each for each in known if each != batch_id]
    if is_over and len(others) < len(known):
        request.session[BATCHES] = others
    elif not is_over:
        request.session[BATCHES] = [*others, batch_id][-_MOST_BATCHES:]


def _is_open_among(request: HttpRequest, done: Bulk) -> bool:
    """Whether a bulk changed the open report; once all are resolved, the list goes on below it."""
    key = ids.key_of(state_of(request).get("item", ""), ids.FEEDBACK)
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
        return onward(request, _local(request, "here"))
    action = ids.key_of(request.POST.get("action_id", ""), ids.ACTION) or ""
    try:
        done = bulk.undo(actor, action)
    except DomainError as problem:
        notes.warning(request, problem.message)
        return onward(request, _local(request, "here"), push_url)
    if words := desk_telling.of_undo(done):
        notes.success(request, words)
    request.session.pop(_FINAL, None)
    only, state = undoing.report_of(action), state_of(request)
    # Another report in place of an open one is no step of the browser's history.
    tell = replace_url if state.get("item") else push_url
    if only and only != state.get("item"):  # options like `whole` were set for another report
        state = {**desk_screen.kept(state), "item": only}
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
    return redirect(_local(request, "here"))


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
            return redirect(_looking_at(request, gone.query))
        name, query, is_shared = form.get("name", ""), _asked(request), bool(form.get("is_shared"))
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
    return redirect(_looking_at(request, view.query))


@signed_in
@require_POST
def hold(request: HttpRequest, feedback_id: str) -> HttpResponse:
    """Take, renew or (with `leave`) release the actor's lease on a report."""
    actor = admin_actor(request)
    response = HttpResponse(status=204)
    if request.GET.get("leave"):
        with suppress(NotFound):  # its submitter retracted it while it was open
            leasing.release(actor, feedback_id)
        return response
    leasing.hold(actor, feedback_id)
    _keep(response, _AT, feedback_id)
    return response


@signed_in
@require_GET
def live(request: HttpRequest, since: int) -> HttpResponseBase:
    """Live events since the page was read, in milliseconds: leases of others, changes, the actor's bulks."""
    follows = request.session.get(BATCHES, ())
    return sse.stream(desk_live.news(request, admin_actor(request), since=since, follows=follows))


def onward(
    request: HttpRequest, address: str, tell: Told = replace_url, *, chosen: Mapping[str, str] | None = None
) -> HttpResponseBase:
    """The page that an action leads to: a redirect or, for htmx, the desk itself at that address, one trip earlier.

    `tell` says how the browser's history has it; `chosen` as in `_desk`, without scripts it is lost.
    """
    path, query = urlsplit(address)[2:4]
    if not HtmxDetails(request) or path != reverse("feedback:desk"):
        return redirect(address)
    asked = copy(request)
    asked.method, asked.path, asked.path_info = "GET", path, path
    asked.META = {**request.META, "QUERY_STRING": query}
    asked.GET = QueryDict(query)
    response = _desk(asked, chosen)
    return response if _REPLACED in response else tell(response, iri_to_uri(address))


def hold_undo(request: HttpRequest) -> None:
    """Call it for whatever cannot be undone: people press `z` to undo what they did last, so until their next action or
    undo it does not undo what they did before.
    """
    request.session[_FINAL] = timezone.now().timestamp()


def _shown(request: HttpRequest, actor: Actor, context: dict[str, Any], status: int) -> HttpResponse:
    """The desk page. Messages of the last action go into the status line, where they move nothing."""
    messages = list(notes.get_messages(request))
    context |= {"messages": (), **desk_telling.of_last(messages, context, final_at=request.session.get(_FINAL, 0))}
    query, parsed = context["state"], context["parsed"]
    if (bar := context["bar"]).total == 0:
        context["idle"] = idle.idle(actor, bar.views, zones.of(request))
        if not context["idle"] and not bar.notes:
            context["wider"] = idle.wider(actor, parsed)
    context |= {**screens.editing_of(parsed, query, request.GET), "orgs": screens.Orgs(parsed, {})}
    if (latest := request.session.pop(_LATEST, None)) and not parsed.problems:
        context["ticked"] = bulk.still_found(actor, latest, parsed)
    here = _shown_by(request)
    # A desk that asks for the desk needs no frame around it.
    context["base"] = "_swapped.html" if urlsplit(here).path == reverse("feedback:desk") else "base.html"
    response = _apart(render(request, "feedback/desk.html", context, status=status))
    # A refusal keeps the browser's address, and the same address again is one entry of its history.
    if here and (status >= 400 or request.get_full_path() == here):
        response[_REPLACED] = iri_to_uri(here)
    return response


def _shown_by(request: HttpRequest) -> str:
    """The address that a browser with scripts shows while it asks, without fragment; else empty."""
    return came_from(request).partition("#")[0] if HtmxDetails(request) else ""


def _apart(response: HttpResponse) -> HttpResponse:
    """Make caches store pages and fragments separately; otherwise Back would show a fragment as the page."""
    patch_vary_headers(response, ("HX-Request", "Heddle-Part", "Heddle-Ahead"))
    return response


def refused(
    request: HttpRequest, actor: Actor, problem: DomainError, *, item: str = "", part: str = "", **more: Any
) -> HttpResponse:
    """The page with an error in the report's form or in another form (`part`); `more` is added to the context."""
    query = state_of(request) | ({"item": item} if item else {})
    context = desk_refused.refused(
        actor,
        query,
        request.POST,
        problem,
        tz=zones.of(request),
        part=part,
        meanwhile=_meanwhile(request),
        follows=request.session.get(BATCHES, ()),
    )
    context |= {"ticked": request.POST.getlist("feedback_ids"), **more}
    return _shown(request, actor, context, problem.status)


def state_of(request: HttpRequest) -> dict[str, str]:
    """The state of the desk that a form was sent from."""
    return _state_in(request, urlsplit(_local(request, "here")).query)


def _state_in(request: HttpRequest, query: str) -> dict[str, str]:
    return desk_screen.state_of(parse_qsl(query, keep_blank_values=True), zones.of(request))


def _last_state(request: HttpRequest) -> dict[str, str]:
    return _state_in(request, request.COOKIES.get(_LEFT, _EVERYTHING))


def last_list(request: HttpRequest) -> str:
    """The address of the last list of the desk."""
    return desk_at(desk_screen.kept(_last_state(request)))


def _as_shown(request: HttpRequest) -> str:
    """This address with the report that the page shows instead of another one; empty if it is that one.

    With scripts, reports open without reloading the search field, so its links name the one that was open before.
    """
    shown = _open_before(request).get("item", "")
    if shown in ("", request.GET.get("item")):
        return ""
    asked = request.GET.copy()
    asked["item"] = shown
    return f"{request.path}?{asked.urlencode()}"


def _looking_at(request: HttpRequest, query: str) -> str:
    """The desk that a form was sent from, with this query; pages of another one are not those of this."""
    state = state_of(request)
    if state["q"] != query:
        state.pop("after", None)
    return desk_at(state | {"q": query})


def _asked(request: HttpRequest) -> str:
    """The query of a form, its days in the viewer's time zone."""
    return parse(request.POST.get("q", "")).anchored(zones.of(request)).text


def desk_at(query: dict[str, str]) -> str:
    return reverse("feedback:desk") + href(query)


def _local(request: HttpRequest, field: str) -> str:
    """The local address in a field of the form, else the desk.

    With scripts, reports open without reloading the form, so the browser's address is newer than the form's.
    """
    shown = came_from(request) if field == "here" and HtmxDetails(request).current_url else ""
    return local(request, shown or path_here(request, request.POST.get(field, "")), otherwise="feedback:desk")
