"""The template context of the desk: list, bar, open report and last action."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from django.urls import reverse

from core import ids
from core.actor import Actor
from core.errors import NotFound
from core.prepared import Prepared
from feedback import (
    access,
    bulk,
    checks_screen,
    desk_bar,
    desk_ended,
    desk_forms,
    desk_nearby,
    desk_records,
    desk_rerun,
    labelling,
    last_action,
    leasing,
    lists,
    saved_views,
    screens,
)
from feedback.desk_state import kept
from feedback.models import TriageChange, UserFeedback
from feedback.presenting.alike import Alike
from feedback.presenting.links import PageBeside, href
from feedback.presenting.menus import letters, outcomes
from feedback.presenting.rows import ReportRow
from feedback.querying import Meaning, Order, Position, Query, matching, meaning, parse, row_ids
from feedback.saved_views import PAGE
from threads import extracts, profiles
from threads import screens as thread_screens
from threads.models import Thread
from threads.presenting import cloth, excerpting
from threads.presenting.articles import Article, Piece

COMMENTS = 20
"""How many comments are shown, the last ones, unless all are wanted."""


def page(
    actor: Actor,
    query: dict[str, str],
    *,
    tz: ZoneInfo,
    meanwhile: Sequence[str] = (),
    follows: Sequence[str] = (),
    is_ahead: bool = False,
    has_changed: bool = False,
) -> dict[str, Any]:
    """The whole page, with `state` and its `parsed` query; with `gone` (a sentence) if the open report is not there.

    `meanwhile` are the actor's actions while a bulk ran (`last_action`), `follows` the ids of batches to tell of.

    If the browser has fetched the open report already (`is_ahead`) and it is listed, the page comes without it; if a
    report like it `has_changed`, with those like it.
    """
    # Read first: a bulk that ends during this request still counts as running, and the page then hears of its end.
    as_of, bulks, runs = bulk.as_of(), bulk.shown(actor), checks_screen.under_way(follows)
    parsed = parse(query["q"])
    meant = None if parsed.problems else meaning(actor, parsed)
    rows, onward, back = _listed(actor, meant, query, parsed, tz) if meant else ([], None, None)
    running = [each for each in bulks if not each.is_over]
    last = last_action.last_action(actor, bulks, meanwhile=meanwhile, tz=tz)
    if of := next((each for each in bulks if last and each.key == last.action), None):
        last = last and replace(last, unchanged=max(0, of.done_count - last.changed_count))
    context: dict[str, Any] = {
        "state": query,
        "parsed": parsed,
        "bar": desk_bar.bar_of(actor, parsed, meant, query),
        "rows": rows,
        "onward": onward,
        "back": back,
        "last": last,
        "running": running,
        "is_stoppable": any(not each.undoes for each in running),
        **runs,
        "as_of": as_of,
        "unsettled": desk_ended.unsettled(bulks, last),
        "undone": desk_ended.undone(bulks, last),
        "redo": desk_ended.redoable(actor, bulks, last),
        "vain": desk_ended.vain(bulks, last),
        "meanwhile": desk_ended.meanwhile(bulks, last),
        "labels": partial(labelling.names, actor),
        "errors": {},
        **offered(actor, tz),
    }
    if query.get("item"):
        is_ahead &= any(row.is_current for row in rows)
        try:
            alike = _alike(actor, query) if is_ahead and has_changed else {}
            if is_ahead and (alike or not has_changed):
                context |= {"is_ahead": True, **alike}
            else:
                context |= opened(actor, query, rows, onward, tz=tz)
        except NotFound as problem:
            context |= {"gone": problem.message, "resume": _below(rows, query["item"], parsed.order)}
    return context


def _alike(actor: Actor, query: dict[str, str]) -> dict[str, Any]:
    """The reports like the open one; empty if there are none any more."""
    report = access.report_for(actor, query["item"])
    near = tuple(desk_nearby.near(actor, report, kept(query)))
    here = reverse("feedback:desk") + href(query)
    alike = Alike(report.feedback_id, here, near, resolved=report.resolved)
    return {"alike": alike, "choices": [each for each in near if each.is_of_org]} if near else {}


def _below(rows: Sequence[ReportRow], feedback_id: str, order: Order) -> str:
    """The row below the place of a report that is gone. Ids sort by creation time."""
    if order.moments or not rows:
        return ""
    below = (row for row in rows if (row.feedback_id > feedback_id) is order.is_oldest_first)
    return next(below, rows[-1]).feedback_id


def below(actor: Actor, query: dict[str, str]) -> str:
    """The report that is below the open one now that it left the list, or above it at the list's end; empty if there is
    none, or if the list is sorted by a time that it no longer has.
    """
    parsed, left = parse(query["q"]), access.report_for(actor, query["item"])
    if parsed.problems or parsed.order.moments:
        return ""
    rows, place = matching(actor, parsed), (left.pk,)
    found = parsed.order.following(rows, place, 1) or parsed.order.preceding(rows, place, 1)
    keys = UserFeedback.objects.filter(pk__in=row_ids(found)).values_list("key", flat=True)
    return next((ids.FEEDBACK + key for key in keys), "")


def offered(actor: Actor, tz: ZoneInfo) -> dict[str, Any]:
    """What both the report form and the bulk form offer: outcomes, admins to assign to, times to snooze until, and
    profiles to rerun with.
    """
    times = {"snoozes": desk_forms.snoozes(tz), "snooze_days": desk_forms.days_to_snooze(tz)}
    people = desk_records.people(actor)
    # Two letters are those of the other items of the bulk form's menu.
    assignees = list(zip(people, letters((each.display_name for each in people), taken="ar"), strict=True))
    choices = {"outcomes": outcomes(), "people": people, "assignees": assignees}
    return {**choices, "profiles": profiles.all_profiles(), **times}


def _listed(
    actor: Actor, meant: Meaning, query: dict[str, str], parsed: Query, tz: ZoneInfo
) -> tuple[list[ReportRow], PageBeside | None, PageBeside | None]:
    """The rows of one page, and the next and previous page."""
    address, after, order = kept(query), query.get("after"), parsed.order
    place = order.place(after)
    if parsed.canonical in saved_views.FIXED:  # in the default order
        newest = saved_views.newest(actor, parsed.canonical, below=place[-1] if place else None)
        found: list[Position] = [(pk,) for pk in newest]
    else:
        found = order.following(meant.reports, place, PAGE + 1)
    onward = back = None
    if following := row_ids(found[PAGE:]):
        onward = _beside({**address, "after": order.token(found[PAGE - 1])}, following)
    if after:
        preceding, token = lists.before(meant.reports, PAGE, after, order=order)
        back = _beside({**address, "after": token or ""}, preceding)
    shown = row_ids(found[:PAGE])
    rows = screens.rows_of(actor, shown, address, query.get("item", ""), meant.reports, parsed, tz=tz)
    return rows, onward, back


def _beside(query: dict[str, str], row_ids: Sequence[int]) -> PageBeside:
    found = _KEY.first(row_ids[0]) if row_ids else None
    return PageBeside(href(query), href({**query, "item": ids.FEEDBACK + found[0]}) if found else "")


_KEY = Prepared(lambda pk: UserFeedback.objects.filter(pk=pk).values_list("key"), int)


def opened(
    actor: Actor,
    query: dict[str, str],
    rows: Sequence[ReportRow] = (),
    onward: PageBeside | None = None,
    *,
    tz: ZoneInfo,
) -> dict[str, Any]:
    """The open report, its conversation, and what resolving opens next: the row below, the next page, else the row
    above unless it is resolved, else the list.

    If the list is not rendered, the page that has it sends the next address with the form.
    """
    changes, earlier = _changes(query)
    report = access.report_for(actor, query["item"])
    place = next((place for place, row in enumerate(rows) if row.is_current), -1)
    below, above = rows[place + 1 : place + 2], rows[max(0, place - 1) : max(0, place)]
    above_href, below_href = (row[0].href if row else "" for row in (above, below))
    # At the end of a list that keeps resolved reports, going back and forth between two of them would never end.
    is_left = bool(above) and not above[0].resolved
    ways = [below_href, onward.on if onward else "", above_href if is_left else ""]
    desk_url = reverse("feedback:desk")
    thread = Thread.objects.select_related("org", "created_by").get(pk=report.thread_id)
    report.thread, report.org = thread, thread.org
    is_whole, at = "whole" in query, report.message_sequence_num
    screen = thread_screens.extract(actor, thread, extracts.PAGE if is_whole else extracts.EXCERPT, tz=tz, places=[at])
    pieces = screen.pieces()
    item = screens.card_of(
        actor,
        report,
        changes,
        here=desk_url + href(query),
        next_href=desk_url + next(filter(None, ways), href(kept(query))),
        held_by=rows[place].held_by if place >= 0 else leasing.holders(actor).get(report.pk, ""),
        near=desk_nearby.near(actor, report, kept(query)),
        earlier_changes=earlier,
        most_comments=_most_comments(query),
        tz=tz,
    )
    return {
        "item": item,
        "beside": [("Previous report", above_href), ("Next report", below_href)],
        "choices": [near for near in item.near if near.is_of_org],
        "subject": thread_screens.head_of(actor, thread, token=screen.token, goals=screen.goals),
        "stretches": _stretches(pieces, at, is_whole=is_whole),
        "other_reach": href({**query, "whole": "" if is_whole else "1"}),
        "is_whole": is_whole,
        "here": reverse("threads:detail", args=[thread.thread_id]),
        "cloth": cloth.weave(thread.weave),
        "own_profile": profiles.own_in_words(thread.model_profile),
        "state": query,
        "is_checked": "check" in query,
        "report_pane": href({**query, "pane": "report"}),
        "all_changes": href({**query, "changes": "all"}),
        **_around_comments(query),
        **desk_rerun.beside(actor, report, query, tz=tz),
        **checks_screen.of_report(actor, report, (each for each in pieces if isinstance(each, Article))),
    }


def talk(actor: Actor, query: dict[str, str], report: UserFeedback) -> dict[str, Any]:
    """What was said on a report that is open at that address."""
    said = screens.talk_of(actor, report, _most_comments(query))
    item = {"feedback_id": report.feedback_id, "talk": said, "here": reverse("feedback:desk") + href(query)}
    return {"item": item, **_around_comments(query)}


def _changes(query: dict[str, str]) -> tuple[list[TriageChange], int]:
    """The last changes of the report that is open at that address, or all, and how many are left out."""
    if "changes" in query:
        return desk_records.changes_of(query["item"]), 0
    return desk_records.latest_changes(query["item"])


def _most_comments(query: dict[str, str]) -> int | None:
    return None if query.keys() & {"comment", "comments"} else COMMENTS


def _around_comments(query: dict[str, str]) -> dict[str, str]:
    return {
        "comment_at": query.get("comment", ""),
        "all_comments": href({**query, "comments": "all"}),
        "without_comment": href({**query, "comment": ""}),
    }


def _stretches(pieces: list[Piece], index: int, *, is_whole: bool) -> list[excerpting.Stretch]:
    reach = {"before": len(pieces), "after": len(pieces)} if is_whole else {}
    return excerpting.around(pieces, index, **reach)
