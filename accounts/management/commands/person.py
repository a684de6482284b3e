import getpass
import warnings
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from accounts import leaving
from accounts.members import left_without_admin
from accounts.models import ApiToken, Membership, Org, User, mint
from accounts.naming import check_one_line
from accounts.orgs import add_member, check_short_name, found_org
from core import bodies
from core.errors import InvalidRequest


class Command(BaseCommand):
    help = (
        "Create a user, add them to orgs, optionally create an API token. For an existing user: also remove "
        "platform-admin rights, revoke tokens, or disable the account. Prints what changed, or the account's state."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="e-mail address, which identifies the user")
        parser.add_argument("--name", default="", help="display name")
        parser.add_argument(
            "--org", action="append", default=[], help="short name of an org to add them to; may be repeated"
        )
        parser.add_argument("--create-org", action="store_true", help="create those orgs if they do not exist")
        admin = parser.add_mutually_exclusive_group()
        admin.add_argument("--admin", action="store_true", help="make them a platform admin")
        admin.add_argument("--no-admin", action="store_true", help="remove platform-admin rights")
        parser.add_argument("--token", metavar="NAME", help="create another API token, of this name, and print it once")
        parser.add_argument("--no-password", action="store_true", help="create the account without a password")
        parser.add_argument("--revoke-tokens", action="store_true", help="revoke all their API tokens")
        account = parser.add_mutually_exclusive_group()
        account.add_argument("--off", action="store_true", help="disable the account: ends sessions, revokes tokens")
        account.add_argument("--on", action="store_true", help="re-enable the account; tokens stay revoked")

    def handle(self, *args: Any, **options: Any) -> None:
        email, name = options["email"].lower(), options["name"]
        try:
            _check(options)
            password = None if options["no_password"] or _found(email) else _asked_for(User(email=email, name=name))
            with transaction.atomic():
                user, said = _made(email, password, options)
            said += _taken(user, options)
            if options["token"]:
                self._tell_others(user, options["token"])
                said.append(mint(user, options["token"])[1])
            for line in said or _state(user):
                self.stdout.write(line)
        except InvalidRequest as problem:
            raise CommandError(problem.message) from None
        except ValidationError as problem:
            raise CommandError(_reasons(problem)) from None
        except EOFError:
            raise CommandError(
                "There is no terminal to ask for a password. Run this in one (`docker exec -it`), or add --no-password."
            ) from None

    def _tell_others(self, user: User, name: str) -> None:
        """On stderr: a script takes what is printed."""
        if count := _usable(user, name=name):
            them = "It works until it is" if count == 1 else "They work until they are"
            self.stderr.write(f"{user} already has {_tokens(count)} named {name}. {them} revoked.")


def _made(email: str, password: str | None, options: dict[str, Any]) -> tuple[User, list[str]]:
    """The user, created or changed as asked, and what to say about it."""
    user, name, said = _found(email), options["name"], []
    if user is None:
        user = User.objects.create_user(email, password, name=name)
        said.append(f"{email} was created.{'' if password else f' They cannot sign in until {_how_to_set_one(user)}'}")
    elif name and name != user.name:
        said.append(f"{email} is now called {name}.")
    if options["admin"] and not user.is_staff:
        said.append(f"{email} is a platform admin.")
    User.objects.filter(pk=user.pk).update(name=name or user.name, is_staff=user.is_staff or options["admin"])
    before = sorted(user.memberships.values_list("org__slug", flat=True))
    for slug in dict.fromkeys(options["org"]):
        if _is_missing(slug):
            said.append(f"Org {slug} was created.")
        if slug not in before:
            said.append(_place(add_member(found_org(slug), user)))
    if before and set(options["org"]) - set(before):
        where = ", ".join(before)
        said.append(f"{email} already had an account, in {where}; password and tokens are unchanged.")
    return user, said


def _taken(user: User, options: dict[str, Any]) -> list[str]:
    """Take rights, tokens or the account away, or give it back, as asked; returns what to say about it."""
    said = []
    if options["no_admin"] and user.is_staff:
        leaving.dismiss(user)
        said.append(f"{user} is not a platform admin any more.")
    if options["revoke_tokens"]:
        count = leaving.revoke_tokens(user)
        said += [f"{user}: {_tokens(count)} revoked."] if count else []
    if options["off"]:
        count = leaving.switch_off(user)
        said.append(f"{user} is disabled: signed out everywhere, {_tokens(count)} revoked.")
        said += [
            f"{org} has no admin now. To appoint one: manage.py org_role {org} EMAIL admin"
            for org in left_without_admin(user.pk)
        ]
    if options["on"]:
        leaving.switch_on(user)
        by = "they sign in with their previous password."
        by = by if user.has_usable_password() else f"they cannot sign in until {_how_to_set_one(user)}."
        said.append(f"{user} is enabled: {by} Tokens stay revoked; create new ones.")
    return said


def _state(user: User) -> list[str]:
    """What an account is and has, for a call that changes nothing."""
    facts = [
        "enabled" if user.is_active else "disabled",
        *(["platform admin"] if user.is_staff else []),
        "with a password" if user.has_usable_password() else "without a password",
        _tokens(_usable(user)),
    ]
    places = user.memberships.select_related("org", "user").order_by("org__slug")
    return [
        f"{user} ({user.display_name}): {', '.join(facts)}",
        *([_place(each) for each in places] or [f"{user} is in no org."]),
    ]


def _place(member: Membership) -> str:
    return f"{member}: {member.role} ({member.org.org_id})"


def _how_to_set_one(user: User) -> str:
    return f"a password is set: manage.py changepassword {user}"


def _check(options: dict[str, Any]) -> None:
    """Raise `InvalidRequest` or `ValidationError` for invalid arguments, before a password is asked for."""
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
        if _is_missing(slug) and not options["create_org"]:
            raise InvalidRequest(f"org: there is no org {slug}; to create it, add --create-org")
    user = _found(options["email"])
    asked = [f"--{name.replace('_', '-')}" for name in ("no_admin", "off", "on", "revoke_tokens") if options[name]]
    if user is None and asked:
        raise InvalidRequest(f"email: {options['email']} has no account; {asked[0]} needs an existing one")
    if options["token"] and (options["off"] or (user and not user.is_active and not options["on"])):
        raise InvalidRequest(f"token: {options['email']} is disabled and could not use a token")


def _reasons(problem: ValidationError) -> str:
    """Join the reasons, each prefixed with its option; password rules name the password themselves."""
    if not hasattr(problem, "error_dict"):
        return " ".join(problem.messages)
    return " ".join(f"{name}: {reason}" for name, reasons in problem.message_dict.items() for reason in reasons)


def _is_missing(slug: str) -> bool:
    return not Org.objects.filter(slug=slug).exists()


def _found(email: str) -> User | None:
    return User.objects.filter(email=email.lower()).first()


def _usable(user: User, **facts: str) -> int:
    return sum(token.is_usable for token in ApiToken.objects.filter(user=user, **facts))


def _tokens(count: int) -> str:
    return f"{count} token{'' if count == 1 else 's'}"


def _asked_for(user: User) -> str | None:
    """Ask for a password twice; None if nothing was typed. Raises `ValidationError` if it breaks the password rules."""
    with warnings.catch_warnings(action="ignore", category=getpass.GetPassWarning):
        password = getpass.getpass("Password (Enter for none): ")
        if not password:
            return None
        validate_password(password, user)
        if getpass.getpass("Once more: ") != password:
            raise CommandError("The two passwords differ.")
    return password
