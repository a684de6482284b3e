"""A worker is killed while it sends a webhook: the message arrives again, the same one."""

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
