"""A few at a time, in the order in which they came."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

from core.turnstile import Turnstile


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
