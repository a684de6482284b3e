"""Who may set the target of a server's or tool's calls (docs/decisions/013-tools-elsewhere.md)."""

from accounts import orgs
from accounts.rights import require_keeper
from core.actor import Actor


def require_keeper_of(actor: Actor, org_id: int | None, created_by: int | None, what: str) -> None:
    """Raise `Unauthorized` unless the actor may set the target of a server's or tool's calls."""
    require_keeper(actor, created_by, what, administers=orgs.administers(actor, org_id))
