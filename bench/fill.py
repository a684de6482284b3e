"""Fill a fresh database for the benchmarks, and print what is in it."""

import json
from typing import Any

from django.db import connection, transaction
from django.test import Client

from accounts.models import Org, User, mint
from accounts.orgs import add_member
from feedback.models import UserFeedback
from threads import transcript
from threads.content import text
from threads.models import Thread
from threads.status import ThreadStatus

LENGTHS = (50, 500, 10_000)
REPORTS, REPORTED_THREADS = 10_000, 100
_WORDS = ("the", "warp", "holds", "while", "the", "weft", "goes", "through", "and", "every", "thread", "keeps", "place")


def main() -> None:
    """Create users, threads of several lengths, and reports."""
    with transaction.atomic():
        org = Org.objects.create(slug="bench", name="Bench")
        alice = User.objects.create_user("alice@bench.test", None, name="Alice")
        add_member(org, alice)
        admin = User.objects.create_user("admin@bench.test", None, is_staff=True)
        threads = {length: _thread(org, alice, length) for length in LENGTHS}
        spare = Thread.objects.create(org=org, created_by=alice, status=ThreadStatus.USER_TURN)
        _reports(org, alice)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")  # as it does by itself a minute after so many rows
    people = {
        user.name or "admin": {"token": mint(user, "bench")[1], "cookie": _cookie(user)} for user in (alice, admin)
    }
    found = {str(length): {"id": each.thread_id, "pk": each.pk} for length, each in threads.items()}
    print(json.dumps({"people": people, "threads": found, "spare": spare.pk}))


def _thread(org: Org, owner: User, length: int) -> Thread:
    thread = Thread(org=org, created_by=owner, title=f"{length} messages", status=ThreadStatus.USER_TURN)
    with transcript.creating(thread) as writer:
        for place in range(length):
            role = "assistant" if place % 2 else "user"
            writer.add(role, [text(_some_text(place))], author_id=None if place % 2 else owner.pk)
    return thread


def _some_text(place: int) -> str:
    """Generate a text of about twelve to seventy words."""
    return " ".join(_WORDS[(place + word) % len(_WORDS)] for word in range(12 + place * 7 % 60))


def _reports(org: Org, submitter: User) -> None:
    """Create reports: every second negative, every third resolved."""
    rows = [Thread(org=org, created_by=submitter, status=ThreadStatus.USER_TURN) for _ in range(REPORTED_THREADS)]
    threads = Thread.objects.bulk_create(rows)
    common: dict[str, Any] = {"org": org, "created_by": submitter, "modified_by": submitter}
    UserFeedback.objects.bulk_create(
        (
            UserFeedback(
                thread=threads[number % REPORTED_THREADS],
                message_sequence_num=number // REPORTED_THREADS,
                sentiment="negative" if number % 2 else "positive",
                categories=["incorrect"] if number % 2 else ["helpful"],
                notes=_some_text(number),
                **common,
            )
            for number in range(REPORTS)
        ),
        batch_size=500,
    )


def _cookie(user: User) -> str:
    browser = Client()
    browser.force_login(user)
    return browser.cookies["sessionid"].value
