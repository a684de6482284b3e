"""Laws of the cursors: while others write, a list never repeats a row, and loses none that was there throughout."""

from datetime import timedelta
from itertools import pairwise

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import User
from core import paging
from core.errors import InvalidRequest
from feedback import lists
from feedback.models import Triage, UserFeedback
from feedback.querying import parse
from tests import make
from threads import finding, sharing
from threads import lists as thread_lists
from threads.models import Pin, Thread
from threads.wire import SearchIn

law = settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
positions = st.lists(st.integers() | st.text(max_size=8), min_size=1, max_size=4)


def clear():
    """Examples share a database."""
    UserFeedback.objects.all().delete()
    Pin.objects.all().delete()
    Thread.objects.all().delete()


def bare(person, visibility="private"):
    """A row of a list and nothing more."""
    org_id = next(iter(person.actor.orgs.values()))
    return Thread.objects.create(org_id=org_id, created_by=person.user, status="user_turn", visibility=visibility)


def walk(page, between):
    """All ids of a list, page by page; `between` runs after each."""
    seen, token = [], None
    while True:
        found = page(token)
        seen += [item.thread_id for item in found.items]
        token = found.next_token
        if token is None:
            return seen
        between()


@pytest.mark.django_db
@law
@given(
    count=st.integers(0, 12),
    pinned=st.sets(st.integers(0, 11), max_size=6),
    limit=st.integers(1, 5),
    born=st.lists(st.integers(0, 2), max_size=6),
    asked=st.sampled_from(["own", "search"]),
)
def test_threads_are_listed_once_each_while_others_are_started_H1_H2(who, count, pinned, limit, born, asked):
    clear()
    threads = [bare(who.alice, "org") for _ in range(count)]
    for place in sorted(pinned & set(range(count))):
        sharing.pin(who.alice.actor, threads[place], pinned=True)
    pins = [thread.thread_id for place, thread in enumerate(threads) if place in pinned]
    rest = [thread.thread_id for place, thread in enumerate(threads) if place not in pinned]
    waiting = list(born)

    def write():
        for _ in range(waiting.pop() if waiting else 0):
            bare(who.alice)
            bare(who.bob, "org")

    def page(token):
        if asked == "own":
            return thread_lists.own_threads(who.alice.actor, limit=limit, page_token=token)
        return thread_lists.search(who.alice.actor, SearchIn(limit=limit, page_token=token))

    seen = walk(page, write)
    assert len(set(seen)) == len(seen)
    old = [each for each in seen if each in {*pins, *rest}]
    assert old == pins[::-1] + rest[::-1]


@pytest.mark.django_db
@law
@given(
    made=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.booleans()), max_size=9),
    limit=st.integers(1, 4),
    name=st.sampled_from(["newest", "oldest", "changed", "longest"]),
)
def test_every_order_of_threads_is_total_below_the_pins_H1_H2(who, made, limit, name):
    """By its column and then by birth; pins first in each, latest pin first; a token is of one order."""
    clear()
    now, keys, pins = timezone.now(), [], []
    for created, modified, count, is_pinned in made:
        thread = bare(who.alice)
        moments = {"created": now + timedelta(microseconds=created), "modified": now + timedelta(microseconds=modified)}
        Thread.objects.filter(pk=thread.pk).update(**moments, message_count=count)
        if is_pinned:
            sharing.pin(who.alice.actor, thread, pinned=True)
            pins.append(thread.thread_id)
        else:
            by = {"changed": modified, "longest": count}.get(name, created)
            keys.append((by, thread.pk, thread.thread_id))
    told = pins[::-1] + [each for *_, each in sorted(keys, reverse=name != "oldest")]
    narrowed, order = finding.understood(who.alice.actor, f"is:mine sort:{name}")
    tokens = []

    def page(token):
        tokens.append(token)
        return thread_lists.own_threads(who.alice.actor, limit=limit, page_token=token, narrowed=narrowed, order=order)

    assert walk(page, lambda: None) == told
    _, other = finding.understood(who.alice.actor, "sort:longest" if name != "longest" else "")
    for token in filter(None, tokens):
        with pytest.raises(InvalidRequest):
            thread_lists.own_threads(who.alice.actor, limit=limit, page_token=token, order=other)


@pytest.mark.django_db
@law
@given(count=st.integers(0, 10), limit=st.integers(1, 4), born=st.lists(st.integers(0, 2), max_size=4))
def test_reports_are_listed_once_each_while_others_come_in_and_are_triaged_H6(who, count, limit, born):
    clear()
    thread = make.conversation(who.alice, 2, visibility="org")
    people = [User.objects.get_or_create(email=f"p{number}@acme.test")[0] for number in range(30)]
    made = []

    def report():
        row = UserFeedback.objects.create(
            thread=thread, message_sequence_num=1, org_id=thread.org_id, created_by=people[len(made)],
            modified_by=people[len(made)], sentiment="negative",
        )  # fmt: skip
        made.append(row.feedback_id)

    for _ in range(count):
        report()
    old, waiting, seen, token = list(made), list(born), [], None
    while True:
        page = lists.listed(who.admin.actor, {"resolved": "false"}, limit=limit, page_token=token)
        seen += [item.feedback_id for item in page.items]
        token = page.next_token
        if token is None:
            break
        for _ in range(waiting.pop() if waiting else 0):
            report()
        UserFeedback.objects.filter(key=seen[-1][3:]).update(admin_label="seen")
    assert seen == old[::-1]


moments = st.none() | st.integers(0, 3)


@pytest.mark.django_db
@law
@given(
    made=st.lists(st.tuples(moments, moments, st.booleans()), max_size=9),
    limit=st.integers(1, 4),
    name=st.sampled_from(["newest", "oldest", "edited", "due"]),
)
def test_every_order_is_total_and_is_paged_either_way(who, made, limit, name):
    """Those with a moment first, by moment and then by birth, as their index has them; the others by birth."""
    clear()
    thread, now = make.conversation(who.alice, 2, visibility="org"), timezone.now()
    keys = []
    for place, (edited, due, resolved) in enumerate(made):
        person = User.objects.get_or_create(email=f"p{place}@acme.test")[0]
        stamps = {"resolved": True, "resolved_at": now, "resolved_by": who.admin.user} if resolved else {}
        row = UserFeedback.objects.create(
            thread=thread, message_sequence_num=1, org_id=thread.org_id, created_by=person, modified_by=person,
            sentiment="negative", created=now, modified=now + timedelta(microseconds=edited or 0), **stamps,
        )  # fmt: skip
        if due is not None:
            Triage.objects.create(feedback=row, snoozed_until=now + timedelta(microseconds=due))
        moment = {"edited": -edited if edited else None, "due": None if resolved else due}.get(name)
        key = (1, 0, -row.pk) if moment is None else (0, moment, row.pk if name == "due" else -row.pk)
        keys.append((key, row.pk))
    order = parse(f"sort:{name}").order
    told = [pk for _, pk in sorted(keys)][:: -1 if name == "oldest" else 1]
    rows = UserFeedback.objects.all()
    assert list(rows.order_by(*order.by).values_list("pk", flat=True)) == told
    pages, token = [], None
    while True:
        found, following = lists.page(rows, limit, token, order=order)
        pages.append((token, found))
        if following is None:
            break
        token = following
    assert [pk for _, found in pages for pk in found] == told
    for (before, found), (token, _) in pairwise(pages):
        assert lists.before(rows, limit, token, order=order) == (found[::-1], before)


def places_of(position):
    return paging.Places("list", (*map(type, position),))


@given(position=positions)
def test_a_cursor_carries_its_position_through_a_url(position):
    token = places_of(position).token(*position)
    assert all(character.isascii() and (character.isalnum() or character in "-_") for character in token)
    assert places_of(position).place(token) == position


@given(position=positions, place=st.integers(0, 500), change=st.integers(1, 63))
def test_a_cursor_that_was_changed_is_refused(position, place, change):
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    token = places_of(position).token(*position)
    place %= len(token) - 1  # the last letter may hold bits that mean nothing
    letter = letters[(letters.index(token[place]) + change) % 64]
    with pytest.raises(InvalidRequest):
        places_of(position).place(token[:place] + letter + token[place + 1 :])


@given(position=positions, kinds=st.lists(st.sampled_from([int, str]), max_size=4), of=st.text(max_size=9))
def test_a_cursor_of_another_list_is_refused(position, kinds, of):
    """By what it is sorted by, or by its name alone."""
    token = places_of(position).token(*position)
    for other in (paging.Places("list", (*kinds,)), paging.Places(of, places_of(position).kinds)):
        if other != places_of(position):
            with pytest.raises(InvalidRequest, match=r"^page_token: is not valid for this list$"):
                other.place(token)


@given(token=st.text(max_size=60))
def test_no_text_at_all_breaks_the_decoder(token):
    with pytest.raises(InvalidRequest):
        paging.Places("list").place(token)
