import logging
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config import demo


class Command(BaseCommand):
    help = "Load the demo data: orgs, users, threads, feedback. Loading it again changes nothing."

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.HEDDLE.mode == "production":
            raise CommandError("The demo has publicly known passwords, so HEDDLE_MODE=production refuses to load it.")
        logging.disable(logging.WARNING)  # otherwise each demo turn would print a log line
        try:
            is_new = demo.load()
        finally:
            logging.disable(logging.NOTSET)
        self.stdout.write("The demo is loaded." if is_new else "The demo is already loaded.")
