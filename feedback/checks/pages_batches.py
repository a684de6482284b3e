"""The pages of batches: the list, and one batch compared with another."""

from collections.abc import Sequence
from urllib.parse import urlencode

from django.contrib import messages as notes
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from accounts.authentication import admin_actor
from accounts.pages import signed_in
from core import bodies, paging, zones
from feedback.checks import batches, presenting_batches, running, screen
from feedback.checks.presenting_batches import BatchLine
from feedback.models import CheckBatch

PAGE = 30
OTHERS = 20


@signed_in
@require_GET
def all_batches(request: HttpRequest) -> HttpResponse:
    """All batches, newest first."""
    actor = admin_actor(request)
    running.come_by()
    rows = batches.listed(actor)
    found, token = batches.PLACES.page(rows, limit=PAGE, page_token=request.GET.get("after"))
    context = {"batches": _lines(found), "next_url": paging.next_url(request.GET, token)}
    return render(request, "feedback/checks/batches.html", context)


@signed_in
@require_GET
def one_batch(request: HttpRequest, batch_id: str) -> HttpResponse:
    """A batch compared with another one, or each of its checks with its own previous batch."""
    actor = admin_actor(request)
    running.come_by()
    now, against = running.batch_for(actor, batch_id), request.GET.get("against", "")
    earlier = running.batch_for(actor, against) if against else None
    others = [each for each in batches.listed(actor).order_by("-pk")[:OTHERS] if each not in (now, earlier)]
    turned = request.GET.get("turned", "")
    context = screen.of_batch(
        now,
        earlier,
        turned=turned if turned in screen.TURNED else "",
        start=bodies.number(request.GET.get("from", "")) or 0,
    )
    onward = {**request.GET.dict(), "from": context["next_from"]}
    context |= {
        "others": _lines([earlier, *others] if earlier else others),
        "zone": zones.of(request),
        "onward": f"?{urlencode(onward)}" if context["next_from"] else "",
    }
    return render(request, "feedback/checks/batch.html", context)


def _lines(found: Sequence[CheckBatch]) -> list[BatchLine]:
    """Batches for display. One query."""
    names = [batch.created_by.display_name for batch in found]
    return list(map(presenting_batches.line_of_batch, batches.heads(found), names))


@signed_in
@require_POST
def stop(request: HttpRequest, batch_id: str) -> HttpResponse:
    """Stop a batch."""
    running.stop(admin_actor(request), batch_id)
    notes.success(request, "Stopped. Results of ended runs stay.")
    return redirect("feedback:batch", batch_id)
