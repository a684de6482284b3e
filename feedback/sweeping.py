"""The clock of the feedback app: whatever a worker left undone is asked for again."""

from feedback import bulk
from feedback.checks import running
from feedback.webhooks import sending


def sweep(*, orphans: bool = False) -> None:
    """Ask again for what is due or stuck. With `orphans` nobody else can be at anything: this process starts alone."""
    bulk.sweep(orphans=orphans)
    sending.sweep(orphans=orphans)
    running.go_on()
