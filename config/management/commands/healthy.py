import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from config import alive
from config.operations import checks


class Command(BaseCommand):
    help = "Exit with 0 when database and queue answer and the tables are there, with 1 and the names of what is not."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--worker", action="store_true", help="a worker of this data folder is at work, too")
        parser.add_argument("--beat", action="store_true", help="the clock of this data folder is at work, too")

    def handle(self, *args: Any, **options: Any) -> None:
        found = checks() | {name: alive.is_alive(name) for name in ("worker", "beat") if options[name]}
        broken = [name for name, is_fine in found.items() if not is_fine]
        if broken:
            sys.exit(f"Not answering: {', '.join(broken)}")
        self.stdout.write("ok")
