"""The members page of the settings: who is in the org that one acts in, and what its policies allow."""

from collections.abc import Callable

from django.contrib import messages as notes
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_http_methods, require_POST

from accounts import invitations, members, orgs
from accounts.authentication import page_actor
from accounts.models import Membership, Org, User
from accounts.pages import required_org, signed_in
from core import bodies, forms, paging
from core.actor import Actor
from core.errors import DomainError, InvalidRequest
from core.rendering import isolated

PAGE = 25
_PLACES = paging.Places("members", (str,))
FIELDS = ("email", "name")
POLICIES = {
    "members_may_fork": "Members may fork threads that the org sees, not only their own",
    "visibility_may_change": "Who started a thread may change whether the org sees it",
}
"""What each policy allows, as its switch says it."""
_LINK = "invitation"
"""Where a link waits in the session for the page that shows it once: whose it is, and where it leads."""


@signed_in
@require_http_methods(["GET", "POST"])
def listed(request: HttpRequest) -> HttpResponse:
    """Everybody in the org, and letting somebody in."""
    return _changed(request, lambda actor: _add(request, actor)) if request.method == "POST" else _page(request)


@signed_in
@require_POST
def role(request: HttpRequest, member_id: int) -> HttpResponse:
    """Change a member's role."""
    return _changed(request, lambda actor: _told(members.change_role(actor, member_id, request.POST.get("role", ""))))


@signed_in
@require_POST
def remove(request: HttpRequest, member_id: int) -> HttpResponse:
    """Put a member out."""
    return _changed(request, lambda actor: _told(members.remove(actor, member_id), "is no member of {} any more."))


@signed_in
@require_POST
def link(request: HttpRequest, member_id: int) -> HttpResponse:
    """Make a new link for somebody who has not begun yet."""
    return _changed(request, lambda actor: _invite(request, members.invited(actor, member_id)))


@signed_in
@require_POST
def policies(request: HttpRequest) -> HttpResponse:
    """Switch the org's policies."""
    slug, on = request.POST.get("org", ""), request.POST.getlist("on")
    return _changed(request, lambda actor: f"The policies of {orgs.settle_policies(actor, slug, on)} are saved.")


def _add(request: HttpRequest, actor: Actor) -> str:
    form = request.POST.dict()
    bodies.check_storable(form)
    who = {name: form[name] for name in ("name", "role") if name in form}
    member = members.add(actor, form.get("org", ""), form.get("email", ""), **who)
    if getattr(member, "is_invited", False):
        _invite(request, member.user)
    return _told(member)


def _invite(request: HttpRequest, user: User) -> str:
    request.session[_LINK] = [user.display_name, request.build_absolute_uri(invitations.path_for(user))]
    return f"There is a new link for {isolated(user.display_name)}."


def _told(member: Membership, words: str = "") -> str:
    is_admin = member.role == Membership.Role.ADMIN
    words = words or ("is an admin of {} now." if is_admin else "is a member of {} now.")
    return f"{isolated(member.user.display_name)} {words.format(member.org.slug)}"


def _changed(request: HttpRequest, change: Callable[[Actor], str]) -> HttpResponse:
    """Do what a form says and show the page anew, with what came of it or why it was refused."""
    try:
        said = change(page_actor(request))
    except InvalidRequest as problem:
        return _page(request, problem)
    notes.success(request, said)
    return redirect("accounts:members")


def _page(request: HttpRequest, problem: DomainError | None = None) -> HttpResponse:
    actor, org = page_actor(request), required_org(request)
    rows = members.of(actor, org)
    if after := request.GET.get("after"):
        rows = rows.filter(user__email__gt=_PLACES.place(after)[0])
    found = list(rows[: PAGE + 1])
    token = _PLACES.token(found[PAGE - 1].user.email) if len(found) > PAGE else None
    context = {
        "org": org,
        "members": found[:PAGE],
        "next_url": paging.next_url(request.GET, token),
        "may_change": orgs.may_change(actor, org),
        "roles": Membership.Role.choices,
        "policies": [(name, POLICIES[name], getattr(org, name)) for name in Org.POLICIES],
        "link": request.session.pop(_LINK, None),
        "typed": request.POST,
        "errors": forms.reasons(problem, FIELDS, otherwise="form") if problem else {},
    }
    response = render(request, "accounts/members.html", context, status=problem.status if problem else 200)
    if context["link"]:
        add_never_cache_headers(response)
    return response
