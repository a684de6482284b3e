import getpass
import warnings
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from accounts.models import User, mint
from accounts.orgs import add_member, found_org
from core.errors import InvalidRequest


class Command(BaseCommand):
    help = "Make a person, put them into orgs (made where missing), and optionally mint an API token."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--name", default="")
        parser.add_argument("--org", action="append", default=[], help="short name of an org; may be repeated")
        parser.add_argument("--admin", action="store_true", help="platform admin")
        parser.add_argument("--token", metavar="NAME", help="mint a token with this name and print it once")
        parser.add_argument("--no-password", action="store_true", help="no sign-in by password")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        try:
            orgs = [found_org(slug) for slug in options["org"]]
        except InvalidRequest as problem:
            raise CommandError(problem.message) from None
        email = options["email"].lower()
        user = User.objects.filter(email=email).first()
        if user is None:
            try:
                with warnings.catch_warnings(action="ignore", category=getpass.GetPassWarning):
                    password = None if options["no_password"] else _asked_for(User(email=email, name=options["name"]))
                user = User.objects.create_user(email, password, name=options["name"])
            except ValidationError as problem:
                raise CommandError("; ".join(problem.messages)) from None
            except EOFError:
                raise CommandError(
                    "There is no terminal to ask for a password at: run this at one (`docker exec -it`), "
                    "or with --no-password."
                ) from None
            self.stdout.write(f"{email} is here now{'' if password else ', without a password: no sign-in by one'}.")
        elif options["name"]:
            user.name = options["name"]
            user.save(update_fields=["name"])
        if options["admin"]:
            user.is_staff = True
            user.save(update_fields=["is_staff"])
        for org in orgs:
            add_member(org, user)
        if options["token"]:
            self.stdout.write(mint(user, options["token"])[1])


def _asked_for(user: User) -> str | None:
    """A password typed twice, or None for nothing typed; raises `ValidationError` as the sign-in page's rules do."""
    password = getpass.getpass("Password (Enter for none): ")
    if not password:
        return None
    validate_password(password, user)
    if getpass.getpass("Once more: ") != password:
        raise CommandError("The two are not the same.")
    return password
