"""Read, list, change and delete tools (C14, C49 to C52, C93)."""

from collections.abc import Collection, Sequence
from dataclasses import astuple, dataclass
from typing import Any, Final

from django.db import transaction
from django.db.models import CharField, F, Q, QuerySet, Value
from django.db.models.functions import StrIndex
from django.db.models.lookups import Exact, GreaterThan

from accounts.rights import require_maker
from catalogue import dialects, naming
from catalogue.elsewhere import handlers
from catalogue.importing import refused, search_text
from catalogue.models import Tool, ToolServer, ToolVersion
from catalogue.record import Content, Loss, Stored, ToolProblem, Unwritable
from catalogue.wire_tools import (
    DialectPageOut,
    DialectToolOut,
    OmittedOut,
    ToolOut,
    ToolPageOut,
    ToolPatch,
    ToolVersionOut,
    ToolVersionPageOut,
)
from core import paging
from core.actor import Actor
from core.db import dump, held
from core.errors import NotFound, Unauthorized
from core.grammar import near
from core.versions import require_seen

Row = tuple[Tool, ToolVersion]

MOST_COMPARED: Final = 2_000
"""Names that a wrong one is compared with."""
_PLACES = paging.Places("tools", (str,))
_VERSION_PLACES = paging.Places("tool versions")


@dataclass(frozen=True, slots=True)
class Filters:
    """Filters of a tool list; None means no filter.

    `q` is searched in name, description and tags, and may be a qualified name; each of `words` must occur there or in
    the server's name.
    """

    server: str | None = None
    q: str | None = None
    words: tuple[str, ...] = ()
    tag: str | None = None
    visible: bool | None = None
    source_dialect: str | None = None
    dispatchable: bool | None = None


def tool_for(org_id: int, qualified_name: str) -> Tool:
    """A tool of an org or a built-in one, by any form of its name; `NotFound` for other orgs' tools (C13, C52)."""
    wanted = naming.read(qualified_name)
    rows = Tool.objects.visible_in(org_id).select_related("server", "created_by", "modified_by")
    found = wanted and rows.filter(server__folded=wanted.folded, name=wanted.name).first()
    if not isinstance(found, Tool):
        raise NotFound.of("tool", qualified_name[:200], "that you can see")
    return found


def probably(org_id: int, wanted: str) -> str:
    """The qualified name of a visible tool that was probably meant, empty if none is similar. One query."""
    rows = Tool.objects.visible_in(org_id).order_by("qualified_name")
    names = dict(rows.values_list("qualified_name", "name")[:MOST_COMPARED])
    return next((each for each, name in names.items() if name == wanted), "") or near(wanted, names)


def version_of(tool: Tool, number: int | None = None) -> ToolVersion:
    """One version, by default the current one; `NotFound` for an unknown number."""
    row = ToolVersion.objects.filter(tool=tool, version=tool.version if number is None else number).first()
    if row is None:
        raise NotFound(f"{tool.qualified_name} has no version {number}.")
    return row


def record(tool: Tool, version: ToolVersion | None = None) -> ToolOut:
    """The canonical record in one version, by default the current one (C3)."""
    version = version_of(tool) if version is None else version
    return ToolOut.model_validate(
        {
            "server": tool.server.name,
            "name": tool.name,
            "qualified_name": tool.qualified_name,
            "version": version.version,
            **_content(version),
            "tags": tool.tags,
            "visible": tool.visible,
            "deprecated": tool.deprecated,
            "deprecation_message": tool.deprecation_message,
            "handler": handlers.shown(tool.handler),
            "dispatchable": tool.is_dispatchable,
            "spec_hash": version.spec_hash,
            **tool.audit,
        }
    )


def in_dialect(
    tool: Tool, version: ToolVersion, dialect: str, *, qualified: bool = False, style: str | None = None
) -> DialectToolOut:
    """One tool in a dialect with its losses; `InvalidRequest` if it cannot be expressed (C46).

    `Unwritable` passes: it is an error of the server.
    """
    try:
        chosen = dialects.dialect_named(dialect, written=True)
        exported = dialects.write(chosen, stored(tool, version), qualified=qualified, style=style)
    except Unwritable:
        raise
    except ToolProblem as problem:
        raise refused(problem) from None
    return DialectToolOut(
        dialect=chosen.name,
        qualified_name=tool.qualified_name,
        version=version.version,
        tool=exported.tool,
        losses=exported.losses,
    )


def listed(org_id: int, filters: Filters, *, limit: int, page_token: str | None) -> ToolPageOut:
    """A page of records by qualified name (C49)."""
    rows, next_token = _page(org_id, filters, limit, page_token)
    return ToolPageOut(items=[record(tool, version) for tool, version in rows], next_token=next_token)


def listed_in(
    org_id: int,
    filters: Filters,
    dialect: str,
    *,
    qualified: bool = True,
    style: str | None = None,
    limit: int,
    page_token: str | None,
) -> DialectPageOut:
    """A page of tools in a dialect, for a model's tool list (C50), with what it loses of each (C47), and the tools that
    it cannot express. Among them is one that would be renamed to what another tool is called, because who calls that
    reaches the other.
    """
    try:
        chosen = dialects.dialect_named(dialect, written=True)
        dialects.require_style(chosen, style)
    except ToolProblem as problem:
        raise refused(problem) from None
    rows, next_token = _page(org_id, filters, limit, page_token)
    called = {tool.pk: naming.for_models(tool.qualified_name) for tool, _ in rows}
    theirs = _theirs(org_id, [called[tool.pk] for tool, _ in rows if called[tool.pk] != tool.qualified_name])
    named: dict[str, dict[str, Any]] = {}
    losses: dict[str, list[Loss]] = {}
    omitted: list[OmittedOut] = []
    for tool, version in rows:
        try:
            exported = dialects.write(chosen, stored(tool, version), qualified=qualified, style=style)
            is_renamed = any(loss.reason == "renamed" and loss.path == "/name" for loss in exported.losses)
            if exported.name in named or (is_renamed and called[tool.pk] in theirs - {tool.qualified_name}):
                raise ToolProblem("duplicate_name", "/name", f"another tool has the name {exported.name} there")
            named[exported.name] = exported.tool
            if exported.losses:
                losses[tool.qualified_name] = exported.losses
        except ToolProblem as problem:
            omitted.append(
                OmittedOut(qualified_name=tool.qualified_name, reason=problem.reason, message=problem.message)
            )
    return DialectPageOut(items=[*named.values()], next_token=next_token, losses=losses, omitted=omitted)


def _theirs(org_id: int, names: Collection[str]) -> set[str]:
    """Which of these names some tool has as its qualified name. One query, none without a name."""
    rows = Tool.objects.visible_in(org_id).filter(qualified_name__in=names).values_list("qualified_name", flat=True)
    return set(rows) if names else set()


def versions(tool: Tool, *, limit: int, page_token: str | None) -> ToolVersionPageOut:
    """A page of a tool's versions, newest first (C3)."""
    rows = ToolVersion.objects.filter(tool=tool).select_related("created_by")
    rows = rows.defer("input_schema", "output_schema", "extras")
    found, next_token = _VERSION_PLACES.page(rows, limit=limit, page_token=page_token, by="version")
    items = [
        ToolVersionOut(
            version=row.version,
            spec_hash=row.spec_hash,
            source_dialect=row.source_dialect,
            created=row.created,
            created_by=row.created_by and row.created_by.email,
        )
        for row in found
    ]
    return ToolVersionPageOut(items=items, next_token=next_token)


def patch(actor: Actor, tool: Tool, body: ToolPatch, *, seen: str | None = None) -> ToolOut:
    """Change the unversioned fields (C51). Every org member may do that, except for built-in tools.

    Only the creator and admins may change the handler, and a URL of its own also needs the right to connect the server:
    raises `Unauthorized`. `seen` is the version that the editor knows, or an If-Match; raises `Stale` for another one.
    """
    require_own(tool)
    changes = body.changes()
    with transaction.atomic():
        if "handler" in changes:  # before the tool, as whoever deletes the connection that the handler needs
            ToolServer.objects.select_for_update().filter(pk=tool.server_id).first()
        tool = _locked(tool)
        require_seen(tool, seen, "tool")
        if changes.pop("handler", None) is not None:
            handlers.set_handler(actor, tool, body.handler)
        for name, value in changes.items():
            setattr(tool, name, value)
        version = version_of(tool)
        tool.search = search_text(tool.name, version.description, tool.tags)
        tool.changed_by(actor.user_id)
        tool.save(update_fields=[*changes, "handler", "is_dispatchable", "search", "modified", "modified_by"])
    return record(tool, version)


def delete(actor: Actor, tool: Tool) -> None:
    """Delete a tool with its versions (C51); creator and admins only. Call records keep its name."""
    require_own(tool)
    require_maker(actor, tool.created_by_id)
    with transaction.atomic():
        _locked(tool).delete()


def require_own(tool: Tool) -> None:
    """Raise `Unauthorized` for a built-in tool."""
    if tool.org_id is None:
        raise Unauthorized(f"{tool.qualified_name} is built in and read-only.")


def stored(tool: Tool, version: ToolVersion) -> Stored:
    """A tool in one of its versions, for dialects."""
    return Stored(
        server=tool.server.name,
        name=tool.name,
        content=Content.model_validate(_content(version)),
        tags=tool.tags,
        visible=tool.visible,
        deprecated=tool.deprecated,
        deprecation_message=tool.deprecation_message,
        spelled_out=tool.spelled_out,
    )


def with_versions(tools: Sequence[Tool]) -> list[Row]:
    """Tools with their current versions, in one query; without deleted ones."""
    present = ToolVersion.objects.filter(tool__in=tools, version=F("tool__version"))
    found = {row.tool_id: row for row in present}
    return [(tool, found[tool.pk]) for tool in tools if tool.pk in found]


def _content(version: ToolVersion) -> dict[str, Any]:
    return {name: getattr(version, name) for name in Content.model_fields}


def _page(org_id: int, filters: Filters, limit: int, page_token: str | None) -> tuple[list[Row], str | None]:
    """One page in two steps: filter and sort names only, then read the rows."""
    found, next_token = keys(org_id, filters, limit, page_token)
    rows = Tool.objects.select_related("server", "created_by", "modified_by").in_bulk(found)
    return with_versions([rows[pk] for pk in found if pk in rows]), next_token


def keys(org_id: int, filters: Filters, limit: int, page_token: str | None) -> tuple[list[int], str | None]:
    """The row ids of a page by qualified name, and the token of the next page."""
    order, places = paging.Bytewise("qualified_name"), _PLACES.of_query(*astuple(filters))
    names = _narrowed(Tool.objects.visible_in(org_id), filters).annotate(place=order)
    if page_token:
        names = names.filter(place__gt=places.place(page_token)[0])
    found = list(names.order_by("place").values_list("pk", "qualified_name")[: limit + 1])
    return [pk for pk, _ in found[:limit]], places.token(found[limit - 1][1]) if len(found) > limit else None


def _narrowed(tools: QuerySet[Tool], filters: Filters) -> QuerySet[Tool]:
    if filters.server is not None:
        tools = tools.filter(server__folded=naming.fold(filters.server))
    if filters.visible is not None:
        tools = tools.filter(visible=filters.visible)
    if filters.source_dialect is not None:
        tools = tools.filter(source_dialect=naming.dialect(filters.source_dialect))
    if filters.dispatchable is not None:
        tools = tools.filter(is_dispatchable=filters.dispatchable)
    if filters.q is not None:
        tools = tools.filter(_says(filters.q))
    for word in filters.words:
        tools = tools.filter(_says(word) | Q(server__folded__contains=naming.fold(word.casefold())))
    if filters.tag is not None:
        tools = tools.filter(_tagged(filters.tag))
    return tools


def _says(words: str) -> Q:
    """Tools with these words in name, description or tags, or whose qualified name they are, or its beginning."""
    found = Q(search__contains=words.casefold())
    if named := naming.read(words):
        found |= Q(server__folded=named.folded, name__istartswith=named.name)
    return found


def _tagged(tag: str) -> Q:
    """Tools with exactly this tag. Quotes inside stored tags are escaped, so unescaped ones delimit tags."""
    written = dump(tag)
    first, later = (StrIndex("tags", Value(start + written, output_field=CharField())) for start in ("[", ","))
    return Q(Exact(first, 1)) | Q(GreaterThan(later, 0))


def _locked(tool: Tool) -> Tool:
    rows: QuerySet[Tool] = Tool.objects.select_for_update(of=("self",)).select_related("server")
    return held(rows, tool.pk, NotFound.of("tool", tool.qualified_name, "that you can see"))
