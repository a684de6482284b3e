"""What the session remembers of the desk, for the pages to come."""

from collections.abc import Sequence

from django.http import HttpRequest
from django.utils import timezone

_LATEST = "bulk_latest"
"""Session key of the latest bulk of ticked reports; the next page ticks those that it still lists."""
_MEANWHILE, _MOST_MEANWHILE = "meanwhile", 20
"""Session key of the latest actions that were done while a bulk ran; how many it keeps."""
_FINAL = "final_at"
"""Session key: when the reader last did something that cannot be undone."""
_BATCHES, _MOST_BATCHES = "batches", 10
"""Session key: the ids of the batches that the reader began, until they open their page after the end; of how many."""


def hold_undo(request: HttpRequest) -> None:
    """Call it for whatever cannot be undone: people press `z` to undo what they did last, so until their next action or
    undo it does not undo what they did before.
    """
    request.session[_FINAL] = timezone.now().timestamp()


def release_undo(request: HttpRequest) -> None:
    """An undo was done: the next one undoes what was done before."""
    request.session.pop(_FINAL, None)


def final_at(request: HttpRequest) -> float:
    """When the reader last did something that cannot be undone; 0 if they did not, or have undone something since."""
    at: float = request.session.get(_FINAL, 0)
    return at


def keep_meanwhile(request: HttpRequest, action: str) -> None:
    """Remember an action that was done while a bulk of the reader ran."""
    request.session[_MEANWHILE] = [*meanwhile(request), action][-_MOST_MEANWHILE:]


def meanwhile(request: HttpRequest) -> list[str]:
    """The latest actions that were done while a bulk ran."""
    return list(request.session.get(_MEANWHILE, ()))


def keep_ticked(request: HttpRequest, bulk_id: str) -> None:
    """Remember the bulk of ticked reports that was just done."""
    request.session[_LATEST] = bulk_id


def ticked_for(request: HttpRequest) -> str | None:
    """The bulk of ticked reports that was just done, for one page."""
    bulk_id: str | None = request.session.pop(_LATEST, None)
    return bulk_id


def follow(request: HttpRequest, batch_id: str, *, is_over: bool = False) -> None:
    """Let the desk tell how far a batch is and what it came to, or no more if the reader has seen that it `is_over`."""
    known = request.session.get(_BATCHES, [])
    others = [each for each in known if each != batch_id]
    if is_over and len(others) < len(known):
        request.session[_BATCHES] = others
    elif not is_over:
        request.session[_BATCHES] = [*others, batch_id][-_MOST_BATCHES:]


def followed(request: HttpRequest) -> Sequence[str]:
    """The ids of the batches that the desk tells of."""
    batches: Sequence[str] = request.session.get(_BATCHES, ())
    return batches
