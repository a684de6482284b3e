"""What every database stores unchanged. Imports nothing, so that dialects can be read without a web framework."""

import re

UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""What not every database stores unchanged: NUL and lone surrogates."""
MAX_INTEGER = 2**31 - 1
"""The highest number that a column of whole numbers holds."""


def storable(said: str) -> str:
    """The text with the replacement character for what cannot be stored."""
    return UNSTORABLE.sub("\ufffd", said)
