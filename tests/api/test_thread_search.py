"""Searching threads by what agents answered and by the tools that were used, and the index behind it."""

from importlib import import_module
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core import fulltext, related
from tests import make
from tests.conftest import data_of, refusal_of
from tests.long_texts import CHINESE, ENGLISH, PHRASES
from threads import deleting, indexing, transcript
from threads.content import text, tool_result, tool_use
from threads.models import Message, Thread, Unindexed, UsedTool
from threads.wire import Visibility

pytestmark = pytest.mark.django_db


@pytest.fixture
def found(api):
    """The titles of the threads that a query finds, newest first."""

    def titles(line, name="alice"):
        return [item["title"] for item in data_of(api(name).get(f"threads?q={quote(line)}"))["items"]]

    return titles


def answered(who, title, *answers, **options):
    """A thread with these answers, each to a request that begins with the title."""
    said = [(("user", f"{title}\n\nPlease お願いします。"), ("assistant", each)) for each in answers]
    return make.imported(who.alice, [message for pair in said for message in pair], **options)


def indexed():
    """The row ids in the full-text index."""
    key = "rowid" if connection.vendor == "sqlite" else "message_id"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {key} FROM threads_search")  # noqa: S608
        return {pk for (pk,) in cursor.fetchall()}


ANSWERS = {
    "One": "The refund of 20\u202f€ takes five_working days; see R-12.",
    "Two": "Refunds are booked. Nothing else.",
    "Three": "Ich prüfe die Überweisung. 払い戻し 完了",
}
LINES = {
    "text:refund": ["One"],
    "text:refund*": ["Two", "One"],
    "text:REFUND": ["One"],
    'text:"five working days"': ["One"],
    'text:"working five"': [],
    'text:"takes five*"': ["One"],
    "text:r-12": ["One"],
    "text:überweisung": ["Three"],
    "text:uberweisung": ["Three"],
    "UBERW": ["Three"],
    "text:réfund": ["One"],
    "text:完了": ["Three"],
    "-text:refund": ["Three", "Two"],
    "text:booked OR text:prüfe": ["Three", "Two"],
    "refund": ["Two", "One"],
    "refun": ["Two", "One"],
    "fund": [],
    "see r-1*": ["One"],
    "1": [],
    "working d": [],
    "-refund": ["Three"],
    '"are booked"': ["Two"],
    "two booked": ["Two"],
    "tw": ["Two"],
    "please": ["Three", "Two", "One"],
    "text:please": [],
    "plea": ["Three", "Two", "One"],
    "lease": [],
    "ます": ["Three", "Two", "One"],
    "ます。": ["Three", "Two", "One"],
    "R-1": ["One"],
    "完": ["Three"],
    "戻し": ["Three"],
    "text:戻払": [],
    "text:了": ["Three"],
    "払い 完了": ["Three"],
    "€": [],
}


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("line", LINES)
def test_words_of_answers_are_found(found, who, monkeypatch, line, many):
    """Whole words next to each other; of plain words the last may go on. It is the same if they are frequent."""
    if many:
        monkeypatch.setattr(fulltext, "MANY", 1)
        monkeypatch.setattr(fulltext, "FEW", 0)
    for title, answer in ANSWERS.items():
        answered(who, title, answer)
    assert found(line) == LINES[line]


def test_an_answer_is_found_as_one_text_once_it_has_ended(found, who):
    """It is stored in fragments, which may end within a word."""
    thread = make.thread(who.alice, "Which?", run=False)
    turn = make.half_answered(thread, "It is the hippo", "potamus ", "of course")
    assert found("text:hippopotamus") == found("hippopotamus") == []
    with transcript.writing(thread.pk) as writer:
        writer.close(Message.objects.get(thread=thread, role="assistant"), "failed")
    assert turn.pk and found('text:"the hippopotamus of course"') == found("hippo") == ["Which?"]


def test_what_a_later_turn_says_is_found_as_well(found, who):
    thread = make.thread(who.alice, "First")
    assert found("First text:echo") == []
    make.send(who.alice, thread, '[[call echo {"value": 1}]] [[words 3]] Second')
    assert found("tool:echo") == ["First"]
    assert not Unindexed.objects.exists()


def test_rights_decide_as_in_every_list(api, who):
    """B28, B29: nobody finds by its words what they may not read."""
    answered(who, "Private", "A walrus.")
    answered(who, "Shared", "A walrus.", visibility=Visibility.ORG)
    for line in ("text:walrus", "walrus"):
        for name, titles in (("alice", {"Shared", "Private"}), ("bob", {"Shared"}), ("eve", set()), ("admin", set())):
            page = data_of(api(name).post("threads/search", {"q": line}))
            assert {item["title"] for item in page["items"]} == titles


def test_the_search_route_takes_the_same_query_H2(api, who):
    """And its own `query` is what the spec says: title and user text only (H2)."""
    answered(who, "Shared", "A walrus.", visibility=Visibility.ORG)
    for said, count in (("q=walrus", 1), ("q=text:walrus", 1), ("query=walrus", 0), ("query=share", 1)):
        body = dict([said.split("=")])
        assert len(data_of(api("bob").post("threads/search", body))["items"]) == count


def test_a_pasted_id_or_address_finds_its_thread(found, who):
    """But not one within other words, which are searched as they are."""
    thread, other = answered(who, "One", "A walrus."), answered(who, "Two", "A yak.")
    assert found(thread.thread_id) == found(f"https://heddle.test/threads/{thread.thread_id}/?at=3#m3") == ["One"]
    answered(who, "Three", f"See {other.thread_id} again.")
    assert found(f'"see {other.thread_id}"') == ["Three"]


def test_threads_with_small_numbers_are_indexed_again_after_the_migration(found, who, monkeypatch):
    with monkeypatch.context() as before:
        before.setattr(indexing, "plain", lambda text: text.lower())
        called = answered(who, "Two", "No such thing.")
        with transcript.writing(called.pk) as writer:
            writer.add("assistant", [tool_use("echo", "tu_1", {"value": "CO₂"})])
        kept = [answered(who, "One", "20 m² each").pk, called.pk]
        answered(who, "Three", "20 m2 each")
        assert found("text:each") == ["Three", "One"]
    import_module("threads.migrations.0016_small_numbers").index_anew(None, SimpleNamespace(connection=connection))
    assert set(Unindexed.objects.values_list("pk", flat=True)) == set(kept)
    assert found("text:m²") == ["Three", "One"] and found("call:co2") == ["Two"]


def test_tools_are_found_by_name_and_by_failure(found, who):
    make.thread(who.alice, '[[call echo {"value": 1}]] Fine')
    make.thread(who.alice, '[[call calculate {"expression": "1+"}]] [[call calculate {"expression": "1"}]] Broken')
    make.thread(who.alice, "None")
    assert found("tool:echo") == found("TOOL:Echo") == ["Fine"]
    assert found("tool:calculate") == found("failed:calculate") == ["Broken"]
    assert found("failed:echo") == found("tool:ech") == found("tool:nothing") == []
    assert found("-tool:calculate -tool:echo") == ["None"]
    assert found("tool:CALC*") == found("tool:heddle__calculate") == found("failed:heddle__c*") == ["Broken"]
    assert found("tool:*") == ["Broken", "Fine"] and found("tool:heddle__look*") == []
    assert found("tool:nosuch__*") == found("failed:nosuch__*") == [], "all tools of one server"


CALL = (
    '[[call echo {"value": {"order": "W-2378156", "lines": [{"item": "a blue kettle", "price": 12.5, "sent": true}]}}]]'
)


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("W-2378156", True),
        ("2378156", True),
        ("call:W-2378156", True),
        ("call:kettle", True),
        ('call:"blue kettle"', True),
        ('call:"kettle blue"', False),
        ("call:12.5", True),
        ("call:order", False),
        ("call:true", False),
        ("call:answered", False),
        ("-call:kettle", False),
    ],
)
def test_what_tools_were_sent_and_returned_is_found(found, who, line, is_found):
    """All values, whose names are the same in every call."""
    make.thread(who.alice, f"Answered {CALL}")
    assert found(line) == (["Answered"] if is_found else [])


def test_what_only_a_tool_returned_is_found(found, who):
    thread = make.thread(who.alice, "Look")
    with transcript.writing(thread.pk) as writer:
        writer.add("assistant", [tool_use("look", "tu_1", {})])
        writer.add("roboto", [tool_result("look", "tu_1", "error", {"error": "No ibex here"}, raw={"secret": "gnu"})])
    assert found("ibex") == found('call:"no ibex"') == ["Look"]
    assert found("text:ibex") == []
    assert found("gnu") == [], "raw payloads are not for every reader"


def test_a_result_that_comes_later_counts_for_its_tool(found, who):
    """Also if the index has seen the call before it."""
    thread = make.thread(who.alice, "Late")
    with transcript.writing(thread.pk) as writer:
        writer.add("assistant", [tool_use("look", "tu_1", {})])
    assert found("tool:look") == ["Late"] and found("failed:look") == []
    with transcript.writing(thread.pk) as writer:
        writer.add("roboto", [tool_result("look", "tu_1", "error", {"error": "no"})])
    assert found("failed:look") == ["Late"]


def test_many_hits_of_a_tool_are_found_the_other_way(found, who, monkeypatch):
    monkeypatch.setattr(related, "MANY", -1)
    make.thread(who.alice, '[[call echo {"value": 1}]] Fine')
    assert found("tool:echo") == ["Fine"]


def test_what_is_taken_back_is_not_found(found, who):
    thread = make.thread(who.alice, "Again", run=False)
    with transcript.writing(thread.pk) as writer:
        writer.add("assistant", [text("An aardvark."), tool_use("look", "tu_1", {})])
    assert found("text:aardvark") == found("tool:look") == ["Again"]
    with transcript.writing(thread.pk) as writer:
        writer.rewind(1)
        writer.add("assistant", [text("A zebra.")])
    assert found("text:aardvark") == found("tool:look") == []
    assert found("text:zebra") == ["Again"]
    assert indexed() == set(Message.objects.filter(thread=thread).values_list("pk", flat=True))


def test_a_fork_is_found_like_its_source(api, found, who):
    source = answered(who, "Source", "A walrus.", "A zebra.")
    data_of(api("alice").post(f"threads/{source.thread_id}/fork", {"message_sequence_num": 1}))
    assert len(found("text:walrus")) == 2
    assert found("text:zebra") == ["Source"]


def test_a_deleted_thread_leaves_nothing_in_the_index(found, who):
    thread = answered(who, "Gone", "A walrus.")
    kept = answered(who, "Kept", "A zebra.")
    indexing.catch_up()
    deleting.delete(who.admin.actor, thread.pk)
    assert indexed() == set(Message.objects.filter(thread=kept).values_list("pk", flat=True))
    assert not UsedTool.objects.filter(thread=thread).exists()
    deleting.delete(who.admin.actor, answered(who, "Unindexed", "A yak.", origin_id="later").pk)
    assert indexing.catch_up() == 0


def test_a_long_thread_is_indexed_in_parts(found, who, monkeypatch):
    """Each in a short transaction: SQLite has one writer, and the thread is locked meanwhile."""
    monkeypatch.setattr(indexing, "AT_ONCE", 4)
    answered(who, "Long", *(f"Number w{number}." for number in range(9)))
    assert [indexing.index() for _ in range(6)] == [4, 4, 4, 4, 2, 0]
    assert found("text:w0") == found("text:w8") == ["Long"]


def test_an_endless_answer_is_indexed_as_far_as_the_index_goes(found, who):
    """As many different words as its first characters can have, and the rest of the thread."""
    endless = " ".join(chr(0x20000 + number) for number in range(50_000))
    answered(who, "Endless", endless + " end", "A walrus.")
    assert found("text:walrus") == found(f"text:{chr(0x20000)}") == ["Endless"]
    assert found("text:end") == []
    with transcript.writing(make.thread(who.alice, "Calls").pk) as writer:
        writer.add("assistant", [tool_use("look", "tu_1", {"at": [endless, endless]})])
    assert found(f"call:{chr(0x20000)}") == ["Calls"]


def test_older_threads_are_indexed_after_the_migration(found, who):
    """As it marks them: from their first message on."""
    thread = answered(who, "Old", "A walrus.")
    indexing.catch_up()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM threads_search")
    Unindexed.objects.create(thread=thread, from_idx=0)
    assert found("text:walrus") == ["Old"]


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("language", PHRASES)
def test_a_phrase_is_found_wherever_in_a_long_text_it_is(found, who, monkeypatch, language, many):
    if many:
        monkeypatch.setattr(fulltext, "MANY", 1)
        monkeypatch.setattr(fulltext, "FEW", 0)
    long, said, unsaid = PHRASES[language]
    answered(who, "Short", "A walrus.")
    answered(who, "Long", long)
    make.imported(who.alice, [("user", f"Asked\n\n{long}"), ("assistant", "A walrus.")])
    assert found(f'text:"{said}"') == ["Long"]
    assert found(f'-text:"{said}"') == ["Asked", "Short"]
    assert found(f'"{said}"') == ["Asked", "Long"]
    assert found(f'"{unsaid}"') == found(f'text:"{unsaid}"') == []


def test_a_phrase_is_found_wherever_in_long_calls_it_is(found, who):
    with transcript.writing(make.thread(who.alice, "Calls").pk) as writer:
        writer.add("assistant", [tool_use("look", "tu_1", {"at": [CHINESE, ENGLISH]})])
    assert found('call:"the zeppelin"') == found("call:飞艇降落") == ["Calls"]
    assert found("call:降落飞艇") == []


def test_a_long_text_that_is_indexed_again_is_found_as_before(found, who):
    thread = answered(who, "Long", ENGLISH)
    indexing.catch_up()
    before = indexed()
    for _ in range(2):
        Unindexed.objects.create(thread=thread, from_idx=0)
        assert found('text:"the zeppelin"') == ["Long"]
    assert indexed() == before
    deleting.delete(who.admin.actor, thread.pk)
    assert indexed() == set()


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite's index has no limits")
@pytest.mark.parametrize("text", [ENGLISH, CHINESE], ids=["english", "chinese"])
def test_threads_with_lost_phrases_are_indexed_again_after_the_migration(found, who, text):
    long, short = answered(who, "Long", "A zeppelin.", text), answered(who, "Short", "A zeppelin.")
    indexing.catch_up()
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM threads_search WHERE piece <> 0")
        cursor.execute("ALTER TABLE threads_search DROP COLUMN piece, ADD PRIMARY KEY (message_id)")
        cursor.execute(
            "UPDATE threads_search SET document = setweight(to_tsvector('pg_catalog.simple', %s), 'A') "
            "WHERE message_id = %s",
            [fulltext.plain(text), Message.objects.filter(thread=long).latest("idx").pk],
        )
    Unindexed.objects.create(thread=short, from_idx=2)
    with connection.schema_editor() as editor:
        import_module("threads.migrations.0015_search_pieces").split(None, editor)
    assert list(Unindexed.objects.order_by("thread").values_list("thread", "from_idx")) == [(long.pk, 0), (short.pk, 2)]
    assert found('text:"the zeppelin" OR text:飞艇降落') == ["Long"]
    assert found("text:zeppelin") == ["Short", "Long"]


def test_triggers_are_put_in_place_after_a_migration(found, who):
    """A table that is changed is a new one on SQLite, and would lose them."""
    indexing.TRIGGERS.remove(plan=[...])
    indexing.TRIGGERS.install(plan=[...])
    thread = answered(who, "Gone", "A walrus.")
    indexing.catch_up()
    deleting.delete(who.admin.actor, thread.pk)
    assert indexed() == set()


@pytest.mark.parametrize(
    ("line", "reason"),
    [("text:???", "must contain a letter or a digit"), ("text:", "words"), ("tool:", "the name of a tool")],
)
def test_a_term_without_a_word_is_refused(api, line, reason):
    status, _, said = refusal_of(api("alice").get(f"threads?q={quote(line)}"))
    assert status == 400 and reason in said


@pytest.mark.parametrize("line", ["walrus", "text:walrus", "tool:echo", "failed:calculate", "walrus OR text:zebra"])
def test_more_threads_are_no_more_queries(found, who, line):
    def count():
        indexing.catch_up()
        with CaptureQueriesContext(connection) as captured:
            found(line)
        return len(captured)

    answered(who, "One", "A walrus.")
    make.thread(who.alice, '[[call echo {"value": 1}]] [[call calculate {"expression": "1+"}]] Fine')
    count()
    before = count()
    for number in range(4):
        answered(who, str(number), "A walrus and a zebra.")
        make.thread(who.alice, '[[call echo {"value": 1}]] [[call calculate {"expression": "1+"}]] Fine')
    assert count() == before <= 12


def test_the_index_is_asked_of_by_nobody_who_searches_for_something_else(found, who):
    """Lists without words neither wait for the index nor write."""
    answered(who, "One", "A walrus.")
    found("is:mine")
    assert Unindexed.objects.count() == 1


def test_generated_threads_are_indexed_like_others(found, who):
    call_command("seed_load", reports=80, org="acme", verbosity=0)
    assert not Unindexed.objects.exists()
    before = indexed(), set(UsedTool.objects.values_list("thread", "tool_name", "failed"))
    assert len(before[0]) >= 20 and before[1]
    Unindexed.objects.bulk_create(Unindexed(pk=pk, from_idx=0) for pk in Thread.objects.values_list("pk", flat=True))
    UsedTool.objects.all().delete()
    indexing.catch_up()
    assert (indexed(), set(UsedTool.objects.values_list("thread", "tool_name", "failed"))) == before
