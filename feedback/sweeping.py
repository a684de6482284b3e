"""The periodic sweep of the feedback app: queues unfinished work again."""

from feedback import bulk
from feedback.checks import running
from feedback.webhooks import sending


def sweep() -> None:
    """Queue due and stuck work again."""
    bulk.sweep()
    sending.sweep()
    running.go_on()
