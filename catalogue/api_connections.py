"""REST routes of connections (docs/decisions/013-tools-elsewhere.md)."""

from django.http import HttpResponse
from rest_framework.request import Request

from catalogue import refreshing
from catalogue.api_tools import CatalogueEndpoint
from catalogue.elsewhere import connections
from catalogue.models import ToolConnection
from catalogue.wire_connections import (
    ConnectionIn,
    ConnectionOut,
    ConnectionSecretOut,
    DriftOut,
    RefreshIn,
    RotateConnectionIn,
)
from core.api import data, describe, record


class ConnectionEndpoint(CatalogueEndpoint):
    """Base of the routes of a connection."""

    def connection(self) -> ToolConnection:
        """The connection of the URL's server; `NotFound` if the caller may not see it."""
        return connections.connection_for(self.org(), self.kwargs["server"])


class Connection(ConnectionEndpoint):
    @describe(gives=ConnectionOut, summary="Read a server's connection")
    def get(self, request: Request, server: str) -> HttpResponse:
        return record(connections.out(self.connection()))

    @describe(
        takes=ConnectionIn, gives=ConnectionSecretOut, summary="Set a server's connection (returns a new secret once)"
    )
    def put(self, request: Request, server: str) -> HttpResponse:
        org_id = self.org()
        return record(connections.put(self.actor, org_id, server, self.parse(ConnectionIn)))

    @describe(summary="Delete a server's connection; its tools stay, without a handler")
    def delete(self, request: Request, server: str) -> HttpResponse:
        connections.delete(self.actor, self.connection())
        return data(None)


class RotateSecret(ConnectionEndpoint):
    @describe(
        takes=RotateConnectionIn,
        gives=ConnectionSecretOut,
        summary="Rotate a connection's secret; both secrets sign during the overlap",
    )
    def post(self, request: Request, server: str) -> HttpResponse:
        connection = self.connection()
        return record(
            connections.rotate(self.actor, connection, overlap_hours=self.parse(RotateConnectionIn).overlap_hours)
        )


class Refresh(ConnectionEndpoint):
    @describe(takes=RefreshIn, gives=DriftOut, summary="Update a server's tools from its MCP server")
    def post(self, request: Request, server: str) -> HttpResponse:
        connection = self.connection()
        return record(refreshing.refresh(self.actor, connection, self.parse(RefreshIn)))
