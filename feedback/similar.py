"""Reports that look like another one."""

from core.actor import Actor
from feedback.models import UserFeedback


def similar_to(actor: Actor, report: UserFeedback, limit: int = 8) -> list[UserFeedback]:
    """None yet."""
    return []
