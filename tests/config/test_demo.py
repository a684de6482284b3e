"""The demo is loaded once, completely, with known passwords: B177, B178. Its content: test_demo_shown.py."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import ApiToken, Org, User
from catalogue.models import Skill, SkillSubscription, SkillVersion
from config import demo
from config.demo import loading, stories
from feedback.models import TriageChange, UserFeedback
from threads import dialects
from threads.models import Agent, Block, Goal, Message, Pin, Subject, Thread, Turn

MIDNIGHT = datetime(2031, 3, 1, 0, 0, 1, tzinfo=UTC)
EVENING = datetime(2031, 12, 31, 23, 59, tzinfo=UTC)


@pytest.fixture
def loaded(db: None) -> dict[str, Any]:
    """The credentials of a newly loaded demo."""
    assert demo.load() is True
    found = demo.credentials()
    assert found is not None
    return found


def _counts() -> dict[str, int]:
    models = (Org, User, ApiToken, Thread, Message, Block, Turn, Goal, Pin, Subject, UserFeedback, TriageChange)
    shelf = (Skill, SkillVersion, SkillSubscription, Agent)
    return {model.__name__: model.objects.count() for model in (*models, *shelf)}


def test_a_second_load_changes_nothing_and_asks_next_to_nothing(loaded, django_assert_max_num_queries):
    """B177."""
    before = _counts()
    with django_assert_max_num_queries(6):
        assert demo.load() is False
    assert _counts() == before
    assert demo.credentials() == loaded


@pytest.mark.django_db
def test_a_load_that_breaks_off_leaves_nothing_and_the_next_one_starts_over(monkeypatch):
    def killed(stage: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(loading._Stage, "rate", killed)
        with pytest.raises(KeyboardInterrupt):
            demo.load()
    assert set(_counts().values()) == {0}
    assert demo.credentials() is None
    assert demo.load() is True


@pytest.mark.django_db
def test_without_a_demo_there_are_no_credentials():
    with pytest.raises(CommandError, match="No demo"):
        call_command("demo_credentials", "--json")


def _printed(capsys, *flags: str) -> tuple[str, str]:
    call_command("demo_credentials", *flags)
    told = capsys.readouterr()
    return told.out, told.err


@pytest.mark.parametrize("gone", ["revoked", "expired", "deleted", "inactive"])
def test_a_token_that_works_no_longer_is_not_printed(loaded, capsys, gone):
    """It is not issued again either: whoever revoked it may have seen it where it does not belong."""
    theirs = ApiToken.objects.filter(user__email="alice@acme.test")
    past = datetime.now(UTC) - timedelta(hours=1)
    match gone:
        case "revoked":
            theirs.update(revoked_at=past)
        case "expired":
            theirs.update(expires_at=past)
        case "deleted":
            theirs.delete()
        case _:
            User.objects.filter(email="alice@acme.test").update(is_active=False)
    before = _counts()
    told, said = _printed(capsys, "--json")
    assert json.loads(told)["tokens"] == {**loaded["tokens"], "alice": None}
    assert said == "The demo's token of alice works no longer. Another one can be created in Settings.\n"
    told, said = _printed(capsys)
    [line] = [each for each in told.splitlines() if each.startswith("alice@")]
    assert line.split() == ["alice@acme.test", loaded["passwords"]["alice"], "-"]
    assert loaded["tokens"]["bob"] in told
    assert said.startswith("The demo's token of alice ")
    assert _printed(capsys, "--welcome")[1] == "", "no token is shown there"
    assert _counts() == before


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
