"""A taken name is told as one, and nothing else is."""

import pytest
from django.db import IntegrityError, transaction

from catalogue.models import Accessibility, Skill
from core.errors import Conflict
from core.names import name_kept
from feedback.models import SavedView
from threads.models import Agent


def agent(who, name, **more):
    return Agent.objects.create(
        org=who.acme, name=name, request_template={}, created_by=who.alice.user, modified_by=who.alice.user, **more
    )


def private_skill(who, name, **more):
    return Skill.objects.create(org=who.acme, created_by=who.alice.user, name=name, **more)


def shared_skill(who, name, **more):
    return private_skill(who, name, accessibility=Accessibility.ORG, **more)


def view(who, name, **more):
    return SavedView.objects.create(created_by=who.alice.user, name=name, query="", **more)


@pytest.mark.parametrize("make", [agent, private_skill, shared_skill, view])
def test_a_taken_name_is_a_conflict_and_another_clash_is_not(who, make):
    first = make(who, "one")
    with pytest.raises(Conflict, match=r"name: one is taken"), name_kept(type(first), "one"):
        make(who, "one")
    with pytest.raises(IntegrityError), transaction.atomic(), name_kept(type(first), "two"):
        make(who, "two", key=first.key)
    with name_kept(type(first), "two"):
        make(who, "two")
