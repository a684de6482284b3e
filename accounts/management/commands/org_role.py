from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts.members import set_role
from accounts.models import Membership
from core.errors import DomainError


class Command(BaseCommand):
    help = "Make a member of an org its admin, or a plain member again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("org")
        parser.add_argument("email")
        parser.add_argument("role", choices=Membership.Role.values)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            member = set_role(options["org"], options["email"], options["role"])
        except DomainError as problem:
            raise CommandError(problem.message) from None
        self.stdout.write(f"{member}: {member.role}")
