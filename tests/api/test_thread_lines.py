"""Finding threads by a line over REST: `q` in the list (H1) and in search (H2), in the grammar of the page."""

from urllib.parse import quote

import pytest

from accounts.models import User
from tests import make
from tests.conftest import data_of, refusal_of


@pytest.fixture
def talks(who):
    """Two of alice's and two of bob's, a private and a shared one each."""
    return {
        f"{name} {visibility}": make.thread(who.named(name), "Whales and ships", visibility=visibility)
        for name in ("alice", "bob")
        for visibility in ("private", "org")
    }


@pytest.fixture
def found(api, talks):
    """`found("is:private")` are the names of alice's list; `search=True` asks for all that she may read."""
    names = {thread.thread_id: name for name, thread in talks.items()}

    def asked(line, *, search=False, **more):
        if search:
            answer = api("alice").post("threads/search", {"q": line, **more})
        else:
            answer = api("alice").get(f"threads?q={quote(line)}")
        return sorted(names[item["thread_id"]] for item in data_of(answer)["items"])

    return asked


def test_the_list_is_narrowed_by_a_line_and_never_widened(found):
    assert found("") == found("is:mine") == ["alice org", "alice private"]
    assert found("is:private whales") == ["alice private"]
    assert found("owner:bob") == found("-is:mine") == found("(is:shared -is:shared)") == []


def test_a_line_may_say_and_and_not(found):
    assert found("is:mine AND NOT is:private") == found("is:mine -is:private") == ["alice org"]
    assert found("NOT (is:private OR is:shared)") == []
    assert found("whales AND ships") == found("whales and ships") == ["alice org", "alice private"]
    assert found("whales NOT ships") == []
    assert found("whales not ships") == found('whales "NOT" ships') == ["alice org", "alice private"]


def test_a_search_takes_a_line_beside_its_own_fields(found):
    assert found("-is:mine", search=True) == ["bob org"]
    assert found("is:shared", search=True) == ["alice org", "bob org"]
    assert found("is:shared", search=True, created_by="alice@acme.test") == ["alice org"]
    assert found(None, search=True) == found("", search=True) == ["alice org", "alice private", "bob org"]


def test_pins_of_others_are_narrowed_too(api, found, talks):
    data_of(api("alice").post(f"threads/{talks['bob org'].thread_id}/pin", {"pinned": True}))
    assert found("is:shared") == ["alice org", "bob org"]
    assert found("is:private") == ["alice private"]


def test_what_is_not_understood_is_refused_by_its_name(api, talks):
    for answer in (
        api("alice").get("threads?q=is:opn%20staus:x"),
        api("alice").post("threads/search", {"q": "is:opn staus:x"}),
    ):
        status, code, sentence = refusal_of(answer)
        assert (status, code) == (400, "RobotoInvalidRequestException")
        assert sentence.startswith("q: is:opn — must be mine") and sentence.endswith("(at character 1) (and 1 more)")
        assert [each["field"] for each in answer.json()["details"]] == ["q", "q"]
        assert "did you mean status:?" in answer.json()["details"][1]["reason"]
    answer = api("alice").get("threads?q=is:shred")
    assert answer.json()["details"][0]["reason"].endswith("; use is:shared instead (at character 1)")
    assert refusal_of(api("alice").get("threads?q=" + "x" * 2001))[0] == 400


def test_a_page_of_a_line_goes_on_with_the_same_line(api, who):
    for number in range(3):
        make.thread(who.alice, f"Whale {number}", visibility="org" if number else "private")
    first = data_of(api("alice").get("threads?q=is:shared&limit=1"))
    second = data_of(api("alice").get(f"threads?q=is:shared&limit=1&page_token={first['next_token']}"))
    assert len(first["items"]) == len(second["items"]) == 1 and second["next_token"] is None


def test_a_line_sets_the_order_below_the_pins_H1_H2(api, who):
    """Also without any other term; the runs of checks stay in a program's list."""
    threads = [make.thread(who.alice, f"Whale {number}", visibility="org") for number in range(3)]
    for _ in range(2):
        make.send(who.alice, threads[1], "And ships")
    make.send(who.alice, threads[0], "And ships")
    names = {thread.thread_id: number for number, thread in enumerate(threads)}

    def told(line):
        listed = data_of(api("alice").get(f"threads?q={quote(line)}"))
        searched = data_of(api("alice").post("threads/search", {"q": line}))
        found, again = ([names[item["thread_id"]] for item in page["items"]] for page in (listed, searched))
        assert found == again
        return found

    assert told("") == told("sort:newest") == [2, 1, 0]
    assert told("sort:oldest") == told("whale SORT:Old") == [0, 1, 2]
    assert told("sort:longest") == [1, 0, 2]
    assert told("sort:changed ships") == [0, 1]
    data_of(api("alice").post(f"threads/{threads[2].thread_id}/pin", {"pinned": True}))
    assert told("sort:oldest") == [2, 0, 1]


def test_an_order_where_none_can_be_is_refused(api, who):
    for line, reason in (
        ("sort:up", "q: sort:up — must be newest, oldest, changed or longest (at character 1)"),
        (
            "-sort:oldest",
            "q: sort:oldest — sorts the whole list; use it once, not after - or in an OR (at character 2)",
        ),
        (
            "a OR sort:oldest",
            "q: sort:oldest — sorts the whole list; use it once, not after - or in an OR (at character 6)",
        ),
        ("sort:oldest a sort:longest", "q: sort:longest — is a second sort order after sort:oldest (at character 15)"),
    ):
        assert refusal_of(api("alice").get(f"threads?q={quote(line)}"))[::2] == (400, reason)


def test_a_token_of_another_order_is_refused(api, who):
    for number in range(2):
        make.thread(who.alice, f"Whale {number}")
    token = data_of(api("alice").get("threads?q=sort:oldest&limit=1"))["next_token"]
    assert refusal_of(api("alice").get(f"threads?limit=1&page_token={token}"))[0] == 400
    assert data_of(api("alice").get(f"threads?q=sort:oldest&limit=1&page_token={token}"))["next_token"] is None


@pytest.mark.parametrize("said", ["Évora", "évora", "ÉVORA", "vora", "éVoRa (Σ)"])
def test_metadata_is_found_whatever_the_case_of_its_letters(api, who, said):
    line = {"id": "c1", "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}
    line["metadata"] = {"city": "Évora (σ)"}
    data_of(api("alice").post("threads/import", {"format": "openai", "conversations": [line]}))
    query = quote(f'meta:"{said}"')
    assert len(data_of(api("alice").get(f"threads?q={query}"))["items"]) == 1
    assert data_of(api("alice").get(f"threads?q={quote('meta:' + chr(0xC8) + 'vora')}"))["items"] == []


@pytest.mark.parametrize(("said", "count"), [("weiss", 1), ("ÉLODIE", 1), ("élodie weiß", 1), ("Élo", 0), ("alice", 1)])
def test_owners_are_found_by_names_in_any_case_of_any_script(api, who, said, count):
    User.objects.filter(pk=who.alice.user.pk).update(name="Élodie Weiß")
    make.thread(who.alice, "Hi")
    query = quote(f'owner:"{said}"')
    assert len(data_of(api("alice").get(f"threads?q={query}"))["items"]) == count
