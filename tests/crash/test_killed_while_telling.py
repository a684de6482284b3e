"""A worker is killed or told to stop while it sends webhooks: nothing is lost."""

import os
import signal
import subprocess
import time
from collections.abc import Callable

import pytest

from tests import live
from tests.crash.disasters import kill_workers, start_workers
from tests.receiver import Reply, receiving
from tests.sdk.callers import PATIENCE, Caller

pytestmark = pytest.mark.live


def until(holds: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < ends_at, "it did not come"
        time.sleep(0.05)


def test_a_message_that_was_being_sent_is_sent_again_under_its_id(
    served: live.Served, admin: Caller, alice: Caller
) -> None:
    thread = alice.talk("Hello.")
    hooks = f"{served.url}/v1/webhooks"
    with receiving() as receiver:
        receiver.answers(Reply(hangs=True), Reply(204, b""))
        body = {"url": receiver.url, "events": ["feedback.submitted"]}
        status, made = live.fetch(hooks, served.token("admin"), body)
        assert status == 200, made
        here = f"{hooks}/{made['data']['webhook_id']}"
        thread.submit_feedback(1, "negative", notes="No.")
        until(lambda: len(receiver.got) == 1)
        kill_workers(served)
        start_workers(served)
        until(lambda: len(receiver.got) == 2)

        def log() -> list[dict[str, str]]:
            return live.fetch(f"{here}/deliveries", served.token("admin"))[1]["data"]["items"]

        until(lambda: log()[0]["state"] == "delivered")
        first, second = receiver.got
        assert first.headers["webhook-id"] == second.headers["webhook-id"] == log()[0]["message_id"]
        assert first.body == second.body
        assert len(log()) == 1
        live.fetch(here, served.token("admin"), method="DELETE")


def test_who_is_told_to_stop_sends_no_further_message_and_the_next_one_goes_on(
    served: live.Served,
) -> None:
    """However many wait: the message that was being sent is the last one, and none of them arrives twice."""
    hooks, token = f"{served.url}/v1/webhooks", served.token("admin")
    name, said = ("worker", "Warm shutdown") if served.way == "full" else ("server", "server.stopping")
    stopping = served.processes[name]
    said_before = served.log.read_text().count(said)
    with receiving() as receiver:
        status, made = live.fetch(hooks, token, {"url": receiver.url, "events": ["feedback.submitted"]})
        assert status == 200, made
        here = f"{hooks}/{made['data']['webhook_id']}"

        def stop() -> None:
            for _ in range(4):
                live.fetch(f"{here}/test", token, method="POST")
            os.kill(stopping.pid, signal.SIGTERM)
            until(lambda: served.log.read_text().count(said) > said_before)

        receiver.answers(Reply(meanwhile=stop), Reply())
        live.fetch(f"{here}/test", token, method="POST")
        try:
            stopping.wait(timeout=30)
        except subprocess.TimeoutExpired:
            os.killpg(stopping.pid, signal.SIGKILL)
            stopping.wait()
            raise
        assert len(receiver.got) == 1
        del served.processes[name]
        start_workers(served)
        until(lambda: len(receiver.got) >= 5)
        log = live.fetch(f"{here}/deliveries", token)[1]["data"]["items"]
        assert sorted(got.headers["webhook-id"] for got in receiver.got) == sorted(each["message_id"] for each in log)
        live.fetch(here, token, method="DELETE")
