from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from accounts.orgs import found_org
from config import seeding
from core.errors import InvalidRequest


class Command(BaseCommand):
    help = "Fill the desk with made-up threads and reports, for measuring. The same seed again changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--reports", type=int, required=True)
        parser.add_argument("--org", default="seeded", help="short name of the org, made where it is missing")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--yes", action="store_true", help="do it under production settings, too")

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.HEDDLE.mode == "production" and not options["yes"]:
            raise CommandError("This fills a production database with made-up reports; say --yes if that is meant.")
        for option, least, most in (("reports", 1, seeding.MOST_REPORTS), ("seed", 0, seeding.LAST_SEED)):
            if not least <= options[option] <= most:
                raise CommandError(f"--{option} must be a number from {least} to {most:,}.")
        try:
            org = found_org(options["org"], name=options["org"].capitalize())
        except InvalidRequest as problem:
            raise CommandError(problem.message) from None
        is_quiet = True if options["verbosity"] == 0 else None  # None: where stderr is no terminal
        with tqdm(total=options["reports"], unit=" reports", unit_scale=True, disable=is_quiet) as bar:
            for count in seeding.seed(org, options["reports"], number=options["seed"]):
                bar.update(count)
        count = seeding.loaded(options["seed"])
        self.stdout.write(f"{count:,} reports of seed {options['seed']} are there.")
