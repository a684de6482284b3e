"""Browsing the catalogue: servers, tools by server, hints in words (C13, C49)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from django.db.models import Count

from catalogue import publishing, tools, usage
from catalogue.dialects import convilyn, ctp, mcp
from catalogue.models import Tool, ToolServer, ToolVersion
from catalogue.tools import Filters
from catalogue.usage import Counts
from core import paging
from core.errors import InvalidRequest

MAX_SERVERS = 40
MAX_NEIGHBOURS = 100
MAX_NAMES = 500
MAX_OFFERED = 200
MAX_LINE = 500
"""Characters of a search query."""


@dataclass(frozen=True, slots=True)
class Hint:
    """A side effect in words, with a color tone if it needs care."""

    said: str
    tone: str = ""

    @property
    def icon(self) -> str:
        """The icon for the tone."""
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
    is_only_simulated: bool
    hints: tuple[Hint, ...]
    usage: Counts


@dataclass(frozen=True, slots=True)
class Shelf:
    """The tools of one server on a page."""

    server: str
    is_readonly: bool
    tools: tuple[Shelved, ...]


@dataclass(frozen=True, slots=True)
class ServerLine:
    """A server and its number of tools."""

    name: str
    count: int


def shelves(org_id: int, filters: Filters, *, limit: int, page_token: str | None) -> tuple[list[Shelf], str | None]:
    """A page of tools by server and the token of the next page, in four queries."""
    keys, next_token = tools.keys(org_id, filters, limit, page_token)
    found = Tool.objects.select_related("server").defer("search").in_bulk(keys)
    rows = [found[key] for key in keys if key in found]
    present = ToolVersion.objects.filter(tool__in=rows).only(
        "tool_id", "version", "description", "annotations", "idempotent"
    )
    versions = {(row.tool_id, row.version): row for row in present}
    counts = usage.counts(org_id, rows)
    shelved = [(tool, versions[tool.pk, tool.version]) for tool in rows if (tool.pk, tool.version) in versions]
    return [
        Shelf(
            server.name,
            server.org_id is None,
            tuple(_shelved(tool, version, counts.get(tool.pk, Counts())) for tool, version in each),
        )
        for server, each in groupby(shelved, lambda row: row[0].server)
    ], next_token


def _shelved(tool: Tool, version: ToolVersion, counts: Counts) -> Shelved:
    hints = tuple(hint for hint in _effects(version) if hint.tone)
    return Shelved(
        tool.qualified_name,
        tool.name,
        tool.version,
        version.description[:300],
        tool.tags,
        tool.visible,
        tool.deprecated,
        tool.is_only_simulated,
        hints,
        counts,
    )


def server_lines(org_id: int) -> list[ServerLine]:
    """The first forty servers visible to an org, by name."""
    rows = ToolServer.objects.visible_in(org_id).annotate(count=Count("tools"), place=paging.Bytewise("folded"))
    return [ServerLine(*row) for row in rows.order_by("place").values_list("name", "count")[:MAX_SERVERS]]


def names(org_id: int, servers: Sequence[str] | None = None) -> list[str]:
    """The first five hundred qualified names of tools visible to an org, optionally of some servers."""
    rows = Tool.objects.visible_in(org_id).order_by("qualified_name")
    if servers is not None:
        rows = rows.filter(server__name__in=servers)
    return list(rows.values_list("qualified_name", flat=True)[:MAX_NAMES])


def offered(org_id: int, names: Sequence[str]) -> tuple[dict[str, list[tuple[str, str]]], int]:
    """The first two hundred of these `names` of all tools, with the bare ones, by server; and how many tools are left.

    One query if that are more than there are names.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    for qualified_name in names[:MAX_OFFERED]:
        server, _, name = qualified_name.partition("__")
        found.setdefault(server, []).append((qualified_name, name))
    count = len(names) if len(names) < MAX_NAMES else Tool.objects.visible_in(org_id).count()
    return found, max(0, count - MAX_OFFERED)


def neighbours(tool: Tool) -> list[tuple[str, str, bool]]:
    """Qualified name, name and visibility of the first hundred tools on the same server."""
    rows = Tool.objects.filter(server=tool.server).annotate(place=paging.Bytewise("name")).order_by("place")
    return list(rows.values_list("qualified_name", "name", "visible")[:MAX_NEIGHBOURS])


def hints_of(version: ToolVersion) -> tuple[Hint, ...]:
    """The declared side effects and repeatability of a version. Those that need care have a warning icon; none gets a
    check mark, because no hint is good news by itself."""
    if version.idempotent:
        return *_effects(version), Hint(_REPEATABLE)
    # Repeating a read is harmless.
    tone = "" if version.annotations.get("read_only") is True else "warn"
    return *_effects(version), *([Hint("not safe to repeat", tone)] if _says_not_to_repeat(version) else [])


def unsaid_by(version: ToolVersion) -> list[str]:
    """The hints that a version does not declare. Null means unknown, never no (catalogue 1.1)."""
    unsaid = [unsaid for name, (_, _, unsaid) in _EFFECTS.items() if version.annotations.get(name) is None]
    return unsaid if version.idempotent or _says_not_to_repeat(version) else [*unsaid, _REPEATABLE]


_REPEATABLE: Final = "safe to repeat"
_TELLING: Final = frozenset({ctp.NAME, convilyn.NAME, publishing.DIALECT})
"""Source dialects in which every tool says whether it may be repeated."""


def _says_not_to_repeat(version: ToolVersion) -> bool:
    """Whether its author declared that; the record has no third value, since undeclared is taken as no."""
    hints = version.extras.get(mcp.NAME, {}).get("annotations") or {}
    return version.source_dialect in _TELLING or hints.get("idempotentHint") is False


_EFFECTS: Final = {
    "read_only": (Hint("read-only"), Hint("changes data", "warn"), "changes data"),
    "destructive": (Hint("may destroy data", "neg"), Hint("not destructive"), "destroys data"),
    "open_world": (Hint("external effects", "warn"), Hint("no external effects"), "external effects"),
    "cache_mutating": (Hint("changes caches"), Hint("keeps caches"), "changes caches"),
}
"""For each hint: the words for yes, for no, and for undeclared."""


def _effects(version: ToolVersion) -> list[Hint]:
    said = version.annotations
    return [yes if said[name] else no for name, (yes, no, _) in _EFFECTS.items() if said.get(name) is not None]


def asks_first(version: ToolVersion) -> bool:
    """Whether a real call needs a confirmation: the tool is marked as destructive."""
    return version.annotations.get("destructive") is True


def filters_of(line: str) -> Filters:
    """A search line as filters: `server:NAME` and `tag:NAME` once each, `is:hidden` or `is:visible`, and words."""
    named, words = _terms_of(line)
    return Filters(**named, words=tuple(words[:10]))


def with_line(filters: Filters, line: str) -> Filters:
    """The filters combined with those in a search query; its other words are searched as one text (C49).

    Raises `InvalidRequest` for a query that is too long, if both set the same filter, and for an `is:` that is neither:
    its words would be searched for and never be found. A field that the list does not have is text, as in "Note: slow".
    """
    if len(line) > MAX_LINE:
        raise InvalidRequest.of("q", f"must have at most {MAX_LINE} characters")
    named, words = _terms_of(line)
    for word in words:
        if word.startswith("is:") and word != "is:":
            raise InvalidRequest.of("q", f"{word[:80]} is not known: use {' or '.join(f'is:{each}' for each in _IS)}")
    for name in named:
        if getattr(filters, name) is not None:
            raise InvalidRequest.of("q", f"sets {name} as well: use only one of them")
    return replace(filters, **named, q=" ".join(words) if named else line)


def _terms_of(line: str) -> tuple[dict[str, Any], list[str]]:
    """The filters in a search query, and its other words."""
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
    """The search query limited to this server, or to no server if the name is empty."""
    kept = [token for token in line.split() if not re.fullmatch("server:.+", token)]
    return " ".join([*kept, f"server:{server}"] if server else kept)


_IS = {"hidden": False, "visible": True}
