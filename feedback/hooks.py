"""What the lower apps are told by this one."""

from django.db.models import Q

from accounts import hooks as accounts_hooks
from catalogue import hooks as catalogue_hooks
from core.actor import Actor
from feedback import mentioning, saved_views, screens
from feedback.models import CheckRun, UserFeedback
from threads import hooks as threads_hooks


def open_reports() -> int:
    """How many reports are unresolved, counted as views are."""
    return saved_views.counted(UserFeedback.objects.filter(resolved=False))


def runs_of_checks(actor: Actor) -> Q:
    """Threads that are runs of checks, of which only admins have any."""
    return Q(CheckRun.of_thread()) if actor.is_admin else Q(pk__in=[])


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
    )
