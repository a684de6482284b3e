"""Simulate one call in a world (catalogue 3.8, C102 to C119).

The order is part of the contract: known idempotency key, step, failure, arguments, answer.

An answer may take seconds, and the world's row must not be locked meanwhile: on SQLite nobody else could write, on
PostgreSQL each waiting call would hold a connection. So the answer is made first, from what is stored, and the step is
taken when it is there. If what it was made from has changed by then, it is made anew.
"""

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from django.db import transaction

from catalogue import results, validating
from catalogue.models import World, WorldAnswer, WorldTool
from catalogue.results import ToolResult
from catalogue.sampling import making
from catalogue.sampling.merging import TooLate, Unmakeable
from catalogue.subschemas import linked
from catalogue.worlds import answering, failing, keeping, remembering
from catalogue.worlds.remembering import Effect
from core.canonical import fingerprint
from core.db import give_connection_back
from core.errors import Conflict, Contended, Unavailable
from core.slots import Slots

TRIES: Final = 3
"""How often an answer is made without a lock. After that it is made under the lock, so that a busy world goes on."""
BRIEF_SECONDS: Final = 0.05
"""Most answers are made in this time. Only longer ones need a slot, and give the connection back."""
LOCKED_SECONDS: Final = 0.3
"""Time limit of an answer that is made under the lock; like all of these, of processor time (`making.deadline`)."""
PATIENCE_SECONDS: Final = 10
_long = Slots(2, each=1, waiting=32)
"""Limits the long answers being made in one process: they need the processor, and waiting ones a thread each."""
Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True)
class Played:
    """The outcome of a simulated call. `facts` describe how it came about and are recorded with the result."""

    tool: WorldTool | None
    result: ToolResult
    facts: dict[str, Any]


def play(
    world_pk: int,
    name: str,
    arguments: Any,
    keep: Callable[[Played], Kept],
    *,
    key: str | None = None,
    user_id: int | None = None,
    within: Callable[[], AbstractContextManager[None]] = transaction.atomic,
) -> Kept:
    """Simulate a call of a tool by name, and return what `keep` makes of it. Call it outside of any transaction.

    The step is taken, and `keep` called, in one transaction that `within` opens and that locks the world. It may be
    opened several times; without a step nothing is stored in it.

    Failures inside the world are results. Raises `Expired` for a closed or expired world, `Conflict` if the key was
    used for a different call, and `Unavailable`, with nothing stored, if others keep changing the world or the user has
    too many long answers made. A known key gets the same result without a step or a failure (C115); a simulated failure
    is no result of its key.
    """
    asked = _Asked(name, arguments, key)
    for tried in range(TRIES):
        world = keeping.seen(world_pk)
        # A simulated failure needs no answer, unless others take its step first: then the next try has one.
        answer = _made_in_time(world, asked, user_id) if tried or _needs_answer(world, asked) else None
        with within():
            played = _step(keeping.held(world_pk), asked, answer)
            if played is not None:
                return keep(played)
    with within():
        world = keeping.held(world_pk)
        played = _step(world, asked, None)
        if played is None:
            try:
                played = _step(world, asked, _made(world, asked, hurry=LOCKED_SECONDS))
            except TooLate:
                raise Contended("Other calls keep changing this world. Nothing was stored; try again.") from None
        assert played is not None, "made under the lock"
        return keep(played)


@dataclass(frozen=True, slots=True)
class _Asked:
    name: str
    arguments: Any
    key: str | None


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer and what it does to the state, made from a revision of the world but not stored."""

    revision: int
    tool: WorldTool | None
    result: ToolResult
    source: str | None = None
    validation: dict[str, Any] | None = None
    effect: Effect | None = None


def _needs_answer(world: World, asked: _Asked) -> bool:
    if asked.key is not None and WorldAnswer.objects.filter(world=world, key=asked.key).exists():
        return False
    return failing.failure_at(world.seed, world.step_count + 1, world.failure_profile) is None


def _step(world: World, asked: _Asked, answer: _Answer | None) -> Played | None:
    """Take the step of a call in a locked world. None, and nothing is changed, if it needs an answer made from the
    current state.
    """
    current = answer if answer is not None and answer.revision == world.revision else None
    tool = current.tool if current else keeping.tool_named(world, asked.name)
    mark = "" if asked.key is None else fingerprint([tool.folded if tool else asked.name, asked.arguments])
    earlier = WorldAnswer.objects.filter(world=world, key=asked.key).first() if asked.key is not None else None
    if earlier is not None:
        if earlier.fingerprint != mark:
            raise Conflict("idempotency_key: was already used for a different call", details={"reason": "key_reused"})
        keeping.renew(world)
        result = ToolResult.model_validate(earlier.answer["result"])
        return Played(tool, result, _facts(world, earlier.answer, cache_hit=True))
    failed = failing.failure_at(world.seed, world.step_count + 1, world.failure_profile)
    if failed is not None:
        current = _Answer(world.revision, tool, results.sized(failed, asked.arguments))
    if current is None:
        return None
    world.step_count += 1
    current = _stored(world, current, asked)
    keeping.renew(world, "step_count", "history", "revision")
    told = {"result": current.result.model_dump(), "source": current.source, "validation": current.validation}
    if asked.key is not None and failed is None:  # who tries again after a simulated failure does so with the same key
        WorldAnswer.objects.create(world=world, key=asked.key, fingerprint=mark, answer=told)
    return Played(tool, current.result, _facts(world, told, cache_hit=False))


def _stored(world: World, answer: _Answer, asked: _Asked) -> _Answer:
    """The answer, with its effect stored; a failure if the state is full."""
    if answer.effect is None:
        return answer
    try:
        remembering.store(world, answer.effect)
    except remembering.Full:
        said = "The state of this world is full. A hard reset clears it."
        full = results.fail("EXECUTION_ERROR", said, {"reason": "world_full"})
        return _Answer(answer.revision, answer.tool, results.sized(full, asked.arguments))
    return answer


def _made_in_time(world: World, asked: _Asked, user_id: int | None) -> _Answer:
    """The answer, however long it takes within its limits. Raises `Unavailable` if there is no slot for a long one."""
    try:
        return _made(world, asked, hurry=BRIEF_SECONDS)
    except TooLate:
        give_connection_back()
    if not _long.take(user_id, patience_seconds=PATIENCE_SECONDS):
        raise Unavailable("Too many long answers of worlds are being made. Nothing was stored; try again.")
    try:
        return _made(keeping.seen(world.pk), asked)
    finally:
        _long.leave(user_id)


def _made(world: World, asked: _Asked, *, hurry: float | None = None) -> _Answer:
    """The answer from the current state. Raises `TooLate` if there is none after `hurry` seconds of work.

    Without `hurry`, each part has its own limit, and none holds a connection.
    """
    limit = math.inf if hurry is None else making.deadline(hurry)
    rest = give_connection_back if hurry is None else _no_rest
    tool = keeping.tool_named(world, asked.name)
    if tool is None:
        said = f"This world has no tool {asked.name[:200]}."
        missing = results.fail("NOT_FOUND", said, {"reason": "unknown_tool"})
        return _Answer(world.revision, None, results.sized(missing, asked.arguments))
    rest()
    given = validating.check(asked.arguments, tool.input_schema, until=limit)
    answer = (
        _Answer(world.revision, tool, given.failure()) if given.errors else _answered(world, tool, asked, limit, rest)
    )
    rest()
    result = results.sized(answer.result, asked.arguments)
    answer = replace(answer, result=result, validation=_judged(tool, result, limit))
    if making.is_late(limit):  # what was found wrong may be so for lack of time
        raise TooLate
    return answer


def _no_rest() -> None:
    """A short answer keeps its connection: taking one again costs a round trip."""


def _answered(world: World, tool: WorldTool, asked: _Asked, limit: float, rest: Callable[[], None]) -> _Answer:
    try:
        # The arguments as sent, without defaults: the tool itself does not run here.
        answer, effect = answering.answered(world, tool, asked.arguments, min(limit, making.deadline()), rest)
    except Unmakeable as problem:
        said = f"No output was found that matches the output_schema of {tool.qualified_name}: {problem}."
        return _Answer(world.revision, tool, results.fail("EXECUTION_ERROR", said, {"reason": "not_makeable"}))
    if isinstance(answer, answering.Refusal):
        return _Answer(world.revision, tool, answer.result, answer.source, effect=effect)
    if reason := results.problem_of(answer.value):
        failure = results.fail("EXECUTION_ERROR", f"The output would be {reason}.")
        return _Answer(world.revision, tool, failure, effect=effect)
    result = results.ok(answer.value, warnings=answer.warnings)
    return _Answer(world.revision, tool, result, answer.source, effect=effect)


def _judged(tool: WorldTool, result: ToolResult, limit: float) -> dict[str, Any] | None:
    """Validate the output; fixtures are returned verbatim, so they may not match."""
    if not result.success:
        return None
    schema = tool.output_schema
    errors = [] if schema is None else validating.problems(result.data, linked(schema), until=limit)
    return {"valid": not errors, "errors": errors}


def _facts(world: World, answer: dict[str, Any], *, cache_hit: bool) -> dict[str, Any]:
    return {
        "world_id": world.world_id,
        "step_count": world.step_count,
        "cache_hit": cache_hit,
        "mode_used": world.mode,
        "source": answer["source"],
        "validation": answer["validation"],
        "seed": world.seed,
    }
