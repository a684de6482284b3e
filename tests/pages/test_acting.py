"""What is done from a thread's page: send, stop, fork, pin, share, rename. Each is a plain form first."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from accounts.orgs import add_member, set_policy
from feedback.models import UserFeedback
from tests import make
from tests.conftest import data_of
from tests.pages.dom import Node, dom, get, submit, then
from tests.people import People
from threads import forks, reading
from threads.content import BlockDict
from threads.models import Goal, Message, Pin, Thread, Turn

Browser = Callable[[str | None], Client]
ROUTES = ("send", "again", "cancel", "fork", "pin", "visibility", "title")


def path(thread: Thread, route: str = "") -> str:
    return f"/threads/{thread.thread_id}/" + (f"{route}/" if route else "")


def form(page: Node, thread: Thread, route: str) -> Node:
    return page.one("form", action=path(thread, route))


def test_sending_comes_back_to_the_thread_with_the_message_in_it(browser_of: Browser, who: People) -> None:
    """T4, B50: without scripts; the status has flipped when the page comes back."""
    thread, client = make.thread(who.alice, "One"), browser_of("alice")
    answer = submit(client, get(client, path(thread)).id("write"), text="Two\r\nlines")
    assert (answer.status_code, answer["Location"]) == (302, f"{path(thread)}#write")
    page = get(client, path(thread))
    assert page.id("m2").one(class_="written").text == "Two\nlines"
    assert page.id("status")["data-status"] == "roboto_turn"
    assert page.id("say").text == ""
    make.run_turns(thread)
    assert get(client, path(thread)).id("m3")["data-voice"] == "agent"


def test_sending_by_htmx_brings_what_the_page_puts_in_place(browser_of: Browser, who: People) -> None:
    thread, client = make.thread(who.alice, "One"), browser_of("alice")
    write = get(client, path(thread)).id("write")
    assert (write["hx-select"], write["hx-select-oob"]) == ("#write", "#bar")
    answer = client.post(write["hx-post"], {"text": "Two"}, headers={"HX-Request": "true"}, follow=True)
    page = dom(answer)
    assert page.id("write") and page.id("bar")


@pytest.mark.parametrize("text", ["", " \r\n\t ", "a\x00b", "y" * 1_000_001])
def test_what_cannot_be_sent_stays_in_the_field(browser_of: Browser, who: People, text: str) -> None:
    """B41."""
    thread, client = make.thread(who.alice, "One"), browser_of("alice")
    page = dom(client.post(path(thread, "send"), {"text": text}), 400)
    assert page.id("say").text == text
    assert page.id("say")["aria-describedby"] == "say-wrong" and page.id("say-wrong").words
    assert make.fresh(thread).message_count == 2


def test_writing_while_the_agent_has_the_word_keeps_what_was_typed(browser_of: Browser, who: People) -> None:
    """B43."""
    thread, client = make.thread(who.alice, "One", run=False), browser_of("alice")
    page = dom(client.post(path(thread, "send"), {"text": "Too early"}), 400)
    assert page.id("say").text == "Too early"
    assert page.id("say-wrong").words == "The agent is still answering."
    assert Message.objects.filter(thread=thread).count() == 1


def test_stopping_ends_the_turn_and_is_harmless_afterwards(browser_of: Browser, who: People) -> None:
    """H3, B162."""
    thread, client = make.thread(who.alice, "One", run=False), browser_of("alice")
    button = get(client, path(thread)).id("cancel")
    assert client.post(button["formaction"])["Location"] == path(thread)
    assert make.fresh(thread).status == "user_turn"
    assert Turn.objects.get(thread=thread).state == "cancelled"
    assert client.post(button["formaction"])["Location"] == path(thread)
    assert make.fresh(thread).message_count == 2
    assert not get(client, path(thread)).id("send").has("disabled")


def test_a_fork_at_tool_uses_has_the_results_that_the_page_shows_with_them(browser_of: Browser, who: People) -> None:
    """Else its calls would be without result, and its next turn would close them as unanswered."""
    calls = '[[call calculate {"expression": "1+1"}]] [[call calculate {"expression": "2+2"}]] How much?'
    thread, client = make.thread(who.alice, calls), browser_of("alice")
    fork = path(thread) + "fork/"
    assert [message.role for message in Message.objects.filter(thread=thread).order_by("idx")][:3] == [
        "user",
        "assistant",
        "roboto",
    ]
    for at, count in (("1", 3), ("2", 3), ("0", 1), (str(thread.message_count - 1), thread.message_count)):
        assert client.post(fork, {"message_sequence_num": at})["Location"].endswith(f"?write#m{at}")
        assert Thread.objects.latest("pk").message_count == count
    assert client.post(fork, {"message_sequence_num": "9" * 30}).status_code == 400
    client.post(fork, {"message_sequence_num": "1"})
    forked = Thread.objects.latest("pk")
    page = get(client, path(make.send(who.alice, forked, "And now?")))
    assert "without its tool use" not in page.id("talk").words and "no result" not in page.id("talk").words


def test_forking_at_a_message_goes_to_the_fork(browser_of: Browser, who: People) -> None:
    """T6, B134 to B136."""
    thread = make.send(who.alice, make.thread(who.alice, "One", visibility="org"), "Two")
    client = browser_of("alice")
    page = get(client, path(thread))
    button = page.id("m1").one("button", form="fork")
    answer = client.post(page.id("fork")["action"], {button["name"]: button["value"]})
    forked = Thread.objects.latest("pk")
    assert answer["Location"] == f"{path(forked)}?write#m1"
    assert (forked.message_count, forked.visibility, forked.created_by) == (2, "private", who.alice.user)
    there = get(client, answer["Location"])
    assert there.id("say").has("data-focus") and not get(client, path(forked)).id("say").has("autofocus")
    assert "This private fork is yours" in there.id("notes").words
    assert "from One, message 1" in there.id("head").words


@pytest.mark.parametrize("number", ["", "-1", "2", "x", "1.0", "²", "9" * 30, "9" * 5000])
def test_forking_nowhere_is_refused(browser_of: Browser, who: People, number: str) -> None:
    """B139."""
    thread = make.thread(who.alice, "One")
    page = dom(browser_of("alice").post(path(thread, "fork"), {"message_sequence_num": number}), 400)
    assert "message_sequence_num" in page.one("main").words
    assert Thread.objects.count() == 1


def test_pinning_is_ones_own_and_can_be_taken_back(browser_of: Browser, who: People) -> None:
    """T9, B147."""
    thread = make.thread(who.alice, "One", visibility="org")
    for name in ("alice", "bob"):
        client = browser_of(name)
        pin = form(get(client, path(thread)), thread, "pin")
        assert pin.one("button").words == "Pin to top"
        submit(client, pin)
        submit(client, pin)
    assert Pin.objects.filter(thread=thread).count() == 2
    client = browser_of("bob")
    unpin = form(get(client, path(thread)), thread, "pin")
    assert unpin.one("button").words == "Unpin"
    submit(client, unpin)
    assert Pin.objects.get(thread=thread).user == who.alice.user


def test_sharing_and_closing_again(browser_of: Browser, who: People) -> None:
    """T8, B144, B146: where the org allows it."""
    set_policy("acme", "visibility_may_change", True)
    thread, client = make.thread(who.alice, "One"), browser_of("alice")
    share = form(get(client, path(thread)), thread, "visibility")
    assert share.one("button").words == "Share with acme"
    submit(client, share)
    get(browser_of("bob"), path(thread))
    submit(client, form(get(client, path(thread)), thread, "visibility"))
    get(browser_of("bob"), path(thread), 403)


def test_sharing_where_the_org_does_not_allow_it_is_refused(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice, "One")
    dom(browser_of("alice").post(path(thread, "visibility"), {"visibility": "org"}), 403)
    assert make.fresh(thread).visibility == "private"
    set_policy("acme", "visibility_may_change", True)
    dom(browser_of("alice").post(path(thread, "visibility"), {"visibility": "public"}), 400)


def test_renaming(browser_of: Browser, who: People) -> None:
    """H11."""
    thread, client = make.thread(who.alice, "One"), browser_of("alice")
    rename = form(get(client, path(thread)), thread, "title")
    assert rename.id("title")["value"] == "One"
    submit(client, rename, title="  Another name ")
    assert get(client, path(thread)).one("h1").words == "Another name"
    assert get(client, path(thread)).one("head").one("title").words == "Another name · Heddle"


@pytest.mark.parametrize("given", ["", "   ", "x" * 201, "a\x00b"])
def test_a_title_that_is_none_leaves_the_page_and_says_so(browser_of: Browser, who: People, given: str) -> None:
    thread, client = make.thread(who.alice, "One"), browser_of("alice")
    page = dom(client.post(path(thread, "title"), {"title": given}, follow=True))
    assert page.id("head").one("h1").words == make.fresh(thread).title == "One"
    assert "The title stays as it was. It must" in page.id("notes").words or "NUL" in page.id("notes").words


@pytest.mark.parametrize("route", ROUTES)
def test_acting_needs_the_right_and_a_post(browser_of: Browser, who: People, route: str) -> None:
    """B42, B141, B145: colleagues, strangers and people who are not signed in change nothing, nor does a link."""
    set_policy("acme", "visibility_may_change", True)
    thread = make.thread(who.alice, "One", visibility="org")
    body = {"text": "x", "message_sequence_num": "1", "pinned": "true", "visibility": "private", "title": "x"}
    before = Thread.objects.values().get()
    allowed = {"bob": {"pin"}, "admin": {"pin", "fork"}, "eve": set()}
    for name in allowed:
        answer = browser_of(name).post(path(thread, route), body)
        assert answer.status_code == (302 if route in allowed[name] else 403), (name, route)
    assert browser_of(None).post(path(thread, route), body)["Location"].startswith("/signin/")
    assert browser_of("alice").get(path(thread, route))["Location"] == path(thread)
    assert Thread.objects.values().get(pk=thread.pk) == before


@pytest.mark.parametrize("route", ROUTES)
def test_acting_from_another_site_is_refused(who: People, route: str) -> None:
    thread = make.thread(who.alice, "One")
    client = Client(enforce_csrf_checks=True)
    client.force_login(who.alice.user)
    page = get(client, path(thread))
    token = page.id("write").fields()["csrfmiddlewaretoken"][0]
    body = {"text": "x", "message_sequence_num": "1", "pinned": "true", "title": "x", "csrfmiddlewaretoken": token}
    dom(client.post(path(thread, route), {**body, "csrfmiddlewaretoken": "x" * 64}), 403)
    foreign = client.post(path(thread, route), body, headers={"Origin": "https://elsewhere.example"})
    dom(foreign, 403)
    assert Thread.objects.count() == 1 and make.fresh(thread).message_count == 2 and not Pin.objects.exists()
    assert client.post(path(thread, route), body).status_code in (302, 400, 403)


def test_acting_on_a_thread_of_another_surface_is_refused(browser_of: Browser, who: People) -> None:
    """B161: adding is refused, the rest stays open."""
    thread = make.thread(who.alice, "One")
    Thread.objects.filter(pk=thread.pk).update(origin="slack")
    client = browser_of("alice")
    assert "Add to it there" in dom(client.post(path(thread, "send"), {"text": "x"}), 403).one("main").words
    assert client.post(path(thread, "fork"), {"message_sequence_num": "1"}).status_code == 302
    assert client.post(path(thread, "cancel")).status_code == 302


def test_the_notes_of_an_action_are_said_once(browser_of: Browser, who: People) -> None:
    thread, client = make.thread(who.alice, "One"), browser_of("alice")
    answer = client.post(path(thread, "fork"), {"message_sequence_num": "1"})
    assert not get(client, answer["Location"]).none(id="notes")
    assert get(client, answer["Location"]).none(id="notes")
    assert not UserFeedback.objects.exists()


@pytest.mark.parametrize("text", ["Hello [[fail]]", "[[refuse-goals]]"])
def test_a_turn_that_failed_is_answered_again_and_what_was_there_stays(
    browser_of: Browser, who: People, text: str
) -> None:
    summary = {"goal_type": "dataset_summary", "dataset_id": "ds_1"}
    thread = make.thread(who.alice, text, goals=[summary], client_context={"view_ids": ["vw_1"]})
    client, before = browser_of("alice"), on_record(thread)
    page = get(client, path(thread))
    form = page.id("asked")
    assert form.one("button").words == "Retry" and form["hx-post"] == form["action"]
    assert submit(client, form)["Location"] == path(thread)
    make.run_turns(thread)
    after = on_record(thread)
    assert after[: len(before)] == before
    assert after[len(before)] == before[0], "the same words and context"
    goals = Goal.objects.filter(thread=thread)
    assert [goal.message_sequence_num for goal in goals] == [0, len(before)]
    assert make.fresh(thread).goal_count == 2


def test_a_turn_that_was_stopped_is_answered_again_once(browser_of: Browser, who: People) -> None:
    """Pressing twice sends once, and a turn that did not fail is nothing to repeat."""
    thread = make.thread(who.alice, "Hello", run=False)
    client = browser_of("alice")
    client.post(path(thread) + "cancel/")
    form = get(client, path(thread)).id("asked")
    for _ in range(2):
        assert submit(client, form).status_code == 302
    assert [role for role, _ in on_record(thread)].count("user") == 2
    make.run_turns(thread)
    page = get(client, path(thread))
    assert page.id("status").words == "Idle" and page.id("asked").none("button")
    assert client.post(path(thread) + "again/").status_code == 302
    assert [role for role, _ in on_record(thread)].count("user") == 2


def test_an_answer_is_run_again_in_a_fork_before_it(browser_of: Browser, who: People) -> None:
    """The same words to the same agent, so that the two answers stand side by side."""
    summary = {"goal_type": "dataset_summary", "dataset_id": "ds_1"}
    thread = make.send(who.alice, make.thread(who.alice, "Hello", visibility="org"), "Sum it up", goals=[summary])
    asked, last = 2, make.fresh(thread).message_count - 1
    client = browser_of("alice")
    answer = client.post(path(thread, "rerun"), {"message_sequence_num": str(last)})
    fork = Thread.objects.get(forked_from=thread)
    assert answer["Location"] == f"{path(fork)}#m{asked}" and fork.forked_from_message_sequence_num == asked
    assert fork.status == "roboto_turn"
    assert "The same request is being rerun." in get(client, path(fork)).words
    make.run_turns(fork)
    before, after = on_record(thread), on_record(fork)
    assert after[: asked + 1] == before[: asked + 1]
    assert len(after) == len(before) and after[asked + 1][0] == "assistant"
    assert [goal.status for goal in Goal.objects.filter(thread=fork)][-1] == "achieved"
    assert "Same answer" in get(client, path(fork, "compare")).words


def test_an_answer_is_run_again_with_another_prompt(browser_of: Browser, who: People) -> None:
    """The form has what the answer had; the comparison shows what was changed."""
    thread = make.thread(who.alice, "How many?", visibility="org", system_prompt="Be <b>brief</b>.\n  Always.")
    client, last = browser_of("alice"), make.fresh(thread).message_count - 1
    page = get(client, path(thread, "rerun") + f"?message_sequence_num={last}")
    assert page.id("system_prompt").text == thread.system_prompt and "How many?" in page.words
    form = page.one("form", action=path(thread, "rerun"))
    submit(client, form)
    submit(client, form, system_prompt="Be long.\r\nAlways.", model_profile="simulated")
    same, other = Thread.objects.filter(forked_from=thread).order_by("pk")
    assert (same.system_prompt, other.system_prompt) == (thread.system_prompt, "Be long.\nAlways.")
    make.run_turns()
    compared = get(client, path(other, "compare")).words
    assert "System prompt" in compared and "Be long." in compared
    assert "System prompt" not in get(client, path(same, "compare")).words
    refused = submit(client, form, system_prompt="Kept.", model_profile="gone")
    assert refused.status_code == 400 and dom(refused, 400).id("system_prompt").text == "Kept."
    assert Thread.objects.filter(forked_from=thread).count() == 2


def test_the_prompt_that_the_agent_has_now_is_offered(
    api: Callable[..., Any], browser_of: Browser, who: People
) -> None:
    template = {"messages": [make.say("Hello")], "system_prompt": "Be brief to {{name}}."}
    body = {"name": "teller", "request_template": template, "variables": [{"name": "name"}]}
    agent = data_of(api("alice").post("agents", body))
    made = data_of(api("alice").post(f"agents/{agent['agent_id']}/launch", {"values": {"name": "Ann"}}))
    thread, client = Thread.objects.by_public_id(made["thread_id"]).get(), browser_of("alice")
    make.run_turns(thread)
    form = path(thread, "rerun")
    assert "has another one now" not in get(client, form).words
    template["system_prompt"] = "Be kind to {{name}}."
    data_of(api("alice").put(f"agents/{agent['agent_id']}", {"request_template": template}))
    page = get(client, form)
    assert page.id("system_prompt").text == "Be brief to Ann."
    [link] = [each["href"] for each in page.all("a") if "prompt=latest" in each["href"]]
    assert get(client, form + link).id("system_prompt").text == "Be kind to Ann."
    Thread.objects.update(launch_values=None)  # as before they were kept
    page = get(client, form + link)
    assert page.id("system_prompt").text == "Be brief to Ann." and "needs a value for name" in page.words
    data_of(api("alice").request("DELETE", f"agents/{agent['agent_id']}"))
    assert get(client, form + link).id("system_prompt").text == "Be brief to Ann."


def test_nothing_is_run_again_where_nobody_asked(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice, "Hello")
    answer = browser_of("alice").post(path(thread, "rerun"), {"message_sequence_num": "-1"})
    assert answer.status_code == 400 and not Thread.objects.exclude(pk=thread.pk).exists()


def test_a_request_that_came_without_its_answer_is_answered_once(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice, "Hello")
    forks.fork(who.alice.actor, thread, 0)
    fork, client = Thread.objects.get(forked_from=thread), browser_of("alice")
    form = get(client, path(fork)).id("asked")
    assert form.one("button").words == "Get an answer"
    for _ in range(2):
        assert submit(client, form).status_code == 302
    make.run_turns(fork)
    assert [role for role, _ in on_record(fork)] == ["user", "assistant"]
    assert get(client, path(fork)).id("asked").none("button")


def test_only_who_may_send_is_offered_another_answer(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice, "[[fail]]", visibility="org")
    for name in ("bob", "admin"):
        assert get(browser_of(name), path(thread)).id("asked").none("button")
    assert browser_of("bob").post(path(thread) + "again/").status_code == 403


def on_record(thread: Thread) -> list[tuple[str, list[BlockDict]]]:
    """What a thread says, message by message."""
    return [(each.role, each.blocks) for each in reading.snapshots(thread.pk)]


def test_a_request_is_changed_and_sent_again_in_a_fork_before_it(browser_of: Browser, who: People) -> None:
    thread, client = make.thread(who.alice, "One"), browser_of("alice")
    thread = make.send(who.alice, thread, "Two  words\n\nof <b>mine</b>")
    edit = get(client, path(thread)).id("m2").one("button", name="message_sequence_num")
    assert (edit["form"], edit["value"], edit["formaction"]) == ("fork", "2", f"{path(thread, 'fork')}?edit")
    answer = client.post(edit["formaction"], {"message_sequence_num": "2"})
    made = Thread.objects.exclude(pk=thread.pk).get()
    assert answer["Location"] == f"{path(made)}?write&edit"
    assert (made.forked_from_message_sequence_num, made.message_count) == (1, 2)
    page = get(client, answer["Location"])
    assert page.id("say").text == "Two  words\n\nof <b>mine</b>"
    submit(client, page.id("write"), text="Two other words")
    assert get(client, answer["Location"]).id("say").text == "", "it was sent"
    make.run_turns()
    assert get(client, path(made)).id("m2").one(class_="written").text == "Two other words"
    assert make.fresh(thread).message_count == 4


def test_what_a_thread_begins_with_is_changed_in_a_new_one(browser_of: Browser, who: People) -> None:
    thread, client = make.thread(who.alice, "One"), browser_of("alice")
    Thread.objects.filter(pk=thread.pk).update(system_prompt="Be brief.\nBe kind.")
    edit = get(client, path(thread)).id("m0").one("button", name="message_sequence_num")
    answer = client.post(edit["formaction"], {"message_sequence_num": "0"})
    assert answer["Location"] == f"/threads/start/?like={thread.thread_id}"
    page = get(client, answer["Location"])
    assert (page.id("text").text, page.id("system_prompt").text) == ("One", "Be brief.\nBe kind.")
    submit(client, page.one("form", action="/threads/start/"), text="One more")
    made = Thread.objects.exclude(pk=thread.pk).get()
    assert (made.title, made.system_prompt, made.forked_from) == ("One more", "Be brief.\nBe kind.", None)


def test_only_who_may_fork_is_offered_to_change_a_request(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice, "One", visibility="org")
    assert not get(browser_of("bob"), path(thread)).id("m0").all("button", name="message_sequence_num")
    assert browser_of("bob").post(path(thread, "fork") + "?edit", {"message_sequence_num": "0"}).status_code == 403
    set_policy("acme", "members_may_fork", True)
    assert get(browser_of("bob"), path(thread)).id("m0").one("button", name="message_sequence_num")


def test_what_is_offered_to_be_changed_is_only_what_the_reader_may_read(browser_of: Browser, who: People) -> None:
    """A fork outlives the right to read its source."""
    set_policy("acme", "members_may_fork", True)
    thread = make.thread(who.alice, "One", visibility="org")
    thread = make.send(who.alice, thread, "Two")
    made = forks.fork(who.bob.actor, thread, 1).thread_id
    client = browser_of("bob")
    assert get(client, f"/threads/{made}/?write&edit").id("say").text == "Two"
    Thread.objects.filter(pk=thread.pk).update(visibility="private")
    assert get(client, f"/threads/{made}/?write&edit").id("say").text == ""
    assert client.get(f"/threads/start/?like={thread.thread_id}").status_code == 403
    assert client.get("/threads/start/?like=ags_none").status_code == 404


def test_an_answer_is_rerun_from_its_own_page(browser_of: Browser, who: People) -> None:
    thread, client = make.thread(who.alice, "One"), browser_of("alice")
    link = f"{path(thread, 'rerun')}?message_sequence_num=1"
    assert get(client, path(thread)).id("acts-1").one("a", href=link)
    assert get(client, link).id("system_prompt")


def test_a_thread_that_begins_like_another_one_is_in_its_org(browser_of: Browser, who: People) -> None:
    """Not in the one that its maker acts in now: what was written for one org is not carried into another unasked."""
    thread, client = make.thread(who.alice, "Ours", system_prompt="Secret of acme."), browser_of("alice")
    add_member(who.globex, who.alice.user)
    client.post("/org/", {"org": "globex"})
    assert "everyone in globex" in get(client, "/threads/start/").words
    form = get(client, f"/threads/start/?like={thread.thread_id}").one("form", action="/threads/start/")
    assert "everyone in acme" in form.words
    assert submit(client, form).status_code == 302
    assert Thread.objects.exclude(pk=thread.pk).get().org == who.acme


@pytest.mark.parametrize("is_first", [True, False])
def test_what_is_not_sent_again_with_a_request_is_said(browser_of: Browser, who: People, is_first: bool) -> None:
    goal = {"goal_type": "checklist", "items": {"a": "b"}}
    thread, client = make.thread(who.alice, "One", goals=[goal]), browser_of("alice")
    thread = make.send(who.alice, thread, "Two", goals=[goal])
    at = 0 if is_first else Message.objects.filter(thread=thread, role="user").latest("idx").idx
    page = then(client, client.post(path(thread, "fork") + "?edit", {"message_sequence_num": str(at)}))
    assert "Its goals are not declared again." in page.words


def test_an_answer_to_nothing_is_not_offered_to_be_rerun(browser_of: Browser, who: People) -> None:
    thread = make.imported(who.alice, [("assistant", "Welcome"), ("user", "Hi"), ("assistant", "Hello")])
    page = get(browser_of("alice"), path(thread))
    assert not [a for a in page.id("acts-0").all("a") if "rerun/" in a["href"]]
    assert [a for a in page.id("acts-2").all("a") if "rerun/" in a["href"]]
