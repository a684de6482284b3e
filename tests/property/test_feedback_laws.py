"""Laws of feedback (B112 to B117, B127 to B132): what any sequence of submissions and triage leaves behind."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from core import bodies
from feedback import access, capture, projecting, triage
from feedback.models import UserFeedback
from feedback.taxonomy import FITTING, Category, Sentiment
from feedback.wire import FeedbackIn, TriageIn
from tests import make

law = settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
notes = st.none() | st.sampled_from(["", " \n", "Because.", " padded "])
ratings = st.sampled_from(Sentiment.values).flatmap(
    lambda tone: st.fixed_dictionaries(
        {"sentiment": st.just(tone)},
        optional={"categories": st.lists(st.sampled_from(sorted(FITTING[tone])), max_size=4), "notes": notes},
    )
)
triages = st.fixed_dictionaries(
    {},
    optional={
        "admin_label": st.none() | st.sampled_from(["bug", ""]),
        "admin_note": st.none() | st.just("Seen."),
        "resolved": st.booleans(),
    },
)
USER_SAYS = ("sentiment", "categories", "notes", "modified")
ADMIN_SAYS = ("admin_label", "admin_note", "resolved", "resolved_by", "resolved_at")


def is_valid(rating):
    return "other" not in rating.get("categories", []) or bool((rating.get("notes") or "").strip())


@pytest.mark.django_db
@law
@given(
    story=st.lists(st.tuples(st.just("rate"), ratings) | st.tuples(st.just("triage"), triages), min_size=1, max_size=10)
)
def test_submitter_and_admin_each_overwrite_their_own_half_only_B112_B114_B127_B131_B132(who, story):
    thread = make.conversation(who.alice, 2)
    first = make.rating(who.alice, thread)
    said = {"sentiment": "negative", "categories": [], "notes": None, "modified": first.modified}
    judged = {"admin_label": None, "admin_note": None, "resolved": False, "resolved_by": None, "resolved_at": None}
    now = timezone.now()
    for hour, (verb, body) in enumerate(story, start=1):
        at = now + timedelta(hours=hour)
        with time_machine.travel(at, tick=False):
            if verb == "triage":
                triage.update(who.admin.actor, first.feedback_id, bodies.parse(TriageIn, body))
                was_resolved = judged["resolved"]
                judged |= body
                if judged["resolved"] and not was_resolved:
                    judged |= {"resolved_by": who.admin.user.email, "resolved_at": at}
                elif not judged["resolved"]:
                    judged |= {"resolved_by": None, "resolved_at": None}
            elif is_valid(body):
                make.rating(who.alice, thread, **body)
                words = body.get("notes")
                before, said = (
                    said,
                    {
                        "sentiment": body["sentiment"],
                        "categories": sorted(set(body.get("categories", []))),
                        "notes": words if words and words.strip() else None,
                        "modified": said["modified"],
                    },
                )
                if said != before:
                    said["modified"] = at
        found = projecting.full_record_of(access.report_for(who.admin.actor, first.feedback_id).pk).model_dump()
        assert {name: found[name] for name in USER_SAYS} == said
        assert {name: found[name] for name in ADMIN_SAYS} == judged
        assert (found["feedback_id"], found["created"], found["created_by"], found["modified_by"]) == (
            first.feedback_id,
            first.created,
            who.alice.user.email,
            who.alice.user.email,
        )
    assert UserFeedback.objects.filter(thread=thread).count() == 1


@given(
    sentiment=st.sampled_from(Sentiment.values),
    categories=st.lists(st.sampled_from(Category.values), max_size=5),
    said=notes,
)
def test_what_fits_is_accepted_and_nothing_else_B118_B119(sentiment, categories, said):
    fits = set(categories) <= FITTING[sentiment]
    explained = "other" not in categories or bool((said or "").strip())
    body = {"sentiment": sentiment, "categories": categories, "notes": said}
    if fits and explained:
        parsed = FeedbackIn.model_validate(body)
        assert parsed.clean_categories == sorted(set(categories))
    else:
        with pytest.raises(ValidationError):
            FeedbackIn.model_validate(body)


@pytest.mark.django_db
@law
@given(raters=st.lists(st.tuples(st.sampled_from(["alice", "bob", "admin"]), st.sampled_from([1, 3])), max_size=12))
def test_there_is_one_row_a_person_and_message_B115(who, raters):
    thread = make.conversation(who.alice, 4, visibility="org")
    for name, index in raters:
        make.rating(who.named(name), thread, index=index)
    rows = UserFeedback.objects.filter(thread=thread).values_list("created_by__email", "message_sequence_num")
    assert sorted(rows) == sorted({(who.named(name).user.email, index) for name, index in raters})
    for name in ("alice", "bob", "admin"):
        mine = [report.message_sequence_num for report in capture.own(who.named(name).actor, thread)]
        assert mine == sorted({index for rater, index in raters if rater == name})
