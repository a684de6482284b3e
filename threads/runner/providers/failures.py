"""Provider errors: a code for programs, a sentence for people, and whether to retry or fall back.

The codes are listed in docs/models.md.
"""

from dataclasses import dataclass

from pydantic_ai import exceptions
from pydantic_ai.messages import ModelResponse

from threads.runner.providers import simulator
from threads.runner.providers.events import Broken, Usage


@dataclass(frozen=True, slots=True)
class _Kind:
    code: str
    message: str
    can_retry: bool = False
    can_fall_back: bool = True


# From special to general: the first match counts.
_KINDS: tuple[tuple[tuple[type[Exception], ...], _Kind], ...] = (
    (
        (simulator.SimulatedFailure,),
        _Kind("simulated_failure", "The simulator was told to fail.", can_fall_back=False),
    ),
    (
        (exceptions.ModelRateLimitError,),
        _Kind("rate_limited", "The model provider's rate limit was reached.", can_retry=True),
    ),
    (
        (exceptions.ModelQuotaExceededError,),
        _Kind("quota_exceeded", "The quota at the model provider is used up."),
    ),
    (
        (exceptions.ModelAuthenticationError,),
        _Kind("not_authorised", "The model provider refused the configured key."),
    ),
    (
        (exceptions.ModelContextWindowExceededError,),
        _Kind("context_too_long", "The thread is too long for this model."),
    ),
    (
        (exceptions.ModelNotFoundError,),
        _Kind("model_not_found", "The model provider does not know this model."),
    ),
    (
        (exceptions.ContentFilterError,),
        _Kind("content_filtered", "The model provider refused this content.", can_fall_back=False),
    ),
    (
        (exceptions.ModelRequestRejectedError,),
        _Kind("request_rejected", "The model provider did not accept the request."),
    ),
    (
        # Not retried: the full time limit has already passed.
        (exceptions.ModelTimeoutError, exceptions.ModelRequestTimeout, TimeoutError),
        _Kind("provider_timeout", "The model provider did not respond in time."),
    ),
    (
        (exceptions.ModelConnectionError,),
        _Kind("provider_unreachable", "The model provider cannot be reached.", can_retry=True),
    ),
    (
        (exceptions.ModelUnavailableError,),
        _Kind("provider_overloaded", "The model provider is overloaded.", can_retry=True),
    ),
    (
        (exceptions.ModelServerError,),
        _Kind("provider_error", "The model provider answered with an error.", can_retry=True),
    ),
    (
        (exceptions.ModelAPIError,),
        _Kind("provider_error", "The model provider answered with an error."),
    ),
    (
        (exceptions.UserError,),
        _Kind("misconfigured", "This model profile is not configured correctly."),
    ),
    (
        (ImportError,),
        _Kind(
            "misconfigured",
            "The package of this provider is not installed. `make providers` installs those of OpenAI and Anthropic.",
        ),
    ),
)
_UNKNOWN = _Kind("generation_failed", "The model stopped in the middle of its answer.")
_BROKEN_OFF = _Kind("stream_broken", "The connection to the model provider broke before the answer was complete.", True)
_CUT_OFF = _Kind("output_limit", "The answer reached its token limit and was cut off.", can_fall_back=False)


class BrokenOff(Exception):
    """The stream ended normally, but without a finish reason."""


def of_exception(problem: Exception, usage: Usage | None) -> Broken:
    """The event for a failed request; `usage` is that of the partial answer, None if it had not begun."""
    kind = _kind(problem)
    has_answered = usage is not None or getattr(problem, "phase", None) == "read"
    if kind.code == "provider_unreachable" and has_answered:
        kind = _BROKEN_OFF
    retry_after = problem.retry_after if isinstance(problem, exceptions.ModelAPIError) else None
    # Provider messages may repeat what was sent; configuration errors only name variables and packages.
    cause = str(problem) if isinstance(problem, exceptions.UserError | ImportError) else ""
    return _broken(kind, usage, retry_after=retry_after, cause=" ".join(cause.split())[:300])


def of_response(response: ModelResponse, usage: Usage) -> Broken | None:
    """The event for a complete answer that was refused or cut off; None for a good one."""
    if response.finish_reason == "content_filter":
        said = str((response.provider_details or {}).get("refusal") or "")[:500]
        refused = _Kind("content_filtered", said or "The model refused to answer this.", can_fall_back=False)
        return _broken(refused, usage)
    if response.finish_reason == "length":
        return _broken(_CUT_OFF, usage)
    if response.finish_reason == "error":
        return _broken(_UNKNOWN, usage)
    return None


def _kind(problem: Exception) -> _Kind:
    if isinstance(problem, BrokenOff):
        return _BROKEN_OFF
    return next((kind for kinds, kind in _KINDS if isinstance(problem, kinds)), _UNKNOWN)


def _broken(kind: _Kind, usage: Usage | None, *, retry_after: float | None = None, cause: str = "") -> Broken:
    return Broken(kind.code, kind.message, kind.can_retry, kind.can_fall_back, retry_after, usage, cause)
