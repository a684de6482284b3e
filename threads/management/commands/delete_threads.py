import re
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from accounts.authentication import actor_of_email
from accounts.models import User
from accounts.orgs import org_named
from core.errors import DomainError, NotFound
from threads import deleting
from threads.deleting import Chosen

MOST_DAYS = 36_500


class Command(BaseCommand):
    help = (
        "Permanently delete threads with their messages, calls, ratings and checks. Without --yes it only counts them. "
        "If you give several conditions, all must hold."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("thread", nargs="*", help="thread ids")
        parser.add_argument(
            "--as", dest="admin", required=True, help="e-mail address of the platform admin who deletes"
        )
        parser.add_argument("--org", help="threads of this org (short name)")
        parser.add_argument("--started-by", metavar="EMAIL", help="threads owned by this user")
        parser.add_argument("--untouched", type=_days, metavar="DAYS", help="threads not written to for this many days")
        parser.add_argument("--with-forks", action="store_true", help="also delete other people's forks")
        parser.add_argument("--yes", action="store_true", help="delete; without it, only count")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            actor = actor_of_email(options["admin"])
            found = deleting.chosen(actor, _chosen(options), with_forks=options["with_forks"])
        except DomainError as problem:
            raise CommandError(problem.message) from None
        threads = f"{len(found)} thread{'' if len(found) == 1 else 's'}"
        if not options["yes"]:
            self.stdout.write(f"{threads} would be deleted. Add --yes to delete permanently.")
            return
        # One at a time: if you interrupt it, each thread is whole or gone, and you can run it again.
        deleted = sum(deleting.delete(actor, pk) for pk in tqdm(found, disable=None, unit="thread"))
        self.stdout.write(f"{deleted} of {threads} deleted.")


def _days(value: str) -> int:
    if not re.fullmatch(r"\d{1,5}", value, re.ASCII) or int(value) > MOST_DAYS:
        raise ArgumentTypeError(f"must be a whole number of days from 0 to {MOST_DAYS}")
    return int(value)


def _chosen(options: dict[str, Any]) -> Chosen:
    named = ("thread", "org", "started_by", "untouched")
    if not any(options[name] or options[name] == 0 for name in named):
        raise CommandError("Name the threads: ids, --org, --started-by or --untouched.")
    person = options["started_by"]
    started_by = User.objects.filter(email=person.strip().lower()).first() if person else None
    if person and started_by is None:
        raise NotFound.of("person", person)
    return Chosen(
        thread_ids=options["thread"],
        org=org_named(options["org"]) if options["org"] else None,
        started_by=started_by,
        untouched_days=options["untouched"],
    )
