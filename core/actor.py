"""Who acts. An actor is settled at the door and passed to every verb; nothing looks for one in globals."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Actor:
    """A signed-in person or the person behind an API token.

    `orgs` maps the public id of every org they belong to (`og_...`) to its row id, default first. A platform admin is
    staff and never an org role; being a member of nothing takes no right away from them.
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
