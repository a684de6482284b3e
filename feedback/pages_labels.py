"""The labels page of the settings: which labels there are, what each is for, and how many reports carry it."""

from collections.abc import Callable, Mapping

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
from core.grammar import Field, spelled
from feedback import labelling
from feedback.presenting import href

FIELDS = ("name", "description")


@signed_in
@require_http_methods(["GET", "POST"])
def labels(request: HttpRequest) -> HttpResponse:
    """All labels, and making one."""
    if request.method == "POST":
        return _changed(request, _make)
    actor = page_actor(request)
    require_admin(actor)
    return _list(request, actor)


@signed_in
@require_POST
def describe(request: HttpRequest) -> HttpResponse:
    """Say what a label is for."""
    return _changed(request, _describe)


@signed_in
@require_POST
def drop(request: HttpRequest) -> HttpResponse:
    """Take a label out of the choice that no report carries."""
    return _changed(request, _drop)


def _make(actor: Actor, form: Mapping[str, str]) -> str:
    made = labelling.make(actor, form.get("name", ""), form.get("description", ""))
    return f"{made.name} can be chosen at the desk."


def _describe(actor: Actor, form: Mapping[str, str]) -> str:
    labelling.describe(actor, form.get("label", ""), form.get("description", ""))
    return "Saved."


def _drop(actor: Actor, form: Mapping[str, str]) -> str:
    name = form.get("label", "")
    labelling.drop(actor, name)
    return f"The label {name} is gone."


def _changed(request: HttpRequest, change: Callable[[Actor, Mapping[str, str]], str]) -> HttpResponse:
    """Do what a form says and show the page anew, with what came of it or why it was refused."""
    actor, form = page_actor(request), request.POST.dict()
    require_admin(actor)
    try:
        bodies.check_storable(form)
        said = change(actor, form)
    except DomainError as problem:
        return _list(request, actor, problem)
    notes.success(request, said)
    return redirect("feedback:labels")


def _list(request: HttpRequest, actor: Actor, problem: DomainError | None = None) -> HttpResponse:
    """The page; what was refused stays in its field, in the row that it was typed in."""
    context = {
        "labels": [(label, href({"q": spelled(Field("label", label.name))})) for label in labelling.listed(actor)],
        "typed": request.POST,
        "errors": forms.reasons(problem, FIELDS, otherwise="form") if problem else {},
    }
    return render(request, "feedback/labels.html", context, status=problem.status if problem else 200)
