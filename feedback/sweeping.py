"""The periodic sweep of the feedback app: queues unfinished work again, and forgets what can no longer be restored."""

from feedback import bulk_work, commenting
from feedback.checks import running
from feedback.webhooks import sending


def sweep() -> None:
    """Queue due and stuck work again; delete what has been deleted for good."""
    bulk_work.sweep()
    commenting.sweep()
    sending.sweep()
    running.go_on()
