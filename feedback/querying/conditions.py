"""The condition on reports for each field of the query language."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from django.db import connection
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.lookups import GreaterThan

from accounts.models import Org, User
from accounts.naming import called
from core import ids, moments
from core.actor import Actor
from core.related import spellings
from feedback.label_text import plain
from feedback.models import (
    Check,
    CheckRun,
    Comment,
    Label,
    Labelled,
    Mention,
    RatedAnswer,
    RatedTool,
    Reply,
    Triage,
    UserFeedback,
)
from feedback.querying import words
from feedback.querying.sides import beside, between, is_resolved
from feedback.taxonomy import BIT, Outcome
from threads import launches
from threads.models import Agent, Goal, Thread
from threads.searching import tools_meant

NOTHING = Q(pk__in=[])


@dataclass(frozen=True, slots=True)
class Remark:
    """A message about a name that does not exist, with the field and the name."""

    words: str
    field: str
    name: str

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True, slots=True)
class Asking:
    """The context of a query: actor and time; `excluding` is true under a minus. Collects remarks."""

    actor: Actor
    now: datetime
    excluding: bool = False
    remarks: list[Remark] = field(default_factory=list)
    orgs: dict[str, int] = field(default_factory=dict)
    """Row ids of the orgs that the query names."""

    def nobody(self, words: str, asked: str, name: str) -> Q:
        """A condition that matches nothing; adds a remark that says why."""
        said = Remark(words, asked, name)
        if said not in self.remarks:
            self.remarks.append(said)
        return NOTHING


Condition = Callable[[str, Asking], Q]


def state(value: str, asking: Asking) -> Q:
    """`is:`"""
    match value:
        case "open" | "resolved":
            return is_resolved(value == "resolved")
        case "unclaimed":
            return is_resolved(False) & Q(owned_by__isnull=True) & ~_asleep(asking)
        case "mine":
            return Q(owned_by=asking.actor.user_id)
        case "snoozed" if asking.excluding:
            return is_resolved(False) & _asleep(asking)
        case "snoozed":
            # Filter the few snoozed rows: with a separate condition, SQLite would scan all open reports.
            asleep = (rows.filter(feedback__resolved=False) for rows in _snoozed(asking))
            timed, again = (beside(rows) for rows in asleep)
            return timed | again
        case "due":
            due = Triage.objects.filter(_TIMED, snoozed_until__lte=asking.now)
            return is_resolved(False) & beside(due, excluding=asking.excluding)
        case "revisited":
            # SQLite uses the partial index only in a query of its own; PostgreSQL would read all ids beside that.
            if connection.vendor != "sqlite" and not asking.excluding:
                return _REVISITED
            return Q(pk__in=UserFeedback.objects.filter(_REVISITED).order_by().values("pk"))
        case "duplicate":
            return outcome(Outcome.DUPLICATE, asking)
        case "edited":
            return _EDITED
        case "asked":
            return beside(Mention.waiting_for(asking.actor.user_id), excluding=asking.excluding)
    replies = Reply.objects.filter(public_status=Reply.Status.ANSWERED)
    return beside(replies, excluding=asking.excluding)


def having(value: str, asking: Asking) -> Q:
    """`has:`"""
    match value:
        case "owner":
            return Q(owned_by__isnull=False)
        case "note":
            return Q(admin_note__isnull=False) & ~Q(admin_note="")
        case "notes":
            return Q(notes__isnull=False)
        case "goal":
            return beside(Goal.objects.all(), by="thread", of="thread", excluding=asking.excluding)
        case "fork":
            forks = Thread.objects.filter(~CheckRun.of_thread(), forked_from__isnull=False)
            return beside(forks, by="forked_from", of="thread", excluding=asking.excluding)
        case "check":
            return beside(_CHECKS, excluding=asking.excluding)
        case "comment":
            return beside(Comment.objects.filter(deleted_at=None), excluding=asking.excluding)
        case "label":
            return beside(Labelled.objects.all(), excluding=asking.excluding)
        case "reply":
            return beside(Reply.objects.filter(public_reply__gt=""), excluding=asking.excluding)
        case "outcome":
            return beside(_CONCLUDED, excluding=asking.excluding)
        case "proof":
            return beside(_PROVED, excluding=asking.excluding)
        case "tool":
            return beside(RatedTool.objects.all(), excluding=asking.excluding)
        case "error":
            return beside(RatedAnswer.objects.exclude(error_code=""), excluding=asking.excluding)
    copies = Triage.objects.filter(duplicate_of__isnull=False)
    return beside(copies, by="duplicate_of", excluding=asking.excluding)


def sentiment(value: str, asking: Asking) -> Q:
    """`sentiment:`"""
    return Q(sentiment=value)


def category(value: str, asking: Asking) -> Q:
    """`category:`, by its bit."""
    return Q(GreaterThan(F("category_bits").bitand(BIT[value]), 0))


def outcome(value: str, asking: Asking) -> Q:
    """`outcome:`"""
    if value == "none":
        return ~beside(_CONCLUDED, excluding=not asking.excluding)
    return beside(Triage.objects.filter(outcome=value), excluding=asking.excluding)


def label(value: str, asking: Asking) -> Q:
    """`label:`"""
    if value == "none":
        return ~beside(Labelled.objects.all(), excluding=not asking.excluding)
    return label_named(value, asking)


def label_named(value: str, asking: Asking) -> Q:
    """`label:` in quotes, ignoring case."""
    found = Label.objects.filter(folded=plain(value).casefold()).values_list("pk", flat=True).first()
    if found is None:
        return asking.nobody(f"There is no label {value}.", "label", value)
    return beside(Labelled.objects.filter(label=found), excluding=asking.excluding)


def check(value: str, asking: Asking) -> Q:
    """`check:`"""
    return beside(_CHECKS.filter(state=value), excluding=asking.excluding)


def owner(value: str, asking: Asking) -> Q:
    """`owner:`"""
    if value == "none":
        return Q(owned_by__isnull=True)
    return _one_of("owner", "owned_by", value, asking)


def submitter(value: str, asking: Asking) -> Q:
    """`by:`"""
    return _one_of("by", "created_by", value, asking)


def commented(value: str, asking: Asking) -> Q:
    """`commented:`"""
    rows = Comment.objects.filter(_one_of("commented", "author", value, asking), deleted_at=None)
    return beside(rows, excluding=asking.excluding)


def model(value: str, asking: Asking) -> Q:
    """`model:`, ignoring case."""
    found = spellings(RatedAnswer, "model_profile", value)
    if not found:
        return asking.nobody(f"No rated answer is by the model profile {value}.", "model", value)
    return beside(RatedAnswer.objects.filter(model_profile__in=found), excluding=asking.excluding)


def tool(value: str, asking: Asking) -> Q:
    """`tool:`, as in the list of threads."""
    return _by_tool(tools_meant(RatedTool, value), "tool", value, asking)


def tool_named(value: str, asking: Asking) -> Q:
    """`tool:` in quotes: under this name only, ignoring case."""
    return _by_tool(spellings(RatedTool, "tool_name", value), "tool", value, asking)


def failed(value: str, asking: Asking) -> Q:
    """`failed:`, as in the list of threads."""
    return _by_tool(tools_meant(RatedTool, value), "failed", value, asking, failed=True)


def failed_named(value: str, asking: Asking) -> Q:
    """`failed:` in quotes, as `tool_named`."""
    return _by_tool(spellings(RatedTool, "tool_name", value), "failed", value, asking, failed=True)


def _by_tool(names: Sequence[str], field: str, value: str, asking: Asking, **more: bool) -> Q:
    if not names:
        return asking.nobody(f"No rated answer used the tool {value}.", field, value)
    return beside(RatedTool.objects.filter(tool_name__in=names, **more), excluding=asking.excluding)


def error(value: str, asking: Asking) -> Q:
    """`error:`, ignoring case."""
    found = spellings(RatedAnswer, "error_code", value)
    if not found:
        return asking.nobody(f"No rated answer ended with the error {value}.", "error", value)
    rows = RatedAnswer.objects.exclude(error_code="").filter(error_code__in=found)
    return beside(rows, excluding=asking.excluding)


def thread(value: str, asking: Asking) -> Q:
    """`thread:`, by any spelling of its id."""
    found = list(Thread.objects.named(value).values_list("pk", flat=True))
    return Q(thread__in=found) if found else asking.nobody(f"There is no thread {value}.", "thread", value)


def identified(value: str, asking: Asking) -> Q:
    """`id:`, of a report or of its thread."""
    key = ids.key_of(value, ids.FEEDBACK)
    if key is None:
        return thread(value, asking)
    found = UserFeedback.objects.filter(key=key).values_list("pk", flat=True).first()
    return Q(pk=found) if found else asking.nobody(f"There is no report {value}.", "id", value)


def original(value: str, asking: Asking) -> Q:
    """`original:`"""
    found = UserFeedback.objects.filter(key=ids.key_of(value, ids.FEEDBACK) or "").values_list("pk", flat=True).first()
    if found is None:
        return asking.nobody(f"There is no report {value}.", "original", value)
    return beside(Triage.objects.filter(duplicate_of=found), excluding=asking.excluding)


def org(value: str, asking: Asking) -> Q:
    """`org:`, by short name or id."""
    key = ids.key_of(value.lower(), ids.ORG) or ""
    found = Org.objects.filter(Q(slug=value.lower()) | Q(key=key)).values_list("pk", flat=True).first()
    if found is None:
        return asking.nobody(f"There is no org {value}.", "org", value)
    asking.orgs[value] = found
    return Q(org=found)


def agent(value: str, asking: Asking) -> Q:
    """`agent:`, by name, ignoring case, or by id, also of one that was deleted; `name@3` in one version."""
    found = launches.launched(value, Agent.objects.all())
    if found is None:
        return asking.nobody(f"There is no agent {value}.", "agent", value)
    return beside(Thread.objects.filter(found), by="pk", of="thread", excluding=asking.excluding)


def goal(value: str, asking: Asking) -> Q:
    """`goal:`"""
    goals = Goal.objects.filter(status=value)
    return beside(goals, by="thread", of="thread", excluding=asking.excluding)


def fork(value: str, asking: Asking) -> Q:
    """`fork:`"""
    excluding = asking.excluding != (value == "no")
    forks = beside(Thread.objects.filter(forked_from__isnull=False), by="pk", of="thread", excluding=excluding)
    return forks if value == "yes" else ~forks


def created(value: str, asking: Asking) -> Q:
    """`created:` and `age:`"""
    return between("created", _stretch(value, asking))


def resolved(value: str, asking: Asking) -> Q:
    """`resolved:`"""
    return between("resolved_at", _stretch(value, asking))


def edited(value: str, asking: Asking) -> Q:
    """`edited:`"""
    return between("modified", _stretch(value, asking), _EDITED)


def anything(value: str, asking: Asking) -> Q:
    """`sort:`, which matches every report."""
    return Q()


def text_in(column: str) -> Condition:
    """A condition for words in one column of the index."""
    return lambda value, asking: words.says(value, column)


_CONCLUDED = Triage.objects.filter(outcome__isnull=False)
_PROVED = Triage.objects.filter(proof__isnull=False)
_CHECKS = Check.objects.filter(is_kept=True, feedback__isnull=False)
_EDITED = Q(modified__gt=F("created"))
_REVISITED = Q(modified__gt=F("resolved_at"))
"""As in the partial index, which holds these few."""
# Said although a comparison implies it: PostgreSQL plans a prepared query without its time, and would otherwise expect
# a third of all rows.
_TIMED = Q(snoozed_until__isnull=False)
_PEOPLE = 100
"""Most people that one term means."""


def _snoozed(asking: Asking) -> tuple[QuerySet[Triage], QuerySet[Triage]]:
    """The snoozed rows by time, and until it happens again; separate, because each has its own index."""
    rows = Triage.objects.all()
    return rows.filter(_TIMED, snoozed_until__gt=asking.now), rows.filter(snoozed_until_again=True)


def _asleep(asking: Asking) -> Q:
    """Snoozed, asked of each report: for what is left when few are excluded, which needs no list of the snoozed."""
    timed, again = (Q(Exists(rows.filter(feedback=OuterRef("pk")))) for rows in _snoozed(asking))
    return timed | again


def _one_of(asked: str, column: str, value: str, asking: Asking) -> Q:
    """A person by "me", email address, the part before its @, or a name; the last two may match several people."""
    if value == "me":
        return Q(**{column: asking.actor.user_id})
    said = value.lower()
    people = User.objects.filter(email=said) if "@" in said else User.objects.filter(email__startswith=f"{said}@")
    found = list(people.values_list("pk", flat=True)[:_PEOPLE]) or called(value, _PEOPLE)
    if not found:
        return asking.nobody(f"There is no user {value}.", asked, value)
    return Q(**{column: found[0]}) if len(found) == 1 else Q(**{f"{column}__in": found})


def _stretch(value: str, asking: Asking) -> moments.Stretch:
    return moments.stretch(value, now=asking.now, tz=UTC)
