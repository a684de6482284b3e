"""Checks: a complaint that is kept as a test, is run again, and passes or fails (decision 016)."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.errors import Conflict
from feedback import sweeping
from feedback.checks import expecting
from feedback.models import Check, CheckRun, UserFeedback
from tests import make
from tests.api.test_http_tools import connected, receiver, tools  # noqa: F401 - fixtures
from tests.api.test_skills_in_turns import pin, write  # noqa: F401 - fixtures
from tests.conftest import data_of, refusal_of
from threads import reruns
from threads.models import Goal, Thread

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
        assert begun["running"] == begun["total"] and not begun["is_over"]
        return over(api, begun)

    return run


def over(api, begun):
    """A batch once its turns are over."""
    for each in begun["runs"]:
        make.run_turns(Thread.objects.by_public_id(each["thread_id"]).get())
    done = data_of(api("admin").get(f"{CHECKS}/batches/{begun['batch_id']}"))
    assert done["is_over"]
    return done


def test_keeping_the_same_again_changes_nothing(api, kept, ran):
    check = kept(NO_ECHO)
    ran(check)
    path = f"{FEEDBACK}/{check['feedback_id']}/check"
    before = data_of(api("admin").get(path))
    assert data_of(api("admin").put(path, {"expectations": [NO_ECHO]})) == before


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
        ({"kind": "says", "value": "RATHER  a\nlong"}, False, "It says nothing."),
        ({"kind": "never_says", "value": "refund"}, True, "It says nothing."),
        ({**ECHO, "input": {"value": {"of": 7.0}}}, True, 'echo {"value":{"not":8,"of":7}}'),
        ({**ECHO, "input": {"value": {"of": 8}}}, False, 'echo {"value":{"not":8,"of":7}}'),
        ({**NO_ECHO, "input": {"value": {"of": 8}}}, True, 'echo {"value":{"not":8,"of":7}}'),
        ({"kind": "calls", "value": "refund"}, False, "called echo and nothing__here"),
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


def test_a_run_that_waits_for_a_client_or_is_stopped_says_nothing_about_the_answer(api, who, kept):
    asked = [make.client_tool("remember")]
    check = kept({"kind": "never_says", "value": "refund"}, said="[[call remember {}]]", client_tools=asked, index=1)
    path = f"{CHECKS}/{check['check_id']}/runs"
    waits = over(api, data_of(api("admin").post(path, {"tools": "live"})))
    assert waits["broken"] == 1 and state(api, check) == "undecided"
    stopped = data_of(api("admin").post(path, {}))
    data_of(api("admin").post(f"threads/{stopped['runs'][0]['thread_id']}/cancel"))
    assert over(api, stopped)["broken"] == 1


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


def test_all_runs_are_started_or_none(api, kept, monkeypatch):
    first, second = kept(ECHO), kept(ECHO)
    begin = reruns.rerun

    def fails(actor, source, body):
        if source.thread_id == second["thread_id"]:
            raise Conflict("Not this one.")
        return begin(actor, source, body)

    monkeypatch.setattr(reruns, "rerun", fails)
    assert api("admin").post(f"{CHECKS}/run", {}).status_code == 409
    assert not CheckRun.objects.exists() and state(api, first) == "untried"


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
        ({"expectations": [ECHO] * 21}, "expectations"),
        ({"expectations": [{"kind": "says", "value": "x" * 1001}]}, "expectations.0.value"),
        ({"title": " "}, "title"),
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
    Check.objects.bulk_create([Check(title=str(number), **thread) for number in range(10)])
    status, _, message = refusal_of(api("admin").post(f"{CHECKS}/run", {"times": 10}))
    assert status == 400 and message.startswith("times: 11 checks, each 10 times, are too many: at most 100")
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
     ("It is 5.2, really", "5.2, REALLY", True), ("refunded", "refund", True), ("a+b", "a+b", True)],
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
