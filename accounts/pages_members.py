"""The members page of the settings: members and policies of the current org."""

import json
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import urlencode

from django.contrib import messages as notes
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from accounts import invitations, members, orgs, shown_once
from accounts.authentication import page_actor
from accounts.models import Membership, Org, User
from accounts.pages import required_org, signed_in
from core import bodies, forms, paging
from core.actor import Actor
from core.errors import DomainError, InvalidRequest
from core.wording import isolated

PAGE = 25
FIELDS = ("email", "name")
POLICIES = {
    "members_may_fork": "Members may fork any thread shared with the org, not only their own",
    "visibility_may_change": "Thread owners may share a thread with the org or make it private",
}
"""The label of each policy's checkbox."""
_LINK = "invitation"
"""Cookie with an invitation link that the page shows once: [name, URL]."""


class Changed(NamedTuple):
    """What a form did, in words, and the user who needs an invitation link for it."""

    words: str
    invited: User | None = None


@signed_in
@require_http_methods(["GET", "POST"])
def listed(request: HttpRequest) -> HttpResponse:
    """List the members of the org and add one."""
    return _changed(request, lambda actor: _add(request, actor)) if request.method == "POST" else _page(request)


@signed_in
@require_POST
def role(request: HttpRequest, member_id: int) -> HttpResponse:
    """Change a member's role."""
    wanted = request.POST.get("role", "")
    return _changed(request, lambda actor: _outcome(members.change_role(actor, member_id, wanted)), at=member_id)


@signed_in
@require_POST
def remove(request: HttpRequest, member_id: int) -> HttpResponse:
    """Remove a member."""
    return _changed(request, lambda actor: _outcome(members.remove(actor, member_id), "was removed from {}."))


@signed_in
@require_POST
def link(request: HttpRequest, member_id: int) -> HttpResponse:
    """Create a new link for an invited user."""
    return _changed(request, lambda actor: _invited(members.invited(actor, member_id)))


@signed_in
@require_POST
def policies(request: HttpRequest) -> HttpResponse:
    """Save the org's policies."""
    slug, on, was = request.POST.get("org", ""), request.POST.getlist("on"), request.POST.getlist("was")

    def save(actor: Actor) -> Changed:
        return Changed(f"Policies of {orgs.settle_policies(actor, slug, on, was=was)} saved.")

    return _changed(request, save)


def _add(request: HttpRequest, actor: Actor) -> Changed:
    form = request.POST.dict()
    bodies.check_storable(form)
    who = {name: form[name] for name in ("name", "role") if name in form}
    member = members.add(actor, form.get("org", ""), form.get("email", ""), **who)
    return _outcome(member)._replace(invited=member.user if getattr(member, "is_invited", False) else None)


def _invited(user: User) -> Changed:
    return Changed(f"Created a new link for {isolated(user.display_name)}.", user)


def _outcome(member: Membership, words: str = "") -> Changed:
    is_admin = member.role == Membership.Role.ADMIN
    is_asked = getattr(member, "is_invited", False)
    words = words or f"is {'invited as' if is_asked else 'now'} {'an admin' if is_admin else 'a member'} of {{}}."
    return Changed(f"{isolated(member.user.display_name)} {words.format(member.org.slug)}")


def _changed(request: HttpRequest, change: Callable[[Actor], Changed], *, at: int | None = None) -> HttpResponse:
    """Apply a form's change, then show the page again with the result or the error. The row of the member `at`
    which it was made has the focus.
    """
    actor = page_actor(request)
    try:
        changed = change(actor)
    except InvalidRequest as problem:
        return _page(request, problem)
    notes.success(request, changed.words)
    onward = {"after": request.POST.get("after", ""), "changed": str(at or "")}
    query = urlencode({name: value for name, value in onward.items() if value})
    response = redirect(reverse("accounts:members") + (f"?{query}" if query else ""))
    if changed.invited:
        url = request.build_absolute_uri(invitations.path_for(changed.invited))
        shown_once.hand_over(response, _LINK, json.dumps([changed.invited.display_name, url]), to=actor.user_id)
    return response


def _page(request: HttpRequest, problem: DomainError | None = None) -> HttpResponse:
    actor, org = page_actor(request), required_org(request)
    after = request.POST.get("after") or request.GET.get("after") or None
    found, token = members.page(actor, org, limit=PAGE, page_token=after)
    may_change = orgs.may_change(actor, org)
    context = {
        "org": org,
        "members": found,
        "after": after or "",
        "changed": bodies.number(request.GET.get("changed", "")),
        "next_url": paging.next_url(request.GET, token),
        "may_change": may_change,
        "admins": "" if may_change else members.admins_of(org.pk),
        "roles": Membership.Role.choices,
        "policies": [(name, POLICIES[name], getattr(org, name)) for name in Org.POLICIES],
        "link": json.loads(shown_once.handed_over(request, _LINK, to=actor.user_id) or "null"),
        "typed": request.POST,
        "errors": forms.reasons(problem, FIELDS, otherwise="form") if problem else {},
    }
    response = render(request, "accounts/members.html", context, status=problem.status if problem else 200)
    if context["link"]:
        shown_once.forget(response, _LINK)
    return response
