"""Create, share and use skills (K1 to K16)."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, Q, Subquery
from django.utils import timezone

from accounts.rights import require_author, require_member
from catalogue.models import SHARED, Accessibility, Skill, SkillSubscription, SkillVersion
from catalogue.wire_skills import (
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
from core import ids, paging
from core.actor import Actor
from core.db import held
from core.errors import InvalidRequest, NotFound, Stale, Unauthorized
from core.names import name_kept
from core.prepared import Prepared
from core.versions import require_seen

_PLACES = paging.Places("skills")


@dataclass(frozen=True, slots=True)
class SkillText:
    """One version of a skill as a turn uses it: a copy that later edits do not change (B155, B157)."""

    skill_id: str
    name: str
    version: int
    description: str
    body: str

    def as_data(self) -> dict[str, Any]:
        """Plain data, to store with a thread."""
        return asdict(self)


def skill_for(actor: Actor, skill_id: str) -> Skill:
    """A skill that the actor can see, else `NotFound`."""
    key = ids.key_of(skill_id, ids.SKILL)
    skill = Skill.objects.visible_to(actor).select_related("org", "created_by").filter(key=key or "").first()
    if skill is None:
        raise NotFound.of("skill", skill_id[:80], "that you can see")
    return skill


def known(actor: Actor, skill_ids: Sequence[str]) -> list[Skill]:
    """The given skills that the actor can see."""
    keys = {ids.key_of(skill_id, ids.SKILL) or "" for skill_id in skill_ids}
    return list(Skill.objects.visible_to(actor).filter(key__in=keys)) if keys else []


def names(actor: Actor, org_id: int, limit: int) -> list[str]:
    """The first names that `skill_named` can find, in order."""
    found = Skill.objects.usable_in(org_id, actor)
    return list(found.order_by("name").values_list("name", flat=True).distinct()[:limit])


def skill_named(actor: Actor, org_id: int, name: str) -> Skill:
    """A skill by name (K4): the actor's own private skill has priority over one of the org."""
    found = skills_named(actor, org_id, [name]).get(name)
    if found is None:
        raise NotFound.of("skill", name[:120], "that you can see")
    return found


def skills_named(actor: Actor, org_id: int, names: Collection[str]) -> dict[str, Skill]:
    """Several skills by name, in one query."""
    rows = Skill.objects.usable_in(org_id, actor).select_related("org", "created_by").filter(name__in=names)
    return {skill.name: skill for skill in sorted(rows, key=lambda skill: skill.accessibility == Accessibility.PRIVATE)}


def require_editor(actor: Actor, skill: Skill) -> None:
    """Raise `Unauthorized` unless the actor is the author, or subscribed to an org-editable skill."""
    if skill.created_by_id == actor.user_id:
        return
    is_open = skill.accessibility == Accessibility.ORG_EDITABLE
    if not (is_open and SkillSubscription.objects.filter(user=actor.user_id, skill=skill).exists()):
        raise Unauthorized("You can use this skill, but not change it.")


def create(actor: Actor, org_id: int, body: SkillIn) -> Skill:
    """Create a skill with version 1; its author is subscribed and pinned to it (K1). A taken name is a `Conflict`."""
    with name_kept(Skill, body.name):
        skill = Skill.objects.create(
            org_id=org_id,
            created_by_id=actor.user_id,
            accessibility=body.accessibility,
            name=body.name,
            tags=sorted(set(body.tags)),
        )
        SkillVersion.objects.create(
            skill=skill,
            version=1,
            description=body.description,
            body=body.body,
            relevant_topics=body.relevant_topics,
        )
        SkillSubscription.objects.create(user_id=actor.user_id, skill=skill, ai_version=1)
    return skill


def update(actor: Actor, skill: Skill, body: SkillPatch) -> Skill:
    """Change name, visibility or tags (K7). Making it private ends all other subscriptions.

    Its author keeps a private skill of an org that they left, but can no longer share it there.
    """
    changes = body.changes()
    if "accessibility" in changes:
        require_author(actor, skill.created_by_id, "change the visibility of a skill")
        require_member(actor, skill.org_id)
    with name_kept(Skill, changes.get("name", skill.name)):
        skill = _locked(skill)
        require_editor(actor, skill)
        skill.name = changes.get("name", skill.name)
        skill.accessibility = changes.get("accessibility", skill.accessibility)
        skill.tags = sorted((set(skill.tags) | set(body.put_tags)) - set(body.remove_tags))
        skill.modified = timezone.now()
        skill.save(update_fields=["name", "accessibility", "tags", "modified"])
        if skill.accessibility == Accessibility.PRIVATE:
            SkillSubscription.objects.filter(skill=skill).exclude(user=skill.created_by_id).delete()
    return skill


def delete(actor: Actor, skill: Skill) -> None:
    """Delete a skill with its versions and subscriptions (K8); author only. Threads keep their copies (B155)."""
    require_author(actor, skill.created_by_id, "delete a skill")
    with transaction.atomic():
        _locked(skill).delete()


def version_of(skill: Skill, number: int) -> SkillVersion:
    """One version; `NotFound` if there is none with that number."""
    version = SkillVersion.objects.filter(skill=skill, version=number).first()
    if version is None:
        raise NotFound(f"{skill.name} has no version {number}.")
    return version


def add_version(actor: Actor, skill: Skill, body: VersionIn, *, after: int | None = None) -> SkillVersion:
    """Create the next version (K11); pins do not change. Raises `Stale` unless the latest one is `after`, if given."""
    with transaction.atomic():
        skill = _locked(skill)
        require_editor(actor, skill)
        highest = latest(skill)
        if after not in (None, highest):
            raise Stale(f"You began from version {after}. The latest one is version {highest} now.")
        return SkillVersion.objects.create(
            skill=skill,
            version=highest + 1,
            description=body.description,
            body=body.body,
            relevant_topics=body.relevant_topics,
        )


def latest(skill: Skill) -> int:
    """The number of the latest version; 0 for a skill that was deleted."""
    return SkillVersion.objects.filter(skill=skill).aggregate(Max("version"))["version__max"] or 0


def edit_version(
    actor: Actor, skill: Skill, number: int, body: VersionPatch, *, seen: str | None = None
) -> SkillVersion:
    """Edit a version in place (K12); raises `Stale` unless `seen`, a version or an If-Match, is the current one."""
    with transaction.atomic():
        skill = _locked(skill)
        require_editor(actor, skill)
        version = version_of(skill, number)
        require_seen(version, seen, "version")
        for name, value in body.changes().items():
            setattr(version, name, value)
        version.modified = timezone.now()
        version.save(update_fields=[*body.changes(), "modified"])
    return version


def delete_version(actor: Actor, skill: Skill, number: int) -> None:
    """Delete a version (K13) and pins on it. Deleting the last version deletes the skill; only the author may."""
    with transaction.atomic():
        skill = _locked(skill)
        require_editor(actor, skill)
        version = version_of(skill, number)
        if SkillVersion.objects.filter(skill=skill).count() == 1:
            delete(actor, skill)
            return
        SkillSubscription.objects.filter(skill=skill, ai_version=number).update(ai_version=None)
        version.delete()


def subscribe(actor: Actor, skill: Skill) -> SkillSubscription:
    """Subscribe (K14); an existing subscription stays unchanged."""
    with transaction.atomic():
        row, _ = SkillSubscription.objects.get_or_create(user_id=actor.user_id, skill=_seen(actor, skill))
    return row


def unsubscribe(actor: Actor, skill: Skill) -> None:
    """End a subscription (K15), if there is one."""
    SkillSubscription.objects.filter(user=actor.user_id, skill=skill).delete()


def pin_version(actor: Actor, skill: Skill, number: int | None) -> SkillSubscription:
    """Choose the version that agents may load in the actor's threads (K16); subscribes if needed."""
    with transaction.atomic():
        skill = _seen(actor, skill)
        if number is not None and not SkillVersion.objects.filter(skill=skill, version=number).exists():
            raise InvalidRequest(f"ai_version: {skill.name} has no version {number}")
        row, _ = SkillSubscription.objects.update_or_create(
            user_id=actor.user_id, skill=skill, defaults={"ai_version": number}
        )
    return row


def listed(
    actor: Actor, org_id: int, scope: str | None, *, limit: int, page_token: str | None, words: str = ""
) -> SummaryPageOut:
    """A page of summaries, newest first (K6); with `words`, of skills whose latest version contains them."""
    skills = Skill.objects.visible_to(actor).filter(org=org_id)
    if scope == "personal":
        skills = skills.filter(Q(created_by=actor.user_id) | Q(subscriptions__user=actor.user_id)).distinct()
    elif scope == "org":
        skills = skills.filter(accessibility__in=SHARED).exclude(created_by=actor.user_id)
    elif scope is not None:
        raise InvalidRequest("scope: must be personal or org")
    for word in words.split():
        skills = skills.filter(_says(word))
    places = _PLACES.of_query(scope, words)
    rows, next_token = places.page(skills.select_related("org", "created_by"), limit=limit, page_token=page_token)
    return SummaryPageOut(items=summaries(actor, rows), next_token=next_token)


def tags(actor: Actor, org_id: int) -> list[str]:
    """The distinct tags of the skills that the actor can see in an org (K5)."""
    found = Skill.objects.visible_to(actor).filter(org=org_id).values_list("tags", flat=True)
    return sorted({tag for tags in found for tag in tags})


def summary(actor: Actor, skill: Skill) -> SummaryOut:
    """One skill with its latest version and the actor's subscription (K3)."""
    found = summaries(actor, [skill])
    if not found:
        raise _gone(skill)
    return found[0]


def summaries(actor: Actor, skills: Sequence[Skill]) -> list[SummaryOut]:
    """Skills with their latest version and the actor's subscription, in two queries; without deleted ones."""
    highest = SkillVersion.objects.filter(skill__in=skills, version=_highest())
    latest = {version.skill_id: version for version in highest}
    mine = {row.skill_id: row for row in SkillSubscription.objects.filter(skill__in=skills, user=actor.user_id)}
    return [
        SummaryOut(
            skill=skill_out(skill),
            latest_version=version_out(skill, latest[skill.pk]),
            subscription=subscription_out(actor, skill, mine[skill.pk]) if skill.pk in mine else None,
        )
        for skill in skills
        if skill.pk in latest
    ]


def skill_out(skill: Skill) -> SkillOut:
    """The API record of a skill."""
    return SkillOut(
        skill_id=skill.skill_id,
        org_id=skill.org.org_id,
        accessibility=skill.accessibility,
        name=skill.name,
        tags=skill.tags,
        created=skill.created,
        created_by=skill.created_by.email,
        modified=skill.modified,
    )


def version_out(skill: Skill, version: SkillVersion) -> VersionOut:
    """The API record of a version."""
    return VersionOut(
        skill_id=skill.skill_id,
        version=version.version,
        description=version.description,
        body=version.body,
        relevant_topics=version.relevant_topics,
        created=version.created,
        modified=version.modified,
    )


def subscription_out(actor: Actor, skill: Skill, row: SkillSubscription) -> SubscriptionOut:
    """The API record of the actor's subscription."""
    return SubscriptionOut(
        user_id=actor.email, skill_id=skill.skill_id, ai_version=row.ai_version, subscribed=row.subscribed
    )


def texts(actor: Actor, org_id: int, wanted: Sequence[tuple[str, int | None]], field: str) -> list[SkillText]:
    """The requested versions for a thread of an org, by default the latest, regardless of pins (B150 to B154); in two
    queries.

    Raises `InvalidRequest` naming the field for an unknown or invisible skill or version, and for one of another org.
    """
    if not wanted:
        return []
    keys = [ids.key_of(skill_id, ids.SKILL) or "" for skill_id, _ in wanted]
    visible = {skill.skill_id: skill for skill in Skill.objects.usable_in(org_id, actor).filter(key__in=keys)}
    numbers = {number for _, number in wanted if number is not None}
    rows = SkillVersion.objects.filter(Q(version__in=numbers) | Q(version=_highest()), skill__in=visible.values())
    versions: dict[int, dict[int, SkillVersion]] = defaultdict(dict)
    for row in rows:
        versions[row.skill_id][row.version] = row
    return [
        _text(visible.get(skill_id), versions, skill_id, number, f"{field}.{at}")
        for at, (skill_id, number) in enumerate(wanted)
    ]


def latest_texts(actor: Actor, org_id: int, skill_ids: Sequence[str]) -> list[SkillText]:
    """The latest versions of the given skills that the actor can use in an org."""
    usable = Skill.objects.usable_in(org_id, actor).filter(key__in=[ids.key_of(each, ids.SKILL) for each in skill_ids])
    rows = SkillVersion.objects.filter(skill__in=usable, version=_highest()).select_related("skill")
    return [_frozen(row.skill, row) for row in rows]


def subscribes(user_id: int) -> bool:
    """Whether an agent may load any skill on demand for this user. Most turns ask this first."""
    return _PIN.first(user_id) is not None


_PIN = Prepared(
    lambda user_id: SkillSubscription.objects.filter(user=user_id, ai_version__isnull=False).values_list("id")[:1], int
)


def subscribed_texts(actor: Actor, org_id: int, *, until: datetime | None = None) -> list[SkillText]:
    """What an agent may load on demand for this user in an org: subscriptions with a pin (spec 4.2), those made up to a
    moment.

    By name; an own private skill comes before others of the same name (K4).
    """
    made = {} if until is None else {"skill__subscriptions__subscribed__lte": until}
    pinned = SkillVersion.objects.filter(
        skill__in=Skill.objects.usable_in(org_id, actor),
        skill__subscriptions__user=actor.user_id,
        skill__subscriptions__ai_version=F("version"),
        **made,
    )
    order = sorted(
        pinned.select_related("skill"),
        key=lambda row: (row.skill.name, row.skill.accessibility != Accessibility.PRIVATE, row.pk),
    )
    return [_frozen(row.skill, row) for row in order]


def _text(
    skill: Skill | None,
    versions: Mapping[int, Mapping[int, SkillVersion]],
    skill_id: str,
    number: int | None,
    field: str,
) -> SkillText:
    found = versions.get(skill.pk) if skill else None
    if skill is None or not found:
        raise InvalidRequest(f"{field}.skill_id: there is no skill {skill_id[:80]} that you can use in this org")
    version = found.get(max(found) if number is None else number)
    if version is None:
        raise InvalidRequest(f"{field}.version: {skill.name} has no version {number}")
    return _frozen(skill, version)


def _frozen(skill: Skill, version: SkillVersion) -> SkillText:
    return SkillText(skill.skill_id, skill.name, version.version, version.description, version.body)


def _says(word: str) -> Q:
    """Skills with a word in their name or latest version, ignoring case."""
    latest = SkillVersion.objects.filter(skill=OuterRef("pk"), version=_highest())
    return Q(name__icontains=word) | Q(Exists(latest.filter(Q(description__icontains=word) | Q(body__icontains=word))))


def _highest() -> Subquery:
    """The highest version number of a skill."""
    siblings = SkillVersion.objects.filter(skill=OuterRef("skill")).order_by("-version")
    return Subquery(siblings.values("version")[:1])


def _locked(skill: Skill) -> Skill:
    rows = Skill.objects.select_for_update(of=("self",)).select_related("org", "created_by")
    return held(rows, skill.pk, _gone(skill))


def _seen(actor: Actor, skill: Skill) -> Skill:
    """`_locked`, and still visible: somebody else's may have become private since the actor found it."""
    if not Skill.objects.visible_to(actor).filter(pk=_locked(skill).pk).exists():
        raise _gone(skill)
    return skill


def _gone(skill: Skill) -> NotFound:
    return NotFound.of("skill", skill.skill_id, "that you can see")
