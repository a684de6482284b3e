"""All figures of a period and a query, each with the desk query that finds exactly its reports."""

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta

from django.core.cache import cache
from django.db import OperationalError
from django.utils import timezone

from accounts.rights import require_admin
from core import grammar
from core.actor import Actor
from core.db import snapshot
from core.errors import InvalidRequest, Unavailable
from core.grammar import Either
from feedback import digesting
from feedback.insight import counting, tallying
from feedback.insight.counting import Named, Verdicts
from feedback.insight.period import Period, Span, edges, term
from feedback.insight.tallying import Tallied
from feedback.insight.wire import BeforeOut, CountOut, InsightOut, NamedOut, RangeOut, SpanOut, ToolFiguresOut
from feedback.querying import Query, matching, parse, term_of

EVERYTHING = parse("")
MOST_NAMES = 20
"""Most tools, model profiles, agents and labels that are listed where nothing else is asked for."""
MOST_JOINED = 100_000
"""Most reports that are counted by label, agent and outcome; these change daily, so no tally stores them."""
_SLOW, _KEPT, _KEPT_AT_MOST = 1, 30, 300
"""A result that took over a second is cached for 30 times as long, at most 300 seconds."""


def figures(actor: Actor, query: Query, period: Period, *, limit: int = MOST_NAMES) -> InsightOut:
    """Everything that Insight shows, for platform admins; raises like `matching`.

    At most `limit` tools, model profiles, agents and labels are listed, those with most reports; the rest is only
    counted. Days named in the query begin in the viewer's zone. The returned queries contain that zone, so that a link
    means the same for everybody. A fixed number of queries.
    """
    require_admin(actor)
    zoned = query.anchored(period.tz)
    asked = Asked(zoned, period)
    said = repr((actor.user_id, zoned.canonical, period.first, period.last, period.tz.key, limit))
    key = f"insight-{hashlib.sha256(said.encode()).hexdigest()}"
    kept: InsightOut | None = cache.get(key)
    if kept is None:
        begun = time.perf_counter()
        kept = _counted(actor, zoned, period, asked, limit)
        took = time.perf_counter() - begun
        if took > _SLOW:
            cache.set(key, kept, min(took * _KEPT, _KEPT_AT_MOST))
    return kept


class Asked:
    """Builds the desk queries of a period."""

    def __init__(self, query: Query, period: Period) -> None:
        self._query = grammar.spelled(query.root, alone=not isinstance(query.root, Either))
        self._period = period
        longest = self(f"tool:{'x' * 200} sentiment:positive")
        if not query.problems and (problems := parse(longest).problems):
            raise InvalidRequest(f"q: is too long with the terms that Insight adds: {problems[0].reason}")

    def __call__(self, *terms: str) -> str:
        """The query with the period and these terms."""
        return self.of_any_time(self._period.term, *terms)

    def of_span(self, span: Span, *terms: str) -> str:
        """The query with these terms for a span of the period."""
        return self.of_any_time(term(span, self._period.tz), *terms)

    def of_any_time(self, *terms: str) -> str:
        """The query with these terms and without the period."""
        return " ".join(part for part in (self._query, *terms) if part)


def _counted(actor: Actor, query: Query, period: Period, asked: Asked, limit: int) -> InsightOut:
    with suppress(Unavailable, OperationalError):  # then what is digested so far has to do
        digesting.finish()  # for the query, and so that the links of the plot by tool find the counted reports
    now = timezone.now()
    matched = matching(actor, query)
    before, rows = period.before, counting.within(matched, period)
    with snapshot():
        found = counting.covered(rows, period, now)
        limits = edges(found, period.tz)
        if found:
            # These bounds exclude nothing, but make the database use the index of their column instead of going from
            # each tool and model to its report; this halves the time for an open period.
            closed = Period(found[0].first, found[-1].last, period.tz)
            rows = counting.within(matched, closed)
        is_all = found and query == EVERYTHING and tallying.suits(limits)
        kept = tallying.tallied(closed, "counts") if is_all else Tallied(rows)
        counted = counting.counted(kept.rest, limits)
        ages = counting.backlog(matched, now)
        last = None
        if before:
            earlier = tallying.tallied(before) if is_all else Tallied(counting.within(matched, before))
            last = earlier.added_to(counting.verdicts(earlier.rest))
        kept.add_to(counted, limits)
        positive, negative = (
            sum(getattr(each, name) for each in counted.over_time) for name in ("positive", "negative")
        )
        is_small = positive + negative <= MOST_JOINED
        labels, outcomes, agents = (
            (counting.by_label(rows), counting.by_outcome(rows), counting.folded(counting.by_agent(rows)))
            if is_small
            else ({}, {}, {})
        )
    minutes = sorted(counted.minutes.items())
    lengths = counting.time_to_resolve(minutes)
    tools, models = counting.folded(counted.tools), counting.folded(counted.models)
    return InsightOut(
        query=query.canonical,
        since=period.first,
        until=period.last,
        tz=period.tz.key,
        counted_at=now,
        reports=CountOut(count=positive + negative, query=asked()),
        positive=CountOut(count=positive, query=asked("sentiment:positive")),
        negative=CountOut(count=negative, query=asked("sentiment:negative")),
        open=CountOut(count=sum(ages), query=asked.of_any_time("is:open")),
        resolved=CountOut(count=sum(lengths), query=asked("is:resolved")),
        before=before and last and _before(before, last),
        over_time=[_span(asked, *each) for each in zip(found, counted.over_time, strict=bool(found))],
        by_category=[_named(asked, "category", *each) for each in _most(counted.categories)],
        by_tool=[_tool(asked, *each) for each in _most(tools)[:limit]],
        tools_left_out=max(0, len(tools) - limit),
        by_model=[_named(asked, "model", *each) for each in _most(models)[:limit]],
        models_left_out=max(0, len(models) - limit),
        by_agent=[_named(asked, "agent", *each) for each in _most(agents)[:limit]],
        agents_left_out=max(0, len(agents) - limit),
        by_label=[_named(asked, "label", *each) for each in _most(labels)[:limit]],
        has_labels=is_small,
        labels_left_out=max(0, len(labels) - limit),
        by_outcome=[_named(asked, "outcome", *each) for each in _most(outcomes)],
        backlog=_ranges(asked.of_any_time, "is:open age", counting.AGES, ages),
        time_to_resolve=_ranges(asked, "took", counting.LENGTHS, lengths),
        median_minutes=counting.quantile(minutes, 50),
        p90_minutes=counting.quantile(minutes, 90),
    )


def _before(period: Period, counted: Verdicts) -> BeforeOut:
    assert period.first and period.last
    return BeforeOut(since=period.first, until=period.last, positive=counted.positive, negative=counted.negative)


def _most(named: Named) -> list[tuple[str, Verdicts]]:
    """Sort by number of negative reports. Blank names are left out, because no query can find them."""
    asked = [each for each in named.items() if each[0].strip()]
    return sorted(asked, key=lambda each: (-each[1].negative, -each[1].positive, each[0]))


def _sided(spell: Callable[[str], str], counted: Verdicts) -> Mapping[str, CountOut]:
    return {
        side: CountOut(count=getattr(counted, side), query=spell(f"sentiment:{side}"))
        for side in ("positive", "negative")
    }


def _span(asked: Asked, span: Span, counted: Verdicts) -> SpanOut:
    return SpanOut(first=span.first, last=span.last, **_sided(lambda side: asked.of_span(span, side), counted))


def _named(asked: Asked, field: str, name: str, counted: Verdicts) -> NamedOut:
    by = grammar.spelled(term_of(field, name))
    both = CountOut(count=counted.positive + counted.negative, query=asked(by))
    return NamedOut(name=name, reports=both, **_sided(lambda side: asked(by, side), counted))


def _tool(asked: Asked, name: str, counted: Verdicts) -> ToolFiguresOut:
    failed = CountOut(count=counted.failed, query=asked(grammar.spelled(term_of("failed", name))))
    return ToolFiguresOut(**dict(_named(asked, "tool", name, counted)), failed=failed)


def _ranges(
    spell: Callable[..., str], field: str, limits: Sequence[timedelta], counted: Sequence[int]
) -> list[RangeOut]:
    """The ranges between the limits. `field` may be preceded by other terms."""
    *terms, name = field.split()
    found = []
    for place, count in enumerate(counted):
        over = limits[place - 1] if place else None
        under = limits[place] if place < len(limits) else None
        bounds = [f"{name}:{sign}{_age(limit)}" for sign, limit in ((">=", over), ("<", under)) if limit]
        reports = CountOut(count=count, query=spell(*terms, *bounds))
        found.append(RangeOut(over_seconds=_seconds(over), under_seconds=_seconds(under), reports=reports))
    return found


def _age(length: timedelta) -> str:
    minutes = int(length.total_seconds()) // 60
    for size, unit in ((1440, "d"), (60, "h")):
        if minutes % size == 0:
            return f"{minutes // size}{unit}"
    return f"{minutes}m"


def _seconds(length: timedelta | None) -> int | None:
    return int(length.total_seconds()) if length else None
