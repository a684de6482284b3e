"""T2, H1, H2: reading a thread, one's own list, search (spec 2.1, 2.8, 3.1)."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Membership, User
from accounts.orgs import add_member
from tests import make
from tests.api import shapes
from tests.conftest import data_of, refusal_of
from threads.models import Pin, Subject, Thread

SUMMARY = {"goal_type": "dataset_summary", "dataset_id": "ds_1"}


def ids(page):
    return [item["thread_id"] for item in page["items"]]


def test_reading_by_id_gives_the_exact_record_T2_B23_B32_B33(api, who):
    thread = make.thread(who.alice, '[[call echo {"value": 1}]] Hello', goals=[SUMMARY])
    record = data_of(api("alice").get(f"threads/{thread.thread_id}"))
    shapes.check_thread(record)
    assert record["status"] == "user_turn"
    assert record["title"] == "Hello"
    assert [message["role"] for message in record["messages"]][:3] == ["user", "assistant", "roboto"]
    assert shapes.texts(record)[0].endswith("Hello")
    assert shapes.texts(record)[-1]
    times = [message["created"] for message in record["messages"]]
    assert times == sorted(times)
    assert all(time.endswith(("Z", "+00:00")) for time in [record["created"], *times])
    assert [goal["status"] for goal in record["goals"]] == ["achieved"]


@pytest.mark.parametrize("spelling", ["False", "false", "FALSE", "0"])
def test_without_messages_none_come_but_goals_do_B24(api, who, spelling):
    thread = make.thread(who.alice, goals=[SUMMARY])
    record = data_of(api("alice").get(f"threads/{thread.thread_id}?load_messages={spelling}"))
    shapes.check_thread(record)
    assert record["messages"] == []
    assert len(record["goals"]) == 1


@pytest.mark.parametrize("spelling", ["True", "true", "TRUE", "1", ""])
def test_messages_come_by_default_and_where_asked_for_in_any_spelling_B23(api, who, spelling):
    thread = make.thread(who.alice, run=False)
    assert len(data_of(api("alice").get(f"threads/{thread.thread_id}?load_messages={spelling}"))["messages"]) == 1


@pytest.mark.parametrize("spelling", ["yes", "None", "2"])
def test_other_spellings_of_a_boolean_are_refused(api, who, spelling):
    thread = make.thread(who.alice, run=False)
    status, _, said = refusal_of(api("alice").get(f"threads/{thread.thread_id}?load_messages={spelling}"))
    assert (status, said.partition(":")[0]) == (400, "load_messages")


@pytest.mark.parametrize(
    "unknown",
    ["ags_0", "ags_", "x", "ags_" + "z" * 26, "ags_" + "z" * 3000, "ath_1", "ch_1", "%F0%9F%A7%B5",
     "ags_a%2Fb", "..", "ags_%25"],
)  # fmt: skip
def test_an_unknown_id_is_not_found_B26(api, unknown):
    assert refusal_of(api("alice").get(f"threads/{unknown}"))[:2] == (404, "RobotoNotFoundException")


@pytest.mark.parametrize("prefix", ["ags_", "ath_", "ch_"])
def test_older_spellings_of_an_id_are_accepted_B27(api, who, prefix):
    thread = make.thread(who.alice, run=False)
    assert data_of(api("alice").get(f"threads/{prefix}{thread.key}"))["thread_id"] == thread.thread_id


def test_an_imported_thread_is_found_by_the_id_it_had_B27(api, who):
    thread = make.conversation(who.alice, 2, origin_id="ch_older-platform.1")
    assert data_of(api("alice").get("threads/ch_older-platform.1"))["thread_id"] == thread.thread_id
    assert refusal_of(api("eve").get("threads/ch_older-platform.1"))[0] == 403


def test_an_id_that_is_longer_than_one_can_be_is_not_that_of_its_beginning_B26(api, who):
    stored = "ch_" + "x" * 197
    make.rating(who.alice, make.conversation(who.alice, 2, origin_id=stored))
    for longest, status, found in ((stored, 200, 1), (stored + "z", 404, 0)):
        assert api("alice").get(f"threads/{longest}").status_code == status
        assert len(data_of(api("admin").get(f"admin/feedback?thread_id={longest}"))["items"]) == found


def test_of_two_imports_with_one_id_the_readable_one_is_meant_B27(api, who):
    hers = make.conversation(who.eve, 2, origin_id="ch_7")
    mine = make.conversation(who.alice, 2, origin_id="ch_7")
    assert data_of(api("alice").get("threads/ch_7"))["thread_id"] == mine.thread_id
    assert data_of(api("eve").get("threads/ch_7"))["thread_id"] == hers.thread_id


def test_of_two_readable_imports_with_one_id_each_means_their_own_B27(api, who):
    his = make.conversation(who.bob, 2, origin_id="ch_7")
    mine = make.conversation(who.alice, 2, origin_id="ch_7")
    Thread.objects.update(visibility="org")
    assert data_of(api("bob").get("threads/ch_7"))["thread_id"] == his.thread_id
    assert data_of(api("alice").get("threads/ch_7"))["thread_id"] == mine.thread_id


def test_of_many_imports_with_one_id_the_latest_is_its_owners_too_B27(api, who):
    others = User.objects.bulk_create(User(email=f"{n}@acme.test") for n in range(51))
    private = {"org": who.acme, "import_id": "ch_7", "status": "user_turn"}
    Thread.objects.bulk_create(Thread(created_by=other, **private) for other in others)
    assert refusal_of(api("alice").get("threads/ch_7"))[::2] == (
        403,
        "This thread is private to 0, and acme does not allow sharing it.",
    )
    mine = make.conversation(who.alice, 2, origin_id="ch_7")
    assert data_of(api("alice").get("threads/ch_7"))["thread_id"] == mine.thread_id


@pytest.mark.parametrize(
    ("visibility", "name", "status"),
    [
        ("private", "bob", 403),
        ("private", "eve", 403),
        ("private", "admin", 200),
        ("private", "alice", 200),
        ("org", "bob", 200),
        ("org", "eve", 403),
        ("org", "admin", 200),
    ],
)
def test_who_reads_what_B28_B29_B30(api, who, visibility, name, status):
    thread = make.thread(who.alice, visibility=visibility, run=False)
    response = api(name).get(f"threads/{thread.thread_id}")
    assert response.status_code == status
    if status == 403:
        assert refusal_of(response)[1] == "RobotoUnauthorizedException"
        assert thread.title not in response.content.decode()


def test_a_creator_who_left_the_org_has_lost_the_thread(api, who):
    """Spec 2."""
    thread = make.thread(who.alice, visibility="org", run=False)
    Membership.objects.filter(user=who.alice.user).delete()
    assert refusal_of(api("alice").get(f"threads/{thread.thread_id}"))[0] == 403
    assert data_of(api("alice").get("threads"))["items"] == []
    assert data_of(api("alice").post("threads/search", {}))["items"] == []


def test_an_org_header_never_decides_about_a_thread_addressed_by_id(api, who):
    """Spec 1.2."""
    thread = make.thread(who.alice, run=False)
    header = {"X-Roboto-Org-Id": who.globex.org_id}
    data_of(api("alice").get(f"threads/{thread.thread_id}", **header))
    assert refusal_of(api("eve").get(f"threads/{thread.thread_id}", **header))[0] == 403


# H1


def test_the_list_is_a_page_of_bare_records_newest_first(api, who):
    """H1: messages [], goals and tasks null."""
    threads = [make.thread(who.alice, f"Number {number}", run=False, goals=[SUMMARY]) for number in range(3)]
    page = data_of(api("alice").get("threads"))
    assert set(page) == shapes.PAGE
    assert page["next_token"] is None
    assert ids(page) == [thread.thread_id for thread in reversed(threads)]
    for item in page["items"]:
        assert set(item) == shapes.THREAD
        assert (item["messages"], item["goals"], item["tasks"], item["pinned_at"]) == ([], None, None, None)


def test_the_token_of_a_listed_thread_replays_it_from_the_first_message(api, who):
    """Spec 4.6 item 10: the record holds no messages."""
    make.thread(who.alice)
    [item] = data_of(api("alice").get("threads"))["items"]
    path = f"threads/{item['thread_id']}/delta?next_token={item['continuation_token']}"
    assert list(data_of(api("alice").get(path))["messages_by_idx"]) == ["0", "1"]


def test_the_list_holds_own_threads_and_pinned_ones_only_B142_B148(api, who):
    mine = make.thread(who.alice, "Mine", run=False)
    shared = make.thread(who.bob, "Shared", visibility="org", run=False)
    make.thread(who.bob, "Private", run=False)
    make.thread(who.eve, "Foreign", visibility="org", run=False)
    assert ids(data_of(api("alice").get("threads"))) == [mine.thread_id]

    data_of(api("alice").post(f"threads/{shared.thread_id}/pin", {"pinned": True}))
    page = data_of(api("alice").get("threads"))
    assert ids(page) == [shared.thread_id, mine.thread_id]
    assert page["items"][0]["pinned_at"]
    assert page["items"][1]["pinned_at"] is None
    # A pin is personal, and shows in lists only.
    assert data_of(api("bob").get("threads"))["items"][0]["pinned_at"] is None
    assert data_of(api("alice").get(f"threads/{shared.thread_id}"))["pinned_at"] is None


def test_a_pinned_thread_that_became_unreadable_leaves_the_list(api, who):
    shared = make.thread(who.bob, visibility="org", run=False)
    data_of(api("alice").post(f"threads/{shared.thread_id}/pin", {"pinned": True}))
    Thread.objects.filter(pk=shared.pk).update(visibility="private")
    assert data_of(api("alice").get("threads"))["items"] == []


def test_another_persons_fork_never_shows_in_ones_list_B142(api, who):
    thread = make.thread(who.alice)
    fork = data_of(api("admin").post(f"threads/{thread.thread_id}/fork", {"message_sequence_num": 1}))
    assert ids(data_of(api("alice").get("threads"))) == [thread.thread_id]
    assert ids(data_of(api("alice").post("threads/search", {}))) == [thread.thread_id]
    assert ids(data_of(api("admin").get("threads"))) == [fork["thread_id"]]


def test_an_admins_list_is_their_own_and_not_everybodys(api, who):
    make.thread(who.alice, visibility="org", run=False)
    assert data_of(api("admin").get("threads"))["items"] == []
    assert data_of(api("admin").post("threads/search", {}))["items"] == []


def test_pages_follow_one_another_pins_first_without_loss_or_repetition(api, who):
    """H1: latest pin first, then newest first."""
    threads = [make.thread(who.alice, f"Number {number}", run=False) for number in range(7)]
    now = timezone.now()
    for place, thread in enumerate((threads[2], threads[5], threads[0])):
        Pin.objects.create(user=who.alice.user, thread=thread, pinned_at=now - timedelta(minutes=place))
    expected = [threads[number].thread_id for number in (2, 5, 0, 6, 4, 3, 1)]
    for limit in (1, 2, 3, 4, 7, 200):
        seen, token = [], ""
        while True:
            page = data_of(api("alice").get(f"threads?limit={limit}&page_token={token}"))
            assert len(page["items"]) <= limit
            seen += ids(page)
            token = page["next_token"]
            if token is None:
                break
        assert seen == expected


def test_pins_of_others_do_not_repeat_a_thread_on_the_next_page(api, who):
    threads = [make.thread(who.alice, f"Number {number}", visibility="org", run=False) for number in range(3)]
    now = timezone.now()
    for place, thread in enumerate(threads):
        Pin.objects.create(user=who.alice.user, thread=thread, pinned_at=now - timedelta(minutes=place))
        Pin.objects.create(user=who.bob.user, thread=thread, pinned_at=now - timedelta(days=1 + place))
    first = data_of(api("alice").get("threads?limit=1"))
    rest = data_of(api("alice").get(f"threads?limit=10&page_token={first['next_token']}"))
    assert ids(first) + ids(rest) == [thread.thread_id for thread in threads]


def test_threads_born_in_the_same_instant_are_each_listed_once(api, who):
    threads = [make.thread(who.alice, run=False) for _ in range(4)]
    Thread.objects.update(created=timezone.now())
    first = data_of(api("alice").get("threads?limit=2"))
    second = data_of(api("alice").get(f"threads?limit=2&page_token={first['next_token']}"))
    assert ids(first) + ids(second) == [thread.thread_id for thread in reversed(threads)]


@pytest.mark.parametrize("limit", ["0", "-1", "201", "x", "1.5", "1e2", "99999999999999999999999"])
def test_a_page_size_out_of_bounds_is_refused(api, limit):
    status, _, said = refusal_of(api("alice").get(f"threads?limit={limit}"))
    assert (status, said.partition(":")[0]) == (400, "limit")


@pytest.mark.parametrize("token", ["x", "!!", "AAAA", "%F0%9F%A7%B5", "a" * 5000])
def test_a_page_token_that_is_none_is_refused(api, token):
    status, _, said = refusal_of(api("alice").get(f"threads?page_token={token}"))
    assert (status, said.partition(":")[0]) == (400, "page_token")


# H2


def found(api, name, **body):
    return ids(data_of(api(name).post("threads/search", body)))


def test_searching_for_nothing_shows_own_threads_and_the_orgs_shared_ones_B149(api, who):
    mine = make.thread(who.alice, run=False)
    shared = make.thread(who.bob, visibility="org", run=False)
    make.thread(who.bob, run=False)
    make.thread(who.eve, visibility="org", run=False)
    assert found(api, "alice") == [shared.thread_id, mine.thread_id]
    assert found(api, "alice", query="", limit=None, page_token=None, status=None) == found(api, "alice")


def test_a_named_org_narrows_the_search_to_it_B149(api, who):
    """1.2; without one it looks into all orgs of the caller, and an org of others is refused as everywhere."""
    add_member(who.globex, who.bob.user)
    here = make.thread(who.alice, visibility="org", run=False)
    there = make.thread(who.eve, visibility="org", run=False)
    own = make.thread(who.bob, run=False, org_id=who.globex.pk)
    assert found(api, "bob") == [own.thread_id, there.thread_id, here.thread_id]

    def narrowed(name, org, **body):
        return api(name, **{"X-Roboto-Org-Id": org.org_id}).post("threads/search", body)

    assert ids(data_of(narrowed("bob", who.acme))) == [here.thread_id]
    first = data_of(narrowed("bob", who.globex, limit=1))
    assert ids(first) == [own.thread_id]
    assert ids(data_of(narrowed("bob", who.globex, page_token=first["next_token"]))) == [there.thread_id]
    assert refusal_of(narrowed("bob", who.acme, page_token=first["next_token"]))[0] == 400
    assert refusal_of(narrowed("alice", who.globex))[:2] == (403, "RobotoUnauthorizedException")


def test_the_query_looks_into_titles_and_what_users_wrote_whatever_the_case(api, who):
    titled = make.thread(who.alice, "Broken TURBINE blade", run=False)
    written = make.thread(who.alice, "Hello\nthe turbine is loud", run=False)
    make.thread(who.alice, "[[words 5]]")
    assert found(api, "alice", query="turbine") == [written.thread_id, titled.thread_id]
    assert found(api, "alice", query="  Turbine ") == [written.thread_id, titled.thread_id]
    # What the agent wrote is not searched, and a wildcard of the database is a character.
    assert found(api, "alice", query="the warp") == []
    assert found(api, "alice", query="turb%") == []
    assert found(api, "alice", query="t_rbine") == []


def test_every_filter_narrows_and_all_of_them_hold_together(api, who):
    """H2."""
    idle = make.thread(who.alice, visibility="org")
    running = make.thread(who.alice, run=False)
    launched = make.thread(who.bob, visibility="org")
    Thread.objects.filter(pk=launched.pk).update(created_from_agent_id="agt_1")
    Subject.objects.create(thread=running, association_id="ds_1", note="")
    everything = [launched.thread_id, running.thread_id, idle.thread_id]
    assert found(api, "alice") == everything
    assert found(api, "alice", status="roboto_turn") == [running.thread_id]
    assert found(api, "alice", status="not_started") == []
    assert found(api, "alice", visibility="org") == [launched.thread_id, idle.thread_id]
    assert found(api, "alice", created_by="Bob@ACME.test") == [launched.thread_id]
    assert found(api, "alice", created_by="nobody@acme.test") == []
    assert found(api, "alice", created_from_agent_id="agt_1") == [launched.thread_id]
    assert found(api, "alice", association_id="ds_1") == [running.thread_id]
    assert found(api, "alice", visibility="org", created_by="alice@acme.test") == [idle.thread_id]
    assert found(api, "alice", visibility="private", created_by="bob@acme.test") == []


def test_a_thread_is_found_once_however_often_it_says_the_words(api, who):
    thread = make.thread(who.alice, "again again\nagain", run=False)
    Subject.objects.create(thread=thread, association_id="ds_1", note="again")
    assert found(api, "alice", query="again", association_id="ds_1") == [thread.thread_id]


def test_search_results_are_bare_records_with_the_callers_pin_B148(api, who):
    thread = make.thread(who.alice, goals=[SUMMARY], run=False)
    data_of(api("alice").post(f"threads/{thread.thread_id}/pin", {"pinned": True}))
    [item] = data_of(api("alice").post("threads/search", {}))["items"]
    assert set(item) == shapes.THREAD
    assert (item["messages"], item["goals"], item["tasks"]) == ([], None, None)
    assert item["pinned_at"]


def test_search_pages_too(api, who):
    threads = [make.thread(who.alice, f"Number {number}", run=False) for number in range(5)]
    first = data_of(api("alice").post("threads/search", {"limit": 3}))
    second = data_of(api("alice").post("threads/search", {"limit": 3, "page_token": first["next_token"]}))
    assert ids(first) + ids(second) == [thread.thread_id for thread in reversed(threads)]
    assert second["next_token"] is None


@pytest.mark.parametrize(
    "body",
    [
        {"status": "running"},
        {"visibility": "public"},
        {"limit": 0},
        {"limit": 201},
        {"limit": "5"},
        {"limit": True},
        {"limit": 1.0},
        {"query": 5},
        {"query": "x" * 501},
        {"created_by": []},
        {"page_token": "x"},
        {"page_token": 5},
        {"association_id": {}},
    ],
)
def test_a_bad_search_is_refused_by_the_name_of_its_field(api, body):
    status, _, said = refusal_of(api("alice").post("threads/search", body))
    assert (status, said.partition(":")[0]) == (400, next(iter(body)))


def test_a_forks_source_is_named_in_lists(api, who):
    thread = make.thread(who.alice)
    data_of(api("alice").post(f"threads/{thread.thread_id}/fork", {"message_sequence_num": 0}))
    fork, _ = data_of(api("alice").get("threads"))["items"]
    assert (fork["forked_from_thread_id"], fork["forked_from_message_sequence_num"]) == (thread.thread_id, 0)
