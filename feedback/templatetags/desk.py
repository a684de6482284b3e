"""Template filters of the desk and of Insight."""

import re

from django import template
from django.template.defaultfilters import urlize
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from core import ids
from feedback.presenting import href
from feedback.screens import Orgs

register = template.Library()
_ID = re.compile(rf"(?<![\w/=.-])((?:{ids.FEEDBACK}|{ids.THREAD})[0-9a-z]{{26}})(?!\w)")


@register.filter
def of_org(orgs: Orgs, slug: str) -> str:
    """The link to the same query for one org; for all of them if the name is empty."""
    return orgs.href(slug)


@register.filter
def said(text: str) -> SafeString:
    """The text of a comment: ids of reports and threads in it, and addresses, are links; all else is escaped."""
    parts = enumerate(_ID.split(text))
    return format_html_join(
        "", "{}", ((_leading_to(part) if place % 2 else urlize(part, autoescape=True),) for place, part in parts)
    )


def _leading_to(public_id: str) -> SafeString:
    if public_id.startswith(ids.FEEDBACK):
        to = reverse("feedback:desk") + href({"q": "", "item": public_id})
        return format_html('<a href="{}">{}</a>', to, public_id)
    to = reverse("threads:detail", args=[public_id])
    return format_html('<a hx-boost="false" href="{}">{}</a>', to, public_id)
