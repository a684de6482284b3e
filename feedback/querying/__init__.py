"""The query language of the feedback desk: one grammar for page, API, saved views and bulks."""

from feedback.querying.compiling import Meaning, at_moment, matching, meaning, remarks, understood
from feedback.querying.completing import Completion, completions, terms
from feedback.querying.conditions import Remark
from feedback.querying.fields import term_of
from feedback.querying.ordering import NEWEST, OLDEST, Order, Position, row_ids
from feedback.querying.query import Query, Term, parse, term_meant

__all__ = [
    "NEWEST",
    "OLDEST",
    "Completion",
    "Meaning",
    "Order",
    "Position",
    "Query",
    "Remark",
    "Term",
    "at_moment",
    "completions",
    "matching",
    "meaning",
    "parse",
    "remarks",
    "row_ids",
    "term_meant",
    "term_of",
    "terms",
    "understood",
]
