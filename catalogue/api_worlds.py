"""REST routes of worlds (catalogue 3.8, 6.2)."""

from django.http import HttpResponse
from rest_framework.request import Request

from catalogue.api_tools import CatalogueEndpoint
from catalogue.models import World
from catalogue.wire_worlds import (
    FixturesIn,
    FixturesOut,
    LogPageOut,
    RecordedIn,
    ResetIn,
    ResetOut,
    StateOut,
    WorldCallIn,
    WorldCallOut,
    WorldIn,
    WorldOut,
    WorldPageOut,
    WorldToolsIn,
    WorldToolsOut,
)
from catalogue.worlds import calling, fixtures, keeping
from core.api import data, describe, record

CLOSED = {"410": "The world is closed or has expired (C117)"}
"""The refusal of routes that need an open world."""


class WorldEndpoint(CatalogueEndpoint):
    """Base of the routes of a world."""

    def world(self) -> World:
        """The world of the URL; `NotFound` if the caller may not see it."""
        return keeping.world_for(self.actor, self.kwargs["world_id"])

    def open_world(self) -> World:
        """The world of the URL; raises `Expired` if it is closed or expired."""
        return keeping.open_world(self.actor, self.kwargs["world_id"])


class Worlds(CatalogueEndpoint):
    @describe(takes=WorldIn, gives=WorldOut, summary="Create a world (C102, C116, C118)")
    def post(self, request: Request) -> HttpResponse:
        org_id = self.org()
        return record(keeping.world_out(keeping.create(self.actor, org_id, self.parse(WorldIn))))

    @describe(gives=WorldPageOut, query=("status", "limit", "page_token"), summary="List worlds")
    def get(self, request: Request) -> HttpResponse:
        org_id = self.org()
        limit, token = self.limit(), self.query("page_token")
        return record(keeping.listed(org_id, self.query("status"), limit=limit, page_token=token))


class OneWorld(WorldEndpoint):
    @describe(gives=WorldOut, summary="Read a world")
    def get(self, request: Request, world_id: str) -> HttpResponse:
        return record(keeping.world_out(self.world()))

    @describe(summary="Close a world (C117)")
    def delete(self, request: Request, world_id: str) -> HttpResponse:
        keeping.close(self.actor, self.world())
        return data(None)


class WorldTools(WorldEndpoint):
    @describe(
        takes=WorldToolsIn,
        gives=WorldToolsOut,
        refusals=CLOSED,
        summary="Add catalogue tools or an inline tool to a world",
    )
    def post(self, request: Request, world_id: str) -> HttpResponse:
        world = self.open_world()
        return record(WorldToolsOut(tools=keeping.add_tools(self.actor, world, self.parse(WorldToolsIn))))


class WorldCall(WorldEndpoint):
    @describe(takes=WorldCallIn, gives=WorldCallOut, refusals=CLOSED, summary="Call a tool in a world (C102 to C119)")
    def post(self, request: Request, world_id: str) -> HttpResponse:
        world = self.open_world()
        return record(calling.call(self.actor, world, self.parse(WorldCallIn)))


class WorldFixtures(WorldEndpoint):
    @describe(
        takes=FixturesIn, gives=FixturesOut, refusals=CLOSED, summary="Replace the fixtures of a world (C106, C107)"
    )
    def post(self, request: Request, world_id: str) -> HttpResponse:
        world = self.open_world()
        count = fixtures.replace(self.actor, world, self.parse(FixturesIn).fixtures)
        return record(FixturesOut(fixture_count=count))


class RecordedFixtures(WorldEndpoint):
    @describe(takes=RecordedIn, gives=FixturesOut, refusals=CLOSED, summary="Add fixtures from recorded real calls")
    def post(self, request: Request, world_id: str) -> HttpResponse:
        world = self.open_world()
        return record(FixturesOut(fixture_count=fixtures.take_recorded(self.actor, world, self.parse(RecordedIn))))


class WorldState(WorldEndpoint):
    @describe(gives=StateOut, summary="Read the state of a world")
    def get(self, request: Request, world_id: str) -> HttpResponse:
        return record(keeping.state(self.world()))


class WorldCalls(WorldEndpoint):
    @describe(gives=LogPageOut, query=("limit", "page_token"), summary="List the calls of a world, in order (C120)")
    def get(self, request: Request, world_id: str) -> HttpResponse:
        token = self.query("page_token")
        return record(calling.log(self.actor, self.world(), limit=self.limit(), page_token=token))


class WorldReset(WorldEndpoint):
    @describe(takes=ResetIn, gives=ResetOut, refusals=CLOSED, summary="Reset a world to step 0 (C111)")
    def post(self, request: Request, world_id: str) -> HttpResponse:
        world = self.open_world()
        keeping.reset(self.actor, world, hard=self.parse(ResetIn).hard)
        return record(ResetOut(world_id=world.world_id, step_count=0))
