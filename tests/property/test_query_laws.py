"""Laws of the desk's query language: every text has a tree, every tree one spelling, every condition its meaning."""

import re
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from core import fulltext, grammar, related
from core.grammar import All, Either, Field, Not, Text
from feedback import querying
from feedback.models import Triage, UserFeedback
from feedback.querying import sides
from tests import make

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)
law = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
pieces = st.sampled_from(
    [
        "is:open",
        "-",
        "(",
        ")",
        '"',
        "OR",
        " AND ",
        "NOT ",
        "NOT",
        " ",
        "a",
        "two",
        "sentiment:",
        "bad",
        "<7d",
        "..",
        "label:",
        "\\",
        "*",
        "é",
        "„",
        "“",
        "\0",
    ]
)
lines = st.lists(pieces, max_size=30).map("".join) | st.text(max_size=60)
values = {
    "is": st.sampled_from(["open", "resolved", "unclaimed", "mine", "edited", "OPEN"]),
    "has": st.sampled_from(["owner", "note", "notes"]),
    "sentiment": st.sampled_from(["positive", "negative", "Negative"]),
    "category": st.sampled_from(["incorrect", "slow", "helpful"]),
    "owner": st.sampled_from(["me", "none", "alice", "bob@acme.test", "nobody"]),
    "by": st.sampled_from(["me", "alice", "eve@globex.test"]),
    "created": st.sampled_from(["<2d", ">=2d", "2026-05-18", ">2026-05-18", "<=2026-05-18", "1d..3d", "2026-05"]),
    "age": st.sampled_from([">1d", "<=3d", "12h"]),
}
terms = st.one_of(
    *(st.builds(lambda value, name=name: Field(name, value), each) for name, each in values.items()),
    st.sampled_from([Text("refund"), Text("late refund"), Text("ref*"), Text("bonjour")]),
)
trees = st.recursive(
    terms,
    lambda inner: st.one_of(
        inner.map(Not),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: All(tuple(parts))),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: Either(tuple(parts))),
    ),
    max_leaves=6,
)


@law
@example(line='--"')
@example(line="a (-) -(NOT)")
@example(line="-(--lable:x) -(-(-lable:x))")
@example(line='label:"„Eilt“" "“a”b" tool:„a')
@given(line=lines)
def test_every_text_has_a_tree_and_its_spelling_leads_back_to_it(line):
    query = querying.parse(line)
    again = querying.parse(query.canonical)
    assert again == query
    assert again.canonical == query.canonical
    assert [each.text for each in again.problems] == [each.text for each in query.problems]
    for problem in query.problems:
        assert problem.reason
        assert line[problem.start : problem.end].startswith(problem.text[:1].replace(" ", ""))


@law
@given(line=lines)
def test_nothing_of_a_text_is_dropped(line):
    """Every letter stands in a term, a value or a problem, but for those of the words that join and exclude."""
    query = querying.parse(line)
    line = re.sub(r"\b(AND|NOT)\b", "", line)
    line = re.sub(r"sentiment:(good|bad)\b", "", line, flags=re.IGNORECASE)  # other names of positive and negative
    kept = query.canonical.lower()
    for letter in set(line.lower()):
        if letter.isalpha():
            assert letter in kept


@law
@given(line=lines, place=st.integers(0, 5))
def test_without_takes_one_term_away_and_with_term_brings_it_back(line, place):
    query = querying.parse(line)
    if not query.problems and place < len(query.parts):
        gone = query.parts[place]
        less = query.without(place)
        assert list(less.parts) == [part for each, part in enumerate(query.parts) if each != place] or isinstance(
            gone, All
        )
        more = less.with_term(grammar.spelled(gone))
        assert set(more.parts) == set(query.parts)
        assert more.with_term(grammar.spelled(gone)) == more


def day_of(date):
    first = datetime.fromisoformat(date).replace(tzinfo=UTC)
    return first, first + timedelta(days=1)


def created_holds(value, created):
    age, day = NOW - created, timedelta(days=1)
    first, end = day_of("2026-05-18")
    return {
        "<2d": age < 2 * day,
        ">=2d": age >= 2 * day,
        "2026-05-18": first <= created < end,
        ">2026-05-18": created >= end,
        "<=2026-05-18": created < end,
        "1d..3d": day <= age <= 3 * day,
        "2026-05": created.month == 5,
        ">1d": age > day,
        "<=3d": age <= 3 * day,
        "12h": age <= day / 2,
    }[value]


def holds(tree, row, who):
    """What a query means, said again in plain Python."""
    match tree:
        case All(parts=parts):
            return all(holds(part, row, who) for part in parts)
        case Either(parts=parts):
            return any(holds(part, row, who) for part in parts)
        case Not(part=part):
            return not holds(part, row, who)
        case Text(text=text):
            said = (row.notes or "").lower().split()
            wanted = text.rstrip("*").split()
            if text.endswith("*"):
                return any(word.startswith(wanted[0]) for word in said)
            return any(said[place : place + len(wanted)] == wanted for place in range(len(said)))
    name, value = tree.name, tree.value.lower()
    owner = row.owned_by.email if row.owned_by else None
    person = {"me": who.admin.user.email, "alice": "alice@acme.test"}.get(value, value)
    match name:
        case "is":
            return {
                "open": not row.resolved,
                "resolved": row.resolved,
                "unclaimed": not row.resolved and owner is None,
                "mine": owner == who.admin.user.email,
                "edited": row.modified > row.created,
            }[value]
        case "has":
            return {"owner": owner, "note": row.admin_note, "notes": row.notes}[value] is not None
        case "sentiment":
            return row.sentiment == value
        case "category":
            return value in row.categories
        case "owner":
            return owner is None if value in ("none", "nobody") else owner == person
        case "by":
            return row.created_by.email == person
    return created_holds(value, row.created)


@pytest.fixture
def rows(who):
    """A dozen reports of all kinds."""
    thread = make.conversation(who.alice, 24, visibility="org")
    people, owners = [who.alice, who.bob, who.admin], [None, who.admin.user, who.bob.user]
    said = ["late refund please", "Refund late", None, "bonjour", "referee"]
    for place in range(12):
        sentiment, categories = [("negative", ["incorrect", "slow"]), ("positive", ["helpful"]), ("negative", [])][
            place % 3
        ]
        report = make.rating(
            people[place % 3], thread, place * 2 + 1, sentiment, categories=categories, notes=said[place % 5]
        )
        row = UserFeedback.objects.filter(key=report.feedback_id.removeprefix("fb_"))
        created = NOW - timedelta(hours=place * 9)
        edited = {"modified": created + timedelta(minutes=place % 2)}
        done = {"resolved_at": NOW, "resolved_by": who.admin.user} if place % 4 == 1 else {}
        note = "Seen." if place % 5 == 0 else None
        row.update(created=created, resolved=bool(done), admin_note=note, **edited, **done)
        if owners[place % 4 % 3]:
            Triage.objects.create(feedback=row.get(), owner=owners[place % 4 % 3])
    return list(UserFeedback.objects.select_related("owned_by", "created_by"))


@pytest.fixture(params=["few", "many"])
def hits(request, monkeypatch):
    """What has many hits is asked for in another way. Both mean the same."""
    if request.param == "many":
        monkeypatch.setattr(fulltext, "MANY", 1)
        monkeypatch.setattr(fulltext, "FEW", 0)
        monkeypatch.setattr(related, "MANY", -1)
        monkeypatch.setattr(sides, "MANY_TIMES", -1)


@pytest.mark.django_db
@pytest.mark.usefixtures("hits")
@law
@given(tree=trees)
@time_machine.travel(NOW, tick=False)
def test_what_a_query_finds_is_what_it_says(who, rows, tree):
    query = querying.parse(grammar.spelled(tree))
    assert query.problems == ()
    found = {row.pk for row in querying.matching(who.admin.actor, query)}
    assert found == {row.pk for row in rows if holds(query.root, row, who)}, query.canonical
