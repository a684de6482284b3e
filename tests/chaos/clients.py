"""People at the unmodified SDK who talk, call, cancel, fork and rate while everything around them falls over."""

import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any, TypeVar

from roboto.ai import AgentThread, ClientTool
from roboto.ai.agent_thread.agent_thread import RobotoAgentGoalsFailedException
from roboto.ai.goals import DatasetSummaryAgentGoal
from roboto.exceptions import RobotoInvalidRequestException

from tests.chaos.effects import POST, STAMP
from tests.sdk.callers import Caller, calls, follow, run

T = TypeVar("T")
KINDS = {"plain": 3, "long": 3, "server tools": 4, "client tool": 3, "goal": 1, "cancelled": 2, "cancelled call": 1}
TICK = 0.1
# The SDK tries a lost line again by itself, up to ten times, but not an answer that broke off in the middle.
AWAY = (OSError, HTTPException)


@dataclass
class Turn:
    """One message as it was planned, and what its sender knows of it."""

    marker: str
    kind: str
    text: str
    number: int
    pause: float
    words: int | None = None
    is_known_accepted: bool = True


@dataclass
class Talk:
    """One thread: what was said in it, and everybody who holds a copy of it."""

    caller: Caller
    thread: AgentThread
    turns: list[Turn] = field(default_factory=list)
    noted: list[int] = field(default_factory=list)
    copied: int = 0
    """How many messages it began with, where it is a fork."""
    source: "Talk | None" = None
    rating: tuple[int, str] | None = None
    watchers: list[AgentThread] = field(default_factory=list)
    tool: ClientTool | None = None


@dataclass
class Outcome:
    """What the clients did, and what went wrong on their side."""

    talks: list[Talk] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    given_up: int = 0
    answered_before: int = 0


class Client:
    """One person with a plan of their own, which follows from the seed."""

    def __init__(self, number: int, caller: Caller, watcher: Caller, seed: str, turns: int, ends_at: float) -> None:
        self.number = number
        self.caller, self.watcher = caller, watcher
        self.random = random.Random(f"{seed}:client:{number}")
        self.left = turns
        self.said = 0
        self.ends_at = ends_at
        self.outcome = Outcome()

    def work(self) -> None:
        """Have conversations until the plan is through, or the time is over."""
        while self.left > 0 and time.monotonic() < self.ends_at:
            try:
                self._conversation(self.random.randint(1, 4))
            except Exception as problem:
                self.outcome.failures.append(f"client {self.number}: {type(problem).__name__}: {problem}"[:300])

    def _conversation(self, length: int) -> None:
        talk = self._start()
        with self._watched(talk):
            self._answered(talk, talk.turns[0])
            for _ in range(length - 1):
                self._say(talk)
            self._rate(talk)
        if self.left > 0 and self.random.random() < 0.3:
            self._fork(talk)

    def _start(self) -> Talk:
        turn, noted = self._plan(KINDS), []
        tool = _note(noted)
        thread = self._patiently(lambda: self.caller.start(turn.text, client_tools=[tool], goals=_goals(turn)))
        talk = Talk(self.caller, thread, [turn], noted, tool=tool)
        self.outcome.talks.append(talk)
        return talk

    def _say(self, talk: Talk) -> None:
        # A fork does not inherit what its source's client can do.
        turn = self._plan([kind for kind in KINDS if talk.source is None or kind != "client tool"])
        talk.turns.append(turn)
        try:
            talk.thread.send_text(turn.text, goals=_goals(turn))
        except Exception:  # ten attempts were not enough, or an answer was cut: look whether it came through
            turn.is_known_accepted = False
            self.outcome.given_up += 1
            talk.thread = self._patiently(lambda: self.caller.thread(talk.thread))
            talk.thread.register_client_tool(talk.tool)
        self._answered(talk, turn)

    def _answered(self, talk: Talk, turn: Turn) -> None:
        if turn.kind.startswith("cancelled"):
            time.sleep(turn.pause)
            self._patiently(lambda: _cancel(talk))
        while time.monotonic() < self.ends_at:
            try:
                run(talk.thread, tick=TICK, timeout=max(1, self.ends_at - time.monotonic()))
                return
            except RobotoAgentGoalsFailedException:
                return  # the turn had a goal and was cancelled
            except RobotoInvalidRequestException:
                # The submission had come through, its answer got lost, and the thread had gone on (B74, B75).
                self.outcome.answered_before += 1
            except AWAY:
                self.outcome.given_up += 1
        raise TimeoutError(f"{talk.thread.thread_id} is not answered: {turn.marker}")

    def _rate(self, talk: Talk) -> None:
        for sentiment in ("negative", "positive")[: self.random.choice((0, 1, 2))]:
            self._patiently(lambda s=sentiment: talk.thread.submit_feedback(1, s))
            talk.rating = (1, sentiment)

    def _fork(self, talk: Talk) -> None:
        upto = self.random.randrange(len(talk.thread.messages))
        thread = self._patiently(lambda: talk.thread.fork(upto))
        fork = Talk(self.caller, thread, copied=upto + 1, source=talk, tool=_note([]))
        self.outcome.talks.append(fork)
        for _ in range(self.random.randint(1, 2)):
            self._say(fork)

    def _plan(self, kinds: Iterable[str]) -> Turn:
        self.said += 1
        self.left -= 1
        dice, possible = self.random, list(kinds)
        [kind] = dice.choices(possible, weights=[KINDS[each] for each in possible])
        number = self.number * 10_000 + self.said
        marker = f"Message {number}."
        mark = {"n": number, "before": round(dice.uniform(0, 0.2), 2), "after": round(dice.uniform(0, 0.3), 2)}
        words = dice.randint(30, 100) if kind in ("long", "cancelled") else None
        asked = {
            "server tools": [(POST, mark), (STAMP, mark), ("echo", {"value": number}), (POST, mark)],
            "client tool": [("client_note", {"n": number}), (POST, mark)],
            "cancelled call": [(POST, mark), (STAMP, mark), (POST, mark)],
        }.get(kind, [])
        paced = f"[[words {words}]] [[pace {dice.uniform(0.05, 0.2):.2f}]]" if words else ""
        return Turn(marker, kind, f"{marker} {calls(*asked)} {paced}".strip(), number, dice.uniform(0, 0.8), words)

    @contextlib.contextmanager
    def _watched(self, talk: Talk) -> Iterator[None]:
        """Somebody else reads along all the while, and has to end with the same."""
        if self.random.random() > 0.4:
            yield
            return
        reader = self._patiently(lambda: self.watcher.thread(talk.thread))
        talk.watchers.append(reader)
        over = threading.Event()

        def read() -> None:
            is_last = False
            while not is_last and time.monotonic() < self.ends_at:
                is_last = over.is_set()
                with contextlib.suppress(*AWAY):
                    follow(reader, tick=TICK, timeout=max(1, self.ends_at - time.monotonic()))
                over.wait(TICK)

        reading = threading.Thread(target=read, daemon=True)
        reading.start()
        try:
            yield
        finally:
            over.set()
            reading.join(timeout=max(1, self.ends_at - time.monotonic()))

    def _patiently(self, attempt: Callable[[], T]) -> T:
        """Again and again while nobody answers; what may be repeated without harm, or is told apart afterwards."""
        while True:
            try:
                return attempt()
            except RobotoInvalidRequestException:
                raise
            except Exception:
                self.outcome.given_up += 1
                if time.monotonic() > self.ends_at:
                    raise
                time.sleep(0.2)


def _note(noted: list[int]) -> ClientTool:
    schema = {"type": "object"}
    return ClientTool(lambda n: noted.append(n), name="client_note", description="Note.", input_schema=schema)


def _goals(turn: Turn) -> list[Any] | None:
    return [DatasetSummaryAgentGoal(dataset_id=f"ds_{turn.number}")] if turn.kind == "goal" else None


def _cancel(talk: Talk) -> None:
    status, content = talk.caller.post(f"threads/{talk.thread.thread_id}/cancel")
    if status != 200:
        raise ConnectionError(f"{status}: {content}")
