"""The figures, by what they are about. Importing a module registers its figures, in the order they are told in."""

from bench.cases import reading, rating, talking, cataloguing, starting, reading_along, desk  # noqa: F401, I001
