"""Advice for readers of a failed answer, by the code of its error block."""

_AGAIN = "Send another message to try again; earlier messages are kept."
_OPERATOR = "Trying again will not help until an operator has fixed the model profile."

ADVICE: dict[str, str] = {
    "rate_limited": "Wait a minute, then try again, or start a thread with another model profile.",
    "provider_overloaded": "Wait a minute, then try again, or start a thread with another model profile.",
    "provider_timeout": _AGAIN,
    "provider_unreachable": "Try again later. If it keeps failing, ask your operator to check the network.",
    "provider_error": _AGAIN,
    "generation_failed": _AGAIN,
    "simulated_failure": "Remove [[fail]] from the message and send it again.",
    "content_filtered": "Rephrase it, or fork before the message that was refused.",
    "context_too_long": "Fork at an earlier message, or start a new thread with the relevant part.",
    "not_authorised": _OPERATOR,
    "misconfigured": _OPERATOR,
    "too_many_attempts": f"{_AGAIN} If it happens again, give the thread's id to an operator.",
    "internal_error": f"{_AGAIN} If it fails again, give the thread's id to an operator.",
}
