"""The desk's buttons that rerun a rated request and stop it. What comes of it is shown beside the rated answer."""

from contextlib import suppress

from django.http import HttpRequest, HttpResponseBase

from accounts.authentication import admin_actor
from accounts.pages import signed_in
from accounts.rights import Right
from core import bodies
from core.actor import Actor
from core.errors import Conflict, DomainError, NotFound, Unauthorized
from feedback import access, desk_forms, proofs
from feedback.checks import running
from feedback.desk_answers import onward, posted, refused
from feedback.desk_session import hold_undo
from feedback.desk_state import desk_at, sent_from
from feedback.models import UserFeedback
from threads import reruns, turns
from threads.access import require, thread_for
from threads.status import ThreadStatus
from threads.wire import RerunIn


@signed_in
@posted
def rerun(request: HttpRequest, feedback_id: str) -> HttpResponseBase:
    """Rerun the request of a rated answer in a private fork with the chosen options, and show it beside the answer. A
    press that is repeated before its page has come shows the same fork.
    """
    actor, form = admin_actor(request), request.POST
    try:
        bodies.check_storable(form.dict())
        report = access.report_for(actor, feedback_id)
        _require_ended(actor, report, sent_from(request).get("compare"))
        source = thread_for(actor, report.thread.thread_id, Right.FORK)
        asked: dict[str, object] = {name: form[name] for name in running.CHOICES if form.get(name)}
        asked |= desk_forms.AGENT_NOW if "agent" in form else {}
        asked["message_sequence_num"] = report.message_sequence_num
        made = reruns.rerun(actor, source, bodies.parse(RerunIn, asked), is_once=True)
    except DomainError as problem:
        return refused(request, actor, problem, item=feedback_id)
    hold_undo(request)
    shown = {"item": feedback_id, "pane": "talk", "compare": made.thread_id}
    return onward(request, desk_at(sent_from(request) | shown))


def _require_ended(actor: Actor, report: UserFeedback, thread_id: str | None) -> None:
    """Refuse a second press while the actor's rerun that is shown is still being written: each is paid for."""
    with suppress(NotFound, Unauthorized):
        fork = proofs.fork_of(actor, report, thread_id or "")
        if fork.created_by_id == actor.user_id and fork.status == ThreadStatus.ROBOTO_TURN:
            raise Conflict("The rerun beside it has not ended yet. Stop it first.")


@signed_in
@posted
def stop(request: HttpRequest, feedback_id: str, thread_id: str) -> HttpResponseBase:
    """Stop the running turn of a fork that is shown beside the rated answer."""
    actor = admin_actor(request)
    try:
        fork = proofs.fork_of(actor, access.report_for(actor, feedback_id), thread_id)
        require(actor, fork, Right.CANCEL)
        turns.cancel(actor, fork)
    except DomainError as problem:
        return refused(request, actor, problem, item=feedback_id)
    hold_undo(request)
    shown = {"item": feedback_id, "pane": "talk", "compare": thread_id}
    return onward(request, desk_at(sent_from(request) | shown))
