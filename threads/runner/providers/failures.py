"""What can go wrong at a provider: a code for programs, a sentence for people, and whether to ask again or elsewhere.

The codes stand in docs/models.md.
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


# From the special to the general: the first that fits is it.
_KINDS: tuple[tuple[tuple[type[Exception], ...], _Kind], ...] = (
    (
        (simulator.SimulatedFailure,),
        _Kind("simulated_failure", "The simulator was told to fail.", can_fall_back=False),
    ),
    (
        (exceptions.ModelRateLimitError,),
        _Kind("rate_limited", "The model provider limits how often it is asked.", can_retry=True),
    ),
    (
        (exceptions.ModelQuotaExceededError,),
        _Kind("quota_exceeded", "The account at the model provider has nothing left."),
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
        # Not asked again: what was silent for as long as it may be has taken its time already.
        (exceptions.ModelTimeoutError, exceptions.ModelRequestTimeout, TimeoutError),
        _Kind("provider_timeout", "The model provider was silent for too long."),
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
        _Kind("misconfigured", "This model profile is not configured rightly."),
    ),
    (
        (ImportError,),
        _Kind("misconfigured", "The package of this provider is not installed: `make providers` installs it."),
    ),
)
_UNKNOWN = _Kind("generation_failed", "The model broke off in the middle of its answer.")
_BROKEN_OFF = _Kind("stream_broken", "The connection to the model provider broke before the answer was whole.", True)
_CUT_OFF = _Kind("output_limit", "The answer reached its limit of tokens and was cut off.", can_fall_back=False)


class BrokenOff(Exception):
    """A stream that ended in good order on the wire, and without saying that the answer is over."""


def of_exception(problem: Exception, usage: Usage | None) -> Broken:
    """A failed request; `usage` is what had come of the answer, None where it had not begun."""
    kind = _kind(problem)
    has_answered = usage is not None or getattr(problem, "phase", None) == "read"
    if kind.code == "provider_unreachable" and has_answered:
        kind = _BROKEN_OFF
    retry_after = problem.retry_after if isinstance(problem, exceptions.ModelAPIError) else None
    # What a provider says may hold what it was sent; what is said of the configuration names variables and packages.
    cause = str(problem) if isinstance(problem, exceptions.UserError | ImportError) else ""
    return _broken(kind, usage, retry_after=retry_after, cause=" ".join(cause.split())[:300])


def of_response(response: ModelResponse, usage: Usage) -> Broken | None:
    """What is wrong with a whole answer: it was refused, or cut off. None for a good one."""
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
