"""The versions of agents: reading them, and going back to one."""

from typing import Any, NamedTuple

from django.db.models import Count

from core import bodies, paging
from core.actor import Actor
from core.errors import NotFound
from threads import agents, hooks
from threads.models import Agent, AgentVersion, Thread
from threads.wire_agents import AgentPatch, AgentVersionOut, AgentVersionPageOut

_OFFERED = 200
"""How many versions can be chosen to be compared."""
_PLACES = paging.Places("agent_versions")


def version_of(agent: Agent, number: int) -> AgentVersion:
    """The version with that number; raises `NotFound`."""
    found = AgentVersion.objects.filter(agent=agent, version=number).select_related("agent", "created_by").first()
    if found is None:
        raise NotFound.of("version", str(number), "of this agent")
    return found


def launching(actor: Actor, thread: Thread) -> AgentVersion:
    """The version that a thread was launched from, for its readers; raises `NotFound` if there is none that they can
    see: it was not launched, or before versions were kept, or the agent is gone.
    """
    rows = AgentVersion.objects.filter(agent__in=Agent.objects.visible_to(actor), agent__key=thread.agent_key)
    found = rows.filter(version=thread.created_from_agent_version or 0).select_related("agent", "created_by").first()
    if found is None:
        raise NotFound("There is no version of an agent that this thread was launched from.")
    return found


def listed(agent: Agent, *, limit: int, page_token: str | None) -> AgentVersionPageOut:
    """A page of an agent's versions, newest first. One query."""
    rows = AgentVersion.objects.filter(agent=agent).select_related("agent", "created_by")
    found, next_token = _PLACES.of_query(agent.pk).page(rows, limit=limit, page_token=page_token, by="version")
    return AgentVersionPageOut(items=[version_out(each) for each in found], next_token=next_token)


class UsedVersion(NamedTuple):
    """A version of an agent, without its template, and what came of it."""

    row: AgentVersion
    threads: int
    """How many threads that the reader sees were launched from it, forks of them included."""
    ratings: hooks.AgentRatings | None
    """The ratings of their answers, for readers who handle reports; None if there are none."""


def latest(actor: Actor, agent: Agent, most: int) -> list[UsedVersion]:
    """The latest versions, newest first. Three queries."""
    rows = AgentVersion.objects.filter(agent=agent).select_related("created_by")
    found = list(rows.defer("request_template", "variables").order_by("-version")[:most])
    of_agent = Thread.objects.visible_to(actor).filter(created_from_agent_id=agent.agent_id).order_by()
    of_versions = of_agent.filter(created_from_agent_version__in=[each.version for each in found])
    threads = dict(of_versions.values_list("created_from_agent_version").annotate(Count("pk")))
    ratings = hooks.feedback.ratings_of_agent(actor, agent.agent_id)
    return [UsedVersion(each, threads.get(each.version, 0), ratings.get(each.version)) for each in found]


def numbers_around(agent: Agent, *shown: int) -> list[int]:
    """The numbers that a choice of versions offers, ascending: the latest, and those shown. One query."""
    rows = AgentVersion.objects.filter(agent=agent).order_by("-version").values_list("version", flat=True)
    return sorted({*rows[:_OFFERED], *shown})


def restore(actor: Actor, agent: Agent, number: int, *, seen: str | None = None) -> Agent:
    """Make an agent again what it was in a version, as its next one. What it is already makes none.

    `seen` and errors as in `agents.update`: what was possible then may be refused now, such as a name that is taken.
    """
    row = version_of(agent, number)
    was: dict[str, Any] = {name: getattr(row, name) for name in agents.CHANGED}
    return agents.update(actor, agent, bodies.parse(AgentPatch, was), seen=seen)


def version_out(row: AgentVersion) -> AgentVersionOut:
    """The wire record of a version."""
    return AgentVersionOut(
        agent_id=row.agent.agent_id,
        version=row.version,
        name=row.name,
        description=row.description,
        request_template=row.request_template,
        variables=row.variables,
        created=row.created,
        created_by=row.created_by.email,
    )
