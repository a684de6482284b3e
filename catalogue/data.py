"""Payloads stored separately: a model sees a reference and a summary, programs fetch the data (catalogue 3.4)."""

import secrets
from datetime import timedelta
from typing import Any, Final

from django.utils import timezone

from accounts.orgs import require_keeper_of
from catalogue import results
from catalogue.models import DataRef
from catalogue.results import MAX_RESULT_BYTES, ToolResult
from core.actor import Actor
from core.canonical import size_of
from core.errors import InvalidRequest, NotFound
from core.wording import limit_text

KEPT_FOR: Final = timedelta(seconds=3600)
INLINE_MAX_BYTES: Final = 8192
MAX_SUMMARY: Final = 2000
_CLEARED_AT_ONCE: Final = 100


def store(org_id: int, user_id: int | None, data: dict[str, Any], summary: str | None = None) -> DataRef:
    """Store a payload for an hour. Raises `InvalidRequest` for more than 10 MiB.

    Each call also deletes some expired payloads, so no sweep is needed.
    """
    size = size_of(data)
    if size > MAX_RESULT_BYTES:
        raise InvalidRequest(f"data: is larger than {limit_text(MAX_RESULT_BYTES)}", details={"reason": "too_large"})
    now = timezone.now()
    expired = DataRef.objects.filter(expires_at__lte=now).values_list("pk", flat=True)[:_CLEARED_AT_ONCE]
    DataRef.objects.filter(pk__in=list(expired)).delete()
    return DataRef.objects.create(
        ref_id=f"td_{secrets.token_hex(6)}",
        org_id=org_id,
        created_by_id=user_id,
        summary=(summary or summary_of(data, size))[:MAX_SUMMARY],
        data=data,
        size_bytes=size,
        created=now,
        expires_at=now + KEPT_FOR,
    )


def find(org_ids: list[int], ref_id: object) -> DataRef | None:
    """The payload with that id in these orgs; None if it is unknown, expired or another org's (C90)."""
    if not isinstance(ref_id, str):
        return None
    return DataRef.objects.visible_in(org_ids, timezone.now()).filter(ref_id=ref_id[:40]).first()


def ref_for(actor: Actor, ref_id: str) -> DataRef:
    """The payload with that id, in one of the actor's orgs, for platform admins in any. Raises `NotFound`."""
    kept = DataRef.objects.visible_to(actor, timezone.now())
    found = kept.filter(ref_id=ref_id[:40]).first()
    if found is None:
        raise NotFound.of("data", ref_id[:40])
    return found


def delete(actor: Actor, ref_id: str) -> None:
    """Delete a payload before its hour is over: its creator, org admins and platform admins. Raises like `ref_for`."""
    ref = ref_for(actor, ref_id)
    require_keeper_of(actor, ref.org_id, ref.created_by_id, "data", "delete it")
    ref.delete()


def told(ref: DataRef) -> dict[str, str]:
    """The reference that replaces a payload."""
    return {"ref_id": ref.ref_id, "summary": ref.summary}


def stashed(
    result: ToolResult, org_id: int, user_id: int | None, *, stash: str, inline_max_bytes: int
) -> tuple[ToolResult, dict[str, str] | None]:
    """The result with large data replaced by a reference, and that reference or None (C87, C89).

    If the tool stored the data itself, its reference is passed on unchanged (C92).
    """
    if not result.success:
        return result, None
    own = _own_reference(result.data, org_id)
    if own is not None:
        return result, own
    size = result.metadata.outputSize or 0
    if stash == "never" or (stash == "auto" and size <= inline_max_bytes):
        return result, None
    data = result.data if isinstance(result.data, dict) else {"value": result.data}
    said = data.get("summary")
    try:
        ref = store(org_id, user_id, data, said if isinstance(said, str) and said else None)
    except InvalidRequest:  # wrapping the value can exceed the limit
        return results.fail("EXECUTION_ERROR", "The tool returned more than 10 MiB."), None
    return result.model_copy(update={"data": told(ref)}), told(ref)


def summary_of(data: dict[str, Any], size: int) -> str:
    """A line with type, size and top-level keys, with the lengths of lists."""
    named = [
        f"{name[:40]} ({len(child)} items)" if isinstance(child, list) else name[:40]
        for name, child in list(data.items())[:12]
    ]
    more = f" and {len(data) - len(named)} more" if len(data) > len(named) else ""
    return f"object of {size} bytes with {', '.join(named) or 'no keys'}{more}"


def _own_reference(data: Any, org_id: int) -> dict[str, str] | None:
    if not (isinstance(data, dict) and data.keys() == {"ref_id", "summary"}):
        return None
    if not (isinstance(data["ref_id"], str) and isinstance(data["summary"], str)):
        return None
    return dict(data) if find([org_id], data["ref_id"]) else None
