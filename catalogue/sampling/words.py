"""Plausible texts for generated results: by format, by field name, else two words (catalogue 3.8)."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Final

from catalogue.sampling.drawing import Source

_WORDS: Final = [
    "amber", "anchor", "autumn", "barley", "basin", "beacon", "birch", "bridge", "cabin", "candle", "canyon",
    "cedar", "chapel", "clover", "cobalt", "copper", "coral", "cotton", "crane", "delta", "dune", "eagle",
    "ember", "falcon", "fern", "field", "flint", "forest", "garden", "glacier", "granite", "grove", "harbor",
    "hazel", "heron", "indigo", "island", "ivory", "jasper", "juniper", "kettle", "lagoon", "lantern", "laurel",
    "linen", "maple", "marble", "meadow", "mill", "moss", "nickel", "oak", "ocean", "olive", "orchard", "otter",
    "pebble", "pine", "plaza", "prairie", "quartz", "raven", "reef", "river", "saddle", "sage", "sand", "shore",
    "silver", "slate", "spring", "spruce", "stone", "summit", "swan", "thistle", "timber", "valley", "velvet",
    "violet", "walnut", "willow", "winter",
]  # fmt: skip
_FIRST: Final = date(2020, 1, 1)
_DAYS: Final = 3650


def words(source: Source) -> str:
    """Two random words."""
    return f"{source.one_of(_WORDS)} {source.one_of(_WORDS)}"


def letters(source: Source, least: int, most: int) -> str:
    """Small letters of random words, of such a length; as many as one word has, if possible."""
    drawn = [source.one_of(_WORDS)]
    count = len(drawn[0])
    while count < least:
        drawn.append(source.one_of(_WORDS))
        count += len(drawn[-1])
    return "".join(drawn)[: max(most, 0)]


def _digits(source: Source, count: int) -> str:
    return f"{source.below(16**count):0{count}x}"


def _date(source: Source) -> str:
    return (_FIRST + timedelta(days=source.below(_DAYS))).isoformat()


def _instant(source: Source) -> str:
    moment = datetime(_FIRST.year, 1, 1) + timedelta(days=source.below(_DAYS), seconds=source.below(86_400))
    return f"{moment.isoformat()}Z"


def _uuid(source: Source) -> str:
    return (
        f"{_digits(source, 8)}-{_digits(source, 4)}-4{_digits(source, 3)}-a{_digits(source, 3)}-{_digits(source, 12)}"
    )


def _email(source: Source) -> str:
    return f"{source.one_of(_WORDS)}.{source.one_of(_WORDS)}@example.com"


def _url(source: Source) -> str:
    return f"https://example.com/{source.one_of(_WORDS)}/{source.one_of(_WORDS)}"


def _host(source: Source) -> str:
    return f"{source.one_of(_WORDS)}.example.com"


def _ip(source: Source) -> str:
    return f"192.0.2.{source.below(256)}"


FORMATS: Final[Mapping[str, Callable[[Source], str]]] = {
    "date": _date,
    "date-time": _instant,
    "time": lambda source: _instant(source)[11:],
    "duration": lambda source: f"PT{1 + source.below(90)}M",
    "email": _email,
    "idn-email": _email,
    "uri": _url,
    "url": _url,
    "iri": _url,
    "uri-reference": _url,
    "uuid": _uuid,
    "hostname": _host,
    "ipv4": _ip,
    "ipv6": lambda source: f"2001:db8::{_digits(source, 4)}",
    "color": lambda source: f"#{_digits(source, 6)}",
}

_INSTANT: Final = "20[0-9]{2}-0[1-9]-[12][0-9]T[01][0-9]:[0-5][0-9]:[0-5][0-9]"
SHAPES: Final[Mapping[str, Sequence[str]]] = {
    "date-time": (rf"{_INSTANT}Z", rf"{_INSTANT}\.[0-9]{{1,9}}Z", rf"{_INSTANT}(?:\.[0-9]{{1,9}})?[+-]0[0-9]:[03]0"),
    "email": (
        r"[a-z]{1,64}@example\.com",
        r"[a-z]{1,20}@[a-z]{1,20}\.[a-z]{2}",
        r"[a-z]{1,64}@[a-z]{1,60}(?:\.[a-z]{1,60}){0,3}\.com",
    ),
    "uri": (r"https://example\.com/[a-z]+(?:/[a-z]+)*", r"https://[a-z]+\.[a-z]{2}", r"[a-z]+:[a-z]+"),
}
"""Patterns of longer and shorter texts of a format, whose lengths vary."""


def by_name(name: str, source: Source) -> str:
    """A plausible value for a field of this name."""
    low = name.lower()
    if low == "id" or low.endswith("_id"):
        return f"{low[:-3] or 'id'}_{_digits(source, 8)}"
    if "email" in low:
        return _email(source)
    if low.endswith("_at") or low in ("timestamp", "datetime"):
        return _instant(source)
    if low == "date" or low.endswith("_date"):
        return _date(source)
    if low in ("url", "uri", "link") or low.endswith(("_url", "_uri")):
        return _url(source)
    if "phone" in low:
        return f"+1 555 01{source.below(100):02d}"
    if low == "name" or low.endswith("_name"):
        return words(source).title()
    return words(source)
