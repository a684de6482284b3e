"""What has to be true afterwards, whatever was killed: asked of the API, of the database, and of everybody's copies."""

import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from tests import live
from tests.chaos.clients import Outcome, Talk, Turn
from tests.chaos.effects import POST, marks
from tests.sdk.callers import Caller, held

# A turn in the letters of its messages: calls with their results, then one last word. A fork may begin in the middle of
# a call, which is then answered behind the first user's message.
TURN = re.compile("ur?(?:ar)*a")
LETTERS = {"user": "u", "assistant": "a", "roboto": "r"}
UNTOLD_SECONDS = 5
OVER = ("done", "cancelled")

_FACTS = """
import json, django
django.setup()
from catalogue.models import Call
from threads.models import Message, Rewind, Thread, Turn
print(json.dumps({
    "threads": [
        {"id": thread.thread_id, "status": thread.status, "copied": thread.forked_from_id is not None}
        for thread in Thread.objects.order_by("id")
    ],
    "turns": [
        {"thread": turn.thread.thread_id, "state": turn.state, "attempt": turn.attempt, "code": turn.error_code}
        for turn in Turn.objects.select_related("thread").order_by("id")
    ],
    "rewinds": Rewind.objects.count(),
    "unfinished": Message.objects.filter(status="generating").count(),
    "calls": list(Call.objects.values("tool_use_id", "tool", "attempt", "outcome")),
}))
"""


@dataclass
class Invariant:
    """Something that has to hold, how often it was looked at, and where it did not hold."""

    name: str
    seen: int = 0
    broken: list[str] = field(default_factory=list)

    def check(self, holds: bool, otherwise: str) -> None:
        self.seen += 1
        if not holds:
            self.broken.append(otherwise)

    def __str__(self) -> str:
        verdict = "ok  " if not self.broken else "LOSS"
        examples = "".join(f"\n        {each}" for each in self.broken[:5])
        return f"{verdict}  {self.name}: {self.seen} looked at, {len(self.broken)} broken{examples}"


class Audit:
    """One look at everything, when it is quiet again."""

    def __init__(self, server: live.Served, outcome: Outcome, effects: Path, server_deaths: list[float]) -> None:
        self.admin = Caller(server, "admin")
        self.outcome = outcome
        self.marks = marks(effects)
        self.server_deaths = server_deaths
        known = {talk.thread.thread_id for talk in outcome.talks}
        self.facts = _facts_when_quiet(server, known)
        self.forgotten = _forgotten(self.facts, known)
        records = {row["id"]: self.admin.get(f"threads/{row['id']}") for row in self.facts["threads"]}
        self.records = {thread_id: each for thread_id, each in records.items() if thread_id not in self.forgotten}
        self.stored_twice = 0
        self.unknown_outcomes = 0

    def invariants(self) -> Iterator[Invariant]:
        """Each of them, in the order in which a reader would ask."""
        yield self._nothing_failed()
        yield self._accepted_once()
        yield self._answered_once()
        yield self._whole_answers()
        yield self._same_copies()
        yield self._nothing_stuck()
        yield self._results()
        yield self._no_double_call()
        yield self._effects_on_record()
        yield self._client_calls()
        yield self._goals()
        yield self._ratings()
        yield self._forks()

    def _nothing_failed(self) -> Invariant:
        found = Invariant("clients came to their end")
        for failure in self.outcome.failures:
            found.check(False, failure)
        found.seen += len(self.outcome.talks)
        return found

    def _accepted_once(self) -> Invariant:
        """A send whose answer died with the server, its turn over before the SDK sent it again, stands twice."""
        found = Invariant("accepted messages stored once")
        for talk, turn in self._said():
            own = [
                each for each in _own(self._record(talk), talk) if each["role"] == "user" and turn.marker in _text(each)
            ]
            if len(own) > 1 and self._server_died_after(own[0]):
                self.stored_twice += 1
                continue
            found.check(
                len(own) == 1 or (not own and not turn.is_known_accepted),
                f"{talk.thread.thread_id}: {turn.marker} {len(own)} times",
            )
        return found

    def _answered_once(self) -> Invariant:
        """Threads that nobody knows, whose start was sent again, included."""
        found = Invariant("stored messages answered once")
        turns = Counter(turn["thread"] for turn in self.facts["turns"])
        for thread_id, record in self.records.items():
            letters = "".join(LETTERS[message["role"]] for message in _since_fork(record))
            asked = letters.count("u")
            is_whole = bool(re.fullmatch(f"(?:{TURN.pattern})*", letters))
            of_fork = " since its fork" if record.get("forked_from_thread_id") else ""
            found.check(
                is_whole and turns[thread_id] == asked, f"{thread_id}: {letters}{of_fork}, {turns[thread_id]} turns"
            )
            found.seen += max(0, asked - 1)
        return found

    def _whole_answers(self) -> Invariant:
        found = Invariant("answers whole, and to their message")
        for talk, turn in self._said():
            answer = _answer(_own(self._record(talk), talk), turn)
            if answer is None or answer["status"] == "cancelled":
                found.check(answer is None or turn.kind.startswith("cancelled"), f"{turn.marker} was cancelled")
                continue
            said = _text(answer)
            is_right = len(said.split()) == turn.words if turn.words else said.count(turn.marker) == 1
            found.check(
                answer["status"] == "completed" and is_right, f"{talk.thread.thread_id}: {turn.marker} {said[:80]!r}"
            )
        return found

    def _same_copies(self) -> Invariant:
        found = Invariant("clients hold what the server has")
        for talk in self.outcome.talks:
            stored = held(self.admin.thread(talk.thread))
            for copy in (talk.thread, *talk.watchers):
                parts = _difference(held(copy), stored)
                found.check(not parts, f"{talk.thread.thread_id}: {parts}")
        return found

    def _nothing_stuck(self) -> Invariant:
        found = Invariant("no thread stuck, no turn crashed")
        for row in self.facts["threads"]:
            is_over = row["status"] in ("user_turn", "goals_failed")
            found.check(is_over or row["id"] in self.forgotten, f"{row['id']} is at {row['status']}")
        for turn in self.facts["turns"]:
            is_over = turn["state"] in OVER or (turn["state"] == "waiting" and turn["thread"] in self.forgotten)
            found.check(is_over, f"{turn['thread']}: a turn is {turn['state']} {turn['code']}")
        unfinished = self.facts["unfinished"] - len(self.forgotten)
        found.check(not unfinished, f"{unfinished} messages are still being written")
        return found

    def _results(self) -> Invariant:
        """B79, B80: every use has one result, right after it and in order."""
        found = Invariant("tool uses with one result right after")
        for thread_id, record in self.records.items():
            messages = record["messages"]
            for place, message in enumerate(messages):
                uses = [block["tool_use_id"] for block in message["content"] if block["content_type"] == "tool_use"]
                behind = messages[place + 1 : place + 3]
                if uses and record.get("forked_from_thread_id") and [each["role"] for each in behind][:1] == ["user"]:
                    behind = behind[1:]
                after = behind[0]["content"] if behind else []
                answers = [block["tool_use_id"] for block in after if block["content_type"] == "tool_result"]
                if uses:
                    found.check(
                        sorted(answers) == sorted(uses), f"{thread_id}: {len(uses)} uses, {len(answers)} results"
                    )
        return found

    def _no_double_call(self) -> Invariant:
        """The file of effects is the witness: no crash, no rollback and no rewind takes a line out of it."""
        found = Invariant("tools not marked idempotent called once")
        names = {call["tool_use_id"]: call["tool"] for call in self.facts["calls"]}
        once = {use_id for use_id, name in names.items() if name == POST}
        for use_id in once:
            found.check(self.marks[use_id] <= 1, f"{use_id} had its effect {self.marks[use_id]} times")
        found.check(
            all(call["attempt"] == 1 for call in self.facts["calls"] if call["tool"] == POST),
            "a second attempt is on record",
        )
        self.unknown_outcomes = sum(
            call["outcome"] == "unknown" for call in self.facts["calls"] if call["tool"] == POST
        )
        return found

    def _effects_on_record(self) -> Invariant:
        """Nothing happened off the record, and every success in a transcript happened."""
        found = Invariant("effects on record, successes real")
        recorded = {call["tool_use_id"] for call in self.facts["calls"]}
        for use_id in self.marks:
            found.check(use_id in recorded, f"{use_id} had an effect and is not on record")
        for record in self.records.values():
            for message in record["messages"]:
                for block in message["content"]:
                    if block["content_type"] == "tool_result" and block["tool_name"].startswith("chaos_"):
                        is_real = block["status"] != "success" or self.marks[block["tool_use_id"]] > 0
                        found.check(is_real, f"{block['tool_use_id']} is a success without effect")
        return found

    def _client_calls(self) -> Invariant:
        found = Invariant("client tools called once")
        for talk, turn in self._said():
            if turn.kind == "client tool":
                times = talk.noted.count(turn.number)
                is_stored = _answer(_own(self._record(talk), talk), turn) is not None
                found.check(times == 1 or not is_stored, f"{talk.thread.thread_id}: {turn.marker} {times} times")
        return found

    def _goals(self) -> Invariant:
        found = Invariant("declared goals achieved")
        for talk in self.outcome.talks:
            declared = sum(
                turn.kind == "goal" and _answer(_own(self._record(talk), talk), turn) is not None for turn in talk.turns
            )
            # A fork brings the goals of what it copied.
            own = [goal for goal in self._record(talk)["goals"] if goal["message_sequence_num"] >= talk.copied]
            achieved = [goal["status"] for goal in own]
            if declared:
                found.check(
                    achieved.count("achieved") >= declared == len(achieved) or self.stored_twice > 0,
                    f"{talk.thread.thread_id}: {achieved}",
                )
        return found

    def _ratings(self) -> Invariant:
        found = Invariant("ratings kept, one each")
        for talk in self.outcome.talks:
            rows = talk.caller.get(f"threads/{talk.thread.thread_id}/feedback")
            kept = [(row["message_sequence_num"], row["sentiment"]) for row in rows]
            found.check(
                kept == ([talk.rating] if talk.rating else []), f"{talk.thread.thread_id}: {kept}, {talk.rating}"
            )
        return found

    def _forks(self) -> Invariant:
        found = Invariant("forks begin as their sources")
        for talk in self.outcome.talks:
            if talk.source is not None:
                ours = self._record(talk)["messages"][: talk.copied]
                theirs = self._record(talk.source)["messages"][: talk.copied]
                found.check([m["content"] for m in ours] == [m["content"] for m in theirs], talk.thread.thread_id)
        return found

    def _said(self) -> Iterator[tuple[Talk, Turn]]:
        for talk in self.outcome.talks:
            for turn in talk.turns:
                yield talk, turn

    def _record(self, talk: Talk) -> Any:
        return self.records[talk.thread.thread_id]

    def _server_died_after(self, message: Any) -> bool:
        stored_at = datetime.fromisoformat(message["created"]).timestamp()
        return any(-0.5 <= death - stored_at <= UNTOLD_SECONDS for death in self.server_deaths)


def _facts_when_quiet(server: live.Served, known: set[str], seconds: float = 60) -> Any:
    """Threads that nobody waits for, those of starts that were sent again, come to their end too."""
    ends_at = time.monotonic() + seconds
    while True:
        facts = _facts(server)
        running = {turn["thread"] for turn in facts["turns"] if turn["state"] not in OVER}
        if time.monotonic() > ends_at or running <= _forgotten(facts, known):
            return facts


def _forgotten(facts: Any, known: set[str]) -> set[str]:
    """The threads of starts that were sent again, because their answer was lost, which wait for a tool of the client:
    it has never heard of them.
    """
    return {row["id"] for row in facts["threads"] if row["status"] == "client_tool_turn"} - known


def _facts(server: live.Served) -> Any:
    done = subprocess.run(
        [sys.executable, "-c", _FACTS], cwd=live.ROOT, env=server.env, check=True, capture_output=True
    )
    return json.loads(done.stdout)


def _since_fork(record: Any) -> list[Any]:
    upto = record.get("forked_from_message_sequence_num")
    return record["messages"][0 if upto is None else upto + 1 :]


def _own(record: Any, talk: Talk) -> list[Any]:
    return record["messages"][talk.copied :]


def _text(message: Any) -> str:
    return "".join(block.get("text", "") for block in message["content"] if block["content_type"] == "text")


def _answer(messages: list[Any], turn: Turn) -> Any | None:
    """The last word of the assistant before the next user's, or None where the message was never stored."""
    places = [at for at, each in enumerate(messages) if each["role"] == "user" and turn.marker in _text(each)]
    if not places:
        return None
    answers = []
    for message in messages[places[0] + 1 :]:
        if message["role"] == "user":
            break
        answers.append(message)
    return answers[-1] if answers else None


def _difference(theirs: list[Any], stored: list[Any]) -> str:
    """Where two copies part, by roles and states alone; nothing where they are equal."""
    if len(theirs) != len(stored):
        return f"{len(theirs)} messages against {len(stored)}"
    for at, (one, other) in enumerate(zip(theirs, stored, strict=True)):
        if one != other:
            return f"message {at}: {one[:2]} {len(one[2])} blocks, {other[:2]} {len(other[2])} blocks"
    return ""
