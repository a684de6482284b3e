"""What the lower apps are told by this one."""

from django.db.models import Q

from accounts import hooks as accounts_hooks
from catalogue import hooks as catalogue_hooks
from core import jobs
from core.actor import Actor
from feedback import capture, mentioning, saved_views, screens
from feedback.checks import judging
from feedback.models import CheckRun, UserFeedback
from threads import hooks as threads_hooks
from threads.models import Thread


def open_reports() -> int:
    """How many reports are unresolved, counted as views are."""
    return saved_views.counted(UserFeedback.objects.filter(resolved=False))


def runs_of_checks(actor: Actor) -> Q:
    """Threads that are runs of checks, of which only admins have any."""
    return Q(CheckRun.of_thread()) if actor.is_admin else Q(pk__in=[])


def fork_left(thread_pk: int) -> None:
    """Have it decided how a run went, once its answer is stored, and the next one begun."""
    run = CheckRun.objects.filter(fork=thread_pk, ended_at=None).values_list("pk", flat=True).first()
    if run is not None:
        jobs.enqueue_on_commit("feedback.checks", run)


def deleted(actor: Actor, thread: Thread) -> None:
    """What hangs on a thread that is deleted goes as it would by itself."""
    judging.forget(thread)
    capture.take_back_all(actor, thread)


def register() -> None:
    """Called once when Django is ready."""
    accounts_hooks.register_open_reports(open_reports)
    catalogue_hooks.register_reports(mentioning.mentions)
    threads_hooks.register(
        screens.message_marks,
        screens.thread_ratings,
        screens.threads_rated,
        screens.replied,
        screens.threads_answered,
        screens.saw,
        screens.report_href,
        runs_of_checks,
        fork_left,
        deleted,
    )
