"""What the desk shows: rows, the open report, ratings beside messages, as the view models of `feedback.presenting`."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import Count, Q, QuerySet

from accounts.rights import Right
from core import ids
from core.actor import Actor
from core.prepared import Prepared, Row
from feedback.models import TriageChange, UserFeedback
from feedback.presenting import HistoryLine, ReportCard, ReportRow, href
from threads.access import may
from threads.models import Thread
from threads.presenting import Mark

_WORDS = {"admin_label": "label", "admin_note": "note"}


def rows_of(row_ids: Sequence[int], query: Mapping[str, str], current: str) -> list[ReportRow]:
    """Reports as rows of the desk, in one query; each links to itself with the filters kept."""
    found = (
        UserFeedback.objects.filter(pk__in=row_ids)
        .order_by("-id")
        .values_list(
            "key",
            "sentiment",
            "categories",
            "notes",
            "thread__title",
            "created_by__name",
            "created_by__email",
            "created",
            "resolved",
            "admin_label",
        )
    )
    rows = []
    for key, sentiment, categories, notes, title, name, email, created, resolved, label in found:
        feedback_id = ids.FEEDBACK + key
        rows.append(
            ReportRow(
                feedback_id=feedback_id,
                sentiment=sentiment,
                categories=tuple(categories),
                notes=notes or "",
                thread_title=title or "",
                by=name or email.partition("@")[0],
                created=created,
                href=href({**query, "item": feedback_id}),
                resolved=resolved,
                label=label or "",
                is_current=feedback_id == current,
            )
        )
    return rows


def card_of(actor: Actor, report: UserFeedback, *, here: str, next_href: str) -> ReportCard:
    """The open report with its history."""
    thread = report.thread
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
        admin_label=report.admin_label or "",
        admin_note=report.admin_note or "",
        history=tuple(_history(report)),
        may_fork=may(actor, thread, Right.FORK),
    )


def _history(report: UserFeedback) -> list[HistoryLine]:
    lines = [
        HistoryLine(report.created_by.display_name, f"rated message {report.message_sequence_num}", report.created)
    ]
    for change in TriageChange.objects.filter(feedback=report).select_related("actor"):
        for column, after in change.after.items():
            lines.append(_line(change, column, change.before.get(column), after))
    if report.modified != report.created:
        lines.append(HistoryLine(report.created_by.display_name, "changed the rating", report.modified))
    return sorted(lines, key=lambda line: line.at, reverse=True)


def _line(change: TriageChange, column: str, before: Any, after: Any) -> HistoryLine:
    who = change.actor.display_name
    if column == "resolved":
        return HistoryLine(who, "resolved it" if after else "reopened it", change.at)
    word = _WORDS[column]
    verb = "removed" if after is None else "changed" if before else "set"
    return HistoryLine(who, f"{verb} the {word}", change.at, _short(before), _short(after))


def _short(value: str | None) -> str:
    return (value or "")[:120]


def message_marks(actor: Actor, thread: Thread) -> dict[int, Mark]:
    """Ratings beside the messages of a thread: one's own, and for admins the latest of each message else."""
    rows = _MARKS.rows(thread.pk) if actor.is_admin else _OWN_MARKS.rows(thread.pk, actor.user_id)
    marks: dict[int, Mark] = {}
    for index, sentiment, categories, notes, author_id, name, email in rows:
        mine = author_id == actor.user_id
        held = marks.get(index)
        if held is None or mine or not held.mine:
            marks[index] = Mark(sentiment, tuple(categories), notes or "", name or email.partition("@")[0], mine)
    return marks


def _marks(thread_pk: int, *author: int) -> QuerySet[UserFeedback, Row]:
    rows = UserFeedback.objects.filter(thread=thread_pk).order_by("modified")
    rows = rows.filter(created_by=author[0]) if author else rows
    return rows.values_list(
        *("message_sequence_num", "sentiment", "categories", "notes"),
        *("created_by_id", "created_by__name", "created_by__email"),
    )


_MARKS, _OWN_MARKS = Prepared(_marks, int), Prepared(_marks, int, int)


def thread_counts(actor: Actor, thread_ids: Sequence[int]) -> dict[int, tuple[int, int]]:
    """Negative and positive ratings in each thread: one's own, for admins everybody's."""
    rows = UserFeedback.objects.filter(thread__in=thread_ids)
    if not actor.is_admin:
        rows = rows.filter(created_by=actor.user_id)
    counted = rows.values("thread").annotate(
        negative=Count("pk", filter=Q(sentiment="negative")), positive=Count("pk", filter=Q(sentiment="positive"))
    )
    return {row["thread"]: (row["negative"], row["positive"]) for row in counted}
