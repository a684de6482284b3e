"""Template tags and filters: icons, times, path segments and others."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from urllib.parse import quote, urlencode

from django import template
from django.template import Context
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django_htmx.middleware import HtmxDetails

from core import markdown, wording
from core.paging import COUNT_LIMIT

register = template.Library()


@register.simple_tag
def icon(name: str, tone: str = "", label: str = "") -> SafeString:
    """An icon from the sprite. Without a label it is hidden from screen readers: a word is next to it."""
    return _icon(name, tone, label)


@register.simple_tag(takes_context=True)
def focus(context: Context) -> SafeString:
    """The attribute that focuses a field: by the browser on a page, by the script in a fetched part."""
    is_part = "request" in context and HtmxDetails(context["request"])
    return mark_safe(" data-focus" if is_part else " autofocus")


@register.simple_tag
def crumbs(*steps: str, heading: bool = False, kind: str = "") -> SafeString:
    """Breadcrumbs: alternating words and URLs, then the page's own name, optionally as its heading and behind the icon
    of its kind.
    """
    *rest, name = map(wording.straight, steps)
    way = zip(rest[::2], rest[1::2], strict=True)
    links = format_html_join("", '<a href="{1}">{0}</a><span aria-hidden="true">/</span>', way)
    here = format_html('<{0} dir="auto" aria-current="page">{1}</{0}>', _HEADING[heading], name)
    sign = _icon(kind, "", kind.capitalize()) if kind else ""
    return format_html('<nav class="crumbs" aria-label="Breadcrumb">{}{}{}</nav>', links, sign, here)


_HEADING = {True: mark_safe("h1"), False: mark_safe("span")}


@register.simple_tag
def when(instant: datetime | None, words: str = "{}", now: datetime | None = None) -> SafeString:
    """A relative time, with the exact one as a tooltip; `words` contains `{}` for the relative time."""
    if instant is None:
        return mark_safe("")
    exact = f"{instant.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
    text = words.format(wording.ago(instant, now or timezone.now()))
    told = exact.replace("T", " ").replace("Z", " UTC")
    return format_html('<time datetime="{}" title="{}">{}</time>', exact, told, text)


_SPANS = (" min", " h", " d")


@register.simple_tag
def since(instant: datetime | None, now: datetime | None = None) -> SafeString:
    """As `when`, for the middle of a sentence: `8 min ago`, `just now`, `on 12 May`."""
    if instant is None:
        return mark_safe("")
    text = wording.ago(instant, now or timezone.now())
    words = "just now" if text == "now" else "{} ago" if text.endswith(_SPANS) else "on {}"
    return when(instant, words, now)


@register.simple_tag
def until(instant: datetime, now: datetime | None = None) -> SafeString:
    """As `since`, for times to come: `in a moment`, `in 8 min`, `in 3 h`, `on 12 May`."""
    now = now or timezone.now()
    left = wording.ago(now, instant)
    words = "in a moment" if left == "now" else f"in {left}" if left.endswith(_SPANS) else ""
    return when(instant, words or f"on {wording.day(instant, now)}", now)


@register.filter
def isolated(text: str) -> str:
    """A user-given name, isolated so that its writing direction does not affect the words around it."""
    return wording.isolated(text)


@register.filter
def straight(text: str | None) -> str:
    """A text for a place of its own in one line, without what turns its direction."""
    return wording.straight(text or "")


@register.filter
def shown(text: str) -> SafeString:
    """What somebody wrote, letter by letter: what turns its direction is shown as its code."""
    return markdown.turns_shown(conditional_escape(text))


@register.filter
def segment(text: str) -> str:
    """Any text as one segment of a path."""
    return quote(text, safe="")


@register.filter
def named(address: str | None, names: Mapping[str, str]) -> str:
    """The name of the user with this email address, or the part before the @ if the user is gone."""
    return names.get(address, address.partition("@")[0]) if address else ""


@register.filter
def thousands(number: int | None) -> str:
    """A count with thin groups: 1 284."""
    return "" if number is None else f"{number:,}".replace(",", "\u202f")


@register.filter
def at_message(index: int, asked: str = "") -> str:
    """The query and fragment of a message behind its thread's URL, with what it was found by; of a long thread only a
    part is shown.
    """
    return f"?{urlencode({'q': asked, 'at': index} if asked else {'at': index})}#m{index}"


@register.filter
def took(milliseconds: int | None) -> str:
    """A duration: `< 1 ms`, `184 ms`, `1.2 s`; empty for None."""
    return "" if milliseconds is None else wording.took(milliseconds)


@register.filter
def counted(number: int | None, more: str = "+") -> str:
    """A count limited to `COUNT_LIMIT`, shown with `more` if it is: 1 000+."""
    return thousands(number) + (more if number == COUNT_LIMIT else "")


@register.filter
def copyable(html: SafeString) -> SafeString:
    """Rendered Markdown with a copy button for each code block."""
    button = '<button class="copy" type="button" data-copy aria-label="Copy the code">{}</button>'
    before = format_html(f'<div class="code">{button}', _icon("copy", "", ""))
    return markdown.around_code(html, before, mark_safe("</div>"))


@register.simple_tag
def copy_id(value: str, name: str) -> SafeString:
    """An id that a press copies; `name` says of what, for those who do not see where it stands."""
    button = '<button class="copy" type="button" data-copy="{}" aria-label="Copy {} {}">{} {}</button>'
    seen = wording.straight(value)
    return format_html(button, value, name, seen, seen, _icon("copy", "", ""))


@register.filter
def spoken(field: str) -> str:
    """The id of a field as words: `fixture-2-output` becomes `Fixture 2 output`."""
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
