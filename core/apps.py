from django.apps import AppConfig
from django.db.backends.signals import connection_created

from core import optional
from core.db import tidy_once


class CoreConfig(AppConfig):
    name = "core"

    def ready(self) -> None:
        from core import fulltext

        optional.leave_out()
        tidy_once()
        connection_created.connect(fulltext.prepare)
