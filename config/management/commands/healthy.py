import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config import alive
from config.operations import checks


class Command(BaseCommand):
    help = "Check the database, its migrations and disk, and the queue. Names what fails; then the exit code is 1."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--worker", action="store_true", help="also check that a worker using this data folder is alive"
        )
        parser.add_argument(
            "--beat", action="store_true", help="also check that a beat using this data folder is alive"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        asked = [f"--{name}" for name in ("worker", "beat") if options[name]]
        if asked and settings.HEDDLE.is_embedded:
            raise CommandError(f"{asked[0]}: in single-process mode the server does this work itself. Ask without it.")
        found = checks() | {name: alive.is_alive(name) for name in ("worker", "beat") if options[name]}
        broken = [name for name, is_fine in found.items() if not is_fine]
        if broken:
            sys.exit(f"Not ready: {', '.join(broken)}")
        self.stdout.write("ok")
