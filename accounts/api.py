"""Base of the REST views that act in an org."""

from accounts.authentication import org_of
from core.api import Endpoint


class OrgEndpoint(Endpoint):
    """A URL that acts in an org; the schema declares X-Roboto-Org-Id for it."""

    def org(self) -> int:
        """The row id of the org the request acts in (spec 1.2)."""
        return org_of(self.actor, self.request.META.get("HTTP_X_ROBOTO_ORG_ID"))

    def named_org(self) -> int | None:
        """The org that the header names, for a URL that otherwise looks into all of the actor's; None without one."""
        return self.org() if self.request.META.get("HTTP_X_ROBOTO_ORG_ID") else None
