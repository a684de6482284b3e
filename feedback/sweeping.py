"""The clock of the feedback app: whatever a worker left undone is asked for again."""

from feedback import bulk
from feedback.checks import running
from feedback.webhooks import sending


def sweep() -> None:
    """Ask again for what is due or stuck."""
    bulk.sweep()
    sending.sweep()
    running.go_on()
