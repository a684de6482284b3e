"""The periodic clean-up of the catalogue: deletes old calls and worlds in small batches."""

from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from catalogue import hooks
from catalogue.models import Call, World, WorldAnswer, WorldEntity, WorldFixture

CLEARED_AT_ONCE: Final = 1000
"""Maximum rows of a kind per sweep, to keep each statement short for other writers."""
_WORLDS_AT_ONCE: Final = 20
_KNOWN: Final = (Call.Outcome.SUCCESS, Call.Outcome.ERROR)


def sweep() -> None:
    """Delete old calls and worlds that ended long ago (docs/operations.md).

    Keeps calls with an idempotency key or an unknown outcome, and worlds that threads use. Two short queries if there
    is nothing to delete.
    """
    if limit := _before(settings.HEDDLE.call_days):
        _clear(Call.objects.filter(world=None, idempotency_key=None, begun__lt=limit, outcome__in=_KNOWN), "begun")
    if limit := _before(settings.HEDDLE.world_days):
        in_use = Exists(hooks.threads.in_worlds().filter(world=OuterRef("pk")))
        over = World.objects.filter(~in_use, expires_at__lt=limit).order_by("expires_at")
        for world_pk in over.values_list("pk", flat=True)[:_WORLDS_AT_ONCE]:
            _clear_world(world_pk)


def _before(days: float) -> datetime | None:
    return timezone.now() - timedelta(days=days) if days else None


def _clear_world(world_pk: int) -> None:
    """Delete a world's rows, then the world; if there are too many, the next sweep continues."""
    for kind in (Call, WorldAnswer, WorldEntity, WorldFixture):
        if _clear(kind.objects.filter(world=world_pk), "pk") == CLEARED_AT_ONCE:
            return
    World.objects.filter(pk=world_pk).delete()


def _clear(rows: QuerySet[Any], order: str) -> int:
    old = list(rows.order_by(order).values_list("pk", flat=True)[:CLEARED_AT_ONCE])
    if old:
        rows.model.objects.filter(pk__in=old).delete()
    return len(old)
