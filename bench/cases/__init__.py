"""The benchmarks by topic. Importing a module registers its benchmarks, in output order."""

from bench.cases import reading, rating, talking, cataloguing, starting, reading_along, desk, pages  # noqa: F401, I001
