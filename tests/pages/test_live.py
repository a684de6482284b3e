"""The live line of a thread's page: whole articles, in order, each event with the token behind it."""

import time
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.contrib.sessions.models import Session

from accounts.models import Membership
from accounts.orgs import set_policy
from core.actor import Actor
from feedback import bulk
from feedback.models import TriageChange, UserFeedback
from tests import make
from tests.pages.desk import do
from tests.pages.dom import Node, get, parsed, submit
from tests.pages.lines import Browser, Line, Listen, on_page, path, shape
from tests.people import People
from threads import reading, sharing, stream, titles, transcript, turns
from threads.content import text
from threads.models import Message, Thread
from threads.runner import loop

SUMMARY = {"goal_type": "dataset_summary", "dataset_id": "ds_1"}


def test_a_line_begins_with_what_stands_around_and_says_nothing_twice(listen: Listen, who: People) -> None:
    thread = make.thread(who.alice)
    line = listen("alice", thread)
    (head,) = line.news()
    assert (head.name, head.id) == ("head", reading.token_of(thread))
    assert {node["id"] for node in parsed(head.data).children if isinstance(node, Node)} == {
        *("bar", "head", "map", "asked", "write")
    }
    assert line.news() == []
    assert line.response["Cache-Control"] == "private, no-cache, no-transform"
    assert line.response["X-Accel-Buffering"] == "no"


def test_a_line_from_the_beginning_brings_the_whole_transcript(
    listen: Listen, browser_of: Browser, who: People
) -> None:
    thread = make.send(who.alice, make.thread(who.alice, "One"), "Two")
    line = listen("alice", thread, token="")
    assert [told.name for told in line.news()] == ["turns", "head"]
    assert shape(line.held) == on_page(browser_of("alice"), thread)


def test_an_answer_grows_in_its_own_article_and_nothing_else_is_sent(
    listen: Listen, browser_of: Browser, who: People
) -> None:
    """B90: the last words come in the same breath as the status that they led to."""
    thread = make.send(who.alice, make.thread(who.alice, "One"), "Two", run=False)
    line = listen("alice", thread)
    line.news()
    turn = make.half_answered(thread, "Half of ", "an answ")
    (told,) = line.news()
    assert (told.name, told.id) == ("turns", reading.token_of(make.fresh(thread)))
    assert list(line.held) == [3] and line.held[3].one(class_="prose").words == "Half of an answ"
    assert line.held[3].one(class_="caret")
    make.let_expire(turn)
    loop.advance(turn.pk)
    assert [told.name for told in line.news()] == ["reset", "turns", "head"]
    assert line.held[3].get("data-state") is None and line.held[3].none(class_="caret")
    assert shape(line.held) == on_page(browser_of("alice"), thread)[2:]
    assert line.news() == []


def test_no_tool_use_is_folded_under_the_eyes_of_who_reads_along(
    listen: Listen, browser_of: Browser, who: People
) -> None:
    """What has come stays where it is; a page that is opened later has it folded."""
    thread = make.thread(who.alice, '[[call calculate {"expression": "1 + 1"}]]' * 7, run=False)
    line = listen("alice", thread)
    line.news()
    make.run_turns(thread)
    line.news()
    assert line.held[1].one("details", class_="run").has("open")
    assert not get(browser_of("alice"), path(thread)).one("details", class_="run").has("open")


def test_a_goal_beside_words_that_were_read_long_ago_follows_its_turn(
    listen: Listen, browser_of: Browser, who: People
) -> None:
    thread = make.thread(who.alice, "One", run=False, goals=[SUMMARY])
    line = listen("alice", thread)
    line.news()
    make.run_turns(thread)
    line.news()
    assert "achieved" in line.held[0].one("section", class_="margin").words
    assert shape(line.held) == on_page(browser_of("alice"), thread)


def test_the_head_keeps_the_way_back_to_the_search(listen: Listen, who: People) -> None:
    """Also where two readers see the same, but came from different searches."""
    thread = make.thread(who.alice, "A pump")
    for asked, leads_to in (("pump & <b>", "/threads/?q=pump+%26+%3Cb%3E"), ("", "/threads/")):
        (head,) = listen("alice", thread, asked=asked).news()
        back = parsed(head.data).id("bar").one("nav", class_="crumbs").one("a")["href"]
        assert back == f"{leads_to}#t-{thread.thread_id}"


def test_the_head_follows_the_thread(listen: Listen, who: People) -> None:
    thread = make.thread(who.alice, "One")
    line = listen("alice", thread)
    line.news()
    titles.retitle(who.alice.actor, make.fresh(thread), "Another name")
    (told,) = line.news()
    assert (told.name, parsed(told.data).one("h1").words) == ("head", "Another name")
    make.send(who.alice, thread, "Two", run=False, goals=[SUMMARY])
    head = line.news()[-1]
    assert parsed(head.data).id("status")["data-status"] == "roboto_turn"
    assert parsed(head.data).id("send").has("disabled")
    assert "0 of 1 achieved" in parsed(head.data).id("head").words
    make.run_turns(thread)
    *_, head = line.news()
    assert "1 of 1 achieved" in parsed(head.data).id("head").words
    assert not parsed(head.data).id("send").has("disabled")


@pytest.mark.parametrize("words", ["And then?", "[[fail]]"])
def test_a_turn_that_came_and_went_between_two_looks_is_told_in_the_head(
    listen: Listen, browser_of: Browser, who: People, words: str
) -> None:
    """The status is what it was, and how the turn ended, how many messages there are and what the map shows is not."""
    thread = make.thread(who.alice, "One")
    line = listen("alice", thread)
    line.news()
    make.send(who.alice, thread, words)
    told = line.news()
    assert [each.name for each in told] == ["turns", "head"]
    page = get(browser_of("alice"), path(thread))
    for name in ("head", "map"):
        live = next(node for node in parsed(told[-1].data).children if isinstance(node, Node) and node["id"] == name)
        assert live.words == page.id(name).words


def test_a_reply_from_before_the_line_began_or_beside_an_answer_is_on_it(listen: Listen, who: People) -> None:
    """The page may have been made before it, or its line may have been down; and nothing waits for the next look."""
    thread = make.conversation(who.bob, 4, visibility="org")
    make.rating(who.alice, thread, 1)
    report = UserFeedback.objects.get()
    token = reading.token_of(make.fresh(thread))
    do(who.admin, report, "reply", public_reply="It was the tool.")
    line = listen("alice", thread, token)
    assert "It was the tool." in "".join(told.data for told in line.news() if told.name == "marks")
    assert line.news() == []
    do(who.admin, report, "reply", public_reply="And the model.")
    titles.retitle(who.bob.actor, make.fresh(thread), "Another one")
    told = line.news()
    assert any("Another one" in each.data for each in told)
    assert any("And the model." in each.data for each in told)


def test_a_reply_that_was_taken_back_goes_from_the_page(listen: Listen, who: People) -> None:
    thread = make.conversation(who.bob, 4, visibility="org")
    make.rating(who.alice, thread, 1)
    report = UserFeedback.objects.get()
    do(who.admin, report, "reply", public_reply="Wrong person.")
    line = listen("alice", thread, reading.token_of(make.fresh(thread)))
    assert "Wrong person." in "".join(told.data for told in line.news())
    bulk.undo(who.admin.actor, TriageChange.objects.get().action)
    [marks] = line.news()
    assert marks.name == "marks" and parsed(marks.data).id("mark-1") and "Wrong person." not in marks.data
    assert line.news() == []


def test_a_reply_that_the_page_shows_is_no_news(browser_of: Browser, listen: Listen, who: People) -> None:
    """Not when its line begins, nor when it begins again; a later one is."""
    thread = make.conversation(who.bob, 4, visibility="org")
    make.rating(who.alice, thread, 1)
    report = UserFeedback.objects.get()
    assert "told=" not in get(browser_of("alice"), path(thread)).id("talk")["data-live"]
    do(who.admin, report, "reply", public_reply="It was the tool.")
    address = get(browser_of("alice"), path(thread)).id("talk")["data-live"]
    shown = dict(parse_qsl(urlsplit(address).query))["told"]
    for told in (shown, shown, "", "yesterday", "2026-01-01"):
        line = listen("alice", thread, told=told)
        assert ["It was the tool." in each.data for each in line.news()].count(True) == (told != shown)
    do(who.admin, report, "reply", public_reply="And the model.")
    assert any("And the model." in each.data for each in listen("alice", thread, told=shown).news())


def test_everybody_gets_the_doors_that_are_theirs(listen: Listen, who: People) -> None:
    thread = make.thread(who.alice, "One", visibility="org")
    owner, colleague = listen("alice", thread), listen("bob", thread)
    owner.news(), colleague.news()
    make.send(who.alice, thread, "Two", run=False)
    heads = [parsed(line.news()[-1].data) for line in (owner, colleague)]
    assert heads[0].id("cancel") and heads[1].none(id="cancel") and heads[1].none("textarea")
    make.run_turns(thread)
    for line in (owner, colleague):
        line.news()
    assert owner.held[3].one("button", form="fork") and colleague.held[3].none("button", form="fork")
    assert colleague.held[3].one(class_="msg-acts").all("a")
    set_policy("acme", "members_may_fork", True)
    make.send(who.alice, thread, "Three")
    colleague.news()
    assert colleague.held[5].one("button", form="fork")


def test_a_line_that_breaks_goes_on_where_it_was(listen: Listen, browser_of: Browser, who: People) -> None:
    """B85, B86: at every event the rest follows from its id, and any way of cutting ends with the same page."""
    thread = make.thread(who.alice, "One")
    steady, broken = listen("alice", thread, token=""), listen("alice", thread, token="")

    def cut() -> None:
        nonlocal broken
        broken.news()
        broken.close()
        held, token = broken.held, broken.token
        # The page's own token stays in the address; what the browser saw last is in the header, and wins.
        broken = listen("alice", thread, token="", **{"Last-Event-ID": token})
        broken.held = held

    cut()
    thread = make.send(who.alice, thread, "[[call remember {}]]", client_tools=[make.client_tool()])
    steady.news()
    cut()
    assert thread.status == "client_tool_turn"
    for said in ("And ", "more."):
        with transcript.writing(thread.pk) as writer:
            writer.extend(Message.objects.filter(thread=thread).latest("idx"), [text(said)])
        cut()
    with transcript.writing(thread.pk) as writer:
        writer.rewind(writer.thread.message_count - 2)
    cut()
    turns.cancel(who.alice.actor, make.fresh(thread))
    steady.news()
    broken.news()
    assert shape(broken.held) == shape(steady.held) == on_page(browser_of("alice"), thread)


def test_what_was_taken_back_is_dropped_from_an_article_that_stays(
    listen: Listen, browser_of: Browser, who: People
) -> None:
    """B93: an article that began before the place of a rewind is drawn anew without what was dropped."""
    thread = make.thread(who.alice, '[[call calculate {"expression": "1"}]]')
    assert thread.message_count == 4
    line = listen("alice", thread, token="")
    line.news()
    assert line.held[1].one(class_="prose")
    with transcript.writing(thread.pk) as writer:
        writer.rewind(3)
    told = line.news()
    assert [each.name for each in told] == ["reset", "turns", "head"] and told[0].data == "3"
    assert line.held[1].none(class_="prose") and line.held[1].one("details", class_="call")
    assert shape(line.held) == on_page(browser_of("alice"), thread)


def test_a_page_newer_than_a_restored_database_begins_anew(listen: Listen, browser_of: Browser, who: People) -> None:
    """Spec 4.4: a token that cannot be served any more."""
    thread = make.thread(who.alice, "One")
    line = listen("alice", thread, token=reading.token_of(thread, 10_000))
    told = line.news()
    assert [each.name for each in told] == ["reset", "turns", "head"] and told[0].data == "0"
    assert shape(line.held) == on_page(browser_of("alice"), thread)
    assert told[-1].id == reading.token_of(thread)


def test_a_token_that_was_made_up_ends_the_attempts(browser_of: Browser, who: People) -> None:
    """B94: 204 tells a browser's EventSource to stop."""
    thread, other = make.thread(who.alice), make.thread(who.alice)
    client = browser_of("alice")
    for token in ("x", "v1.x.1", reading.token_of(other), "v1." + "9" * 300):
        assert client.get(f"{path(thread)}live/", {"token": token}).status_code == 204
        answer = client.get(f"{path(thread)}live/", headers={"Last-Event-ID": token})
        assert answer.status_code == 204


def gone(line: Line) -> bool:
    told = line.news()
    return [each.name for each in told] == ["gone"] and line.news() == []


def test_a_reader_who_loses_the_right_is_told_and_gets_nothing_more(listen: Listen, who: People) -> None:
    """B146: at once."""
    set_policy("acme", "visibility_may_change", True)
    thread = make.thread(who.alice, "One", visibility="org")
    line, owner = listen("bob", thread), listen("alice", thread)
    line.news(), owner.news()
    sharing.set_visibility(who.alice.actor, thread, "private")
    make.send(who.alice, thread, "Only for me")
    assert gone(line)
    assert [told.name for told in owner.news()] == ["turns", "head"]


def test_what_is_said_after_the_right_was_taken_away_reaches_nobody_who_was_just_looking_up(
    listen: Listen, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B146: the right is looked at in the same snapshot as the words."""
    set_policy("acme", "visibility_may_change", True)
    thread = make.thread(who.alice, "One", visibility="org")
    line = listen("bob", thread)
    line.news()

    def late(actor: Actor, thread_id: str) -> Thread:
        found = make.fresh(thread)
        sharing.set_visibility(who.alice.actor, make.fresh(thread), "private")
        make.send(who.alice, thread, "Only for me")
        return found

    titles.retitle(who.alice.actor, make.fresh(thread), "Something to look up")
    monkeypatch.setattr(stream, "thread_for", late)
    assert gone(line)


@pytest.mark.parametrize("how", ["left the org", "was deactivated", "signed out", "changed the password"])
def test_a_reader_who_is_out_loses_the_line_in_the_next_quiet_moment(
    listen: Listen, browser_of: Browser, who: People, how: str
) -> None:
    thread = make.thread(who.alice, "One", visibility="org")
    client = browser_of("bob")
    line = listen("bob", thread, client=client)
    line.news()
    assert line.news() == []
    match how:
        case "left the org":
            Membership.objects.filter(user=who.bob.user).delete()
        case "was deactivated":
            type(who.bob.user).objects.filter(pk=who.bob.user.pk).update(is_active=False)
        case "signed out":
            client.post("/signout/")
            assert not Session.objects.exists()
        case "changed the password":
            who.bob.user.set_password("another-password")
            who.bob.user.save()
    assert gone(line)


@pytest.mark.parametrize("how", ["left the org", "was deactivated"])
def test_a_reader_who_is_out_loses_a_line_that_never_has_a_quiet_moment(
    listen: Listen, who: People, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """B146: a thread that is being written to is read to its end by nobody who was put out meanwhile."""
    thread = make.thread(who.alice, "One", visibility="org")
    line = listen("bob", thread)
    line.news()
    later = time.monotonic() + stream.ASKED_AGAIN_SECONDS + 1
    monkeypatch.setattr(stream, "monotonic", lambda: later)
    titles.retitle(who.alice.actor, make.fresh(thread), "Another name")
    if how == "left the org":
        Membership.objects.filter(user=who.bob.user).delete()
    else:
        type(who.bob.user).objects.filter(pk=who.bob.user.pk).update(is_active=False)
    assert gone(line)


def test_a_thread_that_was_deleted_is_gone(listen: Listen, who: People) -> None:
    thread = make.thread(who.alice, "One")
    line = listen("alice", thread)
    line.news()
    Thread.objects.filter(pk=thread.pk).delete()
    assert gone(line)


def test_the_line_is_for_readers_only(browser_of: Browser, who: People) -> None:
    """B95."""
    thread = make.thread(who.alice, "One")
    live = f"{path(thread)}live/"
    assert browser_of("bob").get(live).status_code == 403
    assert browser_of("eve").get(live).status_code == 403
    assert browser_of(None).get(live)["Location"].startswith("/signin/")
    assert browser_of("alice").get("/threads/ags_nothing/live/").status_code == 404
    assert browser_of("alice").post(live).status_code == 405


def test_any_text_survives_the_line(listen: Listen, browser_of: Browser, who: People) -> None:
    """Line ends, blank lines and what looks like another event are data like any other."""
    hostile = "a\r\nb\rc\n\nevent: gone\ndata: x\n\nid: 1\n: y\x0b\x85\u2028z <script>alert(1)</script>"
    thread = make.thread(who.alice, hostile, run=False)
    line = listen("alice", thread, token="")
    assert [told.name for told in line.news()] == ["turns", "head"]
    assert shape(line.held) == on_page(browser_of("alice"), thread)
    assert line.held[0].none("script") and "event: gone" in line.held[0].words


def test_a_turn_that_is_stopped_while_it_is_written_looks_stopped(listen: Listen, who: People) -> None:
    """B162: not like an error."""
    thread = make.thread(who.alice, "One", run=False)
    line = listen("alice", thread, token="")
    make.half_answered(thread, "Half")
    line.news()
    turns.cancel(who.alice.actor, make.fresh(thread))
    line.news()
    assert line.held[1]["data-state"] == "cancelled" and line.held[1].one(class_="fault")["data-tone"] == "warn"


def test_a_turn_that_is_stopped_while_a_reader_looks_up_is_told_as_stopped(
    listen: Listen, who: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B90: status and outcome are of one moment, or the head would say Idle and never be put right."""
    thread = make.thread(who.alice, "One", run=False)
    line = listen("alice", thread)
    line.news()

    def late(actor: Actor, thread_id: str) -> Thread:
        found = make.fresh(thread)
        turns.cancel(who.alice.actor, make.fresh(thread))
        return found

    monkeypatch.setattr(stream, "thread_for", late)
    make.half_answered(thread, "Half")
    assert parsed(line.news()[-1].data).id("status").words == "Cancelled"


def test_forms_for_client_tools_come_and_go_with_what_waits(listen: Listen, browser_of: Browser, who: People) -> None:
    """T5: after a partial answer, given anywhere, an open page asks for what is left; after the last one, nothing."""
    calls = "[[call remember {}]] [[call recall {}]]"
    thread = make.waiting(who.alice, calls, make.client_tool(), make.client_tool("recall"))
    line, client = listen("alice", thread), browser_of("alice")

    def asked() -> list[list[str]]:
        heads = [parsed(told.data) for told in line.news() if told.name == "head"]
        return [[form.one("code").words for form in head.all("form", class_="ask")] for head in heads]

    def answer() -> None:
        submit(client, get(client, path(thread)).all("form", class_="ask")[0], "success", output="x")

    assert asked() == [["remember", "recall"]]
    assert asked() == []
    answer()
    assert asked() == [["recall"]]
    answer()
    assert asked() == [[]]
