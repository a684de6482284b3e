"""Public identifiers: a short prefix for the kind, and a sortable key that cannot be guessed."""

import re
from datetime import UTC, datetime
from functools import reduce
from typing import Final

from uuid_utils import uuid7

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH: Final = 26
_is_key: Final = re.compile(r"[0-9A-Za-z_-]{1,64}").fullmatch

THREAD = "ags_"
THREAD_SPELLINGS = ("ags_", "ath_", "ch_")
ORG = "og_"
FEEDBACK = "fb_"
ACTION = "act_"
BULK = "blk_"
VIEW = "vw_"
TOOL_USE = "tu_"
AGENT = "agt_"
SKILL = "sk_"
WEBHOOK = "wh_"
EVENT = "evt_"
DELIVERY = "dlv_"
CALL = "call_"
WORLD = "wld_"
CHECK = "chk_"
RUN = "run_"
BATCH = "bat_"
COMMENT = "cmt_"


def new_key() -> str:
    """26 characters that sort by creation time: a UUIDv7 in base 32 without look-alike characters."""
    number = uuid7().int
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5))


def moment_of(key: str) -> datetime | None:
    """When a key was made, to the millisecond; None for one of another form."""
    if len(key) != LENGTH or not set(key) <= set(_ALPHABET):
        return None
    number = reduce(lambda high, letter: high << 5 | _ALPHABET.index(letter), key, 0)
    try:
        return datetime.fromtimestamp((number >> 80) / 1000, UTC)
    except (ValueError, OverflowError):
        return None


def is_id(text: str, *prefixes: str) -> bool:
    """Whether a text is a whole public id with one of the prefixes, as people paste it, and no word like it."""
    return len(key_of(text, *prefixes) or "") == LENGTH


def tool_use_id() -> str:
    """A new tool use id."""
    return TOOL_USE + new_key()


def key_of(public_id: str, *prefixes: str) -> str | None:
    """The key in a public id with one of the prefixes, or None if it has another form."""
    for prefix in prefixes:
        if public_id.startswith(prefix):
            key = public_id[len(prefix) :]
            return key if _is_key(key) else None
    return None
