"""Every verb asks for its right itself, whatever it is called from (spec 2): a door, the shell, a command."""

import pytest

from core.errors import Unauthorized
from feedback import capture
from feedback.models import UserFeedback
from feedback.wire import FeedbackIn
from tests import make
from threads import forks, sharing, titles, turns
from threads.access import MessageStanding, Standing
from threads.models import Message, Pin, Thread
from threads.wire import SendIn, SubjectIn, ToolResultsIn

pytestmark = pytest.mark.django_db


def rate(actor, thread):
    capture.submit(actor, MessageStanding.of(Standing.of(thread), 1), FeedbackIn(sentiment="negative"))


SUBJECT = SubjectIn(association_id="ds_1", note="About it.")
OWNERS = {
    "send": lambda actor, thread: turns.send(actor, thread, SendIn.model_validate({"message": make.say("More.")})),
    "again": turns.again,
    "answer": lambda actor, thread: turns.submit_tool_results(actor, thread, ToolResultsIn(tool_results=[])),
    "cancel": turns.cancel,
    "title": lambda actor, thread: titles.retitle(actor, thread, "Another"),
    "subjects": lambda actor, thread: sharing.set_subjects(actor, thread, [SUBJECT]),
    "fork": lambda actor, thread: forks.fork(actor, thread, 1),
    "visibility": lambda actor, thread: sharing.set_visibility(actor, thread, "private"),
}
READERS = {
    "pin": lambda actor, thread: sharing.pin(actor, thread, pinned=True),
    "rate": rate,
    "retract": lambda actor, thread: capture.retract(actor, thread, 1),
}


def everything():
    return [list(model.objects.order_by("pk").values()) for model in (Thread, Message, Pin, UserFeedback)]


@pytest.mark.parametrize(
    ("name", "verb"),
    [
        *(pytest.param("bob", verb, id=f"a reader may not {what}") for what, verb in OWNERS.items()),
        *(pytest.param("eve", verb, id=f"a stranger may not {what}") for what, verb in {**OWNERS, **READERS}.items()),
    ],
)
def test_a_verb_is_refused_to_whoever_has_no_right_to_it(who, name, verb):
    thread = make.thread(who.alice, visibility="org")
    before = everything()
    with pytest.raises(Unauthorized):
        verb(who.named(name).actor, thread)
    assert everything() == before


def test_the_owner_may_not_close_a_thread_where_the_org_forbids_it(who):
    """T8: what the policy takes from everybody."""
    thread = make.thread(who.alice, visibility="org")
    with pytest.raises(Unauthorized):
        sharing.set_visibility(who.alice.actor, thread, "private")
