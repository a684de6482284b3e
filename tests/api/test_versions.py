"""Older clients: the names and shapes they were built for (spec 1.6)."""

import pytest

from tests import make
from tests.api import shapes
from tests.conftest import data_of

OLD, NEW = "2026-03-13", "2026-05-20"


def names(record):
    return {name for name in record if name.endswith(("thread_id", "session_id"))}


@pytest.mark.parametrize("root", ["threads", "chats"])
def test_before_may_2026_threads_are_called_sessions_in_every_record(api, who, root):
    old = api("alice", **{"X-Roboto-Api-Version": OLD})
    record = data_of(old.post(root, {"messages": [make.say("Hi")]}))
    assert names(record) == {"session_id", "forked_from_session_id"}
    assert set(record) - names(record) == shapes.THREAD - {"thread_id", "forked_from_thread_id"}
    make.run_turns()
    path = f"{root}/{record['session_id']}"
    assert names(data_of(old.get(path))) == {"session_id", "forked_from_session_id"}
    assert names(data_of(old.post(f"{path}/messages", {"message": make.say("More")}))) == {"session_id"}
    make.run_turns()
    fork = data_of(old.post(f"{path}/fork", {"message_sequence_num": 1}))
    assert fork["forked_from_session_id"] == record["session_id"]
    for page in (data_of(old.get(root)), data_of(old.post(f"{root}/search", {}))):
        assert [names(item) for item in page["items"]] == [{"session_id", "forked_from_session_id"}] * 2
    data_of(old.get(f"{path}/delta"))
    rating = data_of(old.post(f"{path}/messages/1/feedback", {"sentiment": "positive"}))
    assert (names(rating), rating["session_id"]) == ({"session_id"}, record["session_id"])
    assert data_of(old.get(f"{path}/feedback")) == [rating]


@pytest.mark.parametrize("version", [NEW, "2026-10-06", "9999-01-01", "", None])
def test_from_then_on_and_without_a_version_they_are_called_threads(api, who, version):
    headers = {} if version is None else {"X-Roboto-Api-Version": version}
    for root in ("threads", "chats"):
        record = data_of(api("alice", **headers).post(root, {"messages": [make.say("Hi")]}))
        assert set(record) == shapes.THREAD


def test_an_unknown_version_counts_as_the_latest(api, who):
    """Spec 1.6."""
    for version in ("yesterday", "1", "2026", "2025-13-99", "v1", "0000-00-00", "2026-05-19"):
        record = data_of(
            api("alice", **{"X-Roboto-Api-Version": version}).post("threads", {"messages": [make.say("Hi")]})
        )
        assert set(record) == shapes.THREAD, version
