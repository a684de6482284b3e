"""Finding reports: the query `q` of the list (H6), what it may go on with, the index, the digest."""

from datetime import timedelta
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from core import fulltext
from core.errors import InvalidRequest, Unauthorized, Unavailable
from feedback import bulk, bulk_work, digesting, indexing, querying
from feedback.models import (
    Bulk,
    Label,
    Labelled,
    RatedAnswer,
    RatedTool,
    Reply,
    Reworded,
    Triage,
    Undigested,
    UserFeedback,
)
from feedback.querying.fields import FIELDS
from tests import make
from tests.conftest import data_of, refusal_of
from tests.long_texts import ENGLISH, JAPANESE, PHRASES, THAI
from threads.models import Thread
from threads.pending import pending_client_uses

NAMES = ("tools", "broken", "forked", "plain")


@pytest.fixture
def reports(who, api):
    """Four reports, each of a thread of its own: with tools, broken off, in a fork, and of another org."""
    calls = '[[call calculate {"expression": "1+"}]] [[call echo {"value": 1}]] Help'
    tools = make.thread(who.alice, calls, visibility="org", goals=[{"goal_type": "dataset_summary", "dataset_id": "d"}])
    broken = make.thread(who.alice, "[[fail]]", visibility="org")
    source = make.conversation(who.alice, 4, visibility="org")
    fork = data_of(api("alice").post(f"threads/{source.thread_id}/fork", {"message_sequence_num": 3}))
    forked = Thread.objects.get(key=fork["thread_id"].removeprefix("ags_"))
    hers = make.thread(who.eve, "[[words 12]]")
    made = (
        make.rating(who.bob, tools, tools.message_count - 1, categories=["slow"], notes="The refund of ÖLAF is late."),
        make.rating(who.alice, broken, broken.message_count - 1, notes="refund_policy never came"),
        make.rating(who.alice, forked, 3, "positive", categories=["helpful"]),
        make.rating(who.eve, hers, 1, notes="Nothing."),
    )
    return dict(zip(NAMES, (UserFeedback.objects.get(key=each.feedback_id[3:]) for each in made), strict=True))


@pytest.fixture
def found(api, reports):
    """The names of the reports that a query finds, in the order they were made."""

    def names(q, **filters):
        said = "".join(f"&{name}={value}" for name, value in filters.items())
        items = data_of(api("admin").get(f"admin/feedback?q={quote(q)}{said}"))["items"]
        keys = [item["feedback_id"] for item in items]
        of = {row.feedback_id: name for name, row in reports.items()}
        return " ".join(of[key] for key in reversed(keys))

    return names


def beside(who, report, **columns):
    """What admins keep beside a report."""
    Triage.objects.update_or_create(feedback=report, defaults=columns)


def label_of(who, name):
    return Label.objects.create(name=name, folded=name.casefold(), created_by=who.admin.user)


def test_fields_of_the_report_and_of_its_thread(found, who, reports):
    thread = reports["tools"].thread
    assert found("sentiment:negative") == "tools broken plain"
    assert found("category:slow") == "tools"
    assert found("-category:slow sentiment:negative") == "broken plain"
    assert found("org:globex") == found(f"org:{who.globex.org_id}") == found("by:eve@globex.test") == "plain"
    assert found("by:ALICE") == "broken forked"
    assert found("by:ali") == ""
    assert found(f"thread:ch_{thread.key}") == found(f"thread:ags_{thread.key}") == "tools"
    assert found("fork:yes") == "forked"
    assert found("fork:no") == "tools broken plain"
    assert found("has:goal") == found("goal:achieved") == "tools"
    assert found("goal:failed") == found("has:fork") == ""
    assert found("has:notes") == "tools broken plain"
    assert found("(org:globex OR fork:yes)") == "forked plain"
    assert found("created:<1d age:<1d") == "tools broken forked plain"
    assert found("created:>1d") == found("created:2020") == ""


def test_what_admins_keep_beside_a_report(found, who, reports):
    admin, now = who.admin.user, timezone.now()
    beside(who, reports["tools"], owner=admin)
    beside(who, reports["broken"], snoozed_until=now + timedelta(days=1))
    beside(who, reports["forked"], outcome="duplicate", duplicate_of=reports["plain"])
    beside(who, reports["plain"], snoozed_until=now - timedelta(days=1))
    Reply.objects.create(feedback=reports["plain"], public_status="answered", public_reply="Mended.")
    Labelled.objects.create(feedback=reports["broken"], label=label_of(who, "To check"))
    UserFeedback.objects.filter(pk=reports["forked"].pk).update(resolved=True, resolved_at=now, resolved_by=admin)
    UserFeedback.objects.filter(pk=reports["plain"].pk).update(admin_note="Seen.", modified=now + timedelta(hours=1))
    assert found("owner:me") == found("is:mine") == found("owner:admin") == found("has:owner") == "tools"
    assert found("owner:none") == found("-has:owner") == "broken forked plain"
    assert found("is:open -has:owner -is:snoozed") == found("is:unclaimed") == "plain"
    assert found("is:snoozed") == "broken"
    assert found("is:due") == "plain"
    assert found("is:resolved") == found("outcome:duplicate") == found("is:duplicate") == "forked"
    assert found("resolved:<1d") == "forked"
    assert found("-resolved:<1d") == "tools broken plain"
    assert found("has:duplicates") == found("is:edited") == found("has:note") == "plain"
    assert found("edited:2020..2200") == "plain"
    assert found("is:answered") == found("has:reply") == found("note:seen") == "plain"
    assert found('label:"to CHECK"') == found("has:label") == "broken"
    assert found("-has:label is:open") == "tools plain"


def test_the_agent_that_a_thread_was_launched_from(found, api, who, reports):
    """By name or id, also in the search of threads; of one that was deleted by its id."""
    template = {"messages": [make.say("Hello")]}
    agent = data_of(api("alice").post("agents", {"name": "Teller One", "request_template": template}))["agent_id"]
    launched = Thread.objects.filter(pk__in=[reports["tools"].thread_id, reports["plain"].thread_id])
    launched.update(created_from_agent_id=agent)
    assert found('agent:"teller ONE"') == found(f"agent:{agent}") == "tools plain"
    assert found('-agent:"Teller One" sentiment:negative') == "broken"
    assert found("agent:nobody") == ""
    threads = data_of(api("alice").get("threads?q=" + quote('agent:"Teller One"')))["items"]
    assert [each["thread_id"] for each in threads] == [reports["tools"].thread.thread_id]
    api("alice").request("DELETE", f"agents/{agent}")
    assert found(f"agent:{agent}") == "tools plain" and found('agent:"Teller One"') == ""


def test_a_snooze_until_it_happens_again_is_one(found, who, reports):
    beside(who, reports["plain"], snoozed_until_again=True)
    assert found("is:snoozed") == "plain"


def test_an_owner_is_copied_whatever_writes_it(found, who, reports):
    triage = Triage.objects.create(feedback=reports["tools"])
    assert found("has:owner") == ""
    Triage.objects.filter(pk=triage.pk).update(owner=who.admin.user)
    assert found("owner:me") == "tools"
    Triage.objects.filter(pk=triage.pk).update(owner=who.bob.user)
    assert found("owner:bob@acme.test") == "tools"
    triage.delete()
    assert found("has:owner") == ""


def test_words_of_the_submitter_of_admins_and_of_the_answer(found, reports):
    assert found("refund") == "tools broken"
    assert found("REFUND late") == "tools"
    assert found('"refund of ölaf"') == found("notes:öla*") == "tools"
    assert found('"refund late"') == ""
    assert found("refund_policy") == found('"refund policy"') == "broken"
    assert found("-refund") == "forked plain"
    assert found("note:refund") == found("text:refund") == ""
    assert found('text:"message number 3"') == "forked"
    assert found("number -text:number") == ""
    UserFeedback.objects.filter(pk=reports["plain"].pk).update(admin_note="A refund, too")
    assert found("refund") == "tools broken plain"
    assert found("note:refund") == "plain"
    UserFeedback.objects.filter(pk=reports["plain"].pk).update(admin_note=None, notes="Anything.")
    assert found("refund") == "tools broken"
    assert found("nothing") == ""
    assert found("anything") == "plain"
    assert found('"anything of"') == found('"policy never came message"') == ""


def test_words_are_found_without_accents_and_parts_of_sentences_without_spaces(found, reports):
    said = UserFeedback.objects.filter(pk=reports["plain"].pk)
    said.update(notes="Le café coûtait trop, 退款没有到账。")
    assert found("cafe coutait") == found("CAFÉ") == found("notes:退款") == found("没有到账") == "plain"
    assert found("退到") == found("caf") == ""
    for note in ("Überwiesen.", "Zurückgezahlt: 返金", "Zurückgezahlt: 返金済み"):  # nothing is searched in between
        said.update(admin_note=note)
    assert found("note:zuruckgezahlt") == found("金済") == "plain"
    assert found("uberwiesen") == ""


def test_a_note_about_an_answer_whose_turn_goes_on_is_found_at_once(who, api):
    thread = make.waiting(who.alice, "[[call remember {}]]", visibility="org")
    report = make.rating(who.bob, thread, 1)
    found = lambda q: len(data_of(api("admin").get(f"admin/feedback?q={q}"))["items"])  # noqa: E731
    assert found("note:later") == 0
    UserFeedback.objects.filter(key=report.feedback_id[3:]).update(admin_note="Later.")
    assert found("note:later") == 1


def test_an_imported_thread_is_found_by_the_id_it_had(api, who):
    """1.7, as the thread's own routes find it; of several owners' imports the ratings of all."""
    for owner in (who.alice, who.bob):
        make.rating(owner, make.conversation(owner, 2, origin_id="ath_legacy1"))
    for query, count in (("thread:ath_legacy1", 2), ("id:ath_legacy1", 2), ("-thread:ath_legacy1", 0), ("id:ath_x", 0)):
        assert len(data_of(api("admin").get(f"admin/feedback?q={query}"))["items"]) == count, query


def test_what_an_answer_was_made_of_is_known_at_once(found, reports):
    assert Undigested.objects.count() == 4
    assert found("is:open") == "tools broken forked plain"
    assert Undigested.objects.count() == 4
    assert found("has:tool") == found("tool:CALCULATE") == "tools"
    assert found("tool:calc*") == found("tool:heddle__calculate") == found("tool:heddle__CALC*") == "tools"
    assert found("tool:calc") == found("tool:x*") == found("failed:x*") == ""
    assert found("tool:nosuch__*") == found("failed:nosuch__*") == ""
    assert found('tool:"heddle__calculate"') == found('failed:"calc*"') == "", "in quotes it is the name alone"
    assert found('tool:"calculate"') == found("tool:*") == "tools"
    assert found("failed:calc*") == found("failed:calculate")
    assert Undigested.objects.count() == 0
    assert found("calculate") == "tools"
    assert found("model:simulated") == "tools plain"
    assert found("has:error") == "broken"
    [code] = set(RatedAnswer.objects.exclude(error_code="").values_list("error_code", flat=True))
    assert found(f"error:{code.upper()}") == "broken"
    used = RatedTool.objects.filter(feedback=reports["tools"]).values_list("tool_name", "failed")
    assert dict(used)["calculate"] is True
    assert dict(used)["echo"] is False


def test_an_answer_is_looked_at_once(who, reports):
    assert digesting.digest() == 4
    assert digesting.digest() == 0
    report = reports["tools"]
    make.rating(who.bob, make.fresh(report.thread), report.message_sequence_num, "positive", notes="Again.")
    assert digesting.digest() == 0


def test_an_answer_rated_during_its_turn_is_looked_at_again_when_that_has_ended(who, api):
    thread = make.waiting(who.alice, "[[call remember {}]] [[fail]]", visibility="org")
    make.rating(who.bob, thread, 1)
    found = lambda q: len(data_of(api("admin").get(f"admin/feedback?q={q}"))["items"])  # noqa: E731
    assert [found(q) for q in ("model:simulated", "tool:remember", "has:error")] == [1, 1, 0]
    assert digesting.digest() == 0  # not again and again, however long the client takes
    [use] = pending_client_uses(thread)
    result = {
        "tool_use_id": use["tool_use_id"],
        "tool_name": "remember",
        "status": "success",
        "output": {},
        "runtime_ms": 1,
    }
    data_of(api("alice").post(f"threads/{thread.thread_id}/tool-results", {"tool_results": [result]}))
    assert digesting.digest() == 0
    make.run_turns(thread)
    assert [found(q) for q in ("model:simulated", "tool:remember", "has:error")] == [1, 1, 1]
    assert digesting.digest() == 0


def test_the_next_turn_does_not_hide_what_the_one_before_ended_with(who, api):
    thread = make.waiting(who.alice, visibility="org")
    make.rating(who.bob, thread, 1)
    assert digesting.digest() == 1
    data_of(api("alice").post(f"threads/{thread.thread_id}/cancel"))
    make.send(who.alice, thread, "[[call remember {}]]")
    make.rating(who.bob, thread, 5)
    assert digesting.digest() == 2
    assert list(RatedAnswer.objects.order_by("pk").values_list("error_code", flat=True)) == ["cancelled", ""]


def test_only_so_many_are_looked_at_in_one_go(reports):
    assert [digesting.digest(limit=3) for _ in range(3)] == [3, 1, 0]


def test_a_turn_ends_where_the_next_begins(who):
    thread = make.thread(who.alice, '[[call echo {"value": 1}]]')
    first = thread.message_count - 1
    make.send(who.alice, thread, "And now?")
    report = make.rating(who.alice, make.fresh(thread), make.fresh(thread).message_count - 1)
    early = make.rating(who.alice, make.fresh(thread), first)
    digesting.digest()
    of = {row.feedback_id: list(row.tools.values_list("tool_name", flat=True)) for row in UserFeedback.objects.all()}
    assert of == {report.feedback_id: [], early.feedback_id: ["echo"]}


def test_a_report_that_goes_takes_its_words_along(reports, found):
    for report in reports.values():
        report.delete()
    assert found("refund") == found("has:tool") == ""
    assert Undigested.objects.count() == 0


def test_filters_and_query_hold_together(found, who):
    assert found("refund", sentiment="negative", org_id=who.acme.org_id) == "tools broken"
    assert found("refund", category="slow") == "tools"
    assert found("refund", sentiment="positive") == ""
    assert found("", sentiment="positive") == "forked"


def test_pages_of_a_query_follow_one_another(api, reports):
    seen, token = [], ""
    while token is not None:
        page = data_of(api("admin").get(f"admin/feedback?q=sentiment:negative&limit=1&page_token={token}"))
        seen += [item["feedback_id"] for item in page["items"]]
        token = page["next_token"]
    assert seen == [reports[name].feedback_id for name in ("plain", "broken", "tools")]


@pytest.mark.parametrize("q", ["sentiment:angry", "a OR", '"open', "x" * 2001, "colour:red is:open"])
def test_what_is_not_understood_is_refused_and_named(api, reports, q):
    status, code, said = refusal_of(api("admin").get(f"admin/feedback?q={quote(q)}"))
    assert (status, code) == (400, "RobotoInvalidRequestException")
    assert said.startswith(f"q: {querying.parse(q).problems[0].sentence}")
    assert "at character" in said


def test_what_names_nobody_finds_nothing_and_says_so(who, reports, found):
    admin = who.admin.actor
    lost = "label:gone owner:zoe by:zoe@x.test tool:none model:none error:none thread:ags_x org:none"
    said = querying.remarks(admin, querying.parse(lost))
    assert len(said) == len(lost.split())
    assert str(said[0]) == "There is no label gone."
    assert all(found(term) == "" for term in lost.split())
    assert found("-label:gone") == "tools broken forked plain"
    assert querying.remarks(admin, querying.parse("owner:alice is:open")) == ()


def test_what_was_resolved_without_saying_how_is_found(api, reports, found):
    """B129: the wire's own resolving gives no outcome."""
    admin = api("admin")
    data_of(admin.put(f"admin/feedback/{reports['broken'].feedback_id}", {"resolved": True}))
    body = {"verb": "resolve", "arguments": {"outcome": "fixed"}}
    data_of(admin.post(f"admin/feedback/{reports['tools'].feedback_id}/actions", body))
    assert found("is:resolved outcome:none") == found("is:resolved -has:outcome") == "broken"
    assert found("outcome:none") == found("-has:outcome") == "broken forked plain"
    assert found("has:outcome") == found("-outcome:none") == "tools"
    assert found("outcome:none OR outcome:fixed") == "tools broken forked plain"
    assert found("is:resolved -(outcome:none OR label:money)") == "tools"


@pytest.fixture
def texts(api, who):
    """`texts.rate(name, answer, notes)` is a report on such an answer; `texts.found(q)` the names of those found."""
    names = {}

    def rate(name, answer, notes=None):
        thread = make.imported(who.alice, [("user", "Hello"), ("assistant", answer)])
        names[made := make.rating(who.alice, thread, 1, notes=notes).feedback_id] = name
        return UserFeedback.objects.get(key=made[3:])

    def found(q):
        return {
            names[item["feedback_id"]] for item in data_of(api("admin").get(f"admin/feedback?q={quote(q)}"))["items"]
        }

    return SimpleNamespace(rate=rate, found=found)


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("language", PHRASES)
def test_a_phrase_is_found_wherever_in_a_long_text_it_is(texts, monkeypatch, language, many):
    if many:
        monkeypatch.setattr(fulltext, "MANY", 1)
        monkeypatch.setattr(fulltext, "FEW", 0)
    long, said, unsaid = PHRASES[language]
    texts.rate("short", "A walrus.")
    texts.rate("answer", long)
    texts.rate("notes", "A walrus.", long)
    texts.rate("both", long, long)
    assert texts.found(f'text:"{said}"') == {"answer", "both"}
    assert texts.found(f'notes:"{said}"') == {"notes", "both"}
    assert texts.found(f'"{said}"') == {"answer", "notes", "both"}
    assert texts.found(f'-text:"{said}"') == {"short", "notes"}
    assert texts.found(f'"{unsaid}"') == set()


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize(
    ("q", "names"),
    [
        ("\u03a3\u038a\u03a3*", {"sisyphus", "sis"}),
        ("\u03c3\u03b9\u03c3*", {"sisyphus", "sis"}),
        ("\u03a3\u038a\u03a3", {"sis"}),
        ('notes:"\u03c3\u03b9\u03c3 \u03b1*"', {"sis"}),
        ('"\u03a3\u0399\u03a3\u03a5\u03a6\u039f\u03a3 \u03a3\u0399\u03a3*"', {"sisyphus"}),
        ("\u0131nce", {"dotless"}),
        ("ince", {"dotted"}),
        ("\u0131n*", {"dotless"}),
        ("INCE", {"dotted"}),
    ],
)
def test_a_final_sigma_and_a_dotless_i_are_the_same_to_both_databases(texts, monkeypatch, q, names, many):
    if many:
        monkeypatch.setattr(fulltext, "MANY", 1)
        monkeypatch.setattr(fulltext, "FEW", 0)
    texts.rate("sisyphus", "A walrus.", "\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2 \u03c3\u03b9\u03c3\u03b1")
    texts.rate("sis", "A walrus.", "\u03a3\u038a\u03a3 \u03b1\u03b2")
    texts.rate("dotless", "A walrus.", "\u0131nce")
    texts.rate("dotted", "A walrus.", "Ince")
    assert texts.found(q) == names


def test_long_notes_that_change_are_found_by_their_new_words_only(texts):
    """The answer is found as before."""
    report = texts.rate("one", ENGLISH, THAI)

    def change(**notes):
        UserFeedback.objects.filter(pk=report.pk).update(**notes)
        assert texts.found('text:"the zeppelin"') == {"one"}
        return [name for name in ("notes", "note") for said in PHRASES.values() if texts.found(f'{name}:"{said[1]}"')]

    def said(*languages):
        return {language for language in languages if texts.found(f'"{PHRASES[language][1]}"')}

    every = ("english", "thai", "japanese")
    assert said(*every) == {"english", "thai"}
    assert change(notes=JAPANESE) == ["notes"] and said(*every) == {"english", "japanese"}
    assert change(admin_note=f"Seen. {THAI}") == ["notes", "note"] and said(*every) == {*every}
    assert change(notes="A walrus.") == ["note"] and said(*every) == {"english", "thai"}
    assert texts.found("notes:walrus note:seen") == {"one"}
    assert change(admin_note=None, notes=None) == [] and said(*every) == {"english"}
    assert change(notes=JAPANESE) == ["notes"] and said(*every) == {"english", "japanese"}
    Undigested.objects.create(feedback=report)
    UserFeedback.objects.filter(pk=report.pk).update(notes="A walrus.")
    Reworded.objects.all().delete()
    assert texts.found("notes:walrus") == {"one"} and said(*every) == {"english"}
    report.delete()
    assert index_rows() == []


def index_rows():
    """The row ids in the full-text index."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {'rowid' if connection.vendor == 'sqlite' else 'feedback_id'} FROM feedback_search")  # noqa: S608
        return [pk for (pk,) in cursor.fetchall()]


def test_changed_notes_do_not_index_a_report_whose_answer_is_not(texts):
    report = texts.rate("one", "A walrus.")
    indexing.reword([indexing.Words(report.pk, "Too early.", None)])
    assert index_rows() == []
    assert texts.found("walrus") == {"one"} and index_rows() == [report.pk]


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite's index has no limits")
def test_reports_with_lost_phrases_are_digested_again_after_the_migration(texts):
    long, short = texts.rate("long", ENGLISH), texts.rate("short", "A zeppelin.")
    digesting.finish()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM feedback_search WHERE piece <> 0")
        cursor.execute("ALTER TABLE feedback_search DROP COLUMN piece, ADD PRIMARY KEY (feedback_id)")
        cursor.execute(
            "UPDATE feedback_search SET document = setweight(to_tsvector('pg_catalog.simple', %s), 'C') "
            "WHERE feedback_id = %s",
            [fulltext.plain(ENGLISH), long.pk],
        )
    with connection.schema_editor() as editor:
        import_module("feedback.migrations.0025_search_pieces").split(None, editor)
    assert list(Undigested.objects.values_list("pk", flat=True)) == [long.pk]
    assert texts.found('text:"the zeppelin"') == {"long"}
    assert texts.found("zeppelin") == {"long", "short"} and index_rows().count(short.pk) == 1


def test_small_numbers_are_their_digits_and_long_words_are_found_by_their_beginning(texts):
    """On both databases: PostgreSQL takes the first for spaces, and drops words of more than 2,046 bytes."""
    texts.rate("square", "Flats of 20 m² each.")
    texts.rate("cube", "Tanks of 20 m³ each.", "CO₂ and ½ of it, x①")
    texts.rate("pasted", f"See vqz{'b' * 3_000}c now.")
    for query, names in (
        ('"20 m²"', "square"),
        ('"20 m³ each"', "cube"),
        ('"20 m2"', "square"),
        ("notes:co2", "cube"),
        ("notes:CO₂", "cube"),
        ('notes:"and of it"', "cube"),
        ("notes:x1", "cube"),
        ("-m²", "cube pasted"),
        ("vqz*", "pasted"),
        (f"vqz{'b' * 1_900}*", "pasted"),
        ('"c now"', ""),
    ):
        assert texts.found(query) == set(names.split()), query
    with pytest.raises(InvalidRequest, match="must contain a letter or a digit"):
        querying.understood("½", field="q")


def test_reports_with_small_numbers_are_digested_again_after_the_migration(texts, monkeypatch):
    with monkeypatch.context() as before:
        before.setattr(indexing, "plain", lambda text: text.lower())
        kept = [texts.rate("answer", "20 m² each"), texts.rate("notes", "Well.", "CO₂")]
        texts.rate("neither", "20 m2 each", "é")
        digesting.finish()
    import_module("feedback.migrations.0029_small_numbers").digest_anew(None, SimpleNamespace(connection=connection))
    assert sorted(Undigested.objects.values_list("pk", flat=True)) == [each.pk for each in kept]
    assert texts.found("m2") == {"answer", "neither"} and texts.found("co2") == {"notes"}


@pytest.fixture
def backlog(who, monkeypatch):
    """Five reports of the same words, of which a search digests one at a time."""
    monkeypatch.setattr(digesting, "BATCH", 1)
    monkeypatch.setattr(digesting, "digest", partial(digesting.digest, 1))
    return [make.rating(who.alice, make.thread(who.alice), notes="zebra crossing").feedback_id for _ in range(5)]


def test_a_search_digests_some_and_what_acts_or_counts_digests_all(api, backlog):
    """What is not digested yet has no words: a bulk would miss it, or with a minus change what it must not touch."""
    admin = api("admin")
    assert len(data_of(admin.get("admin/feedback?q=zebra"))["items"]) == 1
    body = {"verb": "label", "arguments": {"add": ["wrong"]}, "query": "is:open -zebra"}
    assert data_of(admin.post("admin/feedback/bulk", body))["total"] == 0
    assert len(data_of(admin.get("admin/feedback?q=zebra"))["items"]) == 5


def test_a_bulk_by_words_reaches_what_was_rated_just_now(api, backlog):
    body = {"verb": "label", "arguments": {"add": ["striped"]}, "query": "zebra"}
    assert data_of(api("admin").post("admin/feedback/bulk", body))["done_count"] == 5


def test_a_bulk_in_the_background_digests_what_changed_before_each_chunk(api, backlog, monkeypatch):
    monkeypatch.setattr(bulk, "AT_ONCE", 0)
    started = data_of(api("admin").post("admin/feedback/bulk", {"verb": "resolve", "query": "-giraffe"}))
    for row in UserFeedback.objects.all():
        row.notes = "giraffe"
        row.save()
        Reworded.objects.get_or_create(feedback=row)
    bulk_work.advance(Bulk.objects.get(key=started["bulk_id"].partition("_")[2]).pk)
    assert not UserFeedback.objects.filter(resolved=True, notes="giraffe").exists()


def test_an_export_holds_what_was_rated_just_now(api, backlog):
    export = b"".join(api("admin").get("admin/feedback/export?q=zebra").streaming_content)
    assert export.count(b"\n") == 5


def test_insight_counts_what_was_rated_just_now(api, backlog):
    assert data_of(api("admin").get("admin/feedback/insight?q=zebra"))["reports"]["count"] == 5


def test_what_another_process_digests_is_waited_for_but_not_for_ever(api, backlog, monkeypatch):
    """Its rows are passed by until then."""
    mine, passed = digesting.digest, []
    monkeypatch.setattr(digesting, "digest", lambda: mine() if len(passed) > 2 else passed.append(1) or 0)
    digesting.finish()
    assert len(passed) == 3 and not Undigested.objects.exists()
    Reworded.objects.create(feedback=UserFeedback.objects.first())
    monkeypatch.setattr(digesting, "digest", lambda: 0)
    with pytest.raises(Unavailable, match="Try again"):
        digesting.finish(0.05)


def test_none_is_without_any_label_and_in_quotes_the_label_of_that_name(api, who, reports, found):
    admin = api("admin")
    for name, label in (("broken", "none"), ("tools", "money")):
        body = {"verb": "label", "arguments": {"add": [label]}}
        data_of(admin.post(f"admin/feedback/{reports[name].feedback_id}/actions", body))
    assert found("label:none") == found("-has:label") == "forked plain"
    assert found('label:"none"') == found('label:"None"') == "broken"
    assert found("-label:none") == "tools broken"
    assert found('-label:"none"') == "tools forked plain"
    assert found("label:none OR label:money") == "tools forked plain"
    data_of(admin.post("admin/feedback/views", {"name": "Odd", "query": 'label:none OR label:"none"'}))
    data_of(admin.patch("admin/feedback/labels/none", {"name": "nothing"}))
    assert found("label:nothing") == "broken" and found("label:none") == "forked plain"
    assert "label:none OR label:nothing" in [each["query"] for each in data_of(admin.get("admin/feedback/views"))]
    data_of(admin.patch("admin/feedback/labels/nothing", {"name": "none"}))
    assert 'label:none OR label:"none"' in [each["query"] for each in data_of(admin.get("admin/feedback/views"))]


def test_the_beginning_of_a_choice_and_days_like_today_are_understood_by_a_bulk_too(api, who, reports, found):
    assert found("sentiment:neg") == found("sentiment:negative")
    assert found("created:today OR created:yesterday OR created:<1d") == "tools broken forked plain"
    assert found("owner:nobody") == found("owner:none")
    body = {"verb": "resolve", "query": "is:op sent:neg"}
    refused = refusal_of(api("admin").post("admin/feedback/bulk", body))
    assert refused[2].startswith("query: sent:neg — There is no field sent")


def test_a_bulk_names_its_own_field_of_what_is_not_understood(api, reports):
    answer = api("admin").post("admin/feedback/bulk", {"verb": "resolve", "query": "foo:"})
    assert refusal_of(answer)[2].startswith("query: foo: — There is no field foo")
    assert answer.json()["details"][0]["field"] == "query"


def test_only_admins_ask(who, reports):
    for person in (who.alice, who.eve):
        for ask in (
            lambda person=person: querying.matching(person.actor, querying.parse("")),
            lambda person=person: querying.completions(person.actor),
        ):
            with pytest.raises(Unauthorized):
                ask()
    with pytest.raises(InvalidRequest):
        querying.matching(who.admin.actor, querying.parse("is:"))


def test_terms_worth_offering(api, who, reports):
    digesting.digest()
    Labelled.objects.create(feedback=reports["broken"], label=label_of(who, "to check"))
    beside(who, reports["tools"], owner=who.admin.user)
    offered = {each["name"]: each for each in data_of(api("admin").get("admin/feedback/terms"))}
    assert list(offered) == list(FIELDS)
    assert all(each["help"] and each["takes"] for each in offered.values())
    assert offered["label"]["values"] == [
        {"value": "none", "term": "label:none", "count": None},
        {"value": "to check", "term": 'label:"to check"', "count": 1},
    ]
    assert {"value": "calculate", "term": "tool:calculate", "count": 1} in offered["tool"]["values"]
    assert {"value": "admin@heddle.test", "term": "owner:admin@heddle.test", "count": 1} in offered["owner"]["values"]
    assert [each["count"] for each in offered["org"]["values"]] == [3, 1]
    assert [each["value"] for each in offered["sentiment"]["values"]] == ["positive", "negative"]
    for each in offered.values():
        for value in each["values"]:
            assert querying.parse(value["term"]).problems == ()
    assert 'label:"to check"' in querying.terms(who.admin.actor)
    assert {"value": "alice@acme.test", "term": "by:alice@acme.test", "count": None} in offered["by"]["values"]
    assert "admin@heddle.test" not in str(offered["by"]), "who has rated nothing"


def test_people_and_failed_tools_are_offered_as_they_are_typed(who, reports):
    digesting.digest()
    admin = who.admin.actor
    assert querying.terms(admin, "by:ali") == ["by:alice@acme.test"]
    assert querying.terms(admin, "by:BO") == ["by:bob@acme.test"]
    assert querying.terms(admin, "by:ad") == []
    assert querying.terms(admin, "commented:ad") == ["commented:admin@heddle.test"]
    assert "failed:calculate" in querying.terms(admin, "failed:c")
    assert querying.terms(admin, "needs") == []


LINES = (
    "refund",
    "is:open -has:owner -is:snoozed",
    "tool:echo label:bug owner:bob",
    "created:<7d (has:note OR text:a)",
)


@pytest.mark.parametrize("line", LINES)
def test_a_query_asks_the_same_number_of_times_however_many_there_are(who, api, reports, line):
    label_of(who, "bug")

    def count():
        digesting.catch_up()
        with CaptureQueriesContext(connection) as captured:
            data_of(api("admin").get(f"admin/feedback?limit=100&q={quote(line)}"))
        return len(captured)

    count()
    few = count()
    thread = make.conversation(who.alice, 30, visibility="org")
    for place in range(1, 30, 2):
        make.rating(who.alice, thread, place, notes="refund")
    assert count() == few <= 12


def test_the_terms_take_the_same_number_of_queries_however_many_there_are(who, api, reports):
    def count():
        digesting.catch_up()
        with CaptureQueriesContext(connection) as captured:
            data_of(api("admin").get("admin/feedback/terms"))
        return len(captured)

    count()
    few = count()
    for name in "abcdef":
        Labelled.objects.create(feedback=reports["plain"], label=label_of(who, name))
        RatedTool.objects.create(feedback=reports["plain"], tool_name=name)
    assert count() == few <= 9


def test_triggers_are_put_in_place_by_the_next_migrate_whatever_removed_them(who, reports):
    """A table that is changed is a new one on SQLite, and a migrate that is killed puts none in place."""
    name = "feedback_report_added"
    if connection.vendor == "sqlite":
        indexing.TRIGGERS.remove(plan=[...])
    else:
        on = "AS $$ BEGIN RETURN NULL; END $$"
        with connection.cursor() as cursor:
            cursor.execute("DROP TRIGGER feedback_report_reworded ON feedback_userfeedback")
            cursor.execute(f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql {on}")
    call_command("migrate", verbosity=0)
    for name in ("tools", "plain"):
        make.rating(who.admin, reports[name].thread, reports[name].message_sequence_num, notes="Afterwards.")
    assert len(UserFeedback.objects.filter(created_by=who.admin.user)) == Undigested.objects.count() - 4 == 2
    assert querying.matching(who.admin.actor, querying.parse("by:me afterwards")).count() == 2


def test_a_rating_of_the_call_itself_knows_that_it_failed(api, who):
    """The result is in the next message, and may come after the first digest."""
    thread = make.thread(who.alice, '[[call calculate {"expression": "1/0"}]]')
    made = {make.rating(who.alice, thread, index).feedback_id for index in (1, thread.message_count - 1)}
    waiting = make.waiting(who.alice, "[[call remember {}]]", visibility="org")
    late = make.rating(who.bob, waiting, 1).feedback_id
    digesting.digest()

    def failed(tool):
        return {each["feedback_id"] for each in data_of(api("admin").get(f"admin/feedback?q=failed:{tool}"))["items"]}

    assert failed("calculate") == made and failed("remember") == set()
    [use] = pending_client_uses(waiting)
    result = {"tool_use_id": use["tool_use_id"], "tool_name": "remember", "status": "error", "output": {"error": "no"}}
    data_of(
        api("alice").post(f"threads/{waiting.thread_id}/tool-results", {"tool_results": [{**result, "runtime_ms": 1}]})
    )
    make.run_turns(waiting)
    digesting.digest()
    assert failed("remember") == {late}


@pytest.mark.parametrize("name", ["Weiß", "weiß", "weiss", "WEISS", "Élodie", "élodie weiß", "ÉLODIE"])
def test_people_are_found_by_names_in_any_case_of_any_script(api, who, name):
    User.objects.filter(pk=who.alice.user.pk).update(name="Élodie Weiß")
    make.rating(who.alice, make.thread(who.alice), 1)
    make.rating(who.bob, make.thread(who.bob), 1)
    for line, count in ((f'by:"{name}"', 1), (f'-by:"{name}"', 1), (f'by:"{name}x"', 0)):
        assert len(data_of(api("admin").get(f"admin/feedback?q={quote(line)}"))["items"]) == count, line
