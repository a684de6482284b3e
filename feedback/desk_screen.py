"""What the desk shows at an address: list, bar, open report, what was done last. And the same after a refusal."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.urls import reverse

from core import ids
from core.actor import Actor
from core.errors import DomainError, InvalidRequest, NotFound, Stale
from feedback import (
    bulk,
    desk_forms,
    desk_records,
    finding,
    labelling,
    leasing,
    saved_views,
    screens,
    similar,
    triage,
    undoing,
)
from feedback.models import Bulk, UserFeedback
from feedback.presenting import Choice, Conflict, DeskBar, Near, ReportRow, Token, href, pane_of, panes, sentence
from feedback.querying import Query, parse, remarks
from threads import presenting
from threads import screens as thread_screens
from threads.models import Thread
from threads.presenting import Turn

PAGE = 40
KEYS = ("q", "after", "item", "pane", "whole")


def state_of(given: Any) -> dict[str, str]:
    """The keys of an address that mean something; `q` is always among them. It opens on what nobody has taken."""
    query = {key: value for key, value in given if key in KEYS and (value or key == "q")}
    return {"q": saved_views.DEFAULT.query, **query}


def page(actor: Actor, query: dict[str, str]) -> dict[str, Any]:
    """The whole page; with `gone` where the open report is not there."""
    # First, so that a bulk that ends meanwhile is shown as running beside its rows, and its end is news to the page.
    as_of, bulks = bulk.as_of(), bulk.shown(actor)
    parsed = parse(query["q"])
    found, next_token = ([], None) if parsed.problems else finding.page(actor, parsed, PAGE, query.get("after"))
    kept = _kept(query)
    rows = screens.rows_of(actor, found, kept, query.get("item", ""))
    last = undoing.last_action(actor)
    running = [each for each in bulks if not each.is_over]
    if last and last.action in {each.undoes for each in running}:
        last = None
    context: dict[str, Any] = {
        "bar": _bar(actor, parsed, query),
        "rows": rows,
        "next_url": href({**kept, "after": next_token}) if next_token else "",
        "last": last,
        "running": running,
        "as_of": as_of,
        "unsettled": _unsettled(bulks, last),
        "labels": labelling.names(actor),
        "errors": {},
    }
    if query.get("item"):
        try:
            context |= opened(actor, query, rows)
        except NotFound as problem:
            context["gone"] = problem.message
    return context


def opened(actor: Actor, query: dict[str, str], rows: Sequence[ReportRow] = ()) -> dict[str, Any]:
    """The open report, its conversation, and where resolving goes on to: the row below, else above, else the list.

    Where the list is not drawn, the page that has it knows the way on, and says so with the form.
    """
    changes = desk_records.changes_of(query["item"])
    report = triage.report_for(actor, query["item"])
    place = next((place for place, row in enumerate(rows) if row.is_current), -1)
    near = rows[place + 1 : place + 2] or rows[max(0, place - 1) : place]
    desk_url = reverse("feedback:desk")
    thread = Thread.objects.select_related("org", "created_by").get(pk=report.thread_id)
    report.thread, report.org = thread, thread.org
    screen = thread_screens.screen(actor, thread)
    item = screens.card_of(
        actor,
        report,
        changes,
        here=desk_url + href(query),
        next_href=desk_url + (near[0].href if near else href(_kept(query))),
        held_by=rows[place].held_by if place >= 0 else leasing.holders(actor, [report.pk]).get(report.pk, ""),
        near=_near(actor, report, _kept(query)),
    )
    return {
        "item": item,
        "subject": thread_screens.head_of(actor, thread, token=screen.token, goals=screen.goals),
        "stretches": _stretches(screen.turns(), report.message_sequence_num, is_whole="whole" in query),
        "other_reach": href({**query, "whole": "" if "whole" in query else "1"}),
        "is_whole": "whole" in query,
        "here": reverse("threads:detail", args=[thread.thread_id]),
        "cloth": presenting.weave(thread.weave),
        "snoozes": desk_forms.SNOOZES,
    }


def refused(
    actor: Actor, query: dict[str, str], form: Mapping[str, str], problem: DomainError, *, part: str = ""
) -> dict[str, Any]:
    """The page as it was, with what was typed still in its fields and the reason beside it.

    `part` is the form that was refused where it is not the report's: `bulk` or `view`.
    """
    context = page(actor, query) | {"typed": form}
    item = context.get("item")
    if part:
        return context | {"errors": {part: _reason(problem)[1]}}
    if item is None:
        return context
    if isinstance(problem, Stale):
        context["conflict"] = _conflict(item, problem, form)
    else:
        name, reason = _reason(problem)
        context["errors"] = {name if name in _SHOWN else _field_of(form): reason}
    if "admin_note" in form:
        context["item"] = replace(item, admin_note=form["admin_note"].replace("\r\n", "\n"))
    return context


def _stretches(turns: list[Turn], index: int, *, is_whole: bool) -> list[presenting.Stretch]:
    reach = {"before": len(turns), "after": len(turns)} if is_whole else {}
    return presenting.around(turns, index, **reach)


def _kept(query: Mapping[str, str]) -> dict[str, str]:
    """The address of the list alone."""
    return {key: value for key, value in query.items() if key not in ("item", "pane", "whole")}


def _bar(actor: Actor, parsed: Query, query: dict[str, str]) -> DeskBar:
    """Only the built-in views and the one that is looked at are counted: each count is a query of its own."""
    total = saved_views.count(actor, query["q"])
    counts = {parsed.canonical: total}
    for each in saved_views.BUILT_IN:
        if each.is_work and each.query not in counts:
            counts[each.query] = saved_views.count(actor, each.query)
    views = [_choice(each.name, each.query, parsed, counts) for each in saved_views.BUILT_IN]
    for saved in saved_views.listed(actor):
        view = _choice(saved.name, saved.query, parsed, counts)
        view_id = ids.VIEW + saved.key if saved.created_by_id == actor.user_id else ""
        views.append(replace(view, is_shared=saved.is_shared, view_id=view_id))
    tokens = (
        Token(term.text, href({"q": parsed.without(place).text}), term.reason)
        for place, term in enumerate(parsed.terms)
    )
    return DeskBar(
        query=query["q"],
        tokens=tuple(tokens),
        views=tuple(views),
        panes=panes(query),
        here=reverse("feedback:desk") + href(query),
        pane=pane_of(query),
        notes=remarks(actor, parsed),
        total=total,
    )


def _choice(name: str, query: str, parsed: Query, counts: Mapping[str, int | None]) -> Choice:
    return Choice(name, href({"q": query}), query == parsed.canonical, counts.get(query))


def _unsettled(bulks: Sequence[Bulk], last: undoing.LastAction | None) -> dict[str, Any] | None:
    """What the actor's latest bulk left as it was, with the reasons, until something else is done."""
    latest = bulks[-1] if bulks else None
    if latest is None or not latest.finished_at or not latest.failed_count:
        return None
    if last is not None and last.at > latest.finished_at:
        return None
    failures = latest.failures.order_by("id").values_list("feedback_key", "reason")[: desk_forms.FAILURES_SHOWN]
    return {
        "words": desk_forms.told_of_failures(latest),
        "failures": [(ids.FEEDBACK + key, reason) for key, reason in failures],
    }


def _near(actor: Actor, report: UserFeedback, query: dict[str, str]) -> list[Near]:
    return [
        Near(
            feedback_id=each.feedback_id,
            sentiment=each.sentiment,
            words=each.notes or "",
            reasons=each.reasons,
            created=each.created,
            href=href({**query, "item": each.feedback_id}),
            resolved=each.resolved,
        )
        for each in similar.similar_to(actor, report)
    ]


_FIELDS = {"add": "label", "remove": "label", "public_status": "public_reply"}
_SHOWN = ("label", "admin_note", "duplicate_of", "public_reply")
"""Fields of the report's form beside which there is room for a reason."""


def _reason(problem: DomainError) -> tuple[str, str]:
    """The field that a refusal is about, empty where it is about none, and the reason for people."""
    place, _, reason = problem.message.partition(": ") if isinstance(problem, InvalidRequest) else ("", "", "")
    if not reason:
        return "", problem.message
    field = place.partition(".")[0]
    field = _FIELDS.get(field, field)
    return field, sentence(field, reason)


def _field_of(form: Mapping[str, str]) -> str:
    return "duplicate_of" if form.get("duplicate_of") and form.get("verb", "") in ("", "duplicate") else "verb"


def _conflict(item: Any, problem: Stale, form: Mapping[str, str]) -> Conflict:
    column = problem.columns[0]
    theirs = {"admin_note": item.admin_note, "admin_label": ", ".join(item.labels), "public_reply": item.public_reply}
    mine = {"admin_note": "admin_note", "admin_label": "label", "public_reply": "public_reply"}.get(column, "verb")
    return Conflict(problem.message, theirs.get(column, item.state_line), form.get(mine, ""))
