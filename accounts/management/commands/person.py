import getpass
import warnings
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from accounts.models import ApiToken, User, mint
from accounts.naming import check_one_line
from accounts.orgs import add_member, check_short_name, found_org
from core import bodies
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

    def handle(self, *args: Any, **options: Any) -> None:
        email, name = options["email"].lower(), options["name"]
        try:
            _check(options)
            password = None if options["no_password"] or _found(email) else _asked_for(User(email=email, name=name))
            with transaction.atomic():
                self._make(email, password, options)
        except InvalidRequest as problem:
            raise CommandError(problem.message) from None
        except ValidationError as problem:
            raise CommandError(_told(problem)) from None
        except EOFError:
            raise CommandError(
                "There is no terminal to ask for a password at: run this at one (`docker exec -it`), "
                "or with --no-password."
            ) from None

    def _make(self, email: str, password: str | None, options: dict[str, Any]) -> None:
        user, name = _found(email), options["name"]
        if user is None:
            user = User.objects.create_user(email, password, name=name)
            without = f" They cannot sign in until a password is set: manage.py changepassword {email}"
            self.stdout.write(f"{email} is here now.{'' if password else without}")
        user.name = name or user.name
        user.is_staff = user.is_staff or options["admin"]
        user.save(update_fields=["name", "is_staff"])
        for slug in options["org"]:
            add_member(found_org(slug), user)
        if options["token"]:
            self.stdout.write(mint(user, options["token"])[1])


def _check(options: dict[str, Any]) -> None:
    """Raise `InvalidRequest` or `ValidationError` for what nothing could be made of, before a password is asked for."""
    given = {name: options[name] for name in ("email", "name", "org", "token")}
    bodies.check_storable(given)
    for name in ("name", "token"):
        check_one_line(name, given[name] or "")
    for name, field in (("email", User.email.field), ("name", User.name.field), ("token", ApiToken.name.field)):
        try:
            if given[name] is not None:
                field.clean(given[name], None)
        except ValidationError as problem:
            raise ValidationError({name: problem.messages}) from None
    for slug in given["org"]:
        check_short_name(slug)


def _told(problem: ValidationError) -> str:
    """Each reason with the option that it is about; a password's says so itself."""
    if not hasattr(problem, "error_dict"):
        return " ".join(problem.messages)
    return " ".join(f"{name}: {reason}" for name, reasons in problem.message_dict.items() for reason in reasons)


def _found(email: str) -> User | None:
    return User.objects.filter(email=email).first()


def _asked_for(user: User) -> str | None:
    """A password typed twice, or None for nothing typed; raises `ValidationError` as the sign-in page's rules do."""
    with warnings.catch_warnings(action="ignore", category=getpass.GetPassWarning):
        password = getpass.getpass("Password (Enter for none): ")
        if not password:
            return None
        validate_password(password, user)
        if getpass.getpass("Once more: ") != password:
            raise CommandError("The two are not the same.")
    return password
