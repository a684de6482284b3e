"""The providers' own wires on loopback. Here alone requests to models are let through, and none leaves loopback."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pydantic_ai.models
import pytest

from tests import make, people
from tests.conftest import Api, data_of
from tests.providers import wire
from threads import profiles
from threads.access import thread_for
from threads.models import Turn

WIRES = ("openai", "anthropic")


@pytest.fixture(autouse=True)
def requests_are_let_through() -> Iterator[None]:
    with pydantic_ai.models.override_allow_model_requests(True):
        yield


@pytest.fixture(scope="session")
def running() -> Iterator[wire.Provider]:
    """One server for all tests: with one address, a profile's model and its connections are made once."""
    with wire.serving() as server:
        yield server


@pytest.fixture
def provider(running: wire.Provider) -> Iterator[wire.Provider]:
    """A provider on loopback that was told nothing yet."""
    running.begin()
    yield running
    running.over.set()


@pytest.fixture(params=WIRES)
def kind(request: pytest.FixtureRequest) -> str:
    """Which wire is spoken."""
    return request.param


@pytest.fixture
def configure(settings: Any) -> Iterator[Callable[..., None]]:
    """Set the configured profiles; the list is read once a process."""

    def set_(*lines: str) -> None:
        profiles.parse(lines)
        settings.HEDDLE = settings.HEDDLE.model_copy(update={"model_profiles": lines, "default_profile": ""})
        profiles.all_profiles.cache_clear()

    yield set_
    profiles.all_profiles.cache_clear()


def line(name: str, kind: str, server: wire.Provider, **options: object) -> str:
    """The line of a profile that is answered by a provider on loopback."""
    base_url = server.address + ("/v1" if kind == "openai" else "")
    return f"{name}={kind}:{wire.MODEL}?base_url={base_url}" + "".join(f"&{key}={val}" for key, val in options.items())


@dataclass
class Talk:
    """A conversation of alice through the REST API, its turns run as a worker would."""

    api: Api
    who: people.People
    provider: wire.Provider
    configure: Callable[..., None]
    kind: str
    id: str = ""

    def profile(self, **options: object) -> None:
        """One profile, answered by the loopback provider."""
        self.configure(line("loop", self.kind, self.provider, **options))

    def start(self, text: str = "Hello", *, run: bool = True, **body: Any) -> dict[str, Any]:
        record = data_of(self.api.post("threads", {"messages": [make.say(text)], **body}))
        self.id = record["thread_id"]
        return self.run() if run else record

    def send(self, text: str) -> dict[str, Any]:
        data_of(self.api.post(f"threads/{self.id}/messages", {"message": make.say(text)}))
        return self.run()

    def answer(self, *results: dict[str, Any]) -> dict[str, Any]:
        data_of(self.api.post(f"threads/{self.id}/tool-results", {"tool_results": list(results)}))
        return self.run()

    def run(self) -> dict[str, Any]:
        make.run_turns()
        return self.record()

    def record(self) -> dict[str, Any]:
        return data_of(self.api.get(f"threads/{self.id}"))

    def turn(self) -> Turn:
        return Turn.objects.filter(thread=thread_for(self.who.alice.actor, self.id)).latest("id")


@pytest.fixture
def talk(api: Any, who: people.People, provider: wire.Provider, configure: Any, kind: str) -> Talk:
    """A conversation over either wire."""
    found = Talk(api("alice"), who, provider, configure, kind)
    found.profile()
    return found
