"""Model profiles: which model answers under which name (H9), one line of configuration each.

    name=provider:model?option=value&option=value

The options are the fields of `Options`. The error for an invalid line names the line but never includes the part after
`?`, which may contain a key.
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Annotated, Self
from urllib.parse import parse_qsl

from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field, HttpUrl, ValidationError, model_validator

from core.errors import InvalidRequest

SIMULATED = "simulated"
SHAPE = "must look like name=provider:model or name=provider:model?option=value&option=value"
OWN_WIRES = ("openai", "openai-chat", "openai-responses", "anthropic")
"""Providers for which a line may set address and key; all others read their own environment variables."""
_KNOWN = """
    alibaba anthropic azure azure-responses bedrock bedrock-mantle cerebras cohere crusoe deepseek fireworks github
    github-copilot google google-cloud google-decisions groq heroku huggingface litellm meta mistral moonshotai nebius
    ollama openai openai-chat openai-chatgpt openai-codex openai-decisions openai-responses openrouter ovhcloud
    sambanova snowflake system-one together typesafe vercel vllm xai zai
"""
PROVIDERS = frozenset(_KNOWN.split())
"""The names of supported providers in pydantic-ai. Listed here because importing the package would cost every command
a second; a test compares the two."""
_LINE = re.compile(r"(?P<name>[\w.-]{1,60})\s*=\s*(?P<model>[\w.-]+:[^\s?]+)(?:\?(?P<options>\S*))?")
Price = Annotated[Decimal, Field(ge=0, le=100_000)]


class Options(BaseModel):
    """The options of a line, after its `?`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    label: str = Field("", max_length=60)
    """The name shown to people."""
    base_url: HttpUrl | None = None
    """Another server with the provider's API."""
    key_env: str = Field("", pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    key_file: Path | None = None
    """The file with the key, read again for each request."""
    temperature: float | None = Field(None, ge=0, le=2)
    max_tokens: int | None = Field(None, ge=1, le=10_000_000)
    """Maximum length of the answer to one request."""
    timeout: float = Field(120, gt=0, le=3600)
    """Seconds that the model may be silent, before or within its answer."""
    retries: int = Field(3, ge=0, le=10)
    fallback: str = ""
    """The profile to use if this one cannot answer."""
    input_price: Price | None = None
    output_price: Price | None = None
    """US dollars per million tokens."""

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if self.key_env and self.key_file:
            raise ValueError("key_env and key_file cannot both be set")
        if self.key_file and not self.key_file.is_absolute():
            raise ValueError("key_file must be an absolute path")
        if (self.input_price is None) != (self.output_price is None):
            raise ValueError("input_price and output_price must both be set, or neither")
        return self


@dataclass(frozen=True, slots=True)
class Profile:
    """A named model; `model` is its name in pydantic-ai, or `simulated`."""

    id: str
    label: str
    description: str
    model: str
    is_default: bool
    options: Options = field(default_factory=Options)

    @property
    def silence_limit(self) -> float | None:
        """Seconds that the model may be silent; None for the simulator, whose pauses are requested."""
        return None if self.model == SIMULATED else self.options.timeout


def parse(lines: Sequence[str], default: str = "") -> tuple[Profile, ...]:
    """The profiles of these lines and the simulator; `default`, else the first, becomes the default profile.

    Raises `ValueError` with a sentence that names the line: wrong format, unknown or invalid option, duplicate name,
    unknown or circular fallback.
    """
    found: dict[str, tuple[str, Options]] = {}
    for line in lines:
        name, model, options = _parsed(line)
        if name in found or name == SIMULATED:
            raise ValueError(f"HEDDLE_MODEL_PROFILES: the name {name!r} is taken")
        found[name] = model, options
    _check_fallbacks({name: options.fallback for name, (_, options) in found.items()})
    if default and default not in (*found, SIMULATED):
        raise ValueError(f"HEDDLE_DEFAULT_PROFILE: {default!r} is not one of HEDDLE_MODEL_PROFILES")
    default = default or next(iter(found), SIMULATED)
    found[SIMULATED] = SIMULATED, Options()
    return tuple(
        Profile(name, options.label or _label(name), _description(model), model, name == default, options)
        for name, (model, options) in found.items()
    )


@cache
def all_profiles() -> tuple[Profile, ...]:
    """Every configured profile; the simulator is always there."""
    return parse(settings.HEDDLE.model_profiles, settings.HEDDLE.default_profile)


def named(profile_id: str | None) -> Profile:
    """The profile with that id, the default one for None; raises `InvalidRequest` for an unknown id."""
    if found := _known(profile_id):
        return found
    raise InvalidRequest(f"model_profile: there is no profile {str(profile_id)[:80]}")


def label_of(profile_id: str | None) -> str:
    """The label of a profile, for None of the default one; empty if there is none any more."""
    found = _known(profile_id)
    return found.label if found else ""


def own_in_words(profile_id: str | None) -> str:
    """How the choice to leave a thread its profile is called; it may have none of its own, or one that is gone."""
    word, label = "default" if profile_id is None else "thread's own", label_of(profile_id)
    return f"{word} ({label})" if label else word


def _known(profile_id: str | None) -> Profile | None:
    meant = (each for each in all_profiles() if each.id == profile_id or (profile_id is None and each.is_default))
    return next(meant, None)


def _parsed(line: str) -> tuple[str, str, Options]:
    match = _LINE.fullmatch(line.strip())
    if match is None:
        raise ValueError(f"HEDDLE_MODEL_PROFILES: {line.partition('?')[0][:80]!r} {SHAPE}")
    name, model = match["name"], match["model"]
    provider = model.partition(":")[0]
    if provider not in PROVIDERS:
        meant = difflib.get_close_matches(provider, PROVIDERS, n=1)
        raise ValueError(
            f"HEDDLE_MODEL_PROFILES: {name!r} names an unknown provider {provider[:40]!r}"
            + (f"; did you mean {meant[0]}?" if meant else "")
        )
    try:
        pairs = parse_qsl(match["options"] or "", keep_blank_values=True, strict_parsing=bool(match["options"]))
    except ValueError:
        raise ValueError(f"HEDDLE_MODEL_PROFILES: {name!r} {SHAPE}") from None
    given = dict(pairs)
    if len(given) < len(pairs):
        raise ValueError(f"HEDDLE_MODEL_PROFILES: {name!r} has an option twice")
    try:
        options = Options.model_validate(given)
    except ValidationError as problem:
        raise ValueError(f"HEDDLE_MODEL_PROFILES: {name!r} {_sentence(problem)}") from None
    if (options.base_url or options.key_env or options.key_file) and provider not in OWN_WIRES:
        raise ValueError(
            f"HEDDLE_MODEL_PROFILES: {name!r} base_url, key_env and key_file are for {', '.join(OWN_WIRES)}; "
            "other providers read their own environment variables"
        )
    return name, model, options


def _sentence(problem: ValidationError) -> str:
    """The first error, without the given value."""
    first = problem.errors(include_input=False, include_url=False, include_context=False)[0]
    option = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"has an unknown option {option[:40]!r}; the options are {', '.join(Options.model_fields)}"
    return f"{option}: {first['msg']}" if option else first["msg"].removeprefix("Value error, ")


def _check_fallbacks(fallbacks: Mapping[str, str]) -> None:
    for name, fallback in fallbacks.items():
        if fallback and fallback not in fallbacks:
            raise ValueError(
                f"HEDDLE_MODEL_PROFILES: {name!r} falls back to {fallback!r}, which is not another profile"
            )
        seen = [name]
        while fallback:
            if fallback in seen:
                circle = " -> ".join([*seen, fallback])
                raise ValueError(f"HEDDLE_MODEL_PROFILES: circular fallback: {circle}")
            seen.append(fallback)
            fallback = fallbacks[fallback]


def _label(name: str) -> str:
    return name.replace("-", " ").capitalize()


def _description(model: str) -> str:
    if model == SIMULATED:
        return "Built in: gives the same answer every time, without contacting any service."
    return f"Uses {model}."
