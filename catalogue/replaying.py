"""Check recorded calls against a planned version: which callers would break (catalogue 1.1, 3.1).

Nothing is called. Arguments that the current version accepts are validated against the new schema, limited to the
latest calls of each tool and a total time.
"""

import time
from collections.abc import Mapping
from typing import Any, Final

from django.db.models import F, QuerySet

from catalogue import validating
from catalogue.models import Call, ToolVersion
from catalogue.record import JsonObject
from catalogue.wire_tools import RefusedCallOut, ReplayOut
from core.actor import Actor
from core.canonical import canonical_json

LATEST: Final = 500
SHOWN: Final = 3
SECONDS: Final = 3.0
_BATCH: Final = 50


def replays(actor: Actor | None, org_id: int, schemas: Mapping[str, JsonObject]) -> dict[str, ReplayOut]:
    """The effect of new input schemas on recorded calls, by qualified name; tools without any are missing.

    Only calls that the actor may see are checked (C134), for the operator (None) all: whoever chooses the schema would
    learn the arguments of others from the number that it refuses.
    """
    present = ToolVersion.objects.filter(
        tool__org=org_id, tool__qualified_name__in=list(schemas), version=F("tool__version")
    )
    rows = present.values_list("tool__qualified_name", "tool__server__name", "tool__name", "input_schema")
    ends_at = time.monotonic() + SECONDS
    found = {}
    for qualified_name, server, name, old in rows:
        seen = Call.objects.all() if actor is None else Call.objects.visible_to(actor)
        calls = _Calls(seen.filter(org=org_id, server=server, tool=name, world=None))
        replay = _replay(calls, old, schemas[qualified_name], ends_at)
        if replay.checked or not replay.whole:
            found[qualified_name] = replay
    return found


class _Calls:
    """The latest calls of a tool, newest first, read in batches because arguments may be large."""

    def __init__(self, calls: QuerySet[Call]) -> None:
        self._calls = calls.exclude(arguments=None).order_by("-begun", "-pk").defer("answer")

    def __iter__(self) -> Any:
        for start in range(0, LATEST, _BATCH):
            batch = list(self._calls[start : start + _BATCH])
            yield from batch
            if len(batch) < _BATCH:
                return


def _replay(calls: _Calls, old: JsonObject, new: JsonObject, ends_at: float) -> ReplayOut:
    checked = refused = 0
    examples: list[RefusedCallOut] = []
    is_whole = True
    known: dict[str, list[JsonObject] | None] = {}
    for call in calls:
        if time.monotonic() > ends_at:
            is_whole = False
            break
        same = canonical_json(call.arguments)
        if same not in known:
            known[same] = _new_errors(call.arguments, old, new)
        errors = known[same]
        if errors is None:
            continue
        checked += 1
        refused += bool(errors)
        if errors and len(examples) < SHOWN:
            examples.append(_refused_out(call, errors))
    return ReplayOut(checked=checked, refused=refused, whole=is_whole, examples=examples)


def _new_errors(arguments: Any, old: JsonObject, new: JsonObject) -> list[JsonObject] | None:
    """The errors of arguments under the new schema; None if the current schema rejects them as well."""
    if validating.check(arguments, old).errors:
        return None
    return validating.check(arguments, new).errors


def _refused_out(call: Call, errors: list[JsonObject]) -> RefusedCallOut:
    return RefusedCallOut(
        call_id=call.call_id,
        version=call.version,
        created=call.begun,
        arguments=call.arguments,
        errors=errors[:5],
    )
