"""What the lower apps are told by this one."""

from accounts import hooks as accounts_hooks
from catalogue import hooks as catalogue_hooks
from feedback import mentioning, saved_views, screens
from feedback.models import UserFeedback
from threads import hooks as threads_hooks


def open_reports() -> int:
    """How many reports are unresolved, counted as views are."""
    return saved_views.counted(UserFeedback.objects.filter(resolved=False))


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
    )
