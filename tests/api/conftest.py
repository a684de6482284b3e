"""What tests of the desk over REST begin with."""

import pytest

from tests import make


@pytest.fixture
def thread(who):
    return make.conversation(who.alice, 40)


@pytest.fixture
def reports(who, thread):
    """Three reports of alice's, oldest first."""
    return [make.rating(who.alice, thread, 2 * place + 1, notes=f"Report {place}").feedback_id for place in range(3)]


@pytest.fixture
def admin(api):
    return api("admin")
