"""The list of threads: who sees what, bands and pages, the search line, and every state of being empty."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, urlencode

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.orgs import add_member
from core import paging
from core.templatetags import ui
from tests import make
from tests.pages.dom import Node, dom, fragment, get, parsed, queries
from tests.people import People
from threads import forks, indexing, sharing
from threads.access import thread_for
from threads.content import error, tool_result, tool_use
from threads.models import Thread
from threads.status import ThreadStatus, Visibility
from threads.transcript import writing

Browser = Callable[[str | None], Client]
FAILS = '[[call calculate {"expression": "1/0"}]]'


def titles(page: Node) -> list[str]:
    return [cell.one("a").words for cell in page.all("th", class_="title")]


def bands(page: Node) -> list[str]:
    return [band.words for band in page.all("tr", class_="band")]


def row(page: Node, title: str) -> Node:
    return next(cell for cell in page.all("th", class_="title") if cell.one("a").words == title).within("tr")


def many(person: object, number: int, *, title: str = "T", visibility: str = "private") -> list[Thread]:
    """Threads without messages, oldest first: what a list shows needs no more."""
    user, now = person.user, timezone.now()  # type: ignore[attr-defined]
    org_id = next(iter(person.actor.orgs.values()))  # type: ignore[attr-defined]
    return Thread.objects.bulk_create(
        Thread(
            org_id=org_id,
            created_by=user,
            title=f"{title} {place}",
            status=ThreadStatus.USER_TURN,
            visibility=visibility,
            created=now - timedelta(seconds=number - place),
        )
        for place in range(number)
    )


def test_a_search_says_how_many_it_found(browser_of: Browser, who: People, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of those on later pages, up to a limit."""
    many(who.alice, 55)
    many(who.alice, 3, title="Other")
    client = browser_of("alice")
    said = [get(client, f"/threads/?q={q}").one("h1").words for q in ("other", "t", "nothing", "")]
    assert said == ["Threads 3 found", "Threads 58 found", "Threads", "Threads"]
    monkeypatch.setattr(paging, "COUNT_LIMIT", 56)
    monkeypatch.setattr(ui, "COUNT_LIMIT", 56)
    assert get(client, "/threads/?q=t").one("h1").words == "Threads 56+ found"


def test_a_tool_that_no_thread_used_is_named_with_the_one_that_was_meant(browser_of: Browser, who: People) -> None:
    make.thread(who.alice, FAILS)
    client = browser_of("alice")
    page = get(client, "/threads/?q=is:mine+tool:calclate")
    [said] = page.one("main").all("p", class_="unread")
    assert said.words == "tool:calclate No recent thread used this tool. · Use tool:calculate"
    assert said.one("a")["href"] == "?q=is%3Amine+tool%3Acalculate"
    for line in (
        "failed:heddle__calculate -is:mine",
        "tool:calc*+-is:mine",
        "tool:calculate",
        "is:fork -tool:calclate",
    ):
        assert not get(client, f"/threads/?q={line}").one("main").all("p", class_="unread")
    [said] = get(browser_of("eve"), "/threads/?q=failed:calculate").one("main").all("p", class_="unread")
    assert said.words == "failed:calculate In no recent thread this tool returned an error."


def test_words_that_are_only_in_metadata_are_said_to_be_there(browser_of: Browser, who: People) -> None:
    """To whom may read it."""
    make.imported(who.alice, [("user", "Hi"), ("assistant", "Hi")], visibility=Visibility.ORG)
    Thread.objects.update(metadata={"case": "C-4417"})
    [said] = get(browser_of("alice"), "/threads/?q=C-4417+is:mine").one("main").all("p", class_="unread")
    assert said.words.endswith("Only the metadata that threads were imported with contains this. · Use meta:C-4417")
    assert titles(get(browser_of("alice"), "/threads/" + said.one("a")["href"])) == ["Hi"]
    assert not get(browser_of("bob"), "/threads/?q=C-4417").one("main").all("p", class_="unread")
    assert not get(browser_of("alice"), "/threads/?q=is:fork -C-4417").one("main").all("p", class_="unread")


def test_somebody_without_threads_is_told_what_to_do(browser_of: Browser) -> None:
    page = get(browser_of("alice"), "/threads/")
    assert page.one("main").one("h2").words == "No threads yet."
    assert len(page.one("ol", class_="steps").all("li")) == 3
    assert [link["href"] for link in page.one("ol", class_="steps").all("a", class_="btn")] == [
        *("/threads/start/", "/threads/import/", "/settings/", "/v1/docs/#begin")
    ]
    assert page.none("table")


def test_a_row_says_what_there_is_to_know(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice, f"Where is my bike? {FAILS}", model_profile="simulated")
    make.rating(who.alice, thread, thread.message_count - 1, "negative", notes="no")
    make.rating(who.alice, thread, thread.message_count - 3, "positive")
    found = row(get(browser_of("alice"), "/threads/"), "Where is my bike?")
    assert found.one("th", scope="row").one("a").words == thread.title, "what a reader hears with each other cell"
    assert found.one("td", class_="num").words == f"{thread.message_count} messages"
    assert found.one("td", class_="who").words == "Alice"
    assert found.one("td", class_="wide").words == "simulated"
    assert found.one(data_tone="neg").words == "1 negative"
    assert found.one(data_tone="pos").words == "1 positive"
    assert found.one("svg", class_="weave").all("path", data_k="fault")
    assert "private" in found.one("th", class_="title").words
    assert found.one("a")["href"] == f"/threads/{thread.thread_id}/"
    assert found.one("time").has("title")


def test_goals_are_counted_and_missed_ones_look_missed(browser_of: Browser, who: People) -> None:
    goal = {"goal_type": "dataset_summary", "dataset_id": "ds_1"}
    make.thread(who.alice, "Sum it up", goals=[goal])
    make.thread(who.alice, "Refuse it [[refuse-goals]]", goals=[goal])
    page = get(browser_of("alice"), "/threads/")
    done, missed = row(page, "Sum it up"), row(page, "Refuse it")
    assert done.one(data_tone="pos").words == "1/1 goals achieved"
    assert "0/1 goals achieved" in [mark.words for mark in missed.all(data_tone="neg")]
    assert "Goals failed" in missed.words


def test_an_idle_thread_says_so_to_screen_readers_only_and_a_failed_one_to_everybody(
    browser_of: Browser, who: People
) -> None:
    make.thread(who.alice, "Well")
    make.thread(who.alice, "Badly [[fail]]")
    make.thread(who.alice, "Still at it", run=False)
    page = get(browser_of("alice"), "/threads/")
    states = {name: row(page, name).all("td")[0] for name in ("Well", "Badly", "Still at it")}
    assert states["Well"].one(class_="sr").words == "Idle"
    assert states["Badly"].one(data_tone="neg").words == "Failed" and states["Badly"].none(class_="sr")
    assert states["Still at it"].one(data_tone="live").words == "Answering"


@pytest.mark.parametrize(
    ("name", "seen"),
    [("alice", {"own", "shared"}), ("bob", {"shared"}), ("eve", set()), ("admin", {"own", "shared"})],
)
def test_everybody_sees_their_own_threads_and_what_their_org_shares(
    browser_of: Browser, who: People, name: str, seen: set[str]
) -> None:
    """B28, B29, B30: and nothing of another org; an admin sees everything of the org looked at."""
    many(who.alice, 1, title="own")
    many(who.alice, 1, title="shared", visibility="org")
    many(who.eve, 1, title="foreign")
    page = get(browser_of(name), "/threads/")
    assert {title.split()[0] for title in titles(page)} - {"foreign" if name == "eve" else ""} == seen


def test_an_admin_changes_the_org_to_see_another_one(browser_of: Browser, who: People) -> None:
    many(who.eve, 1, title="foreign")
    client = browser_of("admin")
    assert not titles(get(client, "/threads/?view=private"))
    client.post("/org/", {"org": "globex"})
    assert titles(get(client, "/threads/")) == ["foreign 0"]


def test_who_belongs_to_two_orgs_sees_one_at_a_time(browser_of: Browser, who: People) -> None:
    many(who.eve, 1, title="theirs", visibility="org")
    many(who.alice, 1, title="ours")
    add_member(who.globex, who.alice.user)
    client = browser_of("alice")
    assert titles(get(client, "/threads/")) == ["ours 0"]
    client.post("/org/", {"org": "globex"})
    assert titles(get(client, "/threads/")) == ["theirs 0"]


def test_bands_follow_the_days_and_pins_stand_on_top(browser_of: Browser, who: People) -> None:
    """B147: pins are personal."""
    now = timezone.now()
    for thread, days in zip(many(who.alice, 4, visibility="org"), (20, 4, 1, 0), strict=True):
        Thread.objects.filter(pk=thread.pk).update(created=now - timedelta(days=days), title=f"{days} days")
    old = Thread.objects.get(title="20 days")
    sharing.pin(who.alice.actor, old, pinned=True)
    page = get(browser_of("alice"), "/threads/")
    assert bands(page) == ["Pinned", "Today", "Yesterday", "This week"]
    assert titles(page) == ["20 days", "0 days", "1 days", "4 days"]
    assert bands(get(browser_of("bob"), "/threads/"))[-1] == "Earlier"


def test_the_list_is_sorted_as_the_address_says(browser_of: Browser, who: People) -> None:
    """The menu leads to each order of the same threads; views keep it, and runs of checks stay out of it."""
    threads = many(who.alice, 3)
    sharing.pin(who.alice.actor, threads[1], pinned=True)
    long_ago = timezone.now() - timedelta(days=40)
    Thread.objects.filter(pk=threads[0].pk).update(created=long_ago, message_count=7)
    client = browser_of("alice")

    def orders(page: Node) -> dict[str, Node]:
        menu = page.one("summary", data_key="O").within("details")
        return {link.words: link for link in menu.all("a")}

    page = get(client, "/threads/?q=is:mine")
    assert titles(page) == ["T 1", "T 2", "T 0"] and bands(page) == ["Pinned", "Today", "Earlier"]
    assert page.one("summary", data_key="O").words == "Newest first"
    assert [link["href"] for link in orders(page).values()] == [
        "?q=is%3Amine",
        "?q=is%3Amine+sort%3Aoldest",
        "?q=is%3Amine+sort%3Achanged",
        "?q=is%3Amine+sort%3Alongest",
    ]
    page = get(client, f"/threads/{orders(page)['Oldest first']['href']}")
    assert titles(page) == ["T 1", "T 0", "T 2"] and bands(page) == ["Pinned", "Earlier", "Today"]
    page = get(client, f"/threads/{orders(page)['Longest first']['href']}")
    assert titles(page) == ["T 1", "T 0", "T 2"] and bands(page) == ["Pinned", "Others"]
    page = get(client, f"/threads/{orders(page)['Last changed first']['href']}")
    assert titles(page) == ["T 1", "T 2", "T 0"] and bands(page) == ["Pinned", "Today"]
    assert page.one("table").one("caption").words == "Threads, pinned first, then last changed first"
    assert (
        row(page, "T 0").one("td", class_="age").words
        != row(get(client, "/threads/"), "T 0").one("td", class_="age").words
    )
    [current] = [link.words for link in orders(page).values() if link.get("aria-current")]
    assert current == "Last changed first" == page.one("summary", data_key="O").words
    views = {link.words: link for link in page.one("nav", class_="views").all("a")}
    assert views["All"]["href"] == "?q=sort%3Achanged" and views["Mine"].get("aria-current")
    page = get(client, "/threads/?q=sort:oldest")
    assert {link.words for link in page.one("nav", class_="views").all("a") if link.get("aria-current")} == {"All"}
    assert page.one("h1").words == "Threads"
    Thread.objects.all().delete()
    assert "No threads yet." in get(client, "/threads/?q=sort:oldest").one("main").words
    assert "No threads in this view." in get(client, "/threads/?q=is:fork+sort:oldest").one("main").words


def test_the_next_page_goes_on_in_the_same_order(browser_of: Browser, who: People) -> None:
    threads = many(who.alice, 55)
    Thread.objects.filter(pk=threads[20].pk).update(message_count=9)
    client = browser_of("alice")
    page = get(client, "/threads/?q=sort:longest")
    onward = page.one("a", rel="next")
    assert onward.words == "More threads"
    rest = get(client, "/threads/" + onward["href"])
    seen = titles(page) + titles(rest)
    assert seen[0] == "T 20" and len(set(seen)) == len(seen) == 55 and bands(rest) == []
    assert get(client, "/threads/").one("a", rel="next").words == "Older threads"


def test_bands_are_days_of_the_reader(browser_of: Browser, who: People) -> None:
    """As `created:today` in the search line: at half past midnight in Tokyo the evening before is yesterday."""
    with time_machine.travel(datetime(2026, 5, 2, 15, 30, tzinfo=UTC), tick=False):
        [thread] = many(who.alice, 1)
        Thread.objects.filter(pk=thread.pk).update(created=timezone.now() - timedelta(hours=2))
        client = browser_of("alice")
        assert bands(get(client, "/threads/")) == ["Today"]
        client.cookies["tz"] = "Asia/Tokyo"
        assert bands(get(client, "/threads/")) == ["Yesterday"]
        assert not titles(get(client, "/threads/?q=created:today"))


def test_a_long_line_is_asked_whole_or_refused(browser_of: Browser, who: People) -> None:
    many(who.alice, 1)
    words = " ".join(["x"] * 3 + ["T"] * 250)
    client = browser_of("alice")
    assert not titles(get(client, f"/threads/?q={quote(words + ' status:failed')}"))
    assert titles(get(client, "/threads/?q=" + quote("T " * 50 + "status:idle"))) == ["T 0"]
    too_long = get(client, f"/threads/?q={'x' * 2001}")
    assert "too long" in too_long.one(id="unread").words and not titles(too_long)


def test_paging_shows_every_thread_once_while_others_write(browser_of: Browser, who: People) -> None:
    """Rows never jump or repeat; a heading that stands already is not said again."""
    threads = many(who.alice, 120)
    sharing.pin(who.alice.actor, threads[3], pinned=True)
    client, seen, said = browser_of("alice"), [], []
    page = get(client, "/threads/")
    for _ in range(3):
        seen += titles(page)
        said += bands(page)
        more = page.all("a", rel="next")
        if more:
            many(who.alice, 1, title="later")
            page = fragment(client, f"/threads/{more[0]['href']}")
    assert seen == ["T 3", *(f"T {place}" for place in reversed(range(120)) if place != 3)]
    assert said == ["Pinned", "Today"]


def test_the_next_page_is_rows_for_htmx_and_a_whole_page_without_scripts(browser_of: Browser, who: People) -> None:
    many(who.alice, 60)
    client = browser_of("alice")
    more = get(client, "/threads/").one("a", rel="next")
    assert more["href"] == more["hx-get"]
    part, whole = fragment(client, f"/threads/{more['href']}"), get(client, f"/threads/{more['href']}")
    assert {child.tag for child in part.children if isinstance(child, Node)} == {"tbody"}
    assert titles(part) == titles(whole) == [f"T {place}" for place in reversed(range(10))]
    assert part.none(rel="next")
    focused = [each.words for each in part.all("a") if "data-focus" in each.attributes]
    assert focused == ["T 9"], "what was pressed is gone, and reading goes on here"
    assert not [each for each in whole.all("a") if "data-focus" in each.attributes]


def test_a_boosted_visit_gets_the_whole_page(browser_of: Browser, who: People) -> None:
    many(who.alice, 60)
    client = browser_of("alice")
    href = get(client, "/threads/").one("a", rel="next")["href"]
    boosted = get(client, f"/threads/{href}", **{"HX-Request": "true", "HX-Boosted": "true"})
    assert not boosted.none("html")


@pytest.mark.parametrize("token", ["x", "v1.", "e30", "AAAA.BBBB", "9" * 400])
def test_a_page_token_that_was_made_up_is_refused(browser_of: Browser, token: str) -> None:
    page = get(browser_of("alice"), f"/threads/?after={token}&q=x", 400)
    assert page.one("h1").words == "This list has no such page." and "page_token" not in page.words
    assert page.one("main").one("a", data_why=True)["href"] == "/threads/?q=x"


def test_views_filter_and_keep_the_search(browser_of: Browser, who: People) -> None:
    mine = make.thread(who.alice, "mine", visibility="org")
    make.thread(who.bob, "theirs", visibility="org")
    make.waiting(who.alice, "Ask [[call remember {}]]")
    make.thread(who.alice, "Aim [[refuse-goals]]", goals=[{"goal_type": "dataset_summary", "dataset_id": "ds_1"}])
    make.thread(who.alice, "Busy", run=False)
    forks.fork(who.alice.actor, mine, 1)
    client = browser_of("alice")
    whole, *searched = get(client, "/threads/?q=is:fork+m%26e").one("nav", class_="views").all("a")
    assert whole["href"] == "?" and all(link["href"].endswith("+m%26e") for link in searched)
    found = {
        link.words: titles(get(client, f"/threads/{link['href']}"))
        for link in get(client, "/threads/").one("nav", class_="views").all("a")
    }
    assert found["Mine"] == ["mine", "Busy", "Aim", "Ask", "mine"]
    assert found["Answering"] == ["Busy"]
    assert found["Tool pending"] == ["Ask"]
    assert found["Goals failed"] == ["Aim"]
    assert found["Failed"] == found["Rated negative"] == []
    assert found["Private"] == ["mine", "Busy", "Aim", "Ask"]
    assert found["Forks"] == ["mine"]


def test_the_view_and_the_search_are_in_the_address(browser_of: Browser, who: People) -> None:
    many(who.alice, 60)
    page = get(browser_of("alice"), "/threads/?q=is:mine+T")
    assert page.one("nav", class_="views").one(aria_current="true").words == "Mine"
    assert page.one("form", role="search").fields() == {"q": ["is:mine T"]}
    assert page.one(rel="next")["href"].startswith("?q=is%3Amine+T&after=")


@pytest.mark.parametrize(
    ("line", "marked"),
    [
        ("", ["All"]),
        ("pumps", []),
        ("status:idle", []),
        ("-status:failed", []),
        ("status:failed OR is:mine", []),
        ("Status:Failed", ["Failed"]),
        ("status:failed pumps", ["Failed"]),
        ("is:mine status:failed", ["Mine", "Failed"]),
        ("status:lost is:fork", ["Forks"]),
    ],
)
def test_the_views_that_a_line_is_narrowed_to_are_marked(
    browser_of: Browser, who: People, line: str, marked: list[str]
) -> None:
    """Chosen or typed, it is the same line; and no other view is said to be looked at."""
    many(who.alice, 1)
    views = get(browser_of("alice"), f"/threads/?q={quote(line)}").one("nav", class_="views").all("a")
    assert [view.words for view in views if view.get("aria-current")] == marked
    chosen = next(view for view in views if view.words == "Rated negative")["href"]
    there = get(browser_of("alice"), f"/threads/{chosen}")
    assert there.one("nav", class_="views").one(aria_current="true").words == "Rated negative"


def test_an_address_of_a_view_beside_the_line_finds_the_same(browser_of: Browser, who: People) -> None:
    """As they were kept before views were lines."""
    many(who.bob, 1, title="T", visibility="org")
    many(who.alice, 2, title="T")
    many(who.alice, 1, title="x")
    client = browser_of("alice")
    for query, line in (("view=mine&q=T", "is:mine T"), ("view=mine&q=T+OR+zzz", "is:mine (T OR zzz)")):
        page = get(client, f"/threads/?{query}")
        assert page.id("q")["value"] == line and titles(page) == ["T 1", "T 0"]
    assert get(client, "/threads/?view=mine").id("q")["value"] == "is:mine"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("pumps", ["Broken pumps"]),
        ("PUMPS", ["Broken pumps"]),
        ("tyre", ["Broken pumps"]),
        ("owner:bob", ["Bells"]),
        ("owner:Alice", ["Lights", "Broken pumps"]),
        ("model:simulated", ["Bells", "Lights", "Broken pumps"]),
        ("model:other", []),
        ("is:private", ["Lights", "Broken pumps"]),
        ("is:shared", ["Bells"]),
        ("is:fork tyre", []),
        ("has:error", ["Lights"]),
        ("has:error owner:bob", []),
        ("HAS:Error", ["Lights"]),
        ("about:ds_7", ["Bells"]),
        ("http://tyre", []),
    ],
)
def test_the_search_line_finds(browser_of: Browser, who: People, line: str, found: list[str]) -> None:
    make.thread(who.alice, "Broken pumps\nand a flat tyre")
    make.thread(who.alice, "Lights [[fail]]")
    bells = make.thread(who.bob, "Bells", visibility="org")
    bells.subjects.create(association_id="ds_7", note="n")
    page = get(browser_of("alice"), f"/threads/?q={quote(line)}")
    assert titles(page) == found
    assert page.none(id="unread")
    if not found:
        assert page.one("main").one("h2").words == "No thread matches."
        assert page.one(class_="void").one("a")["href"] == "/threads/"


def test_a_thread_is_found_by_its_id_and_stands_once_however_often_it_was_forked(
    browser_of: Browser, who: People
) -> None:
    thread = make.thread(who.alice, "Source")
    for _ in range(3):
        forks.fork(who.alice.actor, thread, 0)
    client = browser_of("alice")
    assert titles(get(client, f"/threads/?q=id:{thread.thread_id}")) == ["Source"]
    assert titles(get(client, "/threads/?q=has:fork")) == ["Source"]


def test_nobody_learns_that_an_admin_forked_their_thread(browser_of: Browser, who: People) -> None:
    """Spec 2.8: to reproduce a complaint is the desk's own affair."""
    source = make.thread(who.alice, "Private")
    forks.fork(who.admin.actor, source, 0)
    assert titles(get(browser_of("alice"), "/threads/?q=has:fork")) == []
    assert titles(get(browser_of("admin"), f"/threads/?q=has:fork+id:{source.thread_id}")) == ["Private"]


@pytest.fixture
def kinds(who: People) -> dict[str, Thread]:
    """A thread in each state that a row can say, and some with ratings; the titles say which."""
    goal = [{"goal_type": "dataset_summary", "dataset_id": "ds_1"}]
    made = {
        "idle": make.thread(who.alice, "idle"),
        "failed": make.thread(who.alice, "failed [[fail]]"),
        "pending": make.waiting(who.alice, "pending [[call remember {}]]"),
        "missed": make.thread(who.alice, "missed [[refuse-goals]]", goals=goal),
        "reached": make.thread(who.alice, "reached", goals=goal, visibility="org"),
        "busy": make.thread(who.alice, "busy", run=False),
    }
    Thread.objects.filter(pk=made["idle"].pk).update(created=timezone.now() - timedelta(days=20))
    make.rating(who.alice, made["idle"], sentiment="positive")
    make.rating(who.alice, made["failed"], sentiment="negative")
    make.rating(who.bob, made["reached"], sentiment="negative")
    return made


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("status:idle", {"idle", "reached"}),
        ("status:Failed", {"failed"}),
        ("status:answering", {"busy"}),
        ("status:tool-pending", {"pending"}),
        ('status:"Tool pending"', {"pending"}),
        ("status:goals_failed", {"missed"}),
        ("status:cancelled", set()),
        ("status:idle OR status:failed", {"idle", "reached", "failed"}),
        ("-status:idle -has:goal", {"failed", "pending", "busy"}),
        ("goal:achieved", {"reached"}),
        ("goal:failed", {"missed"}),
        ("created:<7d", {"failed", "pending", "missed", "reached", "busy"}),
        ("created:>7d", {"idle"}),
        ("age:>2w", {"idle"}),
        ("created:<2001", set()),
        ("owner:me (failed OR busy)", {"failed", "busy"}),
        ("is:mine is:shared", {"reached"}),
        ("has:feedback", {"idle", "failed"}),
        ("sentiment:negative", {"failed"}),
        ("-has:feedback is:shared", {"reached"}),
        ("idle -idle", set()),
    ],
)
def test_the_list_is_found_by_what_it_shows(
    browser_of: Browser, kinds: dict[str, Thread], line: str, found: set[str]
) -> None:
    page = get(browser_of("alice"), f"/threads/?q={quote(line)}")
    assert set(titles(page)) == found and page.none(id="unread")


@pytest.mark.parametrize(
    ("name", "found"), [("alice", {"failed"}), ("bob", {"reached"}), ("admin", {"failed", "reached"})]
)
def test_ratings_find_what_the_reader_may_see_of_them(
    browser_of: Browser, kinds: dict[str, Thread], name: str, found: set[str]
) -> None:
    """A reader is told of their own ratings alone, an admin of everybody's: the list says no more than its rows."""
    client = browser_of(name)
    assert set(titles(get(client, "/threads/?view=rated_negative"))) == found
    assert found <= set(titles(get(client, "/threads/?q=has:feedback")))


def test_the_days_of_a_line_begin_where_its_reader_is(browser_of: Browser, who: People) -> None:
    [thread] = many(who.alice, 1)
    late = timezone.now().replace(year=2026, month=5, day=1, hour=23)
    Thread.objects.filter(pk=thread.pk).update(created=late)
    client = browser_of("alice")
    assert titles(get(client, "/threads/?q=created:2026-05-01")) == ["T 0"]
    client.cookies["tz"] = "Asia/Tokyo"
    assert not titles(get(client, "/threads/?q=created:2026-05-01"))
    assert titles(get(client, "/threads/?q=created:2026-05-02")) == ["T 0"]


@pytest.mark.parametrize(
    ("line", "named", "rest"),
    [
        ("colour:red", ["colour:red"], "?"),
        ("is:nothing has:wheels x", ["is:nothing", "has:wheels"], "?q=x"),
        ("status:failed created:soon", ["created:soon"], "?q=status%3Afailed"),
        ("a:<script> (x OR status:lost) y", ["a:<script>", "status:lost"], "?q=y"),
        ('x "open', ['"open'], "?q=x"),
        ("status: x", ["status:"], "?q=x"),
        ('""', ['""'], "?"),
    ],
)
def test_what_is_not_understood_is_named_in_place_with_what_would_be_right(
    browser_of: Browser, who: People, line: str, named: list[str], rest: str
) -> None:
    """Never dropped in silence: nothing is found, as on the desk, and one press looks for the rest."""
    many(who.alice, 1, title="x")
    page = get(browser_of("alice"), f"/threads/?q={quote(line)}")
    told = page.id("unread")
    assert [code.words for code in told.all("code")] == named
    assert page.id("q")["aria-describedby"] == "unread"
    assert page.id("q")["value"] == line
    assert titles(page) == []
    assert page.one(class_="void").one("a")["href"] == rest
    assert get(browser_of("alice"), f"/threads/{rest}").none(id="unread")


def test_a_field_that_is_nearly_right_is_told_the_right_one(browser_of: Browser, who: People) -> None:
    many(who.alice, 1)
    client = browser_of("alice")
    told = get(client, "/threads/?q=x+state:fail&view=mine").id("unread")
    assert "did you mean status:?" in told.words
    assert told.one("a").words == "Use status:failed"
    assert told.one("a")["href"] == "?q=is%3Amine+x+status%3Afailed"
    told = get(client, "/threads/?q=colour:red").id("unread")
    assert "the fields are status, is, has, sentiment, goal, created, age, owner," in told.words and told.none("a")
    assert "idle, answering" in get(browser_of("alice"), "/threads/?q=status:lost").id("unread").words


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("", "status:"),
        ("sta", "status:"),
        ("status:f", "status:failed"),
        ("bike -status:F", "bike -status:failed"),
        ("(has:", "(has:feedback"),
        ("owner:me model:sim", "owner:me model:simulated"),
        ("created:", "created:<7d"),
    ],
)
def test_a_line_is_completed_where_it_ends(browser_of: Browser, typed: str, offered: str) -> None:
    part = fragment(browser_of("alice"), f"/threads/terms/?q={quote(typed)}")
    options = [option["value"] for option in part.all("option")]
    assert offered in options and typed not in options
    assert all(option.lower().startswith(typed.lower()[:1]) for option in options)


def test_tools_are_offered_of_the_threads_that_one_may_read(browser_of: Browser, who: People) -> None:
    make.thread(who.alice, '[[call echo {"value": 1}]] Private')
    make.thread(who.alice, '[[call calculate {"expression": "1+"}]] Shared', visibility="org")
    indexing.catch_up()

    def offered(name: str, typed: str) -> list[str]:
        part = fragment(browser_of(name), f"/threads/terms/?q={quote(typed)}")
        return [option["value"] for option in part.all("option")]

    assert offered("alice", "x tool:") == ["x tool:calculate", "x tool:echo"]
    assert offered("bob", "tool:") == ["tool:calculate"] == offered("bob", "tool:CAL")
    assert offered("eve", "tool:") == []
    assert offered("admin", "failed:") == ["failed:calculate"]


def test_nothing_is_offered_where_nothing_fits(browser_of: Browser) -> None:
    for typed in ("status:failed", "colour:", "zzz", "%00x", "a" * 2000):
        assert fragment(browser_of("alice"), f"/threads/terms/?q={quote(typed)}").none("option")


def test_an_empty_view_and_an_empty_search_say_which_they_are(browser_of: Browser, who: People) -> None:
    many(who.alice, 1)
    client = browser_of("alice")
    assert get(client, "/threads/?view=forks").one("main").one("h2").words == "No threads in this view."
    assert get(client, "/threads/?q=IS%3Afork").one("main").one("h2").words == "No threads in this view."
    unfound = get(client, "/threads/?q=zzz").one(class_="void")
    assert unfound.one("h2").words == "No thread matches."
    assert (
        "in titles, and from the beginning of a word in messages, answers and what tools were sent" in unfound.words
        and "id:" in unfound.words
    )
    assert "answers" not in get(client, "/threads/?q=owner:nobody").one(class_="void").words
    assert titles(get(client, "/threads/?view=bogus")) == ["T 0"]


def test_a_search_line_may_hold_anything(browser_of: Browser, who: People) -> None:
    many(who.alice, 1)
    get(browser_of("alice"), "/threads/?q=%00", 400)
    for line in ("'; DROP TABLE x; --", "%25_%5C", "%ED%A0%80", "a" * 2000, "%E2%80%AE"):
        get(browser_of("alice"), f"/threads/?q={line}&view={line[:80]}&band={line[:80]}")


def test_rows_that_run_are_asked_for_until_they_are_done(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice, "Busy", run=False)
    make.thread(who.alice, "Well")
    client = browser_of("alice")
    asking = get(client, "/threads/").one("tr", hx_swap="outerHTML")
    assert asking["hx-trigger"] == "every 3s"
    assert client.get(asking["hx-get"], headers={"HX-Request": "true"}).status_code == 204
    make.run_turns()
    part = fragment(client, asking["hx-get"])
    assert row(part, "Busy")["hx-swap-oob"] == f"outerHTML:tr:has(#t-{thread.thread_id})"
    assert row(part, "Busy").all("td")[0].words == "Idle"
    assert part.none("tr", hx_swap="outerHTML") and titles(part) == ["Busy"]
    assert get(client, "/threads/").none("tr", hx_swap="outerHTML")


def test_a_row_that_waits_for_its_client_is_asked_for_with_less_haste(browser_of: Browser, who: People) -> None:
    make.waiting(who.alice, "Ask [[call remember {}]]")
    assert get(browser_of("alice"), "/threads/").one("tr", hx_swap="outerHTML")["hx-trigger"] == "every 30s"


def test_rows_are_told_again_to_those_who_see_them(browser_of: Browser, who: People) -> None:
    """B28, B29: whatever is asked for, the list's own rights decide."""
    private = make.thread(who.alice, "Own", run=False)
    shared = make.thread(who.alice, "Shared", run=False, visibility="org")
    asked = f"/threads/running/?row={private.thread_id}.0&row={shared.thread_id}.0&row=x.y&row=%25&row=ags_.."
    for name, seen in (("alice", {"Own", "Shared"}), ("bob", {"Shared"}), ("eve", set()), ("admin", {"Own", "Shared"})):
        assert set(titles(fragment(browser_of(name), asked))) == seen
    assert browser_of("alice").get(asked)["Location"] == "/threads/"


def test_ten_more_running_threads_are_no_more_queries(browser_of: Browser, who: People) -> None:
    client, asked, counted = browser_of("alice"), "/threads/running/?", []
    for _ in range(2):
        for _ in range(5):
            asked += f"row={make.thread(who.alice, run=False).thread_id}.0&"
        with CaptureQueriesContext(connection) as captured:
            assert client.get(asked, headers={"HX-Request": "true"}).status_code == 200
        counted.append(len(captured))
    # Session, person, orgs; rows and ratings.
    assert counted == [5, 5]


def test_a_row_shows_where_the_words_are_that_it_was_found_by(browser_of: Browser, who: People) -> None:
    """The first message with one of them, and the row leads there; a title that has them says enough."""
    said = "Nothing yet", "First line.\n\nThe \u202ePUMP is <b>loud</b>, the pump leaks"
    thread = make.thread(who.alice, said[0])
    make.send(who.alice, thread, said[1])
    make.thread(who.alice, "A pump, too")
    client = browser_of("alice")
    rows = {row.one("a").words: row for row in get(client, "/threads/?q=pump+-is:fork").all("th", class_="title")}
    shown = rows["Nothing yet"].one("p")
    assert shown.words == "First line. The PUMP is <b>loud</b>, the pump leaks" and shown.one("mark").words == "PUMP"
    assert (
        rows["Nothing yet"].one("a")["href"]
        == f"/threads/{thread.thread_id}/?q=pump+-is%3Afork&at=2#m2:~:text=The-,PUMP"
    )
    assert rows["A pump, too"].one("a")["href"].endswith("/?q=pump+-is%3Afork")
    assert not rows["A pump, too"].all("p") and rows["A pump, too"].one("mark").words == "pump"
    assert not get(client, "/threads/?q=is:mine+-pumpe").all("mark")


def test_a_row_shows_where_in_an_answer_the_words_are(browser_of: Browser, who: People) -> None:
    """Only if nobody wrote them: the first answer with one of the phrases, and the row leads there."""
    said = [
        ("user", "Nothing"),
        ("assistant", "No."),
        ("user", "And?"),
        ("assistant", "<b>It is a \u202ePump of old. Pumps!"),
    ]
    thread = make.imported(who.alice, said)
    make.imported(who.alice, [("user", "Loud pumps"), ("assistant", "A pump.")], origin_id="two")
    client = browser_of("alice")
    for line in ("pump", "text:pump", 'text:"a pump" OR x'):
        rows = {row.one("a").words: row for row in get(client, f"/threads/?q={quote(line)}").all("th", class_="title")}
        shown = rows["Nothing"]
        assert shown.one("p").words == "<b>It is a Pump of old. Pumps!"
        assert shown.one("mark").words in ("Pump", "a Pump")
        assert f"/{thread.thread_id}/?{urlencode({'q': line, 'at': 3})}#m3:~:text=" in shown.one("a")["href"]
    assert not get(client, "/threads/?q=-text:pump").all("mark")


@pytest.mark.parametrize(
    ("line", "marked"),
    [
        ('"not found"', "not_found,-at%20Docks%20of"),
        ("found", "not_found,-at%20Docks%20of"),
        ("dock", "not_found%20at-,Docks"),
        ("harbour", "Docks%20of%20the-,harbour"),
        ("rinse", "rinse"),
        ("call:seen", "2026%2D05%2D01-,seen"),
    ],
)
def test_a_hit_in_a_call_is_marked_where_the_page_shows_it(
    browser_of: Browser, who: People, line: str, marked: str
) -> None:
    """Browsers find whole words, and beside them only what the payload has there: not the tool, nor another value."""
    thread = make.conversation(who.alice, 1)
    output = {"error": "not_found at Docks of the harbour", "hint": "rinse", "last": "2026-05-01 seen"}
    with writing(thread.pk) as writer:
        writer.add("assistant", [tool_use("look", "tu_1", {"id": 7})])
        writer.add("roboto", [tool_result("look", "tu_1", "error", output)])
    cell = get(browser_of("alice"), f"/threads/?q={quote(line)}").one("th", class_="title")
    assert cell.one("a")["href"].endswith(f"&at=2#m2:~:text={marked}")
    assert cell.one("p").words.startswith("look: not_found at Docks") or "…" in cell.one("p").words


@pytest.mark.parametrize(
    ("line", "at", "said"),
    [
        ("tool:look", 1, "look: id 7"),
        ("tool:SRV__Look", 1, "look: id 7"),
        ("tool:lo*", 1, "look: id 7"),
        ("failed:look", 4, "look: missing_field"),
        ("failed:look tool:book", 4, "look: missing_field"),
        ("tool:book", 5, "book: Dock 9"),
        ("has:error", 4, "look: missing_field"),
        ("failed:look OR failed:zzz", 4, "look: missing_field"),
        ("failed:look rinse", 6, "book: rinse"),
        ("goal:failed", 0, "Dataset summary: failed"),
        ("is:mine -failed:zzz", None, ""),
        ("-failed:zzz tool:look", 1, "look: id 7"),
    ],
)
def test_a_row_leads_to_what_a_term_asks_for(
    browser_of: Browser, who: People, line: str, at: int | None, said: str
) -> None:
    """The first of its kind, unless there is a text that it was found by; what is excluded leads nowhere."""
    thread = make.conversation(who.alice, 1)
    with writing(thread.pk) as writer:
        writer.add("assistant", [tool_use("look", "tu_1", {"id": 7})])
        writer.add("roboto", [tool_result("look", "tu_1", "success", {"n": 1})])
        writer.add("assistant", [tool_use("look", "tu_2", {"id": 8, "tool_name": "book"})])
        writer.add("roboto", [tool_result("look", "tu_2", "error", {"error": "missing_field"})])
        writer.add("assistant", [tool_use("book", "tu_3", {"station": "Dock 9"})])
        writer.add("roboto", [tool_result("book", "tu_3", "error", {"error": "rinse"})])
    thread.goals.create(goal_type="dataset_summary", goal_data={}, status="failed", message_sequence_num=0)
    Thread.objects.update(goal_count=1, has_error=True)
    cell = get(browser_of("alice"), f"/threads/?q={quote(line)}").one("th", class_="title")
    place = f"?{urlencode({'q': line, 'at': at})}#m{at}" if said else ""
    assert cell.one("a")["href"].partition(":~:")[0] == f"/threads/{thread.thread_id}/{place}"
    assert [each.words for each in cell.all("p")] == [said] * bool(said)


def test_a_place_that_is_an_error_says_which(browser_of: Browser, who: People) -> None:
    """Not that somebody cancelled."""
    thread = make.conversation(who.alice, 1)
    with writing(thread.pk) as writer:
        writer.add("assistant", [error("Cancelled by alice", "cancelled")], status="cancelled")
        writer.add("assistant", [error("", "overloaded")], status="failed")
    Thread.objects.update(has_error=True)
    cell = get(browser_of("alice"), "/threads/?q=has:error").one("th", class_="title")
    assert cell.one("p").words == "overloaded" and "&at=2#m2" in cell.one("a")["href"]


def test_rows_that_are_found_by_terms_are_no_more_queries(browser_of: Browser, who: People) -> None:
    client, line = browser_of("alice"), "/threads/?q=has:error+OR+failed:calculate+OR+tool:calc*+OR+goal:achieved"
    goal = {"goal_type": "dataset_summary", "dataset_id": "ds_1"}
    make.thread(who.alice, FAILS, goals=[goal])
    indexing.catch_up()
    before = queries(client, line)
    for _ in range(4):
        make.thread(who.alice, FAILS, goals=[goal])
    indexing.catch_up()
    assert queries(client, line) == before


def test_rows_that_are_found_by_words_are_no_more_queries(browser_of: Browser, who: People) -> None:
    client = browser_of("alice")

    def more() -> None:
        make.thread(who.alice, "Old\n\npump")
        make.imported(who.alice, [("user", "Old"), ("assistant", "A pump.")], origin_id=f"{Thread.objects.count()}")
        indexing.catch_up()

    more()
    before = queries(client, "/threads/?q=pump")
    for _ in range(3):
        more()
    assert queries(client, "/threads/?q=pump") == before


def test_ten_more_threads_are_no_more_queries(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice)
    make.rating(who.alice, thread)
    client = browser_of("alice")
    before = queries(client, "/threads/")
    for _ in range(5):
        forks.fork(who.alice.actor, thread_for(who.alice.actor, thread.thread_id), 1)
        make.rating(who.alice, make.thread(who.alice))
    # Session, person, orgs, the chosen org and all orgs for the frame; pins, rows and ratings.
    assert queries(client, "/threads/") == before == 9


def test_two_thousand_threads_are_one_short_page(browser_of: Browser, who: People) -> None:
    many(who.alice, 2_000)
    client = browser_of("alice")
    answer = client.get("/threads/")
    assert len(titles(dom(answer))) == 50
    assert len(answer.content) < 120_000
    assert parsed(answer.content.decode()).one(rel="next")


def test_a_view_beside_a_line_of_the_greatest_length_cuts_none_of_it(browser_of: Browser, who: People) -> None:
    make.thread(who.alice, "Hello")
    line = f"{' '.join(f'-zzzzzzzzzz{number:03}' for number in range(32))} owner:alice"
    assert 490 < len(line) <= 500
    assert titles(get(browser_of("alice"), f"/threads/?view=mine&q={quote(line)}")) == ["Hello"]
