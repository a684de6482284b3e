"""What other libraries would load only because it happens to be installed."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

_UNUSED = ("django.contrib.postgres", "pygments", "requests", "yaml")
"""For features of the libraries below that nothing here uses. Together 17 MiB, and a quarter of a second."""


def leave_out() -> None:
    """Load the libraries that look for them, without them. Called once, before anything else imports these."""
    with _hidden():
        for name in ("kombu.serialization", "rest_framework.compat"):
            import_module(name)


@contextmanager
def _hidden() -> Iterator[None]:
    """Meanwhile, they cannot be imported. Whatever needs one later gets it."""
    absent = [name for name in _UNUSED if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]
