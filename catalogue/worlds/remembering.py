"""The state of a stateful world: entities by noun and id (catalogue 3.8, C108 to C111)."""

from collections.abc import Mapping
from typing import Any, Final

from django.db.models import Count, Sum
from django.db.models.functions import Coalesce, Length

from catalogue.models import World, WorldEntity
from catalogue.worlds import verbs
from core.canonical import size_of

MAX_ENTITIES: Final = 1000
MAX_ENTITY_BYTES: Final = 64 * 1024
MAX_BYTES: Final = 8 * 1024 * 1024
"""Maximum total size of entities, because lists and the state route return all of them."""
MAX_HISTORY: Final = 20


class Full(Exception):
    """The state of the world is full."""


class Memory:
    """The entities of a noun in a world whose row the caller has locked."""

    def __init__(self, world: World, noun: str) -> None:
        self._world = world
        self._rows = WorldEntity.objects.filter(world=world, noun=noun).order_by("pk")
        self._noun = noun

    def count(self) -> int:
        """The number of entities ever created, deleted ones included. Generated answers depend on it."""
        return self._rows.count()

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

    def keep(self, given: Any, data: Any) -> bool:
        """Store data under that id, replacing any; False if it is too large. Raises `Full`."""
        size = size_of(data)
        if size > MAX_ENTITY_BYTES:
            return False
        entity_id = verbs.text_of(given)
        row = self._rows.filter(entity_id=entity_id).first()
        row = row or WorldEntity(world=self._world, noun=self._noun, entity_id=entity_id)
        others = WorldEntity.objects.filter(world=self._world).exclude(pk=row.pk)
        held = others.aggregate(count=Count("pk"), size=Coalesce(Sum(Length("data")), 0))
        if held["count"] >= MAX_ENTITIES or held["size"] + size > MAX_BYTES:
            raise Full
        row.data, row.is_dropped = data, False
        row.save()
        return True

    def drop(self, given: Any) -> None:
        """Delete an entity for good: its id is not found from now on."""
        self.keep(given, {})
        self._rows.filter(entity_id=verbs.text_of(given)).update(is_dropped=True)


def note(world: World, action: str, noun: str, given: Any) -> None:
    """Add a line to the world's history; the caller saves the row."""
    entity_id = None if given is None else verbs.text_of(given)
    line = {"step": world.step_count, "action": action, "noun": noun, "id": entity_id}
    world.history = [*world.history, line][-MAX_HISTORY:]
