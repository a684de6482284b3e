from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.models import Org
from accounts.orgs import set_policy
from core.errors import DomainError

_HELP = (
    "members_may_fork: members may fork threads that are shared with the org; "
    "visibility_may_change: thread owners may change visibility"
)


class Command(BaseCommand):
    help = "Turn a policy of an org on or off."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("org", help="short name of the org")
        parser.add_argument("policy", choices=Org.POLICIES, help=_HELP)
        parser.add_argument("state", choices=["on", "off"], help="new state")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            set_policy(options["org"], options["policy"], options["state"] == "on")
        except DomainError as problem:
            raise CommandError(problem.message) from None
        self.stdout.write(f"{options['org']}: {options['policy']} is {options['state']}")
