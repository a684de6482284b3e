"""Renaming a label, and merging one into another: what is asked of it, and what is left to do when all reports follow.

The reports themselves follow as in any bulk (`feedback.bulk`), a chunk at a time with their history, so that the text
of the wire and the rows beside it agree at every moment. Renaming the row at once would be quicker by far, and wrong
until the last text has followed: whoever labelled a report in between would bring the old name back from its text.
"""

from dataclasses import dataclass

from django.db import IntegrityError

from accounts.rights import require_admin
from core.actor import Actor
from core.errors import Conflict
from core.grammar import Field
from core.rendering import isolated
from feedback import labelling, saved_views
from feedback.deciding import RENAME
from feedback.models import Bulk, Label
from feedback.presenting import many_reports
from feedback.querying import named
from feedback.wire_verbs import RenameIn


class IsThere(Conflict):
    """The new name is another label's: to go on is a merge. `into` is that label, `counts` what each of both has."""

    def __init__(self, label: Label, into: Label) -> None:
        self.label, self.into = label, into
        self.counts = (labelling.carried(label), labelling.carried(into))
        moved, held = map(many_reports, self.counts)
        super().__init__(
            f"There is a label {isolated(into.name)} already, on {held}. To merge {isolated(label.name)}, on {moved}, "
            'into it cannot be taken back: to do it, send "merge": true.'
        )


@dataclass(frozen=True, slots=True)
class Renaming:
    """A label on its way to another name: both rows, one and the same where only the spelling changes."""

    label: Label
    into: Label
    is_merge: bool = False
    is_nothing: bool = False
    """Whether it is called that already."""

    @property
    def body(self) -> RenameIn:
        """What becomes of each report."""
        return RenameIn(label=self.label.name, to=self.into.name)


def begin(actor: Actor, name: str, to: str | None, *, merge: bool, description: str | None = None) -> Renaming:
    """Give a label its new name, made where it is new, and its description where one is given.

    Runs in the transaction that also moves or queues its reports.
    Raises `IsThere` where that name is another label's and no merge was asked for, `Conflict` while either label is
    being renamed already, and where it is dropped just then.
    """
    require_admin(actor)
    found, new = labelling.named(name), None if to is None else labelling.new_name(to)
    # Held at once and in the order in which all labels are: of two that go into each other at the same time, each
    # would wait for the other. Reports that get one of them need not wait.
    both = Label.objects.select_for_update(no_key=True).filter(
        folded__in={found.folded, (new or found.name).casefold()}
    )
    held = {each.folded: each for each in both.order_by("pk")}
    label = held.get(found.folded)
    if label is None:
        raise Conflict(f"The label {isolated(found.name)} was dropped just now.")
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
            raise Conflict(f"Somebody made a label {isolated(wanted)} just now.") from None
    was = label.name
    if into == label:
        into.name = wanted
    if description is not None or not into.description:
        into.description = said
    into.save(update_fields=["name", "description"])
    return Renaming(label, into, is_merge=into != label, is_nothing=wanted == was)


def finish(bulk: Bulk) -> None:
    """Drop the old label, now that all reports followed that could, and name the new one in saved views that name it.

    Where a report kept it, or got it meanwhile, it stays, and so do the views: they find what they found.
    """
    body = RenameIn.model_validate(bulk.arguments)
    if body.label.casefold() == body.to.casefold() or labelling.forget_unused(body.label):
        saved_views.rewrite(lambda field: _renamed(field, body))


def _renamed(field: Field, body: RenameIn) -> Field:
    is_it = field.name == "label" and field.value.strip().casefold() == body.label.casefold()
    is_sign = not field.literal and named("label", field.value).literal
    return named("label", body.to) if is_it and not is_sign else field


def _require_at_rest(*folded: str) -> None:
    """Two that run into each other would leave reports between them."""
    for arguments in Bulk.objects.filter(verb=RENAME.name, state__in=Bulk.OPEN).values_list("arguments", flat=True):
        for each in (arguments["label"], arguments["to"]):
            if each.casefold() in folded:
                raise Conflict(f"The label {isolated(each)} is being renamed already; the desk shows how far it is.")
