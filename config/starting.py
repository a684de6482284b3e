"""Startup warnings: problems of the environment that need not stop the process but would be puzzling later."""

import logging
import os

from celery.signals import beat_init, celeryd_after_setup
from django.conf import settings

from config import operations
from config.env import unknown

logger = logging.getLogger("heddle.start")


def listen() -> None:
    """Make workers and beat log the warnings at their startup, too."""
    for signal in (celeryd_after_setup, beat_init):
        signal.connect(_begins)  # type: ignore[no-untyped-call]


def _begins(**_: object) -> None:
    tell()


def tell() -> None:
    """Warn about unknown settings, a secret key that may differ between processes, and a dead queue."""
    env = settings.HEDDLE
    if names := unknown(os.environ):
        logger.warning("settings.unknown", extra={"names": names})
    if env.secret_key is None and not env.is_embedded:
        hint = "set HEDDLE_SECRET_KEY, unless all processes use this folder: keys that differ break webhooks"
        logger.warning("secret_key.of_this_folder", extra={"folder": str(env.data_dir), "hint": hint})
    if problem := operations.queue_problem():
        logger.warning("queue.not_answering", extra={"setting": "REDIS_URL", "reason": problem})
