"""Taking a thread along: every format a download, for whoever may read it."""

import json
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from tests import make
from tests.pages.dom import dom, get
from tests.people import People
from threads import reading, transcript
from threads.content import tool_result, tool_use
from threads.dialects import EXPORT_FORMATS, FORMATS
from threads.models import Thread

Browser = Callable[[str | None], Client]
SAID = "Is <b>dock 9</b> full? ☃"


def test_the_menu_offers_downloads_that_exist(browser_of: Browser, who: People) -> None:
    thread, client = make.thread(who.alice, SAID), browser_of("alice")
    links = get(client, f"/threads/{thread.thread_id}/").id("bar-menu").all("a", download=True)
    assert {link["href"].rpartition("=")[2] for link in links} == set(EXPORT_FORMATS)
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


def told_in(thread: Thread) -> list[tuple[str, list[tuple[object, ...]]]]:
    """What each message says; texts that follow each other are one, as OpenAI has them."""
    found = []
    for message in reading.snapshots(thread.pk, with_raw=True):
        kinds = groupby(message.blocks, lambda block: block["content_type"])
        said = [
            ("".join(each["text"] for each in blocks),)
            if kind == "text"
            else tuple(
                (each["tool_use_id"], each["tool_name"], each.get("input"), each.get("payload")) for each in blocks
            )
            for kind, blocks in kinds
        ]
        found.append((message.role, said))
    return found


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_downloaded_is_imported_by_the_command_as_it_is(
    browser_of: Browser, who: People, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """B172: into another org, with what was said, the title and the metadata."""
    thread = make.thread(who.alice, SAID, system_prompt="Be brief.")
    with transcript.writing(thread.pk) as writer:
        writer.add("assistant", [tool_use("look", "tu_1", {"deep": [1, None, {"ü": 2.5}]})])
        writer.add("roboto", [tool_result("look", "tu_1", "success", {"found": [True]})])
        writer.add("assistant", [{"content_type": "text", "text": "Done."}])
    Thread.objects.filter(pk=thread.pk).update(metadata={"ticket": 7}, title="Docks")
    answer = browser_of("alice").get(f"/threads/{thread.thread_id}/export/?format={name}")
    file = tmp_path / "thread.json"
    options = {"format": name, "org": "globex", "owner": "eve@globex.test"}
    for content, outcome in (
        (answer.content, "1 created, 0 unchanged, 0 failed"),
        (b"[" + answer.content + b"]", "0 created, 1 unchanged, 0 failed"),
    ):
        file.write_bytes(content)
        call_command("import_threads", str(file), **options)
        out, err = capsys.readouterr()
        assert out.strip() == outcome and err == ""
    copy = Thread.objects.get(org=who.globex)
    assert (copy.import_id, copy.title, copy.system_prompt, copy.metadata, copy.created) == (
        thread.thread_id, "Docks", "Be brief.", {"ticket": 7}, thread.created
    )  # fmt: skip
    assert told_in(copy) == told_in(thread)


def test_what_an_import_brought_beside_the_words_is_not_for_every_reader(browser_of: Browser, who: People) -> None:
    thread = make.thread(who.alice, visibility="org")
    Thread.objects.filter(pk=thread.pk).update(metadata={"card": "4711"})
    for name, sees in (("alice", True), ("admin", True), ("bob", False)):
        record = json.loads(browser_of(name).get(f"/threads/{thread.thread_id}/export/?format=openai").content)
        assert ("metadata" in record, "4711" in str(record)) == (sees, sees), name


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
