"""Who may say where the calls of a server or a tool go (docs/decisions/013-tools-elsewhere.md)."""

from accounts.orgs import administered_by
from accounts.rights import require_keeper
from core.actor import Actor
from core.errors import Unauthorized


def require_keeper_of(actor: Actor, org_id: int | None, created_by: int | None, what: str) -> None:
    """Raise `Unauthorized` unless somebody may say where calls of a server or a tool go."""
    administers = org_id in {org.pk for org in administered_by(actor.user_id)}
    require_keeper(actor, created_by, what, administers=administers)


def is_keeper_of(actor: Actor, org_id: int | None, created_by: int | None) -> bool:
    """The same as an answer."""
    try:
        require_keeper_of(actor, org_id, created_by, "tool")
    except Unauthorized:
        return False
    return True
