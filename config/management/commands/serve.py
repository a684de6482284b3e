import fcntl
import os
import signal
import socket
import sys
import time
from argparse import ArgumentParser
from contextlib import nullcontext
from io import TextIOWrapper
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from accounts.models import User
from accounts.naming import FIRST_PERSON
from config import command_line, serving, starting
from config.env import BASE_DIR, DEFAULT_PORT, port_number
from core import stopping
from core.canonical import fingerprint
from core.static import LEFT_OUT


class Command(BaseCommand):
    requires_system_checks = ()  # `make check` runs them; at every start they would cost a second
    help = "Migrate the database, collect static files, then serve. Without REDIS_URL the worker runs in this process."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on; default 127.0.0.1")
        port = settings.HEDDLE.port or DEFAULT_PORT
        parser.add_argument("--port", type=port_number, default=port, help=f"port to listen on; default {port}")
        parser.add_argument(
            "--demo", action="store_true", help="load the demo data first, if nobody is here, and print its sign-ins"
        )
        parser.add_argument("--no-prepare", action="store_true", help="skip migrations and static files")

    def handle(self, *args: Any, **options: Any) -> None:
        held = _hold_the_folder() if settings.HEDDLE.is_embedded else None
        _try_to_listen(options["host"], options["port"])
        try:
            settings.HEDDLE.keep_address(settings.HEDDLE.public_url or f"http://127.0.0.1:{options['port']}")
        except OSError as problem:
            folder = settings.HEDDLE.data_dir
            raise CommandError(f"HEDDLE_DATA_DIR: {folder} cannot be written to ({problem.strerror})") from None
        is_production = settings.HEDDLE.mode == "production"
        if options["demo"] or is_production or not options["no_prepare"]:
            self._prepare_aside(**options)
        starting.tell()
        with held or nullcontext():
            serving.serve("config.wsgi:application", options["host"], options["port"])

    def _prepare_aside(self, **options: Any) -> None:
        """Prepare in a child process, so that its memory is freed. Stopping this process stops the child."""
        for each in stopping.SIGNALS:
            signal.signal(each, lambda *_: sys.exit(0))
        preparing = get_context("fork").Process(target=self._prepare, kwargs=options, daemon=True)
        preparing.start()
        serving.load()  # meanwhile, on the other core
        preparing.join()
        if preparing.exitcode:
            sys.exit(preparing.exitcode)

    def _prepare(self, **options: Any) -> None:
        for each in stopping.SIGNALS:
            signal.signal(each, signal.SIG_DFL if each == signal.SIGTERM else signal.SIG_IGN)
        try:
            self._get_ready(**options)
        except CommandError as problem:
            sys.exit(f"CommandError: {problem}")
        except command_line.OF_THE_DATABASE as problem:
            if (said := command_line.told(problem)) is None:
                raise
            sys.exit(f"CommandError: {said}")

    def _get_ready(self, **options: Any) -> None:
        if options["demo"] and settings.HEDDLE.mode == "production":
            call_command("demo")  # which refuses, before anything is made
        if not options["no_prepare"]:
            call_command("migrate", interactive=False, verbosity=0, skip_checks=True)
            _collect_static()
        if settings.HEDDLE.mode == "production":
            call_command("demo_credentials", none=True)
        if options["demo"]:
            self._welcome_to_the_demo()
        else:
            self.stdout.write(_welcome())
        self.stdout.flush()

    def _welcome_to_the_demo(self) -> None:
        """Its passwords are public, so among other people it is only loaded by its own command."""
        if not User.objects.exists():
            call_command("demo", verbosity=0)
        try:
            call_command("demo_credentials", welcome=True, stdout=self.stdout)
        except CommandError:
            self.stdout.write(_welcome())
            self.stdout.write("  The demo was not loaded: this database has people of its own.\n")


def _welcome() -> str:
    """The address, and what to do first if nobody can sign in."""
    lines = [f"  Heddle serves {settings.HEDDLE.last_address}  (Ctrl+C stops it; your data is kept)"]
    if not User.objects.exists():
        python = os.path.relpath(sys.executable) if sys.executable.startswith(str(BASE_DIR)) else "python"
        lines += ["", "  Nobody can sign in yet. Create yourself:", f"    {python} {FIRST_PERSON}"]
    return "\n".join(["", *lines, ""])


def _hold_the_folder() -> TextIOWrapper | None:
    """Lock the folder of the data; raise `CommandError` if another server holds it.

    At startup a server treats running turns as left behind by a crash, so two servers on one folder would steal each
    other's turns. This process and the server process share the lock. After one is killed, the other may take a moment
    to end, so this tries for five seconds.
    """
    database = settings.DATABASES["default"]
    is_file = database["ENGINE"] == "core.sqlite"
    path = (Path(database["NAME"]).parent if is_file else settings.HEDDLE.data_dir) / "serving"
    try:
        lock = path.open("a")
    except OSError:
        return None  # whoever opens the database says why
    for _ in range(_LOOKS):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.1)
        else:
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
            return lock
    raise CommandError(
        f"Another Heddle already serves {path.parent}, at {settings.HEDDLE.last_address} (process {path.read_text()}). "
        "Stop it, or use another folder and port: HEDDLE_DATA_DIR=other PORT=9000 make run"
    )


def _try_to_listen(host: str, port: int) -> None:
    """Raise `CommandError` if the address is in use, before anything is prepared.

    The server sets SO_REUSEPORT: a second Heddle would start silently, and each would get some of the requests. This
    socket does not share its port.
    """
    try:
        [(family, _, _, _, address), *_] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        with socket.socket(family) as door:
            door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            door.bind(address)
    except OSError as problem:
        raise CommandError(
            f"Heddle cannot listen on {host}, port {port}: {problem.strerror}. To use another port: PORT=9000 make run"
        ) from None
    except UnicodeError:
        raise CommandError(f"Heddle cannot listen on {host!a}: --host is not a valid host name.") from None


def _collect_static() -> None:
    """Collect static files, unless they were collected from exactly these sources.

    A fingerprint of the sources is stored with them. Modification times alone are not enough: the files of an older
    version or another checkout may be older than those collected here. `collectstatic` compares times too, so the plain
    copies are deleted first; hashed files that pages of the previous version name stay.
    """
    sources = sorted((name, Path(storage.path(name))) for finder in get_finders() for name, storage in finder.list([]))
    mark, root = fingerprint([_seen(name, source) for name, source in sources]), Path(settings.STATIC_ROOT)
    marked = root / "sources"
    if (root / "staticfiles.json").exists() and marked.exists() and marked.read_text() == mark:
        return
    for name, _ in sources:
        (root / name).unlink(missing_ok=True)
    call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=LEFT_OUT, skip_checks=True)
    marked.write_text(mark)


def _seen(name: str, source: Path) -> tuple[str, int, int]:
    found = source.stat()
    return name, found.st_size, found.st_mtime_ns


_LOOKS = 50
