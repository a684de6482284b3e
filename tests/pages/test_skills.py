"""The skill pages: list, reading, comparing, writing, and what everybody may do there (K1 to K16)."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from accounts.models import Membership
from catalogue import skills
from catalogue.models import Skill, SkillSubscription, SkillVersion
from catalogue.wire_skills import SkillIn, VersionIn
from tests import make
from tests.pages.dom import Node, dom, get, names, queries, submit
from tests.people import People, Person
from threads.models import Message, Thread

Browser = Callable[[str | None], Client]
HOSTILE = "<script>alert(1)</script> <img src=x onerror=alert(2)>"
PEOPLE = ("alice", "bob", "eve", "admin")


def skill(
    person: Person, name: str = "refunds", *, accessibility: str = "org", body: str = "How.", **more: Any
) -> Skill:
    org_id = next(iter(person.actor.orgs.values()))
    return skills.create(
        person.actor,
        org_id,
        SkillIn(name=name, accessibility=accessibility, description=f"What {name} is for.", body=body, **more),
    )


def add(person: Person, held: Skill, body: str, description: str = "Anew.") -> SkillVersion:
    return skills.add_version(person.actor, held, VersionIn(description=description, body=body))


def path(held: Skill, place: str = "") -> str:
    return f"/skills/{held.skill_id}/{place}"


def form(page: Node, action: str) -> Node:
    return page.one("form", action=action)


def lines(page: Node, kind: str) -> list[str]:
    return [row.all("td")[3].text for row in page.all("tr", data_k=kind)]


def test_without_a_skill_the_list_says_what_one_is(browser_of: Browser, who: People) -> None:
    page = get(browser_of("alice"), "/skills/")
    assert page.one("main").one("h2").words == "No skills yet."
    assert page.none("table")
    assert "You have no skills here." in get(browser_of("admin"), "/skills/").one("main").words
    Membership.objects.filter(user=who.alice.user).delete()
    assert "not in an org yet" in get(browser_of("alice"), "/skills/").one("main").words


def test_the_list_shows_what_one_can_see_and_what_agents_may_use_of_it(browser_of: Browser, who: People) -> None:
    """K6: one's own and the org's; nothing of another org, nothing private of a colleague."""
    skill(who.alice, "mine", accessibility="private", tags=["tone"])
    ours = skill(who.alice, "ours")
    skill(who.eve, "theirs")
    add(who.alice, ours, "How else.")
    skills.subscribe(who.bob.actor, ours)
    seen = {name: names(get(browser_of(name), "/skills/")) for name in PEOPLE}
    assert seen == {"alice": ["ours", "mine"], "bob": ["ours"], "eve": ["theirs"], "admin": []}
    page = get(browser_of("alice"), "/skills/")
    own = next(row for row in page.all("tr") if "mine" in row.words)
    assert "private" in own.words and "tone" in own.words and own.one(data_tone="pos").words == "version 1"
    assert get(browser_of("bob"), "/skills/").one("th", class_="title").within("tr").words.count("subscribed") == 1


def test_views_and_search_are_in_the_address(browser_of: Browser, who: People) -> None:
    """The search reads names and the highest versions, and nothing that is no longer said."""
    held = skill(who.alice, "refunds", body="Pay back TWENTY euros.")
    skill(who.bob, "greetings", body="Say hello.")
    client = browser_of("alice")
    assert names(get(client, "/skills/?scope=personal")) == ["refunds"]
    assert names(get(client, "/skills/?scope=org")) == ["greetings"]
    assert names(get(client, "/skills/?q=twenty+refund")) == ["refunds"]
    add(who.alice, held, "Pay back thirty.")
    assert names(get(client, "/skills/?q=twenty")) == []
    assert "No skill matches." in get(client, "/skills/?q=twenty").one("main").words
    page = get(client, "/skills/?scope=org&q=say")
    assert page.one("form", role="search").fields() == {"scope": ["org"], "q": ["say"]}
    assert page.one("nav", class_="sieve").one(aria_current="true").words == "Shared by others"
    get(client, "/skills/?scope=other", 400)
    get(client, "/skills/?q=%00", 400)


def test_ten_more_versions_cost_no_more_queries(browser_of: Browser, who: People) -> None:
    held, client = skill(who.alice), browser_of("alice")
    add(who.alice, held, "Two.")
    before = queries(client, path(held))
    for number in range(10):
        add(who.alice, held, f"{number}.")
    assert queries(client, path(held)) == before


def test_writing_a_skill_and_reading_it(browser_of: Browser, who: People) -> None:
    """K1: version 1, its author subscribed and pinned; rendered as Markdown."""
    client = browser_of("alice")
    page = get(client, "/skills/new/")
    answer = submit(
        client,
        form(page, "/skills/new/"),
        name="refund-rules",
        description="Who gets money back.",
        body="# Refunds\r\n\r\n- all of *it*",
        tags='riders, "a, b"',
        relevant_topics="refund",
    )
    held = Skill.objects.get()
    assert answer["Location"] == path(held)
    assert (held.name, held.accessibility, held.tags, held.org) == (
        "refund-rules", "private", ["a, b", "riders"], who.acme,
    )  # fmt: skip
    assert held.versions.get().body == "# Refunds\n\n- all of *it*"
    page = get(client, path(held))
    assert page.one("h1").words == "refund-rules"
    assert page.one(class_="prose").one("h3").words == "Refunds" and page.one(class_="prose").one("em").words == "it"
    assert page.one(class_="words").words == "Who gets money back."
    assert "load version 1 in your threads" in page.one("aside").words
    assert held.skill_id == page.one("button", data_copy=True)["data-copy"]


@pytest.mark.parametrize(
    ("typed", "field", "reason"),
    [
        ({"name": "no spaces"}, "name", "letters, digits"),
        ({"name": ""}, "name", "letters, digits"),
        ({"name": "x" * 121}, "name", "120"),
        ({"name": "taken"}, "name", "taken"),
        ({"description": "x" * 501}, "description", "500"),
        ({"body": "a\x00b"}, "body", "NUL"),
        ({"tags": "x" * 121}, "tags", "120"),
        ({"relevant_topics": "y" * 121}, "topics", "120"),
        ({"accessibility": "everybody"}, "", "private"),
    ],
)
def test_what_cannot_be_written_is_kept_with_the_reason_beside_it(
    browser_of: Browser, who: People, typed: dict[str, str], field: str, reason: str
) -> None:
    skill(who.alice, "taken", accessibility="private")
    client = browser_of("alice")
    given = {"name": "good", "description": "What for.", "body": "A long text.", "tags": "one, two", **typed}
    answer = submit(client, form(get(client, "/skills/new/"), "/skills/new/"), **given)
    page = dom(answer, 409 if typed == {"name": "taken"} else 400)
    wrong = page.id(f"{field}-wrong") if field else page.one(class_="wrong")
    assert reason in wrong.words
    kept = form(page, "/skills/new/").fields()
    assert {name: kept.get(name) for name in given if name != "accessibility"} == {
        name: [value] for name, value in given.items() if name != "accessibility"
    }
    assert Skill.objects.count() == 1


def test_a_new_version_begins_with_the_highest_and_moves_no_pin(browser_of: Browser, who: People) -> None:
    """K11."""
    held, client = skill(who.alice, body="One.\n\nTwo."), browser_of("alice")
    page = get(client, path(held, "write/"))
    assert page.id("body").text == "One.\n\nTwo."
    answer = submit(client, form(page, path(held, "write/")), body="One.\r\n\r\nThree.")
    assert answer["Location"] == path(held)
    assert held.versions.get(version=2).body == "One.\n\nThree."
    assert SkillSubscription.objects.get().ai_version == 1
    page = get(client, path(held))
    assert "version 2 of 2" in page.one("header", class_="lead").words
    assert "This is version 1." in get(client, path(held) + "?version=1").one(class_="fault", data_tone="warn").words
    get(client, path(held) + "?version=3", 404)
    get(client, path(held) + "?version=x", 404)
    page = dom(
        submit(client, form(get(client, path(held, "write/")), path(held, "write/")), description="d" * 501), 400
    )
    assert page.id("description")["value"] == "d" * 501 and page.id("description-wrong").words


def test_a_next_version_is_not_made_over_one_that_its_editor_has_not_seen(browser_of: Browser, who: People) -> None:
    """K11: the second is told, keeps what they typed, and may insist."""
    held = skill(who.alice, accessibility="org-editable", body="One.")
    skills.subscribe(who.bob.actor, held)
    write = path(held, "write/")
    alice, bob = browser_of("alice"), browser_of("bob")
    first, second = (form(get(client, write), write) for client in (alice, bob))
    assert submit(alice, first, body="By Alice.").status_code == 302
    refused = dom(submit(bob, second, description="x" * 5_000), 400)
    page = dom(submit(bob, form(refused, write), description="What for.", body="By Bob."), 412)
    assert "You began from version 1. The latest one is version 2 now." in page.one(role="alert").words
    assert page.id("body").text == "By Bob." and held.versions.count() == 2
    assert submit(bob, form(page, write)).status_code == 302
    assert [each.body for each in held.versions.order_by("version")] == ["One.", "By Alice.", "By Bob."]


def test_what_changed_between_two_versions_is_shown_line_by_line(browser_of: Browser, who: People) -> None:
    same = "\n".join(f"Line {number}." for number in range(20))
    held = skill(who.alice, body=f"{same}\nUp to 15 euros.\nThe end.")
    add(who.alice, held, f"{same}\nUp to 25 euros.\nMore.\nThe end.", "What refunds is for.")
    page = get(browser_of("bob"), path(held, "compare/?from=1&to=2"))
    assert lines(page, "gone") == ["Up to 15 euros."]
    assert lines(page, "new") == ["Up to 25 euros.", "More."]
    assert "17 unchanged lines" in page.one("tr", data_k="fold").words
    assert page.none(id="description"), "the description is the same"
    back = get(browser_of("bob"), path(held, "compare/?from=2&to=1"))
    assert lines(back, "new") == ["Up to 15 euros."]
    alike = get(browser_of("bob"), path(held, "compare/?from=2&to=2"))
    assert "The text is the same in both." in alike.one("main").words
    get(browser_of("bob"), path(held, "compare/?from=1&to=9"), 404)
    assert get(browser_of("bob"), path(held, "compare/")).one("main").words == page.one("main").words


def test_texts_too_long_to_compare_say_so(browser_of: Browser, who: People) -> None:
    held = skill(who.alice, body="x\n" * 2_500)
    add(who.alice, held, "y\n" * 2_500)
    page = get(browser_of("alice"), path(held, "compare/?from=1&to=2"))
    assert "too long to compare" in page.one("main").words and page.none("table", class_="diff", data_k="new")


def alternating(word: str, count: int, between: str) -> str:
    """Every second piece stands all over the other text, and nothing between two of them does."""
    return between.join(f"x{number % 47 if count > 500 else ''}{between}{word}{number}" for number in range(count))


@pytest.mark.timeout(60)
def test_lines_that_come_again_and_again_are_too_much_to_compare(browser_of: Browser, who: People) -> None:
    held = skill(who.alice, body=alternating("a", 1_000, "\n"))
    add(who.alice, held, alternating("b", 1_000, "\n"))
    page = get(browser_of("alice"), path(held, "compare/?from=1&to=2"))
    assert "too long to compare" in page.one("main").words


@pytest.mark.timeout(60)
def test_words_are_told_apart_in_as_many_lines_as_can_be_afforded(browser_of: Browser, who: People) -> None:
    def body(word: str) -> str:
        line = alternating(word, 29, " ")
        stretches = ("\n".join(f"{line} {at}" for _ in range(39)) + f"\n---{at}\n" for at in range(49))
        return "".join(stretches)

    held = skill(who.alice, body=body("a"))
    add(who.alice, held, body("b"))
    page = get(browser_of("alice"), path(held, "compare/?from=1&to=2"))
    rows = page.one("section", aria_labelledby="text").all("tr", data_k="new")
    assert rows[0].all("ins") and not rows[-1].all("ins")


def test_editing_in_place_and_not_over_somebody_elses_change(browser_of: Browser, who: People) -> None:
    """K12: two editors of one version; the second is told, keeps what they typed, and may insist."""
    held = skill(who.alice, accessibility="org-editable")
    skills.subscribe(who.bob.actor, held)
    edit = path(held, "versions/1/edit/")
    alice, bob = browser_of("alice"), browser_of("bob")
    first, second = (form(get(client, edit), edit) for client in (alice, bob))
    assert submit(alice, first, body="By Alice.")["Location"] == path(held) + "?version=1"
    refused = dom(submit(bob, second, description="x" * 5_000), 400)
    page = dom(submit(bob, form(refused, edit), description="What for.", body="By Bob."), 412)
    assert "since you opened it" in page.one(role="alert").words
    assert page.id("body").text == "By Bob." and held.versions.get().body == "By Alice."
    assert submit(bob, form(page, edit)).status_code == 302
    assert held.versions.get().body == "By Bob."
    get(alice, path(held, "versions/2/edit/"), 404)


def test_renaming_tagging_and_closing(browser_of: Browser, who: People) -> None:
    """K7: what is no longer among the tags goes; turning private ends the others' subscriptions."""
    held, client = skill(who.alice, tags=["old", "kept"]), browser_of("alice")
    skills.subscribe(who.bob.actor, held)
    page = get(client, path(held, "change/"))
    assert form(page, path(held, "change/")).fields()["tags"] == ["kept, old"]
    submit(client, form(page, path(held, "change/")), name="repayments", tags="kept, new", accessibility="private")
    held.refresh_from_db()
    assert (held.name, held.tags, held.accessibility) == ("repayments", ["kept", "new"], "private")
    assert SkillSubscription.objects.get().user == who.alice.user
    get(browser_of("bob"), path(held), 404)
    page = dom(submit(client, form(get(client, path(held, "change/")), path(held, "change/")), name=""), 400)
    page = dom(submit(client, form(get(client, path(held, "change/")), path(held, "change/")), name="no good"), 400)
    assert page.id("name")["value"] == "no good" and "letters, digits" in page.id("name-wrong").words


def test_blanks_around_a_name_are_no_part_of_it_when_a_skill_is_renamed_either(
    browser_of: Browser, who: People
) -> None:
    held, client = skill(who.alice), browser_of("alice")
    here = path(held, "change/")
    for typed, name in ((" repayments ", "repayments"), ("repayments ", "repayments")):
        assert submit(client, form(get(client, here), here), name=typed).status_code == 302
        held.refresh_from_db()
        assert held.name == name


def test_tags_that_somebody_else_added_meanwhile_stay(browser_of: Browser, who: People) -> None:
    """K7: a form takes away only the tags that it showed, also after it was refused once."""
    held = skill(who.alice, tags=["old", "kept"], accessibility="org-editable")
    skills.subscribe(who.bob.actor, held)
    here, alice, bob = path(held, "change/"), browser_of("alice"), browser_of("bob")
    first, second = (form(get(client, here), here) for client in (alice, bob))
    assert submit(bob, second, tags="old, kept, added").status_code == 302
    again = dom(submit(alice, first, tags="kept, mine", name="no good"), 400)
    assert submit(alice, form(again, here), name="refunds").status_code == 302
    held.refresh_from_db()
    assert held.tags == ["added", "kept", "mine"]


def test_a_form_that_was_opened_before_a_change_does_not_undo_it(browser_of: Browser, who: People) -> None:
    """K7: the second tab saves its tags; name and visibility stay as the first left them."""
    held = skill(who.alice, accessibility="org")
    here, alice = path(held, "change/"), browser_of("alice")
    first, second = (form(get(alice, here), here) for _ in range(2))
    assert submit(alice, first, name="repayments", accessibility="private").status_code == 302
    assert submit(alice, second, tags="late").status_code == 302
    held.refresh_from_db()
    assert (held.name, held.tags, held.accessibility) == ("repayments", ["late"], "private")


LONG = "x" * 131_073
"""Longer than the longest word that a list can be parsed into."""


@pytest.mark.parametrize(
    ("place", "field", "other"),
    [
        ("", "tags", {"name": "second"}),
        ("", "relevant_topics", {"name": "second"}),
        ("change/", "tags", {}),
        ("write/", "relevant_topics", {}),
        ("versions/1/edit/", "relevant_topics", {}),
    ],
)
def test_a_word_too_long_for_a_list_is_named_at_its_field_and_the_rest_is_kept(
    browser_of: Browser, who: People, place: str, field: str, other: dict[str, str]
) -> None:
    held, client = skill(who.alice), browser_of("alice")
    here = path(held, place) if place else "/skills/new/"
    filled = form(get(client, here), here)
    body = {"description": "What it is for.", "body": "How.", **other}
    page = dom(submit(client, filled, **body, **{field: LONG}), 400)
    assert "too long" in page.id(f"{field.removeprefix('relevant_')}-wrong").words
    assert page.id(field)["value"] == LONG
    assert (held.tags, held.versions.count()) == ([], 1)
    assert submit(client, filled, **body, **{field: "one\rtwo, three"}).status_code == 302
    latest = Skill.objects.latest("pk")
    said = latest.tags if field == "tags" else latest.versions.latest("version").relevant_topics
    assert sorted(said) == ["one", "three", "two"]


def test_an_editor_who_is_not_the_author_is_not_offered_the_visibility(browser_of: Browser, who: People) -> None:
    """K7, K8, K13: nor to delete the skill, nor its last version; asking for it all the same is refused."""
    held = skill(who.alice, accessibility="org-editable")
    skills.subscribe(who.bob.actor, held)
    client = browser_of("bob")
    assert get(client, path(held, "change/")).none(name="accessibility")
    page = get(client, path(held))
    assert page.none("form", action=path(held, "delete/")) and page.none(
        "form", action=path(held, "versions/1/delete/")
    )
    dom(client.post(path(held, "change/"), {"name": "x", "accessibility": "private"}), 403)
    dom(client.post(path(held, "delete/")), 403)
    dom(client.post(path(held, "versions/1/delete/")), 403)
    assert submit(client, form(get(client, path(held, "change/")), path(held, "change/")), tags="x").status_code == 302


def test_an_older_version_than_the_latest_is_said_to_be_one_and_the_latest_is_one_press_away(
    browser_of: Browser, who: People
) -> None:
    """Nothing moves by itself: the older one may be meant."""
    held, client = skill(who.alice), browser_of("alice")
    assert "Use version" not in get(client, path(held)).words
    add(who.alice, held, "Two.")
    add(who.alice, held, "Three.")
    row = get(client, "/skills/").one("th", class_="title").within("tr")
    assert row.one(data_tone="warn").words == "version 1, 3 is newer" and row.none(data_tone="pos")
    page = get(client, path(held)).one("section", aria_labelledby="use")
    assert page.one(data_tone="warn").words == "version 3 is newer"
    button = next(each for each in page.all("button") if each.words == "Use version 3")
    assert client.post(button.within("form")["action"], {button["name"]: button["value"]}).status_code == 302
    assert SkillSubscription.objects.get().ai_version == 3
    assert get(client, "/skills/").one("th", class_="title").within("tr").one(data_tone="pos").words == "version 3"
    assert "Use version" not in get(client, path(held)).words
    skills.subscribe(who.bob.actor, held)
    assert "Use version" not in get(browser_of("bob"), path(held)).words, "none is chosen, on purpose"


def test_subscribing_pinning_and_leaving(browser_of: Browser, who: People) -> None:
    """K14 to K16."""
    held, client = skill(who.alice), browser_of("bob")
    add(who.alice, held, "Two.")
    page = get(client, path(held))
    assert "You are not subscribed." in page.one("aside").words
    submit(client, form(page, path(held, "subscribe/")))
    mine = SkillSubscription.objects.get(user=who.bob.user)
    assert mine.ai_version is None
    assert "You are subscribed." in get(client, path(held)).one("aside").words
    client.post(path(held, "pin/"), {"ai_version": "2"})
    mine.refresh_from_db()
    assert mine.ai_version == 2
    assert get(client, path(held)).one("option", selected=True, value="2").parent["id"] == "ai_version"
    client.post(path(held, "pin/"), {"ai_version": ""})
    mine.refresh_from_db()
    assert mine.ai_version is None
    dom(client.post(path(held, "pin/"), {"ai_version": "9"}), 400)
    dom(client.post(path(held, "pin/"), {"ai_version": "x"}), 404)
    submit(client, form(get(client, path(held)), path(held, "subscribe/")))
    assert not SkillSubscription.objects.filter(user=who.bob.user).exists()


def test_deleting_a_version_and_the_skill(browser_of: Browser, who: People) -> None:
    """K8, K13: with its last version the skill is gone."""
    held, client = skill(who.alice), browser_of("alice")
    add(who.alice, held, "Two.")
    remove = path(held, "versions/1/delete/")
    assert submit(client, form(get(client, path(held) + "?version=1"), remove))["Location"] == path(held)
    assert SkillSubscription.objects.get().ai_version is None
    page = get(client, path(held))
    assert "the skill is deleted with it" in page.one("aside").words
    answer = submit(client, form(page, path(held, "versions/2/delete/")))
    assert answer["Location"] == "/skills/" and not Skill.objects.exists()
    other = skill(who.alice)
    assert submit(client, form(get(client, path(other)), path(other, "delete/")))["Location"] == "/skills/"
    assert not Skill.objects.exists()
    assert "Deleted refunds" in get(client, "/skills/").id("notes").words


def test_trying_a_skill_opens_the_start_page_with_it(browser_of: Browser, who: People) -> None:
    """B150, B44: words are not needed; with a version that is not the highest, that one is taken."""
    held = skill(who.alice)
    add(who.alice, held, "Two.")
    client = browser_of("bob")
    try_it = next(link for link in get(client, path(held) + "?version=1").all("a") if link.words == "Try it")
    page = get(client, try_it["href"])
    start = form(page, "/threads/start/")
    assert "refunds, version 1" in start.words and not page.id("text").has("required")
    assert submit(client, start).status_code == 302
    thread = Thread.objects.get()
    make.run_turns(thread)
    assert list(Message.objects.filter(thread=thread).order_by("idx").values_list("role", flat=True))[:3] == [
        "user", "assistant", "roboto",
    ]  # fmt: skip
    assert "Please apply the invoked skills." in get(client, f"/threads/{thread.thread_id}/").one("main").words
    submit(client, start, text="With words")
    assert Thread.objects.latest("pk").title == "With words"
    get(client, "/threads/start/?skill=sk_nothing", 404)
    get(client, f"/threads/start/?skill={held.skill_id}&version=7", 404)
    held.delete()
    gone = dom(submit(client, start, text="Kept"), 400)
    assert gone.id("text").text == "Kept" and "There is no skill" in gone.one(role="alert").words


def test_hostile_text_stays_text_on_every_skill_page(browser_of: Browser, who: People) -> None:
    held = skill(who.alice, body=HOSTILE, tags=[HOSTILE], relevant_topics=[HOSTILE])
    add(who.alice, held, f"{HOSTILE} [x](javascript:alert(3))", HOSTILE)
    client = browser_of("alice")
    places = ("", "?version=1", "compare/?from=1&to=2", "write/", "change/", "versions/2/edit/")
    for address in ("/skills/", f"/skills/?q={HOSTILE}", *(path(held, place) for place in places)):
        page = get(client, address)  # refuses inline scripts, handlers and foreign addresses
        assert page.none("img"), address
    assert "<script>alert(1)</script>" in get(client, path(held)).one(class_="words").text


@pytest.mark.parametrize(
    ("place", "form_"),
    [
        ("write/", {"body": "x"}),
        ("change/", {"name": "x"}),
        ("delete/", {}),
        ("versions/1/edit/", {"body": "x"}),
        ("versions/1/delete/", {}),
    ],
)
def test_changing_a_skill_needs_the_right(browser_of: Browser, who: People, place: str, form_: dict[str, str]) -> None:
    """K7, K8, K11 to K13: a colleague may see it, others may not know of it, nobody is sent to sign in."""
    held = skill(who.alice)
    before = list(SkillVersion.objects.values())
    for name, status in (("bob", 403), ("eve", 404), ("admin", 404)):
        dom(browser_of(name).post(path(held, place), form_), status)
    assert browser_of(None).post(path(held, place), form_)["Location"].startswith("/signin/")
    assert list(SkillVersion.objects.values()) == before
    assert browser_of("alice").post(path(held, place), form_).status_code == 302


@pytest.mark.parametrize("place", ["", "compare/?from=1&to=1", "subscribe/", "pin/"])
def test_using_a_skill_needs_to_see_it(browser_of: Browser, who: People, place: str) -> None:
    """K2, K14, K16."""
    shared, private = skill(who.alice), skill(who.alice, accessibility="private")
    is_form = place in ("subscribe/", "pin/")

    def status(name: str | None, held: Skill) -> int:
        client = browser_of(name)
        return (client.post(path(held, place)) if is_form else client.get(path(held, place))).status_code

    done = 302 if is_form else 200
    assert [status(name, shared) for name in (*PEOPLE, None)] == [done, done, 404, 404, 302]
    assert [status(name, private) for name in (*PEOPLE, None)] == [done, 404, 404, 404, 302]
