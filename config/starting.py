"""Startup warnings: problems of the environment that need not stop the process but would be puzzling later."""

import logging
import os

from celery.signals import beat_init, celeryd_after_setup
from django.conf import settings
from django.core.cache import cache
from django.utils.crypto import salted_hmac

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
    """Warn about unknown settings, a secret key that differs or may differ between processes, and a dead queue."""
    env = settings.HEDDLE
    if names := unknown(os.environ):
        logger.warning("settings.unknown", extra={"names": names})
    if env.secret_key is None and not env.is_embedded:
        hint = "set HEDDLE_SECRET_KEY, unless all processes use this folder: keys that differ break webhooks"
        logger.warning("secret_key.of_this_folder", extra={"folder": str(env.data_dir), "hint": hint})
    if not env.is_embedded and _has_another_key():
        hint = (
            "processes with different keys cannot check each other's signatures; after a change of the key ignore this"
        )
        logger.warning("secret_key.differs", extra={"hint": hint})
    if problem := operations.queue_problem():
        logger.warning("queue.not_answering", extra={"setting": "REDIS_URL", "reason": problem})


def _has_another_key() -> bool:
    """Whether the process that started before this one had another secret key. Only a fingerprint is shared."""
    own = salted_hmac("heddle.starting", "", algorithm="sha256").hexdigest()[:16]
    before = cache.get("secret_key", own)
    cache.set("secret_key", own, timeout=None)
    return bool(before != own)
