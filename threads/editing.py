"""An earlier request as the beginning of a form, to be changed and sent again."""

from contextlib import suppress
from typing import NamedTuple

from accounts.models import Org
from core.actor import Actor
from core.errors import NotFound, Unauthorized
from threads import profiles, reading
from threads.access import thread_for
from threads.models import Goal, Thread


class Earlier(NamedTuple):
    """What a thread was started with, as far as the form for a new one can say it."""

    text: str = ""
    system_prompt: str = ""
    model_profile: str = ""
    world_id: str = ""
    org: Org | None = None
    """Its org, if the actor is a member: what was written there is not carried elsewhere unasked."""
    left_out: str = ""
    """What the form does not send again, as a sentence."""


def start_of(actor: Actor, thread_id: str) -> Earlier:
    """The first request of a thread that the actor can read; raises `Unauthorized`, `NotFound`. A profile that is gone
    is left out.
    """
    thread = thread_for(actor, thread_id)
    known = {each.id for each in profiles.all_profiles()}
    return Earlier(
        text=_text_at(thread, 0),
        system_prompt=thread.system_prompt or "",
        model_profile=thread.model_profile if thread.model_profile in known else "",
        world_id=thread.world.world_id if thread.world else "",
        org=thread.org if thread.org_id in actor.orgs.values() else None,
        left_out=left_out(thread, 0),
    )


def left_out(thread: Thread, index: int) -> str:
    """What came with a request besides its text, in a sentence; empty if nothing did."""
    has_goals = Goal.objects.filter(thread=thread, message_sequence_num=index).exists()
    return "Its goals are not declared again." if has_goals else ""


def next_request(actor: Actor, fork: Thread) -> str:
    """The request that came next in the source of a fork that nobody has written in yet; empty without one, and if the
    actor cannot read the source any more.
    """
    upto = fork.forked_from_message_sequence_num
    if fork.forked_from is None or upto is None or fork.message_count != upto + 1:
        return ""
    with suppress(Unauthorized, NotFound):
        return _text_at(thread_for(actor, fork.forked_from.thread_id), upto + 1)
    return ""


def _text_at(thread: Thread, index: int) -> str:
    """The text of a user's message; empty for any other."""
    found = reading.snapshots(thread.pk, between=(index, index))
    if not found or found[0].role != "user":
        return ""
    return "\n\n".join(block["text"] for block in found[0].blocks if block["content_type"] == "text")
