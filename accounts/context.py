"""Template context about the viewer, on every page."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from accounts import hooks
from accounts.authentication import page_actor
from accounts.models import Org, User
from accounts.pages import current_org
from core.prepared import Prepared

THEME_COOKIE = "theme"
THEMES = ("light", "dark")
"""Themes that users can choose; without a cookie the browser follows the system."""
KEYS_COOKIE, OFF = "keys", "off"
"""Whether letters are keys for what a page can do; voice input and shaky hands need them off (WCAG 2.1.4)."""
MOST_ORGS = 50
"""Maximum number of orgs in menus, which are on every page; the name of any other is typed."""


def _slugs(**condition: Any) -> Any:
    return Org.objects.filter(**condition).order_by("slug").values_list("slug")[: MOST_ORGS + 1]


_ALL_ORGS, _OWN_ORGS = Prepared(_slugs), Prepared(lambda user: _slugs(memberships__user=user), int)
"""As `orgs.open_to`."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """The signed-in user in templates."""

    name: str
    email: str
    is_admin: bool
    org: str
    orgs: list[str]
    has_more_orgs: bool
    open_reports: int | None


def viewer(request: HttpRequest) -> dict[str, Any]:
    """Context processor: `viewer` (None when signed out), `theme` ("" follows the system), `are_keys_off` (letters
    and signs) and `version`.
    """
    found = None
    if isinstance(getattr(request, "user", None), User):
        actor = page_actor(request)
        org = current_org(request)
        slugs = [slug for (slug,) in (_ALL_ORGS.rows() if actor.is_admin else _OWN_ORGS.rows(actor.user_id))]
        found = Viewer(
            name=actor.name,
            email=actor.email,
            is_admin=actor.is_admin,
            org=org.slug if org else "",
            orgs=slugs[:MOST_ORGS],
            has_more_orgs=len(slugs) > MOST_ORGS,
            open_reports=hooks.feedback.open_reports() if actor.is_admin else None,
        )
    theme = request.COOKIES.get(THEME_COOKIE, "")
    return {
        "viewer": found,
        "theme": theme if theme in THEMES else "",
        "are_keys_off": request.COOKIES.get(KEYS_COOKIE) == OFF,
        "version": settings.VERSION,
    }
