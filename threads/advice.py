"""What a reader can do about an answer that failed, by the code of its error block."""

_AGAIN = "Write again to have it answered; what was said before stays."
_OPERATOR = "Writing again will not help until an operator has looked at the model profile."

ADVICE: dict[str, str] = {
    "rate_limited": "Wait a minute, then write again, or start a thread with another model profile.",
    "provider_overloaded": "Wait a minute, then write again, or start a thread with another model profile.",
    "provider_timeout": _AGAIN,
    "provider_unreachable": "Write again in a while. If it stays so, an operator has to look at the network.",
    "provider_error": _AGAIN,
    "generation_failed": _AGAIN,
    "simulated_failure": "Take [[fail]] out of the message and write again.",
    "content_filtered": "Say it differently, or fork before the message that was refused.",
    "context_too_long": "Fork at an earlier message, or start a thread with the part that matters.",
    "not_authorised": _OPERATOR,
    "misconfigured": _OPERATOR,
    "internal_error": f"{_AGAIN} If it fails again, give the thread's id to an operator.",
}
