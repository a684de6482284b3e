"""Reports that look like another one."""

from dataclasses import dataclass

from core.actor import Actor
from feedback.models import UserFeedback
from feedback.wire import FullFeedbackOut


@dataclass(frozen=True, slots=True)
class SimilarReport:
    """Another report, and why it stands here."""

    pk: int
    report: FullFeedbackOut
    reasons: tuple[str, ...]
    score: float


def similar_to(actor: Actor, report: UserFeedback, limit: int = 8) -> list[SimilarReport]:
    """None yet."""
    return []
