"""Renaming a label or merging it into another: the steps before and after its reports are changed, and what an undo of
earlier changes has to know of it.

The reports are changed as in any bulk (`feedback.bulk`), in chunks with history, so that the text of the wire and the
label rows always agree. Renaming only the label's row would be much faster, but wrong until all texts have followed:
labelling a report in between would restore the old name from its text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError

from accounts.rights import require_admin
from core.actor import Actor
from core.errors import Conflict
from core.grammar import Field
from core.wording import isolated
from feedback import label_text, labelling, saved_views
from feedback.deciding import RENAME
from feedback.models import Bulk, Label, TriageChange
from feedback.presenting import many_reports
from feedback.querying import named
from feedback.wire_verbs import RenameIn


class IsThere(Conflict):
    """The new name belongs to another label (`into`), so this is a merge. `counts`: reports of each of the two."""

    def __init__(self, label: Label, into: Label) -> None:
        self.label, self.into = label, into
        self.counts = (labelling.carried(label), labelling.carried(into))
        moved, held = map(many_reports, self.counts)
        super().__init__(
            f"Label {isolated(into.name)} already exists, on {held}. To merge {isolated(label.name)}, on {moved}, "
            'into it (irreversible), send "merge": true.'
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
    Raises `IsThere` if the name belongs to another label and `merge` is false, `Conflict` while either label is being
    renamed, or if the label was deleted at this moment.
    """
    require_admin(actor)
    found, new = labelling.named(name), None if to is None else labelling.new_name(to)
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
        _require_at_rest(label.folded, wanted.casefold())
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


def finish(bulk: Bulk) -> None:
    """Finish a renaming: delete the old label and replace it in saved views.

    If a report kept the old label, or got it meanwhile, the label and the views stay as they are.
    """
    body = RenameIn.model_validate(bulk.arguments)
    if body.label.casefold() == body.to.casefold() or labelling.forget_unused(body.label):
        saved_views.rewrite(lambda field: _renamed(field, body))


def follow(changes: Sequence[TriageChange]) -> None:
    """Let changes name labels as these are called now, for their undo; what is stored of them stays.

    A renaming that has not ended, or was stopped, is not followed: reports may still have the old name.
    """
    labelled = [each for each in changes if "admin_label" in each.after]
    if not labelled:
        return
    first = min(each.at for each in labelled)
    ended = Bulk.objects.filter(verb=RENAME.name, state=Bulk.State.DONE, finished_at__gt=first).order_by("pk")
    for at, arguments in ended.values_list("finished_at", "arguments"):
        for change in labelled:
            if at and change.at < at:
                change.before, change.after = (_named_now(side, **arguments) for side in (change.before, change.after))


def _named_now(side: dict[str, Any], label: str, to: str) -> dict[str, Any]:
    text = side["admin_label"]
    return {**side, "admin_label": text and label_text.renamed(text, label, to)}


def _renamed(field: Field, body: RenameIn) -> Field:
    is_it = field.name == "label" and field.value.strip().casefold() == body.label.casefold()
    is_sign = not field.literal and named("label", field.value).literal
    return named("label", body.to) if is_it and not is_sign else field


def _require_at_rest(*folded: str) -> None:
    """Refuse if one of these labels is being renamed: overlapping renamings could leave reports half renamed."""
    for arguments in Bulk.objects.filter(verb=RENAME.name, state__in=Bulk.OPEN).values_list("arguments", flat=True):
        for each in (arguments["label"], arguments["to"]):
            if each.casefold() in folded:
                raise Conflict(f"Label {isolated(each)} is already being renamed; the desk shows the progress.")
