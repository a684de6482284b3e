"""What the agents of a batch had otherwise than before: skills, system prompts and models. No result is compared here.

A check that ran before is compared with its first run then, any other one with the rated answer. So whoever sees that
checks turned sees also by what they may have, or that nothing changed: then the answers differ by chance.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.db.models import TextField, Value
from django.db.models.functions import MD5, Coalesce

from feedback.models import CheckBatch, CheckRun
from feedback.wire_checks import ChangesOut, SkillChangeOut

_PROMPTS = ("fork__system_prompt", "of__thread__system_prompt")
_COLUMNS = ("of", "batch", "skill_versions", "model_profile", "of__thread__model_profile")


class _Had(NamedTuple):
    """What an agent had: its skills are versions by id."""

    skills: Mapping[str, int]
    prompt: str
    """A fingerprint."""
    model_profile: str
    """Empty if it is not known."""


def since(batch: CheckBatch, before_in: Mapping[int, int | None]) -> ChangesOut:
    """What changed for the checks of a batch, by row id with the row id of the batch that each is compared with, None
    for the rated answer. Runs that have not started are left out. One query.
    """
    now: dict[int, _Had] = {}
    before: dict[int, _Had] = {}
    names: dict[str, str] = {}
    of_both = {batch.pk, *filter(None, before_in.values())}
    prompts = [MD5(Coalesce(prompt, Value("", TextField()))) for prompt in _PROMPTS]
    rows = CheckRun.objects.filter(of__in=before_in, batch__in=of_both, fork__isnull=False).order_by("id")
    for of, in_batch, versions, profile, rated_profile, prompt, rated_prompt in rows.values_list(*_COLUMNS, *prompts):
        names |= {each["skill_id"]: each["name"] for each in versions}
        ran = _Had({each["skill_id"]: each["version"] for each in versions}, prompt, profile)
        if in_batch == batch.pk:
            now.setdefault(of, ran)
            if before_in[of] is None and all("was" in each for each in versions):  # runs of old do not tell
                rated = {each["skill_id"]: each["was"] for each in versions if each["was"] is not None}
                before.setdefault(of, _Had(rated, rated_prompt, rated_profile or ""))
        elif in_batch == before_in[of]:
            before.setdefault(of, ran)
    return _changes([(now[of], before[of]) for of in now.keys() & before.keys()], names)


def _changes(pairs: Sequence[tuple[_Had, _Had]], names: Mapping[str, str]) -> ChangesOut:
    turned: Counter[tuple[str, int | None, int | None]] = Counter()
    for now, before in pairs:
        for skill_id in now.skills.keys() | before.skills.keys():
            turned[skill_id, before.skills.get(skill_id), now.skills.get(skill_id)] += 1
    moved = [(skill_id, was, now, count) for (skill_id, was, now), count in turned.items() if was != now]
    return ChangesOut(
        checks=len(pairs),
        skills=[
            SkillChangeOut(skill_id=skill_id, name=names[skill_id], before=was, now=now, checks=count)
            for skill_id, was, now, count in sorted(moved, key=lambda each: (-each[3], names[each[0]], each[2] or 0))
        ],
        system_prompts=sum(now.prompt != before.prompt for now, before in pairs),
        model_profiles=sum(now.model_profile != before.model_profile for now, before in pairs if before.model_profile),
    )
