"""`manage.py seed_load`: generated reports."""

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from core import ids
from feedback import digesting, querying
from feedback.models import Label, Labelled, RatedTool, Triage, Undigested, UserFeedback
from tests import make
from tests.conftest import data_of
from threads.models import Block, Thread

REPORTS = 2000
LINES = (
    "refund", "text:order", "note:the", "tool:calculate", "error:provider_timeout", "model:large", 'label:"tool bug"',
    "category:slow", "created:>100d", "is:edited", "is:answered", "calculate",
)  # fmt: skip


def load(reports=REPORTS, **options):
    call_command("seed_load", reports=reports, org="acme", verbosity=0, **options)


def found(who, line):
    return querying.matching(who.admin.actor, querying.parse(line)).count()


@pytest.mark.django_db
def test_a_full_desk_is_found_by_everything_that_was_loaded(who, api):
    load()
    assert UserFeedback.objects.count() == REPORTS
    assert Undigested.objects.count() == 0
    assert 0.8 < found(who, "is:resolved") / REPORTS < 0.9
    assert found(who, "is:resolved -outcome:fixed") > found(who, "outcome:fixed") > 0
    assert found(who, "has:owner") == Triage.objects.filter(owner__isnull=False).count() > 0
    for line in LINES:
        assert 0 < found(who, line) < REPORTS, line
    with_label = UserFeedback.objects.filter(admin_label__contains="wording").count()
    assert found(who, "label:wording") == with_label == Labelled.objects.filter(label__name="wording").count()
    assert Label.objects.count() == 10
    page = data_of(api("admin").get("admin/feedback?limit=1"))["items"][0]
    assert ids.is_id(page["feedback_id"], ids.FEEDBACK) and found(who, page["feedback_id"]) == 1
    thread = data_of(api("admin").get(f"threads/{page['thread_id']}"))
    assert thread["messages"][page["message_sequence_num"]]["role"] == "assistant"


@pytest.mark.django_db
def test_later_reports_have_higher_ids_and_none_is_of_the_future(who):
    """As rating makes them: lists in the order of ids say how old each is."""
    load(400)
    moments = list(UserFeedback.objects.order_by("pk").values_list("created", "modified", "resolved_at"))
    assert [created for created, *_ in moments] == sorted(created for created, *_ in moments)
    now = timezone.now()
    assert all(created <= (resolved or now) <= now and modified <= now for created, modified, resolved in moments)


@pytest.mark.django_db
def test_a_duplicate_has_its_original_which_is_none_itself_and_came_before():
    """As the desk demands of each."""
    load()
    duplicates = Triage.objects.filter(outcome="duplicate").select_related("duplicate_of__triage")
    assert duplicates.count() == Triage.objects.filter(duplicate_of__isnull=False).count() > REPORTS / 30
    for each in duplicates:
        original = each.duplicate_of
        assert original.pk < each.feedback_id
        assert Triage.objects.filter(feedback=original, outcome="duplicate").count() == 0


@pytest.mark.django_db
def test_loading_again_changes_nothing_and_a_load_that_broke_off_goes_on(who):
    load(500)
    before = list(UserFeedback.objects.order_by("pk").values())
    load(500)
    assert list(UserFeedback.objects.order_by("pk").values()) == before
    load(300, seed=2)
    assert UserFeedback.objects.count() == 800


@pytest.mark.django_db
def test_what_is_loaded_is_what_the_digest_would_have_found(who):
    load(400)
    kept = set(RatedTool.objects.values_list("feedback_id", "tool_name", "failed"))
    RatedTool.objects.all().delete()
    Undigested.objects.bulk_create(Undigested(pk=pk) for pk in UserFeedback.objects.values_list("pk", flat=True))
    digesting.catch_up()
    assert set(RatedTool.objects.values_list("feedback_id", "tool_name", "failed")) == kept


@pytest.mark.django_db
def test_life_goes_on_after_a_load(who):
    load(300)
    thread = make.thread(who.alice)
    report = make.rating(who.alice, thread, 1, notes="A zebra.")
    row = UserFeedback.objects.get(key=ids.key_of(report.feedback_id, ids.FEEDBACK))
    Triage.objects.create(feedback=row, owner=who.admin.user)
    assert found(who, "zebra owner:me") == 1
    assert Thread.objects.latest("pk") == thread
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM feedback_search")
        assert cursor.fetchone() == (301,)


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["tool_use", "tool_result", "error"])
def test_blocks_have_all_that_those_of_a_turn_have(who, kind):
    load()
    loaded = Block.objects.filter(kind=kind).first()
    made = Block.objects.filter(thread=make.thread(who.alice, '[[call echo {"value": 1}]] [[fail]]'), kind=kind).first()
    assert made.data.keys() - {"answered_by"} == loaded.data.keys()


@pytest.mark.django_db
def test_production_is_asked_twice(monkeypatch, who):
    monkeypatch.setattr(settings.HEDDLE, "mode", "production")
    with pytest.raises(CommandError, match="--yes"):
        load(8)
    load(8, yes=True)
    assert UserFeedback.objects.count() == 8


@pytest.mark.django_db
@pytest.mark.parametrize("reports", [0, -5, 100_000_001, 10**20])
def test_how_many_reports_are_made_has_bounds(reports):
    """A larger number would be loaded until the disk is full."""
    with pytest.raises(CommandError, match="--reports must be a number from 1 to 100,000,000"):
        load(reports)


@pytest.mark.django_db
@pytest.mark.parametrize("seed", [-1, 10**10])
def test_a_seed_has_room_in_the_ids_of_what_it_makes(seed):
    with pytest.raises(CommandError, match="--seed must be a number from 0 to 9,999,999,999"):
        load(8, seed=seed)
    load(8, seed=10**10 - 1)
    assert UserFeedback.objects.count() == 8
