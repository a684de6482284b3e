"""Comparing a fork with its source, from the first message that differs."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import takewhile, zip_longest
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.safestring import SafeString

from accounts.rights import Right
from catalogue import skills
from core import differences, ids
from core.actor import Actor
from core.errors import NotFound
from threads import figures, hooks, pending, reruns, screens
from threads.access import LAST, may, thread_for
from threads.content import BlockDict, MessageSnapshot
from threads.models import Thread
from threads.presenting.articles import Article, Mark, Prose
from threads.presenting.calls import output_of
from threads.presenting.words import Word, counted, thread_word
from threads.status import RUNNING, ThreadStatus


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two compared threads."""

    thread_id: str
    title: str
    owner: str
    facts: tuple[str, ...]
    """Figures about what is compared, in words."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a setting in words; `skill_id` and `version` if it is a skill that the reader may open."""

    words: str
    skill_id: str = ""
    version: int = 0


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting that differs: its name, and what it is in the source and in the fork."""

    name: str
    before: tuple[Piece, ...]
    after: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two threads from their first difference on, or from the fork on if the answers are the same.

    The first `same` messages are equal; `pairs` are the articles after them, side by side in order.
    """

    source: Side
    fork: Side
    same: int
    pairs: tuple[tuple[Article | None, Article | None], ...]
    """None where only the other thread has a message. Words that differ are marked once the fork's are all there."""
    settings: tuple[Setting, ...]
    state: Word
    """The fork's status."""
    is_alike: bool = False
    """Whether the fork's answer is word for word that of the source."""
    request: Article | None = None
    """The last message of a person before the compared answers, unless they begin with one."""
    report: Mark | None = None
    """The report that the fork investigates, for readers who handle reports."""
    panel: str = ""
    """The address of the panel to judge it, if it is a run of a check."""
    rest: range = range(0)
    """The later messages of the source, to which a fork that only answers again has no counterpart."""

    @property
    def is_answered(self) -> bool:
        """Whether the fork ended by itself, with an article of its own."""
        return self.state.idle and any(right for _, right in self.pairs)

    @property
    def names(self) -> tuple[str, str]:
        """What the two sides are called: of a run that is judged, by what they are to who judges it."""
        return ("Rated answer", "New answer") if self.panel else ("Source", "Fork")


def with_source(
    actor: Actor, fork: Thread, *, tz: ZoneInfo, is_of_answers: bool = False, report: str = ""
) -> Comparison:
    """Compare a fork, which the actor may read, with its source; times are in `tz`. `report` is the id of that which
    the reader came from, if several are about the answer.

    Reads the messages from the request on that was forked; of a source whose request was only answered again, up to its
    next request, and of both only that far for a comparison `is_of_answers`, which has no report and no panel. Raises
    `NotFound` for a thread that is not a fork, `Unauthorized` if the actor may not read its source.
    """
    key = Thread.objects.filter(forks=fork.pk).values_list("key", flat=True).first()
    if key is None:
        raise NotFound("This thread is not a fork.")
    source = thread_for(actor, ids.THREAD + key)
    place = fork.forked_from_message_sequence_num or 0
    begin = pending.last_request(source.pk, place) or 0  # both have the same messages up to `place`
    made = screens.screen(actor, fork, tz=tz, between=(begin, _end(fork, place) if is_of_answers else LAST))
    ends = is_of_answers or _only_answers(made, place + 1 - begin)
    until = _end(source, place) if ends else LAST
    had = screens.screen(actor, source, tz=tz, between=(begin, until))
    equal = _same(had.messages, made.messages)
    same = begin + equal
    is_alike = place + 1 < same == begin + len(made.messages) and _ends(had.messages, equal)
    left, right = (_from(shown.articles(), place + 1 if is_alike else same) for shown in (had, made))
    if is_alike:  # the fork has no counterpart for later messages of the source
        left = [article for article in left if article.covers[0] < same]
    elif right and all(article.voice == "agent" for article in right):  # it only answered the same request again
        left = list(takewhile(lambda article: article.voice == "agent", left)) or left
    end = left[-1].covers[-1] + 1 if left else min(until + 1, source.message_count)
    return Comparison(
        source=_side(actor, had, same, left),
        fork=_side(actor, made, same, right),
        same=same,
        pairs=tuple(_beside(left, right)) if fork.status == ThreadStatus.ROBOTO_TURN else _pairs(left, right),
        settings=tuple(_settings(actor, source, fork, place)),
        state=thread_word(fork.status, fork.last_outcome),
        is_alike=is_alike,
        request=_request(had.articles(), left, right),
        report=None
        if is_of_answers
        else hooks.feedback.report(actor, source.pk, place, fork=fork.thread_id, named=report),
        panel="" if is_of_answers else hooks.feedback.run_panel(actor, fork),
        rest=range(end, source.message_count),
    )


def _end(thread: Thread, place: int) -> int:
    """The last message before the next request after `place`."""
    following = pending.next_request(thread.pk, place)
    return LAST if following is None else following - 1


def _only_answers(made: screens.Screen, at: int) -> bool:
    """Whether a fork, whose own messages begin at `at`, answers the forked request again and asks nothing else."""
    own = made.messages[at:]
    return bool(own or made.thread.status in RUNNING) and not any(message.role == "user" for message in own)


def _same(left: Sequence[MessageSnapshot], right: Sequence[MessageSnapshot]) -> int:
    """How many messages from the beginning are equal, however their text is split into fragments."""
    for place, (one, other) in enumerate(zip(left, right, strict=False)):
        if _content(one) != _content(other):
            return place
    return min(len(left), len(right))


def _ends(messages: Sequence[MessageSnapshot], at: int) -> bool:
    """Whether an answer ends before index `at`: the thread ends there, or a user message follows."""
    return at == len(messages) or messages[at].role == "user"


def _content(message: MessageSnapshot) -> object:
    words = "".join(block["text"] for block in message.blocks if block["content_type"] == "text")
    return (
        message.role,
        message.status,
        words,
        [_content_of(block) for block in message.blocks if block["content_type"] != "text"],
    )


def _content_of(block: BlockDict) -> object:
    """The content of a block without ids and runtimes, which differ between two equal calls."""
    match block["content_type"]:
        case "tool_use":
            return block["tool_name"], block["input"]
        case "tool_result":
            return block["tool_name"], block["status"], output_of(block)
    return block


def _from(articles: Sequence[Article], same: int) -> list[Article]:
    """The articles that contain a message from index `same` on, the first of them whole."""
    return [article for article in articles if article.covers[-1] >= same]


def _request(source: Sequence[Article], left: Sequence[Article], right: Sequence[Article]) -> Article | None:
    """What the first compared answers answer: both sides have it, as it comes before all that differs."""
    first = [side[0] for side in (left, right) if side]
    if not any(article.voice == "agent" for article in first):
        return None
    before = min(article.index for article in first)
    return next((each for each in reversed(source) if each.voice == "person" and each.index < before), None)


def _pairs(left: Sequence[Article], right: Sequence[Article]) -> tuple[tuple[Article | None, Article | None], ...]:
    """The articles side by side; words that only one side has are marked, within a limit of work."""
    work = differences.Work()
    return tuple((_marked(one, other, work) if one and other else (one, other)) for one, other in _beside(left, right))


def _beside(left: Sequence[Article], right: Sequence[Article]) -> Iterator[tuple[Article | None, Article | None]]:
    """Answers beside answers: where one side has a message of a person and the other has not, it stands alone."""
    ours, theirs = deque(left), deque(right)
    while ours and theirs:
        if ours[0].voice == theirs[0].voice or "person" not in (ours[0].voice, theirs[0].voice):
            yield ours.popleft(), theirs.popleft()
        elif ours[0].voice == "person":
            yield ours.popleft(), None
        else:
            yield None, theirs.popleft()
    yield from zip_longest(ours, theirs)


def _marked(one: Article, other: Article, work: differences.Work) -> tuple[Article, Article]:
    if one.voice != other.voice:
        return one, other
    ours, theirs = ([part.html for part in article.parts if isinstance(part, Prose)] for article in (one, other))
    made = [differences.marked(mine, yours, work) for mine, yours in zip(ours, theirs, strict=False)]
    return _with_html(one, (mine for mine, _ in made)), _with_html(other, (yours for _, yours in made))


def _with_html(article: Article, made: Iterator[SafeString]) -> Article:
    parts = (replace(part, html=next(made, part.html)) if isinstance(part, Prose) else part for part in article.parts)
    return replace(article, parts=tuple(parts))


def _side(actor: Actor, shown: screens.Screen, same: int, articles: Sequence[Article]) -> Side:
    """The figures of what is shown: the first article is shown whole, also where it begins with equal messages."""
    thread = shown.thread
    covered = range(articles[0].covers[0], articles[-1].covers[-1] + 1) if articles else range(0)
    errors = sum(call.outcome.key == "error" for article in articles for call in article.calls)
    goals = [goal for goal in shown.goals if goal.index >= same and (not covered or goal.index < covered.stop)]
    facts = [counted(len(covered), "message")]
    if may(actor, thread, Right.FIGURES):
        used = figures.of_turns(thread.pk, between=(covered.start, covered.stop - 1))
        facts += _used(used, figures.cut_off(shown.messages))
    if goals:
        facts.append(f"{sum(goal.status == 'achieved' for goal in goals)} of {counted(len(goals), 'goal')} achieved")
    facts.append(counted(errors, "tool error"))
    return Side(thread.thread_id, thread.title or "", thread.created_by.display_name, tuple(facts))


def _used(turns: Sequence[figures.TurnFigures], cut_off: Set[int]) -> list[str]:
    """Time and tokens; empty without turns: copied and imported messages used nothing here."""
    if not turns:
        return []
    tokens_in, tokens_out = sum(each.input_tokens for each in turns), sum(each.output_tokens for each in turns)
    return [
        figures.lasted(sum(each.took_ms or 0 for each in turns), sum(each.waited_ms for each in turns)),
        figures.tokens(tokens_in, tokens_out, is_cut_off=any(each.answer_idx in cut_off for each in turns)),
    ]


def _settings(actor: Actor, source: Thread, fork: Thread, place: int) -> list[Setting]:
    """The settings that differ. A rerun has its skills fixed, so they are compared with those that the answer had."""
    before, after = (
        {**dict(screens.told(actor, each)), "Model profile": each.model_profile} for each in (source, fork)
    )
    had = source.available_skills if "Skills" in before else None
    if "Skills" in after and "Skills" not in before:
        had = [skill.as_data() for skill in reruns.skills_of(actor, source, place).offered.values()]
        before["Skills"] = screens.spelled_skills(had)
    found = [
        Setting(name, (Piece(before.get(name) or "none"),), (Piece(after.get(name) or "none"),))
        for name in ("Model profile", "System prompt", "Scope", "Skills")
        if before.get(name) != after.get(name)
    ]
    if found and found[-1].name == "Skills":
        found[-1] = _skills(actor, had or (), fork.available_skills or ())
    return found


def _skills(actor: Actor, *sides: Sequence[Mapping[str, Any]]) -> Setting:
    """The skills of the source and of the fork, each with a link if the actor may open it. One query."""
    openable = {each.skill_id for each in skills.known(actor, [each["skill_id"] for side in sides for each in side])}
    before, after = (
        tuple(
            Piece(
                screens.spelled_skills([each]),
                each["skill_id"] if each["skill_id"] in openable else "",
                each["version"],
            )
            for each in side[: screens.SKILLS_SHOWN]
        )
        or (Piece("none"),)
        for side in sides
    )
    return Setting("Skills", before, after)
