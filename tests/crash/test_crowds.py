"""Many at once: every turn ends, and every message has exactly one answer."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from roboto.ai import ClientTool
from roboto.ai.goals import DatasetSummaryAgentGoal

from tests.sdk.callers import Caller, calls, held, roles, run, text_of

pytestmark = pytest.mark.live


def test_forty_turns_of_several_clients_at_once(alice: Caller, bob: Caller, eve: Caller) -> None:
    """B35, B63, B88, B97: plain answers, server tools, client tools and goals, all mixed."""

    def one(number: int) -> None:
        caller = (alice, bob, eve)[number % 3]
        called: list[int] = []
        tool = ClientTool(
            lambda n: called.append(n), name="client_note", description="Note.", input_schema={"type": "object"}
        )
        asked = calls(("client_note", {"n": number}), ("echo", {"value": number}))
        goal = DatasetSummaryAgentGoal(dataset_id=f"ds_{number}")
        thread = caller.start(f"I am number {number}. {asked}", client_tools=[tool], goals=[goal])
        run(thread, timeout=60, tick=0.2)
        assert called == [number]
        assert [each.status for each in thread.goals] == ["achieved"]
        assert roles(thread) == ["user", "assistant", "roboto", "assistant", "roboto", "assistant"]
        assert f"I am number {number}." in text_of(thread.latest_message)
        run(thread.send_text(f"Still number {number}? [[words {number + 1}]] [[pace 0.02]]"), timeout=60, tick=0.2)
        assert roles(thread)[6:] == ["user", "assistant"]
        assert len(text_of(thread.latest_message).split()) == number + 1
        assert held(thread) == held(caller.thread(thread))

    with ThreadPoolExecutor(40) as crowd:
        for done in [crowd.submit(one, number) for number in range(40)]:
            done.result(timeout=90)
