"""Template filters of the desk and of Insight."""

from django import template

from feedback.screens import Orgs

register = template.Library()


@register.filter
def of_org(orgs: Orgs, slug: str) -> str:
    """The link to the same query for one org; for all of them if the name is empty."""
    return orgs.href(slug)
