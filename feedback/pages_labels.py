"""The labels page of the settings: all labels with their descriptions and report counts."""

from collections.abc import Callable, Mapping

from django.contrib import messages as notes
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from accounts.authentication import admin_actor
from accounts.pages import signed_in
from core import bodies, forms
from core.actor import Actor
from core.errors import DomainError
from core.grammar import spelled
from core.wording import isolated
from feedback import bulk, desk_session, labelling
from feedback.models import Bulk, Label
from feedback.presenting.links import href
from feedback.presenting.words import many_reports
from feedback.querying import term_of
from feedback.renaming import IsThere, Renaming

PAGE = 100
FIELDS = ("name", "description")


@signed_in
@require_http_methods(["GET", "POST"])
def labels(request: HttpRequest) -> HttpResponse:
    """List all labels, or create one."""
    if request.method == "POST":
        return _changed(request, _make)
    return _list(request, admin_actor(request))


@signed_in
@require_POST
def change(request: HttpRequest) -> HttpResponse:
    """Rename or describe a label; if the new name exists, ask first whether to merge both."""
    return _changed(request, _change)


@signed_in
@require_POST
def drop(request: HttpRequest) -> HttpResponse:
    """Delete a label that is on no report."""
    return _changed(request, _drop)


def _make(actor: Actor, form: Mapping[str, str]) -> tuple[str, Label | None]:
    made = labelling.make(actor, form.get("name", ""), form.get("description", ""))
    return f"Label {isolated(made.name)} created.", made


def _change(actor: Actor, form: Mapping[str, str]) -> tuple[str, Label | None]:
    name, description = form.get("label", ""), form.get("description")
    # On a merge, an unchanged description must not replace that of the other label.
    said = None if description == form.get("described") else description
    # The button names the label it asked about; for a name typed since, ask again.
    merge = "merge" in form and form["merge"] == form.get("name")
    begun, renaming = bulk.change_label(actor, name, to=form.get("name"), merge=merge, description=said)
    return "Saved." if renaming is None else _message(name, begun, renaming), begun.into


def _message(name: str, begun: Renaming, renaming: Bulk) -> str:
    """The message about a renaming or merge."""
    name, into = isolated(name), isolated(begun.into.name)
    if not renaming.is_over:
        deed = f"Merging {name} into {into}" if begun.is_merge else f"Renaming {name} to {into}"
        return f"{deed} on {many_reports(renaming.total)}. The desk shows the progress."
    deed = f"Merged {name} into {into}" if begun.is_merge else f"Renamed {name} to {into}"
    told = f"{deed} on {many_reports(renaming.done_count)}."
    if renaming.failed_count:
        told += f" {many_reports(renaming.failed_count)} kept {name}: their labels would become too long."
    return told


def _drop(actor: Actor, form: Mapping[str, str]) -> tuple[str, Label | None]:
    name = form.get("label", "")
    labelling.drop(actor, name)
    return f"Label {isolated(name)} deleted.", None


def _changed(
    request: HttpRequest, change: Callable[[Actor, Mapping[str, str]], tuple[str, Label | None]]
) -> HttpResponse:
    """Apply a form and show the page again, with a message and the focus on the label, or with the error."""
    actor, form = admin_actor(request), request.POST.dict()
    try:
        bodies.check_storable(form)
        said, label = change(actor, form)
    except DomainError as problem:
        return _list(request, actor, problem)
    notes.success(request, said)
    desk_session.hold_undo(request)
    return redirect(_page(form.get("after"), label))


def _page(token: str | None, label: Label | None = None) -> str:
    """The URL of a page of the list, with the focus on a label."""
    query = href({"after": token or "", "changed": str(label.pk) if label else ""})
    return reverse("feedback:labels") + query.removesuffix("?")


def _list(request: HttpRequest, actor: Actor, problem: DomainError | None = None) -> HttpResponse:
    """The page; rejected input stays in its field and row."""
    asked = problem if isinstance(problem, IsThere) else None
    after = request.POST.get("after") or request.GET.get("after") or None
    listed, token = labelling.listed(actor, limit=PAGE, page_token=after)
    at = request.POST.get("label", "") if request.method == "POST" else ""
    # Errors about a row that is not listed are shown above the table.
    fields = FIELDS if not at or at in {label.name for label in listed} else ()
    context = {
        "labels": [(label, href({"q": spelled(term_of("label", label.name))})) for label in listed],
        "after": after or "",
        "next_url": _page(token) if token else "",
        "typed": request.POST,
        "at": at,
        "changed": bodies.number(request.GET.get("changed", "")),
        "merging": asked
        and {"into": asked.into.name, "moved": many_reports(asked.counts[0]), "held": many_reports(asked.counts[1])},
        # A new label has one field that a refusal can be about, far below the top of the page.
        "errors": forms.reasons(problem, fields, otherwise="form" if at else "name") if problem and not asked else {},
    }
    return render(request, "feedback/labels.html", context, status=problem.status if problem else 200)
