"""What a day's reports come to, kept so that insight over a year does not walk through each of them."""

from django.db import models

from core.db import JsonText


class Tally(models.Model):
    """One day of UTC, counted when it was over. It holds only while no `Untallied` names its day."""

    day = models.DateField(primary_key=True)
    quarters = JsonText(default=list)
    """Of each quarter of an hour that had a report: its place in the day, positive ones, negative ones."""
    counts = JsonText(default=dict)
    """By category, tool, model profile and minutes to resolve, as `feedback.insight.tallying` writes and reads it."""

    def __str__(self) -> str:
        return f"tally of {self.day}"


class Untallied(models.Model):
    """Something of that day's reports changed. The database adds it with the change, the count takes it away.

    There may be several for a day: on PostgreSQL two who change something must not wait for each other here.
    """

    day = models.DateField(db_index=True)

    def __str__(self) -> str:
        return f"untallied {self.day}"
