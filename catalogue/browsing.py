"""The catalogue as it is looked through: servers, the tools of a page by server, hints in words (C13, C49)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from django.db.models import Count

from catalogue import tools, usage
from catalogue.models import Tool, ToolServer, ToolVersion
from catalogue.tools import Filters
from core.errors import InvalidRequest

MAX_SERVERS = 40
MAX_NEIGHBOURS = 100
MAX_NAMES = 500


@dataclass(frozen=True, slots=True)
class Hint:
    """A side effect in words, and the dye of what asks for care."""

    said: str
    tone: str = ""

    @property
    def icon(self) -> str:
        """Its glyph."""
        return _ICONS[self.tone]


_ICONS: Final = {"": "rest", "warn": "warn", "neg": "fault"}


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
    hints = tuple(hint for hint in _effects(version) if hint.tone)
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
    """What a version says of its side effects and of being repeated. What asks for care has a glyph of its own; there
    is no tick for the rest, because no word here is a yes to be glad of by itself."""
    # Reading twice harms nobody; and whoever says nothing of being repeated is taken to mean no (catalogue 1.1).
    tone = "" if version.annotations.get("read_only") is True else "warn"
    return *_effects(version), Hint("may be repeated") if version.idempotent else Hint("must not be repeated", tone)


def unsaid_by(version: ToolVersion) -> list[str]:
    """What a version leaves open of its side effects. Null is unknown and never no (catalogue 1.1)."""
    return [unsaid for name, (_, _, unsaid) in _EFFECTS.items() if version.annotations.get(name) is None]


_EFFECTS: Final = {
    "read_only": (Hint("only reads"), Hint("changes data", "warn"), "whether it changes data"),
    "destructive": (Hint("may destroy data", "neg"), Hint("destroys nothing"), "whether it destroys"),
    "open_world": (Hint("reaches outside", "warn"), Hint("stays inside"), "whether it reaches outside"),
    "cache_mutating": (Hint("changes caches"), Hint("leaves caches alone"), "what it does to caches"),
}
"""By hint: what is told for yes, for no, and what is left open where it is unknown."""


def _effects(version: ToolVersion) -> list[Hint]:
    said = version.annotations
    return [yes if said[name] else no for name, (yes, no, _) in _EFFECTS.items() if said.get(name) is not None]


def asks_first(version: ToolVersion) -> bool:
    """Whether a person has to say yes before it runs: it says of itself that it destroys."""
    return version.annotations.get("destructive") is True


def filters_of(line: str) -> Filters:
    """A search line as filters: `server:NAME` and `tag:NAME` once each, `is:hidden` or `is:visible`, and words."""
    named, words = _terms_of(line)
    return Filters(**named, words=tuple(words[:10]))


def with_line(filters: Filters, line: str) -> Filters:
    """Filters and those that a line names beside them; what else it says is looked for as one text (C49).

    Raises `InvalidRequest` where both name the same.
    """
    named, words = _terms_of(line)
    for name in named:
        if getattr(filters, name) is not None:
            raise InvalidRequest.of("q", f"says what {name} says as well: give one of them")
    return replace(filters, **named, q=" ".join(words) if named else line)


def _terms_of(line: str) -> tuple[dict[str, Any], list[str]]:
    """The filters that a line names, and its other words."""
    named: dict[str, Any] = {}
    words: list[str] = []
    for token in line.split():
        key, _, value = token.partition(":")
        if key in ("server", "tag") and value:
            named[key] = value
        elif key == "is" and value in _IS:
            named["visible"] = _IS[value]
        else:
            words.append(token)
    return named, words


def narrowed(line: str, server: str) -> str:
    """The search line with this server in the place of any other; of all servers where none is named."""
    kept = [token for token in line.split() if not re.fullmatch("server:.+", token)]
    return " ".join([*kept, f"server:{server}"] if server else kept)


_IS = {"hidden": False, "visible": True}
