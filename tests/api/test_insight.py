"""GET /v1/ai/admin/feedback/insight: the figures of the page, each with its query."""

from datetime import UTC, datetime
from urllib.parse import quote

import pytest
import time_machine

from feedback.insight import figures
from feedback.models import RatedAnswer, RatedTool, UserFeedback
from tests import make, people
from tests.api.test_queries import count
from tests.conftest import Api, data_of, refusal_of
from threads.models import Thread

INSIGHT = "admin/feedback/insight"
NOW = datetime(2026, 11, 5, 12, tzinfo=UTC)


@pytest.fixture
def rated(who):
    """A bad rating of a tool's work on Berlin's 2 November, UTC's first, and a good one that is resolved."""
    thread = make.conversation(who.alice, 4)
    bad = make.rating(who.alice, thread, 1, categories=["slow"]).feedback_id
    good = make.rating(who.alice, thread, 3, "positive").feedback_id
    rows = [UserFeedback.objects.get(key=each.removeprefix("fb_")) for each in (bad, good)]
    for row, created in zip(rows, [datetime(2026, 11, 1, 23, 30, tzinfo=UTC), NOW], strict=True):
        UserFeedback.objects.filter(pk=row.pk).update(created=created, modified=created)
        RatedAnswer.objects.create(feedback=row, model_profile="fast")
    RatedTool.objects.create(feedback=rows[0], tool_name="book", failed=True)
    done = {"resolved": True, "resolved_by": who.admin.user, "resolved_at": NOW.replace(hour=14, minute=5)}
    UserFeedback.objects.filter(pk=rows[1].pk).update(**done)
    return rows


@time_machine.travel(NOW, tick=False)
def test_figures_with_their_queries(api, rated):
    found = data_of(api("admin").get(f"{INSIGHT}?since=7d&tz=Europe/Berlin"))
    days = "created:2026-10-30..2026-11-05[Europe/Berlin]"
    assert (found["since"], found["until"], found["tz"]) == ("2026-10-30", "2026-11-05", "Europe/Berlin")
    assert found["reports"] == {"count": 2, "query": days}
    assert found["negative"] == {"count": 1, "query": f"{days} sentiment:negative"}
    assert found["open"] == {"count": 1, "query": "is:open"}
    [bad] = [each for each in found["over_time"] if each["negative"]["count"]]
    assert bad["first"] == bad["last"] == "2026-11-02"
    assert bad["negative"]["query"] == "created:2026-11-02[Europe/Berlin] sentiment:negative"
    assert [(each["name"], each["reports"]["count"]) for each in found["by_category"]] == [("slow", 1)]
    [tool] = found["by_tool"]
    assert (tool["name"], tool["failed"]) == ("book", {"count": 1, "query": f"{days} failed:book"})
    assert [(each["name"], each["reports"]["count"]) for each in found["by_model"]] == [("fast", 2)]
    assert found["by_label"] == found["by_outcome"] == []
    assert {each["reports"]["query"]: each["reports"]["count"] for each in found["backlog"]} == {
        "is:open age:<1d": 0,
        "is:open age:>=1d age:<3d": 0,
        "is:open age:>=3d age:<7d": 1,
        "is:open age:>=7d age:<30d": 0,
        "is:open age:>=30d age:<90d": 0,
        "is:open age:>=90d": 0,
    }
    assert found["median_minutes"] == found["p90_minutes"] == 125
    [taken] = [each for each in found["time_to_resolve"] if each["reports"]["count"]]
    assert taken["reports"]["query"] == f"{days} took:>=2h took:<4h"


def test_labels_and_outcomes_lead_to_their_reports(api, who):
    reports = [make.rating(who.alice, make.thread(who.alice)).feedback_id for _ in range(3)]

    def act(report, verb, **arguments):
        data_of(api("admin").post(f"admin/feedback/{report}/actions", {"verb": verb, "arguments": arguments}))

    act(reports[0], "label", add=["loses count", "money"])
    act(reports[1], "label", add=["money"])
    act(reports[1], "resolve", outcome="fixed")
    found = data_of(api("admin").get(INSIGHT))
    told = [(each["name"], each["negative"]["count"], each["reports"]["query"]) for each in found["by_label"]]
    days = found["reports"]["query"]
    assert told == [("money", 2, f"{days} label:money"), ("loses count", 1, f'{days} label:"loses count"')]
    [ended] = found["by_outcome"]
    assert (ended["name"], ended["reports"]) == ("fixed", {"count": 1, "query": f"{days} outcome:fixed"})


def test_a_version_of_an_agent_leads_to_its_reports(api, who):
    """Whether a change of it helped; by its name of today, or its id once it is gone."""
    body = {"name": "Ada's “Refunds”", "request_template": {"messages": [make.say("Go.")]}}
    agent = data_of(api("alice").post("agents", body))["agent_id"]
    gone = data_of(api("alice").post("agents", body | {"name": "gone"}))["agent_id"]

    def rated(agent_id, *sentiments):
        for sentiment in sentiments:
            record = data_of(api("alice").post(f"agents/{agent_id}/launch", {}))
            make.run_turns()
            thread = Thread.objects.get(key=record["thread_id"].removeprefix("ags_"))
            make.rating(who.alice, thread, sentiment=sentiment)

    rated(agent, "negative", "negative", "positive")
    rated(gone, "positive")
    data_of(api("alice").put(f"agents/{agent}", {"description": "Changed."}))
    rated(agent, "positive")
    make.rating(who.alice, make.thread(who.alice))
    data_of(api("alice").request("DELETE", f"agents/{gone}"))
    found = data_of(api("admin").get(INSIGHT))
    told = {each["name"]: (each["negative"]["count"], each["positive"]["count"]) for each in found["by_agent"]}
    assert told == {"Ada's “Refunds”@1": (2, 1), "Ada's “Refunds”@2": (0, 1), f"{gone}@1": (0, 1)}
    assert found["agents_left_out"] == 0
    for each in found["by_agent"]:
        for counted in (each["reports"], each["negative"], each["positive"]):
            items = data_of(api("admin").get("admin/feedback?q=" + quote(counted["query"])))["items"]
            assert len(items) == counted["count"]


def test_what_takes_too_long_is_left_out_and_said(api, browser_of, who, monkeypatch):
    report = make.rating(who.alice, make.thread(who.alice)).feedback_id
    body = {"verb": "label", "arguments": {"add": ["money"]}}
    data_of(api("admin").post(f"admin/feedback/{report}/actions", body))
    said = "too many to count by label"
    assert said not in browser_of("admin").get("/feedback/insight/").content.decode()
    monkeypatch.setattr(figures, "MOST_JOINED", 0)
    found = data_of(api("admin").get(INSIGHT))
    assert (found["by_label"], found["has_labels"], found["reports"]["count"]) == ([], False, 1)
    assert said in browser_of("admin").get("/feedback/insight/").content.decode()


@time_machine.travel(NOW, tick=False)
def test_each_query_lists_the_reports_behind_its_figure(api, rated):
    """The same words find them on the wire's list."""
    found = data_of(api("admin").get(f"{INSIGHT}?q=tool:book&since=all&tz=Asia/Kolkata"))
    for asked in (
        found["reports"],
        found["negative"],
        found["by_tool"][0]["failed"],
        found["over_time"][0]["negative"],
    ):
        items = data_of(api("admin").get("admin/feedback?q=" + asked["query"].replace(" ", "%20")))["items"]
        assert [each["feedback_id"] for each in items] == [rated[0].feedback_id]


def test_without_a_report_everything_is_nought(api):
    found = data_of(api("admin").get(f"{INSIGHT}?since=all"))
    assert found["reports"] == {"count": 0, "query": ""}
    assert found["over_time"] == found["by_tool"] == found["by_category"] == []
    assert (found["since"], found["until"], found["before"], found["median_minutes"]) == (None, None, None, None)


@pytest.mark.parametrize(
    ("query", "named"),
    [("q=colour:red", "q"), ("since=soon", "since"), ("until=2026-13-01", "until"), ("tz=Moon", "tz")],
)
def test_what_is_wrong_is_named(api, query, named):
    status, code, said = refusal_of(api("admin").get(f"{INSIGHT}?{query}"))
    assert (status, code) == (400, "RobotoInvalidRequestException")
    assert said.startswith(f"{named}: ")


@time_machine.travel(NOW, tick=False)
def test_a_period_takes_the_years_that_a_query_takes(api, rated):
    admin = api("admin")
    found = data_of(admin.get(f"{INSIGHT}?since=1970-01-01&until=2200-12-31"))
    assert found["reports"] == {"count": 2, "query": "created:1970-01-01..2200-12-31[UTC]"}
    for wrong in ("since=1969-12-31", "since=2201-01-01", "until=2201-01-01"):
        assert "from 1970 to 2200" in refusal_of(admin.get(f"{INSIGHT}?{wrong}"))[2]
        assert refusal_of(admin.get(f"{INSIGHT}?q=created:{wrong.partition('=')[2]}"))[0] == 400


@pytest.mark.parametrize("name", ["alice", "eve"])
def test_it_is_for_admins(api, name):
    """B133; who may not is told so before anything about their words."""
    assert refusal_of(api(name).get(f"{INSIGHT}?q=colour:red"))[0] == 403


def test_the_number_of_queries_is_the_same_for_more_reports(api, who, rated):
    ask = lambda: data_of(api("admin").get(f"{INSIGHT}?q=sentiment:negative"))  # noqa: E731
    few = count(ask)
    thread = make.conversation(who.bob, 24)
    for place in range(12):
        made = make.rating(who.bob, thread, 2 * place + 1, categories=["incorrect", "slow"])
        row = UserFeedback.objects.get(key=made.feedback_id.removeprefix("fb_"))
        RatedAnswer.objects.create(feedback=row, model_profile=f"model {place}")
        RatedTool.objects.create(feedback=row, tool_name=f"tool {place}")
    assert len(count(ask)) == len(few), "\n".join(few)


def test_what_is_kept_of_slow_figures_is_for_who_asked_alone(api, rated, monkeypatch):
    """The same words mean something else to each admin."""
    monkeypatch.setattr(figures, "_SLOW", 0)
    body = {"verb": "own", "arguments": {"owner": "me"}}
    data_of(api("admin").post(f"admin/feedback/{rated[0].feedback_id}/actions", body))
    bea = Api(people.second_admin().token)
    path = f"{INSIGHT}?since=all&q=owner:me"
    assert [data_of(each.get(path))["reports"]["count"] for each in (api("admin"), bea)] == [1, 0]
