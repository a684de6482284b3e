"""A desk of any size: threads and reports made up in bulk, for measuring and for looking at a full house."""

from config.seeding.loading import LAST_SEED, MOST_REPORTS, loaded, seed

__all__ = ["LAST_SEED", "MOST_REPORTS", "loaded", "seed"]
