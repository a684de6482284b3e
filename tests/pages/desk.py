"""What the tests of the desk's page share."""

import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.http import HttpResponse
from django.test import Client

from accounts.authentication import actor_of_user
from core import bodies
from feedback import triage
from feedback.deciding import verb_named
from feedback.models import UserFeedback
from tests import make
from tests.pages.dom import Node, dom, get, submit
from tests.people import Person

Browser = Callable[[str | None], Client]
DESK = "/feedback/"
ALL = "?q="


def reports(person: Person, number: int, **said: object) -> list[UserFeedback]:
    """Reports on one thread, in the order of their birth: `report 0` is the oldest."""
    thread = make.conversation(person, 2 * number, visibility="org")
    for place in range(number):
        make.rating(person, thread, 2 * place + 1, **{"notes": f"report {place}", **said})
    return list(UserFeedback.objects.filter(thread=thread).order_by("id"))


def client_of(person: Person) -> Client:
    client = Client()
    client.force_login(person.user)
    return client


def do(person: Person, report: UserFeedback, name: str, **arguments: Any) -> None:
    """One verb, as the REST route does it."""
    verb = verb_named(name)
    triage.act(actor_of_user(person.user), report.feedback_id, (verb, bodies.parse(verb.takes, arguments)))


def live(client: Client, query: str = "q=is:open") -> Iterator[bytes]:
    """What an open desk is told that was read this moment, which is never behind what was just done."""
    address = f"/feedback/live/{int(time.time() + 1) * 1_000}/?{query}"
    return iter(client.get(address).streaming_content)


def words(page: Node) -> list[str]:
    """The words of the rows."""
    return [notes_of(row) for row in page.all("li", class_="rep")]


def notes_of(row: Node) -> str:
    """What its link says after the sentiment."""
    sentiment, _, notes = row.one("a").words.partition(": ")
    assert sentiment == row.one("svg", role="img", data_tone=True)["aria-label"]
    return notes


def row_of(page: Node, notes: str) -> Node:
    return next(row for row in page.all("li", class_="rep") if notes_of(row) == notes)


def opened(client: Client, report: UserFeedback, query: str = ALL) -> Node:
    return get(client, f"{DESK}{query}&item={report.feedback_id}")


def press(client: Client, page: Node, verb: str, **typed: Any) -> HttpResponse:
    """A button of the report's form."""
    return submit(client, page.id("triage"), verb, **typed)


def press_with_scripts(client: Client, page: Node, verb: str, **typed: Any) -> Node:
    """A button of the report's form where htmx sends it, which is answered by the page that it leads to."""
    form = page.id("triage")
    answer = client.post(form["action"], {**form.fields(), **typed, "verb": verb}, headers={"HX-Request": "true"})
    assert answer.status_code == 200, answer.content
    return dom(answer)


def told(page: Node) -> list[str]:
    """What the status line says."""
    return [each.words for each in page.id("desk-status").all(data_said=True)]


def query_of(url: str) -> dict[str, str]:
    return {key: values[0] for key, values in parse_qs(urlsplit(url).query, keep_blank_values=True).items()}


def stored(report: UserFeedback) -> UserFeedback:
    return UserFeedback.objects.get(pk=report.pk)
