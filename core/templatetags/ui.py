"""The few words the templates need beyond Django's own: an icon, an instant, a segment of a path."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from urllib.parse import quote

from django import template
from django.template import Context
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from core import rendering
from core.paging import COUNT_LIMIT

register = template.Library()


@register.simple_tag
def icon(name: str, tone: str = "", label: str = "") -> SafeString:
    """A glyph of the sprite. With a label it speaks for itself, without one a word stands beside it."""
    return _icon(name, tone, label)


@register.simple_tag(takes_context=True)
def focus(context: Context) -> SafeString:
    """What gives a field the focus: of a page the browser does it, of what a script fetched for a page the script."""
    is_part = "request" in context and context["request"].headers.get("HX-Request")
    return mark_safe(" data-focus" if is_part else " autofocus")


@register.simple_tag
def crumbs(*steps: str, heading: bool = False) -> SafeString:
    """Where a page stands: words and their addresses by turns, at the end its own name, which may be its heading."""
    way = zip(steps[:-1:2], steps[1::2], strict=True)
    links = format_html_join("", '<a href="{1}">{0}</a><span aria-hidden="true">/</span>', way)
    here = format_html('<{0} dir="auto" aria-current="page">{1}</{0}>', _HEADING[heading], steps[-1])
    return format_html('<nav class="crumbs" aria-label="Where this page stands">{}{}</nav>', links, here)


_HEADING = {True: mark_safe("h1"), False: mark_safe("span")}


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
def isolated(text: str) -> str:
    """A name that people gave, which turns no words around it."""
    return rendering.isolated(text)


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
def counted(number: int | None, more: str = "+") -> str:
    """A count that ends at `COUNT_LIMIT`, where `more` says that it does: 1 000+."""
    return thousands(number) + (more if number == COUNT_LIMIT else "")


@register.filter
def copyable(html: SafeString) -> SafeString:
    """Markdown, rendered, whose blocks of code are each copied by a click."""
    button = '<button class="copy" type="button" data-copy-next aria-label="Copy the code">{}</button>'
    before = format_html(f'<div class="code">{button}', _icon("copy", "", ""))
    return rendering.around_code(html, before, mark_safe("</div>"))


@register.filter
def spoken(field: str) -> str:
    """The id of a field as a reader would name it: `fixture-2-output` as `Fixture 2 output`."""
    return field.replace("_", " ").replace("-", " ").capitalize()


@register.filter
def words(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


@lru_cache(maxsize=256)
def _icon(name: str, tone: str, label: str) -> SafeString:
    told = format_html(' role="img" aria-label="{}"', label) if label else mark_safe(' aria-hidden="true"')
    dye = format_html(' data-tone="{}"', tone) if tone else ""
    return format_html('<svg class="icon"{}{}><use href="{}#{}"/></svg>', dye, told, static("icons.svg"), name)
