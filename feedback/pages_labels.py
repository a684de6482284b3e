"""The labels page of the settings: which labels there are, what each is for, and how many reports carry it."""

from django.contrib import messages as notes
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts.authentication import page_actor
from accounts.pages import signed_in
from accounts.rights import require_admin
from core import bodies, forms
from core.actor import Actor
from core.errors import DomainError
from feedback import labelling
from feedback.presenting import href
from feedback.querying.grammar import Field, spelled

FIELDS = ("name", "description")


@signed_in
@require_http_methods(["GET", "POST"])
def labels(request: HttpRequest) -> HttpResponse:
    """All labels, and making one."""
    actor = page_actor(request)
    require_admin(actor)
    if request.method == "GET":
        return _list(request, actor)
    try:
        bodies.check_storable(request.POST.dict())
        made = labelling.make(actor, request.POST.get("name", ""), request.POST.get("description", ""))
    except DomainError as problem:
        return _list(request, actor, problem)
    notes.success(request, f"{made.name} can be chosen at the desk.")
    return redirect("feedback:labels")


@signed_in
@require_POST
def describe(request: HttpRequest) -> HttpResponse:
    """Say what a label is for."""
    actor = page_actor(request)
    require_admin(actor)
    try:
        bodies.check_storable(request.POST.dict())
        labelling.describe(actor, request.POST.get("label", ""), request.POST.get("description", ""))
    except DomainError as problem:
        return _list(request, actor, problem)
    notes.success(request, "Saved.")
    return redirect("feedback:labels")


@signed_in
@require_POST
def drop(request: HttpRequest) -> HttpResponse:
    """Take a label out of the choice that no report carries."""
    actor = page_actor(request)
    require_admin(actor)
    try:
        bodies.check_storable(request.POST.dict())
        labelling.drop(actor, request.POST.get("label", ""))
    except DomainError as problem:
        return _list(request, actor, problem)
    notes.success(request, "The label is gone.")
    return redirect("feedback:labels")


def _list(request: HttpRequest, actor: Actor, problem: DomainError | None = None) -> HttpResponse:
    """The page; what was refused stays in its field, in the row that it was typed in."""
    context = {
        "labels": [(label, href({"q": spelled(Field("label", label.name))})) for label in labelling.listed(actor)],
        "typed": request.POST,
        "errors": forms.reasons(problem, FIELDS, otherwise="form") if problem else {},
    }
    return render(request, "feedback/labels.html", context, status=problem.status if problem else 200)
