"""A fork beside its source: what both say, and from where on they differ."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from core import ids
from core.actor import Actor
from core.errors import NotFound
from threads import screens
from threads.access import thread_for
from threads.content import MessageSnapshot
from threads.models import Thread
from threads.presenting import Turn


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two threads."""

    thread_id: str
    title: str
    owner: str
    messages: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two threads from their first difference on.

    `same` messages from the beginning are equal; `pairs` are the articles behind them, side by side in their order;
    `settings` what the agent was told differently: name, in the source, in the fork.
    """

    source: Side
    fork: Side
    same: int
    pairs: tuple[tuple[Turn | None, Turn | None], ...]
    """None where one of them has ended."""
    settings: tuple[tuple[str, str, str], ...]


def with_source(actor: Actor, fork: Thread) -> Comparison:
    """Compare a fork, which the actor may read, with its source.

    Raises `NotFound` for a thread that is no fork, `Unauthorized` where its source may not be read.
    """
    key = Thread.objects.filter(forks=fork.pk).values_list("key", flat=True).first()
    if key is None:
        raise NotFound("This thread is no fork of another one.")
    source = thread_for(actor, ids.THREAD + key)
    shown = [screens.screen(actor, thread) for thread in (source, fork)]
    same = _same(*(each.messages for each in shown))
    left, right = (_from(each, same) for each in shown)
    return Comparison(
        source=_side(source, len(shown[0].messages)),
        fork=_side(fork, len(shown[1].messages)),
        same=same,
        pairs=tuple(zip_longest(left, right)),
        settings=tuple(_settings(source, fork)),
    )


def _same(left: Sequence[MessageSnapshot], right: Sequence[MessageSnapshot]) -> int:
    """How many messages from the beginning are equal. Fragments of text may be cut differently and say the same."""
    for place, (one, other) in enumerate(zip(left, right, strict=False)):
        if _said(one) != _said(other):
            return place
    return min(len(left), len(right))


def _said(message: MessageSnapshot) -> object:
    words = "".join(block["text"] for block in message.blocks if block["content_type"] == "text")
    return message.role, message.status, words, [block for block in message.blocks if block["content_type"] != "text"]


def _from(shown: screens.Screen, same: int) -> list[Turn]:
    """The articles that hold a message from `same` on, the first of them whole."""
    return [turn for turn in shown.turns() if turn.covers[-1] >= same]


def _side(thread: Thread, messages: int) -> Side:
    return Side(thread.thread_id, thread.title or "", thread.created_by.display_name, messages)


def _settings(source: Thread, fork: Thread) -> list[tuple[str, str, str]]:
    before, after = ({**dict(screens.told(each)), "Model profile": each.model_profile} for each in (source, fork))
    return [
        (name, before.get(name) or "none", after.get(name) or "none")
        for name in ("Model profile", "System prompt", "Scope", "Skills")
        if before.get(name) != after.get(name)
    ]
