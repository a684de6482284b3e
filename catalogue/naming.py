"""Names of servers, tools, dialects and worlds; parsing of qualified names and versions (catalogue 1.1, 1.2, 3.8)."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from core import bodies
from core.errors import NotFound

MAX_SERVER = 64
RESERVED = "get_tool_data"
"""Convilyn's runtime answers this name itself, so a tool with it could never run."""
BUILTIN = frozenset({"demo", "heddle"})
"""Names of the built-in servers, reserved even if they do not exist."""
OTHER_DIALECTS = {"roboto_client": "roboto"}
"""Other names of dialects, with their own ones (decision 008)."""
_SERVER = re.compile(r"[a-z0-9]+([_-][a-z0-9]+)*")
_TOOL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_UNFIT, _LONGEST_FOR_MODELS = re.compile(r"[^A-Za-z0-9_-]"), 64


class QualifiedName(NamedTuple):
    """A parsed qualified name: the folded server and the tool's own name."""

    folded: str
    name: str


def is_of_runtime(name: str) -> bool:
    """Whether agents are offered a tool of the runtime by this name, or may be: for a goal, for skills."""
    return name == "load_skill" or name.startswith("achieve_")


def fold(server: str) -> str:
    """The form under which a server name is unique: `my-srv` and `my_srv` are the same (C13)."""
    return server.replace("-", "_")


def for_models(qualified_name: str) -> str:
    """The name under which providers accept a tool; empty if it is too long for them. Two tools may have the same."""
    name = _UNFIT.sub("_", qualified_name)
    return name if len(name) <= _LONGEST_FOR_MODELS else ""


def join(server: str, name: str) -> str:
    """The catalogue-wide name of a tool."""
    return f"{server}__{name}"


def read(qualified_name: str) -> QualifiedName | None:
    """Parse `<server>__<name>` (split at the first `__`) or `<server>:<name>` (C14); None if invalid."""
    found = re.fullmatch(r"([a-z0-9_-]+?)(?:__|:)(.+)", qualified_name, re.DOTALL)
    return QualifiedName(fold(found[1]), found[2]) if found and is_server(found[1]) else None


def dialect(name: str) -> str:
    """The own name of a dialect of tools or results, which may have other ones (decision 008)."""
    return OTHER_DIALECTS.get(name, name)


def version_number(text: str) -> int:
    """The number of a version in a URL; `NotFound` for a text that no version has as its number."""
    number = bodies.number(text)
    if number is None:
        raise NotFound.of("version", text[:20])
    return number


def world_title(name: str, mode: str, seed: int, servers: Iterable[str]) -> str:
    """The title of a world: its name, or a text that distinguishes it in its org."""
    if name:
        return name
    kind, known = f"{mode.replace('_', ' ').capitalize()} world", sorted(set(servers))
    of = ", ".join(known[:2]) + (f" and {len(known) - 2} more" if len(known) > 2 else "")
    return f"{kind} of {of}, seed {seed}" if of else f"{kind}, seed {seed}"


def is_server(name: str) -> bool:
    """Whether this is a valid server name."""
    return len(name) <= MAX_SERVER and _SERVER.fullmatch(name) is not None


def is_tool(name: str) -> bool:
    """Whether this is a valid tool name."""
    return _TOOL.fullmatch(name) is not None
