"""REST routes of skills (K1 to K16)."""

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.api import OrgEndpoint
from catalogue import naming, skills
from catalogue.models import Skill
from catalogue.wire_skills import (
    PinVersionIn,
    SkillIn,
    SkillOut,
    SkillPatch,
    SubscriptionOut,
    SummaryOut,
    SummaryPageOut,
    VersionIn,
    VersionOut,
    VersionPatch,
)
from core import paging
from core.api import data, dated, describe, record, records
from core.wire import Body


class SkillEndpoint(OrgEndpoint):
    """Base of the skill routes, which the SDK calls."""

    has_exact_query = False

    def skill(self) -> Skill:
        """The skill of the URL; `NotFound` if the caller may not see it."""
        return skills.skill_for(self.actor, self.kwargs["skill_id"])

    def editable_skill(self) -> Skill:
        """The skill of the URL if the caller may edit it; checked before the body is read (spec 1.4)."""
        skill = self.skill()
        skills.require_editor(self.actor, skill)
        return skill

    def number(self) -> int:
        """The version of the URL."""
        return naming.version_number(self.kwargs["version"])


class Create(SkillEndpoint):
    @describe(takes=SkillIn, gives=SkillOut, summary="Create a skill (K1)")
    def post(self, request: Request) -> HttpResponse:
        org_id = self.org()
        return record(skills.skill_out(skills.create(self.actor, org_id, self.parse(SkillIn))))


_SCOPES = {"scope": ("personal", "org")}


class Skills(SkillEndpoint):
    @describe(gives=SummaryPageOut, query=("scope", "limit", "page_token"), choices=_SCOPES, summary="List skills (K6)")
    def get(self, request: Request) -> HttpResponse:
        org_id = self.org()
        limit = paging.limit_of(self.query("limit"))
        token = self.query("page_token")
        return record(skills.listed(self.actor, org_id, self.query("scope"), limit=limit, page_token=token))


class Tags(SkillEndpoint):
    @describe(gives={"type": "string"}, many=True, summary="List tags of visible skills (K5)")
    def get(self, request: Request) -> HttpResponse:
        return data(skills.tags(self.actor, self.org()))


class ByName(SkillEndpoint):
    @describe(gives=SkillOut, summary="Read a skill by name (K4)")
    def get(self, request: Request, name: str) -> HttpResponse:
        return record(skills.skill_out(skills.skill_named(self.actor, self.org(), name)))


class OneSkill(SkillEndpoint):
    @describe(gives=SkillOut, summary="Read a skill (K2)")
    def get(self, request: Request, skill_id: str) -> HttpResponse:
        return record(skills.skill_out(self.skill()))

    @describe(takes=SkillPatch, gives=SkillOut, summary="Change name, visibility or tags of a skill (K7)")
    def put(self, request: Request, skill_id: str) -> HttpResponse:
        skill = self.editable_skill()
        return record(skills.skill_out(skills.update(self.actor, skill, self.parse(SkillPatch))))

    @describe(summary="Delete a skill (K8)")
    def delete(self, request: Request, skill_id: str) -> HttpResponse:
        skills.delete(self.actor, self.skill())
        return data(None)


class Summary(SkillEndpoint):
    @describe(gives=SummaryOut, summary="Read a skill with its latest version (K3)")
    def get(self, request: Request, skill_id: str) -> HttpResponse:
        return record(skills.summary(self.actor, self.skill()))


class Versions(SkillEndpoint):
    @describe(gives=VersionOut, many=True, summary="List versions of a skill (K9)")
    def get(self, request: Request, skill_id: str) -> HttpResponse:
        skill = self.skill()
        return records([skills.version_out(skill, each) for each in skill.versions.order_by("-version")])

    @describe(takes=VersionIn, gives=VersionOut, summary="Add a version (K11)")
    def post(self, request: Request, skill_id: str) -> HttpResponse:
        skill = self.editable_skill()
        return record(skills.version_out(skill, skills.add_version(self.actor, skill, self.parse(VersionIn))))


class OneVersion(SkillEndpoint):
    @describe(gives=VersionOut, has_etag=True, summary="Read a version (K10)")
    def get(self, request: Request, skill_id: str, version: str) -> HttpResponse:
        skill = self.skill()
        return dated(skills.version_out(skill, skills.version_of(skill, self.number())))

    @describe(
        takes=VersionPatch, gives=VersionOut, has_version=True, has_etag=True, summary="Change a version in place (K12)"
    )
    def put(self, request: Request, skill_id: str, version: str) -> HttpResponse:
        skill, seen = self.editable_skill(), request.headers.get("If-Match")
        edited = skills.edit_version(self.actor, skill, self.number(), self.parse(VersionPatch), seen=seen)
        return dated(skills.version_out(skill, edited))

    @describe(summary="Delete a version (K13)")
    def delete(self, request: Request, skill_id: str, version: str) -> HttpResponse:
        skills.delete_version(self.actor, self.skill(), self.number())
        return data(None)


class Subscription(SkillEndpoint):
    @describe(gives=SubscriptionOut, summary="Subscribe to a skill (K14)")
    def post(self, request: Request, skill_id: str) -> HttpResponse:
        skill = self.skill()
        self.parse(Body)
        return record(skills.subscription_out(self.actor, skill, skills.subscribe(self.actor, skill)))

    @describe(takes=PinVersionIn, gives=SubscriptionOut, summary="Choose the version that agents may load (K16)")
    def put(self, request: Request, skill_id: str) -> HttpResponse:
        skill = self.skill()
        row = skills.pin_version(self.actor, skill, self.parse(PinVersionIn).ai_version)
        return record(skills.subscription_out(self.actor, skill, row))

    @describe(summary="Unsubscribe from a skill (K15)")
    def delete(self, request: Request, skill_id: str) -> HttpResponse:
        skills.unsubscribe(self.actor, self.skill())
        return data(None)
