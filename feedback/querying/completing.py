"""Terms worth offering."""

from core.actor import Actor


def terms(actor: Actor) -> list[str]:
    """None yet."""
    return []
