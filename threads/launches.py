"""Which threads were launched from an agent, or from one version of it."""

from django.db.models import Q, QuerySet

from core import ids
from threads.models import Agent

_MOST_DIGITS = 9


def launched(named: str, known: QuerySet[Agent]) -> Q | None:
    """The condition for threads that were launched from an agent: by its id, also of one that was deleted, or by its
    name among `known` ones, ignoring case; either may end with a version, as in `Station report@3`. None for a name
    that no agent has.
    """
    name, _, number = named.rpartition("@")
    found = _of(named, known)
    if name and number.isascii() and number.isdecimal() and len(number) <= _MOST_DIGITS:
        of_version = _of(name, known)
        if of_version is not None:
            of_version &= Q(created_from_agent_version=int(number))
            return of_version if found is None else found | of_version
    return found


def _of(named: str, known: QuerySet[Agent]) -> Q | None:
    keys = [*known.filter(name__iexact=named).values_list("key", flat=True)]
    if key := ids.key_of(named, ids.AGENT):
        keys.append(key)
    return Q(created_from_agent_id__in=[ids.AGENT + each for each in keys]) if keys else None
