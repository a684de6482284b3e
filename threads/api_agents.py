"""The REST routes for agents (G1 to G7)."""

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.api import OrgEndpoint
from accounts.authentication import org_of
from catalogue.naming import version_number
from core import paging
from core.api import data, dated, describe, record
from core.errors import InvalidRequest, NotFound, Unauthorized
from core.wire import Nothing
from threads import agent_versions, agents
from threads.api import SdkEndpoint, ThreadEndpoint
from threads.models import Agent
from threads.wire import ThreadOut
from threads.wire_agents import (
    AgentIn,
    AgentOut,
    AgentPageOut,
    AgentPatch,
    AgentVersionOut,
    AgentVersionPageOut,
    LaunchIn,
)


class AgentEndpoint(SdkEndpoint):
    """Base of the routes for one agent or for all agents."""

    def agent(self) -> Agent:
        """The agent of the URL; an agent of another org is not found."""
        return agents.agent_for(self.actor, self.kwargs["agent_id"])


class Agents(AgentEndpoint, OrgEndpoint):
    @describe(gives=AgentPageOut, query=("limit", "page_token"), summary="List agents (G4)")
    def get(self, request: Request) -> HttpResponse:
        org_id = self.org()
        limit = paging.limit_of(self.query("limit"))
        page_token, for_sdk = self.query("page_token"), self.names_version
        return record(agents.listed(self.actor, org_id, limit=limit, page_token=page_token, for_sdk=for_sdk))

    @describe(takes=AgentIn, gives=AgentOut, summary="Create an agent (G1)")
    def post(self, request: Request) -> HttpResponse:
        org_id = self.org()
        agent = agents.create(self.actor, org_id, self.parse(AgentIn))
        return record(agents.agent_out(agent))


class ByName(AgentEndpoint, OrgEndpoint):
    @describe(gives=AgentOut, summary="Read an agent by name (G3)")
    def get(self, request: Request, name: str) -> HttpResponse:
        return record(agents.agent_out(agents.agent_named(self.actor, self.owner(), name)))

    def owner(self) -> int:
        """The owning org that the caller named, else the request's org; `NotFound` for one the caller cannot see."""
        named = self.request.META.get("HTTP_X_ROBOTO_RESOURCE_OWNER_ID")
        if not named:
            return self.org()
        try:
            return org_of(self.actor, named)
        except (Unauthorized, InvalidRequest):
            raise NotFound("There is no such agent that you can see.") from None


class OneAgent(AgentEndpoint):
    @describe(gives=AgentOut, has_etag=True, summary="Read an agent (G2)")
    def get(self, request: Request, agent_id: str) -> HttpResponse:
        return dated(agents.agent_out(self.agent()))

    @describe(takes=AgentPatch, gives=AgentOut, has_version=True, has_etag=True, summary="Change an agent (G5)")
    def put(self, request: Request, agent_id: str) -> HttpResponse:
        agent, seen = self.agent(), request.headers.get("If-Match")
        return dated(agents.agent_out(agents.update(self.actor, agent, self.parse(AgentPatch), seen=seen)))

    @describe(summary="Delete an agent (G6)")
    def delete(self, request: Request, agent_id: str) -> HttpResponse:
        agents.delete(self.actor, self.agent())
        return data(None)


class Versions(AgentEndpoint):
    @describe(gives=AgentVersionPageOut, query=("limit", "page_token"), summary="List versions of an agent")
    def get(self, request: Request, agent_id: str) -> HttpResponse:
        agent, limit = self.agent(), paging.limit_of(self.query("limit"))
        return record(agent_versions.listed(agent, limit=limit, page_token=self.query("page_token")))


class OneVersion(AgentEndpoint):
    @describe(gives=AgentVersionOut, summary="Read a version of an agent")
    def get(self, request: Request, agent_id: str, version: str) -> HttpResponse:
        return record(agent_versions.version_out(agent_versions.version_of(self.agent(), version_number(version))))


class Restore(AgentEndpoint):
    @describe(
        takes=Nothing,
        gives=AgentOut,
        has_version=True,
        has_etag=True,
        summary="Go back to a version of an agent",
    )
    def post(self, request: Request, agent_id: str, version: str) -> HttpResponse:
        agent, seen = self.agent(), request.headers.get("If-Match")
        self.parse(Nothing)
        return dated(agents.agent_out(agent_versions.restore(self.actor, agent, version_number(version), seen=seen)))


class Launch(AgentEndpoint):
    @describe(takes=LaunchIn, gives=ThreadOut, summary="Start a thread from an agent (G7)")
    def post(self, request: Request, agent_id: str) -> HttpResponse:
        agent = self.agent()
        return self.answer(agents.launch(self.actor, agent, self.parse(LaunchIn), api_version=self.api_version))


class LaunchedFrom(ThreadEndpoint):
    @describe(gives=AgentVersionOut, summary="Read the version of an agent that a thread was launched from")
    def get(self, request: Request, thread_id: str) -> HttpResponse:
        return record(agent_versions.version_out(agent_versions.launching(self.actor, self.thread())))
