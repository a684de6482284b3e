"""REST routes of tools and servers (catalogue 6.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from django.conf import settings
from django.http import HttpResponse
from rest_framework.request import Request

from accounts.api import OrgEndpoint
from catalogue import browsing, dialects, importing, manifests, naming, publishing, servers, tools
from catalogue.models import Tool, ToolServer
from catalogue.tools import Filters
from catalogue.wire_tools import (
    ImportIn,
    ManifestOut,
    OneToolOut,
    ServerOut,
    ServerPageOut,
    ServerPatch,
    ToolImportOut,
    ToolListOut,
    ToolOut,
    ToolPatch,
    ToolVersionPageOut,
)
from core import paging
from core.api import data, dated, describe, record
from core.errors import InvalidRequest

_PAGE = ("limit", "page_token")
_EXPORT = ("dialect", "naming", "style")
_CHOICES: Mapping[str, Sequence[str]] = {
    "dialect": [name for name, each in dialects.DIALECTS.items() if each.write],
    "naming": ("bare", "qualified"),
    "style": sorted({style for each in dialects.DIALECTS.values() for style in each.styles}),
    "visible": ("true", "false", "any"),
    "source_dialect": (*dialects.DIALECTS, *naming.OTHER_DIALECTS, publishing.DIALECT),
}
_FILTERS = ("server", "q", "tag", "visible", "source_dialect", "dispatchable")


class CatalogueEndpoint(OrgEndpoint):
    """Base of the catalogue routes, which act in the org of the request."""

    def limit(self) -> int:
        """The requested page size."""
        return paging.limit_of(self.query("limit"))

    def maybe(self, name: str) -> bool | None:
        """An optional query boolean; None if missing or `any`."""
        return None if self.query(name) in (None, "any") else self.query_bool(name, False)

    def is_qualified(self, default: Literal["bare", "qualified"]) -> bool:
        """Whether an export uses qualified names; by default `bare` for one tool, `qualified` for a list (1.2)."""
        return (self.chosen("naming") or default) == "qualified"

    def chosen(self, name: str) -> str | None:
        """An optional query parameter that has choices; raises for anything else."""
        value = self.query(name)
        if value is not None and value not in _CHOICES[name]:
            raise InvalidRequest.of(name, f"must be one of {', '.join(_CHOICES[name])}")
        return value

    def style(self, dialect: str | None) -> str | None:
        """The requested variant of an export; raises without a dialect, which would ignore it (C50)."""
        wanted = self.query("style")
        if wanted is None or dialect is not None:
            return wanted
        known = _CHOICES["style"]
        reason = "is for an export: name a dialect too" if wanted in known else f"must be one of {', '.join(known)}"
        raise InvalidRequest.of("style", reason)


class ToolEndpoint(CatalogueEndpoint):
    """Base of the routes of a tool."""

    def tool(self) -> Tool:
        """The tool of the URL; `NotFound` if the caller may not see it."""
        return tools.tool_for(self.org(), self.kwargs["qualified_name"])

    def own_tool(self) -> Tool:
        """The tool of the URL; raises for a built-in one, before the body is read."""
        tool = self.tool()
        tools.require_own(tool)
        return tool

    def number(self) -> int | None:
        """The requested version, None for the current one."""
        value = self.query("version")
        return None if value is None else naming.version_number(value)


class Import(CatalogueEndpoint):
    body_limit = settings.TOOL_IMPORT_BYTES

    @describe(takes=ImportIn, gives=ToolImportOut, summary="Import tools from any dialect (C1)")
    def post(self, request: Request) -> HttpResponse:
        org_id = self.org()
        return record(importing.import_tools(self.actor, org_id, self.parse(ImportIn)))


class Tools(CatalogueEndpoint):
    @describe(gives=ToolListOut, query=(*_FILTERS, *_EXPORT, *_PAGE), choices=_CHOICES, summary="List tools (C49, C50)")
    def get(self, request: Request) -> HttpResponse:
        org_id, dialect = self.org(), self.query("dialect")
        filters = Filters(
            server=self.query("server"),
            tag=self.query("tag"),
            visible=self.maybe("visible"),
            source_dialect=self.chosen("source_dialect"),
            dispatchable=self.maybe("dispatchable"),
        )
        filters = browsing.with_line(filters, self.query("q") or "")
        if dialect and filters.visible is None and self.query("visible") is None:
            filters = replace(filters, visible=True)
        limit, token, qualified = self.limit(), self.query("page_token"), self.is_qualified("qualified")
        style = self.style(dialect)
        if dialect is None:
            return record(tools.listed(org_id, filters, limit=limit, page_token=token))
        return record(
            tools.listed_in(
                org_id,
                filters,
                dialect,
                qualified=qualified,
                style=style,
                limit=limit,
                page_token=token,
            )
        )


class OneTool(ToolEndpoint):
    @describe(
        gives=OneToolOut,
        query=("version", *_EXPORT),
        choices=_CHOICES,
        has_etag=True,
        summary="Read a tool, optionally in a dialect (C3)",
    )
    def get(self, request: Request, qualified_name: str) -> HttpResponse:
        tool = self.tool()
        version = tools.version_of(tool, self.number())
        dialect = self.query("dialect")
        qualified, style = self.is_qualified("bare"), self.style(dialect)
        if dialect is None:
            return dated(tools.record(tool, version))
        return record(tools.in_dialect(tool, version, dialect, qualified=qualified, style=style))

    @describe(
        takes=ToolPatch,
        gives=ToolOut,
        has_version=True,
        has_etag=True,
        summary="Show, hide, tag or deprecate a tool (C51)",
    )
    def patch(self, request: Request, qualified_name: str) -> HttpResponse:
        tool, seen = self.own_tool(), request.headers.get("If-Match")
        return dated(tools.patch(self.actor, tool, self.parse(ToolPatch), seen=seen))

    @describe(summary="Delete a tool (C51)")
    def delete(self, request: Request, qualified_name: str) -> HttpResponse:
        tools.delete(self.actor, self.tool())
        return data(None)


class ToolVersions(ToolEndpoint):
    @describe(gives=ToolVersionPageOut, query=_PAGE, summary="List versions of a tool, newest first (C3)")
    def get(self, request: Request, qualified_name: str) -> HttpResponse:
        return record(tools.versions(self.tool(), limit=self.limit(), page_token=self.query("page_token")))


class ServerEndpoint(CatalogueEndpoint):
    """Base of the routes of a server."""

    def server(self) -> ToolServer:
        """The server of the URL; `NotFound` if the caller may not see it."""
        return servers.server_for(self.org(), self.kwargs["server"])


class Servers(CatalogueEndpoint):
    @describe(gives=ServerPageOut, query=_PAGE, summary="List servers (C13)")
    def get(self, request: Request) -> HttpResponse:
        return record(servers.listed(self.org(), limit=self.limit(), page_token=self.query("page_token")))


class OneServer(ServerEndpoint):
    @describe(gives=ServerOut, summary="Read a server (C18)")
    def get(self, request: Request, server: str) -> HttpResponse:
        return record(servers.server_out(self.server()))

    @describe(takes=ServerPatch, gives=ServerOut, summary="Change a server's description (C18)")
    def patch(self, request: Request, server: str) -> HttpResponse:
        found = self.server()
        servers.require_own(found)
        return record(servers.patch(self.actor, found, self.parse(ServerPatch)))


class Manifest(ServerEndpoint):
    @describe(
        gives=ManifestOut,
        query=("dialect",),
        choices={"dialect": ("convilyn",)},
        summary="Export a server as a manifest (C19)",
    )
    def get(self, request: Request, server: str) -> HttpResponse:
        return record(manifests.manifest(self.server(), self.query("dialect") or "convilyn"))
