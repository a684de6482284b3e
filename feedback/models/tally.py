"""Stored counts of past days, so that Insight over a year need not read every report."""

from django.db import models

from core.db import JsonText


class Tally(models.Model):
    """The counts of one past UTC day. Valid only if no `Untallied` row exists for the day."""

    day = models.DateField(primary_key=True)
    quarters = JsonText(default=list)
    """For each quarter of an hour with reports: its index in the day, positive and negative count."""
    counts = JsonText(default=dict)
    """Counts by category, tool, model profile and minutes to resolve, in the format of `feedback.insight.tallying`."""

    def __str__(self) -> str:
        return f"tally of {self.day}"


class Untallied(models.Model):
    """A mark that reports of that day changed. A trigger adds it with the change; counting the day deletes it.

    There may be several for a day: on PostgreSQL, concurrent changes must not wait for each other here.
    """

    day = models.DateField(db_index=True)

    def __str__(self) -> str:
        return f"untallied {self.day}"
