"""Judging a run of a check: a panel beside the comparison of its answer, which leads to the next undecided run."""

from django.contrib import messages as notes
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from accounts.authentication import admin_actor
from accounts.pages import signed_in
from core import ids
from core.errors import Conflict, InvalidRequest
from feedback import checks_screen
from feedback.checks import judging, running
from feedback.models import CheckBatch, CheckRun

_WORDS = {"passed": "Passed", "failed": "Failed", "expectations": "Judged by its expectations"}


@signed_in
@require_http_methods(["GET", "POST"])
def run(request: HttpRequest, run_id: str) -> HttpResponse:
    """The panel, as a fragment or a page (GET); a person's verdict, and on to the next undecided run (POST)."""
    actor = admin_actor(request)
    if request.method == "GET":
        is_part = bool(request.headers.get("HX-Request"))
        return render(request, f"feedback/checks/{'_run' if is_part else 'run'}.html", checks_screen.of_run(run_id))
    verdict = request.POST.get("verdict", "")
    if verdict not in _WORDS:
        raise InvalidRequest(f"verdict: must be one of {', '.join(_WORDS)}")
    try:
        given = None if verdict == "expectations" else verdict
        judged = judging.judge(actor, run_id, given, seen=request.POST.get("seen"))
    except Conflict as problem:
        notes.warning(request, problem.message)
        fork = judging.run_for(actor, run_id).fork
        return redirect("threads:compare", fork.thread_id) if fork else redirect("feedback:run", run_id)
    tell = notes.info if verdict == "failed" else notes.success
    tell(request, f"{_WORDS[verdict]}: {judged.of.title}")
    return _ahead(judged.batch, after=judged.pk)


@signed_in
@require_GET
def first(request: HttpRequest, batch_id: str) -> HttpResponse:
    """The comparison of the batch's first undecided run, or of the one that follows the run named by `after`."""
    batch = running.batch_for(admin_actor(request), batch_id)
    key = ids.key_of(request.GET.get("after", ""), ids.RUN) or ""
    return _ahead(batch, after=CheckRun.objects.filter(batch=batch, key=key).values_list("pk", flat=True).first() or 0)


def _ahead(batch: CheckBatch, *, after: int = 0) -> HttpResponse:
    """Lead to the next undecided run, from one on, and then from the first; if there is none, to the batch."""
    keys = judging.undecided(batch.pk).exclude(pk=after).order_by("pk").values_list("fork__key", flat=True)
    key = keys.filter(pk__gt=after).first() or keys.first()
    return redirect("threads:compare", ids.THREAD + key) if key else redirect("feedback:batch", batch.batch_id)
