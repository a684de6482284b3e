"""Simulate one call in a world (catalogue 3.8, C102 to C119).

The order is part of the contract: known idempotency key, step, failure, arguments, answer.
"""

from dataclasses import dataclass
from typing import Any

from django.db import transaction

from catalogue import results, validating
from catalogue.models import World, WorldAnswer, WorldTool
from catalogue.results import ToolResult
from catalogue.subschemas import linked
from catalogue.worlds import answering, failing, keeping, remembering
from catalogue.worlds.merging import Unmakeable
from core.canonical import fingerprint
from core.errors import Conflict


@dataclass(frozen=True, slots=True)
class Played:
    """The outcome of a simulated call. `facts` describe how it came about and are recorded with the result."""

    tool: WorldTool | None
    result: ToolResult
    facts: dict[str, Any]


def play(world_pk: int, name: str, arguments: Any, *, key: str | None = None) -> Played:
    """Simulate a call of a tool by name, in a transaction that locks the world.

    Failures inside the world are results. Raises `Expired` for a closed or expired world, `Conflict` if the key was
    used for a different call. A known key gets the same result without a step or a failure (C115); a simulated failure
    is no result of its key.
    """
    with transaction.atomic():
        world = keeping.held(world_pk)
        tool = keeping.tool_named(world, name)
        asked = fingerprint([tool.folded if tool else name, arguments])
        earlier = WorldAnswer.objects.filter(world=world, key=key).first() if key is not None else None
        if earlier is not None:
            if earlier.fingerprint != asked:
                raise Conflict(
                    "idempotency_key: was already used for a different call", details={"reason": "key_reused"}
                )
            keeping.renew(world)
            result = ToolResult.model_validate(earlier.answer["result"])
            return Played(tool, result, _facts(world, earlier.answer, cache_hit=True))
        world.step_count += 1
        failed = failing.failure_at(world.seed, world.step_count, world.failure_profile)
        result, made_from = (failed, None) if failed else _answer(world, tool, name, arguments)
        result = results.sized(result, arguments)
        keeping.renew(world, "step_count", "history")
        answer = {"result": result.model_dump(), "source": made_from, "validation": _judged(tool, result)}
        if key is not None and not failed:  # who tries again after a simulated failure does so with the same key
            WorldAnswer.objects.create(world=world, key=key, fingerprint=asked, answer=answer)
        return Played(tool, result, _facts(world, answer, cache_hit=False))


def _answer(world: World, tool: WorldTool | None, name: str, arguments: Any) -> tuple[ToolResult, str | None]:
    if tool is None:
        said = f"This world has no tool {name[:200]}."
        return results.fail("NOT_FOUND", said, {"reason": "unknown_tool"}), None
    given = validating.check(arguments, tool.input_schema)
    if given.errors:
        return given.failure(), None
    try:
        # The arguments as sent, without defaults: the tool itself does not run here.
        answer = answering.answered(world, tool, arguments)
    except Unmakeable as problem:
        said = f"No output was found that matches the output_schema of {tool.qualified_name}: {problem}."
        return results.fail("EXECUTION_ERROR", said, {"reason": "not_makeable"}), None
    except remembering.Full:
        said = "The state of this world is full. A hard reset clears it."
        return results.fail("EXECUTION_ERROR", said, {"reason": "world_full"}), None
    if isinstance(answer, answering.Refusal):
        return answer.result, answer.source
    if reason := results.problem_of(answer.value):
        return results.fail("EXECUTION_ERROR", f"The output would be {reason}."), None
    return results.ok(answer.value, warnings=answer.warnings), answer.source


def _judged(tool: WorldTool | None, result: ToolResult) -> dict[str, Any] | None:
    """Validate the output; fixtures are returned verbatim, so they may not match."""
    if not result.success or tool is None:
        return None
    errors = [] if tool.output_schema is None else validating.problems(result.data, linked(tool.output_schema))
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
