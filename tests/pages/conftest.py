"""What several files of page tests ask for."""

from tests.pages.lines import listen

__all__ = ["listen"]
