"""Taking a thread along: every format a download, for whoever may read it."""

import json
from collections.abc import Callable

import pytest
from django.test import Client

from tests import make
from tests.pages.dom import dom, get
from tests.people import People
from threads.dialects import EXPORT_FORMATS

Browser = Callable[[str | None], Client]
SAID = "Is <b>dock 9</b> full? ☃"


def test_the_menu_offers_downloads_that_exist(browser_of: Browser, who: People) -> None:
    thread, client = make.thread(who.alice, SAID), browser_of("alice")
    links = get(client, f"/threads/{thread.thread_id}/").id("bar-menu").all("a", download=True)
    assert len(links) >= 5
    for link in links:
        answer = client.get(link["href"])
        assert answer.status_code == 200, link["href"]


@pytest.mark.parametrize("name", sorted(EXPORT_FORMATS))
def test_every_format_is_a_download_with_the_thread_in_it(browser_of: Browser, who: People, name: str) -> None:
    """B172, B180: a file with a name of its own, never shown as a page."""
    thread = make.thread(who.alice, SAID)
    answer = browser_of("alice").get(f"/threads/{thread.thread_id}/export/?format={name}")
    assert answer["Content-Disposition"].startswith(f'attachment; filename="{thread.thread_id}-{name}.')
    assert answer["Content-Type"].split(";")[0] in ("text/plain", "application/json")
    assert answer["X-Content-Type-Options"] == "nosniff"
    content = answer.content.decode()
    if answer["Content-Type"].startswith("application/json"):
        record = json.loads(content)
        assert record["format"] == name
        assert SAID in json.dumps(record["messages"], ensure_ascii=False)
    else:
        assert SAID in content


def test_an_unknown_format_is_refused_by_name(browser_of: Browser, who: People) -> None:
    thread, client = make.thread(who.alice), browser_of("alice")
    for query in ("", "?format=", "?format=exe", "?format=../x"):
        page = dom(client.get(f"/threads/{thread.thread_id}/export/{query}"), 400)
        assert "format: must be one of" in page.one("main").words


def test_exporting_needs_read_access(browser_of: Browser, who: People) -> None:
    """B180."""
    thread = make.thread(who.alice, SAID, visibility="org")
    address = f"/threads/{thread.thread_id}/export/?format=markdown"
    assert browser_of("bob").get(address).status_code == 200
    assert SAID not in dom(browser_of("eve").get(address), 403).text
    assert browser_of(None).get(address).status_code == 302
    dom(browser_of("alice").get("/threads/ags_nothing/export/?format=markdown"), 404)
