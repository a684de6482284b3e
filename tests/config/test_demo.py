"""The demo is loaded whole or not at all, and what it is made of: B178. A loaded one: test_demo_shown.py."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Org, User
from config import demo
from config.demo import loading, stories
from tests.config.counting import counts
from threads import dialects

MIDNIGHT = datetime(2031, 3, 1, 0, 0, 1, tzinfo=UTC)
EVENING = datetime(2031, 12, 31, 23, 59, tzinfo=UTC)


@pytest.mark.django_db
def test_a_load_that_breaks_off_leaves_nothing_and_the_next_one_starts_over(monkeypatch):
    def killed(stage: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(loading._Stage, "rate", killed)
        with pytest.raises(KeyboardInterrupt):
            demo.load()
    assert set(counts().values()) == {0}
    assert demo.credentials() is None
    assert demo.load() is True


@pytest.mark.django_db
def test_without_a_demo_there_are_no_credentials():
    with pytest.raises(CommandError, match="No demo"):
        call_command("demo_credentials", "--json")


@pytest.mark.django_db
def test_the_demo_keeps_away_from_an_org_that_somebody_else_calls_acme():
    Org.objects.create(slug="acme", name="Acme Anvils")
    with pytest.raises(CommandError, match="not the demo's"):
        demo.load()
    assert User.objects.count() == 0


@pytest.mark.django_db
def test_production_refuses_the_demo(settings):
    settings.HEDDLE = settings.HEDDLE.model_copy(update={"mode": "production"})
    with pytest.raises(CommandError, match="production"):
        call_command("demo")
    assert User.objects.count() == 0


def _moments(story: stories.Story) -> Iterator[datetime]:
    for each in stories.told(story):
        yield each.at
        for report in each.line.reports:
            written_at = each.at + timedelta(hours=report.hours + report.changed_hours)
            yield from (written_at + timedelta(hours=hours) for hours, _ in [(0.0, None), *report.triage])
    yield from (stories.told(story)[fork.upto].at + timedelta(hours=fork.hours) for fork in story.forks)


@pytest.mark.parametrize("now", [MIDNIGHT, EVENING])
def test_at_no_time_of_the_day_does_a_story_reach_into_the_future(now):
    for story in stories.written(now):
        assert now - timedelta(days=14) <= min(_moments(story)), story.name
        assert max(_moments(story)) < now, story.name


def test_stories_are_whole_conversations_without_a_warning():
    """B178: each is imported without loss, and every time placeholder is replaced."""
    for story in stories.written(EVENING):
        said = stories.conversation(story)
        assert dialects.parse("roboto", said).warnings == (), story.name
        assert "@{" not in json.dumps(said), story.name
        assert said["messages"][-1]["role"] == "assistant", story.name


def test_moments_in_a_story_are_said_relative_to_its_beginning():
    story = next(each for each in stories.written(EVENING) if each.name == "charged-twice")
    assert story.begins == datetime(2031, 12, 22, 8, 41, tzinfo=UTC)
    said = json.dumps(stories.conversation(story))
    assert '"started_at": "2031-12-22T07:30:00Z"' in said
    assert "it began and ended at 07:30" in said
    assert "by 25 December" in said
