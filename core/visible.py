"""Whether anything of a text is seen. Imports nothing of Heddle, so that dialects can be read without a framework."""

import re
import unicodedata

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"})
"""Categories of control characters, marks of direction and joiners, and blanks."""
_FILLERS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Letters and marks by their category, which are drawn as nothing: fillers, variation selectors, empty Braille."""


def is_visible(text: str) -> bool:
    """Whether a text has at least one character that is seen."""
    return any(unicodedata.category(each) not in _UNSEEN and not _FILLERS.match(each) for each in text)
