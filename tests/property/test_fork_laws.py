"""Laws of the fork (B134 to B138): it is the prefix, and from then on nobody's but its owner's."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import make
from tests.property.test_delta_laws import happen, law
from tests.property.world import World, record_of
from threads import forks, weaving
from threads.content import TERMINAL


def forked(world, upto):
    """A fork by the source's owner, as its record."""
    return forks.fork(world.who.alice.actor, make.fresh(world.thread), upto).model_dump(mode="json")


@pytest.mark.django_db
@law
@given(data=st.data(), before=st.integers(3, 20), after=st.integers(0, 8))
def test_a_fork_is_the_prefix_and_stays_it_whatever_happens_to_either_B134_B136_B138(who, data, before, after):
    world = World.begun(who)
    for _ in range(before):
        happen(data.draw, world)
    source = record_of(who.alice, world.thread)
    whole = [idx for idx, message in enumerate(source["messages"]) if message["status"] in TERMINAL]
    upto = data.draw(st.sampled_from(whole))
    fork = forked(world, upto)
    assert fork["messages"] == source["messages"][: upto + 1]
    assert (fork["status"], fork["visibility"]) == ("user_turn", "private")
    assert record_of(who.alice, world.thread) == source
    kept = [goal for goal in source["goals"] if goal["message_sequence_num"] <= upto]
    assert [goal["goal_data"] for goal in fork["goals"]] == [goal["goal_data"] for goal in kept]
    assert all(goal["status"] != "pending" for goal in fork["goals"])

    # The source goes on: the fork stays.
    for _ in range(after):
        happen(data.draw, world)
    copied = make.Thread.objects.get(key=fork["thread_id"][4:])
    assert record_of(who.alice, copied) == fork
    for each in (copied, make.fresh(world.thread)):  # the steps as they were written one by one, or copied at once
        assert (each.weave, each.has_error) == weaving.of_thread(each.pk)

    # The fork goes on: the source stays, and the fork keeps its prefix.
    source = copy.deepcopy(record_of(who.alice, world.thread))
    make.send(who.alice, copied, "Going on from here")
    assert record_of(who.alice, world.thread) == source
    grown = record_of(who.alice, copied)
    assert grown["messages"][: upto + 1] == fork["messages"]
    assert grown["status"] == "user_turn"


@pytest.mark.django_db
@law
@given(data=st.data(), length=st.integers(3, 20))
def test_every_use_of_a_grown_fork_has_its_answer_before_the_model_is_asked_B138(who, data, length):
    """Spec 4.7: what the fork cut off from its results is answered when the next turn begins."""
    world = World.begun(who)
    for _ in range(length):
        happen(data.draw, world)
    source = record_of(who.alice, world.thread)
    whole = [idx for idx, message in enumerate(source["messages"]) if message["status"] in TERMINAL]
    fork = forked(world, data.draw(st.sampled_from(whole)))
    copied = make.Thread.objects.get(key=fork["thread_id"][4:])
    make.send(who.alice, copied, "Going on from here")
    blocks = [block for message in record_of(who.alice, copied)["messages"] for block in message["content"]]
    uses = [block["tool_use_id"] for block in blocks if block["content_type"] == "tool_use"]
    results = [block["tool_use_id"] for block in blocks if block["content_type"] == "tool_result"]
    assert len(set(uses)) == len(uses)
    assert sorted(results) == sorted(uses)
