"""A small chaos run on each way; the big one is `make chaos`."""

import warnings

with warnings.catch_warnings():
    # The SDK brings a library that warns of another one while it is imported.
    warnings.filterwarnings("ignore", "GitWildMatchPattern", DeprecationWarning)
    import roboto

__all__ = ["roboto"]
