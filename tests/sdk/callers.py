"""Somebody at the public SDK, and how to compare what they hold with what the server has."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from roboto.ai import AgentThread
from roboto.ai.agent_thread import AgentMessage
from roboto.ai.agent_thread.event import AgentEvent, AgentTextDeltaEvent
from roboto.config import RobotoConfig
from roboto.http import RobotoClient

from tests import live

TICK = 0.04
PATIENCE = 60.0


@dataclass(frozen=True)
class Caller:
    """A person with the unmodified SDK, and with plain HTTP for what the SDK cannot say."""

    server: live.Served
    name: str

    @property
    def email(self) -> str:
        return self.server.who["emails"][self.name]

    @property
    def client(self) -> RobotoClient:
        return self.client_at(self.server.url)

    def client_at(self, endpoint: str) -> RobotoClient:
        """The SDK's client for a token and an endpoint; only its default one is kept for the whole process."""
        return RobotoClient.from_config(RobotoConfig(api_key=self.server.token(self.name), endpoint=endpoint))

    def start(self, message: Any = None, **more: Any) -> AgentThread:
        return AgentThread.start(message, roboto_client=self.client, **more)

    def talk(self, message: Any = None, **more: Any) -> AgentThread:
        """Start, and wait for the answer."""
        return run(self.start(message, **more))

    def thread(self, thread: AgentThread | str, **more: Any) -> AgentThread:
        """The thread as this person reads it now."""
        thread_id = thread if isinstance(thread, str) else thread.thread_id
        return AgentThread.from_id(thread_id, roboto_client=self.client, **more)

    def fetch(self, path: str, body: Any = None, method: str | None = None, **headers: str) -> tuple[int, Any]:
        """One plain request below /v1/ai/: status and JSON."""
        url = f"{self.server.url}/v1/ai/{path}"
        return live.fetch(url, self.server.token(self.name), body, method, **headers)

    def get(self, path: str, **headers: str) -> Any:
        """What a successful plain GET carries."""
        status, content = self.fetch(path, **headers)
        assert status == 200, content
        return content["data"]

    def post(self, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        return self.fetch(path, {} if body is None else body, "POST", **headers)

    def record(self, thread: AgentThread) -> Any:
        """The thread's record as plain JSON."""
        return self.get(f"threads/{thread.thread_id}")


def run(thread: AgentThread, **more: Any) -> AgentThread:
    """Drive a thread with a short tick, never for ever."""
    return thread.run(**{"tick": TICK, "timeout": PATIENCE, **more})


def some_words(caller: Caller, thread: AgentThread) -> AgentThread:
    """Wait until the answer has begun, and return a reader who holds its beginning."""
    ends_at = time.monotonic() + PATIENCE
    while time.monotonic() < ends_at:
        reader = caller.thread(thread)
        if reader.messages[-1].role == "assistant" and text_of(reader.messages[-1]):
            return reader
        time.sleep(0.05)
    raise AssertionError("nothing was said")


def follow(thread: AgentThread, **more: Any) -> list[AgentEvent]:
    """Everything the thread tells until it is somebody else's turn."""
    return list(thread.events(**{"tick": TICK, "timeout": PATIENCE, **more}))


def kinds(events: list[AgentEvent]) -> list[str]:
    """The names of events, a run of text fragments as one."""
    names: list[str] = []
    for event in events:
        name = type(event).__name__.removeprefix("Agent").removesuffix("Event")
        if name != "TextDelta" or names[-1:] != [name]:
            names.append(name)
    return names


def spoken(events: list[AgentEvent]) -> str:
    """The text of events."""
    return "".join(event.text for event in events if isinstance(event, AgentTextDeltaEvent))


def blocks(message: AgentMessage) -> list[dict[str, Any]]:
    """The blocks of a message as plain data."""
    return [block.model_dump(mode="json") for block in message.content]


def text_of(message: AgentMessage | None) -> str:
    """The text of a message, its fragments joined."""
    assert message is not None
    return "".join(block.get("text", "") for block in blocks(message))


def held(thread: AgentThread) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """Everything a client holds of the messages, block by block; times differ for one's own copy of what one sent."""
    return [(message.role.value, message.status.value, blocks(message)) for message in thread.messages]


def roles(thread: AgentThread) -> list[str]:
    return [message.role.value for message in thread.messages]


def calls(*wanted: tuple[str, Any]) -> str:
    """Directives that make the simulator call these tools with exactly these inputs."""
    return " ".join(f"[[call {name} {json.dumps(value, ensure_ascii=False)}]]" for name, value in wanted)


def caller(served: live.Served, name: str) -> Caller:
    """Somebody, provided that there is a server to speak to: the SDK tries a dead one ten times."""
    assert served.processes["server"].poll() is None, "the server is gone"
    return Caller(served, name)


@pytest.fixture
def person(served: live.Served) -> Callable[[str], Caller]:
    """`person("alice")` is alice at the SDK."""
    return lambda name: caller(served, name)


@pytest.fixture
def alice(served: live.Served) -> Caller:
    """A member of acme, who starts the threads."""
    return caller(served, "alice")


@pytest.fixture
def bob(served: live.Served) -> Caller:
    """Her colleague in acme."""
    return caller(served, "bob")


@pytest.fixture
def eve(served: live.Served) -> Caller:
    """A stranger, from globex."""
    return caller(served, "eve")


@pytest.fixture
def admin(served: live.Served) -> Caller:
    """A platform admin, in no org."""
    return caller(served, "admin")
