"""The pages of checks: the panel of a report, and the list of all. They use the same functions as the REST routes."""

import re
from collections.abc import Mapping
from typing import Any

from django.contrib import messages as notes
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.text import get_text_list
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.middleware import HtmxDetails

from accounts.authentication import admin_actor
from accounts.pages import local, signed_in
from core import bodies, paging
from core.actor import Actor
from core.errors import DomainError, InvalidRequest
from feedback import (
    access,
    check_records,
    checks_screen,
    desk_answers,
    desk_rerun,
    desk_session,
    desk_state,
    desk_telling,
)
from feedback.checks import judging, keeping, presenting, running
from feedback.checks.expecting import WORDS
from feedback.models import Check
from feedback.wire_checks import OF_CALLS, WITH_VALUE, CheckIn, RunAllIn, RunIn

PAGE = 30
_VERBS = ("keep", "keep_run", "run", "drop", "passed", "failed")
_FIRST_KIND = next(iter(WORDS))
"""The kind of an empty line."""
STATES = (
    ("", "All"),
    ("failing", "Failing"),
    ("passing", "Passing"),
    ("undecided", "Undecided"),
    ("running", "Running"),
    ("untried", "Not run yet"),
)
_ENDED = ("failing", "passing", "undecided")


@signed_in
@require_http_methods(["GET", "POST"])
def of_report(request: HttpRequest, feedback_id: str) -> HttpResponse:
    """The check panel of a report as an HTML fragment, or with `mark` the state in its row (GET), or the action of one
    of its buttons (POST).
    """
    actor = admin_actor(request)
    if request.method == "GET":
        if request.GET and not request.headers.get("HX-Request"):  # a link of the page with a rejected form
            return desk_answers.to_desk(request, item=feedback_id)
        running.come_by()
        report = access.report_for(actor, feedback_id)
        if "mark" in request.GET:
            state = keeping.of_report(report).values_list("state", flat=True).first() or ""
            return render(request, "feedback/checks/_mark.html", {"state": state, "of": feedback_id})
        shown = checks_screen.of_report(actor, report) | desk_rerun.ways(desk_state.sent_from(request))
        return render(request, "feedback/checks/_polled.html", shown)
    form = request.POST
    try:
        bodies.check_storable(dict(form.lists()))
        said, tag = _pressed(actor, feedback_id, form)
    except DomainError as problem:
        rows = _rows(form)
        return desk_answers.refused(
            request, actor, problem, item=feedback_id, part="check", check_rows=rows, check_title=form.get("title", "")
        )
    desk_session.hold_undo(request)
    if said:
        notes.success(request, said, extra_tags=tag)
    return redirect(local(request, form.get("here", ""), otherwise="feedback:checks"))


@signed_in
@require_GET
def checks(request: HttpRequest) -> HttpResponse:
    """The list of checks, filtered by words of their names and by state."""
    actor = admin_actor(request)
    running.come_by()
    state = request.GET.get("state", "")
    if state and state not in Check.State.values:
        raise InvalidRequest(f"state: must be {get_text_list(Check.State.values, 'or')}")
    words = request.GET.get("q", "")[: keeping.MOST_TYPED]
    bodies.check_storable({"q": words})
    rows = keeping.listed(actor, state or None, words)
    places = keeping.PLACES.of_query(state, words)
    found, token = places.page(check_records.with_names(rows), limit=PAGE, page_token=request.GET.get("after"))
    counts = keeping.counts(actor, words)
    cards = checks_screen.cards(found)
    running_ids = [each.check_id for each in cards if each.is_running]
    ended = HtmxDetails(request).target == "under-way" and not running_ids  # what asks is there only while any runs
    context = {
        "checks": cards,
        "running_ids": running_ids,
        "announced": _came_out(counts) if ended else "",
        "q": words,
        "state": state,
        "is_ticked": "ticked" in request.GET,
        "tick_url": _tick_url(request.GET),
        "states": [(name, word, counts.get(name, 0) if name else sum(counts.values())) for name, word in STATES],
        "regressed": keeping.regressed(actor),
        "next_url": paging.next_url(request.GET, token),
        "choice": {**request.GET.dict(), "times": bodies.number(request.GET.get("times", ""))},
        **checks_screen.choices(),
    }
    return render(request, "feedback/checks/checks.html", context)


def _came_out(counts: Mapping[str, int]) -> str:
    """What the checks of a list came to, for a reader who does not see that their runs are over."""
    told = [f"{counts[name]:,} {word.lower()}" for name, word in STATES if name in _ENDED and counts.get(name)]
    return f"The runs are over: {', '.join(told)}." if told else "The runs are over."


def _tick_url(query: QueryDict) -> str:
    """The page of these checks with all of them ticked, or with none if all are."""
    asked = query.copy()
    if not asked.pop("ticked", None):
        asked["ticked"] = "all"
    return f"?{asked.urlencode()}"


@signed_in
@require_POST
def run(request: HttpRequest) -> HttpResponse:
    """Run the ticked checks, all of the shown state, or those of a batch again; redirects to the new batch."""
    actor, form = admin_actor(request), request.POST
    try:
        bodies.check_storable(dict(form.lists()))
        if form.get("which") == "ticked" and not form.getlist("check_ids"):
            raise InvalidRequest("No check is ticked.")
        asked = _chosen(RunAllIn, form)
        batch = running.run(actor, keeping.meant(actor, asked), asked)
    except DomainError as problem:
        notes.warning(request, f"Nothing was started. {problem.message}")
    else:
        desk_session.follow(request, batch.batch_id)
        return redirect("feedback:batch", batch.batch_id)
    return redirect(_with_options(local(request, form.get("here", ""), otherwise="feedback:checks"), form))


def _with_options(address: str, form: QueryDict) -> str:
    """The address of a page whose form keeps the options that were sent."""
    path, _, query = address.partition("?")
    asked = QueryDict(query, mutable=True)
    for name in (*running.CHOICES, "times"):
        if value := form.get(name):
            asked[name] = value
    return f"{path}?{asked.urlencode()}"


def _started(count: int) -> str:
    return f"{count} run{'' if count == 1 else 's'} started."


def _pressed(actor: Actor, feedback_id: str, form: QueryDict) -> tuple[str, str]:
    """Apply the pressed button and return what to say of it, with the tag of the message.

    Any button except Delete also saves typed changes.
    """
    verb, _, choice = form.get("verb", "keep").partition(" ")
    if verb not in _VERBS:
        raise InvalidRequest("verb: is not an action of a check")
    if verb == "drop":
        waiting = running.waiting_runs(keeping.drop(actor, choice))
        lost = f" {waiting} waiting run{'' if waiting == 1 else 's'} will not start." if waiting else ""
        return f"Check deleted.{lost} To restore it with its runs, create it again.", ""
    _keep(actor, feedback_id, form, is_asked=verb in ("keep", "keep_run"))
    if verb == "keep":
        return "Check saved.", ""
    if verb in ("passed", "failed"):
        judging.judge(actor, choice, verb)
        return "", ""
    asked = _chosen(RunIn, form)
    running.run(actor, list(keeping.of_report(access.report_for(actor, feedback_id))), asked)
    return _started(asked.times), desk_telling.OF_RUNS


def _keep(actor: Actor, feedback_id: str, form: QueryDict, *, is_asked: bool) -> None:
    """Save the form if asked to, or if it differs from what was shown."""
    shown, title = form.get("shown"), str(form.get("title", "")).strip()
    # Without a name, the title is the request; one that was not changed here may have been changed elsewhere.
    is_renamed = title not in ("", form.get("title_was"))
    typed = bodies.parse(CheckIn, {"expectations": _expectations(form), **({"title": title} if is_renamed else {})})
    is_new = keeping.digest(typed) != shown or is_renamed
    if is_asked or (shown and is_new):
        keeping.keep(actor, feedback_id, typed, shown=shown, title_was=form.get("title_was"))


def _rows(form: QueryDict) -> tuple[presenting.Row, ...]:
    return presenting.typed_rows(*(form.getlist(name) for name in ("kind", "value", "was")))


def _expectations(form: QueryDict) -> list[dict[str, Any]]:
    """The lines of the form. One without its value is an empty line, or deletes what was stored there; it is refused if
    somebody chose its kind.
    """
    found = []
    for row in _rows(form):
        typed = row.value.strip()
        if row.kind in OF_CALLS and typed:
            found.append(_call(row.kind, typed))
        elif row.kind and (typed or row.kind not in WITH_VALUE):
            found.append({"kind": row.kind, "value": typed})
        elif row.kind not in ("", row.was, _FIRST_KIND):
            needed = "a tool" if row.kind in OF_CALLS else "a text"
            raise InvalidRequest(f"value: “{WORDS[row.kind]}” needs {needed}")
    return found


def _call(kind: str, typed: str) -> dict[str, Any]:
    """An expectation from a line like `refund {"amount": 20}`: a tool and its required arguments."""
    name, brace, rest = typed.partition("{")
    if not brace:
        return {"kind": kind, "value": typed}
    try:
        return {"kind": kind, "value": name.strip(), "input": bodies.read_json((brace + rest).encode())}
    except (DomainError, UnicodeEncodeError):
        raise InvalidRequest(f"value: the arguments after {name.strip()[:60]} must be a JSON object") from None


def _chosen(model: Any, form: QueryDict) -> Any:
    """The options of a run from the form."""
    chosen: dict[str, Any] = {name: form[name] for name in running.CHOICES if form.get(name)}
    if times := str(form.get("times", "")):
        chosen["times"] = int(times) if re.fullmatch("[0-9]{1,3}", times) else times
    if model is RunAllIn:
        ticked = form.getlist("check_ids") if form.get("which") != "all" else []
        of_all = {name: form[name] for name in ("state", "batch_id") if form.get(name)}
        chosen |= {"check_ids": ticked} if ticked else of_all
    return bodies.parse(model, chosen)
