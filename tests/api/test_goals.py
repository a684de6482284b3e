"""Goals, from declaration to conclusion (spec 3.8, 4.3)."""

import json
from datetime import datetime

import pytest

from tests import make
from tests.api import shapes
from tests.conftest import data_of, refusal_of
from threads import goals
from threads.models import Goal, Thread, Turn

SUMMARY = {"goal_type": "dataset_summary", "dataset_id": "ds_1"}
TRIAGE = {
    "goal_type": "dataset_triage",
    "dataset_id": "ds_1",
    "label_vocabulary": {"wet": "It rained.", "dry": "It did not."},
}
EVENTS = {
    "goal_type": "create_events",
    "dataset_id": "ds_1",
    "event_vocabulary": {"Door opens": "A door opens.", "Stop": "It stops."},
    "tag_vocabulary": {"night": "After dark."},
}
BY_TYPE = {goal["goal_type"]: goal for goal in (SUMMARY, TRIAGE, EVENTS)}


def declared(api, goal):
    """The answer to a start with one goal."""
    return api("alice").post("threads", {"goals": [goal]})


def record_of(api, thread):
    return data_of(api("alice").get(f"threads/{thread.thread_id}"))


# Declaring


@pytest.mark.parametrize("goal_type", BY_TYPE)
def test_goal_data_rebuilds_the_declared_goal_B96_B102(api, goal_type):
    goal = BY_TYPE[goal_type]
    [record] = data_of(declared(api, goal))["goals"]
    assert set(record) == shapes.GOAL
    assert (record["goal_type"], record["status"], record["concluded_at"]) == (goal_type, "pending", None)
    data = record["goal_data"]
    # Everything that was given, goal_type included, and the documented defaults.
    assert {key: data[key] for key in goal} == goal
    assert all(value is None or value == {} for key, value in data.items() if key not in goal)


def vocabulary(count, key="k{}", text="A meaning."):
    return {key.format(number): text for number in range(count)}


AT_THE_LIMIT = [
    {**SUMMARY, "dataset_id": ""},
    {**SUMMARY, "summary_format_spec_prompt": "x"},
    {**SUMMARY, "summary_format_spec_prompt": "x" * 4000},
    {**SUMMARY, "summary_format_spec_prompt": None},
    {**TRIAGE, "label_vocabulary": vocabulary(1)},
    {**TRIAGE, "label_vocabulary": vocabulary(50)},
    {**TRIAGE, "label_vocabulary": {"x" * 3000: "No length cap."}},
    {**TRIAGE, "label_vocabulary": {"A-z_09": "x" * 500}},
    {**TRIAGE, "label_vocabulary": {"a": "x"}},
    {**EVENTS, "event_vocabulary": vocabulary(1)},
    {**EVENTS, "event_vocabulary": vocabulary(50)},
    {**EVENTS, "event_vocabulary": {"x" * 100: "x" * 500}},
    {**EVENTS, "event_vocabulary": {"Ünï códe! \n": "Any characters."}},
    {**EVENTS, "tag_vocabulary": {}},
    {**EVENTS, "tag_vocabulary": vocabulary(50)},
    {**EVENTS, "tag_vocabulary": {"x" * 100: "x" * 500}},
    {**EVENTS, "collection_id": "cl_1"},
    {**EVENTS, "collection_id": None},
    {**EVENTS, "event_focus_prompt": "x"},
    {**EVENTS, "event_focus_prompt": "x" * 4000},
]


@pytest.mark.parametrize("goal", AT_THE_LIMIT, ids=range(len(AT_THE_LIMIT)))
def test_every_bound_is_accepted_at_its_limit_B109(api, goal):
    [record] = data_of(declared(api, goal))["goals"]
    assert {key: record["goal_data"][key] for key in goal} == goal


PAST_THE_LIMIT = [
    ("goals.0", None),
    ("goals.0", "dataset_summary"),
    ("goals.0", []),
    ("goals.0.goal_type", {}),
    ("goals.0.goal_type", {"dataset_id": "ds_1"}),
    ("goals.0.goal_type", {**SUMMARY, "goal_type": "dataset_poem"}),
    ("goals.0.goal_type", {**SUMMARY, "goal_type": None}),
    ("goals.0.goal_type", {**SUMMARY, "goal_type": 5}),
    ("goals.0.goal_type", {**SUMMARY, "goal_type": ["dataset_summary"]}),
    ("goals.0.dataset_id", {"goal_type": "dataset_summary"}),
    ("goals.0.dataset_id", {**SUMMARY, "dataset_id": None}),
    ("goals.0.dataset_id", {**SUMMARY, "dataset_id": 5}),
    ("goals.0.summary_format_spec_prompt", {**SUMMARY, "summary_format_spec_prompt": ""}),
    ("goals.0.summary_format_spec_prompt", {**SUMMARY, "summary_format_spec_prompt": "x" * 4001}),
    ("goals.0.summary_format_spec_prompt", {**SUMMARY, "summary_format_spec_prompt": 5}),
    ("goals.0.dataset_id", {k: v for k, v in TRIAGE.items() if k != "dataset_id"}),
    ("goals.0.label_vocabulary", {k: v for k, v in TRIAGE.items() if k != "label_vocabulary"}),
    ("goals.0.label_vocabulary", {**TRIAGE, "label_vocabulary": {}}),
    ("goals.0.label_vocabulary", {**TRIAGE, "label_vocabulary": vocabulary(51)}),
    ("goals.0.label_vocabulary", {**TRIAGE, "label_vocabulary": {"a b": "A blank in the key."}}),
    ("goals.0.label_vocabulary", {**TRIAGE, "label_vocabulary": {"": "No key."}}),
    ("goals.0.label_vocabulary", {**TRIAGE, "label_vocabulary": {"ü": "Not ASCII."}}),
    ("goals.0.label_vocabulary", {**TRIAGE, "label_vocabulary": {"a\n": "A line feed behind."}}),
    ("goals.0.label_vocabulary", {**TRIAGE, "label_vocabulary": {"a": ""}}),
    ("goals.0.label_vocabulary", {**TRIAGE, "label_vocabulary": {"a": " \n"}}),
    ("goals.0.label_vocabulary", {**TRIAGE, "label_vocabulary": {"a": "x" * 501}}),
    ("goals.0.label_vocabulary", {**TRIAGE, "label_vocabulary": {"a": None}}),
    ("goals.0.label_vocabulary", {**TRIAGE, "label_vocabulary": ["a"]}),
    ("goals.0.event_vocabulary", {**EVENTS, "event_vocabulary": {}}),
    ("goals.0.event_vocabulary", {**EVENTS, "event_vocabulary": vocabulary(51)}),
    ("goals.0.event_vocabulary", {**EVENTS, "event_vocabulary": {"": "No key."}}),
    ("goals.0.event_vocabulary", {**EVENTS, "event_vocabulary": {" ": "A blank key."}}),
    ("goals.0.event_vocabulary", {**EVENTS, "event_vocabulary": {"x" * 101: "A long key."}}),
    ("goals.0.event_vocabulary", {**EVENTS, "event_vocabulary": {"a": " "}}),
    ("goals.0.event_vocabulary", {**EVENTS, "event_vocabulary": {"a": "x" * 501}}),
    ("goals.0.tag_vocabulary", {**EVENTS, "tag_vocabulary": vocabulary(51)}),
    ("goals.0.tag_vocabulary", {**EVENTS, "tag_vocabulary": None}),
    ("goals.0.tag_vocabulary", {**EVENTS, "tag_vocabulary": {"": "x"}}),
    ("goals.0.tag_vocabulary", {**EVENTS, "tag_vocabulary": {"x" * 101: "x"}}),
    ("goals.0.tag_vocabulary", {**EVENTS, "tag_vocabulary": {"a": ""}}),
    ("goals.0.tag_vocabulary", {**EVENTS, "tag_vocabulary": {"a": "x" * 501}}),
    ("goals.0.event_focus_prompt", {**EVENTS, "event_focus_prompt": ""}),
    ("goals.0.event_focus_prompt", {**EVENTS, "event_focus_prompt": "x" * 4001}),
    ("goals.0.collection_id", {**EVENTS, "collection_id": 5}),
    ("goals.0.collection_id", {**EVENTS, "collection_id": "x" * 201}),
    *(("goals.0.dataset_id", {**each, "dataset_id": "x" * 201}) for each in (SUMMARY, TRIAGE, EVENTS)),
]


@pytest.mark.parametrize(("place", "goal"), PAST_THE_LIMIT, ids=range(len(PAST_THE_LIMIT)))
def test_every_bound_is_refused_one_past_its_limit_at_its_place_B109(api, place, goal):
    status, code, said = refusal_of(declared(api, goal))
    assert (status, code) == (400, "RobotoInvalidRequestException")
    # A key of a vocabulary may be named too, behind the vocabulary.
    assert said.startswith(place)
    assert not Thread.objects.exists()
    assert not Goal.objects.exists()


def test_goals_in_another_shape_than_a_list_are_refused(api):
    for given in ({}, "x", SUMMARY):
        status, _, said = refusal_of(api("alice").post("threads", {"messages": [make.say("Hi")], "goals": given}))
        assert (status, said.partition(":")[0]) == (400, "goals")


# Achieving


@pytest.mark.parametrize("goal_type", BY_TYPE)
def test_an_achieved_goal_points_at_its_call_whose_input_is_the_result_B97_B103_B104(api, who, goal_type):
    record = record_of(api, make.thread(who.alice, goals=[BY_TYPE[goal_type]]))
    assert record["status"] == "user_turn"
    [goal] = record["goals"]
    assert goal["status"] == "achieved"
    assert datetime.fromisoformat(goal["concluded_at"]) >= datetime.fromisoformat(goal["created"])
    [use] = shapes.blocks(record, "tool_use")
    [result] = shapes.blocks(record, "tool_result")
    assert use["tool_name"] == f"achieve_{goal_type}"
    assert use["tool_use_id"] == result["tool_use_id"] == goal["achieve_tool_use_id"]
    assert result["status"] == "success"
    key = {"dataset_summary": "summary", "dataset_triage": "label_decisions", "create_events": "events"}[goal_type]
    assert list(use["input"]) == [key]


def test_several_goals_of_one_turn_are_achieved_separately_B105(api, who):
    goals = [SUMMARY, TRIAGE, {**SUMMARY, "dataset_id": "ds_2"}, {**SUMMARY, "dataset_id": "ds_3"}]
    record = record_of(api, make.thread(who.alice, goals=goals))
    names = {use["tool_use_id"]: use["tool_name"] for use in shapes.blocks(record, "tool_use")}
    assert [names[goal["achieve_tool_use_id"]] for goal in record["goals"]] == [
        "achieve_dataset_summary",
        "achieve_dataset_triage",
        "achieve_dataset_summary_2",
        "achieve_dataset_summary_3",
    ]
    assert {goal["status"] for goal in record["goals"]} == {"achieved"}


def attempt(api, who, goal, arguments, *, name=None):
    """The record after a turn that tried these arguments once and nothing else."""
    name = name or f"achieve_{goal['goal_type']}"
    text = f"[[call {name} {json.dumps(arguments)}]] [[refuse-goals]]"
    return record_of(api, make.thread(who.alice, text, goals=[goal]))


def decision(label, **changes):
    return {"label": label, "applies": True, "justification": "It is.", "confidence": 0.5, **changes}


def event(**changes):
    return {"name": "Stop", "start_time": 1, "end_time": 2, "target_id": "ds_1", **changes}


GOOD = [
    (SUMMARY, {"summary": "x"}),
    (SUMMARY, {"summary": "x", "extra": 1}),
    (TRIAGE, {"label_decisions": [decision("wet", confidence=0), decision("dry", applies=False, confidence=1)]}),
    (TRIAGE, {"label_decisions": [decision("dry"), decision("wet", confidence=1.0)]}),
    (EVENTS, {"events": []}),
    (EVENTS, {"events": [event(end_time=1)]}),
    (EVENTS, {"events": [event(tags=["night"], description=None), event(name="Door opens", start_time=-5)]}),
    (EVENTS, {"events": [event(target_id=target) for target in ("fl_9", "tp_9", "mp_9")]}),
]


@pytest.mark.parametrize(("goal", "arguments"), GOOD, ids=range(len(GOOD)))
def test_a_valid_attempt_achieves_its_goal_B97_B107_B108_B109(api, who, goal, arguments):
    record = attempt(api, who, goal, arguments)
    assert record["goals"][0]["status"] == "achieved"
    assert shapes.blocks(record, "tool_use")[0]["input"] == arguments


WET, DRY = decision("wet"), decision("dry")
BAD = [
    (SUMMARY, {}),
    (SUMMARY, {"summary": ""}),
    (SUMMARY, {"summary": "  "}),
    (SUMMARY, {"summary": None}),
    (SUMMARY, {"summary": 5}),
    (TRIAGE, {"label_decisions": []}),
    (TRIAGE, {"label_decisions": [WET]}),
    (TRIAGE, {"label_decisions": [WET, DRY, WET]}),
    (TRIAGE, {"label_decisions": [WET, DRY, decision("foggy")]}),
    (TRIAGE, {"label_decisions": [WET, decision("dry", applies="true")]}),
    (TRIAGE, {"label_decisions": [WET, decision("dry", applies=1)]}),
    (TRIAGE, {"label_decisions": [WET, decision("dry", justification=" ")]}),
    (TRIAGE, {"label_decisions": [WET, decision("dry", applies=False, justification="")]}),
    (TRIAGE, {"label_decisions": [WET, decision("dry", confidence=1.01)]}),
    (TRIAGE, {"label_decisions": [WET, decision("dry", confidence=-0.01)]}),
    (TRIAGE, {"label_decisions": [WET, decision("dry", confidence="0.5")]}),
    (EVENTS, {}),
    (EVENTS, {"events": None}),
    (EVENTS, {"events": [event(name="Start")]}),
    (EVENTS, {"events": [event(tags=["day"])]}),
    (EVENTS, {"events": [event(start_time=3)]}),
    (EVENTS, {"events": [event(start_time=1.0)]}),
    (EVENTS, {"events": [event(start_time="1")]}),
    (EVENTS, {"events": [event(end_time=True)]}),
    (EVENTS, {"events": [event(target_id=None)]}),
    (EVENTS, {"events": [{k: v for k, v in event().items() if k != "target_id"}]}),
    (EVENTS, {"events": [event(target_id="xx_1")]}),
    (EVENTS, {"events": [event(target_id="ds_2")]}),
    (EVENTS, {"events": [event(), event(end_time=0)]}),
]


@pytest.mark.parametrize(("goal", "arguments"), BAD, ids=range(len(BAD)))
def test_an_invalid_attempt_is_an_error_result_and_the_goal_stays_open_B98_B107_B108_B109(api, who, goal, arguments):
    record = attempt(api, who, goal, arguments)
    [use], [result] = shapes.blocks(record, "tool_use"), shapes.blocks(record, "tool_result")
    assert result["status"] == "error"
    assert result["payload"]["error"]
    # The latest attempt is named, though it failed with the turn in the end.
    assert record["goals"][0]["achieve_tool_use_id"] == use["tool_use_id"]
    assert record["goals"][0]["status"] == "failed"
    assert record["status"] == "goals_failed"


@pytest.mark.parametrize("arguments", ["[1]", '{"summary": "\\u0000"}', '{"summary": "\\ud800"}', '{"summary": 1e400}'])
def test_an_attempt_that_the_server_refuses_is_an_attempt_B103(api, who, arguments):
    """Spec 4.3: every attempt is named, one whose arguments are no storable object too."""
    text = f"[[call achieve_dataset_summary {arguments}]] [[refuse-goals]]"
    record = record_of(api, make.thread(who.alice, text, goals=[SUMMARY]))
    [use] = shapes.blocks(record, "tool_use")
    assert (use["answered_by_server"], use["input"]) == (True, None)
    assert record["goals"][0]["achieve_tool_use_id"] == use["tool_use_id"]
    assert (record["goals"][0]["status"], record["status"]) == ("failed", "goals_failed")


def test_after_a_failed_attempt_the_model_tries_again_B97(api, who):
    text = '[[call achieve_dataset_summary {"summary": ""}]]'
    record = record_of(api, make.thread(who.alice, text, goals=[SUMMARY]))
    uses, results = shapes.blocks(record, "tool_use"), shapes.blocks(record, "tool_result")
    assert [result["status"] for result in results] == ["error", "success"]
    assert record["goals"][0]["status"] == "achieved"
    assert record["goals"][0]["achieve_tool_use_id"] == uses[1]["tool_use_id"]
    assert record["status"] == "user_turn"


def test_the_budget_is_three_reprompts_none_of_them_stored_B98(api, who):
    """Spec 4.3: four answers in all, and no user message between them."""
    thread = make.thread(who.alice, "[[refuse-goals]] [[words 2]]", goals=[SUMMARY])
    record = record_of(api, thread)
    assert record["status"] == "goals_failed"
    assert [message["role"] for message in record["messages"]] == ["user"] + ["assistant"] * 4
    assert set(shapes.texts(record)[1:]) == {"the warp"}
    [goal] = record["goals"]
    assert (goal["status"], goal["achieve_tool_use_id"]) == ("failed", None)
    assert goal["concluded_at"]
    assert Turn.objects.get(thread=thread).reprompts == 3


def test_a_generation_that_fails_fails_its_goals_B98(api, who):
    """Spec 4.1."""
    record = record_of(api, make.thread(who.alice, "[[refuse-goals]] [[fail]]", goals=[SUMMARY]))
    assert record["status"] == "goals_failed"
    assert record["goals"][0]["status"] == "failed"
    assert record["messages"][-1]["status"] == "failed"
    assert shapes.blocks(record, "error")


def test_an_achieved_goal_stays_achieved_when_a_sibling_fails_B110(api, who):
    text = '[[call achieve_dataset_summary {"summary": "x"}]] [[refuse-goals]]'
    record = record_of(api, make.thread(who.alice, text, goals=[TRIAGE, SUMMARY]))
    assert [goal["status"] for goal in record["goals"]] == ["failed", "achieved"]
    assert record["status"] == "goals_failed"
    assert all(goal["concluded_at"] for goal in record["goals"])


def test_a_second_call_for_an_achieved_goal_changes_nothing_B103(api, who):
    text = '[[call achieve_dataset_summary {"summary": "a"}]] [[call achieve_dataset_summary {"summary": "b"}]]'
    record = record_of(api, make.thread(who.alice, text, goals=[SUMMARY]))
    uses = shapes.blocks(record, "tool_use")
    assert record["goals"][0]["achieve_tool_use_id"] == uses[0]["tool_use_id"]
    assert Goal.objects.get().result == {"summary": "a"}


def test_an_invalid_call_for_an_achieved_goal_is_an_error_and_changes_nothing_B97(api, who):
    """Spec 3.8: failing either kind of rule yields an error result."""
    text = '[[call achieve_dataset_summary {"summary": "a"}]] [[call achieve_dataset_summary {"summary": ""}]]'
    record = record_of(api, make.thread(who.alice, text, goals=[SUMMARY]))
    uses, results = shapes.blocks(record, "tool_use"), shapes.blocks(record, "tool_result")
    assert [(result["status"], result["payload"]["achieved"]) for result in results] == [
        ("success", True),
        ("error", False),
    ]
    goal = record["goals"][0]
    assert (goal["status"], goal["achieve_tool_use_id"]) == ("achieved", uses[0]["tool_use_id"])
    assert Goal.objects.get().result == {"summary": "a"}


def test_the_results_of_achieved_goals_are_kept_with_them(api, who):
    """Spec 3.8: effects of success."""
    attempt(api, who, EVENTS, {"events": [event(tags=["night"])]})
    [stored] = Goal.objects.get().result["events"]
    assert (stored["name"], stored["start_time"], stored["tags"]) == ("Stop", 1, ["night"])


def test_goals_stay_pending_while_a_client_tool_has_the_turn_and_are_achieved_after(api, who):
    """Spec 4.3: goals and client tools mix."""
    thread = make.waiting(who.alice, goals=[SUMMARY])
    record = record_of(api, thread)
    assert (record["status"], record["goals"][0]["status"]) == ("client_tool_turn", "pending")
    [use] = shapes.blocks(record, "tool_use")
    result = {"tool_use_id": use["tool_use_id"], "tool_name": "remember", "runtime_ms": 1, "status": "success"}
    data_of(api("alice").post(f"threads/{thread.thread_id}/tool-results", {"tool_results": [result]}))
    make.run_turns()
    record = record_of(api, thread)
    assert (record["status"], record["goals"][0]["status"]) == ("user_turn", "achieved")


def test_a_failed_generation_without_goals_leaves_the_thread_usable_B61(api, who):
    """Spec 4.6 item 11."""
    record = record_of(api, make.thread(who.alice, "[[fail]]"))
    assert record["status"] == "user_turn"
    last = record["messages"][-1]
    assert last["status"] == "failed"
    [error] = shapes.blocks(record, "error")
    assert set(error) == shapes.ERROR
    assert error["error_message"]


def test_an_achieve_tool_of_an_earlier_turn_is_no_tool_of_a_later_one(api, who):
    """Spec 4.3: a tool for the turn."""
    thread = make.thread(who.alice, goals=[SUMMARY])
    make.send(who.alice, thread, '[[call achieve_dataset_summary {"summary": "again"}]]')
    record = record_of(api, thread)
    assert shapes.blocks(record, "tool_use")[-1]["answered_by_server"] is True
    assert shapes.blocks(record, "tool_result")[-1]["status"] == "error"
    assert record["status"] == "user_turn"


def test_a_goal_whose_achieve_tool_cannot_be_built_is_failed_B99(api, who, monkeypatch):
    """Such as one of a type that this version does not know any more."""
    thread = make.thread(who.alice, goals=[SUMMARY, TRIAGE], run=False)
    known = {name: kind for name, kind in goals.REGISTRY.items() if name != "dataset_summary"}
    monkeypatch.setattr("threads.goals.REGISTRY", known)
    make.run_turns()
    record = record_of(api, thread)
    assert record["status"] == "goals_failed"
    assert record["goals"][0]["status"] == "failed"
    assert record["goals"][0]["concluded_at"]
    assert "generating" not in {message["status"] for message in record["messages"]}


def test_a_schema_that_asks_for_a_billion_items_makes_none_B98(api, who):
    """The simulator's example of it would take all memory there is."""
    items = {"type": "array", "minItems": 10**9, "items": {"type": "string", "minLength": 10**12}}
    goal = {"goal_type": "structured_output", "output_schema": {**items, "items": items}}
    thread = make.thread(who.alice, goals=[goal])
    assert data_of(api("alice").get(f"threads/{thread.thread_id}"))["status"] == "goals_failed"
