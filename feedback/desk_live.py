"""Live events for open desks. Each event carries the full state of its subject, so a missed one does no harm."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import chain
from time import sleep
from typing import Any, NamedTuple

from django.db.models import F, Max, Model, Q
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils import timezone

from accounts import hooks
from accounts.authentication import page_actor_again
from accounts.rights import require_admin
from core import ids, notices, sse, zones
from core.actor import Actor
from core.errors import DomainError, NotSignedIn
from core.wording import one_line
from feedback import (
    access,
    bulk,
    checks_screen,
    commenting,
    desk_bar,
    desk_notices,
    desk_records,
    desk_rerun,
    desk_screen,
    desk_state,
    historytelling,
    leasing,
    proofs,
)
from feedback.models import Bulk, Comment, Retraction, Triage, TriageChange, UserFeedback
from feedback.querying import NEWEST, Meaning, Query, meaning, parse
from threads import hooks as threads_hooks
from threads.models import Thread
from threads.status import ThreadStatus

_SHOWN = 1_000
"""Most changes read at once; more than bulks make between two looks, so that no open report is missed. If more happened
before the first look, the page is read again.
"""
_UNDER_WAY = timedelta(seconds=10)
_AWAY = timedelta(minutes=10)
"""How much of what a desk missed is told one by one; after longer it reads itself again."""
_ENDED = timedelta(minutes=1)
"""How long after its end an answer may be news to a page that was made before it."""
_EDITED = "The submitter changed it"
_DEED_LENGTH = 160
_REST_SECONDS = 0.25
GONE = sse.Event("gone", "")
"""The reader has lost the right."""


def news(request: HttpRequest, actor: Actor, *, since: int, follows: Sequence[str] = ()) -> Iterator[sse.Event | None]:
    """Events: `leases` (names by report id), `changed` (by report id what its row now says of the last change by
    others, submitters included), `bulks` (their HTML, with that of the batches that it `follows`), `list` (HTML of all
    counts and of the notice about new reports, after any change, the reader's own in another tab included, new ratings,
    and a snooze that ends; also of the fork that the address compares with the rated answer, and of comments on a
    report that the reader has open), `say` (a sentence about such HTML, for who cannot see it), `own` (since when a
    page that was read before is out of date, in milliseconds: when the reader changed a report, perhaps in another tab,
    but while a bulk runs its progress says so; or now, if the desk was not connected for long).

    It begins with what was done `since` the page was read, in milliseconds, or, for a browser that connects again,
    since its last event. Anyone who loses the right gets `gone`, and nothing more.
    """
    now = timezone.now()
    moment = _moment_of(request.headers.get("Last-Event-ID") or since, now)
    is_late = moment < now - _AWAY
    desk = _Desk(request, actor, follows, since=now if is_late else moment)
    if is_late or desk.has_missed:
        yield sse.Event("own", str(_milliseconds(now)))
    with notices.waiting(desk_notices.NOTICE, *desk.compared()) as waiter:
        while True:
            with sse.look():
                events = desk.look()
            if events:
                events[-1] = replace(events[-1], id=str(_milliseconds(desk.looked)))
            yield from events
            if events and events[-1].name == GONE.name:
                return
            yield sse.WAITING
            if waiter.wait(sse.HEARTBEAT_SECONDS):
                # Whoever made the change gets their page first; and what is done in a row is told at once.
                sleep(_REST_SECONDS)
            else:
                yield None


class _Desk:
    """An open desk: what it shows, and what it has been told."""

    def __init__(self, request: HttpRequest, actor: Actor, follows: Sequence[str], *, since: datetime) -> None:
        self._request, self._actor = request, actor
        self._tz = zones.of(request)
        self._query = desk_state.state_in(request.GET.items(), self._tz)
        self._changes, self._retractions = _Log(TriageChange, "at", since), _Log(Retraction, "retracted_at", since)
        self._reports = _Log(UserFeedback, "created", since)
        self._follows = follows
        self.looked = since
        self._edits, self._comments = _edits(since, until=since), _comments(since, until=since)
        self._asked = commenting.pending(actor)
        self._leases: dict[str, str] | None = None
        self._bulks: list[tuple[object, ...]] | None = None
        self._rerun: tuple[int, str] | None = None

    @property
    def has_missed(self) -> bool:
        """Whether more happened since it was read than is told one by one."""
        return any(log.is_cut for log in (self._changes, self._retractions, self._reports))

    def compared(self) -> list[str]:
        """The subject of notices about the fork that the address names, if there is one."""
        found = self._fork()
        return [threads_hooks.readers_of(found[1].pk)] if found else []

    def _fork(self) -> tuple[UserFeedback, Thread] | None:
        """The open report and the fork beside it."""
        if not (named := self._query.get("compare")):
            return None
        with suppress(DomainError):
            report = access.report_for(self._actor, self._query.get("item", ""))
            return report, proofs.fork_of(self._actor, report, named)
        return None

    def look(self) -> list[sse.Event]:
        """What is new since the last look."""
        try:
            self._actor = page_actor_again(self._request)
            require_admin(self._actor)
        except NotSignedIn:
            return self._ended("You are signed out. Reload the page to sign in.")
        except DomainError:
            return self._ended("You are no longer an admin. Reload the page once you are.")
        events: list[sse.Event] = []
        leases = leasing.present(self._actor)
        if leases != self._leases:
            self._leases = leases
            events.append(sse.Event("leases", json.dumps(leases)))
        looked, self.looked = self.looked, timezone.now()
        edited, said = self._fresh_edits(looked), self._fresh_comments(looked)
        done, came = self._changes.fresh(), self._reports.fresh()
        known, self._asked = self._asked, commenting.pending(self._actor)
        talks = self._talks(said)
        changed = _commented(self._actor, said) | dict.fromkeys(talks, "") | edited
        changed |= _changed(self._actor, done, self._tz) | _retracted(self._retractions.fresh())
        is_news = done or changed or came or said or known != self._asked
        due = Triage.objects.filter(snoozed_until__gt=looked, snoozed_until__lte=self.looked)
        shown = self._shown() if is_news or due.exists() else None
        if changed and shown:
            events.append(sse.Event("changed", json.dumps(_rows(self._actor, changed, shown))))
        events += chain.from_iterable(talks.values())
        if shown:
            events.append(_list(self._actor, self._query, shown, came, as_of=_milliseconds(self.looked)))
        as_of = bulk.as_of()
        bulks = bulk.shown(self._actor)
        runs = checks_screen.under_way(self._follows)["batches"]
        far = [
            *((each.pk, each.state, each.dealt_with) for each in bulks),
            *((each.batch_id, each.done) for each in runs),
        ]
        if far != self._bulks:
            self._bulks = far
            context = {"running": [each for each in bulks if not each.is_over], "batches": runs, "as_of": as_of}
            events.append(sse.Event("bulks", render_to_string("feedback/_bulks.html", context, self._request)))
        with suppress(DomainError, Thread.DoesNotExist):  # the report was retracted, or the fork is gone
            events += self._compared_anew()
        if own := _own(self._actor, done, said, bulks):
            events.append(sse.Event("own", str(_milliseconds(max(own)))))
        return events

    def _ended(self, why: str) -> list[sse.Event]:
        """What is told last, before the browser closes the line."""
        html = render_to_string("feedback/_ended.html", {"why": why})
        return [sse.Event("list", html), sse.Event("say", why), GONE]

    def _shown(self) -> "_Shown":
        parsed = parse(self._query["q"])
        return _Shown(parsed, None if parsed.problems else meaning(self._actor, parsed))

    def _talks(self, said: list[Comment]) -> dict[str, list[sse.Event]]:
        """What was said on each report that the reader has open and others commented on, by its id. Not where the
        reader has a comment open: its form would go.
        """
        latest = {each.feedback_id: each for each in said if each.author_id != self._actor.user_id}
        told = {}
        for pk in latest.keys() & leasing.held(self._actor) if latest else ():
            comment, report = latest[pk], latest[pk].feedback
            is_addressed = self._query.get("item") == report.feedback_id
            if is_addressed and "comment" in self._query:
                continue
            query = self._query if is_addressed else desk_state.kept(self._query) | {"item": report.feedback_id}
            html = render_to_string("feedback/_said.html", desk_screen.talk(self._actor, query, report), self._request)
            told[report.feedback_id] = [sse.Event("list", html), sse.Event("say", f"{_deed(comment)}.")]
        return told

    def _compared_anew(self) -> list[sse.Event]:
        """The rated answer and the fork's, if that has changed since it was told."""
        found = self._fork()
        if found is None or self._rerun == desk_rerun.token_of(found[1]):
            return []
        report, fork = found
        if self._rerun is None and fork.status != ThreadStatus.ROBOTO_TURN and fork.modified < self.looked - _ENDED:
            self._rerun = desk_rerun.token_of(fork)  # the page shows its end, and told it
            return []
        rerun = desk_rerun.rerun_of(self._actor, report, fork, tz=self._tz)
        self._rerun = desk_rerun.token_of(fork)  # as it was read anew for that
        context: dict[str, Any] = {"rerun": rerun, "of": report.feedback_id, **desk_rerun.ways(self._query)}
        if rerun.is_running:
            return [sse.Event("list", render_to_string("feedback/_rerun_running.html", context, self._request))]
        context |= desk_screen.opened(self._actor, self._query, tz=self._tz)
        html = render_to_string("feedback/_rerun_ended.html", context, self._request)
        return [sse.Event("list", html), sse.Event("say", f"{rerun.state.word}.")]

    def _fresh_edits(self, since: datetime) -> dict[str, str]:
        known, self._edits = self._edits, _edits(since)
        return {key: _EDITED for key, moment in self._edits.items() if known.get(key) != moment}

    def _fresh_comments(self, since: datetime) -> list[Comment]:
        known, self._comments = self._comments, _comments(since)
        return [each for pk, each in self._comments.items() if pk not in known or known[pk].modified != each.modified]


class _Shown(NamedTuple):
    """The reader's query now, and what it means, unless it is invalid."""

    parsed: Query
    meant: Meaning | None


def _rows(actor: Actor, deeds: Mapping[str, str], shown: _Shown) -> dict[str, dict[str, str]]:
    """For each of these reports the data attributes of its row that are news: who did what, if that is told, and
    whether it is resolved, somebody else's, or not what the list is of any more. What was so before stays in the row.

    By words nothing is said to have left: what was just edited is found again as soon as it is digested.
    """
    meant = None if shown.parsed.is_digested else shown.meant
    keys = {each.removeprefix(ids.FEEDBACK): each for each in deeds}
    found = UserFeedback.objects.filter(key__in=keys)
    rows = {key: rest for key, *rest in found.values_list("key", "resolved", "owned_by")}
    matching = set(meant.reports.filter(key__in=keys).values_list("key", flat=True)) if meant else set(rows)
    told = {}
    for key, each in keys.items():
        resolved, owner = rows.get(key, (False, None))
        is_so = {
            "resolved": resolved,
            "owned": owner not in (None, actor.user_id),
            "unmatched": key not in matching or (resolved and shown.parsed.state == "open"),
        }
        said = {"changed": deeds[each]} if deeds[each] else {}
        told[each] = said | {name: "" for name, is_it in is_so.items() if is_it}
    return told


def _list(actor: Actor, query: dict[str, str], shown: _Shown, came: list[int], *, as_of: int) -> sse.Event:
    """All counts, where the next line begins, and the notice if one of the new reports is in the reader's list."""
    parsed, meant = shown
    bar, count = desk_bar.bar_of(actor, parsed, meant, query), hooks.feedback.open_reports()
    context = {"bar": bar, "is_news": True, "viewer": {"open_reports": count}, "as_of": as_of}
    pieces = ["feedback/_views.html", "_open_reports.html", "feedback/_live.html"]
    if meant:
        pieces.append("feedback/_total.html")
        if not bar.has_more:  # else the page may have counted to the end
            pieces.append("feedback/_matching.html")
    if came and meant and parsed.order == NEWEST and meant.reports.filter(pk__in=came).exists():
        pieces.append("feedback/_news.html")
    return sse.Event("list", "".join(render_to_string(piece, context) for piece in pieces))


class _Log:
    """New rows of an append-only table.

    A row gets its id before it is committed, so it may appear after rows with higher ids. So the last seconds are
    always read again. What was timed before `since` is taken as told, also if it was committed right after it.
    """

    def __init__(self, model: type[Model], moment: str, since: datetime) -> None:
        self._rows = model._default_manager.order_by("-pk").values_list("pk", flat=True)
        self._moment = moment
        self._last = self._rows.first() or 0
        self._looked = since
        beyond = self._rows.filter(pk__lte=self._last - _SHOWN).values_list(moment, flat=True).first()
        self.is_cut = beyond is not None and beyond > since
        known = {f"{moment}__gt": since - _UNDER_WAY, f"{moment}__lte": since}
        self._told = set(self._rows.filter(**known, pk__gt=self._last - _SHOWN))

    def fresh(self) -> list[int]:
        """Row ids that were not there at the last call, or at first those since the beginning. One query."""
        lately = Q(**{f"{self._moment}__gt": self._looked - _UNDER_WAY})
        self._looked = timezone.now()
        rows = self._rows.filter(Q(pk__gt=self._last) | lately, pk__gt=self._last - _SHOWN)
        found = list(rows[: 2 * _SHOWN])
        new = [pk for pk in found if pk not in self._told]
        self._told, self._last = set(found), max([self._last, *found])
        return new[:_SHOWN]


def _changed(actor: Actor, changes: list[int], tz: tzinfo) -> dict[str, str]:
    """Who did what, by report id; the last of several changes."""
    if not changes:
        return {}
    rows = TriageChange.objects.filter(pk__in=changes).exclude(actor=actor.user_id).select_related("actor")
    found = list(rows.annotate(of=F("feedback__key")).order_by("pk"))
    names = desk_records.named_in(found)
    told = {}
    for each in found:
        lines = [(line.what, line.after) for line in historytelling.lines_of(each, *names, tz=tz)]
        deed = ": ".join(filter(None, lines[-1] if lines else ("changed it",)))
        told[ids.FEEDBACK + each.of] = one_line(f"{each.actor.display_name} {deed}", _DEED_LENGTH)
    return told


def _comments(since: datetime, *, until: datetime | None = None) -> dict[int, Comment]:
    """Comments that were written or changed since a moment or shortly before, by row id, oldest change first."""
    rows = Comment.objects.filter(_lately(since, until)).select_related("author", "feedback")
    found = list(rows.order_by("-modified").defer("text")[:_SHOWN])
    return {each.pk: each for each in reversed(found)}


def _commented(actor: Actor, comments: list[Comment]) -> dict[str, str]:
    """What others did to their comments, by report id; of several the last."""
    return {each.feedback.feedback_id: _deed(each) for each in comments if each.author_id != actor.user_id}


def _deed(comment: Comment) -> str:
    """Who did what to a comment."""
    what = "changed a comment" if comment.modified == comment.edited_at else "commented on it"
    return f"{comment.author.display_name} {'deleted a comment' if comment.deleted_at else what}"


def _own(actor: Actor, changes: list[int], said: list[Comment], bulks: list[Bulk]) -> list[datetime]:
    """When the reader changed reports and comments; what a running bulk does is told by its progress."""
    running = [each.key for each in bulks if not each.is_over]
    rows = TriageChange.objects.filter(pk__in=changes, actor=actor.user_id).exclude(action__in=running)
    latest = rows.aggregate(at=Max("at"))["at"] if changes else None
    return [*filter(None, [latest]), *(each.modified for each in said if each.author_id == actor.user_id)]


def _edits(since: datetime, *, until: datetime | None = None) -> dict[str, datetime]:
    """When submitters changed their reports since a moment or shortly before: an edit is timed before it is stored."""
    edited = UserFeedback.objects.filter(modified__gt=F("created"))
    rows = edited.filter(_lately(since, until)).order_by("-modified")
    return {ids.FEEDBACK + key: moment for key, moment in rows.values_list("key", "modified")[:_SHOWN]}


def _lately(since: datetime, until: datetime | None) -> Q:
    return Q(modified__gt=since - _UNDER_WAY) & (Q(modified__lte=until) if until else Q())


def _moment_of(milliseconds: str | int, now: datetime) -> datetime:
    """A moment of the past; now for what is none."""
    try:
        return min(datetime.fromtimestamp(int(milliseconds) / 1_000, UTC), now)
    except (ValueError, OverflowError, OSError):
        return now


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000)


def _retracted(retractions: list[int]) -> dict[str, str]:
    if not retractions:
        return {}
    rows = Retraction.objects.filter(pk__in=retractions).order_by("-pk")
    return {ids.FEEDBACK + key: "The submitter retracted it" for key in rows.values_list("key", flat=True)}
