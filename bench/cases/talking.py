"""Turns: latency and throughput."""

import http.client
import json
import time
from importlib.util import find_spec
from statistics import median

from bench.figures import EMBEDDED, FULL, Measured, figure
from bench.houses import House
from bench.lines import Caller
from bench.rounds import CLIENTS, Act, p50_alone, rate_beside

_ASKED = {
    "messages": [{"role": "user", "content": [{"text": "How does the warp hold?"}]}],
    "model_profile": "simulated",
}
_GIVEN = {**_ASKED, "model_profile": "given"}
_TIGHTLY, _GENTLY = 0.001, 0.02


@figure("start a thread and finish one turn, the first of a server")
def first_turn(house: House) -> Measured:
    """Warm up: the first turn after startup also loads the model library."""
    return p50_alone(_turn(house.alice(), _TIGHTLY), rounds=1, calls=1, warm=0)


@figure("start a thread and finish one turn, one client, p50", at_most={EMBEDDED: 50, FULL: 25})
def turn(house: House) -> Measured:
    return p50_alone(_turn(house.alice(), _TIGHTLY), warm=10)


@figure("finished turns, 8 clients", floor="task", at_most=9)
def turns_at_once(house: House) -> Measured:
    clients = [_turn(house.alice(), _GENTLY) for _ in range(CLIENTS)]
    return rate_beside(clients, house.task_rate, seconds=2.0)


@figure("finished turns, 16 clients, 2 worker processes", floor="task", ways=(FULL,), is_slow=True)
def turns_of_two(house: House) -> Measured:
    return _turns_of(house, 2)


@figure("finished turns, 16 clients, 4 worker processes", floor="task", ways=(FULL,), is_slow=True)
def turns_of_four(house: House) -> Measured:
    return _turns_of(house, 4)


def _turns_of(house: House, workers: int) -> Measured:
    with house.workers(workers):
        clients = [_turn(house.alice(), _GENTLY) for _ in range(2 * CLIENTS)]
        return rate_beside(clients, house.task_rate, seconds=2.0)


@figure("first fragment in a client's delta after the model gave it, p50")
def first_delta(house: House) -> Measured:
    """The client polls every ten milliseconds."""
    if find_spec("openai") is None:
        raise RuntimeError("a provider's package is needed: make providers")
    alice = house.alice()
    seen = [_seconds_to_be_polled(house, alice) for _ in range(12)]
    return Measured(median(seen[2:]) * 1000, "ms")


@figure("first fragment in the browser after the model gave it, p50", at_most=100)
def first_fragment(house: House) -> Measured:
    if find_spec("openai") is None:
        raise RuntimeError("a provider's package is needed: make providers")
    alice = house.alice()
    seen = [_seconds_to_be_seen(house, alice) for _ in range(12)]
    return Measured(median(seen[2:]) * 1000, "ms")


def _turn(caller: Caller, pause: float) -> Act:
    """Start a thread and poll its delta until it is the user's turn again."""
    ask = caller.prepared("POST", "/v1/ai/threads", _ASKED)

    def act() -> None:
        thread = json.loads(ask())["data"]
        path, token = f"/v1/ai/threads/{thread['thread_id']}/delta", thread["continuation_token"]
        while thread["status"] == "roboto_turn":
            time.sleep(pause)
            thread = caller.call("GET", f"{path}?next_token={token}")
            token = thread["continuation_token"]

    return act


def _seconds_to_be_polled(house: House, caller: Caller) -> float:
    """Time from the provider's first fragment until a polling client has it."""
    thread = caller.call("POST", "/v1/ai/threads", _GIVEN)
    path, token = f"/v1/ai/threads/{thread['thread_id']}/delta", thread["continuation_token"]
    seen_at = 0.0
    while thread["status"] == "roboto_turn":
        time.sleep(0.01)
        thread = caller.call("GET", f"{path}?next_token={token}")
        token = thread["continuation_token"]
        if not seen_at and "pumpernickel" in json.dumps(thread["messages_by_idx"]):
            seen_at = time.perf_counter()
    if not seen_at:
        raise RuntimeError("the thread ended without the fragment")
    return seen_at - house.provider.given_at


def _seconds_to_be_seen(house: House, caller: Caller) -> float:
    """Time from the provider's first fragment until a live browser has it."""
    thread = caller.call("POST", "/v1/ai/threads", _GIVEN)
    line = http.client.HTTPConnection("127.0.0.1", house.served.port, timeout=30)
    path = f"/threads/{thread['thread_id']}/live/?token={thread['continuation_token']}"
    line.request("GET", path, headers={"Cookie": f"sessionid={house.cookie}"})
    events = line.getresponse()
    while b"pumpernickel" not in (told := events.readline()):
        if not told:
            raise RuntimeError("the stream ended without the fragment")
    seen_at = time.perf_counter()
    line.close()
    return seen_at - house.provider.given_at
