"""What tests of the demo share."""

from accounts.models import ApiToken, Org, User
from catalogue.models import Skill, SkillSubscription, SkillVersion
from feedback.models import TriageChange, UserFeedback
from threads.models import Agent, Block, Goal, Message, Pin, Subject, Thread, Turn


def counts() -> dict[str, int]:
    """How many rows there are of everything that the demo makes."""
    models = (Org, User, ApiToken, Thread, Message, Block, Turn, Goal, Pin, Subject, UserFeedback, TriageChange)
    shelf = (Skill, SkillVersion, SkillSubscription, Agent)
    return {model.__name__: model.objects.count() for model in (*models, *shelf)}
