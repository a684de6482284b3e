"""What a process says of its surroundings as it starts: what need not stop it, and would puzzle somebody later."""

import logging
import os

from celery.signals import beat_init, celeryd_after_setup
from django.conf import settings

from config import operations
from config.env import unknown

logger = logging.getLogger("heddle.start")


def listen() -> None:
    """Have workers and the clock tell it too, as they start."""
    for signal in (celeryd_after_setup, beat_init):
        signal.connect(_begins)  # type: ignore[no-untyped-call]


def _begins(**_: object) -> None:
    tell()


def tell() -> None:
    """Warn of settings that are none, of a key that others may not have, and of a queue that does not answer."""
    env = settings.HEDDLE
    if names := unknown(os.environ):
        logger.warning("settings.unknown", extra={"names": names})
    if env.secret_key is None and not env.is_embedded:
        hint = "set HEDDLE_SECRET_KEY, unless every process uses this folder: with two keys webhooks are signed wrongly"
        logger.warning("secret_key.of_this_folder", extra={"folder": str(env.data_dir), "hint": hint})
    if problem := operations.queue_problem():
        logger.warning("queue.not_answering", extra={"setting": "REDIS_URL", "reason": problem})
