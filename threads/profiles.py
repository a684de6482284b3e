"""Model profiles: which model answers under which name (H9). One line of configuration each, `name=provider:model`."""

from dataclasses import dataclass
from functools import cache

from django.conf import settings

from core.errors import InvalidRequest

SIMULATED = "simulated"


@dataclass(frozen=True, slots=True)
class Profile:
    """A model under a name; `model` is what pydantic-ai calls it, or `simulated`."""

    id: str
    label: str
    description: str
    model: str
    is_default: bool


@cache
def all_profiles() -> tuple[Profile, ...]:
    """Every profile, exactly one of them the default; the simulator is always there."""
    lines = [line.partition("=") for line in settings.HEDDLE.model_profiles]
    models = {name.strip(): model.strip() for name, _, model in lines}
    default = settings.HEDDLE.default_profile or next(iter(models), SIMULATED)
    models.setdefault(SIMULATED, SIMULATED)
    return tuple(
        Profile(name, name.replace("-", " ").capitalize(), _description(model), model, name == default)
        for name, model in models.items()
    )


def named(profile_id: str | None) -> Profile:
    """The profile with that id, the default one for none; an unknown id is an invalid request."""
    for profile in all_profiles():
        if profile.id == profile_id or (profile_id is None and profile.is_default):
            return profile
    raise InvalidRequest(f"model_profile: there is no profile {str(profile_id)[:80]}")


def _description(model: str) -> str:
    if model == SIMULATED:
        return "Built in: answers at once, the same way every time, and never leaves this machine."
    return f"Answers by {model}."
