"""Template tags of the desk and of Insight."""

import re
from collections.abc import Iterable
from functools import lru_cache

from django import template
from django.template.context import Context
from django.template.defaultfilters import urlize
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from core import ids
from core.markdown import turns_shown
from core.templatetags.ui import focus
from core.wording import ago
from feedback.presenting.links import href
from feedback.presenting.rows import ReportRow
from feedback.screens import Orgs

register = template.Library()
_ID = re.compile(rf"(?<![\w/=.-])((?:{ids.FEEDBACK}|{ids.THREAD})[0-9a-z]{{26}})(?!\w)")


@register.filter
def of_org(orgs: Orgs, slug: str) -> str:
    """The link to the same query for one org; for all of them if the name is empty."""
    return orgs.href(slug)


@register.filter
def said(pieces: Iterable[tuple[str, bool]]) -> SafeString:
    """The text of a comment (`Said.pieces`): whom it asks is marked, ids of reports and threads in it, and addresses,
    are links; all else is escaped.
    """
    parts = (format_html("<strong>{}</strong>", text) if is_name else _linked(text) for text, is_name in pieces)
    return turns_shown("".join(parts))


def _linked(text: str) -> SafeString:
    parts = enumerate(_ID.split(text))
    return format_html_join(
        "", "{}", ((_leading_to(part) if place % 2 else urlize(part, autoescape=True),) for place, part in parts)
    )


@register.simple_tag(takes_context=True)
def report_row(context: Context, row: ReportRow) -> SafeString:
    """A row of the list. After an action all others are the same, so they are kept as they were rendered."""
    shows_org = len(context["viewer"].orgs) > 1
    is_ticked = row.feedback_id in (context.get("ticked") or ())
    focused = focus(context) if row.feedback_id == context.get("resume") else ""
    return _rendered(row, ago(row.created, timezone.now()), shows_org, is_ticked, focused)


@lru_cache(maxsize=512)
def _rendered(row: ReportRow, age: str, shows_org: bool, is_ticked: bool, focused: str) -> SafeString:
    context = {"row": row, "age": age, "shows_org": shows_org, "is_ticked": is_ticked, "focused": focused}
    return render_to_string("feedback/_row.html", context)


def _leading_to(public_id: str) -> SafeString:
    if public_id.startswith(ids.FEEDBACK):
        to = reverse("feedback:desk") + href({"q": "", "item": public_id})
        return format_html('<a href="{}">{}</a>', to, public_id)
    to = reverse("threads:detail", args=[public_id])
    return format_html('<a hx-boost="false" href="{}">{}</a>', to, public_id)
