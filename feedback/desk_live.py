"""What open desks are told as it happens. Each event is the whole of what it speaks of: missing one misses nothing."""

import json
from collections.abc import Iterator

from django.http import HttpRequest
from django.template.loader import render_to_string

from accounts.authentication import page_actor_again
from accounts.rights import require_admin
from core import ids, notices, sse
from core.actor import Actor
from core.errors import DomainError
from feedback import bulk, leasing, triage
from feedback.models import Retraction, TriageChange, UserFeedback

_SHOWN = 1_000
"""More than bulks change between two looks: whoever has one of them open has to find it among these."""


def news(request: HttpRequest, actor: Actor) -> Iterator[sse.Event | None]:
    """Events: `leases` (names by report id), `changed` (ids of reports that others changed or took back), `bulks`
    (their markup).

    Who loses the right is told `gone`, and nothing more.
    """
    told: dict[str, str] | None = None
    last, last_gone = _latest_change(), _latest_retraction()
    told_bulks: list[tuple[int, str, int]] | None = None
    with notices.waiting(triage.NOTICE) as waiter:
        while True:
            try:
                actor = page_actor_again(request)
                require_admin(actor)
            except DomainError:
                yield sse.Event("gone", "")
                return
            leases = leasing.present(actor)
            if leases != told:
                told = leases
                yield sse.Event("leases", json.dumps(leases))
            newest = _latest_change()
            gone = _latest_retraction()
            if changed := [*_changed(actor, last, newest), *_retracted(last_gone, gone)]:
                yield sse.Event("changed", json.dumps(changed))
            last, last_gone = newest, gone
            as_of = bulk.as_of()
            bulks = bulk.shown(actor)
            far = [(each.pk, each.state, each.dealt_with) for each in bulks]
            if far != told_bulks:
                told_bulks = far
                context = {"running": [each for each in bulks if not each.is_over], "as_of": as_of}
                yield sse.Event("bulks", render_to_string("feedback/_bulks.html", context, request))
            sse.give_connection_back()
            if not waiter.wait(sse.HEARTBEAT_SECONDS):
                yield None


def _latest_change() -> int:
    return TriageChange.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def _changed(actor: Actor, since: int, until: int) -> list[str]:
    rows = TriageChange.objects.filter(pk__gt=since, pk__lte=until).exclude(actor=actor.user_id)
    keys = UserFeedback.objects.filter(pk__in=rows.values("feedback")).order_by("-pk")[:_SHOWN]
    return [report.feedback_id for report in keys.only("key")]


def _latest_retraction() -> int:
    return Retraction.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def _retracted(since: int, until: int) -> list[str]:
    if since == until:
        return []
    rows = Retraction.objects.filter(pk__gt=since, pk__lte=until).order_by("-pk")
    return [ids.FEEDBACK + key for key in rows.values_list("key", flat=True)[:_SHOWN]]
