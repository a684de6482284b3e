"""A thread, its worker driven by hand, and readers that keep local copies as the public SDK does (spec 4.6)."""

import copy
from dataclasses import dataclass, field
from typing import Any

from core import bodies
from tests import make
from tests.people import People, Person
from threads import reading, sharing, titles, turns
from threads.access import standing_for, thread_for
from threads.models import Thread, Turn
from threads.pending import pending_client_uses
from threads.runner.loop import _Run
from threads.runner.providers.events import Broken, ToolCall, Usage
from threads.status import SENDABLE, ThreadStatus, TurnState
from threads.wire import SendIn, ToolResultsIn

Json = dict[str, Any]


def merged(local: Json, delta: Json) -> Json:
    """What the SDK holds after a delta: items 6 to 9 of spec 4.6, and its treatment of nulls. Pure."""
    held = copy.deepcopy(local)
    messages = held["messages"]
    if (reset := delta["reset_from_message_sequence_num"]) is not None:
        del messages[reset:]
    for idx in sorted(map(int, delta["messages_by_idx"])):
        entry = copy.deepcopy(delta["messages_by_idx"][str(idx)])
        if idx < len(messages):
            messages[idx]["status"] = entry["status"]
            messages[idx]["content"] += entry["content"]
        else:
            messages.append(entry)
    held["continuation_token"] = delta["continuation_token"]
    held["activity"] = delta["activity"]
    for name in ("status", "title", "goals", "tasks"):
        if delta[name] is not None:
            held[name] = delta[name]
    return held


def shown(record: Json) -> Json:
    """What a local copy and a record have in common: a sender's own copy of a message knows no time."""
    kept = {name: record[name] for name in ("status", "title", "goals", "activity", "continuation_token")}
    kept["messages"] = [{name: each[name] for name in ("role", "status", "content")} for each in record["messages"]]
    return kept


@dataclass
class Reader:
    """Somebody who read the record once and polls from then on."""

    person: Person
    local: Json

    def poll(self, thread: Thread) -> Json:
        """One poll, checked for what every delta must keep, merged into the local copy."""
        delta = delta_of(self.person, thread, self.local["continuation_token"])
        assert delta_of(self.person, thread, self.local["continuation_token"]) == delta
        held = len(self.local["messages"])
        if (reset := delta["reset_from_message_sequence_num"]) is not None:
            held = min(held, reset)
        for idx in sorted(map(int, delta["messages_by_idx"])):
            assert idx <= held, "an index was skipped"
            held = max(held, idx + 1)
        self.local = merged(self.local, delta)
        self.check()
        return delta

    def check(self) -> None:
        """The status never precedes the content that led to it (B90)."""
        if self.local["status"] != ThreadStatus.ROBOTO_TURN:
            writing = [each for each in self.local["messages"] if each["status"] == "generating"]
            assert all(each["role"] == "roboto" for each in writing)

    def sends(self, text: str) -> None:
        """What the SDK appends of its own after a successful send."""
        own = {"role": "user", "status": "not_started", "content": [{"content_type": "text", "text": text}]}
        self.local["messages"].append(own)


def record_of(person: Person, thread: Thread) -> Json:
    """The record as the person reads it."""
    return reading.record(thread_for(person.actor, thread.thread_id)).model_dump(mode="json")


def delta_of(person: Person, thread: Thread, token: str | None) -> Json:
    """A delta as the person polls it."""
    return reading.delta(person.actor, standing_for(person.actor, thread.thread_id), token).model_dump(mode="json")


@dataclass
class World:
    """One shared thread of alice, and what may happen to it. What is impossible in its state does nothing."""

    who: People
    thread: Thread
    run: _Run | None = None
    """The worker that holds the turn; it only does what it is told to."""
    dead: list[_Run] = field(default_factory=list)
    """Workers that were given up for dead, and may not know it."""

    @classmethod
    def begun(cls, who: People) -> "World":
        tools = [make.client_tool("remember"), make.client_tool("recall")]
        return cls(who, make.thread(who.alice, "Hello", run=False, visibility="org", client_tools=tools))

    @property
    def status(self) -> str:
        return make.fresh(self.thread).status

    def send(self, text: str, sender: Reader | None = None, goals: int = 0, *, is_behind: bool = False) -> None:
        """The sender appends a copy of their own; unless behind, they are up to date, as after `run()`."""
        if self.status not in SENDABLE:
            return
        declared = [{"goal_type": "dataset_summary", "dataset_id": f"ds_{number}"} for number in range(goals)]
        message = make.say(text) if text else None
        if sender is not None and not is_behind:
            sender.poll(self.thread)
        body = bodies.parse(SendIn, {"message": message, "goals": declared or None})
        turns.send(self.who.alice.actor, make.fresh(self.thread), body)
        if sender is not None and text:
            sender.sends(text)

    def claim(self) -> None:
        turn = Turn.objects.filter(thread=self.thread, state__in=(TurnState.QUEUED, TurnState.RUNNING)).first()
        if turn is not None and self.run is None:
            self.run = _Run.claimed(turn)

    def write(self, text: str) -> None:
        """A worker's batch of text."""
        if self.run is not None and self.run.answer is not None:
            self.run._flush(self.run.answer, [text])

    def answer(self, text: str, calls: list[ToolCall]) -> None:
        """The end of a model request: its last text and its calls."""
        if self.run is not None and self.run.answer is not None:
            self._goes_on(self.run._finish(self.run.answer, [text] if text else [], calls, Usage(1, 1)))

    def execute(self) -> None:
        """The server's own calls are answered."""
        if self.run is not None and self.run.answer is None:
            self._goes_on(self.run.step())

    def fail(self, text: str) -> None:
        if self.run is not None and self.run.answer is not None:
            self._goes_on(self.run._fail(self.run.answer, [text], Broken("broken", "It broke.")))

    def die(self) -> None:
        """The worker is given up for dead; another one may claim the turn."""
        if self.run is not None:
            make.let_expire(self.run.turn)
            self.dead.append(self.run)
            self.run = None

    def cancel(self) -> None:
        turns.cancel(self.who.alice.actor, make.fresh(self.thread))
        if self.run is not None:
            self.dead.append(self.run)
        self.run = None

    def submit(self, count: int) -> None:
        """Answer that many of the calls that wait for the client."""
        if self.status == ThreadStatus.CLIENT_TOOL_TURN:
            uses = pending_client_uses(self.thread)[:count]
            results = [
                {
                    "tool_use_id": use["tool_use_id"],
                    "tool_name": use["tool_name"],
                    "runtime_ms": 1,
                    "status": "success",
                    "output": {"place": place},
                }
                for place, use in enumerate(uses)
            ]
            body = bodies.parse(ToolResultsIn, {"tool_results": results})
            turns.submit_tool_results(self.who.alice.actor, make.fresh(self.thread), body)

    def retitle(self, title: str) -> None:
        titles.retitle(self.who.alice.actor, make.fresh(self.thread), title)

    def pin(self) -> None:
        """Not a change of the thread: nobody's delta shows it."""
        sharing.pin(self.who.bob.actor, make.fresh(self.thread), pinned=True)

    def _goes_on(self, is_still_held: bool) -> None:
        if not is_still_held:
            self.run = None
