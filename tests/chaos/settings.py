"""Heddle with two tools more, whose effects can be counted from outside."""

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.chaos.effects.Effects"]
