import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config import demo


class Command(BaseCommand):
    help = "Print the address, the org, the tokens and the passwords of the demo."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true")
        parser.add_argument("--welcome", action="store_true", help="with what to try, as `make run` shows it")

    def handle(self, *args: Any, **options: Any) -> None:
        found = demo.credentials()
        if found is None:
            raise CommandError("No demo is loaded here.")
        if options["json"]:
            self.stdout.write(json.dumps(found))
        elif options["welcome"]:
            self.stdout.write(_welcome(found))
        else:
            self.stdout.write(f"{found['url']}  org {found['org_id']}")
            for name, password in found["passwords"].items():
                self.stdout.write(f"{demo.PEOPLE[name][0]:20} {password:20} {found['tokens'][name]}")


def _welcome(found: dict[str, Any]) -> str:
    people = [f"    {demo.PEOPLE[name][0]:20} {password}" for name, password in found["passwords"].items()]
    lines = [
        "",
        f"  Heddle serves {found['url']}  (Ctrl+C stops it, the data stays)",
        "",
        "  Sign in as",
        *people,
        "",
        "  Try",
        "    1. as alice: open a thread, rate an answer, write to the agent and watch it answer",
        "    2. as admin: Feedback, read with j and k, resolve with e",
        "    3. from Python: .venv/bin/python manage.py demo_credentials --json, and the ten lines of the README",
        "",
    ]
    return "\n".join(lines)
