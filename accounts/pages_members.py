"""The members page of the settings: members and policies of the current org."""

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
    "members_may_fork": "Members may fork any thread shared with the org, not only their own",
    "visibility_may_change": "Thread owners may share a thread with the org or make it private",
}
"""The label of each policy's checkbox."""
_LINK = "invitation"
"""Session key of an invitation link, [name, URL], until the page has shown it once."""


@signed_in
@require_http_methods(["GET", "POST"])
def listed(request: HttpRequest) -> HttpResponse:
    """List the members of the org and add one."""
    return _changed(request, lambda actor: _add(request, actor)) if request.method == "POST" else _page(request)


@signed_in
@require_POST
def role(request: HttpRequest, member_id: int) -> HttpResponse:
    """Change a member's role."""
    return _changed(request, lambda actor: _told(members.change_role(actor, member_id, request.POST.get("role", ""))))


@signed_in
@require_POST
def remove(request: HttpRequest, member_id: int) -> HttpResponse:
    """Remove a member."""
    return _changed(request, lambda actor: _told(members.remove(actor, member_id), "was removed from {}."))


@signed_in
@require_POST
def link(request: HttpRequest, member_id: int) -> HttpResponse:
    """Create a new link for an invited user."""
    return _changed(request, lambda actor: _invite(request, members.invited(actor, member_id)))


@signed_in
@require_POST
def policies(request: HttpRequest) -> HttpResponse:
    """Save the org's policies."""
    slug, on = request.POST.get("org", ""), request.POST.getlist("on")
    return _changed(request, lambda actor: f"Policies of {orgs.settle_policies(actor, slug, on)} saved.")


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
    return f"Created a new link for {isolated(user.display_name)}."


def _told(member: Membership, words: str = "") -> str:
    is_admin = member.role == Membership.Role.ADMIN
    words = words or ("is now an admin of {}." if is_admin else "is now a member of {}.")
    return f"{isolated(member.user.display_name)} {words.format(member.org.slug)}"


def _changed(request: HttpRequest, change: Callable[[Actor], str]) -> HttpResponse:
    """Apply a form's change, then show the page again with the result or the error."""
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
