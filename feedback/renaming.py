"""Renaming a label or merging it into another: the steps before and after its reports are changed, and what an undo of
earlier changes has to know of it.

The reports are changed as in any bulk (`feedback.bulk`), in chunks with history, so that the text of the wire and the
label rows always agree. Renaming only the label's row would be much faster, but wrong until all texts have followed:
labelling a report in between would restore the old name from its text.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import IntegrityError

from accounts.rights import require_admin
from core.actor import Actor
from core.db import hold_names
from core.errors import Conflict
from core.grammar import Field, leaves
from core.wording import isolated
from feedback import label_text, labelling, saved_views
from feedback.deciding import RENAME
from feedback.models import Bulk, Label, TriageChange
from feedback.presenting.words import many_reports
from feedback.querying import parse, term_of
from feedback.wire_verbs import RenameIn


class IsThere(Conflict):
    """The new name belongs to another label (`into`), so this is a merge. `counts`: reports of each of the two."""

    def __init__(self, label: Label, into: Label) -> None:
        self.label, self.into = label, into
        self.counts = (labelling.carried(label), labelling.carried(into))
        moved, held = map(many_reports, self.counts)
        super().__init__(
            f"name: label {isolated(into.name)} already exists, on {held}. To merge {isolated(label.name)}, "
            f'on {moved}, into it (irreversible), send "merge": true.'
        )


@dataclass(frozen=True, slots=True)
class Renaming:
    """A renaming: the old and the new label row, which are the same if only upper and lower case change."""

    label: Label
    into: Label
    is_merge: bool = False
    is_nothing: bool = False
    """Whether the label already has that name."""

    @property
    def body(self) -> RenameIn:
        """The arguments of the verb `rename` for each report."""
        return RenameIn(label=self.label.name, to=self.into.name)


def begin(actor: Actor, name: str, to: str | None, *, merge: bool, description: str | None = None) -> Renaming:
    """Start a renaming: create the new label if needed, and set the description if one is given.

    Call it in the transaction that also changes or queues the reports.
    Raises `InvalidRequest` if a saved view has no room for the new name, `IsThere` if the name belongs to another label
    and `merge` is false, `Conflict` while either label is being renamed or a bulk goes by a query that names it, or if
    the label was deleted at this moment.
    """
    require_admin(actor)
    found, new = labelling.named(name), None if to is None else labelling.new_name(to)
    _hold({found.folded, (new or found.name).casefold()})
    # Locked together and in a fixed order: two opposite renamings at the same time would otherwise deadlock. Reports
    # that get one of these labels need not wait.
    both = Label.objects.select_for_update(no_key=True).filter(
        folded__in={found.folded, (new or found.name).casefold()}
    )
    held = {each.folded: each for each in both.order_by("pk")}
    label = held.get(found.folded)
    if label is None:
        raise Conflict(f"Label {isolated(found.name)} was deleted just now.")
    wanted = new or label.name
    into = held.get(wanted.casefold())
    if wanted != label.name:
        labelling.require_at_rest(label.folded, wanted.casefold())
        if wanted.casefold() != label.folded:  # for a query, upper and lower case are the same
            _require_unasked(label.folded, wanted.casefold())
        saved_views.require_room(partial(_renamed, body=RenameIn(label=label.name, to=wanted)))
    if into and into != label and not merge:
        raise IsThere(label, into)
    said = label.description if description is None else labelling.clean_description(description)
    if into is None:
        try:
            return Renaming(label, labelling.insert(actor, wanted, said))
        except IntegrityError:
            raise Conflict(f"Label {isolated(wanted)} was created by somebody else just now.") from None
    was = label.name
    if into == label:
        into.name = wanted
    if description is not None or not into.description:
        into.description = said
    into.save(update_fields=["name", "description"])
    return Renaming(label, into, is_merge=into != label, is_nothing=wanted == was)


def asked_of(query: str) -> set[str]:
    """The folded names of the labels that a query names."""
    return {_folded(leaf) for leaf in leaves(parse(query).root) if isinstance(leaf, Field) and _is_label(leaf)}


def hold_still(query: str) -> None:
    """Keep the labels that a query names from being renamed until the caller's transaction ends, and from then on
    while its bulk is open. Raises `Conflict` if one is being renamed.
    """
    if folded := asked_of(query):
        _hold(folded)
        labelling.require_at_rest(*folded)


def _hold(folded: Iterable[str]) -> None:
    """Let renamings, and bulks by the same names, begin one after the other. The new name is not a label yet, and a
    query may name it already.
    """
    hold_names("label", folded)


def _require_unasked(*folded: str) -> None:
    """Refuse while a bulk goes through the reports of a query that names one of these labels. It asks again for each
    chunk, so with the label gone it would find nothing more, and without it what was to be left alone.
    """
    running = Bulk.objects.filter(state__in=Bulk.OPEN, query__contains=":").exclude(verb=RENAME.name)
    for query in running.values_list("query", flat=True):
        if named_too := asked_of(query or "").intersection(folded):
            name = isolated(min(named_too))
            raise Conflict(f"A bulk action over a query with label {name} is running. Cancel it, or try again later.")


def finish(bulk: Bulk) -> None:
    """Finish a renaming: delete the old label and replace it in saved views.

    If a report kept the old label, or got it meanwhile, the label and the views stay as they are.
    """
    body = RenameIn.model_validate(bulk.arguments)
    if body.label.casefold() == body.to.casefold() or labelling.forget_unused(body.label):
        saved_views.rewrite(lambda field: _renamed(field, body))


def followed(changes: Sequence[TriageChange]) -> list[TriageChange]:
    """Changes with their labels as they are called now, for an undo. What differs is a copy, which is never saved.

    What became of a label on a report is what the report's history says: renamed, or merged into one that the report
    had, which leaves nothing to take back. A label to be put back that is nowhere any more has its new name.
    """
    labelled = [each for each in changes if "admin_label" in each.after]
    if not labelled:
        return [*changes]
    began = min(each.at for each in labelled)
    bulks = Bulk.objects.filter(verb=RENAME.name).exclude(finished_at__lte=began).order_by("pk")
    renamings = {each.key: each for each in bulks}
    if not renamings:
        return [*changes]
    passed = TriageChange.objects.filter(action__in=renamings, feedback__in=[each.feedback_id for each in labelled])
    by_report: dict[int, list[TriageChange]] = {}
    for each in passed.order_by("pk"):
        by_report.setdefault(each.feedback_id, []).append(each)
    now = {each.pk: _named_now(each, by_report.get(each.feedback_id, ()), renamings) for each in labelled}
    ended = [RenameIn.model_validate(each.arguments) for each in renamings.values() if each.state == Bulk.State.DONE]
    there = Label.objects.filter(folded__in={each.label.casefold() for each in ended})
    gone = {each.label.casefold() for each in ended}.difference(there.values_list("folded", flat=True))
    for change in now.values():
        for body in ended:
            if body.label.casefold() in gone:
                change.before = _side(change.before, body)
    return [now.get(each.pk, each) for each in changes]


def _named_now(change: TriageChange, passed: Iterable[TriageChange], renamings: Mapping[str, Bulk]) -> TriageChange:
    now = copy(change)
    for each in passed:
        if each.pk > change.pk:
            body, had = RenameIn.model_validate(renamings[each.action].arguments), each.before["admin_label"]
            now.before, now.after = (_side(side, body, had) for side in (now.before, now.after))
    return now


def _side(side: Mapping[str, Any], body: RenameIn, had: str | None = None) -> dict[str, Any]:
    """One side of a change after a label was renamed; `had`: what labels the report had before that."""
    is_merged = had and body.to.casefold() != body.label.casefold() and not label_text.beyond(body.to, had)
    text = side["admin_label"] or ""
    if is_merged:
        text = label_text.changed(text, add=(), remove=[body.label])
    return {**side, "admin_label": label_text.renamed(text, body.label, body.to) or None}


def _renamed(field: Field, body: RenameIn) -> Field:
    return term_of("label", body.to) if _is_label(field) and _folded(field) == body.label.casefold() else field


def _is_label(field: Field) -> bool:
    """Whether it names a label, and not what `label:*` and the like mean."""
    return field.name == "label" and (field.literal or not term_of("label", field.value).literal)


def _folded(field: Field) -> str:
    return label_text.plain(field.value).casefold()
