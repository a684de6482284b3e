"""Calls from outside of threads: validate, call, read the record (catalogue 3.1, 6.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db import IntegrityError, InterfaceError, OperationalError, transaction

from catalogue import calls, data, executing, naming, result_dialects, results, tools, validating
from catalogue.executing import Execution, Limits, Target
from catalogue.models import Call, Tool, World
from catalogue.result_dialects import Context
from catalogue.results import ToolResult
from catalogue.spec import ToolContext
from catalogue.targets import target_for
from catalogue.wire_calls import CallIn, CallOut, InputOut, RecordedCallOut, ValidatedOut, ValidateIn
from catalogue.worlds import keeping
from catalogue.worlds.playing import Played, play
from core import ids
from core.actor import Actor
from core.canonical import fingerprint, size_of
from core.db import give_connection_back
from core.errors import Conflict, DomainError, InvalidRequest, NotFound, ToolFailed, Unavailable


def validate(tool: Tool, body: ValidateIn) -> ValidatedOut:
    """Validate the arguments of a call without calling (C53 to C57)."""
    target = target_for(tool, body.version)
    _require_small(body.arguments, body.args, target.param_order)
    given = executing.checked(target, body.arguments, body.args)
    return ValidatedOut(valid=not given.errors, code=given.code, errors=given.errors, arguments=given.arguments)


def build_input(tool: Tool, args: list[Any], kwargs: dict[str, Any]) -> InputOut:
    """Combine positional and named arguments. Raises `InvalidRequest` with the error code as reason (C95, C96)."""
    order = tools.version_of(tool).param_order
    _require_small(kwargs, args, order)
    placed = validating.placed(args, kwargs, order)
    if placed.errors:
        first = placed.errors[0]
        said = f"{first['field'] or 'args'}: {first['message']}"
        raise InvalidRequest(said, details={"reason": first["code"], "errors": placed.errors})
    return InputOut(input=placed.arguments)


def call(actor: Actor, org_id: int, tool: Tool, body: CallIn) -> CallOut:
    """Call a tool and record it. A tool's failure is data; `on_error: "http"` makes it a `ToolFailed` (C60).

    The record is committed before the call. With an idempotency key the same request is made once: its answer is
    given again, and a `Conflict` while there is none or for another request under the same key. In a world the key is
    the world's.
    """
    result_dialects.written_dialect("result_dialect", body.result_dialect)
    target = target_for(tool, body.version)
    _require_small(body.arguments, body.args, target.param_order)
    if body.world_id is not None:
        row = _play(actor, org_id, keeping.open_world_in(org_id, body.world_id), target, body)
        return _answer(row, body)
    given = executing.checked(target, body.arguments, body.args)
    row, is_new = _begin(actor.user_id, org_id, target, body)
    if is_new:
        _make(row, target, given, body)
    return _answer(row, body)


def _answer(row: Call, body: CallIn) -> CallOut:
    result = ToolResult.model_validate(row.answer["result"])
    if body.on_error == "http" and result.error is not None:
        reason = {"reason": result.error.code, "call_id": row.call_id}
        raise ToolFailed(result.error.message or result.error.code, status=result.status, details=reason)
    return call_out(row, body.result_dialect, body.tool_use_id)


def make(user_id: int | None, org_id: int, target: Target, body: CallIn) -> ToolResult:
    """Make and record a call without an idempotency key."""
    given = executing.checked(target, body.arguments, body.args)
    row, _ = _begin(user_id, org_id, target, body.model_copy(update={"idempotency_key": None}))
    _make(row, target, given, body)
    return ToolResult.model_validate(row.answer["result"])


def recorded(actor: Actor, call_id: str) -> RecordedCallOut:
    """A recorded call, from a thread or from outside (C134). Raises `NotFound`."""
    key = ids.key_of(call_id, ids.CALL)
    row = Call.objects.visible_to(actor).filter(key=key or "").select_related("created_by").first()
    if row is None:
        raise NotFound.of("call", call_id[:80])
    by = row.created_by.email if row.created_by else None
    shown = call_out(row, "canonical").model_dump()
    return RecordedCallOut(**shown, arguments=row.arguments, created=row.begun, created_by=by)


def call_out(row: Call, dialect: str, tool_use_id: str | None = None) -> CallOut:
    """The API record of a call, with the result in a dialect."""
    answer = row.answer or {}
    name = row.qualified_name
    result = ToolResult.model_validate(answer["result"]) if answer else None
    context = Context(tool_use_id=tool_use_id, tool_name=name)
    return CallOut(
        call_id=row.call_id,
        qualified_name=name,
        version=row.version,
        result=result_dialects.write(dialect, result, context=context)[0] if result else None,
        result_dialect=naming.dialect(dialect),
        attempts=answer.get("attempts", []),
        failure=answer.get("failure"),
        data_ref=answer.get("data_ref"),
        model_view=results.model_view(result) if result else None,
        world=row.world_facts,
        http_status=result.status if result else None,
    )


def _require_small(arguments: Any, args: list[Any], param_order: Sequence[str]) -> None:
    """Raise `InvalidRequest` for arguments over 1 MiB, positional ones included."""
    placed = validating.placed(args, arguments, param_order)
    if size_of([arguments, args] if placed.errors else placed.sent) > validating.MAX_ARGUMENT_BYTES:
        raise InvalidRequest("arguments: are larger than 1 MiB", details={"reason": "too_large"})


def _begin(
    user_id: int | None, org_id: int, target: Target, body: CallIn, world: World | None = None
) -> tuple[Call, bool]:
    """Create the row of the call, or return the earlier one for its key; and whether it is new. Raises `Conflict`."""
    asked = fingerprint([target.qualified_name, body.version, body.arguments, body.args])
    key = body.idempotency_key
    row = Call(
        org_id=org_id,
        created_by_id=user_id,
        attempt=1,
        thread_id="",
        server=target.server,
        tool=target.name,
        version=target.version,
        arguments=validating.placed(body.args, body.arguments, target.param_order).arguments,
        idempotency_key=key,
        fingerprint=asked if key else "",
        world=world,
    )
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        if key is None:
            raise
    else:
        return row, True
    earlier = Call.objects.filter(org_id=org_id, created_by=user_id, idempotency_key=key).first()
    if earlier is None:  # it was rejected just now
        return _begin(user_id, org_id, target, body, world)
    if earlier.fingerprint != asked:
        raise Conflict("idempotency_key: was already used for a different call", details={"reason": "key_reused"})
    if earlier.answer is None:
        said = "That call has started and its outcome is not known yet."
        raise Conflict(said, details={"reason": "in_progress", "call_id": earlier.call_id})
    return earlier, False


def _make(row: Call, target: Target, given: validating.Checked, body: CallIn) -> None:
    """Execute the call, store large data separately, and record the result."""
    context = ToolContext("", body.tool_use_id or "", None, row.org_id, row.created_by_id, row.call_id)
    limits = Limits(body.timeout_ms, body.retry_policy, body.strict_output)
    if target.timeout_ms is not None:
        give_connection_back()
    try:
        execution = executing.execute(target, given, context, limits)
        result, ref = _stored_apart(execution.result, target, row, body)
        execution = Execution(result, execution.attempts, execution.failure)
    except DomainError:  # rejected before it was made: there is nothing to record
        row.delete()
        raise
    except Exception as problem:
        if row.idempotency_key and isinstance(problem, OperationalError | InterfaceError):
            raise  # a passing failure is not the answer of a key: nobody knows what the call did, and its row says so
        _record(row, Execution(results.fail("INTERNAL_ERROR", "Internal error in Heddle.")), None)
        raise
    _record(row, execution, ref)


def _play(actor: Actor, org_id: int, world: World, target: Target, body: CallIn) -> Call:
    """Simulate the call in a world, which validates the arguments itself, after its simulated failures (C114).

    What answers, and is recorded, is the version that the world took; `InvalidRequest` if another one was asked for.
    Each attempt of a retry policy is a separate step; with a key, none follows but after a simulated failure. Raises
    `Conflict` if the key was used for a different call, `Expired` if the world has ended, `Unavailable` if it is busy.
    """
    target = _as_taken(world, target, body.version)
    placed = validating.placed(body.args, body.arguments, target.param_order)
    plays: list[Played] = []
    key = body.idempotency_key

    def run(arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        try:
            play(world.pk, target.qualified_name, placed.arguments, plays.append, key=key, user_id=actor.user_id)
        except Unavailable as busy:
            if not plays:
                raise
            # A step was taken, so the call stays on record.
            return results.fail("RATE_LIMITED", busy.message, {"reason": "world_busy"})
        return plays[-1].result

    keyless = body.model_copy(update={"idempotency_key": None})
    # No schema, so that nothing is validated or dropped before the world decides about a failure.
    played = replace(target, run=run, input_schema={}, timeout_ms=None)
    row, _ = _begin(actor.user_id, org_id, played, keyless, world)
    _make(row, played, placed, keyless)
    row.world_facts = plays[-1].facts if plays else None
    row.save(update_fields=["world_facts"])
    return row


def _as_taken(world: World, target: Target, asked: int | None) -> Target:
    """The target in the version that a world holds; as it is if the world does not hold the tool."""
    copy = keeping.tool_named(world, target.qualified_name)
    if copy is None:
        return target
    if asked is not None and asked != copy.version:
        raise InvalidRequest(f"version: this world holds version {copy.version} of {copy.qualified_name}")
    return replace(target, version=copy.version, param_order=copy.param_order)


def _stored_apart(
    result: ToolResult, target: Target, row: Call, body: CallIn
) -> tuple[ToolResult, dict[str, str] | None]:
    assert row.org_id is not None
    stash = "never" if target.is_inline else body.stash
    limit = body.inline_max_bytes
    return data.stashed(result, row.org_id, row.created_by_id, stash=stash, inline_max_bytes=limit)


def _record(row: Call, execution: Execution, ref: dict[str, str] | None) -> None:
    row.outcome = Call.Outcome.SUCCESS if execution.result.success else Call.Outcome.ERROR
    row.runtime_ms = round(execution.result.execution_time_ms or 0)
    row.answer = calls.answer_of(execution, ref)
    row.save(update_fields=["outcome", "runtime_ms", "answer"])
