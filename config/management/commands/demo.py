import logging
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config import demo


class Command(BaseCommand):
    help = "Load the demo: orgs, people, threads, feedback. Loading it again changes nothing."

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.HEDDLE.mode == "production":
            raise CommandError("The demo has known passwords; production settings refuse to load it.")
        logging.disable(logging.WARNING)  # a person waits for one line, not for a line a turn
        try:
            is_new = demo.load()
        finally:
            logging.disable(logging.NOTSET)
        self.stdout.write("The demo is loaded." if is_new else "The demo is here already.")
