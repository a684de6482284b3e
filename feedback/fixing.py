"""Resolving as fixed: a report together with what says the same, or each report that a batch of runs proves fixed, as
one action that one undo takes back.
"""

from collections.abc import Mapping, Sequence

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.text import Truncator
from pydantic import BaseModel

from accounts.rights import require_admin
from core import ids, notices
from core.actor import Actor
from core.db import anew
from core.errors import InvalidRequest
from core.visible import is_visible
from core.wire import Exact
from feedback import following, proofs, triage
from feedback.checks import expecting
from feedback.deciding import Verb, verb_named
from feedback.models import Reply, UserFeedback
from feedback.taxonomy import Outcome
from feedback.wire import NOTES_LENGTH
from feedback.wire_verbs import DuplicateIn, FixIn, ReplyIn, ResolveIn
from threads.models import Thread

MOST_TOLD = 200
"""Most submitters of duplicates who are told in the request; more are left to a bulk."""
_ANSWERED = Q(reply__public_status=Reply.Status.ANSWERED)


@anew
def fix(
    actor: Actor,
    feedback_id: str,
    *steps: tuple[Verb, BaseModel],
    alike: Sequence[str] = (),
    reply: ReplyIn | None = None,
    shows: str | None = None,
    seen: str | None = None,
    seen_texts: Mapping[str, str] | None = None,
) -> tuple[UserFeedback, str | None]:
    """Apply verbs to a report as `triage.act` does, and in the same transaction and action make the open ones of
    `alike` its duplicates, and send `reply` to its submitter and to those of all its duplicates that have no answer
    yet.

    Of the thread `shows`, a rerun, the new answer goes with the reply, to the submitter of the report only: it answers
    what that person asked. Those of `alike` that were resolved or retracted meanwhile stay as they are. Raises
    `InvalidRequest` for more than `MOST_TOLD` submitters to tell, and as `triage.act`.
    """
    require_admin(actor)
    if len(alike) > MOST_TOLD:
        raise InvalidRequest.of("fixed_alike", f"must be at most {MOST_TOLD}")
    keys = [key for each in alike if (key := ids.key_of(each, ids.FEEDBACK))]
    action, changed = ids.new_key(), False
    with triage.named_reports_stay(), transaction.atomic():
        report = triage.report_for(actor, feedback_id)
        subjects = list(UserFeedback.objects.filter(key__in=keys, org=report.org_id).values_list("pk", flat=True))
        following.hold([report.pk, *subjects], named=[report.pk])  # all at once, in the order of all who lock several
        report = triage.report_for(actor, feedback_id)
        for other in UserFeedback.objects.filter(pk__in=subjects, resolved=False).exclude(pk=report.pk).order_by("pk"):
            changed |= _apply(actor, other, verb_named("duplicate"), DuplicateIn(duplicate_of=feedback_id), action)
        if reply is not None:
            told = list(_untold(report).order_by("pk")[: MOST_TOLD + 1])
            if len(told) > MOST_TOLD:
                reason = f"more than {MOST_TOLD} submitters of duplicates are told by a bulk; send it from their list"
                raise InvalidRequest.of("fixed_reply", reason)
            for other in told:
                changed |= _apply(actor, other, verb_named("reply"), reply, action)
        if shows:
            reply = _with_answer(reply, proofs.fork_of(actor, report, shows))
        if reply is not None:
            steps = ((verb_named("reply"), reply), *steps)
        report, done = triage.act(actor, feedback_id, *steps, seen=seen, seen_texts=seen_texts or {}, action=action)
        if changed:
            transaction.on_commit(lambda: notices.publish(triage.NOTICE))
        return report, action if changed else done


def _each(report: UserFeedback, body: FixIn) -> list[tuple[Verb, Exact]]:
    """Reply, if anything is to be said, and resolve as fixed by its own run. Raises `InvalidRequest` for a report whose
    runs in the batch did not all pass.
    """
    fork = proofs.passed_in(report, body.batch_id)
    reply = ReplyIn(public_reply=body.public_reply) if is_visible(body.public_reply or "") else None
    if body.shows_answer:
        reply = _with_answer(reply, fork)
    told: list[tuple[Verb, Exact]] = [(verb_named("reply"), reply)] if reply else []
    return [*told, (verb_named("resolve"), ResolveIn(outcome=Outcome.FIXED.value, proof=fork.thread_id))]


FIX = Verb("fix", FixIn, steps=_each)
"""Resolves the reports that a batch of runs proves fixed."""


def untold_count(report: UserFeedback) -> int:
    """How many duplicates of a report have no answer yet. One query."""
    return _untold(report).count()


def _untold(report: UserFeedback) -> QuerySet[UserFeedback]:
    return UserFeedback.objects.filter(triage__duplicate_of=report.pk).exclude(_ANSWERED)


def _with_answer(reply: ReplyIn | None, fork: Thread) -> ReplyIn:
    """A reply that ends with the answer of a fork, cut to the length that a reply may have."""
    said = expecting.answer_of(fork, fork.forked_from_message_sequence_num or 0).words
    words = [*([reply.public_reply or ""] if reply else []), "The same question is now answered so:"]
    begun = "\n\n".join([*words, ""])
    return ReplyIn(public_reply=begun + Truncator(said).chars(max(1, NOTES_LENGTH - len(begun))))


def _apply(actor: Actor, report: UserFeedback, verb: Verb, body: BaseModel, action: str) -> bool:
    subject = triage.subject_of(report)
    return triage.apply(actor, subject, verb.name, verb.decide(actor, subject, body), action=action)
