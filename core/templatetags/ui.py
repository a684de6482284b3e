"""The few words the templates need beyond Django's own: an icon, an instant, a segment of a path."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from urllib.parse import quote

from django import template
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from core import rendering

register = template.Library()


@register.simple_tag
def icon(name: str, tone: str = "", label: str = "") -> SafeString:
    """A glyph of the sprite. With a label it speaks for itself, without one a word stands beside it."""
    return _icon(name, tone, label)


@register.simple_tag
def when(instant: datetime | None, words: str = "{}", now: datetime | None = None) -> SafeString:
    """An instant, relative, with the exact one for pointer and machine; `words` holds `{}` for the relative time."""
    if instant is None:
        return mark_safe("")
    exact = f"{instant.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    text = words.format(rendering.ago(instant, now or timezone.now()))
    told = exact.replace("T", " ").replace("Z", " UTC")
    return format_html('<time datetime="{}" title="{}">{}</time>', exact, told, text)


@register.simple_tag
def since(instant: datetime | None, now: datetime | None = None) -> SafeString:
    """As `when`, for the middle of a sentence: `8 min ago`, `just now`, `on 12 May`."""
    if instant is None:
        return mark_safe("")
    text = rendering.ago(instant, now or timezone.now())
    words = "just now" if text == "now" else "{} ago" if text.endswith((" min", " h", " d")) else "on {}"
    return when(instant, words, now)


@register.simple_tag
def until(instant: datetime, now: datetime | None = None) -> SafeString:
    """As `since`, for what is to come within days: `in 8 min`, `in 3 h`."""
    now = now or timezone.now()
    return when(instant, f"in {rendering.ago(now, instant)}".replace("in now", "in a moment"), now)


@register.filter
def segment(text: str) -> str:
    """A text as one segment of a path, whatever it holds."""
    return quote(text, safe="")


@register.filter
def named(address: str | None, names: Mapping[str, str]) -> str:
    """What the person with this address is called, or the address up to its @ where they are gone."""
    return names.get(address, address.partition("@")[0]) if address else ""


@register.filter
def thousands(number: int | None) -> str:
    """A count with thin groups: 1 284."""
    return "" if number is None else f"{number:,}".replace(",", "\u202f")


@register.filter
def words(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


@lru_cache(maxsize=256)
def _icon(name: str, tone: str, label: str) -> SafeString:
    told = format_html(' role="img" aria-label="{}"', label) if label else mark_safe(' aria-hidden="true"')
    dye = format_html(' data-tone="{}"', tone) if tone else ""
    return format_html('<svg class="icon"{}{}><use href="{}#{}"/></svg>', dye, told, static("icons.svg"), name)
