"""From a profile to the model of pydantic-ai that answers for it, with its settings, its key and its prices."""

import logging
import os
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
    """The model of a profile, made once for each key: it keeps the connections to its provider open.

    Raises `UserError` where the key is not where the profile says and for whatever else keeps the model from being
    made, `ImportError` where a package is missing.
    """
    if profile.model == SIMULATED:
        return simulator.model()
    key = _key(profile.options)
    with _importing:
        try:
            return _built(profile, key)
        except (UserError, ImportError):
            raise
        except Exception as problem:  # packages have errors of their own for settings that they do not take
            raise UserError(str(problem) or type(problem).__name__) from problem


@cache
def warm_up() -> None:
    """Make the models of every profile before somebody waits for one: a provider's package takes a second to import."""
    for profile in all_profiles():
        try:
            model_of(profile)
        except Exception as problem:  # whoever asks it will be told
            logger.warning("model.not_ready", extra={"profile": profile.id, "kind": type(problem).__name__})


def settings_of(profile: Profile) -> ModelSettings:
    """What goes with each request. The providers' own retries are off: they wait where no cancel reaches them."""
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
    """What an answer costs: by the profile's own prices, else by the list of genai-prices for the provider's address.

    None where the tokens were not told or the price is not known. The list is the installed one, nothing is fetched.
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
    """Whether an answer that does not say why it ended was broken off."""
    return profile.model.partition(":")[0] in OWN_WIRES


@lru_cache(maxsize=64)
def _built(profile: Profile, key: str | None) -> Model:
    options = profile.options
    kind, _, name = profile.model.partition(":")
    if kind == "openai" and options.base_url:
        # What calls itself compatible speaks Chat Completions, and seldom the newer Responses.
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
    """The key, or None for the provider's own variable. That one never goes to another server."""
    if options.key_env:
        found = os.environ.get(options.key_env, "")
    elif options.key_file:
        try:
            found = options.key_file.read_text().strip()
        except OSError as problem:
            raise UserError(f"the file of the key cannot be read: {type(problem).__name__}") from problem
    else:
        return NO_KEY if options.base_url else None
    if not found:
        raise UserError("there is no key where the profile says")
    return found
