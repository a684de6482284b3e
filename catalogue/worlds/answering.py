"""The result of a simulated call: a fixture, stored state, or a generated value (C102 to C109)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from catalogue import results, validating
from catalogue.models import World, WorldFixture, WorldTool
from catalogue.record import JsonObject
from catalogue.results import ToolResult
from catalogue.sampling import making
from catalogue.sampling.drawing import Source
from catalogue.sampling.making import Hints
from catalogue.subschemas import linked
from catalogue.worlds import remembering, verbs
from catalogue.worlds.remembering import Effect, Memory
from catalogue.worlds.verbs import Reading
from core.canonical import fingerprint, size_of

_SAYS_NOTHING: Final = frozenset({"type", "title", "description", "$schema", "$id", "$comment", "$defs"})
_MAX_SEEN: Final = 100
TOO_LARGE: Final = "the result was too large to store"


@dataclass(frozen=True, slots=True)
class Answer:
    """A value and its source."""

    value: Any
    source: Literal["fixture", "default", "state", "generated"]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """A failure, and the fixture that it comes from, if any."""

    result: ToolResult
    source: Literal["fixture", "default"] | None = None


def answered(
    world: World, tool: WorldTool, arguments: JsonObject, until: float, rest: Callable[[], None]
) -> tuple[Answer | Refusal, Effect | None]:
    """The answer for checked arguments, or a failure; and what the call does to the state, if anything.

    Stores nothing. Values are made by `until` (`making.deadline`); `rest` is called when all rows have been read,
    before what may take long. Raises `Unmakeable`.
    """
    call = _Call(world, tool, arguments, until, rest)
    if world.mode == World.Mode.STATEFUL and call.reading.action is not None:
        remembered = _Remembered(call)
        return remembered.answer(), remembered.effect
    return call.from_fixtures() or call.generated(call.source()), None


class _Call:
    """One call with everything that its answer can be made from."""

    def __init__(
        self, world: World, tool: WorldTool, arguments: JsonObject, until: float, rest: Callable[[], None]
    ) -> None:
        self.world, self.tool, self.arguments = world, tool, arguments
        self.until, self._rest = until, rest
        self.reading: Reading = verbs.reading_of(tool.name, arguments)
        self._fixtures: list[WorldFixture] = []
        if world.mode != World.Mode.SCHEMA_ONLY:
            self._fixtures = list(WorldFixture.objects.filter(world=world, tool=tool.folded).order_by("pk"))
        # Failures are not examples: generated values are the same with and without them.
        self._examples = [each for each in self._fixtures if each.error is None]

    def source(self, *state: Any) -> Source:
        """The random source of this call, which depends on the state and the fixtures."""
        world, tool = self.world, self.tool
        seen = [[each.match, each.output] for each in self._examples]
        return Source(world.seed, tool.folded, tool.version, world.mode, self.arguments, [*state], seen)

    def exact(self) -> Answer | Refusal | None:
        """The fixture for exactly this input (C106)."""
        return self._fixture(fingerprint(self.arguments), "fixture") if self._fixtures else None

    def default(self) -> Answer | Refusal | None:
        """The fixture for any input (C107)."""
        return self._fixture("", "default")

    def from_fixtures(self) -> Answer | Refusal | None:
        return self.exact() or self.default()

    def _fixture(self, match: str, source: Literal["fixture", "default"]) -> Answer | Refusal | None:
        found = next((each for each in self._fixtures if each.match == match), None)
        if found is None:
            return None
        return Refusal(results.fail(**found.error), source) if found.error else Answer(found.output, source)

    def generated(self, source: Source, known: Mapping[str, Any] | None = None) -> Answer | Refusal:
        """A generated value that uses what is known; a failure if the world is strict."""
        if self.world.strict_fixtures and known is None:
            said = f"No fixture of {self.tool.qualified_name} matches this input, and this world uses fixtures only."
            return Refusal(results.fail("NOT_FOUND", said, {"reason": "no_fixture"}))
        return Answer(self.made(source, known or {}), "generated" if known is None else "state")

    def made(self, source: Source, known: Mapping[str, Any]) -> Any:
        """A value under the output schema; without one, an object with an id and a status (C104)."""
        echo = {**self.arguments, **known}
        given = self.arguments.get(self.reading.id_name)
        if given is not None:
            echo.setdefault("id", given)
        schema = self.tool.output_schema
        if schema is None or says_nothing(schema):
            own = {"id": f"{self.reading.noun or 'id'}_{source.below(16**8):08x}", "status": "ok"}
            return {**own, **known, "id": echo.get("id", own["id"])}
        return self.value(schema, source, self.hints(echo))

    def value(self, schema: JsonObject, source: Source, hints: Hints, whole: JsonObject | None = None) -> Any:
        """As `making.made`. All values of an answer have one deadline: a list has up to a thousand."""
        self._rest()
        return making.made(schema, source, hints, whole=whole, until=self.until)

    def hints(self, echo: Mapping[str, Any]) -> Hints:
        if self.world.mode == World.Mode.SCHEMA_ONLY:
            return Hints(echo)
        return Hints(echo, _seen([each.output for each in self._examples]), schema_examples=True)


class _Remembered:
    """A call in a stateful world that creates, reads, changes or deletes an entity."""

    def __init__(self, call: _Call) -> None:
        self.call = call
        self.world, self.arguments, self.reading = call.world, call.arguments, call.reading
        self.memory = Memory(call.world, call.reading.noun)
        self.source = call.source(self.memory.count)
        self.effect: Effect | None = None

    def answer(self) -> Answer | Refusal:
        if self.reading.action == "create":
            return self._create()
        if self.reading.action == "list":
            return self._list()
        given = self.reading.given_id(self.arguments)
        row = self.memory.find(given) if given is not None else None
        row = row or (self.memory.like(self.arguments) if self.reading.action == "read" else None)
        if row is not None and row.is_dropped:
            self._note(given)
            said = f"There is no {self.reading.noun} {row.entity_id[:100]}: it was deleted."
            return Refusal(results.fail("NOT_FOUND", said, {"reason": "unknown_entity"}))
        if given is None:
            # No id was given: the same arguments mean the same entity.
            given = row.entity_id if row else fingerprint(self.arguments)
            row = row or self.memory.find(given)
        return self._known(given, row.data) if row else self._unknown(given)

    def _create(self) -> Answer | Refusal:
        answer = self.call.from_fixtures() or self._made_anew()
        if isinstance(answer, Refusal):
            return answer
        given = verbs.id_of(answer.value, self.reading.noun)
        if given is None:
            given = self.reading.given_id(self.arguments) if self.reading.id_name in self.arguments else None
        if given is None:
            given = f"{self.reading.noun}_{self.memory.count + 1}"
        return self._keep(given, {**self.arguments, **_plain(answer.value, self.reading.noun)}, answer)

    def _made_anew(self) -> Answer | Refusal:
        # Without an output schema the arguments become part of the created entity.
        is_free = self._is_open() and not self.world.strict_fixtures
        found = self.call.generated(self.source, self.arguments if is_free else None)
        return found if isinstance(found, Refusal) else Answer(found.value, "generated")

    def _list(self) -> Answer | Refusal:
        held = [row.data for row in self.memory.held()]
        answer = self.call.exact() or (None if held else self.call.default()) or self._listed(held)
        if not isinstance(answer, Refusal):
            self._note(None)
        return answer

    def _listed(self, held: list[Any]) -> Answer | Refusal:
        """The entities in the first list of the output that accepts them; generated if there is none."""
        schema = self.call.tool.output_schema
        if self._is_open():
            return Answer({"items": held, "count": len(held)}, "state")
        assert schema is not None
        whole = linked(schema)
        if whole.get("type") == "array":
            items = self._rows(whole.get("items", {}), whole, held)
            is_valid = not validating.problems(items, whole, until=self.call.until)
            return Answer(items, "state") if is_valid else self.call.generated(self.source)
        for name, inner in whole.get("properties", {}).items():
            if isinstance(inner, dict) and inner.get("type") == "array":
                items = self._rows(inner.get("items", {}), whole, held)
                counted = dict.fromkeys(("count", "total", "total_count"), len(items))
                value = self.call.made(self.source, {name: items, **counted})
                if isinstance(value, dict) and value.get(name) == items:
                    return Answer(value, "state")
        return self.call.generated(self.source)

    def _rows(self, schema: Any, whole: JsonObject, held: list[Any]) -> list[Any]:
        if not isinstance(schema, dict) or says_nothing(schema):
            return held
        hints = [self.call.hints({**data, "id": self._id_in(data)}) for data in held]
        return [self.call.value(schema, self.source.child(place), each, whole) for place, each in enumerate(hints)]

    def _known(self, given: Any, data: JsonObject) -> Answer | Refusal:
        exact = self.call.exact()
        if isinstance(exact, Refusal):
            return exact
        match self.reading.action:
            case "delete":
                answer = exact or self.call.generated(self.source, data)
                if not isinstance(answer, Refusal):
                    self._drop(given)
                return answer
            case "update":
                changed = {name: value for name, value in self.arguments.items() if name != self.reading.id_name}
                data = {**data, **changed}
                return self._keep(given, data, exact or self._shown(given, data))
        self._note(given)
        return exact or self._shown(given, data)

    def _unknown(self, given: Any) -> Answer | Refusal:
        """An entity that was not created here is assumed to exist: generate it now and keep it."""
        answer = self.call.from_fixtures() or self.call.generated(self.source)
        if isinstance(answer, Refusal):
            return answer
        if self.reading.action == "delete":
            self._drop(given)
            return answer
        changed = self.arguments if self.reading.action == "update" else {}
        named = {self.reading.id_name: given} if self.reading.id_name in self.arguments else {}
        return self._keep(given, {**_plain(answer.value, self.reading.noun), **changed, **named}, answer)

    def _shown(self, given: Any, data: JsonObject) -> Answer:
        """An entity in the form of this tool's output."""
        if self._is_open():
            return Answer(data, "state")
        known = {**data, "id": data.get("id", given), self.reading.id_name: data.get(self.reading.id_name, given)}
        nested = {self.reading.noun: data} if self.reading.noun not in data else {}
        return Answer(self.call.made(self.source, {**known, **nested}), "state")

    def _keep(self, given: Any, data: JsonObject, answer: Answer) -> Answer:
        if size_of(data) > remembering.MAX_ENTITY_BYTES:
            self._note(given)
            return Answer(answer.value, answer.source, (TOO_LARGE,))
        self._note(given, data)
        return answer

    def _drop(self, given: Any) -> None:
        """Delete an entity for good: its id is not found from now on."""
        self._note(given, {}, is_dropped=True)

    def _note(self, given: Any, data: JsonObject | None = None, *, is_dropped: bool = False) -> None:
        assert self.reading.action is not None
        entity_id = None if given is None else verbs.text_of(given)
        self.effect = Effect(self.reading.action, self.reading.noun, entity_id, data, is_dropped)

    def _is_open(self) -> bool:
        schema = self.call.tool.output_schema
        return schema is None or says_nothing(schema)

    def _id_in(self, data: JsonObject) -> Any:
        return data.get("id", data.get(self.reading.id_name))


def says_nothing(schema: JsonObject) -> bool:
    """Whether the schema accepts any object, so that it does not determine what to generate."""
    return schema.keys() <= _SAYS_NOTHING and schema.get("type", "object") == "object"


def _plain(value: Any, noun: str) -> JsonObject:
    """The fields of the created entity, at the top level or under the noun."""
    if not isinstance(value, dict):
        return {"value": value}
    inner = value.get(noun)
    return {**value, **inner} if isinstance(inner, dict) else value


def _seen(outputs: Sequence[Any]) -> dict[str, list[Any]]:
    """The scalar values of examples by property name."""
    found: dict[str, list[Any]] = {}
    pending: list[tuple[str, Any]] = [("", output) for output in reversed(outputs)]
    while pending:
        name, value = pending.pop()
        if isinstance(value, dict):
            pending.extend(reversed(list(value.items())))
        elif isinstance(value, list):
            pending.extend((name, each) for each in reversed(value))
        elif value is not None and value not in found.setdefault(name, []) and len(found[name]) < _MAX_SEEN:
            found[name].append(value)
    return found
