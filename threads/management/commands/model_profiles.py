import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.errors import InvalidRequest
from core.wording import took
from threads import figures, profiles
from threads.runner.providers import building, failures
from threads.runner.providers.events import Broken, Finished, TextFragment, Usage
from threads.runner.providers.streaming import ModelRequest, Stream

QUESTION = "Answer with one short sentence: are you there?"


class Command(BaseCommand):
    help = "List the model profiles and what they lack, or test one with a single request (no retries, no fallback)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--ask", metavar="NAME", help="test this profile; costs a few tokens")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["ask"]:
            for profile in profiles.all_profiles():
                self.stdout.write(_line(profile))
            return
        try:
            self._ask(profiles.named(options["ask"]))
        except InvalidRequest as problem:
            raise CommandError(problem.message) from None

    def _ask(self, profile: profiles.Profile) -> None:
        began = time.monotonic()
        stream = Stream(ModelRequest(profile, messages=[], tools=[], prompt=QUESTION))
        try:
            while True:
                match stream.next(None):
                    case TextFragment(text=text):
                        self.stdout.write(text, ending="")
                        self.stdout.flush()
                    case Finished(usage=usage):
                        self.stdout.write(f"\n{took(round((time.monotonic() - began) * 1000))}, {_used(usage)}")
                        return
                    case Broken(code=code, message=message, cause=cause):
                        raise CommandError(f"{code}: {message}" + (f" {cause}" if cause else ""))
        finally:
            stream.close()


def _line(profile: profiles.Profile) -> str:
    notes = ["the default"] if profile.is_default else []
    if profile.options.base_url:
        notes.append(f"at {profile.options.base_url.host}")
    if profile.options.fallback:
        notes.append(f"falls back to {profile.options.fallback}")
    if problem := _problem(profile):
        notes.append(f"not ready: {problem}")
    return "  ".join([profile.id, profile.model, *([f"({', '.join(notes)})"] if notes else [])])


def _problem(profile: profiles.Profile) -> str:
    """Why no request can be made of it; empty if one can."""
    try:
        building.model_of(profile)
    except Exception as problem:
        return failures.of_exception(problem, None).cause
    return ""


def _used(usage: Usage) -> str:
    cost = "cost unknown" if usage.cost is None else figures.dollars(usage.cost)
    return f"{usage.input_tokens} tokens in, {usage.output_tokens} out, {cost}, {usage.model}"
