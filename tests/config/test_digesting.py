"""The clocks that look at rated answers: the queue's task, and its place in the schedule."""

import pytest
from django.conf import settings

from config.celery import app
from feedback import tasks
from feedback.models import RatedAnswer, Undigested
from tests import make


@pytest.mark.django_db(transaction=True)  # the task gives its connection back
def test_the_task_digests_what_has_gathered(who):
    report = make.rating(who.alice, make.thread(who.alice))
    tasks.digest()
    assert not Undigested.objects.exists()
    [answer] = RatedAnswer.objects.select_related("feedback")
    assert (answer.feedback.feedback_id, answer.model_profile) == (report.feedback_id, "simulated")


def test_it_is_asked_every_few_seconds():
    entry = app.conf.beat_schedule["digest"]
    assert entry["task"] == tasks.digest.name == "feedback.digest"
    assert entry["schedule"] == settings.HEDDLE.digest_seconds <= 10
