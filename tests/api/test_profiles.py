"""H9: the model profiles."""

import pytest

from tests.conftest import data_of
from threads import profiles


@pytest.fixture
def configured(settings):
    """Set the configured profiles; the list is read once a process."""

    def configure(*lines, default=""):
        settings.HEDDLE = settings.HEDDLE.model_copy(update={"model_profiles": lines, "default_profile": default})
        profiles.all_profiles.cache_clear()

    yield configure
    profiles.all_profiles.cache_clear()


def listed(api):
    found = data_of(api("eve").get("model-profiles"))
    assert all(set(each) == {"id", "label", "description", "is_default"} for each in found)
    return {each["id"]: each["is_default"] for each in found}


def test_without_configuration_the_simulator_is_the_default(api, configured):
    configured()
    assert listed(api) == {"simulated": True}


def test_exactly_one_profile_is_the_default_and_the_simulator_is_always_there_H9(api, configured):
    lines = ("quick=openai:gpt-x", "deep = anthropic:claude-x")
    configured(*lines)
    assert listed(api) == {"quick": True, "deep": False, "simulated": False}
    configured(*lines, default="simulated")
    assert listed(api) == {"quick": False, "deep": False, "simulated": True}


def test_a_thread_started_without_a_profile_gets_the_default_one_B22(api, configured):
    configured("quick=openai:gpt-x")
    record = data_of(api("alice").post("threads", {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}))
    assert record["model_profile"] == "quick"
