"""What the thread pages show: rows and heads from the database, as the view models of `threads.presenting`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils import timezone

from accounts.rights import Right
from core import ids
from core.actor import Actor
from core.db import snapshot
from threads import answering, figures, hooks, presenting, reading
from threads.access import may
from threads.content import MessageSnapshot
from threads.models import Goal, Message, Pin, Thread
from threads.presenting import ForkLink, ForkSource, GoalNote, Mark, ThreadHead, ThreadRow, Turn
from threads.status import RUNNING, SENDABLE


@dataclass(frozen=True, slots=True)
class Screen:
    """One thread as one snapshot shows it to one reader."""

    thread: Thread
    messages: Sequence[MessageSnapshot]
    marks: Mapping[int, Mark]
    goals: Sequence[GoalNote]
    names: Mapping[str, str]
    figures: Mapping[int, tuple[str, ...]]
    token: str
    now: datetime

    def turns(self) -> list[Turn]:
        """The transcript as articles."""
        return presenting.present(
            self.messages,
            author_names=self.names,
            marks=self.marks,
            now=self.now,
            thread_status=self.thread.status,
            goals=self.goals,
            figures=self.figures,
        )


def screen(actor: Actor, thread: Thread, *, between: tuple[int, int] | None = None) -> Screen:
    """Everything a page shows of a thread, or of a stretch of its messages."""
    with snapshot():
        reading.refresh(thread)
        messages = reading.snapshots(thread.pk, between=between)
        goals = goal_notes(thread)
        may_know = may(actor, thread, Right.FIGURES)
        found = figures.of_turns(thread.pk, between=between) if may_know else []
    names = reading.author_names(messages)
    marks = hooks.message_marks(actor, thread)
    told = {each.answer_idx: figures.words(each) for each in reversed(found)}  # of two, the one that wrote the answer
    return Screen(thread, messages, marks, goals, names, told, reading.token_of(thread), timezone.now())


def context(actor: Actor, thread: Thread) -> dict[str, Any]:
    """What the templates of a thread's page need, whole or in parts."""
    shown = screen(actor, thread)
    turns = shown.turns()
    return {
        "head": head_of(actor, thread, token=shown.token, goals=shown.goals),
        "turns": turns,
        "jumps": presenting.jumps(turns),
        "thread_map": presenting.thread_map(turns),
        "here": reverse("threads:detail", args=[thread.thread_id]),
        "asking": answering.asking(thread),
    }


def head_of(actor: Actor, thread: Thread, *, token: str, goals: Sequence[GoalNote]) -> ThreadHead:
    """What stands above a transcript, and what its reader may do there."""
    is_running = thread.status in RUNNING
    may_add = may(actor, thread, Right.SEND) and not thread.is_read_only
    return ThreadHead(
        thread_id=thread.thread_id,
        title=thread.title or "",
        status=presenting.thread_word(thread.status, thread.last_outcome),
        owner=thread.created_by.display_name,
        model_profile=thread.model_profile or "",
        message_count=thread.message_count,
        created=thread.created,
        visibility=thread.visibility,
        org=thread.org.slug,
        world=thread.world.world_id if thread.world is not None else "",
        is_mine=thread.created_by_id == actor.user_id,
        pinned=Pin.objects.filter(user=actor.user_id, thread=thread).exists(),
        fork_source=_source(actor, thread),
        forks=_forks(actor, thread),
        goals=tuple(goals),
        activity=thread.activity,
        context=told(thread),
        subjects=tuple(thread.subjects.order_by("id").values_list("association_id", flat=True)[:20]),
        token=token,
        may_send=may_add and thread.status in SENDABLE,
        may_answer=may_add,
        **doors_of(actor, thread),
        may_cancel=is_running and may(actor, thread, Right.CANCEL),
        may_rescope=may(actor, thread, Right.RESCOPE),
        may_rename=may(actor, thread, Right.DESCRIBE),
    )


def doors_of(actor: Actor, thread: Thread) -> dict[str, bool]:
    """What its reader may do at a message, as the head says it: all of a head that an article needs."""
    return {
        "may_rate": may(actor, thread, Right.RATE),
        "may_fork": may(actor, thread, Right.FORK) and thread.message_count > 0,
    }


def goal_notes(thread: Thread) -> list[GoalNote]:
    """The goals beside their turns."""
    if not thread.goal_count:
        return []
    return [
        GoalNote(
            goal_type=goal.goal_type,
            target=str(goal.goal_data.get("dataset_id", "")),
            status=goal.status,
            index=goal.message_sequence_num,
            achieve_tool_use_id=goal.achieve_tool_use_id,
        )
        for goal in Goal.objects.filter(thread=thread.pk).order_by("id")
    ]


def rows_of(actor: Actor, threads: Sequence[Thread]) -> list[ThreadRow]:
    """Threads as rows of the list: their ratings are one query for all of them."""
    counts = hooks.thread_counts(actor, [thread.pk for thread in threads])
    return [_row(thread, counts.get(thread.pk, (0, 0))) for thread in threads]


def stretch_start(thread: Thread, idx: int) -> int:
    """The message at which the article around `idx` begins at the earliest: the last one of a person up to there."""
    said = Message.objects.filter(thread=thread, role="user", idx__lte=idx).order_by("-idx")
    return said.values_list("idx", flat=True).first() or 0


def _row(thread: Thread, counts: tuple[int, int]) -> ThreadRow:
    live = "l" if thread.status in RUNNING else ""
    return ThreadRow(
        thread_id=thread.thread_id,
        title=thread.title or "",
        status=presenting.thread_word(thread.status, thread.last_outcome),
        owner=thread.created_by.display_name,
        model_profile=thread.model_profile or "",
        message_count=thread.message_count,
        active_at=thread.created,
        weave=thread.weave + live,
        is_private=thread.visibility == "private",
        is_fork=thread.forked_from_id is not None,
        is_pinned=getattr(thread, "pinned_at", None) is not None,
        goals_achieved=thread.achieved_goal_count,
        goals_count=thread.goal_count,
        negative=counts[0],
        positive=counts[1],
    )


def _source(actor: Actor, thread: Thread) -> ForkSource | None:
    if thread.forked_from_id is None:
        return None
    source = Thread.objects.visible_to(actor).filter(pk=thread.forked_from_id).values_list("key", "title").first()
    key, title = source or ("", None)
    place = thread.forked_from_message_sequence_num or 0
    return ForkSource(ids.THREAD + key, (title or "Untitled") if source else "", place)


def _forks(actor: Actor, thread: Thread) -> tuple[ForkLink, ...]:
    forks = Thread.objects.visible_to(actor).filter(forked_from=thread.pk).order_by("-id")
    return tuple(ForkLink(ids.THREAD + key, title or "") for key, title in forks.values_list("key", "title")[:50])


def told(thread: Thread) -> tuple[tuple[str, str], ...]:
    """What the agent was told besides the messages, and where the thread came from."""
    thread.refresh_from_db(fields=["system_prompt", "analysis_scope", "client_context", "available_skills", "metadata"])
    found = [
        ("System prompt", (thread.system_prompt or "")[:4000]),
        ("Scope", _scope(thread.analysis_scope)),
        ("Skills", _skills(thread.available_skills)),
        ("Imported as", thread.import_id or ""),
        ("Metadata", ", ".join(f"{key}: {value}" for key, value in (thread.metadata or {}).items())[:2000]),
    ]
    if thread.client_context:
        shown = {key: value for key, value in thread.client_context.items() if value}
        found.append(("On screen", ", ".join(f"{key}: {value}" for key, value in shown.items())[:2000]))
    return tuple((name, words) for name, words in found if words)


def _skills(available: Sequence[Mapping[str, Any]] | None) -> str:
    """The skills that the agent may load here; none named means those its owner subscribes to."""
    if available is None:
        return ""
    return ", ".join(str(skill["name"]) for skill in available[:50]) or "none"


def _scope(scope: Mapping[str, int | None] | None) -> str:
    if not scope:
        return ""
    start, end = (_instant(scope.get(bound)) for bound in ("start_time", "end_time"))
    return f"{start or 'the beginning'} to {end or 'the end'}"


def _instant(nanoseconds: int | None) -> str:
    if nanoseconds is None:
        return ""
    try:
        return datetime.fromtimestamp(nanoseconds / 1e9, timezone.get_default_timezone()).isoformat(sep=" ")
    except (ValueError, OverflowError, OSError):
        return f"{nanoseconds} ns"
