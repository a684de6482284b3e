"""What the command palette finds of threads: pages, threads by title or id, and agents."""

from collections.abc import Iterator, Sequence

from django.urls import reverse
from django.utils import timezone

from accounts.models import Org
from core import ids
from core.actor import Actor
from core.destinations import (
    AT_MOST,
    Destination,
    Page,
    are_long_enough,
    column_contains,
    fits,
    list_search,
    pages,
    pasted,
)
from core.wording import ago
from threads import agents, finding, hooks
from threads.models import Thread
from threads.presenting.listing import ORDER_WORDS, VIEW_WORDS, href
from threads.status import Visibility

_PAGES = (
    Page("Threads", "threads:list", "threads", "conversations all", "g t"),
    Page("New thread", "threads:start", "plus", "start conversation ask write"),
    Page("Import threads", "threads:import", "upload", "conversations upload file openai anthropic otel traces"),
    Page("Agents", "threads:agents", "agent", "templates launch", "g a"),
    Page("New agent", "threads:agent_new", "plus", "template create"),
)
_NEWEST = 2_000
"""Threads whose titles are searched, the newest ones, so that the palette is as fast with a million of them. The list's
search looks through all."""


def destinations(actor: Actor, org: Org | None, words: Sequence[str]) -> Iterator[Destination]:
    """What fits the words; without words the pages and the actor's latest threads. Two queries at most."""
    yield from pages(words, _PAGES)
    for name, line in finding.VIEWS.items():
        if line and words and fits(words, VIEW_WORDS[name], "threads"):
            url = reverse("threads:list") + href(line)
            yield Destination("View", f"Threads: {VIEW_WORDS[name]}", url, "eye", line)
    for name, (line, _) in finding.orders("").items():
        if line and words and fits(words, ORDER_WORDS[name], "threads sort"):
            url = reverse("threads:list") + href(line)
            yield Destination("View", f"Threads: {ORDER_WORDS[name]}", url, "sort", line)
    yield from _threads(actor, words)
    if org and are_long_enough(words):
        for agent in agents.listed(actor, org.pk, limit=AT_MOST, page_token=None, words=" ".join(words)).items:
            yield Destination("Agent", agent.name, reverse("threads:agent", args=[agent.agent_id]), "agent")
    if words:
        yield list_search("Search threads for", "threads:list", words)


def _threads(actor: Actor, words: Sequence[str]) -> Iterator[Destination]:
    """Threads by the id or by words of the title, but not the runs of checks, which the list leaves out as well."""
    visible = Thread.objects.visible_to(actor)
    if key := pasted(words, *ids.THREAD_SPELLINGS):
        found = visible.filter(key=key)
    elif not words:
        found = visible.filter(~hooks.feedback.runs(actor), created_by=actor.user_id)
    elif are_long_enough(words):
        newest = visible.order_by("-created", "-id").values("pk")[:_NEWEST]
        found = Thread.objects.filter(~hooks.feedback.runs(actor), column_contains(words, "title"), pk__in=newest)
    else:
        return
    now = timezone.now()
    rows = found.order_by("-created", "-id").values_list(
        "key", "title", "created", "created_by__email", "visibility", "forked_from"
    )
    for key, title, created, email, visibility, source in rows[:AT_MOST]:
        url = reverse("threads:detail", args=[ids.THREAD + key])
        marks = ["private"] * (visibility == Visibility.PRIVATE) + ["fork"] * (source is not None)
        detail = ", ".join([*marks, email.partition("@")[0], ago(created, now)])
        yield Destination("Thread", title or "Untitled", url, "threads", detail)
