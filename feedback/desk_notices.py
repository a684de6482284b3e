"""Notices for open desks: something that they show has changed."""

from django.db import transaction

from core import notices

NOTICE = "desk"
"""The topic of notices for open desks."""


def announce() -> None:
    """Tell open desks, after the commit, that something they show has changed."""
    transaction.on_commit(publish)


def publish() -> None:
    """Tell open desks at once."""
    notices.publish(NOTICE)
