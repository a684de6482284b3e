"""Starting a thread from a page."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Membership
from accounts.orgs import set_policy
from catalogue.models import World
from catalogue.wire_worlds import WorldIn
from catalogue.worlds import keeping
from tests import make
from tests.pages.dom import Node, dom, get, submit
from tests.people import People
from threads.models import Message, Thread

Browser = Callable[[str | None], Client]
LONG = "x" * 1_000_001


def form_of(page: Node) -> Node:
    return page.one("form", action="/threads/start/")


def test_the_form_offers_every_profile_with_the_default_one_picked(browser_of: Browser) -> None:
    picks = form_of(get(browser_of("alice"), "/threads/start/")).all("input", name="model_profile")
    assert [pick["value"] for pick in picks if pick.has("checked")] == ["simulated"]


def test_who_can_read_it_is_asked_as_in_a_launch_and_private_unless_picked(browser_of: Browser, who: People) -> None:
    """B11, B12."""
    client = browser_of("alice")
    form = form_of(get(client, "/threads/start/"))
    picks = form.one("input", value="org").within("fieldset")
    assert picks.words.startswith("Who can read the thread everyone in acme only me")
    assert form.fields()["visibility"] == ["private"]
    submit(client, form, text="Ours", visibility="org")
    submit(client, form, text="Mine")
    assert dict(Thread.objects.values_list("title", "visibility")) == {"Ours": "org", "Mine": "private"}


def test_that_the_choice_is_final_is_said_where_it_is(browser_of: Browser, who: People) -> None:
    """T8."""
    client = browser_of("alice")
    final = "It cannot be changed later: acme does not allow it."
    assert form_of(get(client, "/threads/start/")).id("readers-hint").words == final
    set_policy("acme", "visibility_may_change", True)
    assert "later" not in form_of(get(client, "/threads/start/")).words


def test_a_thread_is_started_and_opened(browser_of: Browser, who: People) -> None:
    """T1: the page asks the verb that the API asks; line ends are line feeds."""
    client = browser_of("alice")
    answer = submit(client, form_of(get(client, "/threads/start/")), text="  Hello\r\nthere ")
    thread = Thread.objects.get()
    assert answer["Location"] == f"/threads/{thread.thread_id}/?write"
    assert (thread.org, thread.created_by, thread.visibility) == (who.acme, who.alice.user, "private")
    assert thread.model_profile == "simulated"
    make.run_turns(thread)
    article = get(client, answer["Location"]).one("article", data_voice="person")
    assert article.one(class_="written").text == "  Hello\nthere "


@pytest.mark.parametrize(
    ("typed", "field", "reason"),
    [
        ({"text": ""}, "text", "blank"),
        ({"text": "   \r\n "}, "text", "blank"),
        ({"text": "a\x00b"}, "text", "NUL"),
        ({"text": LONG}, "text", "1,000,000"),
        ({"text": "Good", "model_profile": "made-up"}, "model_profile", "profile"),
        ({"text": "Good", "visibility": "public"}, "visibility", "private"),
    ],
)
def test_what_cannot_be_sent_stays_in_the_form_with_the_reason_beside_it(
    browser_of: Browser, typed: dict[str, str], field: str, reason: str
) -> None:
    client = browser_of("alice")
    page = dom(submit(client, form_of(get(client, "/threads/start/")), **typed), 400)
    form = form_of(page)
    assert form.id("text").text == typed["text"]
    wrong = form.one(class_="wrong")
    assert reason in wrong.words and wrong.words
    assert form.id("text").has("aria-invalid") == (field == "text")
    assert field == "text" or wrong.within("fieldset").all("input", name=field)
    assert not Thread.objects.exists() and not Message.objects.exists()


def test_somebody_without_an_org_is_told_so(browser_of: Browser, who: People) -> None:
    Membership.objects.filter(user=who.alice.user).delete()
    client = browser_of("alice")
    page = dom(submit(client, form_of(get(client, "/threads/start/")), text="Hello"), 400)
    assert "not in an org yet" in page.one("main").words


def test_the_thread_goes_to_the_org_that_was_chosen(browser_of: Browser, who: People) -> None:
    client = browser_of("admin")
    client.post("/org/", {"org": "globex"})
    submit(client, form_of(get(client, "/threads/start/")), text="Hello")
    assert Thread.objects.get().org == who.globex


def test_a_form_without_its_token_starts_nothing(who: People) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(who.alice.user)
    page = dom(client.post("/threads/start/", {"text": "Hello"}), 403)
    assert "The form has expired" in page.one("main").words
    assert not Thread.objects.exists()
    assert submit(client, form_of(get(client, "/threads/start/")), text="Hello").status_code == 302


def test_a_thread_gets_the_system_prompt_that_was_typed(browser_of: Browser, who: People) -> None:
    client = browser_of("alice")
    form = form_of(get(client, "/threads/start/"))
    assert not form.one("details", class_="more").has("open")
    submit(client, form, text="Hello", system_prompt=" Be brief.\r\nBe kind. ")
    submit(client, form, text="Hello again", system_prompt=" \n")
    assert list(Thread.objects.order_by("pk").values_list("system_prompt", flat=True)) == ["Be brief.\nBe kind.", None]


def test_a_system_prompt_that_is_too_long_stays_in_its_field(browser_of: Browser, who: People) -> None:
    client = browser_of("alice")
    answer = submit(client, form_of(get(client, "/threads/start/")), text="Hello", system_prompt=LONG)
    page = dom(answer, 400)
    assert page.id("prompt-wrong").words and page.id("system_prompt").text == LONG
    assert page.id("text").text == "Hello" and not Thread.objects.exists()


def test_the_world_of_the_thread_that_a_new_one_is_like_is_kept(browser_of: Browser, who: People) -> None:
    """Without it real tools would act."""
    world = keeping.create(who.alice.actor, who.acme.pk, WorldIn())
    thread = make.thread(who.alice, "One")
    Thread.objects.filter(pk=thread.pk).update(world=world, model_profile="gone")
    client = browser_of("alice")
    form = form_of(get(client, f"/threads/start/?like={thread.thread_id}"))
    assert form.fields()["world"] == [world.world_id] and form.fields()["model_profile"] == ["simulated"]
    World.objects.update(closed_at=timezone.now())
    form = form_of(get(client, f"/threads/start/?like={thread.thread_id}"))
    assert form.fields()["world"] == [world.world_id]
    assert submit(client, form).status_code == 400 and Thread.objects.count() == 1
