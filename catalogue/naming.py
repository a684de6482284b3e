"""How servers, tools and worlds are named, and how a qualified name is read (catalogue 1.1, 1.2, 3.8)."""

import re
from collections.abc import Iterable
from typing import NamedTuple

MAX_SERVER = 64
RESERVED = "get_tool_data"
"""Convilyn's runtime answers this name itself, so a tool that bore it could never run."""
BUILTIN = frozenset({"demo", "heddle"})
"""Servers that belong to everybody, whether they are there or not."""
_SERVER = re.compile(r"[a-z0-9]+([_-][a-z0-9]+)*")
_TOOL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")


class QualifiedName(NamedTuple):
    """A qualified name, read: the server folded as it is found, the tool's own name as it is."""

    folded: str
    name: str


def fold(server: str) -> str:
    """The spelling under which a server is unique and found: `my-srv` and `my_srv` are one namespace (C13)."""
    return server.replace("-", "_")


def join(server: str, name: str) -> str:
    """The catalogue-wide name of a tool."""
    return f"{server}__{name}"


def read(qualified_name: str) -> QualifiedName | None:
    """A name in any spelling of 1.1, or None: `<server>__<name>` split at its first `__`, `<server>:<name>` (C14)."""
    found = re.fullmatch(r"([a-z0-9_-]+?)(?:__|:)(.+)", qualified_name, re.DOTALL)
    return QualifiedName(fold(found[1]), found[2]) if found and is_server(found[1]) else None


def world_title(name: str, mode: str, seed: int, servers: Iterable[str]) -> str:
    """What a world is called where it is shown: its name, or else what tells it from the others of its org."""
    if name:
        return name
    kind, known = f"{mode.replace('_', ' ').capitalize()} world", sorted(set(servers))
    of = ", ".join(known[:2]) + (f" and {len(known) - 2} more" if len(known) > 2 else "")
    return f"{kind} of {of}, seed {seed}" if of else f"{kind}, seed {seed}"


def is_server(name: str) -> bool:
    """Whether this can be a server's name."""
    return len(name) <= MAX_SERVER and _SERVER.fullmatch(name) is not None


def is_tool(name: str) -> bool:
    """Whether this can be a tool's own name."""
    return _TOOL.fullmatch(name) is not None
