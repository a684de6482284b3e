"""The query language of the feedback desk: one grammar for page, API, saved views and bulks."""

from feedback.querying.compiling import matching, remarks
from feedback.querying.query import Query, Term, parse

__all__ = ["Query", "Term", "matching", "parse", "remarks"]
