"""A desk of any size: threads and reports made up in bulk, for measuring and for looking at a full house."""

from config.seeding.loading import loaded, seed

__all__ = ["loaded", "seed"]
