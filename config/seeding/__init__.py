"""Generated threads and reports in bulk, for load tests and for seeing a full desk."""

from config.seeding.loading import LAST_SEED, MOST_REPORTS, loaded, seed

__all__ = ["LAST_SEED", "MOST_REPORTS", "loaded", "seed"]
