"""A few at a time, in the order in which they came."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from core.turnstile import Courtesy, Turnstile


def test_never_more_than_its_width_are_inside_and_an_accident_gives_the_place_back() -> None:
    door, lock, inside, most = Turnstile(3), threading.Lock(), [0], [0]

    def work(number: int) -> None:
        with door.passed():
            with lock:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            time.sleep(0.002)
            with lock:
                inside[0] -= 1
            if number % 5 == 0:
                raise ValueError(number)

    with ThreadPoolExecutor(20) as pool:
        done = [pool.submit(work, number) for number in range(60)]
    assert sum(each.exception() is not None for each in done) == 12
    assert (inside, most) == ([0], [3])


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


def test_short_work_is_done_one_at_a_time() -> None:
    courtesy, lock, inside, most = Courtesy(5), threading.Lock(), [0], [0]

    def work(number: int) -> None:
        with courtesy.taken():
            with lock:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            time.sleep(0.002)
            with lock:
                inside[0] -= 1
            if number % 5 == 0:
                raise ValueError(number)

    with ThreadPoolExecutor(8) as pool:
        done = [pool.submit(work, number) for number in range(24)]
    assert sum(each.exception() is not None for each in done) == 5
    assert most == [1]


def test_long_work_is_left_to_itself_and_the_short_that_follows_is_done_one_at_a_time() -> None:
    courtesy, ends, began = Courtesy(0.5), threading.Event(), threading.Event()
    lock, inside, most = threading.Lock(), [0], [0]

    def work_long() -> None:
        with courtesy.taken():
            began.set()
            ends.wait(10)

    def work(number: int) -> None:
        with courtesy.taken():
            with lock:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            time.sleep(0.0005)
            with lock:
                inside[0] -= 1

    long = threading.Thread(target=work_long)
    long.start()
    began.wait(10)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(40)))
    assert long.is_alive() and most == [1]
    ends.set()
    long.join()
    work(0)
    assert (inside, most) == ([0], [1])
