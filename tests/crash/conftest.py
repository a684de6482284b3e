"""Servers whose processes, queue and database are taken away while SDK clients work with them."""

import warnings
from collections.abc import Iterator

import pytest

from tests import live

with warnings.catch_warnings():
    # The SDK brings a library that warns of another one while it is imported.
    warnings.filterwarnings("ignore", "GitWildMatchPattern", DeprecationWarning)
    from tests.sdk.callers import admin, alice, bob, eve, person

__all__ = ["admin", "alice", "bob", "eve", "person"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that asks for `full` or `embedded` is run on that way only."""
    items[:] = [item for item in items if not _is_of_another_way(item)]


def _is_of_another_way(item: pytest.Item) -> bool:
    way = item.callspec.params.get("served") if hasattr(item, "callspec") else None
    return way is not None and bool({"full", "embedded"} - {way} & set(getattr(item, "fixturenames", ())))


@pytest.fixture
def full(served: live.Served) -> live.Served:
    """PostgreSQL, Redis, workers of their own."""
    return served


@pytest.fixture
def embedded(served: live.Served) -> live.Served:
    """SQLite, and one process that does everything."""
    return served


@pytest.fixture(autouse=True)
def mended(served: live.Served) -> Iterator[None]:
    """Whatever a test breaks is whole again for the next one."""
    yield
    if served.broker is not None:
        served.broker.open()
    if not served.is_running("server"):
        served.start_server("--no-prepare")
    if not served.is_running("worker"):
        served.start_worker()
