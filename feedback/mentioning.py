"""Reports on answers that used a tool, for the tool's page."""

from collections.abc import Collection, Sequence
from typing import Final

from django.urls import reverse

from catalogue.hooks import Mention
from core.actor import Actor
from core.wording import one_line
from feedback.models import RatedTool, UserFeedback
from feedback.presenting.links import href
from feedback.presenting.words import categories_line

SHOWN: Final = 5
_LOOKED_AT: Final = 200
"""Most reports of all orgs that are searched for those of one; a shared tool may be in very many."""


def mentions(actor: Actor, org_id: int, names: Collection[str]) -> Sequence[Mention] | None:
    """The latest reports of an org whose answers used a tool of these names; None unless the actor triages (B133)."""
    if not actor.is_admin:
        return None
    used = RatedTool.objects.filter(tool_name__in=names).order_by("-feedback")
    failed = dict(used.values_list("feedback_id", "failed")[:_LOOKED_AT])
    rows = UserFeedback.objects.filter(pk__in=list(failed), org=org_id).order_by("-id")[:SHOWN]
    return [
        Mention(
            href=reverse("feedback:desk") + href({"item": row.feedback_id}),
            sentiment=row.sentiment,
            words=one_line(row.notes or categories_line(tuple(row.categories)) or "No notes", 160),
            at=row.created,
            failed=failed[row.pk],
        )
        for row in rows
    ]
