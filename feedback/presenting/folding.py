"""Which texts are too long to show in full in the report pane."""

_LINE, _LINES = 50, 14
"""About how many letters fit in a line of the report pane, and how many lines are shown without folding."""


def is_long(text: str) -> bool:
    """Whether a text is folded to eight lines there."""
    return sum(1 + len(line) // _LINE for line in text.split("\n")) > _LINES
