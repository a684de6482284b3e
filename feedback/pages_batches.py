"""The pages of batches: the list, and one batch compared with another."""

from collections.abc import Sequence
from urllib.parse import urlencode

from django.contrib import messages as notes
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST
from django_htmx.middleware import HtmxDetails

from accounts.authentication import admin_actor
from accounts.pages import signed_in
from core import bodies, forms, paging, zones
from core.actor import Actor
from core.errors import DomainError, InvalidRequest
from feedback import batches, checks_screen, desk_session, desk_state
from feedback.checks import presenting_batches, running
from feedback.checks.presenting_batches import BatchLine
from feedback.models import CheckBatch
from feedback.wire_checks import FixBatchIn

PAGE = 30
OTHERS = 20
_LEFT_OUT, _MOST_LEFT_OUT = "left_out", 5
"""Session key: by the id of a batch, the reports whose ticks were taken away; of how many batches it keeps them."""


@signed_in
@require_GET
def all_batches(request: HttpRequest) -> HttpResponse:
    """All batches, newest first."""
    actor = admin_actor(request)
    running.come_by()
    rows = batches.listed(actor)
    found, token = batches.PLACES.page(rows, limit=PAGE, page_token=request.GET.get("after"))
    firsts = batches.firsts(found)
    lines = [
        presenting_batches.line_of_batch(head, batch.created_by.display_name, firsts.get(batch.pk, ""))
        for batch, head in zip(found, batches.heads(found), strict=True)
    ]
    context = {"batches": lines, "zone": zones.of(request), "next_url": paging.next_url(request.GET, token)}
    return render(request, "feedback/checks/batches.html", context)


@signed_in
@require_GET
def one_batch(request: HttpRequest, batch_id: str) -> HttpResponse:
    """A batch compared with another one, or each of its checks with its own previous batch."""
    return _batch(request, admin_actor(request), batch_id)


def _batch(request: HttpRequest, actor: Actor, batch_id: str, *, status: int = 200, **more: object) -> HttpResponse:
    """The page, after a refusal with what was typed."""
    running.come_by()
    now, against = running.batch_for(actor, batch_id), request.GET.get("against", "")
    if now.ended_at:
        desk_session.follow(request, batch_id, is_over=True)
    earlier = running.batch_for(actor, against) if against else None
    others = [each for each in batches.comparable(actor, now)[:OTHERS] if each not in (now, earlier)]
    turned = request.GET.get("turned", "")
    context = checks_screen.of_batch(
        actor,
        now,
        earlier,
        turned=turned if turned in checks_screen.TURNED else "",
        start=bodies.number(request.GET.get("from", "")) or 0,
        left_out=_left_out(request, batch_id),
    )
    onward = {**request.GET.dict(), "from": context["next_from"]}
    context |= {
        "others": _lines([earlier, *others] if earlier else others),
        "zone": zones.of(request),
        "desk": desk_state.last_list(request),
        "onward": f"?{urlencode(onward)}" if context["next_from"] else "",
        "is_news": HtmxDetails(request).target == "results",  # which asks for it only while the batch runs
        **more,
    }
    return render(request, "feedback/checks/batch.html", context, status=status)


def _lines(found: Sequence[CheckBatch]) -> list[BatchLine]:
    """Batches for display. One query."""
    names = [batch.created_by.display_name for batch in found]
    return list(map(presenting_batches.line_of_batch, batches.heads(found), names))


@signed_in
@require_POST
def fix(request: HttpRequest, batch_id: str) -> HttpResponse:
    """Resolve the ticked reports as fixed, and lead back to the last list of the desk, which can undo it."""
    actor, form = admin_actor(request), request.POST
    running.batch_for(actor, batch_id)
    words = forms.lines(form.get("public_reply", "")).strip()
    try:
        bodies.check_storable(dict(form.lists()))
        named = form.getlist("feedback_ids")
        if "elsewhere" in form:
            apart = _left_out(request, batch_id) | set(form.getlist("shown"))
            named += [each for each in batches.proved(actor, batch_id) if each not in apart]
        if not named:
            raise InvalidRequest("No report is ticked.")
        asked = {"feedback_ids": named, "public_reply": words or None}
        batches.fix(actor, batch_id, bodies.parse(FixBatchIn, asked | {"shows_answer": "shows_answer" in form}))
    except DomainError as problem:
        return _batch(
            request,
            actor,
            batch_id,
            errors=forms.reasons(problem, ("public_reply",), otherwise="fix"),
            typed=form,
            ticked=form.getlist("feedback_ids"),
            status=problem.status,
        )
    return redirect(desk_state.last_list(request))


@signed_in
@require_POST
def leave(request: HttpRequest, batch_id: str) -> HttpResponse:
    """Remember that a report is not to be resolved with the others, or that it is again: its tick was taken away or
    set. So it stays, whatever page is looked at meanwhile.
    """
    actor, of = admin_actor(request), request.POST.get("of", "")
    apart = _left_out(request, batch_id) - {of}
    if of in batches.proved(actor, batch_id) and of not in request.POST.getlist("feedback_ids"):
        apart |= {of}
    kept = dict(request.session.get(_LEFT_OUT, {}))
    kept.pop(batch_id, None)
    request.session[_LEFT_OUT] = dict([*kept.items(), (batch_id, sorted(apart))][-_MOST_LEFT_OUT:])
    return HttpResponse(status=204)


def _left_out(request: HttpRequest, batch_id: str) -> set[str]:
    return set(request.session.get(_LEFT_OUT, {}).get(batch_id, ()))


@signed_in
@require_POST
def stop(request: HttpRequest, batch_id: str) -> HttpResponse:
    """Stop a batch."""
    running.stop(admin_actor(request), batch_id)
    notes.success(request, "Stopped. Results of ended runs stay.")
    return redirect("feedback:batch", batch_id)
