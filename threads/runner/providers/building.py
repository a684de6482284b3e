"""Builds the pydantic-ai model of a profile, with its settings, key and prices."""

import logging
import os
import re
import threading
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any

from genai_prices import calc_price
from pydantic_ai.exceptions import UserError
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model, infer_model
from pydantic_ai.providers import Provider, infer_provider, infer_provider_class
from pydantic_ai.settings import ModelSettings

from threads.profiles import OWN_WIRES, SIMULATED, Options, Profile, all_profiles
from threads.runner.providers import simulator

logger = logging.getLogger("heddle.models")
NO_KEY = "no-key"
MILLION = 1_000_000
_importing = threading.Lock()


def model_of(profile: Profile) -> Model:
    """The model of a profile, cached by key: it keeps connections to its provider open.

    Raises `ImportError` if a package is missing, and `UserError` for a missing key or any other error.
    """
    if profile.model == SIMULATED:
        return simulator.model()
    key = _key(profile.options)
    with _importing:
        try:
            return _built(profile, key)
        except ImportError:
            raise
        except UserError as problem:
            raise UserError(_in_our_words(profile, str(problem))) from problem
        except Exception as problem:  # packages raise errors of their own for invalid settings
            raise UserError(str(problem) or type(problem).__name__) from problem


@cache
def warm_up() -> None:
    """Build the models of all profiles in advance: importing a provider's package takes a second."""
    for profile in all_profiles():
        try:
            model_of(profile)
        except Exception as problem:  # a request to it will report the error
            logger.warning("model.not_ready", extra={"profile": profile.id, "kind": type(problem).__name__})


def settings_of(profile: Profile) -> ModelSettings:
    """The settings of each request. The libraries' own retries are off, because they cannot be cancelled."""
    if profile.model == SIMULATED:
        return ModelSettings()
    options = profile.options
    settings = ModelSettings(max_retries=0, timeout=options.timeout)
    if options.temperature is not None:
        settings["temperature"] = options.temperature
    if options.max_tokens is not None:
        settings["max_tokens"] = options.max_tokens
    return settings


def cost_of(profile: Profile, response: ModelResponse) -> Decimal | None:
    """The cost of an answer in US dollars, by the profile's prices, else by genai-prices for the provider's URL.

    None if the tokens or the price are unknown. The installed price list is used; nothing is downloaded.
    """
    usage, options = response.usage, profile.options
    if usage.unmeasured_requests or not usage.has_values():
        return None
    if options.input_price is not None and options.output_price is not None:
        return (usage.input_tokens * options.input_price + usage.output_tokens * options.output_price) / MILLION
    if not response.provider_url or not response.model_name:
        return None
    try:
        found = calc_price(
            usage,
            response.model_name,
            provider_api_url=response.provider_url,
            genai_request_timestamp=response.timestamp,
        )
    except (LookupError, ValueError):
        return None
    return found.total_price


def tells_its_end(profile: Profile) -> bool:
    """Whether an answer without a finish reason was interrupted."""
    return profile.model.partition(":")[0] in OWN_WIRES


def _in_our_words(profile: Profile, said: str) -> str:
    """What a package says of a missing key or address, without its advice to programmers: it names the variables."""
    names = list(dict.fromkeys(_VARIABLE.findall(said)))
    if not names:
        return said
    or_else = (
        ", or key_env or key_file in HEDDLE_MODEL_PROFILES" if profile.model.partition(":")[0] in OWN_WIRES else ""
    )
    return f"set {' or '.join(names)}{or_else}"


_VARIABLE = re.compile(r"`([A-Z][A-Z0-9]*_[A-Z0-9_]+)`")


@lru_cache(maxsize=64)
def _built(profile: Profile, key: str | None) -> Model:
    options = profile.options
    kind, _, name = profile.model.partition(":")
    if kind == "openai" and options.base_url:
        # Compatible servers support Chat Completions, but rarely the newer Responses API.
        return infer_model(f"openai-chat:{name}", lambda _: _compatible(profile.id, options, key))
    return infer_model(profile.model, lambda provider: _provider(provider, options, key))


def _compatible(name: str, options: Options, key: str | None) -> Provider[Any]:
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    return OpenAICompatibleProvider(f"heddle-{name}", base_url=str(options.base_url), api_key=key)


def _provider(name: str, options: Options, key: str | None) -> Provider[Any]:
    if name not in OWN_WIRES:
        return infer_provider(name)
    base_url = str(options.base_url) if options.base_url else None
    provider: Provider[Any] = infer_provider_class(name)(base_url=base_url, api_key=key)  # type: ignore[call-arg]
    return provider


def _key(options: Options) -> str | None:
    """The key, or None for the provider's own variable, which is never sent to another server."""
    if options.key_env:
        found = os.environ.get(options.key_env, "")
    elif options.key_file:
        try:
            found = options.key_file.read_text().strip()
        except OSError as problem:
            raise UserError(f"key_file cannot be read: {type(problem).__name__}") from problem
    else:
        return NO_KEY if options.base_url else None
    if not found:
        raise UserError(f"set {options.key_env}" if options.key_env else "key_file is empty")
    return found
