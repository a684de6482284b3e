"""The log: one line an event, with ids and outcomes, and never what people or agents said."""

import io
import json
import logging
import logging.config
import sys
from dataclasses import replace
from datetime import timedelta

import pytest
from celery import Celery
from celery.beat import Scheduler
from django.test import Client
from psycopg_pool import ConnectionPool, PoolTimeout

from catalogue import builtin
from core.logging import JsonFormatter, Seldom, TextFormatter
from tests import make
from tests.conftest import data_of, refusal_of

MARK = "ContentThatNobodyMayLog"


@pytest.fixture
def lines():
    """Everything that is logged, at every level, as it would be written."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    root, ours = logging.getLogger(), logging.getLogger("heddle")
    levels = root.level, ours.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    ours.setLevel(logging.DEBUG)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    root.removeHandler(handler)
    root.setLevel(levels[0])
    ours.setLevel(levels[1])


def test_a_refused_request_is_logged_without_its_query(lines, db):
    """Django logs these refusals with the request, whose text shows the searched words."""
    Client(enforce_csrf_checks=True).post(f"/feedback/?q={MARK}", {"a": 1})
    fields = {f"field{n}": n for n in range(3000)}
    Client(raise_request_exception=False).post(f"/signin/?q={MARK}", fields)
    told = lines()
    assert [line["status"] for line in told if line["event"] == "request.finished"] == [403, 413]
    assert MARK not in json.dumps(told)


@pytest.mark.parametrize("formatter", [JsonFormatter(), TextFormatter()])
def test_a_request_is_no_field_of_a_line(formatter, rf):
    record = logging.makeLogRecord({"msg": "x", "request": rf.get(f"/feedback/?q={MARK}"), "status_code": 403})
    written = formatter.format(record)
    assert "403" in written and MARK not in written


def test_no_content_is_logged_whatever_becomes_of_a_request(api, who, lines, browser_of):
    """Texts, notes, tool arguments and results, names, titles, search words, passwords, tokens; taken or refused."""
    alice = api("alice")
    call = f'[[call echo {{"value": "{MARK}"}}]] [[call remember {{"k": "{MARK}"}}]]'
    body = {
        "messages": [make.say(f"{MARK} {call}")],
        "system_prompt": MARK,
        "client_tools": [{**make.client_tool(), "description": MARK}],
        "client_context": {"misc_context": {MARK: MARK}},
    }
    record = data_of(alice.post("threads", body))
    make.run_turns()
    path = f"threads/{record['thread_id']}"
    uses = [block for message in data_of(alice.get(path))["messages"] for block in message["content"]
            if block["content_type"] == "tool_use"]  # fmt: skip
    result = {
        "tool_use_id": uses[1]["tool_use_id"],
        "tool_name": "remember",
        "runtime_ms": 1,
        "status": "error",
        "output": {"error": MARK},
    }
    data_of(alice.post(f"{path}/tool-results", {"tool_results": [result]}))
    make.run_turns()
    data_of(alice.post(f"{path}/messages", {"message": make.say(f"{MARK} [[fail]]")}))
    make.run_turns()
    data_of(alice.patch(path, {"title": MARK}))
    rating = {"sentiment": "negative", "notes": MARK}
    report = data_of(alice.post(f"{path}/messages/1/feedback", rating))["feedback_id"]
    data_of(api("admin").put(f"admin/feedback/{report}", {"admin_note": MARK, "admin_label": MARK}))
    data_of(alice.post("threads/search", {"query": MARK}))
    data_of(alice.put(f"{path}/subjects", [{"association_id": MARK, "note": MARK}]))
    data_of(alice.post(f"{path}/fork", {"message_sequence_num": 0}))
    for refused in (
        alice.post("threads", {"messages": [{"role": MARK, "content": [{"text": MARK}]}]}),
        alice.post("threads", {"messages": [make.say(f"{MARK}\x00")]}),
        alice.post("threads", f'{{"messages": {MARK}'.encode()),
        alice.post(f"{path}/messages/1/feedback", {"sentiment": MARK, "notes": MARK}),
        alice.get(f"threads/{MARK}"),
        alice.get(f"{path}/tools/{MARK}"),
        alice.get(f"threads?page_token={MARK}"),
        alice.get(f"/v1/{MARK}"),
        api("alice", Host=f"{MARK}.test").get("threads"),
        api(None, Authorization=f"Bearer {MARK}").get("threads"),
    ):
        refusal_of(refused)
    browser = browser_of("alice")
    browser.get(f"/threads/?q={MARK}")
    browser.get(f"/{MARK}/")
    browser.post(f"/{path}/send/", {"text": MARK})
    Client().post("/signin/", {"email": f"{MARK}@acme.test", "password": MARK})

    found = lines()
    assert len(found) > 10
    for line in found:
        assert MARK.lower() not in json.dumps(line).lower(), line
        assert who.alice.token not in json.dumps(line)


def test_a_tool_that_breaks_is_logged_by_kind_alone(who, lines, monkeypatch):
    def broken(arguments, context):
        raise RuntimeError(f"{MARK}: {arguments}")

    monkeypatch.setitem(builtin.TOOLS, "echo", replace(builtin.TOOLS["echo"], run=broken))
    make.thread(who.alice, f'[[call echo {{"value": "{MARK}"}}]]')
    raised = [line for line in lines() if line["event"] == "tool.raised"]
    assert [(line["tool"], line["kind"]) for line in raised] == [("echo", "RuntimeError")]
    assert all(MARK not in json.dumps(line) for line in lines())


def test_a_line_is_one_json_object_with_its_fields(lines):
    logging.getLogger("heddle.turns").info("turn.left", extra={"turn": 7, "state": "done", "note": "two\nlines"})
    [line] = lines()
    assert {"at", "level", "event", "logger", "turn", "state", "note"} <= set(line)
    assert (line["event"], line["level"], line["turn"], line["note"]) == ("turn.left", "info", 7, "two\nlines")


def test_a_request_is_logged_by_route_and_outcome_with_its_id(api, who, lines):
    thread = make.thread(who.eve, run=False)
    response = api("alice").get(f"threads/{thread.thread_id}")
    [line] = [line for line in lines() if line["event"] == "request.finished"]
    assert line["request_id"] == response.headers["X-Request-Id"]
    assert (line["method"], line["status"]) == ("GET", 403)
    assert line["route"] == "v1/ai/threads/<str:thread_id>"
    assert line["ms"] >= 0


def test_a_bug_is_logged_with_its_trace(api, lines, monkeypatch):
    monkeypatch.setattr("threads.lists.own_threads", lambda *given, **named: 1 / 0)
    api("alice").get("threads")
    [line] = [line for line in lines() if line["event"] == "request.crashed"]
    assert "ZeroDivisionError" in line["trace"]


@pytest.mark.parametrize("formatter", [JsonFormatter(), TextFormatter()])
def test_a_trace_has_no_words_of_what_went_wrong_unless_they_name_code(formatter):
    """PostgreSQL's messages quote the row that failed, pydantic's the value."""

    def fails():
        try:
            raise ValueError(MARK)
        except ValueError as problem:
            raise KeyError(MARK) from problem

    told = formatter.format(record_of(fails))
    assert MARK not in told and "ValueError" in told and "KeyError" in told and "in fails" in told
    assert "has no attribute 'nothing'" in formatter.format(record_of(lambda: None.nothing))


def record_of(fails):
    """The log record of an error."""
    try:
        fails()
    except Exception:
        return logging.LogRecord("heddle.tests", logging.ERROR, __file__, 1, "it.failed", (), sys.exc_info())


def test_the_text_form_says_the_same_on_one_line():
    record = logging.makeLogRecord({"name": "heddle", "levelname": "INFO", "msg": "turn.left", "turn": 7})
    assert TextFormatter().format(record).endswith("turn.left turn=7")


@pytest.fixture
def surroundings(lines, monkeypatch):
    """What libraries log of what is away, as by a process that has not told of it yet."""
    for name in ("celery.beat", "psycopg.pool"):
        for each in logging.getLogger(name).filters:
            monkeypatch.setattr(each, "_seldom", Seldom())
    return lines


@pytest.mark.pure
def test_a_clock_whose_queue_is_away_warns_once_and_without_a_trace(surroundings):
    """Its library calls it an error, with a stack for a name."""
    celery = Celery(broker="redis://127.0.0.1:1/0")
    celery.conf.update(task_publish_retry=False, broker_transport_options={"max_retries": 0})
    clock = Scheduler(app=celery, lazy=True)
    for _ in range(3):
        clock.apply_entry(clock.Entry(name="sweep", task="threads.sweep", schedule=timedelta(seconds=1)))
    [line] = surroundings()
    assert (line["event"], line["level"], line["logger"]) == ("queue.not_answering", "warning", "celery.beat")
    assert "refused" in line["reason"] and "trace" not in line


@pytest.mark.pure
def test_a_mistake_of_the_clocks_stays_one(surroundings):
    clock = Scheduler(app=Celery(broker="redis://127.0.0.1:1/0"), lazy=True)
    clock.apply_entry(clock.Entry(name="sweep", task="threads.sweep", schedule=1, args=5))
    [line] = surroundings()
    assert line["level"] == "error" and "TypeError" in line["trace"]


@pytest.mark.pure
def test_a_log_that_is_set_up_again_filters_as_before(settings):
    """As Celery has Django do in a worker: what went through twice would have lost its reason."""
    asked = {name: settings.LOGGING["loggers"][name] for name in ("celery.beat", "psycopg.pool")}
    kept = {"version": 1, "disable_existing_loggers": False, "filters": settings.LOGGING["filters"]}
    for _ in range(2):
        logging.config.dictConfig({**kept, "loggers": asked})
    assert [len(logging.getLogger(name).filters) for name in asked] == [1, 1]


@pytest.mark.pure
def test_a_pool_whose_database_is_away_warns_once(surroundings):
    with ConnectionPool("postgresql://u:secret@127.0.0.1:1/x", min_size=4, timeout=2) as pool:
        with pytest.raises(PoolTimeout):
            pool.getconn()
        logging.getLogger("psycopg.pool").warning("discarding closed connection: %s", "it")
    [line] = surroundings()
    assert (line["event"], line["level"], line["logger"]) == ("database.unavailable", "warning", "psycopg.pool")
    assert "refused" in line["reason"] and "secret" not in line["reason"]


@pytest.mark.pure
@pytest.mark.parametrize("found", ["closed", "broken"])
def test_dead_connections_of_a_pool_are_one_event(surroundings, found):
    """Each line of the library names its connection."""
    for place in range(3):
        logging.getLogger("psycopg.pool").warning(f"discarding {found} connection: %s", f"<Connection at {place}>")
    [line] = surroundings()
    assert (line["event"], line["level"]) == ("database.unavailable", "warning")
    assert line["reason"] == f"discarding {found} connection: <Connection at 0>"
