"""Usage statistics of a tool's real calls: counts, errors, durations, latest failures (C134).

All org members may see the statistics. Contents are only for those who may see the call itself.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Final

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from catalogue import hooks
from catalogue.models import Call, Tool
from core.actor import Actor
from core.wording import one_line, share

DAYS: Final = 30
SAMPLE: Final = 2_000
"""Rates and durations are computed from this many latest calls, to keep the query fast."""
FAILURES: Final = 5


@dataclass(frozen=True, slots=True)
class Counts:
    """Calls, and how many of them failed."""

    calls: int = 0
    errors: int = 0

    @property
    def rate(self) -> str:
        """The share of errors, in percent."""
        return share(self.errors, self.calls)

    @property
    def is_high(self) -> bool:
        """Whether so many failed that a reader should look at it."""
        return 100 * self.errors > 9 * self.calls


@dataclass(frozen=True, kw_only=True)
class Line(Counts):
    """Calls of one version, or of all if `version` is None. Durations in milliseconds; None without a timed call."""

    version: int | None
    p50: int | None
    p95: int | None
    p99: int | None


@dataclass(frozen=True, slots=True)
class Failed:
    """A failed call. `message`, `call_id` and `thread_id` are empty if the actor may not see them."""

    at: datetime
    version: int
    code: str
    message: str = ""
    call_id: str = ""
    thread_id: str = ""
    thread_title: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Totals, by version (newest first), and latest failures. `is_sampled`: there were more calls than `SAMPLE`."""

    whole: Line
    versions: tuple[Line, ...]
    failures: tuple[Failed, ...]
    is_sampled: bool


def of_tool(actor: Actor, org_id: int, tool: Tool) -> Usage:
    """The calls of a tool in an org in the last thirty days."""
    recent = _recent(org_id).filter(server=tool.server.name, tool=tool.name).order_by("-begun")
    found = list(recent.values_list("version", "outcome", "runtime_ms", "pk")[: SAMPLE + 1])
    rows = [row[:3] for row in found[:SAMPLE]]
    numbers = sorted({version for version, _, _ in rows}, reverse=True)
    by_version = tuple(_line(number, [row for row in rows if row[0] == number]) for number in numbers)
    failed = [pk for _, outcome, _, pk in found[:SAMPLE] if outcome == Call.Outcome.ERROR][:FAILURES]
    failures = Call.objects.filter(pk__in=failed).defer("arguments").order_by("-begun")
    return Usage(_line(None, rows), by_version, tuple(_failed(actor, list(failures))), len(found) > SAMPLE)


def counts(org_id: int, tools: Iterable[Tool]) -> dict[int, Counts]:
    """The calls of each tool in the last thirty days, by row id, in one query."""
    wanted = {(tool.server.name, tool.name): tool.pk for tool in tools}
    if not wanted:
        return {}
    servers, names = ({key[at] for key in wanted} for at in (0, 1))
    rows = _recent(org_id).filter(server__in=servers, tool__in=names).values_list("server", "tool")
    failed = Count("pk", filter=Q(outcome=Call.Outcome.ERROR))
    found = rows.order_by().annotate(calls=Count("pk"), errors=failed)
    return {
        wanted[server, name]: Counts(calls, errors) for server, name, calls, errors in found if (server, name) in wanted
    }


def _recent(org_id: int) -> QuerySet[Call]:
    return Call.objects.filter(org=org_id, world=None, begun__gte=timezone.now() - timedelta(days=DAYS))


def _line(version: int | None, rows: Sequence[tuple[int, str, int | None]]) -> Line:
    times = sorted(runtime for _, outcome, runtime in rows if runtime is not None and outcome)
    errors = sum(outcome == Call.Outcome.ERROR for _, outcome, _ in rows)
    p50, p95, p99 = (_percentile(times, rank) for rank in (50, 95, 99))
    return Line(version=version, calls=len(rows), errors=errors, p50=p50, p95=p95, p99=p99)


def _percentile(times: Sequence[int], rank: int) -> int | None:
    """The nearest-rank percentile, which is an actual duration."""
    return times[max(0, ceil(len(times) * rank / 100) - 1)] if times else None


def _failed(actor: Actor, calls: Sequence[Call]) -> Iterable[Failed]:
    seen = set(Call.objects.visible_to(actor).filter(pk__in=[call.pk for call in calls]).values_list("pk", flat=True))
    titles = hooks.threads.titles(actor, {call.thread_id for call in calls if call.thread_id})
    for call in calls:
        error = ((call.answer or {}).get("result") or {}).get("error") or {}
        is_seen = call.pk in seen
        yield Failed(
            at=call.begun,
            version=call.version,
            code=one_line(str(error.get("code") or "error"), 60),
            message=one_line(str(error.get("message") or ""), 300) if is_seen else "",
            call_id=call.call_id if is_seen else "",
            thread_id=call.thread_id if call.thread_id in titles else "",
            thread_title=titles.get(call.thread_id, ""),
        )
