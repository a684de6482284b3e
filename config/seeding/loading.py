"""Generates threads with a few messages and eight reports each, most of them resolved.

The same seed generates the same rows. Each part is one transaction and skipped if it exists, so an interrupted load
continues where it stopped.
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from django.db import connection
from django.utils import timezone

from accounts.models import Org, User
from accounts.orgs import add_member
from config.seeding import tables, words
from config.seeding.tables import Table, moment
from core import ids
from feedback import indexing, taxonomy
from feedback.models import Label, Labelled, RatedAnswer, RatedTool, Reply, Triage, UserFeedback
from threads import content
from threads.indexing import index_texts
from threads.models import Block, Message, Thread, Turn, UsedTool
from threads.status import ThreadStatus, TurnState

PER_THREAD = 8
MOST_REPORTS = 100_000_000
LAST_SEED = 10**10 - 1
"""Its digits fit in a key."""
_RATERS, _ADMINS, _PART = 40, 5, 1000
_SPAN = timedelta(days=300)
_OUTCOMES = tuple(taxonomy.Outcome.values)


@dataclass
class _Part:
    """The rows of one part, by table."""

    rows: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)
    original: int | None = None
    """The last report that is no duplicate itself: what the next duplicate is one of."""

    def add(self, name: str, *row: Any) -> None:
        self.rows.setdefault(name, []).append(row)


@dataclass(frozen=True)
class _People:
    org: Org
    raters: list[int]
    admins: list[int]
    labels: list[int]


def seed(org: Org, reports: int, *, number: int) -> Iterator[int]:
    """Load reports into an org; yields the number of reports of each part, including parts that existed."""
    people = _people(org)
    start = timezone.now() - _SPAN
    threads = -(-reports // PER_THREAD)
    with ExitStack() as stack:
        if reports >= 50 * _PART:
            stack.enter_context(tables.without_word_index())
        for first in range(0, threads, _PART):
            count = min(reports - first * PER_THREAD, _PART * PER_THREAD)
            if not Thread.objects.filter(key=_key("t", number, first)).exists():
                _load(people, number, first, count, start + _SPAN * (first / threads), _SPAN / threads)
            yield count
    if connection.vendor != "sqlite":
        with connection.cursor() as cursor:
            # As autovacuum would do later after so many rows; VACUUM cannot run in a transaction.
            cursor.execute("ANALYZE" if connection.in_atomic_block else "VACUUM ANALYZE")


def loaded(number: int) -> int:
    """The number of stored reports of a seed."""
    return UserFeedback.objects.filter(key__startswith=f"seedr{number}n").count()


def _people(org: Org) -> _People:
    """Get or create raters and admins; they have no password."""
    raters = [_person(f"rater-{place}@{org.slug}.test", org) for place in range(_RATERS)]
    admins = [_person(f"seed-admin-{place}@heddle.test") for place in range(_ADMINS)]
    labels = [
        Label.objects.get_or_create(folded=name, defaults={"name": name, "created_by_id": admins[0]})[0].pk
        for name in words.LABELS
    ]
    return _People(org, raters, admins, labels)


def _person(email: str, org: Org | None = None) -> int:
    user = User.objects.filter(email=email).first()
    if user is None:
        user = User.objects.create_user(email, None, is_staff=org is None)
    if org is not None:
        add_member(org, user)
    return user.pk


def _key(kind: str, number: int, place: int) -> str:
    """As long as any other, because only a whole id is recognised where one is pasted."""
    stem = f"seed{kind}{number}n"
    return f"{stem}{place:0>{ids.LENGTH - len(stem)}}"


def _load(people: _People, number: int, first: int, reports: int, start: datetime, step: timedelta) -> None:
    """Generate and store one part."""
    made = _tables()
    random, part = Random(f"{number}/{first}"), _Part()  # noqa: S311 - nothing here is a secret
    with tables.in_bulk(*(made[name] for name in ("thread", "report", "message", "block", "turn"))):
        thread_pk, report_pk = made["thread"].next_id(), made["report"].next_id()
        threads = -(-reports // PER_THREAD)
        for place in range(first, first + threads):
            wanted = min(PER_THREAD, reports - (place - first) * PER_THREAD)
            at = start + step * (place - first)
            thread = _thread(part, random, people, thread_pk + place - first, _key("t", number, place), at, step)
            for each in range(wanted):
                _report(part, random, people, thread, report_pk, _key("r", number, place * PER_THREAD + each), each)
                report_pk += 1
        words_of = part.rows.pop("index")
        for name, table in made.items():
            table.write(part.rows.get(name, []))
        tables.write("feedback_untallied", ["day"], {(row[5][:10],) for row in part.rows["report"]})
        indexing.add(indexing.Words(*row) for row in words_of)
        index_texts(thread_pk, thread_pk + threads - 1)


def _tables() -> dict[str, Table]:
    """The tables to write, referenced ones first."""
    return {
        "thread": Table(
            Thread, "id", "key", "org", "created_by", "created", "modified", "title", "status", "visibility",
            "revision", "message_count", "weave", "has_error",
        ),
        "message": Table(
            Message, "thread", "idx", "role", "status", "created", "author", "first_revision", "revision", "block_count"
        ),
        "block": Table(
            Block, "thread", "idx", "position", "revision", "kind", "text", "data", "outcome", "tool_use_id"
        ),
        "turn": Table(
            Turn, "thread", "requested_by", "state", "attempt", "queued_at", "started_at", "finished_at", "requests",
            "profile", "model", "input_tokens", "output_tokens", "answer_idx", "error_code", "requested_at",
        ),
        "used": Table(UsedTool, "thread", "tool_name", "failed"),
        "report": Table(
            UserFeedback, "id", "key", "thread", "message_sequence_num", "org", "created", "created_by", "modified",
            "modified_by", "sentiment", "categories", "category_bits", "notes", "admin_label", "admin_note", "resolved",
            "resolved_by", "resolved_at", "owned_by",
        ),
        "triage": Table(
            Triage, "feedback", "owner", "outcome", "duplicate_of", "snoozed_until", "snoozed_until_again",
        ),
        "label": Table(Labelled, "feedback", "label"),
        "reply": Table(Reply, "feedback", "public_status", "public_reply", "replied_at"),
        "answer": Table(RatedAnswer, "feedback", "model_profile", "error_code"),
        "tool": Table(RatedTool, "feedback", "tool_name", "failed"),
    }  # fmt: skip


@dataclass(frozen=True)
class _Thread:
    """What a thread's reports need to know about it."""

    pk: int
    at: datetime
    until: timedelta
    """How much later the next thread begins. Its reports come before, so that later ones have higher ids."""
    answers: tuple[tuple[int, str, str, str, dict[str, bool]], ...]
    """Each answer's index, text, model profile, error, and tools with whether they failed."""


def _thread(part: _Part, random: Random, people: _People, pk: int, key: str, at: datetime, until: timedelta) -> _Thread:
    """Add a thread with two turns, some with a tool."""
    owner, when, idx = random.choice(people.raters), moment(at), 0
    revision, answers, weave = 0, [], ""

    def say(role: str, blocks: list[tuple[Any, ...]], author: int | None = None) -> None:
        nonlocal idx, revision
        first = revision + 1
        for position, block in enumerate(blocks):
            revision += 1
            part.add("block", pk, idx, position, revision, *block)
        part.add("message", pk, idx, role, "completed", when, author, first, revision, len(blocks))
        idx += 1

    for turn in range(2):
        say("user", [("text", words.sentence(random, 6, 16), None, "", None)], owner)
        tools = {}
        if random.random() < (0.6 if turn == 0 else 0.2):
            name, failed = random.choice(words.TOOLS), random.random() < 0.15
            tools, use = {name: failed}, f"tu_{key}{turn}"
            say("assistant", [("tool_use", "", _json(content.tool_use(name, use, {})), "", use)])
            outcome = "error" if failed else "success"
            result = content.tool_result(name, use, outcome, None, runtime_ms=random.randint(5, 900))
            say("roboto", [("tool_result", "", _json(result), outcome, use)])
            weave += "pf" if failed else "pt"
        else:
            weave += "p"
        error = random.choice(words.ERRORS) if random.random() < 0.02 else ""
        said, model = words.sentence(random, 12, 40), random.choices(words.MODELS, (70, 25, 5))[0]
        blocks: list[tuple[Any, ...]] = [("text", said, None, "", None)]
        if error:
            blocks.append(("error", "", _json(content.error("It broke off.", error)), "", None))
        say("assistant", blocks)
        weave += "af" if error else "a"
        answers.append((idx - 1, said, model, error, tools))
        state = TurnState.FAILED if error else TurnState.DONE
        tokens = (random.randint(200, 4000), len(said) // 4)
        part.add("turn", pk, owner, state, 1, when, when, when, 1, model, model, *tokens, idx - 1, error, when)
    has_error = any(answer[3] for answer in answers)
    used: dict[str, bool] = {}
    for *_, tools in answers:
        for name, failed in tools.items():
            used[name] = failed or used.get(name, False)
    for name, failed in used.items():
        part.add("used", pk, name, failed)
    title = words.sentence(random, 3, 6)
    part.add(
        "thread", pk, key, people.org.pk, owner, when, when, title, ThreadStatus.USER_TURN, "org", revision, idx, weave,
        has_error,
    )  # fmt: skip
    return _Thread(pk, at, until, tuple(answers))


def _report(part: _Part, random: Random, people: _People, thread: _Thread, pk: int, key: str, place: int) -> None:
    """Add one of a thread's eight reports: four users each rate both answers."""
    idx, said, model, error, tools = thread.answers[place % 2]
    rater = people.raters[(thread.pk * 4 + place // 2) % len(people.raters)]
    created = thread.at + thread.until * ((place + random.random()) / PER_THREAD)
    sentiment = "negative" if error or random.random() < 0.65 else "positive"
    fitting = sorted(taxonomy.FITTING[sentiment] - {taxonomy.NEEDS_NOTES})
    categories = sorted(random.sample(fitting, random.choice((0, 1, 1, 2))))
    notes = words.sentence(random, 4, 24) if random.random() < 0.7 else None
    fate = random.random()
    resolved = fate < 0.85
    owner = random.choice(people.admins) if resolved or fate > 0.93 else None
    done = min(created + timedelta(hours=random.expovariate(1 / 40)), datetime.now(UTC)) if resolved else None
    labels = random.sample(range(len(people.labels)), random.choice((0, 0, 1, 2)))
    admin_note = words.sentence(random, 4, 12) if random.random() < 0.1 else None
    when, stamp = moment(created), moment(done) if done else None
    edited = moment(min(created + timedelta(minutes=9), datetime.now(UTC)))
    part.add(
        "report", pk, key, thread.pk, idx, people.org.pk, when, rater,
        edited if fate % 0.04 < 0.002 else when, rater, sentiment,
        json.dumps(categories), taxonomy.bits(categories), notes,
        ", ".join(words.LABELS[each] for each in labels) or None,
        admin_note, resolved, owner if resolved else None, stamp, owner,
    )  # fmt: skip
    outcome = random.choices(_OUTCOMES, (30, 15, 10, 15, 10, 20))[0] if resolved else None
    if outcome == taxonomy.Outcome.DUPLICATE and part.original is None:
        outcome = taxonomy.Outcome.FIXED
    original = part.original if outcome == taxonomy.Outcome.DUPLICATE else None
    if original is None:
        part.original = pk
    snoozed = moment(created + timedelta(days=random.randint(1, 400))) if not resolved and fate > 0.98 else None
    if owner or snoozed:
        part.add("triage", pk, owner, outcome, original, snoozed, False)
    for each in labels:
        part.add("label", pk, people.labels[each])
    if resolved and random.random() < 0.05:
        part.add("reply", pk, "answered", words.sentence(random, 5, 15), stamp)
    part.add("answer", pk, model, error)
    for name, failed in tools.items():
        part.add("tool", pk, name, failed)
    part.add("index", pk, notes, admin_note, said, " ".join(tools))


def _json(block: content.BlockDict) -> str:
    """A block as a turn would store it, with all its keys, because readers rely on them."""
    return json.dumps({key: value for key, value in block.items() if not key.startswith("raw_")}, separators=(",", ":"))
