"""What the command palette finds of feedback, for admins: pages, views, labels, checks, and a report by its id."""

from collections.abc import Iterator, Sequence

from django.urls import reverse

from core import ids
from core.actor import Actor
from core.destinations import (
    AT_MOST,
    Destination,
    Page,
    are_long_enough,
    contains,
    list_search,
    pages,
    pasted,
)
from core.grammar import Field, spelled
from core.templatetags.ui import at_message
from feedback import labelling, saved_views
from feedback.checks import keeping
from feedback.checks.presenting import MARKS
from feedback.models import Check
from feedback.presenting.links import href
from threads.models import Thread

_PAGES = (
    Page("Feedback desk", "feedback:desk", "desk", "reports triage", "g f"),
    Page("Insight", "feedback:insight", "plot", "feedback plots figures", "g i"),
    Page("Checks", "feedback:checks", "check", "feedback", "g k"),
    Page("Batches of check runs", "feedback:batches", "check", "feedback checks"),
    Page("Labels", "feedback:labels", "label", "settings feedback"),
)
_HEAVY = [f"thread__{column}" for column in Thread.HEAVY]
_FOR_ORGS = (Page("Webhooks", "feedback:webhooks", "upload", "settings deliveries events"),)


def destinations(actor: Actor, words: Sequence[str]) -> Iterator[Destination]:
    """What fits the words; without words the pages and views. At most three queries, only for admins."""
    yield from pages(words, _FOR_ORGS)
    if not actor.is_admin:
        return
    yield from pages(words, _PAGES)
    # Pairs, because the views of two people may have the same name.
    views = [(each.name, each.query) for each in saved_views.BUILT_IN]
    views += [(each.name, each.query) for each in saved_views.listed(actor)]
    for name, query in views:
        if contains(words, name):
            yield Destination("View", name, _desk(q=query), "eye", query)
    if not words:
        return
    if key := pasted(words, ids.FEEDBACK):
        yield Destination("Report", ids.FEEDBACK + key, _desk(q="", item=ids.FEEDBACK + key), "desk")
    if key := pasted(words, ids.BATCH):
        yield Destination("Batch", ids.BATCH + key, reverse("feedback:batch", args=[ids.BATCH + key]), "check")
    if are_long_enough(words):
        yield from _named(actor, words)
    yield list_search("Search reports for", "feedback:desk", words)


def _named(actor: Actor, words: Sequence[str]) -> Iterator[Destination]:
    """Labels and checks with these words in their names."""
    for name in labelling.names(actor, words)[:AT_MOST]:
        yield Destination("Label", name, _desk(q=spelled(Field("label", name, literal=True))), "label")
    named = keeping.listed(actor, words=" ".join(words)).select_related("feedback", "thread")
    for check in named.order_by("-pk").defer(*_HEAVY)[:AT_MOST]:
        icon, _, word = MARKS[check.state]
        yield Destination("Check", check.title, _of_check(check), icon, detail=word)


def _of_check(check: Check) -> str:
    """Its report; where that was retracted, the answer."""
    if check.feedback:
        return _desk(q="has:check", item=check.feedback.feedback_id, pane="report") + "#check"
    return reverse("threads:detail", args=[check.thread.thread_id]) + at_message(check.message_sequence_num)


def _desk(**query: str) -> str:
    return reverse("feedback:desk") + href(query)
