from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from accounts.orgs import found_org
from config import seeding
from core.errors import InvalidRequest


class Command(BaseCommand):
    help = "Generate threads and reports for load tests. Running the same seed again changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--reports", type=int, required=True, help="number of reports to generate")
        parser.add_argument("--org", default="seeded", help="short name of the org; created if missing")
        parser.add_argument("--seed", type=int, default=1, help="number that determines the content; default 1")
        parser.add_argument("--yes", action="store_true", help="allow it with HEDDLE_MODE=production")

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.HEDDLE.mode == "production" and not options["yes"]:
            raise CommandError("This would fill a production database with generated reports. Add --yes to do it.")
        for option, least, most in (("reports", 1, seeding.MOST_REPORTS), ("seed", 0, seeding.LAST_SEED)):
            if not least <= options[option] <= most:
                raise CommandError(f"--{option} must be a number from {least} to {most:,}.")
        try:
            org = found_org(options["org"], name=options["org"].capitalize())
        except InvalidRequest as problem:
            raise CommandError(problem.message) from None
        is_quiet = True if options["verbosity"] == 0 else None  # None: quiet unless stderr is a terminal
        with tqdm(total=options["reports"], unit=" reports", unit_scale=True, disable=is_quiet) as bar:
            for count in seeding.seed(org, options["reports"], number=options["seed"]):
                bar.update(count)
        count = seeding.loaded(options["seed"])
        self.stdout.write(f"{count:,} reports of seed {options['seed']} are stored.")
