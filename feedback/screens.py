"""Builds the view models of `feedback.presenting`: desk rows, and the open report."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from types import MappingProxyType
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone
from django.utils.text import get_text_list

from accounts.models import display_name
from accounts.rights import Right
from core import bodies, ids, moments
from core.actor import Actor
from core.markdown import opening
from core.prepared import Prepared, PreparedCount
from feedback import (
    check_records,
    commenting,
    desk_records,
    historytelling,
    leasing,
    proofs,
    quoting,
    triaged,
    undoing,
    versions,
)
from feedback.deciding import is_revisited
from feedback.label_text import written_labels
from feedback.models import Check, CheckBatch, CheckRun, Comment, Mention, Reply, Triage, TriageChange, UserFeedback
from feedback.presenting.alike import Near
from feedback.presenting.bar import Token
from feedback.presenting.card import HistoryLine, ReportCard
from feedback.presenting.links import href
from feedback.presenting.rows import ReportRow
from feedback.presenting.talk import Said, Talk
from feedback.presenting.words import outcome_word
from feedback.querying import Query
from feedback.querying.words import place
from feedback.saved_views import PAGE
from feedback.taxonomy import Outcome
from threads.access import may
from threads.models import Message, Thread, Turn
from threads.screens import has_forks

FORKS = 5
"""Most forks in a report's history, latest first."""
BATCHES = 5
"""Most batches of its check there, latest first."""


def tokens_of(
    query: Query, kept: Mapping[str, str], item: str = "", *, without: Mapping[str, str] = MappingProxyType({})
) -> tuple[Token, ...]:
    """The terms of a query, each with links to remove and to edit it; the links also contain `kept`, those to remove it
    `without`.

    The open report stays open while a term is edited.
    """
    open_item = {"item": item, "pane": "list"} if item else {}
    return tuple(
        Token(
            term.text,
            href({**kept, "q": query.without(place).text, **without}),
            href({**kept, "q": query.without(place).text, "edit": term.text, "at": str(place), **open_item}),
            term.reason,
            term.meant,
            href({**kept, "q": query.with_meant(place).text}) if term.meant else "",
        )
        for place, term in enumerate(query.terms)
    )


@dataclass(frozen=True, slots=True)
class Orgs:
    """The org that a query is limited to, and links to the same query for others; they also contain `kept`."""

    query: Query
    kept: Mapping[str, str]

    @property
    def now(self) -> str:
        """Empty for all orgs."""
        return self.query.org

    def href(self, slug: str) -> str:
        """The link for one org, or for all if empty."""
        return href({**self.kept, "q": self.query.of_org(slug).text})


def editing_of(query: Query, kept: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """The term that is being edited, its position, and the link that cancels the edit."""
    term, at = given.get("edit", ""), given.get("at", "")
    unedited = query.with_term(term, at=bodies.number(at)).text
    return {"editing": term, "at": at, "unedited": href({**kept, "q": unedited}) if term else ""}


def rows_of(
    actor: Actor,
    row_ids: Sequence[int],
    query: Mapping[str, str],
    current: str,
    reports: QuerySet[UserFeedback],
    asked: Query,
    *,
    tz: tzinfo = UTC,
) -> list[ReportRow]:
    """Reports, at most `PAGE`, as rows of the desk in their order, each with a link to itself, the query kept; times
    in `tz`. Three queries, with words four.

    The open report keeps its place even if the query no longer finds it, so that an action does not lose the reader's
    position. If it is not on this page, two more queries find its place and whether it is among the `reports` of
    other pages.
    """
    padding = [0] * (PAGE - len(row_ids))
    read = _ROWS[bool(asked.words)].rows(ids.key_of(current, ids.FEEDBACK) or "", *row_ids, *padding)
    by_pk = {values[0]: values for values in read}
    pks: Iterable[int] = row_ids
    if by_pk.keys() - set(row_ids):
        pks = UserFeedback.objects.filter(pk__in=by_pk).order_by(*asked.order.by).values_list("pk", flat=True)
    pks = [pk for pk in pks if pk in by_pk]
    found = [by_pk[pk] for pk in pks]
    held, waiting, now = leasing.holders(actor), commenting.waiting(actor), timezone.localtime(timezone=tz)
    comments = quoting.comments(pks if asked.words else ())
    rows = [
        replace(_row(actor, now, values, query, current, held, asked.words, comments), waits=waiting.get(values[0], ""))
        for values in found
    ]
    return [
        replace(row, has_left=True, is_elsewhere=reports.filter(pk=pk).exists()) if pk not in row_ids else row
        for row, (pk, *_) in zip(rows, found, strict=True)
    ]


_MARKED = frozenset({Check.State.PASSING, Check.State.FAILING, Check.State.RUNNING})
_ROW_COLUMNS = (
    "pk",
    "key",
    "sentiment",
    "categories",
    "notes",
    "thread__title",
    "org__slug",
    "created_by__name",
    "created_by__email",
    "created",
    "modified",
    "resolved_at",
    "triage__outcome",
    "admin_label",
    "triage__owner",
    "triage__owner__name",
    "triage__owner__email",
    "triage__snoozed_until",
    "triage__snoozed_until_again",
    "kept_check__state",
    "kept_check__is_kept",
)


def _rows(*columns: str) -> Prepared:
    """The rows with this key and these ids, without an order."""

    def reports(key: str, *pks: int) -> QuerySet[UserFeedback, Any]:
        wanted = UserFeedback.objects.filter(Q(pk__in=pks) | Q(key=key))
        answered = wanted.annotate(answer_opens=quoting.answer_opening())
        return answered.values_list(*_ROW_COLUMNS, "answer_opens", *columns)

    return Prepared(reports, str, *[int] * PAGE)


# A note may be long, and is only read to look for words in it.
_ROWS = {False: _rows(), True: _rows("admin_note")}


def _row(
    actor: Actor,
    now: datetime,
    values: Sequence[Any],
    query: Mapping[str, str],
    current: str,
    held: Mapping[int, str],
    words: Sequence[str],
    comments: Mapping[int, str],
) -> ReportRow:
    pk, key, sentiment, categories, notes, title, org, name, email, created, modified, resolved_at = values[:12]
    outcome, label, owner_id, owner_name, owner_email, until, until_again, check, is_kept, answer = values[12:22]
    resolved = resolved_at is not None
    found = place(words, notes, values[22] if words else None, comments.get(pk, ""))
    feedback_id = ids.FEEDBACK + key
    return ReportRow(
        feedback_id=feedback_id,
        sentiment=sentiment,
        categories=tuple(categories),
        notes=notes or "",
        answer="" if notes or not answer else opening(answer, quoting.OPENING_LENGTH),
        thread_title=title or "",
        org=org,
        by=display_name(name, email),
        created=created,
        href=href({**query, "item": feedback_id}),
        resolved=resolved,
        outcome=outcome_word(outcome).lower() if outcome not in (None, Outcome.NOTED) else "",
        is_revisited=resolved and modified > resolved_at,
        label=label or "",
        owner=display_name(owner_name, owner_email) if owner_id else "",
        is_mine=owner_id == actor.user_id,
        held_by=held.get(pk, ""),
        snoozed="" if resolved else _snoozed(until, until_again, now),
        is_due=not resolved and bool(until and until <= now),
        is_current=feedback_id == current,
        found="" if "notes" in found else found,
        check=check if is_kept and check in _MARKED else "",
    )


def _snoozed(until: datetime | None, until_again: bool, now: datetime) -> str:
    if until_again:
        return "until again"
    return f"until {moments.coming(until.astimezone(now.tzinfo))}" if until and until > now else ""


def card_of(
    actor: Actor,
    report: UserFeedback,
    changes: Sequence[TriageChange],
    *,
    here: str,
    next_href: str,
    held_by: str = "",
    near: Sequence[Near] = (),
    earlier_changes: int = 0,
    most_comments: int | None = None,
    tz: tzinfo = UTC,
) -> ReportCard:
    """The open report with its triage data, history and last comments; times in `tz`.

    `changes`, all or the last ones, must be read before the report, so that a change made in between does not count as
    seen.
    """
    thread = report.thread
    triage, reply = triaged.beside(report)
    back = undoing.taken_back(actor, changes)
    return ReportCard(
        feedback_id=report.feedback_id,
        sentiment=report.sentiment,
        categories=tuple(report.categories),
        notes=report.notes or "",
        by=report.created_by.display_name,
        created=report.created,
        thread_id=thread.thread_id,
        thread_title=thread.title or "",
        message_index=report.message_sequence_num,
        next_href=next_href,
        here=here,
        org=report.org.slug,
        modified=report.modified,
        resolved=report.resolved,
        resolved_by=report.resolved_by.display_name if report.resolved_by else "",
        resolved_at=report.resolved_at,
        is_revisited=is_revisited(report),
        labels=tuple(written_labels(report.admin_label)),
        admin_note=report.admin_note or "",
        owner=triage.owner.display_name if triage.owner else "",
        owner_email=triage.owner.email if triage.owner else "",
        is_mine=triage.owner_id == actor.user_id,
        outcome=triage.outcome or "",
        proof=triage.proof or "",
        duplicate_of=triage.duplicate_of.feedback_id if triage.duplicate_of else "",
        duplicate_count=_COPIES.rows(report.pk)[0][0],
        snoozed_until=triage.snoozed_until and triage.snoozed_until.astimezone(tz),
        snoozed_until_again=triage.snoozed_until_again,
        is_due=bool(triage.snoozed_until and triage.snoozed_until <= timezone.now()),
        public_status=reply.public_status if reply else Reply.Status.RECEIVED.value,
        public_reply=(reply.public_reply or "") if reply else "",
        replied_at=reply.replied_at if reply else None,
        held_by=held_by,
        version=str(versions.Version(changes[-1].pk if changes else 0, versions.moment(report))),
        history=tuple(_history(actor, report, changes, tz)),
        earlier_changes=earlier_changes,
        near=tuple(near),
        talk=talk_of(actor, report, most_comments),
        may_fork=may(actor, thread, Right.FORK),
        has_agent=bool(thread.created_from_agent_id),
        note_back=back.get("admin_note", ""),
        reply_back=back.get("public_reply", ""),
    )


def talk_of(actor: Actor, report: UserFeedback, most: int | None) -> Talk:
    """The last `most` comments on a report, or all; see `commenting.shown`."""
    comments, earlier = commenting.shown(actor, report, most)
    return Talk(tuple(_said(actor, each) for each in comments), earlier)


def _said(actor: Actor, comment: Comment) -> Said:
    mentions = list(comment.mentions.all())
    mine = [each for each in mentions if each.is_pending and each.person_id == actor.user_id]
    words = (
        ("asks", [each for each in mentions if not each.is_answer and each.is_pending]),
        ("asked", [each for each in mentions if not each.is_answer and not each.is_pending]),
        ("answers", [each for each in mentions if each.is_answer]),
    )
    return Said(
        comment_id=comment.comment_id,
        who=comment.author.display_name,
        text=comment.text,
        pieces=tuple(commenting.pieces(comment.text, [each.person for each in mentions if not each.is_answer])),
        at=comment.created,
        edited_at=comment.edited_at,
        is_mine=comment.author_id == actor.user_id,
        is_deleted=comment.deleted_at is not None,
        whom=", ".join(f"{word} {get_text_list(_names(actor, whom), 'and')}" for word, whom in words if whom),
        waits=("answered you" if mine[0].is_answer else "asked you") if mine else "",
        version=commenting.version_of(comment),
    )


_COPIES = PreparedCount(lambda report: Triage.objects.filter(duplicate_of=report).values_list("pk"), int)


def _names(actor: Actor, mentions: Sequence[Mention]) -> list[str]:
    return ["you" if each.person_id == actor.user_id else each.person.display_name for each in mentions]


def _history(actor: Actor, report: UserFeedback, changes: Sequence[TriageChange], tz: tzinfo) -> list[HistoryLine]:
    """The changes of a report, the forks made of it since, its check and that check's batches, latest first."""
    lines = [
        HistoryLine(report.created_by.display_name, f"rated message {report.message_sequence_num}", report.created)
    ]
    people, reports = desk_records.named_in(changes)
    undoable = undoing.undoable_among(actor, changes)
    for change in changes:
        told = historytelling.lines_of(change, people, reports, tz=tz)
        if told and change.pk in undoable:
            action, extent = undoable[change.pk]
            told[-1] = replace(told[-1], undoable=action, extent=extent)
        lines += told
    if report.modified != report.created:
        lines.append(HistoryLine(report.created_by.display_name, "changed the rating", report.modified))
    forks = list(_forks_since(actor, report)) if has_forks(report.thread_id) else []
    answer = proofs.answer_of(report) if forks else range(0)
    for fork in forks:
        lines.append(_fork_line(report, fork, answer))
    lines += _proofs(report)
    return sorted(lines, key=lambda line: line.at, reverse=True)


def _proofs(report: UserFeedback) -> Iterator[HistoryLine]:
    """The check of a report, and what came of its latest batches. One query, and two more if there is one, or if the
    report was rerun together with others.
    """
    if not check_records.has_check(report.pk):
        return
    check = Check.objects.filter(feedback=report.pk, dropped_at=None).select_related("created_by").first()
    if check is None:
        return
    if check.is_kept:
        yield HistoryLine(check.created_by.display_name, "created its check", check.created)
    batches = CheckBatch.objects.filter(runs__of=check.pk, ended_at__isnull=False).select_related("created_by")
    counts = {name: Count("runs", filter=Q(runs__verdict=name)) for name in CheckRun.Verdict.values}
    counts["undecided"] = Count("runs", filter=Q(runs__verdict=None))
    own = CheckRun.objects.filter(batch=OuterRef("pk"), of=check.pk, fork__isnull=False).order_by("-pk")
    shown = Subquery(own.values("fork__key")[:1])
    for batch in batches.annotate(**counts, shown=shown).order_by("-pk")[:BATCHES]:
        found = [f"{getattr(batch, name)} {name}" for name in counts if getattr(batch, name)]
        said = f"{'ran its check' if check.is_kept else 'reran it'}: {', '.join(found)}"
        href = reverse("feedback:batch", args=[batch.batch_id])
        rerun = ids.THREAD + batch.shown if batch.shown else ""
        yield HistoryLine(batch.created_by.display_name, said, batch.created, href=href, link="batch", rerun=rerun)


def _fork_line(report: UserFeedback, fork: Thread, answer: range) -> HistoryLine:
    """Describes a fork, or a rerun with its options."""
    who, at, place = fork.created_by.display_name, fork.created, fork.forked_from_message_sequence_num
    compared = f"{reverse('threads:compare', args=[fork.thread_id])}?report={report.feedback_id}"
    if not getattr(fork, "has_turn", False) or getattr(fork, "has_other_request", True):
        said = "forked it here" if place == report.message_sequence_num else f"forked it at message {place}"
        return HistoryLine(who, said, at, href=compared)
    calls = "recorded calls" if getattr(fork, "replays_calls", False) else "live calls"
    other_model = fork.model_profile != report.thread.model_profile
    prompt = " and another prompt" if getattr(fork, "has_other_prompt", False) else ""
    said = f"reran it with {calls}{prompt}{f' on {fork.model_profile}' if other_model else ''}"
    if place in answer:
        return HistoryLine(who, said, at, rerun=fork.thread_id)
    return HistoryLine(who, f"{said}, at message {place}", at, href=compared)


_NO = Value("", TextField())


def _forks_since(actor: Actor, report: UserFeedback) -> QuerySet[Thread]:
    """The latest forks at or before the rated message that were made after the rating, without runs of checks.

    A rerun is a fork whose turn answers the forked request, so no new request follows it.
    """
    turns = Turn.objects.filter(thread=OuterRef("pk")).order_by("pk")
    following = Message.objects.filter(thread=OuterRef("pk"), idx=OuterRef("forked_from_message_sequence_num") + 1)
    prompts = Thread.objects.filter(pk=report.thread_id).annotate(said=Coalesce("system_prompt", _NO))
    forks = (
        Thread.objects.visible_to(actor)
        .filter(
            forked_from=report.thread_id,
            forked_from_message_sequence_num__lte=report.message_sequence_num,
            created__gte=report.created,
        )
        .exclude(CheckRun.of_thread())
        .annotate(
            has_turn=Exists(turns),
            replays_calls=Subquery(turns.values("replays_calls")[:1]),
            has_other_request=Exists(following.filter(role=Message.Role.USER)),
            has_other_prompt=~Exists(prompts.filter(said=Coalesce(OuterRef("system_prompt"), _NO))),
        )
    )
    return forks.select_related("created_by").defer(*Thread.HEAVY).order_by("-pk")[:FORKS]
