"""What the lower apps are told by this one."""

from accounts import hooks as accounts_hooks
from catalogue import hooks as catalogue_hooks
from feedback import mentioning, screens
from feedback.models import UserFeedback
from threads import hooks as threads_hooks


def open_reports() -> int:
    """How many reports are unresolved, counted up to a thousand: beyond that nobody reads the figure."""
    return UserFeedback.objects.filter(resolved=False).order_by()[:1000].count()


def register() -> None:
    """Called once when Django is ready."""
    accounts_hooks.register_open_reports(open_reports)
    catalogue_hooks.register_reports(mentioning.mentions)
    threads_hooks.register(screens.message_marks, screens.thread_counts, screens.threads_rated, screens.replied)
