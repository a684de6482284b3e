"""The catalogue as it is looked through: servers, the tools of a page by server, hints in words (C13, C49)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from django.db.models import Count

from catalogue import tools, usage
from catalogue.models import Tool, ToolServer, ToolVersion
from catalogue.tools import Filters

MAX_SERVERS = 40
MAX_NEIGHBOURS = 100
MAX_NAMES = 500


@dataclass(frozen=True, slots=True)
class Hint:
    """A side effect in words, with its glyph and its dye."""

    said: str
    icon: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Shelved:
    """A tool in the list."""

    qualified_name: str
    name: str
    version: int
    description: str
    tags: list[str]
    is_visible: bool
    is_deprecated: bool
    hints: tuple[Hint, ...]
    calls: int


@dataclass(frozen=True, slots=True)
class Shelf:
    """The tools of one server on a page."""

    server: str
    is_readonly: bool
    tools: tuple[Shelved, ...]


@dataclass(frozen=True, slots=True)
class ServerLine:
    """A server with how many tools it has."""

    name: str
    count: int


def shelves(org_id: int, filters: Filters, *, limit: int, page_token: str | None) -> tuple[list[Shelf], str | None]:
    """A page of tools by server and the token of the next one, in four queries however many there are."""
    keys, next_token = tools.keys(org_id, filters, limit, page_token)
    found = Tool.objects.select_related("server").defer("search").in_bulk(keys)
    rows = [found[key] for key in keys if key in found]
    present = ToolVersion.objects.filter(tool__in=rows).only(
        "tool_id", "version", "description", "annotations", "idempotent"
    )
    versions = {(row.tool_id, row.version): row for row in present}
    calls = usage.counts(org_id, rows)
    shelved = [(tool, versions[tool.pk, tool.version]) for tool in rows if (tool.pk, tool.version) in versions]
    return [
        Shelf(
            server.name,
            server.org_id is None,
            tuple(_shelved(tool, version, calls.get(tool.pk, 0)) for tool, version in each),
        )
        for server, each in groupby(shelved, lambda row: row[0].server)
    ], next_token


def _shelved(tool: Tool, version: ToolVersion, calls: int) -> Shelved:
    hints = tuple(hint for hint in hints_of(version) if hint.tone)
    return Shelved(
        tool.qualified_name,
        tool.name,
        tool.version,
        version.description[:300],
        tool.tags,
        tool.visible,
        tool.deprecated,
        hints,
        calls,
    )


def server_lines(org_id: int) -> list[ServerLine]:
    """The servers that an org sees, by name; the first forty."""
    rows = ToolServer.objects.visible_in(org_id).annotate(count=Count("tools"), place=tools.Bytewise("folded"))
    return [ServerLine(*row) for row in rows.order_by("place").values_list("name", "count")[:MAX_SERVERS]]


def names(org_id: int, servers: Sequence[str] | None = None) -> list[str]:
    """Qualified names of the tools that an org sees, of these servers where some are named; the first five hundred."""
    rows = Tool.objects.visible_in(org_id).order_by("qualified_name")
    if servers is not None:
        rows = rows.filter(server__name__in=servers)
    return list(rows.values_list("qualified_name", flat=True)[:MAX_NAMES])


def neighbours(tool: Tool) -> list[tuple[str, str, bool]]:
    """Qualified name, name and whether it is visible, of the tools on the same server; the first hundred."""
    rows = Tool.objects.filter(server=tool.server).annotate(place=tools.Bytewise("name")).order_by("place")
    return list(rows.values_list("qualified_name", "name", "visible")[:MAX_NEIGHBOURS])


def hints_of(version: ToolVersion) -> tuple[Hint, ...]:
    """What a version says of its side effects. Null is unknown and never no (catalogue 1.1)."""
    said = version.annotations
    return (
        _hint(said.get("read_only"), "only reads", "changes data", "not said whether it changes data", no="warn"),
        _hint(
            said.get("destructive"), "may destroy data", "destroys nothing", "not said whether it destroys", yes="neg"
        ),
        _hint(said.get("open_world"), "reaches outside", "stays inside", "not said whether it reaches outside"),
        _hint(said.get("cache_mutating"), "changes caches", "leaves caches alone", "not said what it does to caches"),
        _hint(version.idempotent, "may be repeated", "must not be repeated", ""),
    )


_ICONS = {"": "rest", "warn": "warn", "neg": "fault"}


def _hint(value: object, yes_said: str, no_said: str, unknown: str, *, yes: str = "", no: str = "") -> Hint:
    if value is None:
        return Hint(unknown, "rest")
    tone = yes if value else no
    return Hint(yes_said if value else no_said, _ICONS[tone] if tone else "check" if value else "cross", tone)


def asks_first(version: ToolVersion) -> bool:
    """Whether a person has to say yes before it runs: it says of itself that it destroys."""
    return version.annotations.get("destructive") is True


def filters_of(line: str) -> Filters:
    """A search line as filters: `server:NAME` and `tag:NAME` once each, `is:hidden` or `is:visible`, and words."""
    named: dict[str, str] = {}
    words: list[str] = []
    for token in line.split():
        key, colon, value = token.partition(":")
        if colon and value and key in ("server", "tag", "is") and (key != "is" or value in _IS):
            named[key] = value
        else:
            words.append(token)
    visible = _IS.get(named.get("is", ""))
    return Filters(server=named.get("server"), tag=named.get("tag"), visible=visible, words=tuple(words[:10]))


_IS = {"hidden": False, "visible": True}
