import os
import socket
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from config.env import DEFAULT_PORT


class Command(BaseCommand):
    requires_system_checks = ()  # `make check` runs them; at every start they would be a second of waiting
    help = "Prepare the database and the static files, then serve. Without REDIS_URL the worker runs inside."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=settings.HEDDLE.port or DEFAULT_PORT)
        parser.add_argument("--demo", action="store_true", help="load the demo first, and tell what to try")
        parser.add_argument("--no-prepare", action="store_true", help="leave database and static files as they are")

    def handle(self, *args: Any, **options: Any) -> None:
        _try_to_listen(options["host"], options["port"])
        if not options["no_prepare"]:
            call_command("migrate", interactive=False, verbosity=0, skip_checks=True)
            _collect_static()
        settings.HEDDLE.keep_address(settings.HEDDLE.public_url or f"http://127.0.0.1:{options['port']}")
        if options["demo"]:
            call_command("demo", verbosity=0)
            call_command("demo_credentials", welcome=True, stdout=self.stdout)
        self.stdout.flush()
        # A wide pool of threads needs no heap for each of them: without this the process keeps a tenth more memory.
        os.environ.setdefault("MALLOC_ARENA_MAX", "2")
        # Replaces this process, so that nothing of the preparation stays in memory and signals reach the server.
        command = [sys.executable, "-m", "granian", *_arguments(options["host"], options["port"])]
        os.execv(sys.executable, command)  # noqa: S606


def _try_to_listen(host: str, port: int) -> None:
    """Refuse an address that is taken, before anything is prepared.

    The server shares its port with whoever else says so: a second Heddle would start without a word, and each would get
    some of the requests. This socket does not share.
    """
    try:
        [(family, _, _, _, address), *_] = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        with socket.socket(family) as door:
            door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            door.bind(address)
    except OSError as problem:
        raise CommandError(
            f"Heddle cannot listen on {host}, port {port}: {problem.strerror}. Another port: PORT=9000 make run"
        ) from None


def _collect_static() -> None:
    """Collect static files, unless those that are collected are newer than all of their sources."""
    manifest = Path(settings.STATIC_ROOT) / "staticfiles.json"
    collected_at = manifest.stat().st_mtime if manifest.exists() else 0.0
    sources = (Path(storage.path(name)) for finder in get_finders() for name, storage in finder.list([]))
    if any(source.stat().st_mtime > collected_at for source in sources):
        # htmx's extensions name a module that only bundlers resolve; none of them is used.
        call_command("collectstatic", interactive=False, verbosity=0, ignore_patterns=["ext"], skip_checks=True)


def _arguments(host: str, port: int) -> list[str]:
    """WSGI with a wide pool: an event stream holds a thread while it waits, and nothing else (docs/decisions/003)."""
    threads = str(settings.HEDDLE.threads)
    return [
        "--interface=wsgi",
        f"--host={host}",
        f"--port={port}",
        "--workers=1",
        f"--blocking-threads={threads}",
        f"--backpressure={threads}",
        "--no-ws",
        "--respawn-failed-workers",
        "--workers-kill-timeout=8",  # a process that is asked to stop while it starts does not hear it
        "--log-level=error",
        "config.wsgi:application",
    ]
