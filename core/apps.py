from django.apps import AppConfig

from core.db import tidy_once


class CoreConfig(AppConfig):
    name = "core"

    def ready(self) -> None:
        tidy_once()
