"""Rerunning ticked reports from the desk, and resolving as fixed what their batch proves, without a browser."""

import pytest
from django.test import Client

from feedback import checks_screen
from feedback.checks import judging, running
from feedback.models import CheckBatch, CheckRun, Reply, UserFeedback
from tests import make
from tests.pages.desk import Browser, client_of, do, live, query_of, reports, stored, told, words
from tests.pages.dom import Node, dom, get, submit, then
from tests.people import People, second_admin

OPEN = "/feedback/?q=is:open"


@pytest.fixture
def made(who: People) -> list[UserFeedback]:
    """Reports on answers that are others now."""
    return reports(who.alice, 3)


def tick(client: Client, verb: str, *ticked: UserFeedback, **typed: object) -> object:
    page = get(client, OPEN)
    return submit(client, page.id("bulk"), verb, feedback_ids=[each.feedback_id for each in ticked], **typed)


def batch_of(client: Client, *ticked: UserFeedback) -> str:
    """The page of a batch that has ended."""
    answer = tick(client, "rerun latest", *ticked)
    assert answer["Location"] == f"/feedback/checks/batches/{CheckBatch.objects.latest('pk').batch_id}/"
    while CheckRun.objects.filter(ended_at=None).exists():
        make.run_turns()
        get(client, answer["Location"])
    return str(answer["Location"])


def passed(who: People, *made: UserFeedback) -> None:
    for run in CheckRun.objects.filter(of__feedback__in=made):
        judging.judge(who.admin.actor, run.run_id, "passed")


def boxes(page: Node) -> list[str]:
    return [box["value"] for box in page.all("input", name="feedback_ids")]


def test_ticked_reports_are_rerun_with_what_the_button_says(browser_of: Browser, made: list[UserFeedback]) -> None:
    client = browser_of("admin")
    tick(client, "rerun", *made[:2], tools="live", model_profile="simulated")
    batch = CheckBatch.objects.get()
    assert (batch.skills, batch.tools, batch.runs.count()) == ("recorded", "live", 2)
    assert batch.model_profile == "simulated"
    tick(client, "rerun latest", all="1")
    assert CheckBatch.objects.latest("pk").skills == "latest" and CheckBatch.objects.latest("pk").runs.count() == 3
    tick(client, "rerun agent", *made[:1])
    latest = CheckBatch.objects.latest("pk")
    assert (latest.skills, latest.prompt, latest.tools) == ("latest", "latest", "recorded")


def test_with_scripts_the_browser_leaves_the_desk_for_the_batch(browser_of: Browser, made: list[UserFeedback]) -> None:
    form = get(browser_of("admin"), OPEN).id("bulk")
    sent = {**form.fields(), "verb": "rerun", "ticked": made[0].feedback_id}
    answer = browser_of("admin").post(form["action"], sent, headers={"HX-Request": "true"})
    assert answer["HX-Redirect"] == f"/feedback/checks/batches/{CheckBatch.objects.get().batch_id}/"


def test_what_cannot_be_rerun_is_told_beside_the_buttons(browser_of: Browser, made: list[UserFeedback]) -> None:
    client = browser_of("admin")
    form = get(client, OPEN).id("bulk")
    sent = {**form.fields(), "verb": "rerun sometimes", "feedback_ids": made[0].feedback_id}
    for refused, said in (
        (tick(client, "rerun"), "tick a report first"),
        (client.post(form["action"], sent), "must rerun with"),
    ):
        assert said in dom(refused, 400).id("bulk").one(class_="wrong").words.lower()
    assert not CheckRun.objects.exists()


def test_a_text_that_was_typed_for_the_ticked_is_not_lost_without_scripts(
    browser_of: Browser, made: list[UserFeedback]
) -> None:
    page = dom(tick(browser_of("admin"), "rerun", made[0], public_reply="We look into it."), 400)
    assert page.id("bulk-reply").words == "We look into it." and not CheckRun.objects.exists()


def test_of_a_batch_the_reports_that_passed_are_resolved_together(
    browser_of: Browser, who: People, made: list[UserFeedback]
) -> None:
    client = browser_of("admin")
    address = batch_of(client, *made)
    page = get(client, address)
    assert page.id("judge") and not page.all("form", id="fix") and "answer differs from the rated one" in page.words
    passed(who, *made[:2])
    page = get(client, address)
    assert boxes(page) == [made[1].feedback_id, made[0].feedback_id]
    [judged] = [link for link in page.all("a") if link.words == "Message number 2."]
    fork = CheckRun.objects.get(of__feedback=made[1]).fork
    assert query_of(judged["href"]) == {"back": made[1].feedback_id, "compare": fork.thread_id}
    page = then(client, submit(client, page.id("fix"), "", feedback_ids=[made[0].feedback_id], public_reply="Mended."))
    assert words(page) == ["report 2", "report 1"], "the last list of the desk"
    assert told(page) == ["Resolved “report 0” as fixed, 1 person answered"]
    assert Reply.objects.get().public_reply == "Mended."
    then(client, submit(client, page.id("desk-status").one("form")))
    assert not stored(made[0]).resolved and not Reply.objects.exclude(public_reply=None).exists()


def test_a_fix_whose_duplicates_are_told_is_told_by_what_it_resolved(browser_of: Browser, who: People) -> None:
    """And taken back in the same words. The last thing that it did was a reply to a duplicate."""
    client, made = browser_of("admin"), [*reports(who.alice, 2), *reports(who.bob, 1)]
    do(who.admin, made[2], "duplicate", duplicate_of=made[0].feedback_id)
    address = batch_of(client, *made[:2])
    passed(who, *made[:2])
    sent = [each.feedback_id for each in made[:2]]
    page = then(client, submit(client, get(client, address).id("fix"), "", feedback_ids=sent, public_reply="Mended."))
    assert Reply.objects.filter(public_reply="Mended.").count() == 3
    assert told(page) == ["Resolved 2 reports as fixed, 2 people answered"]
    page = then(client, submit(client, page.id("desk-status").one("form")))
    assert told(page) == ["Undone: resolution of 2 reports, and the replies to 2 people."]


def test_a_fix_that_is_refused_keeps_what_was_typed_and_ticked(
    browser_of: Browser, who: People, made: list[UserFeedback]
) -> None:
    client = browser_of("admin")
    address = batch_of(client, *made)
    passed(who, *made)
    form = get(client, address).id("fix")
    page = dom(submit(client, form, "", feedback_ids=[], public_reply="Mended.", shows_answer="1"), 400)
    assert "No report is ticked." in page.id("fix").words
    assert page.id("fix-reply").words == "Mended." and page.one("input", name="shows_answer").has("checked")
    assert not [box for box in page.all("input", name="feedback_ids") if box.has("checked")]
    ticked = made[0].feedback_id
    page = dom(submit(client, form, "", feedback_ids=[ticked], public_reply="x" * 20_001), 400)
    assert page.id("fix").one(class_="wrong").words == "It must have at most 20,000 characters, not 20,001."
    assert page.id("fix-reply")["aria-invalid"] == "true"
    assert [box["value"] for box in page.all("input", name="feedback_ids") if box.has("checked")] == [ticked]
    assert not stored(made[0]).resolved


def test_what_somebody_resolved_meanwhile_is_told(browser_of: Browser, who: People, made: list[UserFeedback]) -> None:
    client = browser_of("admin")
    address = batch_of(client, *made)
    passed(who, *made)
    form = get(client, address).id("fix")
    do(who.admin, made[0], "resolve", outcome="noted")
    sent = [each.feedback_id for each in made]
    page = then(client, submit(client, form, "", feedback_ids=sent))
    assert told(page) == ["1 resolved already", "Resolved 2 reports as fixed"]
    assert boxes(get(client, address)) == []


def test_the_history_of_a_report_leads_to_what_came_of_it(
    browser_of: Browser, who: People, made: list[UserFeedback]
) -> None:
    client = browser_of("admin")
    address = batch_of(client, *made)
    page = get(client, f"/feedback/?q=&item={made[0].feedback_id}")
    history = page.id("desk-report").one(class_="hist")
    assert "reran it: 1 undecided" in history.words and address in [link["href"] for link in history.all("a")]
    assert "created its check" not in history.words
    fork = CheckRun.objects.get(of__feedback=made[0]).fork
    [compared] = [link["href"] for link in history.all("a") if link.words == "compare"]
    assert query_of(compared)["compare"] == fork.thread_id


def test_the_desk_tells_how_far_the_runs_are_and_what_they_came_to_until_their_page_is_opened(
    browser_of: Browser, who: People, made: list[UserFeedback]
) -> None:
    client = browser_of("admin")
    tick(client, "rerun", *made)
    page = get(client, OPEN)
    [link] = page.id("bulks").all("a")
    assert "0 of 3" in link.words and not told(page)
    assert "0 of 3" in dom(submit(client, page.id("bulk"), "label"), 400).id("bulks").words, "also on a refused page"
    while CheckRun.objects.filter(ended_at=None).exists():
        make.run_turns()
        running.go_on()
    page = get(client, OPEN)
    assert not page.id("bulks").all("a") and told(page) == ["3 runs have ended: 3 to judge"]
    assert not told(get(client_of(second_admin()), OPEN)), "whoever did not ask for them is not told"
    do(who.admin, made[0], "own", owner="me")
    assert told(get(client, OPEN))[-1].startswith("Claimed")
    get(client, link["href"])
    assert told(get(client, OPEN)) == ["Claimed “report 0”"]


def test_an_open_desk_hears_how_far_its_runs_are(browser_of: Browser, made: list[UserFeedback]) -> None:
    client = browser_of("admin")
    tick(client, "rerun", *made[:2])
    pieces = live(client)
    heard = next(piece for piece in pieces if b"event: bulks" in piece).decode()
    assert "0 of 2" in heard and CheckBatch.objects.get().batch_id in heard


def test_a_tick_that_was_taken_away_stays_away(browser_of: Browser, who: People, made: list[UserFeedback]) -> None:
    """Whatever page is looked at meanwhile; for this reader, and until it is set again."""
    client = browser_of("admin")
    address = batch_of(client, *made)
    passed(who, *made)

    def ticked() -> set[str]:
        found = get(client, address).all("input", name="feedback_ids", type="checkbox")
        return {box["value"] for box in found if box.has("checked")}

    every = {each.feedback_id for each in made}
    of = made[0].feedback_id
    assert ticked() == every
    [box] = [box for box in get(client, address).all("input", name="feedback_ids") if box["value"] == of]
    assert client.post(box["hx-post"], {"of": of, "feedback_ids": [*(every - {of})]}).status_code == 204
    assert ticked() == every - {of}
    client.post(box["hx-post"], {"of": of, "feedback_ids": [*every]})
    assert ticked() == every


def test_what_passed_on_other_pages_of_the_list_is_resolved_with_it(
    browser_of: Browser, who: People, made: list[UserFeedback], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks_screen, "LINES", 1)
    client = browser_of("admin")
    address = batch_of(client, *made)
    passed(who, *made)
    client.post(f"{address}leave/", {"of": made[0].feedback_id})
    page = get(client, address + "?from=1")
    assert boxes(page) == [made[1].feedback_id] and "And 1 on other pages" in page.id("fix").words
    refused = dom(submit(client, page.id("fix"), "", public_reply="x" * 20_001), 400)
    assert boxes(refused) == [made[1].feedback_id], "of the same page"
    then(client, submit(client, page.id("fix"), "", feedback_ids=[made[1].feedback_id], elsewhere="1"))
    assert [stored(each).resolved for each in made] == [False, True, True], "but not what was left out there"


def test_a_row_says_why_it_is_not_ticked_and_what_was_done_with_its_report(
    browser_of: Browser, who: People, made: list[UserFeedback]
) -> None:
    client = browser_of("admin")
    address = batch_of(client, *made)
    passed(who, *made)
    do(who.admin, made[0], "resolve", outcome="noted")
    make.rating(who.alice, made[1].thread, made[1].message_sequence_num, notes="And it is rude.")
    do(who.admin, made[2], "own", owner="me")
    do(who.admin, made[2], "reply", public_reply="Thank you.")
    page = get(client, address)
    rows = [row.words for row in page.one("tbody").all("tr")]
    assert "owner Admin · answered" in rows[0] and boxes(page) == [made[2].feedback_id]
    assert "its submitter changed it after this batch had begun" in rows[1] and "resolved" in rows[2]


def test_who_judges_after_somebody_else_is_told_first(
    browser_of: Browser, who: People, made: list[UserFeedback]
) -> None:
    client, bea = browser_of("admin"), second_admin()
    batch_of(client, made[0])
    run = CheckRun.objects.get()
    panel = get(client, f"/feedback/checks/runs/{run.run_id}/").one("form", class_="judge")
    judging.judge(bea.actor, run.run_id, "failed")
    page = then(client, submit(client, panel, "", verdict="passed"))
    assert "judged just now that it failed. Press again to overrule." in page.words
    assert CheckRun.objects.get().verdict == "failed"
    panel = get(client, f"/feedback/checks/runs/{run.run_id}/").one("form", class_="judge")
    submit(client, panel, "", verdict="passed")
    assert CheckRun.objects.get().verdict == "passed"


def test_what_was_judged_failed_fixes_nothing_at_the_desk_either(
    browser_of: Browser, who: People, made: list[UserFeedback]
) -> None:
    client = browser_of("admin")
    batch_of(client, made[0])
    run = CheckRun.objects.get()
    address = f"/feedback/?q=&item={made[0].feedback_id}&compare={run.fork.thread_id}"
    judging.judge(who.admin.actor, run.run_id, "failed")
    page = get(client, address)
    assert page.id("verdict").words == "Judged failed" and page.id("fixed-acts").one("button").has("disabled")
    judging.judge(who.admin.actor, run.run_id, "passed")
    page = get(client, address)
    assert page.id("verdict").words == "Judged passed" and not page.id("fixed-acts").one("button").has("disabled")


def test_a_run_that_was_stopped_is_no_other_answer(browser_of: Browser, made: list[UserFeedback]) -> None:
    client = browser_of("admin")
    tick(client, "rerun", made[0])
    run = CheckRun.objects.get()
    client.post(f"/feedback/checks/batches/{run.batch.batch_id}/stop/")
    get(client, f"/feedback/checks/batches/{run.batch.batch_id}/")
    page = get(client, f"/threads/{run.fork.thread_id}/compare/")
    assert CheckRun.objects.get().problem == "It was stopped." and "Another answer" not in page.one("h1").words
