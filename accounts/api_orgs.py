"""The routes for orgs, their members and policies, and for one's own tokens."""

from typing import Any

from django.http import HttpResponse
from django.utils.cache import add_never_cache_headers
from rest_framework.request import Request

from accounts import invitations, members, orgs, tokens
from accounts.models import ApiToken, Membership, Org
from accounts.wire import (
    InvitedOut,
    MemberIn,
    MemberOut,
    MemberPageOut,
    MemberPatch,
    OrgOut,
    OrgPageOut,
    OrgPatch,
    TokenOut,
    TokenPageOut,
)
from core import paging
from core.api import Endpoint, data, describe, record
from core.errors import NotFound
from core.wire import Nothing

_ORGS = paging.Places("orgs", (str,))


class Orgs(Endpoint):
    @describe(gives=OrgPageOut, query=("limit", "page_token"), summary="List the orgs that you may act in")
    def get(self, request: Request) -> HttpResponse:
        limit, token = paging.limit_of(self.query("limit")), self.query("page_token")
        found, onward = _ORGS.page(orgs.open_to(self.actor), limit=limit, page_token=token, by="slug", ascending=True)
        return record(OrgPageOut(items=[_org(each) for each in found], next_token=onward))


class _OfOrg(Endpoint):
    """A URL of one org; one that the caller may not act in is not found."""

    def org(self) -> Org:
        return orgs.org_for(self.actor, self.kwargs["org_id"])


class OneOrg(_OfOrg):
    @describe(gives=OrgOut, summary="Get an org")
    def get(self, request: Request, org_id: str) -> HttpResponse:
        return record(_org(self.org()))

    @describe(takes=OrgPatch, gives=OrgOut, summary="Change the policies of an org")
    def patch(self, request: Request, org_id: str) -> HttpResponse:
        org = self.org()
        orgs.require_administering(self.actor, org)
        return record(_org(orgs.change_policies(self.actor, org, self.parse(OrgPatch).changes())))


class Members(_OfOrg):
    @describe(gives=MemberPageOut, query=("limit", "page_token"), summary="List the members of an org by email")
    def get(self, request: Request, org_id: str) -> HttpResponse:
        org, limit = self.org(), paging.limit_of(self.query("limit"))
        found, onward = members.page(self.actor, org, limit=limit, page_token=self.query("page_token"))
        return record(MemberPageOut(items=[MemberOut(**_member(each)) for each in found], next_token=onward))

    @describe(takes=MemberIn, gives=InvitedOut, summary="Add a member; a new account gets an invitation link, once")
    def post(self, request: Request, org_id: str) -> HttpResponse:
        org = self.org()
        orgs.require_administering(self.actor, org)
        asked = self.parse(MemberIn)
        return _invited(members.add(self.actor, org.slug, asked.email, name=asked.name, role=asked.role))


class _OfMember(_OfOrg):
    """A URL of one member of an org."""

    def member(self) -> Membership:
        return members.member_for(self.actor, self.org(), self.kwargs["email"])


class OneMember(_OfMember):
    @describe(gives=MemberOut, summary="Get a member of an org")
    def get(self, request: Request, org_id: str, email: str) -> HttpResponse:
        return record(MemberOut(**_member(self.member())))

    @describe(takes=MemberPatch, gives=MemberOut, summary="Change the role of a member")
    def patch(self, request: Request, org_id: str, email: str) -> HttpResponse:
        member = self.member()
        orgs.require_administering(self.actor, member.org)
        role = self.parse(MemberPatch).changes().get("role", member.role)
        return record(MemberOut(**_member(members.change_role(self.actor, member.pk, role))))

    @describe(summary="Remove a member from an org")
    def delete(self, request: Request, org_id: str, email: str) -> HttpResponse:
        members.remove(self.actor, self.member().pk)
        return data(None)


class Invitation(_OfMember):
    @describe(takes=Nothing, gives=InvitedOut, summary="Make a new invitation link for a member who never signed in")
    def post(self, request: Request, org_id: str, email: str) -> HttpResponse:
        member = self.member()
        orgs.require_administering(self.actor, member.org)
        self.parse(Nothing)
        members.invited(self.actor, member.pk)
        return _invited(member)


class Tokens(Endpoint):
    @describe(gives=TokenPageOut, query=("limit", "page_token"), summary="List your active API tokens, newest first")
    def get(self, request: Request) -> HttpResponse:
        limit, token = paging.limit_of(self.query("limit")), self.query("page_token")
        found, onward = tokens.PLACES.page(tokens.active(self.actor.user_id), limit=limit, page_token=token)
        return record(TokenPageOut(items=[_token(each) for each in found], next_token=onward))


class OneToken(Endpoint):
    @describe(summary="Revoke one of your API tokens")
    def delete(self, request: Request, token_id: str) -> HttpResponse:
        if not (token_id.isascii() and token_id.isdecimal() and len(token_id) < 19):
            raise NotFound.of("active token", token_id[:80])
        tokens.revoke(self.actor.user_id, int(token_id))
        return data(None)


def _org(org: Org) -> OrgOut:
    policies = {name: getattr(org, name) for name in Org.POLICIES}
    return OrgOut(org_id=org.org_id, slug=org.slug, name=org.name, **policies)


def _member(member: Membership) -> dict[str, Any]:
    is_invited = bool(getattr(member, "is_invited", False))
    named = {"email": member.user.email, "name": member.user.display_name}
    return {**named, "role": member.role, "is_invited": is_invited, "created": member.created}


def _invited(member: Membership) -> HttpResponse:
    """A response with the link, which no cache may store."""
    path = invitations.path_for(member.user) if getattr(member, "is_invited", False) else None
    response = record(InvitedOut(**_member(member), invitation_path=path))
    add_never_cache_headers(response)
    return response


def _token(row: ApiToken) -> TokenOut:
    columns = ("name", "hint", "scope", "created", "expires_at", "last_used_at")
    return TokenOut(token_id=row.pk, **{name: getattr(row, name) for name in columns})
