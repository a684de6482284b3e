"""What browsers, and proxies on the way to them, may keep of what they were shown."""

import gzip
from collections.abc import Callable

import pytest
from django.templatetags.static import static
from django.test import Client

from tests import hooks, make
from tests.conftest import Api
from tests.pages.dom import get, submit
from tests.people import People
from threads import reading

Browser = Callable[[str | None], Client]
MINE = "private, no-cache"


def kept(answer: object) -> set[str]:
    return set(answer["Cache-Control"].split(", "))  # type: ignore[index]


def test_whatever_is_shown_to_one_person_is_theirs_alone_and_asked_for_again(browser_of: Browser, who: People) -> None:
    """And may stay in the browser's memory of pages, to which one comes back by its button: it is no `no-store`."""
    thread, client = make.thread(who.alice), browser_of("alice")
    here = f"/threads/{thread.thread_id}/"
    for path in ("/threads/", here, "/settings/", "/settings/members/", "/catalogue/", "/threads/none/", "/feedback/"):
        assert client.get(path)["Cache-Control"] == MINE
    assert client.get("/threads/", headers={"HX-Request": "true"})["Cache-Control"] == MINE
    assert client.post(f"{here}send/", {"text": "Hi"})["Cache-Control"] == MINE
    assert browser_of(None).get("/threads/")["Cache-Control"] == MINE


def test_so_is_what_a_program_gets(api: Callable[[str], Api], who: People) -> None:
    thread = make.thread(who.alice)
    for path in ("threads", f"threads/{thread.thread_id}", "threads/none", "/v1/catalogue/tools"):
        assert api("alice").get(path)["Cache-Control"] == MINE


def test_static_files_and_streams_keep_what_they_say_themselves(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice)
    assert "private" not in kept(browser_of("alice").get(static("icons.svg")))
    live = browser_of("alice").get(f"/threads/{thread.thread_id}/live/")
    assert {"private", "no-cache", "no-transform"} <= kept(live)
    live.close()


def test_what_is_shown_once_is_kept_nowhere(browser_of: Browser, who: People) -> None:
    hooks.make_org_admin(who.alice)
    client = browser_of("alice")
    shown = []
    form = get(client, "/settings/").one("form", action="/settings/tokens/")
    shown.append(submit(client, form, name="laptop")["Location"].partition("#")[0])
    form = get(client, "/settings/members/").one("input", name="email").within("form")
    shown.append(submit(client, form, email="new@acme.test")["Location"])
    form = get(client, "/settings/webhooks/").id("new").within("section").one("form")
    shown.append(submit(client, form, url="https://hooks.example.org/in", events=hooks.SAID)["Location"])
    for path in shown:
        assert {"private", "no-store"} <= kept(client.get(path))
        assert client.get(path)["Cache-Control"] == MINE


@pytest.mark.parametrize("name", ["roboto", "openai"])
def test_a_thread_that_is_taken_along_is_kept_where_its_reader_puts_it(
    browser_of: Browser, api: Callable[[str], Api], who: People, name: str
) -> None:
    thread = make.thread(who.alice)
    downloaded = browser_of("alice").get(f"/threads/{thread.thread_id}/export/?format={name}")
    told = api("alice").get(f"threads/{thread.thread_id}/export?format={name}")
    for answer in (downloaded, told):
        assert answer.status_code == 200 and {"private", "no-store"} <= kept(answer)


def test_pages_travel_compressed_for_whoever_can_read_that(browser_of: Browser, who: People) -> None:
    """Fragments, too; what an event stream says leaves at once, so it does not."""
    thread, client = make.thread(who.alice), browser_of("alice")
    here, packed = f"/threads/{thread.thread_id}/", {"Accept-Encoding": "br, gzip"}
    for more in ({}, {"HX-Request": "true"}):
        plain, small = client.get(here, headers=more), client.get(here, headers=packed | more)
        assert "Content-Encoding" not in plain and small["Content-Encoding"] == "gzip"
        assert "Accept-Encoding" in plain["Vary"] and int(small["Content-Length"]) == len(small.content)
        assert len(small.content) < len(plain.content) / 3
        assert b"<article" in gzip.decompress(small.content)
    line = client.get(f"{here}live/", {"token": reading.token_of(make.fresh(thread))}, headers=packed)
    assert line.status_code == 200 and line.streaming and "Content-Encoding" not in line
    line.close()
