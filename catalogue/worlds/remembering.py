"""The state of a stateful world: entities by noun and id (catalogue 3.8, C108 to C111)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Count, Sum
from django.db.models.functions import Coalesce, Length

from catalogue.models import World, WorldEntity
from catalogue.record import JsonObject
from catalogue.worlds import verbs
from core.canonical import size_of

MAX_ENTITIES: Final = 1000
MAX_ENTITY_BYTES: Final = 64 * 1024
MAX_BYTES: Final = 8 * 1024 * 1024
"""Maximum total size of entities, because lists and the state route return all of them."""
MAX_HISTORY: Final = 20


class Full(Exception):
    """The state of the world is full."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What a call does to the state: it keeps or deletes one entity if `data` is given, and is a line of the history.

    `entity_id` is None for a list.
    """

    action: str
    noun: str
    entity_id: str | None
    data: JsonObject | None = None
    is_dropped: bool = False


class Memory:
    """The entities of a noun, to read. What a call changes is its `Effect`, which is stored later."""

    def __init__(self, world: World, noun: str) -> None:
        self._rows = WorldEntity.objects.filter(world=world, noun=noun).order_by("pk")
        self.count = self._rows.count()
        """The number of entities ever created, deleted ones included. Generated answers depend on it."""

    def held(self) -> list[WorldEntity]:
        """The existing entities, in order of creation."""
        return list(self._rows.filter(is_dropped=False))

    def find(self, given: Any) -> WorldEntity | None:
        """The entity with that id, even if deleted."""
        return self._rows.filter(entity_id=verbs.text_of(given)).first()

    def like(self, arguments: Mapping[str, Any]) -> WorldEntity | None:
        """The first entity with all of these values; None without values."""
        for row in self.held() if arguments else ():
            if all(name in row.data and row.data[name] == value for name, value in arguments.items()):
                return row
        return None


def store(world: World, effect: Effect) -> None:
    """Store what a call changes in a world whose row the caller has locked, and saves. Raises `Full`."""
    if effect.data is not None:
        entity_id = effect.entity_id or ""
        row = WorldEntity.objects.filter(world=world, noun=effect.noun, entity_id=entity_id).first()
        row = row or WorldEntity(world=world, noun=effect.noun, entity_id=entity_id)
        others = WorldEntity.objects.filter(world=world).exclude(pk=row.pk)
        held = others.aggregate(count=Count("pk"), size=Coalesce(Sum(Length("data")), 0))
        if held["count"] >= MAX_ENTITIES or held["size"] + size_of(effect.data) > MAX_BYTES:
            raise Full
        row.data, row.is_dropped = effect.data, effect.is_dropped
        row.save()
        world.revision += 1
    line = {"step": world.step_count, "action": effect.action, "noun": effect.noun, "id": effect.entity_id}
    world.history = [*world.history, line][-MAX_HISTORY:]
