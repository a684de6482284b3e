import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config import demo


class Command(BaseCommand):
    help = "Print the demo's address, org id, users, passwords and API tokens."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print JSON; a token that works no longer is null")
        parser.add_argument(
            "--welcome", action="store_true", help="print the welcome text of `make run`: sign-ins and what to try"
        )
        parser.add_argument(
            "--none", action="store_true", help="print nothing; fail if one of the demo's people could sign in"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["none"]:
            _require_none()
            return
        found = demo.credentials()
        if found is None:
            raise CommandError("No demo is loaded in this database.")
        if options["welcome"] and not options["json"]:
            self.stdout.write(_welcome(found))
            return
        if options["json"]:
            self.stdout.write(json.dumps(found))
        else:
            self.stdout.write(f"{found['url']}  org {found['org_id']}")
            for name, password in found["passwords"].items():
                self.stdout.write(f"{demo.PEOPLE[name][0]:20} {password:20} {found['tokens'][name] or '-'}")
        if gone := [name for name, token in found["tokens"].items() if token is None]:
            self.stderr.write(
                f"The demo's token of {', '.join(gone)} works no longer. Another one can be created in Settings."
            )


def _welcome(found: dict[str, Any]) -> str:
    people = [f"    {demo.PEOPLE[name][0]:20} {password}" for name, password in found["passwords"].items()]
    lines = [
        "",
        f"  Heddle serves {found['url']}  (Ctrl+C stops it; your data is kept)",
        "",
        "  Sign in as",
        *people,
        "",
        "  Try",
        "    1. as alice: open a thread, rate an answer, send a message and watch the agent answer",
        "    2. as admin: open Feedback, move with j and k, resolve with e",
        "    3. from Python: .venv/bin/python manage.py demo_credentials --json prints a token; see README.md",
        "",
    ]
    return "\n".join(lines)


def _require_none() -> None:
    """Raise `CommandError` if people of the demo could sign in: its database was tried out before it is served."""
    if known := demo.with_known_password():
        raise CommandError(
            f"HEDDLE_MODE=production: everybody knows the password of {', '.join(known)}, because this database has the"
            " demo. Serve another one, or disable each of them (manage.py person EMAIL --off) or give them a password"
            " (manage.py changepassword EMAIL)."
        )
