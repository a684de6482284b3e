"""The hooks by which the lower apps use this one."""

from django.db.models import Count, Q
from django.urls import reverse

from accounts import hooks as accounts_hooks
from catalogue import hooks as catalogue_hooks
from core import jobs
from core.actor import Actor
from core.paging import COUNT_LIMIT
from core.prepared import PreparedCount
from feedback import capture, checks_screen, marking, mentioning
from feedback.checks import judging
from feedback.models import CheckRun, UserFeedback
from feedback.presenting.links import href
from threads import hooks as threads_hooks
from threads.hooks import AgentRatings
from threads.models import Thread


def open_reports() -> int:
    """Number of open reports, counted up to 1,000."""
    return int(_OPEN.rows()[0][0])


_OPEN = PreparedCount(lambda: UserFeedback.objects.filter(resolved=False).order_by().values_list("pk")[:COUNT_LIMIT])


def reports_of_agent(actor: Actor, agent_id: str) -> str:
    """The address of the reports about an agent's answers; empty for others than admins."""
    return reverse("feedback:desk") + href({"q": f"agent:{agent_id}"}) if actor.is_admin else ""


def ratings_of_agent(actor: Actor, agent_id: str) -> dict[int, AgentRatings]:
    """The ratings of an agent's answers by its versions; for others than admins none. One query."""
    if not actor.is_admin:
        return {}
    version = "thread__created_from_agent_version"
    rated = UserFeedback.objects.filter(thread__created_from_agent_id=agent_id, **{f"{version}__isnull": False})
    by_version = rated.order_by().values_list(version)
    found = by_version.annotate(negative=Count("pk", filter=Q(sentiment="negative")), total=Count("pk"))
    return {
        number: AgentRatings(negative, total, reports_of_agent(actor, f"{agent_id}@{number}"))
        for number, negative, total in found
    }


def runs_of_checks(actor: Actor) -> Q:
    """The condition for threads that are runs of checks; only admins have such threads."""
    return Q(CheckRun.of_thread()) if actor.is_admin else Q(pk__in=[])


def fork_left(thread_pk: int) -> None:
    """After the answer of a check's run is stored, queue judging it and starting the next run."""
    run = CheckRun.objects.filter(fork=thread_pk, ended_at=None).values_list("pk", flat=True).first()
    if run is not None:
        jobs.enqueue_on_commit("feedback.checks", run)


def deleted(actor: Actor, thread: Thread) -> None:
    """Remove the runs and retract the reports of a thread that is being deleted."""
    judging.forget(thread)
    capture.take_back_all(actor, thread)


def register() -> None:
    """Register all hooks; called once when Django is ready."""
    accounts_hooks.feedback = accounts_hooks.Feedback(open_reports)
    catalogue_hooks.feedback = catalogue_hooks.Feedback(mentions=mentioning.mentions)
    threads_hooks.feedback = threads_hooks.Feedback(
        message_marks=marking.message_marks,
        thread_ratings=marking.thread_ratings,
        rated=marking.threads_rated,
        replies=marking.replied,
        answered=marking.threads_answered,
        saw=marking.saw,
        report=marking.report,
        reports_of_agent=reports_of_agent,
        ratings_of_agent=ratings_of_agent,
        runs=runs_of_checks,
        run_panel=checks_screen.panel_of,
        fork_left=fork_left,
        deleted=deleted,
    )
