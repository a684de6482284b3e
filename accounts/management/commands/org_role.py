from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.members import set_role
from accounts.models import Membership
from core.errors import DomainError


class Command(BaseCommand):
    help = "Set a member's role in an org."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("org", help="short name of the org")
        parser.add_argument("email", help="e-mail address of a member of the org")
        parser.add_argument("role", choices=Membership.Role.values, help="new role")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            member = set_role(options["org"], options["email"], options["role"])
        except DomainError as problem:
            raise CommandError(problem.message) from None
        self.stdout.write(f"{member}: {member.role}")
