"""A loaded demo, its doors and its content. T6, T7, T9, B81, B111, B129, B134, B177 and B178 on realistic threads."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from django.db.models import F, Q
from django.test import Client
from django.utils import timezone

from accounts.authentication import actor_of_user
from accounts.models import ApiToken, Org, User
from catalogue.models import Call, Skill
from config import demo
from config.demo import stories
from feedback import querying, saved_views, taxonomy
from feedback.models import CheckRun, TriageChange, UserFeedback
from tests.config.counting import counts
from tests.conftest import Api, data_of
from threads.models import Agent, Block, Goal, Message, Pin, Subject, Thread, Turn


@pytest.fixture(scope="module")
def kept(django_db_setup: None, django_db_blocker: Any) -> Iterator[dict[str, Any]]:
    """A demo in an outer transaction, so that each test rolls back only its own changes."""
    with django_db_blocker.unblock(), transaction.atomic():
        assert demo.load() is True
        found = demo.credentials()
        assert found is not None
        with django_db_blocker.block():
            yield found
        transaction.set_rollback(True)


@pytest.fixture
def loaded(kept: dict[str, Any], db: None) -> dict[str, Any]:
    """The credentials of the demo."""
    return dict(kept)


def test_the_printed_tokens_and_passwords_open_the_door(loaded):
    out = StringIO()
    call_command("demo_credentials", "--json", stdout=out)
    printed = json.loads(out.getvalue())
    assert printed == loaded
    assert set(printed) == {"url", "org_id", "tokens", "passwords"}
    assert set(printed["tokens"]) == set(printed["passwords"]) == set(demo.PEOPLE) == {"alice", "bob", "eve", "admin"}
    for name, (email, *_) in demo.PEOPLE.items():
        listed = data_of(Api(printed["tokens"][name]).get("threads"))
        assert {item["created_by"] for item in listed["items"]} >= {email}, name
        assert Client().login(email=email, password=printed["passwords"][name]), name
    stored = list(ApiToken.objects.values_list("hint", "hash"))
    assert not any(token in (hint, digest) for token in printed["tokens"].values() for hint, digest in stored)


def test_a_second_load_changes_nothing_and_asks_next_to_nothing(loaded, django_assert_max_num_queries):
    """B177."""
    before = counts()
    with django_assert_max_num_queries(6):
        assert demo.load() is False
    assert counts() == before
    assert demo.credentials() == loaded


def _printed(capsys, *flags: str) -> tuple[str, str]:
    call_command("demo_credentials", *flags)
    told = capsys.readouterr()
    return told.out, told.err


@pytest.mark.parametrize("gone", ["revoked", "expired", "deleted", "inactive"])
def test_a_token_that_works_no_longer_is_not_printed(loaded, capsys, gone):
    """It is not issued again either: whoever revoked it may have seen it where it does not belong."""
    theirs = ApiToken.objects.filter(user__email="alice@acme.test")
    past = datetime.now(UTC) - timedelta(hours=1)
    match gone:
        case "revoked":
            theirs.update(revoked_at=past)
        case "expired":
            theirs.update(expires_at=past)
        case "deleted":
            theirs.delete()
        case _:
            User.objects.filter(email="alice@acme.test").update(is_active=False)
    before = counts()
    told, said = _printed(capsys, "--json")
    assert json.loads(told)["tokens"] == {**loaded["tokens"], "alice": None}
    assert said == "The demo's token of alice works no longer. Another one can be created in Settings.\n"
    told, said = _printed(capsys)
    [line] = [each for each in told.splitlines() if each.startswith("alice@")]
    assert line.split() == ["alice@acme.test", loaded["passwords"]["alice"], "-"]
    assert loaded["tokens"]["bob"] in told
    assert said.startswith("The demo's token of alice ")
    assert _printed(capsys, "--welcome")[1] == "", "no token is shown there"
    assert counts() == before


def test_tokens_depend_on_the_signing_key(loaded, settings):
    settings.SECRET_KEY = "another key, with enough characters in it"
    again = demo.credentials()
    assert again is not None
    assert not set(again["tokens"].values()) & set(loaded["tokens"].values())


def test_people_stand_where_the_tests_of_others_expect_them(loaded):
    """B134: a platform admin is staff and not a member of any org."""
    places = set(User.objects.values_list("email", "is_staff", "memberships__org__slug"))
    assert places == {
        ("alice@acme.test", False, "acme"),
        ("bob@acme.test", False, "acme"),
        ("eve@globex.test", False, "globex"),
        ("admin@heddle.test", True, None),
    }
    assert loaded["org_id"] == Org.objects.get(slug="acme").org_id
    assert not any(getattr(org, policy) for org in Org.objects.all() for policy in Org.POLICIES)


def test_every_state_of_a_thread_can_be_looked_at(loaded):
    """T6, T9 and the states of spec 3.4, 3.8 and 4.1."""
    threads = Thread.objects.exclude(CheckRun.of_thread())
    assert 25 <= threads.count() <= 40
    assert set(threads.values_list("status", flat=True)) == {"user_turn", "client_tool_turn", "goals_failed"}
    assert {"completed", "failed", "cancelled"} <= set(threads.values_list("last_outcome", flat=True))
    assert set(threads.values_list("visibility", flat=True)) == {"private", "org"}
    assert set(Goal.objects.values_list("status", flat=True)) == {"achieved", "failed"}
    assert {"success", "error", "declined"} <= set(Block.objects.values_list("outcome", flat=True))
    assert set(Turn.objects.values_list("state", flat=True)) == {"done", "failed", "cancelled", "waiting"}
    forks = Counter(threads.filter(forked_from__isnull=False).values_list("created_by__email", flat=True))
    assert set(forks) == {"alice@acme.test", "bob@acme.test", "admin@heddle.test"}
    assert set(Pin.objects.values_list("user__email", flat=True)) == {"alice@acme.test", "admin@heddle.test"}
    assert Subject.objects.count() >= 10
    assert set(threads.filter(org__slug="globex").values_list("created_by__email", flat=True)) == {"eve@globex.test"}
    assert max(threads.values_list("message_count", flat=True)) >= 40
    assert not threads.filter(title=None).exists()


def test_worlds_and_calls_by_hand_can_be_looked_at(loaded):
    """C102 to C112, C134: a stateful world with a thread, a world with failures, and tools with calls."""
    api = Api(loaded["tokens"]["alice"])
    failing, stateful = data_of(api.get("/v1/catalogue/worlds?status=active"))["items"]
    assert (stateful["mode"], stateful["seed"], failing["failure_profile"]["rate"]) == ("stateful", 7, 0.4)
    for world in (stateful, failing):
        place = f"/v1/catalogue/worlds/{world['world_id']}"
        log = data_of(api.get(f"{place}/calls"))["items"]
        assert {"success", "error"} == {"error" if line["error"] else "success" for line in log}
        assert [line["created"] for line in log] == sorted(line["created"] for line in log)
    given = [line["error"]["message"] for line in log if line["error"] and line["source"] == "fixture"]
    assert given == ["Bike B-0932 does not answer."]
    assert data_of(api.get(f"/v1/catalogue/worlds/{stateful['world_id']}/state"))["entities"]["reservation"]
    assert Thread.objects.get(world__isnull=False).created_by.email == "alice@acme.test"
    outcomes = Call.objects.filter(thread_id="", world=None).values_list("outcome", flat=True)
    assert set(outcomes) == {"success", "error"}


def test_reports_use_every_category_and_a_good_part_of_them_was_triaged(loaded):
    """T7, B129: resolved reports have stamps with the time of their triage."""
    reports = UserFeedback.objects.all()
    used = {category for row in reports for category in row.categories}
    assert used == set(taxonomy.Category.values)
    assert 30 <= reports.count() <= 50
    touched = TriageChange.objects.values("feedback").distinct().count()
    assert reports.count() / 4 <= touched <= reports.count() * 3 / 4
    assert reports.filter(resolved=True).count() >= 5
    for row in reports.filter(resolved=True):
        assert row.resolved_at in {change.at for change in row.changes.all()}
        assert row.resolved_by is not None
        assert row.resolved_by.email == "admin@heddle.test"
    assert reports.exclude(modified=F("created")).count() == 2
    in_order = list(reports.order_by("id").values_list("created", flat=True))
    assert in_order == sorted(in_order), "the desk lists reports by their birth"


def test_every_view_of_the_desk_has_something_in_it(loaded):
    admin = actor_of_user(User.objects.get(email=demo.PEOPLE["admin"][0]))
    for view in saved_views.BUILT_IN:
        is_there = querying.matching(admin, querying.parse(view.query)).exists()
        assert is_there or view.name == "Asked", view.name  # by another admin, and the demo has one
    for line in (
        "has:comment",
        "is:snoozed",
        "is:due",
        "is:duplicate",
        "is:answered",
        "outcome:fixed",
        'label:"slow answers"',
    ):
        assert querying.matching(admin, querying.parse(line)).exists(), line
    assert TriageChange.objects.filter(verb="reopen").exists()


def test_everything_happened_within_a_fortnight_and_nothing_in_the_future(loaded):
    now = timezone.now()
    early = now - timedelta(days=14)
    columns = [
        (Thread, "created"),
        (Message, "created"),
        (Goal, "created"),
        (Goal, "concluded_at"),
        (Turn, "finished_at"),
        (UserFeedback, "modified"),
        (TriageChange, "at"),
    ]
    for model, column in columns:
        outside = Q(**{f"{column}__gt": now}) | Q(**{f"{column}__lt": early})
        assert not model.objects.filter(outside).exists(), (model, column)
    just_now = now - timedelta(minutes=20)
    assert not Turn.objects.filter(queued_at__gt=just_now).exists(), "turns are put back to their thread's time"
    assert not Message.objects.filter(created__gt=just_now).exists()
    # Ten days by the calendar are nearly eleven late in the evening.
    assert not UserFeedback.objects.filter(created__lt=now - timedelta(days=11)).exists()
    for thread in Thread.objects.all():
        times = list(Message.objects.filter(thread=thread).order_by("idx").values_list("created", flat=True))
        assert times == sorted(times), thread.title
    for change in TriageChange.objects.select_related("feedback"):
        assert change.at > change.feedback.created
    for report in UserFeedback.objects.select_related("thread"):
        answer = Message.objects.get(thread=report.thread, idx=report.message_sequence_num)
        assert report.created > answer.created


class _Dangers(HTMLParser):
    """What would run or contact another host in a page: inline scripts, handlers, script URLs, foreign sources."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str, str | None]] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        names = dict(attrs)
        if tag == "script" and not (names.get("src") or "").startswith("/static/"):
            self.found.append((tag, "src", names.get("src")))
        for name, value in attrs:
            said = (value or "").strip()
            if name.startswith("on") or said.startswith("javascript:") or (name == "src" and "//" in said):
                self.found.append((tag, name, value))


def test_the_search_for_dangers_finds_them():
    pasted = json.loads((stories.FOLDER / "threads/pasted-markup.json").read_text("utf-8"))["messages"][0]["user"]
    assert [tag for tag, *_ in _Dangers("\n".join(pasted)).found] == ["script", "img", "a"]


def test_every_page_of_the_demo_opens_and_what_a_rider_pasted_stays_text(loaded):
    """Names, titles, notes and messages are untrusted input wherever they are shown."""
    admin = Client()
    admin.login(email="admin@heddle.test", password=loaded["passwords"]["admin"])
    pages = ["/threads/", *(f"/threads/{thread.thread_id}/" for thread in Thread.objects.all())]
    pages += [f"/threads/?q=agent:{agent.agent_id}" for agent in Agent.objects.all()]
    pages += [f"/feedback/?q=&item={report.feedback_id}" for report in UserFeedback.objects.all()]
    shown = ""
    for page in pages:
        answer = admin.get(page)
        assert answer.status_code == 200, page
        shown += (html := answer.content.decode())
        assert _Dangers(html).found == [], page
    assert "&lt;script&gt;alert('free rides')" in shown


def test_no_answer_quotes_json_within_json(loaded):
    """A tool's error message is shown unchanged."""
    of_failures = Block.objects.filter(text__contains="did not work out").values("thread")
    pieces = Block.objects.filter(thread__in=of_failures).order_by("thread", "idx", "position")
    told = "".join(pieces.values_list("text", flat=True))
    assert '`{"error":"There is no tool count_bikes."}`' in told and '\\"' not in told


def test_there_are_skills_and_agents_worth_looking_at(loaded):
    """K6, K9, K16, G4, G7: each skill has two versions that differ, each agent has variables and goals."""
    assert Skill.objects.count() == 3 and Agent.objects.count() == 2
    assert set(Skill.objects.values_list("accessibility", flat=True)) == {"private", "org", "org-editable"}
    alice = Client()
    alice.login(email="alice@acme.test", password=loaded["passwords"]["alice"])
    pages = ["/skills/", "/skills/new/", "/agents/", "/agents/new/"]
    for skill in Skill.objects.all():
        old, new = skill.versions.order_by("version")
        assert old.body != new.body and old.created < new.created < timezone.now()
        pages += [f"/skills/{skill.skill_id}/{place}" for place in ("", "?version=1", "compare/?from=1&to=2")]
    for agent in Agent.objects.all():
        assert agent.variables and agent.request_template["goals"]
        pages += [f"/agents/{agent.agent_id}/{place}" for place in ("", "edit/", "launch/")]
    launched = Thread.objects.filter(created_from_agent_id__isnull=False).order_by("created")
    assert {(each.status, each.achieved_goal_count) for each in launched} == {("user_turn", 2)}
    ratings = launched.values_list("created_from_agent_version", "feedback__sentiment")
    assert list(ratings) == [(1, "negative"), (1, "negative"), (2, "positive")], "its change helped"
    for page in pages:
        answer = alice.get(page)
        assert answer.status_code == 200, page
        assert _Dangers(answer.content.decode()).found == [], page


def test_colleagues_see_what_is_shared_and_strangers_see_nothing(loaded):
    """B111, B149: eve reads her own thread only, bob reads what alice shared, and neither the private ones."""
    shared = {thread.thread_id for thread in Thread.objects.filter(org__slug="acme", visibility="org")}
    bobs = {thread.thread_id for thread in Thread.objects.filter(created_by__email="bob@acme.test")}

    def found(name: str) -> set[str]:
        return {
            item["thread_id"]
            for item in data_of(Api(loaded["tokens"][name]).post("threads/search", {"limit": 100}))["items"]
        }

    assert found("bob") == shared | bobs
    assert found("eve") == {Thread.objects.get(org__slug="globex").thread_id}


def test_checks_show_what_was_fixed_and_what_was_not(loaded):
    admin = Api(loaded["tokens"]["admin"])
    found = data_of(admin.get("admin/checks"))["items"]
    assert Counter(each["state"] for each in found) == {"passing": 2, "failing": 1, "untried": 1}
    assert any(each["expectations"] == [] for each in found)
    assert len({each["title"] for each in found}) == len(found)
    for each in found:
        report = data_of(admin.get(f"admin/feedback/{each['feedback_id']}"))
        assert report["resolved"] is (each["state"] == "passing")
        assert report["created"] < each["created"]
    _, fixed, broken = data_of(admin.get("admin/checks/batches"))["items"]
    compared = data_of(admin.get(f"admin/checks/batches/{fixed['batch_id']}/against/previous"))
    assert compared["turned_passing"] == 2 and broken["failed"] == broken["total"] == 2
    for batch in (fixed, broken):
        assert batch["is_over"] and batch["created"] < batch["ended_at"] and batch["output_tokens"] and batch["seconds"]
    runs = data_of(admin.get(f"admin/checks/batches/{fixed['batch_id']}"))["runs"]
    for run in runs:
        assert all(each["holds"] for each in run["findings"]) and run["created"] < run["ended_at"]
        answer = data_of(admin.get(f"threads/{run['thread_id']}"))
        assert answer["status"] == "user_turn"


def test_checks_can_be_run_again(loaded):
    admin = Api(loaded["tokens"]["admin"])
    begun = data_of(admin.post("admin/checks/run", {}))
    assert begun["running"] == len(data_of(admin.get("admin/checks"))["items"])
