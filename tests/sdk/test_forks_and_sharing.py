"""Forks, visibility and pins through the SDK, under the org's policies."""

import pytest
from roboto.ai import AgentThread
from roboto.ai.agent_thread.record import AgentThreadStatus, ThreadVisibility
from roboto.ai.goals import DatasetSummaryAgentGoal
from roboto.exceptions import RobotoInvalidRequestException, RobotoUnauthorizedException

from tests.sdk.callers import Caller, calls, held, roles, run, text_of

pytestmark = pytest.mark.live
PRIVATE, ORG = ThreadVisibility.PRIVATE, ThreadVisibility.ORG


def shared(caller: Caller, text: str = "For all of us.", org: str = "acme") -> AgentThread:
    said = {"messages": [{"role": "user", "content": [{"text": text}]}], "visibility": "org"}
    status, content = caller.post("threads", said, X_Roboto_Org_Id=caller.server.who["orgs"][org])
    assert status == 200, content
    return run(caller.thread(content["data"]["thread_id"]))


def test_a_fork_copies_up_to_the_bound_and_then_goes_its_own_way(alice: Caller) -> None:
    """B134 to B138, 4.7."""
    goal = DatasetSummaryAgentGoal(dataset_id="ds_1")
    thread = alice.talk("One. " + calls(("echo", {"value": [1, None]})), goals=[goal])
    run(thread.send_text("Two.", goals=[goal]))
    for bound in (0, 3, len(thread.messages) - 1):
        fork = thread.fork(bound)
        assert held(fork) == held(thread)[: bound + 1]
        assert [copy.created for copy in fork.messages] == [each.created for each in alice.thread(thread).messages][
            : bound + 1
        ]
        record = alice.record(fork)
        assert fork.thread_id != thread.thread_id
        assert (record["forked_from_thread_id"], record["forked_from_message_sequence_num"]) == (
            thread.thread_id,
            bound,
        )
        assert (fork.status, fork.visibility) == (AgentThreadStatus.USER_TURN, PRIVATE)
        assert (record["org_id"], record["created_by"]) == (alice.server.who["org_id"], alice.email)
        assert [record["created_from_agent_id"], record["created_from_trigger_id"], record["origin"]] == [None] * 3
    assert [goal.status for goal in fork.goals] == ["achieved", "achieved"]
    before = held(thread)
    run(fork.send_text("Three, here only."))
    run(thread.send_text("Three, there only."))
    assert held(thread)[: len(before)] == held(fork)[: len(before)] == before
    assert text_of(fork.messages[len(before)]) == "Three, here only."
    assert held(fork) == held(alice.thread(fork))
    assert held(thread) == held(alice.thread(thread))


def test_a_bound_out_of_range_or_on_an_open_message_is_refused(alice: Caller) -> None:
    """B139, B140."""
    thread = alice.talk("One.")
    for bound in (-1, 2, 10**6):
        with pytest.raises(RobotoInvalidRequestException, match="message_sequence_num"):
            thread.fork(bound)
    running = alice.start("Slowly. [[words 40]] [[pace 0.15]]")
    while len(running.messages) < 2:
        running.refresh()
    with pytest.raises(RobotoInvalidRequestException, match="still being written"):
        running.fork(1)
    copy = running.fork(0)
    assert roles(copy) == ["user"]
    run(running)
    assert held(run(copy.send_text("On my own."))) == held(alice.thread(copy))


def test_a_fork_that_ends_in_an_open_call_can_be_gone_on_with(alice: Caller) -> None:
    """4.7: the server answers what nobody will, when the fork's next turn begins."""
    declared = {"name": "client_recall", "description": "", "input_schema": {"type": "object"}}
    message = {"role": "user", "content": [{"text": "Recall. " + calls(("client_recall", {"n": 1}))}]}
    thread_id = alice.post("threads", {"messages": [message], "client_tools": [declared]})[1]["data"]["thread_id"]
    thread = alice.thread(thread_id)
    for _ in thread.events(tick=0.02, timeout=20):
        pass
    assert thread.status == AgentThreadStatus.CLIENT_TOOL_TURN
    fork = thread.fork(1)
    run(fork.send_text("Forget it."))
    assert roles(fork) == ["user", "assistant", "user", "roboto", "assistant"]
    assert held(fork) == held(alice.thread(fork))
    assert alice.record(thread)["status"] == "client_tool_turn"
    alice.post(f"threads/{thread_id}/cancel")


def test_nobody_forks_what_they_may_not_read(alice: Caller, bob: Caller, eve: Caller) -> None:
    """B141: found by its id, refused."""
    thread = alice.talk("Between us.")
    for other in (bob, eve):
        status, content = other.post(f"threads/{thread.thread_id}/fork", {"message_sequence_num": 0})
        assert (status, content["error"]["error_code"]) == (403, "RobotoUnauthorizedException")


def test_an_admins_fork_is_the_admins_and_stays_out_of_the_owners_list(alice: Caller, admin: Caller) -> None:
    """B142, B135."""
    thread = alice.talk("Help me with this.")
    fork = admin.thread(thread).fork(1)
    record = admin.record(fork)
    assert (record["created_by"], record["org_id"]) == (admin.email, alice.server.who["org_id"])
    assert held(fork) == held(thread)
    assert fork.thread_id not in [row["thread_id"] for row in alice.get("threads?limit=200")["items"]]
    with pytest.raises(RobotoUnauthorizedException):
        alice.thread(fork)
    assert held(run(fork.send_text("Tried again."))) == held(admin.thread(fork))


def test_a_colleague_forks_an_org_thread_only_where_the_policy_says_so(alice: Caller, bob: Caller, eve: Caller) -> None:
    """B143, B136, B141: the fork is private and the colleague's; a private thread stays closed, policy or not."""
    with pytest.raises(RobotoUnauthorizedException):
        bob.thread(shared(alice)).fork(1)
    thread = shared(alice, org="generous")
    fork = bob.thread(thread).fork(1)
    assert fork.visibility == PRIVATE
    assert bob.record(fork)["created_by"] == bob.email
    assert bob.record(fork)["org_id"] == alice.record(thread)["org_id"]
    with pytest.raises(RobotoUnauthorizedException):
        alice.thread(fork)
    assert eve.post(f"threads/{thread.thread_id}/fork", {"message_sequence_num": 0})[0] == 403
    private = alice.talk("Still between us.", org_id=alice.server.who["orgs"]["generous"])
    assert bob.post(f"threads/{private.thread_id}/fork", {"message_sequence_num": 0})[0] == 403
    assert held(run(fork.send_text("Mine now."))) == held(bob.thread(fork))


def test_visibility_is_fixed_unless_the_policy_says_otherwise(alice: Caller, bob: Caller, admin: Caller) -> None:
    """B144 to B146: the creator alone, admins explicitly not; narrowing closes at once."""
    fixed = alice.talk("Shall I show this?")
    with pytest.raises(RobotoUnauthorizedException):
        fixed.set_visibility(ORG)
    assert fixed.visibility == PRIVATE
    thread = alice.talk("And this?", org_id=alice.server.who["orgs"]["generous"])
    assert thread.set_visibility(PRIVATE) is thread
    with pytest.raises(RobotoUnauthorizedException):
        bob.thread(thread)
    thread.set_visibility(ORG)
    assert alice.thread(thread).visibility == thread.visibility == ORG
    reader = bob.thread(thread)
    for other in (reader, admin.thread(thread)):
        with pytest.raises(RobotoUnauthorizedException):
            other.set_visibility(PRIVATE)
    thread.set_visibility(PRIVATE)
    with pytest.raises(RobotoUnauthorizedException):
        reader.refresh()


def test_a_pin_is_personal_and_keeps_its_time(alice: Caller, bob: Caller, eve: Caller) -> None:
    """B147, B148."""
    thread, later = shared(alice), shared(alice, "Newer.")
    pinned = bob.thread(thread)
    assert pinned.set_pinned(True) is pinned
    [row] = [row for row in bob.get("threads")["items"] if row["thread_id"] == thread.thread_id]
    assert row["pinned_at"]
    bob.thread(later).set_pinned(True)
    pinned.set_pinned(True)
    assert [row["thread_id"] for row in bob.get("threads")["items"][:2]] == [later.thread_id, thread.thread_id]
    assert bob.get("threads")["items"][1]["pinned_at"] == row["pinned_at"]
    assert bob.record(thread)["pinned_at"] is None
    assert all(row["pinned_at"] is None for row in alice.get("threads")["items"])
    assert eve.post(f"threads/{thread.thread_id}/pin", {"pinned": True})[0] == 403
    for each in (thread, later):
        bob.thread(each).set_pinned(False)
        bob.thread(each).set_pinned(False)
    assert all(row["pinned_at"] is None for row in bob.get("threads")["items"])
