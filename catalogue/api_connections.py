"""The routes of connections: Heddle's own, described in docs/decisions/013-tools-elsewhere.md."""

from django.http import HttpResponse
from rest_framework.request import Request

from catalogue.api_tools import CatalogueEndpoint
from catalogue.elsewhere import connections, refreshing
from catalogue.elsewhere.wire import (
    ConnectionIn,
    ConnectionOut,
    ConnectionSecretOut,
    DriftOut,
    RefreshIn,
    RotateConnectionIn,
)
from catalogue.models import ToolConnection
from core.api import data, describe, record


class ConnectionEndpoint(CatalogueEndpoint):
    """A URL of one connection."""

    def connection(self) -> ToolConnection:
        """The connection of the URL's server; what cannot be seen is not found."""
        return connections.connection_for(self.org(), self.kwargs["server"])


class Connection(ConnectionEndpoint):
    @describe(gives=ConnectionOut, summary="Read how a server's tools are reached")
    def get(self, request: Request, server: str) -> HttpResponse:
        return record(connections.out(self.connection()))

    @describe(takes=ConnectionIn, gives=ConnectionSecretOut, summary="Set it; a new secret is shown this once")
    def put(self, request: Request, server: str) -> HttpResponse:
        org_id = self.org()
        return record(connections.put(self.actor, org_id, server, self.parse(ConnectionIn)))

    @describe(summary="Remove it; the server's tools stay, and nobody runs them")
    def delete(self, request: Request, server: str) -> HttpResponse:
        connections.delete(self.actor, self.connection())
        return data(None)


class RotateSecret(ConnectionEndpoint):
    @describe(
        takes=RotateConnectionIn,
        gives=ConnectionSecretOut,
        summary="Make a new secret for a connection; both sign while they overlap",
    )
    def post(self, request: Request, server: str) -> HttpResponse:
        connection = self.connection()
        return record(
            connections.rotate(self.actor, connection, overlap_hours=self.parse(RotateConnectionIn).overlap_hours)
        )


class Refresh(ConnectionEndpoint):
    @describe(takes=RefreshIn, gives=DriftOut, summary="Take over what an MCP server lists, and tell what differs")
    def post(self, request: Request, server: str) -> HttpResponse:
        connection = self.connection()
        return record(refreshing.refresh(self.actor, connection, self.parse(RefreshIn)))
