"""How alike two reports are, with the reasons, without asking a model.

Rare common words weigh more. How rare a word is is estimated from how far back its last few dozen hits lie, so a
million reports cost no more than a thousand.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import pairwise

from django.db import connection
from django.db.models import Max, QuerySet
from django.utils.text import get_text_list

from core import fulltext
from core.wording import composed
from feedback import indexing
from feedback.deciding import UNDO
from feedback.models import RatedTool, Triage, TriageChange, UserFeedback
from feedback.taxonomy import BIT

EACH = 60
"""Most candidates of each kind."""
_WORDS = 12
"""Most words of a report that are searched for."""
_PAIRS = 36
"""The same for pairs of letters in scripts without spaces: a sentence has three times as many of them as words."""
_GRAMMAR = re.compile("[\u3041-\u3096]")
"""Hiragana, in which Japanese writes endings and particles; what a note is about is in its other letters."""
_LETTERS = 2
"""Shorter words say nothing; in scripts without spaces, as many letters are compared as one word."""
_SHORT = 1_000
"""Characters of notes whose words are kept for the next comparison: almost all are shorter."""
_SNOOZED = 500
"""So many snoozed reports a new one is compared with in any case; of older ones, with those that an index finds."""
_FEW = 1000
_TELLING = 1.0
_STRONG_WORDS = 6.0
_STOP = frozenset(
    re.findall(
        r"\w+",
        "about after again all also and any are because been before but can could did does don for from get had has "
        "have her here him his how into its just like more most much not now off one only other our out over said same "
        "say says never ever still even every both either neither once twice right two three four five six seven eight "
        "nine ten first second last next "
        "should some such than that the their them then there these they thing this too very was well were what when "
        "where which while who why will with would wrong you your answer answered agent asked message reply response",
    )
)


@dataclass(frozen=True, slots=True)
class Shared:
    """What two reports have in common; `is_strong`: hardly by chance; `is_alike`: one resolution probably fits both."""

    reasons: tuple[str, ...] = ()
    score: float = 0.0
    is_strong: bool = False
    is_alike: bool = False


@dataclass(frozen=True, slots=True)
class Facts:
    """The compared data of a report. `tools` maps names to whether they failed."""

    pk: int
    created: datetime
    org: int
    thread: int
    resolved: bool
    sentiment: str
    bits: int
    words: Mapping[str, str]
    """Those of the notes, as they are compared and as they were written."""
    error: str = ""
    tools: Mapping[str, bool] = field(default_factory=dict)


def woken_by(report_pks: Iterable[int]) -> dict[int, list[int]]:
    """Row ids of reports snoozed until it happens again, by the first of these newer reports that says the same.

    Only reports rated after the snooze count, because a report may be digested long after it was stored. The number of
    queries depends only on how many reports share words with a snoozed one, and, while very many are snoozed, on that
    of the newer reports.
    """
    newer = sorted(report_pks)
    sleeping = Triage.objects.filter(snoozed_until_again=True, feedback__resolved=False, pk__lt=max(newer, default=0))
    asleep = set(sleeping.order_by("-pk").values_list("pk", flat=True)[:_SNOOZED])
    facts = facts_of({*newer, *asleep}) if asleep else {}
    if len(asleep) == _SNOOZED:
        older = {pk for one in newer if one in facts for pk in _likely(facts[one], sleeping)} - asleep
        asleep |= older
        facts |= facts_of(older)
    since = asleep_since(asleep)
    found: dict[int, list[int]] = {}
    for one in (facts[pk] for pk in newer if pk in facts):
        before = (pk for pk in asleep & facts.keys() if pk < one.pk and since.get(pk, one.created) <= one.created)
        others = [facts[pk] for pk in before]
        has_words = any(len(one.words.keys() & other.words.keys()) > 1 for other in others)
        weights = telling(one)[0] if has_words else {}
        if woken := sorted(other.pk for other in others if shared(one, other, weights).is_strong):
            found[one.pk] = woken
            asleep.difference_update(woken)
    return found


def _likely(one: Facts, sleeping: QuerySet[Triage]) -> list[int]:
    """The newest snoozed reports that share a telling word, the error or a failed tool with a report."""
    failed = [name for name in one.tools if one.tools[name]]
    found = [sleeping.filter(pk__in=telling(one)[1])]
    found += [sleeping.filter(feedback__answer__error_code=one.error)] if one.error else []
    found += [sleeping.filter(feedback__tools__tool_name__in=failed, feedback__tools__failed=True)] if failed else []
    return [pk for rows in found for pk in rows.order_by("-pk").values_list("pk", flat=True)[:EACH]]


def asleep_since(pks: Iterable[int]) -> dict[int, datetime]:
    """When each of these reports, by row id, was last snoozed until it happens again."""
    changes = TriageChange.objects.filter(feedback__in=pks, verb__in=("snooze", UNDO)).order_by("pk")
    rows = changes.values_list("feedback_id", "at", "after")
    return {pk: at for pk, at, after in rows if after.get("snoozed_until_again")}


def shared(one: Facts, other: Facts, weights: Mapping[str, float]) -> Shared:
    """Compare two reports; `weights` are those of the first one's words, from `telling`."""
    reasons, score, is_strong = [], 0.0, False
    failed = sorted(name for name in one.tools if one.tools[name] and other.tools.get(name))
    if failed:
        reasons.append(f"{get_text_list(failed, 'and')} failed in both")
        score, is_strong = score + 5, True
    if one.error and one.error == other.error:
        reasons.append(f"both ended with the error {one.error}")
        score, is_strong = score + 4, True
    if used := sorted((one.tools.keys() & other.tools.keys()) - set(failed)):
        reasons.append(f"both used {get_text_list(used, 'and')}")
        score += 1.5
    words = _common_words(one, other, weights)
    if words:
        weight = sum(words.values())
        reasons.append(f"both say {get_text_list(sorted(words, key=lambda word: (-words[word], word))[:5], 'and')}")
        score += min(weight, 8 if len(words) > 1 else 1)  # a single word may be chance
        is_strong = is_strong or (len(words) > 1 and weight >= _STRONG_WORDS)
    if one.thread == other.thread:
        reasons.append("in the same thread")
        score += one.sentiment == other.sentiment  # the same thread alone does not mean the same complaint
    common = [name for name, bit in BIT.items() if one.bits & other.bits & bit]
    if common and one.sentiment == other.sentiment:
        reasons.append(f"both {one.sentiment}: {get_text_list([name.replace('_', ' ') for name in common], 'and')}")
        score += len(common)
    is_same = len(one.words) > 1 and one.words.keys() == other.words.keys()  # even if the words are common
    is_alike = one.sentiment == other.sentiment and (is_strong or is_same or len(words) > 1)
    return Shared(tuple(reasons), score, is_strong, is_alike)


def _common_words(one: Facts, other: Facts, weights: Mapping[str, float]) -> dict[str, float]:
    """What both say, as the first one wrote it, with weights. Letters that follow each other are one word again."""
    found: dict[str, float] = {}
    run, before = "", ""
    for word, written in one.words.items():
        if word in other.words and word in weights:
            is_next = run and len(before) == len(word) == _LETTERS and before[-1] == word[0]
            weight = max(weights[word], found.pop(run)) if is_next else weights[word]
            run = run + word[-1] if is_next else written
            found[run], before = weight, word
        else:
            run = ""
    return found


def telling(one: Facts) -> tuple[dict[str, float], set[int]]:
    """The weights of a report's significant words, and the newest reports that contain one of them."""
    ranked = sorted(one.words, key=lambda word: (-len(word), bool(_GRAMMAR.search(word)), word))
    words = [word for word in ranked if len(word) > _LETTERS]
    wanted = words[:_WORDS] + ranked[len(words) :][:_PAIRS]
    top = UserFeedback.objects.aggregate(top=Max("pk"))["top"] or 1
    # Row ids replace a count, which would scan; with few reports, gaps between ids would distort it, so they are
    # counted.
    few = UserFeedback.objects.order_by()[:_FEW].count()
    total = top if few == _FEW else few
    weights, found = {}, set()
    for word, hits in _newest(wanted).items():
        reach = min(total, top - min(hits) + 1) if len(hits) == EACH else total
        weight = math.log(max(reach, 2) / len(hits))
        if weight >= _TELLING:
            weights[word] = weight
            found.update(hits)
    return weights, found


def _newest(wanted: list[str]) -> dict[str, list[int]]:
    """The newest reports whose notes contain each word, without words that none contains. One statement for all."""
    if not wanted:
        return {}
    hit = indexing.NEWEST[connection.vendor].format(limit=EACH)
    sql = " UNION ALL ".join(f"SELECT * FROM ({hit}) AS hits_{place}" for place in range(len(wanted)))  # noqa: S608
    arguments = [each for word in wanted for each in (word, indexing.in_notes(word))]
    found: dict[str, list[int]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(sql, arguments)
        for word, pk in cursor.fetchall():
            found[word].append(pk)
    return found


def facts_of(pks: Iterable[int]) -> dict[int, Facts]:
    """The compared data of these reports, in two queries."""
    wanted = list(pks)
    tools: dict[int, dict[str, bool]] = defaultdict(dict)
    used = RatedTool.objects.filter(feedback__in=wanted).values_list("feedback_id", "tool_name", "failed")
    for pk, name, failed in used:
        tools[pk][name] = failed
    rows = UserFeedback.objects.filter(pk__in=wanted).values_list(
        "pk", "created", "org_id", "thread_id", "resolved", "sentiment", "category_bits", "notes", "answer__error_code"
    )
    return {
        pk: Facts(
            pk, created, org, thread, resolved, sentiment, bits, _words(notes or ""), error or "", tools.get(pk, {})
        )
        for pk, created, org, thread, resolved, sentiment, bits, notes, error in rows
    }


def _words(notes: str) -> dict[str, str]:
    """`_words_of`, known of recent notes: whoever goes through the reports compares with the same ones again."""
    return _known_words(notes) if len(notes) <= _SHORT else _words_of(notes)


def _words_of(notes: str) -> dict[str, str]:
    """The words by which notes are compared, as `Facts.words`. In scripts without spaces, whose words have no visible
    ends, each two letters in a row are one.
    """
    found: dict[str, str] = {}
    for written in fulltext.split(composed(notes)):
        parts = fulltext.plain(written).split()
        found |= {word: word if parts[1:] else written for word in parts if len(word) > _LETTERS and word not in _STOP}
        found |= {one + other: one + other for one, other in pairwise(parts) if len(one + other) == _LETTERS}
    return found


_known_words = lru_cache(maxsize=1024)(_words_of)
