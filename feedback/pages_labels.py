"""The labels page of the settings: which labels there are, what each is for, and how many reports carry it."""

from collections.abc import Callable, Mapping

from django.contrib import messages as notes
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts.authentication import admin_actor
from accounts.pages import signed_in
from core import bodies, forms
from core.actor import Actor
from core.errors import DomainError
from core.grammar import spelled
from core.rendering import isolated
from feedback import bulk, labelling
from feedback.models import Bulk
from feedback.presenting import href, many_reports
from feedback.querying import named
from feedback.renaming import IsThere, Renaming

FIELDS = ("name", "description")


@signed_in
@require_http_methods(["GET", "POST"])
def labels(request: HttpRequest) -> HttpResponse:
    """All labels, and making one."""
    if request.method == "POST":
        return _changed(request, _make)
    return _list(request, admin_actor(request))


@signed_in
@require_POST
def change(request: HttpRequest) -> HttpResponse:
    """Rename a label, or say what it is for; a name that another one has asks first whether both are to be one."""
    return _changed(request, _change)


@signed_in
@require_POST
def drop(request: HttpRequest) -> HttpResponse:
    """Take a label out of the choice that no report carries."""
    return _changed(request, _drop)


def _make(actor: Actor, form: Mapping[str, str]) -> str:
    made = labelling.make(actor, form.get("name", ""), form.get("description", ""))
    return f"{isolated(made.name)} can be chosen at the desk."


def _change(actor: Actor, form: Mapping[str, str]) -> str:
    name, description = form.get("label", ""), form.get("description")
    # Of a label that goes into another one, only what was typed just now says more than what that one is for already.
    said = None if description == form.get("described") else description
    # The button says of which name it asked: one that was typed since is asked about anew.
    merge = "merge" in form and form["merge"] == form.get("name")
    begun, renaming = bulk.change_label(actor, name, to=form.get("name"), merge=merge, description=said)
    return "Saved." if renaming is None else _told(name, begun, renaming)


def _told(name: str, begun: Renaming, renaming: Bulk) -> str:
    """What became of a label's reports."""
    name, into = isolated(name), isolated(begun.into.name)
    deed = f"{'merged into' if begun.is_merge else 'renamed to'} {into}"
    if not renaming.is_over:
        return f"{name} is being {deed}: {many_reports(renaming.total)} follow, and the desk shows how far it is."
    told = f"{name} is {deed}, on {many_reports(renaming.done_count)}."
    if renaming.failed_count:
        told += f" {many_reports(renaming.failed_count)} kept {name}: with the longer name their labels have no room."
    return told


def _drop(actor: Actor, form: Mapping[str, str]) -> str:
    name = form.get("label", "")
    labelling.drop(actor, name)
    return f"The label {isolated(name)} is gone."


def _changed(request: HttpRequest, change: Callable[[Actor, Mapping[str, str]], str]) -> HttpResponse:
    """Do what a form says and show the page anew, with what came of it or why it was refused."""
    actor, form = admin_actor(request), request.POST.dict()
    try:
        bodies.check_storable(form)
        said = change(actor, form)
    except DomainError as problem:
        return _list(request, actor, problem)
    notes.success(request, said)
    return redirect("feedback:labels")


def _list(request: HttpRequest, actor: Actor, problem: DomainError | None = None) -> HttpResponse:
    """The page; what was refused stays in its field, in the row that it was typed in."""
    asked = problem if isinstance(problem, IsThere) else None
    listed = labelling.listed(actor)
    at = request.POST.get("label", "") if request.method == "POST" else ""
    # What is about a row that is not drawn stands above all of them.
    fields = FIELDS if not at or at in {label.name for label in listed} else ()
    context = {
        "labels": [(label, href({"q": spelled(named("label", label.name))})) for label in listed],
        "typed": request.POST,
        "at": at,
        "merging": asked
        and {"into": asked.into.name, "moved": many_reports(asked.counts[0]), "held": many_reports(asked.counts[1])},
        "errors": forms.reasons(problem, fields, otherwise="form") if problem and not asked else {},
    }
    return render(request, "feedback/labels.html", context, status=problem.status if problem else 200)
