import getpass
import warnings
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from accounts import leaving
from accounts.models import ApiToken, User, mint
from accounts.naming import check_one_line
from accounts.orgs import add_member, check_short_name, found_org, left_without_admin
from core import bodies
from core.errors import InvalidRequest


class Command(BaseCommand):
    help = (
        "Make a person, put them into orgs (made where missing), and optionally mint an API token. Of who is here it "
        "takes away rights, tokens, or the whole account."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--name", default="")
        parser.add_argument("--org", action="append", default=[], help="short name of an org; may be repeated")
        admin = parser.add_mutually_exclusive_group()
        admin.add_argument("--admin", action="store_true", help="platform admin")
        admin.add_argument("--no-admin", action="store_true", help="no platform admin any more")
        parser.add_argument("--token", metavar="NAME", help="mint a token with this name and print it once")
        parser.add_argument("--no-password", action="store_true", help="no sign-in by password")
        parser.add_argument("--revoke-tokens", action="store_true", help="revoke all tokens that they have")
        account = parser.add_mutually_exclusive_group()
        account.add_argument("--off", action="store_true", help="close the account: sessions and tokens end")
        account.add_argument("--on", action="store_true", help="open it again; tokens stay revoked")

    def handle(self, *args: Any, **options: Any) -> None:
        email, name = options["email"].lower(), options["name"]
        try:
            _check(options)
            password = None if options["no_password"] or _found(email) else _asked_for(User(email=email, name=name))
            with transaction.atomic():
                user = self._make(email, password, options)
            self._take(user, options)
            if options["token"]:
                self.stdout.write(mint(user, options["token"])[1])
        except InvalidRequest as problem:
            raise CommandError(problem.message) from None
        except ValidationError as problem:
            raise CommandError(_told(problem)) from None
        except EOFError:
            raise CommandError(
                "There is no terminal to ask for a password at: run this at one (`docker exec -it`), "
                "or with --no-password."
            ) from None

    def _make(self, email: str, password: str | None, options: dict[str, Any]) -> User:
        user, name = _found(email), options["name"]
        before = sorted(user.memberships.values_list("org__slug", flat=True)) if user else []
        if user is None:
            user = User.objects.create_user(email, password, name=name)
            without = f" They cannot sign in until a password is set: manage.py changepassword {email}"
            self.stdout.write(f"{email} is here now.{'' if password else without}")
        User.objects.filter(pk=user.pk).update(name=name or user.name, is_staff=user.is_staff or options["admin"])
        if options["admin"] and not user.is_staff:
            self.stdout.write(f"{email} is a platform admin.")
        for slug in options["org"]:
            add_member(found_org(slug), user)
        if before and set(options["org"]) - set(before):
            where = ", ".join(before)
            self.stdout.write(f"{email} was here already, in {where}, with the password and tokens of before.")
        return user

    def _take(self, user: User, options: dict[str, Any]) -> None:
        if options["no_admin"]:
            leaving.dismiss(user)
            self.stdout.write(f"{user} is no platform admin.")
        if options["revoke_tokens"]:
            self.stdout.write(f"{user}: {_tokens(leaving.revoke_tokens(user))} revoked.")
        if options["off"]:
            count = leaving.switch_off(user)
            self.stdout.write(f"{user} is switched off: signed out everywhere, {_tokens(count)} revoked.")
            for org in left_without_admin(user.pk):
                self.stdout.write(f"{org} has no admin now: manage.py org_role {org} EMAIL admin")
        if options["on"]:
            leaving.switch_on(user)
            self.stdout.write(f"{user} is switched on: they sign in with their password. Tokens have to be made anew.")


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
    user = _found(options["email"])
    asked = [f"--{name.replace('_', '-')}" for name in ("no_admin", "off", "on", "revoke_tokens") if options[name]]
    if user is None and asked:
        raise InvalidRequest(f"email: {options['email']} is nobody here: {asked[0]} is for who has an account")
    if options["token"] and (options["off"] or (user and not user.is_active and not options["on"])):
        raise InvalidRequest(f"token: {options['email']} is switched off, and could not use one")


def _told(problem: ValidationError) -> str:
    """Each reason with the option that it is about; a password's says so itself."""
    if not hasattr(problem, "error_dict"):
        return " ".join(problem.messages)
    return " ".join(f"{name}: {reason}" for name, reasons in problem.message_dict.items() for reason in reasons)


def _found(email: str) -> User | None:
    return User.objects.filter(email=email.lower()).first()


def _tokens(count: int) -> str:
    return f"{count} token{'' if count == 1 else 's'}"


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
