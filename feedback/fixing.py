"""Resolving as fixed: a report together with what says the same, or each report that a batch of runs proves fixed, as
one action that one undo takes back.
"""

from collections.abc import Collection, Mapping, Sequence

from django.db import transaction
from django.db.models import Q, QuerySet
from pydantic import BaseModel

from accounts.rights import require_admin
from core import ids
from core.actor import Actor
from core.db import anew
from core.errors import InvalidRequest
from core.visible import is_visible
from feedback import access, desk_notices, following, proofs, triage
from feedback.checks import expecting
from feedback.deciding import Decision, Decisions, Subject, Verb, is_revisited, resolve, verb_named
from feedback.deciding import reply as decide_reply
from feedback.models import Reply, UserFeedback
from feedback.taxonomy import Outcome
from feedback.wire import NOTES_LENGTH
from feedback.wire_verbs import DuplicateIn, FixIn, ReplyIn, ResolveIn
from threads.models import Thread

MOST_TOLD = 200
"""Most submitters of duplicates who are told in the request; more are left to a bulk."""
ROOM = 2_000
"""Characters of a reply that are kept for the answer that goes with it."""
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
    if shows:
        require_room(reply.public_reply if reply else None, field="fixed_reply")
    if len(alike) > MOST_TOLD:
        raise InvalidRequest.of("fixed_alike", f"must be at most {MOST_TOLD}")
    keys = [key for each in alike if (key := ids.key_of(each, ids.FEEDBACK))]
    action, changed = ids.new_key(), False
    with access.named_reports_stay(), transaction.atomic():
        report = access.report_for(actor, feedback_id)
        subjects = list(UserFeedback.objects.filter(key__in=keys, org=report.org_id).values_list("pk", flat=True))
        following.hold([report.pk, *subjects], named=[report.pk])  # all at once, in the order of all who lock several
        report = access.report_for(actor, feedback_id)
        for other in UserFeedback.objects.filter(pk__in=subjects, resolved=False).exclude(pk=report.pk).order_by("pk"):
            changed |= _apply(actor, other, verb_named("duplicate"), DuplicateIn(duplicate_of=feedback_id), action)
        if reply is not None:
            told = list(_untold([report]).order_by("pk")[: MOST_TOLD + 1])
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
            desk_notices.announce()
        return report, action if changed else done


def _of_batch(actor: Actor, reports: Sequence[UserFeedback], body: FixIn) -> Decisions:
    """Reply, if anything is to be said, and resolve as fixed by its own run; to a duplicate of such a report only the
    reply. A report that the batch does not prove fixed is refused with the reason.
    """
    pks = {report.pk for report in reports}
    originals = UserFeedback.objects.filter(duplicates__in=pks).select_related("triage").distinct()
    of_copies = {original.pk: original for original in originals}
    shown = proofs.Proofs(body.batch_id, pks | of_copies.keys())
    reply = ReplyIn(public_reply=body.public_reply) if body.public_reply else None

    def decide(subject: Subject) -> list[tuple[str, Decision]]:
        original = of_copies.get(subject["duplicate_of_id"] or 0)
        if reply and original and _ends(shown, original):
            return [("reply", decide_reply(actor, subject, reply))]
        if is_revisited(subject.report):
            raise InvalidRequest("Its submitter changed it after it was resolved.")
        resolved = resolve(actor, subject, ResolveIn(outcome=Outcome.FIXED.value))
        fork = shown.of(subject.report)
        told = _with_answer(reply, fork) if body.shows_answer else reply
        replied = [("reply", decide_reply(actor, subject, told))] if told else []
        return [*replied, ("resolve", {**resolved, "proof": fork.thread_id})]

    return decide


def _ends(shown: proofs.Proofs, report: UserFeedback) -> bool:
    """Whether a report is fixed by what is shown, or will be; nobody else may have resolved it otherwise."""
    return not shown.lack(report) and (not report.resolved or report.triage.proof == shown.of(report).thread_id)


FIX = Verb("fix", FixIn, together=_of_batch)
"""Resolves the reports that a batch of runs proves fixed."""


def untold_count(report: UserFeedback) -> int:
    """How many duplicates of a report have no answer yet. One query."""
    return _untold([report]).count()


def untold(originals: Collection[str]) -> list[str]:
    """The ids of the duplicates of reports with these ids that have no answer yet. One query."""
    keys = [ids.key_of(each, ids.FEEDBACK) for each in originals]
    copies = _untold(UserFeedback.objects.filter(key__in=keys)).order_by("pk")
    return [ids.FEEDBACK + key for key in copies.values_list("key", flat=True)]


def _untold(originals: QuerySet[UserFeedback] | Sequence[UserFeedback]) -> QuerySet[UserFeedback]:
    return UserFeedback.objects.filter(triage__duplicate_of__in=originals).exclude(_ANSWERED)


def require_room(reply: str | None, *, field: str) -> None:
    """Refuse a reply beside which an answer would have no room."""
    if reply and len(reply) > NOTES_LENGTH - ROOM:
        raise InvalidRequest.of(
            field, f"must have at most {NOTES_LENGTH - ROOM:,} characters if the answer goes with it"
        )


def _with_answer(reply: ReplyIn | None, fork: Thread) -> ReplyIn | None:
    """A reply that ends with the answer of a fork, cut to the length that a reply may have; the reply alone if there
    are no words in the answer.
    """
    said = expecting.answer_of(fork, fork.forked_from_message_sequence_num or 0).words
    if not is_visible(said):
        return reply
    words = [*([reply.public_reply or ""] if reply else []), "The same question is now answered so:"]
    begun = "\n\n".join([*words, ""])
    left = NOTES_LENGTH - len(begun)
    return ReplyIn(public_reply=begun + (said if len(said) <= left else f"{said[: left - 1]}…"))


def _apply(actor: Actor, report: UserFeedback, verb: Verb, body: BaseModel, action: str) -> bool:
    subject = triage.subject_of(report)
    return triage.apply(actor, subject, verb.name, verb.decide(actor, subject, body), action=action)
