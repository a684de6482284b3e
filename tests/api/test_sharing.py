"""T8, T9, H10, H11: visibility, pins, subjects, titles."""

from datetime import datetime

import pytest

from accounts.orgs import set_policy
from tests import make
from tests.api import shapes
from tests.conftest import data_of, refusal_of
from threads import sharing
from threads.models import Pin, Subject, Thread


@pytest.fixture
def thread(who):
    return make.thread(who.alice, visibility="org", run=False)


def rescope(api, name, thread, value):
    return api(name).post(f"threads/{thread.thread_id}/visibility", {"visibility": value})


# T8


def test_visibility_is_fixed_unless_the_orgs_policy_lets_it_change_B144(api, thread):
    """Spec 7: the seed by default."""
    status, code, said = refusal_of(rescope(api, "alice", thread, "private"))
    assert (status, code) == (403, "RobotoUnauthorizedException") and "policy" in said
    assert make.fresh(thread).visibility == "org"


@pytest.mark.parametrize("policy", [False, True])
def test_a_value_that_there_is_not_is_told_to_the_owner_whatever_the_policy_and_to_nobody_else(api, thread, policy):
    """Spec 1.4."""
    set_policy("acme", "visibility_may_change", policy)
    status, _, said = refusal_of(rescope(api, "alice", thread, "world"))
    assert (status, said.partition(":")[0]) == (400, "visibility")
    for name in ("bob", "eve", "admin"):
        status, _, said = refusal_of(rescope(api, name, thread, "world"))
        assert status == 403 and "policy" not in said


def test_the_creator_changes_it_and_the_same_value_again_is_accepted_B144(api, thread):
    set_policy("acme", "visibility_may_change", True)
    for value in ("private", "private", "org", "org"):
        assert data_of(rescope(api, "alice", thread, value)) == {
            "thread_id": thread.thread_id,
            "status": "roboto_turn",
        }
        assert data_of(api("alice").get(f"threads/{thread.thread_id}"))["visibility"] == value


@pytest.mark.parametrize("name", ["bob", "eve", "admin"])
def test_nobody_else_changes_it_admins_included_B145(api, thread, name):
    set_policy("acme", "visibility_may_change", True)
    assert refusal_of(rescope(api, name, thread, "private"))[:2] == (403, "RobotoUnauthorizedException")
    assert make.fresh(thread).visibility == "org"


def test_narrowing_closes_the_thread_to_colleagues_at_once_B146(api, thread):
    set_policy("acme", "visibility_may_change", True)
    path = f"threads/{thread.thread_id}"
    token = data_of(api("bob").get(path))["continuation_token"]
    data_of(rescope(api, "alice", thread, "private"))
    assert refusal_of(api("bob").get(path))[0] == 403
    assert refusal_of(api("bob").get(f"{path}/delta?next_token={token}"))[0] == 403
    assert data_of(api("bob").post("threads/search", {}))["items"] == []


@pytest.mark.parametrize(
    "body", [{}, {"visibility": None}, {"visibility": "public"}, {"visibility": True}, {"visibility": "ORG"}]
)
def test_another_visibility_is_refused(api, thread, body):
    set_policy("acme", "visibility_may_change", True)
    status, _, said = refusal_of(api("alice").post(f"threads/{thread.thread_id}/visibility", body))
    assert (status, said.partition(":")[0]) == (400, "visibility")


# T9


@pytest.mark.parametrize("name", ["alice", "bob", "admin"])
def test_every_reader_pins_for_themselves_and_repeating_keeps_the_time_B147(api, who, thread, name):
    client, path = api(name), f"threads/{thread.thread_id}/pin"
    assert data_of(client.post(path, {"pinned": True}))["thread_id"] == thread.thread_id
    [first] = Pin.objects.all()
    assert first.user == who.named(name).user
    data_of(client.post(path, {"pinned": True}))
    [again] = Pin.objects.all()
    assert again.pinned_at == first.pinned_at
    shown = data_of(client.get("threads"))["items"][0]["pinned_at"]
    assert datetime.fromisoformat(shown) == first.pinned_at

    for _ in range(2):
        data_of(client.post(path, {"pinned": False}))
        assert not Pin.objects.exists()


def test_who_may_not_read_may_not_pin_B147(api, who, thread):
    assert refusal_of(api("eve").post(f"threads/{thread.thread_id}/pin", {"pinned": True}))[0] == 403
    private = make.thread(who.alice, run=False)
    assert refusal_of(api("bob").post(f"threads/{private.thread_id}/pin", {"pinned": True}))[0] == 403
    assert not Pin.objects.exists()


@pytest.mark.parametrize("body", [{}, {"pinned": None}, {"pinned": "true"}, {"pinned": 1}])
def test_a_pin_is_true_or_false(api, thread, body):
    status, _, said = refusal_of(api("alice").post(f"threads/{thread.thread_id}/pin", body))
    assert (status, said.partition(":")[0]) == (400, "pinned")


# H10


def test_subjects_are_ids_with_notes_replaced_as_a_whole_B163(api, thread):
    path = f"threads/{thread.thread_id}/subjects"
    assert data_of(api("alice").get(path)) == []
    subjects = [{"association_id": "ds_1", "note": "where it began"}, {"association_id": "fl_2", "note": ""}]
    assert data_of(api("alice").put(path, subjects)) == subjects
    assert data_of(api("bob").get(path)) == subjects
    assert data_of(api("alice").put(path, subjects[1:])) == subjects[1:]
    assert data_of(api("alice").put(path, [])) == []


def test_the_last_note_for_an_entity_counts_B163(api, thread):
    path = f"threads/{thread.thread_id}/subjects"
    twice = [{"association_id": "ds_1", "note": "first"}, {"association_id": "ds_1", "note": "second"}]
    assert data_of(api("alice").put(path, twice)) == twice[1:]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"subjects": []},
        [None],
        [{}],
        [{"association_id": "", "note": "x"}],
        [{"association_id": "x" * 201, "note": "x"}],
        [{"association_id": "ds_1", "note": "x" * 2001}],
        [{"association_id": "ds_1"}],
        [{"association_id": "ds_1", "note": None}],
        [{"association_id": 1, "note": "x"}],
    ],
)
def test_bad_subjects_are_refused_and_the_old_ones_stay(api, thread, body):
    path = f"threads/{thread.thread_id}/subjects"
    kept = [{"association_id": "ds_0", "note": "kept"}]
    data_of(api("alice").put(path, kept))
    assert refusal_of(api("alice").put(path, body))[0] == 400
    assert data_of(api("alice").get(path)) == kept


@pytest.mark.parametrize("name", ["bob", "eve", "admin"])
def test_only_the_creator_says_what_a_thread_is_about(api, thread, name):
    """H10."""
    assert refusal_of(api(name).put(f"threads/{thread.thread_id}/subjects", []))[0] == 403
    assert not Subject.objects.exists()


# H11


def test_the_creator_retitles_and_gets_the_record_without_messages(api, thread):
    """H11."""
    record = data_of(api("alice").patch(f"threads/{thread.thread_id}", {"title": "  Turbine noise "}))
    shapes.check_thread(record)
    assert (record["title"], record["messages"]) == ("Turbine noise", [])
    assert data_of(api("alice").get("threads"))["items"][0]["title"] == "Turbine noise"


def test_a_title_is_required(api, thread):
    """H11: a client whose title was lost on the way must not take a 200 for a rename."""
    status, _, said = refusal_of(api("alice").patch(f"threads/{thread.thread_id}", {}))
    assert (status, said) == (400, "title: is missing")
    assert make.fresh(thread).title == "Hello"


@pytest.mark.parametrize("body", [{"title": None}, {"title": ""}, {"title": "   "}, {"title": "x" * 201}, {"title": 5},
                                  {"name": "x"}, {"title": "x", "status": "user_turn"}])  # fmt: skip
def test_a_bad_title_is_refused_and_the_old_one_stays(api, thread, body):
    assert refusal_of(api("alice").patch(f"threads/{thread.thread_id}", body))[0] == 400
    assert make.fresh(thread).title == "Hello"


def test_the_longest_title_is_accepted(api, thread):
    assert data_of(api("alice").patch(f"threads/{thread.thread_id}", {"title": "x" * 200}))["title"] == "x" * 200


@pytest.mark.parametrize("name", ["bob", "eve", "admin"])
def test_only_the_creator_retitles(api, thread, name):
    """H11."""
    assert refusal_of(api(name).patch(f"threads/{thread.thread_id}", {"title": "Mine"}))[0] == 403
    assert Thread.objects.get().title == "Hello"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "pin", {"pinned": True}),
        ("POST", "visibility", {"visibility": "private"}),
        ("PUT", "subjects", [{"association_id": "ds_1", "note": ""}]),
        ("PUT", "subjects", []),
    ],
)
def test_a_thread_that_is_deleted_during_the_request_is_not_found(api, who, monkeypatch, method, path, body):
    thread = make.conversation(who.alice, 2)
    set_policy("acme", "visibility_may_change", True)
    require = sharing.require

    def deleting(*asked):
        require(*asked)
        Thread.objects.filter(pk=thread.pk).delete()

    monkeypatch.setattr(sharing, "require", deleting)
    status, _, said = refusal_of(api("alice").request(method, f"threads/{thread.thread_id}/{path}", body))
    assert (status, said) == (404, "This thread was deleted just now.")
