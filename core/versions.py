"""Whether a row is still as its editor saw it, where two people may change the same thing."""

from datetime import datetime
from typing import Protocol

from core.errors import Stale


class Dated(Protocol):
    """A row that knows when it was changed last."""

    modified: datetime


def version_of(row: Dated) -> str:
    """The version of a row: its ETag, and what a form carries."""
    return row.modified.isoformat()


def require_seen(row: Dated, seen: str | None, what: str) -> None:
    """Raise `Stale` unless the editor has seen the current version; call it under the row's lock.

    `seen` is a version or an If-Match; None and `*` match any. `what` names the row.
    """
    if seen is not None and seen.strip() != "*" and version_of(row) not in tags(seen):
        raise Stale(f"This {what} was changed since you opened it, by somebody else or in another tab.")


def seen_by(form: str | None, row: Dated, problem: Exception | None) -> str:
    """The version that a form carries on: its own, or after a refusal for another version, the current one."""
    return version_of(row) if isinstance(problem, Stale) or not form else form


def tags(expected: str) -> set[str]:
    """The versions in an If-Match.

    An unknown tag is simply not the current version (RFC 9110, 13.1.1). Weak marks (`W/`) are ignored: compressing
    proxies add them, and a version means the whole row either way.
    """
    return {tag.strip().removeprefix("W/").strip('"') for tag in expected.split(",")}  # a version holds no comma
