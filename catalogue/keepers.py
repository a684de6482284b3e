"""Who may say where the calls of a server or a tool go (docs/decisions/013-tools-elsewhere.md)."""

from accounts import orgs
from accounts.rights import require_keeper
from core.actor import Actor


def require_keeper_of(actor: Actor, org_id: int | None, created_by: int | None, what: str) -> None:
    """Raise `Unauthorized` unless somebody may say where calls of a server or a tool go."""
    require_keeper(actor, created_by, what, administers=orgs.administers(actor, org_id))
