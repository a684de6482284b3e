"""An answer that is run again: the same request to the same agent, and nothing is done twice (decision 015)."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Org
from catalogue.models import Call, DemoCount
from tests import make
from tests.api import shapes
from tests.api.test_calls_and_crashes import Killed
from tests.api.test_http_tools import connected, receiver, said, tools  # noqa: F401 - fixtures
from tests.api.test_skills_in_turns import pin, write  # noqa: F401 - fixtures
from tests.conftest import data_of, refusal_of
from threads.models import Block, Thread, Turn
from threads.runner import loop
from threads.runner.recorded import NOT_RECORDED
from threads.runner.toolbox import Toolbox

INVALID = (400, "RobotoInvalidRequestException")


@pytest.fixture
def rerun(api):
    """`rerun(thread, index, who, **body)`: the record of the fork once its turn is over, or waits."""

    def run(thread, index=1, who="alice", **body):
        path = f"threads/{thread.thread_id}/rerun"
        made = data_of(api(who).post(path, {"message_sequence_num": index, **body}))
        assert made["status"] == "roboto_turn"
        fork = Thread.objects.get(pk=Thread.objects.order_by("-pk").values("pk")[:1])
        assert fork.thread_id == made["thread_id"] and fork.forked_from_id == thread.pk
        make.run_turns(fork)
        return data_of(api(who).get(f"threads/{fork.thread_id}"))

    return run


@pytest.fixture
def outside(connected, receiver):  # noqa: F811
    """A server with the tool `srv__book`, which does something: how often it did, and another answer each time."""
    connected()
    receiver.answers(*(said({"booking": number}) for number in range(20)))
    return receiver.got


def results(record):
    """Tool, status and payload of each result."""
    return [(each["tool_name"], each["status"], each["payload"]) for each in shapes.blocks(record, "tool_result")]


def imported(api, *said):
    """A conversation of alice's from elsewhere, that none of our tools had a part in."""
    messages = [{"role": role, "content": words} for role, words in said]
    body = {"format": "openai", "conversations": [{"id": "elsewhere", "messages": messages}]}
    data_of(api("alice").post("threads/import", body))
    return Thread.objects.get(import_id="elsewhere")


BOOK = '[[call srv__book {"q": "x"}]]'


def test_calls_are_answered_as_they_were_and_not_made_again(api, who, rerun, outside):
    thread = make.thread(who.alice, f'{BOOK} {BOOK} [[call echo {{"value": 1}}]]')
    before = results(data_of(api("alice").get(f"threads/{thread.thread_id}")))
    made = Call.objects.count()
    assert [status for _, status, _ in before] == ["success"] * 3 and before[0] != before[1] and len(outside) == 2
    assert results(rerun(thread)) == before
    assert results(rerun(thread, who="admin")) == before, "each as often as it is wanted"
    assert Call.objects.count() == made and len(outside) == 2


def of_another_system(who, *calls, asked=""):
    """An imported request with what its tools were sent and returned; the request makes the simulator call the same."""
    said = [("user", asked or " ".join(f"[[call {name} {json.dumps(sent)}]]" for name, sent, _ in calls))]
    for at, (name, sent, answer) in enumerate(calls):
        use = {"id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": json.dumps(sent)}}
        said.append({"role": "assistant", "content": None, "tool_calls": [use]})
        said.append({"role": "tool", "tool_call_id": f"call_{at}", "content": answer})
    return make.imported(who.alice, [*said, ("assistant", "Done.")])


def test_tools_that_only_the_record_has_answer_as_they_did(who, rerun):
    """Those of an imported conversation, as often as they were called; what they were never asked is not made up."""
    first, second = (("get_seats", {"flight": "HAT1"}, f"{left} left") for left in (3, 2))
    booked = ("book", {"seat": 4}, "booked")
    again = rerun(of_another_system(who, first, second, booked), index=7)
    assert results(again) == [(name, "success", answer) for name, _, answer in (first, second, booked)]
    asked = '[[call get_seats {"flight": "HAT2"}]] [[call cancel {}]]'
    unknown, never = results(rerun(of_another_system(who, first, asked=asked), index=3))
    assert never == ("get_seats", "error", {"error": NOT_RECORDED})
    assert unknown == ("cancel", "error", {"error": "There is no tool cancel."})
    assert not Call.objects.exists()


def test_the_model_is_offered_the_tools_of_the_record(api, who, rerun, monkeypatch):
    """By the catalogue's description if it has one such tool, else by the fields that they were called with; none in a
    rerun that makes real calls.
    """
    tool = {"name": "get_seats", "description": "Seats left.", "input_schema": {"type": "object", "title": "S"}}
    data_of(api("alice").post("/v1/catalogue/tools/import", {"dialect": "convilyn", "server": "air", "tool": tool}))
    seats = ("get_seats", {"flight": "A"}, "3")
    thread = of_another_system(who, seats, ("book", {"seat": 4}, "ok"), ("book", {"row": 2}, "ok"))
    offered = []
    offers = Toolbox.offers
    monkeypatch.setattr(Toolbox, "offers", lambda self: offered.append(offers(self)) or offered[-1])
    rerun(thread, index=7)
    found = {tool.name: (tool.description, tool.input_schema) for tool in offered[0]}
    assert found["get_seats"] == ("Seats left.", {"type": "object", "title": "S"})
    assert found["book"][1] == {"type": "object", "properties": {"seat": {}, "row": {}}}
    offered.clear()
    rerun(thread, index=7, tools="live")
    assert not {"get_seats", "book"} & {tool.name for tool in offered[0]}


def test_calls_are_found_in_the_record_under_any_form_of_their_tools_name(api, who, rerun, outside):
    """Threads from before a tool had one name in them, and imported ones."""
    thread = make.thread(who.alice, BOOK)
    before = results(data_of(api("alice").get(f"threads/{thread.thread_id}")))
    for block in Block.objects.filter(thread=thread, data__isnull=False):
        block.data = {**block.data, "tool_name": "srv:book"}
        block.save(update_fields=["data"])
    assert [answer[1:] for answer in results(rerun(thread))] == [answer[1:] for answer in before]
    assert len(outside) == 1


def test_the_recorded_result_of_a_client_tool_is_told_as_the_first_one_was_B60_B71(api, who, rerun):
    """Spec 3.3: the SDK's event takes its output from the raw response alone."""
    thread = make.waiting(who.alice)
    [use] = shapes.blocks(data_of(api("alice").get(f"threads/{thread.thread_id}")), "tool_use")
    told = {"tool_name": use["tool_name"], "tool_use_id": use["tool_use_id"], "runtime_ms": 1, "status": "success"}
    body = {"tool_results": [{**told, "output": {"kept": None}}]}
    data_of(api("alice").post(f"threads/{thread.thread_id}/tool-results", body))
    make.run_turns(thread)
    [first] = shapes.blocks(data_of(api("alice").get(f"threads/{thread.thread_id}")), "tool_result")
    for source in (thread, Thread.objects.latest("pk")):
        [again] = shapes.blocks(rerun(source), "tool_result")
        assert again["raw_response"] == again["payload"] == first["payload"] == first["raw_response"]


def test_the_record_is_read_once_however_many_calls_are_answered_from_it(who, rerun, outside):
    asked = []
    for count in (1, 5):
        thread = make.thread(who.alice, f"{BOOK} " * count)
        with CaptureQueriesContext(connection) as captured:
            assert len(results(rerun(thread))) == count
        asked.append([each["sql"] for each in captured.captured_queries if "'tool_use', 'tool_result'" in each["sql"]])
    assert len(asked[0]) == len(asked[1]) > 0


def test_a_worker_that_takes_over_goes_on_in_the_record(api, who, rerun, outside, monkeypatch):
    thread, stored = make.thread(who.alice, f"{BOOK} " * 4), []
    before = results(data_of(api("alice").get(f"threads/{thread.thread_id}")))
    store = loop._Run._store_result

    def die_at_the_third(run, *given, **more):
        stored.append(given)
        if len(stored) == 3:
            raise Killed
        return store(run, *given, **more)

    monkeypatch.setattr(loop._Run, "_store_result", die_at_the_third)
    with pytest.raises(Killed):
        rerun(thread)
    fork = Thread.objects.latest("pk")
    make.let_expire(Turn.objects.get(thread=fork))
    loop.advance(Turn.objects.get(thread=fork).pk)
    assert results(data_of(api("alice").get(f"threads/{fork.thread_id}"))) == before and len(outside) == 4


def test_a_new_call_is_made_only_where_the_tool_only_reads(api, who, rerun, outside):
    asked = f'{BOOK} [[call echo {{"value": 2}}]] [[call nothing__here {{}}]]'
    thread = imported(api, ("user", asked), ("assistant", "All done."))
    found = {name: (status, payload) for name, status, payload in results(rerun(thread))}
    assert found["srv__book"][0] == "error" and "was not made" in found["srv__book"][1]["error"]
    assert found["echo"][0] == "success" and found["nothing__here"][0] == "error"
    assert outside == []


def test_calls_are_really_made_where_that_is_asked_for(api, who, rerun, outside):
    thread = make.thread(who.alice, BOOK)
    [(_, _, first)] = results(data_of(api("alice").get(f"threads/{thread.thread_id}")))
    [(_, status, second)] = results(rerun(thread, tools="live"))
    assert status == "success" and second != first and len(outside) == 2


def test_only_the_turn_that_runs_again_is_held_to_the_record(api, who, rerun, outside):
    thread = make.thread(who.alice, BOOK)
    record = rerun(thread)
    fork = Thread.objects.latest("pk")
    assert fork.thread_id == record["thread_id"]
    make.send(who.alice, fork, BOOK)
    *_, again = results(data_of(api("alice").get(f"threads/{fork.thread_id}")))
    assert again[1] == "success" and again not in results(record) and len(outside) == 2


@pytest.mark.parametrize("ending", ["failed", "cancelled"])
def test_a_rerun_that_came_to_nothing_is_asked_again_from_the_record(api, who, rerun, outside, ending):
    thread = make.thread(who.alice, f'{BOOK} {BOOK} [[call echo {{"value": 1}}]] [[fail]]')
    before, made = results(data_of(api("alice").get(f"threads/{thread.thread_id}"))), Call.objects.count()
    path = f"threads/{thread.thread_id}/rerun"
    fork = data_of(api("alice").post(path, {"message_sequence_num": 1}))["thread_id"]
    if ending == "cancelled":
        data_of(api("alice").post(f"threads/{fork}/cancel"))
    make.run_turns()
    for _ in range(2):  # and that one failed as well
        data_of(api("alice").post(f"threads/{fork}/again"))
        make.run_turns()
        record = data_of(api("alice").get(f"threads/{fork}"))
        assert results(record)[-3:] == before and record["messages"][-1]["status"] == "failed"
    assert Call.objects.count() == made and len(outside) == 2


def test_a_rerun_with_real_calls_makes_them_when_it_is_asked_again(api, who, rerun, outside):
    thread = make.thread(who.alice, f"{BOOK} [[fail]]")
    fork = rerun(thread, tools="live")["thread_id"]
    data_of(api("alice").post(f"threads/{fork}/again"))
    make.run_turns()
    assert len(outside) == 3


@pytest.mark.parametrize(("text", "status"), [("Do it", "achieved"), ("[[refuse-goals]] Do it", "failed")])
def test_a_rerun_of_a_rerun_has_the_goals_of_the_first_request_and_no_more_B14(api, who, rerun, text, status):
    goals = [{"goal_type": "dataset_summary", "dataset_id": f"ds_{number}"} for number in range(5)]
    thread = make.thread(who.alice, text, goals=goals)
    path = f"threads/{thread.thread_id}"
    before = data_of(api("alice").get(path))["goals"]
    for _ in range(3):
        record = rerun(thread)
        assert [goal["goal_data"] for goal in record["goals"]] == [goal["goal_data"] for goal in before]
        assert [goal["status"] for goal in record["goals"]] == [status] * 5
        thread = Thread.objects.latest("pk")
        assert (thread.goal_count, thread.achieved_goal_count) == (5, 5 if status == "achieved" else 0)
        assert thread.goals.exclude(turn=None).count() == 5
    assert data_of(api("alice").get(path))["goals"] == before


def test_a_rerun_that_failed_is_asked_again_for_its_goals_once_B14(api, who, rerun):
    thread = make.thread(who.alice, "[[fail]] Do it", goals=[{"goal_type": "dataset_summary", "dataset_id": "ds_1"}])
    path = f"threads/{rerun(thread)['thread_id']}"
    for times in (2, 3):
        data_of(api("alice").post(f"{path}/again"))
        make.run_turns()
        assert Turn.objects.latest("pk").goals.count() == 1
        assert len(data_of(api("alice").get(path))["goals"]) == times


def test_what_a_client_answered_is_answered_and_what_it_did_not_waits_for_one(api, who, rerun):
    thread = make.waiting(who.alice, '[[call remember {"what": "loom"}]] [[call remember {"what": "reed"}]]')
    [first, _] = shapes.blocks(data_of(api("alice").get(f"threads/{thread.thread_id}")), "tool_use")
    record = rerun(thread)
    assert record["status"] == "client_tool_turn" and results(record) == []
    answer = {"tool_use_id": first["tool_use_id"], "tool_name": "remember", "status": "success", "runtime_ms": 5}
    answer["output"] = {"kept": True}
    data_of(api("alice").post(f"threads/{thread.thread_id}/tool-results", {"tool_results": [answer]}))
    record = rerun(thread)
    assert record["status"] == "client_tool_turn"
    assert results(record) == [("remember", "success", {"kept": True})]


def test_the_agent_has_the_skills_of_who_asked_as_it_read_them_or_as_they_are_now(api, who, rerun, write, pin):  # noqa: F811
    skill = write("alice", "weaving", "OLD", "NEW")
    pin("alice", skill, 1)
    thread = make.thread(who.alice, '[[call load_skill {"name": "weaving"}]]')
    pin("alice", skill, None)
    for body, words, version in (({}, "OLD", 1), ({"skills": "latest"}, "NEW", 2)):
        [(_, status, payload)] = results(rerun(thread, who="admin", **body))
        assert (status, payload["body"], payload["version"]) == ("success", words, version)


def test_a_turn_that_waited_for_a_client_had_the_skills_that_were_new_when_it_went_on(api, who, rerun, write):  # noqa: F811
    thread = make.waiting(who.alice)
    [use] = shapes.blocks(data_of(api("alice").get(f"threads/{thread.thread_id}")), "tool_use")
    write("alice", "meanwhile")
    told = {"tool_name": use["tool_name"], "tool_use_id": use["tool_use_id"], "runtime_ms": 1, "status": "success"}
    body = {"tool_results": [{**told, "output": {}}]}
    data_of(api("alice").post(f"threads/{thread.thread_id}/tool-results", body))
    make.run_turns(thread)
    write("alice", "later")
    for skills, names in (("recorded", ["meanwhile"]), ("latest", ["later", "meanwhile"])):
        rerun(thread, skills=skills)
        assert [each["name"] for each in Thread.objects.latest("pk").available_skills] == names


def test_a_copied_answer_had_the_skills_of_before_its_request(api, who, rerun, write):  # noqa: F811
    """In a fork, which has no turn of its own for it, and in an imported conversation."""
    write("alice", "before")
    source = make.thread(who.alice)
    data_of(api("alice").post(f"threads/{source.thread_id}/fork", {"message_sequence_num": 1}))
    copies = [Thread.objects.latest("pk"), imported(api, ("user", "Hello"), ("assistant", "Hi."))]
    write("alice", "after")
    for copy in copies:
        rerun(copy)
        assert [each["name"] for each in Thread.objects.latest("pk").available_skills] == ["before"]


def test_skills_that_a_request_took_up_are_taken_up_again(api, who, rerun, write):  # noqa: F811
    skill = write("alice", "weaving", "OLD")
    thread = make.thread(who.alice, "Weave", invoke_skills=[{"skill_id": skill}])
    data_of(api("alice").post(f"/v1/skills/id/{skill}/versions", {"description": "d", "body": "NEW"}))
    for body, words in (({}, "OLD"), ({"skills": "latest"}, "NEW")):
        record = rerun(thread, index=3, **body)
        [(name, _, payload)] = results(record)
        assert (name, payload["body"]) == ("load_skill", words)
        assert [message["role"] for message in record["messages"]] == ["user", "assistant", "roboto", "assistant"]


def test_the_list_that_a_thread_was_started_with_is_brought_up_to_date(api, who, rerun, write):  # noqa: F811
    skill = write("alice", "weaving", "OLD")
    thread = make.thread(who.alice, '[[call load_skill {"name": "weaving"}]]', available_skills=[{"skill_id": skill}])
    data_of(api("alice").post(f"/v1/skills/id/{skill}/versions", {"description": "d", "body": "NEW"}))
    assert [payload["body"] for *_, payload in results(rerun(thread))] == ["OLD"]
    assert [payload["body"] for *_, payload in results(rerun(thread, skills="latest"))] == ["NEW"]
    data_of(api("alice").request("DELETE", f"/v1/skills/id/{skill}"))
    assert [payload["body"] for *_, payload in results(rerun(thread, skills="latest"))] == ["OLD"], "it is gone"


def test_a_private_skill_is_for_others_what_the_transcript_has_of_it(api, who, rerun, write, pin):  # noqa: F811
    """Who may fork a thread of somebody else's org gets no skill that they cannot see."""
    Org.objects.update(members_may_fork=True)
    read, unread = write("alice", "read", "OLD", "SECRET"), write("alice", "unread", "SECRET")
    for skill in (read, unread):
        pin("alice", skill, 1)
    thread = make.thread(who.alice, '[[call load_skill {"name": "read"}]]', visibility="org")
    for skills in ("recorded", "latest"):
        record = rerun(thread, who="bob", skills=skills)
        assert [payload["body"] for *_, payload in results(record)] == ["OLD"]
        assert "SECRET" not in str(Thread.objects.latest("pk").available_skills)


def test_it_may_run_on_another_profile(api, who, rerun):
    thread = make.thread(who.alice, "Hello")
    assert rerun(thread, model_profile="simulated")["status"] == "user_turn"
    path = f"threads/{thread.thread_id}/rerun"
    refused = refusal_of(api("alice").post(path, {"message_sequence_num": 1, "model_profile": "gone"}))
    assert refused[:2] == INVALID and refused[2].startswith("model_profile:")


def test_a_request_is_answered_once_more_by_its_own_number_too(who, rerun):
    thread = make.send(who.alice, make.thread(who.alice, "Hello"), "And now?")
    for index in (2, 3):
        record = rerun(thread, index=index)
        assert record["forked_from_message_sequence_num"] == 2
        assert [each["role"] for each in record["messages"]] == ["user", "assistant", "user", "assistant"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "message_sequence_num"),
        *(({"message_sequence_num": each}, "message_sequence_num") for each in (-1, 2, 3, 99, 2**31, 2**63, 10**30)),
        ({"message_sequence_num": 1, "skills": "new"}, "skills"),
        ({"message_sequence_num": 1, "tools": "none"}, "tools"),
    ],
)
def test_what_cannot_be_run_again_names_the_field_and_leaves_nothing(api, who, body, field):
    thread = make.thread(who.alice, "Hello")
    refused = refusal_of(api("alice").post(f"threads/{thread.thread_id}/rerun", body))
    assert refused[:2] == INVALID and refused[2].startswith(f"{field}:")
    assert Thread.objects.count() == 1


def test_in_a_world_everything_is_played_there(api, who, rerun):
    world = data_of(
        api("alice").post("/v1/catalogue/worlds", {"mode": "stateful", "seed": 1, "tools": ["demo__counter"]})
    )
    thread = make.thread(who.alice, "[[call demo__counter {}]]", world_id=world["world_id"])
    [(_, status, _)] = results(rerun(thread))
    assert status == "success" and not DemoCount.objects.exists()
    log = data_of(api("alice").get(f"/v1/catalogue/worlds/{world['world_id']}/calls"))["items"]
    assert len(log) == 2


def test_who_may_not_fork_may_not_run_again(api, who):
    thread = make.thread(who.alice, "Hello", visibility="org")
    for name, status in (("bob", 403), ("eve", 403), (None, 401)):
        answer = api(name).post(f"threads/{thread.thread_id}/rerun", {"message_sequence_num": 1})
        assert answer.status_code == status
