"""The acting user. Views determine the actor and pass it to every function; nothing reads it from globals."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Actor:
    """A signed-in user or the user behind an API token.

    `orgs` maps the public id of every org they belong to (`og_...`) to its row id, default first. A platform admin is
    staff and never an org role; they keep all rights without being a member of any org.
    """

    user_id: int
    email: str
    name: str
    is_admin: bool = False
    orgs: Mapping[str, int] = field(default_factory=dict)
    may_write: bool = True

    def belongs_to(self, org_id: int) -> bool:
        """Whether they are a member of the org with that row id."""
        return org_id in self.orgs.values()
