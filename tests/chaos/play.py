"""One run: a Heddle, its clients, its adversary, and the look at everything afterwards."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests import live
from tests.chaos.adversary import WORKERS, Adversary
from tests.chaos.audit import Audit, Invariant
from tests.chaos.clients import Client, Outcome
from tests.chaos.effects import FILE
from tests.sdk.callers import Caller

WAYS = ("full", "embedded")
PEOPLE = ("alice", "bob", "eve")
# Seconds between strikes. Where one process is everything, each of them stops everybody.
PAUSES = {"full": (0.3, 2.5), "embedded": (0.5, 5)}


@dataclass(frozen=True)
class Plan:
    """What follows from it is repeatable: who says what, and which strike comes after which pause."""

    seed: str = "1"
    turns: int = 300
    clients: int = 8
    minutes: float = 10
    strikes: int = 1000


@dataclass(frozen=True)
class Report:
    """What was done and what came of it."""

    lines: list[str]
    strikes: int
    invariants: list[Invariant]

    @property
    def has_losses(self) -> bool:
        return any(invariant.broken for invariant in self.invariants)

    def __str__(self) -> str:
        return "\n".join([*self.lines, *map(str, self.invariants)])


@contextlib.contextmanager
def stage(way: str, folder: Path) -> Iterator[live.Served]:
    """A Heddle of our own, with tools whose effects can be counted."""
    settings = {"DJANGO_SETTINGS_MODULE": "tests.chaos.settings", FILE: str(folder / "effects")}
    with live.serving(way, folder, **settings) as server:
        if way == "full":
            for name in WORKERS[1:]:
                server.start_worker(name)
        yield server


def play(server: live.Served, plan: Plan) -> Report:
    """Let the clients work while the adversary strikes, wait until it is quiet, and look at everything."""
    began = time.monotonic()
    ends_at = began + plan.minutes * 60
    clients = _clients(server, plan, ends_at)
    with Adversary(server, f"{plan.seed}:{server.way}", PAUSES[server.way], plan.strikes) as adversary:
        _all_at_once([client.work for client in clients])
    server.wait_until_ready()
    outcome = _together(clients)
    audit = Audit(server, outcome, Path(server.env[FILE]), adversary.server_deaths)
    invariants = list(audit.invariants())
    strikes = ", ".join(f"{count} {name}" for name, count in sorted(adversary.struck.items()))
    lines = [
        f"way {server.way}, seed {plan.seed}: {sum(len(talk.turns) for talk in outcome.talks)} turns in "
        f"{len(outcome.talks)} threads by {plan.clients} clients, {time.monotonic() - began:.0f} s",
        f"strikes: {adversary.struck.total()} ({strikes})",
        f"answers taken back: {audit.facts['rewinds']}, "
        f"calls of unknown outcome: {audit.unknown_outcomes}, calls repeated: "
        f"{sum(call['attempt'] > 1 for call in audit.facts['calls'])}, threads of a repeated start: "
        f"{len(audit.facts['threads']) - len(outcome.talks)}, "
        f"messages stored twice by a repeated send: {audit.stored_twice}, "
        f"requests tried anew by clients: {outcome.given_up}, refused repeats: {outcome.answered_before}",
    ]
    return Report(lines, adversary.struck.total(), invariants)


def _clients(server: live.Served, plan: Plan, ends_at: float) -> list[Client]:
    share, more = divmod(plan.turns, plan.clients)
    return [
        Client(
            number + 1,
            Caller(server, PEOPLE[number % len(PEOPLE)]),
            Caller(server, "admin"),
            plan.seed,
            share + (number < more),
            ends_at,
        )
        for number in range(plan.clients)
    ]


def _all_at_once(work: list[Callable[[], None]]) -> None:
    crowd = [threading.Thread(target=each) for each in work]
    for each in crowd:
        each.start()
    for each in crowd:
        each.join()


def _together(clients: list[Client]) -> Outcome:
    whole = Outcome()
    for client in clients:
        whole.talks += client.outcome.talks
        whole.failures += client.outcome.failures
        whole.given_up += client.outcome.given_up
        whole.answered_before += client.outcome.answered_before
    return whole
