"""The template context of the desk: list, bar, open report and last action, also after a rejected form."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

from django.urls import reverse

from core import forms, grammar, ids
from core.actor import Actor
from core.errors import DomainError, InvalidRequest, NotFound, Stale
from core.grammar import MAX_LENGTH, spelled
from core.paging import counted
from core.prepared import Prepared
from feedback import (
    bulk,
    comment_forms,
    desk_forms,
    desk_records,
    finding,
    historytelling,
    labelling,
    last_action,
    leasing,
    originals,
    quoting,
    saved_views,
    screens,
    similar,
    triage,
)
from feedback.checks import screen as checks_screen
from feedback.models import Bulk, UserFeedback
from feedback.presenting import (
    Alike,
    Choice,
    Conflict,
    DeskBar,
    Near,
    Note,
    PageBeside,
    ReportCard,
    ReportRow,
    href,
    outcomes,
    pane_of,
    panes,
)
from feedback.querying import (
    NEWEST,
    OLDEST,
    Meaning,
    Order,
    Position,
    Query,
    completing,
    matching,
    meaning,
    named,
    parse,
    row_ids,
)
from feedback.saved_views import PAGE
from feedback.wire_finding import SimilarReportOut
from threads import extracts, profiles
from threads import screens as thread_screens
from threads.models import Thread
from threads.presenting import cloth, excerpting
from threads.presenting.articles import Article, Piece

KEYS = ("q", "after", "item", "pane", "whole", "check", "comment", "comments")
"""`comment`: the comment whose form is open; `comments`: set to show all of them."""
COMMENTS = 20
"""How many comments are shown, the last ones, unless all are wanted."""
_OF_ITEM = ("item", "pane", "whole", "check", "comment", "comments")
"""The keys that are about the open report."""


def state_of(given: Any, tz: ZoneInfo) -> dict[str, str]:
    """The known keys of an address, always with `q`; by default it shows unclaimed reports.

    Days are those of the viewer's time zone, which is written into the query.
    """
    query = {key: value for key, value in given if key in KEYS and (value or key == "q")}
    query = {"q": saved_views.DEFAULT.query, **query}
    return {**query, "q": parse(query["q"]).anchored(tz).text}


def page(
    actor: Actor, query: dict[str, str], *, tz: ZoneInfo, is_ahead: bool = False, has_changed: bool = False
) -> dict[str, Any]:
    """The whole page, with `state` and its `parsed` query; with `gone` (a sentence) if the open report is not there.

    If the browser has fetched the open report already (`is_ahead`) and it is listed, the page comes without it; if a
    report like it `has_changed`, with those like it.
    """
    # Read first: a bulk that ends during this request still counts as running, and the page then hears of its end.
    as_of, bulks = bulk.as_of(), bulk.shown(actor)
    parsed = parse(query["q"])
    meant = None if parsed.problems else meaning(actor, parsed)
    rows, onward, back = _listed(actor, meant, query, parsed) if meant else ([], None, None)
    running = [each for each in bulks if not each.is_over]
    # While a bulk runs, the key for undo stops it. It must not undo what was done before it.
    last = None if running else last_action.last_action(actor, bulks, tz=tz)
    if of := next((each for each in bulks if last and each.key == last.action), None):
        last = last and replace(last, unchanged=max(0, of.done_count - last.report_count))
    context: dict[str, Any] = {
        "state": query,
        "parsed": parsed,
        "bar": bar_of(actor, parsed, meant, query),
        "rows": rows,
        "onward": onward,
        "back": back,
        "last": last,
        "running": running,
        "as_of": as_of,
        "unsettled": _unsettled(bulks, last),
        "undone": _undone(bulks, last),
        "vain": _vain(bulks, last),
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
    report = triage.report_for(actor, query["item"])
    near = tuple(_near(actor, report, kept(query)))
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
    parsed, left = parse(query["q"]), triage.report_for(actor, query["item"])
    if parsed.problems or parsed.order.moments:
        return ""
    rows, place = matching(actor, parsed), (left.pk,)
    found = parsed.order.following(rows, place, 1) or parsed.order.preceding(rows, place, 1)
    keys = UserFeedback.objects.filter(pk__in=row_ids(found)).values_list("key", flat=True)
    return next((ids.FEEDBACK + key for key in keys), "")


def offered(actor: Actor, tz: ZoneInfo) -> dict[str, Any]:
    """What both the report form and the bulk form offer: outcomes, admins to assign to, times to snooze until."""
    times = {"snoozes": desk_forms.snoozes(tz), "snooze_days": desk_forms.days_to_snooze(tz)}
    return {"outcomes": outcomes(), "people": desk_records.people(actor), **times}


def _listed(
    actor: Actor, meant: Meaning, query: dict[str, str], parsed: Query
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
        preceding, token = finding.before(meant.reports, PAGE, after, order=order)
        back = _beside({**address, "after": token or ""}, preceding)
    shown = row_ids(found[:PAGE])
    return screens.rows_of(actor, shown, address, query.get("item", ""), meant.reports, parsed), onward, back


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
    above, else the list.

    If the list is not rendered, the page that has it sends the next address with the form.
    """
    changes = desk_records.changes_of(query["item"])
    report = triage.report_for(actor, query["item"])
    place = next((place for place, row in enumerate(rows) if row.is_current), -1)
    below, above = rows[place + 1 : place + 2], rows[max(0, place - 1) : max(0, place)]
    above_href, below_href = (row[0].href if row else "" for row in (above, below))
    ways = [below_href, onward.on if onward else "", above_href]
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
        near=_near(actor, report, kept(query)),
        most_comments=None if query.keys() & {"comment", "comments"} else COMMENTS,
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
        "profiles": profiles.all_profiles(),
        "state": query,
        "is_checked": "check" in query,
        "comment_at": query.get("comment", ""),
        "all_comments": href({**query, "comments": "all"}),
        "report_pane": href({**query, "pane": "report"}),
        "without_comment": href({**query, "comment": ""}),
        **checks_screen.of_report(actor, report, (each for each in pieces if isinstance(each, Article))),
    }


def refused(
    actor: Actor,
    query: dict[str, str],
    form: Mapping[str, str],
    problem: DomainError,
    *,
    tz: ZoneInfo,
    part: str = "",
) -> dict[str, Any]:
    """The page after a rejected form, with the typed text still in its fields and the reason next to them.

    `part` names the rejected form if it is not the report's: `bulk`, `view`, `check` or `comment`.
    """
    context = page(actor, query if part else {**query, "pane": "report"}, tz=tz) | {"typed": form}
    item = context.get("item")
    if part in ("", "comment"):
        context["comment_at"] = _comment_at(item, form)
    if part == "bulk":  # the report's own form has fields of the same names
        at = next(iter(forms.reasons(problem, _TYPED_FOR_ALL, otherwise=part, names=_TYPED_AS)))
        context |= {"typed": {}, "bulk_typed": form, "bulk_at": at}
    if part:
        return context | {"errors": forms.reasons(problem, (), otherwise=part, names=_SAID_AS)}
    if item is None:
        return context | {"unsaved": _unsaved(form)}
    if isinstance(problem, Stale):
        context["conflict"] = _conflict(actor, item, problem, form, tz)
    else:
        fields, otherwise = (*_SHOWN, *_TYPED_AS), _field_of(item, form)
        context["errors"] = forms.reasons(problem, fields, otherwise=otherwise, names=_TYPED_AS)
        if "duplicate_of" in context["errors"]:
            context |= choices(actor, item.feedback_id, form.get("duplicate_of", ""), tz=tz)
    if desk_forms.has_typed_note(form):
        context |= {"item": replace(item, admin_note=forms.lines(form.get("admin_note", ""))), "has_typed_note": True}
    return context


def choices(actor: Actor, feedback_id: str, typed: str, *, tz: ZoneInfo) -> dict[str, Any]:
    """Possible originals of a report for the typed text, without one similar reports; `lack` explains an empty list."""
    report, typed = triage.report_for(actor, feedback_id), _spaced(typed)
    if not typed:
        return _choices("", [near for near in _near(actor, report, {}) if near.is_of_org])
    try:
        return _choices(typed, _found(originals.found(actor, report, typed, tz=tz)))
    except InvalidRequest as problem:
        return _choices(typed, lack=problem.message)


def choices_for_all(
    actor: Actor, feedback_ids: Sequence[str], opened_id: str, typed: str, *, tz: ZoneInfo
) -> dict[str, Any]:
    """Possible originals of ticked reports; without text the open report and the oldest of the ticked.

    Of a single one they are those of the report's own form.
    """
    keys = {key for each in feedback_ids if (key := ids.key_of(each, ids.FEEDBACK))}
    typed = _spaced(typed)
    if len(keys) == 1 and (typed or opened_id in ("", *feedback_ids)):
        return choices(actor, feedback_ids[0], typed, tz=tz)
    if not typed:
        before = ids.key_of(opened_id, ids.FEEDBACK) or ""
        first = originals.first_of(actor, keys, before=before)
        return _choices("", _found((each, "open here" if each.key == before else "ticked") for each in first))
    try:
        return _choices(typed, _found(originals.found_for_all(actor, keys, typed, tz=tz)))
    except InvalidRequest as problem:
        return _choices(typed, lack=problem.message)


def _spaced(typed: str) -> str:
    return grammar.spaced(typed).strip()[:MAX_LENGTH]


def _choices(typed: str, shown: Sequence[Near] = (), *, lack: str = "") -> dict[str, Any]:
    lack = lack or ("No report of the same org matches." if typed and not shown else "")
    return {"found_by": typed, "choices": shown, "lack": lack}


def _found(found: Iterable[tuple[UserFeedback, str]]) -> list[Near]:
    found = list(found)
    answers = _answers(each for each, _ in found)
    return [
        Near(
            feedback_id=each.feedback_id,
            sentiment=each.sentiment,
            words=each.notes or "",
            answer=answers.get(each.feedback_id, ""),
            reasons=tuple(filter(None, (place, each.thread.title or "Untitled"))),
            created=each.created,
            href="",
            resolved=each.resolved,
        )
        for each, place in found
    ]


def _stretches(pieces: list[Piece], index: int, *, is_whole: bool) -> list[excerpting.Stretch]:
    reach = {"before": len(pieces), "after": len(pieces)} if is_whole else {}
    return excerpting.around(pieces, index, **reach)


def kept(query: Mapping[str, str]) -> dict[str, str]:
    """The address of the list without an open report."""
    return {key: value for key, value in query.items() if key not in _OF_ITEM}


def bar_of(actor: Actor, parsed: Query, meant: Meaning | None, query: dict[str, str]) -> DeskBar:
    """Search field, views and panes; `meant` is the meaning of the query, None if it is invalid.

    Only the built-in views and the current one are counted, because each count is a query of its own. A view stays
    current in another order, unless there is a view with that order. If the query is limited to an org, so are the
    views and their counts, except those that name an org themselves.
    """
    saved_by_people = saved_views.listed(actor)
    here = [parsed, parsed.of_org("")]
    spellings = [each.canonical for query in here for each in (query, query.sorted_by(NEWEST))]
    known = {each.query for each in saved_views.BUILT_IN} | {each.query for each in saved_by_people}
    looked_at = next((each for each in spellings if each in known), None)
    wanted = {each.query for each in saved_views.BUILT_IN if each.is_work}
    counts: dict[str | None, int | None] = {}
    if parsed.org:
        counts.update({query: _count(actor, query, meant) for query in wanted if query != looked_at})
    else:
        counts.update(saved_views.counts(actor, wanted | saved_views.FIXED.intersection([looked_at])))
    total = counts[looked_at] if looked_at in counts else counted(meant.reports) if meant else None
    counts[looked_at] = total
    views = [
        replace(
            _choice(each.name, each.query, looked_at, counts, parsed.org),
            is_aside=not each.is_work or (each.is_rare and not counts[each.query]),
            is_rare=each.is_rare,
        )
        for each in saved_views.BUILT_IN
    ]
    for saved in saved_by_people:
        view = _choice(saved.name, saved.query, looked_at, counts, parsed.org)
        # What is shown of it for one org is not the view that would be changed or deleted.
        is_whole = saved.query not in spellings[2:] or not parsed.org
        view_id = ids.VIEW + saved.key if is_whole and saved.created_by_id == actor.user_id else ""
        views.append(replace(view, is_shared=saved.is_shared, view_id=view_id, is_aside=True))
    return DeskBar(
        query=query["q"],
        tokens=screens.tokens_of(parsed, {}, query.get("item", "")),
        views=tuple(views),
        panes=panes(query),
        here=reverse("feedback:desk") + href(query),
        pane=pane_of(query),
        notes=_notes(parsed, meant, total),
        total=total,
        order=parsed.order.name,
        other_order=_other_order(parsed),
    )


def _notes(parsed: Query, meant: Meaning | None, total: int | None) -> tuple[Note, ...]:
    """Remarks on names that do not exist; if the query finds nothing, with the nearest known name."""
    found = []
    for remark in meant.remarks if meant else ():
        if not total and (name := completing.near(remark)):
            better = parsed.with_name(remark.field, remark.name, name).text
            found.append(Note(remark.words, spelled(named(remark.field, name)), href({"q": better})))
        else:
            found.append(Note(remark.words))
    if meant and not total:
        found += [Note(f"“{each}” was searched for as a word. Operators are upper case.") for each in _small(parsed)]
    return tuple(found)


def _small(parsed: Query) -> list[str]:
    """Words of a query that are operators in lower case."""
    words = [leaf.text for leaf in grammar.leaves(parsed.root) if isinstance(leaf, grammar.Text)]
    return [each for each in dict.fromkeys(words) if each.upper() in grammar.SIGNS and not each.isupper()]


def _other_order(parsed: Query) -> Choice:
    """The same reports in reverse order."""
    other = OLDEST if parsed.order == NEWEST else NEWEST
    return Choice(f"Show {other.name} first", href({"q": parsed.sorted_by(other).text}))


def _choice(name: str, query: str, looked_at: str | None, counts: Mapping[str | None, int | None], org: str) -> Choice:
    """A view, limited to an org if there is one and it names none."""
    parsed = parse(query) if org else None
    limited = parsed.of_org(org).text if parsed and not parsed.org else query
    return Choice(name, href({"q": limited}), query == looked_at, counts.get(query))


def _count(actor: Actor, query: str, meant: Meaning | None) -> int | None:
    """Number of reports of a built-in view, of the org that the page's query is limited to; None if that is unknown."""
    if meant is None:
        return None
    return counted(matching(actor, parse(query)).filter(org=meant.org)) if meant.org else 0


def _unsettled(bulks: Sequence[Bulk], last: last_action.LastAction | None) -> dict[str, Any] | None:
    """The reports that the actor's latest bulk could not change, with the reasons; None after any later action."""
    latest = _latest(bulks, last)
    if latest is None or not latest.failed_count:
        return None
    # What was resolved already is as it was wanted, so it comes last and is no warning.
    already = latest.failures.filter(is_as_wanted=True).count()
    listed = latest.failures.order_by("is_as_wanted", "id").values_list("feedback_key", "reason")
    failures = list(listed[: desk_forms.FAILURES_SHOWN])
    notes = dict(UserFeedback.objects.filter(key__in=[key for key, _ in failures]).values_list("key", "notes"))
    return {
        "words": desk_forms.told_of_failures(latest, already),
        "is_as_wanted": already == latest.failed_count,
        "failures": [(ids.FEEDBACK + key, notes.get(key) or "", _told(reason)) for key, reason in failures],
    }


def _undone(bulks: Sequence[Bulk], last: last_action.LastAction | None) -> Bulk | None:
    """The actor's latest undo, until their next action; the action before it must not be shown as new."""
    latest = _latest(bulks, last)
    return latest if latest is not None and latest.undoes and latest.state == Bulk.State.DONE else None


def _vain(bulks: Sequence[Bulk], last: last_action.LastAction | None) -> Bulk | None:
    """The actor's latest bulk, if there is nothing in it to undo: it changed no report, or renamed a label."""
    latest = _latest(bulks, last)
    is_last = latest is not None and last is not None and last.action == latest.key
    return None if latest is None or latest.undoes or is_last else latest


def _latest(bulks: Sequence[Bulk], last: last_action.LastAction | None) -> Bulk | None:
    """The actor's latest bulk, if it has ended and the actor did nothing since."""
    latest = bulks[-1] if bulks else None
    if latest is None or not latest.finished_at or (last is not None and last.at > latest.finished_at):
        return None
    return latest


def _near(actor: Actor, report: UserFeedback, query: dict[str, str]) -> list[Near]:
    org_id = report.org.org_id
    found = similar.similar_to(actor, report)
    answers = _answers(found)
    return [
        Near(
            feedback_id=each.feedback_id,
            sentiment=each.sentiment,
            words=each.notes or "",
            answer=answers.get(each.feedback_id, ""),
            reasons=each.reasons,
            created=each.created,
            href=href({**query, "item": each.feedback_id}),
            resolved=each.resolved,
            is_alike=each.is_alike,
            is_of_org=each.org_id == org_id,
        )
        for each in found
    ]


def _answers(reports: Iterable[UserFeedback | SimilarReportOut]) -> dict[str, str]:
    """How the rated answers of those without notes begin."""
    return quoting.answer_openings([each.feedback_id for each in reports if not each.notes])


def _comment_at(item: ReportCard | None, form: Mapping[str, str]) -> str:
    """The comment whose form was rejected; empty for the form of a new one, which also stands for one that is gone."""
    live = [each.comment_id for each in item.comments if each.is_mine and not each.is_deleted] if item else []
    return form.get("comment_id", "") if form.get("comment_id") in live else ""


def _unsaved(form: Mapping[str, str]) -> list[str]:
    """The texts of a form that were typed for a report that is not there any more."""
    note = form.get("admin_note", "") if desk_forms.has_typed_note(form) else ""
    return [each for each in (note, form.get("public_reply", ""), form.get("comment", "")) if each.strip()]


_SHOWN = ("label", "admin_note", "duplicate_of", "public_reply", "until", "comment")
"""Fields of the report's form that show an error next to them."""
_TYPED_AS = {
    "add": "label",
    "remove": "label",
    "public_status": "public_reply",
    "text": "comment",
    "expectations": "an expectation",
}
"""Arguments of verbs that are typed into a field of another name."""
_TYPED_FOR_ALL = ("label", "add", "remove", "duplicate_of", "public_reply", "public_status", "until")
_SAID_AS = {**_TYPED_AS, "until": "the date"}
"""Names for fields in errors that are not shown next to the field."""


def _told(reason: str) -> str:
    """Why a bulk could not change a report, in words for people."""
    field, _, rest = reason.partition(": ")
    return forms.sentence(rest, _SAID_AS[field]) if field in _SAID_AS else reason


def _field_of(item: ReportCard, form: Mapping[str, str]) -> str:
    if form.get("verb") in comment_forms.OF_THE_REPORT:
        return "comment"
    is_there = form.get("duplicate_of") and not item.resolved
    return "duplicate_of" if is_there and form.get("verb", "") in ("", "label typed", "duplicate") else "verb"


def _conflict(actor: Actor, item: ReportCard, problem: Stale, form: Mapping[str, str], tz: ZoneInfo) -> Conflict:
    """Both versions of a text; for a verb, what somebody else did and what a second press does."""
    change, column = getattr(problem, "change", None), problem.columns[0]
    if change is None:
        sides = (("Now", item.said), ("When you read it", form.get("read", "")))
        has_typed = desk_forms.has_typed_note(form) or form.get("label", "").strip()
        kept = " Your text is kept." if has_typed else ""
        return Conflict(problem.message, f"Press again if it still applies.{kept}", sides)
    is_own = change.actor_id == actor.user_id
    theirs = {"admin_note": item.admin_note, "admin_label": ", ".join(item.labels), "public_reply": item.public_reply}
    if column in theirs:
        mine = "label" if column == "admin_label" else column
        sides = (("The other" if is_own else "Theirs", theirs[column]), ("Yours", form.get(mine, "")))
        return Conflict(problem.message, "", sides, column)
    line = historytelling.lines_of(change, *desk_records.named([change]), tz=tz)[0]
    who, when = ("You", "in another window") if is_own else (line.who, "just now")
    takes = form.get("verb") == "own me" and item.owner and not item.is_mine
    again = "Press a again to take it over." if takes else "Your change was not saved. Press again if it still applies."
    return Conflict(f"{who} {' '.join(filter(None, (line.what, line.after)))} {when}.", again)
