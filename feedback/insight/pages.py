"""The Insight page. Its state is in the URL: query, period, and time zone if not the viewer's."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from accounts.authentication import admin_actor
from accounts.pages import signed_in
from core import bodies, forms, paging, zones
from core.errors import InvalidRequest
from core.templatetags.ui import thousands
from core.wording import share
from feedback.insight import plotting, telling
from feedback.insight.figures import MOST_NAMES, figures
from feedback.insight.period import ALL, DEFAULT, Period, period_of
from feedback.insight.plotting import Cell
from feedback.insight.wire import InsightOut
from feedback.presenting.links import Choice, href
from feedback.querying import parse, remarks
from feedback.screens import Orgs, editing_of, tokens_of

KEYS = ("q", "since", "until", "tz", "limit")
PERIODS = {"7d": "7 days", DEFAULT: "30 days", "90d": "90 days", "365d": "A year", ALL: "All"}


@signed_in
@require_GET
def insight(request: HttpRequest) -> HttpResponse:
    """The figures of a query and a period, as plots; `add` redirects to the query with that term."""
    actor = admin_actor(request)
    asked = {key: request.GET[key] for key in KEYS if request.GET.get(key)}
    query = parse(asked.get("q", ""))
    if added := request.GET.get("add", "").strip():
        wider = query.with_term(added, at=bodies.number(request.GET.get("at", "")))
        return redirect(reverse("feedback:insight") + href({**asked, "q": wider.text}))
    period, wrong_period = _period(request, asked)
    context: dict[str, Any] = {
        "wrong_period": wrong_period,
        "asked": asked,
        "query": query.text,
        "tokens": tokens_of(query, asked),
        "period": period,
    }
    context |= {**editing_of(query, asked, request.GET), "is_wrong": bool(query.problems)}
    context["orgs"] = Orgs(query, asked)
    context |= {
        "choices": _choices(asked),
        "chosen": "" if wrong_period else _chosen(asked, period),
        "place": _place(period),
    }
    if not (query.problems or wrong_period):
        limit = paging.limit_of(asked["limit"]) if "limit" in asked else MOST_NAMES
        found = figures(actor, query, period, limit=limit)
        context |= {"found": found, "sums": _sums(found), "notes": remarks(actor, query)}
        context["export"] = reverse("feedback:export") + href({"q": found.reports.query})
        context["plots"] = plotting.plots(
            found, _desk, href({**asked, "limit": str(paging.MAX_LIMIT)}) if limit < paging.MAX_LIMIT else ""
        )
    return render(request, "feedback/insight.html", context, status=400 if wrong_period else 200)


def _period(request: HttpRequest, asked: dict[str, str]) -> tuple[Period, str]:
    """The requested period, and nothing; or else the usual one, and what is wrong with what was asked for."""
    now, tz = timezone.now(), zones.of(request)
    try:
        return period_of(asked.get("since"), asked.get("until"), asked.get("tz") or tz, now), ""
    except InvalidRequest as problem:
        said = forms.reasons(problem, (), otherwise="period", names={"since": "from", "until": "to"})
        return period_of(None, None, tz, now), said["period"]


def _desk(query: str) -> str:
    return reverse("feedback:desk") + href({"q": query})


def _choices(asked: dict[str, str]) -> list[Choice]:
    """Links to the periods that keep the other keys of the address."""
    kept = {key: value for key, value in asked.items() if key not in ("since", "until")}
    current = None if asked.get("until") else asked.get("since", DEFAULT)
    return [Choice(word, href({**kept, "since": since}), since == current) for since, word in PERIODS.items()]


def _chosen(asked: dict[str, str], period: Period) -> str:
    """The custom period in words; empty if it is one of the predefined ones."""
    if not asked.get("until") and asked.get("since", DEFAULT) in PERIODS:
        return ""
    if period.first and period.last:
        return telling.days(period.first, period.last, today=period.last)
    return f"up to {telling.day(period.last)}" if period.last else ""


def _place(period: Period) -> str:
    return "UTC" if period.tz.key == "UTC" else period.tz.key.replace("_", " ")


def _sums(found: InsightOut) -> list[tuple[str, Cell, str]]:
    """The figures at the top: name, number and a remark."""
    before = ""
    if found.before and found.since and found.until:
        earlier = found.before.positive + found.before.negative
        more = found.reports.count - earlier
        change = f"{'+' if more > 0 else '−' if more < 0 else '±'}{thousands(abs(more))} vs." if earlier else "none in"
        before = f"{change} the previous {_length((found.until - found.since).days + 1)}"
    old = telling.older(found.backlog, 7 * 86_400)
    half = Cell(telling.duration(found.median_minutes)) if found.median_minutes is not None else Cell("–")
    return [
        ("Reports", _linked(found, "reports"), before),
        ("Negative", _linked(found, "negative"), share(found.negative.count, found.reports.count)),
        ("Open now", _linked(found, "open"), f"{thousands(old)} older than a week" if old else ""),
        ("Median time to resolve", half, f"of {thousands(found.resolved.count)} resolved"),
    ]


def _linked(found: InsightOut, name: str) -> Cell:
    counted = getattr(found, name)
    return Cell(thousands(counted.count), _desk(counted.query) if counted.count else "")


def _length(days: int) -> str:
    return "day" if days == 1 else f"{days} days"
