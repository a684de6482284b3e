"""The desk's verbs over REST: each with its rule, its history, its inverse, and what it says when it cannot be done."""

import json
import threading
from dataclasses import replace
from datetime import timedelta
from importlib import import_module
from time import sleep
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import pytest
import time_machine
from celery.signals import worker_shutting_down
from django.apps import apps
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import leaving
from accounts.models import User
from core import ids, jobs, notices, stopping
from core.errors import InvalidRequest
from feedback import bulk, bulk_work, deciding, fixing, labelling, last_action, projecting, saved_views, triage, undoing
from feedback.models import Bulk, Label, Labelled, Reply, SavedView, TriageChange, UserFeedback
from feedback.wire_verbs import ReplyIn, ResolveIn
from tests import make
from tests.conftest import Api, data_of, refusal_of
from tests.people import second_admin

ANSWER = {"public_status": "answered", "public_reply": "It is mended."}


@pytest.fixture
def act(admin):
    """`act(id, verb, **arguments)`: what came of it."""

    def done(feedback_id, verb, **arguments):
        body = {"verb": verb, "arguments": arguments}
        return data_of(admin.post(f"admin/feedback/{feedback_id}/actions", body))

    return done


@pytest.fixture
def refused(admin):
    """`refused(id, verb, **arguments)`: status, code and sentence."""

    def asked(feedback_id, verb, **arguments):
        body = {"verb": verb, "arguments": arguments}
        return refusal_of(admin.post(f"admin/feedback/{feedback_id}/actions", body))

    return asked


def undone(admin, action_id):
    return data_of(admin.post("admin/feedback/undo", {"action_id": action_id}))


def test_labels_are_put_on_and_taken_off_and_the_wire_has_them_in_one_text(act, admin, reports):
    """B127: `admin_label` stays one text of the wire's record, and whoever writes it there writes labels."""
    record = act(reports[0], "label", add=["money", "Unrequested item"])["report"]
    assert (record["labels"], record["admin_label"]) == (["money", "Unrequested item"], "money, Unrequested item")
    record = act(reports[0], "label", add=["MONEY", "bags"], remove=["unrequested ITEM"])["report"]
    assert record["labels"] == ["money", "bags"]
    data_of(admin.put(f"admin/feedback/{reports[1]}", {"admin_label": "bags,  loud ,"}))
    assert data_of(admin.get(f"admin/feedback/{reports[1]}/triage"))["labels"] == ["bags", "loud"]
    listed = {each["name"]: each["report_count"] for each in data_of(admin.get("admin/feedback/labels"))["items"]}
    assert listed == {"bags": 2, "loud": 1, "money": 1, "Unrequested item": 0}
    assert Label.objects.count() == 4 and Labelled.objects.count() == 4


def test_labels_come_in_pages_and_none_is_left_out(admin):
    for name in ("d", "B", "a", "C", "e"):
        data_of(admin.post("admin/feedback/labels", {"name": name}))
    found, token = [], ""
    while token is not None:
        page = data_of(admin.get(f"admin/feedback/labels?limit=2{token and f'&page_token={token}'}"))
        found += [each["name"] for each in page["items"]]
        token = page["next_token"]
    assert found == ["a", "B", "C", "d", "e"]


def test_more_views_need_no_more_queries_and_one_tells_its_count(admin, reports, django_assert_num_queries):
    keep = lambda name: data_of(admin.post("admin/feedback/views", {"name": name, "query": "is:open"}))  # noqa: E731
    kept = keep("first")
    data_of(admin.get("admin/feedback/views"))  # the first use of a token is noted
    with CaptureQueriesContext(connection) as asked:
        listed = data_of(admin.get("admin/feedback/views"))
    counts = {each["name"]: each["count"] for each in listed}
    assert counts["All open"] == len(reports) and counts["first"] is None
    for number in range(5):
        keep(f"view {number}")
    with django_assert_num_queries(len(asked)):
        data_of(admin.get("admin/feedback/views"))
    assert data_of(admin.get(f"admin/feedback/views/{kept['view_id']}")) == {**kept, "count": len(reports)}


@pytest.mark.parametrize("name", ["", "   ", "a,b", "x" * 61, "two\nlines"])
def test_a_label_is_one_short_line_without_a_comma(refused, reports, name):
    status, code, sentence = refused(reports[0], "label", add=[name])
    assert (status, code) == (400, "RobotoInvalidRequestException") and "add" in sentence


@pytest.mark.parametrize("sign", ["\x7f", "\x85", "\x01"])
def test_a_control_character_in_a_label_is_a_blank_and_its_term_finds_it(admin, act, refused, reports, sign):
    """B127: the wire's text stays as it was sent; the label in it is what a query can name."""
    written = f"mon{sign}ey"
    assert data_of(admin.put(f"admin/feedback/{reports[0]}", {"admin_label": written}))["admin_label"] == written
    assert act(reports[1], "label", add=[written])["report"]["labels"] == ["mon ey"]
    assert [each["name"] for each in data_of(admin.get("admin/feedback/labels"))["items"]] == ["mon ey"]
    assert len(data_of(admin.get('admin/feedback?q=label:"mon ey"'))["items"]) == 2
    assert rename(admin, "mon%20ey", name=f"ca{sign}sh")["report_count"] == 2
    assert [each["admin_label"] for each in data_of(admin.get('admin/feedback?q=label:"ca sh"'))["items"]] == [
        "ca sh"
    ] * 2
    assert refused(reports[0], "label", add=[sign])[0] == 400


def test_blanks_do_not_tell_two_labels_apart(act, reports):
    act(reports[0], "label", add=["station data"])
    assert act(reports[0], "label", add=["Station  data", "late\t night"])["report"]["admin_label"] == (
        "station data, late night"
    )
    assert act(reports[0], "label", remove=["station  data"])["report"]["admin_label"] == "late night"


def test_what_is_not_seen_tells_no_two_labels_apart(admin, act, reports, refused):
    """Marks of direction, joints of words, and the other way to write an accent."""
    for add in (["money", "mo\u200bney", "\u202emoney", "money\ufeff"], ["caf\u00e9", "cafe\u0301"]):
        act(reports[0], "label", add=add)
    assert admin.get(f"admin/feedback/{reports[0]}").json()["data"]["admin_label"] == "money, caf\u00e9"
    found = data_of(admin.get("admin/feedback?q=label:mo%E2%80%8Bney"))["items"]
    assert [each["feedback_id"] for each in found] == [reports[0]]
    for unseen in ("\u200b", "\u202e\u2060", "\u3164", "\u200d"):
        assert refused(reports[0], "label", add=[unseen])[0] == 400


def test_labels_of_a_report_fit_the_wires_one_text(act, refused, reports):
    act(reports[0], "label", add=["a" * 60, "b" * 60, "c" * 60])
    assert refused(reports[0], "label", add=["d" * 60])[0] == 400


def test_a_label_is_made_described_and_dropped_when_nobody_carries_it(admin, act, reports):
    made = data_of(admin.post("admin/feedback/labels", {"name": "Bags", "description": "Not asked for"}))
    assert made == {"name": "Bags", "description": "Not asked for", "report_count": 0}
    assert refusal_of(admin.post("admin/feedback/labels", {"name": "bags"}))[0] == 409
    act(reports[0], "label", add=["bags"])
    assert refusal_of(admin.request("DELETE", "admin/feedback/labels/bags"))[0] == 409
    act(reports[0], "label", remove=["BAGS"])
    told = data_of(admin.request("PATCH", "admin/feedback/labels/bags", {"description": "Luggage"}))
    assert told["description"] == "Luggage"
    assert data_of(admin.request("DELETE", "admin/feedback/labels/bags")) is None
    assert refusal_of(admin.request("DELETE", "admin/feedback/labels/bags"))[0] == 404


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
@pytest.mark.django_db(transaction=True)
def test_a_label_that_a_report_gets_just_as_it_is_dropped_is_not_lost(admin, act, reports, monkeypatch):
    """The text of the wire would go on to name it, and `label:` would not find the report."""
    act(reports[0], "label", add=["late"])
    act(reports[0], "label", remove=["late"])
    counted = labelling.carried

    def put_on():
        admin.post(f"admin/feedback/{reports[0]}/actions", {"verb": "label", "arguments": {"add": ["late"]}})
        connection.close()

    putting = threading.Thread(target=put_on)

    def counted_just_before(label):
        found = counted(label)
        putting.start()
        putting.join(1)
        return found

    monkeypatch.setattr(labelling, "carried", counted_just_before)
    admin.request("DELETE", "admin/feedback/labels/late")
    putting.join()
    said = data_of(admin.get(f"admin/feedback/{reports[0]}/triage"))["admin_label"]
    assert list(Labelled.objects.values_list("label__name", flat=True)) == list(filter(None, [said]))


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
@pytest.mark.django_db(transaction=True)
def test_of_two_bulks_over_the_same_query_the_second_finds_what_the_first_left(admin, api, reports, monkeypatch):
    """It waits for the first one's locks; what it then looks at again must be more than the locked rows."""
    bea, applied = Api(second_admin().token), triage.apply
    waiting = threading.Thread(target=lambda: (answer(bea, "Bea's"), connection.close()))

    def answer(client, words):
        done = {"verb": "reply", "arguments": {"public_reply": words}, "query": "-is:answered"}
        return client.post("admin/feedback/bulk", done)

    def slowly(*given, **named):
        if waiting.ident is None:
            waiting.start()
            waiting.join(0.5)
        return applied(*given, **named)

    monkeypatch.setattr(triage, "apply", slowly)
    assert data_of(answer(admin, "Mine"))["done_count"] == 3
    waiting.join()
    assert list(Reply.objects.values_list("public_reply", flat=True)) == ["Mine"] * 3


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
@pytest.mark.django_db(transaction=True)
def test_a_label_that_another_goes_into_is_not_dropped_just_then(admin, act, reports, monkeypatch):
    act(reports[0], "label", add=["late"])
    data_of(admin.post("admin/feedback/labels", {"name": "slow"}))
    read, dropped = labelling.clean_description, []

    def drop():
        dropped.append(admin.request("DELETE", "admin/feedback/labels/slow").status_code)
        connection.close()

    dropping = threading.Thread(target=drop)

    def meanwhile(text):
        dropping.start()
        dropping.join(0.5)
        return read(text)

    monkeypatch.setattr(labelling, "clean_description", meanwhile)
    rename(admin, "late", name="slow", merge=True, description="Took long")
    dropping.join()
    assert dropped == [409] and data_of(admin.get(f"admin/feedback/{reports[0]}/triage"))["labels"] == ["slow"]


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
@pytest.mark.django_db(transaction=True)
def test_of_two_labels_that_are_merged_into_each_other_at_once_one_stays(admin, monkeypatch):
    for name in ("early", "late"):
        data_of(admin.post("admin/feedback/labels", {"name": name}))
    both, came, new_name = threading.Barrier(2), [], labelling.new_name

    def at_once(name):
        both.wait()
        return new_name(name)

    def merge(label, into):
        body = {"name": into, "merge": True}
        came.append(admin.request("PATCH", f"admin/feedback/labels/{label}", body).status_code)
        connection.close()

    monkeypatch.setattr(labelling, "new_name", at_once)
    merging = [threading.Thread(target=merge, args=names) for names in (("early", "late"), ("late", "early"))]
    for each in merging:
        each.start()
    for each in merging:
        each.join()
    assert came == [200, 200] and Label.objects.count() == 1, "the second one finds its new name free, and takes it"


def rename(admin, label, /, **body):
    return data_of(admin.request("PATCH", f"admin/feedback/labels/{label}", body))


def test_a_label_is_renamed_with_all_that_names_it(admin, api, act, reports, who):
    """Reports, open and resolved, history, saved views whosever they are; the wire's text keeps all else as it was."""
    act(reports[0], "label", add=["money", "bags"])
    data_of(admin.put(f"admin/feedback/{reports[1]}", {"admin_label": "x,  MONEY ,y"}))
    act(reports[1], "resolve")
    view = data_of(admin.post("admin/feedback/views", {"name": "Mine", "query": "-(is:open OR label:Money) money"}))
    told = rename(admin, "money", name="what it costs", description="All of it.")
    assert told.pop("bulk_id").startswith("blk_")
    assert told == {"name": "what it costs", "description": "All of it.", "report_count": 2}
    texts = [data_of(admin.get(f"admin/feedback/{each}/triage"))["admin_label"] for each in reports]
    assert texts == ["what it costs, bags", "x,  what it costs,y", None]
    last = data_of(admin.get(f"admin/feedback/{reports[0]}/history"))[-1]
    assert (last["verb"], last["actor"]) == ("rename", who.admin.user.email)
    assert (last["before"], last["after"]) == ({"admin_label": "money, bags"}, {"admin_label": texts[0]})
    views = {each["view_id"]: each["query"] for each in data_of(admin.get("admin/feedback/views"))}
    assert views[view["view_id"]] == '-(is:open OR label:"what it costs") money'
    assert not Label.objects.filter(folded="money").exists()


@pytest.mark.parametrize("spelling", ['"what  it\tcosts"', "“What it costs”", "caf\u0065\u0301"])
def test_a_view_follows_a_label_however_it_spells_it(admin, act, reports, spelling):
    """As the query finds it: blanks, case, and letters with their accents apart."""
    act(reports[0], "label", add=["what it costs", "café"])
    view = data_of(admin.post("admin/feedback/views", {"name": "Mine", "query": f"is:open label:{spelling}"}))
    rename(admin, "café" if "caf" in spelling else "what%20it%20costs", name="price")
    query = data_of(admin.get(f"admin/feedback/views/{view['view_id']}"))["query"]
    assert query == "is:open label:price"


def test_a_label_is_merged_only_where_a_merge_was_asked_for(admin, act, reports):
    act(reports[0], "label", add=["cash"])
    act(reports[1], "label", add=["money", "bags", "cash"])
    answer = admin.request("PATCH", "admin/feedback/labels/cash", {"name": "Money"})
    status, _, said = refusal_of(answer)
    assert (
        status == 409
        and said.startswith("name: label money already exists, on 1 report")
        and "cash, on 2 reports" in said
    )
    assert rename(admin, "cash", name="Money", merge=True)["report_count"] == 2
    texts = [data_of(admin.get(f"admin/feedback/{each}/triage"))["admin_label"] for each in reports[:2]]
    assert texts == ["money", "money, bags"]


def test_a_renaming_is_not_taken_back_but_what_was_done_before_it_can_be(admin, act, reports):
    noted = act(reports[1], "note", admin_note="Kept.")["action_id"]
    act(reports[0], "label", add=["money"])
    rename(admin, "money", name="bags")
    renaming = data_of(admin.get(f"admin/feedback/{reports[0]}/history"))[-1]["action_id"]
    status, _, said = refusal_of(admin.post("admin/feedback/undo", {"action_id": renaming}))
    assert status == 409 and "rename the label back" in said
    assert undone(admin, noted)["done_count"] == 1
    rename(admin, "bags", name="money")
    assert data_of(admin.get(f"admin/feedback/{reports[0]}/triage"))["admin_label"] == "money"


def test_what_was_labelled_before_a_renaming_is_undone_by_the_new_name(admin, act, reports):
    """And taken back is what the action did: a label that was there before a merge stays."""
    put = act(reports[0], "label", add=["late", "money"])["action_id"]
    act(reports[1], "label", add=["late", "money"])
    taken = act(reports[1], "label", remove=["late"])["action_id"]
    act(reports[2], "label", add=["cash"])
    both = act(reports[2], "label", add=["money"])["action_id"]
    rename(admin, "late", name="slow")
    rename(admin, "slow", name="too slow")
    rename(admin, "money", name="cash", merge=True)
    assert undone(admin, put)["done_count"] == 1
    assert undone(admin, taken)["done_count"] == 1
    assert undone(admin, both)["failed_count"] == 1
    texts = [data_of(admin.get(f"admin/feedback/{each}/triage"))["admin_label"] for each in reports]
    assert texts == [None, "too slow, cash", "cash"]
    stored = TriageChange.objects.filter(action=put.removeprefix("act_")).get()
    assert stored.after == {"admin_label": "late, money"}, "history says what was said"
    assert {each["name"] for each in data_of(admin.get("admin/feedback/labels"))["items"]} == {"too slow", "cash"}


def test_an_undo_after_a_merge_takes_nothing_from_who_put_the_other_label_on(admin, act, reports):
    put = act(reports[0], "label", add=["late"])["action_id"]
    act(reports[0], "label", add=["slow"])
    rename(admin, "late", name="slow", merge=True)
    assert [undone(admin, put)["failed_count"] for _ in range(2)] == [1, 1]
    assert data_of(admin.get(f"admin/feedback/{reports[0]}/triage"))["admin_label"] == "slow"


def test_a_report_that_a_renaming_left_behind_is_undone_by_the_old_name(admin, act, reports):
    act(reports[0], "label", add=["b" * 60, "c" * 60, "d" * 60])
    put = act(reports[0], "label", add=["money"])["action_id"]
    rename(admin, "money", name="a name that is much longer")
    assert undone(admin, put)["done_count"] == 1
    assert data_of(admin.get(f"admin/feedback/{reports[0]}/triage"))["labels"] == ["b" * 60, "c" * 60, "d" * 60]


def test_a_report_that_a_stopped_renaming_reached_is_undone_by_the_new_name(admin, act, reports):
    put = act(reports[0], "label", add=["late"])["action_id"]
    rename(admin, "late", name="slow")
    Bulk.objects.update(state=Bulk.State.CANCELLED)
    assert undone(admin, put)["done_count"] == 1
    assert data_of(admin.get(f"admin/feedback/{reports[0]}/triage"))["admin_label"] is None


def test_an_undo_leaves_a_label_that_was_there_before_under_its_new_name(admin, act, reports):
    data_of(admin.post("admin/feedback/labels", {"name": "late"}))
    put = act(reports[0], "label", add=["late"])["action_id"]
    rename(admin, "late", name="slow")
    undone(admin, put)
    assert [label.name for label in Label.objects.all()] == ["slow"]


def test_a_report_that_has_no_room_for_the_longer_name_keeps_the_label_and_is_named(admin, act, reports):
    act(reports[0], "label", add=["b" * 60, "c" * 60, "d" * 60, "money"])
    act(reports[1], "label", add=["money"])
    view = data_of(admin.post("admin/feedback/views", {"name": "Mine", "query": "label:money"}))
    told = rename(admin, "money", name="m" * 60)
    done = data_of(admin.get(f"admin/feedback/bulk/{told['bulk_id']}"))
    assert (done["done_count"], [each["feedback_id"] for each in done["failures"]]) == (1, [reports[0]])
    assert "at most 200 characters" in done["failures"][0]["reason"]
    listed = {each["name"]: each["report_count"] for each in data_of(admin.get("admin/feedback/labels"))["items"]}
    assert (listed["money"], listed["m" * 60]) == (1, 1)
    assert {"label:money"} == {
        each["query"] for each in data_of(admin.get("admin/feedback/views")) if each["view_id"] == view["view_id"]
    }


def test_a_renaming_that_is_stopped_leaves_each_report_under_one_name(admin, act, reports, monkeypatch):
    for each in reports:
        act(each, "label", add=["money"])
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    monkeypatch.setattr(bulk_work, "CHUNK", 2)
    told = rename(admin, "money", name="cash")
    for clash in ({"name": "bags"}, {"name": "cash", "merge": True}):
        assert refusal_of(admin.request("PATCH", "admin/feedback/labels/money", clash))[0] == 409
    make.half_done_bulk()
    data_of(admin.post(f"admin/feedback/bulk/{told['bulk_id']}/cancel"))
    listed = {each["name"]: each["report_count"] for each in data_of(admin.get("admin/feedback/labels"))["items"]}
    assert listed == {"money": 1, "cash": 2}
    assert rename(admin, "money", name="cash", merge=True)["report_count"] == 3


@pytest.mark.parametrize("body", [{}, {"merge": True}, {"name": "a,b"}, {"name": ""}, {"description": "x" * 201}])
def test_a_label_stays_as_it_is_where_a_change_is_refused(admin, act, reports, body):
    act(reports[0], "label", add=["money"])
    assert refusal_of(admin.request("PATCH", "admin/feedback/labels/money", body))[0] == 400
    assert list(Label.objects.values_list("name", "description")) == [("money", "")]


def test_a_label_with_a_slash_is_described_and_dropped_like_any_other(admin, act, reports):
    act(reports[0], "label", add=["bags/loud"])
    route = "admin/feedback/labels/bags/loud"
    assert data_of(admin.request("PATCH", route, {"description": "Both"}))["description"] == "Both"
    assert data_of(admin.request("PATCH", route.replace("/loud", "%2Floud"), {"description": ""}))["description"] == ""
    act(reports[0], "label", remove=["bags/loud"])
    assert data_of(admin.request("DELETE", route)) is None
    assert refusal_of(admin.request("DELETE", route))[0] == 404


def test_what_the_wire_wrote_stays_whole_while_the_desk_puts_labels_beside_it(admin, act, reports):
    """B127: `admin_label` is any text. A part of it that is no label of the desk's is neither cut nor lost."""
    path, long = f"admin/feedback/{reports[0]}", "a sentence that goes on " * 4
    written = " ".join(long.split())
    assert data_of(admin.put(path, {"admin_label": f"{long}, bags"}))["admin_label"] == f"{long}, bags"
    assert data_of(admin.get(f"{path}/triage"))["labels"] == [written, "bags"]
    record = act(reports[0], "label", add=["money"])["report"]
    assert (record["labels"], record["admin_label"]) == ([written, "bags", "money"], f"{written}, bags, money")
    assert act(reports[0], "label", remove=[written])["report"]["labels"] == ["bags", "money"]


@pytest.mark.parametrize("blank", ["", "\n", " , "])
def test_a_blank_text_of_the_wire_is_no_label(admin, act, reports, blank):
    """B127: a value overwrites, so it is kept as it was sent; at the desk it means none."""
    path = f"admin/feedback/{reports[0]}"
    assert data_of(admin.put(path, {"admin_label": blank}))["admin_label"] == blank
    assert data_of(admin.get(f"{path}/triage"))["labels"] == []
    assert data_of(admin.get("admin/feedback?q=has:label"))["items"] == []
    assert act(reports[0], "label", add=["bags"])["report"]["admin_label"] == "bags"


def test_a_label_that_is_refused_is_told_in_words(refused, reports):
    sentence = refused(reports[0], "label", add=["a,b"])[2]
    assert sentence == "add.0: must be text on one line, without a comma"


def test_of_two_who_make_a_label_at_once_the_second_is_told(admin, who, monkeypatch):
    described = labelling.clean_description

    def meanwhile(text):
        Label.objects.create(name="Money", folded="money", created_by=who.admin.user)
        return described(text)

    monkeypatch.setattr(labelling, "clean_description", meanwhile)
    assert refusal_of(admin.post("admin/feedback/labels", {"name": "money"}))[0] == 409


@pytest.fixture
def meanwhile(monkeypatch):
    """`meanwhile(work)`: done while the query of a view is looked at."""

    def arrange(work):
        read = saved_views.understood

        def understood(query, *, field):
            monkeypatch.setattr(saved_views, "understood", read)
            work()
            return read(query, field=field)

        monkeypatch.setattr(saved_views, "understood", understood)

    return arrange


def test_two_who_change_a_view_at_once_both_have_their_way(admin, meanwhile):
    view = data_of(admin.post("admin/feedback/views", {"name": "Mine", "query": "is:open"}))
    path = f"admin/feedback/views/{view['view_id']}"
    meanwhile(lambda: data_of(admin.patch(path, {"name": "Ours"})))
    changed = data_of(admin.patch(path, {"query": "is:due"}))
    [stored] = SavedView.objects.values_list("name", "query")
    assert stored == ("Ours", "is:due") and changed["query"] == "is:due"


def test_a_view_that_is_deleted_while_it_is_changed_does_not_come_back(admin, meanwhile):
    view = data_of(admin.post("admin/feedback/views", {"name": "Mine", "query": "is:open"}))
    path = f"admin/feedback/views/{view['view_id']}"
    meanwhile(lambda: data_of(admin.request("DELETE", path)))
    assert refusal_of(admin.patch(path, {"query": "is:due"}))[0] == 404
    assert not SavedView.objects.exists()


def test_taking_giving_and_letting_go(act, refused, who, reports):
    assert act(reports[0], "own", owner="me")["report"]["owner"] == who.admin.user.email
    assert act(reports[0], "own", owner=None)["report"]["owner"] is None
    assert refused(reports[0], "own", owner=who.alice.user.email)[0] == 400
    assert "owner" in refused(reports[0], "own", owner="")[2], "an empty variable of a client releases nothing"
    assert act(reports[0], "own", owner=who.admin.user.email)["report"]["owner"] == who.admin.user.email


def test_the_name_of_who_resolved_a_report_is_not_taken_for_a_field(admin, act, who, reports):
    User.objects.filter(pk=who.admin.user.pk).update(name="Ops: night")
    act(reports[0], "resolve")
    refused = admin.post(f"admin/feedback/{reports[0]}/actions", {"verb": "resolve"}).json()
    assert refused["error"]["message"] == "Ops: night already resolved this report." and "details" not in refused


def test_resolving_says_how_and_reopening_takes_it_back(act, refused, who, reports):
    """B129: the stamps are the wire's own."""
    record = act(reports[0], "resolve", outcome="fixed")["report"]
    assert (record["resolved"], record["resolved_by"], record["outcome"]) == (True, who.admin.user.email, "fixed")
    status, code, sentence = refused(reports[0], "resolve")
    assert (status, code, sentence) == (409, "RobotoConflictException", "Admin already resolved this report.")
    record = act(reports[0], "reopen")["report"]
    assert (record["resolved"], record["resolved_at"], record["outcome"]) == (False, None, None)
    assert refused(reports[0], "reopen")[0] == 409
    assert "verb duplicate" in refused(reports[0], "resolve", outcome="duplicate")[2]
    status, _, sentence = refused(reports[0], "resolve", outcome="whatever")
    assert status == 400 and "'as_intended'" in sentence and "duplicate" not in sentence


def test_an_outcome_is_changed_without_another_resolution(act, admin, refused, reports):
    """B129: who resolved it and when stays."""
    assert refused(reports[0], "outcome", outcome="fixed")[0] == 409
    first = act(reports[0], "resolve", outcome="noted")
    record = act(reports[0], "outcome", outcome="fixed")["report"]
    assert (record["outcome"], record["resolved_at"]) == ("fixed", first["report"]["resolved_at"])
    assert act(reports[0], "outcome", outcome="fixed")["action_id"] is None
    for wrong in ({}, {"outcome": "duplicate"}, {"outcome": None}):
        status, _, sentence = refused(reports[0], "outcome", **wrong)
        assert status == 400 and "outcome" in sentence
    changed = data_of(admin.get(f"admin/feedback/{reports[0]}/history"))[-1]
    assert (changed["verb"], changed["before"], changed["after"]) == (
        "outcome",
        {"outcome": "noted"},
        {"outcome": "fixed"},
    )
    assert undone(admin, first["action_id"])["failures"], "somebody gave the resolution another outcome since"
    assert data_of(admin.get(f"admin/feedback/{reports[0]}/triage"))["outcome"] == "fixed"
    act(reports[1], "duplicate", duplicate_of=reports[0])
    assert "duplicate" in refused(reports[1], "outcome", outcome="fixed")[2]


def test_a_label_that_adds_and_removes_nothing_is_refused(refused, reports):
    for arguments in ({}, {"add": []}, {"add": [], "remove": []}):
        status, _, sentence = refused(reports[0], "label", **arguments)
        assert status == 400 and sentence == "add: name a label to add, or one to remove"


def test_all_that_is_not_understood_of_a_query_is_named_with_what_was_meant(admin, reports):
    answer = admin.get("admin/feedback?q=is:opne%20foo:bar%20staus:x")
    said = [each["reason"] for each in answer.json()["details"]]
    assert len(said) == 3 and {each["field"] for each in answer.json()["details"]} == {"q"}
    assert said[0].endswith("; use is:open instead (at character 1)")
    assert said[1].startswith("foo:bar — There is no field foo; ")
    assert refusal_of(answer)[2] == f"q: {said[0]} (and 2 more)"


def test_the_wires_own_reopening_clears_the_outcome_too(act, admin, reports):
    act(reports[0], "resolve", outcome="fixed")
    data_of(admin.put(f"admin/feedback/{reports[0]}", {"resolved": False}))
    data_of(admin.put(f"admin/feedback/{reports[0]}", {"resolved": True}))
    assert data_of(admin.get(f"admin/feedback/{reports[0]}/triage"))["outcome"] is None


def test_a_resolution_keeps_the_rerun_that_shows_it_and_no_other_thread(admin, act, refused, who, thread, reports):
    """Over REST as on the page; in the history, undone and reopened like the outcome."""
    asked = {"message_sequence_num": 1}
    proof = data_of(admin.post(f"threads/{thread.thread_id}/rerun", asked))["thread_id"]
    elsewhere = make.thread(who.alice, "Other").thread_id
    behind = data_of(admin.post(f"threads/{thread.thread_id}/fork", {"message_sequence_num": 3}))["thread_id"]
    for wrong in (elsewhere, behind, thread.thread_id, "ags_unknown", ""):
        assert refused(reports[0], "resolve", outcome="fixed", proof=wrong)[2].startswith("proof: is no fork"), wrong
    done = act(reports[0], "resolve", outcome="fixed", proof=proof)
    assert done["report"]["proof"] == proof and done["report"]["outcome"] == "fixed"
    [change] = data_of(admin.get(f"admin/feedback/{reports[0]}/history"))
    assert (change["before"]["proof"], change["after"]["proof"]) == (None, proof)
    exported = admin.get("admin/feedback/export?q=has:proof")
    assert [json.loads(line)["proof"] for line in b"".join(exported.streaming_content).splitlines()] == [proof]
    admin.post("admin/feedback/undo", {"action_id": done["action_id"]})
    assert data_of(admin.get(f"admin/feedback/{reports[0]}/triage"))["proof"] is None
    act(reports[0], "resolve", outcome="fixed", proof=proof)
    assert act(reports[0], "outcome", outcome="answered")["report"]["proof"] is None
    act(reports[0], "outcome", outcome="fixed", proof=proof)
    assert act(reports[0], "reopen")["report"]["proof"] is None


def test_a_duplicate_is_resolved_as_what_it_repeats_and_chains_end_at_the_first(act, refused, who, reports):
    record = act(reports[1], "duplicate", duplicate_of=reports[0])["report"]
    assert (record["resolved"], record["outcome"], record["duplicate_of"]) == (True, "duplicate", reports[0])
    assert act(reports[2], "duplicate", duplicate_of=reports[1])["report"]["duplicate_of"] == reports[0]
    assert refused(reports[0], "duplicate", duplicate_of=reports[0])[0] == 400
    assert refused(reports[0], "duplicate", duplicate_of=reports[2])[0] == 400
    unknown = refused(reports[0], "duplicate", duplicate_of="fb_nothing")
    assert unknown[::2] == (400, "duplicate_of: there is no report fb_nothing")
    foreign = make.rating(who.eve, make.thread(who.eve)).feedback_id
    assert refused(reports[0], "duplicate", duplicate_of=foreign)[0] == 400


def test_snoozing_until_a_time_until_again_and_waking(act, refused, reports):
    until = (timezone.now() + timedelta(days=2)).isoformat()
    record = act(reports[0], "snooze", until=until)["report"]
    assert record["snoozed_until"] is not None and not record["snoozed_until_again"]
    record = act(reports[0], "snooze", until_again=True)["report"]
    assert record["snoozed_until"] is None and record["snoozed_until_again"]
    record = act(reports[0], "wake")["report"]
    assert record["snoozed_until"] is None and not record["snoozed_until_again"]
    assert refused(reports[0], "wake")[0] == 409
    a_year_ahead, later = ((timezone.now() + timedelta(days=days)).isoformat() for days in (366, 367))
    assert act(reports[2], "snooze", until=a_year_ahead)["report"]["snoozed_until"] is not None
    for wrong in (
        {},
        {"until": later},
        {"until": "yesterday"},
        {"until": int((timezone.now() + timedelta(days=2)).timestamp())},
        {"until": str(int((timezone.now() + timedelta(days=2)).timestamp()))},
        {"until": until, "until_again": True},
        {"until": "2020-01-01T00:00:00Z"},
    ):
        status, _, sentence = refused(reports[0], "snooze", **wrong)
        assert status == 400 and "until" in sentence, sentence
    act(reports[1], "resolve")
    assert refused(reports[1], "snooze", until_again=True)[0] == 409


def test_a_snooze_until_a_time_of_any_zone_is_taken_back(act, admin, reports):
    until = (timezone.now() + timedelta(days=2)).astimezone(ZoneInfo("Asia/Tokyo")).isoformat()
    acted = act(reports[0], "snooze", until=until)
    assert undone(admin, acted["action_id"])["done_count"] == 1
    assert data_of(admin.get(f"admin/feedback/{reports[0]}/triage"))["snoozed_until"] is None


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("label", {"add": ["money"]}),
        ("note", {"admin_note": "Seen."}),
        ("own", {"owner": "me"}),
        ("resolve", {"outcome": "fixed"}),
        ("duplicate", {}),
        ("snooze", {"until_again": True}),
        ("reply", {"public_status": "answered", "public_reply": "It is 4 now."}),
    ],
)
def test_every_verb_is_in_the_history_and_can_be_taken_back(act, admin, reports, verb, arguments):
    before = data_of(admin.get(f"admin/feedback/{reports[0]}/triage"))
    if verb == "duplicate":
        arguments = {"duplicate_of": reports[1]}
    acted = act(reports[0], verb, **arguments)
    assert acted["report"] != before and acted["action_id"]
    [line] = data_of(admin.get(f"admin/feedback/{reports[0]}/history"))
    assert (line["verb"], line["action_id"], line["undoes"]) == (verb, acted["action_id"], None)
    assert line["before"].keys() == line["after"].keys() and line["before"] != line["after"]
    outcome = undone(admin, acted["action_id"])
    assert (outcome["verb"], outcome["done_count"], outcome["failed_count"]) == ("undo", 1, 0)
    after = data_of(admin.get(f"admin/feedback/{reports[0]}/triage"))
    ignored = {"version", *(("replied_at",) if before["public_status"] == "received" else ())}
    assert {k: v for k, v in after.items() if k not in ignored} == {k: v for k, v in before.items() if k not in ignored}
    lines = data_of(admin.get(f"admin/feedback/{reports[0]}/history"))
    assert lines[-1]["undoes"] == acted["action_id"]
    assert refusal_of(admin.post("admin/feedback/undo", {"action_id": acted["action_id"]}))[0] == 409


def test_a_history_played_through_ends_where_the_report_stands(act, admin, reports):
    """Each line begins with the values that the line before left, those of a resolution included."""
    act(reports[0], "resolve", outcome="fixed")
    act(reports[0], "reopen")
    last = act(reports[0], "resolve", outcome="noted")
    undone(admin, last["action_id"])
    act(reports[0], "resolve", outcome="as_intended")
    state: dict[str, object] = {}
    for line in data_of(admin.get(f"admin/feedback/{reports[0]}/history")):
        for column, value in line["before"].items():
            assert state.get(column, value) == value, (line, column)
        state |= line["after"]
    record = data_of(admin.get(f"admin/feedback/{reports[0]}/triage"))
    assert {"resolved", "resolved_at", "resolved_by", "outcome"} <= state.keys()
    assert {column: record[column] for column in state} == state


def test_taking_back_a_reopening_restores_the_stamps_of_the_resolution(act, admin, reports):
    resolved = act(reports[0], "resolve", outcome="fixed")["report"]
    reopened = act(reports[0], "reopen")
    undone(admin, reopened["action_id"])
    again = data_of(admin.get(f"admin/feedback/{reports[0]}/triage"))
    for key in ("resolved", "resolved_at", "resolved_by", "outcome"):
        assert again[key] == resolved[key]


def test_what_somebody_changed_since_stays_and_is_named(act, admin, reports):
    acted = act(reports[0], "note", admin_note="Mine")
    act(reports[0], "note", admin_note="Somebody's")
    outcome = undone(admin, acted["action_id"])
    assert (outcome["done_count"], outcome["failed_count"]) == (0, 1)
    assert outcome["failures"] == [{"feedback_id": reports[0], "reason": "note: changed since, so not undone"}]
    assert data_of(admin.get(f"admin/feedback/{reports[0]}"))["admin_note"] == "Somebody's"


def test_a_resolution_that_is_somebody_elses_by_now_is_not_taken_back(act, admin, reports):
    acted = act(reports[0], "resolve", outcome="fixed")
    act(reports[0], "reopen")
    act(reports[0], "resolve", outcome="fixed")
    assert undone(admin, acted["action_id"])["failed_count"] == 1
    assert data_of(admin.get(f"admin/feedback/{reports[0]}"))["resolved"] is True


@pytest.mark.parametrize(
    ("mine", "theirs", "column"),
    [
        (("own", {"owner": "me"}), [("own", {"owner": "me"}), ("own", {"owner": "ADMIN"})], "owner"),
        (("snooze", {"until_again": True}), [("wake", {}), ("snooze", {"until_again": True})], "snoozed_until_again"),
        (("reopen", {}), [("resolve", {"outcome": "answered"}), ("reopen", {})], "resolved"),
        (("outcome", {"outcome": "fixed"}), [("reopen", {}), ("resolve", {"outcome": "fixed"})], "outcome"),
        (("resolve", {}), [("outcome", {"outcome": "fixed"})], "outcome"),
        (
            ("resolve", {"outcome": "fixed"}),
            [("outcome", {"outcome": "noted"}), ("outcome", {"outcome": "fixed"})],
            "outcome",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_somebody_decided_since_stays_also_if_it_is_the_same_again(act, admin, who, reports, mine, theirs, column):
    """An undo takes back what its own action did, and not a colleague's decision for the same."""
    bea = second_admin().actor
    if mine[0] in ("reopen", "outcome"):
        act(reports[0], "resolve", outcome="noted")
    done = act(reports[0], mine[0], **mine[1])
    for name, given in theirs:
        given = {key: who.admin.user.email if value == "ADMIN" else value for key, value in given.items()}
        verb = deciding.verb_named(name)
        triage.act(bea, reports[0], (verb, verb.takes.model_validate(given)))
    before = data_of(admin.get(f"admin/feedback/{reports[0]}/triage"))
    assert undone(admin, done["action_id"])["failures"]
    assert data_of(admin.get(f"admin/feedback/{reports[0]}/triage"))[column] == before[column]


def test_a_second_resolution_is_undone_only_while_it_stands(act, admin, who, thread, reports, refused):
    """It may be given where the submitter changed the rating since, and once."""
    first = act(reports[0], "resolve", outcome="noted")["report"]
    make.rating(who.alice, thread, 1, notes="Still wrong")
    again = act(reports[0], "resolve", outcome="fixed")
    assert again["report"]["resolved_at"] > first["resolved_at"] and again["report"]["outcome"] == "fixed"
    assert refused(reports[0], "resolve")[0] == 409
    assert undone(admin, again["action_id"])["failures"] == []
    record = data_of(admin.get(f"admin/feedback/{reports[0]}/triage"))
    assert (record["resolved_at"], record["outcome"]) == (first["resolved_at"], "noted")
    for verb in ("reopen", "resolve"):
        again = act(reports[0], "resolve", outcome="fixed")
        act(reports[0], "reopen")
        if verb == "resolve":
            act(reports[0], "resolve", outcome="answered")
        before = data_of(admin.get(f"admin/feedback/{reports[0]}/triage"))
        assert undone(admin, again["action_id"])["failed_count"] == 1
        assert data_of(admin.get(f"admin/feedback/{reports[0]}/triage")) == before
        make.rating(who.alice, thread, 1, notes=f"Still wrong after {verb}")


def test_what_was_done_and_undone_since_does_not_keep_an_earlier_action(act, admin, reports):
    first = act(reports[0], "own", owner="me")
    second = act(reports[0], "own", owner=None)
    undone(admin, second["action_id"])
    assert undone(admin, first["action_id"])["failures"] == []
    assert data_of(admin.get(f"admin/feedback/{reports[0]}/triage"))["owner"] is None


def test_a_bulk_can_be_undone_for_half_an_hour_from_its_end(act, admin, who, reports, monkeypatch):
    """The last reports may have needed no change."""
    monkeypatch.setattr(bulk, "AT_ONCE", 0)
    monkeypatch.setattr(bulk_work, "CHUNK", 1)
    begun = data_of(
        admin.post("admin/feedback/bulk", {"verb": "label", "arguments": {"add": ["x"]}, "feedback_ids": reports})
    )
    row = Bulk.objects.get()
    Bulk.objects.update(state=Bulk.State.RUNNING)
    bulk_work._advance_chunk(who.admin.actor, row.pk)
    for each in reports[1:]:
        act(each, "label", add=["x"])
    with time_machine.travel(timezone.now() + timedelta(minutes=20), tick=True):
        while bulk_work._advance_chunk(who.admin.actor, row.pk):
            pass
    with time_machine.travel(timezone.now() + timedelta(minutes=40), tick=True):
        last = last_action.last_action(who.admin.actor, bulk.shown(who.admin.actor))
        assert last is not None and last.action_id == begun["action_id"]
        assert timedelta(minutes=9) < last.until - timezone.now() < timedelta(minutes=10)
        monkeypatch.setattr(bulk, "AT_ONCE", 200)
        assert undone(admin, begun["action_id"])["done_count"] == 1


def test_after_half_an_hour_nothing_is_taken_back(act, admin, reports):
    acted = act(reports[0], "own", owner="me")
    with time_machine.travel(timezone.now() + timedelta(minutes=31)):
        status, _, sentence = refusal_of(admin.post("admin/feedback/undo", {"action_id": acted["action_id"]}))
    assert status == 409 and "30 minutes" in sentence
    assert refusal_of(admin.post("admin/feedback/undo", {"action_id": "act_unknown"}))[0] == 404


def test_doing_what_is_done_changes_nothing_and_leaves_no_history(act, admin, reports):
    act(reports[0], "own", owner="me")
    assert act(reports[0], "own", owner="me")["action_id"] is None
    assert TriageChange.objects.count() == 1


def test_an_unknown_verb_argument_or_report_is_named(refused, admin, reports):
    assert "verb" in refused(reports[0], "delete")[2]
    assert refused(reports[0], "note", admin_note="x", more=1)[0] == 400
    assert refused(reports[0], "note")[0] == 400
    assert refused(reports[0], "note", admin_note="x" * 20_001)[0] == 400
    assert refused("fb_unknown", "reopen")[0] == 404
    assert refused(reports[0], "reply", public_status="answered", public_reply="  ")[0] == 400
    assert not TriageChange.objects.exists()


# Two people at once


def test_a_save_against_another_version_is_refused_and_changes_nothing(act, admin, reports):
    path = f"admin/feedback/{reports[0]}"
    tag = admin.get(path)["ETag"]
    assert tag == admin.get(f"{path}/triage")["ETag"]
    act(reports[0], "own", owner="me")
    stale = admin.put(path, {"resolved": True}, **{"If-Match": tag})
    assert refusal_of(stale)[:2] == (412, "RobotoConflictException")
    assert refusal_of(admin.post(f"{path}/actions", {"verb": "reopen"}, **{"If-Match": tag}))[0] == 412
    fresh = admin.get(path)["ETag"]
    assert data_of(admin.put(path, {"resolved": True}, **{"If-Match": fresh}))["resolved"] is True
    assert data_of(admin.put(path, {"resolved": True}, **{"If-Match": "*"}))["resolved"] is True


def test_if_match_takes_several_tags_and_refuses_one_that_no_report_ever_had(admin, reports):
    """RFC 9110, 13.1.1: any of a list will do, a weak mark is a proxy's, and an unknown tag is not the present one."""
    path = f"admin/feedback/{reports[0]}"
    tag = admin.get(path)["ETag"]
    for matching in (tag, f'"a", {tag}', f'{tag} , "b"', f"W/{tag}", tag.strip('"'), " * "):
        data_of(admin.put(path, {}, **{"If-Match": matching}))
    for other in ('"a"', "nonsense", '"a", "b"', '"1-2"', 'W/"x"', ",", "9" * 40, f'"{"9" * 40}-1"'):
        for sent in (
            admin.put(path, {"resolved": True}, **{"If-Match": other}),
            admin.post(f"{path}/actions", {"verb": "resolve"}, **{"If-Match": other}),
        ):
            assert refusal_of(sent)[:2] == (412, "RobotoConflictException")
    assert not TriageChange.objects.exists()


@pytest.mark.parametrize("route", ["", "/triage"])
def test_what_is_changed_while_a_report_is_read_is_not_what_its_version_means(act, admin, reports, monkeypatch, route):
    """H7: a save by that version is refused; it would overwrite what nobody has shown."""
    read, path = projecting.full_record_of, f"admin/feedback/{reports[0]}"

    def meanwhile(pk):
        record = read(pk)
        monkeypatch.setattr(projecting, "full_record_of", read)
        act(reports[0], "note", admin_note="Unseen")
        return record

    monkeypatch.setattr(projecting, "full_record_of", meanwhile)
    answer = admin.get(path + route)
    assert data_of(answer)["admin_note"] is None
    saved = admin.put(path, {"admin_note": "Mine"}, **{"If-Match": answer["ETag"]})
    assert refusal_of(saved)[0] == 412


def test_the_submitters_edit_is_a_new_version_too(admin, who, thread, reports):
    path = f"admin/feedback/{reports[0]}"
    tag = admin.get(path)["ETag"]
    make.rating(who.alice, thread, 1, notes="Edited")
    assert refusal_of(admin.put(path, {"resolved": True}, **{"If-Match": tag}))[0] == 412
    assert UserFeedback.objects.get(key=reports[0][3:]).resolved is False


def test_a_lease_tells_the_other_admin_and_ends_by_itself(api, who, admin, reports):
    path = f"admin/feedback/{reports[0]}/lease"
    who.bob.user.is_staff = True
    who.bob.user.save()
    assert data_of(api("bob").put(path)) == {"held_by": None}
    assert data_of(admin.put(path)) == {"held_by": "Bob"}
    assert data_of(api("bob").put(path)) == {"held_by": who.admin.user.display_name}
    assert data_of(admin.get(f"admin/feedback/{reports[0]}/triage"))["lease"] == who.bob.user.email
    with time_machine.travel(timezone.now() + timedelta(minutes=3)):
        assert data_of(admin.put(path)) == {"held_by": None}
    assert data_of(admin.request("DELETE", path)) is None
    assert data_of(api("bob").put(path)) == {"held_by": None}


def test_of_several_who_are_at_a_report_the_first_is_told_and_who_comes_back_late_is_last(api, who, admin, reports):
    User.objects.filter(pk=who.bob.user.pk).update(is_staff=True)
    bob, bea = api("bob"), Api(second_admin().token)

    def held(client):
        return data_of(client.put(f"admin/feedback/{reports[0]}/lease"))["held_by"]

    with time_machine.travel(timezone.now(), tick=False) as clock:
        assert [held(each) for each in (admin, bea, bob)] == [None, "Admin", "Admin"]
        assert held(admin) == "Bea"
        clock.shift(90)
        assert [held(each) for each in (bea, bob)] == ["Admin", "Admin"]
        clock.shift(60)
        assert [held(each) for each in (admin, bob, bea)] == ["Bea", "Bea", "Bob"]


def test_a_lease_never_keeps_anybody_from_saving(api, who, act, reports):
    who.bob.user.is_staff = True
    who.bob.user.save()
    data_of(api("bob").put(f"admin/feedback/{reports[0]}/lease"))
    assert act(reports[0], "resolve")["report"]["resolved"] is True


# Many at once


def test_a_small_bulk_is_done_when_it_answers_and_names_what_stayed(act, admin, reports):
    act(reports[1], "resolve")
    body = {"verb": "resolve", "arguments": {"outcome": "fixed"}, "feedback_ids": [*reports, "fb_unknown"]}
    outcome = data_of(admin.post("admin/feedback/bulk", body))
    assert (outcome["state"], outcome["total"]) == ("done", 4)
    assert (outcome["done_count"], outcome["failed_count"], outcome["skipped_count"]) == (2, 2, 0)
    assert outcome["failures"] == [
        {"feedback_id": "fb_unknown", "reason": "There is no such report."},
        {"feedback_id": reports[1], "reason": "Admin already resolved this report."},
    ]
    assert data_of(admin.get(f"admin/feedback/bulk/{outcome['bulk_id']}")) == outcome
    back = undone(admin, outcome["action_id"])
    assert (back["total"], back["done_count"], back["failed_count"]) == (2, 2, 0)
    states = [data_of(admin.get(f"admin/feedback/{each}"))["resolved"] for each in reports]
    assert states == [False, True, False]


def test_a_bulk_that_changed_nothing_has_no_action_to_undo(act, admin, reports):
    """As with a single action, and like it no failure."""
    for each in reports:
        act(each, "label", add=["known"])
    body = {"verb": "label", "arguments": {"add": ["known"]}, "feedback_ids": reports}
    outcome = data_of(admin.post("admin/feedback/bulk", body))
    assert (outcome["state"], outcome["failed_count"], outcome["action_id"]) == ("done", 0, None)


def test_a_bulk_of_as_many_as_are_done_at_once_is_done_when_it_answers(admin, reports, monkeypatch):
    monkeypatch.setattr(bulk, "AT_ONCE", 3)
    outcome = data_of(admin.post("admin/feedback/bulk", {"verb": "resolve", "feedback_ids": reports}))
    assert (outcome["state"], outcome["done_count"]) == ("done", 3)
    back = undone(admin, outcome["action_id"])
    assert (back["state"], back["done_count"]) == ("done", 3)


@pytest.mark.parametrize(
    ("verb", "arguments", "message"),
    [
        ("own", {"owner": "typo@heddle.test"}, "owner: typo@heddle.test is not an admin"),
        ("snooze", {"until": "2020-01-01T00:00:00Z"}, "until: must be in the future and within a year"),
        ("duplicate", {"duplicate_of": "fb_zz"}, "duplicate_of: there is no report fb_zz"),
    ],
)
def test_what_fits_no_report_is_refused_for_all_at_once(admin, reports, verb, arguments, message):
    for chosen in ({"query": "is:open"}, {"feedback_ids": reports}):
        refusal = refusal_of(admin.post("admin/feedback/bulk", {"verb": verb, "arguments": arguments, **chosen}))
        assert refusal[::2] == (400, message)
    assert not Bulk.objects.exists()


@pytest.mark.parametrize("wrong", ["FB_ABC", "ags_01m8kkga5sew0r5zxtm417ctbb", "fb_" + "x" * 100])
def test_what_is_no_report_id_is_refused_by_its_place(admin, reports, wrong):
    status, _, message = refusal_of(
        admin.post("admin/feedback/bulk", {"verb": "resolve", "feedback_ids": [reports[0], wrong]})
    )
    assert (status, message) == (400, f"feedback_ids.1: {wrong[:80]} is no report id")
    assert not TriageChange.objects.exists()


def test_a_label_in_typographic_quotes_is_another_one_than_without(admin, reports):
    """In a bulk and a view as in the list: what is stored of a query is read as it was meant."""
    for report, name in zip(reports, ("„Eilt“", "Eilt"), strict=False):
        body = {"verb": "label", "arguments": {"add": [name]}}
        data_of(admin.post(f"admin/feedback/{report}/actions", body))
    line = 'label:"„Eilt“"'
    body = {"verb": "note", "arguments": {"admin_note": "Hers"}, "query": line}
    assert data_of(admin.post("admin/feedback/bulk", body))["done_count"] == 1
    saved = data_of(admin.post("admin/feedback/views", {"name": "Express", "query": line}))["query"]
    for query in (line, saved, "has:note"):
        found = data_of(admin.get(f"admin/feedback?{urlencode({'q': query})}"))["items"]
        assert [each["feedback_id"] for each in found] == [reports[0]], query


def test_a_name_for_which_a_saved_view_has_no_room_is_refused_before_anything_is_renamed(admin, reports):
    """Otherwise the view would name a label that is gone, and nobody would be told."""
    data_of(admin.post(f"admin/feedback/{reports[0]}/actions", {"verb": "label", "arguments": {"add": ["k1"]}}))
    line = " OR ".join(["label:k1"] * 60)
    data_of(admin.post("admin/feedback/views", {"name": "Many times", "query": line}))
    status, _, message = refusal_of(admin.request("PATCH", "admin/feedback/labels/k1", {"name": "k" * 60}))
    assert (status, message) == (400, "name: is too long for a saved view of Admin that names this label")
    assert (Label.objects.get().name, SavedView.objects.get().query) == ("k1", line)
    data_of(admin.request("PATCH", "admin/feedback/labels/k1", {"name": "k2"}))
    assert SavedView.objects.get().query == line.replace("k1", "k2")


@pytest.mark.parametrize("query", ["label:a", "is:open -label:A", 'has:notes (label:"a" OR is:due)'])
def test_a_label_keeps_its_name_while_a_bulk_goes_by_it(admin, act, who, monkeypatch, query):
    """Each chunk asks again what matches: under another name nothing would, or all that was to be left alone."""
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    monkeypatch.setattr(bulk_work, "CHUNK", 2)
    rated = [make.rating(who.alice, make.thread(who.alice, f"{place}"), 1, notes="x").feedback_id for place in range(8)]
    for feedback_id in rated[:4]:
        act(feedback_id, "label", add=["a"])
    body = {"verb": "note", "arguments": {"admin_note": "Seen."}, "query": query}
    begun = data_of(admin.post("admin/feedback/bulk", body))
    row = make.half_done_bulk()
    for change in ({"name": "b"}, {"name": "b", "merge": True}):
        status, _, said = refusal_of(admin.request("PATCH", "admin/feedback/labels/a", change))
        assert status == 409 and "A bulk action over a query with label a is running." in said
    assert data_of(admin.request("PATCH", "admin/feedback/labels/a", {"name": "A"}))["name"] == "A"
    bulk_work.advance(Bulk.objects.latest("pk").pk)
    Bulk.objects.filter(pk=row.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    bulk_work.advance(row.pk)
    ended = data_of(admin.get(f"admin/feedback/bulk/{begun['bulk_id']}"))
    assert (ended["state"], ended["done_count"], ended["total"]) == ("done", 4, 4)
    noted = UserFeedback.objects.filter(admin_note="Seen.")
    assert {bool(each.admin_label) for each in noted} == {"-" not in query} and len(noted) == 4
    assert data_of(admin.request("PATCH", "admin/feedback/labels/a", {"name": "b"}))["name"] == "b"


def test_no_bulk_goes_by_a_label_that_is_being_renamed(admin, act, who, monkeypatch):
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    rated = [make.rating(who.alice, make.thread(who.alice, f"{place}"), 1).feedback_id for place in range(4)]
    for feedback_id in rated:
        act(feedback_id, "label", add=["a"])
    data_of(admin.request("PATCH", "admin/feedback/labels/a", {"name": "b"}))
    for query in ("label:a", "is:open -label:b", "label:a OR is:due"):
        body = {"verb": "note", "arguments": {"admin_note": "Seen."}, "query": query}
        status, _, said = refusal_of(admin.post("admin/feedback/bulk", body))
        assert status == 409 and "is already being renamed" in said
    bulk_work.advance(Bulk.objects.get(verb="rename").pk)
    body = {"verb": "note", "arguments": {"admin_note": "Seen."}, "query": "label:b"}
    assert data_of(admin.post("admin/feedback/bulk", body))["total"] == 4


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("query", ["-label:b", "label:a"])
@pytest.mark.parametrize("is_bulk_first", [True, False])
def test_of_a_bulk_and_a_renaming_that_begin_at_once_the_second_is_refused(
    admin, act, who, monkeypatch, query, is_bulk_first
):
    """Also where the query names what only now becomes a label: there is no row yet that both could lock."""
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    for place in range(4):
        act(make.rating(who.alice, make.thread(who.alice, f"{place}"), 1).feedback_id, "label", add=["a"])
    body = {"verb": "note", "arguments": {"admin_note": "Seen."}, "query": query}
    deeds = [
        lambda: admin.post("admin/feedback/bulk", body),
        lambda: admin.request("PATCH", "admin/feedback/labels/a", {"name": "b"}),
    ]
    first, second = deeds if is_bulk_first else reversed(deeds)
    came = []
    following = threading.Thread(target=lambda: (came.append(second().status_code), connection.close()))
    begins = jobs.enqueue_on_commit

    def meanwhile(*given):
        begins(*given)
        if following.ident is None:
            following.start()
            following.join(0.5)

    monkeypatch.setattr(jobs, "enqueue_on_commit", meanwhile)
    data_of(first())
    following.join()
    assert came == [409] and Bulk.objects.filter(state="queued").count() == 1


def test_an_undo_leaves_labels_for_which_there_is_no_room_any_more_and_does_the_rest(admin, act, reports):
    """A label that is put back has its new name, which may be longer."""
    others = ["b" * 47, "c" * 47, "d" * 47, "e" * 47]
    act(reports[0], "label", add=["a", *others])
    for feedback_id in reports[1:]:
        act(feedback_id, "label", add=["a"])
    body = {"verb": "label", "arguments": {"remove": ["a"]}, "feedback_ids": reports[:2]}
    action = data_of(admin.post("admin/feedback/bulk", body))["action_id"]
    long = data_of(admin.request("PATCH", "admin/feedback/labels/a", {"name": "z" * 60}))["name"]
    undone = data_of(admin.post("admin/feedback/undo", {"action_id": action}))
    assert (undone["done_count"], undone["failed_count"]) == (1, 1)
    assert undone["failures"][0]["feedback_id"] == reports[0] and "label" in undone["failures"][0]["reason"]
    texts = [data_of(admin.get(f"admin/feedback/{each}/triage"))["admin_label"] for each in reports[:2]]
    assert texts == [", ".join(others), long]


def test_an_undo_gives_no_report_to_somebody_who_is_no_admin_any_more(admin, act, reports):
    bea = second_admin()
    own = {"verb": "own", "arguments": {"owner": "me"}}
    data_of(Api(bea.token).post(f"admin/feedback/{reports[0]}/actions", own))
    action = act(reports[0], "own", owner="me")["action_id"]
    leaving.dismiss(bea.user)
    undone = data_of(admin.post("admin/feedback/undo", {"action_id": action}))
    assert (undone["done_count"], undone["failed_count"]) == (0, 1) and "owner" in undone["failures"][0]["reason"]
    assert data_of(admin.get(f"admin/feedback/{reports[0]}/triage"))["owner"] != bea.user.email


def test_a_label_that_a_renaming_fills_is_not_deleted(admin, reports, monkeypatch):
    """It would come back with the next report, without its description."""
    data_of(admin.post("admin/feedback/labels", {"name": "money", "description": "The money."}))
    data_of(
        admin.post("admin/feedback/bulk", {"verb": "label", "arguments": {"add": ["money"]}, "feedback_ids": reports})
    )
    monkeypatch.setattr(bulk, "AT_ONCE", 0)
    data_of(admin.request("PATCH", "admin/feedback/labels/money", {"name": "cash"}))
    status, _, message = refusal_of(admin.request("DELETE", "admin/feedback/labels/cash"))
    assert (status, message) == (409, "Label cash is already being renamed; the desk shows the progress.")
    bulk_work.advance(Bulk.objects.latest("pk").pk)
    label = Label.objects.get()
    assert (label.name, label.description, label.labelled.count()) == ("cash", "The money.", len(reports))


def test_a_worker_that_is_told_to_stop_leaves_the_rest_of_a_bulk_to_the_next_one(admin, reports, monkeypatch):
    """It would go on for as long as there are reports. It is queued again once, and claimed at once."""
    monkeypatch.setattr(stopping, "_told", threading.Event())
    monkeypatch.setattr(bulk, "AT_ONCE", 0)
    monkeypatch.setattr(bulk_work, "CHUNK", 1)
    begun = data_of(admin.post("admin/feedback/bulk", {"verb": "resolve", "feedback_ids": reports}))
    pk, asked = Bulk.objects.get().pk, []
    monkeypatch.setattr(jobs, "enqueue", lambda task, row_id: asked.append((task, row_id)))
    worker_shutting_down.send(sender="worker", sig="SIGTERM", how="Warm", exitcode=0)
    bulk_work.advance(pk)
    assert asked == [] and not TriageChange.objects.exists()
    stopping._told.clear()
    monkeypatch.setattr(triage, "subject_of", stopped_by(triage.subject_of))
    bulk_work.advance(pk)
    now = data_of(admin.get(f"admin/feedback/bulk/{begun['bulk_id']}"))
    assert (now["state"], now["done_count"], asked) == ("running", 1, [("feedback.bulk", pk)])
    monkeypatch.undo()
    bulk_work.advance(pk)
    now = data_of(admin.get(f"admin/feedback/bulk/{begun['bulk_id']}"))
    assert (now["state"], now["done_count"], TriageChange.objects.count()) == ("done", 3, 3)


def stopped_by(step):
    """A step during which the worker is told to stop."""

    def stopped(*given):
        worker_shutting_down.send(sender="worker", sig="SIGTERM", how="Warm", exitcode=0)
        return step(*given)

    return stopped


@pytest.mark.parametrize("action_id", ["", "act_", "zz", "fb_01", "act_00000000000000000000000000"])
def test_an_undo_of_what_is_no_action_is_told_that_there_is_none(admin, reports, action_id):
    """However many bulks there are, which undo nothing."""
    data_of(admin.post("admin/feedback/bulk", {"verb": "resolve", "feedback_ids": reports}))
    refused = refusal_of(admin.post("admin/feedback/undo", {"action_id": action_id}))
    assert refused[::2] == (404, "There is no such action.")


def test_a_bulk_that_has_changed_nothing_yet_is_taken_back_before_it_does(admin, reports, monkeypatch):
    """Or it would go on after an undo that was refused. What cannot be undone is refused then, too."""
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    queued = data_of(admin.post("admin/feedback/bulk", {"verb": "resolve", "feedback_ids": reports}))
    assert queued["state"] == "queued"
    done = undone(admin, queued["action_id"])
    assert (done["state"], done["total"]) == ("done", 0)
    bulk_work.advance(Bulk.objects.earliest("pk").pk)
    assert Bulk.objects.earliest("pk").state == "cancelled" and not TriageChange.objects.exists()
    again = refusal_of(admin.post("admin/feedback/undo", {"action_id": queued["action_id"]}))
    assert again[::2] == (409, "This action was already undone.")
    data_of(admin.post("admin/feedback/bulk", {"verb": "label", "arguments": {"add": ["a"]}, "feedback_ids": reports}))
    bulk_work.advance(Bulk.objects.latest("pk").pk)
    renamed = data_of(admin.request("PATCH", "admin/feedback/labels/a", {"name": "b"}))
    action = data_of(admin.get(f"admin/feedback/bulk/{renamed['bulk_id']}"))["action_id"]
    status, _, message = refusal_of(admin.post("admin/feedback/undo", {"action_id": action}))
    assert (status, message) == (409, "To undo a renaming, rename the label back. A merge cannot be undone.")


def test_an_undo_that_was_stopped_goes_on_with_the_rest(admin, reports, monkeypatch):
    """And is refused while one is under way, and once all was dealt with."""
    done = data_of(admin.post("admin/feedback/bulk", {"verb": "resolve", "feedback_ids": reports}))
    monkeypatch.setattr(bulk, "AT_ONCE", 1)
    monkeypatch.setattr(bulk_work, "CHUNK", 1)

    def refusal():
        return refusal_of(admin.post("admin/feedback/undo", {"action_id": done["action_id"]}))[::2]

    def left():
        return len(data_of(admin.get("admin/feedback?resolved=true"))["items"])

    for stops, total in enumerate((3, 3, 2)):
        begun = undone(admin, done["action_id"])
        assert (begun["state"], begun["total"]) == ("queued", total)
        assert refusal() == (409, "This action is already being undone.")
        if stops:
            make.half_done_bulk()
        data_of(admin.post(f"admin/feedback/bulk/{begun['bulk_id']}/cancel"))
        assert left() == 3 - stops
    begun = undone(admin, done["action_id"])
    assert begun["total"] == 1
    bulk_work.advance(Bulk.objects.latest("pk").pk)
    ended = data_of(admin.get(f"admin/feedback/bulk/{begun['bulk_id']}"))
    assert (ended["state"], ended["done_count"], ended["failed_count"], left()) == ("done", 1, 0, 0)
    assert refusal() == (409, "This action was already undone.")


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("verb", "at_once"), [("actions", 200), ("bulk", 200), ("bulk", 0)])
def test_of_two_who_take_the_same_back_at_once_one_is_told_so(admin, reports, monkeypatch, verb, at_once):
    """Of one report, of several at once, and of as many as are left to a worker."""
    body = {"verb": "resolve", **({"arguments": {}} if verb == "actions" else {"feedback_ids": reports})}
    path = f"{reports[0]}/actions" if verb == "actions" else "bulk"
    action = data_of(admin.post(f"admin/feedback/{path}", body))["action_id"]
    monkeypatch.setattr(bulk, "AT_ONCE", at_once)
    both, came, require = threading.Barrier(2), [], undoing.require_undoable

    def require_slowly(*given):
        require(*given)
        sleep(0.3)

    def undo():
        both.wait()
        came.append(admin.post("admin/feedback/undo", {"action_id": action}).status_code)
        connection.close()

    monkeypatch.setattr(undoing, "require_undoable", require_slowly)
    pressing = [threading.Thread(target=undo) for _ in range(2)]
    for each in pressing:
        each.start()
    for each in pressing:
        each.join()
    assert sorted(came) == [200, 409] and Bulk.objects.filter(verb="undo").count() == 1


@pytest.mark.parametrize(("path", "body"), [("views", {"name": "long"}), ("bulk", {"verb": "wake"})])
def test_a_query_that_becomes_too_long_when_it_is_spelled_out_is_refused(admin, path, body):
    query = " ".join([*["is:u"] * 62, "x" * 1600])
    status, _, message = refusal_of(admin.post(f"admin/feedback/{path}", {**body, "query": query}))
    assert status == 400 and len(query) < 2000
    assert message == "query: has 2,406 characters when spelled out; the maximum is 2,000"
    assert not SavedView.objects.exists() and not Bulk.objects.exists()


@pytest.mark.parametrize("lost", [{"is_staff": False}, {"is_active": False}])
def test_a_bulk_ends_when_its_author_is_no_admin_any_more(admin, who, reports, monkeypatch, lost):
    """B133: the right is looked up when it is used, for ticked reports as for a query, and for an undo."""
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    queued = data_of(admin.post("admin/feedback/bulk", {"verb": "resolve", "feedback_ids": reports}))
    User.objects.filter(pk=who.admin.user.pk).update(**lost)
    bulk_work.advance(Bulk.objects.get().pk)
    assert queued["state"] == "queued"
    assert Bulk.objects.get().state == "cancelled" and Bulk.objects.get().finished_at
    assert not TriageChange.objects.exists()


def test_a_bulk_whose_author_is_switched_off_midway_stops_there_and_says_so(admin, who, reports, monkeypatch):
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    monkeypatch.setattr(bulk_work, "CHUNK", 2)
    queued = data_of(admin.post("admin/feedback/bulk", {"verb": "resolve", "feedback_ids": reports}))
    half_done = make.half_done_bulk()
    User.objects.filter(pk=who.admin.user.pk).update(is_active=False)
    bulk_work.sweep(orphans=True)
    bulk_work.advance(half_done.pk)
    told = data_of(Api(second_admin().token).get(f"admin/feedback/bulk/{queued['bulk_id']}"))
    assert (told["state"], told["total"], told["done_count"], told["failed_count"]) == ("cancelled", 3, 2, 0)
    assert told["finished_at"] and TriageChange.objects.count() == 2


def resolved_behind(admin, reports):
    """A bulk that a worker carried to its end."""
    queued = data_of(admin.post("admin/feedback/bulk", {"verb": "resolve", "feedback_ids": reports}))
    bulk_work.advance(Bulk.objects.get().pk)
    return data_of(admin.get(f"admin/feedback/bulk/{queued['bulk_id']}"))


def test_a_bulk_that_meets_a_defect_names_the_report_and_does_the_others(admin, reports, monkeypatch, caplog):
    """It would meet it again with each sweep, and nobody would hear why it does not end."""
    resolve = deciding.VERBS["resolve"]

    def decide(actor, subject, body):
        if subject.report.feedback_id == reports[1]:
            raise ZeroDivisionError("what was said")
        return resolve.decide(actor, subject, body)

    monkeypatch.setitem(deciding.VERBS, "resolve", replace(resolve, decide=decide))
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    ended = resolved_behind(admin, reports)
    assert (ended["state"], ended["done_count"], ended["failed_count"]) == ("done", 2, 1)
    [failure] = ended["failures"]
    assert failure["feedback_id"] == reports[1] and failure["reason"].startswith("Unexpected error")
    logged = [each for each in caplog.records if each.message.startswith("bulk.")]
    assert [each.message for each in logged] == ["bulk.chunk_failed", "bulk.passed_by"]
    assert all(each.kind == "ZeroDivisionError" and "test_desk_verbs.py:" in each.at for each in logged)
    assert "what was said" not in caplog.text
    assert undone(admin, ended["action_id"])["done_count"] == 2


def resolved_with_replies(who, reports):
    """Three reports resolved and answered as one action, which writes all resolutions before all replies."""
    resolve, reply = (deciding.verb_named("resolve"), ResolveIn(outcome="fixed")), ReplyIn(public_reply="Mended.")
    _, action = fixing.fix(who.admin.actor, reports[0], resolve, alike=reports[1:], reply=reply)
    assert TriageChange.objects.filter(action=action).count() > len(reports)
    return ids.ACTION + action


@pytest.mark.parametrize("chunk", [1, 2, 3, 100])
def test_an_undo_counts_reports_however_their_changes_are_mixed(admin, who, reports, monkeypatch, chunk):
    action = resolved_with_replies(who, reports)
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    monkeypatch.setattr(bulk_work, "CHUNK", chunk)
    queued = undone(admin, action)
    bulk_work.advance(Bulk.objects.latest("id").pk)
    ended = data_of(admin.get(f"admin/feedback/bulk/{queued['bulk_id']}"))
    assert (ended["state"], ended["total"], ended["done_count"], ended["failed_count"]) == ("done", 3, 3, 0)
    assert not UserFeedback.objects.filter(resolved=True).exists()
    assert not Reply.objects.filter(public_reply__isnull=False).exists()


def test_a_report_whose_undo_meets_a_defect_stays_as_it_was_and_is_counted_once(admin, who, reports, monkeypatch):
    action = resolved_with_replies(who, reports)
    real, defect = undoing.undo_one, UserFeedback.objects.get(key=reports[1].removeprefix("fb_")).pk

    def undo_one(actor, stored, change, chunk, **more):
        if change.feedback_id == defect and "resolved" in change.after:
            raise ZeroDivisionError
        return real(actor, stored, change, chunk, **more)

    monkeypatch.setattr(undoing, "undo_one", undo_one)
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    queued = undone(admin, action)
    bulk_work.advance(Bulk.objects.latest("id").pk)
    ended = data_of(admin.get(f"admin/feedback/bulk/{queued['bulk_id']}"))
    assert (ended["state"], ended["total"], ended["done_count"], ended["failed_count"]) == ("done", 3, 2, 1)
    assert [each["feedback_id"] for each in ended["failures"]] == [reports[1]]
    report = UserFeedback.objects.get(pk=defect)
    assert report.resolved and Reply.objects.get(feedback=report).public_reply == "Mended."


@pytest.mark.django_db(transaction=True)
def test_a_defect_that_the_commit_meets_is_that_report_s_alone_too(admin, reports, monkeypatch):
    resolve = deciding.VERBS["resolve"]

    def decide(actor, subject, body):
        decision = resolve.decide(actor, subject, body)
        return {**decision, "owner_id": 10**9} if subject.report.feedback_id == reports[1] else decision

    monkeypatch.setitem(deciding.VERBS, "resolve", replace(resolve, decide=decide))
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    ended = resolved_behind(admin, reports)
    assert (ended["state"], ended["done_count"], ended["failed_count"]) == ("done", 2, 1)
    assert [each["feedback_id"] for each in ended["failures"]] == [reports[1]]


@pytest.mark.parametrize("chunk", [2, 100])
def test_a_bulk_whose_every_report_has_the_defect_ends_and_says_so(admin, reports, monkeypatch, chunk):
    """Arguments that this version no longer takes, for one."""
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    monkeypatch.setattr(bulk_work, "CHUNK", chunk)
    queued = data_of(admin.post("admin/feedback/bulk", {"verb": "resolve", "feedback_ids": reports}))
    Bulk.objects.update(arguments={"outcome": "of old"})
    bulk_work.advance(Bulk.objects.get().pk)
    ended = data_of(admin.get(f"admin/feedback/bulk/{queued['bulk_id']}"))
    assert (ended["state"], ended["done_count"], ended["failed_count"]) == ("cancelled", 0, min(chunk, 3))
    assert not TriageChange.objects.exists()


def test_a_defect_of_one_report_takes_nothing_from_an_undo_of_the_others(admin, act, reports, monkeypatch):
    """What is still as the bulk left it is taken back, what changed since stays."""
    done = data_of(admin.post("admin/feedback/bulk", {"verb": "reply", "feedback_ids": reports, "arguments": ANSWER}))
    act(reports[0], "reply", public_status="looked_at")
    undo_one = undoing.undo_one

    def undo(actor, change, *given, **named):
        if change.feedback.feedback_id == reports[2]:
            raise ZeroDivisionError
        return undo_one(actor, change, *given, **named)

    monkeypatch.setattr(undoing, "undo_one", undo)
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    begun = undone(admin, done["action_id"])
    assert begun["state"] == "queued"
    bulk_work.advance(Bulk.objects.order_by("pk").last().pk)
    ended = data_of(admin.get(f"admin/feedback/bulk/{begun['bulk_id']}"))
    assert (ended["state"], ended["done_count"], ended["failed_count"]) == ("done", 1, 2)
    assert data_of(admin.get(f"admin/feedback/{reports[1]}/triage"))["public_reply"] is None


def test_what_is_reported_after_a_bulk_was_asked_for_is_not_meant(admin, who, thread, reports, monkeypatch):
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    queued = data_of(admin.post("admin/feedback/bulk", {"verb": "resolve", "query": "is:open"}))
    later = make.rating(who.alice, thread, 7).feedback_id
    bulk_work.advance(Bulk.objects.get().pk)
    ended = data_of(admin.get(f"admin/feedback/bulk/{queued['bulk_id']}"))
    assert (ended["state"], ended["total"], ended["done_count"]) == ("done", 3, 3)
    [left] = data_of(admin.get("admin/feedback?q=is:open"))["items"]
    assert left["feedback_id"] == later


def test_a_bulk_that_takes_long_is_left_to_the_worker_that_is_at_it(admin, reports, monkeypatch):
    """Each chunk takes 20 seconds here; a lease of the first one would be over by the second."""
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    monkeypatch.setattr(bulk_work, "CHUNK", 1)
    data_of(admin.post("admin/feedback/bulk", {"verb": "resolve", "feedback_ids": reports}))
    queued = []
    monkeypatch.setattr(bulk_work.jobs, "enqueue", lambda *job: queued.append(job))
    with time_machine.travel(timezone.now(), tick=False) as clock:

        def pass_time(_):
            clock.shift(20)
            bulk_work.sweep()

        monkeypatch.setattr(notices, "publish", pass_time)
        bulk_work.advance(Bulk.objects.get().pk)
    assert (Bulk.objects.get().state, queued) == ("done", [])


def test_a_bulk_that_is_taken_back_while_it_runs_says_when_it_ended(admin, reports, monkeypatch):
    monkeypatch.setattr(bulk, "AT_ONCE", 2)
    monkeypatch.setattr(bulk_work, "CHUNK", 2)
    queued = data_of(admin.post("admin/feedback/bulk", {"verb": "resolve", "feedback_ids": reports}))
    make.half_done_bulk()
    back = undone(admin, queued["action_id"])
    assert (back["state"], back["total"], back["done_count"]) == ("done", 2, 2)
    ended = data_of(admin.get(f"admin/feedback/bulk/{queued['bulk_id']}"))
    assert ended["state"] == "cancelled" and ended["finished_at"] is not None


def test_a_long_bulk_can_be_taken_back_for_half_an_hour_after_its_last_report(admin, reports):
    """As the desk says beside its undo."""
    done = data_of(admin.post("admin/feedback/bulk", {"verb": "resolve", "feedback_ids": reports}))
    first = TriageChange.objects.order_by("id").first()
    TriageChange.objects.filter(pk=first.pk).update(at=first.at - timedelta(minutes=31))
    assert undone(admin, done["action_id"])["total"] == 3


@pytest.mark.parametrize(
    "body",
    [
        {"verb": "resolve"},
        {"verb": "resolve", "feedback_ids": ["fb_1"], "query": "is:open"},
        {"verb": "nothing", "feedback_ids": ["fb_1"]},
        {"verb": "resolve", "feedback_ids": []},
        {"verb": "resolve", "query": "sentiment:angry"},
        {"verb": "note", "query": "is:open"},
        {"verb": "resolve", "feedback_ids": ["fb_1"] * 1 + [f"fb_{n}" for n in range(5_001)]},
    ],
)
def test_a_bulk_that_says_too_little_or_too_much_is_refused(admin, reports, body):
    assert refusal_of(admin.post("admin/feedback/bulk", body))[0] == 400
    assert not TriageChange.objects.exists()


@pytest.mark.parametrize("query", ["", "  ", "\n", "\u0001", "sort:oldest"])
def test_a_bulk_of_every_report_there_is_has_to_be_meant(admin, reports, query):
    """What a program sends when its variable is empty."""
    body = {"verb": "resolve", "query": query}
    status, _, sentence = refusal_of(admin.post("admin/feedback/bulk", body))
    assert status == 400 and sentence.startswith("query: matches every report") and '"all": true' in sentence
    assert not TriageChange.objects.exists() and not Bulk.objects.exists()
    assert data_of(admin.post("admin/feedback/bulk", {**body, "all": True}))["done_count"] == 3


def test_a_bulk_of_every_report_needs_no_query(admin, reports):
    assert data_of(admin.post("admin/feedback/bulk", {"verb": "resolve", "all": True}))["done_count"] == 3
    for ticked in ({}, {"all": False}, {"feedback_ids": reports, "query": "is:open"}):
        status, _, sentence = refusal_of(admin.post("admin/feedback/bulk", {"verb": "reopen", **ticked}))
        assert (status, sentence) == (400, "feedback_ids: give either feedback_ids or a query")


@pytest.mark.parametrize("also", [{}, {"query": "is:open"}])
def test_a_bulk_of_named_reports_and_of_all_is_refused(admin, reports, also):
    """Nobody can tell which of both was meant."""
    body = {"verb": "resolve", "feedback_ids": reports[:1], "all": True, **also}
    status, _, sentence = refusal_of(admin.post("admin/feedback/bulk", body))
    assert (status, sentence) == (400, "all: give either feedback_ids or all")
    assert not TriageChange.objects.exists()


def test_a_shared_view_of_who_is_no_admin_any_more_is_everybodys_to_change(api, who):
    """It is in everybody's menu, and nobody else could ever take it out."""
    admin, bea = api("admin"), second_admin()
    keep = {"name": "Left", "query": "is:open", "is_shared": True}
    path = f"admin/feedback/views/{data_of(Api(bea.token).post('admin/feedback/views', keep))['view_id']}"
    assert refusal_of(admin.request("DELETE", path))[0] == refusal_of(admin.patch(path, {"name": "Mine"}))[0] == 403
    for gone in ({"is_active": False}, {"is_active": True, "is_staff": False}):
        User.objects.filter(pk=bea.user.pk).update(**gone)
        assert data_of(admin.patch(path, {"name": "Left over"}))["name"] == "Left over"
    data_of(admin.request("DELETE", path))
    assert "Left over" not in [each["name"] for each in data_of(admin.get("admin/feedback/views"))]


def test_views_have_a_most_and_ones_own_are_listed_whatever_others_share(api, who, monkeypatch):
    """All of them are in everybody's menu, so none may be cut from it without a word."""
    monkeypatch.setattr(saved_views, "MOST", 3)
    admin, other = api("admin"), Api(second_admin().token)
    keep = lambda client, name, **said: client.post("admin/feedback/views", {"name": name, "query": "", **said})  # noqa: E731
    for number in range(3):
        data_of(keep(other, f"Aa {number}", is_shared=True))
    refused = refusal_of(keep(other, "Aa 3"))
    assert refused[::2] == (400, "name: you already have 3 views; delete one first")
    mine = data_of(keep(admin, "Zz mine"))
    assert mine["view_id"] in [each["view_id"] for each in data_of(admin.get("admin/feedback/views"))]
    for refused in (
        keep(admin, "Zz shared", is_shared=True),
        admin.patch(f"admin/feedback/views/{mine['view_id']}", {"is_shared": True}),
    ):
        status, _, message = refusal_of(refused)
        assert status == 400 and message.startswith("is_shared: 3 views are already shared")


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_shared", [False, True])
def test_of_two_views_that_one_admin_saves_at_once_the_one_too_many_is_refused(who, monkeypatch, is_shared):
    monkeypatch.setattr(saved_views, "MOST", 1)
    came = []

    def save(name):
        try:
            saved_views.save(who.admin.actor, name, "", is_shared=is_shared)
        except InvalidRequest as problem:
            came.append(problem.message)

    beside = threading.Thread(target=lambda: (save("Second"), connection.close()))
    with transaction.atomic():
        save("First")
        beside.start()
        beside.join(1)
    beside.join()
    assert came == ["name: you already have 1 views; delete one first"]
    assert [view.name for view in SavedView.objects.all()] == ["First"]


def test_a_reply_that_was_taken_back_has_no_time(act, admin, reports):
    """In the record, the export and the history, where each change begins with the values of the one before."""

    def shown():
        record = data_of(admin.get(f"admin/feedback/{reports[0]}/triage"))
        line = admin.get(f"admin/feedback/export?q=id:{reports[0]}").getvalue()
        assert json.loads(line)["replied_at"] == record["replied_at"]
        return record["public_status"], record["replied_at"]

    undone(admin, act(reports[0], "reply", public_reply="Too early.")["action_id"])
    assert shown() == ("received", None)
    act(reports[0], "reply", public_reply="Now.")
    assert shown()[1] is not None
    act(reports[0], "reply", public_status="received")
    assert shown() == ("received", None)
    act(reports[0], "reply", public_reply="Again.")
    state = None
    for change in data_of(admin.get(f"admin/feedback/{reports[0]}/history")):
        assert change["before"]["replied_at"] == state
        state = change["after"]["replied_at"]
    assert state is not None


@pytest.mark.parametrize("unseen", [" ", "\u200b", "\u2060\u00a0"])
def test_a_reply_of_which_nothing_is_seen_is_none(refused, reports, unseen):
    assert refused(reports[0], "reply", public_reply=unseen)[0] == 400


@pytest.mark.parametrize(
    ("stored", "zoned"),
    [
        ("created:today is:open", "created:today[UTC] is:open"),
        ("-created:2026-05..2026-06 a", "-created:2026-05..2026-06[UTC] a"),
        ("(edited:<2026-05-01 OR resolved:<7d)", "(edited:<2026-05-01[UTC] OR resolved:<7d)"),
        ("created:2026[Europe/Berlin] age:<7d", "created:2026[Europe/Berlin] age:<7d"),
        ('"created:2026" label:created', '"created:2026" label:created'),
    ],
)
def test_views_from_before_say_whose_days_they_mean_after_the_migration(who, stored, zoned):
    view = SavedView.objects.create(name="a day", query=stored, created_by=who.admin.user)
    import_module("feedback.migrations.0030_zoned_views").name_zones(apps, None)
    view.refresh_from_db()
    assert view.query == zoned


def test_a_view_that_is_saved_over_rest_says_that_its_days_are_of_utc(admin):
    """Or it would be about other reports for each reader."""
    kept = data_of(admin.post("admin/feedback/views", {"name": "a day", "query": "created:2026-11-30 -edited:<7d"}))
    assert kept["query"] == "created:2026-11-30[UTC] -edited:<7d"
    changed = admin.patch(f"admin/feedback/views/{kept['view_id']}", {"query": "resolved:2026-11[Asia/Tokyo]"})
    assert data_of(changed)["query"] == "resolved:2026-11[Asia/Tokyo]"
