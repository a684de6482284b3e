"""Checks: a complaint that is kept as a test, is run again, and passes or fails (decision 016)."""

import threading
from time import sleep
from unittest.mock import Mock

import pytest
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from catalogue import patterns
from core import jobs, sse
from core.errors import Conflict
from feedback import sweeping
from feedback.checks import expecting, judging, running
from feedback.models import Check, CheckBatch, CheckRun, UserFeedback
from tests import make
from tests.api.test_http_tools import connected, receiver, tools  # noqa: F401 - fixtures
from tests.api.test_skills_in_turns import pin, write  # noqa: F401 - fixtures
from tests.conftest import Api, data_of, refusal_of
from tests.people import second_admin
from threads import deleting, reruns
from threads.models import Goal, Thread
from threads.runner import loop

FEEDBACK, CHECKS = "admin/feedback", "admin/checks"
INVALID = (400, "RobotoInvalidRequestException")
ECHO = {"kind": "calls", "value": "echo"}
NO_ECHO = {"kind": "never_calls", "value": "echo"}
CALLING = '[[call echo {"value": {"of": 7, "not": 8}}]] Where is my order?'


@pytest.fixture
def kept(api, who):
    """`kept(*expectations)`: a new report on an answer that calls echo, as a check."""

    def keep(*expectations, said=CALLING, index=1, goals=(), client_tools=(), **body):
        asked = {"goals": list(goals), "client_tools": list(client_tools)}
        report = make.rating(who.alice, make.thread(who.alice, said, **{k: v for k, v in asked.items() if v}), index)
        path = f"{FEEDBACK}/{report.feedback_id}/check"
        return data_of(api("admin").put(path, {"expectations": list(expectations), **body}))

    return keep


@pytest.fixture
def ran(api):
    """`ran(check, **body)`: what came of running it, once every turn is over."""

    def run(check, **body):
        begun = data_of(api("admin").post(f"{CHECKS}/{check['check_id']}/runs", body))
        assert begun["running"] + begun["waiting"] == begun["total"] and not begun["is_over"]
        return over(api, begun)

    return run


def over(api, begun):
    """A batch once its turns are over, those that waited for others too."""
    batch = begun
    while not batch["is_over"]:
        under_way = [each for each in batch["runs"] if each["thread_id"] and not each["ended_at"]]
        assert under_way, "nothing of it goes on"
        for each in under_way:
            make.run_turns(Thread.objects.by_public_id(each["thread_id"]).get())
        batch = data_of(api("admin").get(f"{CHECKS}/batches/{begun['batch_id']}"))
    return batch


def test_keeping_the_same_again_changes_nothing(api, kept, ran):
    check = kept(NO_ECHO)
    ran(check)
    path = f"{FEEDBACK}/{check['feedback_id']}/check"
    before = data_of(api("admin").get(path))
    assert data_of(api("admin").put(path, {"expectations": [NO_ECHO]})) == before


def test_a_check_of_an_answer_without_a_request_is_changed_as_any_other(api, who):
    """Only a new check without a title takes one from the request."""
    thread = make.conversation(who.alice, 2, roles=("assistant", "user"))
    path = f"{FEEDBACK}/{make.rating(who.alice, thread, 0).feedback_id}/check"
    assert "has no request before it" in refusal_of(api("admin").put(path, {"expectations": [ECHO]}))[2]
    data_of(api("admin").put(path, {"title": "Says nothing first"}))
    check = data_of(api("admin").put(path, {"expectations": [ECHO]}))
    assert (check["title"], len(check["expectations"])) == ("Says nothing first", 1)


def launched(api, person, prompt, **values):
    """An agent whose system prompt this is, and a check of an answer in a thread launched from it."""
    template = {"messages": [make.say("Hello")], "system_prompt": prompt}
    body = {"name": "teller", "request_template": template, "variables": [{"name": name} for name in values]}
    agent = data_of(api("alice").post("agents", body))
    made = data_of(api("alice").post(f"agents/{agent['agent_id']}/launch", {"values": values}))
    thread = Thread.objects.by_public_id(made["thread_id"]).get()
    make.run_turns(thread)
    report = make.rating(person, make.fresh(thread))
    return agent, data_of(api("admin").put(f"{FEEDBACK}/{report.feedback_id}/check", {"expectations": [NO_ECHO]}))


def test_a_check_runs_with_the_prompt_that_its_agent_has_now(api, who, ran, kept):
    """With the values of its launch; and a thread that was not launched keeps its own."""
    agent, check = launched(api, who.alice, "Be brief to {{who}}.", who="Ann {{who}}")
    template = {**agent["request_template"], "system_prompt": "Be kind to {{who}}, in {{language}}."}
    variables = [{"name": "who"}, {"name": "language", "default": "English"}]
    data_of(api("alice").put(f"agents/{agent['agent_id']}", {"request_template": template, "variables": variables}))

    def prompts(check, **chosen):
        batch = ran(check, **chosen)
        forks = [Thread.objects.by_public_id(each["thread_id"]).get() for each in batch["runs"]]
        return batch["prompt"], {each["prompt"] for each in batch["runs"]}, [fork.system_prompt for fork in forks]

    assert prompts(check) == ("recorded", {"recorded"}, ["Be brief to Ann {{who}}."])
    assert prompts(check, prompt="latest") == ("latest", {"latest"}, ["Be kind to Ann {{who}}, in English."])
    assert prompts(kept(NO_ECHO), prompt="latest")[2] == [None]


def test_a_run_whose_prompt_cannot_be_made_says_why(api, who):
    """A value that is not known, an agent that is gone: the run is broken and starts nothing."""
    agent, check = launched(api, who.alice, "Be brief to {{who}}.", who="Ann")
    Thread.objects.update(launch_values=None)  # as before they were kept
    run = lambda: data_of(api("admin").post(f"{CHECKS}/{check['check_id']}/runs", {"prompt": "latest"}))["runs"][0]  # noqa: E731
    broken = run()
    assert (broken["verdict"], broken["thread_id"]) == ("broken", None)
    assert "the value of who in the system prompt of teller is not known" in broken["problem"]
    Thread.objects.update(launch_values={"who": "x" * 10_000})
    template = {**agent["request_template"], "system_prompt": "{{who}}" * 10_000}
    body = {"request_template": template, "variables": agent["variables"]}
    data_of(api("alice").put(f"agents/{agent['agent_id']}", body))
    assert "makes the system prompt longer than 1,000,000 characters" in run()["problem"]
    assert api("alice").get(f"threads/{check['thread_id']}").status_code == 200
    api("alice").request("DELETE", f"agents/{agent['agent_id']}")
    assert run()["problem"] == "The agent that this thread was launched from is gone."
    path = f"threads/{check['thread_id']}/rerun"
    both = {"message_sequence_num": 1, "prompt": "latest", "system_prompt": "Other."}
    assert refusal_of(api("alice").post(path, both))[2].startswith("prompt: must not be latest")


def state(api, check):
    return data_of(api("admin").get(f"{CHECKS}/{check['check_id']}"))["state"]


def test_a_complaint_is_kept_and_fails_until_it_does_not_happen_again(api, kept, ran):
    check = kept(NO_ECHO)
    assert check["state"] == "untried" and check["runs"] == [] and check["title"] == CALLING
    done = ran(check, times=3)
    assert (done["total"], done["failed"]) == (3, 3) and state(api, check) == "failing"
    (finding,) = done["runs"][0]["findings"]
    assert finding["holds"] is False and finding["found"] == 'echo {"value":{"not":8,"of":7}}'
    assert finding["expectation"] == NO_ECHO
    path = f"{FEEDBACK}/{check['feedback_id']}/check"
    changed = data_of(api("admin").put(path, {"expectations": [ECHO]}))
    assert changed["check_id"] == check["check_id"] and changed["state"] == "passing"
    assert [run["verdict"] for run in changed["runs"]] == ["passed"] * 3, "their transcripts are there"
    assert ran(check)["passed"] == 1
    assert len(data_of(api("admin").get(path))["runs"]) == 4


@pytest.mark.parametrize(
    ("expectation", "holds", "found"),
    [
        ({"kind": "says", "value": "RATHER  a\nlong"}, False, "The answer is empty."),
        ({"kind": "never_says", "value": "refund"}, True, "The answer is empty."),
        ({**ECHO, "input": {"value": {"of": 7.0}}}, True, 'echo {"value":{"not":8,"of":7}}'),
        ({**ECHO, "input": {"value": {"of": 8}}}, False, 'echo {"value":{"not":8,"of":7}}'),
        ({**NO_ECHO, "input": {"value": {"of": 8}}}, True, 'echo {"value":{"not":8,"of":7}}'),
        ({"kind": "calls", "value": "refund"}, False, "called echo and nothing__here"),
        ({"kind": "calls_once", "value": "echo"}, True, 'echo {"value":{"not":8,"of":7}}'),
        ({"kind": "calls_once", "value": "refund"}, False, "called echo and nothing__here"),
        ({"kind": "no_tool_errors"}, False, "failed nothing__here"),
        ({"kind": "achieves_goals"}, False, "No goal was declared."),
    ],
)
def test_what_may_be_expected(kept, ran, expectation, holds, found):
    check = kept(expectation, said=f"{CALLING} [[call nothing__here {{}}]]")
    (run,) = ran(check)["runs"]
    (finding,) = run["findings"]
    said = finding["found"]
    assert finding["holds"] is holds and run["verdict"] == ("passed" if holds else "failed")
    assert said == found or expectation["kind"].endswith("says")


def test_a_tool_that_is_called_twice_is_not_called_once(kept, ran):
    check = kept({"kind": "calls_once", "value": "echo"}, said=f"{CALLING} {CALLING}")
    (run,) = ran(check)["runs"]
    assert run["verdict"] == "failed"


@pytest.mark.parametrize(
    ("pattern", "words", "holds"),
    [
        (r"R-[0-9]{4}\b", "Your case is R-1234.", True),
        (r"R-[0-9]{4}\b", "Your case is R-12345.", False),
        (r"r-[0-9]{4}", "Your case is R-1234.", False),
        (r"(?i)r-[0-9]{4}", "Your case is R-1234.", True),
        (r"^Your  case$", "Your  case", True),
        (r"(a|aa)+$", "a" * 5000 + "b", False),
    ],
)
def test_an_expression_is_found_or_not_and_is_given_up_in_time(pattern, words, holds):
    answer = expecting.Answer(words=words)
    wanted = [{"kind": kind, "value": pattern} for kind in ("matches", "never_matches")]
    matches, never = expecting.findings(wanted, answer)
    assert matches.holds is holds
    assert never.holds is not holds or "takes too long" in never.found


def test_words_are_found_whatever_their_case_and_spaces(api, who, kept, ran):
    check = kept(said="Count my orders, please.")
    (run,) = ran(check)["runs"]
    record = data_of(api("admin").get(f"threads/{run['thread_id']}"))
    said = " ".join(block["text"] for block in record["messages"][-1]["content"] if block["content_type"] == "text")
    words = "  ".join(said.upper().split()[:4])
    path = f"{FEEDBACK}/{check['feedback_id']}/check"
    for kind, verdict in (("says", "passed"), ("never_says", "failed")):
        changed = data_of(api("admin").put(path, {"expectations": [{"kind": kind, "value": words}]}))
        assert changed["runs"][0]["verdict"] == verdict


def test_a_turn_that_breaks_says_nothing_about_the_answer(api, kept, ran):
    check = kept({"kind": "never_says", "value": "refund"}, said="[[fail]] What now?")
    assert ran(check)["broken"] == 1 and state(api, check) == "undecided"


def test_without_expectations_people_judge_and_their_word_stays(api, who, kept, ran):
    check = kept()
    done = ran(check, times=2)
    assert done["undecided"] == 2 and state(api, check) == "undecided"
    first, second = (f"{CHECKS}/runs/{run['run_id']}/verdict" for run in done["runs"])
    judged = data_of(api("admin").put(first, {"verdict": "passed"}))
    assert judged["verdict"] == "passed" and judged["judged_by"] == who.admin.user.email
    assert state(api, check) == "undecided"
    data_of(api("admin").put(second, {"verdict": "passed"}))
    assert state(api, check) == "passing"
    path = f"{FEEDBACK}/{check['feedback_id']}/check"
    data_of(api("admin").put(path, {"expectations": [NO_ECHO]}))
    assert state(api, check) == "passing", "what somebody judged stays"
    assert data_of(api("admin").put(second, {"verdict": None}))["verdict"] == "failed"
    assert state(api, check) == "failing"


GOAL = {"goal_type": "dataset_summary", "dataset_id": "ds_1"}


@pytest.mark.parametrize(("said", "verdict"), [("Sum it up.", "passed"), ("Sum it up. [[refuse-goals]]", "failed")])
def test_the_goals_of_a_run_are_its_own(api, who, kept, ran, said, verdict):
    check = kept({"kind": "achieves_goals"}, {"kind": "no_tool_errors"}, said=said, goals=[GOAL])
    Goal.objects.update(status="failed")
    (run,) = ran(check)["runs"]
    assert run["verdict"] == verdict
    missed = [finding["found"] for finding in run["findings"] if not finding["holds"]]
    assert missed == ([] if verdict == "passed" else ["1 of 1 not achieved"])


def test_each_goal_counts_also_where_two_are_of_one_type(kept, ran):
    said = '[[refuse-goals]] [[call achieve_dataset_summary_2 {"summary": "Two rows."}]] Sum it up.'
    check = kept({"kind": "achieves_goals"}, said=said, goals=[GOAL, {**GOAL, "dataset_id": "ds_2"}])
    (run,) = ran(check)["runs"]
    assert run["verdict"] == "failed" and run["findings"][0]["found"] == "1 of 2 not achieved"


def test_an_attempt_at_a_goal_is_no_call_and_no_tool_error(kept, ran):
    said = '[[call achieve_dataset_summary {"summary": ""}]] Sum it up.'
    never = [{"kind": "never_calls", "value": f"achieve_dataset_summary{number}"} for number in ("", "_2")]
    wanted = [{"kind": "no_tool_errors"}, {"kind": "achieves_goals"}, *never]
    check = kept(*wanted, said=said, goals=[GOAL, {**GOAL, "dataset_id": "ds_2"}])
    (run,) = ran(check)["runs"]
    assert [each["found"] for each in run["findings"]] == ["", "", "No tool was called.", "No tool was called."]
    assert run["verdict"] == "passed"


def test_a_run_that_waits_for_a_client_or_is_stopped_says_nothing_about_the_answer(api, who, kept):
    asked = [make.client_tool("remember")]
    check = kept({"kind": "never_says", "value": "refund"}, said="[[call remember {}]]", client_tools=asked, index=1)
    path = f"{CHECKS}/{check['check_id']}/runs"
    waits = over(api, data_of(api("admin").post(path, {"tools": "live"})))
    assert waits["broken"] == 1 and state(api, check) == "undecided"
    stopped = data_of(api("admin").post(path, {}))
    data_of(api("admin").post(f"threads/{stopped['runs'][0]['thread_id']}/cancel"))
    [run] = over(api, stopped)["runs"]
    assert (run["verdict"], run["problem"]) == ("broken", "It was stopped.")


def test_a_call_that_the_rerun_does_not_make_is_no_tool_error(api, who, connected, ran):  # noqa: F811
    connected()
    asked = '[[call srv__book {"q": "x"}]]'
    messages = [{"role": "user", "content": asked}, {"role": "assistant", "content": "Booked."}]
    body = {"format": "openai", "conversations": [{"id": "elsewhere", "messages": messages}]}
    data_of(api("alice").post("threads/import", body))
    report = make.rating(who.alice, Thread.objects.get(import_id="elsewhere"))
    expectations = [{"kind": "no_tool_errors"}, {"kind": "calls", "value": "srv__book"}]
    check = data_of(api("admin").put(f"{FEEDBACK}/{report.feedback_id}/check", {"expectations": expectations}))
    (run,) = ran(check)["runs"]
    assert run["verdict"] == "passed" and run["findings"][0]["found"] == "not called: srv__book"


@pytest.mark.parametrize("problem", [Conflict("Not this one."), RuntimeError("a bug")])
def test_a_run_that_cannot_be_begun_ends_and_says_why_and_the_others_go_on(api, kept, monkeypatch, problem):
    first, second = kept(ECHO), kept(ECHO)
    begin = reruns.rerun

    def fails(actor, source, body):
        if source.thread_id == first["thread_id"]:
            raise problem
        return begin(actor, source, body)

    monkeypatch.setattr(reruns, "rerun", fails)
    done = over(api, data_of(api("admin").post(f"{CHECKS}/run", {})))
    assert (done["broken"], done["passed"]) == (1, 1)
    (broken,) = (each for each in done["runs"] if each["verdict"] == "broken")
    assert broken["thread_id"] is None
    assert broken["problem"] == ("Not this one." if isinstance(problem, Conflict) else "It could not be started.")
    assert state(api, first) == "undecided" and state(api, second) == "passing"
    assert refusal_of(api("admin").put(f"{CHECKS}/runs/{broken['run_id']}/verdict", {"verdict": "passed"}))[0] == 409


def test_what_waits_when_its_starter_is_switched_off_is_not_begun_and_says_why(api, who, kept, settings):
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"check_runs": 1})
    begun = data_of(api("admin").post(f"{CHECKS}/{kept(ECHO)['check_id']}/runs", {"times": 3}))
    assert (begun["running"], begun["waiting"]) == (1, 2)
    User.objects.filter(pk=who.admin.user.pk).update(is_active=False)
    other = Api(second_admin().token)
    done = over(lambda _: other, begun)
    assert (done["passed"], done["broken"]) == (1, 2)
    assert [each["problem"] for each in done["runs"] if each["thread_id"] is None] == [
        "Only platform admins can do this."
    ] * 2


def test_only_a_few_are_under_way_at_once_and_the_least_served_batch_is_next(api, kept, settings):
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"check_runs": 2})
    first, second = kept(ECHO), kept(ECHO)
    many = data_of(api("admin").post(f"{CHECKS}/{first['check_id']}/runs", {"times": 5}))
    assert (many["running"], many["waiting"]) == (2, 3)
    one = data_of(api("admin").post(f"{CHECKS}/{second['check_id']}/runs", {}))
    assert (one["running"], one["waiting"]) == (0, 1)
    (run,) = [each for each in many["runs"] if each["thread_id"]][:1]
    make.run_turns(Thread.objects.by_public_id(run["thread_id"]).get())
    assert data_of(api("admin").get(f"{CHECKS}/batches/{one['batch_id']}"))["running"] == 1, "it does not stand behind"
    for batch in (one, many):
        make.run_turns()
        assert over(api, data_of(api("admin").get(f"{CHECKS}/batches/{batch['batch_id']}")))["passed"] == batch["total"]


@pytest.mark.parametrize(
    ("ends", "state"), [("answered", "passing"), ("cancelled", "undecided"), ("crashed", "undecided")]
)
def test_the_end_of_a_run_begins_the_next_without_anybody_looking(api, kept, settings, monkeypatch, ends, state):
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"check_runs": 1})
    check = kept(ECHO)
    data_of(api("admin").post(f"{CHECKS}/{check['check_id']}/runs", {"times": 3}))
    asked = []
    monkeypatch.setattr(jobs, "enqueue_on_commit", lambda task, row: asked.append((task, row)))
    if ends == "crashed":
        monkeypatch.setattr(loop._Run, "step", lambda run: 1 / 0)
    for _ in range(3):
        if ends == "cancelled":
            under_way = CheckRun.objects.get(ended_at=None, fork__isnull=False).fork
            data_of(api("admin").post(f"threads/{under_way.thread_id}/cancel", {}))
        make.run_turns()
        (run,) = [row for task, row in asked if task == "feedback.checks"]
        asked.clear()
        assert CheckRun.objects.get(pk=run).ended_at is None
        running.go_on()
    assert Check.objects.get().state == state and CheckBatch.objects.get().ended_at


def test_asked_again_within_a_minute_it_is_the_same_batch(api, who, kept):
    check = kept(ECHO)
    runs = f"{CHECKS}/{check['check_id']}/runs"
    first = data_of(api("admin").post(runs, {"times": 3}))
    assert data_of(api("admin").post(runs, {"times": 3}))["batch_id"] == first["batch_id"]
    assert data_of(api("admin").post(runs, {"times": 2}))["batch_id"] != first["batch_id"]
    who.bob.user.is_staff = True
    who.bob.user.save()
    assert data_of(api("bob").post(runs, {"times": 3}))["batch_id"] != first["batch_id"], "somebody else asked"
    over(api, first)
    assert data_of(api("admin").post(runs, {"times": 3}))["batch_id"] != first["batch_id"], "it is over"


def test_a_batch_is_stopped_and_what_had_ended_stays(api, kept, ran, settings):
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"check_runs": 2})
    first, second, third = kept(ECHO), kept(ECHO), kept(ECHO)
    ran(third)
    begun = data_of(api("admin").post(f"{CHECKS}/run", {"times": 2}))
    assert (begun["running"], begun["waiting"]) == (2, 4)
    ended = next(each for each in begun["runs"] if each["check_id"] == first["check_id"] and each["thread_id"])
    make.run_turns(Thread.objects.by_public_id(ended["thread_id"]).get())
    stopped = data_of(api("admin").post(f"{CHECKS}/batches/{begun['batch_id']}/stop"))
    assert stopped["is_over"] and stopped["total"] == 2 and (stopped["passed"], stopped["broken"]) == (1, 1)
    assert (state(api, first), state(api, second), state(api, third)) == ("passing", "undecided", "passing")
    assert data_of(api("admin").post(f"{CHECKS}/batches/{begun['batch_id']}/stop")) == stopped
    make.run_turns()
    assert not CheckRun.objects.filter(ended_at=None).exists()


def test_what_waits_for_a_check_that_is_dropped_is_forgotten(api, kept, settings):
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"check_runs": 1})
    check = kept(ECHO)
    begun = data_of(api("admin").post(f"{CHECKS}/{check['check_id']}/runs", {"times": 3}))
    api("admin").request("DELETE", f"{CHECKS}/{check['check_id']}")
    done = over(api, begun)
    assert (done["total"], done["passed"]) == (1, 1)
    again = data_of(api("admin").put(f"{FEEDBACK}/{check['feedback_id']}/check", {"expectations": [ECHO]}))
    assert again["state"] == "passing"


def ended_but_not_settled(api, check, **body):
    """A batch of which every turn is over and nobody has looked."""
    begun = data_of(api("admin").post(f"{CHECKS}/{check['check_id']}/runs", body))
    make.run_turns()
    CheckRun.objects.update(ended_at=None, verdict=None)
    CheckBatch.objects.update(ended_at=None)
    return begun


@pytest.fixture
def searched(monkeypatch):
    """Of each search for an expression the time that it may take, and whether something was locked meanwhile."""
    found = []

    def search(pattern, text, *, seconds):
        found.append((seconds, connection.in_atomic_block))
        sleep(min(seconds, 0.05))
        raise patterns.SearchTooLong

    monkeypatch.setattr(patterns, "matches", search)
    return found


@pytest.mark.django_db(transaction=True)
def test_expressions_are_searched_while_nothing_is_locked_and_have_one_time_together(
    api, kept, settings, searched, monkeypatch
):
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"check_runs": 10})
    monkeypatch.setattr(expecting, "_SECONDS", 0.5)
    slow = [{"kind": "never_matches", "value": f"(a|aa)+{number}$"} for number in range(20)]
    check = kept(slow[0])
    ended_but_not_settled(api, check, times=5)
    looks = [state(api, check) for _ in range(5)]  # what takes long is left to the next look
    assert looks[-1] == "failing" and len(searched) == 5
    path = f"{FEEDBACK}/{check['feedback_id']}/check"
    assert data_of(api("admin").put(path, {"expectations": slow}))["state"] == "failing"
    assert len(searched) == 105 and sum(seconds for seconds, _ in searched[5:] if seconds > 0.01) < 6
    run = CheckRun.objects.first().run_id
    data_of(api("admin").put(f"{CHECKS}/runs/{run}/verdict", {"verdict": "passed"}))
    assert data_of(api("admin").put(f"{CHECKS}/runs/{run}/verdict", {"verdict": None}))["verdict"] == "failed"
    assert len(searched) == 125 and not any(is_locked for _, is_locked in searched)


@pytest.mark.parametrize("verb", ["settle", "judge"])
def test_what_is_expected_when_a_verdict_is_stored_is_what_counts(api, kept, monkeypatch, verb):
    check = kept(NO_ECHO)
    begun = ended_but_not_settled(api, check)
    verdict = f"{CHECKS}/runs/{begun['runs'][0]['run_id']}/verdict"
    if verb == "judge":
        assert state(api, check) == "failing"
    read = expecting.findings

    def changed_meanwhile(*given, **until):
        monkeypatch.setattr(expecting, "findings", read)
        api("admin").put(f"{FEEDBACK}/{check['feedback_id']}/check", {"expectations": [ECHO]})
        return read(*given, **until)

    monkeypatch.setattr(expecting, "findings", changed_meanwhile)
    if verb == "judge":
        assert refusal_of(api("admin").put(verdict, {"verdict": None}))[0] == 409
    api("admin").get(CHECKS)
    assert state(api, check) == "passing"


def test_a_run_that_nobody_can_judge_breaks_off_and_keeps_no_other_waiting(api, kept, monkeypatch):
    first, second = kept(ECHO), kept(ECHO)
    ended_but_not_settled(api, first), ended_but_not_settled(api, second)
    runs = f"{CHECKS}/{first['check_id']}"
    unreadable, read = CheckRun.objects.get(of__key=first["check_id"][4:]).fork_id, expecting.answer_of

    def answer_of(thread, upto):
        if thread.pk == unreadable:
            raise RuntimeError("a bug")
        return read(thread, upto)

    monkeypatch.setattr(expecting, "answer_of", answer_of)
    (run,) = data_of(api("admin").get(runs))["runs"]
    assert (run["verdict"], run["problem"]) == ("broken", "It could not be judged.") and run["ended_at"]
    assert (state(api, first), state(api, second)) == ("undecided", "passing")
    checked = f"{FEEDBACK}/{first['feedback_id']}/check"
    assert data_of(api("admin").put(checked, {"expectations": [NO_ECHO]}))["state"] == "undecided"
    monkeypatch.setattr(expecting, "answer_of", read)
    left = data_of(api("admin").put(f"{CHECKS}/runs/{run['run_id']}/verdict", {"verdict": None}))
    assert (left["verdict"], left["problem"]) == ("failed", ""), "left to what is expected, it is judged again"
    assert data_of(api("admin").put(checked, {"expectations": [ECHO]}))["state"] == "passing"


@pytest.mark.parametrize("verb", ["settle", "keep", "judge", "stop"])
def test_a_check_whose_thread_is_deleted_just_then_is_not_there(api, who, kept, monkeypatch, settings, verb):
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"check_runs": 1})
    check, real = kept(ECHO), judging.locked
    path = f"{CHECKS}/{check['check_id']}"
    begun = ended_but_not_settled(api, check, times=1 if verb != "stop" else 3)

    def locked(pk):
        monkeypatch.setattr(judging, "locked", real)
        deleting.delete(who.admin.actor, Check.objects.get(pk=pk).thread_id)
        return real(pk)

    if verb == "judge":
        data_of(api("admin").get(path))
    monkeypatch.setattr(judging, "locked", locked)
    match verb:
        case "settle":
            assert data_of(api("admin").get(CHECKS))["items"] == []
        case "keep":
            kept_again = api("admin").put(f"{FEEDBACK}/{check['feedback_id']}/check", {"expectations": [NO_ECHO]})
            assert refusal_of(kept_again)[0] == 404
        case "judge":
            judged = api("admin").put(f"{CHECKS}/runs/{begun['runs'][0]['run_id']}/verdict", {"verdict": "passed"})
            assert refusal_of(judged)[0] == 404
        case "stop":
            assert data_of(api("admin").post(f"{CHECKS}/batches/{begun['batch_id']}/stop"))["is_over"]


def test_who_waits_for_a_batch_is_answered_when_it_is_over_or_the_time_is(api, kept, monkeypatch):
    check = kept(ECHO)
    begun = data_of(api("admin").post(f"{CHECKS}/{check['check_id']}/runs", {}))
    path, slept = f"{CHECKS}/batches/{begun['batch_id']}", []
    monkeypatch.setattr(running, "sleep", lambda seconds: (slept.append(seconds), len(slept) == 3 and make.run_turns()))
    assert data_of(api("admin").get(path))["is_over"] is False and slept == []
    assert data_of(api("admin").get(f"{path}?wait=60"))["is_over"] and len(slept) == 3
    for wrong in ("61", "-1", "1.5", "soon", "\u0661", "0000999999", "0" * 5000):
        status, _, message = refusal_of(api("admin").get(f"{path}?wait={wrong}"))
        assert status == 400 and message.startswith("wait: must be a whole number of seconds from 0 to 60"), wrong
    assert api("admin").get(f"{CHECKS}/batches/bat_x?wait=60").status_code == 404


def test_who_finds_no_place_to_wait_is_answered_at_once(api, kept, monkeypatch):
    """A wait takes one of the server's threads, as a stream does."""
    begun = data_of(api("admin").post(f"{CHECKS}/{kept(ECHO)['check_id']}/runs", {}))
    places = threading.BoundedSemaphore(1)
    monkeypatch.setattr(sse, "_PLACES", places)
    monkeypatch.setattr(running, "sleep", lambda seconds: pytest.fail("it waits"))
    with places:
        assert data_of(api("admin").get(f"{CHECKS}/batches/{begun['batch_id']}?wait=60"))["is_over"] is False
    held = []
    monkeypatch.setattr(
        running, "sleep", lambda seconds: (held.append(places.acquire(blocking=False)), make.run_turns())
    )
    assert data_of(api("admin").get(f"{CHECKS}/batches/{begun['batch_id']}?wait=60"))["is_over"]
    assert held == [False] and places.acquire(blocking=False), "it had the only place and gave it back"


def test_a_reader_is_answered_whatever_is_in_the_way_of_helping(api, kept, monkeypatch):
    check = kept(ECHO)
    monkeypatch.setattr(running, "go_on", Mock(side_effect=OperationalError("locked")))
    begun = data_of(api("admin").post(f"{CHECKS}/{check['check_id']}/runs", {}))
    batch = f"{CHECKS}/batches/{begun['batch_id']}"
    for path in (CHECKS, f"{CHECKS}/{check['check_id']}", batch, f"{batch}/against/previous", f"{CHECKS}/batches"):
        assert api("admin").get(path).status_code == 200, path
    assert data_of(api("admin").post(f"{batch}/stop"))["total"] == 0


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
@pytest.mark.django_db(transaction=True)
def test_a_reader_does_not_wait_for_who_is_beginning_runs_and_a_worker_does(api, kept, settings):
    """A worker brings news, which who holds the batches has counted without."""
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"check_runs": 1})
    check, other = kept(ECHO), kept(ECHO)
    held = data_of(api("admin").post(f"{CHECKS}/{check['check_id']}/runs", {}))
    data_of(api("admin").post(f"{CHECKS}/{other['check_id']}/runs", {}))
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"check_runs": 2})
    came = []

    def read():
        came.append(data_of(api("admin").get(f"{CHECKS}/{other['check_id']}"))["runs"][0]["thread_id"])
        connection.close()

    reading = threading.Thread(target=read)
    with transaction.atomic():
        CheckBatch.objects.select_for_update(no_key=True).get(key=held["batch_id"][4:])
        reading.start()
        reading.join(3)
        assert came == [None], "answered, and nothing begun by half a look"
        working = threading.Thread(target=lambda: (running.go_on(), connection.close()))
        working.start()
        working.join(0.5)
        assert working.is_alive()
    working.join(10)
    assert CheckRun.objects.get(of__key=other["check_id"][4:]).fork


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
@pytest.mark.django_db(transaction=True)
def test_stopping_a_batch_meets_nobody_who_locks_reports_in_their_order(api, kept, settings):
    """The check of the newer report is older, and a bulk has the older report and wants the newer one."""
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"check_runs": 1})
    data_of(api("admin").post(f"{CHECKS}/{kept(ECHO)['check_id']}/runs", {}))  # so that the others wait
    checks = [kept(ECHO), kept(ECHO)]
    older, newer = [Check.objects.get(key=each["check_id"][4:]) for each in checks]
    Check.objects.filter(pk=older.pk).update(feedback=None)
    Check.objects.filter(pk=newer.pk).update(feedback=older.feedback_id)
    Check.objects.filter(pk=older.pk).update(feedback=newer.feedback_id)
    batch = data_of(api("admin").post(f"{CHECKS}/run", {"check_ids": [each["check_id"] for each in checks]}))
    reports, refused = UserFeedback.objects.select_for_update(no_key=True), []
    held = threading.Event()

    def change():
        try:
            with transaction.atomic():
                list(reports.filter(pk=older.feedback_id))
                held.set()
                sleep(0.4)
                list(reports.filter(pk=newer.feedback_id))
        except OperationalError as problem:
            refused.append(problem)
        finally:
            connection.close()

    changing = threading.Thread(target=change)
    changing.start()
    assert held.wait(5)
    assert data_of(api("admin").post(f"{CHECKS}/batches/{batch['batch_id']}/stop"))["is_over"]
    changing.join()
    assert not refused


def test_a_batch_is_held_against_another(api, kept, ran, django_assert_max_num_queries):
    worse, better, alone = kept(NO_ECHO), kept(ECHO), kept(ECHO)
    named = {"check_ids": [worse["check_id"], better["check_id"]]}
    before = over(api, data_of(api("admin").post(f"{CHECKS}/run", {**named, "times": 2})))
    for check, expects in ((worse, ECHO), (better, NO_ECHO)):
        api("admin").put(f"{FEEDBACK}/{check['feedback_id']}/check", {"expectations": [expects]})
    CheckRun.objects.filter(batch__key=before["batch_id"][4:]).update(verdict=None)
    CheckRun.objects.filter(of__key=worse["check_id"][4:]).update(verdict="failed")
    CheckRun.objects.filter(of__key=better["check_id"][4:]).update(verdict="passed")
    now = over(api, data_of(api("admin").post(f"{CHECKS}/run", {"skills": "latest"})))
    path = f"{CHECKS}/batches/{now['batch_id']}/against/{before['batch_id']}"
    held = data_of(api("admin").get(path))
    assert (held["turned_failing"], held["turned_passing"]) == (1, 1)
    assert [(each["check_id"], each["turned"]) for each in held["checks"]] == [
        (better["check_id"], "failing"), (worse["check_id"], "passing"), (alone["check_id"], None)
    ]  # fmt: skip
    assert held["checks"][0]["before"] == {"state": "passing", "passed": 2, "total": 2}
    assert held["checks"][0]["now"] == {"state": "failing", "passed": 0, "total": 1}
    assert held["checks"][2]["before"] is None and held["now"]["skills"] == "latest"
    assert held["now"]["seconds"] >= 0 and held["now"]["input_tokens"] > 0 and held["before"]["times"] == 2
    with django_assert_max_num_queries(12):
        api("admin").get(path)
    previous = data_of(api("admin").get(f"{CHECKS}/batches/{now['batch_id']}/against/previous"))
    assert previous == {**held, "before": None, "changes": {**held["changes"], "checks": 3}}
    first = data_of(api("admin").get(f"{CHECKS}/batches/{before['batch_id']}/against/previous"))
    assert [each["before"] for each in first["checks"]] == [None, None] and first["turned_failing"] == 0
    listed = data_of(api("admin").get(f"{CHECKS}/batches?limit=1"))
    assert [each["batch_id"] for each in listed["items"]] == [now["batch_id"]] and listed["next_token"]
    again = data_of(api("admin").post(f"{CHECKS}/run", {"batch_id": before["batch_id"]}))
    assert {each["check_id"] for each in again["runs"]} == set(named["check_ids"])


def test_a_check_that_is_run_alone_hides_nothing_of_the_others(api, kept, ran):
    alone, other = kept(ECHO), kept(ECHO)
    over(api, data_of(api("admin").post(f"{CHECKS}/run", {})))
    ran(alone)
    api("admin").put(f"{FEEDBACK}/{other['feedback_id']}/check", {"expectations": [NO_ECHO]})
    CheckRun.objects.filter(of__key=other["check_id"][4:]).update(verdict="passed")
    now = over(api, data_of(api("admin").post(f"{CHECKS}/run", {})))
    held = data_of(api("admin").get(f"{CHECKS}/batches/{now['batch_id']}/against/previous"))
    assert [(each["check_id"], each["turned"]) for each in held["checks"]] == [
        (other["check_id"], "failing"), (alone["check_id"], None)
    ]  # fmt: skip


@pytest.mark.parametrize("between", ["broken", None])
def test_what_broke_in_between_hides_no_turn(api, kept, ran, between):
    check, never_decided = kept(NO_ECHO), kept(NO_ECHO)
    results = [["passed", "passed"], ["passed", between], [between, between], ["failed", between], ["passed", "passed"]]
    asked = {"check_ids": [check["check_id"], never_decided["check_id"]], "times": 2}
    done = [over(api, data_of(api("admin").post(f"{CHECKS}/run", asked))) for _ in results]
    for batch, verdicts in zip(done, results, strict=True):
        rows = CheckRun.objects.filter(batch__key=batch["batch_id"][4:])
        rows.filter(of__key=never_decided["check_id"][4:]).update(verdict=None)
        for run, verdict in zip(rows.filter(of__key=check["check_id"][4:]), verdicts, strict=True):
            CheckRun.objects.filter(pk=run.pk).update(verdict=verdict)
    held = [data_of(api("admin").get(f"{CHECKS}/batches/{each['batch_id']}/against/previous")) for each in done]
    assert [each["turned_failing"] for each in held] == [0, 0, 0, 1, 0]
    assert [each["turned_passing"] for each in held] == [0, 0, 0, 0, 1]
    (other,) = [each for each in held[-1]["checks"] if each["check_id"] == never_decided["check_id"]]
    assert other["before"] is None and other["now"]["state"] == "undecided"
    beside = f"{CHECKS}/batches/{done[3]['batch_id']}/against/{done[2]['batch_id']}"
    assert data_of(api("admin").get(beside))["turned_failing"] == 0, "what is named is what is held against"


@pytest.mark.parametrize("is_over", [True, False])
def test_a_check_whose_runs_thread_is_deleted_stands_where_the_others_leave_it(api, who, kept, ran, is_over):
    check = kept(NO_ECHO)
    begun = data_of(api("admin").post(f"{CHECKS}/{check['check_id']}/runs", {}))
    if is_over:
        assert over(api, begun)["failed"] == 1
    deleting.delete(who.admin.actor, CheckRun.objects.get().fork_id)
    assert state(api, check) == "untried"
    assert data_of(api("admin").get(f"{CHECKS}/batches/{begun['batch_id']}"))["total"] == 0
    assert not CheckBatch.objects.filter(ended_at=None).exists()


def test_what_is_written_in_a_runs_thread_later_breaks_no_verdict(api, who, kept, ran):
    check = kept(ECHO)
    (run,) = ran(check)["runs"]
    thread = Thread.objects.by_public_id(run["thread_id"]).get()
    make.send(who.admin, thread, "[[call look {}]] And now?", client_tools=[make.client_tool("look")])
    assert make.fresh(thread).status == "client_tool_turn"
    api("admin").put(f"{FEEDBACK}/{check['feedback_id']}/check", {"expectations": [ECHO, ECHO]})
    assert state(api, check) == "passing"


def test_a_batch_is_stopped_although_the_thread_of_a_run_is_deleted_just_then(api, who, kept, ran, monkeypatch):
    ran(kept(ECHO))
    begun = data_of(api("admin").post(f"{CHECKS}/run", {"times": 2}))
    cancel, gone = running.turns.cancel, []

    def deleting_first(actor, thread):
        if not gone:
            gone.append(deleting.delete(who.admin.actor, thread.pk))
        return cancel(actor, thread)

    monkeypatch.setattr(running.turns, "cancel", deleting_first)
    assert data_of(api("admin").post(f"{CHECKS}/batches/{begun['batch_id']}/stop"))["is_over"] and gone == [True]


def test_stopped_before_it_began_a_check_is_where_it_was(api, kept, ran, settings):
    check, other = kept(ECHO), kept(ECHO)
    ran(check)
    Check.objects.update(outcome_before="failing")
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"check_runs": 1})
    data_of(api("admin").post(f"{CHECKS}/{other['check_id']}/runs", {}))
    waiting = data_of(api("admin").post(f"{CHECKS}/{check['check_id']}/runs", {}))
    assert waiting["waiting"] == 1
    data_of(api("admin").post(f"{CHECKS}/batches/{waiting['batch_id']}/stop"))
    stands = data_of(api("admin").get(f"{CHECKS}/{check['check_id']}"))
    assert (stands["state"], stands["outcome_before"]) == ("passing", "failing")
    status, _, message = refusal_of(api("admin").post(f"{CHECKS}/run", {"batch_id": waiting["batch_id"]}))
    assert (status, message) == (400, "There are no checks to run.")


def test_runs_are_nobodys_fork_of_a_thread(api, kept, ran):
    check = kept(ECHO)
    ran(check)
    assert data_of(api("admin").get(f"{FEEDBACK}?q=has:fork"))["items"] == []
    thread = f"threads/{check['thread_id']}/fork"
    data_of(api("admin").post(thread, {"message_sequence_num": 0}))
    assert len(data_of(api("admin").get(f"{FEEDBACK}?q=has:fork"))["items"]) == 1


def test_what_is_under_way_is_not_judged(api, kept):
    check = kept()
    begun = data_of(api("admin").post(f"{CHECKS}/{check['check_id']}/runs", {}))
    path = f"{CHECKS}/runs/{begun['runs'][0]['run_id']}/verdict"
    assert refusal_of(api("admin").put(path, {"verdict": "passed"}))[0] == 409
    assert state(api, check) == "running"


def test_many_are_run_together_by_name_by_state_and_all(api, kept, ran):
    first, second, third = kept(NO_ECHO), kept(ECHO), kept(ECHO)
    ran(first), ran(second)
    ran_all = over(api, data_of(api("admin").post(f"{CHECKS}/run", {})))
    assert (ran_all["total"], ran_all["passed"], ran_all["failed"]) == (3, 2, 1)
    failing = over(api, data_of(api("admin").post(f"{CHECKS}/run", {"state": "failing", "times": 2})))
    assert {run["check_id"] for run in failing["runs"]} == {first["check_id"]} and failing["failed"] == 2
    named = {"check_ids": [second["check_id"], third["check_id"], second["check_id"]], "skills": "latest"}
    done = over(api, data_of(api("admin").post(f"{CHECKS}/run", named)))
    assert done["total"] == 2 and {run["skills"] for run in done["runs"]} == {"latest"}
    listed = data_of(api("admin").get(f"{CHECKS}?state=passing&limit=1"))
    assert [each["check_id"] for each in listed["items"]] == [third["check_id"]]
    token = listed["next_token"]
    listed = data_of(api("admin").get(f"{CHECKS}?state=passing&limit=1&page_token={token}"))
    assert [each["check_id"] for each in listed["items"]] == [second["check_id"]] and not listed["next_token"]


def test_the_sweep_decides_where_nobody_looks(api, kept):
    check = kept(NO_ECHO)
    begun = data_of(api("admin").post(f"{CHECKS}/{check['check_id']}/runs", {}))
    make.run_turns(Thread.objects.by_public_id(begun["runs"][0]["thread_id"]).get())
    assert Check.objects.get().state == "running"
    sweeping.sweep()
    assert Check.objects.get().state == "failing"
    ended = CheckRun.objects.get().ended_at
    sweeping.sweep()
    assert CheckRun.objects.get().ended_at == ended


def test_only_the_answer_counts_and_not_what_is_said_later(api, who, kept, ran):
    check = kept({"kind": "never_calls", "value": "countdown"})
    begun = data_of(api("admin").post(f"{CHECKS}/{check['check_id']}/runs", {}))
    fork = Thread.objects.by_public_id(begun["runs"][0]["thread_id"]).get()
    make.run_turns(fork)
    make.send(who.admin, fork, '[[call countdown {"seconds": 1}]]')
    assert over(api, begun)["passed"] == 1


def test_a_dropped_check_is_out_of_sight_and_comes_back_with_its_runs(api, kept, ran):
    check = kept(NO_ECHO)
    ran(check)
    data_of(api("admin").request("DELETE", f"/v1/ai/{CHECKS}/{check['check_id']}"))
    assert api("admin").get(f"{CHECKS}/{check['check_id']}").status_code == 404
    assert data_of(api("admin").get(CHECKS))["items"] == []
    path = f"{FEEDBACK}/{check['feedback_id']}/check"
    assert api("admin").get(path).status_code == 404
    assert data_of(api("admin").get(f"{FEEDBACK}?q=has:check"))["items"] == []
    back = data_of(api("admin").put(path, {"expectations": [NO_ECHO]}))
    assert back["check_id"] == check["check_id"] and back["state"] == "failing" and len(back["runs"]) == 1


def test_a_check_outlives_the_rating_that_it_was_made_of(api, kept, ran):
    check = kept(NO_ECHO)
    path = f"threads/{check['thread_id']}/messages/{check['message_sequence_num']}/feedback"
    data_of(api("alice").request("DELETE", f"/v1/ai/{path}"))
    assert not UserFeedback.objects.exists()
    assert ran(check)["failed"] == 1
    found = data_of(api("admin").get(f"{CHECKS}/{check['check_id']}"))
    assert found["feedback_id"] is None and found["state"] == "failing"


def test_reports_are_found_by_their_check(api, kept, ran):
    failing, passing, untried = kept(NO_ECHO), kept(ECHO), kept()
    ran(failing), ran(passing)

    def found(query):
        return [each["feedback_id"] for each in data_of(api("admin").get(f"{FEEDBACK}?q={query}"))["items"]]

    assert found("check:failing") == [failing["feedback_id"]]
    assert found("check:untried") == [untried["feedback_id"]]
    assert found("-check:passing") == [untried["feedback_id"], failing["feedback_id"]]
    assert len(found("has:check")) == 3


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"expectations": [{"kind": "says"}]}, "expectations.0"),
        ({"expectations": [ECHO, {"kind": "rhymes"}]}, "expectations.1.kind"),
        ({"expectations": [{"kind": "no_tool_errors", "value": "x"}]}, "expectations.0"),
        ({"expectations": [{"kind": "says", "value": "x", "input": {}}]}, "expectations.0"),
        ({"expectations": [{"kind": "matches"}]}, "expectations.0"),
        ({"expectations": [{"kind": "matches", "value": "("}]}, "expectations.0"),
        ({"expectations": [{"kind": "never_matches", "value": "(?:a{1000}){1000}"}]}, "expectations.0"),
        ({"expectations": [ECHO] * 21}, "expectations"),
        ({"expectations": [{"kind": "says", "value": "x" * 1001}]}, "expectations.0.value"),
        ({"title": " "}, "title"),
        ({"title": "\u200b"}, "title"),
        ({"title": "x" * 121}, "title"),
        ({"expects": []}, "expects"),
        ({"title": "a\x00b"}, "title"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_its_field(api, who, body, field):
    report = make.rating(who.alice, make.thread(who.alice, CALLING))
    status, code, message = refusal_of(api("admin").put(f"{FEEDBACK}/{report.feedback_id}/check", body))
    assert (status, code) == INVALID and message.startswith(f"{field}"), message
    assert not Check.objects.exists()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"times": 0}, "times"),
        ({"times": 11}, "times"),
        ({"model_profile": "nobody"}, "model_profile"),
        ({"skills": "best"}, "skills"),
        ({"check_ids": []}, "check_ids"),
        ({"check_ids": ["chk_x"], "state": "failing"}, "state"),
        ({"state": "lost"}, "state"),
    ],
)
def test_what_cannot_be_run_is_refused_and_starts_nothing(api, kept, body, field):
    kept()
    status, code, message = refusal_of(api("admin").post(f"{CHECKS}/run", body))
    assert (status, code) == INVALID and message.startswith(f"{field}"), message
    assert not CheckRun.objects.exists()


def test_too_many_runs_and_none_at_all_are_refused(api, who, kept):
    assert refusal_of(api("admin").post(f"{CHECKS}/run", {}))[:2] == INVALID
    check = kept()
    row = Check.objects.get()
    thread = {
        "thread_id": row.thread_id,
        "message_sequence_num": 1,
        "created_by": who.admin.user,
        "modified_by": who.admin.user,
    }
    Check.objects.bulk_create([Check(title=str(number), **thread) for number in range(50)])
    status, _, message = refusal_of(api("admin").post(f"{CHECKS}/run", {"times": 10}))
    assert status == 400 and message.startswith("times: 51 checks, 10 runs each, are too many; the maximum is 500")
    assert not CheckRun.objects.exists() and state(api, check) == "untried"


def test_what_is_not_there_is_not_found(api, who):
    for path in (f"{CHECKS}/chk_x", f"{CHECKS}/batches/bat_x", f"{FEEDBACK}/fb_x/check"):
        assert api("admin").get(path).status_code == 404, path
    assert api("admin").put(f"{CHECKS}/runs/run_x/verdict", {"verdict": "passed"}).status_code == 404
    report = make.rating(who.alice, make.thread(who.alice, CALLING))
    assert api("admin").get(f"{FEEDBACK}/{report.feedback_id}/check").status_code == 404


def test_a_list_of_checks_asks_the_same_few_questions_however_long(api, who, kept, ran, django_assert_max_num_queries):
    ran(kept(ECHO), times=2)
    thread = Thread.objects.order_by("pk").first()
    with CaptureQueriesContext(connection) as few:
        data_of(api("admin").get(CHECKS))
    count = len(few)
    by = {"created_by": who.admin.user, "modified_by": who.admin.user}
    for number in range(12):
        Check.objects.create(title=str(number), thread=thread, message_sequence_num=1, **by)
    ran(kept(ECHO), times=3)
    with django_assert_max_num_queries(count):
        assert len(data_of(api("admin").get(CHECKS))["items"]) == 14


@pytest.mark.parametrize(
    ("said", "expected", "is_said"),
    [("15.2", "5.2", False), ("5.25", "5.2", False), ("see 5.2.", "5.2", True), ("1,500", "500", False),
     ("It is 5.2, really", "5.2, REALLY", True), ("refunded", "refund", True), ("a+b", "a+b", True),
     ("Das Cafe\u0301 o\u0308ffnet", "Café öffnet", True), ("Das Café öffnet", "CAFE\u0301", True)],
)  # fmt: skip
def test_a_number_is_meant_whole(said, expected, is_said):
    answer = expecting.Answer(words=f"It says {said}")
    for kind, holds in (("says", is_said), ("never_says", not is_said)):
        (finding,) = expecting.findings([{"kind": kind, "value": expected}], answer)
        assert finding.holds is holds


def test_a_run_says_which_skills_and_which_model_it_had(api, who, ran, write, pin):  # noqa: F811
    offered, invoked = write("alice", "weaving", "OLD", "NEW"), write("alice", "dyeing", "OLD")
    pin("alice", offered, 1)
    thread = make.thread(who.alice, "Weave", invoke_skills=[{"skill_id": invoked}])
    data_of(api("alice").post(f"/v1/skills/id/{invoked}/versions", {"description": "d", "body": "NEW"}))
    report = make.rating(who.alice, thread, 3)
    check = data_of(api("admin").put(f"{FEEDBACK}/{report.feedback_id}/check", {}))
    for skills, versions in (("recorded", (1, 1)), ("latest", (2, 2))):
        (run,) = ran(check, skills=skills)["runs"]
        had = {(each["skill_id"], each["name"], each["version"]) for each in run["skill_versions"]}
        assert had == {(offered, "weaving", versions[0]), (invoked, "dyeing", versions[1])}
        assert run["model_profile"] == "simulated"
    found = data_of(api("admin").get(f"{CHECKS}/{check['check_id']}"))
    assert found["modified_by"] == found["created_by"] == who.admin.user.email and found["modified"] >= found["created"]


def test_a_comparison_says_what_the_agents_had_otherwise(api, who, ran, write, pin):  # noqa: F811
    """Than when their answers were rated, and from the second batch on than in the batch before."""
    offered, invoked = write("alice", "weaving", "OLD", "NEW"), write("alice", "dyeing", "OLD")
    pin("alice", offered, 1)
    checks = []
    for _ in range(2):
        thread = make.thread(who.alice, "Weave", invoke_skills=[{"skill_id": invoked}])
        report = make.rating(who.alice, thread, 3)
        checks.append(data_of(api("admin").put(f"{FEEDBACK}/{report.feedback_id}/check", {})))

    def changes(batch, against="previous"):
        found = data_of(api("admin").get(f"{CHECKS}/batches/{batch['batch_id']}/against/{against}"))
        return found["changes"]

    def skill(name, skill_id, before, now, count):
        return {"skill_id": skill_id, "name": name, "before": before, "now": now, "checks": count}

    nothing = {"checks": 1, "skills": [], "system_prompts": 0, "model_profiles": 0}
    first = ran(checks[0])
    assert changes(first) == nothing
    latest = over(api, data_of(api("admin").post(f"{CHECKS}/run", {"skills": "latest"})))
    was = [(each["name"], each["was"], each["version"]) for run in latest["runs"] for each in run["skill_versions"]]
    assert sorted(was) == [("dyeing", 1, 1), ("dyeing", 1, 1), ("weaving", 1, 2), ("weaving", 1, 2)]
    assert changes(latest) == {**nothing, "checks": 2, "skills": [skill("weaving", offered, 1, 2, 2)]}
    Thread.objects.filter(pk__in=CheckRun.objects.filter(of__key=checks[0]["check_id"][4:]).values("fork")).update(
        system_prompt="Be brief.", model_profile="other"
    )
    CheckRun.objects.filter(batch__key=latest["batch_id"][4:]).update(model_profile="other")
    changed = changes(latest)
    assert (changed["system_prompts"], changed["model_profiles"]) == (1, 2)
    again = over(api, data_of(api("admin").post(f"{CHECKS}/run", {"skills": "recorded"})))
    assert changes(again)["checks"] == 2
    assert changes(again, latest["batch_id"])["skills"] == [skill("weaving", offered, 2, 1, 2)]
    assert changes(latest, first["batch_id"])["checks"] == 1


def test_a_skill_that_is_newer_than_the_rated_answer_is_a_change(api, who, ran, write, pin):  # noqa: F811
    """Complaints are mended with new skills, too; the rated answer once more has none of them."""
    old = write("alice", "rules-old")
    report = make.rating(who.alice, make.thread(who.alice))
    check = data_of(api("admin").put(f"{FEEDBACK}/{report.feedback_id}/check", {}))
    new = write("alice", "rules-new")
    had = {"skill_id": old, "name": "rules-old", "version": 1, "was": 1}
    has = {"skill_id": new, "name": "rules-new", "version": 1, "was": None}
    change = {"skill_id": new, "name": "rules-new", "before": None, "now": 1, "checks": 1}
    for skills, found, changes in (("recorded", [had], []), ("latest", [had, has], [change])):
        batch = ran(check, skills=skills)
        (run,) = batch["runs"]
        assert sorted(run["skill_versions"], key=lambda each: each["name"], reverse=True) == found
        frozen = Thread.objects.by_public_id(run["thread_id"]).get().available_skills
        assert {each["skill_id"] for each in frozen} == {each["skill_id"] for each in found}
        against = data_of(api("admin").get(f"{CHECKS}/batches/{batch['batch_id']}/against/previous"))
        assert against["changes"]["skills"] == changes


def test_runs_from_before_that_was_kept_do_not_say_that_nothing_changed(api, who, ran, write, pin):  # noqa: F811
    pin("alice", write("alice", "weaving", "OLD", "NEW"), 1)
    report = make.rating(who.alice, make.thread(who.alice))
    batch = ran(data_of(api("admin").put(f"{FEEDBACK}/{report.feedback_id}/check", {})), skills="latest")
    run = CheckRun.objects.get()
    assert [each.pop("was") for each in run.skill_versions] == [1]
    run.save()
    found = data_of(api("admin").get(f"{CHECKS}/batches/{batch['batch_id']}/against/previous"))
    assert found["changes"] == {"checks": 0, "skills": [], "system_prompts": 0, "model_profiles": 0}
    assert (
        data_of(api("admin").get(f"{CHECKS}/batches/{batch['batch_id']}"))["runs"][0]["skill_versions"][0]["was"]
        is None
    )


def test_what_a_check_was_before_its_latest_batch_is_not_changed_by_an_earlier_one(api, kept, ran, settings):
    """The third run of the first batch begins when the second batch is over."""
    check = kept(ECHO)
    ran(check)
    Check.objects.update(outcome="failing")
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"check_runs": 2})
    path = f"{CHECKS}/{check['check_id']}/runs"
    earlier, latest = (data_of(api("admin").post(path, {"times": times})) for times in (3, 1))
    make.run_turns(Thread.objects.by_public_id(earlier["runs"][0]["thread_id"]).get())
    over(api, data_of(api("admin").get(f"{CHECKS}/batches/{latest['batch_id']}")))
    over(api, data_of(api("admin").get(f"{CHECKS}/batches/{earlier['batch_id']}")))
    stands = data_of(api("admin").get(f"{CHECKS}/{check['check_id']}"))
    assert (stands["state"], stands["outcome_before"]) == ("passing", "failing")


def test_of_a_batch_of_whose_runs_one_has_no_price_the_cost_is_not_known(api, kept, ran):
    batch = ran(kept(ECHO), times=2)
    first, second = CheckRun.objects.order_by("pk")

    def cost(of_first, of_second):
        for run, each in ((first, of_first), (second, of_second)):
            CheckRun.objects.filter(pk=run.pk).update(cost=each)
        return data_of(api("admin").get(f"{CHECKS}/batches/{batch['batch_id']}"))["cost"]

    assert [cost("0.25", "0.5"), cost("0.25", None), cost("0.25", 0)] == [0.75, None, 0.25]


@pytest.mark.parametrize("path", ["{check}/runs", "run"])
def test_a_check_whose_thread_is_deleted_while_it_is_asked_for_is_not_run(api, kept, monkeypatch, path):
    """One of several is left out; the only one is not found any more."""
    checks = [kept(ECHO), kept(NO_ECHO)]
    first, second = (Thread.objects.by_public_id(check["thread_id"]).get() for check in checks)
    run, gone = running.run, [first.pk]

    def late(actor, found, body):
        found = list(found)
        deleting.delete(actor, gone[0])
        return run(actor, found, body)

    monkeypatch.setattr(running, "run", late)
    where = f"{CHECKS}/{path.format(check=checks[0]['check_id'])}"
    if path == "run":
        data_of(api("admin").post(where, {}))
        runs = CheckRun.objects.filter(batch=CheckBatch.objects.latest("pk")).select_related("of")
        assert [each.of.check_id for each in runs] == [checks[1]["check_id"]]
        gone[0] = second.pk
    assert refusal_of(api("admin").post(where, {"times": 2}))[0] == 404
    assert not CheckRun.objects.filter(of__thread=first).exists()
