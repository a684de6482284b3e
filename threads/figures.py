"""What a thread's turns used: time, tokens, cost and model. For pages only; not part of the REST API."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.utils.html import format_html

from core.templatetags.ui import thousands
from core.wording import took
from threads.content import MessageSnapshot
from threads.models import Turn
from threads.profiles import SIMULATED

_LONG_WAIT_MS = 1_000
_CUT_OFF = (
    '<span title="The stopped request is not counted">{}</span><span class="sr"> (the stopped request is not counted)'
    "</span>"
)


@dataclass(frozen=True, slots=True)
class TurnFigures:
    """One finished turn. The waits for client tools are in `waited_ms` and in no other time; `cost` is in US dollars,
    None if any part is unknown.
    """

    answer_idx: int
    took_ms: int | None
    first_text_ms: int | None
    waited_ms: int
    input_tokens: int
    output_tokens: int
    requests: int
    retries: int
    profile: str
    model: str
    cost: Decimal | None


def of_turns(thread_pk: int, *, between: tuple[int, int] | None = None) -> list[TurnFigures]:
    """The finished turns of a thread in order, or those that ended `between` two messages. One query."""
    turns = Turn.objects.filter(thread=thread_pk, answer_idx__isnull=False)
    if between is not None:
        turns = turns.filter(answer_idx__range=between)
    return [_figures(turn) for turn in turns.order_by("id")]


def cut_off(messages: Iterable[MessageSnapshot]) -> frozenset[int]:
    """The answers that were stopped while they were written: the usage of their last request is not known."""
    return frozenset(
        each.index
        for each in messages
        if each.status == "cancelled" and any(block["content_type"] == "text" for block in each.blocks)
    )


def words(figures: TurnFigures, *, is_cut_off: bool = False) -> tuple[str, ...]:
    """The figures in words, without the unremarkable ones; empty for a turn that no model answered."""
    if not figures.requests:
        return ()
    found = [lasted(figures.took_ms, figures.waited_ms)] if figures.took_ms is not None else []
    if figures.first_text_ms is not None:
        found.append(f"first words after {took(figures.first_text_ms)}")
    used = tokens(figures.input_tokens, figures.output_tokens, is_cut_off=is_cut_off)
    found.append(format_html(_CUT_OFF, used) if is_cut_off else used)
    if figures.requests > 1:
        found.append(f"{figures.requests} requests")
    if figures.retries:
        found.append(f"{figures.retries} retried")
    if figures.profile == SIMULATED:
        return (*found, SIMULATED)
    found.append("cost unknown" if figures.cost is None else dollars(figures.cost))
    is_both = figures.model not in ("", figures.profile)
    return (*found, f"{figures.model} ({figures.profile})" if is_both else figures.profile)


def tokens(taken: int, given: int, *, is_cut_off: bool = False) -> str:
    """The usage in words; `is_cut_off`: a request is not in it."""
    return f"{'at least ' * is_cut_off}{thousands(taken)} tokens in, {thousands(given)} out"


def lasted(took_ms: int, waited_ms: int) -> str:
    """A duration in words, and how much more was a wait for client tools unless that was short."""
    waited = f", and {took(waited_ms)} waiting for a tool result" if waited_ms >= _LONG_WAIT_MS else ""
    return took(took_ms) + waited


def worked_ms(turn: Turn, until: datetime | None) -> int | None:
    """Milliseconds that the agent worked from a turn's start until a moment, without waits for client tools; None if
    either moment is unknown.
    """
    if turn.started_at is None or until is None:
        return None
    return turn.lasted_ms(until) - turn.waited_ms(until)


def dollars(cost: Decimal) -> str:
    """An amount in US dollars with two to six decimal places as needed: $0.0042."""
    places = f"{cost:.6f}"
    if cost and not places.strip("0."):
        return "under $0.000001"
    whole, _, part = places.rstrip("0").partition(".")
    return f"${whole}.{part:0<2}"


def _figures(turn: Turn) -> TurnFigures:
    return TurnFigures(
        answer_idx=turn.answer_idx or 0,
        took_ms=worked_ms(turn, turn.finished_at),
        first_text_ms=worked_ms(turn, turn.first_text_at),
        waited_ms=turn.waited_ms(turn.finished_at) if turn.finished_at else 0,
        input_tokens=turn.input_tokens,
        output_tokens=turn.output_tokens,
        requests=turn.requests,
        retries=turn.retries,
        profile=turn.profile,
        model=turn.model,
        cost=turn.cost,
    )
