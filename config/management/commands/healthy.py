import sys
from typing import Any

from django.core.management.base import BaseCommand

from config.operations import checks


class Command(BaseCommand):
    help = "Exit with 0 when the database and the queue answer, with 1 and their names when not."

    def handle(self, *args: Any, **options: Any) -> None:
        broken = [name for name, is_fine in checks().items() if not is_fine]
        if broken:
            sys.exit(f"Not answering: {', '.join(broken)}")
        self.stdout.write("ok")
