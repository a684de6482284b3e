"""Laws of duplicates: whatever admins and submitters do one after the other, an original is no duplicate itself."""

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import DomainError
from core.wire import Nothing
from feedback import bulk, capture, triage
from feedback.deciding import verb_named
from feedback.models import Triage, UserFeedback
from feedback.wire_verbs import DuplicateIn
from tests import make

law = settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
REPORTS = 5
places = st.integers(0, REPORTS - 1)
steps = st.one_of(
    st.tuples(st.just("duplicate"), places, places),
    st.tuples(st.just("all"), st.frozensets(places, min_size=2, max_size=3), places),
    st.tuples(st.just("reopen"), places, st.none()),
    st.tuples(st.just("undo"), st.integers(0, 5), st.none()),
    st.tuples(st.just("retract"), places, st.none()),
)


def picture():
    """Every report with what it is: whether it is resolved, how, and as a duplicate of what."""
    beside = {row.pk: (row.outcome, row.duplicate_of_id) for row in Triage.objects.all()}
    return {
        pk: (done, *beside.get(pk, (None, None))) for pk, done in UserFeedback.objects.values_list("pk", "resolved")
    }


def check_law():
    found = picture()
    for resolved, outcome, of in found.values():
        if of is not None:
            assert resolved and outcome == "duplicate"
            assert of in found, "every duplicate's original is there"
            assert found[of][2] is None, "an original is no duplicate"


@pytest.mark.django_db
@law
@given(story=st.lists(st.tuples(steps, st.booleans()), min_size=3, max_size=14))
def test_no_duplicate_is_of_a_duplicate_and_what_was_just_done_is_taken_back_whole(who, story):
    UserFeedback.objects.all().delete()
    thread, admin = make.conversation(who.alice, 2 * REPORTS), who.admin.actor
    reports = [make.rating(who.alice, thread, 2 * place + 1).feedback_id for place in range(REPORTS)]
    actions: list[str] = []

    def take(verb, one, other, *, is_regretted):
        before = picture()
        match verb:
            case "duplicate":
                done = triage.act(admin, reports[one], (verb_named(verb), DuplicateIn(duplicate_of=reports[other])))[1]
            case "all":
                chosen = [reports[place] for place in sorted(one)]
                body = DuplicateIn(duplicate_of=reports[other])
                done = bulk.act_on_all(admin, verb_named("duplicate"), body, feedback_ids=chosen).key
            case "reopen":
                done = triage.act(admin, reports[one], (verb_named(verb), Nothing()))[1]
            case "undo":
                if one < len(actions):
                    bulk.undo(admin, actions.pop(-1 - one))
                return
            case "retract":
                capture.retract(who.alice.actor, thread, 2 * one + 1)
                return
        check_law()
        if done and is_regretted:
            after = picture()
            back = bulk.undo(admin, done)
            assert picture() == before, "what was just done is taken back whole"
            again = bulk.undo(admin, back.key)
            assert picture() == after, "and done again"
            bulk.undo(admin, again.key)
            assert picture() == before, "and taken back"
        elif done:
            actions.append(done)

    for step, is_regretted in story:
        with suppress(DomainError):
            take(*step, is_regretted=is_regretted)
        check_law()
