"""How many queries a request makes: a fixed number, however many rows there are, and the number stands here."""

from collections.abc import Callable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests import make
from tests.conftest import data_of
from threads.models import Pin, Subject

Ask = Callable[[], object]


def count(ask: Ask) -> list[str]:
    """The queries of a request, the second time: the first one notes when the token was used."""
    ask()
    with CaptureQueriesContext(connection) as captured:
        ask()
    return [query["sql"] for query in captured.captured_queries]


@pytest.fixture
def grow(who):
    """`grow(n)` adds n of everything that a list of alice's may hold."""

    def more(number: int) -> None:
        for _ in range(number):
            goal = {"goal_type": "dataset_summary", "dataset_id": "ds_1"}
            thread = make.thread(who.alice, visibility="org", goals=[goal])
            make.thread(who.bob, "Hello", visibility="org", run=False)
            make.rating(who.alice, thread, index=thread.message_count - 1, categories=["slow"])
            Pin.objects.create(user=who.alice.user, thread=thread)

    return more


def same_with_more_rows(ask: Ask, grow: Callable[[int], None]) -> int:
    """The number of queries, which ten more rows do not change."""
    grow(2)
    few = count(ask)
    grow(10)
    many = count(ask)
    assert len(few) == len(many), "\n".join(many)
    return len(many)


# Every request: the token with its person and their orgs.
TOKEN = 1


def test_listing_own_threads_takes_three(api, grow):
    alice = api("alice")
    # The pinned block with owner and org, the rest with owner and org (left out where pins fill the page).
    assert same_with_more_rows(lambda: data_of(alice.get("threads?limit=100")), grow) == TOKEN + 2


def test_a_line_over_the_list_takes_no_more(api, grow):
    alice, line = api("alice"), "q=is:shared%20has:goal%20sentiment:negative%20-has:fork%20OR%20hello"
    # Whether anything is not indexed yet, and how many answers have the word.
    assert same_with_more_rows(lambda: data_of(alice.get(f"threads?limit=100&{line}")), grow) == TOKEN + 4


def test_a_page_of_forks_names_their_sources_by_one_more(api, who, grow):
    alice, thread = api("alice"), make.thread(who.alice)

    def fork(number: int) -> None:
        for _ in range(number):
            data_of(alice.post(f"threads/{thread.thread_id}/fork", {"message_sequence_num": 1}))

    # The sources of all forks of the page.
    assert same_with_more_rows(lambda: data_of(alice.get("threads?limit=100")), fork) == TOKEN + 3


@pytest.mark.parametrize("body", [{}, {"query": "hello"}, {"status": "user_turn"}, {"created_by": "bob@acme.test"}])
def test_searching_takes_three(api, grow, body):
    alice = api("alice")
    # The pinned block, the rest.
    assert same_with_more_rows(lambda: data_of(alice.post("threads/search", {**body, "limit": 100})), grow) == TOKEN + 2


def test_the_reports_of_all_take_two(api, grow):
    admin = api("admin")
    # The records of the page.
    assert same_with_more_rows(lambda: data_of(admin.get("admin/feedback?limit=100")), grow) == TOKEN + 1
    filters = "sentiment=negative&category=slow&resolved=false&limit=100"
    assert len(count(lambda: data_of(admin.get(f"admin/feedback?{filters}")))) == TOKEN + 1


@pytest.fixture
def talk(who):
    """A thread of alice that can get longer."""
    return make.thread(who.alice, visibility="org")


@pytest.fixture
def lengthen(who, talk):
    """Ten more rows of everything in a thread: messages, blocks, calls, goals, subjects, ratings."""

    def more(number: int) -> None:
        for place in range(number):
            goal = {"goal_type": "dataset_summary", "dataset_id": f"ds_{place}"}
            thread = make.send(who.alice, talk, '[[call echo {"value": 1}]] [[words 30]]', goals=[goal])
            make.rating(who.alice, thread, index=thread.message_count - 1)
            Subject.objects.get_or_create(thread=thread, association_id=f"ds_{thread.message_count}", note="n")

    return more


def test_reading_a_thread_takes_seven(api, talk, lengthen):
    alice = api("alice")
    # The thread with owner and org for the right; then in one snapshot: its changing columns, what it names of other
    # rows, goals, messages, blocks.
    assert same_with_more_rows(lambda: data_of(alice.get(f"threads/{talk.thread_id}")), lengthen) == TOKEN + 6


def test_a_delta_of_everything_takes_seven(api, talk, lengthen):
    alice = api("alice")
    # The same as reading, but for what was taken back instead of what it names.
    assert same_with_more_rows(lambda: data_of(alice.get(f"threads/{talk.thread_id}/delta")), lengthen) == TOKEN + 6


def test_a_delta_with_nothing_new_takes_two(api, talk, lengthen):
    alice = api("alice")

    def poll() -> None:
        token = make.fresh(talk).revision
        with CaptureQueriesContext(connection) as captured:
            data_of(alice.get(f"threads/{talk.thread_id}/delta?next_token=v1.{talk.key}.{token}"))
        # The thread itself.
        assert len(captured) == TOKEN + 1

    data_of(alice.get("threads"))
    poll()
    lengthen(3)
    poll()


def test_subjects_own_reports_and_exports_do_not_ask_by_row(api, talk, lengthen):
    alice, path = api("alice"), f"threads/{talk.thread_id}"
    # The thread, the rows.
    assert same_with_more_rows(lambda: data_of(alice.get(f"{path}/subjects")), lengthen) == TOKEN + 2
    assert len(count(lambda: data_of(alice.get(f"{path}/feedback")))) == TOKEN + 2
    # The thread, its system prompt, messages, blocks.
    assert len(count(lambda: data_of(alice.get(f"{path}/export?format=openai")))) == TOKEN + 4


def test_the_tool_detail_takes_three(api, who, talk):
    thread = make.send(who.alice, talk, '[[call echo {"value": 1}]]')
    use = thread.blocks.filter(kind="tool_use").get().tool_use_id
    # The thread, the blocks with that id.
    assert len(count(lambda: data_of(api("alice").get(f"threads/{thread.thread_id}/tools/{use}")))) == TOKEN + 2


def test_the_profiles_take_none_but_the_token(api):
    assert len(count(lambda: data_of(api("alice").get("model-profiles")))) == TOKEN


def test_rating_takes_four(api, who, talk):
    path = f"threads/{talk.thread_id}/messages/1/feedback"
    # The thread and its message; who wants to be told; the row made or changed.
    assert len(count(lambda: data_of(api("alice").post(path, {"sentiment": "positive"})))) == TOKEN + 3


def test_labelling_takes_the_same_number_however_many_the_labels(api, who, talk):
    report = make.rating(who.alice, talk, 1).feedback_id
    admin = api("admin")
    steps = [
        [f"label {number}" for number in range(10)],
        [],
        ["label 0"],
        [],
        [f"label {number}" for number in range(10)],
    ]
    asked = []
    for names in steps:
        body = {"admin_label": ", ".join(names) or None}
        asked.append(len(count(lambda: data_of(admin.put(f"/v1/ai/admin/feedback/{report}", body)))))  # noqa: B023
    assert asked[2] == asked[4], asked


def test_forking_takes_the_same_number_however_long_the_thread(api, talk, lengthen):
    alice = api("alice")

    def fork() -> None:
        last = make.fresh(talk).message_count - 1
        data_of(alice.post(f"threads/{talk.thread_id}/fork", {"message_sequence_num": last}))

    # One statement a table for messages and blocks, two for goals, the row with what lists show of it, the record.
    assert same_with_more_rows(fork, lengthen) <= 24
