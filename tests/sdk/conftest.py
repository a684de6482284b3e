"""The unmodified SDK against running servers, both ways."""

import warnings

with warnings.catch_warnings():
    # The SDK brings a library that warns of another one while it is imported.
    warnings.filterwarnings("ignore", "GitWildMatchPattern", DeprecationWarning)
    from tests.sdk.callers import admin, alice, bob, eve, person

__all__ = ["admin", "alice", "bob", "eve", "person"]
