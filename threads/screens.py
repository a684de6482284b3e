"""Loads the data of the thread pages into the view models of `threads.presenting`."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.db import OperationalError
from django.urls import reverse
from django.utils import timezone

from accounts.members import admins_of
from accounts.models import Org
from accounts.naming import names_of
from accounts.rights import Right
from catalogue.worlds import choosing
from catalogue.worlds.choosing import Choice
from core import ids
from core.actor import Actor
from core.db import snapshot
from core.payloads import gist, json_text
from core.prepared import Prepared
from core.statements import Row
from core.wording import whole_characters
from threads import answering, extracts, figures, goals, hits, hooks, instants, pending, profiles, reading, titles
from threads.access import LAST, allows, may
from threads.content import MessageSnapshot
from threads.finding import Found
from threads.models import Agent, Block, Goal, Message, Pin, Subject, Thread
from threads.ordering import CHANGED
from threads.presenting import composing, excerpting, landmarks
from threads.presenting.articles import Article, Gap, Mark, Piece
from threads.presenting.goal_notes import GoalNote
from threads.presenting.heading import AgentLink, ForkLink, ForkSource, ThreadHead
from threads.presenting.imports import Import
from threads.presenting.listing import Hit, ThreadRow, href
from threads.presenting.words import counted, thread_word
from threads.status import RUNNING, SENDABLE, GoalStatus

SKILLS_SHOWN = 50
_PROMPT_SHOWN = 20_000
"""Characters of a system prompt on a thread's page."""


@dataclass(frozen=True, slots=True)
class Screen:
    """One thread as one reader sees it in one snapshot."""

    thread: Thread
    messages: Sequence[MessageSnapshot]
    marks: Mapping[int, Mark]
    goals: Sequence[GoalNote]
    names: Mapping[str, str]
    figures: Mapping[int, tuple[str, ...]]
    token: str
    now: datetime
    tz: ZoneInfo
    before: datetime | None
    """The time of the article before a range of messages."""
    imported: Import | None
    gaps: Sequence[Gap] = ()
    """The messages of a long thread that are not shown."""

    def articles(self) -> list[Article]:
        """The transcript as articles."""
        return composing.present(
            self.messages,
            author_names=self.names,
            marks=self.marks,
            now=self.now,
            thread_status=self.thread.status,
            goals=self.goals,
            figures=self.figures,
            tz=self.tz,
            before=self.before,
            imported=self.imported,
        )

    def pieces(self) -> list[Piece]:
        """The articles, with the gaps in their places."""
        return sorted([*self.articles(), *self.gaps], key=lambda each: each.index)


@dataclass(frozen=True, slots=True)
class Eyes:
    """Everything about a reader that affects how the articles of a thread are rendered; a cache key.

    HTML rendered for one reader may be sent to another with an equal value, so everything in an article that differs
    between readers of a revision must be included here. `token` is the thread and its revision; user names and
    relative times change without a new revision, so the key also changes every minute. Times are shown in `tz`, so
    the articles are rendered once per time zone, not once per reader.
    """

    token: str
    tz: ZoneInfo
    minute: datetime
    marks: tuple[tuple[int, Mark], ...]
    knows_figures: bool
    may_rate: bool
    may_fork: bool
    may_answer: bool


def eyes_of(actor: Actor, thread: Thread, *, tz: ZoneInfo) -> Eyes:
    """The rendering key of a reader in a time zone, for a thread as it was last refreshed."""
    return Eyes(
        token=reading.token_of(thread),
        tz=tz,
        minute=timezone.now().replace(second=0, microsecond=0),
        marks=tuple(sorted(hooks.feedback.message_marks(actor, thread).items())),
        knows_figures=may(actor, thread, Right.FIGURES),
        **doors_of(actor, thread),
    )


def screen(actor: Actor, thread: Thread, *, tz: ZoneInfo, between: tuple[int, int] | None = None) -> Screen:
    """Everything a page shows of a thread, or of a range of its messages."""
    with snapshot():
        reading.refresh(thread)
        return screen_through(eyes_of(actor, thread, tz=tz), thread, between=between)


def extract(
    actor: Actor, thread: Thread, reach: extracts.Reach, *, tz: ZoneInfo, places: Iterable[int | None] = ()
) -> Screen:
    """Like `screen`; of a long thread only its ends, its last request, and what is around the messages `places`."""
    with snapshot():
        reading.refresh(thread)
        return extract_through(eyes_of(actor, thread, tz=tz), thread, reach, places)


def extract_through(eyes: Eyes, thread: Thread, reach: extracts.Reach, places: Iterable[int | None] = ()) -> Screen:
    """Like `extract`, for existing `Eyes`; call it in the snapshot in which those were made."""
    shown = extracts.ranges(thread, reach, places)
    return _screen(eyes, thread, shown, extracts.gaps(thread, shown, dict(eyes.marks)))


def screen_through(eyes: Eyes, thread: Thread, *, between: tuple[int, int] | None = None) -> Screen:
    """Like `screen`, for existing `Eyes`; call it in the snapshot in which those were made."""
    return _screen(eyes, thread, [between or (0, LAST)])


def _screen(eyes: Eyes, thread: Thread, shown: Sequence[extracts.Range], gaps: Sequence[Gap] = ()) -> Screen:
    messages = [message for between in shown for message in reading.snapshots(thread.pk, between=between)]
    turns = [figures.of_turns(thread.pk, between=between) for between in shown] if eyes.knows_figures else []
    found = [turn for each in turns for turn in each]
    cut_off = figures.cut_off(messages)
    told = {
        each.answer_idx: figures.words(each, is_cut_off=each.answer_idx in cut_off) for each in reversed(found)
    }  # if two turns have one answer, the first: it wrote the answer
    names = names_of(message.author for message in messages)
    return Screen(
        thread=thread,
        messages=messages,
        marks=dict(eyes.marks),
        goals=goal_notes(thread),
        names=names,
        figures=told,
        token=eyes.token,
        now=timezone.now(),
        tz=eyes.tz,
        before=_said_before(thread, shown[0][0]),
        imported=import_of(thread),
        gaps=gaps,
    )


def import_of(thread: Thread) -> Import | None:
    """The import that a thread's first messages come from: its own, or that of the thread it was forked from. No query,
    and one for each generation of a fork.
    """
    standing: Row | None = (thread.import_id, thread.key, thread.created, thread.forked_from_id)
    while standing is not None:
        import_id, key, began, source = standing
        if import_id is not None:
            return Import(ids.moment_of(key), began)
        standing = None if source is None else _ORIGIN.first(source)
    return None


def _said_before(thread: Thread, first: int) -> datetime | None:
    """The time of the article before a message. Tool results come later than the text that gives it its time."""
    if not first:
        return None
    said = Message.objects.filter(thread=thread, idx__lt=first).exclude(role="roboto").order_by("-idx")
    return said.values_list("created", flat=True).first()


def context(
    actor: Actor,
    thread: Thread,
    *,
    tz: ZoneInfo,
    places: Iterable[int | None] = (),
    asked: str = "",
    within: bool = False,
) -> dict[str, Any]:
    """The template context of a thread's page or its parts; of a long thread its ends and what is around `places`.
    `asked` is the query of the list that it was opened from, or `within` the thread.
    """
    shown = extract(actor, thread, extracts.PAGE, tz=tz, places=places)
    head = head_of(actor, thread, token=shown.token, goals=shown.goals, worlds=worlds_for(actor, thread))
    return around(shown, head, asked, within=within)


def around(shown: Screen, head: ThreadHead, asked: str = "", *, within: bool = False) -> dict[str, Any]:
    """Like `context`, from a screen and a head, which must be the reader's own."""
    thread, pieces = shown.thread, shown.pieces()
    articles = [each for each in pieces if isinstance(each, Article)]
    return {
        "head": head,
        "is_title_said": bool(thread.title) and thread.title == titles.of_messages(shown.messages),
        "articles": articles,
        "stretches": excerpting.whole(pieces),
        "jumps": landmarks.jumps(pieces),
        "thread_map": landmarks.thread_map(pieces),
        "here": reverse("threads:detail", args=[thread.thread_id]),
        "asked": asked,
        "within": within,
        "row_href": reverse("threads:list") + (href(asked) if asked and not within else "") + f"#t-{thread.thread_id}",
        "asking": answering.asking(thread),
    }


def to_write_in(thread_id: str) -> str:
    """The URL of a thread with the write form focused."""
    return reverse("threads:detail", args=[thread_id]) + "?write"


def kept_by(org: Org | None) -> str:
    """The slug of an org whose policy makes the choice of who can read a new thread final, or "" (T8)."""
    return org.slug if org and not allows(org, Right.RESCOPE) else ""


def note_seen(actor: Actor, thread: Thread, articles: Sequence[Article]) -> None:
    """Remember that the reader has seen the replies to their ratings shown with these articles."""
    marks = (acts.mark for article in articles for acts in article.marks)
    if news := [mark.told.at for mark in marks if mark and mark.told and mark.told.is_news]:
        with suppress(OperationalError):  # the database is locked: the list will show the news again
            hooks.feedback.saw(actor, thread, max(news))


def worlds_for(actor: Actor, thread: Thread) -> tuple[Choice, ...]:
    """The worlds that the reader may fork into."""
    return tuple(choosing.choices(thread.org_id)) if doors_of(actor, thread)["may_fork"] else ()


def head_of(
    actor: Actor, thread: Thread, *, token: str, goals: Sequence[GoalNote], worlds: tuple[Choice, ...] = ()
) -> ThreadHead:
    """The header above a transcript, and what the reader may do."""
    is_running = thread.status in RUNNING
    may_add = may(actor, thread, Right.SEND)
    is_unanswered = may_add and not is_running and reading.is_unanswered(thread)
    doors = doors_of(actor, thread)
    return ThreadHead(
        thread_id=thread.thread_id,
        title=thread.title or "",
        status=thread_word(thread.status, thread.last_outcome),
        owner=thread.created_by.display_name,
        model_profile=thread.model_profile or "",
        message_count=thread.message_count,
        created=thread.created,
        imported=Import(thread.imported_at, thread.created) if thread.import_id is not None else None,
        goes_on_with=profiles.label_of(None) if thread.import_id is not None and not thread.model_profile else "",
        visibility=thread.visibility,
        org=thread.org.slug,
        admins="" if may_add or doors["may_fork"] else admins_of(thread.org_id),
        agent=_agent(actor, thread),
        world=thread.world.world_id if thread.world is not None else "",
        worlds=worlds,
        is_mine=thread.created_by_id == actor.user_id,
        origin=(thread.origin or "") if thread.is_read_only else "",
        pinned=_PIN.first(actor.user_id, thread.pk) is not None,
        fork_source=_source(actor, thread),
        forks=_forks(actor, thread),
        goals=tuple(goals),
        context=told(actor, thread),
        subjects=tuple(entity for (entity,) in _SUBJECTS.rows(thread.pk)),
        token=token,
        may_send=may_add and thread.status in SENDABLE,
        may_repeat=may_add and (thread.ended_badly or is_unanswered),
        is_unanswered=is_unanswered,
        **doors,
        may_cancel=is_running and may(actor, thread, Right.CANCEL),
        may_rescope=may(actor, thread, Right.RESCOPE),
        may_rename=may(actor, thread, Right.DESCRIBE),
    )


def _agent(actor: Actor, thread: Thread) -> AgentLink | None:
    """The agent that the thread was launched from; the name is empty if it was deleted or the reader cannot see it."""
    if not thread.created_from_agent_id:
        return None
    found = Agent.objects.visible_to(actor).filter(key=thread.agent_key).values_list("name", "version").first()
    name, latest = found or ("", 1)
    return AgentLink(thread.created_from_agent_id, name, thread.created_from_agent_version, latest)


def doors_of(actor: Actor, thread: Thread) -> dict[str, bool]:
    """What the reader may do with messages: the only part of a head that articles need."""
    return {
        "may_rate": may(actor, thread, Right.RATE),
        "may_fork": may(actor, thread, Right.FORK) and thread.message_count > 0,
        "may_answer": may(actor, thread, Right.SEND),
    }


def goal_notes(thread: Thread) -> list[GoalNote]:
    """The goals of a thread, to show with their articles."""
    if not thread.goal_count:
        return []
    found = list(Goal.objects.filter(thread=thread.pk).order_by("id"))
    handed = _handed_in(found)
    return [
        GoalNote(
            goal_type=goal.goal_type,
            target=str(goal.goal_data.get("dataset_id", "")),
            status=goal.status,
            index=goal.message_sequence_num,
            achieve_tool_use_id=goal.achieve_tool_use_id,
            points=goals.points(goal.goal_data, handed[goal.pk], achieved=goal.status == GoalStatus.ACHIEVED),
        )
        for goal in found
    ]


def _handed_in(found: Sequence[Goal]) -> dict[int, Any]:
    """The input for each goal: the result if achieved, else the last attempt, else None."""
    tried = {goal.achieve_tool_use_id for goal in found if goal.result is None} - {None}
    inputs: dict[str | None, Any] = {}
    if tried:
        uses = Block.objects.filter(thread=found[0].thread_id, tool_use_id__in=tried, kind="tool_use")
        inputs = {use_id: data.get("input") for use_id, data in uses.values_list("tool_use_id", "data") if data}
    return {goal.pk: inputs.get(goal.achieve_tool_use_id) if goal.result is None else goal.result for goal in found}


def rows_of(actor: Actor, threads: Sequence[Thread], asked: Found) -> list[ThreadRow]:
    """Threads as rows of the list that was asked for, with one query for all ratings, and a few for what they were
    found by.
    """
    ratings = hooks.feedback.thread_ratings(actor, [thread.pk for thread in threads])
    found, titles = hits.of(threads, asked.sought), hits.in_titles(threads, asked.sought.words)
    return [
        _row(each, asked, ratings.get(each.pk, hooks.Ratings()), found.get(each.pk), titles.get(each.pk))
        for each in threads
    ]


def stretch(thread: Thread, idx: int) -> tuple[int, int]:
    """The range of messages that makes up the article around `idx`: up to the next user message.

    The results of its calls come later, so a range ending at `idx` would show the calls as unanswered.
    """
    following = pending.next_request(thread.pk, idx)
    return pending.last_request(thread.pk, idx) or 0, LAST if following is None else following - 1


def _row(thread: Thread, asked: Found, ratings: hooks.Ratings, hit: Hit | None, in_title: Hit | None) -> ThreadRow:
    live = "l" if thread.status in RUNNING else ""
    return ThreadRow(
        thread_id=thread.thread_id,
        title=thread.title or "",
        status=thread_word(thread.status, thread.last_outcome),
        owner=thread.created_by.display_name,
        model_profile=thread.model_profile or "",
        message_count=thread.message_count,
        at=thread.modified if asked.order is CHANGED else thread.created,
        weave=thread.weave + live,
        is_private=thread.visibility == "private",
        is_fork=thread.forked_from_id is not None,
        is_imported=thread.import_id is not None,
        is_pinned=getattr(thread, "pinned_at", None) is not None,
        goals_achieved=thread.achieved_goal_count,
        goals_count=thread.goal_count,
        negative=ratings.negative,
        positive=ratings.positive,
        answered=ratings.answered,
        asked=asked.sought.line,
        hit=hit,
        in_title=in_title,
    )


def _source(actor: Actor, thread: Thread) -> ForkSource | None:
    if thread.forked_from_id is None:
        return None
    source = Thread.objects.visible_to(actor).filter(pk=thread.forked_from_id).values_list("key", "title").first()
    key, title = source or ("", None)
    place = thread.forked_from_message_sequence_num or 0
    report = hooks.feedback.report(actor, thread.forked_from_id, place, fork=thread.thread_id)
    named = (title or "Untitled") if source else ""
    return ForkSource(ids.THREAD + key, named, place, report.report_href if report else "")


def has_forks(thread_pk: int) -> bool:
    """Whether anybody forked a thread. Mostly nobody did, and asking which ones takes much longer."""
    return bool(_FORK.rows(thread_pk))


def _forks(actor: Actor, thread: Thread) -> tuple[ForkLink, ...]:
    if not has_forks(thread.pk):
        return ()
    forks = Thread.objects.visible_to(actor).filter(~hooks.feedback.runs(actor), forked_from=thread.pk).order_by("-id")
    rows = forks.values_list("key", "title", "forked_from_message_sequence_num")[:50]
    return tuple(ForkLink(ids.THREAD + key, title or "", index or 0) for key, title, index in rows)


def told(actor: Actor, thread: Thread) -> tuple[tuple[str, str], ...]:
    """What the agent was given besides the messages, and the origin of an import; its metadata only for those who may
    read everything that came with it.
    """
    prompt, scope, looking_at, skills, metadata = _TOLD.first(thread.pk) or (None,) * 5
    if not may(actor, thread, Right.RAW):
        metadata = None
    found = [
        ("System prompt", _cut(prompt or "", _PROMPT_SHOWN)),
        ("Scope", _scope(scope)),
        ("Skills", spelled_skills(skills)),
        ("Imported as", thread.import_id or ""),
        ("Metadata", _cut(", ".join(f"{key}: {_plainly(value)}" for key, value in (metadata or {}).items()), 2000)),
    ]
    if looking_at:
        found.append(("On screen", gist(looking_at)))
    return tuple((name, words) for name, words in found if words)


# Prepared, because they run for every reader of a head at the same moment.
_PIN = Prepared(lambda user, thread: Pin.objects.filter(user=user, thread=thread).values_list("id"), int, int)
_FORK = Prepared(lambda pk: Thread.objects.filter(forked_from=pk).values_list("id")[:1], int)
_SUBJECTS = Prepared(
    lambda pk: Subject.objects.filter(thread=pk).order_by("id").values_list("association_id")[:20], int
)
_ORIGIN = Prepared(
    lambda pk: Thread.objects.filter(pk=pk).values_list("import_id", "key", "created", "forked_from_id"), int
)
_TOLD = Prepared(
    lambda pk: Thread.objects.filter(pk=pk).values_list(
        "system_prompt", "analysis_scope", "client_context", "available_skills", "metadata"
    ),
    int,
)


def _cut(text: str, most: int) -> str:
    """The beginning of a long text, and how much more there is."""
    rest = len(text) - most
    return f"{whole_characters(text[:most])}\n… and {counted(rest, 'more character')}" if rest > 0 else text


def _plainly(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value)


def spelled_skills(available: Sequence[Mapping[str, Any]] | None) -> str:
    """The skills that the agent may load; empty if those are the owner's subscriptions."""
    if available is None:
        return ""
    return ", ".join(f"{skill['name']} (version {skill['version']})" for skill in available[:SKILLS_SHOWN]) or "none"


def _scope(scope: Mapping[str, int | None] | None) -> str:
    if not scope:
        return ""
    start, end = (_exactly(scope.get(bound)) for bound in ("start_time", "end_time"))
    return f"{start or 'the beginning'} to {end or 'the end'}"


def _exactly(nanoseconds: int | None) -> str:
    return "" if nanoseconds is None else instants.words(nanoseconds, UTC) or instants.instant(nanoseconds)
