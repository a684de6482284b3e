"""The command palette: every place that a person may open, found by the beginnings of its words."""

from collections.abc import Callable
from urllib.parse import quote

import pytest
from django.test import Client

from accounts.orgs import add_member
from catalogue.models import Tool
from feedback import capture, labelling
from feedback.checks import keeping
from feedback.models import SavedView
from feedback.wire_checks import CheckIn
from tests import make
from tests.conftest import Api, data_of
from tests.pages.dom import Node, fragment, get, parsed, queries
from tests.people import People, second_admin
from threads.models import Thread

Browser = Callable[[str | None], Client]
SKILL = {"name": "greeting", "description": "What for.", "body": "How."}
TOOL = {"dialect": "openai", "server": "gate", "tool": {"name": "greet"}}


def items(page: Node) -> list[tuple[str, str]]:
    """Name and kind of each place."""
    return [(link.all("span")[0].words, link.all("span")[-1].words) for link in page.all("a", data_place=True)]


def found(client: Client, typed: str) -> list[tuple[str, str]]:
    return items(fragment(client, f"/go/?q={quote(typed)}"))


def leads(client: Client, typed: str, name: str) -> str:
    """The address of the item with that name."""
    links = fragment(client, f"/go/?q={quote(typed)}").all("a", data_place=True)
    return next(link["href"] for link in links if link.all("span")[0].words == name)


def titled(person: object, title: str, **fields: object) -> Thread:
    return Thread.objects.create(
        org_id=next(iter(person.actor.orgs.values())),  # type: ignore[attr-defined]
        created_by=person.user,  # type: ignore[attr-defined]
        title=title,
        status="user_turn",
        **fields,
    )


def test_pages_are_found_by_the_beginnings_of_their_words_and_of_what_they_are_about(browser_of: Browser) -> None:
    alice = browser_of("alice")
    assert found(alice, "imp thr")[0] == ("Import threads", "Page")
    assert found(alice, "TOKENS")[0] == ("Settings", "Page")
    assert ("Settings", "Page") not in found(alice, "okens"), "the middle of a word is no beginning"
    assert leads(alice, "rest", "REST API") == "/v1/docs/"


def test_every_page_that_it_names_opens_for_whom_it_names_it(browser_of: Browser) -> None:
    for name in ("alice", "admin"):
        client = browser_of(name)
        links = fragment(client, "/go/").all("a")
        assert len(links) > 12
        for link in links:
            assert client.get(link["href"]).status_code == 200, link["href"]


def test_only_admins_are_led_to_the_desk(browser_of: Browser, who: People) -> None:
    labelling.make(who.admin.actor, "money")
    SavedView.objects.create(name="money matters", query="label:money", created_by=who.admin.user)
    SavedView.objects.create(name="money matters", query="is:due", created_by=second_admin().user, is_shared=True)
    queries = [link.all("span")[1].words for link in fragment(browser_of("admin"), "/go/?q=matters").all("a")[:2]]
    assert sorted(queries) == ["is:due", "label:money"], "two people's views of one name"
    thread = make.thread(who.alice, visibility="org")
    report = make.rating(who.alice, thread).feedback_id
    for typed, item in (
        ("money", ("money", "Label")),
        ("matters", ("money matters", "View")),
        ("unclaimed", ("Unclaimed", "View")),
        ("desk", ("Feedback desk", "g f Page")),
        (report, (report, "Report")),
        ("x", ("Search reports for “x”", "Search")),
    ):
        assert item in found(browser_of("admin"), typed)
        assert not {"Label", "View", "Report"} & {kind for _, kind in found(browser_of("alice"), typed)}
        assert item not in found(browser_of("alice"), typed)
    page = get(browser_of("admin"), leads(browser_of("admin"), report, report))
    assert page.one(id="desk-report").all(data_copy=report)


def test_threads_are_found_by_words_of_their_titles_and_by_their_ids(browser_of: Browser, who: People) -> None:
    """B28 to B30: only those that one may read, whatever their titles."""
    shared = titled(who.alice, "Late refund for a bicycle", visibility="org")
    titled(who.bob, "Refund of a fork", visibility="org", forked_from=shared)
    titled(who.alice, "Refund that nobody else sees")
    titled(who.eve, "Refund of another org", visibility="org")
    page = fragment(browser_of("alice"), "/go/?q=refund")
    details = {link.all("span")[0].words: link.all("span")[1].words for link in page.all("a", data_place="Thread")}
    assert details == {
        "Late refund for a bicycle": "alice, now",
        "Refund that nobody else sees": "private, alice, now",
        "Refund of a fork": "fork, bob, now",
    }
    assert [name for name, kind in found(browser_of("bob"), "FUND late") if kind == "Thread"] == [shared.title]
    for name in ("bob", "eve"):
        assert "Refund that nobody else sees" not in str(found(browser_of(name), "refund nobody"))
    assert found(browser_of("bob"), shared.thread_id)[0] == (shared.title, "Thread")
    for pasted in (shared.thread_id, f"https://heddle.example.org/threads/{shared.thread_id}/?at=3#m3"):
        assert leads(browser_of("bob"), pasted, shared.title) == f"/threads/{shared.thread_id}/"
    assert "Thread" not in [kind for _, kind in found(browser_of("eve"), shared.thread_id)]


def test_without_words_it_begins_with_where_one_was(browser_of: Browser, who: People) -> None:
    titled(who.alice, "Of mine")
    titled(who.bob, "Of his", visibility="org")
    kinds = dict(found(browser_of("alice"), " "))
    assert kinds["Of mine"] == "Thread" and "Of his" not in kinds
    assert "Search" not in kinds.values() and kinds["Tools"] == "g c Page"


def test_what_the_catalogue_holds_is_found_by_name(browser_of: Browser, api: Callable[..., Api], who: People) -> None:
    alice = api("alice")
    data_of(alice.post("/v1/catalogue/tools/import", TOOL))
    data_of(alice.post("/v1/skills/create", SKILL | {"accessibility": "org"}))
    data_of(alice.post("/v1/catalogue/worlds", {"tools": ["gate__greet"], "name": "greeting world"}))
    template = {"messages": [make.say("Hi")]}
    data_of(alice.post("/v1/ai/agents", {"name": "greeter", "request_template": template}))
    data_of(alice.post("/v1/catalogue/worlds", {"tools": ["gate__greet"], "mode": "examples", "seed": 71}))
    kinds = {kind: name for name, kind in found(browser_of("bob"), "greet") if kind != "Search"}
    world = kinds["World"]
    assert kinds == {"Tool": "gate__greet", "Skill": "greeting", "World": world, "Agent": "greeter"}
    assert world.startswith("greeting world, step 0")
    assert {kind for _, kind in found(browser_of("eve"), "greet")} == {"Search"}
    for name in kinds.values():
        assert browser_of("bob").get(leads(browser_of("bob"), "greet", name)).status_code == 200
    [(nameless, _)] = [each for each in found(browser_of("bob"), "seed 71") if each[1] == "World"]
    assert nameless.startswith("Examples world of gate, seed 71")


def test_what_begins_with_it_comes_first_and_the_searches_last(browser_of: Browser, who: People) -> None:
    titled(who.alice, "A thread about tools")
    names = found(browser_of("admin"), "tools")
    assert names[0] == ("Tools", "g c Page")
    assert [name for name, kind in names if kind == "Search"] == [name for name, _ in names[-3:]]
    assert ("A thread about tools", "Thread") in names[1:-3]


def test_a_search_keeps_what_was_typed(browser_of: Browser) -> None:
    client = browser_of("alice")
    typed = 'a&b "c" <i>ü</i>'
    href = leads(client, typed, f"Search threads for “{typed}”")
    assert get(client, href).one(id="q")["value"] == typed


def test_the_search_of_the_list_that_one_is_at_comes_first(browser_of: Browser) -> None:
    for path, name in (("/feedback/?q=is:open", "reports"), ("/threads/", "threads"), ("/catalogue/", "tools")):
        headers = {"HX-Request": "true", "HX-Current-URL": f"http://testserver{path}"}
        page = parsed(browser_of("admin").get("/go/?q=zzz", headers=headers).content.decode())
        assert items(page)[0][0].startswith(f"Search {name} for")


@pytest.mark.parametrize(
    "typed", ["<script>alert(1)</script>", "%", "_", "\\", "x" * 10_000, "( OR -", "\u202e", "xa " * 500, "'\"`"]
)
def test_whatever_is_typed_is_looked_for_and_no_more(browser_of: Browser, who: People, typed: str) -> None:
    titled(who.alice, "plain")
    page = fragment(browser_of("admin"), f"/go/?q={quote(typed)}")
    assert page.none("script")
    assert "plain" not in [name for name, _ in items(page)]
    get(browser_of("admin"), f"/go/?q={quote(typed)}")


def test_a_name_that_is_not_plain_leads_to_its_tool(browser_of: Browser, api: Callable[..., Api]) -> None:
    data_of(api("alice").post("/v1/catalogue/tools/import", TOOL))
    Tool.objects.filter(name="greet").update(qualified_name="gate__a/b?c#d-")
    assert leads(browser_of("alice"), "a/b?", "gate__a/b?c#d-") == "/catalogue/tools/gate__a%2Fb%3Fc%23d-/"


def test_a_check_leads_to_its_report_and_without_one_to_the_answer(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice)
    made = make.rating(who.alice, thread)
    keeping.keep(who.admin.actor, made.feedback_id, CheckIn(title="Nobody to a closed station"))
    admin = browser_of("admin")
    report = f"/feedback/?q=has%3Acheck&item={made.feedback_id}&pane=report#check"
    assert leads(admin, "closed nobody", "Nobody to a closed station") == report
    assert "not run yet" in fragment(admin, "/go/?q=closed+nobody").words
    assert found(browser_of("alice"), "closed nobody") == [
        (f"Search {kind} for “closed nobody”", "Search") for kind in ("threads", "tools")
    ]
    capture.retract(who.alice.actor, thread, 1)
    assert leads(admin, "closed nobody", "Nobody to a closed station") == f"/threads/{thread.thread_id}/?at=1#m1"


def test_it_asks_as_much_of_many_as_of_few(browser_of: Browser, who: People, api: Callable[..., Api]) -> None:
    add_member(who.acme, who.admin.user)

    def fill(start: int) -> None:
        for number in range(start, start + 8):
            titled(who.alice, f"same {number}", visibility="org")
            labelling.make(who.admin.actor, f"same {number}")
            SavedView.objects.create(name=f"same {number}", query="is:open", created_by=who.admin.user)
            tool = {**TOOL, "tool": {"name": f"same_{number}"}}
            data_of(api("alice").post("/v1/catalogue/tools/import", tool))
            data_of(api("alice").post("/v1/skills/create", SKILL | {"name": f"same-{number}"}))
            rated = make.rating(who.alice, make.thread(who.alice))
            keeping.keep(who.admin.actor, rated.feedback_id, CheckIn(title=f"same {number}"))

    fill(0)
    for name in ("admin", "alice"):
        few = queries(browser_of(name), "/go/?q=same", **{"HX-Request": "true"})
        assert few <= 12
        fill(10 if name == "admin" else 20)
        assert queries(browser_of(name), "/go/?q=same", **{"HX-Request": "true"}) == few


def test_only_the_items_are_fetched_and_without_scripts_there_is_a_page(browser_of: Browser) -> None:
    assert fragment(browser_of("alice"), "/go/?q=tools").none("form")
    page = get(browser_of("alice"), "/go/?q=tools")
    assert page.one("h1").words == "Go to"
    assert page.one("form", role="search").fields() == {"q": ["tools"]}
    assert items(page)[0] == ("Tools", "g c Page")
    assert page.one(id="go")["href"] == "/go/", "the button is a link"


def test_what_a_page_can_do_comes_first_and_each_key_once(browser_of: Browser) -> None:
    """What the script sends: keys with the captions of their buttons, which may end with a count and the key.

    What has only a name for a key is found by its words, and views, which have digits, are among the places.
    """
    sent = "\t".join(
        [
            "e Resolve the ticked",
            "e Resolve & next e",
            "F Rerun ⇧F",
            "r Next rating 2 r",
            "m  Admin\n note m",
            "x",
            "",
            "<i> <b>bold</b>",
            "1 Unclaimed 4 1",
            "View:10 r Refunds r",
            "Assign:bea@heddle.test b Bea bea@heddle.test b",
            "Switch:acme none only acme",
        ]
    )

    def acts(typed: str) -> list[tuple[str, str, str]]:
        page = fragment(browser_of("admin"), f"/go/?q={quote(typed)}&acts={quote(sent)}")
        return [
            (act["data-act"], act.one("span", class_="cut").words, act.all("span")[-1].words)
            for act in page.all("button", type="button")
        ]

    assert acts("") == [
        ("e", "Resolve the ticked", "e"),
        ("F", "Rerun", "⇧F"),
        ("r", "Next rating", "r"),
        ("m", "Admin note", "m"),
        ("?", "All keys", "?"),
    ]
    assert [key for key, *_ in acts("note adm")] == ["m"]
    assert acts("bea") == [("Assign:bea@heddle.test b", "Assign: Bea bea@heddle.test", "")]
    assert acts("only") == [("Switch:acme none", "Switch: only acme", "")] and acts("refunds") == []
    assert [key for key, *_ in acts("help")] == ["?"]
    sent = "\t".join([*(f"View:{number} v View {number}" for number in range(10, 160)), sent])
    assert [key for key, *_ in acts("note adm")] == ["m"], "however many views come before it"
    assert acts("<b>bold") == [("<i>", "<b>bold</b>", "")]
    page = fragment(browser_of("admin"), f"/go/?q=admin&acts={quote(sent)}")
    assert page.all("li")[0].one("button")["data-act"] == "m"


def test_how_much_is_found_is_announced_in_the_dialog_with_what_enter_takes(browser_of: Browser) -> None:
    """What is outside of it announces nothing while it is open. Without scripts the list is a page, and read as one."""
    alice = browser_of("alice")

    def heard(query: str) -> list[str]:
        page = fragment(alice, f"/go/?{query}")
        return [each.words for each in page.all("p", hx_swap_oob="innerHTML:#places-found")]

    shown = len(found(alice, "tokens"))
    assert heard("q=tokens") == [f"{shown} found. Enter goes to Settings."]
    assert heard("q=zzz") == ["Nothing found. Enter: Search threads for “zzz”."]
    assert heard("q=rename+it&acts=R+Rename+it") == ["3 found. Enter: Rename it."]
    assert heard("q=") == heard("q=+") == []
    page = get(alice, "/go/?q=tokens")
    assert page.none("p", hx_swap_oob=True) and page.id("palette").one(role="status").words == ""
    assert page.id("command")["aria-controls"] == page.id("palette").one("ul")["id"]


def test_when_nothing_has_it_in_its_name_that_is_said_before_the_searches(browser_of: Browser) -> None:
    rows = fragment(browser_of("alice"), "/go/?q=zzz").all("li")
    assert [row.words for row in rows] == [
        "Nothing has “ zzz ” in its name.",
        "Search threads for “zzz”Search",
        "Search tools for “zzz”Search",
    ]


def test_runs_of_checks_are_left_out_as_in_the_list(browser_of: Browser, who: People, api: Callable[..., Api]) -> None:
    thread = make.thread(who.alice, "Refund me", visibility="org")
    report = make.rating(who.alice, thread).feedback_id
    check = data_of(api("admin").request("PUT", f"admin/feedback/{report}/check", {}))["check_id"]
    data_of(api("admin").post(f"admin/checks/{check}/runs", {}))
    make.run_turns()
    assert Thread.objects.count() == 2
    for typed in ("refund", ""):
        kinds = [kind for name, kind in found(browser_of("admin"), typed) if "Refund" in name and kind == "Thread"]
        assert len(kinds) == (1 if typed else 0)


def test_the_views_of_the_thread_list_are_places(browser_of: Browser) -> None:
    assert leads(browser_of("alice"), "failed", "Threads: Failed") == "/threads/?q=status%3Afailed"
    assert leads(browser_of("alice"), "oldest", "Threads: Oldest first") == "/threads/?q=sort%3Aoldest"
    assert leads(browser_of("alice"), "sort long", "Threads: Longest first") == "/threads/?q=sort%3Alongest"
    get(browser_of("alice"), "/threads/?q=status%3Afailed")
