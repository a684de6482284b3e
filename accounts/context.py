"""Template context about the viewer, on every page."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest

from accounts.authentication import page_actor
from accounts.hooks import open_reports
from accounts.models import User
from accounts.orgs import open_to
from accounts.pages import current_org

THEME_COOKIE = "theme"
THEMES = ("light", "dark")
"""Themes that users can choose; without a cookie the browser follows the system."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """The signed-in user in templates."""

    name: str
    email: str
    is_admin: bool
    org: str
    orgs: list[str]
    open_reports: int | None


def viewer(request: HttpRequest) -> dict[str, Any]:
    """Context processor: `viewer` (None when signed out), `theme` ("" follows the system) and `version`."""
    found = None
    if isinstance(getattr(request, "user", None), User):
        actor = page_actor(request)
        org = current_org(request)
        found = Viewer(
            name=actor.name,
            email=actor.email,
            is_admin=actor.is_admin,
            org=org.slug if org else "",
            orgs=list(open_to(actor).values_list("slug", flat=True)),
            open_reports=open_reports() if actor.is_admin else None,
        )
    theme = request.COOKIES.get(THEME_COOKIE, "")
    return {"viewer": found, "theme": theme if theme in THEMES else "", "version": settings.VERSION}
