import shutil
import sys
import tempfile
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from accounts.authentication import actor_of_email
from accounts.orgs import org_named
from core.errors import DomainError
from threads import conversation_files, importing
from threads.dialects import FORMATS, gathered


class Command(BaseCommand):
    help = (
        "Import conversations from a file: JSON Lines (one per line), or one JSON conversation or list of them; "
        "in the format otel also traces, as an OpenTelemetry collector writes them to a file. "
        "Importing the same file again changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="JSON or JSON Lines file; - reads standard input")
        parser.add_argument("--format", choices=FORMATS, required=True, help="format of the messages")
        parser.add_argument("--org", required=True, help="short name of the org")
        parser.add_argument(
            "--owner", required=True, help="e-mail address of a member of the org, who will own the threads"
        )
        parser.add_argument("--visibility", choices=["private", "org"], default="private", help="default: private")

    def handle(self, *args: Any, **options: Any) -> None:
        owner_id, org_id = _target(options["owner"], options["org"])
        counts = {"created": 0, "unchanged": 0, "failed": 0}
        given = _conversations(options["file"]) if options["file"] != Path("-") else _piped()
        with _warnings() as warn:
            for place, found in gathered(options["format"], given):
                item = importing.import_one(options["format"], found, owner_id, org_id, options["visibility"])
                counts[item.outcome] += 1
                for warning in item.warnings:
                    warn(place, warning)
                for error in item.errors:
                    tqdm.write(f"{place}: failed: {error['path']}: {error['reason']}", file=sys.stderr)
        self.stdout.write(", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
        if counts["failed"]:
            sys.exit(1)


@contextmanager
def _warnings() -> Iterator[Callable[[str, str], None]]:
    """Collect warnings with their places, and write equal ones in one line, when all are there or very many differ."""
    places: defaultdict[str, list[str]] = defaultdict(list)

    def write() -> None:
        for warning, found in places.items():
            more = f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
            tqdm.write(f"{', '.join(found[:_NAMED])}{more}: warning: {warning}", file=sys.stderr)
        places.clear()

    def warn(place: str, warning: str) -> None:
        places[warning].append(place)
        if len(places) > _APART:
            write()

    try:
        yield warn
    finally:
        write()


_NAMED, _APART = 3, 1_000


def _piped() -> Iterator[tuple[str, Any]]:
    """Yield the conversations of standard input, from a copy of it: whether it is one JSON value shows in its end."""
    with tempfile.NamedTemporaryFile() as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        copy.flush()
        yield from _conversations(Path(copy.name))


def _conversations(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield each conversation with its position, line by line unless the file is one JSON value."""
    try:
        with path.open("rb") as source:
            first = next((line for line in source if line.strip()), b"")
        values = conversation_files.whole(first, path.read_bytes)
        if values is None:
            yield from _lines(path)
        else:
            for number, value in enumerate(tqdm(values, desc=path.name, disable=None), 1):
                yield f"conversation {number}", value
    except OSError as problem:
        raise CommandError(f"{path}: {problem.strerror}") from None


def _lines(path: Path) -> Iterator[tuple[str, Any]]:
    """The values of numbered lines that are not blank, with a bar that shows how far in the file we are."""
    with (
        path.open("rb") as source,
        # None: no progress bar unless stderr is a terminal; otherwise it would mix with the messages.
        tqdm(total=path.stat().st_size, unit="B", unit_scale=True, desc=path.name, disable=None) as bar,
    ):
        for number, line in enumerate(source, 1):
            bar.update(len(line))
            if line.strip():
                yield f"line {number}", conversation_files.of_line(line)


def _target(owner: str, org: str) -> tuple[int, int]:
    try:
        actor, found = actor_of_email(owner), org_named(org)
    except DomainError as problem:
        raise CommandError(problem.message) from None
    if not actor.belongs_to(found.pk):
        raise CommandError(f"{owner} is not a member of {org}.")
    return actor.user_id, found.pk
