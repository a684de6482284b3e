"""Many live readers: open event streams, and clients that poll."""

import http.client
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from bench.cases.starting import pss_mib
from bench.figures import EMBEDDED, Measured, figure
from bench.houses import House
from bench.rounds import rate_beside, rate_of

POLLERS, READERS = 200, 300
_THREADS = 400
"""Each open stream holds a server thread; the default of `HEDDLE_THREADS` is 256."""


@figure("delta polling by 200 clients with nothing new", floor="view", is_slow=True)
def polling(house: House) -> Measured:
    alice = house.alice()
    thread = alice.call("GET", f"/v1/ai/threads/{house.thread(50)}")
    path = f"/v1/ai/threads/{thread['thread_id']}/delta?next_token={thread['continuation_token']}"
    clients = [house.alice().prepared("GET", path) for _ in range(POLLERS)]
    views = [house.view() for _ in range(POLLERS)]
    return rate_beside(clients, lambda: rate_of(views, 2.0), seconds=2.0)


@figure("memory of the server with 300 live readers (PSS)", ways=(EMBEDDED,), is_slow=True)
def memory(house: House) -> Measured:
    with house.wider(_THREADS), _readers(house):
        return Measured(pss_mib(house.served.processes["server"].pid), "MiB")


@figure("a new title has reached all of 300 live readers after", is_slow=True)
def reach(house: House) -> Measured:
    with house.wider(_THREADS), _readers(house) as lines, ThreadPoolExecutor(len(lines)) as pool:
        list(pool.map(lambda line: _hear(line, b"event: head"), lines))  # each line begins with one
        title = f"Read along {time.time()}"
        heard = [pool.submit(_hear, line, title.encode()) for line in lines]
        time.sleep(0.5)
        started = time.perf_counter()
        house.alice().call("PATCH", f"/v1/ai/threads/{house.thread(50)}", {"title": title})
        return Measured((max(each.result() for each in heard) - started) * 1000, "ms")


@contextmanager
def _readers(house: House) -> Iterator[list[http.client.HTTPResponse]]:
    """Open event streams of one thread, each on its own connection."""
    record = house.alice().call("GET", f"/v1/ai/threads/{house.thread(50)}")
    path = f"/threads/{record['thread_id']}/live/?token={record['continuation_token']}"
    lines = []
    try:
        for _ in range(READERS):
            line = http.client.HTTPConnection("127.0.0.1", house.served.port, timeout=30)
            line.request("GET", path, headers={"Cookie": f"sessionid={house.cookie}"})
            lines.append((line, line.getresponse()))
        yield [answer for _, answer in lines]
    finally:
        for line, answer in lines:
            answer.close()
            line.close()


def _hear(answer: http.client.HTTPResponse, words: bytes) -> float:
    """Return when the text arrived."""
    held = b""
    while words not in held:
        held = held[-len(words) :] + answer.read1(65536)
    return time.perf_counter()
