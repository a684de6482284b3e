"""A few at a time, in the order in which they came."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.turnstile import Courtesy, Turnstile


class Room:
    """Counts who is inside at the same time."""

    def __init__(self) -> None:
        self.inside = self.most = 0
        self._lock = threading.Lock()

    def stay(self, seconds: float) -> None:
        with self._lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        time.sleep(seconds)
        with self._lock:
            self.inside -= 1


@pytest.mark.parametrize(("door", "width"), [(Turnstile(3), 3), (Courtesy(5), 1)])
def test_never_more_than_its_width_are_inside_and_an_accident_gives_the_place_back(
    door: Turnstile | Courtesy, width: int
) -> None:
    room, enter = Room(), door.passed if isinstance(door, Turnstile) else door.taken

    def work(number: int) -> None:
        with enter():
            room.stay(0.002)
            if number % 5 == 0:
                raise ValueError(number)

    with ThreadPoolExecutor(20) as pool:
        done = [pool.submit(work, number) for number in range(60)]
    assert sum(each.exception() is not None for each in done) == 12
    assert (room.inside, room.most) == (0, width)


def test_whoever_came_first_is_first() -> None:
    """Whoever leaves and comes back stands behind those who wait."""
    door, order, threads = Turnstile(1), [], []

    def wait(number: int) -> None:
        with door.passed():
            order.append(number)

    with door.passed():
        for number in range(10):
            threads.append(threading.Thread(target=wait, args=(number,)))
            threads[-1].start()
            while len(door._line) <= number:
                time.sleep(0.001)
    with door.passed():
        order.append("back")
    for thread in threads:
        thread.join()
    assert order == [*range(10), "back"]


def test_long_work_is_left_to_itself_and_the_short_that_follows_is_done_one_at_a_time() -> None:
    courtesy, room, ends, began = Courtesy(0.5), Room(), threading.Event(), threading.Event()

    def work_long() -> None:
        with courtesy.taken():
            began.set()
            ends.wait(10)

    def work(_: int) -> None:
        with courtesy.taken():
            room.stay(0.0005)

    long = threading.Thread(target=work_long)
    long.start()
    began.wait(10)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(40)))
    assert long.is_alive() and room.most == 1
    ends.set()
    long.join()
    work(0)
    assert (room.inside, room.most) == (0, 1)
