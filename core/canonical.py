"""Canonical JSON: equal values give equal text, so that they can be compared, hashed and measured."""

import hashlib
import json
from typing import Any


def canonical_json(value: Any) -> str:
    """Keys sorted, no insignificant whitespace, characters as they are, integer-valued floats as integers."""
    return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))


def fingerprint(value: Any) -> str:
    """`sha256:` and the hexadecimal digest of the canonical JSON in UTF-8."""
    return "sha256:" + hashlib.sha256(canonical_json(value).encode()).hexdigest()


def size_of(value: Any) -> int:
    """The bytes of its canonical JSON in UTF-8."""
    return len(canonical_json(value).encode())


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
