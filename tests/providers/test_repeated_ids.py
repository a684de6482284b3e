"""Imported threads may use the id of a call again: the model reads each call with its own result (spec 9)."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests import make
from tests.conftest import data_of
from tests.providers.wire import says

Message = dict[str, Any]


def asks(*ids: str) -> Message:
    calls = [{"id": use_id, "type": "function", "function": {"name": "look", "arguments": "{}"}} for use_id in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def gives(use_id: str, content: str) -> Message:
    return {"role": "tool", "tool_call_id": use_id, "content": content}


def results_in(body: dict[str, Any]) -> Iterator[Any]:
    """The results that a model was told, on either wire."""
    for message in body["messages"]:
        if message["role"] == "tool":
            yield message["content"]
        elif isinstance(message["content"], list):
            yield from (each["content"] for each in message["content"] if each["type"] == "tool_result")


SAID = {"role": "user", "content": "Look."}


@pytest.mark.parametrize(
    ("messages", "returned"),
    [
        ([asks("c"), gives("c", "FIRST"), asks("c"), gives("c", "SECOND")], ["FIRST", "SECOND"]),
        ([asks("c", "c"), gives("c", "FIRST"), gives("c", "SECOND")], ["FIRST", "SECOND"]),
        ([asks("c"), SAID, asks("c"), gives("c", "SECOND")], ["never", "SECOND"]),
        ([asks("c", "d"), gives("d", "OF D"), gives("c", "OF C")], ["OF C", "OF D"]),
        ([asks("c"), asks("d"), gives("c", "OF C"), gives("d", "OF D")], ["OF C", "OF D"]),
    ],
)
def test_each_call_is_read_with_its_own_result(talk, messages, returned):
    body = {"format": "openai", "conversations": [{"id": "x", "messages": [SAID, *messages]}]}
    [item] = data_of(talk.api.post("threads/import", body))["items"]
    talk.provider.will(says("Done."))
    talk.api.post(f"threads/{item['thread_id']}/messages", {"message": make.say("And?")})
    make.run_turns()
    told = list(results_in(talk.provider.asked[-1].body))
    assert len(told) == len(returned)
    assert all(part in json.dumps(content) for part, content in zip(returned, told, strict=True))
